#include "composition/unverified.hpp"

#include <algorithm>

#include "composition/approximation_cuts.hpp"

namespace tokamata {

UnverifiedTokens::UnverifiedTokens(TokenLiveness& liveness, Operands& operands, RuleMaskMaker& maker,
                                   std::vector<std::uint32_t> tokens, Budget& budget)
    : liveness_(liveness),
      operands_(operands),
      automaton_(operands.automaton()),
      maker_(maker),
      budget_(budget),
      tokens_(std::move(tokens)) {
  std::ranges::sort(tokens_, [this](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
}

std::vector<std::uint32_t> UnverifiedTokens::refused_by(StateId state) && {
  open_.push_back({state, 0, tokens_.size(), 0, true});
  while (!open_.empty()) {
    const Group group = open_.back();
    open_.pop_back();
    judge(group);
  }
  return std::move(refused_);
}

void UnverifiedTokens::judge(Group group) {
  if (group.depth > 0) group.begin = judge_ended(group);
  if (is_worth_a_mask(group)) judge_by_mask(group);
  for (std::size_t begin = group.begin, end; begin < group.end; begin = end) {
    const char byte = text(tokens_[begin])[group.depth];
    for (end = begin + 1; end < group.end && text(tokens_[end])[group.depth] == byte;) ++end;
    budget_.step();
    const StateId reached = automaton_.next(group.state, static_cast<std::uint8_t>(byte), budget_);
    if (liveness_.lives(reached, budget_)) open_.push_back({reached, begin, end, group.depth + 1, false});
    else
      refused_.insert(refused_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// The tokens that end here come first.  Returns where the others begin.
std::size_t UnverifiedTokens::judge_ended(const Group& group) {
  std::size_t end = group.begin;
  while (end < group.end && text(tokens_[end]).size() == group.depth) ++end;
  if (end > group.begin && !liveness_.spellable(group.state, budget_))
    refused_.insert(refused_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(group.begin),
                    tokens_.begin() + static_cast<std::ptrdiff_t>(end));
  return end;
}

bool UnverifiedTokens::is_worth_a_mask(const Group& group) {
  if (group.is_by_bytes || !operands_.has_rule_mask(group.state)) return false;
  return group.end - group.begin > (automaton_.node(group.state).by_byte ? kManyForMask : kFewForMask);
}

// Leaves those tokens in the group that are unverified still.
void UnverifiedTokens::judge_by_mask(Group& group) {
  const TokenTrie& trie = operands_.vocabulary().trie();
  const NodeId node = *trie.find(text(tokens_[group.begin]).substr(0, group.depth));
  std::vector<std::uint32_t> allowed, unverified;
  for (const ApproximationCut& cut : approximation_cuts(operands_, group.state, node, budget_)) {
    if (cut.approximation == Pool::kEmpty) continue;
    const StateId approximation = automaton_.clipped(
        automaton_.state_of(automaton_.arena().derivatives().settled(cut.approximation), budget_), budget_);
    const RuleMask mask = maker_.make(automaton_.expression(approximation), node, budget_);
    const std::vector<std::uint32_t> refused = in_order(cut.refused), marked = in_order(cut.unverified);
    for (std::size_t i = group.begin; i < group.end; ++i)
      if (mask.bits.contains(tokens_[i]) && !std::ranges::binary_search(refused, tokens_[i]))
        allowed.push_back(tokens_[i]);
    unverified.insert(unverified.end(), mask.unverified.begin(), mask.unverified.end());
    unverified.insert(unverified.end(), marked.begin(), marked.end());
  }
  std::ranges::sort(allowed);
  std::ranges::sort(unverified);
  std::size_t left = group.begin;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const std::uint32_t token = tokens_[i];
    if (!std::ranges::binary_search(allowed, token)) refused_.push_back(token);
    else if (std::ranges::binary_search(unverified, token)) tokens_[left++] = token;
  }
  group.end = left;
}

std::vector<std::uint32_t> UnverifiedTokens::in_order(const std::vector<TokenRange>& ranges) const {
  const std::span<const std::uint32_t> order = operands_.vocabulary().trie().order();
  std::vector<std::uint32_t> tokens;
  for (const TokenRange& range : ranges)
    tokens.insert(tokens.end(), order.begin() + range.begin, order.begin() + range.end);
  std::ranges::sort(tokens);
  return tokens;
}

}  // namespace tokamata

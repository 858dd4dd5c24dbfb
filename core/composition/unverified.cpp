// Unverified tokens of a mask, judged by the state itself.  Part of TokenAutomaton.
//
// Problem.  The mask of an over-approximation leaves some tokens unverified (expression/rules.hpp).  Most of them close
// a name that an object does not declare, and go on: `":`, `": "`, `": {"` and 165 others of Llama 3.1's.  A derivative
// for each byte of each would take 0.7 ms, at every state within such a name.
// How.  Tokens are judged in the order of their bytes, so that bytes which several share are read once.  Where the
// state that was reached keeps nothing byte by byte any more (the name has ended), or where many tokens go on, its own
// over-approximations judge all that follows: a mask is made of them, below that node of the trie alone.  What is
// unverified in this mask is judged in turn.
// Example.  {"x-a|  with tokens  ":  ": "  ": {  b":  : two derivatives by `"` and `b"`; the mask of  :value,…  is made
// below the node of `"`, and the one token below `b"` is read by its bytes.
// Cost.  A derivative for each prefix in front of such a node, and there a mask of what tokens go on with.
// Not taken: the masks kept by the state reached and the node.  What a text has written is in that state, so that few
// are met twice.

#include <algorithm>

#include "composition/token_automaton.hpp"

namespace tokamata {

class TokenAutomaton::UnverifiedTokens {
 public:
  UnverifiedTokens(TokenAutomaton& automaton, std::vector<std::uint32_t> tokens, Budget& budget)
      : automaton_(automaton), budget_(budget), tokens_(std::move(tokens)) {
    std::ranges::sort(tokens_, [this](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
  }

  std::vector<std::uint32_t> refused_by(StateId state) && {
    open_.push_back({state, 0, tokens_.size(), 0, true});
    while (!open_.empty()) {
      const Group group = open_.back();
      open_.pop_back();
      judge(group);
    }
    return std::move(refused_);
  }

 private:
  static constexpr std::size_t kFewTokens = 4;  // cheaper by their bytes than by a mask
  // worth a mask at a state that has no other token in common with it
  static constexpr std::size_t kManyTokens = 64;

  // The tokens from `begin` to `end` begin with the same bytes, so many as `depth`, which lead to the state.
  struct Group {
    StateId state;
    std::size_t begin, end, depth;
    bool is_by_bytes;  // no mask is made of this state
  };

  std::string_view text(std::uint32_t token) const { return automaton_.vocabulary_->bytes({token}); }

  void judge(Group group) {
    if (group.depth > 0) group.begin = judge_ended(group);
    if (is_worth_a_mask(group)) judge_by_mask(group);
    for (std::size_t begin = group.begin, end; begin < group.end; begin = end) {
      const char byte = text(tokens_[begin])[group.depth];
      for (end = begin + 1; end < group.end && text(tokens_[end])[group.depth] == byte;) ++end;
      budget_.step();
      const StateId reached = automaton_.automaton_.next(group.state, static_cast<std::uint8_t>(byte), budget_);
      if (automaton_.lives(reached, budget_)) open_.push_back({reached, begin, end, group.depth + 1, false});
      else
        refused_.insert(refused_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                        tokens_.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  // The tokens that end here come first.  Returns where the others begin.
  std::size_t judge_ended(const Group& group) {
    std::size_t end = group.begin;
    while (end < group.end && text(tokens_[end]).size() == group.depth) ++end;
    if (end > group.begin && !automaton_.spellable(group.state, budget_))
      refused_.insert(refused_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(group.begin),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(end));
    return end;
  }

  bool is_worth_a_mask(const Group& group) {
    if (group.is_by_bytes || !automaton_.has_rule_mask(group.state)) return false;
    return group.end - group.begin > (automaton_.automaton_.node(group.state).by_byte ? kManyTokens : kFewTokens);
  }

  // Leaves those tokens in the group that are unverified still.
  void judge_by_mask(Group& group) {
    const TokenTrie& trie = automaton_.vocabulary_->trie();
    const NodeId node = *trie.find(text(tokens_[group.begin]).substr(0, group.depth));
    std::vector<std::uint32_t> allowed, unverified;
    for (const ApproximationCut& cut : automaton_.approximation_cuts(group.state, node, budget_)) {
      if (cut.approximation == Arena::kEmpty) continue;
      ByteAutomaton& bytes = automaton_.automaton_;
      const StateId approximation =
          bytes.clipped(bytes.state_of(bytes.arena().settled(cut.approximation), budget_), budget_);
      const RuleMask mask = automaton_.rule_mask_maker().make(bytes.expression(approximation), node, budget_);
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

  std::vector<std::uint32_t> in_order(const std::vector<TokenRange>& ranges) const {
    const std::span<const std::uint32_t> order = automaton_.vocabulary_->trie().order();
    std::vector<std::uint32_t> tokens;
    for (const TokenRange& range : ranges)
      tokens.insert(tokens.end(), order.begin() + range.begin, order.begin() + range.end);
    std::ranges::sort(tokens);
    return tokens;
  }

  TokenAutomaton& automaton_;
  Budget& budget_;
  std::vector<std::uint32_t> tokens_, refused_;
  std::vector<Group> open_;
};

std::vector<std::uint32_t> TokenAutomaton::refused_tokens(StateId state, std::vector<std::uint32_t> unverified,
                                                          Budget& budget) {
  const TimeOfPart timed(work_.unverified_seconds, judges_tokens_);
  work_.unverified += unverified.size();
  return UnverifiedTokens(*this, std::move(unverified), budget).refused_by(state);
}

}  // namespace tokamata

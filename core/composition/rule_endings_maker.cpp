// The maker of masks, where it makes endings in their place (rule_endings.hpp).  Part of RuleMaskMaker.

#include <algorithm>

#include "composition/rule_endings.hpp"
#include "composition/rule_mask_maker.hpp"

namespace tokamata {

std::vector<Ending> RuleMaskMaker::make_endings(ExpressionId expression, RuleEndings& endings, Budget& budget) {
  const Busy busy(is_busy_);
  budget_ = &budget;
  clear();
  endings_ = &endings;
  open({&vocabulary_, TokenTrie::root()}, put(expression, kNothing));
  follow_all();
  walk_all();
  return std::move(made_endings_);
}

std::vector<Ending> RuleMaskMaker::make_part_endings(ExpressionId part, const TokenTrie& trie, NodeId node,
                                                     Follow follow, RuleEndings& endings, Budget& budget) {
  if (is_busy_) {
    if (!inner_) inner_ = std::make_unique<RuleMaskMaker>(context_);
    return inner_->make_part_endings(part, trie, node, follow, endings, budget);
  }
  const Busy busy(is_busy_);
  clear();
  endings_ = &endings;
  begin_segment(part, trie, node, follow, budget);
  follow_all();
  return std::move(made_endings_);
}

// ---- closing texts ----------------------------------------------------------------------------

// Of a fork, the first of the texts that may follow.  What waits for a choice has a text only after that, and as a
// whole.
ClosingText RuleMaskMaker::text_of(RestId rest) {
  if (rests_[rest.value].text) return *rests_[rest.value].text;
  ClosingTexts& texts = endings_->texts();
  if (measured(rest).waits) {
    const ClosingText text = texts.text(joined(Arena::kEpsilon, rest), *budget_);
    rests_[rest.value].text = text;
    return text;
  }
  compute_along(
      rest, [](const Rest& at) { return at.text.has_value(); },
      [&](Rest& at) {
        if (at.fork == Rest::kNoFork) {
          at.text = texts.concatenated(texts.text(at.first, *budget_), *rests_[at.next.value].text);
          return;
        }
        ClosingText first{SpelledTexts::kNone, false};
        forks_[at.fork].for_each([&](RestId next) {
          const ClosingText other = *rests_[next.value].text;
          if (other.id == first.id) first.is_unverified |= other.is_unverified;
          else if (texts.spelled().is_before(other.id, first.id)) first = other;
        });
        at.text = first;
      });
  return *rests_[rest.value].text;
}

ClosingText RuleMaskMaker::text_of(StateId state) { return endings_->texts().text(state, *budget_); }

ClosingText RuleMaskMaker::text_of(StateId inside, RestId rest) {
  const ClosingText end = text_of(rest);
  return endings_->texts().concatenated(text_of(inside), end);
}

ClosingText RuleMaskMaker::after_bytes(std::string_view bytes, ClosingText rest) {
  return {endings_->texts().spelled().prepend(bytes, rest.id), rest.is_unverified};
}

// After so many bytes of each of some names: the rest of the one with which the text is closed first.
ClosingText RuleMaskMaker::text_of_names(const ExpressionNode& rule, std::size_t low, std::size_t high,
                                         std::size_t depth, RestId rest) {
  RememberingRules& rules = *arena_.rules(rule).remembering();
  const auto length = [&](std::size_t i) { return names_[i].size() + rules.spelled_after(rule.rule(), i); };
  std::size_t best = low;
  for (std::size_t i = low + 1; i < high; ++i)
    if (length(i) < length(best)) best = i;
  const std::string name(names_[best].substr(depth));
  return after_bytes(name, text_of(put(rules.after(rule.rule(), best, arena_, *budget_), rest)));
}

// ---- tokens -----------------------------------------------------------------------------------

void RuleMaskMaker::add_ending(std::span<const std::uint32_t> tokens, ClosingText text, bool is_unverified,
                               std::uint32_t inside) {
  if (tokens.empty()) return;
  is_unverified |= text.is_unverified;
  const auto number = static_cast<std::uint32_t>(made_endings_.size());
  const auto [known, is_new] =
      ending_of_.insert((std::uint64_t{text.id.value} << 32) | (std::uint64_t{inside} << 1) | is_unverified, number);
  if (is_new) made_endings_.push_back({text.id, is_unverified, {}, nullptr, inside});
  std::vector<std::uint32_t>& few = made_endings_[known].few;
  few.insert(few.end(), tokens.begin(), tokens.end());
}

// The tokens inside a part, which the rest follows.  `is_front`: the part is a terminal in front.
void RuleMaskMaker::add_endings(const Endings& inside, RestId rest, bool is_unverified, bool is_front) {
  ClosingTexts& texts = endings_->texts();
  const ClosingText end = text_of(rest);
  const auto is_separator = [&](char byte) { return arena_.separators().contains(static_cast<std::uint8_t>(byte)); };
  const bool ends_all =
      is_front && end.id != SpelledTexts::kNone && std::ranges::none_of(texts.spelled().string(end.id), is_separator);
  const std::uint32_t number = ends_all ? ++insides_ : 0;
  for (const Ending& ending : inside.all) {
    const ClosingText text = texts.concatenated({ending.text, ending.is_unverified}, end);
    add_ending(ending.few, text, is_unverified, number);
    if (ending.many) made_endings_.push_back({text.id, is_unverified || text.is_unverified, {}, ending.many, number});
  }
}

}  // namespace tokamata

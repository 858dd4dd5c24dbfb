#include "composition/rule_sinks.hpp"

#include <algorithm>
#include <string>

#include "common/sort_unique.hpp"

namespace tokamata {

// ---- masks and segments
// -----------------------------------------------------------------------

void TokenSink::add_terminal(const Alternative&, const std::shared_ptr<const Segment>& segment, Follow,
                             bool is_unverified, std::uint64_t most) {
  const TokenSet& inside = segment->inside;
  for (const std::uint32_t token : inside.listed) set(token, is_unverified);
  if (!inside.is_listed()) {
    builder_.add(inside.bits);
    if (is_unverified) for_each_bit(*inside.bits, [this](std::uint32_t token) { made_.unverified.push_back(token); });
  }
  note(most);
}

void TokenSink::add_part(const Alternative&, const RuleSegment& segment, Follow, const Rest& rest) {
  builder_.add(segment.inside);
  if (rest.is_unverified)
    for_each_bit(segment.inside.row(), [this](std::uint32_t token) { made_.unverified.push_back(token); });
  note(segment.most == RuleMask::kEndless ? ExpressionNode::kUnspelled : segment.most + rest.spelled);
}

RuleSegment SegmentSink::take(Follow follow, std::size_t much) {
  sort_unique(exits_);
  RuleSegment made;
  made.most = made_.most;
  made.inside = builder_.take();
  made.trunk = TokenTrie::trunk_of(exits_, bytes_of(follow), much);
  made.remainders = TokenTrie(std::move(exits_), bytes_of(follow), made.trunk);
  return made;
}

// ---- closing texts
// ----------------------------------------------------------------------------

EndingSink::EndingSink(RuleWalkContext& context, RuleEndings& endings, Rests& rests, Budget& budget)
    : arena_(context.operands.arena()),
      vocabulary_(context.operands.vocabulary().trie()),
      endings_(endings),
      texts_(endings.texts()),
      rests_(rests),
      budget_(budget) {
  note(Rests::kNothing, {SpelledTexts::kEmpty, false});
  note(Rests::kExit, {SpelledTexts::kEmpty, false});
}

void EndingSink::note(RestId rest, ClosingText text) {
  if (of_rests_.size() <= rest.value) of_rests_.resize(std::max<std::size_t>(rest.value + 1, 2 * of_rests_.size()));
  of_rests_[rest.value] = text;
}

// What waits for a choice has a text only after that, and as a whole.
ClosingText EndingSink::text_of(RestId rest) {
  if (is_known(rest)) return known(rest);
  if (rests_.measured(rest).waits) note(rest, texts_.text(rests_.joined(Pool::kEpsilon, rest), budget_));
  else rests_.compute_along(rest, [this](RestId at) { return is_known(at); }, [this](RestId at) { compute_text(at); });
  return known(rest);
}

// Of a fork, the first of the texts that may follow.
void EndingSink::compute_text(RestId rest) {
  const Rest& at = rests_[rest];
  if (!at.is_fork()) return note(rest, texts_.concatenated(texts_.text(at.first, budget_), known(at.next)));
  ClosingText first{SpelledTexts::kNone, false};
  rests_.for_each_of(at.fork, [&](RestId next) {
    const ClosingText other = known(next);
    if (other.id == first.id) first.is_unverified |= other.is_unverified;
    else if (texts_.spelled().is_before(other.id, first.id)) first = other;
  });
  note(rest, first);
}

ClosingText EndingSink::text_of(StateId state) { return texts_.text(state, budget_); }

ClosingText EndingSink::text_of(StateId inside, RestId rest) {
  const ClosingText end = text_of(rest);
  return texts_.concatenated(text_of(inside), end);
}

ClosingText EndingSink::text_after(std::string_view bytes, RestId rest) {
  const ClosingText end = text_of(rest);
  return {texts_.spelled().prepend(bytes, end.id), end.is_unverified};
}

ClosingText EndingSink::text_of_names(const ExpressionNode& rule, std::span<const std::string_view> names,
                                      std::size_t first, std::size_t depth, RestId rest) {
  RememberingRules& rules = *arena_.rule_sets().of(rule).remembering();
  const auto length = [&](std::size_t i) { return names[i].size() + rules.spelled_after(rule.rule(), first + i); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < names.size(); ++i)
    if (length(i) < length(best)) best = i;
  const std::string name(names[best].substr(depth));
  return text_after(name, rests_.put(rules.after(rule.rule(), first + best, budget_), rest));
}

// ---- endings
// ----------------------------------------------------------------------------------

void EndingSink::add_terminal(const Alternative& way, const std::shared_ptr<const Segment>&, Follow follow,
                              bool is_unverified, std::uint64_t) {
  const bool is_front = way.spot == Spot{&vocabulary_, TokenTrie::root()};
  add_inside(endings_.of_terminal(way.head, *way.spot.trie, way.spot.node, follow, budget_), way.rest, is_unverified,
             is_front);
}

void EndingSink::add_part(const Alternative& way, const RuleSegment&, Follow follow, const Rest& rest) {
  add_inside(endings_.of_part(way.head, *way.spot.trie, way.spot.node, follow, budget_), way.rest, rest.is_unverified,
             false);
}

void EndingSink::add(std::span<const std::uint32_t> tokens, ClosingText text, bool is_unverified,
                     std::uint32_t inside) {
  if (tokens.empty()) return;
  is_unverified |= text.is_unverified;
  const auto number = static_cast<std::uint32_t>(made_.size());
  const auto [known, is_new] =
      number_of_.insert((std::uint64_t{text.id.value} << 32) | (std::uint64_t{inside} << 1) | is_unverified, number);
  if (is_new) made_.push_back({text.id, is_unverified, {}, inside});
  std::vector<std::uint32_t>& listed = made_[known].tokens.listed;
  // A token comes once for each reading, so lists may double with each part around a part; they are counted when they
  // are kept.
  const std::size_t size = listed.size() + tokens.size();
  const std::size_t most = budget_.limits().memory_bytes;
  if (size > listed.capacity() && Charge::bytes() + size * sizeof(std::uint32_t) > most)
    throw LimitExceeded("memory_bytes", static_cast<double>(most));
  listed.insert(listed.end(), tokens.begin(), tokens.end());
}

// The tokens inside a part, which the rest follows.  `is_front`: the part is a terminal in front.
void EndingSink::add_inside(const Endings& inside, RestId rest, bool is_unverified, bool is_front) {
  const ClosingText end = text_of(rest);
  const auto is_separator = [&](char byte) {
    return arena_.rule_sets().separators().contains(static_cast<std::uint8_t>(byte));
  };
  const bool ends_all =
      is_front && end.id != SpelledTexts::kNone && std::ranges::none_of(texts_.spelled().string(end.id), is_separator);
  const std::uint32_t number = ends_all ? ++insides_ : 0;
  for (const Ending& ending : inside.all) {
    const ClosingText text = texts_.concatenated({ending.text, ending.is_unverified}, end);
    add(ending.tokens.listed, text, is_unverified, number);
    if (const SharedWords& bits = ending.tokens.bits)
      made_.push_back({text.id, is_unverified || text.is_unverified, {{}, bits}, number});
  }
}

}  // namespace tokamata

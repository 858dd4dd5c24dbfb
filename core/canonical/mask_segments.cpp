#include "canonical/mask_segments.hpp"
#include "common/memoized.hpp"

#include <algorithm>
#include <iterator>

#include "canonical/segment_judge.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

// ---- what is kept -------------------------------------------------------------------------------

TokenCount MaskSegments::add(const Key& key, const Touch& touch, Words& words, ByPieces& by_pieces, Budget& budget) {
  const MaskSegment& own = segment(key, budget);
  const auto note = [&](const auto& tokens, const auto& unsure) {
    if (!tokens.empty()) by_pieces.tokens.resize(words.size(), 0);
    for (const std::uint32_t token : tokens) set_bit(by_pieces.tokens, token);
    by_pieces.unsure.insert(by_pieces.unsure.end(), unsure.begin(), unsure.end());
  };
  note(own.by_pieces, own.unsure);
  const bool is_special = tokenization_.rules().is_special(touch.marks);
  const bool is_touched = !own.asked.empty() || touch.open != AddedTokens::kNothing || is_special;
  const bool as_it_is = !own.has_meeting && !is_touched;
  if (!as_it_is) scratch_.assign(words.size(), 0);
  Words& target = as_it_is ? words : scratch_;
  for (const std::shared_ptr<const Words>& shared : own.shared) unite_bits(target, *shared);
  if (!own.words.empty()) unite_bits(target, own.words);
  for (const std::uint32_t token : own.listed) set_bit(target, token);
  if (as_it_is) return own.most;
  TokenCount most = own.most;
  if (own.has_meeting || is_special) {
    const Words& fitting = tokenization_.fitting(touch.starter, touch.marks);
    for (std::size_t i = 0; i < scratch_.size(); ++i) scratch_[i] &= fitting[i];
  }
  if (is_touched) {
    const Touched& changes = touched(key, touch, budget);
    for (const std::uint32_t token : changes.dead) clear_bit(scratch_, token);
    for (const std::uint32_t token : changes.live) set_bit(scratch_, token);
    note(changes.live, changes.unsure);
    most = std::max(most, changes.most);
  }
  unite_bits(words, scratch_);
  return most;
}

TokenCount MaskSegments::add_added(TokenAutomaton::Configuration place, std::uint8_t ends, AddedTokens::Open open,
                                   Words& words, Budget& budget) {
  const AddedSegment& segment = memoized(added_, std::tuple(place.state, place.at_start, ends, open), [&] {
    AddedSegment made;
    AddedTransitions& added = liveness_.text().added();
    for (const AddedTransition& transition : added.of(place, budget))
      added.for_each_after(transition, ends, open,
                           [&](AddedTokens::Open behind, std::span<const std::uint32_t> numbers) {
                             const TokenCount count = liveness_.bound_after(transition, behind, budget);
                             if (count == kDead) return;
                             for (const std::uint32_t number : numbers)
                               made.tokens.push_back(tokenization_.added()[number]);
                             made.most = std::max(made.most, count);
                           });
    return made;
  });
  for (const std::uint32_t token : segment.tokens) set_bit(words, token);
  return segment.most;
}

const MaskSegments::MaskSegment& MaskSegments::segment(const Key& asked, Budget& budget) {
  Key key = asked;
  if (key.edge == Hypothesis::Edge::Inside && pattern_.operands().is_approximated(key.state))
    key.pieces = tokenization_.pieces().alike_behind(key.pieces);
  MaskWork& work = pattern_.counted_work();
  if (const auto known = segments_.find(key); known != segments_.end()) {
    ++work.segments_found;
    return known->second;
  }
  ++work.segments_made;
  return segments_.emplace(key, make(key, budget)).first->second;
}

const MaskSegments::Touched& MaskSegments::touched(const Key& key, const Touch& touch, Budget& budget) {
  return memoized(touched_, std::pair(key, touch), [&] {
    Touched changes;
    const auto judge = [&](std::uint32_t token) {
      const TokenCount count = bound_after(key, touch, std::nullopt, {token}, budget);
      (count == kDead ? changes.dead : changes.live).push_back(token);
      if (count == Liveness::kUnsure) changes.unsure.push_back(token);
      if (count != kDead) changes.most = std::max(changes.most, count);
    };
    const counted::vector<std::uint32_t> asked = segment(key, budget).asked;
    for (const std::uint32_t token : asked) judge(token);
    if (touch.open != AddedTokens::kNothing)
      for (const std::uint32_t token : *tokenization_.distinguished(touch.open)) judge(token);
    if (tokenization_.rules().is_special(touch.marks))
      for (const std::uint32_t token : *tokenization_.differing(touch.starter, touch.marks)) judge(token);
    return changes;
  });
}

TokenCount MaskSegments::bound_after(const Key& key, const Touch& touch, std::optional<TokenId> last, TokenId token,
                                     Budget& budget) {
  const Pieces& pieces = tokenization_.pieces();
  if (!has_bit(tokenization_.possible(), token.value) || (key.at_start && tokenization_.is_never_first(token)))
    return kDead;
  budget.step();
  const std::optional<Pieces::State> after = key.edge == Hypothesis::Edge::Border ? pieces.begin(token)
                                             : last ? pieces.follow(key.pieces, *last, token)
                                                    : pieces.extend(key.pieces, token);
  TextState text{key.guess, key.place, touch.starter, touch.marks, touch.open};
  if (!after || !tokenization_.read(text, token)) return kDead;
  const std::optional<StateId> target = pattern_step(pattern_, {key.state, key.at_start}, token, budget);
  return target ? liveness_.bound({*target, token, *after, text}, budget) : kDead;
}

const TokenTransitions& MaskSegments::transitions(TokenAutomaton::Configuration place, Budget& budget) {
  const std::pair asked(place.state, place.at_start);
  if (transitions_of_ != asked) {
    transitions_of_.reset();
    transitions_.emplace(pattern_, place, walks_are_long_, budget);
    transitions_of_ = asked;
  }
  return *transitions_;
}

const std::optional<Factors>& MaskSegments::factors(StateId state) {
  if (factors_of_ != state) {
    factors_of_.reset();
    factors_ = pattern_.factors(state);
    factors_of_ = state;
  }
  return factors_;
}

const TokenTransitions& MaskSegments::leaving(StateId state, const Factors& factors, Budget& budget) {
  if (leaving_of_ != state) {
    leaving_of_.reset();
    leaving_.emplace(pattern_, factors, budget);
    leaving_of_ = state;
  }
  return *leaving_;
}

void MaskSegments::clear() {
  release(segments_);
  release(touched_);
  release(inside_class_);
  release(added_);
  terminals_.clear();
  transitions_of_.reset();
  factors_of_.reset();
  leaving_of_.reset();
}

// ---- how segments are made -------------------------------------------------------------------------

MaskSegments::MaskSegment MaskSegments::make(const Key& key, Budget& budget) {
  MaskSegment segment = made(key, budget);
  const std::size_t words = tokenization_.vocabulary().words();
  if (segment.listed.size() > TokenSet::most_listed(words)) {
    segment.words.resize(words, 0);
    for (const std::uint32_t token : segment.listed) set_bit(segment.words, token);
    release(segment.listed);
  }
  return segment;
}

MaskSegments::MaskSegment MaskSegments::made(const Key& key, Budget& budget) {
  MaskSegment segment;
  Judge judge(tokenization_, liveness_, segment, key, budget);
  if (pattern_.operands().is_approximated(key.state)) {
    add_rules(segment, judge, key, budget);
    return segment;
  }
  const auto judge_all = [&](const TokenTransitions& transitions) {
    for (const TokenTransitions::Run& run : transitions.runs()) {
      budget.step();
      judge.judge_alike(run.tokens, run.target);
      for (const std::uint32_t token : judge.left_over())
        if (run.is_partial) judge_alone(judge, key, {token}, budget);
        else judge.judge({token}, run.target);
    }
  };
  const bool is_simple = !key.at_start && key.place == CodePoints::kBetween && key.pieces == Pieces::kSettled;
  if (is_simple && factors(key.state)) {
    for (const ClassLoop& loop : factors(key.state)->loops) add_loop(segment, judge, key, loop, budget);
    judge_all(leaving(key.state, *factors(key.state), budget));
  } else {
    judge_all(transitions({key.state, key.at_start}, budget));
  }
  return segment;
}

void MaskSegments::judge_alone(Judge& judge, const Key& key, TokenId token, Budget& budget) {
  if (!judge.may_stand(token)) return;
  if (const std::optional<StateId> target = pattern_.step({key.state, false}, token, budget))
    judge.judge(token, *target);
}

// The tokens inside the class that land alike live together if the loop, after them, can go on at a border.
// Where it cannot, those that some token may follow are sought, and the rest are judged one by one.
void MaskSegments::add_loop(MaskSegment& segment, Judge& judge, const Key& key, const ClassLoop& loop, Budget& budget) {
  const Tokenization::InsideClassPtr inside = inside_class(key, loop, budget);
  inside_class_.try_emplace(inside.get(), inside);
  const Vocabulary& vocabulary = tokenization_.vocabulary();
  const LoopRests rests(pattern_.automaton(), loop, inside->longest, budget);
  const std::size_t lengths = rests.lengths();
  std::vector<TokenCount> needed(lengths);
  Words scratch;
  for (const Tokenization::InsideClass::Group& group : inside->groups) {
    bool all_live = rests.is_endless() || lengths == inside->longest;
    for (std::size_t i = 0; i < lengths; ++i) {
      needed[i] = liveness_.bound_at_border(rests.after(i + 1), group.text, budget);
      all_live &= needed[i] != kDead;
      if (needed[i] == kDead) continue;
      segment.most = std::max(segment.most, more(needed[i], 3));  // a code point may have to be ended byte by byte
      segment.has_meeting |= group.has_meeting;
    }
    const auto length_of = [&](std::uint32_t token) -> std::size_t {
      return rests.is_endless() ? 1 : vocabulary.code_points_begun({token});
    };
    for (const std::uint32_t token : group.tokens.listed) {
      const std::size_t length = length_of(token);
      if (length > lengths) continue;
      if (length > 0 && needed[length - 1] != kDead) segment.listed.push_back(token);
      else judge_alone(judge, key, {token}, budget);
    }
    if (group.tokens.is_listed()) continue;
    if (all_live) {
      segment.shared.push_back(group.tokens.bits);
      continue;
    }
    // Lengths that live alike are taken together.
    for (std::size_t begin = 0, end = 1; begin < lengths; begin = end, ++end) {
      const bool lives = needed[begin] != kDead;
      while (lives && end < lengths && needed[end] != kDead) ++end;
      scratch = *group.tokens.bits;
      if (!rests.is_endless()) {
        const MaskCache::TokensPtr fitting = vocabulary.short_tokens(end), shorter = vocabulary.short_tokens(begin);
        for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] &= fitting->words[i] & ~shorter->words[i];
      }
      if (!lives) {
        judge_group(segment, judge, key, rests.after(begin + 1), group.text, scratch, budget);
      } else {
        segment.words.resize(vocabulary.words(), 0);
        unite_bits(segment.words, scratch);
      }
    }
  }
  for (const std::uint32_t token : inside->doubtful) judge_alone(judge, key, {token}, budget);
}

// Tokens that land alike, where no border helps: a witness is one for all tokens that it may follow.
void MaskSegments::judge_group(MaskSegment& segment, Judge& judge, const Key& key, StateId state, const TextState& text,
                               Words& group, Budget& budget) {
  const Pieces& pieces = tokenization_.pieces();
  const Words& settled = pieces.settled(key.edge == Hypothesis::Edge::Border);
  const auto take = [&](const Words& behind, TokenCount needed) {
    segment.words.resize(group.size(), 0);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::uint32_t live = group[i] & behind[i] & settled[i];
      segment.words[i] |= live;
      group[i] &= ~live;
      for_each_bit_of(
          1, [&](std::size_t) { return live; },
          [&](std::uint32_t bit) { segment.by_pieces.push_back(static_cast<std::uint32_t>(32 * i) + bit); });
    }
    segment.most = std::max(segment.most, needed);
  };
  const auto alone = [&](std::uint32_t token) { judge_alone(judge, key, {token}, budget); };
  if (!pieces.apart().empty())
    if (const TokenCount count = liveness_.text().bound(state, text, budget); count != kDead)
      take(pieces.apart(), count);
  for (std::size_t tries = 0, at = 0; tries < Liveness::kMostWitnesses; ++tries) {
    while (at < group.size() && (group[at] & settled[at]) == 0) ++at;
    if (at == group.size()) break;
    const auto token =
        static_cast<std::uint32_t>(32 * at) + static_cast<std::uint32_t>(std::countr_zero(group[at] & settled[at]));
    const bool lives = has_bit(pieces.following(), token) &&
                       liveness_.bound_by_token({state, {token}, Pieces::kSettled, text}, budget) < Liveness::kUnsure;
    for (const auto& [witness, needed] : liveness_.witnesses(state, text))
      take(*tokenization_.before(witness), more(needed, 1));
    if (!lives || has_bit(group, token)) {
      clear_bit(group, token);
      alone(token);
    }
  }
  for_each_bit(group, alone);
}

// ---- rules --------------------------------------------------------------------------------------

// Visits the alternatives of an expression that begin with a terminal, also those that begin with something repeated;
// returns the others, and those that `visit` does not take.
template <class Visit>
std::vector<ExpressionId> MaskSegments::for_each_terminal(ExpressionId expression, Budget& budget, Visit&& visit) {
  Arena& arena = pattern_.automaton().arena();
  std::vector<ExpressionId> others, open = arena.fronts().unfolded(expression, budget);
  Visited<std::uint32_t, NumberHash> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    const ExpressionNode n = arena.pool().node(at);
    if (at == Pool::kEpsilon || n.kind == Kind::Unverified || !met.insert(at.value)) continue;
    const auto [first, tail] = arena.pool().split(at);
    const ExpressionNode head = arena.pool().node(first);
    if (head.kind == Kind::Terminal && visit(first, arena.derivatives().settled(tail))) continue;
    if (head.kind != Kind::Repetition || !head.rules) {
      others.push_back(at);
      continue;
    }
    const Count least = head.minimum == 0 ? 0 : head.minimum - 1,
                most = head.maximum == kUnbounded ? kUnbounded : head.maximum - 1;
    const ExpressionId once = arena.forms().concatenate(
        head.body(), arena.forms().concatenate(arena.forms().repeat(head.body(), least, most), tail));
    std::ranges::copy(arena.fronts().unfolded(once, budget), std::back_inserter(open));
  }
  return others;
}

// Alternatives that begin with a terminal, each by itself; all others are walked together.
void MaskSegments::add_rules(MaskSegment& segment, Judge& judge, const Key& key, Budget& budget) {
  ByteAutomaton& bytes = pattern_.automaton();
  const TokenAutomaton::Configuration place{key.state, key.at_start};
  const auto one_by_one = [&](std::uint32_t token) {
    if (!judge.may_stand({token}) || tokenization_.vocabulary().is_stop({token})) return;
    if (const std::optional<StateId> target = pattern_step(pattern_, place, {token}, budget))
      judge.judge({token}, pattern_.operands().is_approximated(*target)
                               ? pattern_.operands().approximated({*target, false}, budget).state
                               : *target);
  };
  if (key.at_start || (key.pieces != Pieces::kSettled && key.place == CodePoints::kBetween)) {
    for_each_bit(pattern_.mask(place, budget)->bits.row(), one_by_one);
    if (!key.at_start) return;
    for (std::uint32_t token = 0; token < pattern_.vocabulary(true).token_count(); ++token)
      if (pattern_.vocabulary(true).bytes({token}).empty()) one_by_one(token);
    return;
  }
  if (key.place != CodePoints::kBetween) {  // few tokens may stand there
    for (const auto& [token, target] : tokenization_.landing(key.guess, key.place)->listed())
      judge_alone(judge, key, {token}, budget);
    return;
  }
  std::vector<ExpressionId> others =
      for_each_terminal(bytes.expression(key.state), budget, [&](ExpressionId terminal, ExpressionId tail) {
        add_terminal(segment, judge, key, terminal, tail, budget);
        return true;
      });
  if (others.empty()) return;
  bool walks_are_long = false;  // each is of another place
  const TokenTransitions transitions(pattern_, {bytes.state_of_any(std::move(others), budget), false}, walks_are_long,
                                     budget);
  for (const TokenTransitions::Run& run : transitions.runs())
    for (const std::uint32_t token : run.tokens) judge.judge({token}, run.target);
}

void MaskSegments::add_terminal(MaskSegment& segment, Judge& judge, const Key& key, ExpressionId terminal,
                                ExpressionId tail, Budget& budget) {
  ByteAutomaton& bytes = pattern_.automaton();
  StateId behind = bytes.state_of(tail, budget);
  const Tokenization::TerminalExitsPtr exits = terminals_.exits(terminal, key.guess, key.edge, budget);
  const auto ask = [&](std::uint32_t token) { judge_alone(judge, key, {token}, budget); };
  for (const Tokenization::TerminalExits::Group& group : exits->groups) {
    using Exit = Tokenization::TerminalExits::Group::Kind;
    const TokenCount needed = group.kind == Exit::Token ? liveness_.bound_at_border(behind, group.exit, budget)
                              : group.kind == Exit::Text
                                  ? liveness_.text().bound(behind, group.exit, budget)
                                  : liveness_.bound({behind, group.last, {}, group.exit}, budget);
    if (needed >= Liveness::kUnsure) {
      group.tokens.for_each(ask);
      continue;
    }
    segment.most = std::max(segment.most, more(needed, group.length));
    if (group.kind == Exit::Inside)
      group.tokens.for_each([&](std::uint32_t token) { segment.by_pieces.push_back(token); });
    segment.listed.insert(segment.listed.end(), group.tokens.listed.begin(), group.tokens.listed.end());
    if (group.tokens.bits) segment.shared.push_back(group.tokens.bits);
  }
  std::ranges::for_each(exits->doubtful, ask);
  if (tail == Pool::kEpsilon) return;
  // The tokens that pass the end of the terminal, by their remainders.
  const Follow follow = pattern_.follow_of(tail);
  const std::shared_ptr<const Segment> leaving = pattern_.segments().of(terminal, TokenTrie::root(), follow, budget);
  if (leaving->has_trunk())
    behind = bytes.state_of_any(without_joined(segment, judge, key, terminal, tail, budget), budget);
  const auto judge_below = [&](const TokenTrie& trie, NodeId end) {
    walk_trie(trie, end, bytes, behind, budget, [&](NodeId node, StateId state) {
      if (node != end)
        for (const std::uint32_t token : trie.own(node)) judge.judge({token}, state);
      return true;
    });
  };
  judge_below(leaving->remainders, TokenTrie::root());
  if (leaving->has_trunk()) judge_below(pattern_.vocabulary(false).trie(), leaving->trunk);
}

// Half of the tokens are blanks and a word.  So what follows blanks is one terminal with them where it begins with one:
// its exits are those of all states alike.  The other alternatives are returned.
std::vector<ExpressionId> MaskSegments::without_joined(MaskSegment& segment, Judge& judge, const Key& key,
                                                       ExpressionId blanks, ExpressionId tail, Budget& budget) {
  constexpr std::size_t kMostJoined = 64;  // each has a segment of its own; a walk meets them all together
  std::size_t joined = 0;
  Arena& arena = pattern_.automaton().arena();
  return for_each_terminal(tail, budget, [&](ExpressionId terminal, ExpressionId rest) {
    if (arena.pool().node(arena.pool().node(terminal).body()).constrained || ++joined > kMostJoined) return false;
    const ExpressionId both =
        arena.forms().concatenate(arena.pool().node(blanks).body(), arena.pool().node(terminal).body());
    add_terminal(segment, judge, key, arena.derivatives().terminal(both, budget), rest, budget);
    return true;
  });
}

// ---- what stays inside a class ------------------------------------------------------------------

// The tokens of a class after a hypothesis, by where they land: those that end between code points, and of the
// others those that some bytes end inside the class.
Tokenization::InsideClassPtr MaskSegments::inside_class(const Key& key, const ClassLoop& loop, Budget& budget) {
  std::string name = loop.key;
  for (const std::uint32_t number : {std::uint32_t{key.guess}, std::uint32_t{key.edge == Hypothesis::Edge::Border}})
    name.append(reinterpret_cast<const char*>(&number), sizeof number);
  if (Tokenization::InsideClassPtr known = tokenization_.inside_class().find(name)) return known;
  auto result = std::make_shared<Tokenization::InsideClass>();
  const MaskCache::TokensPtr inside = pattern_.inside(loop, budget);
  MaskSegment unused;
  const Judge judge(tokenization_, liveness_, unused, key, budget);
  const StateId whole = pattern_.automaton().unbounded(loop.repetition, budget);
  const AddedTokens& added = tokenization_.rules().added();
  std::map<std::tuple<std::uint16_t, AddedTokens::Open, bool>, std::vector<std::uint32_t>> groups;
  // most tokens, by where they land
  std::vector<std::vector<std::uint32_t>> plain(judge.landing().targets().size());
  TerminalExitsMaker::KnownEndings known_endings;
  const bool is_border = key.edge == Hypothesis::Edge::Border;
  const Words& simple = tokenization_.plain(is_border);
  const Vocabulary& vocabulary = tokenization_.vocabulary();
  for_each_bit(inside->words, [&](std::uint32_t token) {
    const std::uint16_t number = judge.landing().target_of(token);
    if (number == 0) return;
    const Landing::Target& target = judge.landing().targets()[number - 1u];
    if (target.place == CodePoints::kBetween && has_bit(simple, token)) {
      plain[number - 1u].push_back(token);
      result->longest = std::max<std::size_t>(result->longest, vocabulary.code_points_begun({token}));
      return;
    }
    if (!judge.may_stand({token})) return;
    budget.step();
    result->longest = std::max<std::size_t>(result->longest, vocabulary.code_points_begun({token}));
    const bool is_opening = has_bit(tokenization_.opening(), token);
    if (has_bit(tokenization_.unsteady(), token)) {
      result->doubtful.push_back(token);
      return;
    }
    if (target.place == CodePoints::kBetween) {
      if (!is_opening) {
        plain[number - 1u].push_back(token);
      } else if (has_bit(tokenization_.meeting(), token)) {
        result->doubtful.push_back(token);
      } else {
        groups[{target.guess, added.next(AddedTokens::kNothing, vocabulary.bytes({token})), true}].push_back(token);
      }
      return;
    }
    if (!has_bit(tokenization_.pieces().following(), token)) return;
    const std::optional<StateId> state = is_opening ? std::nullopt : pattern_.step({whole, false}, {token}, budget);
    const auto follows = [&](TokenId next) { return tokenization_.pieces().leads_on({token}, next); };
    if (state) {
      const auto& endings = terminals_.endings(*state, target.guess, target.place, 3, known_endings, budget);
      const auto ending = std::ranges::find_if(endings, follows, &TerminalExitsMaker::Ending::token);
      if (ending != endings.end()) {
        groups[{ending->guess, AddedTokens::kNothing, false}].push_back(token);
        return;
      }
    }
    // Many are dead whatever the pattern is: no token at all goes on from there.
    const LandingPtr beyond = tokenization_.landing(target.guess, target.place);
    if (std::ranges::any_of(beyond->listed(), [&](const auto& next) { return follows({next.first}); }))
      result->doubtful.push_back(token);
  });
  for (std::size_t number = 0; number < plain.size(); ++number)
    if (!plain[number].empty())
      groups[{judge.landing().targets()[number].guess, AddedTokens::kNothing, true}] = std::move(plain[number]);
  for (auto& [where, tokens] : groups) {
    const auto [guess, open, is_between] = where;
    Tokenization::InsideClass::Group group;
    group.text = {guess, CodePoints::kBetween, tokenization_.rules().any_starter(), 0, open};
    const auto is_meeting = [&](std::uint32_t token) { return has_bit(tokenization_.meeting(), token); };
    group.has_meeting = std::ranges::any_of(tokens, is_meeting);
    if (is_between) group.tokens = TokenSet::of(std::move(tokens), inside->words.size());
    else group.tokens.listed = std::move(tokens);
    result->groups.push_back(std::move(group));
  }
  return tokenization_.inside_class().keep(name, result, result->memory_bytes());
}

}  // namespace tokamata

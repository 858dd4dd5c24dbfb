// What terminals do to the vocabulary (vocabulary/segment.hpp).  Part of TokenAutomaton.
//
// Problem.  A string of at most 50 characters is a terminal of its own after each of them, and so is a name that is
// none of those that an object lists; a walk of the vocabulary for each takes a millisecond, or a hundred where there
// is a pattern beside.
// How.  The segment of the same string without its bound is made once for all.  It is right for tokens of few
// characters, and those of many are not in the bounded one; what lies between is judged token by token, in the order of
// their bytes, so that what two of them begin with is read once.  Of a string that must not be some others, the segment
// with those is right for all tokens but those that lie on the way of one, or end it.
// Example.  With 7 characters to come,  [a-z]*"  is right for  wordy  and for  word",  and  wordiest  is out; of
// ,"\n\n\n\n\n" the characters are counted.  Of names but  id  and  item ,  i ,  id ,  id"  and  it  are judged.
// Cost.  A walk of the vocabulary for each terminal without a bound, or with one of few characters; a copy for each
// other.

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>

#include "composition/token_automaton.hpp"

namespace tokamata {

namespace {

// a segment of so few tokens is made sooner than it is found among those of others
constexpr std::uint32_t kFewShared = 256;
constexpr std::size_t kManyJudged = 1000;  // a walk takes no longer, mostly

struct InTerminal {  // for MaskWalk
  using AllSpellable = void;
};

struct EndOfTerminal {
  std::uint32_t token, length;  // bytes of the token before it
  auto operator<=>(const EndOfTerminal&) const = default;
};

// Of what judged tokens leave after the ends of a terminal, keeps what they do by `ends`; all is sorted.  False where
// some of that is not there.
bool keep_ends(const Vocabulary& vocabulary, const Words& judged, const std::vector<EndOfTerminal>& ends,
               Segment& segment) {
  std::size_t found = 0;
  segment.remainders = segment.remainders.filtered([&](std::uint32_t token, std::uint32_t depth) {
    if (!has_bit(judged, token)) return true;
    const auto length = static_cast<std::uint32_t>(vocabulary.bytes({token}).size()) - depth;
    const bool is_end = std::ranges::binary_search(ends, EndOfTerminal{token, length});
    found += is_end;
    return is_end;
  });
  return found == ends.size();
}

}  // namespace

const std::shared_ptr<const Segment>& TokenAutomaton::segment(ExpressionId terminal, NodeId node, Follow follow,
                                                              Budget& budget) {
  const PartAt place{&vocabulary_->trie(), node, terminal, follow};
  if (const auto known = segments_.find(place); known != segments_.end()) {
    ++work_.segments_found;
    return known->second.shared();
  }
  const TimeOfPart timed(work_.segment_seconds, makes_segment_);
  const TokenTrie::Node& below = vocabulary_->trie().node(node);
  const bool is_shared = below.tokens_end - below.tokens_begin > kFewShared;
  std::string key = is_shared ? automaton_.arena().structure(automaton_.arena().node(terminal).body()) : std::string();
  if (!key.empty()) {
    key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
    if (follow != Follow::AnyByte) key.push_back(follow == Follow::NoWord ? 'n' : 'e');
  }
  std::shared_ptr<const Segment> made = key.empty() ? nullptr : vocabulary_->known_segment(key);
  ++(made ? work_.segments_found : work_.segments_made);
  if (!made) {
    const Budget::Clock::time_point started = Budget::Clock::now();
    made = std::make_shared<const Segment>(make_segment(terminal, node, follow, budget));
    if (!key.empty()) made = vocabulary_->keep_segment(key, std::move(made), Budget::Clock::now() - started);
  }
  return segments_.emplace(place, Kept(std::move(made))).first->second.shared();
}

// Problem.  In a program a blank comes before most names, and a name before most blanks.  What may follow a name would
// be split again at each of the 40,000 places in the remainders of a blank where a name may end.
// How.  A segment of the remainders of another one.
const std::shared_ptr<const Segment>& TokenAutomaton::segment_within(ExpressionId terminal, const TokenTrie& remainders,
                                                                     NodeId node, Follow follow, Budget& budget) {
  const PartAt place{&remainders, node, terminal, follow};
  if (const auto known = segments_.find(place); known != segments_.end()) {
    ++work_.segments_found;
    return known->second.shared();
  }
  const TimeOfPart timed(work_.segment_seconds, makes_segment_);
  ++work_.segments_made;
  auto made = std::make_shared<const Segment>(walked_segment(terminal, remainders, node, follow, budget));
  return segments_.emplace(place, Kept(std::move(made))).first->second.shared();
}

const RulesSegment* TokenAutomaton::rules_segment(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                                  Budget& budget) {
  const PartAt place{&trie, node, part, follow};
  auto known = rules_segments_.find(place);
  if (known != rules_segments_.end()) {
    ++work_.segments_found;
  } else {
    const TimeOfPart timed(work_.segment_seconds, makes_segment_);
    ++work_.segments_made;
    std::shared_ptr<const RulesSegment> made = rule_mask_maker().make_segment(part, trie, node, follow, budget);
    known = rules_segments_.emplace(place, Kept(std::move(made))).first;
  }
  return known->second ? &*known->second : nullptr;
}

ByteSet TokenAutomaton::beginnings(ExpressionId expression) {
  if (expression.value < beginnings_.size() && beginnings_[expression.value]) return *beginnings_[expression.value];
  Arena& arena = automaton_.arena();
  ByteSet found;
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (!met.insert(at.value).second) continue;
    const ExpressionNode& n = arena.node(at);
    if (!n.rules && !n.constrained && !n.open && !n.commits && !n.unverified) {
      found |= arena.first_bytes(at);
    } else if (n.kind == Kind::Union) {
      open.insert(open.end(), arena.items(n).begin(), arena.items(n).end());
    } else if (n.kind == Kind::Concatenation) {
      open.push_back(n.head());
      if (arena.node(n.head()).nullable) open.push_back(n.tail());
    } else if (n.kind == Kind::Repetition) {
      open.push_back(n.body());
    } else if (n.kind == Kind::Rule) {
      found |= arena.rules(n).may_begin(n.rule());
    } else {
      found = ByteSet::range(0x00, 0xFF);
    }
  }
  if (beginnings_.size() <= expression.value)
    beginnings_.resize(std::max<std::size_t>(expression.value + 1, 2 * beginnings_.size()));
  return *(beginnings_[expression.value] = found);
}

Segment TokenAutomaton::make_segment(ExpressionId terminal, NodeId node, Follow follow, Budget& budget) {
  if (const std::optional<Arena::WithStrings> with = automaton_.arena().with_strings(terminal))
    if (std::optional<Segment> made = segment_without(terminal, *with, node, budget)) return *std::move(made);
  if (every_byte_is_token_ && node == TokenTrie::root())
    if (const std::optional<Arena::Unbounded> unbounded = automaton_.arena().without_bound(terminal))
      if (std::optional<Segment> made = bounded_segment(terminal, *unbounded, budget)) return *std::move(made);
  return walked_segment(terminal, vocabulary_->trie(), node, follow, budget);
}

Segment TokenAutomaton::walked_segment(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow,
                                       Budget& budget) {
  Segment made;
  std::vector<TokenTrie::Place> ends;
  constexpr std::uint32_t kLongestRest = 3;  // of a code point that a loop has begun
  const StateId start = automaton_.state_of(terminal, budget);
  std::uint32_t spelled = automaton_.node(start).spelled;  // of any state that was met
  struct Describe : InTerminal {
    TokenAutomaton& automaton;
    Budget& budget;
    WalkState operator()(StateId state) const { return {automaton.loops(state, budget), true}; }
  };
  const Describe describe{{}, *this, budget};
  // Half of the work of a walk without loops is to fetch what is known of a state, at most nodes of the trie the same
  // again.
  struct Met {
    StateId state = ByteAutomaton::kDead;
    bool accepting = false;
  };
  constexpr std::size_t kMet = 1024;
  std::array<Met, kMet> met{};
  const auto visit = [&](NodeId at, StateId state) {
    Met& known = met[state.value % kMet];
    if (known.state != state) {
      const ExpressionNode& about = automaton_.node(state);
      known = {state, about.nullable};
      spelled = std::max(spelled, about.spelled);
    }
    if (follow != Follow::Nothing && known.accepting) ends.push_back({&trie, at});
  };
  MaskWalk walk(trie, automaton_, budget, describe, visit);
  walk.enter_below(node, start);
  work_.nodes += walk.nodes();
  if (spelled != ExpressionNode::kUnspelled) made.most = spelled + kLongestRest;
  std::size_t count = 0;
  for (const TokenRange& range : walk.ranges()) count += range.end - range.begin;
  const std::span<const std::uint32_t> order = trie.order();
  if (count <= Segment::few_for(vocabulary_->words())) {
    made.few.reserve(count);
    for (const TokenRange& range : walk.ranges())
      made.few.insert(made.few.end(), order.begin() + range.begin, order.begin() + range.end);
  } else {
    made.inside.assign(vocabulary_->words(), 0);
    for (const TokenRange& range : walk.ranges())
      for (const std::uint32_t token : order.subspan(range.begin, range.end - range.begin)) set_bit(made.inside, token);
  }
  const std::optional<TokenTrie::Place> trunk =
      TokenTrie::trunk_of(ends, bytes_of(follow), Segment::much_for(vocabulary_->words()));
  if (trunk) made.trunk = trunk->node;
  made.remainders = TokenTrie(std::move(ends), bytes_of(follow), trunk);
  return made;
}

// Nothing where that would be no less work than a walk.
std::optional<Segment> TokenAutomaton::bounded_segment(ExpressionId terminal, const Arena::Unbounded& unbounded,
                                                       Budget& budget) {
  const MaskCache::TokensPtr with_special = vocabulary_->tokens_with(unbounded.special);
  const Words& special = with_special->words;
  const auto begun = [&](std::uint32_t token) { return vocabulary_->code_points_begun({token}); };
  const auto at_most = [&](Count most) -> const Words& {
    return vocabulary_->short_tokens(std::min(most, Vocabulary::kMostAtHand))->words;
  };
  const Words &sure = at_most(unbounded.sure), &most = at_most(unbounded.most);
  const bool is_most_at_hand = unbounded.most <= Vocabulary::kMostAtHand;
  Segment made = *segment(unbounded.terminal, TokenTrie::root(), Follow::AnyByte, budget);
  if (made.has_trunk()) return std::nullopt;  // whose tokens would be judged as well
  // A walk is slow where counts that are kept make a state of each: then no number of tokens is too many.
  const std::size_t many =
      automaton_.arena().node(terminal).worst == ExpressionNode::kUnspelled ? made.inside.size() * 32 : kManyJudged;
  std::vector<std::uint32_t> judged;
  // Whether a token that may be too long stays for now.
  const auto is_kept = [&](std::uint32_t token) {
    const bool is_plain = !has_bit(special, token);
    if (begun(token) <= (is_plain ? unbounded.sure_plain : unbounded.sure)) return true;
    if (begun(token) > unbounded.most && is_plain) return false;
    judged.push_back(token);
    return true;
  };
  std::erase_if(made.few, [&](std::uint32_t token) { return !is_kept(token); });
  for (std::size_t word = 0; word < made.inside.size(); ++word) {
    std::uint32_t open = made.inside[word] & ~sure[word];
    if (is_most_at_hand) {
      const std::uint32_t out = open & ~most[word] & ~special[word];
      made.inside[word] &= ~out;
      open &= unbounded.sure_plain == unbounded.most ? special[word] : ~out;
    }
    for (; open; open &= open - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(open));
      if (!is_kept(static_cast<std::uint32_t>(32 * word) + bit)) made.inside[word] &= ~(1u << bit);
    }
    if (judged.size() > many) return std::nullopt;
  }
  std::ranges::copy_if(made.remainders.order(), std::back_inserter(judged),
                       [&](std::uint32_t token) { return begun(token) > unbounded.sure; });
  return judged_segment(std::move(made), terminal, TokenTrie::root(), std::move(judged), budget);
}

// After the way of an excluded text nothing is left of it, and all is as if it were not there.  What is excluded is an
// automaton of strings or an expression of few texts.
std::optional<std::vector<std::uint32_t>> TokenAutomaton::tokens_along(const Arena::WithStrings& with, NodeId from,
                                                                       std::size_t most, Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  std::vector<std::uint32_t> found;
  const auto take = [&](std::uint32_t begin, std::uint32_t end) {
    found.insert(found.end(), trie.order().begin() + begin, trie.order().begin() + end);
  };
  std::vector<std::pair<NodeId, std::uint32_t>> frames;
  // Takes the tokens that end at a node, and those that go on after the end of an excluded text.
  const auto visit = [&](NodeId node, bool is_end) {
    budget.step();
    if (node != from) take(trie.node(node).tokens_begin, trie.own_end(node));
    if (is_end)
      for (const std::uint8_t byte : trie.bytes_below(node))
        if (with.behind.contains(byte)) {
          const TokenTrie::Node& below = trie.node(trie.child(node, byte));
          take(below.tokens_begin, below.tokens_end);
        }
    return found.size() <= most;
  };
  for (const ExpressionId excluded : with.strings) {
    const ExpressionNode start = automaton_.arena().node(excluded);
    if (start.kind == Kind::Strings) {
      const StringAutomaton& automaton = automaton_.arena().string_automaton(start);
      frames.assign(1, {from, start.second});
      while (!frames.empty()) {
        const auto [node, state] = frames.back();
        frames.pop_back();
        if (!visit(node, automaton.accepting(state))) return std::nullopt;
        for (const auto& [byte, target] : automaton.transitions(state))
          if (const NodeId child = trie.child(node, byte); child != TokenTrie::root())
            frames.emplace_back(child, target);
      }
      continue;
    }
    frames.assign(1, {from, automaton_.state_of(excluded, budget).value});
    while (!frames.empty()) {
      const auto [node, number] = frames.back();
      const StateId state{number};
      frames.pop_back();
      if (!visit(node, automaton_.accepting(state))) return std::nullopt;
      const ByteSet readable = automaton_.may_read(state, budget);
      for (const std::uint8_t byte : trie.bytes_below(node)) {
        if (!readable.contains(byte)) continue;
        const StateId target = automaton_.next(state, byte, budget);
        if (target != ByteAutomaton::kDead) frames.emplace_back(trie.child(node, byte), target.value);
      }
    }
  }
  return found;
}

std::optional<Segment> TokenAutomaton::segment_without(ExpressionId terminal, const Arena::WithStrings& with,
                                                       NodeId from, Budget& budget) {
  std::optional<std::vector<std::uint32_t>> judged = tokens_along(with, from, kManyJudged, budget);
  if (!judged) return std::nullopt;
  const Segment& without = *segment(with.terminal, from, Follow::AnyByte, budget);
  if (without.has_trunk()) return std::nullopt;
  return judged_segment(without, terminal, from, *std::move(judged), budget);
}

// The segment of a terminal, by one that differs from it in nothing but what it does to the tokens to be judged.
std::optional<Segment> TokenAutomaton::judged_segment(Segment made, ExpressionId terminal, NodeId node,
                                                      std::vector<std::uint32_t> judged, Budget& budget) {
  // what ends the other terminal may be too long for this one, or none of its texts
  made.most = Segment::kNotKnown;
  if (judged.empty()) return made;
  const std::size_t depth = vocabulary_->trie().depth(node, vocabulary_->bytes({judged[0]}));
  std::ranges::sort(judged);
  judged.erase(std::unique(judged.begin(), judged.end()), judged.end());

  Words is_judged(vocabulary_->words());
  for (const std::uint32_t token : judged) set_bit(is_judged, token);
  std::vector<std::uint32_t> in_order = judged;  // of their bytes
  if (judged.size() <= kManyJudged)
    std::ranges::sort(in_order, {}, [&](std::uint32_t token) { return vocabulary_->bytes({token}); });
  else
    std::ranges::copy_if(vocabulary_->trie().order(), in_order.begin(),
                         [&](std::uint32_t token) { return has_bit(is_judged, token); });
  std::vector<EndOfTerminal> ends;
  std::vector<std::uint32_t> dead;
  std::vector<StateId> states{automaton_.state_of(terminal, budget)};  // after each byte, as far as they live
  std::string_view before;
  for (const std::uint32_t token : in_order) {
    const std::string_view bytes = vocabulary_->bytes({token}).substr(depth);
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(before, bytes).in1 - before.begin());
    const bool has_died = states.size() <= common;  // in what both begin with
    states.resize(std::min(states.size(), common + 1));
    before = bytes;
    while (!has_died && states.size() <= bytes.size()) {
      const StateId reached =
          automaton_.next(states.back(), static_cast<std::uint8_t>(bytes[states.size() - 1]), budget);
      if (reached == ByteAutomaton::kDead) break;
      budget.step();
      states.push_back(reached);
    }
    for (std::uint32_t length = 1; length < states.size(); ++length)
      if (automaton_.accepting(states[length])) ends.push_back({token, static_cast<std::uint32_t>(depth) + length});
    if (states.size() <= bytes.size()) dead.push_back(token);
  }
  std::ranges::sort(dead);
  std::erase_if(made.few, [&](std::uint32_t token) { return std::ranges::binary_search(dead, token); });
  if (!made.is_listed())
    for (const std::uint32_t token : dead) clear_bit(made.inside, token);
  std::ranges::sort(ends);
  if (!keep_ends(*vocabulary_, is_judged, ends, made)) return std::nullopt;
  return made;
}

}  // namespace tokamata

#include "composition/segments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "common/sort_unique.hpp"
#include "composition/mask_walk.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

namespace {

// a segment of so few tokens is made sooner than it is found among those of others
constexpr std::uint32_t kMostUnshared = 256;
constexpr std::size_t kMostJudged = 1000;  // tokens read one by one; a walk takes no longer than more of them, mostly

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

const std::shared_ptr<const Segment>& Segments::of(ExpressionId terminal, NodeId node, Follow follow, Budget& budget) {
  const PartAt place{&vocabulary_.trie(), node, terminal, follow};
  if (const auto known = known_.find(place); known != known_.end()) {
    ++work_.counts.segments_found;
    return known->second.shared();
  }
  const TimeOfPart timed = work_.time_segment();
  const TokenTrie::Node& below = vocabulary_.trie().node(node);
  const bool is_shared = below.tokens_end - below.tokens_begin > kMostUnshared;
  std::string key(is_shared ? structure(automaton_.arena().pool().node(terminal).body()) : std::string_view());
  if (!key.empty()) {
    key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
    if (follow != Follow::AnyByte) key.push_back(follow == Follow::NoWord ? 'n' : 'e');
  }
  std::shared_ptr<const Segment> made = key.empty() ? nullptr : vocabulary_.known_segment(key);
  ++(made ? work_.counts.segments_found : work_.counts.segments_made);
  if (!made) {
    const Budget::Clock::time_point started = Budget::Clock::now();
    made = std::make_shared<const Segment>(make_segment(terminal, node, follow, budget));
    // Who waits until a deadline does not wait for a disk.
    const Budget::Clock::duration work =
        budget.has_deadline() ? Budget::Clock::duration() : Budget::Clock::now() - started;
    if (!key.empty()) made = vocabulary_.keep_segment(key, std::move(made), work);
  }
  return known_.emplace(place, Kept(std::move(made))).first->second.shared();
}

// That of a date is 97 kB, and is wanted at every node where the date may begin.
std::string_view Segments::structure(ExpressionId body) {
  constexpr std::size_t kMostBytes = 1 << 18;
  if (const auto known = structures_.find(body.value); known != structures_.end()) return known->second;
  if (bytes_of_structures_ > kMostBytes) forget_structures();
  const std::string made = automaton_.arena().analyses().structure(body);
  bytes_of_structures_ += made.size();
  return structures_.emplace(body.value, made).first->second;
}

void Segments::forget_structures() {
  release(structures_);
  bytes_of_structures_ = 0;
}

// Problem.  In a program a blank comes before most names, and a name before most blanks.  What may follow a name would
// be split again at each of the 40,000 places in the remainders of a blank where a name may end.
// How.  A segment of the remainders of another one.
const std::shared_ptr<const Segment>& Segments::within(ExpressionId terminal, const TokenTrie& remainders, NodeId node,
                                                       Follow follow, Budget& budget) {
  const PartAt place{&remainders, node, terminal, follow};
  if (const auto known = known_.find(place); known != known_.end()) {
    ++work_.counts.segments_found;
    return known->second.shared();
  }
  const TimeOfPart timed = work_.time_segment();
  ++work_.counts.segments_made;
  auto made = std::make_shared<const Segment>(walked_segment(terminal, remainders, node, follow, budget));
  return known_.emplace(place, Kept(std::move(made))).first->second.shared();
}

Segment Segments::make_segment(ExpressionId terminal, NodeId node, Follow follow, Budget& budget) {
  if (const std::optional<StringBounds::WithStrings> with = automaton_.arena().string_bounds().with_strings(terminal))
    if (std::optional<Segment> made = segment_without(terminal, *with, node, budget)) return *std::move(made);
  if (operands_.every_byte_is_token() && node == TokenTrie::root())
    if (const std::optional<StringBounds::Unbounded> unbounded =
            automaton_.arena().string_bounds().without_bound(terminal))
      if (std::optional<Segment> made = bounded_segment(terminal, *unbounded, budget)) return *std::move(made);
  return walked_segment(terminal, vocabulary_.trie(), node, follow, budget);
}

Segment Segments::walked_segment(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow,
                                 Budget& budget) {
  Segment made;
  std::vector<TokenTrie::Place> ends;
  constexpr std::uint32_t kLongestRest = 3;  // of a code point that a loop has begun
  const StateId start = automaton_.state_of(terminal, budget);
  std::uint32_t spelled = automaton_.node(start).spelled;  // of any state that was met
  struct Describe : InTerminal {
    StateLoops& loops;
    Budget& budget;
    WalkState operator()(StateId state) const { return {loops.of(state, budget), true}; }
  };
  const Describe describe{{}, loops_, budget};
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
  const PartAt at{&trie, node, terminal, follow};
  try {
    if (stopped_ && stopped_->at == at) {
      ends = std::move(stopped_->ends);
      spelled = std::max(spelled, stopped_->spelled);
      PausedWalk before = std::move(stopped_->walk);
      stopped_.reset();
      walk.go_on(std::move(before));
    } else {
      walk.enter_below(node, start);
    }
  } catch (const LimitExceeded&) {
    stopped_ = {at, walk.paused(), ends, spelled};
    throw;
  }
  work_.counts.nodes += walk.nodes();
  if (spelled != ExpressionNode::kUnspelled) made.most = spelled + kLongestRest;
  std::size_t count = 0;
  for (const TokenRange& range : walk.ranges()) count += range.end - range.begin;
  const std::span<const std::uint32_t> order = trie.order();
  if (count <= TokenSet::most_listed(vocabulary_.words())) {
    made.inside.listed.reserve(count);
    for (const TokenRange& range : walk.ranges())
      made.inside.listed.insert(made.inside.listed.end(), order.begin() + range.begin, order.begin() + range.end);
  } else {
    Words inside(vocabulary_.words(), 0);
    for (const TokenRange& range : walk.ranges())
      for (const std::uint32_t token : order.subspan(range.begin, range.end - range.begin)) set_bit(inside, token);
    made.inside.bits = std::make_shared<const Words>(std::move(inside));
  }
  const std::optional<TokenTrie::Place> trunk =
      TokenTrie::trunk_of(ends, bytes_of(follow), Segment::much_for(vocabulary_.words()));
  if (trunk) made.trunk = trunk->node;
  made.remainders = TokenTrie(std::move(ends), bytes_of(follow), trunk);
  return made;
}

// Nothing where that would be no less work than a walk.
std::optional<Segment> Segments::bounded_segment(ExpressionId terminal, const StringBounds::Unbounded& unbounded,
                                                 Budget& budget) {
  const MaskCache::TokensPtr with_special = vocabulary_.tokens_with(unbounded.special);
  const Words& special = with_special->words;
  const auto begun = [&](std::uint32_t token) { return vocabulary_.code_points_begun({token}); };
  const auto at_most = [&](Count most) -> const Words& {
    return vocabulary_.short_tokens(std::min(most, Vocabulary::kMostAtHand))->words;
  };
  const Words &sure = at_most(unbounded.sure), &most = at_most(unbounded.most);
  const bool is_most_at_hand = unbounded.most <= Vocabulary::kMostAtHand;
  Segment made = *of(unbounded.terminal, TokenTrie::root(), Follow::AnyByte, budget);
  if (made.has_trunk()) return std::nullopt;  // whose tokens would be judged as well
  // A walk is slow where counts that are kept make a state of each: then no number of tokens is too many.
  const std::size_t most_judged = automaton_.arena().pool().node(terminal).worst == ExpressionNode::kUnspelled
                                      ? 32 * vocabulary_.words()
                                      : kMostJudged;
  std::vector<std::uint32_t> judged;
  // Whether a token that may be too long stays for now.
  const auto is_kept = [&](std::uint32_t token) {
    const bool is_plain = !has_bit(special, token);
    if (begun(token) <= (is_plain ? unbounded.sure_plain : unbounded.sure)) return true;
    if (begun(token) > unbounded.most && is_plain) return false;
    judged.push_back(token);
    return true;
  };
  std::erase_if(made.inside.listed, [&](std::uint32_t token) { return !is_kept(token); });
  Words inside = made.inside.is_listed() ? Words() : *made.inside.bits;
  for (std::size_t word = 0; word < inside.size(); ++word) {
    std::uint32_t open = inside[word] & ~sure[word];
    if (is_most_at_hand) {
      const std::uint32_t out = open & ~most[word] & ~special[word];
      inside[word] &= ~out;
      open &= unbounded.sure_plain == unbounded.most ? special[word] : ~out;
    }
    for (; open; open &= open - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(open));
      if (!is_kept(static_cast<std::uint32_t>(32 * word) + bit)) inside[word] &= ~(1u << bit);
    }
    if (judged.size() > most_judged) return std::nullopt;
  }
  if (!inside.empty()) made.inside.bits = std::make_shared<const Words>(std::move(inside));
  std::ranges::copy_if(made.remainders.order(), std::back_inserter(judged),
                       [&](std::uint32_t token) { return begun(token) > unbounded.sure; });
  return judged_segment(std::move(made), terminal, TokenTrie::root(), std::move(judged), budget);
}

// After the way of an excluded text nothing is left of it, and all is as if it were not there.  What is excluded is an
// automaton of strings or an expression of few texts.
std::optional<std::vector<std::uint32_t>> Segments::tokens_along(const StringBounds::WithStrings& with, NodeId from,
                                                                 std::size_t most, Budget& budget) {
  const TokenTrie& trie = vocabulary_.trie();
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
    const ExpressionNode start = automaton_.arena().pool().node(excluded);
    if (start.kind == Kind::Strings) {
      const StringAutomaton& automaton = automaton_.arena().leaves().string_automaton(start);
      frames.assign(1, {from, start.state()});
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

std::optional<Segment> Segments::segment_without(ExpressionId terminal, const StringBounds::WithStrings& with,
                                                 NodeId from, Budget& budget) {
  std::optional<std::vector<std::uint32_t>> judged = tokens_along(with, from, kMostJudged, budget);
  if (!judged) return std::nullopt;
  const Segment& without = *of(with.terminal, from, Follow::AnyByte, budget);
  if (without.has_trunk()) return std::nullopt;
  return judged_segment(without, terminal, from, *std::move(judged), budget);
}

// The segment of a terminal, by one that differs from it in nothing but what it does to the tokens to be judged.
std::optional<Segment> Segments::judged_segment(Segment made, ExpressionId terminal, NodeId node,
                                                std::vector<std::uint32_t> judged, Budget& budget) {
  // what ends the other terminal may be too long for this one, or none of its texts
  made.most = Segment::kNotKnown;
  if (judged.empty()) return made;
  const std::size_t depth = vocabulary_.trie().depth(node, vocabulary_.bytes({judged[0]}));
  sort_unique(judged);

  Words is_judged(vocabulary_.words());
  for (const std::uint32_t token : judged) set_bit(is_judged, token);
  std::vector<std::uint32_t> in_order = judged;  // of their bytes
  if (judged.size() <= kMostJudged)
    std::ranges::sort(in_order, {}, [&](std::uint32_t token) { return vocabulary_.bytes({token}); });
  else
    std::ranges::copy_if(vocabulary_.trie().order(), in_order.begin(),
                         [&](std::uint32_t token) { return has_bit(is_judged, token); });
  std::vector<EndOfTerminal> ends;
  Words dead(vocabulary_.words());
  std::vector<StateId> states{automaton_.state_of(terminal, budget)};  // after each byte, as far as they live
  std::string_view before;
  for (const std::uint32_t token : in_order) {
    const std::string_view bytes = vocabulary_.bytes({token}).substr(depth);
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
    if (states.size() <= bytes.size()) set_bit(dead, token);
  }
  made.inside.remove(dead);
  std::ranges::sort(ends);
  if (!keep_ends(vocabulary_, is_judged, ends, made)) return std::nullopt;
  return made;
}

}  // namespace tokamata

#include "repair/token_places.hpp"

#include <algorithm>
#include <limits>

#include "canonical/token_transitions.hpp"
#include "common/hash.hpp"
#include "composition/class_walk.hpp"
#include "composition/loops.hpp"
#include "repair/kept_automata.hpp"

namespace tokamata {

namespace {

// Whether bytes are whole code points; what is no UTF-8 is not.
bool are_code_points(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto lead = static_cast<std::uint8_t>(bytes[at++]);
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    const std::size_t missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (bytes.size() - at < missing) return false;
    for (std::size_t more = 0; more < missing; ++more)
      if ((static_cast<std::uint8_t>(bytes[at++]) & 0xC0) != 0x80) return false;
  }
  return true;
}

}  // namespace

// The edges of a row, as they are found.
class TokenPlaces::RowMaker {
 public:
  explicit RowMaker(const TokenPlaces& places) : places_(places) {}

  void add(StateId target, std::uint32_t token) { add(target, token, places_.type(token)); }
  void add(StateId target, std::uint32_t token, std::uint8_t type) {
    if (!found_.empty() && found_.back().target == target && found_.back().type == type) {
      found_.back().token = std::min(found_.back().token, token);
      return;
    }
    found_.push_back({target, token, type});
  }

  // One for each target and type, by token.
  std::vector<std::pair<StateId, Edge>> take() {
    std::ranges::sort(found_, [](const Found& one, const Found& other) {
      if (one.target != other.target) return one.target < other.target;
      return one.type != other.type ? one.type < other.type : one.token < other.token;
    });
    std::vector<std::pair<StateId, Edge>> edges;
    for (const Found& one : found_)
      if (edges.empty() || edges.back().first != one.target || edges.back().second.type != one.type)
        edges.push_back({one.target, {kNone, one.token, one.type}});
    std::ranges::sort(edges, {}, [](const auto& edge) { return edge.second.token; });
    return edges;
  }

 private:
  struct Found {
    StateId target;
    std::uint32_t token;
    std::uint8_t type;
  };
  const TokenPlaces& places_;
  std::vector<Found> found_;
};

TokenPlaces::TokenPlaces(std::shared_ptr<const TokenPattern> pattern, const Limits& limits,
                         const std::shared_ptr<const CancelToken>& cancel)
    : pattern_(std::move(pattern)),
      depth_(limits.depth),
      automaton_(*pattern_->pattern, pattern_->vocabulary, pattern_->start_vocabulary, pattern_->control_tokens, limits,
                 cancel) {
  Budget budget(limits, cancel, 0);
  Arena& arena = automaton_.automaton().arena();
  if (pattern_->tokenization) {
    arena.narrow_always();
    canonical_.emplace(automaton_, pattern_->tokenization);
  }
  const Vocabulary& vocabulary = automaton_.vocabulary(false);
  for (const std::uint32_t token : vocabulary.trie().order())
    if (!are_code_points(vocabulary.bytes({token}))) partial_.push_back(token);
  const Configuration start = automaton_.start();
  const Configuration relaxed{over_approximation(automaton_.automaton(), start.state, budget), start.at_start};
  relaxed_start_ = place_of(relaxed, kAny, kNone);
  exact_start_ = relaxed_start_;
  if (canonical_ || relaxed.state != start.state)
    exact_start_ = place_of(start, canonical_ ? number_of(pattern_->tokenization->start()) : kAny, relaxed_start_);
  whole_text_ = ending(exact_start_, budget);
  budget.check();
  end_charging();
}

void TokenPlaces::set_types(std::span<const std::uint8_t> types) {
  if (std::ranges::equal(types, types_)) return;
  types_.assign(types.begin(), types.end());
  type_count_ = types.empty() ? 1 : std::uint32_t{*std::ranges::max_element(types)} + 1;
  rows_.clear();
  least_below_.clear();
  for (Known& known : known_) known.row = kNoRow;
}

// ---- places -----------------------------------------------------------------------------------

// A relaxed place is its own; `relaxed` is that of an exact one.  Both kinds may have one state.
TokenPlaces::Place TokenPlaces::place_of(Configuration configuration, std::uint32_t canonical, Place relaxed) {
  const bool is_exact = relaxed != kNone;
  const std::uint64_t hash =
      mix(mix(mix(0x9e3779b97f4a7c15, configuration.state.value), canonical), 2 * is_exact + configuration.at_start);
  const auto known = known_index_.find(hash, [&](Place place) {
    const Known& one = known_[place];
    return one.configuration == configuration && one.canonical == canonical && (one.relaxed != place) == is_exact;
  });
  if (known) return *known;
  const auto place = static_cast<Place>(known_.size());
  known_index_.reserve(1);
  known_.push_back({configuration, canonical, is_exact ? relaxed : place});
  known_index_.add(place, hash);
  return place;
}

std::uint32_t TokenPlaces::number_of(CanonicalState state) {
  const std::uint64_t hash = ConfigurationHash()(ConfigurationView{{0}, state.is_start, state});
  const auto known = canonical_index_.find(hash, [&](std::uint32_t number) { return canonicals_[number] == state; });
  if (known) return *known;
  canonical_index_.reserve(1);
  canonicals_.push_back(std::move(state));
  const auto number = static_cast<std::uint32_t>(canonicals_.size() - 1);
  canonical_index_.add(number, hash);
  return number;
}

bool TokenPlaces::accepting(Place place) const {
  const auto& [configuration, canonical, relaxed, row] = known_[place];
  return canonical == kAny ? automaton_.automaton().accepting(configuration.state)
                           : canonical_->accepting(configuration, canonicals_[canonical]);
}

TokenPlaces::Place TokenPlaces::after(Place place, std::uint32_t token, Budget& budget) {
  const auto [configuration, canonical, relaxed, row] = known_[place];
  if (automaton_.vocabulary(false).is_stop({token})) return kNone;
  if (canonical == kAny) {
    const std::optional<StateId> target = canonical_ ? pattern_step(automaton_, configuration, {token}, budget)
                                                     : automaton_.step(configuration, {token}, budget);
    if (!target) return kNone;
    if (!is_exact(place)) return place_of({*target, false}, kAny, kNone);
    const Place relaxed_target = after(relaxed, token, budget);
    return relaxed_target == kNone ? kNone : place_of({*target, false}, kAny, relaxed_target);
  }
  std::optional<CanonicalAutomaton::Target> target =
      canonical_->step(configuration, canonicals_[canonical], {token}, budget);
  if (!target) return kNone;
  const Place relaxed_target = after(relaxed, token, budget);
  return relaxed_target == kNone
             ? kNone
             : place_of({target->state, false}, number_of(std::move(target->canonical)), relaxed_target);
}

std::uint32_t TokenPlaces::least(Place place) const {
  const std::uint64_t least = automaton_.room(known_[place].configuration.state).at_least;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(least, kNone - 1));
}

std::vector<std::uint32_t> TokenPlaces::ending(Place place, Budget& budget) {
  const auto [configuration, canonical, relaxed, row] = known_[place];
  std::vector<std::uint32_t> tokens;
  const auto found = canonical == kAny ? completions_.shortest(configuration, budget)
                                       : canonical_->shortest(configuration, canonicals_[canonical], budget);
  for (const TokenId token : found) tokens.push_back(token.value);
  return tokens;
}

bool TokenPlaces::accepts(std::span<const std::uint32_t> tokens, Budget& budget) {
  Place place = exact_start_;
  for (const std::uint32_t token : tokens) {
    budget.step();
    place = after(place, token, budget);
    if (place == kNone) return false;
  }
  return accepting(place);
}

// ---- rows -------------------------------------------------------------------------------------

const TokenPlaces::Row& TokenPlaces::row(Place place, Budget& budget) {
  if (known_[place].row == kNoRow) {
    Row made = is_exact(place) ? exact_row(place, budget) : relaxed_row(known_[place].configuration, budget);
    rows_.push_back(std::move(made));
    known_[place].row = static_cast<std::uint32_t>(rows_.size() - 1);
  }
  return rows_[known_[place].row];
}

// Of the whole code points below each node; nodes are numbered breadth first.
void TokenPlaces::find_least() {
  const TokenTrie& trie = automaton_.vocabulary(false).trie();
  std::vector<bool> is_partial(width(), false);
  for (const std::uint32_t token : partial_) is_partial[token] = true;
  counted::vector<std::uint32_t> least(std::size_t{type_count_} * trie.node_count(), kNone);
  for (std::uint32_t node = static_cast<std::uint32_t>(trie.node_count()); node-- > 0;) {
    for (const std::uint32_t token : trie.own({node})) {
      std::uint32_t& own = least[std::size_t{type(token)} * trie.node_count() + node];
      if (!is_partial[token]) own = std::min(own, token);
    }
    for (std::uint32_t child = trie.children_begin({node}); child < trie.children_end({node}); ++child)
      for (std::size_t type = 0; type < type_count_; ++type)
        least[type * trie.node_count() + node] =
            std::min(least[type * trie.node_count() + node], least[type * trie.node_count() + child]);
  }
  least_below_ = std::move(least);
}

// Where the tokens lead from a relaxed place: visit(state, tokens).
template <class Visit>
void TokenPlaces::walk(Configuration configuration, Budget& budget, Visit&& visit) {
  walk_classes(automaton_.steps(), configuration, budget,
               [&](StateId target, const TokenClass& one) { visit(target, one.tokens); });
  if (!configuration.at_start || !canonical_) return;
  // Those of which the decoder leaves nothing.
  const Vocabulary& vocabulary = automaton_.vocabulary(true);
  for (std::uint32_t token = 0; token < vocabulary.token_count(); ++token) {
    if (!vocabulary.bytes({token}).empty() || vocabulary.is_stop({token})) continue;
    if (std::ranges::find(automaton_.controls(), TokenId{token}) != automaton_.controls().end()) continue;
    budget.step();
    if (const std::optional<StateId> target = pattern_step(automaton_, configuration, {token}, budget))
      visit(*target, std::span(&token, 1));
  }
}

// Few token classes are walked as such; otherwise the trie of tokens is, where what leads back to the state is one
// edge.
TokenPlaces::Row TokenPlaces::relaxed_row(Configuration configuration, Budget& budget) {
  ByteAutomaton& bytes = automaton_.automaton();
  RowMaker maker(*this);
  const auto add = [&](StateId target, std::span<const std::uint32_t> tokens) {
    for (const std::uint32_t token : tokens) maker.add(target, token);
  };
  const StateId start = configuration.state;
  ByteSet back;
  if (bytes.byte_classes().size() >= kManyByteClasses && !configuration.at_start && !bytes.node(start).edges &&
      automaton_.spellable(start, budget))
    for (const Loop& loop : stable_loops(bytes, start, true, budget)) back |= loop.bytes;
  if (back.empty()) {
    walk(configuration, budget, add);
  } else {
    if (least_below_.empty()) find_least();
    const TokenTrie& trie = automaton_.vocabulary(false).trie();
    struct Frame {
      std::uint32_t child, end;
      StateId state;
    };
    std::vector<Frame> frames{{trie.children_begin(TokenTrie::root()), trie.children_end(TokenTrie::root()), start}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.child == frame.end) {
        frames.pop_back();
        continue;
      }
      const NodeId child{frame.child++};
      const std::uint8_t byte = trie.byte(child);
      if (frame.state == start && back.contains(byte) && trie.below(trie.node(child)).is_subset_of(back)) {
        for (std::size_t type = 0; type < type_count_; ++type)
          if (const std::uint32_t least = least_below_[type * trie.node_count() + child.value]; least != kNone)
            maker.add(start, least, static_cast<std::uint8_t>(type));
        continue;
      }
      const StateId state = bytes.next(frame.state, byte, budget);
      if (state == ByteAutomaton::kDead) continue;
      budget.step();
      if (const auto own = trie.own(child); !own.empty() && automaton_.spellable(state, budget)) add(state, own);
      if (trie.children_begin(child) != trie.children_end(child))
        frames.push_back({trie.children_begin(child), trie.children_end(child), state});
    }
    for (const std::uint32_t token : partial_)
      if (const std::optional<StateId> target = automaton_.step(configuration, {token}, budget))
        maker.add(*target, token);
    const auto add_control = [&](StateId target, const TokenClass& one) { add(target, one.tokens); };
    walk_controls(automaton_.steps(), configuration, budget, add_control);
  }
  Row made;
  for (auto& [target, edge] : maker.take()) {
    edge.target = place_of({target, false}, kAny, kNone);
    made.edges.push_back(edge);
  }
  return made;
}

const TokenPlaces::Tried& TokenPlaces::tried(Place relaxed, Budget& budget) {
  if (const auto known = tried_.find(relaxed); known != tried_.end()) return known->second;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_target;
  const Configuration configuration = known_[relaxed].configuration;
  walk(configuration, budget, [&](StateId target, std::span<const std::uint32_t> tokens) {
    auto& list = by_target[target.value];
    list.insert(list.end(), tokens.begin(), tokens.end());
  });
  Tried made;
  const Vocabulary& vocabulary = automaton_.vocabulary(configuration.at_start);
  for (auto& [target, list] : by_target) {
    if (list.size() > kAlike) {
      std::ranges::nth_element(list, list.begin() + kAlike, {},
                               [&](std::uint32_t token) { return std::pair(vocabulary.bytes({token}).size(), token); });
      list.resize(kAlike);
      made.is_whole = false;
    }
    made.tokens.insert(made.tokens.end(), list.begin(), list.end());
  }
  std::ranges::sort(made.tokens);
  return tried_.emplace(relaxed, std::move(made)).first->second;
}

TokenPlaces::Row TokenPlaces::exact_row(Place place, Budget& budget) {
  const Tried& candidates = tried(known_[place].relaxed, budget);
  Row made;
  made.is_whole = candidates.is_whole;
  std::unordered_map<std::uint64_t, bool> met;
  for (const std::uint32_t token : candidates.tokens) {
    budget.step();
    const Place target = after(place, token, budget);
    if (target == kNone) continue;
    if (met.emplace((std::uint64_t{target} << 8) | type(token), true).second)
      made.edges.push_back({target, token, type(token)});
  }
  return made;
}

Limits BorrowedTokenPlaces::limits_beyond(Limits limits) const {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  const auto raise = [](std::size_t& bound, std::size_t by) { bound += std::min(by, kMost - bound); };
  raise(limits.memory_bytes, account().bytes());
  raise(limits.states, places().state_count());
  return limits;
}

}  // namespace tokamata

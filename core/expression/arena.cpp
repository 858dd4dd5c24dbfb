#include "expression/arena.hpp"

#include <algorithm>
#include <tuple>

namespace tokamata {

namespace {

constexpr ExpressionId kUnmade{~std::uint32_t{0}};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

// Products of nested bounds are kept while they are far from overflow.
constexpr Count kLargestProduct = Count{1} << 60;

}  // namespace

Arena::Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit)
    : single_bytes_(single_bytes), reach_(reach), depth_limit_(depth_limit), table_(256, 0) {
  intern({Kind::Empty, false, false, false, 0, 0, 0, 0});
  intern({Kind::Epsilon, true, true, false, 0, 0, 0, 0});
  intern({Kind::Stub, false, true, false, 0, 0, 0, 0});
}

// ---- hash-consing -----------------------------------------------------------------------------

std::uint64_t Arena::hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind) + 1, node.minimum);
  hash = mix(hash, node.maximum);
  if (node.kind == Kind::Union) {
    for (ExpressionId item : items) hash = mix(hash, item.value);
    return hash;
  }
  return mix(hash, (std::uint64_t{node.first} << 32) | node.second);
}

bool Arena::same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const {
  if (a.kind != b.kind || a.minimum != b.minimum || a.maximum != b.maximum) return false;
  if (a.kind != Kind::Union) return a.first == b.first && a.second == b.second;
  return std::ranges::equal(a_items, items(b));
}

ExpressionId Arena::intern(ExpressionNode node, std::span<const ExpressionId> items) {
  if (node.depth > depth_limit_) throw LimitExceeded("depth", depth_limit_);
  const std::uint64_t hash = hash_of(node, items);
  std::size_t slot = hash & (table_.size() - 1);
  while (table_[slot]) {
    const ExpressionId id{table_[slot] - 1};
    if (same(node, items, nodes_[id.value])) return id;
    slot = (slot + 1) & (table_.size() - 1);
  }
  const ExpressionId id{static_cast<std::uint32_t>(nodes_.size())};
  if (node.kind == Kind::Union) {
    node.first = static_cast<std::uint32_t>(items_.size());
    node.second = static_cast<std::uint32_t>(items.size());
    items_.insert(items_.end(), items.begin(), items.end());
  }
  if (node.shape == 0) node.shape = static_cast<std::uint32_t>(hash >> 32) | 1;
  nodes_.push_back(node);
  table_[slot] = id.value + 1;
  if (2 * nodes_.size() > table_.size()) grow_table();
  return id;
}

void Arena::grow_table() {
  std::vector<std::uint32_t> larger(table_.size() * 2, 0);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ExpressionNode& node = nodes_[i];
    const auto node_items = node.kind == Kind::Union ? items(node) : std::span<const ExpressionId>();
    std::size_t slot = hash_of(node, node_items) & (larger.size() - 1);
    while (larger[slot]) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = i + 1;
  }
  table_ = std::move(larger);
}

std::size_t Arena::memory_bytes() const {
  constexpr std::size_t kMapEntry = 48;  // a node of an unordered_map, with its share of the table
  return nodes_.capacity() * sizeof(ExpressionNode) + items_.capacity() * sizeof(ExpressionId) +
         table_.capacity() * sizeof(std::uint32_t) + sets_.capacity() * (sizeof(ByteSet) + kMapEntry) +
         (clipped_.size() + positions_.size()) * kMapEntry;
}

// ---- leaves -----------------------------------------------------------------------------------

ExpressionId Arena::bytes(const ByteSet& set) {
  if (set.empty()) return kEmpty;
  auto [place, is_new] = set_index_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return intern({Kind::Bytes, false, set.intersects(single_bytes_), false, 0, 0, place->second, 0});
}

ExpressionId Arena::add_literal(const std::string& text, Budget& budget) {
  ExpressionId result = kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    budget.step();
    const auto byte = static_cast<std::uint8_t>(*place);
    pattern_bytes_.add(byte);
    class_borders_.add(byte);
    if (byte < 0xFF) class_borders_.add(byte + 1);
    result = pair(bytes(ByteSet::range(byte, byte)), result);
  }
  return result;
}

std::optional<std::uint32_t> Arena::find_automaton(const CodePointAutomaton& automaton) const {
  auto [first, last] = automaton_index_.equal_range(automaton.hash());
  for (auto place = first; place != last; ++place) {
    const CodePointAutomaton& known = *automata_[place->second].automaton;
    if (&known == &automaton || known == automaton) return place->second;  // one \d is mostly the same object
  }
  return std::nullopt;
}

ExpressionId Arena::add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton) {
  if (const auto known = find_automaton(*automaton)) return automaton_state(*known, automaton->start());
  const auto index = static_cast<std::uint32_t>(automata_.size());
  automaton_index_.emplace(automaton->hash(), index);
  KnownAutomaton known{automaton, std::vector<ExpressionId>(automaton->state_count(), kUnmade),
                       std::vector<bool>(automaton->state_count(), false)};
  known.spellable[CodePointAutomaton::kFinal] = true;
  // States are numbered from the leaves up, so that targets come before sources.
  for (std::uint32_t state = 1; state < automaton->state_count(); ++state) {
    for (auto t = automaton->begin(state); t != automaton->end(state); ++t) {
      const ByteSet range = ByteSet::range(t->low, t->high);
      pattern_bytes_ |= range;
      class_borders_.add(t->low);
      if (t->high < 0xFF) class_borders_.add(static_cast<std::uint8_t>(t->high + 1));
      if (known.spellable[t->target] && range.intersects(single_bytes_)) known.spellable[state] = true;
    }
  }
  automata_.push_back(std::move(known));
  return automaton_state(index, automaton->start());
}

// A state whose transitions all lead to one target is written as a set of bytes and that target,
// so that the rests of different classes after the same lead byte are one expression.
ExpressionId Arena::automaton_state(std::uint32_t automaton, std::uint32_t state) {
  if (state == CodePointAutomaton::kFinal) return kEpsilon;
  if (automata_[automaton].states[state] != kUnmade) return automata_[automaton].states[state];
  const CodePointAutomaton& code_points = *automata_[automaton].automaton;
  const auto begin = code_points.begin(state), end = code_points.end(state);
  ExpressionId result = kEmpty;
  if (begin != end) {
    const bool single_target = std::all_of(begin, end, [&](const auto& t) { return t.target == begin->target; });
    if (single_target) {
      ByteSet set;
      for (auto t = begin; t != end; ++t) set |= ByteSet::range(t->low, t->high);
      result = pair(bytes(set), automaton_state(automaton, begin->target));
    } else {
      result = intern({Kind::CodePoints, false, automata_[automaton].spellable[state], false, 0, 0, automaton, state});
    }
  }
  automata_[automaton].states[state] = result;
  return result;
}

// ---- compounds --------------------------------------------------------------------------------

ExpressionId Arena::pair(ExpressionId head, ExpressionId tail) {
  if (head == kEmpty || tail == kEmpty) return kEmpty;
  if (head == kEpsilon) return tail;
  if (tail == kEpsilon || head == kStub) return head;
  const ExpressionNode& h = node(head);
  const ExpressionNode& t = node(tail);
  const auto shape = static_cast<std::uint32_t>(mix(h.shape, t.shape)) | 1;
  return intern({Kind::Concatenation, h.nullable && t.nullable, h.spellable_by_bytes && t.spellable_by_bytes,
                 h.counts_past_reach || t.counts_past_reach, std::max(h.depth + 1, t.depth), shape, head.value,
                 tail.value});
}

// Rotates the head until it is no concatenation: (a·b)·t becomes a·(b·t).  Only the spine of the
// head is walked; b stays as it is, so that entering a long body costs nothing.
ExpressionId Arena::concatenate(ExpressionId head, ExpressionId tail) {
  while (node(head).kind == Kind::Concatenation) {
    tail = pair(node(head).tail(), tail);
    head = node(head).head();
  }
  return pair(head, tail);
}

ExpressionId Arena::repeat(ExpressionId body, Count minimum, Count maximum) {
  if (body == kEmpty) return minimum == 0 ? kEpsilon : kEmpty;
  if (body == kEpsilon || maximum == 0) return kEpsilon;
  if (node(body).nullable) minimum = 0;
  if (minimum == 1 && maximum == 1) return body;
  if (const ExpressionNode inner = node(body); inner.kind == Kind::Repetition && inner.minimum <= 1) {
    // (x{1,n}){c,d} is x{c,nd}: with k rounds every count from k to nk can be had.
    const bool unbounded = inner.maximum == kUnbounded || maximum == kUnbounded;
    if (unbounded || inner.maximum <= kLargestProduct / maximum)
      return repeat(inner.body(), minimum, unbounded ? kUnbounded : inner.maximum * maximum);
  }
  const ExpressionNode& b = node(body);
  const bool past_reach =
      b.counts_past_reach || minimum > reach_ || (maximum != kUnbounded && maximum > reach_);
  const auto shape = static_cast<std::uint32_t>(mix(0x5265u, body.value)) | 1;
  return intern({Kind::Repetition, minimum == 0, minimum == 0 || b.spellable_by_bytes, past_reach, b.depth + 1, shape,
                 body.value, 0, minimum, maximum});
}

// The form that an alternative has: no concatenation begins with a concatenation.
ExpressionId Arena::rotated(ExpressionId expression) {
  const ExpressionNode n = node(expression);
  const bool nested = n.kind == Kind::Concatenation && node(n.head()).kind == Kind::Concatenation;
  return nested ? concatenate(n.head(), n.tail()) : expression;
}

void Arena::push_alternative(ExpressionId expression, std::vector<ExpressionId>& out) {
  const ExpressionNode& n = node(expression);
  if (n.kind == Kind::Empty) return;
  if (n.kind == Kind::Union) {
    const auto union_items = items(n);
    out.insert(out.end(), union_items.begin(), union_items.end());
  } else {
    out.push_back(rotated(expression));
  }
}

ExpressionId Arena::unite(std::vector<ExpressionId>& alternatives) {
  std::vector<ExpressionId> flat;
  // Before they are flattened: a thousand leaves before one large union are that union once.
  if (alternatives.size() > 1) {
    std::ranges::sort(alternatives);
    alternatives.erase(std::unique(alternatives.begin(), alternatives.end()), alternatives.end());
  }
  flat.reserve(alternatives.size());
  for (ExpressionId alternative : alternatives) push_alternative(alternative, flat);
  alternatives.clear();
  if (flat.size() > 1) {
    std::ranges::sort(flat);
    flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  }
  if (flat.size() > 1) {
    merge_byte_sets(flat);
    merge_counts(flat);
    drop_dominated(flat);
    drop_skipped(flat);
    absorb_epsilon(flat);
  }
  if (flat.empty()) return kEmpty;
  if (flat.size() == 1) return flat[0];
  ExpressionNode result{Kind::Union, false, false, false, 0, 0, 0, 0};
  for (ExpressionId item : flat) {
    const ExpressionNode& n = node(item);
    result.nullable |= n.nullable;
    result.spellable_by_bytes |= n.spellable_by_bytes;
    result.counts_past_reach |= n.counts_past_reach;
    result.depth = std::max(result.depth, n.depth + 1);
  }
  return intern(result, flat);
}

void Arena::merge_byte_sets(std::vector<ExpressionId>& alternatives) {
  ByteSet all;
  unsigned count = 0;
  for (ExpressionId item : alternatives)
    if (node(item).kind == Kind::Bytes) all |= byte_set(node(item)), ++count;
  if (count < 2) return;
  std::erase_if(alternatives, [&](ExpressionId item) { return node(item).kind == Kind::Bytes; });
  alternatives.push_back(bytes(all));
  std::ranges::sort(alternatives);
}

// x{a,b}·t beside x{c,d}·t, where no count lies between the two ranges, is x{min,max}·t.
void Arena::merge_counts(std::vector<ExpressionId>& alternatives) {
  std::vector<Counted> counted;
  for (ExpressionId item : alternatives) {
    const ExpressionNode& n = node(item);
    const bool is_pair = n.kind == Kind::Concatenation;
    const ExpressionNode& head = is_pair ? node(n.head()) : n;
    if (head.kind == Kind::Repetition)
      counted.push_back({head.body(), is_pair ? n.tail() : kEpsilon, head.minimum, head.maximum});
  }
  if (counted.size() < 2) return;
  std::ranges::sort(counted, [](const Counted& a, const Counted& b) {
    return std::tie(a.body, a.tail, a.minimum) < std::tie(b.body, b.tail, b.minimum);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < counted.size(); ++i) {
    Counted& last = counted[kept];
    const Counted& next = counted[i];
    const bool joins = last.body == next.body && last.tail == next.tail &&
                       (last.maximum == kUnbounded || next.minimum <= last.maximum + 1);
    if (joins)
      last.maximum = std::max(last.maximum, next.maximum);
    else
      counted[++kept] = next;
  }
  if (kept + 1 == counted.size()) return;
  counted.resize(kept + 1);
  std::erase_if(alternatives, [&](ExpressionId item) {
    const ExpressionNode& n = node(item);
    return n.kind == Kind::Repetition ||
           (n.kind == Kind::Concatenation && node(n.head()).kind == Kind::Repetition);
  });
  for (const Counted& c : counted) push_alternative(pair(repeat(c.body, c.minimum, c.maximum), c.tail), alternatives);
  std::ranges::sort(alternatives);
  alternatives.erase(std::unique(alternatives.begin(), alternatives.end()), alternatives.end());
}

// t beside h·t says nothing where h may be skipped: a?a?a? is one alternative, not three.  Looked for
// near by alone, since dropping is a saving and not needed for exactness.
void Arena::drop_skipped(std::vector<ExpressionId>& alternatives) {
  constexpr unsigned kMostSkipped = 64;
  std::vector<ExpressionId> dropped;
  for (ExpressionId item : alternatives) {
    ExpressionId rest = item;
    for (unsigned i = 0; i < kMostSkipped; ++i) {
      if (node(rest).kind != Kind::Concatenation || !node(node(rest).head()).nullable) break;
      rest = node(rest).tail();
      if (std::ranges::binary_search(alternatives, rest)) {
        dropped.push_back(rest);
        break;  // what may be skipped after that is found from there
      }
    }
  }
  if (dropped.empty()) return;
  std::ranges::sort(dropped);
  std::erase_if(alternatives, [&](ExpressionId item) { return std::ranges::binary_search(dropped, item); });
}

// Epsilon beside something nullable says nothing; epsilon beside x{1,n} is x{0,n}.
void Arena::absorb_epsilon(std::vector<ExpressionId>& alternatives) {
  if (alternatives.front() != kEpsilon) return;  // sorted, and epsilon has the least id that can occur
  for (std::size_t i = 1; i < alternatives.size(); ++i) {
    const ExpressionNode n = node(alternatives[i]);
    const bool optional = n.kind == Kind::Repetition && n.minimum == 1;
    if (!n.nullable && !optional) continue;
    if (optional) alternatives[i] = repeat(n.body(), 0, n.maximum);
    alternatives.erase(alternatives.begin());
    std::ranges::sort(alternatives);
    return;
  }
}

// Pairs are compared only where they differ in nothing but counts; long groups are left alone,
// since dropping is a saving and not needed for exactness.
void Arena::drop_dominated(std::vector<ExpressionId>& alternatives) {
  constexpr std::size_t kLongestGroup = 64;
  if (alternatives.size() == 2 && node(alternatives[0]).shape != node(alternatives[1]).shape) return;
  std::vector<ExpressionId> by_shape = alternatives;
  std::ranges::sort(by_shape, {}, [&](ExpressionId item) { return node(item).shape; });
  std::vector<ExpressionId> dropped;
  for (std::size_t begin = 0, end; begin < by_shape.size(); begin = end) {
    end = begin + 1;
    while (end < by_shape.size() && node(by_shape[end]).shape == node(by_shape[begin]).shape) ++end;
    if (end - begin > kLongestGroup) continue;
    for (std::size_t small = begin; small < end; ++small)
      for (std::size_t large = begin; large < end; ++large)
        if (large != small && dominates(by_shape[large], by_shape[small])) {
          dropped.push_back(by_shape[small]);
          break;
        }
  }
  if (dropped.empty()) return;
  std::ranges::sort(dropped);
  std::erase_if(alternatives, [&](ExpressionId item) { return std::ranges::binary_search(dropped, item); });
}

// True only where every text of `smaller` is one of `larger`, seen from structure and counts
// alone.  Distinct expressions never dominate each other both ways, since their counts differ.
bool Arena::dominates(ExpressionId larger, ExpressionId smaller) const {
  while (larger != smaller) {
    const ExpressionNode& l = node(larger);
    const ExpressionNode& s = node(smaller);
    if (l.kind == Kind::Repetition && s.kind == Kind::Repetition)
      return l.first == s.first && l.minimum <= s.minimum && l.maximum >= s.maximum;
    if (l.kind != Kind::Concatenation || s.kind != Kind::Concatenation) return false;
    if (!dominates(l.head(), s.head())) return false;
    larger = l.tail();
    smaller = s.tail();
  }
  return true;
}

// ---- patterns ---------------------------------------------------------------------------------

ExpressionId Arena::add(const Expression& expression, Budget& budget) {
  budget.step();
  if (expression.depth() > depth_limit_) throw LimitExceeded("depth", depth_limit_);
  struct Visitor {
    Arena& arena;
    Budget& budget;
    ExpressionId operator()(const Expression::Empty&) const { return kEmpty; }
    ExpressionId operator()(const Expression::Literal& literal) const { return arena.add_literal(literal.bytes, budget); }
    ExpressionId operator()(const Expression::CodePoints& set) const { return arena.add_automaton(set.automaton); }
    ExpressionId operator()(const Expression::Concatenation& sequence) const {
      ExpressionId result = kEpsilon;
      for (auto item = sequence.items.rbegin(); item != sequence.items.rend(); ++item) {
        // Flat all the way: (ab)c and a(bc) are one expression.
        std::vector<ExpressionId> spine;
        ExpressionId head = arena.add(**item, budget);
        while (arena.node(head).kind == Kind::Concatenation) {
          budget.step();
          spine.push_back(arena.node(head).head());
          head = arena.node(head).tail();
        }
        result = arena.pair(head, result);
        for (auto part = spine.rbegin(); part != spine.rend(); ++part) {
          budget.step();
          result = arena.pair(*part, result);
        }
      }
      return result;
    }
    ExpressionId operator()(const Expression::Union& choice) const {
      std::vector<ExpressionId> items;
      for (const ExpressionPtr& item : choice.items) items.push_back(arena.add(*item, budget));
      return arena.unite(items);
    }
    ExpressionId operator()(const Expression::Repetition& repetition) const {
      const ExpressionId body = arena.add(*repetition.body, budget);
      const ExpressionId result = arena.repeat(body, repetition.minimum, repetition.maximum);
      if (arena.node(result).kind == Kind::Repetition && repetition.position >= 0)
        arena.positions_.try_emplace(arena.node(result).first, repetition.position);
      return result;
    }
  };
  return std::visit(Visitor{*this, budget}, expression.node());
}

ExpressionId Arena::copy(const Arena& other, ExpressionId expression, Copies& copies) {
  const ExpressionNode& n = other.node(expression);
  if (expression.value <= kStub.value) return expression;
  if (const auto known = copies.find(expression.value); known != copies.end()) return known->second;
  ExpressionId result = kEmpty;
  switch (n.kind) {
    case Kind::Bytes:
      result = bytes(other.byte_set(n));
      break;
    case Kind::CodePoints: {
      add_automaton(other.automata_[n.first].automaton);
      result = automaton_state(*find_automaton(*other.automata_[n.first].automaton), n.second);
      break;
    }
    case Kind::Repetition:
      result = repeat(copy(other, n.body(), copies), n.minimum, n.maximum);
      if (const auto place = other.positions_.find(n.first); place != other.positions_.end())
        positions_.try_emplace(node(result).first, place->second);
      break;
    case Kind::Union: {
      std::vector<ExpressionId> alternatives;
      for (ExpressionId item : other.items(n)) alternatives.push_back(copy(other, item, copies));
      result = unite(alternatives);
      break;
    }
    default: {  // a concatenation: down its tails by a loop, since they can be long
      std::vector<ExpressionId> heads;
      ExpressionId rest = expression;
      while (other.node(rest).kind == Kind::Concatenation && !copies.contains(rest.value)) {
        heads.push_back(rest);
        rest = other.node(rest).tail();
      }
      result = copy(other, rest, copies);
      for (auto place = heads.rbegin(); place != heads.rend(); ++place) {
        result = pair(copy(other, other.node(*place).head(), copies), result);
        copies.emplace(place->value, result);
      }
    }
  }
  copies.emplace(expression.value, result);
  return result;
}

// A hint for an error message, so it looks at the beginning of things alone.
std::int64_t Arena::blame(ExpressionId expression) const {
  constexpr std::size_t kMostBlamed = 64;
  std::unordered_map<std::int64_t, unsigned> votes;
  std::int64_t worst = -1;
  const auto all = alternatives(expression);
  for (ExpressionId item : all.first(std::min<std::size_t>(all.size(), kMostBlamed))) {
    // The outermost repetition near the front of this alternative that has a place in the pattern.
    ExpressionId rest = item;
    for (unsigned link = 0; link < kMostBlamed; ++link) {
      const ExpressionNode& n = node(rest);
      const ExpressionNode& head = n.kind == Kind::Concatenation ? node(n.head()) : n;
      const auto place = head.kind == Kind::Repetition ? positions_.find(head.first) : positions_.end();
      if (place != positions_.end()) {
        if (++votes[place->second] > (worst < 0 ? 0u : votes[worst])) worst = place->second;
        break;
      }
      if (n.kind != Kind::Concatenation) break;
      rest = n.tail();
    }
  }
  return worst;
}

}  // namespace tokamata

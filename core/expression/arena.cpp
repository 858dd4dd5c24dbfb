#include "expression/arena.hpp"

#include <algorithm>

#include "common/hash.hpp"

namespace tokamata {

namespace {

constexpr std::uint64_t kLongest = ExpressionNode::kUnspelled;

constexpr auto capped = ExpressionNode::capped;

// Products of nested bounds are kept while they are far from overflow.
constexpr Count kLargestProduct = Count{1} << 60;

}  // namespace

Arena::Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit)
    : single_bytes_(single_bytes), reach_(reach), depth_limit_(depth_limit), table_(kLeastSlots, 0) {
  intern({.kind = Kind::Empty, .text = true});
  intern({.kind = Kind::Epsilon, .nullable = true, .text = true, .spelled = 0});
  intern({.kind = Kind::Stub, .text = true, .spelled = 0});
  intern({.kind = Kind::Everything, .nullable = true, .spelled = 0});
}

// ---- hash-consing -----------------------------------------------------------------------------

std::uint64_t Arena::hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind) + 1, node.minimum);
  hash = mix(hash, node.maximum);
  if (node.has_items()) {
    for (ExpressionId item : items) hash = mix(hash, item.value);
    return hash;
  }
  return mix(hash, (std::uint64_t{node.first} << 32) | node.second);
}

bool Arena::same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const {
  if (a.kind != b.kind || a.minimum != b.minimum || a.maximum != b.maximum) return false;
  if (!a.has_items()) return a.first == b.first && a.second == b.second;
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
  if (node.has_items()) {
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
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) larger[free_slot(larger, i)] = i + 1;
  table_ = std::move(larger);
}

std::size_t Arena::free_slot(const std::vector<std::uint32_t>& table, std::uint32_t number) const {
  const ExpressionNode& node = nodes_[number];
  const auto node_items = node.has_items() ? items(node) : std::span<const ExpressionId>();
  std::size_t slot = hash_of(node, node_items) & (table.size() - 1);
  while (table[slot]) slot = (slot + 1) & (table.size() - 1);
  return slot;
}

std::size_t Arena::memory_bytes() const {
  constexpr std::size_t kMapEntry = 48;  // a node of an unordered_map, with its share of the table
  std::size_t of_rules = 0;
  for (const auto& rules : rules_) of_rules += rules->memory_bytes();
  std::size_t languages = 0;
  std::size_t strings = 0;
  for (const KnownStrings& known : strings_) {
    strings += (known.spelled.capacity() + known.shortest.capacity()) * sizeof(std::uint32_t);
    if (known.automaton.use_count() == 1) strings += known.automaton->memory_bytes();  // no pattern holds it
  }
  for (const KnownLanguage& known : languages_) languages += known.automaton->memory_bytes() + kMapEntry;
  return of_rules + languages + strings + nodes_.capacity() * sizeof(ExpressionNode) + items_.capacity() * sizeof(ExpressionId) +
         table_.capacity() * sizeof(std::uint32_t) + sets_.capacity() * (sizeof(ByteSet) + kMapEntry) +
         (memos_.clipped.size() + memos_.advanced.size() + memos_.union_derivatives.size() + positions_.size() + memos_.committed.size() + memos_.sketched.size() + memos_.terminal_derivatives.size() +
          memos_.texts.size() + memos_.of_characters.size() + memos_.escape_steps.size()) * kMapEntry +
         memos_.first_bytes.size() * (sizeof(ByteSet) + kMapEntry);
}

// ---- compounds --------------------------------------------------------------------------------

bool Arena::is_class(const ExpressionNode& n) const {
  constexpr unsigned kWide = 16;  // so that the letters of a literal stay as they are
  return (n.kind == Kind::Bytes && byte_set(n).size() >= kWide) ||
         (n.kind == Kind::CodePoints && n.second == automaton(n).start()) || is_spelled_class(n);
}

// A class with a few escapes beside it.  That x beside x is x{2} is true of
// whatever takes no notice of its surroundings; elsewhere it says little.
bool Arena::is_spelled_class(const ExpressionNode& n) const {
  if (n.kind != Kind::Union || n.second > 2 || n.open || n.edges || n.nullable) return false;
  return std::ranges::any_of(items(n), [&](ExpressionId item) { return node(item).kind != Kind::Union && is_class(node(item)); });
}

// C or C{m,n}, where C is a class of code points, maybe with escapes.
std::optional<Arena::Counted> Arena::class_run(ExpressionId head) const {
  const ExpressionNode& n = node(head);
  if (n.kind == Kind::Repetition && is_class(node(n.body()))) return Counted{n.body(), kEpsilon, n.minimum, n.maximum};
  if (is_class(n)) return Counted{head, kEpsilon, 1, 1};
  return std::nullopt;
}

ExpressionId Arena::pair(ExpressionId head, ExpressionId tail) {
  if (head == kEmpty || tail == kEmpty) return kEmpty;
  if (head == kEpsilon) return tail;
  if (tail == kEpsilon || head == kStub) return head;
  if (const std::optional<Counted> run = class_run(head)) {
    const auto [second, rest] = split(tail);
    const std::optional<Counted> next = class_run(second);
    const auto sum = [](Count a, Count b) { return a == kUnbounded || b == kUnbounded ? kUnbounded : a + b; };
    if (next && next->body == run->body && run->minimum < kLargestProduct && next->minimum < kLargestProduct)
      return pair(repeat(run->body, run->minimum + next->minimum, sum(run->maximum, next->maximum)), rest);
  }
  const ExpressionNode& h = node(head);
  const ExpressionNode& t = node(tail);
  const bool constrained = h.constrained || t.constrained;
  return intern({.kind = Kind::Concatenation,
                 .nullable = h.nullable && t.nullable,
                 .counts_past_reach = !constrained && (h.counts_past_reach || t.counts_past_reach),
                 .windowed = (h.windowed || t.windowed) && !h.open && !h.behind && !t.behind,
                 .open = h.open || t.open,
                 .behind = h.behind || t.behind,
                 .constrained = constrained,
                 .edges = h.edges || t.edges,
                 .text = h.text && t.text,
                 .waits = h.waits || t.waits,
                 .rules = h.rules || t.rules,
                 .commits = h.commits,
                 .by_byte = h.by_byte || (h.nullable && t.by_byte),
                 .suspect = h.suspect || t.suspect,
                 .spelled = capped_sum(h.spelled, t.spelled),
                 .shortest = capped(std::uint64_t{h.shortest} + t.shortest),
                 .worst = std::max(capped(std::uint64_t{h.worst} + t.shortest), t.worst),
                 .depth = std::max(h.depth + 1, t.depth),
                 .shape = static_cast<std::uint32_t>(mix(h.shape, t.shape)) | 1,
                 .first = head.value,
                 .second = tail.value});
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
  if (is_skippable(node(body))) minimum = 0;
  if (minimum == 1 && maximum == 1) return body;
  if (const ExpressionNode inner = node(body); inner.kind == Kind::Repetition && inner.minimum <= 1) {
    // (x{1,n}){c,d} is x{c,nd}: with k rounds every count from k to nk can be had.
    const bool unbounded = inner.maximum == kUnbounded || maximum == kUnbounded;
    if (unbounded || inner.maximum <= kLargestProduct / maximum)
      return repeat(inner.body(), minimum, unbounded ? kUnbounded : inner.maximum * maximum);
  }
  const ExpressionNode& b = node(body);
  const bool past_reach = b.counts_past_reach || minimum > reach_ || (maximum != kUnbounded && maximum > reach_);
  const std::uint64_t rounds = std::min<Count>(minimum, kLongest);
  const std::uint64_t later = rounds > 0 ? rounds - 1 : 0;
  return intern({.kind = Kind::Repetition,
                 .nullable = minimum == 0,
                 .counts_past_reach = past_reach && !b.constrained,
                 .open = b.open,
                 .behind = b.behind,
                 .constrained = b.constrained,
                 .edges = b.edges,
                 .text = b.text,
                 .waits = false,  // each round makes its own choice, whatever was chosen before
                 .rules = b.rules,
                 .by_byte = b.by_byte,
                 .suspect = b.suspect,
                 .spelled = capped_times(rounds, b.spelled),
                 .shortest = capped(rounds * b.shortest),
                 .worst = std::max(capped(rounds * b.shortest), capped(b.worst + later * b.shortest)),
                 .depth = b.depth + 1,
                 .shape = static_cast<std::uint32_t>(mix(0x5265u, body.value)) | 1,
                 .first = body.value,
                 .minimum = minimum,
                 .maximum = maximum});
}

// The form that an alternative has: no concatenation begins with a concatenation.
ExpressionId Arena::rotated(ExpressionId expression) {
  const ExpressionNode n = node(expression);
  const bool nested = n.kind == Kind::Concatenation && node(n.head()).kind == Kind::Concatenation;
  return nested ? concatenate(n.head(), n.tail()) : expression;
}

}  // namespace tokamata

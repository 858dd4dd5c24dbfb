#include "expression/arena.hpp"

#include <algorithm>

#include "common/hash.hpp"

namespace tokamata {

namespace {

constexpr ExpressionId kUnmade{~std::uint32_t{0}};

// Lengths of shortest texts stay below this and are never summed past it.
constexpr std::uint64_t kLongest = ExpressionNode::kUnspelled;

std::uint32_t capped(std::uint64_t length) { return static_cast<std::uint32_t>(std::min(length, kLongest)); }

// The same, of lengths that may be unspelled; what is sure to be there stays so, however long.
std::uint32_t spelled_sum(std::uint64_t a, std::uint64_t b) {
  if (a >= kLongest || b >= kLongest) return ExpressionNode::kUnspelled;
  return static_cast<std::uint32_t>(std::min(a + b, kLongest - 1));
}
std::uint32_t spelled_times(std::uint64_t rounds, std::uint64_t length) {
  if (rounds == 0) return 0;
  if (length >= kLongest) return ExpressionNode::kUnspelled;
  return static_cast<std::uint32_t>(std::min(rounds * length, kLongest - 1));
}

// Products of nested bounds are kept while they are far from overflow.
constexpr Count kLargestProduct = Count{1} << 60;

}  // namespace

Arena::Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit)
    : single_bytes_(single_bytes), reach_(reach), depth_limit_(depth_limit), table_(256, 0) {
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
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const ExpressionNode& node = nodes_[i];
    const auto node_items = node.has_items() ? items(node) : std::span<const ExpressionId>();
    std::size_t slot = hash_of(node, node_items) & (larger.size() - 1);
    while (larger[slot]) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = i + 1;
  }
  table_ = std::move(larger);
}

std::size_t Arena::memory_bytes() const {
  constexpr std::size_t kMapEntry = 48;  // a node of an unordered_map, with its share of the table
  std::size_t of_rules = 0;
  for (const auto& rules : rules_) of_rules += rules->memory_bytes();
  std::size_t numbers = 0;
  for (const KnownNumbers& known : numbers_) numbers += known.automaton->memory_bytes() + kMapEntry;
  return of_rules + numbers + nodes_.capacity() * sizeof(ExpressionNode) + items_.capacity() * sizeof(ExpressionId) +
         table_.capacity() * sizeof(std::uint32_t) + sets_.capacity() * (sizeof(ByteSet) + kMapEntry) +
         (clipped_.size() + advanced_.size() + positions_.size() + committed_.size() + sketched_.size() + terminal_derivatives_.size() +
          texts_.size() + of_characters_.size() + escape_steps_.size()) * kMapEntry +
         first_bytes_.size() * (sizeof(ByteSet) + kMapEntry);
}

// ---- leaves -----------------------------------------------------------------------------------

std::uint32_t Arena::index_of(const ByteSet& set) {
  auto [place, is_new] = set_index_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return place->second;
}

ExpressionId Arena::bytes(const ByteSet& set) {
  if (set.empty()) return kEmpty;
  return intern({.kind = Kind::Bytes, .text = true,
                 .spelled = set.intersects(single_bytes_) ? 1 : ExpressionNode::kUnspelled, .shortest = 1, .worst = 1, .first = index_of(set)});
}

void Arena::note_bytes(const ByteSet& set) {
  pattern_bytes_ |= set;
  for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
    end = set.next_non_member(low);
    class_borders_.add(static_cast<std::uint8_t>(low));
    if (end < 256) class_borders_.add(static_cast<std::uint8_t>(end));
  }
}

ExpressionId Arena::add_literal(const std::string& text, Budget& budget) {
  ExpressionId result = kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    budget.step();
    const auto byte = static_cast<std::uint8_t>(*place);
    const ByteSet set = ByteSet::range(byte, byte);
    note_bytes(set);
    result = pair(bytes(set), result);
  }
  return result;
}

std::uint32_t Arena::add_strings(const std::shared_ptr<const StringAutomaton>& automaton) {
  for (std::uint32_t known = 0; known < strings_.size(); ++known)
    if (strings_[known].automaton == automaton) return known;
  ByteSet used;
  std::vector<std::uint32_t> spelled(automaton->state_count(), 0);
  std::vector<std::uint32_t> shortest(automaton->state_count(), 0);
  std::uint32_t worst = 0;
  for (std::uint32_t state = automaton->state_count(); state-- > 0;) {  // targets before sources
    std::uint64_t least = automaton->accepting(state) ? 0 : kLongest;
    std::uint64_t least_spelled = least;
    for (const auto [byte, target] : automaton->transitions(state)) {
      used.add(byte);
      if (single_bytes_.contains(byte)) least_spelled = std::min(least_spelled, std::uint64_t{spelled[target]} + 1);
      least = std::min(least, std::uint64_t{shortest[target]} + 1);
    }
    shortest[state] = capped(least);
    spelled[state] = capped(least_spelled);
    worst = std::max(worst, shortest[state]);
  }
  note_bytes(used);
  // Any byte may lead elsewhere than its neighbours do.
  for (unsigned byte = used.next_member(0); byte < 256; byte = used.next_member(byte + 1))
    note_bytes(ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte)));
  strings_.push_back({automaton, std::move(spelled), std::move(shortest), worst, used});
  return static_cast<std::uint32_t>(strings_.size() - 1);
}

// The last state of a string says no more than epsilon.
ExpressionId Arena::strings_state(std::uint32_t index, std::uint32_t state) {
  const KnownStrings& known = strings_[index];
  const bool accepting = known.automaton->accepting(state);
  if (known.automaton->transitions(state).empty()) return accepting ? kEpsilon : kEmpty;
  return intern({.kind = Kind::Strings, .nullable = accepting, .text = true, .spelled = known.spelled[state],
                 .shortest = known.shortest[state], .worst = known.worst, .first = index, .second = state});
}

std::uint32_t Arena::add_numbers(const std::shared_ptr<const NumberSet>& set) {
  const auto [place, is_new] = numbers_index_.try_emplace(set->key(), static_cast<std::uint32_t>(numbers_.size()));
  if (!is_new) return place->second;
  auto automaton = std::make_unique<NumberAutomaton>(set);
  const ByteSet used = automaton->bytes();
  note_bytes(used);
  // The first of the digits differs from the others in any case.
  for (unsigned byte = used.next_member(0); byte < 256; byte = used.next_member(byte + 1))
    if (byte <= '1' || byte > '9' || !automaton->has_equal_digits())
      note_bytes(ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte)));
  const std::uint32_t worst = automaton->most_missing();
  const bool is_spelled = automaton->needed_bytes().is_subset_of(single_bytes_);
  numbers_.push_back({std::move(automaton), worst, is_spelled});
  return place->second;
}

// A state after which nothing can come says no more than epsilon.
ExpressionId Arena::numbers_state(std::uint32_t index, std::uint32_t state) {
  if (state == NumberAutomaton::kDead) return kEmpty;
  NumberAutomaton& automaton = *numbers_[index].automaton;
  const bool accepting = automaton.accepting(state);
  if (accepting && automaton.next_bytes(state).empty()) return kEpsilon;
  const std::uint32_t shortest = automaton.distance(state);
  return intern({.kind = Kind::Numbers, .nullable = accepting, .text = true,
                 .spelled = accepting || numbers_[index].is_spelled ? shortest : ExpressionNode::kUnspelled,
                 .shortest = shortest, .worst = numbers_[index].worst, .first = index, .second = state});
}

ExpressionId Arena::add_control_token(const std::string& given) {
  const auto alias = aliases_.find(given);
  const std::string& name = alias == aliases_.end() ? given : alias->second;
  const auto place = std::ranges::find(control_tokens_, name);
  const auto index = static_cast<std::uint32_t>(place - control_tokens_.begin());
  if (place == control_tokens_.end()) control_tokens_.push_back(name);
  return intern({.kind = Kind::ControlToken, .spelled = 1, .shortest = 1, .worst = 1, .first = index});
}

// Alive or not depends on the edges to come, and is never taken for granted.
ExpressionId Arena::one_token(std::uint32_t set, Phase phase) {
  return intern({.kind = Kind::OneToken, .constrained = true, .edges = true, .shortest = 1, .first = set,
                 .second = static_cast<std::uint32_t>(phase)});
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
                       std::vector<std::uint32_t>(automaton->state_count(), 0),
                       std::vector<std::uint32_t>(automaton->state_count(), 0)};
  // States are numbered from the leaves up, so that targets come before sources.
  for (std::uint32_t state = 1; state < automaton->state_count(); ++state) {
    known.spelled[state] = known.shortest[state] = capped(kLongest);
    for (auto t = automaton->begin(state); t != automaton->end(state); ++t) {
      const ByteSet range = ByteSet::range(t->low, t->high);
      note_bytes(range);
      if (range.intersects(single_bytes_))
        known.spelled[state] = std::min(known.spelled[state], capped(std::uint64_t{known.spelled[t->target]} + 1));
      known.shortest[state] = std::min(known.shortest[state], known.shortest[t->target] + 1);
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
      result = intern({.kind = Kind::CodePoints, .text = true, .spelled = automata_[automaton].spelled[state],
                       .shortest = automata_[automaton].shortest[state], .worst = 4, .first = automaton, .second = state});
    }
  }
  automata_[automaton].states[state] = result;
  return result;
}

// ---- compounds --------------------------------------------------------------------------------

bool Arena::is_class(const ExpressionNode& n) const {
  constexpr unsigned kWide = 16;  // so that the letters of a literal stay as they are
  return (n.kind == Kind::Bytes && byte_set(n).size() >= kWide) ||
         (n.kind == Kind::CodePoints && n.second == automaton(n).start()) || is_spelled_class(n);
}

// A class with a few escapes beside it, as json_spelling.cpp makes of one.  That x beside x is x{2} is true of
// whatever takes no notice of its surroundings; elsewhere it says little.
bool Arena::is_spelled_class(const ExpressionNode& n) const {
  if (n.kind != Kind::Union || n.second > 2 || n.open || n.edges || n.nullable) return false;
  return std::ranges::any_of(items(n), [&](ExpressionId item) { return node(item).kind != Kind::Union && is_class(node(item)); });
}

// C or C{m,n}, where C is a class of code points, maybe spelled in JSON.
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
                 .spelled = spelled_sum(h.spelled, t.spelled),
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
                 .spelled = spelled_times(rounds, b.spelled),
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

// ---- patterns ---------------------------------------------------------------------------------

ExpressionId Arena::add(const Expression& pattern, Budget& budget) {
  Added added;
  return add(pattern, added, budget);
}

ExpressionId Arena::add(const Expression& expression, Added& added, Budget& budget) {
  budget.step();
  if (const auto known = added.find(&expression); known != added.end()) return known->second;
  if (expression.depth() > depth_limit_) throw LimitExceeded("depth", depth_limit_);
  struct Visitor {
    Arena& arena;
    Added& added;
    Budget& budget;
    ExpressionId operator()(const Expression::Empty&) const { return kEmpty; }
    ExpressionId operator()(const Expression::Everything&) const { return kEverything; }
    ExpressionId operator()(const Expression::Literal& literal) const { return arena.add_literal(literal.bytes, budget); }
    ExpressionId operator()(const Expression::CodePoints& set) const { return arena.add_automaton(set.automaton); }
    ExpressionId operator()(const Expression::Strings& strings) const {
      return arena.strings_state(arena.add_strings(strings.automaton), StringAutomaton::start());
    }
    ExpressionId operator()(const Expression::Numbers& numbers) const {
      const std::uint32_t index = arena.add_numbers(numbers.set);
      return arena.numbers_state(index, arena.numbers_[index].automaton->start());
    }
    ExpressionId operator()(const Expression::ControlToken& token) const { return arena.add_control_token(token.name); }
    ExpressionId operator()(const Expression::OneToken& token) const {
      arena.note_bytes(token.bytes);
      return token.bytes.empty() ? kEmpty : arena.one_token(arena.index_of(token.bytes), Phase::BeforeEdge);
    }
    ExpressionId operator()(const Expression::Concatenation& sequence) const {
      return arena.add_concatenation(sequence, added, budget);
    }
    ExpressionId operator()(const Expression::Repetition& repetition) const {
      return arena.add_repetition(repetition, added, budget);
    }
    ExpressionId operator()(const Expression::Union& choice) const {
      std::vector<ExpressionId> items = arena.add_all(choice.items, added, budget);
      return arena.unite(items);
    }
    ExpressionId operator()(const Expression::Intersection& both) const {
      std::vector<ExpressionId> items = arena.add_all(both.items, added, budget);
      return arena.intersect(items);
    }
    ExpressionId operator()(const Expression::Complement& n) const { return arena.complement(arena.add(*n.body, added, budget)); }
    ExpressionId operator()(const Expression::LookAhead& n) const { return arena.look_ahead(arena.add(*n.rest, added, budget)); }
    ExpressionId operator()(const Expression::LookBehind& n) const { return arena.look_behind(arena.add(*n.prefix, added, budget)); }
    ExpressionId operator()(const Expression::Scope& n) const { return arena.scope(arena.add(*n.body, added, budget)); }
    ExpressionId operator()(const Expression::Grammar& n) const { return arena.add_grammar(n.rules, budget); }
    ExpressionId operator()(const Expression::Terminal& n) const {
      const ExpressionId body = arena.add(*n.body, added, budget);
      const ExpressionNode& about = arena.node(body);
      if (!about.text || about.open || about.edges || about.rules)
        throw std::invalid_argument("a terminal is a regular set of texts, without lookaround that sees beyond it");
      return arena.terminal(body, budget);
    }
    ExpressionId operator()(const Expression::Reference&) const {
      throw std::invalid_argument("a reference to a rule stands outside of rules");
    }
  };
  const ExpressionId id = std::visit(Visitor{*this, added, budget}, expression.node());
  added.emplace(&expression, id);
  return id;
}

std::vector<ExpressionId> Arena::add_all(const std::vector<ExpressionPtr>& expressions, Added& added, Budget& budget) {
  std::vector<ExpressionId> all;
  all.reserve(expressions.size());
  for (const ExpressionPtr& expression : expressions) all.push_back(add(*expression, added, budget));
  return all;
}

ExpressionId Arena::add_concatenation(const Expression::Concatenation& sequence, Added& added, Budget& budget) {
  std::vector<ExpressionId> items(sequence.items.size());
  for (std::size_t i = items.size(); i-- > 0;) items[i] = add(*sequence.items[i], added, budget);
  return concatenate_all(items, budget);
}

ExpressionId Arena::concatenate_all(std::span<const ExpressionId> items, Budget& budget) {
  ExpressionId result = kEpsilon;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    // Flat all the way: (ab)c and a(bc) are one expression.
    std::vector<ExpressionId> spine;
    ExpressionId head = *item;
    while (node(head).kind == Kind::Concatenation) {
      budget.step();
      spine.push_back(node(head).head());
      head = node(head).tail();
    }
    result = pair(head, result);
    for (auto part = spine.rbegin(); part != spine.rend(); ++part) {
      budget.step();
      result = pair(*part, result);
    }
  }
  return result;
}

ExpressionId Arena::add_repetition(const Expression::Repetition& repetition, Added& added, Budget& budget) {
  const ExpressionId body = add(*repetition.body, added, budget);
  const ExpressionId when_empty = node(body).open ? empty_part(body) : kEmpty;
  const ExpressionId result = when_empty == kEmpty
                                  ? repeat(body, repetition.minimum, repetition.maximum)
                                  : repeat_conditional(body, when_empty, repetition.minimum, repetition.maximum, budget);
  if (node(result).kind == Kind::Repetition && repetition.position >= 0)
    positions_.try_emplace(node(result).first, repetition.position);
  return result;
}

ExpressionId Arena::copy(const Arena& other, ExpressionId expression, Copies& copies) {
  if (expression.value <= kEverything.value) return expression;
  if (const auto known = copies.find(expression.value); known != copies.end()) return known->second;
  const ExpressionNode& n = other.node(expression);
  const auto copy_items = [&] {
    std::vector<ExpressionId> copied;
    for (ExpressionId item : other.items(n)) copied.push_back(copy(other, item, copies));
    return copied;
  };
  ExpressionId result = kEmpty;
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
    case Kind::Stub:
    case Kind::Everything:
      return expression;
    case Kind::Bytes:
      result = bytes(other.byte_set(n));
      break;
    case Kind::CodePoints: {
      add_automaton(other.automata_[n.first].automaton);
      result = automaton_state(*find_automaton(*other.automata_[n.first].automaton), n.second);
      break;
    }
    case Kind::Strings:
      result = strings_state(add_strings(other.strings_[n.first].automaton), n.second);
      break;
    case Kind::Numbers: {
      const std::uint32_t index = add_numbers(other.numbers_[n.first].automaton->shared_set());
      result = numbers_state(index, numbers_[index].automaton->adopt(*other.numbers_[n.first].automaton, n.second));
      break;
    }
    case Kind::ControlToken:
      if (control_tokens_.empty()) control_tokens_ = other.control_tokens_;  // with the numbers they have
      result = intern({.kind = Kind::ControlToken, .spelled = 1, .shortest = 1, .worst = 1, .first = n.first});
      break;
    case Kind::OneToken:
      result = one_token(index_of(other.byte_set(n)), static_cast<Phase>(n.second));
      break;
    case Kind::Repetition:
      result = repeat(copy(other, n.body(), copies), n.minimum, n.maximum);
      if (const auto place = other.positions_.find(n.first); place != other.positions_.end())
        positions_.try_emplace(node(result).first, place->second);
      break;
    case Kind::Union: {
      std::vector<ExpressionId> alternatives = copy_items();
      result = unite(alternatives);
      break;
    }
    case Kind::Intersection: {
      std::vector<ExpressionId> all = copy_items();
      result = intersect(all);
      break;
    }
    case Kind::Complement:
    case Kind::LookAhead:
    case Kind::LookBehind:
    case Kind::Scope:
      result = wrap(n.kind, copy(other, n.body(), copies));
      break;
    case Kind::Guarded: {
      const ExpressionId core = copy(other, n.core(), copies);
      result = guarded(core, copy(other, n.guard(), copies));
      break;
    }
    case Kind::Terminal:
      result = terminal_of(copy(other, n.body(), copies), n.spelled, n.shortest);
      break;
    case Kind::Rule:
      result = rule(n.first, n.rule());
      break;
    case Kind::Commit:
      result = commit(n.first);
      break;
    case Kind::Suspect:
      result = suspect_end();
      break;
    case Kind::Concatenation: {  // down its tails by a loop, since they can be long
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

ByteSet Arena::first_bytes(ExpressionId expression) const {
  ByteSet set;
  while (true) {
    const ExpressionNode& n = node(expression);
    switch (n.kind) {
      case Kind::Everything: return ByteSet::range(0x00, 0xFF);
      case Kind::Bytes:
      case Kind::OneToken: return set | byte_set(n);
      case Kind::CodePoints: return set | first_bytes_of(automaton(n), n.second);
      case Kind::Strings:
        for (const auto& t : strings_[n.first].automaton->transitions(n.second)) set.add(t.byte);
        return set;
      case Kind::Numbers: return set | numbers_[n.first].automaton->next_bytes(n.second);
      case Kind::Terminal:
        if (node(n.body()).constrained) return ByteSet::range(0x00, 0xFF);  // these are not looked for
        expression = n.body();
        continue;
      case Kind::Repetition: expression = n.body(); continue;
      case Kind::Union:
        for (ExpressionId item : items(n)) set |= first_bytes(item);
        return set;
      case Kind::Concatenation:
        set |= first_bytes(n.head());
        if (!node(n.head()).nullable) return set;
        expression = n.tail();
        continue;
      default: return set;
    }
  }
}

ByteSet Arena::first_bytes_of(const CodePointAutomaton& automaton, std::uint32_t state) {
  ByteSet set;
  for (auto t = automaton.begin(state); t != automaton.end(state); ++t) set |= ByteSet::range(t->low, t->high);
  return set;
}

ByteSet Arena::first_bytes_within(ExpressionId expression) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ByteSet set;
  while (true) {
    if (const auto known = first_bytes_.find(expression.value); known != first_bytes_.end()) {
      set = known->second;
      break;
    }
    const ExpressionNode& n = node(expression);
    if (n.kind == Kind::Concatenation) {
      spine.push_back(expression);
      expression = n.tail();
      continue;
    }
    if (n.kind == Kind::Bytes) {
      set = byte_set(n);
    } else if (n.kind == Kind::CodePoints) {
      set = first_bytes_of(automaton(n), n.second);
    } else if (n.kind == Kind::Strings) {
      set = strings_[n.first].used;
    } else if (n.kind == Kind::Numbers) {
      set = numbers_[n.first].automaton->bytes();
    } else if (n.kind == Kind::Repetition) {
      set = first_bytes_within(n.body());
    } else if (n.has_items()) {
      for (ExpressionId item : items(n)) set |= first_bytes_within(item);
    } else if (n.kind == Kind::Terminal && !node(n.body()).constrained) {
      set = first_bytes_within(n.body());
    } else if (n.kind == Kind::Terminal || n.kind == Kind::Rule) {
      set = ByteSet::range(0, 0xFF);  // what rules read is not looked for
    }
    first_bytes_.emplace(expression.value, set);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    set |= first_bytes_within(node(*place).head());
    first_bytes_.emplace(place->value, set);
  }
  return set;
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
      const auto [first, tail] = split(rest);
      const ExpressionNode& head = node(first);
      const auto place = head.kind == Kind::Repetition ? positions_.find(head.first) : positions_.end();
      if (place != positions_.end()) {
        if (++votes[place->second] > (worst < 0 ? 0u : votes[worst])) worst = place->second;
        break;
      }
      if (tail == kEpsilon) break;
      rest = tail;
    }
  }
  return worst;
}

}  // namespace tokamata

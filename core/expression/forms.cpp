#include "expression/forms.hpp"

#include <algorithm>

#include "common/hash.hpp"
#include "common/sort_unique.hpp"

namespace tokamata {

namespace {

constexpr std::uint64_t kLongest = ExpressionNode::kUnspelled;

constexpr auto capped = ExpressionNode::capped;

// Products of nested bounds are kept while they are far from overflow.
constexpr Count kLargestProduct = Count{1} << 60;

}  // namespace

// ---- concatenations and repetitions --------------------------------------------------------------------------------

ExpressionId Forms::bytes(const ByteSet& set) {
  if (set.empty()) return Pool::kEmpty;
  return pool_.intern({.kind = Kind::Bytes,
                       .text = true,
                       .spelled = set.intersects(leaves_.single_bytes()) ? 1 : ExpressionNode::kUnspelled,
                       .shortest = 1,
                       .worst = 1,
                       .payload = Payload::set(leaves_.index_of(set))});
}

bool Forms::is_class(const ExpressionNode& n) const {
  constexpr unsigned kFewestBytes = 16;  // so that the letters of a literal stay as they are
  return (n.kind == Kind::Bytes && leaves_.byte_set(n).size() >= kFewestBytes) ||
         (n.kind == Kind::CodePoints && n.state() == leaves_.automaton(n).start()) || is_spelled_class(n);
}

// A class with a few escapes beside it.  That x beside x is x{2} is true of
// whatever takes no notice of its surroundings; elsewhere it says little.
bool Forms::is_spelled_class(const ExpressionNode& n) const {
  if (n.kind != Kind::Union || n.item_count() > 2 || n.open || n.edges || n.nullable) return false;
  return std::ranges::any_of(pool_.items(n), [&](ExpressionId item) {
    return pool_.node(item).kind != Kind::Union && is_class(pool_.node(item));
  });
}

// C or C{m,n}, where C is a class of code points, maybe with escapes.
std::optional<Forms::Counted> Forms::class_run(ExpressionId head) const {
  const ExpressionNode& n = pool_.node(head);
  if (n.kind == Kind::Repetition && is_class(pool_.node(n.body()))) return Counted{n.body(), n.minimum, n.maximum};
  if (is_class(n)) return Counted{head, 1, 1};
  return std::nullopt;
}

// x{m,}, whatever stands around it: x{m,}·x{n,} is x{m+n,}.  Ambiguous rules make many of these.
bool Forms::is_endless(const ExpressionNode& n) const {
  return n.kind == Kind::Repetition && n.maximum == kUnbounded && n.minimum < kLargestProduct && !n.open && !n.behind &&
         !n.edges;
}

// Derivatives of grammars put the same rests in front of the same tails again and again: of a dozen pairs that one
// makes, ten are among the latest thousand.  A large pool looks there first, since to find a node in its table means to
// make another one and to wait for memory.
ExpressionId Forms::pair(ExpressionId head, ExpressionId tail) {
  constexpr std::size_t kPairsKept = 2048;
  if (head == Pool::kEmpty || tail == Pool::kEmpty) return Pool::kEmpty;
  if (head == Pool::kEpsilon) return tail;
  if (tail == Pool::kEpsilon || head == Pool::kStub) return head;
  if (pool_.size() < kPairsKept) return make_pair(head, tail);
  if (latest_pairs_.empty()) latest_pairs_.resize(kPairsKept);
  const Pair& latest = latest_pairs_[mix(head.value, tail.value) % kPairsKept];
  if (latest.head == head && latest.tail == tail) return latest.made;
  const ExpressionId made = make_pair(head, tail);
  latest_pairs_[mix(head.value, tail.value) % kPairsKept] = {head, tail, made};
  return made;
}

ExpressionId Forms::make_pair(ExpressionId head, ExpressionId tail) {
  if (const std::optional<Counted> run = class_run(head)) {
    const auto [second, rest] = pool_.split(tail);
    const std::optional<Counted> next = class_run(second);
    const auto sum = [](Count a, Count b) { return a == kUnbounded || b == kUnbounded ? kUnbounded : a + b; };
    if (next && next->body == run->body && run->minimum < kLargestProduct && next->minimum < kLargestProduct)
      return pair(repeat(run->body, run->minimum + next->minimum, sum(run->maximum, next->maximum)), rest);
  }
  if (const ExpressionNode first = pool_.node(head); is_endless(first)) {
    const auto [second, rest] = pool_.split(tail);
    if (const ExpressionNode next = pool_.node(second);
        is_endless(next) && next.body() == first.body() && next.minimum < kLargestProduct)
      return pair(repeat(first.body(), first.minimum + next.minimum, kUnbounded), rest);
  }
  const ExpressionNode& h = pool_.node(head);
  const ExpressionNode& t = pool_.node(tail);
  const bool constrained = h.constrained || t.constrained;
  return pool_.intern({.kind = Kind::Concatenation,
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
                       .unverified = h.unverified || t.unverified,
                       .spelled = capped_sum(h.spelled, t.spelled),
                       .shortest = capped(std::uint64_t{h.shortest} + t.shortest),
                       .worst = std::max(capped(std::uint64_t{h.worst} + t.shortest), t.worst),
                       .depth = std::max(h.depth + 1, t.depth),
                       .shape = static_cast<std::uint32_t>(mix(h.shape, t.shape)) | 1,
                       .payload = Payload::pair(head, tail)});
}

// Rotates the head until it is no concatenation: (a·b)·t becomes a·(b·t).  Only the spine of the
// head is walked; b stays as it is, so that entering a long body costs nothing.
ExpressionId Forms::concatenate(ExpressionId head, ExpressionId tail) {
  while (pool_.node(head).kind == Kind::Concatenation) {
    tail = pair(pool_.node(head).tail(), tail);
    head = pool_.node(head).head();
  }
  return pair(head, tail);
}

ExpressionId Forms::repeat(ExpressionId body, Count minimum, Count maximum) {
  if (body == Pool::kEmpty) return minimum == 0 ? Pool::kEpsilon : Pool::kEmpty;
  if (body == Pool::kEpsilon || maximum == 0) return Pool::kEpsilon;
  if (pool_.node(body).is_skippable()) minimum = 0;
  if (minimum == 1 && maximum == 1) return body;
  if (const ExpressionNode inner = pool_.node(body); inner.kind == Kind::Repetition && inner.minimum <= 1) {
    // (x{1,n}){c,d} is x{c,nd}: with k rounds every count from k to nk can be had.
    const bool unbounded = inner.maximum == kUnbounded || maximum == kUnbounded;
    if (unbounded || inner.maximum <= kLargestProduct / maximum)
      return repeat(inner.body(), minimum, unbounded ? kUnbounded : inner.maximum * maximum);
  }
  // (x{1,n}|y)* is (x|y)*.  So blanks beside comments are the same after one of them was read.
  if (const ExpressionNode choice = pool_.node(body); choice.kind == Kind::Union && maximum == kUnbounded) {
    const auto inner = pool_.items(choice);
    std::vector<ExpressionId> once(inner.begin(), inner.end());
    bool is_other = false;
    for (ExpressionId& item : once)
      if (const ExpressionNode& n = pool_.node(item); n.kind == Kind::Repetition && n.minimum == 1) {
        item = n.body();
        is_other = true;
      }
    if (is_other) return repeat(unite(once), minimum, maximum);
  }
  const ExpressionNode& b = pool_.node(body);
  const bool past_reach = b.counts_past_reach || minimum > reach_ || (maximum != kUnbounded && maximum > reach_);
  const std::uint64_t rounds = std::min<Count>(minimum, kLongest);
  const std::uint64_t later = rounds > 0 ? rounds - 1 : 0;
  return pool_.intern({.kind = Kind::Repetition,
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
                       .unverified = b.unverified,
                       .spelled = capped_times(rounds, b.spelled),
                       .shortest = capped(rounds * b.shortest),
                       .worst = std::max(capped(rounds * b.shortest), capped(b.worst + later * b.shortest)),
                       .depth = b.depth + 1,
                       .shape = static_cast<std::uint32_t>(mix(0x5265u, body.value)) | 1,
                       .payload = Payload::body(body),
                       .minimum = minimum,
                       .maximum = maximum});
}

ExpressionId Forms::concatenate_all(std::span<const ExpressionId> items, Budget& budget) {
  ExpressionId result = Pool::kEpsilon;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    // Flat all the way: (ab)c and a(bc) are one expression.
    std::vector<ExpressionId> spine;
    ExpressionId head = *item;
    while (pool_.node(head).kind == Kind::Concatenation) {
      budget.step();
      spine.push_back(pool_.node(head).head());
      head = pool_.node(head).tail();
    }
    result = pair(head, result);
    for (auto part = spine.rbegin(); part != spine.rend(); ++part) {
      budget.step();
      result = pair(*part, result);
    }
  }
  return result;
}

// The form that an alternative has: no concatenation begins with a concatenation.
ExpressionId Forms::rotated(ExpressionId expression) {
  const ExpressionNode n = pool_.node(expression);
  const bool nested = n.kind == Kind::Concatenation && pool_.node(n.head()).kind == Kind::Concatenation;
  return nested ? concatenate(n.head(), n.tail()) : expression;
}

// ---- intersections and complements -------------------------------------------------------------

bool Forms::is_all_text(ExpressionId expression) const {
  constexpr unsigned kFirstBytes = 128 + 0xF4 - 0xC2 + 1;  // of all code points
  const ExpressionNode& n = pool_.node(expression);
  if (n.kind != Kind::Repetition || n.minimum != 0 || n.maximum != kUnbounded) return false;
  const ExpressionNode& body = pool_.node(n.body());
  return body.kind == Kind::CodePoints && body.state() == leaves_.automaton(body).start() &&
         leaves_.automaton(body).full_blocks().size() == kFirstBytes;
}

ExpressionId Forms::intersect(std::vector<ExpressionId>& given) {
  std::vector<ExpressionId> flat;
  for (const ExpressionId& item : given) {
    const auto parts = pool_.conjuncts(item);
    flat.insert(flat.end(), parts.begin(), parts.end());
  }
  given.clear();
  sort_unique(flat);
  std::erase(flat, Pool::kEverything);
  if (flat.empty()) return Pool::kEverything;
  if (flat.front() == Pool::kEmpty) return Pool::kEmpty;

  // All texts beside something that is text says nothing.
  if (std::ranges::any_of(flat, [&](ExpressionId item) { return pool_.node(item).text && !is_all_text(item); }))
    std::erase_if(flat, [&](ExpressionId item) { return is_all_text(item); });
  if (std::ranges::any_of(flat, [&](ExpressionId item) { return characters_.counts(pool_.node(item)); })) {
    characters_.join_counts(flat);
    characters_.drop_counts(flat);
    if (flat.front() == Pool::kEmpty) return Pool::kEmpty;
  }
  // x and not x; x and not x or y; text and no text.
  const auto is_denied = [&](ExpressionId item) {
    if (pool_.node(item).kind != Kind::Complement) return false;
    const ExpressionId body = pool_.node(item).body();
    return std::ranges::any_of(pool_.alternatives(body), [&](ExpressionId x) {
      if (is_all_text(x)) return std::ranges::any_of(flat, [&](ExpressionId other) { return pool_.node(other).text; });
      return std::ranges::binary_search(flat, x);
    });
  };
  if (std::ranges::any_of(flat, is_denied)) return Pool::kEmpty;
  // Nothing remains to be read; but what is open, or waits for the edge of a token, is not decided yet.
  const auto is_undecided = [&](ExpressionId item) { return pool_.node(item).open || pool_.node(item).edges; };
  if (flat.front() == Pool::kEpsilon && std::ranges::none_of(flat, is_undecided)) {
    const bool all = std::ranges::all_of(flat, [&](ExpressionId item) { return pool_.node(item).nullable; });
    return all ? Pool::kEpsilon : Pool::kEmpty;
  }
  if (flat.size() == 1) return flat[0];

  ExpressionNode result{.kind = Kind::Intersection};
  result.nullable = result.constrained = true;
  for (ExpressionId item : flat) {
    const ExpressionNode& n = pool_.node(item);
    result.nullable &= n.nullable;
    result.open |= n.open;
    result.behind |= n.behind;
    result.edges |= n.edges;
    result.text |= n.text;
    result.windowed |= characters_.counts(n) && n.maximum > reach_;
    result.shortest = std::max(result.shortest, n.shortest);
    result.depth = std::max(result.depth, n.depth + 1);
  }
  result.windowed &= !result.open && !result.behind && !result.edges;
  return pool_.intern(result, flat);
}

ExpressionId Forms::complement(ExpressionId body) {
  if (body == Pool::kEmpty) return Pool::kEverything;
  if (body == Pool::kEverything) return Pool::kEmpty;
  if (pool_.node(body).kind == Kind::Complement) return pool_.node(body).body();
  return pool_.intern({.kind = Kind::Complement,
                       .nullable = !pool_.node(body).nullable,
                       .open = pool_.node(body).open,
                       .behind = pool_.node(body).behind,
                       .constrained = true,
                       .edges = pool_.node(body).edges,
                       .spelled = ExpressionNode::kUnspelled,
                       .depth = pool_.node(body).depth + 1,
                       .payload = Payload::body(body)});
}

// ---- rules and terminals ----------------------------------------------------------------------

ExpressionId Forms::rule(std::uint32_t source, RuleId rule) {
  const Rules::About about = rule_sets_[source].about(rule);
  return pool_.intern(
      {.kind = Kind::Rule,
       .text = !about.controls,
       .waits = about.waits,
       .rules = true,
       .by_byte = about.by_byte,
       .unverified = about.unverified,
       .spelled = about.by_tokens || leaves_.are_single_bytes() ? about.spelled : ExpressionNode::kUnspelled,
       .shortest = about.shortest,
       .worst = ExpressionNode::kUnspelled,
       .payload = Payload::rule(source, rule)});
}

ExpressionId Forms::commit(std::uint32_t choice) {
  return pool_.intern(
      {.kind = Kind::Commit, .text = true, .commits = true, .spelled = 0, .payload = Payload::choice(choice)});
}

ExpressionId Forms::unverified_end() {
  return pool_.intern({.kind = Kind::Unverified, .nullable = true, .text = true, .unverified = true, .spelled = 0});
}

ExpressionId Forms::terminal_of(ExpressionId body, std::uint32_t spelled, std::uint32_t shortest) {
  const ExpressionNode& n = pool_.node(body);
  return pool_.intern({.kind = Kind::Terminal,
                       .nullable = n.nullable,
                       .counts_past_reach = n.counts_past_reach || n.windowed,
                       .text = true,
                       .spelled = spelled,
                       .shortest = shortest,
                       .worst = n.constrained ? ExpressionNode::kUnspelled : n.worst,
                       .depth = n.depth + 1,
                       .shape = n.shape,
                       .payload = Payload::body(body)});
}

void Forms::forget() {
  release(latest_pairs_);
  characters_.forget();
}

}  // namespace tokamata

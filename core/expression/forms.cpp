#include "expression/forms.hpp"

#include <algorithm>

#include "common/hash.hpp"

namespace tokamata {

namespace {

constexpr std::uint64_t kLongest = ExpressionNode::kUnspelled;

constexpr auto capped = ExpressionNode::capped;

// Products of nested bounds are kept while they are far from overflow.
constexpr Count kLargestProduct = Count{1} << 60;

}  // namespace

// ---- compounds --------------------------------------------------------------------------------

bool Forms::is_class(const ExpressionNode& n) const {
  constexpr unsigned kWide = 16;  // so that the letters of a literal stay as they are
  return (n.kind == Kind::Bytes && byte_set(n).size() >= kWide) ||
         (n.kind == Kind::CodePoints && n.second == automaton(n).start()) || is_spelled_class(n);
}

// A class with a few escapes beside it.  That x beside x is x{2} is true of
// whatever takes no notice of its surroundings; elsewhere it says little.
bool Forms::is_spelled_class(const ExpressionNode& n) const {
  if (n.kind != Kind::Union || n.second > 2 || n.open || n.edges || n.nullable) return false;
  return std::ranges::any_of(items(n),
                             [&](ExpressionId item) { return node(item).kind != Kind::Union && is_class(node(item)); });
}

// C or C{m,n}, where C is a class of code points, maybe with escapes.
std::optional<Forms::Counted> Forms::class_run(ExpressionId head) const {
  const ExpressionNode& n = node(head);
  if (n.kind == Kind::Repetition && is_class(node(n.body()))) return Counted{n.body(), kEpsilon, n.minimum, n.maximum};
  if (is_class(n)) return Counted{head, kEpsilon, 1, 1};
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
  constexpr std::size_t kLatest = 2048;
  if (head == kEmpty || tail == kEmpty) return kEmpty;
  if (head == kEpsilon) return tail;
  if (tail == kEpsilon || head == kStub) return head;
  if (size() < kLatest) return make_pair(head, tail);
  if (latest_pairs_.empty()) latest_pairs_.resize(kLatest);
  const Pair& latest = latest_pairs_[mix(head.value, tail.value) % kLatest];
  if (latest.head == head && latest.tail == tail) return latest.made;
  const ExpressionId made = make_pair(head, tail);
  latest_pairs_[mix(head.value, tail.value) % kLatest] = {head, tail, made};
  return made;
}

ExpressionId Forms::make_pair(ExpressionId head, ExpressionId tail) {
  if (const std::optional<Counted> run = class_run(head)) {
    const auto [second, rest] = split(tail);
    const std::optional<Counted> next = class_run(second);
    const auto sum = [](Count a, Count b) { return a == kUnbounded || b == kUnbounded ? kUnbounded : a + b; };
    if (next && next->body == run->body && run->minimum < kLargestProduct && next->minimum < kLargestProduct)
      return pair(repeat(run->body, run->minimum + next->minimum, sum(run->maximum, next->maximum)), rest);
  }
  if (const ExpressionNode first = node(head); is_endless(first)) {
    const auto [second, rest] = split(tail);
    if (const ExpressionNode next = node(second);
        is_endless(next) && next.body() == first.body() && next.minimum < kLargestProduct)
      return pair(repeat(first.body(), first.minimum + next.minimum, kUnbounded), rest);
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
                 .unverified = h.unverified || t.unverified,
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
ExpressionId Forms::concatenate(ExpressionId head, ExpressionId tail) {
  while (node(head).kind == Kind::Concatenation) {
    tail = pair(node(head).tail(), tail);
    head = node(head).head();
  }
  return pair(head, tail);
}

ExpressionId Forms::repeat(ExpressionId body, Count minimum, Count maximum) {
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
  // (x{1,n}|y)* is (x|y)*.  So blanks beside comments are the same after one of them was read.
  if (const ExpressionNode choice = node(body); choice.kind == Kind::Union && maximum == kUnbounded) {
    const auto inner = items(choice);
    std::vector<ExpressionId> once(inner.begin(), inner.end());
    bool is_other = false;
    for (ExpressionId& item : once)
      if (const ExpressionNode& n = node(item); n.kind == Kind::Repetition && n.minimum == 1) {
        item = n.body();
        is_other = true;
      }
    if (is_other) return repeat(unite(once), minimum, maximum);
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
                 .unverified = b.unverified,
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
ExpressionId Forms::rotated(ExpressionId expression) {
  const ExpressionNode n = node(expression);
  const bool nested = n.kind == Kind::Concatenation && node(n.head()).kind == Kind::Concatenation;
  return nested ? concatenate(n.head(), n.tail()) : expression;
}

// ---- rules and terminals ----------------------------------------------------------------------

ExpressionId Forms::rule(std::uint32_t source, RuleId rule) {
  const Rules::About about = rules_[source]->about(rule);
  return intern({.kind = Kind::Rule,
                 .text = !about.controls,
                 .waits = about.waits,
                 .rules = true,
                 .by_byte = about.by_byte,
                 .unverified = about.unverified,
                 .spelled = about.by_tokens || pattern_bytes().is_subset_of(single_bytes_) ? about.spelled
                                                                                           : ExpressionNode::kUnspelled,
                 .shortest = about.shortest,
                 .worst = ExpressionNode::kUnspelled,
                 .first = source,
                 .second = rule.value});
}

ExpressionId Forms::commit(std::uint32_t choice) {
  return intern({.kind = Kind::Commit, .text = true, .commits = true, .spelled = 0, .first = choice});
}

ExpressionId Forms::unverified_end() {
  return intern({.kind = Kind::Unverified, .nullable = true, .text = true, .unverified = true, .spelled = 0});
}

ExpressionId Forms::terminal_of(ExpressionId body, std::uint32_t spelled, std::uint32_t shortest) {
  const ExpressionNode& n = node(body);
  return intern({.kind = Kind::Terminal,
                 .nullable = n.nullable,
                 .counts_past_reach = n.counts_past_reach || n.windowed,
                 .text = true,
                 .spelled = spelled,
                 .shortest = shortest,
                 .worst = n.constrained ? ExpressionNode::kUnspelled : n.worst,
                 .depth = n.depth + 1,
                 .shape = n.shape,
                 .first = body.value});
}

std::vector<ExpressionId> Forms::fronts(ExpressionId expression, bool without_rules) {
  std::vector<ExpressionId> found, open{expression};
  while (!open.empty()) {
    const ExpressionId at = rotated(open.back());
    open.pop_back();
    const auto [first, tail] = split(at);
    const ExpressionNode head = node(first);
    if (head.kind != Kind::Union || !(head.rules || without_rules)) {
      found.push_back(at);
      continue;
    }
    for (std::uint32_t i = head.second; i-- > 0;) open.push_back(concatenate(item(head, i), tail));
  }
  return found;
}

}  // namespace tokamata

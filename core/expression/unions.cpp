#include "expression/unions.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "common/sort_unique.hpp"
#include "common/within.hpp"
#include "expression/forms.hpp"

namespace tokamata {

namespace {

// Whether no two of up to kMostCompared alternatives have one key; of more, it is not known.
template <class KeyOf>
bool differ(const std::vector<ExpressionId>& alternatives, KeyOf&& key_of) {
  constexpr std::size_t kMostCompared = 8;
  const auto is_alone = [&](ExpressionId item) {
    return std::ranges::count_if(alternatives, [&](ExpressionId other) { return key_of(other) == key_of(item); }) == 1;
  };
  return alternatives.size() <= kMostCompared && std::ranges::all_of(alternatives, is_alone);
}

}  // namespace

void Unions::push_alternative(ExpressionId expression, std::vector<ExpressionId>& out) {
  const ExpressionNode& n = pool_.node(expression);
  if (n.kind == Kind::Empty) return;
  if (n.kind == Kind::Union) {
    const auto union_items = pool_.items(n);
    out.insert(out.end(), union_items.begin(), union_items.end());
  } else {
    out.push_back(forms_.rotated(expression));
  }
}

ExpressionId Unions::unite(std::vector<ExpressionId>& alternatives) {
  if (alternatives.empty()) return Pool::kEmpty;
  if (alternatives.size() == 1 && pool_.node(alternatives[0]).kind != Kind::Union) {  // most derivatives have one
    const ExpressionId only = forms_.rotated(alternatives[0]);
    alternatives.clear();
    return only;
  }
  std::vector<ExpressionId> flat;
  // Before they are flattened: a thousand leaves before one large union are that union once.
  if (alternatives.size() > 1) sort_unique(alternatives);
  flat.reserve(alternatives.size());
  for (ExpressionId alternative : alternatives) push_alternative(alternative, flat);
  alternatives.clear();
  if (flat.size() > 1) sort_unique(flat);
  if (flat.size() > 1) {
    merge_byte_sets(flat);
    merge_counts(flat);
    merge_rules(flat);
    drop_dominated(flat);
    drop_skipped(flat);
    drop_guarded(flat);
    absorb_epsilon(flat);
  }
  if (std::ranges::binary_search(flat, Pool::kEverything)) return Pool::kEverything;
  if (flat.empty()) return Pool::kEmpty;
  if (flat.size() == 1) return flat[0];
  ExpressionNode result{.kind = Kind::Union};
  result.text = true;
  result.shortest = ~std::uint32_t{0};
  for (ExpressionId item : flat) {
    const ExpressionNode& n = pool_.node(item);
    result.nullable |= n.nullable;
    result.counts_past_reach |= n.counts_past_reach;
    result.windowed |= n.windowed;
    result.open |= n.open;
    result.behind |= n.behind;
    result.constrained |= n.constrained;
    result.edges |= n.edges;
    result.text &= n.text;
    result.waits |= n.waits;
    result.commits |= n.commits;
    result.by_byte |= n.by_byte;
    result.rules |= n.rules;
    result.unverified |= n.unverified;
    result.spelled = std::min(result.spelled, n.spelled);
    result.shortest = std::min(result.shortest, n.shortest);
    result.worst = std::max(result.worst, n.worst);
    result.depth = std::max(result.depth, n.depth + 1);
  }
  result.counts_past_reach &= !result.constrained;
  result.windowed &= !result.open && !result.behind;
  return pool_.intern(result, flat);
}

void Unions::merge_byte_sets(std::vector<ExpressionId>& alternatives) {
  ByteSet all;
  unsigned count = 0;
  for (ExpressionId item : alternatives)
    if (pool_.node(item).kind == Kind::Bytes) all |= leaves_.byte_set(pool_.node(item)), ++count;
  if (count < 2) return;
  std::erase_if(alternatives, [&](ExpressionId item) { return pool_.node(item).kind == Kind::Bytes; });
  alternatives.push_back(forms_.bytes(all));
  std::ranges::sort(alternatives);
}

// x{a,b}·t beside x{c,d}·t, where no count lies between the two ranges, is x{min,max}·t.
void Unions::merge_counts(std::vector<ExpressionId>& alternatives) {
  const auto is_counted = [this](ExpressionId item) {
    return pool_.node(pool_.split(item).head).kind == Kind::Repetition;
  };
  if (std::ranges::count_if(alternatives, is_counted) < 2) return;
  std::vector<Counted> counted;
  for (ExpressionId item : alternatives) {
    const auto [first, tail] = pool_.split(item);
    const ExpressionNode& head = pool_.node(first);
    if (head.kind == Kind::Repetition) counted.push_back({head.body(), tail, head.minimum, head.maximum});
  }
  std::ranges::sort(counted, [](const Counted& a, const Counted& b) {
    return std::tie(a.body, a.tail, a.minimum) < std::tie(b.body, b.tail, b.minimum);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < counted.size(); ++i) {
    Counted& last = counted[kept];
    const Counted& next = counted[i];
    const bool joins = last.body == next.body && last.tail == next.tail &&
                       (last.maximum == kUnbounded || next.minimum <= last.maximum + 1);
    if (joins) last.maximum = std::max(last.maximum, next.maximum);
    else counted[++kept] = next;
  }
  if (kept + 1 == counted.size()) return;
  counted.resize(kept + 1);
  std::erase_if(alternatives, is_counted);
  for (const Counted& c : counted)
    push_alternative(forms_.pair(forms_.repeat(c.body, c.minimum, c.maximum), c.tail), alternatives);
  sort_unique(alternatives);
}

// h·s beside h·t is h·(s|t), where s and t hold rules and the rules ask for it.  Without this, a text with two readings
// at each of n levels would have 2^n stacks.  With it there are two at each level, which share what is below them
// (graph-structured stacks, Tomita 1985).
//
// What begins alike is joined as it is.  Where several alternatives are left that a rule may begin, choices and
// repetitions in front of them are opened, so that the rules show; not within what follows a rule, where that would go
// on for ever.
void Unions::merge_rules(std::vector<ExpressionId>& alternatives) {
  if (!rule_sets_.any_joins() || merging_ >= kMostMerging) return;
  const auto count = [&] {
    return std::ranges::count_if(alternatives, [this](ExpressionId item) { return pool_.node(item).rules; });
  };
  if (count() < 2) return;
  join_heads(alternatives);
  const auto hides_rule = [this](ExpressionId item) {
    return awaits_rule(item) && pool_.node(pool_.split(item).head).kind != Kind::Rule;
  };
  if (merging_ > 0 || std::ranges::none_of(alternatives, hides_rule) || count() < 2) return;
  const std::vector<ExpressionId> before = alternatives;
  alternatives.clear();
  std::vector<ExpressionId> open(before.rbegin(), before.rend());
  std::unordered_set<std::uint32_t> opened;  // a round that may be empty leads back to the repetition
  while (!open.empty()) {
    const ExpressionId item = forms_.rotated(open.back());
    open.pop_back();
    if (!opened.insert(item.value).second) continue;
    const auto [first, tail] = pool_.split(item);
    const ExpressionNode head = pool_.node(first);
    if (!awaits_rule(item) || head.kind == Kind::Rule) {
      push_alternative(item, alternatives);
    } else if (head.kind == Kind::Union) {
      for (std::uint32_t i = 0; i < head.item_count(); ++i)
        open.push_back(forms_.concatenate(pool_.item(head, i), tail));
    } else {  // Repetition
      if (head.minimum == 0) open.push_back(tail);
      const Count minimum = head.minimum == 0 ? 0 : head.minimum - 1;
      const Count maximum = head.maximum == kUnbounded ? kUnbounded : head.maximum - 1;
      open.push_back(forms_.concatenate(head.body(), forms_.pair(forms_.repeat(head.body(), minimum, maximum), tail)));
    }
  }
  sort_unique(alternatives);
  if (!join_heads(alternatives)) alternatives = before;
}

// Joins those that have one head, and that hold rules; returns whether there were any.
bool Unions::join_heads(std::vector<ExpressionId>& alternatives) {
  if (differ(alternatives, [this](ExpressionId item) { return pool_.split(item).head; })) return false;
  std::vector<Pool::Split> waiting;
  std::vector<ExpressionId> others;
  for (const ExpressionId item : alternatives) {
    if (awaits_rule(item) || (pool_.node(item).kind == Kind::Concatenation && pool_.node(item).rules))
      waiting.push_back(pool_.split(item));
    else others.push_back(item);
  }
  std::ranges::sort(waiting, {}, [](const Pool::Split& one) { return std::pair(one.head, one.tail); });
  bool is_joined = false;
  for (std::size_t begin = 0, end; begin < waiting.size(); begin = end) {
    std::vector<ExpressionId> tails;
    for (end = begin; end < waiting.size() && waiting[end].head == waiting[begin].head; ++end)
      tails.push_back(waiting[end].tail);
    is_joined = is_joined || tails.size() > 1;
    push_alternative(forms_.pair(waiting[begin].head, tails.size() > 1 ? unite_tails(tails) : tails[0]), others);
  }
  if (!is_joined) return false;
  sort_unique(others);
  alternatives = std::move(others);
  return true;
}

// Their union, before what all of them end with, where that is near: so the spine of tails goes on below it, and what
// is done down tails by loops stays so.
ExpressionId Unions::unite_tails(std::vector<ExpressionId>& tails) {
  std::optional<ExpressionId> common = tails[0];
  for (std::size_t i = 1; i < tails.size() && common; ++i) common = common_end(*common, tails[i]);
  const Within within(merging_, kMostMerging);
  if (!common) return unite(tails);
  std::vector<ExpressionId> fronts;
  for (ExpressionId tail : tails) {
    std::vector<ExpressionId> heads;
    for (; tail != *common; tail = pool_.node(tail).tail()) heads.push_back(pool_.node(tail).head());
    ExpressionId front = Pool::kEpsilon;
    for (auto head = heads.rbegin(); head != heads.rend(); ++head) front = forms_.pair(*head, front);
    fronts.push_back(front);
  }
  return forms_.concatenate(unite(fronts), *common);
}

// What two expressions end with, the longest such end.  An expression has a greater number than what it is made of, so
// the two are walked down together.
std::optional<ExpressionId> Unions::common_end(ExpressionId one, ExpressionId other) const {
  constexpr unsigned kMostSteps = 512;
  for (unsigned steps = 0; one != other && steps < kMostSteps; ++steps) {
    ExpressionId& later = one < other ? other : one;
    if (pool_.node(later).kind != Kind::Concatenation) return std::nullopt;
    later = pool_.node(later).tail();
  }
  return one == other && one != Pool::kEpsilon ? std::optional(one) : std::nullopt;
}

// t beside h·t says nothing where h may be skipped: a?a?a? is one alternative, not three.  Looked for
// near by alone, since dropping is a saving and not needed for exactness.
void Unions::drop_skipped(std::vector<ExpressionId>& alternatives) {
  constexpr unsigned kMostSkipped = 64;
  std::vector<ExpressionId> dropped;
  for (ExpressionId item : alternatives) {
    ExpressionId rest = item;
    for (unsigned i = 0; i < kMostSkipped; ++i) {
      if (pool_.node(rest).kind != Kind::Concatenation || !pool_.node(pool_.node(rest).head()).is_skippable()) break;
      rest = pool_.node(rest).tail();
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

// What continues under a guard says nothing beside the same without it, or under fewer guards.
void Unions::drop_guarded(std::vector<ExpressionId>& alternatives) {
  const auto first =
      std::ranges::find(alternatives, Kind::Guarded, [&](ExpressionId item) { return pool_.node(item).kind; });
  if (first == alternatives.end()) return;
  std::unordered_multimap<std::uint32_t, ExpressionId> guards;  // by core
  for (ExpressionId item : alternatives)
    if (pool_.node(item).kind == Kind::Guarded) guards.emplace(pool_.node(item).core().value, pool_.node(item).guard());
  std::erase_if(alternatives, [&](ExpressionId item) {
    const ExpressionNode& n = pool_.node(item);
    if (n.kind != Kind::Guarded) return false;
    if (std::ranges::find(alternatives, n.core()) != alternatives.end()) return true;
    const ExpressionId own = n.guard();
    const auto [begin, end] = guards.equal_range(n.core().value);
    return std::any_of(begin, end, [&](const auto& entry) {
      return entry.second != own && std::ranges::includes(pool_.conjuncts(own), pool_.conjuncts(entry.second));
    });
  });
}

// Epsilon beside something nullable says nothing; epsilon beside x{1,n} is x{0,n}, also where that is a terminal.  So
// blanks that may follow are the same terminal before and after one of them was read.
void Unions::absorb_epsilon(std::vector<ExpressionId>& alternatives) {
  if (alternatives.front() != Pool::kEpsilon) return;  // sorted, and epsilon has the least id that can occur
  for (std::size_t i = 1; i < alternatives.size(); ++i) {
    const ExpressionNode n = pool_.node(alternatives[i]);
    const bool is_terminal = n.kind == Kind::Terminal;
    const ExpressionNode texts = is_terminal ? pool_.node(n.body()) : n;
    const bool optional = texts.kind == Kind::Repetition && texts.minimum == 1 && !(is_terminal && texts.constrained);
    if (!n.is_skippable() && !optional) continue;
    if (optional) {
      alternatives[i] = forms_.repeat(texts.body(), 0, texts.maximum);
      if (is_terminal) alternatives[i] = forms_.terminal_of(alternatives[i], 0, 0);
    }
    alternatives.erase(alternatives.begin());
    std::ranges::sort(alternatives);
    return;
  }
}

// Pairs are compared only where they differ in nothing but counts; long groups are left alone,
// since dropping is a saving and not needed for exactness.
void Unions::drop_dominated(std::vector<ExpressionId>& alternatives) {
  constexpr std::size_t kLongestGroup = 64;
  const auto shape_of = [this](ExpressionId item) { return pool_.node(item).shape; };
  if (differ(alternatives, shape_of)) return;
  std::vector<ExpressionId> by_shape = alternatives;
  std::ranges::sort(by_shape, {}, shape_of);
  std::vector<ExpressionId> dropped;
  for (std::size_t begin = 0, end; begin < by_shape.size(); begin = end) {
    end = begin + 1;
    while (end < by_shape.size() && pool_.node(by_shape[end]).shape == pool_.node(by_shape[begin]).shape) ++end;
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
bool Unions::dominates(ExpressionId larger, ExpressionId smaller) const {
  while (larger != smaller) {
    const ExpressionNode& l = pool_.node(larger);
    const ExpressionNode& s = pool_.node(smaller);
    if (l.kind == Kind::Repetition && s.kind == Kind::Repetition)
      return l.body() == s.body() && l.minimum <= s.minimum && l.maximum >= s.maximum;
    if (l.kind != Kind::Concatenation || s.kind != Kind::Concatenation) return false;
    if (!dominates(l.head(), s.head())) return false;
    larger = l.tail();
    smaller = s.tail();
  }
  return true;
}

bool Unions::awaits_rule(ExpressionId expression) const {
  const ExpressionNode& n = pool_.node(expression);
  if (!n.rules) return false;
  switch (n.kind) {
    case Kind::Rule: return rule_sets_.of(n).joins();
    case Kind::Union:
      return std::ranges::any_of(pool_.items(n), [this](ExpressionId item) { return awaits_rule(item); });
    case Kind::Concatenation: return awaits_rule(n.head());
    case Kind::Repetition: return awaits_rule(n.body());
    default: return false;
  }
}

}  // namespace tokamata

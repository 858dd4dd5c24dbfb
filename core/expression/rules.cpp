// Rules and terminals inside expressions; see rules.hpp for rules.
//
// A terminal keeps a regular part whole: of T·K the derivative is T'·K, and not the alternatives of T with K
// after each.  So K is separated from what the part does to a vocabulary, which is the same for all K.
//
// Problem.  A terminal must be known to live, or to be empty, when it is made: what stands around it takes it
// for granted.  Where no intersection, complement or lookaround is in its body that shows; elsewhere a search
// by bytes decides.
// Example.  terminal([a-z]{3} & .*q.*) lives (aaq), terminal([a-z]{3} & [0-9]*) is kEmpty.
// How.  Best first, by the length of the shortest text of what is reached, as far as its parts show it; what
// was found alive or empty on the way is remembered for all bodies met, and a search that meets it ends there.  A bound
// beside a pattern needs no search where it has room for the pattern's shortest text (characters.cpp).
// Cost.  A derivative for every byte class of every expression reached; mostly few, since the first way tried
// ends well.

#include <algorithm>

#include "expression/arena.hpp"

namespace tokamata {

namespace {

std::uint64_t key_of(ExpressionId expression, std::uint32_t with) {
  return (std::uint64_t{expression.value} << 32) | with;
}

}  // namespace

// ---- rules ------------------------------------------------------------------------------------

ExpressionId RememberingRules::after_leaving(RuleId, std::size_t, std::size_t, std::size_t, Arena&, Budget&) {
  return Arena::kEmpty;
}

// An expression with others in place of its rules: `concerns(node)` says where there may be some, `known` remembers
// by `key(expression)` what was made.
template <class Concerns, class Key, class OfRule>
ExpressionId Derivatives::with_rules(ExpressionId expression,
                                     counted::unordered_map<std::uint64_t, ExpressionId>& known, Concerns&& concerns,
                                     Key&& key, OfRule&& of_rule) {
  const auto inner = [&](ExpressionId part) { return with_rules(part, known, concerns, key, of_rule); };
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ExpressionId result;
  while (true) {
    const ExpressionNode n = node(expression);
    if (!concerns(n)) {
      result = expression;
      break;
    }
    if (const auto made = known.find(key(expression)); made != known.end()) {
      result = made->second;
      break;
    }
    if (n.kind == Kind::Concatenation) {
      spine.push_back(expression);
      expression = n.tail();
      continue;
    }
    if (n.kind == Kind::Rule) {
      result = of_rule(n);
    } else if (n.kind == Kind::Union) {
      std::vector<ExpressionId> alternatives;
      for (std::uint32_t i = 0; i < n.second; ++i) alternatives.push_back(inner(item(n, i)));
      result = unite(alternatives);
    } else {
      result = expression;  // intersections and the like are taken as they are
    }
    known.emplace(key(expression), result);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    result = concatenate(inner(node(*place).head()), result);
    known.emplace(key(*place), result);
  }
  return result;
}

Arena& Derivatives::arena() { return static_cast<Arena&>(*this); }  // nothing else is made of a floor

void Derivatives::forget(Positions positions) {
  Forms::forget(std::move(positions));
  for (auto* memo : {&union_derivatives_, &part_derivatives_, &advanced_, &committed_, &terminal_derivatives_})
    release(*memo);
  release(texts_);
  release(least_lengths_);
  found_texts_ = {};
}

// What `expression` becomes once the choice is made.
ExpressionId Derivatives::committed(ExpressionId expression, std::uint32_t choice) {
  return with_rules(
      expression, committed_, [](const ExpressionNode& n) { return n.waits; },
      [choice](ExpressionId at) { return key_of(at, choice); },
      [&](const ExpressionNode& n) { return rule(n.first, rules(n).remembering()->committed(n.rule(), choice)); });
}

ExpressionId Arena::approximated(ExpressionId expression, Budget& budget) {
  if (!remembers()) return expression;
  return with_rules(
      expression, approximated_, [](const ExpressionNode& n) { return n.rules; },
      [](ExpressionId at) { return std::uint64_t{at.value}; },
      [&](const ExpressionNode& n) {
        RememberingRules* const of = rules(n).remembering();
        return of ? of->approximated(n.rule(), *this, budget) : rule(n.first, n.rule());
      });
}

std::vector<Approximation> Arena::approximations(ExpressionId expression, Budget& budget) {
  if (!remembers()) return {{expression}};
  return approximations(expression, kLongestLead, budget);
}

namespace {

std::vector<TextsAfter> behind_byte(std::vector<TextsAfter> all, std::uint8_t byte, bool is_optional) {
  std::vector<TextsAfter> result = is_optional ? all : std::vector<TextsAfter>();
  for (TextsAfter& texts : all) result.push_back({static_cast<char>(byte) + texts.lead, std::move(texts.tree)});
  return result;
}

}  // namespace

// What is after a byte or two is judged as well as what is in front: it is known where that begins.
std::vector<Approximation> Arena::approximations(ExpressionId expression, std::size_t lead, Budget& budget) {
  std::vector<ExpressionId> others;
  std::vector<Approximation> found(1);
  const auto add = [&](ExpressionId all, Approximation approximation) {
    approximation.expression = all;
    if (!approximation.is_plain()) {
      found.push_back(std::move(approximation));
      return;
    }
    others.push_back(all);
    std::ranges::move(approximation.alike, std::back_inserter(found.front().alike));
  };
  for (const ExpressionId front : fronts(expression, false)) {
    const auto [first, tail] = split(front);
    const ExpressionNode head = node(first);
    const bool is_optional = head.kind == Kind::Repetition && head.minimum == 0 && head.maximum == 1;
    const std::optional<std::uint8_t> byte = only_byte(is_optional ? node(head.body()) : head);
    if (head.kind == Kind::Rule) {
      const ExpressionId rest = approximated(tail, budget);
      RememberingRules* const of = rules(head).remembering();
      for (Approximation& of_rule :
           of ? of->approximations(head.rule(), *this, budget) : std::vector<Approximation>{{first}})
        add(concatenate(of_rule.expression, rest), std::move(of_rule));
    } else if (byte && lead > 0) {
      for (Approximation& further : approximations(tail, lead - 1, budget)) {
        const ExpressionId behind = concatenate(first, further.expression);
        further.refused = behind_byte(std::move(further.refused), *byte, is_optional);
        further.unverified = behind_byte(std::move(further.unverified), *byte, is_optional);
        further.alike = behind_byte(std::move(further.alike), *byte, is_optional);
        add(behind, std::move(further));
      }
    } else {
      others.push_back(approximated(front, budget));
    }
  }
  found.front().expression = unite(others);
  return found;
}

std::vector<std::string> Arena::awaited(ExpressionId expression, Budget& budget) {
  std::vector<std::string> found;
  for (const ExpressionId front : fronts(expression, false)) {
    const auto [first, tail] = split(front);
    const ExpressionNode head = node(first);
    RememberingRules* const of = head.kind == Kind::Rule ? rules(head).remembering() : nullptr;
    if (!of) continue;
    if (std::optional<std::string> string = of->awaited(head.rule(), *this, budget))
      found.push_back(std::move(*string));
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<ExpressionId> Arena::unfolded(ExpressionId expression, Budget& budget) {
  std::vector<ExpressionId> found, open = fronts(expression);
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    const auto [first, tail] = split(at);
    const ExpressionNode head = node(first);
    const auto add = [&](ExpressionId way) { std::ranges::copy(fronts(way), std::back_inserter(open)); };
    if (node(at).commits) {  // it stood after something that is skipped
      add(settled(at));
      continue;
    }
    if (head.kind == Kind::Rule) {
      if (const auto body = rules_[head.first]->unfolded(head.rule(), *this, budget)) {
        add(concatenate(*body, tail));
        continue;
      }
    } else if (tail != kEpsilon && head.nullable && !head.open) {
      add(tail);
    }
    found.push_back(at);
  }
  return found;
}

ExpressionId Derivatives::settled(ExpressionId expression) {
  const auto alternative_settled = [this](ExpressionId alternative) {
    while (true) {
      const ExpressionNode n = node(alternative);
      // nothing follows it
      if (n.kind == Kind::Commit) return n.first == Rules::kUnverified ? unverified_end() : kEpsilon;
      if (n.kind != Kind::Concatenation || node(n.head()).kind != Kind::Commit) return alternative;
      const std::uint32_t choice = node(n.head()).first;
      const ExpressionId rest = committed(n.tail(), choice);
      alternative = rotated(choice == Rules::kUnverified ? concatenate(rest, unverified_end()) : rest);
    }
  };
  while (node(expression).commits) {
    if (expression == kEmpty) return kEmpty;
    std::vector<ExpressionId> settled_alternatives;
    const auto all = alternatives(expression);
    std::vector<ExpressionId> open(all.begin(), all.end());
    while (!open.empty()) {
      const ExpressionId alternative = rotated(open.back());
      open.pop_back();
      const auto [first, tail] = split(alternative);
      const ExpressionNode head = node(first);
      // each choice is one for what follows them all
      if (head.commits && head.kind == Kind::Union && tail != kEpsilon)
        for (std::uint32_t i = 0; i < head.second; ++i) open.push_back(concatenate(item(head, i), tail));
      else settled_alternatives.push_back(alternative_settled(alternative));
    }
    expression = unite(settled_alternatives);
  }
  return expression;
}

// ---- terminals --------------------------------------------------------------------------------

ExpressionId Derivatives::terminal(ExpressionId body, Budget& budget) {
  const ExpressionNode n = node(body);
  if (body == kEmpty || body == kEpsilon || n.kind == Kind::Terminal) return body;
  if (!n.constrained) return terminal_of(body, n.spelled, n.shortest);
  const std::uint32_t length = length_of_some_text(body, budget);
  // The text found need not be one of single-byte tokens; where all bytes of the pattern are, it is.
  const bool is_spelled = pattern_bytes().is_subset_of(single_bytes_);
  return length == kNoText ? kEmpty : terminal_of(body, is_spelled ? length : ExpressionNode::kUnspelled, n.shortest);
}

ExpressionId Derivatives::derive_terminal(const ExpressionNode& n, const Derivation& run) {
  if (!run.symbol.is_byte()) return kEmpty;
  const std::uint64_t key = key_of(n.body(), run.symbol.value);
  if (const auto known = terminal_derivatives_.find(key); known != terminal_derivatives_.end()) return known->second;
  const ExpressionId result = terminal(derivative(n.body(), run.symbol, run.budget), run.budget);
  terminal_derivatives_.emplace(key, result);
  return result;
}

}  // namespace tokamata

// Boolean formulas, hash-consed: what is said of a value, of the elements of an array, of the members of an
// object, as far as it is not decided yet.
//
// Problem.  While a value is read, one after the other of the things said about it turns out true or false;
// what remains to be fulfilled must be found equal where it is equal, so that states stay few.
// Example.  one(a, b, c) with a true is all(not b, not c); with a false it is one(b, c).
// Normal form.  `all` and `any` are flat, sorted, without duplicates, and decided where x meets not x; `one`
// (exactly one holds) is sorted, its duplicates are denied; a negation is of an atom or of `one`, or of
// another formula that is not itself a negation.
// Cost.  n log n for n operands.  Not taken: decision diagrams (they order the atoms, and a formula with one
// more atom is another diagram); disjunctive normal form (exponential for the schemas in use).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "common/sort_unique.hpp"

namespace tokamata::json {

enum class Operation : std::uint8_t { False, True, Atom, Not, All, Any, One };

// `Tag` distinguishes formulas about different things.
template <class Tag>
class Formulas {
 public:
  using FormulaId = Id<Tag>;
  static constexpr FormulaId kFalse{0};
  static constexpr FormulaId kTrue{1};

  // `merge` may replace the operands of an `all` by fewer that say the same; it need not keep any order.
  using Merge = std::function<void(std::vector<FormulaId>&)>;
  explicit Formulas(Merge merge = nullptr) : merge_(std::move(merge)) {
    intern(Operation::False, 0, {});
    intern(Operation::True, 0, {});
  }

  Operation operation(FormulaId id) const { return nodes_[id.value].operation; }
  std::uint32_t atom(FormulaId id) const { return nodes_[id.value].first; }  // of an Atom
  FormulaId body(FormulaId id) const { return {nodes_[id.value].first}; }    // of a Not
  std::span<const FormulaId> operands(FormulaId id) const {
    const Node& n = nodes_[id.value];
    return {operands_.data() + n.first, n.count};
  }
  // Those of an `all`, or the formula itself, which must not be a temporary.
  std::span<const FormulaId> conjuncts(const FormulaId& id) const {
    return operation(id) == Operation::All ? operands(id) : std::span<const FormulaId>(&id, 1);
  }

  FormulaId make_atom(std::uint32_t atom) { return intern(Operation::Atom, atom, {}); }

  FormulaId negate(FormulaId f) {
    if (f == kFalse) return kTrue;
    if (f == kTrue) return kFalse;
    if (operation(f) == Operation::Not) return body(f);
    return intern(Operation::Not, f.value, {});
  }

  FormulaId all(std::vector<FormulaId> given) { return junction(Operation::All, std::move(given)); }
  FormulaId any(std::vector<FormulaId> given) { return junction(Operation::Any, std::move(given)); }

  FormulaId one(std::vector<FormulaId> given) {
    std::ranges::sort(given);
    std::vector<FormulaId> single, denied;
    bool is_one_true = false;
    for (std::size_t i = 0; i < given.size();) {
      std::size_t end = i;
      while (end < given.size() && given[end] == given[i]) ++end;
      if (given[i] == kTrue) {
        if (is_one_true || end - i > 1) return kFalse;
        is_one_true = true;
      } else if (given[i] != kFalse) {
        (end - i > 1 ? denied : single).push_back(given[i]);
      }
      i = end;
    }
    if (is_one_true) denied.insert(denied.end(), single.begin(), single.end());
    std::vector<FormulaId> result;
    for (const FormulaId f : denied) result.push_back(negate(f));
    if (!is_one_true) {
      if (single.empty()) return kFalse;
      result.push_back(single.size() == 1 ? single[0] : intern(Operation::One, 0, single));
    }
    return all(std::move(result));
  }

  // The formula with `value(f, atom)` in place of each atom; `f` is the atom as a formula.
  template <class Value>
  FormulaId map(FormulaId f, Value&& value) {
    return map(f, value, ++round_);
  }

  // Whether it holds, where `value(atom)` says whether an atom does.
  template <class Value>
  bool holds(FormulaId f, Value&& value) const {
    switch (operation(f)) {
      case Operation::False: return false;
      case Operation::True: return true;
      case Operation::Atom: return value(atom(f));
      case Operation::Not: return !holds(body(f), value);
      case Operation::All: return std::ranges::all_of(operands(f), [&](FormulaId g) { return holds(g, value); });
      case Operation::Any: return std::ranges::any_of(operands(f), [&](FormulaId g) { return holds(g, value); });
      case Operation::One: return std::ranges::count_if(operands(f), [&](FormulaId g) { return holds(g, value); }) == 1;
    }
    return false;
  }

  // Calls `visit(atom, may be wanted, may be unwanted)` for each atom in it; atoms may come more than once.
  template <class Visit>
  void visit(FormulaId f, Visit&& visit_atom, bool wanted = true, bool unwanted = false) const {
    switch (operation(f)) {
      case Operation::False:
      case Operation::True: return;
      case Operation::Atom: return visit_atom(atom(f), wanted, unwanted);
      case Operation::Not: return visit(body(f), visit_atom, unwanted, wanted);
      case Operation::One:
        for (const FormulaId g : operands(f)) visit(g, visit_atom, true, true);
        return;
      default:
        for (const FormulaId g : operands(f)) visit(g, visit_atom, wanted, unwanted);
    }
  }

  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    Operation operation;
    std::uint32_t first;  // Atom: number; Not: body; others: offset of the operands
    std::uint32_t count;
  };

  struct Mapped {
    std::uint64_t round = 0;  // of the call of `map` that the result is of
    FormulaId result{};
  };

  FormulaId junction(Operation operation_wanted, std::vector<FormulaId> given) {
    const bool is_all = operation_wanted == Operation::All;
    const FormulaId neutral = is_all ? kTrue : kFalse, decided = is_all ? kFalse : kTrue;
    std::vector<FormulaId> flat;
    for (const FormulaId f : given) {
      if (operation(f) == operation_wanted) {
        const auto inner = operands(f);
        flat.insert(flat.end(), inner.begin(), inner.end());
      } else {
        flat.push_back(f);
      }
    }
    if (is_all && merge_ && flat.size() > 1) merge_(flat);
    sort_unique(flat);
    std::erase(flat, neutral);
    if (flat.empty()) return neutral;
    if (flat.front() == decided || (flat.size() > 1 && flat[1] == decided)) return decided;
    for (const FormulaId f : flat)
      if (operation(f) == Operation::Not && std::ranges::binary_search(flat, body(f))) return decided;
    return flat.size() == 1 ? flat[0] : intern(operation_wanted, 0, flat);
  }

  template <class Value>
  FormulaId map(FormulaId f, Value& value, std::uint64_t round) {
    const Operation kind = operation(f);
    if (kind == Operation::False || kind == Operation::True) return f;
    if (kind == Operation::Atom) return value(f, atom(f));
    if (f.value < mapped_.size() && mapped_[f.value].round == round) return mapped_[f.value].result;
    FormulaId result;
    if (kind == Operation::Not) {
      result = negate(map(body(f), value, round));
    } else {
      const auto given = operands(f);
      const std::vector<FormulaId> before(given.begin(), given.end());  // a copy: operands move
      std::vector<FormulaId> mapped;
      mapped.reserve(before.size());
      for (const FormulaId g : before) mapped.push_back(map(g, value, round));
      if (mapped == before) result = f;
      else
        result = kind == Operation::All   ? all(std::move(mapped))
                 : kind == Operation::Any ? any(std::move(mapped))
                                          : one(std::move(mapped));
    }
    if (f.value >= mapped_.size()) mapped_.resize(nodes_.size());
    mapped_[f.value] = {round, result};
    return result;
  }

  FormulaId intern(Operation kind, std::uint32_t first, std::span<const FormulaId> given) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(kind), first);
    for (const FormulaId f : given) hash = mix(hash, f.value);
    const auto is_same = [&](std::uint32_t number) {
      const Node& n = nodes_[number];
      return n.operation == kind && n.count == given.size() &&
             (given.empty() ? n.first == first : std::ranges::equal(given, operands({number})));
    };
    if (const auto known = index_.find(hash, is_same)) return {*known};
    index_.reserve(1);
    const FormulaId id{static_cast<std::uint32_t>(nodes_.size())};
    Node n{kind, first, static_cast<std::uint32_t>(given.size())};
    if (!given.empty()) {
      n.first = static_cast<std::uint32_t>(operands_.size());
      operands_.insert(operands_.end(), given.begin(), given.end());
    }
    nodes_.push_back(n);
    index_.add(id.value, hash);
    return id;
  }

  Merge merge_;
  counted::vector<Node> nodes_;
  counted::vector<FormulaId> operands_;
  NumberTable index_;
  counted::vector<Mapped> mapped_;  // by formula
  std::uint64_t round_ = 0;
};

}  // namespace tokamata::json

// A formula with other values for a few of its atoms at a time.
//
// Problem.  oneOf of 140 objects, each with a "kind" of its own: what remains after "kind" differs for each of 140
// values, and for each of the 1,000 names that the objects have between them.  To map the whole formula each time costs
// the product; and mostly all operands but one come to nothing.
// Example.  one(all(a, x), all(b, y), all(c, z)), where a, b and c are mostly false: that is one() = false, and with b
// true it is y.
// How.  The formula is mapped once, with what its atoms *usually* become.  Where some atoms become something else, only
// what stands above these is recomputed; and a junction remembers of its usual operands those that are not neutral.
// Cost.  To begin with, that of a map.  For each variation the formulas above the atoms that differ, each with its
// operands that are not neutral.
// Source.  Change propagation: Reps, Teitelbaum and Demers, "Incremental context-dependent analysis for language-based
// editors", 1983.  Not taken: a map that skips what has no such atom; it still makes each junction of all of its
// operands.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "json/formula.hpp"
#include "json/work.hpp"

namespace tokamata::json {

template <class Tag>
class Variations {
 public:
  using FormulaId = Id<Tag>;
  struct Change {
    std::uint32_t atom;
    FormulaId value;
  };

  // `usual(f, atom)`: what an atom mostly becomes; `f` is the atom as a formula.
  template <class Usual>
  Variations(Formulas<Tag>& formulas, FormulaId f, Usual&& usual, const Work& work) : formulas_(formulas) {
    root_ = add(f, usual, work);
  }

  // The formula where no atom differs.
  FormulaId usual() const { return nodes_[root_].usual; }

  // The formula where these atoms, each at most once, become something else.
  FormulaId with(std::span<const Change> changes, const Work& work) {
    std::unordered_map<std::uint32_t, FormulaId> changed;
    std::map<std::uint32_t, std::vector<std::uint32_t>> open;  // what is to be recomputed, by what differs below it
    const auto change = [&](std::uint32_t place, FormulaId value) {
      if (value == nodes_[place].usual) return;
      changed.emplace(place, value);
      for (const std::uint32_t above : nodes_[place].above) open[above].push_back(place);
    };
    for (const Change& one : changes)
      if (const auto place = atoms_.find(one.atom); place != atoms_.end()) change(place->second, one.value);
    while (!open.empty()) {  // what stands above comes later
      work.budget.step();
      const auto [place, below] = *open.begin();
      open.erase(open.begin());
      if (nodes_[place].operation == Operation::Not) {
        change(place, formulas_.negate(changed.at(below[0])));
        continue;
      }
      std::vector<FormulaId> operands;
      for (const Operand& operand : nodes_[place].kept)
        if (!changed.contains(operand.place)) operands.push_back(operand.usual);
      for (const std::uint32_t operand : below) operands.push_back(changed.at(operand));
      change(place, junction(nodes_[place].operation, std::move(operands)));
    }
    const auto found = changed.find(root_);
    return found == changed.end() ? usual() : found->second;
  }

 private:
  struct Operand {
    std::uint32_t place;
    FormulaId usual;
  };
  struct Node {
    Operation operation;
    FormulaId usual;
    counted::vector<Operand> kept;         // of a junction: those that are not neutral
    counted::vector<std::uint32_t> above;  // nodes that it is an operand of
  };

  FormulaId junction(Operation operation, std::vector<FormulaId> operands) {
    switch (operation) {
      case Operation::All: return formulas_.all(std::move(operands));
      case Operation::Any: return formulas_.any(std::move(operands));
      default: return formulas_.one(std::move(operands));
    }
  }

  template <class Usual>
  std::uint32_t add(FormulaId f, Usual& usual, const Work& work) {
    if (const auto known = places_.find(f.value); known != places_.end()) return known->second;
    work.budget.step();
    const Operation operation = formulas_.operation(f);
    Node node{operation, f, {}, {}};
    std::vector<std::uint32_t> below;
    if (operation == Operation::Atom) {
      node.usual = usual(f, formulas_.atom(f));
    } else if (operation == Operation::Not) {
      below.push_back(add(formulas_.body(f), usual, work));
      node.usual = formulas_.negate(nodes_[below[0]].usual);
    } else if (operation != Operation::True && operation != Operation::False) {
      const auto given = formulas_.operands(f);
      for (const FormulaId operand : std::vector<FormulaId>(given.begin(), given.end()))
        below.push_back(add(operand, usual, work));
      const FormulaId neutral = operation == Operation::All ? Formulas<Tag>::kTrue : Formulas<Tag>::kFalse;
      std::vector<FormulaId> operands;
      for (const std::uint32_t place : below) {
        const FormulaId operand = nodes_[place].usual;
        if (operand == neutral) continue;
        node.kept.push_back({place, operand});
        operands.push_back(operand);
      }
      node.usual = junction(operation, std::move(operands));
    }
    const auto place = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    for (const std::uint32_t operand : below) nodes_[operand].above.push_back(place);
    if (operation == Operation::Atom) atoms_.emplace(formulas_.atom(f), place);
    places_.emplace(f.value, place);
    return place;
  }

  Formulas<Tag>& formulas_;
  counted::vector<Node> nodes_;                                  // operands before what they are operands of
  counted::unordered_map<std::uint32_t, std::uint32_t> places_;  // by formula
  counted::unordered_map<std::uint32_t, std::uint32_t> atoms_;
  std::uint32_t root_ = 0;
};

}  // namespace tokamata::json

// What a machine of edits may write in an automaton, the cheapest first.
//
// Problem.  A search takes the insertions and replacements of a node price by price.  Each mode has its own prices, and
// bytes of one class lead to one state, so that of each class only the cheapest matters.  To sort them takes as long as
// to repair a short text.
// How.  They depend on the machine and the byte classes alone, so they are kept with the automaton (kept_automata.hpp),
// and each list is made when it is read.
// Contract.  What it keeps is charged to the account that is charged when `at` is called.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/memory_account.hpp"
#include "repair/edit_model.hpp"

namespace tokamata {

// An insertion or a replacement that states may take.
struct Writing {
  EditCost cost;
  EditKind kind;
  std::uint8_t byte;
  friend auto operator<=>(const Writing&, const Writing&) = default;
};

class Writings {
 public:
  using List = counted::vector<Writing>;
  enum class Where : std::uint8_t { Begin, Within, End };
  static constexpr std::size_t kPlaces = 3;

  Writings(std::shared_ptr<const EditMachine> machine, const std::vector<std::uint8_t>& byte_classes)
      : machine_(std::move(machine)),
        byte_classes_(byte_classes),
        least_(*machine_),
        lists_(machine_->costs.size() * kPlaces * 2) {}

  const EditMachine& machine() const { return *machine_; }
  const LeastCosts& least() const { return least_; }

  // In a mode: of each class of bytes the cheapest that leads to each mode, or every byte.
  const List& at(Where where, Mode mode, bool each_byte) {
    std::optional<List>& known = lists_[(mode * kPlaces + static_cast<std::size_t>(where)) * 2 + each_byte];
    if (!known) known = made(mode, where, each_byte);
    return *known;
  }

 private:
  List made(Mode mode, Where where, bool each_byte) const {
    List all;
    const auto add = [&](const ByteCosts& costs, EditKind kind) {
      for (std::size_t number = 0; number < byte_classes_.size(); ++number) {
        const unsigned end = number + 1 < byte_classes_.size() ? byte_classes_[number + 1] : 256;
        const std::size_t first = all.size();
        for (unsigned value = byte_classes_[number]; value < end; ++value) {
          const Writing one{costs[value], kind, static_cast<std::uint8_t>(value)};
          if (one.cost == kNoEdit) continue;
          const auto alike =
              std::find_if(all.begin() + static_cast<std::ptrdiff_t>(each_byte ? all.size() : first), all.end(),
                           [&](const Writing& other) {
                             return machine_->inserted[mode][other.byte] == machine_->inserted[mode][one.byte];
                           });
          if (alike == all.end()) all.push_back(one);
          else if (one.cost < alike->cost) *alike = one;
        }
      }
    };
    const ModeCosts& costs = machine_->costs[mode];
    add(where == Where::End ? costs.append : where == Where::Begin ? costs.prepend : costs.insert, EditKind::Insert);
    if (where != Where::End) add(costs.replace, EditKind::Replace);
    std::ranges::sort(all);
    return all;
  }

  std::shared_ptr<const EditMachine> machine_;
  const std::vector<std::uint8_t>& byte_classes_;
  LeastCosts least_;
  counted::vector<std::optional<List>> lists_;  // by mode; at the begin, within, at the end; by class, by byte
};

}  // namespace tokamata

// A constraint of one caller, for the bindings of constraints and of matchers.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "bindings/errors.hpp"
#include "matching/constraint.hpp"

namespace tokamata {

// A constraint of one caller, what it came from, and the views of its masks that were
// handed out and can be handed out again.
struct BoundConstraint {
  std::shared_ptr<Constraint> constraint;
  Shown shown;
  // A mask, which the view holds, and its view.
  struct View {
    const Mask* mask = nullptr;
    nanobind::object view = {};
  };
  std::map<std::uint64_t, View> views = {};  // by serial, of masks that are kept as rows; some may be of former states
  // Of one mask of few words: its row is a copy that Limits do not count, of a hundred times the memory.
  View copied = {};

  BoundConstraint(std::shared_ptr<Constraint> made, Shown about)
      : constraint(std::move(made)), shown(std::move(about)) {}
  BoundConstraint(BoundConstraint&&) = default;
  ~BoundConstraint() {
    if (!constraint) return;
    const Released released;  // much may have to be given back
    constraint.reset();
  }

  // The mask as a read-only array, without a copy of a row that is kept.
  nanobind::object view(const MaskPtr& mask);
};

// Counts by name; `masks` by maker.
using Counts = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;
Counts to_dict(const MaskWork& work);

}  // namespace tokamata

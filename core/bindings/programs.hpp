// Programs of src/tokamata/patterns/regex/program.py, for the engine.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "programs/program.hpp"

namespace tokamata {

// An instruction as the tuple (operation, number, target, low, high, flags).
using GivenInstruction = nanobind::typed<nanobind::tuple, nanobind::str, std::uint32_t, std::uint32_t, Count,
                                         std::optional<Count>, nanobind::str>;

// Throws ValueError if there is no such operation.
Program program_of(const std::vector<GivenInstruction>& code);

}  // namespace tokamata

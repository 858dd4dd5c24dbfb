// What everything in json/ works with and pays from.
#pragma once

#include "expression/arena.hpp"

namespace tokamata::json {

struct Work {
  Arena& arena;
  Budget& budget;
};

}  // namespace tokamata::json

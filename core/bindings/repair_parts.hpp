// What the bindings of repairs and of their streams share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>  // errors have strings

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/interpreter.hpp"
#include "repair/byte_patterns.hpp"
#include "repair/edit_model.hpp"
#include "repair/search.hpp"

namespace tokamata {

// What is written where a pattern was found: two texts, with what was found between them or without.
struct Template {
  std::string before;
  bool repeats;
  std::string after;
  EditCost cost;
  ModeSet within;
  Mode then;

  std::string written(std::string_view found) const { return (repeats ? before + std::string(found) : before) + after; }
};

// Patterns, each with its number among all and its template.
struct BoundPatterns {
  BytePatterns patterns;
  std::vector<std::uint32_t> numbers;
  std::vector<std::optional<Template>> templates;
};

template <class Task>
auto searching(const nanobind::object& pattern, Task&& task) {
  return guarded({pattern, false}, [&] {
    try {
      const Released released;
      return task();
    } catch (const EmptyLanguage&) {
      throw EmptyConstraint();
    }
  });
}

}  // namespace tokamata

// What the bindings of repairs and of their streams share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>  // errors have strings

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/interpreter.hpp"
#include "repair/edit_model.hpp"
#include "repair/reachable_patterns.hpp"
#include "repair/search.hpp"

namespace tokamata {

// The name of a kind of edits, as results have it.
inline const char* name_of(EditKind kind) {
  switch (kind) {
    case EditKind::Keep: return "keep";
    case EditKind::Rewrite: return "rewrite";
    case EditKind::Remove: return "remove";
    case EditKind::Insert: return "insert";
    default: return "replace";
  }
}

// What is written where a pattern was found: two texts, with what was found between them or without.
struct Template {
  std::string before;
  bool repeats;
  std::string after;
  EditCost cost;

  std::string written(std::string_view found) const {
    std::string text;
    text.reserve(before.size() + (repeats ? found.size() : 0) + after.size());
    text += before;
    if (repeats) text += found;
    text += after;
    return text;
  }
};

// Patterns, each with its number among all and what a match means: a rewrite, a doubt about its first byte with its
// cost, or something that the caller knows.
struct BoundPatterns {
  using Meaning = std::variant<std::monostate, Template, EditCost>;
  ReachablePatterns reachable;
  std::vector<std::uint32_t> numbers;
  std::vector<Meaning> meanings;
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

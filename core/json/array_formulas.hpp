// What is still to be said of the elements of an array, after some of them.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "json/branches.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class ValueSets;

class ArrayFormulas {
 public:
  explicit ArrayFormulas(ValueSets& sets);

  Formulas<ArrayTag>& formulas() { return formulas_; }
  // The formulas of nodes of the table.
  ArrayId items(ValueNode items);
  ArrayId length(Count minimum, Count maximum);
  ArrayId contains(SetId set, Count minimum, Count maximum);
  ArrayId unique();

  // Whether the array may end here.
  bool accepts(ArrayId f) const;
  // What the next element may be, and what then remains.
  using Branches = std::shared_ptr<const std::vector<Branch<ArrayTag>>>;
  Branches branches(ArrayId f, const Work& work);
  // Bytes of some way to end the array, a comma counted for each element; nothing where there is none.
  std::optional<std::uint32_t> some_length(ArrayId f, const Work& work);
  bool wants_unique(ArrayId f) const;
  std::size_t memory_bytes() const;

 private:
  enum class Kind : std::uint32_t { Items, Length, Contains, Unique };
  struct Atom {
    Kind kind;
    std::uint32_t subject = 0;  // Items: node of the table; Contains: set
    Count minimum = 0;          // Items: elements so far
    Count maximum = 0;
    bool operator==(const Atom&) const = default;
  };
  struct AtomHash {
    std::size_t operator()(const Atom& atom) const;
  };

  ArrayId make(const Atom& atom);
  ArrayId after_element(const Atom& atom);
  void merge(std::vector<ArrayId>& conjuncts);

  ValueSets& sets_;
  Formulas<ArrayTag> formulas_;
  std::vector<Atom> atoms_;
  std::unordered_map<Atom, std::uint32_t, AtomHash> atom_index_;
  std::unordered_map<std::uint32_t, Branches> branches_;
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> lengths_;
};

}  // namespace tokamata::json

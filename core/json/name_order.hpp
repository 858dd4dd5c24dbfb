// The names that a schema declares for the members of an object, in their order.
//
// Example.  {"properties": {"b": …, "a": …}, "required": ["c", "a"]}: b, a, c.  Names that are mentioned alone come after
// those that have a schema; those of constants that texts hold come last, and are in no order.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "json/set_formulas.hpp"

namespace tokamata::json {

struct NameOrder {
  counted::vector<NameId> names;
  std::uint32_t ordered = 0;                                    // so many are in order
  counted::unordered_map<std::uint32_t, std::uint32_t> places;  // by name

  std::optional<std::uint32_t> place_of(NameId name) const {
    const auto known = places.find(name.value);
    return known == places.end() ? std::nullopt : std::optional(known->second);
  }
};
using NameOrderPtr = std::shared_ptr<const NameOrder>;

// Places in an order, a bit for each.
class PlaceSet {
 public:
  bool contains(std::uint32_t place) const {
    return place / 64 < words_.size() && ((words_[place / 64] >> (place % 64)) & 1) != 0;
  }
  void add(std::uint32_t place) {
    if (place / 64 >= words_.size()) words_.resize(place / 64 + 1, 0);
    words_[place / 64] |= std::uint64_t{1} << (place % 64);
  }
  auto operator<=>(const PlaceSet&) const = default;

 private:
  counted::vector<std::uint64_t> words_;  // the last is not 0
};

class NameOrders {
 public:
  explicit NameOrders(const SetFormulas& formulas) : formulas_(formulas) {}

  // The names that the schema of a set declares.
  NameOrderPtr of(SetId set);

 private:
  NameOrder made(SetId set) const;

  const SetFormulas& formulas_;
  counted::unordered_map<std::uint32_t, NameOrderPtr> orders_;  // by set
};

}  // namespace tokamata::json

// The undeclared names that may still follow in an object, whose names must differ.
//
// Problem.  Names ^a[bc]?$, of which `a` is written: is there another one, which one, and are there two?
// How.  Names that were found before are tried first; then one is searched among those that are left.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/name_order.hpp"
#include "json/object_formulas.hpp"
#include "json/texts.hpp"

namespace tokamata::json {

// How members are written where that is not JSON; lengths are those of the whole member.
class MemberTexts {
 public:
  virtual ~MemberTexts() = default;
  // Nothing where the name or each value of the set cannot be written.
  virtual std::optional<std::uint32_t> length(NameId name, SetId value, const Work& work) = 0;
  virtual std::optional<std::uint32_t> length_of_other(SetId value, const Work& work) = 0;
  // No text of a member is shorter; of any member, or of one of this name.
  virtual std::uint32_t least_length(std::optional<NameId> name, const Work& work) = 0;
  // Those of some undeclared names that can be written.
  virtual ExpressionId writable(ExpressionId names, const Work& work) = 0;
};

// The names that may still follow, in their order; `next` is an index into it.
struct Room {
  const NameOrder* order;
  std::uint32_t next;            // those before it do not come any more
  const PlaceSet* written;       // nor do these
  WrittenTexts other_names;      // that were written, as they are spelled plainly
  MemberTexts* texts = nullptr;  // null: JSON

  bool is_written(std::uint32_t place) const { return written && written->contains(place); }
  // Whether a declared name may still come, where those before `first` do not.
  bool is_left(std::uint32_t first, NameId name) const {
    const std::optional<std::uint32_t> place = order->place_of(name);
    return place && *place >= first && !is_written(*place);
  }
};

class NamesLeft {
 public:
  NamesLeft(const SetFormulas& formulas, StringTexts& texts) : formulas_(formulas), texts_(texts) {}

  // A name of the class that is neither declared nor written, nor one of `further`.  Where all names are in the class
  // there always is one, and which one makes no difference.
  std::optional<std::string> one(const NameClass& other, const Room& room, const std::vector<std::string>& further,
                                 const Work& work);
  bool has_one(const NameClass& other, const Room& room, const Work& work);
  // Whether there are surely more names than so many that are not taken.
  bool has_more(const NameClass& other, const Room& room, std::uint64_t than, const Work& work);
  // The names of a class that are not declared; nothing where they are more than `most`.
  std::optional<std::vector<std::string>> all(const NameClass& other, const NameOrder& order, std::uint64_t most,
                                              const Work& work);

  void forget_expressions() {
    release(counted_);
    release(known_);
  }

 private:
  struct Counted {
    std::uint64_t found = 0, most = 0;
  };
  // The number of texts, counted no further than `most`, and kept.
  std::uint64_t count(ExpressionId names, std::uint64_t most, const Work& work);

  const SetFormulas& formulas_;
  StringTexts& texts_;
  counted::unordered_map<std::uint32_t, Counted> counted_;                     // by what they may be
  counted::unordered_map<std::uint32_t, counted::vector<std::string>> known_;  // some of them, likewise
};

}  // namespace tokamata::json

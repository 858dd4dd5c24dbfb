// How many objects fulfil a formula: all of them at once, name by name.  See expression/text_count.hpp for the idea.
//
// Example.  "a" in {1, 2}, no other names: after "a" one object without it, two with it.
// Names that are not declared are mostly without end: if one may come at all, there are enough objects.  Those of a
// language with few texts are taken one by one, as if they were declared.
#pragma once

#include <map>

#include "json/object_ends.hpp"

namespace tokamata::json {

class ValueCounts;

class ObjectCounts {
 public:
  ObjectCounts(ObjectFormulas& formulas, ObjectEnds& ends, ValueCounts& counts)
      : formulas_(formulas), ends_(ends), counts_(counts) {}

  // The number of objects, at most `most`; of names that are in order.
  std::uint64_t of(ObjectId f, const NameOrder& order, std::uint64_t most, const Work& work);

 private:
  // The objects under way: in how many ways each formula is what remains.
  struct Tally {
    std::map<ObjectId, std::uint64_t> ways;
    std::uint64_t most;
    bool is_enough = false;
  };
  template <class After>
  void count_name(Tally& tally, const Room& room, After&& after, const Work& work);
  template <class Visit>
  void visit_members(ObjectId conditioned, std::uint64_t most, Visit&& visit, const Work& work);

  ObjectFormulas& formulas_;
  ObjectEnds& ends_;
  ValueCounts& counts_;
};

}  // namespace tokamata::json

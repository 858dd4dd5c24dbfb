// The counts of the repetitions that a thread of a splitter is in, as one number.
//
// Problem: `(?:(?:ab){2,3};){1,9}` has a count for each of its two repetitions, and threads that stand alike must
// compare alike.  So lists of counts are interned: equal lists have equal numbers, and a list shares those around it.
//
// Example: in the third `ab` of the second turn, the list is (turns 2) inside (turns 1).
//
// Cost: a look-up in a hash map for each change; as many entries as there are different lists.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/ids.hpp"
#include "common/lengths.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

using CountsId = Id<struct CountsTag>;  // a list of counts in a TurnCounts

// How many turns are done of each repetition that a thread is in, innermost first.  Each such list has one number.
class TurnCounts {
 public:
  static constexpr CountsId kNone{0};

  struct Entry {
    CountsId outer = kNone;
    Count turns = 0;
    bool is_empty = false;  // nothing was read in the turn under way
    bool is_free = false;   // as many turns are done as there must be
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  CountsId push(const Entry& entry);
  const Entry& innermost(CountsId counts) const { return entries_[counts.value]; }
  // The same once something was read.
  CountsId with_text(CountsId counts);

  // Of two lists in one group, the one with fewer turns allows whatever the other allows.
  struct Comparable {
    CountsId group;
    Count turns;
  };
  Comparable comparable(CountsId counts);

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const;
  };

  counted::vector<Entry> entries_{Entry{}};
  counted::vector<CountsId> groups_{kNone};  // by entry; kNone: not known yet
  counted::unordered_map<Entry, CountsId, Hash> known_;
};

}  // namespace tokamata

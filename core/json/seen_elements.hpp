// The elements of arrays that were seen: which of them one that is begun may become equal to.
//
// Elements are kept in canonical form (canonical_value.hpp): strings in plain spelling, numbers as digits and an
// exponent, members of objects sorted.  A string or an array that is begun is the beginning of those that it may
// become; of a number that holds for its digits.  Members come in any order: objects that have one of the members that
// are complete are looked up by it.  It does no harm to find too many.
// Example.  After 120 the seen numbers that begin with the digits 120 are alike, and 12 with an exponent.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/memory_account.hpp"
#include "json/texts.hpp"

namespace tokamata::json {

// What is whole of a string that is begun, its first quote included, in plain spelling; and the escape that is begun.
struct BegunString {
  std::string plain;
  std::string_view escape;
};
BegunString begun_string(std::string_view begun);

class SeenElements {
 public:
  SeenElements(Texts& texts, TextSets& text_sets) : texts_(texts), text_sets_(text_sets) {}

  // Elements that one may become equal to, or more than these.
  struct Alike {
    std::vector<TextSetId> sets;
    std::vector<TextId> texts;
  };
  // `begun` has no blanks in front.
  Alike alike(TextSetId seen, std::string_view begun) const;
  static Alike alike_number(const TextSets& sets, TextSetId seen, std::string_view begun);
  Alike equal_to(TextSetId seen, std::string_view canonical) const;
  // Those of a container that have all that is complete in it, at each level.  `is_last_digit`: a number cannot go on.
  Alike narrowed(const Alike& alike, std::string_view begun, bool is_last_digit) const;
  std::uint64_t size(const Alike& alike) const;
  std::vector<std::string> strings(const Alike& alike) const;

  // An object that is seen can be found by each of its members.
  void note(TextId element);

  // ---- compaction: Rules::begin_anew ----
  void begin_anew();
  // Elements whose texts are kept already.
  void note_kept(TextSetId seen);
  void all_kept();
  void keep_all();

 private:
  struct Members {
    counted::unordered_map<std::uint32_t, counted::vector<TextId>> objects_with;  // elements, by the text of a member
    counted::unordered_set<std::uint32_t> noted;                                  // elements that are in it
  };
  Alike alike_container(TextSetId seen, std::string_view begun) const;

  Texts& texts_;
  TextSets& text_sets_;
  Members now_;
  std::unique_ptr<Members> before_;
  std::unordered_set<std::uint32_t> kept_;  // sets of elements that are noted
};

}  // namespace tokamata::json

// Whether an object can still be ended, how, and with which names it may go on.
//
// Problem.  Before a name is written it must be known that, with it, all that is required can still be had: the
// names left, each at most once, with values that are in what is said of them.
// Example.  Order a, b, c; required b: the next name is a or b, and c is late.  With any(required a, x not in b's set)
// and nothing else, all three may come next, and the object may not end.
// How.  Mostly a formula is a conjunction of atoms, and then required names alone matter.  Otherwise a way
// to end it is searched over what remains after each member, what lacks least first; a shortest end has only members
// that something requires, and members may be taken in the order of their names whatever the order of the text.
// Cost.  Linear in the names for conjunctions; exponential at worst elsewhere, bounded by Limits.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "json/names_left.hpp"

namespace tokamata::json {

class ObjectEnds {
 public:
  ObjectEnds(ObjectFormulas& formulas, StringTexts& texts, const SetFormulas& set_formulas, ValueSets& sets)
      : formulas_(formulas), texts_(texts), sets_(sets), names_(set_formulas, texts) {}

  // The length of some text that ends the object, with comma, quotes and colon for each member; nothing if there is
  // none.
  std::optional<std::uint32_t> some_length(ObjectId f, const Room& room, const Work& work);
  // The same for each name that may come next, and for classes of other names.
  //
  // In order.  The first required name that is not written is *due*.  Names before it may come, and it may; those after
  // it and undeclared ones are *late*.  Example.  Order a, b, c, required b: after `{` a and b may come, c is late;
  // after {"b":1 all of a, c and undeclared names may come.  So no value is lost: the members that it has and that are
  // required can always be written first, and the others in any order after them.  What is late is given only where
  // some name but the due one may come, since it may begin as that name does (NameChoice).
  // Required means: the formula says so by its structure, whatever the values are (`required_names`).  To find out
  // whether a name is required for other reasons, such as the number of members, would need a search for each name.
  struct Next {
    struct Declared {
      std::uint32_t place, length;
      bool is_late;
    };
    std::vector<Declared> declared;
    // class of other names (name_classes), length; late too
    std::vector<std::pair<std::uint32_t, std::uint32_t>> others;
    std::optional<std::uint32_t> due;  // place of the required name that comes first
  };
  Next next(ObjectId f, const Room& room, bool in_order, const Work& work) {
    return next(f, room, in_order, ~std::size_t{0}, work);
  }
  // The length of some text of another member and of all that comes after it; nothing if none may come.
  std::optional<std::uint32_t> some_further_length(ObjectId f, const Room& room, const Work& work);
  // Lower bounds, of the texts of `depth` levels (ValueSets::least_length): no text that ends the object is shorter,
  // with comma, quotes and colon for each member; and the same of the value of a member and all that comes after it.
  std::uint32_t least_length(ObjectId f, std::uint32_t depth, const Work& work);
  std::uint32_t least_length_with(ObjectId f, NameId name, std::uint32_t depth, const Work& work);
  // The same where members are written otherwise; `written`: a name that does not count, since it is begun.
  std::uint32_t least_length(ObjectId f, MemberTexts& texts, std::optional<NameId> written, const Work& work);

  NamesLeft& names() { return names_; }
  void forget_expressions() { names_.forget_expressions(); }

 private:
  using Kind = ObjectAtom::Kind;
  // What a shortest way to end the object may have members for.
  struct Help {
    std::vector<NameId> required;  // sorted
    bool all = false;              // any other name may help
    std::vector<NameId> names;     // sorted; if not, these alone
  };
  struct Candidate {
    std::uint32_t least;  // bytes of a member, at least
    std::uint32_t place;
    NameId name;
  };
  static constexpr std::uint32_t kMostMissing = 1 << 24;  // members that are counted: sums of these do not overflow

  std::optional<std::uint32_t> member_length(NameId name, SetId value, const Room& room, const Work& work);
  std::optional<std::uint32_t> other_member_length(SetId value, const Room& room, const Work& work);
  // Whether it is a conjunction of atoms that no name but a required one helps.
  bool is_plain(ObjectId f) const;
  std::optional<std::uint32_t> plain_length(ObjectId f, const Room& room, const Work& work);
  std::optional<std::uint32_t> plain_length_with(ObjectId f, NameId name, std::uint32_t rest, const Room& room,
                                                 const Work& work);
  std::optional<std::uint32_t> search_length(ObjectId f, const Room& room, const Work& work);
  std::optional<std::uint32_t> length_with(ObjectId f, std::uint32_t place, const Room& room, const Work& work);
  const counted::vector<NameId>& required_names(ObjectId f);
  std::optional<std::uint32_t> due(ObjectId f, const Room& room);
  Next next(ObjectId f, const Room& room, bool in_order, std::size_t most, const Work& work);
  void add_others(ObjectId f, const Room& room, Next& result, const Work& work);
  std::uint32_t least_member(ObjectId f, NameId name, std::uint32_t depth, const Work& work);
  std::uint32_t further_among_conjuncts(ObjectId f, std::size_t required) const;
  Help helpful(ObjectId f) const;
  std::vector<Candidate> candidates(const Help& help, bool are_required, const Room& room, std::uint32_t next);
  std::uint32_t missing(ObjectId f, bool wanted) const;
  ObjectId without_passed(ObjectId f, const Room& room, std::uint32_t next);

  ObjectFormulas& formulas_;
  StringTexts& texts_;
  ValueSets& sets_;
  NamesLeft names_;
  counted::unordered_map<std::uint64_t, std::uint32_t> least_lengths_;       // by formula and depth
  counted::unordered_map<std::uint32_t, counted::vector<NameId>> required_;  // by formula
};

}  // namespace tokamata::json

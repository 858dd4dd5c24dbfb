// The formulas that remain for the members of an object, after some of them.
//
// A name is *declared* if some part of the schema names it.  Other names are distinguished only by the languages
// (patterns) that they are in: a *class* of other names is in or out of each language.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "json/branches.hpp"
#include "json/texts.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class ValueSets;

// Names that are declared in some order, and after them those that constants have.
struct NameOrder {
  counted::vector<NameId> names;
  std::uint32_t ordered = 0;                                    // so many are in order
  counted::unordered_map<std::uint32_t, std::uint32_t> places;  // by name

  std::optional<std::uint32_t> place_of(NameId name) const {
    const auto known = places.find(name.value);
    return known == places.end() ? std::nullopt : std::optional(known->second);
  }
};

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

class ObjectFormulas {
 public:
  explicit ObjectFormulas(ValueSets& sets);

  Formulas<ObjectTag>& formulas() { return formulas_; }
  ObjectId property(NameId name, SetId value);
  ObjectId matching(LanguageId names, SetId value);
  ObjectId others(ValueNode others);
  ObjectId has(NameId name);
  ObjectId count(Count minimum, Count maximum);

  // Whether the object may end here.
  bool accepts(ObjectId f) const;

  // Names that are not declared, by the languages of a formula: which of them they are in, and their texts.
  struct NameClass {
    counted::vector<LanguageId> in;
    ExpressionId names;      // as they may be spelled, without quotes
    bool is_any;             // all names there are
    bool is_escaped = true;  // whether they may be spelled with escapes that no quote or backslash needs
  };
  using NameClasses = std::shared_ptr<const counted::vector<NameClass>>;
  NameClasses name_classes(ObjectId f, const Work& work);

  using Branches = std::shared_ptr<const counted::vector<Branch<ObjectTag>>>;
  // The sets of the value of a member, and the formula that remains after it.
  Branches branches(ObjectId f, NameId name, const Work& work);
  Branches branches(ObjectId f, const NameClass& other, const Work& work);

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
  };
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
  // The number of objects, at most `most`; of names that are in order (object_counts.cpp).
  std::uint64_t count(ObjectId f, const NameOrder& order, std::uint64_t most, const Work& work);

  void forget_expressions();

 private:
  enum class Kind : std::uint8_t { Properties, Matching, Others, Required, Count };
  struct Atom {
    Kind kind;
    std::uint32_t subject = 0;  // Matching: language; Others: node of the table
    SetId value{};              // Matching, Others
    Count minimum = 0, maximum = 0;
    counted::vector<NameId> names = {};  // Properties, Required: sorted
    counted::vector<SetId> values = {};  // Properties
    bool operator==(const Atom&) const = default;
  };
  struct AtomHash {
    std::size_t operator()(const Atom& atom) const;
  };
  ObjectId make(Atom atom);
  ObjectId required(counted::vector<NameId> names);
  ObjectId properties(counted::vector<NameId> names, counted::vector<SetId> values);
  void merge(std::vector<ObjectId>& conjuncts);
  const Atom* atom_of(ObjectId f) const;
  ObjectId conditioned(SetId value, ObjectId rest);
  struct Tally;
  template <class After>
  void count_name(Tally& tally, const Room& room, After&& after, const Work& work);
  template <class Visit>
  void visit_members(ObjectId conditioned_formula, std::uint64_t most, Visit&& visit, const Work& work);
  std::optional<std::vector<std::string>> few_names(const NameClass& other, const NameOrder& order, std::uint64_t most,
                                                    const Work& work);
  // What a formula of many atoms becomes after a name, for each name by the atoms that speak of it.
  struct ByName {
    Variations<ObjectTag> variations;
    counted::unordered_map<std::uint32_t, counted::vector<std::uint32_t>> atoms;  // by name
    // atoms that speak of names by their texts
    counted::vector<std::uint32_t> of_languages;
  };
  NameClasses classes_of(const counted::vector<LanguageId>& languages, const Work& work);
  bool is_wide(ObjectId f) const;
  ByName& by_name(ObjectId f, const Work& work);
  // The formula after a member of the name, with conditions (branches.hpp) for its value.
  ObjectId after_name(ObjectId f, NameId name, const Work& work);
  ObjectId after_other(ObjectId f, const NameClass& other);
  ObjectId atom_after_name(ObjectId f, const Atom& atom, NameId name, const Work& work);
  ObjectId atom_after_other(ObjectId f, const Atom& atom, const NameClass& other);
  bool is_about(const Atom& atom, NameId name, const Work& work);
  bool is_in(NameId name, LanguageId language, const Work& work);
  Branches branch(ObjectId conditioned_formula, const Work& work);
  // Whether it is a conjunction of atoms that no name but a required one helps.
  bool is_plain(ObjectId f) const;
  SetId value_among_conjuncts(ObjectId f, NameId name, const Work& work);
  counted::vector<NameId> required_among_conjuncts(ObjectId f) const;
  const counted::vector<NameId>& required_names(ObjectId f);
  std::optional<std::uint32_t> due(ObjectId f, const Room& room);
  std::uint32_t further_among_conjuncts(ObjectId f, std::size_t required) const;
  Next next(ObjectId f, const Room& room, bool in_order, std::size_t most, const Work& work);
  std::optional<std::uint32_t> member_length(NameId name, SetId value, const Room& room, const Work& work);
  std::optional<std::uint32_t> other_member_length(SetId value, const Room& room, const Work& work);
  std::uint32_t least_member(ObjectId f, NameId name, std::uint32_t depth, const Work& work);
  std::optional<std::uint32_t> plain_length(ObjectId f, const Room& room, const Work& work);
  std::optional<std::uint32_t> search_length(ObjectId f, const Room& room, const Work& work);
  Next next_if_plain(ObjectId f, const Room& room, bool in_order, std::size_t most, const Work& work);
  void add_others(ObjectId f, const Room& room, Room after, Next& result, const Work& work);
  struct Help {
    std::vector<NameId> required;  // sorted
    bool all = false;              // any other name may help
    std::vector<NameId> names;     // sorted; if not, these alone
  };
  Help helpful(ObjectId f) const;
  struct Candidate {
    std::uint32_t least;  // bytes of a member, at least
    std::uint32_t place;
    NameId name;
  };
  std::vector<Candidate> candidates(const Help& help, bool are_required, const Room& room, std::uint32_t next);
  static constexpr std::uint32_t kMostMissing = 1 << 24;  // members that are counted: sums of these do not overflow
  std::uint32_t missing(ObjectId f, bool wanted) const;
  ObjectId without_passed(ObjectId f, const Room& room, std::uint32_t next);
  std::optional<std::string> name_left(const NameClass& other, const Room& room,
                                       const std::vector<std::string>& further, const Work& work);

  bool has_name_left(const NameClass& other, const Room& room, const Work& work);
  bool has_names_left(const NameClass& other, const Room& room, std::uint64_t than, const Work& work);
  struct NamesCounted {
    std::uint64_t found = 0, most = 0;
  };
  std::uint64_t most_names(ExpressionId names, std::uint64_t most, const Work& work);

  ValueSets& sets_;
  counted::unordered_map<std::uint32_t, NamesCounted> names_counted_;                // by what they may be
  counted::unordered_map<std::uint32_t, counted::vector<std::string>> names_known_;  // some of them, likewise
  Formulas<ObjectTag> formulas_;
  counted::vector<Atom> atoms_;
  counted::unordered_map<Atom, std::uint32_t, AtomHash> atom_index_;
  counted::unordered_map<std::uint64_t, Branches> branches_;         // by formula and name
  counted::unordered_map<std::uint32_t, NameClasses> name_classes_;  // by formula
  counted::map<counted::vector<LanguageId>, NameClasses> classes_of_languages_;
  counted::unordered_map<std::uint32_t, ByName> by_name_;                    // by formula: few
  counted::unordered_map<std::uint64_t, bool> is_in_;                        // by name and language
  counted::unordered_map<std::uint64_t, std::uint32_t> least_lengths_;       // by formula and depth
  counted::unordered_map<std::uint32_t, counted::vector<NameId>> required_;  // by formula
};

}  // namespace tokamata::json

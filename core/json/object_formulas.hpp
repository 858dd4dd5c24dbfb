// The formulas that remain for the members of an object, after some of them.
//
// A name is *declared* if some node of the table names it.  Other names are distinguished only by the languages
// (patterns) that they are in: a *class* of other names is in or out of each language.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "json/container_formulas.hpp"
#include "json/recursion.hpp"
#include "json/string_texts.hpp"
#include "json/variations.hpp"

namespace tokamata::json {

class ValueSets;

struct ObjectAtom {
  enum class Kind : std::uint8_t { Properties, Matching, Others, Required, Count };
  Kind kind;
  std::uint32_t subject = 0;  // Matching: language; Others: node of the table
  SetId value{};              // Matching, Others
  Count minimum = 0, maximum = 0;
  counted::vector<NameId> names = {};  // Properties, Required: sorted
  counted::vector<SetId> values = {};  // Properties
  bool operator==(const ObjectAtom&) const = default;
};
struct ObjectAtomHash {
  std::size_t operator()(const ObjectAtom& atom) const;
};

// Names that are not declared, by the languages of a formula: which of them they are in, and their texts.
struct NameClass {
  counted::vector<LanguageId> in;
  ExpressionId names;      // as they may be spelled, without quotes
  bool is_any;             // all names there are
  bool is_escaped = true;  // whether they may be spelled with escapes that no quote or backslash needs
};
using NameClasses = std::shared_ptr<const counted::vector<NameClass>>;

class ObjectFormulas : public ContainerFormulas<ObjectTag, ObjectAtom, ObjectAtomHash> {
 public:
  using Kind = ObjectAtom::Kind;

  ObjectFormulas(ValueSets& sets, StringTexts& texts);

  // The formulas of nodes of the table.
  ObjectId property(NameId name, SetId value);
  ObjectId matching(LanguageId names, SetId value);
  ObjectId others(ValueNode others);
  ObjectId has(NameId name) { return required({name}); }
  ObjectId count(Count minimum, Count maximum);
  ObjectId properties(counted::vector<NameId> names, counted::vector<SetId> values);

  // Whether the object may end here.
  bool accepts(ObjectId f) const;
  NameClasses name_classes(ObjectId f, const Work& work);
  // The formula after a member, with conditions (branches.hpp) on its value.
  ObjectId after_name(ObjectId f, NameId name, const Work& work);
  ObjectId after_other(ObjectId f, const NameClass& other);
  // The sets of the value of a member, and the formula that remains after it.
  Branches branches(ObjectId f, NameId name, const Work& work);
  Branches branches(ObjectId f, const NameClass& other, const Work& work);
  Branches branches(ObjectId conditioned, const Work& work);
  // What the conjuncts say of the value of a member that are atoms.
  SetId value_among_conjuncts(ObjectId f, NameId name, const Work& work);
  counted::vector<NameId> required_among_conjuncts(ObjectId f) const;

  void forget_expressions();

 private:
  // What a formula of many atoms becomes after a name, for each name by the atoms that speak of it.
  struct ByName {
    Variations<ObjectTag> variations;
    counted::unordered_map<std::uint32_t, counted::vector<std::uint32_t>> atoms;  // by name
    // atoms that speak of names by their texts
    counted::vector<std::uint32_t> of_languages;
  };

  ObjectId required(counted::vector<NameId> names);
  void merge(std::vector<ObjectId>& conjuncts);
  ObjectId conditioned(SetId value, ObjectId rest) { return all({condition(value), rest}); }
  const ValueTable::Others& others_of(const ObjectAtom& atom) const;
  bool is_wide(ObjectId f) const;
  ByName& by_name(ObjectId f, const Work& work);
  ObjectId atom_after_name(ObjectId f, const ObjectAtom& atom, NameId name, const Work& work);
  ObjectId atom_after_other(ObjectId f, const ObjectAtom& atom, const NameClass& other);
  ObjectId after_one(const ObjectAtom& count);
  bool is_about(const ObjectAtom& atom, NameId name, const Work& work);
  bool is_in(NameId name, LanguageId language, const Work& work);
  NameClasses classes_of(const counted::vector<LanguageId>& languages, const Work& work);

  ValueSets& sets_;
  StringTexts& texts_;
  counted::unordered_map<std::uint64_t, Branches> branches_;         // by formula and name
  counted::unordered_map<std::uint32_t, NameClasses> name_classes_;  // by formula
  counted::map<counted::vector<LanguageId>, NameClasses> classes_of_languages_;
  counted::unordered_map<std::uint32_t, ByName> by_name_;  // by formula: few
  counted::unordered_map<std::uint64_t, bool> is_in_;      // by name and language
};

}  // namespace tokamata::json

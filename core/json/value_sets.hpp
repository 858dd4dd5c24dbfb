// Sets of JSON values, closed under Boolean operations.
//
// Problem.  A schema says of one value many things at once, under `allOf`, `anyOf`, `oneOf` and `not`; which texts
// spell a value of which all of that is true?
// Example.  all(types(string or number), not(string of [a-z]*)) is: all numbers; strings of something but [a-z]*.
// How.  A set falls into *parts*, one for each type of value, and every operation works on each by itself: null,
// false and true are bits; strings and numbers are regular languages, of which the engine knows intersection and
// complement; arrays and objects are formulas about their elements and members (array_formulas, object_formulas),
// which name further sets.  So a set is never expanded deeper than a text goes into it.
// Which sets are empty is a least fixed point: a value is finite.  It is searched depth first; what was found empty
// only because a set around it was still being examined is not remembered.
// Source.  Negation by type and element: Attouche, Baazizi, Colazzo, Ghelli, Sartiani and Scherzinger, "Witness
// Generation for JSON Schema", VLDB 2022, who bring a whole schema into such a form before they look for a value;
// here each formula is worked out when a text comes to it.
// Not taken: disjunctive normal forms of whole schemas (exponential, and nobody asks for most of them).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "json/array_formulas.hpp"
#include "json/number_terms.hpp"
#include "json/object_formulas.hpp"
#include "json/style.hpp"
#include "json/text_lengths.hpp"

namespace tokamata::json {

class ValueSets {
 public:
  // `within`: spellings that strings are made of, beside what sets say; null: all.
  ValueSets(std::shared_ptr<const ValueTable> table, Spelling spelling, ExpressionPtr within = nullptr);

  const ValueTable& table() const { return *table_; }
  ArrayFormulas& arrays() { return arrays_; }
  ObjectFormulas& objects() { return objects_; }

  // ---- sets ----
  SetId set_of(ValueNode node);
  SetId all(std::vector<SetId> sets) { return formulas_.all(std::move(sets)); }
  SetId any(std::vector<SetId> sets) { return formulas_.any(std::move(sets)); }
  SetId negate(SetId set) { return formulas_.negate(set); }
  const Formulas<SetTag>& formulas() const { return formulas_; }
  // The set of one value, given in canonical form (canonical_value.hpp).
  SetId constant(const std::string& canonical);

  // The values of a set that lists them: constants, enumerations, and what these have in common; nothing where it says
  // more, or there are more than 1,000.  Valid as long as this is (value_lists.cpp).
  struct Listed {
    std::string value;  // in canonical form
    SetId set;          // what the schema calls this value alone; kFalse where it does not
  };
  const counted::vector<Listed>* listed(SetId set);

  struct Parts {
    std::uint8_t simple;   // of kNull, kFalse, kTrue
    ExpressionId strings;  // spelled, without quotes; kEmpty where there is none
    ExpressionId numbers;
    ArrayId arrays;
    ObjectId objects;
    NumberTerms number_terms;                 // the numbers, where they are a union of ranges
    std::optional<TextLengths> text_lengths;  // the strings, where they are defined by their lengths
  };
  const Parts& parts(SetId set, const Work& work);
  // Bytes of the text of some value of the set; nothing where there is none.
  std::optional<std::uint32_t> some_length(SetId set, const Work& work);
  // No text of the set is shorter.  Values that are nested deeper than `depth` count as one byte, so that the bound
  // does not depend on earlier calls.
  std::uint32_t least_length(SetId set, std::uint32_t depth, const Work& work);
  bool lives(SetId set, const Work& work) { return some_length(set, work).has_value(); }
  // How often a search came upon a set that it was in the middle of: what it found empty may not be.
  std::uint64_t taints() const { return taints_; }
  // Whether, of every value that can be written, the set or its complement has the text.  Not so where an
  // integer is required in plain or natural spelling: 1.0 is no text of it, nor of its complement.
  bool is_exact(SetId set);

  // ---- how many: value_counts.cpp ----
  // The number of values of a set, at most `most`.  Equal values are one, however they may be written.
  std::uint64_t count(SetId set, std::uint64_t most, const Work& work);
  using Kinds = std::shared_ptr<const counted::vector<ValueKind>>;
  // The kinds of values that some sets distinguish.  Values in none of the sets are a kind too, if `with_outside`.
  Kinds kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work);
  // Whether a value, in canonical form, is in the set.
  bool has(SetId set, const std::string& canonical, const Work& work);

  // The names that the schema of a set declares.
  using Order = std::shared_ptr<const NameOrder>;
  Order order(SetId set);

  // ---- texts of strings ----
  ExpressionId all_texts(const Work& work);
  ExpressionId intersect_texts(std::vector<ExpressionId> texts, const Work& work);
  ExpressionId complement_texts(ExpressionId texts, const Work& work);
  // `wanted`: in natural spelling, a set of texts that no one escapes is spelled plainly; what is denied is denied in
  // every spelling.
  ExpressionId spelled(LanguageId language, bool wanted, const Work& work);
  // Whether some writer escapes something in them.
  bool is_escaped(LanguageId language);
  bool is_escaped(NameId name) const;
  ExpressionId unspelled(LanguageId language, const Work& work);
  // A name after its first quote, in plain spelling; valid as long as this is.
  std::string_view spelled_name(NameId name);
  // The name that a spelling between quotes is of.
  std::string read_name(const std::string& spelled_text) const;
  // One spelling for each text.
  ExpressionId plain_texts(ExpressionId language, const Work& work);
  // What is left of a language without the spellings of some texts.
  ExpressionId without_texts(ExpressionId language, const std::vector<std::string>& texts, const Work& work);

  void forget_expressions();

 private:
  struct Universe {
    ExpressionId strings, numbers;
    ExpressionId within;  // strings that may be written
  };
  ValueTable& own_table();
  using List = std::optional<counted::vector<Listed>>;
  const counted::vector<Listed>* listed(SetId set, unsigned nesting);
  List list_of(SetId set, unsigned nesting);
  List list_of_node(ValueNode node, unsigned nesting);
  List united(const std::vector<SetId>& sets, unsigned nesting);
  List narrowed(const std::vector<SetId>& sets, unsigned nesting);
  const Universe& universe(const Work& work);
  const Parts& parts_of_node(ValueNode node, bool wanted, const Work& work);
  Parts make_parts(ValueNode node, bool wanted, const Work& work);
  Parts all_parts(const std::vector<Parts>& parts, const Work& work);
  Parts any_parts(const std::vector<Parts>& parts, const Work& work);
  Parts one_parts(const std::vector<Parts>& wanted, const std::vector<Parts>& denied, const Work& work);
  Parts complement_parts(const Parts& parts, const Work& work);
  Parts everything(const Work& work);
  Parts parts_of_formula(SetId set, bool wanted, const Work& work);
  SetId as_listed(SetId set, const Work& work);
  ExpressionId numbers(const NumberTerms& terms, const Work& work, bool is_unsigned = false);
  bool has_negative(const Parts& parts, const Work& work);
  ExpressionId without_minus(const Parts& parts, const Work& work);
  ExpressionId strings(const TextLengths& lengths, const Work& work);
  void set_strings(Parts& parts, std::optional<TextLengths> lengths, ExpressionId otherwise, const Work& work);
  // Numbers that are given otherwise where they are not written as terms.
  void set_numbers(Parts& parts, NumberTerms terms, ExpressionId otherwise, const Work& work);
  ExpressionId complement(ExpressionId part, ExpressionId universe, const Work& work);
  ExpressionId intersect(std::vector<ExpressionId> parts, ExpressionId universe, const Work& work);
  std::optional<std::uint32_t> find_length(SetId set, const Work& work);
  std::uint64_t count_up_to(SetId set, std::uint64_t most, const Work& work);
  std::uint64_t find_count(SetId set, std::uint64_t most, const Work& work);
  bool is_denial(SetId set) const { return formulas_.operation(set) == Operation::Not; }
  // The values of a set that lists them, or denies those that are listed.
  const counted::vector<Listed>* listed_or_denied(SetId set) {
    return listed(is_denial(set) ? formulas_.body(set) : set);
  }
  std::vector<ValueKind> listed_kinds(const std::vector<SetId>& sets, const std::vector<std::size_t>& lists);
  std::uint64_t count_integers(ExpressionId numbers, std::uint64_t most, const Work& work);
  std::uint64_t count_numbers(ExpressionId numbers, std::uint64_t most, const Work& work);
  void collect_names(ValueNode node, std::vector<bool>& seen, std::vector<bool>& is_listed,
                     counted::vector<NameId>& declared, std::vector<NameId>& mentioned) const;

  std::shared_ptr<const ValueTable> table_;
  std::shared_ptr<ValueTable> own_table_;  // with the constants that texts hold, and the levels they come to
  std::uint32_t schema_size_;              // nodes before it are the schema's
  counted::unordered_map<std::string, SetId> constants_;
  counted::unordered_map<std::uint32_t, List> listed_;
  Spelling spelling_;
  ExpressionPtr within_;
  Formulas<SetTag> formulas_;
  ArrayFormulas arrays_;
  ObjectFormulas objects_;
  std::optional<Universe> universe_;
  counted::unordered_map<std::uint64_t, Parts> node_parts_;  // by node, and whether wanted
  counted::unordered_map<std::uint32_t, Parts> parts_;
  enum class Search : std::uint8_t { Busy, Done };
  struct Length {
    Search search;
    std::optional<std::uint32_t> length;
  };
  counted::unordered_map<std::uint32_t, Length> lengths_;
  counted::unordered_map<std::uint64_t, std::uint32_t> least_lengths_;  // by set and depth
  struct Counted {
    Search search;
    std::uint64_t count, most;
  };
  counted::unordered_map<std::uint32_t, Counted> counts_;
  counted::map<std::pair<std::vector<SetId>, bool>, Kinds> kinds_;
  counted::unordered_map<std::uint64_t, bool> has_;  // by sets, the second of which is that of a string
  std::uint64_t taints_ = 0;
  std::uint32_t depth_ = 0;
  counted::unordered_map<std::uint32_t, bool> exact_;
  counted::unordered_map<std::uint32_t, Order> orders_;
  counted::unordered_map<std::uint64_t, ExpressionId> spelled_;  // by language, and whether in any spelling
  counted::unordered_map<std::uint32_t, ExpressionId> unspelled_;
  counted::unordered_map<std::uint32_t, bool> escaped_;  // by language
  counted::unordered_map<std::uint32_t, std::string> spelled_names_;
};

}  // namespace tokamata::json

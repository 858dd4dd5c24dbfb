// JSON texts of a set of values, as rules.
//
//   value      a value of a set, with the space that may stand before it
//   elements   what follows the bracket of an array, or an element of it
//   members    what follows the brace of an object, or a member of it
//   name       the rest of a declared name, up to its quote, and everything that follows in its object
//   other      the same for an undeclared name; its text is kept, since no name may be repeated
//   after      what follows the quote of an undeclared name, in an over-approximation
//   recorded   the rest of an element that must differ from those before it, and everything that follows in its array
//
// Example.  {"type": "object", "properties": {"a": …}, "additionalProperties": false}, after `{"`: name(a) · ε, then
// after `a"`:  `:` value(…) members · ε.
//
// Problem.  A push-down automaton cannot require that names, or elements, differ: the states must keep what was
// written.  So every prefix of such a name or element is a state of its own.  All other rules are determined by the
// formula that remains.  What was written is a set of texts and the current text; states refer to them by number
// (texts.hpp).  Whether an element can still differ from the earlier ones: json_elements.cpp.
// Over-approximations (expression/rules.hpp) forget names and elements that begin within the current token: these may
// repeat an earlier one, and everything after their end is unverified.
// White space and indents: layout.hpp.
//
// The members of an object, and in some styles the elements of an array, may stand between tags in place of JSON
// (tag_style.hpp, tagged_members.hpp).  The rules are the same: which names may come, what was written, and what is
// forgotten does not depend on what stands around a name.  A rule of members or elements is one more of them then, with
// all that follow it: an object that may end has no bracket, and no rule accepts the empty text.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/memory_account.hpp"
#include "json/layout.hpp"
#include "json/tagged_members.hpp"
#include "json/texts.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// All JSON texts, in a style, of a set of values.
class JsonRuleSet : public RuleSet {
 public:
  // Throws std::invalid_argument if the table is incomplete.
  JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
              std::shared_ptr<const TagStyle> tags = nullptr, ExpressionPtr within = nullptr);
  std::unique_ptr<Rules> make(std::uint32_t source) const override;
  ByteSet bytes() const override;
  ByteSet class_borders() const override;
  ByteSet distinguished() const override;
  bool spells(std::string_view part) const override;
  // Bytes that end a string or a container, or continue in one.
  std::string_view ending_bytes() const override { return tags_ ? "\"}],:01</>" : "\"}],:01"; }
  ByteSet separators() const override { return tags_ ? ByteSet::range(0, 255) : ByteSet::range(',', ','); }
  // Of names.  An element that has not begun is kept as one that has.
  ByteSet openers() const override { return tags_ ? ByteSet::range(0, 255) : ByteSet::range('"', '"'); }
  std::set<std::string> control_tokens() const override;

 private:
  std::shared_ptr<const ValueTable> table_;
  ValueNode root_;
  Style style_;
  std::shared_ptr<const TagStyle> tags_;
  ExpressionPtr within_;
};

class JsonRules : public RememberingRules {
 public:
  // `tags`: the root is an object whose members stand between tags.  `within`: what the spellings of strings and of
  // undeclared names are in; null: all.
  JsonRules(std::uint32_t source, std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
            std::shared_ptr<const TagStyle> tags = nullptr, ExpressionPtr within = nullptr);

  // If two alternatives may read a value, each level of the text would double the readings.
  bool joins() const override { return true; }
  ExpressionId start(Arena& arena, Budget& budget) override;
  About about(RuleId rule) const override { return abouts_[rule.value]; }
  ExpressionId derivative(RuleId rule, std::uint8_t byte, Arena& arena, Budget& budget) override;
  ByteSet first_bytes(RuleId rule, Arena& arena, Budget& budget) override;
  const ByteSet& may_begin(RuleId rule) const override;
  RuleId committed(RuleId rule, std::uint32_t choice) override;
  ExpressionId approximated(RuleId rule, Arena& arena, Budget& budget) override;
  std::vector<Approximation> approximations(RuleId rule, Arena& arena, Budget& budget) override;
  std::optional<ExpressionId> unfolded(RuleId rule, Arena& arena, Budget& budget) override;
  std::span<const std::string_view> strings(RuleId rule, Arena& arena, Budget& budget) override;
  ExpressionId after(RuleId rule, std::size_t string, Arena& arena, Budget& budget) override;
  std::uint32_t spelled_after(RuleId rule, std::size_t string) const override;
  std::optional<std::uint8_t> leaving_byte() const override;
  ExpressionId after_leaving(RuleId rule, std::size_t low, std::size_t high, std::size_t depth, Arena& arena,
                             Budget& budget) override;
  std::optional<std::string> awaited(RuleId rule, Arena& arena, Budget& budget) override;
  void begin_anew() override;
  RuleId kept(RuleId before) override;
  void all_kept() override;
  void keep_all() override;

 private:
  enum class Form : std::uint32_t { Value, Elements, Members, Name, Other, After, Recorded };
  // Approximation and Unverified serve masks: a name that is not declared is any text, and what is taken of these is
  // refused elsewhere, so that all objects share the segments of that text.  Relaxed serves searches, which see one
  // expression alone: there such a name is not a declared one, and nothing waits.
  enum class Mode : std::uint8_t { Exact, Approximation, Unverified, Relaxed };
  // Where a rule stands.
  struct Line {
    Indent indent;
    Mode mode = Mode::Exact;
    bool operator==(const Line&) const = default;
    Line deeper() const { return {indent.deeper(), mode}; }
    Line of(Mode other) const { return {indent, other}; }
  };
  struct Rule {
    Form form;
    std::uint32_t subject;   // Value: set; Elements, Recorded: array; Members, Name, Other: object
    std::uint32_t low = 0;   // Value: gap; Elements, Members: whether it is the first; Name: range of names;
                             // Other: whether it is settled; Recorded: that, and what it begins as
    std::uint32_t high = 0;  // Other: class; Recorded: set of the element
    // Name: bytes so far; Other: the text so far, both in plain spelling; Recorded: the text so far
    std::uint32_t record = 0;
    Line line;
    TextId escape = Texts::kEmpty;  // Name, Other: the text so far of an escape that is begun
    bool operator==(const Rule&) const = default;
  };
  static std::uint64_t hash_of(const Rule& rule);
  // The current array: the formula that remains, and the elements so far in canonical form, if they must differ.
  struct Array {
    ArrayId rest;
    TextSetId seen;
    bool is_tagged = false;  // its elements stand between tags
    bool operator==(const Array&) const = default;
  };
  struct Object {
    ObjectId rest;
    std::uint32_t order;     // of orders_
    std::uint32_t written;   // of place_sets_: names of the order
    TextSetId others;        // names that are not declared, in plain spelling
    bool is_tagged = false;  // its members stand between tags
    bool operator==(const Object&) const = default;
  };
  struct Order {
    ValueSets::Order names;
    TextSetId spelled;
  };
  // The names that may follow, as they are spelled, sorted; and the least text that follows each.
  //
  // Where a required name is due (ObjectFormulas::Next), a late name is refused at the byte where it leaves the due
  // one: the text that is accepted then may still become the due name, which every value has.  But where a name that
  // may come has that byte too, the text could become that name alone, and a value without it would be lost.  So after
  // that byte late names and undeclared ones may come as well.
  // Example.  Due `temp`; `tag` may come, `tact` and undeclared names are late.  After `t` there is `e` for temp and
  // `a`; after `ta` every name may go on.  `x` is refused.
  struct Choice {
    struct Name {
      std::string_view spelled;  // with the quote after it
      NameId name;
      std::uint32_t place;
      std::uint32_t length;
      bool is_late;
    };
    // Where plain spellings of names that may come leave the due one: after so many bytes, by a byte.
    struct Fork {
      std::uint32_t shared;
      char byte;
      auto operator<=>(const Fork&) const = default;
    };
    counted::vector<Name> names;
    std::optional<std::uint32_t> due;       // of these names
    counted::vector<Fork> forks;            // sorted
    counted::vector<std::uint32_t> listed;  // where a name is due: those that may be read whole in plain spelling
    // classes of other names that may come, and lengths
    counted::vector<std::pair<std::uint32_t, std::uint32_t>> others;
    bool are_escaped;  // whether they may be spelled in any way, or plainly alone
    // With some name of a class.
    std::uint32_t length_of(std::uint32_t name_class) const {
      for (const auto& [number, length] : others)
        if (number == name_class) return length;
      return 0;
    }
  };

  // The rest of a name, and whether it can no longer become an earlier name.
  struct Name {
    ExpressionId rest;
    bool is_settled;
  };

  RuleId rule(const Rule& rule, std::uint32_t spelled, std::uint32_t shortest = 1);
  bool is_tagged(const Rule& rule) const {
    if (rule.form == Form::Value) return false;
    const bool is_of_array = rule.form == Form::Elements || rule.form == Form::Recorded;
    return is_of_array ? arrays_[rule.subject].is_tagged : objects_[rule.subject].is_tagged;
  }
  // About::shortest of relaxed rules; 1 of others, which serve no search by lengths.
  std::uint32_t least_of_members(std::uint32_t object, bool is_first, const Line& line, const Work& work);
  std::uint32_t least_of_name(std::uint32_t object, NameId name, const Line& line, const Work& work);
  std::uint32_t least_after_other(std::uint32_t object, const Line& line, const Work& work);
  ExpressionId name_expression(const Rule& name, const Work& work);
  bool awaits(const Rule& rule, const Choice& choice) const;
  std::pair<std::uint32_t, std::uint32_t> strings_of(const Rule& rule, const Choice& choice) const;
  std::uint32_t name_of_string(const Rule& rule, std::size_t string, const Choice& choice) const;
  void set_due(Choice& choice, std::uint32_t place) const;
  ExpressionId opened(const Rule& rule, const Work& work);
  template <class Visit>
  void visit_forks(const Rule& rule, Visit&& visit, const Work& work);
  ExpressionId approximate_late(const Rule& rule, std::uint32_t name_class, const Name& name, const Work& work);
  ExpressionId approximate_late_names(const Rule& rule, const Work& work);
  ExpressionId approximate_declared(RuleId rule, const Work& work);
  std::vector<Approximation> approximations_of_declared(RuleId rule, const Work& work);
  ExpressionId expression(RuleId rule, const Work& work) { return work.arena.rule(source(), rule); }
  ExpressionId expanded(RuleId rule, const Work& work);
  bool is_opened_for_approximation(const Rule& rule);
  ExpressionId expand_value(const Rule& rule, const Work& work);
  ExpressionId derive_name(const Rule& rule, std::uint8_t byte, const Work& work);
  std::uint32_t shortest_with(const Choice::Name& name, std::uint32_t object, std::size_t read, const Line& line,
                              const Work& work);
  ExpressionId derive_escape(const Rule& rule, std::uint8_t byte, const Work& work);
  ByteSet bytes_of_name(const Rule& rule, const Work& work);
  ExpressionId after_name_of(const Rule& rule, std::size_t place, const Work& work);
  ExpressionId derive_other(RuleId rule, std::uint8_t byte, const Work& work);

  ExpressionId quoted(ExpressionId strings, const Work& work) const;
  ExpressionId value(SetId set, Gap gap, Line line, const Work& work);
  ExpressionId closed(char bracket, Indent indent, bool is_empty, const Work& work);
  // Everything from here to the end of the text is unverified.
  ExpressionId unverified_from(ExpressionId expression, const Work& work) const {
    return work.arena.concatenate(work.arena.commit(kUnverified), expression);
  }

  // ---- members between tags: tagged_members.cpp ----
  ExpressionId tagged_start(const Work& work);
  ExpressionId tagged_members(std::uint32_t object, Line line, const Work& work);
  ExpressionId expand_tagged_members(const Rule& rule, const Work& work);
  ExpressionId tagged_elements(std::uint32_t array, Line line, const Work& work);
  ExpressionId expand_tagged_elements(const Rule& rule, const Work& work);
  ExpressionId tagged_value(SetId set, bool is_element, ExpressionId after_closing, Line line, const Work& work);
  ExpressionId after_tagged_name(const ObjectFormulas::Branches& ways, Object rest, ExpressionId after_closing,
                                 Line line, const Work& work);

  // ---- members: json_members.cpp ----
  // Before and after a name.
  ExpressionId name_opening(std::uint32_t object, const Work& work);
  std::uint8_t name_end(const Object& object) const { return object.is_tagged ? tags_->name_end() : '"'; }
  // Whether an over-approximation forgets what the text needs to have of an undeclared name: the closing repeats it.
  bool is_forgotten(const Object& object) const { return object.is_tagged && tags_->closes_by_name(); }
  // Of a class of names that are not declared those that can be written.
  ExpressionId names_of(const Object& object, const ObjectFormulas::NameClass& of, const Work& work);
  ExpressionId expand_members(const Rule& rule, const Work& work);
  ExpressionId members(std::uint32_t object, bool is_first, Line line, const Work& work);
  ExpressionId names(std::uint32_t object, Line line, const Work& work);
  ExpressionId other_name(Rule wanted, const Name& name, const Work& work);
  ExpressionId relaxed_names(std::uint32_t object, std::uint32_t name_class, const Work& work);
  ExpressionId relaxed_other_name(std::uint32_t object, std::uint32_t name_class, Line line, const Work& work);
  Name begun_name(const Object& object, std::uint32_t name_class, const Work& work);
  Name checked_name(Name name, const Object& object, std::uint32_t name_class, TextId record, TextId escape,
                    const Work& work);
  Name settled_name(Name name, const Object& object, std::uint32_t name_class, TextId record, TextId escape,
                    const Work& work);
  Name name_after(const Object& object, std::uint32_t name_class, TextId record, TextId escape, const Work& work);
  Name name_so_far(const Rule& other, const Work& work);
  std::vector<std::string> taken_below(const Object& object, TextId record) const;
  std::uint64_t taken_count(const Object& object, TextId record) const;
  bool is_taken(const Object& object, TextId spelled) const;
  bool is_any_name(std::uint32_t object, std::uint32_t name_class, const Work& work);
  bool is_any_name(const Rule& other, const Work& work) { return is_any_name(other.subject, other.high, work); }
  std::uint32_t approximate_object(std::uint32_t object, const Work& work);
  ExpressionId after_name(const ObjectFormulas::Branches& ways, Object rest, Line line, const Work& work);
  Object after_declared(Object object, const Choice::Name& name);
  void add_approximate_others(const Rule& rule, std::vector<ExpressionId>& ways, const Work& work);
  ExpressionId approximate_other(std::uint32_t object, std::uint32_t name_class, ExpressionId names, Gap gap,
                                 bool is_unverified, Line line, const Work& work);
  Approximation approximate_name(const Rule& other, bool is_unverified, const Work& work);
  void add_taken(const Object& object, TextId record, TextId escape, std::optional<ExpressionId> rest,
                 const std::string& lead, Approximation& approximation, const Work& work);
  ExpressionId expand_after(const Rule& rule, const Work& work);
  const Choice& choice(std::uint32_t object, const Work& work);
  // In natural spelling: where one of the names that may come next is escaped by some writer.
  bool are_escaped(const Object& object, const Choice& next, const Work& work);
  ObjectFormulas::Room room(const Object& object) const;

  // ---- elements: json_elements.cpp ----
  // What an element begins as; of a container, whether it is inside of a string, and there after a backslash.
  enum class Part : std::uint32_t { Blank, String, Number, Word, Container, Within, WithinEscape };
  static bool is_container(Part part) { return part >= Part::Container; }
  // The rest of an element, its set, its kind, and whether it can no longer become an earlier element.
  struct Element {
    ExpressionId rest;
    SetId set;
    Part part;
    bool is_settled;
  };
  ExpressionId expand_elements(const Rule& rule, const Work& work);
  ExpressionId elements(std::uint32_t array, bool is_first, Line line, const Work& work);
  ExpressionId approximate_element(const Branch<ArrayTag>& way, bool is_first, Line line, const Work& work);
  ExpressionId derive_recorded(RuleId rule, std::uint8_t byte, const Work& work);
  ExpressionId recorded(std::uint32_t array, const Element& element, TextId record, Line line, const Work& work);
  std::uint64_t bytes_after(std::uint32_t array_number, SetId set, std::uint64_t element, const Work& work);
  ExpressionId after_recorded(RuleId rule, const Work& work);
  Element element_after(Element element, const Array& array, TextId record, std::uint8_t byte, Line line,
                        const Work& work);
  Element element_so_far(const Rule& recorded, const Work& work);
  ExpressionId rest_of_element(SetId set, std::string_view text, Line line, const Work& work);
  static Part part_after(Part part, std::uint8_t byte);
  bool ends_in_exponent(TextId record) const;

  // ---- tokens that may end elements like earlier ones: unverified_elements.cpp ----
  class AlongElements;
  std::vector<Approximation> approximate_recorded(const Rule& rule, const Work& work);
  bool is_of_all_strings(SetId set, const Work& work);

  // ---- elements that one under way may become equal to: like_elements.cpp ----
  struct Like {
    std::vector<TextSetId> sets;
    std::vector<TextId> texts;
  };
  // A superset of the earlier elements that a text may become equal to.
  Like like(TextSetId seen, std::string_view begun) const;
  static Like like_number(const TextSets& sets, TextSetId seen, std::string_view begun);
  // What is whole of a string that is begun, its first quote included, in plain spelling; and the escape that is begun.
  struct BegunString {
    std::string plain;
    std::string_view escape;
  };
  static BegunString begun_string(std::string_view begun);
  Like like_container(TextSetId seen, std::string_view begun) const;
  Like equal_to(TextSetId seen, std::string_view canonical) const;
  // Those of a container that have all that is complete in it, at each level.  `is_last_digit`: a number cannot go on.
  Like narrowed(const Like& like, std::string_view begun, bool is_last_digit) const;
  std::uint64_t size(const Like& like) const;
  std::vector<std::string> strings(const Like& like) const;
  void note_members(TextId element);
  TextSetId moved(TextSetId before);

  // ---- how many texts and values there are: values_left.cpp ----
  // Whether more than so many values can still be written; false if that is not known.
  static constexpr std::uint32_t kLevels = 6;                     // of nested values that lower bounds count
  static constexpr std::uint64_t kMany = std::uint64_t{1} << 40;  // more than any text holds
  bool has_more(ExpressionId rest, Part part, std::uint64_t than, const Work& work);
  std::uint64_t values_left(ExpressionId rest, Part part, std::uint64_t most, const Work& work);
  std::uint64_t values_of_container(ExpressionId rest, bool is_in_string, std::uint64_t most, const Work& work);
  std::uint64_t values_in(const Rule& rule, std::uint64_t most, const Work& work);
  std::uint64_t values_after(const Object& object, const Choice::Name& name, std::uint64_t most, const Work& work);
  std::uint64_t values_of_members(const Object& object, std::uint64_t most, const Work& work);
  // Texts, to be marked where that is so no more.
  class UnverifiedAlong;
  std::shared_ptr<const TextTree> unverified_along(std::shared_ptr<const TextTree> texts, ExpressionId rest,
                                                   std::uint64_t than, const Work& work);
  // Whether that stays so to the very end of the outermost container.
  bool is_endless(ExpressionId rest, const Work& work);
  bool is_endless(const Rule& rule, const Work& work);
  bool is_endless(ArrayId f, const Work& work);
  bool takes_names_for_ever(const Object& object, const Work& work);

  // ---- memory ----
  void swap_with_before();
  void forget_memos();

  // What a rule stands for, or what may still be written of what it keeps; kEmpty, which none stands for, where that is
  // not known.
  ExpressionId& made(RuleId rule);

  std::uint32_t array_number(const Array& array);
  std::uint32_t object_number(const Object& object);
  std::uint32_t order_number(const ValueSets::Order& order);
  WrittenTexts written(TextSetId set) const { return {&text_sets_, set, nullptr}; }

  ValueNode root_;
  Style style_;
  Layout layout_;
  ValueSets sets_;
  std::unique_ptr<TaggedMembers> tags_;  // null: all is JSON
  std::vector<std::string_view> strings_;
  counted::vector<Rule> rules_;
  counted::vector<About> abouts_;
  NumberTable rule_index_, array_index_, object_index_;
  counted::vector<ExpressionId> made_;  // by rule
  counted::vector<Array> arrays_;
  counted::vector<Object> objects_;
  counted::unordered_map<std::uint32_t, Choice> choices_;  // by object
  // by array and the set of the element under way
  counted::unordered_map<std::uint64_t, ArrayFormulas::After> afters_;
  counted::unordered_map<std::uint64_t, ExpressionId> relaxed_names_;  // by order and names of a class
  counted::vector<Order> orders_;
  counted::unordered_map<const NameOrder*, std::uint32_t> order_index_;
  counted::vector<PlaceSet> place_sets_;
  counted::map<PlaceSet, std::uint32_t> place_set_index_;
  Texts texts_;  // names and elements, under way and written
  TextSets text_sets_{texts_};
  // elements, by the text of a member
  counted::unordered_map<std::uint32_t, counted::vector<TextId>> objects_with_;
  counted::unordered_set<std::uint32_t> noted_;  // elements that are in it
  // What there was before the rules began again, as long as some of them are to be kept.
  struct Before {
    counted::vector<Rule> rules;
    counted::vector<About> abouts;
    counted::vector<Array> arrays;
    counted::vector<Object> objects;
    counted::vector<Order> orders;
    NumberTable rule_index, array_index, object_index;
    Texts texts;
    TextSets sets{texts};
    counted::unordered_map<std::uint32_t, counted::vector<TextId>> objects_with;
    counted::unordered_set<std::uint32_t> noted;
    Texts::Moved moved_texts = {};
    TextSets::Moved moved_sets = {};
    std::unordered_set<std::uint32_t> met = {};  // sets of elements whose members are noted
  };
  std::unique_ptr<Before> before_;
  struct Counted {
    std::uint64_t found = 0, most = 0;
  };
  counted::unordered_map<std::uint64_t, Counted> values_left_;  // by what may still be written, and part
  std::optional<std::pair<RuleId, ExpressionId>> ended_;        // the element that ended last, and what follows it
};

}  // namespace tokamata::json

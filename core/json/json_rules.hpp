// JSON texts of a set of values, as rules.
//
//   value      a value of a set, with the space that may stand before it
//   elements   what follows the bracket of an array, or an element of it
//   members    what follows the brace of an object, or a member of it
//   name       a declared name under way, up to its quote, and all that follows in its object
//   other      another name under way, likewise; what it is called is kept, since no name comes twice
//   after      what follows the quote of another name, in a sketch
//   recorded   an element under way that must differ from those before it, and all that follows in its array
//
// Example.  {"type": "object", "properties": {"a": …}, "additionalProperties": false}, after `{"`: name(a) · ε, then
// after `a"`:  `:` value(…) members · ε.
//
// Problem.  That names differ, and elements that must, is more than a push-down automaton can say: the states carry
// what was written.  So every prefix of such a name, and of such an element, is a state of its own; all else is
// told by what is still to be fulfilled alone.
// Sketches (expression/rules.hpp) forget what was written within the token at hand: a name or an element that is begun
// in it may be one that was there before, and behind its end all is suspect.
// White space and indents: layout.hpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/layout.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// All JSON texts, in a style, of a set of values.
class JsonRuleSet : public RuleSet {
 public:
  // Throws std::invalid_argument where the table is not whole.
  JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style);
  std::unique_ptr<Rules> make(std::uint32_t source) const override;
  ByteSet bytes() const override;
  ByteSet class_borders() const override;
  ByteSet told_apart() const override;

 private:
  std::shared_ptr<const ValueTable> table_;
  ValueNode root_;
  Style style_;
};

class JsonRules : public Rules {
 public:
  JsonRules(std::uint32_t source, std::shared_ptr<const ValueTable> table, ValueNode root, Style style);

  // Where a value may be read by two alternatives, each level of the text doubles the readings.
  bool joins() const override { return true; }
  ExpressionId start(Arena& arena, Budget& budget) override;
  About about(RuleId rule) const override { return abouts_[rule.value]; }
  ExpressionId derivative(RuleId rule, std::uint8_t byte, Arena& arena, Budget& budget) override;
  ByteSet first_bytes(RuleId rule, Arena& arena, Budget& budget) override;
  const ByteSet& may_begin(RuleId rule) const override;
  RuleId committed(RuleId rule, std::uint32_t choice) override;
  ExpressionId sketched(RuleId rule, Arena& arena, Budget& budget) override;
  std::vector<Sketch> sketches(RuleId rule, Arena& arena, Budget& budget) override;
  std::optional<ExpressionId> unfolded(RuleId rule, Arena& arena, Budget& budget) override;
  std::span<const std::string_view> strings(RuleId rule, Arena& arena, Budget& budget) override;
  ExpressionId behind(RuleId rule, std::size_t string, Arena& arena, Budget& budget) override;
  std::uint32_t spelled_behind(RuleId rule, std::size_t string) const override;
  void forget_expressions() override;
  std::size_t memory_bytes() const override;

 private:
  enum class Form : std::uint32_t { Value, Elements, Members, Name, Other, After, Recorded };
  enum class Mode : std::uint8_t { Exact, Sketch, Suspect };
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
    std::uint32_t subject;    // Value: set; Elements, Recorded: array; Members, Name, Other: object
    std::uint32_t low = 0;    // Value: gap; Elements, Members: whether it is the first; Name: range of names;
    std::uint32_t high = 0;   // Other: class; Recorded: set of the element
    std::uint32_t record = 0; // Name: bytes so far; Other, Recorded: what was written
    Line line;
    bool operator==(const Rule&) const = default;
  };
  struct RuleHash {
    std::size_t operator()(const Rule& rule) const;
  };
  // An array under way: what remains, and the elements so far where they must differ (sorted, canonical).
  struct Array {
    ArrayId rest;
    std::uint32_t seen;  // of texts_sets_
    bool operator==(const Array&) const = default;
  };
  struct Object {
    ObjectId rest;
    std::uint32_t order;    // of orders_
    std::uint32_t next;     // names before it do not come any more
    std::uint32_t written;  // of name_sets_
    std::uint32_t others;   // of texts_sets_
    bool operator==(const Object&) const = default;
  };
  // The names that may come next, as they are spelled, sorted; how much text follows each at least.
  struct Choice {
    struct Name {
      std::string_view spelled;  // with the quote behind it
      NameId name;
      std::uint32_t place;
      std::uint32_t length;
    };
    std::vector<Name> names;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> others;  // classes of other names that may come, and lengths
    std::uint32_t length_of(std::uint32_t name_class) const {
      for (const auto& [number, length] : others)
        if (number == name_class) return length;
      return 0;
    }
  };

  static constexpr std::uint32_t kDeclared = ~std::uint32_t{0};  // in place of a class of other names
  // Of lengths that may be unspelled.
  static std::uint32_t capped_sum(std::uint64_t a, std::uint64_t b) {
    if (a >= ExpressionNode::kUnspelled || b >= ExpressionNode::kUnspelled) return ExpressionNode::kUnspelled;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, ExpressionNode::kUnspelled - 1));
  }

  RuleId rule(const Rule& rule, std::uint32_t spelled);
  ExpressionId expression(RuleId rule, const Work& work) { return work.arena.rule(source(), rule); }
  ExpressionId expanded(RuleId rule, const Work& work);
  ExpressionId expand_value(const Rule& rule, const Work& work);
  ExpressionId expand_elements(const Rule& rule, const Work& work);
  ExpressionId expand_members(const Rule& rule, const Work& work);
  ExpressionId derive_name(const Rule& rule, std::uint8_t byte, const Work& work);
  ExpressionId after_name_of(const Rule& rule, std::size_t place, const Work& work);
  ExpressionId derive_other(RuleId rule, std::uint8_t byte, const Work& work);
  ExpressionId derive_recorded(RuleId rule, std::uint8_t byte, const Work& work);

  ExpressionId quoted(ExpressionId strings, const Work& work) const;
  ExpressionId value(SetId set, Gap gap, Line line, const Work& work);
  ExpressionId elements(std::uint32_t array, bool is_first, Line line, const Work& work);
  ExpressionId members(std::uint32_t object, bool is_first, Line line, const Work& work);
  ExpressionId names(std::uint32_t object, Line line, const Work& work);
  ExpressionId other_names(std::uint32_t object, std::uint32_t name_class, const std::string& record, Line line, const Work& work,
                           std::optional<ExpressionId> rest = std::nullopt);
  ExpressionId after_name(const ObjectFormulas::Branches& ways, Object rest, Line line, const Work& work);
  Object after_declared(Object object, const Choice::Name& name);
  void add_others_in_sketch(const Rule& rule, std::vector<ExpressionId>& ways, const Work& work);
  ExpressionId elements_in_doubt(const Branch<ArrayTag>& way, std::uint32_t seen, Line line, const Work& work);
  ExpressionId recorded(Array rest, SetId set, ExpressionId core, const std::string& record, Line line,
                        const Work& work);
  ExpressionId after_recorded(Array rest, const std::string& record, Line line, const Work& work);
  ExpressionId core(RuleId rule, const Work& work);
  std::vector<std::string> taken_rests(const Rule& other);
  ExpressionId other_in_sketch(std::uint32_t object, std::uint32_t name_class, ExpressionId names, Gap gap, bool is_suspect,
                               Line line, const Work& work);
  ExpressionId expand_after(const Rule& rule, const Work& work);
  // From here on all is suspect, to the end of the text.
  ExpressionId suspect_from(ExpressionId expression, const Work& work) const {
    return work.arena.concatenate(work.arena.commit(kSuspect), expression);
  }
  const Choice& choice(std::uint32_t object, const Work& work);
  ObjectFormulas::Room room(const Object& object) const;
  ExpressionId closed(char bracket, Indent indent, bool is_empty, const Work& work);

  std::uint32_t array_number(const Array& array);
  std::uint32_t object_number(const Object& object);
  std::uint32_t texts_number(std::vector<std::string> sorted);
  std::uint32_t record_number(const std::string& text);

  ValueNode root_;
  Style style_;
  Layout layout_;
  ValueSets sets_;
  std::vector<std::string_view> strings_;
  std::vector<Rule> rules_;
  std::vector<About> abouts_;
  std::unordered_map<Rule, std::uint32_t, RuleHash> rule_index_;
  std::unordered_map<std::uint32_t, ExpressionId> expanded_, cores_;  // by rule
  std::vector<Array> arrays_;
  std::vector<Object> objects_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> array_index_, object_index_;
  std::unordered_map<std::uint32_t, Choice> choices_;  // by object
  std::vector<ValueSets::Order> orders_;
  std::vector<std::vector<NameId>> name_sets_;
  std::map<std::vector<NameId>, std::uint32_t> name_set_index_;
  std::vector<std::vector<std::string>> text_sets_;
  std::map<std::vector<std::string>, std::uint32_t> text_set_index_;
  std::vector<std::string> records_;
  std::unordered_map<std::string, std::uint32_t> record_index_;
};

}  // namespace tokamata::json

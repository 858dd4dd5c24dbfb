#include "json/show.hpp"

#include "expression/byte_automaton.hpp"
#include "expression/show.hpp"

namespace tokamata::json {

namespace {

template <class Items, class Show>
std::string joined(const Items& items, std::string_view between, Show&& show_one) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : std::string(between)) + show_one(item);
  return text;
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string range_of(Count minimum, Count maximum) {
  return (minimum > 0 ? std::to_string(minimum) : "") + ".." + (maximum == kNoMaximum ? "" : std::to_string(maximum));
}

template <class Tag, class Atom>
std::string formula_text(const Formulas<Tag>& formulas, Id<Tag> f, Atom&& atom) {
  const auto one = [&](Id<Tag> operand) { return formula_text(formulas, operand, atom); };
  const auto all = [&](std::string_view name) {
    return std::string(name) + "(" + joined(formulas.operands(f), ", ", one) + ")";
  };
  switch (formulas.operation(f)) {
    case Operation::False: return "none";
    case Operation::True: return "any";
    case Operation::Atom: return atom(formulas.atom(f));
    case Operation::Not: return "not(" + one(formulas.body(f)) + ")";
    case Operation::All: return all("all");
    case Operation::Any: return all("any");
    case Operation::One: return all("one");
  }
  return {};
}

class Shown {
 public:
  explicit Shown(const SetFormulas& sets) : sets_(sets), table_(sets.table()) {}

  std::string set(SetId set) {
    return formula_text(sets_, set, [&](std::uint32_t atom) { return node({atom}); });
  }

  std::string array(const ArrayFormulas& arrays, ArrayId f) {
    return formula_text(arrays, f, [&](std::uint32_t number) -> std::string {
      const ArrayAtom& atom = arrays.atom_at(number);
      switch (atom.kind) {
        case ArrayAtom::Kind::Items: return of(std::get<ValueTable::Items>(table_.node({atom.subject})), atom.minimum);
        case ArrayAtom::Kind::Length: return of(ValueTable::ArrayLength{atom.minimum, atom.maximum});
        case ArrayAtom::Kind::Contains:
          return "contains(" + nested_set({atom.subject}) + ", " + range_of(atom.minimum, atom.maximum) + ")";
        case ArrayAtom::Kind::Unique: return "unique";
      }
      return {};
    });
  }

  std::string object(const ObjectFormulas& objects, ObjectId f) {
    return formula_text(objects, f, [&](std::uint32_t number) -> std::string {
      const ObjectAtom& atom = objects.atom_at(number);
      switch (atom.kind) {
        case ObjectAtom::Kind::Properties: {
          std::string text;
          for (std::size_t i = 0; i < atom.names.size(); ++i)
            text += (i > 0 ? ", " : "") + name(atom.names[i]) + ": " + nested_set(atom.values[i]);
          return text;
        }
        case ObjectAtom::Kind::Matching: return names_of({atom.subject}) + ": " + nested_set(atom.value);
        case ObjectAtom::Kind::Others: return "others: " + nested_set(atom.value);
        case ObjectAtom::Kind::Required:
          return "has " + joined(atom.names, ", ", [&](NameId one) { return name(one); });
        case ObjectAtom::Kind::Count: return of(ValueTable::PropertyCount{atom.minimum, atom.maximum});
      }
      return {};
    });
  }

  std::string name(NameId name) const { return quoted(table_.text(name)); }

 private:
  static constexpr unsigned kMostNested = 2;           // values in values
  static constexpr std::size_t kMostValues = 4;        // of an enumeration
  static constexpr std::size_t kLongestLanguage = 80;  // bytes

  std::string node(ValueNode id) {
    if (const ValueTable::Values* const values = table_.noted_values(id)) {
      const std::span some(values->data(), std::min(values->size(), kMostValues));
      const std::string text = joined(some, " or ", [](const std::string& value) { return value; });
      return values->size() > some.size() ? text + " or …" : text;
    }
    return std::visit([&](const auto& n) { return of(n); }, table_.node(id));
  }
  template <class Show>
  std::string nested(Show&& show_it) {
    if (depth_ == kMostNested) return "…";
    ++depth_;
    std::string text = show_it();
    --depth_;
    return text;
  }
  std::string nested_node(ValueNode id) {
    return nested([&] { return node(id); });
  }
  std::string nested_set(SetId id) {
    return nested([&] { return set(id); });
  }
  std::string language(LanguageId id) const {
    ByteAutomaton automaton(*table_.texts(id), {}, ByteSet::range(0x00, 0xFF), 1, {}, nullptr);
    return tokamata::show(automaton.arena(), automaton.expression(automaton.start()), kLongestLanguage);
  }
  std::string names_of(LanguageId id) const { return "names(" + language(id) + ")"; }
  std::string operation(std::string_view name, const std::vector<ValueNode>& items) {
    return std::string(name) + "(" + joined(items, ", ", [&](ValueNode item) { return node(item); }) + ")";
  }

  std::string of(const ValueTable::AnyValue&) { return "any"; }
  std::string of(const ValueTable::NoValue&) { return "none"; }
  std::string of(const ValueTable::Undefined&) { return "undefined"; }
  std::string of(const ValueTable::Same& n) { return node(n.as); }
  std::string of(const ValueTable::AllOf& n) { return operation("all", n.items); }
  std::string of(const ValueTable::AnyOf& n) { return operation("any", n.items); }
  std::string of(const ValueTable::OneOf& n) { return operation("one", n.items); }
  std::string of(const ValueTable::Negation& n) { return "not(" + node(n.body) + ")"; }
  std::string of(const ValueTable::Types& n) {
    static constexpr std::pair<Type, std::string_view> kNames[] = {
        {kNull, "null"},     {kFalse, "false"}, {kTrue, "true"},    {kNumber, "number"},
        {kString, "string"}, {kArray, "array"}, {kObject, "object"}};
    std::string text;
    for (const auto& [type, type_name] : kNames)
      if (n.mask & type) text += (text.empty() ? "" : " or ") + std::string(type_name);
    return text.empty() ? "none" : text;
  }
  std::string of(const ValueTable::Integral&) { return "integer"; }
  std::string of(const ValueTable::Number& n) {
    const NumberRange& range = n.range;
    std::string text = range.minimum.value_or("") + (range.exclusive_minimum ? "!" : "") + ".." +
                       range.maximum.value_or("") + (range.exclusive_maximum ? "!" : "");
    if (range.multiple_of) text += ", multiple of " + *range.multiple_of;
    return "number(" + text + ")";
  }
  std::string of(const ValueTable::String& n) { return "texts(" + language(n.language) + ")"; }
  std::string of(const ValueTable::StringLength& n) { return "length(" + range_of(n.minimum, n.maximum) + ")"; }
  // `passed`: so many of the prefix have come.
  std::string of(const ValueTable::Items& n, Count passed = 0) {
    std::string text;
    for (std::size_t i = passed; i < n.prefix.size(); ++i) text += nested_node(n.prefix[i]) + ", ";
    return "items(" + text + "rest " + nested_node(n.rest) + ")";
  }
  std::string of(const ValueTable::ArrayLength& n) { return "elements(" + range_of(n.minimum, n.maximum) + ")"; }
  std::string of(const ValueTable::Contains& n) {
    return "contains(" + nested_node(n.value) + ", " + range_of(n.minimum, n.maximum) + ")";
  }
  std::string of(const ValueTable::Unique&) { return "unique"; }
  std::string of(const ValueTable::Property& n) { return name(n.name) + ": " + nested_node(n.value); }
  std::string of(const ValueTable::Matching& n) { return names_of(n.names) + ": " + nested_node(n.value); }
  std::string of(const ValueTable::Others& n) { return "others: " + nested_node(n.value); }
  std::string of(const ValueTable::Has& n) { return "has " + name(n.name); }
  std::string of(const ValueTable::PropertyCount& n) { return "members(" + range_of(n.minimum, n.maximum) + ")"; }
  std::string of(const ValueTable::Nested& n) { return "nested(.." + std::to_string(n.depth) + ")"; }

  const SetFormulas& sets_;
  const ValueTable& table_;
  unsigned depth_ = 0;
};

std::string mode_of(const JsonRule& rule) {
  switch (line_of(rule).mode) {
    case Mode::Exact: return "";
    case Mode::Approximation: return ", over-approximation";
    case Mode::Unverified: return ", unverified";
    case Mode::Relaxed: return ", relaxed";
  }
  return {};
}

}  // namespace

std::string show(const SetFormulas& formulas, SetId set) { return Shown(formulas).set(set); }

std::string show(const JsonRule& rule, RuleContext& context, const NameChoice* choice) {
  ValueSets& sets = context.sets;
  const OpenContainers& open = context.open;
  Shown shown(sets.formulas());
  const auto members = [&](OpenObjectId object) { return shown.object(sets.objects(), open[object].rest); };
  const auto elements = [&](OpenArrayId array) { return shown.array(sets.arrays(), open[array].rest); };
  const auto text = [&](TextId id) { return context.open.texts().string(id); };
  const std::string what =
      std::visit(Overloaded{
                     [&](const ValueRule& r) { return "value: " + shown.set(r.set); },
                     [&](const ElementsRule& r) { return "elements: " + elements(r.array); },
                     [&](const MembersRule& r) { return "members: " + members(r.object); },
                     [&](const DeclaredNameRule& r) {
                       std::string names;
                       for (std::uint32_t i = r.low; choice && i < r.high; ++i)
                         names += (names.empty() ? "" : " or ") + shown.name(choice->names[i].name);
                       return "name: " + (choice ? names : "declared") + " after " + std::to_string(r.read) + " bytes" +
                              text(r.escape);
                     },
                     [&](const UndeclaredNameRule& r) {
                       return "name: undeclared after " + quoted(text(r.text) + text(r.escape));
                     },
                     [&](const AfterUndeclaredRule& r) {
                       return "value of an undeclared name, then members: " + members(r.object);
                     },
                     [&](const DistinctElementRule& r) {
                       return "element unlike earlier ones, after " + quoted(text(r.text)) + ": " + shown.set(r.set);
                     },
                 },
                 rule);
  return what + mode_of(rule);
}

}  // namespace tokamata::json

// Sets of JSON values, as front ends hand them over: a table of nodes that refer to each other.
//
// Problem.  JSON Schema says what a value is by hundreds of keywords in five drafts; Python types say it in
// another way.  Both come down to a few statements about numbers, strings, arrays and objects, closed under
// Boolean operations, and to recursion.
// Example.  {"type": "array", "items": {"$ref": "#"}} is  n0 = all(n1, n2)  n1 = types(array)
//           n2 = items([], rest = n0).
// Every statement about one type holds of all values of other types, as in JSON Schema.  Names of properties
// and strings are values, not spellings.
// A table is filled by one thread, then shared, and not changed any more.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/byte_set.hpp"
#include "common/ids.hpp"
#include "common/lengths.hpp"
#include "common/memory_account.hpp"
#include "expression/expression_ptr.hpp"

namespace tokamata::json {

using ValueNode = Id<struct ValueNodeTag>;
using NameId = Id<struct NameTag>;          // of a property
using LanguageId = Id<struct LanguageTag>;  // of texts: values of strings, or names

// Types of values, as bits.
enum Type : std::uint8_t { kNull = 1, kFalse = 2, kTrue = 4, kNumber = 8, kString = 16, kArray = 32, kObject = 64 };
inline constexpr std::uint8_t kAllTypes = 127;

inline constexpr Count kNoMaximum = kUnbounded;
// Of a bound on a count, once one was counted.
constexpr Count one_less(Count bound) { return bound == 0 || bound == kNoMaximum ? bound : bound - 1; }

// Numbers between bounds, decimals as text.
struct NumberRange {
  std::optional<std::string> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
};

class ValueTable {
 public:
  struct AnyValue {};
  struct NoValue {};
  struct Undefined {};  // reserved
  struct Same {
    ValueNode as;
  };
  struct AllOf {
    std::vector<ValueNode> items;
  };
  struct AnyOf {
    std::vector<ValueNode> items;
  };
  struct OneOf {
    std::vector<ValueNode> items;
  };
  struct Negation {
    ValueNode body;
  };
  struct Types {
    std::uint8_t mask;
  };
  struct Integral {};
  struct Number {
    NumberRange range;
  };
  struct String {
    LanguageId language;
  };
  struct StringLength {
    Count minimum, maximum;
  };
  struct Items {
    std::vector<ValueNode> prefix;
    ValueNode rest;
  };
  struct ArrayLength {
    Count minimum, maximum;
  };
  struct Contains {
    ValueNode value;
    Count minimum, maximum;
  };
  struct Unique {};
  struct Property {
    NameId name;
    ValueNode value;
  };
  struct Matching {
    LanguageId names;
    ValueNode value;
  };
  struct Others {  // the value of every property that is neither named nor of a language
    std::vector<NameId> names;
    std::vector<LanguageId> languages;
    ValueNode value;
  };
  struct Has {
    NameId name;
  };
  struct PropertyCount {
    Count minimum, maximum;
  };
  struct Nested {  // arrays and objects nest so deep at most, with no more elements or members than so many in each
    Count depth, most_inside;
  };
  using Node = std::variant<AnyValue, NoValue, Undefined, Same, AllOf, AnyOf, OneOf, Negation, Types, Integral, Number,
                            String, StringLength, Items, ArrayLength, Contains, Unique, Property, Matching, Others, Has,
                            PropertyCount, Nested>;

  static constexpr ValueNode kAny{0};
  static constexpr ValueNode kNone{1};

  ValueTable() : nodes_{AnyValue{}, NoValue{}} {}

  ValueNode add(Node node) {
    nodes_.push_back(std::move(node));
    return {static_cast<std::uint32_t>(nodes_.size() - 1)};
  }
  // A node to be defined later, as equal to another.
  ValueNode reserve() { return add(Undefined{}); }
  void define(ValueNode reserved, ValueNode as) {
    if (reserved.value >= nodes_.size() || !std::holds_alternative<Undefined>(nodes_[reserved.value]))
      throw std::invalid_argument("define: no reserved node");
    nodes_[reserved.value] = Same{as};
  }

  NameId name(const std::string& text) {
    const auto [place, is_new] = name_index_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(text);
    return {place->second};
  }
  LanguageId language(ExpressionPtr texts) {
    const auto [place, is_new] =
        language_index_.try_emplace(texts.get(), static_cast<std::uint32_t>(languages_.size()));
    if (is_new) languages_.push_back(std::move(texts));
    return {place->second};
  }

  // What a Nested node says of one level, by nodes of other kinds: levels are made as texts come to them.
  ValueNode unfold(ValueNode nested);

  // The values of a node that has few, in canonical form (canonical_value.hpp), where that is known when it is made.
  using Values = counted::vector<std::string>;
  void note_values(ValueNode node, Values values) { values_.insert_or_assign(node.value, std::move(values)); }
  const Values* noted_values(ValueNode node) const {
    const auto known = values_.find(node.value);
    return known == values_.end() ? nullptr : &known->second;
  }

  // Copies the nodes of another table; what `root` is here.
  ValueNode include(const ValueTable& other, ValueNode root);

  // Throws std::invalid_argument where a node refers to none, or is still undefined, or is defined by itself.
  void check() const;

  const Node& node(ValueNode id) const { return nodes_[id.value]; }
  // The node that it is the same as, at last.
  ValueNode resolved(ValueNode id) const {
    while (const auto* same = std::get_if<Same>(&nodes_[id.value])) id = same->as;
    return id;
  }
  // What a node refers to: calls `visit(node, whether that is about the same value)`, in order.
  template <class Visit>
  void visit_references(ValueNode id, Visit&& visit) const {
    std::visit(
        [&](const auto& n) {
          using N = std::decay_t<decltype(n)>;
          if constexpr (std::is_same_v<N, Same>) {
            visit(n.as, true);
          } else if constexpr (std::is_same_v<N, Items>) {
            for (const ValueNode item : n.prefix) visit(item, false);
            visit(n.rest, false);
          } else if constexpr (requires { n.items; }) {
            for (const ValueNode item : n.items) visit(item, true);
          } else if constexpr (requires { n.body; }) {
            visit(n.body, true);
          } else if constexpr (requires { n.value; }) {
            visit(n.value, false);
          }
        },
        nodes_[id.value]);
  }
  std::size_t size() const { return nodes_.size(); }
  const std::string& text(NameId name) const { return names_[name.value]; }
  std::optional<NameId> find_name(const std::string& text) const {
    const auto place = name_index_.find(text);
    return place == name_index_.end() ? std::nullopt : std::optional(NameId{place->second});
  }
  const ExpressionPtr& texts(LanguageId language) const { return languages_[language.value]; }
  std::size_t name_count() const { return names_.size(); }

  // The bytes that begin or end a byte class in some language (Arena::class_borders).
  ByteSet class_borders() const;
  // The same, of languages alone.
  ByteSet distinguished() const;
  // Whether some declared name contains the text.
  bool has_name_with(std::string_view infix) const;

 private:
  counted::vector<Node> nodes_;
  counted::unordered_map<std::uint32_t, ValueNode> unfolded_;  // by Nested node
  counted::unordered_map<std::uint32_t, Values> values_;       // by node
  counted::vector<std::string> names_;
  counted::unordered_map<std::string, std::uint32_t> name_index_;
  counted::vector<ExpressionPtr> languages_;
  counted::unordered_map<const Expression*, std::uint32_t> language_index_;
};

}  // namespace tokamata::json

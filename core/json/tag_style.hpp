// How the members of an object are written between tags in place of JSON, as a front end hands it over.
//
// Example.  <parameter=city>Bern</parameter>: opening `<parameter=`, the name, `>`, which ends it, attributes (none
// here), the value, the closing `</parameter>`.  A string is its own text, without quotes and escapes; all other values
// are JSON.  In *nested* styles arrays and objects stand between tags too, at any depth: an array is a row of elements
// without names, an object a row of members.
// Problem.  What stands between the tags must be read back as the value that was written.  So the text of a string
//   - has none of the texts that end a value too early: `strings` and `closed_strings` are made without them;
//   - may be trimmed by its reader: the language of a set of strings is that of the texts whose trimmed text is in the
//     set;
//   - is not what the reader takes for a value of another type (`misread`).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expression/expression_ptr.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

struct TagStyle {
  // Values of some types: what stands between their names and them.
  enum class Form : std::uint8_t { Text, Json, Members, Elements };  // a string as its own text; JSON; tags
  struct Type {
    std::uint8_t mask;  // of types of values (value_table.hpp)
    Form form;
    ExpressionPtr attributes;          // after the byte that ends a name
    ExpressionPtr of_element;          // before an element of an array, opening and all; null if none is between tags
    ValueNode values;                  // all of these types
    ValueNode values_beside_text;      // those of them that are distinguished from strings
    ValueNode values_beside_elements;  // and from arrays
  };

  ExpressionPtr opening;  // before a name
  std::uint8_t name_end;  // the byte after a name, which no written name has
  std::vector<Type> types;
  ExpressionPtr closing;         // of bytes
  ExpressionPtr named_closing;   // with control tokens in place of their names; null if it has none
  std::string after_name;        // where the name and this follow the closing; otherwise empty
  ExpressionPtr strings;         // texts after which the closing may follow
  ExpressionPtr closed_strings;  // the same with the closing
  ExpressionPtr trimmed;  // a character that is no part of a string where the text begins or ends with it; null: none
  // Texts that are read as a value of one of the types; where the set of a string has values of these, no string is
  // written so.  A mask of kString: never.
  std::vector<std::pair<std::uint8_t, ExpressionPtr>> misread;
  ExpressionPtr between;        // blanks before, between and after members
  ExpressionPtr before, after;  // blanks around a JSON value
  ExpressionPtr names;          // that are not declared
  // of declared names; one that is missing cannot be written
  std::unordered_map<std::string, std::string> written_names;

  ByteSet class_borders() const;
  std::set<std::string> control_tokens() const;
  // All pieces of tags.
  std::vector<ExpressionPtr> pieces() const;
};

}  // namespace tokamata::json

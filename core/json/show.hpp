// Sets of JSON values, and the rules that write them, as a person reads them: for tests and debuggers, never for the
// engine.
//
// Example.  {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}  and the rule after `{`:
//   all(object, "a": all(number, integer), has "a")
//   members: all("a": all(number, integer), has "a")
//   any  none  all(…)  any(…)  one(…)  not(…)   formulas; what is said of one type holds of all other values
//   null string …  number(2..5)  texts(a·b)  length(2..5)  "x" or 12e1      types and values (canonical_value.hpp)
//   items(a, b, rest c)  elements(2..5)  contains(a, 1..)  unique           arrays; what remains of them
//   "a": s  names(p): s  others: s  has "a"  members(2..5)                  objects; what remains of them
// Values in values in values are `…`.
#pragma once

#include <string>

#include "json/name_choices.hpp"

namespace tokamata::json {

std::string show(const SetFormulas& formulas, SetId set);
// `choice`: that of the rule's object, where it is known.
std::string show(const JsonRule& rule, RuleContext& context, const NameChoice* choice);

}  // namespace tokamata::json

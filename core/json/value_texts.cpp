// The languages of strings and names as they are spelled (ValueSets::spelled and its like).

#include <algorithm>

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"
#include "json/json_spelling.hpp"
#include "json/leaves.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

ExpressionId ValueSets::all_texts(const Work& work) { return universe(work).within; }

ExpressionId ValueSets::intersect_texts(std::vector<ExpressionId> texts, const Work& work) {
  return intersect(std::move(texts), universe(work).strings, work);
}

ExpressionId ValueSets::complement_texts(ExpressionId texts, const Work& work) {
  return complement(texts, universe(work).strings, work);
}

ExpressionId ValueSets::plain_texts(ExpressionId language, const Work& work) {
  if (spelling_ == Spelling::Plain) return language;
  std::vector<ExpressionId> both{language, work.arena.add(*string_texts(false), work.budget)};
  return work.arena.intersect(both);
}

ExpressionId ValueSets::spelled(LanguageId language, bool wanted, const Work& work) {
  const bool any = spelling_ == Spelling::Any || (spelling_ == Spelling::Natural && (!wanted || is_escaped(language)));
  const std::uint64_t key = std::uint64_t{language.value} << 1 | (any ? 1 : 0);
  if (const auto known = spelled_.find(key); known != spelled_.end()) return known->second;
  const ExpressionPtr texts = spelled_in_json(table_->texts(language), any);
  return spelled_.emplace(key, work.arena.add(*texts, work.budget)).first->second;
}

bool ValueSets::is_escaped(LanguageId language) {
  return memoized(escaped_, language.value, [&] { return may_be_escaped(table_->texts(language)); });
}

bool ValueSets::is_escaped(NameId name) const {
  return std::ranges::any_of(table_->text(name),
                             [](char c) { return json_is_escaped_by_some(static_cast<std::uint8_t>(c)); });
}

ExpressionId ValueSets::unspelled(LanguageId language, const Work& work) {
  if (const auto known = unspelled_.find(language.value); known != unspelled_.end()) return known->second;
  return unspelled_.emplace(language.value, work.arena.add(*table_->texts(language), work.budget)).first->second;
}

std::string_view ValueSets::spelled_name(NameId name) {
  return memoized(spelled_names_, name.value, [&] { return spelled_string(table_->text(name)) + '"'; });
}

std::string ValueSets::read_name(const std::string& spelled_text) const { return read_string(spelled_text); }

ExpressionId ValueSets::without_texts(ExpressionId language, const std::vector<std::string>& texts, const Work& work) {
  if (texts.empty()) return language;
  std::vector<std::string_view> views(texts.begin(), texts.end());
  const ExpressionPtr strings = Expression::strings(StringAutomaton::of_strings(std::move(views)));
  const ExpressionId spelled = work.arena.add(*spelled_in_json(strings, spelling_ != Spelling::Plain), work.budget);
  return intersect_texts({language, complement_texts(spelled, work)}, work);
}

// ---- constants --------------------------------------------------------------------------------

// A set of its own, in a table of its own: schemas do not mention what texts happen to hold.
SetId ValueSets::constant(const std::string& canonical) {
  return memoized(constants_, canonical, [&] { return set_of(add_constant(canonical, own_table())); });
}

void ValueSets::forget_expressions() {
  universe_.reset();
  release(node_parts_);
  release(parts_);
  release(spelled_);
  release(unspelled_);
  objects_.forget_expressions();
}

}  // namespace tokamata::json

#include "json/string_texts.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "expression/expression.hpp"
#include "expression/string_automaton.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

const StringTexts::Universe& StringTexts::universe(const Work& work) {
  if (!universe_) {
    work.arena.derivatives().note_character(work.arena.add(*code_point_texts(may_escape_all()), work.budget),
                                            work.budget);
    const ExpressionId strings = work.arena.add(*string_texts(may_escape_all()), work.budget);
    ExpressionId writable = strings;
    if (within_) {
      std::vector<ExpressionId> both{strings, work.arena.add(*within_, work.budget)};
      writable = work.arena.forms().intersect(both);
    }
    universe_ = Universe{strings, writable};
  }
  return *universe_;
}

ExpressionId StringTexts::writable(ExpressionId strings, const Work& work) {
  if (strings == universe(work).strings) return universe(work).writable;
  std::vector<ExpressionId> both{strings, work.arena.add(*within_, work.budget)};
  return work.arena.forms().intersect(both);
}

ExpressionId StringTexts::spelled(LanguageId language, bool wanted, const Work& work) {
  const bool any = spelling_ == Spelling::Any || (spelling_ == Spelling::Natural && (!wanted || is_escaped(language)));
  const std::uint64_t key = std::uint64_t{language.value} << 1 | (any ? 1 : 0);
  return memoized(spelled_, key, [&] {
    if (!unfinished_ || unfinished_->key != key)
      unfinished_.emplace(key, JsonSpelling(formulas_.table().texts(language), any), Arena::Added());
    const ExpressionId all = work.arena.add(*unfinished_->spelling.whole(work.budget), work.budget, unfinished_->added);
    unfinished_.reset();
    return all;
  });
}

ExpressionId StringTexts::of_lengths(const TextLengths& lengths, const Work& work) {
  if (lengths == TextLengths::all()) return universe(work).strings;
  if (lengths == TextLengths::none()) return Pool::kEmpty;  // of most nodes, for which no code points are added
  const ExpressionId code_point = work.arena.add(*code_point_texts(may_escape_all()), work.budget);
  std::vector<ExpressionId> alternatives;
  for (const auto& [minimum, maximum] : lengths.ranges())
    alternatives.push_back(work.arena.forms().repeat(code_point, minimum, maximum));
  return work.arena.forms().unite(alternatives);
}

ExpressionId StringTexts::unspelled(LanguageId language, const Work& work) {
  return memoized(unspelled_, language.value,
                  [&] { return work.arena.add(*formulas_.table().texts(language), work.budget); });
}

bool StringTexts::is_escaped(LanguageId language) {
  return memoized(escaped_, language.value, [&] { return may_be_escaped(formulas_.table().texts(language)); });
}

bool StringTexts::is_escaped(NameId name) const {
  return std::ranges::any_of(formulas_.table().text(name),
                             [](char c) { return json_is_escaped_by_some(static_cast<std::uint8_t>(c)); });
}

std::string_view StringTexts::spelled_name(NameId name) {
  return memoized(spelled_names_, name.value, [&] { return spelled_string(formulas_.table().text(name)) + '"'; });
}

ExpressionId StringTexts::plain(ExpressionId language, const Work& work) {
  if (spelling_ == Spelling::Plain) return language;
  std::vector<ExpressionId> both{language, work.arena.add(*string_texts(false), work.budget)};
  return work.arena.forms().intersect(both);
}

ExpressionId StringTexts::without(ExpressionId language, const std::vector<std::string>& texts, const Work& work) {
  if (texts.empty()) return language;
  std::vector<std::string_view> views(texts.begin(), texts.end());
  const ExpressionPtr strings = Expression::strings(StringAutomaton::of_strings(std::move(views)));
  const ExpressionId spelled = work.arena.add(*spelled_in_json(strings, may_escape_all()), work.budget);
  const Languages all = languages(work);
  return all.intersect({language, all.complement(spelled)});
}

void StringTexts::forget_expressions() {
  universe_.reset();
  unfinished_.reset();
  release(spelled_);
  release(unspelled_);
}

}  // namespace tokamata::json

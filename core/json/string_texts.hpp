// The languages of strings and names, as they are spelled between quotes (json_spelling.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/json_spelling.hpp"
#include "json/languages.hpp"
#include "json/set_formulas.hpp"
#include "json/text_lengths.hpp"

namespace tokamata::json {

class StringTexts {
 public:
  // `within`: spellings that strings are made of, beside what sets say; null: all.
  StringTexts(const SetFormulas& formulas, ExpressionPtr within)
      : formulas_(formulas), spelling_(formulas.spelling()), within_(std::move(within)) {}

  // Within all strings.
  Languages languages(const Work& work) { return {universe(work).strings, work}; }
  // All strings that may be written; of some strings those.
  ExpressionId writable(const Work& work) { return universe(work).writable; }
  ExpressionId writable(ExpressionId strings, const Work& work);
  bool is_limited() const { return within_ != nullptr; }

  // `wanted`: in natural spelling, a set of texts that no one escapes is spelled plainly; what is denied is denied in
  // every spelling.
  ExpressionId spelled(LanguageId language, bool wanted, const Work& work);
  ExpressionId of_lengths(const TextLengths& lengths, const Work& work);
  // The texts themselves.
  ExpressionId unspelled(LanguageId language, const Work& work);
  // Whether some writer escapes something in them.
  bool is_escaped(LanguageId language);
  bool is_escaped(NameId name) const;
  // A name after its first quote, in plain spelling; valid as long as this is.
  std::string_view spelled_name(NameId name);
  // One spelling for each text.
  ExpressionId plain(ExpressionId language, const Work& work);
  // What is left of a language without the spellings of some texts.
  ExpressionId without(ExpressionId language, const std::vector<std::string>& texts, const Work& work);

  void forget_expressions();

 private:
  struct Universe {
    ExpressionId strings, writable;
  };
  struct Unfinished {  // what a budget stopped last
    std::uint64_t key;
    JsonSpelling spelling;
    Arena::Added added;
  };
  bool may_escape_all() const { return spelling_ != Spelling::Plain; }
  const Universe& universe(const Work& work);

  const SetFormulas& formulas_;
  Spelling spelling_;
  ExpressionPtr within_;
  std::optional<Universe> universe_;
  std::optional<Unfinished> unfinished_;
  counted::unordered_map<std::uint64_t, ExpressionId> spelled_;  // by language, and whether in any spelling
  counted::unordered_map<std::uint32_t, ExpressionId> unspelled_;
  counted::unordered_map<std::uint32_t, bool> escaped_;  // by language
  counted::unordered_map<std::uint32_t, std::string> spelled_names_;
};

}  // namespace tokamata::json

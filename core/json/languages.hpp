// Boolean operations on languages within a universe, such as all spelled strings.
//
// Problem.  The complement of a set of strings is again one of strings, not of arbitrary bytes.  And that all strings
// less all strings are none, the engine would find out by a search.
// Example.  Within the spelled strings: all of them less those of [a-z]*.
// Cost.  None where a language is the universe or empty.
#pragma once

#include <algorithm>
#include <vector>

#include "json/work.hpp"

namespace tokamata::json {

class Languages {
 public:
  Languages(ExpressionId universe, const Work& work) : all_(universe), arena_(work.arena) {}

  ExpressionId all() const { return all_; }
  ExpressionId intersect(std::vector<ExpressionId> languages) const {
    std::erase(languages, all_);
    if (languages.empty()) return all_;
    return languages.size() == 1 ? languages[0] : arena_.forms().intersect(languages);
  }
  ExpressionId unite(std::vector<ExpressionId> languages) const {
    return std::ranges::find(languages, all_) != languages.end() ? all_ : arena_.forms().unite(languages);
  }
  ExpressionId complement(ExpressionId language) const {
    if (language == Pool::kEmpty) return all_;
    if (language == all_) return Pool::kEmpty;
    std::vector<ExpressionId> both{all_, arena_.forms().complement(language)};
    return arena_.forms().intersect(both);
  }
  // What exactly one of them has: one after the other, with what none so far has and what one has.  `denied` are the
  // same languages, as wide as what is denied has to be.
  ExpressionId one(const std::vector<ExpressionId>& wanted, const std::vector<ExpressionId>& denied) const {
    ExpressionId none_has = all_, one_has = Pool::kEmpty;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == Pool::kEmpty && denied[i] == Pool::kEmpty) continue;
      const ExpressionId without = complement(denied[i]);
      one_has = unite({intersect({one_has, without}), intersect({none_has, wanted[i]})});
      none_has = intersect({none_has, without});
    }
    return one_has;
  }

 private:
  ExpressionId all_;
  Arena& arena_;
};

}  // namespace tokamata::json

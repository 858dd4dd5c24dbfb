// The texts of a set in all their spellings, as a tree (TextTree).
//
// Problem.  A name that was written must not come again, however it is spelled: after `outlook` neither `outlook` nor
// `\u006futlook`.  Each of n characters has three spellings or more, so that a list of all would have 3^n.
// How.  The texts are kept in plain spelling.  The walk goes along them, and before each character it tries a
// backslash.  Where the other tree has one, it goes through the escapes of the characters that may come next, and from
// there along the texts that begin so.
// Example.  {ab}: `ab`, `a\u0062`, `\u0061b`, `\u0061\u0062`, and digits in capital letters.
// Cost.  That of a walk along plain texts, and a look-up of a backslash for each character.  Few tokens hold one.
#pragma once

#include <memory>
#include <string>

#include "json/texts.hpp"

namespace tokamata::json {

// As long as its sets are.  `read`: the bytes in front, with which all texts of the set begin; `escape`: the beginning
// of an escape after them, or nothing.
class SpelledTree : public TextTree {
 public:
  SpelledTree(const TextSets& sets, TextSetId set, std::string read, std::string escape)
      : sets_(sets), set_(set), read_(std::move(read)), escape_(std::move(escape)) {}
  void walk(Walk& walk) const override;

 private:
  class Spelling;
  const TextSets& sets_;
  TextSetId set_;
  std::string read_, escape_;
};

}  // namespace tokamata::json

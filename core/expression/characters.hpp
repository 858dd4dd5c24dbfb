// The characters of strings, where one expression spells them: what is made of them, and counts of them beside others.
//
// Problem.  A string of at most 500 characters with a pattern is  c{0,500} & pattern.  At each of its characters that
// is another intersection, and each is searched for life and walked through the vocabulary by itself.
// Example.  c*&[a-z]+ is [a-z]+, and c{0,500}&c{3,} is c{3,500}.
// How.  A note says which expression c is: one character, which stands for itself or is spelled by an *escape*.  All
// texts of another are of such characters if those of its parts are: of classes and bytes that stand for themselves,
// and of what begins with the first byte of an escape and goes on as c does.
// Cost.  Once for each expression, of whose parts most are known; an escape is followed byte by byte.
// Not taken: a search for a text that is not of characters: the whole of a pattern's states, where parts are enough.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/pool.hpp"

namespace tokamata {

class Forms;

// Forms makes intersections with it; counts that it joins are made by Forms again.
class Characters {
 public:
  Characters(Forms& forms, const Pool& pool, const Leaves& leaves) : forms_(forms), pool_(pool), leaves_(leaves) {}

  // How one character is spelled, once derivatives have shown it.
  struct Spelling {
    ExpressionId character = Pool::kEmpty;
    ByteSet stand_for_themselves = {}, begin_escapes = {};
    counted::unordered_map<std::uint64_t, ExpressionId> escape_steps = {};  // by what is left of an escape and byte
    static std::uint64_t step_key(ExpressionId from, std::uint8_t byte) {
      return (std::uint64_t{from.value} << 8) | byte;
    }
  };
  const Spelling& spelling() const { return spelling_; }
  void note(Spelling spelling) {
    forget();
    spelling_ = std::move(spelling);
  }
  void forget() {
    spelling_ = {};
    release(known_);
  }

  // Whether it is a repetition of the character.
  bool counts(const ExpressionNode& n) const { return n.kind == Kind::Repetition && n.body() == spelling_.character; }
  // Whether it counts characters beside what has some of them and no other texts, so that nothing but its maximum
  // matters.
  bool is_mere_bound(ExpressionId expression, std::span<const ExpressionId> conjuncts);
  // Makes several counts among the conjuncts of an intersection one, where that is all that they say.
  void join_counts(std::vector<ExpressionId>& conjuncts);
  // Drops counts that say nothing.
  void drop_counts(std::vector<ExpressionId>& conjuncts);

 private:
  enum class Known : std::uint8_t { Nothing, OfCharacters, Not };
  bool is_of(ExpressionId expression);
  bool is_of_if(ExpressionId expression, std::vector<ExpressionId>& parts);
  bool add_after_escape(ExpressionId expression, ExpressionId escape, std::vector<ExpressionId>& parts);

  Forms& forms_;
  const Pool& pool_;
  const Leaves& leaves_;
  Spelling spelling_;
  counted::vector<Known> known_;  // by expression
};

}  // namespace tokamata

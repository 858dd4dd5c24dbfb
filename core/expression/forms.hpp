// Normal forms: how expressions are made, so that equal languages mostly are equal nodes.
//
// Contract.  Two expressions with the same id denote the same language.  Expressions are built
// by the member functions below alone; each returns a normal form, so that a derivative that
// was seen before is found again and the set of states reached stays finite and small.
//
// Normal forms.
//   concatenation   head · tail; no epsilon, no empty, the head of an item of a union is never
//                   itself a concatenation.  The tail is the continuation: what follows the head,
//                   shared like a graph-structured stack.  A class of code points beside itself is a
//                   repetition of it: .... is .{4}; and x*·x* is x*, whatever x is.
//   repetition      body{minimum,maximum}; counts are numbers, so {0,100000} is one node, as is
//                   {0,4}.  A nullable body makes the minimum 0; (x{1,n}){c,d} is x{c,nd}.
//   union           sorted, flat, no duplicates, single bytes merged into one set, and without
//                   dominated items: x{0,3}·t beside x{0,5}·t is dropped, and x{0,3}·t beside
//                   x{4,5}·t becomes x{0,5}·t.  (a{0,1000}b?){0,1000} keeps at most two items.
//   stub            is live and accepts nothing: it stands for a continuation that no token reaches.
//   intersection    sorted, flat, no duplicates; complement: never of a complement.
//   guarded         a core whose texts must also be in the guard (lookaround.hpp): what a lookahead becomes
//                   after a byte.  It is dropped beside an alternative with the same core and fewer
//                   guards.
//   lookbehind      holds the derivative of its prefix by everything read so far.  So each derivative
//                   is also taken of the lookbehinds in the continuation.
//   terminal        a regular part that is kept whole as the head of its continuation.  Its segment is
//                   computed once for all continuations (vocabulary/segment.hpp).  It is live or kEmpty:
//                   if its body is constrained, a search has decided that.
//   unverified      accepts the empty text.  It marks the end of an unverified part, so that the part is
//                   unverified up to its last byte.
//   rule            rules.hpp.  If its set joins rules (Rules::joins), h·s beside h·t is h·(s|t), so an
//                   ambiguous text does not have one stack for each reading.
//   commit          never at the front of a state: there the choice is applied to what follows.
//
// Cost: constant per node made (amortized), n log n for a union of n items.
// Source: derivatives with similarity, Brzozowski 1964 (whose proof that they are finitely many
// holds for intersection and complement too), Owens, Reppy and Turon 2009; unions as
// sets of continuations, Antimirov 1996; symbolic counts as in "counting-set automata",
// Turonova et al. 2020; guards as the universal branches of an alternating automaton, Chandra,
// Kozen and Stockmeyer 1981.  Rejected: unrolled counts (as many states as the bound), and full
// distribution of concatenation over union (exponential).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "expression/characters.hpp"
#include "expression/pool.hpp"
#include "expression/rule_sets.hpp"
#include "expression/unions.hpp"

namespace tokamata {

class Forms {
 public:
  // `reach` is the length of the longest token in bytes.
  Forms(Pool& pool, Leaves& leaves, const RuleSets& rules, std::size_t reach)
      : pool_(pool), leaves_(leaves), rule_sets_(rules), reach_(reach) {}

  ExpressionId bytes(const ByteSet& set);
  ExpressionId concatenate(ExpressionId head, ExpressionId tail);
  // The concatenation of all items, right-nested.
  ExpressionId concatenate_all(std::span<const ExpressionId> items, Budget& budget);
  // A concatenation whose head is none.
  ExpressionId pair(ExpressionId head, ExpressionId tail);
  // The form that an alternative has: no concatenation begins with a concatenation.
  ExpressionId rotated(ExpressionId expression);
  ExpressionId repeat(ExpressionId body, Count minimum, Count maximum);
  // Empties `items`.
  ExpressionId unite(std::vector<ExpressionId>& items) { return unions_.unite(items); }
  ExpressionId intersect(std::vector<ExpressionId>& items);
  ExpressionId complement(ExpressionId body);
  ExpressionId rule(std::uint32_t source, RuleId rule);
  // A terminal whose body is known to live.
  ExpressionId terminal_of(ExpressionId body, std::uint32_t spelled, std::uint32_t shortest);
  ExpressionId commit(std::uint32_t choice);
  ExpressionId unverified_end();

  std::size_t reach() const { return reach_; }
  // What is known of the characters of strings.
  Characters& characters() { return characters_; }
  void forget();

 private:
  struct Counted {  // body{minimum,maximum}
    ExpressionId body;
    Count minimum, maximum;
  };
  bool is_class(const ExpressionNode& n) const;
  bool is_endless(const ExpressionNode& n) const;
  bool is_spelled_class(const ExpressionNode& n) const;
  std::optional<Counted> class_run(ExpressionId head) const;
  bool is_all_text(ExpressionId expression) const;
  ExpressionId make_pair(ExpressionId head, ExpressionId tail);

  Pool& pool_;
  Leaves& leaves_;
  const RuleSets& rule_sets_;
  const std::size_t reach_;
  Unions unions_{*this, pool_, leaves_, rule_sets_};
  Characters characters_{*this, pool_, leaves_};
  struct Pair {
    ExpressionId head = Pool::kEmpty, tail = Pool::kEmpty, made = Pool::kEmpty;
  };
  counted::vector<Pair> latest_pairs_;  // by hash
};

}  // namespace tokamata

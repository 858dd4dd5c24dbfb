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
//   guarded         a core whose texts must also be in the guard (boolean.cpp): what a lookahead becomes
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
#include <string>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/analyses.hpp"

namespace tokamata {

class Forms : public Analyses {
 public:
  ExpressionId bytes(const ByteSet& set);
  ExpressionId concatenate(ExpressionId head, ExpressionId tail);
  // The concatenation of all items, right-nested.
  ExpressionId concatenate_all(std::span<const ExpressionId> items, Budget& budget);
  ExpressionId repeat(ExpressionId body, Count minimum, Count maximum);
  // Sorts and empties `items`.
  ExpressionId unite(std::vector<ExpressionId>& items);
  ExpressionId intersect(std::vector<ExpressionId>& items);
  ExpressionId complement(ExpressionId body);
  ExpressionId look_ahead(ExpressionId rest);
  ExpressionId look_behind(ExpressionId prefix);
  ExpressionId scope(ExpressionId body);
  ExpressionId rule(std::uint32_t source, RuleId rule);
  ExpressionId commit(std::uint32_t choice);
  ExpressionId unverified_end();
  // The alternatives of an expression.  None begins with a union; without `without_rules`, none begins with a union
  // that holds rules.
  std::vector<ExpressionId> fronts(ExpressionId expression, bool without_rules = true);

  // An expression with the same mask, for every vocabulary whose longest token is `reach` bytes
  // long, in which counts beyond that reach are forgotten: x{0,n} becomes x*, and x{m,n}·t with m
  // beyond reach becomes x*·stub.  Sound where every byte of the pattern is a token of its own.
  ExpressionId clip(ExpressionId expression);

  // Strings of characters that one expression spells: characters.cpp.
  ExpressionId character() const { return characters_.character; }
  // The terminal of the rest of a string without its length bound.  Tokens that begin at most `sure` code points behave
  // the same with and without the bound.  Of tokens without a `special` byte (one that begins an escape or ends the
  // string), those that begin at most `sure_plain` code points do too, and those that begin more than `most` exceed the
  // bound.
  struct Unbounded {
    ExpressionId terminal;
    Count sure, sure_plain, most;
    ByteSet special;
  };
  std::optional<Unbounded> without_bound(ExpressionId terminal);
  // For a terminal that excludes some strings: the terminal that includes them, the strings, and the bytes that may
  // follow one of them.
  struct WithStrings {
    ExpressionId terminal;
    std::vector<ExpressionId> strings;  // automata of strings, and expressions of few texts
    ByteSet behind;
  };
  std::optional<WithStrings> with_strings(ExpressionId terminal);
  // The least number of characters of an expression that accepts any characters except some texts, if all these texts
  // lack one character, so that no text is a dead end.
  std::optional<Count> characters_but_for_some(ExpressionId expression);

 protected:
  using Analyses::Analyses;

  // Leaves: leaves.cpp.
  ExpressionId add_literal(const std::string& bytes, Budget& budget);
  ExpressionId automaton_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId strings_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId until_state(std::uint32_t search, std::uint32_t position);
  ExpressionId derive_until(const ExpressionNode& node, std::uint8_t byte);
  ExpressionId language_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId control_token(std::uint32_t number);
  ExpressionId control_tokens_of(const std::string& name);
  ExpressionId one_token(std::uint32_t set, Phase phase);

  // Compounds.  `pair` is a concatenation whose head is none.
  ExpressionId pair(ExpressionId head, ExpressionId tail);
  ExpressionId rotated(ExpressionId expression);
  ExpressionId terminal_of(ExpressionId body, std::uint32_t spelled, std::uint32_t shortest);

  // Lookaround: boolean.cpp.
  ExpressionId guarded(ExpressionId expression, ExpressionId guard);
  ExpressionId condition(ExpressionId expression);
  ExpressionId empty_part(ExpressionId expression);
  ExpressionId repeat_conditional(ExpressionId body, ExpressionId when_empty, Count minimum, Count maximum,
                                  Budget& budget);

  // What is known of the characters, once derivatives have shown it.
  struct Characters {
    ExpressionId character = kEmpty;
    ByteSet stand_for_themselves = {}, begin_escapes = {};
    counted::unordered_map<std::uint64_t, ExpressionId> escape_steps = {};  // by what is left of an escape and byte
    enum class Known : std::uint8_t { Nothing, OfCharacters, Not };
    counted::vector<Known> known = {};  // by expression
    static std::uint64_t step_key(ExpressionId from, std::uint8_t byte) {
      return (std::uint64_t{from.value} << 8) | byte;
    }
  };
  void set_characters(Characters characters) { characters_ = std::move(characters); }
  // The length of some short text, if it is certain without a search that one exists: the shortest text without the
  // bounds is within them, or only some texts are excluded.
  std::optional<std::uint32_t> length_without_search(ExpressionId expression);

  void forget(Positions positions) {
    Analyses::forget(std::move(positions));
    release(latest_pairs_);
    release(clipped_);
    characters_ = {};
  }

 private:
  struct Counted {  // an alternative body{minimum,maximum}·tail
    ExpressionId body, tail;
    Count minimum, maximum;
  };
  struct Beside {
    ExpressionId other;
    Count most;
  };
  bool is_class(const ExpressionNode& n) const;
  bool is_endless(const ExpressionNode& n) const;
  bool is_spelled_class(const ExpressionNode& n) const;
  std::optional<Counted> class_run(ExpressionId head) const;
  bool is_all_text(ExpressionId expression) const;
  ExpressionId wrap(Kind kind, ExpressionId body);
  ExpressionId make_pair(ExpressionId head, ExpressionId tail);

  // Unions: unite.cpp.
  void push_alternative(ExpressionId expression, std::vector<ExpressionId>& out);
  void merge_byte_sets(std::vector<ExpressionId>& items);
  void merge_counts(std::vector<ExpressionId>& items);
  void merge_rules(std::vector<ExpressionId>& items);
  bool join_heads(std::vector<ExpressionId>& items);
  ExpressionId unite_tails(std::vector<ExpressionId>& tails);
  std::optional<ExpressionId> common_end(ExpressionId one, ExpressionId other) const;
  void drop_skipped(std::vector<ExpressionId>& items);
  void drop_guarded(std::vector<ExpressionId>& items);
  void absorb_epsilon(std::vector<ExpressionId>& items);
  void drop_dominated(std::vector<ExpressionId>& items);
  bool dominates(ExpressionId larger, ExpressionId smaller) const;

  ExpressionId clip_repetition(const ExpressionNode& node);

  // Counts of characters beside other conjuncts: characters.cpp.
  bool counts_characters(const ExpressionNode& n) const;
  bool is_mere_bound(ExpressionId expression, std::span<const ExpressionId> conjuncts);
  bool is_of_characters(ExpressionId expression);
  bool is_of_characters_if(ExpressionId expression, std::vector<ExpressionId>& parts);
  bool add_after_escape(ExpressionId expression, ExpressionId escape, std::vector<ExpressionId>& parts);
  bool is_of_few_texts(ExpressionId expression) const;
  void join_counts_of_characters(std::vector<ExpressionId>& conjuncts);
  void drop_counts_of_characters(std::vector<ExpressionId>& conjuncts);
  std::optional<Beside> beside_bounds(const ExpressionNode& n);
  // An expression without the length bounds of the nested intersections at its front, if each bound admits `rest` (the
  // shortest text, or the longest rest) of the other conjuncts; and the least room that is left.
  struct Loosened {
    ExpressionId expression;
    Count room, most;  // `most`: the bound of the whole
  };
  std::optional<Loosened> without_bounds(ExpressionId expression, std::uint32_t ExpressionNode::* rest);

  struct Pair {
    ExpressionId head = kEmpty, tail = kEmpty, made = kEmpty;
  };
  counted::vector<Pair> latest_pairs_;  // by hash
  unsigned merging_ = 0;                // unions of tails within unions of tails
  counted::unordered_map<std::uint32_t, ExpressionId> clipped_;
  Characters characters_;
};

}  // namespace tokamata

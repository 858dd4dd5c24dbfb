// Where a token sequence may stand: the states of a constraint over tokens, as far as a repair comes to them.
//
// Problem.  A repair may write any token that a state allows: 100,000 of them within a string of JSON.  The whole
// automaton over tokens is endless where a constraint has rules, and takes seconds where it has some thousand states.
// How.  A *place* is a state of the composition (token_automaton.hpp).  Places get numbers when they are met, and rows
// when a search asks for them.  A row has one edge for each place that tokens lead to and each type of token: the least
// of these tokens, since no other leads to a cheaper repair or to one that comes first among equals.
// Example.  `ab?` with the tokens a, b, ab, A (which stands for `a` too): the row of the start has two edges, a and ab.
// What a string takes again and again leads back to where it began, so that a run of the trie is one edge (loops.hpp).
// Tokens that end within a code point are the exception, and are read one by one.
//
// Two kinds of places.
//   - Exact: of the sequences that the constraint accepts; with canonical tokenization, of the canonical ones.
//   - Relaxed: any tokenization, and rules that forget what was written (names that differ).  What is accepted exactly
//     is accepted there, so that what is proven there holds.  Its rows are short.
// Exact rows may have an edge for each token of the vocabulary: every token of a name leads to another state, and so
// does every canonical token.  Such a row has up to kAlike tokens for each relaxed place, the shortest first, and says
// that it is not whole.
//
// Cost.  A row: a walk of the trie, 5,000 of 275,000 nodes for a string with Llama 3.1's vocabulary.
// Source.  Koo, Liu and He 2024 (002), algorithm 2, computed lazily.
// Not taken.  The closed form, which was here before.  Masks: they do not say where tokens lead.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/canonical_automaton.hpp"
#include "common/limits.hpp"
#include "common/number_table.hpp"
#include "composition/completions.hpp"
#include "composition/token_automaton.hpp"
#include "repair/loans.hpp"

namespace tokamata {

// What places are made of.
struct TokenPattern {
  ExpressionPtr pattern;
  std::shared_ptr<const Vocabulary> vocabulary, start_vocabulary;
  TokenAutomaton::ControlTokens control_tokens = {};
  std::shared_ptr<const Tokenization> tokenization = nullptr;
};

// Contract.
//   - Locks.  It has none; one thread at a time, which charges to its account.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc; the same call may be
//     made again.
//   - Lifetimes.  Places keep their numbers.  A row stays where it is until `set_types`.
class TokenPlaces : private Accounted {
 public:
  using Place = std::uint32_t;
  static constexpr Place kNone = ~Place{0};
  static constexpr std::size_t kAlike = 64;

  TokenPlaces(std::shared_ptr<const TokenPattern> pattern, const Limits& limits,
              const std::shared_ptr<const CancelToken>& cancel);
  ~TokenPlaces() { begin_charging(); }

  MemoryAccount& account() { return account_; }
  // Whether a search with these limits may use it.
  bool fits(const Limits& limits) const {
    return depth_ == limits.depth && account_.bytes() <= limits.memory_bytes / 4 && state_count() <= limits.states / 4;
  }
  std::size_t state_count() const { return automaton_.automaton().state_count(); }
  std::uint32_t width() const { return automaton_.vocabulary(false).width(); }
  // The types of tokens by id, which rows keep apart; empty: all are of type 0.
  void set_types(std::span<const std::uint8_t> types);
  std::uint8_t type(std::uint32_t token) const { return types_.empty() ? std::uint8_t{0} : types_[token]; }

  Place exact_start() const { return exact_start_; }
  Place relaxed_start() const { return relaxed_start_; }
  // Whether what is accepted from the relaxed start may be refused.
  bool is_relaxed() const { return exact_start_ != relaxed_start_; }

  bool accepting(Place place) const;
  // The place of the same sequence among the relaxed ones; itself, if it is one.
  Place relaxed(Place place) const { return known_[place].relaxed; }
  // Where a token leads; kNone: it is refused.
  Place after(Place place, std::uint32_t token, Budget& budget);
  // No fewer tokens lead to an end.
  std::uint32_t least(Place place) const;
  // Tokens that lead from the exact start to an end.
  const std::vector<std::uint32_t>& whole_text() const { return whole_text_; }
  // Tokens that lead from an exact place to an end.
  std::vector<std::uint32_t> ending(Place place, Budget& budget);
  bool accepts(std::span<const std::uint32_t> tokens, Budget& budget);

  struct Edge {
    Place target;
    std::uint32_t token;  // the least of its type that leads there
    std::uint8_t type;
  };
  struct Row {
    counted::vector<Edge> edges;  // by token
    bool is_whole = true;
  };
  const Row& row(Place place, Budget& budget);

 private:
  using Configuration = TokenAutomaton::Configuration;
  static constexpr std::uint32_t kAny = ~std::uint32_t{0}, kNoRow = ~std::uint32_t{0};
  struct Known {
    Configuration configuration;
    std::uint32_t canonical;  // index of the canonical state; kAny: any tokenization
    Place relaxed;            // itself: it is relaxed
    std::uint32_t row = kNoRow;
  };
  // The tokens of a relaxed place that an exact row tries.
  struct Tried {
    counted::vector<std::uint32_t> tokens;
    bool is_whole = true;
  };
  class RowMaker;

  bool is_exact(Place place) const { return known_[place].relaxed != place; }
  Place place_of(Configuration configuration, std::uint32_t canonical, Place relaxed);
  std::uint32_t number_of(CanonicalState state);
  template <class Visit>
  void walk(Configuration configuration, Budget& budget, Visit&& visit);
  void find_least();
  Row relaxed_row(Configuration configuration, Budget& budget);
  Row exact_row(Place place, Budget& budget);
  const Tried& tried(Place relaxed, Budget& budget);

  std::shared_ptr<const TokenPattern> pattern_;
  std::uint32_t depth_;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  std::optional<CanonicalAutomaton> canonical_;
  counted::vector<Known> known_;
  NumberTable known_index_;
  counted::deque<CanonicalState> canonicals_;
  NumberTable canonical_index_;
  counted::deque<Row> rows_;
  counted::unordered_map<Place, Tried> tried_;
  counted::vector<std::uint8_t> types_;
  std::uint32_t type_count_ = 1;
  counted::vector<std::uint32_t> partial_;      // tokens that are no whole code points
  counted::vector<std::uint32_t> least_below_;  // by type and node of the trie, of all others; kNone: there is none
  Place exact_start_ = kNone, relaxed_start_ = kNone;
  std::vector<std::uint32_t> whole_text_;
};

// Places that are kept between the repairs by one constraint.
using TokenPatternPtr = std::shared_ptr<const TokenPattern>;
using KeptTokenPlaces = Lender<TokenPlaces, TokenPatternPtr>;

class BorrowedTokenPlaces : public Loan<TokenPlaces, TokenPatternPtr> {
 public:
  using Loan::Loan;
  TokenPlaces& places() const { return borrowed(); }
  // Limits of the work with these places: what they hold already does not count.
  Limits limits_beyond(Limits limits) const;
};

}  // namespace tokamata

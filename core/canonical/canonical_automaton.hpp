// A pattern and a tokenizer together: which tokens may come next, so that the sequence is the tokenizer's own
// for a text that the pattern accepts.
//
// Problem.  A token that the pattern allows, and the tokenizer too, may still lead nowhere: for the pattern
// `ab` and the merge ab, `a` is a token that some text goes on with, and no canonical text of the pattern.
// So every bit needs a witness: a text that the pattern accepts from there, of which the sequence is a part.
//
// How.  Beyond the end of a pre-token a witness is a text alone: whatever it is, the tokenizer cuts it in
// some way.  Only the guesses that are still open bind it.  So behind a border the question is whether the
// languages of two automata over bytes meet, the pattern's and that of the hypothesis; it does not depend on
// the token, and is answered once for each pair of states.  Inside a pre-token the next token matters: some
// token must be allowed by the pattern, stand behind the last one, and live in turn.  Tokens once found to
// live in a pair of states are tried first.
//
//     Llama 3.1, pattern [a-z]+: after `th` the text may end (no letter need follow): alive by the border,
//     and so are all tokens that lead to this state.  [a-z]{3}: after `th` exactly one letter must follow,
//     inside the pre-token: some letter x is sought that BPE leaves apart, th|x.
//
// Masks.  What lives in a pair of states does not depend on the last token; a mask is the union over the
// hypotheses, less what may not stand behind the last token where the pre-token goes on.
//
// Source: the product is 001's CartesianMerge (algorithms 5 and 6), lazily and with borders; its relevant
// product states are what is searched here.  Cost: a walk of the kinds of tokens per pair of states, once;
// then copying a mask and clearing what the last token forbids.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "canonical/tokenization.hpp"
#include "composition/closed_form.hpp"
#include "composition/completions.hpp"
#include "composition/kinds_walk.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

class CanonicalAutomaton {
 public:
  using Place = TokenAutomaton::Place;

  CanonicalAutomaton(TokenAutomaton& pattern, std::shared_ptr<const Tokenization> tokenization)
      : pattern_(pattern), tokenization_(std::move(tokenization)) {}

  const Tokenization& tokenization() const { return *tokenization_; }

  MaskPtr known_mask(Place place, const CanonicalState& state) const;
  MaskPtr mask(Place place, const CanonicalState& state, Budget& budget);

  struct Target {
    StateId state;
    CanonicalState canonical;
  };
  // Where a token that is no stop token leads, if it is allowed.
  std::optional<Target> step(Place place, const CanonicalState& state, TokenId token, Budget& budget);
  // Whether some canonical sequence goes on from here to an accepted text.
  bool lives(Place place, const CanonicalState& state, Budget& budget);

  // Budgets: as Completions has them, for the tokenizer's own tokens alone.
  MaskPtr mask_within(Place place, const CanonicalState& state, TokenCount left, Budget& budget);
  TokenCount tokens_needed(Place place, const CanonicalState& state, Budget& budget) { return shortest(place, state, budget).size(); }
  std::vector<TokenId> shortest(Place place, const CanonicalState& state, Budget& budget);
  bool accepting(Place place, const CanonicalState& state) const {
    return pattern_.automaton().accepting(place.state) && tokenization_->may_end(state);
  }

  // The longest text that every canonical continuation begins with.
  std::string forced_text(Place place, const CanonicalState& state, Budget& budget);
  // All of it, as far as it is reached from the start; classes of tokens are single tokens.
  ClosedForm closed_form(Budget& budget);

  // Whether any context lets a text begin that the pattern accepts.
  bool lives_somewhere(StateId state, Budget& budget);

  // Forgets everything; states of the pattern have new numbers.
  void clear();
  // Masks with a smaller serial are no longer in the memo.
  std::uint64_t oldest_serial() const { return oldest_serial_; }
  // Bytes held, after masks were given up as far as `limit` asks for it.
  std::size_t reclaim(std::size_t limit);

 private:
  // What stands behind a token, the pre-token still open.
  struct Node {
    StateId state;
    TokenId last;
    Pieces::State pieces;
    TextState text;
    friend auto operator<=>(const Node&, const Node&) = default;
    friend bool operator==(const Node&, const Node&) = default;
  };
  // How many tokens suffice to come to an accepted text: kDead where none does, kEndless where some number
  // does that is not known.  A text needs no more tokens than it has bytes.
  static constexpr TokenCount kDead = ~TokenCount{0};
  static constexpr TokenCount kEndless = kDead - 1;
  static TokenCount more(TokenCount count, TokenCount by) { return count >= kEndless - by ? count : count + by; }

  // ---- masks
  using Words = std::vector<std::uint32_t>;
  struct PartKey {
    StateId state;
    bool at_start;
    std::uint16_t guess, place;
    Hypothesis::Edge edge;
    Pieces::State pieces;
    friend auto operator<=>(const PartKey&, const PartKey&) = default;
  };
  // What the text before adds to a part, and takes from it.
  struct Touch {
    std::uint16_t starter;
    std::uint8_t marks;
    AddedTokens::Open open;
    friend auto operator<=>(const Touch&, const Touch&) = default;
  };
  struct Part {
    Words words;
    // Of those, what lives wherever the normal form lets it stand; and what must be asked each time.
    std::vector<std::uint32_t> asked;
    bool has_meeting = false;
    TokenCount most = 0;  // that any of them needs behind it
  };
  struct Touched {
    std::vector<std::uint32_t> live, dead;
    TokenCount most = 0;
  };
  struct AddedWords {
    Words words;
    TokenCount most = 0;
  };
  const Part& part(const PartKey& key, Budget& budget);
  Part make_part(const PartKey& key, Budget& budget);
  void make_by_kinds(Part& part, const PartKey& key, Budget& budget);
  bool make_by_factors(Part& part, const PartKey& key, Budget& budget);
  class Judge;
  void judge_alone(Judge& judge, const PartKey& key, TokenId token, Budget& budget);
  void judge_group(Part& part, Judge& judge, const PartKey& key, StateId state, Words& group, Budget& budget);
  bool ends_code_point(const Node& node, std::vector<bool>& lands, int most, Budget& budget);
  void add_loop(Part& part, Judge& judge, const PartKey& key, const ClassLoop& loop, Budget& budget);
  Tokenization::WithinPtr within(const PartKey& key, const ClassLoop& loop, Budget& budget);
  TokenCount add_part(const PartKey& key, const Touch& touch, Words& words, Budget& budget);
  const Touched& touched(const PartKey& key, const Touch& touch, Budget& budget);
  TokenCount bound_after(const PartKey& key, const Touch& touch, TokenId token, Budget& budget);
  const AddedWords& added_words(Place place, AddedTokens::Open open, Budget& budget);

  // ---- where tokens lead in the pattern
  std::optional<StateId> pattern_step(Place place, TokenId token, Budget& budget);
  template <class Visit>
  void walk(Place place, const std::vector<bool>* first_classes, Budget& budget, Visit&& visit);
  std::vector<bool> classes_that_go_on(std::uint16_t guess, std::uint16_t text_place) const;

  // ---- liveness
  TokenCount bound(Place place, const CanonicalState& state, Budget& budget);
  TokenCount bound(const Node& node, Budget& budget);
  TokenCount bound_at_border(const Node& node, Budget& budget);
  TokenCount bound_by_text(StateId state, const TextState& text, Budget& budget);
  struct AddedStep {
    std::size_t number;
    StateId target;
  };
  TokenCount bound_behind(const AddedStep& added, AddedTokens::Open open, Budget& budget);
  TokenCount forbid(Place place, const CanonicalState& state, Words& words, Budget& budget);
  const std::vector<AddedStep>& added_steps(Place place, Budget& budget);
  TokenCount bound_inside(const Node& node, Budget& budget);
  TokenCount witness(const Node& node) const;
  TokenCount search_inside(const Node& node, bool all, Budget& budget);
  TokenCount shortest_of(StateId state) const;
  bool is_unbound(StateId state, const TextState& text);

  TokenAutomaton& pattern_;
  std::shared_ptr<const Tokenization> tokenization_;
  std::map<PartKey, Part> parts_;
  std::map<std::tuple<StateId, bool, AddedTokens::Open>, AddedWords> added_words_;
  Words scratch_;
  std::map<std::pair<PartKey, Touch>, Touched> touched_;
  struct Made {
    std::shared_ptr<Mask> mask;
    TokenCount most;  // that any of its tokens needs behind it
  };
  const Made& made_mask(Place place, const CanonicalState& state, Budget& budget);
  bool is_within(Place place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route, Budget& budget);
  struct MaskKey {
    StateId state;
    bool at_start;
    CanonicalState canonical;
    friend bool operator==(const MaskKey&, const MaskKey&) = default;
  };
  struct MaskHash {
    std::size_t operator()(const MaskKey& key) const;
  };
  static constexpr std::size_t kMostMasks = 256;  // places are hardly met again
  std::shared_ptr<Mask> spare_mask();
  std::unordered_map<MaskKey, Made, MaskHash> masks_;
  std::deque<const MaskKey*> mask_order_;  // of the map's own keys
  struct PairHash {
    std::size_t operator()(const std::pair<StateId, TextState>& pair) const {
      const TextState& text = pair.second;
      std::uint64_t hash = (std::uint64_t{pair.first.value} << 32) | (std::uint64_t{text.guess} << 16) | text.place;
      hash ^= ((std::uint64_t{text.open} << 24) ^ (std::uint64_t{text.starter} << 8) ^ text.marks) * 0x9E3779B97F4A7C15u;
      return static_cast<std::size_t>((hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9u);
    }
  };
  std::unordered_map<std::pair<StateId, TextState>, TokenCount, PairHash> by_text_;
  std::map<std::pair<StateId, bool>, std::vector<AddedStep>> added_steps_;
  std::map<Node, TokenCount> inside_;
  std::unordered_map<std::pair<StateId, TextState>, std::vector<std::pair<TokenId, TokenCount>>, PairHash> witnesses_;
  std::map<std::tuple<StateId, bool, CanonicalState>, TokenCount> at_least_;  // where a search has failed
  std::atomic<std::uint64_t> oldest_serial_ = 0;  // read without the lock
};

}  // namespace tokamata

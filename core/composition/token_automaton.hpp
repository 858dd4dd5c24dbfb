// The pattern composed with the vocabulary: an automaton over tokens, computed lazily.
//
// Problem.  Which tokens may follow, and to which states do they lead?  002, algorithm 2, composes the pattern with the
// detokenizing transducer.  Here the trie is the transducer, and a walk of the trie in step with the byte automaton is
// the composition.  Only the masks are kept.
//
// A set bit means that tokens lead from this token to some accepted text.  A state from which tokens lead to an
// accepted text is spellable.
//
// Masks are computed per clipped state (clip.cpp); the oldest are dropped first.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "composition/class_trie.hpp"
#include "composition/factored_mask.hpp"
#include "composition/loops.hpp"
#include "composition/mask.hpp"
#include "composition/mask_walk.hpp"
#include "composition/mask_work.hpp"
#include "composition/part_at.hpp"
#include "composition/rule_masks.hpp"
#include "composition/stack_memo.hpp"
#include "expression/byte_automaton.hpp"
#include "vocabulary/segment.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

class LanguageMasks;

// Contract.
//   - Lifetimes.  It owns its byte automaton and shares the vocabularies.  Whoever holds a MaskPtr or a segment keeps
//     it.  A `const MaskPtr&` or a `const MaskPtr*` is good until the next call of a member that is not const, as is
//     the reference that `loops` returns; the loops themselves stay where they are until `keep_only`, and so does a
//     segment's pointer.
//   - Compaction.  `keep_only` renumbers states as ByteAutomaton does.  It keeps the masks of the states named, and
//     forgets all else that was computed.  Segments stay with the vocabulary.
//   - Locks.  It has none: one thread at a time, which holds the lock of its Constraint.  `oldest_serial` alone needs
//     no lock.
//   - Errors.  As for ByteAutomaton: a memo keeps only whole values.  If `keep_only` throws, either all states have
//     their new numbers or none has; masks and other memos may be lost, and are recomputed.
//   - `known_mask` and `try_step` compute nothing: they answer from the memos, or return nothing.
class TokenAutomaton {
 public:
  // The ids of the control tokens that a pattern names; a name may stand for any one of several.
  using ControlTokens = std::map<std::string, std::vector<TokenId>>;

  // `start_vocabulary`, unless null, has the bytes of tokens at the start of a text (Llama 2 drops a space
  // there).  Throws std::invalid_argument if the pattern names a control token that is not among
  // `control_tokens`, or that is a text token or a stop token.
  TokenAutomaton(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                 std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
                 const Limits& limits, std::shared_ptr<const CancelToken> cancel);
  ~TokenAutomaton();

  // A state of the byte automaton, and whether the text is still empty.
  struct Configuration {
    StateId state;
    bool at_start;
    bool operator==(const Configuration&) const = default;
  };
  Configuration start() const { return {automaton_.start(), has_start_rule()}; }
  // Whether the first token of a text may have other bytes.
  bool has_start_rule() const { return start_vocabulary_ != nullptr; }

  // Null where the mask is not in the memo.
  const MaskPtr* known_mask(Configuration configuration) const;
  const MaskPtr& mask(Configuration configuration, Budget& budget);
  // The stop tokens alone.
  const MaskPtr& stop_mask() const { return stop_mask_.shared(); }

  // The state after a token that is not a stop token; nothing if the token is not allowed.
  std::optional<StateId> step(Configuration configuration, TokenId token, Budget& budget);

  // The same from memos only; nothing if they do not suffice.
  std::optional<std::optional<StateId>> try_step(Configuration configuration, TokenId token) const;

  // Whether tokens lead to some accepted text.
  bool spellable(Configuration configuration, Budget& budget);
  // Whether the pattern surely accepts no text at all, whatever the vocabulary can spell.
  bool is_empty(Budget& budget);

  // The longest text that every accepted continuation begins with.
  std::string forced_text(Configuration configuration, Budget& budget);

  // How many bytes of a text are read before the state is dead, and the state after them.
  struct Reading {
    std::size_t length;
    StateId state;
  };
  Reading read(StateId state, std::string_view text, Budget& budget);
  // The bytes that lead to a live state.
  ByteSet live_bytes(StateId state, Budget& budget);
  // The alternatives of a state, if its mask is the union of their masks and one of them is a loop over a wide
  // class; and the tokens that stay inside such a class.
  std::optional<Factors> factors(StateId state);
  MaskCache::TokensPtr inside(const ClassLoop& loop, Budget& budget);
  // Whether a state holds rules, so that its mask is computed from its over-approximation (expression/rules.hpp).
  bool has_rule_mask(StateId state) const {
    const ExpressionNode& node = automaton_.node(state);
    return node.rules && lives_by_bytes_ && !node.constrained;
  }
  // The same where bytes alone are read from there, so that all that is known of rules holds.
  bool is_approximated(StateId state) const {
    return has_rule_mask(state) && (controls_.empty() || automaton_.node(state).text);
  }
  // The configuration of the over-approximation of a state.
  Configuration approximated(Configuration configuration, Budget& budget);
  // The tokens that the state may treat in another way than its over-approximation, because of a text that begins as
  // they do.
  Words ambiguous_tokens(StateId state, Budget& budget);
  // The segment of a terminal that begins at a node of the trie.
  const std::shared_ptr<const Segment>& segment(ExpressionId terminal, NodeId node, Follow follow, Budget& budget);
  // The same where it begins at a node of the remainders of another segment.
  const std::shared_ptr<const Segment>& segment_within(ExpressionId terminal, const TokenTrie& remainders, NodeId node,
                                                       Follow follow, Budget& budget);
  // The tokens below a node that a terminal may treat otherwise than the one without its exclusions; nothing if these
  // are more than `most`.
  std::optional<std::vector<std::uint32_t>> tokens_along(const Arena::WithStrings& with, NodeId from, std::size_t most,
                                                         Budget& budget);
  // The segment of a part of a grammar that begins at a node of a trie; null if it has none, because its tokens must be
  // judged with what follows it.
  const RulesSegment* rules_segment(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                    Budget& budget);
  PartSegments& part_segments() { return part_segments_; }
  // Whether a terminal is text of nearly any characters, which may end after nearly each of them, and which its
  // expression does not show to be so: a complement.  Its segment would have all that may stand behind any character.
  bool is_free_text(ExpressionId terminal, Budget& budget);
  // A superset of the bytes that an expression may begin with.
  ByteSet beginnings(ExpressionId expression);
  // What an expression begins with, as its mask asks for the segment of a terminal before it.
  Follow follow_of(ExpressionId expression) {
    return automaton_.arena().joins_rules() && !beginnings(expression).intersects(kWordBytes) ? Follow::NoWord
                                                                                              : Follow::AnyByte;
  }
  // The code points that a state can read repeatedly.
  const counted::vector<Loop>& loops(StateId state, Budget& budget);
  // The state after a token edge.
  StateId edge(StateId state, Budget& budget) {
    return uses_edges_ ? automaton_.next(state, Symbol::edge(), budget) : state;
  }
  // Whether some accepted text can be reached in tokens from a state after an edge.
  bool spellable(StateId state, Budget& budget);

  // Bounds on the number of tokens to an accepted text, without a search.
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  struct Room {
    std::uint64_t at_least, at_most;
  };
  Room room(StateId state) const;
  // A bound on the tokens that are needed after any allowed token; kEndless: not known.
  std::uint64_t most_after(Configuration configuration) const;
  // A mask of the given tokens, and of the stop tokens if the text is accepted.
  MaskPtr mask_of(Configuration configuration, std::span<const std::uint32_t> tokens) {
    return mask_of(configuration, tokens, automaton_.accepting(configuration.state));
  }
  MaskPtr mask_of(Configuration configuration, std::span<const std::uint32_t> tokens, bool is_accepted);
  // The same of a row of bits.
  MaskPtr mask_of_row(Configuration configuration, Words row);

  // The token classes that the pattern distinguishes, computed at the first use.
  ClassTrie& class_trie(bool at_start);

  // Whether each byte that the pattern uses is a token, and tokens are all that it sees: what can be spelled can be
  // spelled byte by byte.
  bool is_spelled_by_bytes() const { return lives_by_bytes_; }

  // The control tokens that the pattern names.
  const std::vector<TokenId>& controls() const { return controls_; }

  const Vocabulary& vocabulary(bool at_start) const { return at_start ? *start_vocabulary_ : *vocabulary_; }
  const std::shared_ptr<const Vocabulary>& shared_vocabulary() const { return vocabulary_; }
  ByteAutomaton& automaton() { return automaton_; }
  const ByteAutomaton& automaton() const { return automaton_; }

  // Masks with a smaller serial have been dropped from the memo.
  std::uint64_t oldest_serial() const { return oldest_serial_; }
  // The number of the next mask that is made, here or from this automaton.
  std::uint64_t take_serial() { return next_serial_++; }

  // What was done for masks so far.
  MaskWork work() const {
    MaskWork all = work_;
    all.states = automaton_.state_count();
    return all;
  }
  // To be added to by those who make masks.
  MaskWork& counted_work() { return work_; }
  TimeOfPart timed_mask() { return {work_.seconds, makes_mask_}; }

  // Drops masks, oldest first, until the account holds no more than `limit` bytes or one mask is left.
  void trim_masks(std::size_t limit);
  // Frees every state except the start and those named, whose new numbers replace the old ones in place.
  void keep_only(std::span<StateId* const> states);

 private:
  friend class LanguageMasks;
  friend class MaskRecorder;
  enum class Spelling : std::uint8_t { Unknown, Yes, No };
  struct StateData {
    StateId mask_state{~std::uint32_t{0}};  // whose mask this state shares
    Kept<Mask> mask;
    counted::vector<Loop> loops;
    bool loops_known = false;
    Spelling spelling = Spelling::Unknown;
    std::uint64_t at_most = kEndless;     // tokens to an accepted text, where a search has met this state
    std::uint64_t most_after = kEndless;  // the most that any state met by its mask needs
  };
  // Of masks that were read from a file: a row that several of them share.
  struct HeldRow {
    SharedWords words;
    std::size_t memory_bytes() const { return shared_block_bytes<Words>() + block_bytes_of(*words); }
  };
  StateData& data(StateId state);
  std::uint64_t most_from(StateId state) const;
  static std::uint64_t endless_if_capped(std::uint32_t length);
  template <class Task>
  void with_walk(bool at_start, Budget& budget, Task&& task);
  MaskPtr factored_mask(StateId state, Budget& budget);
  void add_inside(const ClassLoop& loop, Mask& mask, Budget& budget);
  bool without_loops(Configuration configuration, Budget& budget);
  bool leads_back(StateId state, Budget& budget);
  MaskPtr mask_by_classes(Configuration configuration, Budget& budget);
  std::optional<Symbol> control_symbol(TokenId token) const;

  MaskPtr build_mask(Configuration configuration, Budget& budget);
  MaskPtr make_mask(const Vocabulary& vocabulary, const std::vector<TokenRange>& ranges,
                    const std::vector<TokenId>& controls, bool accepting);
  void remember(StateId state, MaskPtr mask);

  // Of states that hold rules: approximate_masks.cpp, rule_masks.cpp, segments.cpp.
  Segment make_segment(ExpressionId terminal, NodeId node, Follow follow, Budget& budget);
  Segment walked_segment(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow, Budget& budget);
  std::optional<Segment> bounded_segment(ExpressionId terminal, const Arena::Unbounded& unbounded, Budget& budget);
  std::optional<Segment> segment_without(ExpressionId terminal, const Arena::WithStrings& with, NodeId node,
                                         Budget& budget);
  std::optional<Segment> judged_segment(Segment made, ExpressionId terminal, NodeId node,
                                        std::vector<std::uint32_t> judged, Budget& budget);
  class UnverifiedTokens;
  // The tokens among some that the state does not allow: unverified.cpp.
  std::vector<std::uint32_t> refused_tokens(StateId state, std::vector<std::uint32_t> unverified, Budget& budget);
  RuleMaskMaker& rule_mask_maker();
  void remember_rule_mask(StateId state, Budget& budget);
  struct NextControl {
    TokenId token;
    StateId target;
  };
  std::vector<NextControl> next_controls(StateId state, Budget& budget);
  struct ApproximationCut {
    ExpressionId approximation;
    std::vector<TokenRange> refused, unverified;
  };
  std::vector<ApproximationCut> approximation_cuts(StateId state, NodeId from, Budget& budget);
  struct RuleMaskHolder {
    StateId state;             // whose mask it is
    std::uint64_t most_after;  // of the over-approximation that was given
  };
  RuleMaskHolder made_rule_mask(ExpressionId approximation, Budget& budget);
  bool has_stack_memo(ExpressionId expression) const;
  std::optional<RuleMaskHolder> known_rule_mask(ExpressionId expression);
  RuleMaskHolder united_rule_mask(StateId state, Budget& budget);
  MaskPtr mask_with_stops(MaskBits bits, StateId state);

  LanguageMasks& language_masks();
  bool has_terminal_mask(StateId state) const;
  bool lives_along_text(StateId state, Budget& budget);
  std::optional<bool> lives_in_language(StateId state, Budget& budget);
  std::optional<bool> measured_spelling(StateId state, Budget& budget);
  bool search_spelling(StateId state, Budget& budget);
  std::vector<StateId> successors(StateId state, Budget& budget);
  bool lives(StateId state, Budget& budget);
  std::vector<StateId> token_targets(StateId state, const TokenTrie& trie, Budget& budget);
  bool lives_below(NodeId node, StateId state, const TokenTrie& trie, Budget& budget);

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Vocabulary> start_vocabulary_;
  ByteAutomaton automaton_;
  std::vector<TokenId> controls_;  // in the order of Symbol::control
  bool uses_edges_;
  bool every_byte_is_token_;  // of the bytes that the pattern uses
  bool lives_by_bytes_;       // what lives over bytes can be spelled: one byte, one token
  bool whole_leads_;          // all continuation bytes are tokens of their own
  counted::vector<StateData> data_;
  std::optional<ClassTrie> class_trie_;
  std::optional<ClassTrie> start_class_trie_;
  bool walks_are_long_ = false;                     // from states without loops
  std::unique_ptr<RuleMaskMaker> rule_mask_maker_;  // made with the first mask of rules
  std::unique_ptr<LanguageMasks> language_masks_;   // made with the first state of rules within a regular language
  // and so the tries of remainders that keys point to
  counted::unordered_map<PartAt, Kept<Segment>, PartAt::Hash> segments_;
  counted::unordered_map<PartAt, Kept<RulesSegment>, PartAt::Hash> rules_segments_;
  PartSegments part_segments_;
  counted::vector<std::optional<ByteSet>> beginnings_;  // by expression
  StackMemo stack_memo_;
  // by the states whose masks are united; whose mask it is
  counted::map<counted::vector<StateId>, StateId> united_masks_;
  // by the state whose mask it is
  counted::unordered_map<std::uint32_t, counted::vector<std::uint32_t>> unverified_;
  Kept<Mask> start_mask_;
  Kept<Mask> stop_mask_;
  counted::vector<Kept<HeldRow>> held_rows_;
  counted::deque<StateId> mask_states_;  // those that have a mask, oldest first
  MaskWork work_;
  bool makes_mask_ = false, makes_segment_ = false, judges_tokens_ = false;  // at present
  std::uint64_t next_serial_ = 0;
  std::atomic<std::uint64_t> oldest_serial_ = 0;  // read without the lock
};

}  // namespace tokamata

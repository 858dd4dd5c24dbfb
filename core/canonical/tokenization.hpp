// The tokenizer itself as an automaton over tokens: which sequences are what it makes of their own text.
//
// Problem.  Follow a sequence of tokens and say, of each further token, whether some text exists whose
// canonical tokenization goes on with it.
// Example.  Llama 3.1, after the tokens [220, 220], two spaces: ["  "] would be right for any text that ends
// here, or goes on with a space; only before something else than white space does the pre-tokenizer part
// them.  So the sequence is refused alone, and right before `1`.
// How.  A *hypothesis* is a guess about what was read (text_rules.hpp), and about the token edge just
// reached: either a pre-token ends here, or it goes on and its pieces are followed (pieces.hpp).  A state is
// the set of hypotheses that still stand, two to six of them.  A token that was added cuts the
// text: it ends the stretch before it, and a new one begins after it.
//
// What is here belongs to a tokenizer, and is shared by all constraints; it is immutable except for
// memos, which have a lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "canonical/pieces.hpp"
#include "canonical/text_rules.hpp"
#include "common/memory_account.hpp"
#include "common/mutex.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

struct Hypothesis {
  enum class Edge : std::uint8_t {
    Border,  // a pre-token ends here, and the next token begins one
    Inside,  // the pre-token goes on, or the text ends
  };
  std::uint16_t guess;
  std::uint16_t place;
  Edge edge;
  Pieces::State pieces;  // of what is inside

  friend bool operator==(const Hypothesis&, const Hypothesis&) = default;
  friend auto operator<=>(const Hypothesis&, const Hypothesis&) = default;
};

// What a sequence of tokens leads to.
struct CanonicalState {
  std::vector<Hypothesis> hypotheses;  // in order
  TokenId last{};                      // the token before, where a hypothesis is inside
  std::uint16_t starter = 0;
  std::uint8_t marks = 0;
  AddedTokens::Open open = AddedTokens::kNothing;
  bool is_start = false;  // of a text

  friend bool operator==(const CanonicalState&, const CanonicalState&) = default;
  friend auto operator<=>(const CanonicalState&, const CanonicalState&) = default;
};

// Where the tokens lead by the rules of the text, from one guess and place.  Few do from within a code point,
// and are listed; between code points most do, and each has an entry.
class Landing {
 public:
  struct Target {
    std::uint16_t guess, place;
  };
  const std::vector<Target>& targets() const { return targets_; }
  // 1 + the number of the token's target, 0 where it is dead.
  std::uint16_t target_of(std::uint32_t token) const {
    if (!by_token_.empty()) return by_token_[token];
    const auto known = std::ranges::lower_bound(listed_, token, {}, &std::pair<std::uint32_t, std::uint16_t>::first);
    return known != listed_.end() && known->first == token ? known->second : std::uint16_t{0};
  }
  // Those that do, from within a code point.
  std::span<const std::pair<std::uint32_t, std::uint16_t>> listed() const { return listed_; }
  std::size_t memory_bytes() const { return by_token_.size() * 2 + listed_.size() * 8 + sizeof *this; }

 private:
  friend class Tokenization;
  class Numbering;
  std::vector<Target> targets_;
  std::vector<std::uint16_t> by_token_;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> listed_;
};
using LandingPtr = std::shared_ptr<const Landing>;

// Why a token stands in no canonical sequence after a state.
enum class Refusal : std::uint8_t { None, NeverMade, Merge, PreToken, Normalizer, AddedToken };

class Tokenization {
 public:
  // `never_first`: tokens that begin no text, in order.  `added[i]`: the token of the i-th text that `rules` cuts out.
  // `byte_tokens`: those of single bytes, which stand for code points that the vocabulary lacks.
  Tokenization(std::shared_ptr<const Vocabulary> vocabulary, TextRulesTables rules,
               std::unique_ptr<const Pieces> pieces, std::vector<std::uint32_t> added,
               std::vector<std::uint32_t> byte_tokens, std::vector<std::uint32_t> never_first);

  const TextRules& rules() const { return rules_; }
  const Pieces& pieces() const { return *pieces_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  CanonicalState start() const {
    CanonicalState state = begun(rules_.text_starts(), AddedTokens::kNothing);
    state.is_start = true;
    return state;
  }
  // Nothing where no text is tokenized so.
  std::optional<CanonicalState> step(const CanonicalState& state, TokenId token) const;
  Refusal why_not(const CanonicalState& state, TokenId token) const;
  // Whether the text may end, so that the sequence is canonical as it is.
  bool may_end(const CanonicalState& state) const { return (ends_of(state) & 1) != 0; }
  // `marks`: of the text that the hypothesis is about.
  bool may_end(const Hypothesis& hypothesis, std::uint8_t marks) const { return (ends_of(hypothesis, marks) & 1) != 0; }
  // The ends that the stretch of text may have here; see TextRules::ends_of.
  std::uint8_t ends_of(const CanonicalState& state) const;
  std::uint8_t ends_of(const Hypothesis& hypothesis, std::uint8_t marks) const {
    const bool is_whole = hypothesis.edge == Hypothesis::Edge::Border || pieces_->may_finish(hypothesis.pieces);
    if (!is_whole) return 0;
    return rules_.ends_of({.guess = hypothesis.guess, .place = hypothesis.place, .marks = marks});
  }

  // The number of an added token, if it is one that text is cut at.
  std::optional<std::size_t> added_number(TokenId token) const {
    const auto known = added_number_.find(token.value);
    return known == added_number_.end() ? std::nullopt : std::optional(known->second);
  }
  std::span<const std::uint32_t> added() const { return added_; }
  // What one adds to a text: its bytes; its content where it has none.
  std::string_view added_text(std::size_t number) const {
    return is_control({added_[number]}) ? rules_.added().content(number) : vocabulary_->bytes({added_[number]});
  }
  // The hypotheses after one.
  std::span<const std::uint16_t> starts_after(std::size_t number) const {
    return rules_.starts_after_added(number, is_control({added_[number]}));
  }
  // Those of one number may stand after the same texts, and have the same hypotheses after them.
  std::uint16_t added_kind(std::size_t number) const {
    return static_cast<std::uint16_t>(2 * rules_.added_kind(number) + (is_control({added_[number]}) ? 1 : 0));
  }
  // The matches that one leaves under way where none was before.
  AddedTokens::Open behind_added(std::size_t number) const { return (*behind_added_)[number]; }
  // The tokens that do not leave the same matches under way after these as they do after none, or complete one.
  std::shared_ptr<const std::vector<std::uint32_t>> distinguished(AddedTokens::Open open) const;
  // Their texts, with their numbers for tokens.
  const TokenTrie& added_trie() const { return *added_trie_; }
  // Those that stay inside a class of code points, whose tokens are given: by their kind, by what they leave under way,
  // and how many code points they have.
  struct AddedInsideClass {
    struct Group {
      std::uint16_t kind;
      AddedTokens::Open after;
      std::size_t length;
      std::shared_ptr<const std::vector<std::uint32_t>> numbers;
    };
    std::vector<Group> groups;
    std::size_t longest = 0;
  };
  using AddedInsideClassPtr = std::shared_ptr<const AddedInsideClass>;
  AddedInsideClassPtr find_added_inside_class(const std::string& key) const { return added_inside_class_.find(key); }
  AddedInsideClassPtr make_added_inside_class(const std::string& key, const Words& inside) const;
  bool is_control(TokenId token) const { return vocabulary_->bytes(token).empty(); }
  // Whether the token is no first token of a text, since the decoder takes too much of it away.
  bool is_never_first(TokenId token) const { return std::ranges::binary_search(never_first_, token.value); }
  bool is_byte_token(TokenId token) const { return token.value < is_byte_.size() && is_byte_[token.value]; }
  // A token of this single byte that may stand inside a pre-token.
  std::optional<TokenId> byte_token(std::uint8_t byte) const {
    return single_[byte] == kNoToken ? std::nullopt : std::optional(TokenId{single_[byte]});
  }
  // Tokens that stand in no canonical sequence whatever is around them have a clear bit.
  const Words& possible() const { return possible_; }
  // Tokens of which it depends on the text before whether they keep its normal form, or what they leave.
  const Words& meeting() const { return meeting_; }
  // Those of them that lead to a special state of the normal form, or may only follow one: it is asked each time
  // whether they live.
  const Words& unsteady() const { return unsteady_; }
  // Tokens that may follow a special state, and lead elsewhere than after other states; in order.
  std::shared_ptr<const std::vector<std::uint32_t>> differing(std::uint16_t starter, std::uint8_t marks) const;
  // Tokens that leave the text of an added token under way.
  const Words& opening() const { return opening_; }
  // Tokens after which what may follow is decided by where they land: no normal form, no added token and no piece
  // state matters.  Where they begin a pre-token, or where they follow in state 0.
  const Words& plain(bool begins) const { return begins ? plain_begun_ : plain_following_; }
  // All tokens but those of `meeting` that do not keep the normal form after this starter and these marks; and after
  // a special state, but others that do not.
  const Words& fitting(std::uint16_t starter, std::uint8_t marks) const;

  LandingPtr landing(std::uint16_t guess, std::uint16_t place) const;
  // The same as sets of tokens, for those that may begin a pre-token, or those that may follow in state 0.
  struct LandingSets {
    std::vector<std::pair<std::uint16_t, Words>> many;         // number of the target, and tokens
    std::vector<std::pair<std::uint32_t, std::uint16_t>> few;  // token, and number of the target
    Words others;  // tokens that end within a code point, begin an added token, or meet a mark
  };
  using LandingSetsPtr = std::shared_ptr<const LandingSets>;
  LandingSetsPtr landing_sets(std::uint16_t guess, bool begins) const;

  // What stays inside a class of code points, after one hypothesis, for all constraints: the tokens by where
  // they land, from where a text must be able to go on at a border for all of them to live.
  struct InsideClass {
    struct Group {
      TextState text;
      TokenSet tokens;  // those of its bits end between code points
      bool has_meeting = false;
    };
    std::vector<Group> groups;
    std::vector<std::uint32_t> doubtful;  // tokens of which it is not known where they land
    std::size_t longest = 0;              // code points begun in one of them
    std::size_t memory_bytes() const;
  };
  // What stays inside a terminal, for all constraints (terminal_exits.hpp): the tokens that may stand in a canonical
  // sequence, with the number of what they leave of the terminal.  Where many leave the same they are bits, and those
  // among them that end within a code point leave something else.
  struct TerminalSteps {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tokens;  // and number
    std::vector<std::pair<std::uint32_t, Words>> many;            // number, and tokens
    std::vector<std::string> samples;                             // by number: what leaves it
    std::size_t memory_bytes() const;
  };
  using TerminalStepsPtr = std::shared_ptr<const TerminalSteps>;
  // The same tokens after one hypothesis, by a way out of the terminal.
  struct TerminalExits {
    struct Group {
      // Where the text stands at the end of the terminal: at the end of the token, its pre-token open; after a
      // border, wherever further tokens begin and end; or after further tokens of the pre-token.
      enum class Kind : std::uint8_t { Token, Text, Inside };
      TextState exit;
      Kind kind;
      TokenId last;        // Inside: the last of these tokens
      std::size_t length;  // of the longest text that leads there from the end of a token, in bytes
      TokenSet tokens;
    };
    std::vector<Group> groups;
    std::vector<std::uint32_t> doubtful;  // tokens for which none was found, or it depends on the text before
    std::size_t longest() const {         // of the groups' lengths
      return groups.empty() ? 0 : std::ranges::max_element(groups, {}, &Group::length)->length;
    }
    std::size_t memory_bytes() const;
  };
  using TerminalExitsPtr = std::shared_ptr<const TerminalExits>;
  SharedMemo<std::string, InsideClass>& inside_class() const { return inside_class_; }
  SharedMemo<std::string, TerminalSteps>& terminal_steps() const { return terminal_steps_; }
  SharedMemo<std::string, TerminalExits>& terminal_exits() const { return terminal_exits_; }

  using InsideClassPtr = std::shared_ptr<const InsideClass>;
  // Pieces::before, kept.
  std::shared_ptr<const Words> before(TokenId token) const;

  // Reads a token that was not added; starters, marks and added tokens are followed too.
  bool read(TextState& state, TokenId token) const;

  std::size_t memory_bytes() const;

 private:
  CanonicalState begun(std::span<const std::uint16_t> guesses, AddedTokens::Open open) const;
  void find_possible();
  void find_symbol_paths();
  void land_from_between(std::uint16_t guess, Landing& landing) const;
  void land_from_within(std::uint16_t guess, std::uint16_t place, Landing& landing) const;
  template <class Visit>
  void for_each_byte_token(std::uint16_t guess, std::uint16_t place, Visit&& visit) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  TextRules rules_;
  std::unique_ptr<const Pieces> pieces_;
  std::vector<std::uint32_t> added_;
  std::map<std::uint32_t, std::size_t> added_number_;
  std::shared_ptr<const std::vector<AddedTokens::Open>> behind_added_;
  std::unique_ptr<const TokenTrie> added_trie_;
  static constexpr std::uint32_t kNoToken = ~std::uint32_t{0};
  std::array<std::uint32_t, 256> single_;
  std::vector<bool> is_byte_;
  std::vector<std::uint32_t> byte_tokens_;
  std::vector<std::uint32_t> never_first_;
  Words possible_, meeting_, unsteady_, opening_, plain_begun_, plain_following_;
  std::vector<std::uint32_t> meeting_tokens_;
  // What tokens are to the hypotheses, from between code points: a node of the trie of their symbols, and the place
  // in the code point that is left open.
  struct SymbolPath {
    std::uint32_t node;  // kNoToken where the token is not possible there
    std::uint16_t place;
  };
  struct SymbolNode {
    std::uint32_t parent;  // one that comes before
    std::uint16_t symbol;
  };
  std::vector<SymbolPath> symbol_paths_;
  std::vector<SymbolNode> symbol_nodes_;
  mutable Mutex mutex_;
  mutable std::map<std::uint32_t, LandingPtr> landings_;  // by guess and place
  mutable std::map<std::uint32_t, Words> fitting_;        // by starter and marks
  static constexpr std::size_t kMostInsideClassBytes = 16 << 20;
  mutable SharedMemo<std::string, InsideClass> inside_class_{kMostInsideClassBytes};
  mutable SharedMemo<std::string, AddedInsideClass> added_inside_class_{256};
  mutable SharedMemo<AddedTokens::Open, std::vector<std::uint32_t>> distinguished_{256};
  mutable SharedMemo<std::uint16_t, std::vector<std::uint32_t>> differing_{64};
  mutable SharedMemo<std::uint32_t, Words> before_{64};
  mutable SharedMemo<std::string, TerminalSteps> terminal_steps_{256};
  mutable SharedMemo<std::uint32_t, LandingSets> landing_sets_{64};
  mutable SharedMemo<std::string, TerminalExits> terminal_exits_{512};
};

}  // namespace tokamata

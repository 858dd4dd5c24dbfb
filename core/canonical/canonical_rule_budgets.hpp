// The fewest canonical tokens that complete a text of rules, and masks within a budget.
//
// Problem.  That of composition/rule_completions.hpp, for canonical sequences.  After the tokens so far, the closing
// text of a state has at most one canonical tokenization, and may have none: after `["c":[` no canonical sequence of
// Llama 3.1 continues with `]}`, since `[]` is a token; with a line break before the `]`, one does.
// How.  The same branch and bound (composition/fewest_tokens.hpp), over pairs of a state of the pattern and one of the
// tokenizer.  The upper bound is the canonical tokenization of the closing text.  A search down that text, longest
// tokens first, finds it, and keeps each pair of states.  Tokens are followed in the groups of the over-approximation;
// of each group, those with the least ids.  For masks, each token of a small group is tested.  Of a large group those
// with the least ids are tested.  The whole group is allowed if each of them leaves kSpare tokens of room, which is
// enough for the tokens that close less well.  Where the closing text has no canonical tokens after most of a group, a
// short search after each of its tokens follows:  after `{"a":`, where `":` is a token, none continues with `""}`,
// since `":"` is a token, but some do with a space.  Groups are those of the over-approximation, so that all positions
// within a string have the same, which are kept for a while.  Where a state takes every code point below a node of the
// trie as a loop, all tokens there are of one group, and no state is made for each.
// Cost.  A step of the tokenizer for each token of a closing text, once for each pair of states; of a search,
// kMostPairs such texts at most.  Rejected: the exact search of canonical_budgets.hpp, which does not end with
// recursion.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "canonical/canonical_configuration.hpp"
#include "canonical/tokenization.hpp"
#include "common/bits.hpp"
#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "common/token_set.hpp"
#include "composition/rule_completions.hpp"

namespace tokamata {

class CanonicalRuleBudgets {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalRuleBudgets(TokenAutomaton& pattern, const Tokenization& tokenization, RuleCompletions& completions)
      : pattern_(pattern), tokenization_(tokenization), completions_(completions) {}

  bool serves(Configuration place, Budget& budget) { return completions_.serves(place.state, budget); }
  // The fewest tokens found that lead to an accepted text; nothing if the search stopped early without one.
  std::optional<std::vector<TokenId>> shortest(ConfigurationKey place, Budget& budget);
  // The first canonical token of the closing text, if that has at most `left` tokens.
  std::optional<TokenId> closing_token(const ConfigurationKey& place, TokenCount left, Budget& budget) {
    const TokenCount tokens = closing(place, budget);
    return tokens > 0 && tokens != kNoTokens && tokens <= left ? std::optional(closed_.at(place).token) : std::nullopt;
  }
  // Of the tokens of a mask, those after which at most `left` - 1 more suffice.
  std::vector<std::uint32_t> tokens_within(const ConfigurationKey& place, TokenCount left, const Words& allowed,
                                           Budget& budget);

  void clear();

 private:
  static constexpr std::size_t kMostPairs = 1 << 11, kMostClasses = 1 << 17, kMostStates = 1 << 15;
  static constexpr std::size_t kAlike = 24;           // tokens that are followed, or asked, of a large group
  static constexpr std::size_t kMostTries = 1 << 12;  // dead ends of one closing text
  static constexpr std::size_t kFewPairs = 1 << 5;    // of the search after one token
  static constexpr TokenCount kSpare = 8;
  // In place of the first token of a closing text that has no canonical tokens: a search has found nothing either.
  static constexpr TokenId kSearched{1};

  using Search = FewestTokens<ConfigurationKey, ConfigurationMap<TokenCount>>;
  using Step = Search::Step;
  struct Level;
  class Graph;
  // Tokens that lead to one over-approximated state each, in the order of their numbers.
  struct Groups {
    std::vector<TokenSet> all;
    std::size_t classes;  // token classes in them

    // Calls `visit` with the tokens of a group that are allowed, in order, until it returns false.
    template <class Visit>
    static void visit(const TokenSet& group, const Words& allowed, Visit&& visit) {
      for (const std::uint32_t token : group.listed)
        if (has_bit(allowed, token) && !visit(token)) return;
      if (group.is_listed()) return;
      const Words& row = *group.bits;
      for (std::size_t i = 0; i < std::min(row.size(), allowed.size()); ++i)
        for (std::uint32_t open = row[i] & allowed[i]; open != 0; open &= open - 1)
          if (!visit(static_cast<std::uint32_t>(32 * i) + static_cast<std::uint32_t>(std::countr_zero(open)))) return;
    }
    std::size_t memory_bytes() const {
      std::size_t bytes = shared_block_bytes<Groups>() + block_bytes_of(all);
      for (const TokenSet& group : all) bytes += group.memory_bytes();
      return bytes;
    }
  };
  using GroupsPtr = std::shared_ptr<const Groups>;
  bool accepts(const ConfigurationKey& place) const {
    return pattern_.automaton().accepting(place.state) && tokenization_.may_end(place.canonical);
  }
  GroupsPtr groups(const ConfigurationKey& place, Budget& budget);
  Groups make_groups(Configuration approximation, Budget& budget);
  // The canonical tokens of the closing text; kNoTokens if there are none.
  TokenCount closing(const ConfigurationKey& place, Budget& budget);
  TokenCount known(const ConfigurationKey& place, Budget& budget);
  // The same where the closing text has no canonical tokens, by a search that ends with `enough` tokens.
  TokenCount searched(const ConfigurationKey& place, TokenCount enough, Budget& budget);
  // The completion that is known for a pair of states.
  std::vector<TokenId> rest_of(ConfigurationKey place) const;
  Level level(ConfigurationKey place, Budget& budget);
  std::optional<ConfigurationKey> target(const ConfigurationKey& place, TokenId token, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  RuleCompletions& completions_;
  ConfigurationMap<Step> closed_;  // of closing texts
  ConfigurationMap<Step> found_;   // on ways that a search has found
  static constexpr std::size_t kMostGroupBytes = 8 << 20;
  BoundedMemo<counted::unordered_map<Configuration, Kept<Groups>, Configuration::Hash>> groups_{kMostGroupBytes};
};

}  // namespace tokamata

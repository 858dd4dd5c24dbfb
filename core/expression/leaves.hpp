// The automata that the leaves of expressions are states of, and the bytes that patterns distinguish.
//
// Problem.  A class of code points, a set of strings, a phrase or a language is an automaton, often a large one; a leaf
// of an expression is such an automaton and a state of it.  Each is kept once, with the lengths of shortest texts from
// each of its states.
// Example.  [a-zé] is an automaton over the bytes of UTF-8; é alone is two bytes, one after the other, and needs none.
// Cost.  Linear in an automaton, when it is added.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/byte_set.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "expression/leaf_automaton.hpp"
#include "expression/node.hpp"
#include "expression/phrase_search.hpp"
#include "expression/string_automaton.hpp"
#include "expression/utf8.hpp"

namespace tokamata {

// Contract.  Functions of a node are for leaves of the kind that they name.  Numbers of automata are good until a
// compaction.
class Leaves {
 public:
  // `single_bytes` are the bytes that the vocabulary has as tokens of their own.
  explicit Leaves(ByteSet single_bytes) : single_bytes_(single_bytes) {}

  // ---- of a leaf ----

  const ByteSet& byte_set(const ExpressionNode& node) const { return sets_[node.set()]; }
  const StringAutomaton& string_automaton(const ExpressionNode& node) const {
    return *strings_[node.automaton()].automaton;
  }
  const PhraseSearch& phrase_search(const ExpressionNode& node) const { return *searches_[node.automaton()].search; }
  const CodePointAutomaton& automaton(const ExpressionNode& node) const {
    return *automata_[node.automaton()].automaton;
  }
  LeafAutomaton& language(const ExpressionNode& node) const { return *languages_[node.automaton()].automaton; }
  // The byte of a node that stands for one alone.
  std::optional<std::uint8_t> only_byte(const ExpressionNode& node) const;
  // The bytes that its texts begin with; and the first bytes of all code points in them.
  ByteSet first_bytes(const ExpressionNode& leaf) const;
  ByteSet first_bytes_within(const ExpressionNode& leaf) const;
  static ByteSet first_bytes(const CodePointAutomaton& automaton, std::uint32_t state);

  // The number of a set of bytes, which is added where it is new: of Bytes and OneToken.
  std::uint32_t index_of(const ByteSet& set);

  // ---- of all patterns ----

  // Bytes that begin or end a range somewhere in the patterns added: bit b means that b - 1 and b
  // may behave differently.  Bytes between two such borders are one byte class.
  const ByteSet& class_borders() const { return class_borders_; }
  // All bytes that occur in the patterns added, and whether each is a token of its own.
  const ByteSet& pattern_bytes() const { return pattern_bytes_; }
  bool are_single_bytes() const { return pattern_bytes_.is_subset_of(single_bytes_); }
  const ByteSet& single_bytes() const { return single_bytes_; }
  // The control tokens that the patterns added name; Symbol::control(i) stands for the i-th.
  const std::vector<std::string>& control_tokens() const { return control_tokens_; }

  // Bytes that a pattern holds; by themselves they are ranges that are told apart.
  void note_bytes(const ByteSet& set);
  void note_bytes(const ByteSet& set, const ByteSet& borders) {
    pattern_bytes_ |= set;
    class_borders_ |= borders;
  }

 private:
  friend class LeafForms;
  friend class Compaction;

  struct KnownAutomaton {
    static constexpr ExpressionId kUnmade{~std::uint32_t{0}};
    std::shared_ptr<const CodePointAutomaton> automaton;
    counted::vector<ExpressionId> states;    // the expression of each state, or kUnmade
    counted::vector<std::uint32_t> spelled;  // of each state, as of a node
    counted::vector<std::uint32_t> shortest;
  };
  struct KnownStrings {
    Kept<StringAutomaton> automaton;
    counted::vector<std::uint32_t> spelled;
    counted::vector<std::uint32_t> shortest;
    std::uint32_t worst = 0;
    ByteSet used;
  };
  struct KnownLanguage {
    std::unique_ptr<LeafAutomaton> automaton;
    std::uint32_t worst;
    bool is_spelled;  // every byte that a shortest text may need is a token of its own
  };
  struct KnownSearch {
    std::shared_ptr<const PhraseSearch> search;
    std::uint32_t any_code_point;  // an automaton
    std::uint32_t spelled_from;    // all later bytes of the phrase are tokens of their own
  };

  std::uint32_t add_strings(const std::shared_ptr<const StringAutomaton>& automaton);
  std::uint32_t add_language(const std::shared_ptr<const LeafLanguage>& language);
  std::uint32_t add_search(const std::shared_ptr<const PhraseSearch>& search);
  std::uint32_t add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton);
  std::uint32_t add_control_token(const std::string& name);
  void note_each(const ByteSet& set);
  std::uint32_t code_point_state(const KnownSearch& known, std::string_view bytes) const;
  std::optional<std::uint32_t> find_automaton(const CodePointAutomaton& automaton) const;

  const ByteSet single_bytes_;
  counted::vector<ByteSet> sets_;
  NumberTable set_index_;
  counted::vector<KnownAutomaton> automata_;
  counted::unordered_multimap<std::uint64_t, std::uint32_t> automaton_index_;
  counted::vector<KnownStrings> strings_;
  counted::unordered_map<const StringAutomaton*, std::uint32_t> strings_index_;
  counted::vector<KnownSearch> searches_;
  counted::vector<KnownLanguage> languages_;
  counted::unordered_map<std::string, std::uint32_t> language_index_;  // by key
  std::vector<std::string> control_tokens_;
  ByteSet class_borders_;
  ByteSet pattern_bytes_;
};

}  // namespace tokamata

// Added tokens: texts that a tokenizer cuts out before anything else, the leftmost and longest first.
//
// Problem.  Where the text of an added token stands, the tokenizer takes that token, whatever ordinary
// tokens were meant.  So ordinary tokens must never spell one: `<`, `td`, `>` is refused where <td> is an
// added token.  And an added token is taken only where no match begins earlier or is longer: after one
// of 31 line ends no further line end may follow if there is one of 32.
// How.  All matches that are under way, as a set of nodes in the trie of the contents.  In ordinary text
// one begins at every place, and none may be completed.  After an added token those remain that began
// before it, and those that would make it longer.
// Example.  Contents  ab  and  abc :  after the token `ab` the set is {ab}, and `c` completes abc: refused.
// Source: Aho and Corasick, 1975, for the sets; they are made as they are met, and kept.
// Cost: nothing where no match is under way, which is nearly always; a look-up otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ids.hpp"
#include "common/memo.hpp"

namespace tokamata {

class AddedTokens {
 public:
  using Open = Id<struct OpenMatchesTag>;  // the matches under way, by number
  static constexpr Open kNothing{0};
  static constexpr Open kDead{~std::uint32_t{0}};

  // A content that is empty is never in a text: its token stands between texts alone.  `are_apart`: the decoder
  // puts a space before each, which no content has, so that no match is under way where one begins.
  explicit AddedTokens(std::vector<std::string> contents, bool are_apart = false);

  bool empty() const { return contents_.empty(); }
  std::size_t count() const { return contents_.size(); }
  const std::string& content(std::size_t index) const { return contents_[index]; }
  // After a byte of ordinary text; kDead where that completes a match.
  Open next(Open open, std::uint8_t byte) const;
  Open next(Open open, std::string_view bytes) const;
  // After the added token `index`; kDead where another match comes before it.
  Open after(Open open, std::size_t index) const;
  // The same of all of them.
  std::shared_ptr<const std::vector<Open>> after_all(Open open) const;
  // Whether any match begins with the byte.
  bool may_begin(std::uint8_t byte) const { return first_[byte]; }

 private:
  struct Node {
    std::map<std::uint8_t, std::uint32_t> children;
    bool is_final = false;
  };
  Open number_of(std::vector<std::uint32_t> nodes) const;  // with the lock held

  std::vector<std::string> contents_;
  bool are_apart_;
  std::vector<Node> trie_;
  std::array<bool, 256> first_{};  // bytes that a match begins with
  mutable std::mutex mutex_;
  mutable std::vector<std::vector<std::uint32_t>> sets_;  // by number
  mutable std::map<std::vector<std::uint32_t>, Open> numbers_;
  mutable std::unordered_map<std::uint64_t, Open> steps_;
  mutable Memo<Open, std::vector<Open>> behind_{128};  // of 25 kB each, for 6,400 added tokens
};

}  // namespace tokamata

// Added tokens: texts that a tokenizer splits off first, leftmost and longest first.
//
// Problem.  The tokenizer replaces the text of an added token by that token, whatever ordinary tokens spelled it.  So
// ordinary tokens must never spell one: `<`, `td`, `>` is refused if <td> is an added token.  And an added token is
// written only if no match begins earlier or is longer: after the token of 31 line ends no line end may follow if there
// is one of 32.
// How.  The open matches are a set of nodes in the trie of the contents.  In ordinary text a match begins at every
// position, and none may be completed.  After an added token, the matches that began before it remain, and those that
// would make it longer.
// Example.  Contents  ab  and  abc :  after the token `ab` the set is {ab}, and `c` completes abc: refused.
// Source: Aho and Corasick, 1975, for the sets; they are made as they are met, and kept.
// Cost: nothing if no match is open, which is nearly always so; otherwise a look-up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/bounded_memo.hpp"
#include "common/byte_set.hpp"
#include "common/ids.hpp"
#include "common/mutex.hpp"

namespace tokamata {

class AddedTokens {
 public:
  using Open = Id<struct OpenMatchesTag>;  // the matches under way, by number
  static constexpr Open kNothing{0};
  static constexpr Open kDead{~std::uint32_t{0}};

  // An empty content is never in a text: its token stands only between texts.  `are_apart`: the decoder writes a space
  // before each, and no content has one, so no match is open where one begins.  `forbidden`: texts that are found as
  // contents are, and stand in no text.  A token that swallows the white space before it is one with such a text, a
  // space and its content.  `lone`, by number, or empty: contents that share no characters with others, and that it
  // depends on their neighbours whether they are found; text rules say where, and nothing is found here.
  explicit AddedTokens(std::vector<std::string> contents, bool are_apart = false,
                       const std::vector<std::string>& forbidden = {}, const std::vector<bool>& lone = {});

  bool empty() const { return contents_.empty(); }
  std::size_t count() const { return contents_.size(); }
  const std::string& content(std::size_t index) const { return contents_[index]; }
  // The matches after a byte of ordinary text; kDead if the byte completes a match.
  Open next(Open open, std::uint8_t byte) const;
  Open next(Open open, std::string_view bytes) const;
  // The matches after the added token `index`; kDead if another match precedes it.
  Open after(Open open, std::size_t index) const;
  // The same for all added tokens.
  std::shared_ptr<const std::vector<Open>> after_all(Open open) const;
  // The bytes with which any of these matches goes on.
  ByteSet continuing(Open open) const;
  // Whether an added token may go on with any of these matches; otherwise each leaves after them what it leaves where
  // none is under way.
  bool binds_added(Open open) const { return !are_apart_ && continuing(open).intersects(begins_); }
  // Whether any match begins with the byte.
  bool may_begin(std::uint8_t byte) const { return begins_.contains(byte); }

 private:
  struct Node {
    std::map<std::uint8_t, std::uint32_t> children;
    bool is_final = false;
  };
  void add_match(const std::string& content);
  Open number_of(std::vector<std::uint32_t> nodes) const;  // with the lock held

  std::vector<std::string> contents_;
  bool are_apart_;
  std::vector<Node> trie_;
  ByteSet begins_;  // bytes that a match begins with
  mutable Mutex mutex_;
  mutable std::vector<std::vector<std::uint32_t>> sets_;  // by number
  mutable std::map<std::vector<std::uint32_t>, Open> numbers_;
  mutable std::unordered_map<std::uint64_t, Open> steps_;
  mutable SharedMemo<Open, std::vector<Open>> behind_{128};  // of 25 kB each, for 6,400 added tokens
};

}  // namespace tokamata

// By what text a terminal is ended after the tokens that stay inside it.
//
// Problem.  Within a budget, a token is allowed if what must follow it has few enough tokens.  For most tokens inside a
// JSON string that is a quote; for those that end inside an escape or a code point it is more.
// Example.  Terminal "…", after its first quote: of  ab  and  \n  what follows is  "  ; of  \u00  it is  00"  .
// How.  The tokens, by the least of the shortest texts that end the terminal after them.  They belong to the terminal
// and the vocabulary, as segments do (segment.hpp), and all constraints share them.
#pragma once

#include <string>
#include <vector>

#include "common/memory_account.hpp"
#include "common/token_set.hpp"

namespace tokamata {

struct TerminalEnding {
  std::string text;
  TokenSet tokens;
};

struct TerminalEndings {
  std::vector<TerminalEnding> all;

  std::size_t memory_bytes() const {
    std::size_t bytes = shared_block_bytes<TerminalEndings>() + block_bytes_of(all);
    for (const TerminalEnding& ending : all) bytes += ending.text.capacity() + ending.tokens.memory_bytes();
    return bytes;
  }
};

}  // namespace tokamata

// Masks of tokens that are listed, given as bits, or given as runs of the trie; with the stop tokens where the text may
// end.  Each mask gets a serial.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "composition/mask.hpp"
#include "composition/mask_memo.hpp"
#include "composition/mask_walk.hpp"
#include "composition/operands.hpp"

namespace tokamata {

class MaskWriter {
 public:
  // Of what outlives it.
  MaskWriter(Operands& operands, MaskMemo& masks) : operands_(operands), masks_(masks) {}

  // Of tokens; the stop tokens are added if the text is accepted.
  MaskPtr of_tokens(TokenConfiguration configuration, std::span<const std::uint32_t> tokens, bool is_accepted);
  // Of a row of bits.
  MaskPtr of_row(TokenConfiguration configuration, Words row);
  // Of runs of the trie's order, and of control tokens.
  MaskPtr of_ranges(bool at_start, const std::vector<TokenRange>& ranges, const std::vector<TokenId>& controls,
                    bool is_accepted);
  // Of bits that lack the stop tokens.
  MaskPtr of_bits(StateId state, MaskBits bits);
  // Of bits that have the stop tokens where the text may end.
  MaskPtr of_whole_bits(StateId state, MaskBits bits);

 private:
  MaskPtr numbered(MaskBits bits, std::size_t count, const Vocabulary& source, bool is_accepted);

  Operands& operands_;
  MaskMemo& masks_;
};

}  // namespace tokamata

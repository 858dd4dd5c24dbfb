#include "composition/mask_writer.hpp"

#include "composition/mask_builder.hpp"

namespace tokamata {

MaskPtr MaskWriter::numbered(MaskBits bits, std::size_t count, const Vocabulary& source, bool is_accepted) {
  auto mask = std::make_shared<Mask>();
  mask->serial = masks_.take_serial();
  mask->bits = std::move(bits);
  mask->set_bits = mask->open_tokens = count;
  if (is_accepted) add_stops(source, *mask);
  return mask;
}

MaskPtr MaskWriter::of_tokens(TokenConfiguration configuration, std::span<const std::uint32_t> tokens,
                              bool is_accepted) {
  const Vocabulary& source = operands_.vocabulary(configuration.at_start);
  MaskBuilder builder(source.words());
  for (const std::uint32_t token : tokens) builder.add(token);
  return numbered(builder.take(), tokens.size(), source, is_accepted);
}

MaskPtr MaskWriter::of_row(TokenConfiguration configuration, Words row) {
  const std::size_t count = count_bits(row);
  MaskBits bits = count <= MaskBits::few(row.size()) ? MaskBits::few_of(row) : MaskBits(std::move(row));
  return numbered(std::move(bits), count, operands_.vocabulary(configuration.at_start),
                  operands_.automaton().accepting(configuration.state));
}

// Sets the bits of the tokens in the ranges, or clears those of all others, whichever are fewer.
MaskPtr MaskWriter::of_ranges(bool at_start, const std::vector<TokenRange>& ranges,
                              const std::vector<TokenId>& controls, bool is_accepted) {
  const Vocabulary& source = operands_.vocabulary(at_start);
  const std::span<const std::uint32_t> order = source.trie().order();
  std::size_t live = 0;
  for (const TokenRange& range : ranges) live += range.end - range.begin;
  MaskBuilder builder(source.words());
  if (2 * live <= order.size()) {
    for (const TokenRange& range : ranges)
      for (std::uint32_t i = range.begin; i < range.end; ++i) builder.add(order[i]);
  } else {
    builder.add(SharedWords(operands_.shared_vocabulary(at_start), &source.text_words()));
    std::uint32_t previous_end = 0;
    const auto clear = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) builder.remove(order[i]);
    };
    for (const TokenRange& range : ranges) {
      clear(previous_end, range.begin);
      previous_end = range.end;
    }
    clear(previous_end, static_cast<std::uint32_t>(order.size()));
  }
  for (const TokenId control : controls) builder.add(control.value);
  return numbered(builder.take(), live + controls.size(), source, is_accepted);
}

MaskPtr MaskWriter::of_bits(StateId state, MaskBits bits) {
  const std::size_t count = bits.count();
  return numbered(std::move(bits), count, operands_.vocabulary(), operands_.automaton().accepting(state));
}

MaskPtr MaskWriter::of_whole_bits(StateId state, MaskBits bits) {
  auto mask = std::make_shared<Mask>();
  mask->serial = masks_.take_serial();
  mask->bits = std::move(bits);
  mask->set_bits = mask->open_tokens = mask->bits.count();
  if (operands_.automaton().accepting(state)) mask->open_tokens -= operands_.vocabulary().stop().size();
  return mask;
}

}  // namespace tokamata

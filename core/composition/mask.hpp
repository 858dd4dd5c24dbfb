// Which tokens may come next: one bit per column of the logits, bit t % 32 of word t / 32.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

// The bits of a mask: all words of a row, or those alone that are not zero.
//
// Problem.  Half of the masks of a JSON text allow a handful of tokens.  As rows of 16 kB (128,256 tokens) they fill the
// caches, and to make, count and read one takes longer than to find its tokens.
// How.  Few words are kept with their places, in any order.  Of a row that is written, the rest is cleared.
// Cost.  Writing a row: 16 kB read and written as before, or 16 kB cleared and a store for each word that is kept.
class MaskBits {
 public:
  struct Word {
    std::uint32_t place, bits;
  };
  // So many words of a row are kept with their places; more are better off as a row.
  static std::size_t few(std::size_t size) { return size / 8; }

  MaskBits() = default;
  explicit MaskBits(Words words) : words_(std::move(words)), size_(words_.size()) {}
  // Each place once.
  MaskBits(std::vector<Word> few, std::size_t size) : few_(std::move(few)), size_(size) {}
  // None yet of a row of so many words, where so many are to be set one by one.
  static MaskBits none(std::size_t size, std::size_t tokens) {
    constexpr std::size_t kMostSearched = 64;
    return tokens <= std::min(few(size), kMostSearched) ? MaskBits(std::vector<Word>(), size) : MaskBits(Words(size));
  }

  // Of a row, of which few words are not zero.
  static MaskBits few_of(const Words& row) {
    std::vector<Word> found;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] != 0) found.push_back({static_cast<std::uint32_t>(i), row[i]});
    return {std::move(found), row.size()};
  }

  std::size_t size() const { return size_; }  // words of a row
  std::size_t bytes() const { return words_.capacity() * sizeof(std::uint32_t) + few_.capacity() * sizeof(Word); }

  bool contains(std::uint32_t token) const {
    if (is_row()) return has_bit(words_, token);
    const auto at = std::ranges::find(few_, token / 32, &Word::place);
    return at != few_.end() && (at->bits >> (token % 32) & 1) != 0;
  }
  // The smallest that is set; some must be.
  std::uint32_t first() const {
    if (is_row()) {
      const auto word = std::ranges::find_if(words_, [](std::uint32_t bits) { return bits != 0; });
      return static_cast<std::uint32_t>(32 * (word - words_.begin()) + std::countr_zero(*word));
    }
    const Word& word = *std::ranges::min_element(few_, {}, &Word::place);
    return 32 * word.place + static_cast<std::uint32_t>(std::countr_zero(word.bits));
  }
  std::size_t count() const {
    if (is_row()) return count_bits(words_);
    std::size_t count = 0;
    for (const Word& word : few_) count += static_cast<std::size_t>(std::popcount(word.bits));
    return count;
  }
  // Into a row of size() words.
  void write(std::uint32_t* row) const {
    if (is_row()) {
      std::memcpy(row, words_.data(), size_ * sizeof(std::uint32_t));
      return;
    }
    std::memset(row, 0, size_ * sizeof(std::uint32_t));
    for (const Word& word : few_) row[word.place] = word.bits;
  }
  Words row() const {
    Words row(size_);
    write(row.data());
    return row;
  }
  // The row itself, where it is kept as one; null otherwise.
  const std::uint32_t* data() const { return is_row() ? words_.data() : nullptr; }

  void set(std::uint32_t token) {
    if (is_row()) return set_bit(words_, token);
    const auto at = std::ranges::find(few_, token / 32, &Word::place);
    if (at != few_.end())
      at->bits |= 1u << (token % 32);
    else
      few_.push_back({token / 32, 1u << (token % 32)});
  }
  // A row from now on.
  void assign(const Words& row) {
    words_ = row;
    few_.clear();
    size_ = row.size();
  }
  void remove(std::uint32_t token) {
    if (is_row()) return clear_bit(words_, token);
    keep_of_few([token](std::uint32_t other) { return other != token; });
  }
  // Removes the others from few words; returns how many those are.
  template <class Keep>
  std::size_t keep_of_few(Keep&& keep) {
    std::size_t removed = 0;
    for (Word& word : few_)
      for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
        if (keep(32 * word.place + bit)) continue;
        word.bits &= ~(1u << bit);
        ++removed;
      }
    if (removed > 0) std::erase_if(few_, [](const Word& word) { return word.bits == 0; });
    return removed;
  }
  bool is_row() const { return !words_.empty() || size_ == 0; }
  // To be written to: a row from now on.
  Words& words() {
    if (!is_row()) words_ = row();
    few_ = {};
    return words_;
  }
  // Of a row.
  const Words& words() const { return words_; }
  // A row from now on, whose words are all to be written.
  Words& blank(std::size_t size) {
    few_.clear();
    words_.resize(size);
    size_ = size;
    return words_;
  }

 private:
  Words words_;
  std::vector<Word> few_;
  std::size_t size_ = 0;
};

struct Mask {
  std::uint64_t serial = 0;            // counts up in the order of making, within one constraint
  std::size_t open_tokens = 0;         // set bits after which the text goes on; the others are stop tokens
  std::size_t set_bits = 0;
  MaskBits bits;

  std::size_t bytes() const { return sizeof(Mask) + bits.bytes(); }
};

// Whoever holds one keeps its bits, whatever becomes of the memo that it came from.
using MaskPtr = std::shared_ptr<const Mask>;

// What is allowed besides where the text may end.
inline void add_stops(const Vocabulary& vocabulary, Mask& mask) {
  for (const std::uint32_t stop : vocabulary.stop()) mask.bits.set(stop);
  mask.set_bits += vocabulary.stop().size();
}

}  // namespace tokamata

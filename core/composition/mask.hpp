// Which tokens may come next: one bit per column of the logits, bit t % 32 of word t / 32.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "common/check.hpp"
#include "common/memory_account.hpp"
#include "common/token_set.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

// The bits of a mask: a row of its own, or what differs from a row that many masks share.
//
// Problem.  Half of the masks of a JSON text allow a handful of tokens, and most others are those of a string and a few
// dozen more.  As rows of 16 kB (128,256 tokens) they fill the caches, and making, counting and reading one takes
// longer than finding its tokens.
// How.  A shared row (none: all words are zero) and the words that differ from it, with their places, in any order.
// Example.  After  {"a": "x|  the base is the segment of a string's rest, and the words of  "}  and  ",  differ.
// Cost.  Writing a row: 16 kB copied or cleared, and a store for each word that differs.
class MaskBits {
 public:
  struct Word {
    std::uint32_t place, bits;
  };
  // So many words are kept with their places; more are better off as a row.
  static std::size_t few(std::size_t size) { return size / 8; }

  MaskBits() = default;
  explicit MaskBits(Words words) : words_(std::move(words)), size_(words_.size()) {}
  // The words of `base`, which may be null, except for some; each place once.
  MaskBits(SharedWords base, std::vector<Word> changed, std::size_t size)
      : base_(std::move(base)), changed_(std::move(changed)), size_(size) {
    TOKAMATA_CHECK(!base_ || base_->size() == size_, "the base of a mask is a row of its size");
    TOKAMATA_CHECK(has_each_place_once(), "the words of a mask that differ are within the row, each of them once");
  }
  // Of a row, of which few words are not zero.
  static MaskBits few_of(const Words& row) {
    std::vector<Word> found;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] != 0) found.push_back({static_cast<std::uint32_t>(i), row[i]});
    return {nullptr, std::move(found), row.size()};
  }

  std::size_t size() const { return size_; }  // words of a row
  // A base belongs to the vocabulary and is not counted.
  std::size_t memory_bytes() const { return block_bytes_of(words_) + block_bytes_of(changed_); }

  bool contains(std::uint32_t token) const { return word(token / 32) >> (token % 32) & 1; }
  // The smallest that is set; some must be.
  std::uint32_t first() const {
    if (is_few()) {
      const Word& least = *std::ranges::min_element(changed_, {}, &Word::place);
      return 32 * least.place + static_cast<std::uint32_t>(std::countr_zero(least.bits));
    }
    std::uint32_t place = 0;
    while (word(place) == 0) ++place;
    return 32 * place + static_cast<std::uint32_t>(std::countr_zero(word(place)));
  }
  std::size_t count() const {
    if (is_row()) return count_bits(words_);
    std::size_t count = base_ ? count_bits(*base_) : 0;
    for (const Word& changed : changed_) {
      count += static_cast<std::size_t>(std::popcount(changed.bits));
      if (base_) count -= static_cast<std::size_t>(std::popcount((*base_)[changed.place]));
    }
    return count;
  }
  // Into a row of size() words.
  void write(std::uint32_t* row) const {
    if (is_row()) std::memcpy(row, words_.data(), size_ * sizeof(std::uint32_t));
    else if (base_) std::memcpy(row, base_->data(), size_ * sizeof(std::uint32_t));
    else std::memset(row, 0, size_ * sizeof(std::uint32_t));
    for (const Word& changed : changed_) row[changed.place] = changed.bits;
  }
  Words row() const {
    Words row(size_);
    write(row.data());
    return row;
  }
  // The row itself, where it is kept as one; null otherwise.
  const std::uint32_t* data() const { return is_row() ? words_.data() : nullptr; }

  void set(std::uint32_t token) {
    change(token, [](std::uint32_t word, std::uint32_t bit) { return word | bit; });
  }
  void remove(std::uint32_t token) {
    change(token, [](std::uint32_t word, std::uint32_t bit) { return word & ~bit; });
  }
  // Removes the others from few words; returns how many those are.
  template <class Keep>
  std::size_t keep_of_few(Keep&& keep) {
    std::size_t removed = 0;
    for (Word& word : changed_)
      for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
        if (keep(32 * word.place + bit)) continue;
        word.bits &= ~(1u << bit);
        ++removed;
      }
    if (removed > 0) std::erase_if(changed_, [](const Word& word) { return word.bits == 0; });
    return removed;
  }
  // Whether it is a row of its own; whether nothing but a few words is set.
  bool is_row() const { return !words_.empty() || size_ == 0; }
  bool is_few() const { return !is_row() && !base_; }
  // Visits the words that differ from the base; the base.
  std::span<const Word> changed() const { return changed_; }
  const SharedWords& base() const { return base_; }
  // To be written to: a row from now on.
  Words& words() {
    if (!is_row()) words_ = row();
    changed_ = {};
    base_ = nullptr;
    return words_;
  }
  // Of a row.
  const Words& words() const { return words_; }
  // A row from now on, whose words are all to be written.
  Words& blank(std::size_t size) {
    changed_.clear();
    base_ = nullptr;
    words_.resize(size);
    size_ = size;
    return words_;
  }

 private:
  bool has_each_place_once() const {
    std::vector<std::uint32_t> places;
    for (const Word& word : changed_) places.push_back(word.place);
    std::ranges::sort(places);
    return is_strictly_sorted(places) && (places.empty() || places.back() < size_);
  }
  std::uint32_t word(std::uint32_t place) const {
    if (is_row()) return words_[place];
    const auto at = std::ranges::find(changed_, place, &Word::place);
    if (at != changed_.end()) return at->bits;
    return base_ ? (*base_)[place] : 0;
  }
  template <class Changed>
  void change(std::uint32_t token, Changed&& changed) {
    const std::uint32_t place = token / 32, bits = changed(word(place), 1u << (token % 32));
    if (is_row()) {
      words_[place] = bits;
      return;
    }
    const auto at = std::ranges::find(changed_, place, &Word::place);
    if (at == changed_.end()) changed_.push_back({place, bits});
    else if (bits == 0 && !base_) changed_.erase(at);  // few words are those that are not zero
    else at->bits = bits;
  }

  Words words_;
  SharedWords base_;
  std::vector<Word> changed_;
  std::size_t size_ = 0;
};

struct Mask {
  static constexpr std::uint64_t kNoSerial = ~std::uint64_t{0};  // of one that no memo keeps

  std::uint64_t serial = 0;     // counts up in the order of making, within one constraint
  std::size_t open_tokens = 0;  // set bits after which the text goes on; the others are stop tokens
  std::size_t set_bits = 0;
  MaskBits bits;

  std::size_t memory_bytes() const { return shared_block_bytes<Mask>() + bits.memory_bytes(); }
};

// Whoever holds one keeps its bits, whatever becomes of the memo that it came from.
using MaskPtr = std::shared_ptr<const Mask>;

// Whether the two numbers of a mask are those of its bits.
inline bool is_counted(const Vocabulary& vocabulary, const Mask& mask) {
  const auto stops =
      std::ranges::count_if(vocabulary.stop(), [&](std::uint32_t stop) { return mask.bits.contains(stop); });
  return mask.set_bits == mask.bits.count() && mask.open_tokens + static_cast<std::size_t>(stops) == mask.set_bits;
}

// What is allowed besides where the text may end.
inline void add_stops(const Vocabulary& vocabulary, Mask& mask) {
  for (const std::uint32_t stop : vocabulary.stop()) mask.bits.set(stop);
  mask.set_bits += vocabulary.stop().size();
}

}  // namespace tokamata

// Builds a mask from token sets that many masks share and from single tokens.
//
// Problem.  A mask of rules consists mostly of the tokens inside one terminal, which many masks share, and of a few
// dozen others.  A row for each mask would be written, counted and read five times before the first token is drawn.
// How.  The first shared set becomes the base.  A word that differs from it is copied into the builder's row, which is
// zero elsewhere, and its index is noted.  From the second shared set on, the row has all words, so that sets are
// united without a look at each word; what differs from the base is found at the end.
// Example.  base = inside a string; add  ",  : word 5 is copied and the bit set;  take() gives the base and word 5.
// Cost.  A store for each token; a few passes over 16 kB (128,256 tokens) where there is a second shared set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "common/memory_account.hpp"
#include "composition/mask.hpp"

namespace tokamata {

class MaskBuilder {
 public:
  // For rows of so many words.
  explicit MaskBuilder(std::size_t words) : row_(words), is_changed_(words) {}

  // Empties the builder.
  void clear() {
    if (is_whole_) std::ranges::fill(row_, 0);
    is_whole_ = false;
    forget_places();
    base_ = nullptr;
  }

  void add(std::uint32_t token) { changed(token / 32) |= 1u << (token % 32); }
  void remove(std::uint32_t token) { changed(token / 32) &= ~(1u << (token % 32)); }
  void add(const SharedWords& set) {
    if (is_whole_) return unite(*set);
    if (base_ && base_ != set) return unite(*set);
    base_ = set;
    for (const std::uint32_t place : places_) row_[place] |= (*set)[place];
  }
  void add(const MaskBits& bits) {
    if (bits.is_row()) return unite(bits.words());
    if (!base_ && places_.empty() && !is_whole_) {
      base_ = bits.base();
      // may be less than the base's
      for (const MaskBits::Word& word : bits.changed()) changed(word.place) = word.bits;
    } else if (bits.base()) {
      make_whole();
      std::vector<MaskBits::Word> instead;  // of the base's words
      for (const MaskBits::Word& word : bits.changed()) instead.push_back({word.place, row_[word.place] | word.bits});
      unite(*bits.base());
      for (const MaskBits::Word& word : instead) row_[word.place] = word.bits;
    } else {
      for (const MaskBits::Word& word : bits.changed()) changed(word.place) |= word.bits;
    }
  }
  bool contains(std::uint32_t token) const { return word(token / 32) >> (token % 32) & 1; }

  // Returns the mask and empties the builder.
  MaskBits take() {
    const std::size_t few = MaskBits::few(row_.size());
    std::vector<MaskBits::Word> differing;
    if (is_whole_) {
      if (differing_words() > few) {
        MaskBits bits(Words(row_.begin(), row_.end()));
        clear();
        return bits;
      }
      for (std::uint32_t place = 0; place < row_.size(); ++place)
        if (row_[place] != base_word(place)) differing.push_back({place, row_[place]});
    } else {
      for (const std::uint32_t place : places_)
        if (row_[place] != base_word(place)) differing.push_back({place, row_[place]});
    }
    MaskBits bits(base_, std::move(differing), row_.size());
    if (bits.changed().size() > few) bits.words();
    clear();
    return bits;
  }

 private:
  std::uint32_t base_word(std::uint32_t place) const { return base_ ? (*base_)[place] : 0; }
  std::uint32_t word(std::uint32_t place) const {
    return is_whole_ || is_changed_[place] ? row_[place] : base_word(place);
  }
  std::uint32_t& changed(std::uint32_t place) {
    if (!is_whole_ && !is_changed_[place]) {
      places_.push_back(place);
      is_changed_[place] = true;
      row_[place] = base_word(place);
    }
    return row_[place];
  }
  void unite(const Words& words) {
    make_whole();
    unite_bits(row_, words);
  }
  // From now on, the row has the words of the base too.
  void make_whole() {
    if (is_whole_) return;
    if (base_) {
      std::vector<MaskBits::Word> instead;
      for (const std::uint32_t place : places_) instead.push_back({place, row_[place]});
      std::ranges::copy(*base_, row_.begin());
      for (const MaskBits::Word& word : instead) row_[word.place] = word.bits;
    }
    for (const std::uint32_t place : places_) is_changed_[place] = false;
    places_.clear();
    is_whole_ = true;
  }
  void forget_places() {
    for (const std::uint32_t place : places_) {
      row_[place] = 0;
      is_changed_[place] = false;
    }
    places_.clear();
  }
  std::size_t differing_words() const {
    std::uint32_t count = 0;
    if (base_)
      for (std::size_t i = 0; i < row_.size(); ++i) count += row_[i] != (*base_)[i];
    else
      for (const std::uint32_t word : row_) count += word != 0;
    return count;
  }

  SharedWords base_;                    // null: nothing
  bool is_whole_ = false;               // the row has all words
  counted::vector<std::uint32_t> row_;  // words that may differ from the base, zero elsewhere; or all words
  counted::vector<bool> is_changed_;
  counted::vector<std::uint32_t> places_;  // of these
};

}  // namespace tokamata

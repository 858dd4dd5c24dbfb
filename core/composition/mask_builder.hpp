// Builds a mask from token sets that many masks share and from single tokens.
//
// Problem.  A mask of rules consists mostly of the tokens inside one terminal, which many masks share, and of a few dozen
// others.  A row for each mask would be written, counted and read five times before the first token is drawn.
// How.  The first shared set becomes the base.  A word that differs from it is copied into the builder's row, which is zero
// elsewhere, and its index is noted.
// Example.  base = inside a string; add  ",  : word 5 is copied and the bit set;  take() gives the base and word 5.
// Cost.  A store for each token; 16 kB (128,256 tokens) read for each further shared set.
#pragma once

#include <cstdint>
#include <span>
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
    for (const std::uint32_t place : places_) {
      row_[place] = 0;
      is_changed_[place] = false;
    }
    places_.clear();
    base_ = nullptr;
  }

  void add(std::uint32_t token) { changed(token / 32) |= 1u << (token % 32); }
  void remove(std::uint32_t token) { changed(token / 32) &= ~(1u << (token % 32)); }
  void add(const SharedWords& set) {
    if (base_) return unite(*set);
    base_ = set;
    for (const std::uint32_t place : places_) row_[place] |= (*set)[place];
  }
  void add(const MaskBits& bits) {
    if (bits.is_row()) return unite(bits.words());
    if (!base_ && places_.empty()) {
      base_ = bits.base();
      for (const MaskBits::Word& word : bits.changed()) changed(word.place) = word.bits;  // may be less than the base's
    } else if (bits.base()) {
      unite(bits.row());
    } else {
      for (const MaskBits::Word& word : bits.changed()) changed(word.place) |= word.bits;
    }
  }
  bool contains(std::uint32_t token) const { return word(token / 32) >> (token % 32) & 1; }

  // Returns the mask and empties the builder.
  MaskBits take() {
    std::vector<MaskBits::Word> differing;
    for (const std::uint32_t place : places_)
      if (row_[place] != base_word(place)) differing.push_back({place, row_[place]});
    MaskBits bits(base_, std::move(differing), row_.size());
    if (bits.changed().size() > MaskBits::few(row_.size())) bits.words();
    clear();
    return bits;
  }

 private:
  std::uint32_t base_word(std::uint32_t place) const { return base_ ? (*base_)[place] : 0; }
  std::uint32_t word(std::uint32_t place) const { return is_changed_[place] ? row_[place] : base_word(place); }
  std::uint32_t& changed(std::uint32_t place) {
    if (!is_changed_[place]) {
      places_.push_back(place);
      is_changed_[place] = true;
      row_[place] = base_word(place);
    }
    return row_[place];
  }
  void unite(const Words& words) {
    for (std::uint32_t place = 0; place < words.size(); ++place)
      if ((words[place] & ~word(place)) != 0) changed(place) |= words[place];
  }

  SharedWords base_;  // null: nothing
  counted::vector<std::uint32_t> row_;                  // words that may differ from the base, zero elsewhere
  counted::vector<bool> is_changed_;
  counted::vector<std::uint32_t> places_;  // of these
};

}  // namespace tokamata

// Texts of tokens and their ids, to be looked up a million times.
//
// Problem.  Files name merges by their texts: half a million pairs in Gemma 3, each with what they make.  A table of
// strings somewhere in memory is missed by the cache three times for each.
// How.  Open addressing; the texts lie in one row.  A slot has the hash too, so that others are not compared.
// Cost: 16 to 32 bytes per text, and 4 per code point.  Built once, and thrown away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "canonical/merge_rules.hpp"

namespace tokamata {

class TextIds {
 public:
  explicit TextIds(std::size_t most);

  // Throws std::length_error for more texts than `most`.  A text that is there already keeps its id.
  void add(std::u32string_view text, std::uint32_t id);
  std::optional<std::uint32_t> find(std::u32string_view text) const;
  // Visits (text, id) in the order in which they were added.
  template <class Visit>
  void each(Visit visit) const {
    for (const Entry& entry : entries_) visit(text_of(entry), entry.id);
  }

 private:
  struct Entry {
    std::size_t begin;
    std::uint32_t size, id;
  };
  struct Slot {
    std::uint32_t hash, entry;
  };
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  std::u32string_view text_of(const Entry& entry) const {
    return std::u32string_view(texts_).substr(entry.begin, entry.size);
  }
  // Where the text is, or would be.
  std::size_t slot_of(std::u32string_view text, std::uint32_t hash) const;

  std::vector<Slot> slots_;  // a power of two of them, half of them free
  std::vector<Entry> entries_;
  std::u32string texts_;
};

// The merges that ranks stand for, without their ranks: each way of cutting a text in two that are there too.
std::vector<Merge> every_cut(const TextIds& ids);

}  // namespace tokamata

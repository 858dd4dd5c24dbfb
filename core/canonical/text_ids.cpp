#include "canonical/text_ids.hpp"

#include <bit>
#include <stdexcept>

namespace tokamata {

namespace {

std::uint32_t hash_of(std::u32string_view text) {
  std::uint64_t hash = text.size();
  for (const char32_t c : text) hash = (std::rotl(hash, 5) ^ c) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

TextIds::TextIds(std::size_t most) : slots_(std::bit_ceil(2 * most + 2), Slot{0, kFree}) { entries_.reserve(most); }

std::size_t TextIds::slot_of(std::u32string_view text, std::uint32_t hash) const {
  std::size_t place = hash & (slots_.size() - 1);
  while (slots_[place].entry != kFree && (slots_[place].hash != hash || text_of(entries_[slots_[place].entry]) != text))
    place = (place + 1) & (slots_.size() - 1);
  return place;
}

void TextIds::add(std::u32string_view text, std::uint32_t id) {
  const std::uint32_t hash = hash_of(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.entry != kFree) return;
  if (2 * (entries_.size() + 1) > slots_.size()) throw std::length_error("texts: more than there is room for");
  slot = {hash, static_cast<std::uint32_t>(entries_.size())};
  entries_.push_back({texts_.size(), static_cast<std::uint32_t>(text.size()), id});
  texts_.append(text);
}

std::optional<std::uint32_t> TextIds::find(std::u32string_view text) const {
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  return slot.entry == kFree ? std::nullopt : std::optional(entries_[slot.entry].id);
}

std::vector<Merge> every_cut(const TextIds& ids) {
  std::vector<Merge> merges;
  ids.each([&](std::u32string_view text, std::uint32_t id) {
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const std::optional<std::uint32_t> left = ids.find(text.substr(0, cut));
      if (!left) continue;
      if (const std::optional<std::uint32_t> right = ids.find(text.substr(cut)))
        merges.push_back({*left, *right, id, 0});
    }
  });
  return merges;
}

}  // namespace tokamata

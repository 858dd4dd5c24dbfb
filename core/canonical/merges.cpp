#include "canonical/merges.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace tokamata {

namespace {

void check_merges(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("merges: ") + what);
}

// Offsets into so many entries, by `count` lists.
bool are_offsets(const std::vector<std::uint32_t>& offsets, std::size_t count, std::size_t entries) {
  return offsets.size() == count + 1 && offsets.front() == 0 && offsets.back() == entries &&
         std::ranges::is_sorted(offsets);
}

}  // namespace

Merges::Merges(MergeTables tables)
    : tables_(std::move(tables)),
      position_(tables_.sets.size(), kNone),
      counts_(std::max<std::size_t>(tables_.set_offsets.size(), 1) - 1, 0) {
  const auto is_token = [&](std::uint32_t token) { return token < token_count(); };
  for (std::uint32_t place = 0; place < tables_.tour.size(); ++place) {
    const std::uint32_t token = tables_.tour[place];
    check_merges(is_token(token) && position_[token] == kNone, "the tour is none of tokens");
    position_[token] = place;
  }
  check_merges(are_offsets(tables_.set_offsets, counts_.size(), tables_.ranges.size()),
               "the offsets of sets are not in order");
  check_merges(std::ranges::all_of(tables_.sets, [&](std::uint32_t set) { return set < counts_.size(); }),
               "a set is not there");
  for (std::size_t set = 0; set < counts_.size(); ++set) {
    std::uint32_t last = 0;
    for (std::uint32_t i = tables_.set_offsets[set]; i < tables_.set_offsets[set + 1]; ++i) {
      const TourRange range = unpacked(tables_.ranges[i]);
      check_merges(range.begin >= last && range.end <= tables_.tour.size(), "a range is not in order");
      last = range.end;
      counts_[set] += range.end - range.begin;
    }
  }
  check_merges(are_offsets(tables_.part_offsets, tables_.unmade.size(), tables_.parts.size()) &&
                   std::ranges::is_sorted(tables_.unmade) && std::ranges::all_of(tables_.unmade, is_token) &&
                   std::ranges::all_of(tables_.parts, is_token),
               "the parts of tokens are not in order");
}

std::vector<std::uint32_t> Merges::made_of(TokenId token) const {
  if (is_made(token)) return {token.value};
  const auto known = std::ranges::lower_bound(tables_.unmade, token.value);
  if (known == tables_.unmade.end() || *known != token.value) return {};
  const auto number = static_cast<std::size_t>(known - tables_.unmade.begin());
  const auto parts =
      std::span(tables_.parts)
          .subspan(tables_.part_offsets[number], tables_.part_offsets[number + 1] - tables_.part_offsets[number]);
  return {parts.begin(), parts.end()};
}

bool Merges::holds(std::uint32_t set, std::uint32_t place) const {
  const auto ranges = packed_set(set);
  const auto after =
      std::ranges::upper_bound(ranges, place, {}, [](std::uint32_t range) { return unpacked(range).begin; });
  return after != ranges.begin() && unpacked(*(after - 1)).end > place;
}

bool Merges::may_follow(TokenId left, TokenId right) const {
  return !holds(tables_.sets[left.value], position_[right.value]);
}

// Each set is asked once: many tokens have the same.
Words Merges::before(TokenId right, const Words& tokens) const {
  std::vector<bool> forbids(tables_.set_offsets.size() - 1);
  for (std::uint32_t set = 0; set < forbids.size(); ++set) forbids[set] = holds(set, position_[right.value]);
  Words words(tokens.size(), 0);
  for_each_bit(tokens, [&](std::uint32_t token) {
    if (!forbids[tables_.sets[token]]) set_bit(words, token);
  });
  return words;
}

std::size_t Merges::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto* vector : {&tables_.tour, &tables_.sets, &tables_.set_offsets, &tables_.ranges, &tables_.unmade,
                             &tables_.part_offsets, &tables_.parts, &position_, &counts_})
    bytes += vector->capacity() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace tokamata

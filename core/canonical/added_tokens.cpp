#include "canonical/added_tokens.hpp"
#include "common/memoized.hpp"

#include <algorithm>

namespace tokamata {

AddedTokens::AddedTokens(std::vector<std::string> contents, bool are_apart, const std::vector<std::string>& forbidden,
                         const std::vector<bool>& lone)
    : contents_(std::move(contents)), are_apart_(are_apart), trie_(1), sets_(1), numbers_{{{}, kNothing}} {
  for (std::size_t index = 0; index < contents_.size(); ++index)
    if (lone.empty() || !lone[index]) add_match(contents_[index]);
  for (const std::string& text : forbidden) add_match(text);
}

void AddedTokens::add_match(const std::string& content) {
  if (content.empty()) return;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(content[i]);
    if (i == 0) begins_.add(byte);
    const auto known = trie_[node].children.find(byte);
    if (known != trie_[node].children.end()) {
      node = known->second;
    } else {
      const auto child = static_cast<std::uint32_t>(trie_.size());
      trie_[node].children.emplace(byte, child);
      trie_.emplace_back();
      node = child;
    }
  }
  trie_[node].is_final = true;
}

AddedTokens::Open AddedTokens::number_of(std::vector<std::uint32_t> nodes) const {
  std::ranges::sort(nodes);
  return numbered(numbers_, nodes, [&](Open number) { put_at(sets_, number.value, nodes); });
}

AddedTokens::Open AddedTokens::next(Open open, std::uint8_t byte) const {
  if (open == kNothing && !begins_.contains(byte)) return kNothing;
  const std::lock_guard lock(mutex_);
  const std::uint64_t key = (std::uint64_t{open.value} << 8) | byte;
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  std::vector<std::uint32_t> from = sets_[open.value];
  from.push_back(0);  // a match may begin here
  std::vector<std::uint32_t> reached;
  bool is_dead = false;
  for (const std::uint32_t node : from) {
    const auto child = trie_[node].children.find(byte);
    if (child == trie_[node].children.end()) continue;
    is_dead = is_dead || trie_[child->second].is_final;
    if (!trie_[child->second].children.empty()) reached.push_back(child->second);
  }
  const Open result = is_dead ? kDead : number_of(std::move(reached));
  steps_.emplace(key, result);
  return result;
}

AddedTokens::Open AddedTokens::next(Open open, std::string_view bytes) const {
  for (const char byte : bytes) {
    open = next(open, static_cast<std::uint8_t>(byte));
    if (open == kDead) break;
  }
  return open;
}

ByteSet AddedTokens::continuing(Open open) const {
  ByteSet bytes;
  if (open == kNothing) return bytes;
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t node : sets_[open.value])
    for (const auto& [byte, child] : trie_[node].children) bytes.add(byte);
  return bytes;
}

AddedTokens::Open AddedTokens::after(Open open, std::size_t index) const {
  if (contents_[index].empty()) return kNothing;
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> earlier = are_apart_ ? std::vector<std::uint32_t>() : sets_[open.value];
  std::optional<std::uint32_t> own = 0;  // nothing where a lone content is the beginning of no other text
  for (const char character : contents_[index]) {
    const auto byte = static_cast<std::uint8_t>(character);
    std::vector<std::uint32_t> still;
    for (const std::uint32_t node : earlier) {
      const auto child = trie_[node].children.find(byte);
      if (child == trie_[node].children.end()) continue;
      if (trie_[child->second].is_final) return kDead;
      still.push_back(child->second);
    }
    earlier = std::move(still);
    if (!own) continue;
    const auto child = trie_[*own].children.find(byte);
    own = child == trie_[*own].children.end() ? std::nullopt : std::optional(child->second);
  }
  if (own && !trie_[*own].children.empty()) earlier.push_back(*own);
  return number_of(std::move(earlier));
}

std::shared_ptr<const std::vector<AddedTokens::Open>> AddedTokens::after_all(Open open) const {
  return behind_.get(open, [&] {
    std::vector<Open> all;
    for (std::size_t index = 0; index < count(); ++index) all.push_back(after(open, index));
    return all;
  });
}

}  // namespace tokamata

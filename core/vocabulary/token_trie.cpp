#include "vocabulary/token_trie.hpp"

#include <algorithm>
#include <unordered_map>

namespace tokamata {

namespace {

// Where in a code point a node stands, by its path from the root.  Between code points, or with
// so many continuation bytes to come; four lead bytes narrow the first of them.
enum Phase : std::uint8_t { kBetween, kOneMore, kTwoMore, kThreeMore, kAfterE0, kAfterED, kAfterF0, kAfterF4, kBroken };

Phase phase_after(Phase phase, std::uint8_t byte) {
  const bool continuation = byte >= 0x80 && byte <= 0xBF;
  switch (phase) {
    case kBetween:
      // A continuation byte here is stray, or the end of a code point that the token before
      // began: then the node behind it is between code points for whoever comes that way.
      if (byte < 0xC0) return kBetween;
      if (byte >= 0xC2 && byte <= 0xDF) return kOneMore;
      if (byte == 0xE0) return kAfterE0;
      if (byte == 0xED) return kAfterED;
      if (byte >= 0xE1 && byte <= 0xEF) return kTwoMore;
      if (byte == 0xF0) return kAfterF0;
      if (byte == 0xF4) return kAfterF4;
      return byte >= 0xF1 && byte <= 0xF3 ? kThreeMore : kBroken;
    case kOneMore: return continuation ? kBetween : kBroken;
    case kTwoMore: return continuation ? kOneMore : kBroken;
    case kThreeMore: return continuation ? kTwoMore : kBroken;
    case kAfterE0: return continuation && byte >= 0xA0 ? kOneMore : kBroken;
    case kAfterED: return continuation && byte <= 0x9F ? kOneMore : kBroken;
    case kAfterF0: return continuation && byte >= 0x90 ? kTwoMore : kBroken;
    case kAfterF4: return continuation && byte <= 0x8F ? kTwoMore : kBroken;
    case kBroken: return kBroken;
  }
  return kBroken;
}

}  // namespace

TokenTrie::TokenTrie(std::span<const std::string_view> tokens) {
  sort_tokens(tokens);
  summarize(build_nodes(tokens));
}

void TokenTrie::sort_tokens(std::span<const std::string_view> tokens) {
  // Most comparisons are decided by the first eight bytes, kept beside the id.
  struct Key {
    std::uint64_t prefix;
    std::uint32_t id;
  };
  std::vector<Key> keys;
  keys.reserve(tokens.size());
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    if (token.empty()) continue;
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i)
      prefix = (prefix << 8) | (i < token.size() ? static_cast<std::uint8_t>(token[i]) : 0u);
    keys.push_back({prefix, id});
    longest_ = std::max(longest_, token.size());
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = tokens[a.id].compare(tokens[b.id]);  // std::string_view compares as unsigned bytes
    return order != 0 ? order < 0 : a.id < b.id;
  });
  order_.reserve(keys.size());
  for (const Key& key : keys) order_.push_back(key.id);
}

// Breadth first.  Returns the phase of every node.
std::vector<std::uint8_t> TokenTrie::build_nodes(std::span<const std::string_view> tokens) {
  std::vector<std::string_view> sorted;
  sorted.reserve(order_.size());
  for (std::uint32_t id : order_) sorted.push_back(tokens[id]);

  std::vector<std::uint8_t> phases{kBetween};
  nodes_.reserve(2 * sorted.size() + 2);
  nodes_.push_back({0, 0, static_cast<std::uint32_t>(sorted.size()), 0, 0, 0});
  edge_bytes_.push_back(0);
  std::size_t depth = 0;
  std::size_t level_end = 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i == level_end) {
      ++depth;
      level_end = nodes_.size();
    }
    nodes_[i].first_child = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t end = nodes_[i].tokens_end;
    std::uint32_t token = nodes_[i].tokens_begin;
    while (token < end && sorted[token].size() == depth) ++token;
    nodes_[i].own = std::min(token - nodes_[i].tokens_begin, kManyOwn) & 0xfu;
    while (token < end) {
      const char edge = sorted[token][depth];
      const std::uint32_t begin = token;
      do ++token;
      while (token < end && sorted[token][depth] == edge);
      nodes_.push_back({0, begin, token, 0, 0, 0});
      edge_bytes_.push_back(static_cast<std::uint8_t>(edge));
      phases.push_back(phase_after(static_cast<Phase>(phases[i]), static_cast<std::uint8_t>(edge)));
    }
  }
  nodes_.push_back({static_cast<std::uint32_t>(nodes_.size()), 0, 0, 0, 0, 0});
  return phases;
}

// From the leaves up: children have larger numbers than their parents.
void TokenTrie::summarize(const std::vector<std::uint8_t>& phases) {
  std::unordered_map<ByteSet, std::uint32_t, ByteSetHash> known;
  const auto intern = [&](const ByteSet& set) {
    auto [place, is_new] = known.try_emplace(set, static_cast<std::uint32_t>(below_sets_.size()));
    if (is_new) below_sets_.push_back(set);
    return place->second;
  };
  intern(ByteSet());  // index 0: nothing below
  ByteSet irregular;
  irregular.add(kIrregular);
  const std::uint32_t irregular_index = intern(irregular);
  constexpr std::size_t kMostSets = (std::size_t{1} << 20) - 1;

  for (std::size_t i = node_count(); i-- > 0;) {
    ByteSet below;
    std::uint32_t height = 0;
    for (std::uint32_t child = nodes_[i].first_child; child < nodes_[i + 1].first_child; ++child) {
      const std::uint8_t edge = edge_bytes_[child];
      const bool begins = phases[i] == kBetween;
      if (phases[child] == kBroken || (begins && edge >= 0x80 && edge < 0xC0))
        below.add(kIrregular);
      else if (begins)
        below.add(edge);
      below |= below_sets_[nodes_[child].below];
      height = std::max(height, nodes_[child].height + (begins ? 1u : 0u));
    }
    nodes_[i].below = (below_sets_.size() < kMostSets ? intern(below) : irregular_index) & 0xfffffu;
    nodes_[i].height = std::min(height, kHighest) & 0xffu;
  }
}

std::size_t TokenTrie::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) + edge_bytes_.capacity() + order_.capacity() * sizeof(std::uint32_t) +
         below_sets_.capacity() * sizeof(ByteSet);
}

}  // namespace tokamata

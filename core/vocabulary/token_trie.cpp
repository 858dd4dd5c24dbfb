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
      // began: then the node after it is between code points for whoever comes that way.
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
  TOKAMATA_CHECK(is_in_order(),
                 "the nodes of a trie are numbered breadth first, and their tokens are in the order of bytes");
}

// Whether the children of a node follow those of the node before, in the order of their bytes, and the tokens below a
// node are its own and those below its children, in this order.
bool TokenTrie::is_in_order() const {
  std::uint32_t next = 1;
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (children_begin({node}) != next || children_end({node}) < next || !is_strictly_sorted(bytes_below({node})))
      return false;
    next = children_end({node});
    std::uint32_t token = own_end({node});
    if (token < nodes_[node].tokens_begin) return false;
    for (std::uint32_t child = children_begin({node}); child < next; ++child) {
      if (child <= node || nodes_[child].tokens_begin != token) return false;
      token = nodes_[child].tokens_end;
    }
    if (token != nodes_[node].tokens_end) return false;
  }
  return next == node_count() && edge_bytes_.size() == node_count() && nodes_[0].tokens_end == order_.size();
}

std::optional<TokenTrie::Place> TokenTrie::trunk_of(std::span<const Place> ends, const ByteSet& first,
                                                    std::size_t much) {
  std::optional<Place> most;
  std::size_t all = 0, largest = 0;
  for (const Place& end : ends) {
    std::size_t count = 0;
    for (std::uint32_t child = end.trie->children_begin(end.node); child < end.trie->children_end(end.node); ++child)
      if (first.contains(end.trie->byte({child})))
        count += end.trie->node({child}).tokens_end - end.trie->node({child}).tokens_begin;
    all += count;
    if (count <= largest) continue;
    largest = count;
    most = end;
  }
  return largest >= std::max(much, (all + 1) / 2) ? most : std::nullopt;
}

TokenTrie::TokenTrie(std::vector<Place> ends, const ByteSet& first, std::optional<Place> trunk) {
  Numbers numbers;
  std::vector<Place> members = std::move(ends);  // where the remainder was read: of one node after another
  std::vector<std::size_t> members_end{members.size()};
  struct Below {
    std::uint8_t byte;
    Place place;
  };
  std::vector<Below> below;
  numbers.bytes.push_back(0);
  std::size_t member = 0;
  for (std::size_t at = 0; at < members_end.size(); ++at) {
    const std::size_t own_before = numbers.tokens.size(), nodes_before = members_end.size();
    below.clear();
    for (; member < members_end[at]; ++member) {
      const auto [trie, node] = members[member];
      const std::span<const std::uint32_t> own = trie->own(node);
      numbers.tokens.insert(numbers.tokens.end(), own.begin(), own.end());
      if (at == 0 && trunk && members[member] == *trunk) continue;
      for (std::uint32_t child = trie->children_begin(node); child < trie->children_end(node); ++child)
        if (at > 0 || first.contains(trie->byte({child}))) below.push_back({trie->byte({child}), {trie, {child}}});
    }
    const auto is_less = [](const Below& a, const Below& b) { return a.byte < b.byte; };
    if (!std::ranges::is_sorted(below, is_less)) std::ranges::stable_sort(below, is_less);
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (i == 0 || below[i].byte != below[i - 1].byte) {
        numbers.bytes.push_back(below[i].byte);
        members_end.push_back(members.size());
      }
      members.push_back(below[i].place);
      ++members_end.back();
    }
    numbers.own.push_back(static_cast<std::uint32_t>(numbers.tokens.size() - own_before));
    numbers.children.push_back(static_cast<std::uint32_t>(members_end.size() - nodes_before));
  }
  take(numbers);
}

// Numbers that are known to make a trie.
void TokenTrie::take(const Numbers& numbers) {
  const std::size_t count = numbers.bytes.size();
  edge_bytes_ = numbers.bytes;
  below_sets_.assign(2, ByteSet());
  below_sets_[1].add(kIrregular);
  nodes_.clear();
  nodes_.reserve(count + 1);
  std::uint32_t next_child = 1;
  for (std::size_t at = 0; at < count; ++at) {
    const bool is_leaf = numbers.children[at] == 0;
    nodes_.push_back({next_child, 0, numbers.own[at], is_leaf ? 0u : 1u, std::min(numbers.own[at], kManyOwn) & 0xfu,
                      is_leaf ? 0u : kHighest});
    next_child += numbers.children[at];
  }
  nodes_.push_back({next_child, 0, 0, 0, 0, 0});
  const auto for_children = [&](std::size_t at, auto&& visit) {
    for (std::uint32_t child = nodes_[at].first_child; child < nodes_[at + 1].first_child; ++child)
      visit(nodes_[child]);
  };
  // How many tokens are below each node, from the leaves up; then where they are in the order, from the root down.
  for (std::size_t at = count; at-- > 0;)
    for_children(at, [&](const Node& child) { nodes_[at].tokens_end += child.tokens_end; });
  order_.resize(numbers.tokens.size());
  auto own = numbers.tokens.begin();
  for (std::size_t at = 0; at < count; ++at) {
    std::uint32_t begin = nodes_[at].tokens_begin + numbers.own[at];
    for_children(at, [&](Node& child) {
      child.tokens_begin = begin;
      begin = child.tokens_end += begin;
    });
    std::copy_n(own, numbers.own[at], order_.begin() + nodes_[at].tokens_begin);
    own += numbers.own[at];
  }
  TOKAMATA_CHECK(is_in_order(),
                 "the nodes of a trie are numbered breadth first, and their tokens are in the order of bytes");
}

std::optional<TokenTrie> TokenTrie::of(const Numbers& numbers) {
  constexpr std::uint32_t kMostChildren = 256;
  const std::uint64_t count = numbers.bytes.size();
  if (count == 0 || numbers.children.size() != count || numbers.own.size() != count) return std::nullopt;
  std::uint64_t children = 1, tokens = 0;  // so many were given away; the first is the root
  for (std::uint64_t at = 0; at < count; ++at) {
    if (at >= children || numbers.children[at] > kMostChildren) return std::nullopt;
    if (numbers.children[at] > count - children || numbers.own[at] > numbers.tokens.size() - tokens)
      return std::nullopt;
    if (!is_strictly_sorted(std::span(numbers.bytes).subspan(children, numbers.children[at]))) return std::nullopt;
    children += numbers.children[at];
    tokens += numbers.own[at];
  }
  if (children != count || tokens != numbers.tokens.size()) return std::nullopt;
  TokenTrie trie;
  trie.take(numbers);
  return trie;
}

TokenTrie::Numbers TokenTrie::numbers() const {
  Numbers numbers{edge_bytes_, {}, {}, {}};
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    const std::span<const std::uint32_t> tokens = own({node});
    numbers.children.push_back(children_end({node}) - children_begin({node}));
    numbers.own.push_back(static_cast<std::uint32_t>(tokens.size()));
    numbers.tokens.insert(numbers.tokens.end(), tokens.begin(), tokens.end());
  }
  return numbers;
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
      if (phases[child] == kBroken || (begins && edge >= 0x80 && edge < 0xC0)) below.add(kIrregular);
      else if (begins) below.add(edge);
      below |= below_sets_[nodes_[child].below];
      height = std::max(height, nodes_[child].height + (begins ? 1u : 0u));
    }
    nodes_[i].below = (below_sets_.size() < kMostSets ? intern(below) : irregular_index) & 0xfffffu;
    nodes_[i].height = std::min(height, kHighest) & 0xffu;
  }
}

std::size_t TokenTrie::memory_bytes() const {
  return block_bytes_of(nodes_) + block_bytes_of(edge_bytes_) + block_bytes_of(order_) + block_bytes_of(below_sets_);
}

}  // namespace tokamata

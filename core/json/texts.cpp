#include "json/texts.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "common/hash.hpp"

namespace tokamata::json {

// ---- texts ------------------------------------------------------------------------------------

std::uint64_t Texts::hash_of(TextId parent, std::uint8_t byte) const { return mix(mix(0x9e37u, parent.value), byte); }

std::optional<std::uint32_t> Texts::find(TextId parent, std::uint8_t byte, std::uint64_t hash) const {
  return index_.find(
      hash, [&](std::uint32_t number) { return nodes_[number].parent == parent && nodes_[number].byte == byte; });
}

std::optional<TextId> Texts::find(std::string_view bytes) const {
  TextId text = kEmpty;
  for (const char letter : bytes) {
    const auto byte = static_cast<std::uint8_t>(letter);
    const auto known = find(text, byte, hash_of(text, byte));
    if (!known) return std::nullopt;
    text = {*known};
  }
  return text;
}

TextId Texts::extended(TextId text, std::uint8_t byte) {
  const std::uint64_t hash = hash_of(text, byte);
  if (const auto known = find(text, byte, hash)) return {*known};
  // Two links of one length side by side become one that is twice as long and one more.
  const Node before = nodes_[text.value];
  const Node& further = nodes_[before.further.value];
  const bool joins = before.length - further.length == further.length - nodes_[further.further.value].length;
  const TextId found{static_cast<std::uint32_t>(nodes_.size())};
  index_.reserve(1);
  nodes_.push_back({text, joins ? further.further : text, before.length + 1, byte});
  index_.add(found.value, hash);
  return found;
}

TextId Texts::extended(TextId text, std::string_view bytes) {
  for (const char byte : bytes) text = extended(text, static_cast<std::uint8_t>(byte));
  return text;
}

TextId Texts::prefix(TextId text, std::uint32_t length) const {
  while (nodes_[text.value].length > length) {
    const Node& node = nodes_[text.value];
    text = nodes_[node.further.value].length >= length ? node.further : node.parent;
  }
  return text;
}

std::uint32_t Texts::common_length(TextId a, TextId b) const {
  const std::uint32_t shorter = std::min(length(a), length(b));
  a = prefix(a, shorter);
  b = prefix(b, shorter);
  while (a != b) {  // of one length, so that their links are too
    const Node &of_a = nodes_[a.value], &of_b = nodes_[b.value];
    const bool is_far = of_a.further != of_b.further;
    a = is_far ? of_a.further : of_a.parent;
    b = is_far ? of_b.further : of_b.parent;
  }
  return length(a);
}

std::string Texts::string(TextId text) const {
  std::string bytes(length(text), '\0');
  for (auto place = bytes.rbegin(); place != bytes.rend(); ++place) {
    *place = static_cast<char>(nodes_[text.value].byte);
    text = nodes_[text.value].parent;
  }
  return bytes;
}

TextId Texts::moved(const Texts& others, TextId text, Moved& moved) {
  std::vector<TextId> path;
  for (; text != kEmpty && !moved.contains(text.value); text = others.nodes_[text.value].parent) path.push_back(text);
  TextId result = text == kEmpty ? kEmpty : moved.at(text.value);
  for (auto step = path.rbegin(); step != path.rend(); ++step)
    moved.emplace(step->value, result = extended(result, others.nodes_[step->value].byte));
  return result;
}

// ---- sets -------------------------------------------------------------------------------------

std::uint64_t TextSets::hash_of(const Node& node) const {
  return node.bit == kLeaf ? mix(0x51u, node.first.value) : mix(mix(node.low.value, node.high.value), node.bit);
}

TextSetId TextSets::made(std::uint32_t bit, TextSetId low, TextSetId high, TextId first) {
  const Node node{bit, low, high, first, bit == kLeaf ? 1 : size(low) + size(high)};
  const std::uint64_t hash = hash_of(node);
  const auto is_same = [&](std::uint32_t number) {
    const Node& other = nodes_[number];
    return other.bit == bit && other.low == low && other.high == high && other.first == first;
  };
  if (const auto known = index_.find(hash, is_same)) return {*known};
  const TextSetId found{static_cast<std::uint32_t>(nodes_.size())};
  index_.reserve(1);
  nodes_.push_back(node);
  index_.add(found.value, hash);
  return found;
}

// The subtree that is reached before the bits of so many bytes are used up.
template <class IsHigh>
TextSetId TextSets::descended(TextSetId set, std::uint32_t length, IsHigh&& is_high) const {
  while (nodes_[set.value].bit != kLeaf && nodes_[set.value].bit / kBits < length)
    set = is_high(nodes_[set.value].bit) ? nodes_[set.value].high : nodes_[set.value].low;
  return set;
}

TextSetId TextSets::with(TextSetId set, TextId text) {
  if (texts_.length(text) >= kLeaf / kBits) throw std::length_error("a text of 477 million bytes");
  const TextSetId alone = made(kLeaf, {}, {}, text);
  if (set == kNoTexts) return alone;
  // The text that is most like it says where it leaves the others.
  const TextSetId like = descended(set, kLeaf, [&](std::uint32_t bit) { return is_high(text, bit); });
  const TextId other = nodes_[like.value].first;
  if (other == text) return set;
  const std::uint32_t place = texts_.common_length(other, text);
  const std::uint32_t differing = symbol(other, place) ^ symbol(text, place);
  const std::uint32_t bit = kBits * place + kBits - static_cast<std::uint32_t>(std::bit_width(differing));
  std::vector<TextSetId> path;
  TextSetId at = set;
  while (nodes_[at.value].bit < bit) {  // kLeaf is larger than all
    path.push_back(at);
    at = is_high(text, nodes_[at.value].bit) ? nodes_[at.value].high : nodes_[at.value].low;
  }
  TextSetId result = is_high(text, bit) ? made(bit, at, alone, nodes_[at.value].first) : made(bit, alone, at, text);
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const Node node = nodes_[step->value];
    result = is_high(text, node.bit) ? made(node.bit, node.low, result, node.first)
                                     : made(node.bit, result, node.high, nodes_[result.value].first);
  }
  return result;
}

bool TextSets::contains(TextSetId set, TextId text) const {
  if (set == kNoTexts) return false;
  const TextSetId like = descended(set, kLeaf, [&](std::uint32_t bit) { return is_high(text, bit); });
  return nodes_[like.value].first == text;
}

TextSetId TextSets::below(TextSetId set, TextId prefix) const {
  const std::uint32_t length = texts_.length(prefix);
  const TextSetId found = descended(set, length, [&](std::uint32_t bit) { return is_high(prefix, bit); });
  return found != kNoTexts && texts_.prefix(nodes_[found.value].first, length) == prefix ? found : kNoTexts;
}

TextSetId TextSets::below(TextSetId set, std::string_view prefix) const {
  const auto length = static_cast<std::uint32_t>(prefix.size());
  const TextSetId found = descended(set, length, [&](std::uint32_t bit) {
    return ((0x100u | static_cast<std::uint8_t>(prefix[bit / kBits])) >> (kBits - 1 - bit % kBits)) & 1;
  });
  if (found == kNoTexts || texts_.length(nodes_[found.value].first) < length) return kNoTexts;
  return texts_.string(texts_.prefix(nodes_[found.value].first, length)) == prefix ? found : kNoTexts;
}

void TextSets::append(TextSetId set, std::unordered_set<std::uint32_t>& met, std::vector<TextId>& texts) const {
  std::vector<TextSetId> open{set};
  while (!open.empty()) {
    const TextSetId at = open.back();
    open.pop_back();
    if (at == kNoTexts || !met.insert(at.value).second) continue;
    const Node& node = nodes_[at.value];
    if (node.bit == kLeaf) {
      texts.push_back(node.first);
    } else {
      open.push_back(node.high);
      open.push_back(node.low);
    }
  }
}

std::vector<std::string> TextSets::strings(TextSetId set) const {
  std::unordered_set<std::uint32_t> met;
  std::vector<TextId> texts;
  append(set, met, texts);
  std::vector<std::string> strings;
  for (const TextId text : texts) strings.push_back(texts_.string(text));
  return strings;
}

TextSetId TextSets::moved(const TextSets& others, TextSetId set, Moved& moved, Texts::Moved& moved_texts) {
  moved.emplace(kNoTexts.value, kNoTexts);
  std::vector<TextSetId> open{set};
  while (!open.empty()) {
    const TextSetId at = open.back();
    const Node& node = others.nodes_[at.value];
    if (moved.contains(at.value)) {
      open.pop_back();
    } else if (node.bit == kLeaf) {
      moved.emplace(at.value, made(kLeaf, {}, {}, texts_.moved(others.texts_, node.first, moved_texts)));
    } else if (!moved.contains(node.low.value) || !moved.contains(node.high.value)) {
      open.push_back(node.low);
      open.push_back(node.high);
    } else {
      const TextSetId low = moved.at(node.low.value);
      moved.emplace(at.value, made(node.bit, low, moved.at(node.high.value), nodes_[low.value].first));
    }
  }
  return moved.at(set.value);
}

// As deep as the walk goes, which ends with the longest token.
void TextSets::walk(TextSetId set, std::uint32_t from, TextTree::Walk& walk) const {
  if (set == kNoTexts) return;
  const Node node = nodes_[set.value];
  const std::uint32_t end = node.bit == kLeaf ? texts_.length(node.first) : node.bit / kBits;
  std::uint32_t entered = 0;
  while (from + entered < end && walk.enter(texts_.byte(node.first, from + entered))) ++entered;
  if (from + entered == end && node.bit == kLeaf) {
    walk.mark(true);
  } else if (from + entered == end) {
    this->walk(node.low, end, walk);
    this->walk(node.high, end, walk);
  }
  while (entered-- > 0) walk.leave();
}

}  // namespace tokamata::json

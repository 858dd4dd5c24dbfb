#include "vocabulary/show.hpp"

#include <cstdint>
#include <vector>

#include "common/hexadecimal.hpp"

namespace tokamata {

std::string show(std::string_view bytes) {
  static constexpr std::string_view kEscaped = "\"\\";
  std::string text = "\"";
  for (const char one : bytes) {
    const auto byte = static_cast<std::uint8_t>(one);
    if (kEscaped.find(one) != kEscaped.npos) text += std::string("\\") + one;
    else if (byte >= 0x20 && byte != 0x7F) text += one;
    else text += escaped_byte(byte);
  }
  return text + "\"";
}

std::string show_tokens(const Words& tokens, const Vocabulary& vocabulary, std::size_t most) {
  std::string text = std::to_string(count_bits(tokens)) + " tokens";
  std::size_t shown = 0;
  for_each_bit(tokens, [&](std::uint32_t token) {
    if (shown < most) text += (shown == 0 ? ": " : " ") + show(vocabulary.bytes({token}));
    ++shown;
  });
  return shown > most ? text + " …" : text;
}

std::string show(const Segment& segment, const Vocabulary& vocabulary, std::size_t most) {
  std::string text = "inside " + show_tokens(segment.inside.row(vocabulary.words()), vocabulary, most);
  const TokenTrie& remainders = segment.remainders;
  text += "; remainders of " + std::to_string(remainders.order().size()) + " tokens";
  std::size_t shown = 0;
  std::vector<std::pair<NodeId, std::string>> open{{TokenTrie::root(), ""}};
  while (!open.empty() && shown < most) {
    const auto [node, read] = open.back();
    open.pop_back();
    if (node != TokenTrie::root() && !remainders.own(node).empty()) text += (shown++ == 0 ? ": " : " ") + show(read);
    for (unsigned byte = 256; byte-- > 0;)
      if (const NodeId child = remainders.child(node, static_cast<std::uint8_t>(byte)); child != TokenTrie::root())
        open.emplace_back(child, read + static_cast<char>(byte));
  }
  if (!open.empty()) text += " …";
  if (segment.has_trunk()) text += "; and all below node " + std::to_string(segment.trunk.value) + " of its trie";
  return text;
}

}  // namespace tokamata

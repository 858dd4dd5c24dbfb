// Texts that grow byte by byte, and sets of them that grow text by text.
//
// Problem.  A state of a JSON text knows the names that its object has, the elements that its array has, and what is
// read of the one under way.  A copy of all that for every byte takes quadratic time and memory; and states must be
// equal where these sets are equal, in whichever order they were written.
// Texts.  A trie that knows the parents of its nodes: a text is its last byte and the number of what is before it.
// Equal texts have equal numbers, and one more byte costs one node.  A second link leads further up, so that any byte
// of a text, and what two texts have in common, is found in logarithmic time.
// Sets.  Binary tries over the bits of the texts, without nodes that have one child: each set has one form, whatever
// the order of insertion, and hash-consing makes equal sets equal numbers.  A set with one text more shares all but the
// path to it.  The texts that begin with a prefix are a subtree, so they are a set of their own.
// Example.  {"ab", "ac"}: a node for the last bit but one of the second byte, whose children are the two texts.
// Cost.  Some 24 bytes for a byte of a text; for an insertion log n nodes of 28 bytes, each found in log(length) steps.
// Source.  Links: Myers, "An applicative random-access stack", 1983.  Sets: Morrison's PATRICIA, 1968; without a change
// to what was there, Okasaki and Gill, "Fast mergeable integer maps", 1998.
// Not taken: sorted vectors of strings (copied for every text), sets of numbers of texts (no prefixes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "expression/rules.hpp"

namespace tokamata::json {

using TextId = Id<struct TextTag>;
using TextSetId = Id<struct TextSetTag>;

inline constexpr TextSetId kNoTexts{0};

class Texts {
 public:
  static constexpr TextId kEmpty{0};

  TextId extended(TextId text, std::uint8_t byte);
  TextId extended(TextId text, std::string_view bytes);
  // One that is there already.
  std::optional<TextId> find(std::string_view bytes) const;
  std::uint32_t length(TextId text) const { return nodes_[text.value].length; }
  std::uint8_t byte(TextId text, std::uint32_t place) const { return nodes_[prefix(text, place + 1).value].byte; }
  // The first bytes of a text, no more of them than it has.
  TextId prefix(TextId text, std::uint32_t length) const;
  // The number of bytes that both begin with.
  std::uint32_t common_length(TextId a, TextId b) const;
  std::string string(TextId text) const;
  // The same text as one of others; `moved` remembers by their numbers, which are not 0, what was moved.
  using Moved = counted::unordered_map<std::uint32_t, TextId>;
  TextId moved(const Texts& others, TextId text, Moved& moved);

 private:
  struct Node {
    TextId parent, further;  // without the last byte; without some more
    std::uint32_t length;
    std::uint8_t byte;
  };
  std::uint64_t hash_of(TextId parent, std::uint8_t byte) const;
  std::optional<std::uint32_t> find(TextId parent, std::uint8_t byte, std::uint64_t hash) const;

  counted::vector<Node> nodes_{{{0}, {0}, 0, 0}};
  NumberTable index_;
};

class TextSets {
 public:
  explicit TextSets(Texts& texts) : texts_(texts) {}

  TextSetId with(TextSetId set, TextId text);
  bool contains(TextSetId set, TextId text) const;
  std::uint32_t size(TextSetId set) const { return nodes_[set.value].size; }
  // Of the texts those that begin so.
  TextSetId below(TextSetId set, TextId prefix) const;
  TextSetId below(TextSetId set, std::string_view prefix) const;
  // All of them, sorted.
  std::vector<std::string> strings(TextSetId set) const;
  // The texts of several sets, each once: subtrees that were `met` are left out.
  void append(TextSetId set, std::unordered_set<std::uint32_t>& met, std::vector<TextId>& texts) const;

  // The same set as one of others, whose texts move too.
  using Moved = counted::unordered_map<std::uint32_t, TextSetId>;
  TextSetId moved(const TextSets& others, TextSetId set, Moved& moved, Texts::Moved& moved_texts);
  // Exchanges sets with others; their texts are to be exchanged too.
  void swap(TextSets& others) {
    std::swap(nodes_, others.nodes_);
    std::swap(index_, others.index_);
  }

  // Goes through the texts after their first bytes, of which there are `from` and which are the same; marks their ends.
  void walk(TextSetId set, std::uint32_t from, TextTree::Walk& walk) const;

  // What follows the first bytes of the texts, of which there are `place` and which are the same: calls visit(byte,
  // texts) for each byte, with the texts that go on with it, and visit(nullopt, text) for the one that ends there.
  template <class Visit>
  void each_next(TextSetId set, std::uint32_t place, Visit&& visit) const {
    if (set == kNoTexts) return;
    const Node node = nodes_[set.value];
    if (node.bit != kLeaf && node.bit / kBits == place) {
      each_next(node.low, place, visit);
      each_next(node.high, place, visit);
    } else if (place < texts_.length(node.first)) {
      visit(std::optional(texts_.byte(node.first, place)), set);
    } else {
      visit(std::optional<std::uint8_t>(), set);
    }
  }

  const Texts& texts() const { return texts_; }

 private:
  // Texts that are alike up to a bit, by that bit; or one text alone, whose `bit` is kLeaf.
  struct Node {
    std::uint32_t bit;
    TextSetId low, high;
    TextId first;  // the least text
    std::uint32_t size;
  };
  static constexpr std::uint32_t kLeaf = ~std::uint32_t{0};
  static constexpr std::uint32_t kBits = 9;  // for a byte, or for the end in its place

  TextSetId made(std::uint32_t bit, TextSetId low, TextSetId high, TextId first);
  std::uint64_t hash_of(const Node& node) const;
  std::uint32_t symbol(TextId text, std::uint32_t place) const {
    return place < texts_.length(text) ? 0x100u | texts_.byte(text, place) : 0;
  }
  bool is_high(TextId text, std::uint32_t bit) const {
    return (symbol(text, bit / kBits) >> (kBits - 1 - bit % kBits)) & 1;
  }
  template <class IsHigh>
  TextSetId descended(TextSetId set, std::uint32_t length, IsHigh&& is_high) const;

  Texts& texts_;
  counted::vector<Node> nodes_{{kLeaf, {0}, {0}, {0}, 0}};  // the first is the empty set
  NumberTable index_;
};

// Texts that were written: a set of them, or a sorted list.
struct WrittenTexts {
  const TextSets* sets = nullptr;
  TextSetId set{};
  const std::vector<std::string>* listed = nullptr;

  std::size_t size() const { return listed ? listed->size() : sets ? sets->size(set) : 0; }
  std::vector<std::string> strings() const {
    return listed ? *listed : sets ? sets->strings(set) : std::vector<std::string>();
  }
};

// A set as a tree, to be walked along another one; as long as its sets are.
class TextSetTree : public TextTree {
 public:
  TextSetTree(const TextSets& sets, TextSetId set, std::uint32_t from) : sets_(sets), set_(set), from_(from) {}
  void walk(Walk& walk) const override { sets_.walk(set_, from_, walk); }

 private:
  const TextSets& sets_;
  TextSetId set_;
  std::uint32_t from_;
};

}  // namespace tokamata::json

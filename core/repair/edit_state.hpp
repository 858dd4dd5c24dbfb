// Where a search over edits stands, and the table of its nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "repair/edit_model.hpp"

namespace tokamata {

// How much of the text is read, the mode of the edits, and the state of the pattern.
struct EditState {
  std::uint32_t position;
  Mode mode;
  StateId state;

  friend bool operator==(const EditState&, const EditState&) = default;
  // Texts are at most 2^28 bytes long, or what is beyond that collides; there are at most 16 modes.
  std::uint64_t hash() const {
    return mix(0x9e3779b97f4a7c15, std::uint64_t{mode} << 60 | std::uint64_t{position} << 32 | state.value);
  }
};

// The nodes of a search by numbers.  A node has an `at`, which is its own and has a hash().
template <class Node>
class NodeTable {
 public:
  using Number = std::uint32_t;
  using At = decltype(Node::at);
  static constexpr Number kNone = ~Number{0};

  std::optional<Number> find(const At& at) const {
    return index_.find(at.hash(), [&](Number number) { return nodes_[number].at == at; });
  }
  // May fail before anything has changed.
  Number add(Node node) {
    index_.reserve(1);
    const auto number = static_cast<Number>(nodes_.size());
    nodes_.push_back(std::move(node));
    index_.add(number, nodes_.back().at.hash());
    return number;
  }
  Node& operator[](Number number) { return nodes_[number]; }
  const Node& operator[](Number number) const { return nodes_[number]; }
  Number size() const { return static_cast<Number>(nodes_.size()); }
  bool empty() const { return nodes_.empty(); }

  void reserve(std::size_t count) { nodes_.reserve(count); }
  // The room stays.
  void clear() {
    nodes_.clear();
    index_.clear();
    index_.reserve(static_cast<Number>(nodes_.capacity()));
  }

 private:
  counted::vector<Node> nodes_;
  NumberTable index_;
};

}  // namespace tokamata

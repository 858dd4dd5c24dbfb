// A place of a text in the pattern and in the tokenizer, as a key of maps; looked up without a copy.
#pragma once

#include <cstddef>
#include <utility>

#include "canonical/tokenization.hpp"
#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

struct ConfigurationView {
  StateId state;
  bool at_start;
  const CanonicalState& canonical;
};

struct ConfigurationKey {
  StateId state;
  bool at_start;
  CanonicalState canonical;

  // What stands after all last tokens alike: the last token is 0.
  static ConfigurationKey without_last(TokenAutomaton::Configuration place, const CanonicalState& state,
                                       const Pieces& pieces) {
    ConfigurationKey key{place.state, place.at_start, state};
    key.canonical.last = {};
    for (Hypothesis& h : key.canonical.hypotheses)
      if (h.edge == Hypothesis::Edge::Inside && pieces.may_go_on(h.pieces)) h.pieces = pieces.alike(h.pieces);
    return key;
  }
  operator ConfigurationView() const { return {state, at_start, canonical}; }
  friend bool operator==(const ConfigurationKey&, const ConfigurationKey&) = default;
};

struct ConfigurationHash {
  using is_transparent = void;
  std::size_t operator()(const ConfigurationView& place) const {
    std::uint64_t hash = (std::uint64_t{place.state.value} << 1) | place.at_start;
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    };
    mix((std::uint64_t{place.canonical.last.value} << 32) | place.canonical.open.value);
    mix((std::uint64_t{place.canonical.starter} << 8) | place.canonical.marks);
    for (const Hypothesis& h : place.canonical.hypotheses) {
      mix((std::uint64_t{h.guess} << 32) | (std::uint64_t{h.place} << 8) | static_cast<std::uint64_t>(h.edge));
      mix(h.pieces.value);
    }
    return static_cast<std::size_t>(hash);
  }
};

struct ConfigurationEqual {
  using is_transparent = void;
  bool operator()(const ConfigurationView& a, const ConfigurationView& b) const {
    return a.state == b.state && a.at_start == b.at_start && a.canonical == b.canonical;
  }
};

template <class Value>
using ConfigurationMap = counted::unordered_map<ConfigurationKey, Value, ConfigurationHash, ConfigurationEqual>;

}  // namespace tokamata

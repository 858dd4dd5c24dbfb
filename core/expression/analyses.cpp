
#include "expression/analyses.hpp"

namespace tokamata {

ByteSet Analyses::first_bytes(ExpressionId expression) const {
  ByteSet set;
  while (true) {
    const ExpressionNode& n = pool_.node(expression);
    if (facts_of(n.kind).reads == Reads::AsLeaf && n.kind != Kind::ControlToken) return set | leaves_.first_bytes(n);
    switch (n.kind) {
      case Kind::Terminal:
        if (pool_.node(n.body()).constrained) return ByteSet::range(0x00, 0xFF);  // these are not looked for
        expression = n.body();
        continue;
      case Kind::Repetition: expression = n.body(); continue;
      case Kind::Union:
        for (ExpressionId item : pool_.items(n)) set |= first_bytes(item);
        return set;
      case Kind::Concatenation:
        set |= first_bytes(n.head());
        if (!pool_.node(n.head()).nullable) return set;
        expression = n.tail();
        continue;
      default: return set;
    }
  }
}

ByteSet Analyses::first_bytes_within(ExpressionId expression) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ByteSet set;
  while (true) {
    if (const auto known = first_bytes_.find(expression.value); known != first_bytes_.end()) {
      set = known->second;
      break;
    }
    const ExpressionNode& n = pool_.node(expression);
    if (n.kind == Kind::Concatenation) {
      spine.push_back(expression);
      expression = n.tail();
      continue;
    }
    if (n.kind == Kind::Bytes || facts_of(n.kind).holds == Holds::State) {
      set = leaves_.first_bytes_within(n);
    } else if (n.kind == Kind::Repetition) {
      set = first_bytes_within(n.body());
    } else if (n.has_items()) {
      for (ExpressionId item : pool_.items(n)) set |= first_bytes_within(item);
    } else if (n.kind == Kind::Terminal && !pool_.node(n.body()).constrained) {
      set = first_bytes_within(n.body());
    } else if (n.kind == Kind::Terminal || n.kind == Kind::Rule) {
      set = ByteSet::range(0, 0xFF);  // what rules read is not looked for
    }
    first_bytes_.emplace(expression.value, set);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    set |= first_bytes_within(pool_.node(*place).head());
    first_bytes_.emplace(place->value, set);
  }
  return set;
}

// ---- structure --------------------------------------------------------------------------------

namespace {

constexpr std::size_t kLongestKey = 1 << 17;  // that of a date-time has 97 kB

void append(std::uint64_t value, std::string& key) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

}  // namespace

std::string Analyses::structure(ExpressionId expression) const {
  std::string key;
  return append_structure(expression, key) ? key : std::string();
}

bool Analyses::append_structure(ExpressionId expression, std::string& key) const {
  while (key.size() < kLongestKey) {
    const ExpressionNode& n = pool_.node(expression);
    append(static_cast<std::uint64_t>(n.kind), key);
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Stub:
      case Kind::Everything: return true;
      case Kind::Bytes:
        for (unsigned low = leaves_.byte_set(n).next_member(0), end; low < 256;
             low = leaves_.byte_set(n).next_member(end)) {
          end = leaves_.byte_set(n).next_non_member(low);
          append((std::uint64_t{low} << 32) | end, key);
        }
        return true;
      case Kind::CodePoints: {
        const CodePointAutomaton& code_points = leaves_.automaton(n);
        append(n.state(), key);
        for (std::uint32_t state = 1; state < code_points.state_count(); ++state) {
          append(~std::uint64_t{0}, key);
          for (auto t = code_points.begin(state); t != code_points.end(state); ++t)
            append((std::uint64_t{t->target} << 16) | (std::uint64_t{t->low} << 8) | t->high, key);
          if (key.size() >= kLongestKey) return false;
        }
        return true;
      }
      case Kind::Until: {
        const std::string& phrase = leaves_.phrase_search(n).phrase();
        append(n.state(), key);
        append(phrase.size(), key);
        if (phrase.size() >= kLongestKey) return false;
        key += phrase;
        return true;
      }
      case Kind::Language: key += leaves_.language(n).key(n.state()); return true;
      case Kind::Repetition:
        append(n.minimum, key);
        append(n.maximum, key);
        expression = n.body();
        continue;
      case Kind::Complement:
      case Kind::Terminal: expression = n.body(); continue;
      case Kind::Concatenation:
        if (!append_structure(n.head(), key)) return false;
        expression = n.tail();
        continue;
      case Kind::Union:
      case Kind::Intersection: {
        std::vector<std::string> parts;  // sorted, since arenas number them differently
        for (const ExpressionId item : pool_.items(n)) {
          std::string& part = parts.emplace_back();
          if (!append_structure(item, part)) return false;
        }
        std::ranges::sort(parts);
        append(parts.size(), key);
        for (const std::string& part : parts) key += part;
        return key.size() < kLongestKey;
      }
      default: return false;
    }
  }
  return false;
}

// A hint for an error message, so it looks at the beginning of things alone.
std::int64_t Analyses::blame(ExpressionId expression) const {
  constexpr std::size_t kMostBlamed = 64;
  std::unordered_map<std::int64_t, unsigned> votes;
  std::int64_t worst = -1;
  const auto all = pool_.alternatives(expression);
  for (ExpressionId item : all.first(std::min<std::size_t>(all.size(), kMostBlamed))) {
    // The outermost repetition near the front of this alternative that has a place in the pattern.
    ExpressionId rest = item;
    for (unsigned link = 0; link < kMostBlamed; ++link) {
      const auto [first, tail] = pool_.split(rest);
      const ExpressionNode& head = pool_.node(first);
      const auto place = head.kind == Kind::Repetition ? positions_.find(head.body().value) : positions_.end();
      if (place != positions_.end()) {
        if (++votes[place->second] > (worst < 0 ? 0u : votes[worst])) worst = place->second;
        break;
      }
      if (tail == Pool::kEpsilon) break;
      rest = tail;
    }
  }
  return worst;
}

void Analyses::note_same_position(std::uint32_t body, std::uint32_t other) {
  if (const auto known = positions_.find(other); known != positions_.end()) positions_.try_emplace(body, known->second);
}

Analyses::Positions Analyses::positions_after(std::span<const ExpressionId> moved, ExpressionId gone) const {
  Positions positions;
  for (const auto& [body, position] : positions_)
    if (moved[body] != gone) positions.emplace(moved[body].value, position);
  return positions;
}

}  // namespace tokamata

// The bytes that texts begin with, and those that are anywhere in them: what walks need not look at.

#include "expression/arena.hpp"

namespace tokamata {

ByteSet Arena::first_bytes(ExpressionId expression) const {
  ByteSet set;
  while (true) {
    const ExpressionNode& n = node(expression);
    switch (n.kind) {
      case Kind::Everything: return ByteSet::range(0x00, 0xFF);
      case Kind::Bytes:
      case Kind::OneToken: return set | byte_set(n);
      case Kind::CodePoints: return set | first_bytes_of(automaton(n), n.second);
      case Kind::Strings:
        for (const auto& t : strings_[n.first].automaton->transitions(n.second)) set.add(t.byte);
        return set;
      case Kind::Until: return set | first_bytes_of_until(n);
      case Kind::Language: return set | languages_[n.first].automaton->next_bytes(n.second);
      case Kind::Terminal:
        if (node(n.body()).constrained) return ByteSet::range(0x00, 0xFF);  // these are not looked for
        expression = n.body();
        continue;
      case Kind::Repetition: expression = n.body(); continue;
      case Kind::Union:
        for (ExpressionId item : items(n)) set |= first_bytes(item);
        return set;
      case Kind::Concatenation:
        set |= first_bytes(n.head());
        if (!node(n.head()).nullable) return set;
        expression = n.tail();
        continue;
      default: return set;
    }
  }
}

ByteSet Arena::first_bytes_of(const CodePointAutomaton& automaton, std::uint32_t state) {
  ByteSet set;
  for (auto t = automaton.begin(state); t != automaton.end(state); ++t) set |= ByteSet::range(t->low, t->high);
  return set;
}

ByteSet Arena::first_bytes_of_until(const ExpressionNode& n) const {
  const KnownSearch& known = searches_[n.first];
  return first_bytes_of(*automata_[known.any_code_point].automaton, code_point_state(known, known.search->begun(n.second)));
}

ByteSet Arena::first_bytes_within(ExpressionId expression) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ByteSet set;
  while (true) {
    if (const auto known = memos_.first_bytes.find(expression.value); known != memos_.first_bytes.end()) {
      set = known->second;
      break;
    }
    const ExpressionNode& n = node(expression);
    if (n.kind == Kind::Concatenation) {
      spine.push_back(expression);
      expression = n.tail();
      continue;
    }
    if (n.kind == Kind::Bytes) {
      set = byte_set(n);
    } else if (n.kind == Kind::CodePoints) {
      set = first_bytes_of(automaton(n), n.second);
    } else if (n.kind == Kind::Strings) {
      set = strings_[n.first].used;
    } else if (n.kind == Kind::Until) {
      const CodePointAutomaton& all = *automata_[searches_[n.first].any_code_point].automaton;
      set = first_bytes_of_until(n) | first_bytes_of(all, all.start());
    } else if (n.kind == Kind::Language) {
      set = languages_[n.first].automaton->bytes();
    } else if (n.kind == Kind::Repetition) {
      set = first_bytes_within(n.body());
    } else if (n.has_items()) {
      for (ExpressionId item : items(n)) set |= first_bytes_within(item);
    } else if (n.kind == Kind::Terminal && !node(n.body()).constrained) {
      set = first_bytes_within(n.body());
    } else if (n.kind == Kind::Terminal || n.kind == Kind::Rule) {
      set = ByteSet::range(0, 0xFF);  // what rules read is not looked for
    }
    memos_.first_bytes.emplace(expression.value, set);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    set |= first_bytes_within(node(*place).head());
    memos_.first_bytes.emplace(place->value, set);
  }
  return set;
}

}  // namespace tokamata

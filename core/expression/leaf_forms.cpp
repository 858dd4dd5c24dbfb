#include "expression/leaf_forms.hpp"

#include <algorithm>

namespace tokamata {

ExpressionId LeafForms::literal(const std::string& text, Budget& budget) {
  if (text.size() > budget.limits().memory_bytes / sizeof(ExpressionNode))  // before any of it is made
    throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
  ExpressionId result = Pool::kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    budget.step();
    const auto byte = static_cast<std::uint8_t>(*place);
    const ByteSet set = ByteSet::range(byte, byte);
    leaves_.note_bytes(set);
    result = forms_.pair(forms_.bytes(set), result);
  }
  return result;
}

ExpressionId LeafForms::language(const std::shared_ptr<const LeafLanguage>& language) {
  const std::uint32_t index = leaves_.add_language(language);
  return language_state(index, leaves_.languages_[index].automaton->start());
}

ExpressionId LeafForms::control_tokens(const std::string& name) {
  const auto known = aliases_.find(name);
  if (known == aliases_.end()) return control_token(leaves_.add_control_token(name));
  std::vector<ExpressionId> tokens;
  for (const std::string& token : known->second) tokens.push_back(control_token(leaves_.add_control_token(token)));
  return forms_.unite(tokens);
}

ExpressionId LeafForms::control_token(std::uint32_t number) {
  return pool_.intern(
      {.kind = Kind::ControlToken, .spelled = 1, .shortest = 1, .worst = 1, .payload = Payload::token(number)});
}

ExpressionId LeafForms::one_token(const ByteSet& set) {
  leaves_.note_bytes(set);
  return set.empty() ? Pool::kEmpty : one_token(leaves_.index_of(set), Phase::BeforeEdge);
}

// ---- states of automata -----------------------------------------------------------------------

// The last state of a string says no more than epsilon.
ExpressionId LeafForms::strings_state(std::uint32_t index, std::uint32_t state) {
  const Leaves::KnownStrings& known = leaves_.strings_[index];
  const bool accepting = known.automaton->accepting(state);
  if (known.automaton->transitions(state).empty()) return accepting ? Pool::kEpsilon : Pool::kEmpty;
  return pool_.intern({.kind = Kind::Strings,
                       .nullable = accepting,
                       .text = true,
                       .spelled = known.spelled[state],
                       .shortest = known.shortest[state],
                       .worst = known.worst,
                       .payload = Payload::state(index, state)});
}

ExpressionId LeafForms::until_state(std::uint32_t index, std::uint32_t position) {
  constexpr std::uint64_t kLongestRest = 3;  // of a code point that is none of the phrase
  const Leaves::KnownSearch& known = leaves_.searches_[index];
  const std::uint64_t size = known.search->size();
  if (position == size) return Pool::kEpsilon;
  return pool_.intern(
      {.kind = Kind::Until,
       .text = true,
       .spelled = position >= known.spelled_from ? ExpressionNode::capped(size - position) : ExpressionNode::kUnspelled,
       .shortest = ExpressionNode::capped(size - position),
       .worst = ExpressionNode::capped(size + kLongestRest),
       .payload = Payload::state(index, position)});
}

// A state after which nothing can come says no more than epsilon.
ExpressionId LeafForms::language_state(std::uint32_t index, std::uint32_t state) {
  if (state == LeafAutomaton::kDead) return Pool::kEmpty;
  LeafAutomaton& automaton = *leaves_.languages_[index].automaton;
  const bool accepting = automaton.accepting(state);
  if (accepting && automaton.next_bytes(state).empty()) return Pool::kEpsilon;
  const std::uint32_t shortest = automaton.distance(state);
  return pool_.intern(
      {.kind = Kind::Language,
       .nullable = accepting,
       .text = true,
       .spelled = accepting || leaves_.languages_[index].is_spelled ? shortest : ExpressionNode::kUnspelled,
       .shortest = shortest,
       .worst = leaves_.languages_[index].worst,
       .payload = Payload::state(index, state)});
}

// A state whose transitions all lead to one target is written as a set of bytes and that target,
// so that the rests of different classes after the same lead byte are one expression.
ExpressionId LeafForms::automaton_state(std::uint32_t automaton, std::uint32_t state) {
  if (state == CodePointAutomaton::kFinal) return Pool::kEpsilon;
  if (leaves_.automata_[automaton].states[state] != Leaves::KnownAutomaton::kUnmade)
    return leaves_.automata_[automaton].states[state];
  const CodePointAutomaton& code_points = *leaves_.automata_[automaton].automaton;
  const auto begin = code_points.begin(state), end = code_points.end(state);
  ExpressionId result = Pool::kEmpty;
  if (begin != end) {
    const bool single_target = std::all_of(begin, end, [&](const auto& t) { return t.target == begin->target; });
    if (single_target) {
      ByteSet set;
      for (auto t = begin; t != end; ++t) set |= ByteSet::range(t->low, t->high);
      result = forms_.pair(forms_.bytes(set), automaton_state(automaton, begin->target));
    } else {
      result = pool_.intern({.kind = Kind::CodePoints,
                             .text = true,
                             .spelled = leaves_.automata_[automaton].spelled[state],
                             .shortest = leaves_.automata_[automaton].shortest[state],
                             .worst = 4,
                             .payload = Payload::state(automaton, state)});
    }
  }
  leaves_.automata_[automaton].states[state] = result;
  return result;
}

// Alive or not depends on the edges to come, and is never taken for granted.
ExpressionId LeafForms::one_token(std::uint32_t set, Phase phase) {
  return pool_.intern({.kind = Kind::OneToken,
                       .constrained = true,
                       .edges = true,
                       .shortest = 1,
                       .payload = Payload::set(set, static_cast<std::uint32_t>(phase))});
}

// ---- derivatives ------------------------------------------------------------------------------

ExpressionId LeafForms::derivative(const ExpressionNode& leaf, ExpressionId expression, Symbol symbol) {
  if (leaf.kind == Kind::Everything) return expression;
  if (leaf.kind == Kind::ControlToken) return symbol == Symbol::control(leaf.token()) ? Pool::kEpsilon : Pool::kEmpty;
  if (!symbol.is_byte()) return Pool::kEmpty;
  const std::uint8_t byte = symbol.byte();
  switch (leaf.kind) {
    case Kind::Bytes: return leaves_.byte_set(leaf).contains(byte) ? Pool::kEpsilon : Pool::kEmpty;
    case Kind::CodePoints: {
      const CodePointAutomaton& code_points = leaves_.automaton(leaf);
      for (auto t = code_points.begin(leaf.state()); t != code_points.end(leaf.state()); ++t)
        if (t->low <= byte && byte <= t->high) return automaton_state(leaf.automaton(), t->target);
      return Pool::kEmpty;
    }
    case Kind::Strings:
      for (const auto& t : leaves_.string_automaton(leaf).transitions(leaf.state()))
        if (t.byte == byte) return strings_state(leaf.automaton(), t.target);
      return Pool::kEmpty;
    case Kind::Until: return after_phrase(leaf, byte);
    case Kind::Language: return language_state(leaf.automaton(), leaves_.language(leaf).step(leaf.state(), byte));
    default: {  // OneToken
      const bool reads =
          leaf.phase() != static_cast<std::uint32_t>(Phase::BeforeEdge) && leaves_.byte_set(leaf).contains(byte);
      return reads ? one_token(leaf.set(), Phase::Inside) : Pool::kEmpty;
    }
  }
}

// Where a byte breaks off the phrase, the code point that it is of is read to its end, whichever it is.  The search
// alone would begin the phrase again with any byte, also within a code point.
ExpressionId LeafForms::after_phrase(const ExpressionNode& n, std::uint8_t byte) {
  const Leaves::KnownSearch known = leaves_.searches_[n.automaton()];
  const CodePointAutomaton& all = *leaves_.automata_[known.any_code_point].automaton;
  const std::uint32_t state = leaves_.code_point_state(known, known.search->begun(n.state()));
  const auto read =
      std::find_if(all.begin(state), all.end(state), [&](const auto& t) { return t.low <= byte && byte <= t.high; });
  if (read == all.end(state)) return Pool::kEmpty;
  if (const std::uint32_t position = known.search->step(n.state(), byte); position > 0)
    return until_state(n.automaton(), position);
  return forms_.concatenate(automaton_state(known.any_code_point, read->target), until_state(n.automaton(), 0));
}

}  // namespace tokamata

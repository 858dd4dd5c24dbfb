// What expressions are made of: bytes, classes of code points, strings, phrases, languages, control tokens.
//
// Example.  [a-zé] is an automaton over the bytes of UTF-8; é alone is two bytes, one after the other.
// How.  Automata are kept once each, with the lengths of shortest texts from each of their states; an expression is an
// automaton and a state of it.  All bytes that a pattern distinguishes are noted on the way.

#include <algorithm>

#include "common/memoized.hpp"
#include "expression/forms.hpp"

namespace tokamata {

std::uint32_t Pool::index_of(const ByteSet& set) {
  const std::uint64_t hash = set.hash();
  if (const auto known = set_index_.find(hash, [&](std::uint32_t number) { return sets_[number] == set; }))
    return *known;
  const auto number = static_cast<std::uint32_t>(sets_.size());
  set_index_.reserve(1);
  sets_.push_back(set);
  set_index_.add(number, hash);
  return number;
}

ExpressionId Forms::bytes(const ByteSet& set) {
  if (set.empty()) return kEmpty;
  return intern({.kind = Kind::Bytes,
                 .text = true,
                 .spelled = set.intersects(single_bytes_) ? 1 : ExpressionNode::kUnspelled,
                 .shortest = 1,
                 .worst = 1,
                 .first = index_of(set)});
}

void Pool::note_bytes(const ByteSet& set) {
  pattern_bytes_ |= set;
  for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
    end = set.next_non_member(low);
    class_borders_.add(static_cast<std::uint8_t>(low));
    if (end < 256) class_borders_.add(static_cast<std::uint8_t>(end));
  }
}

// Each of the bytes differs from those beside it.
void Pool::note_each(const ByteSet& set) {
  for (unsigned byte = set.next_member(0); byte < 256; byte = set.next_member(byte + 1))
    note_bytes(ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte)));
}

ExpressionId Forms::add_literal(const std::string& text, Budget& budget) {
  if (text.size() > budget.limits().memory_bytes / sizeof(ExpressionNode))  // before any of it is made
    throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
  ExpressionId result = kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    budget.step();
    const auto byte = static_cast<std::uint8_t>(*place);
    const ByteSet set = ByteSet::range(byte, byte);
    note_bytes(set);
    result = pair(bytes(set), result);
  }
  return result;
}

std::uint32_t Pool::add_strings(const std::shared_ptr<const StringAutomaton>& automaton) {
  if (const auto known = strings_index_.find(automaton.get()); known != strings_index_.end()) return known->second;
  ByteSet used;
  counted::vector<std::uint32_t> spelled(automaton->state_count(), 0);
  counted::vector<std::uint32_t> shortest(automaton->state_count(), 0);
  std::uint32_t worst = 0;
  for (std::uint32_t state = automaton->state_count(); state-- > 0;) {  // targets before sources
    std::uint64_t least = automaton->accepting(state) ? 0 : ExpressionNode::kUnspelled;
    std::uint64_t least_spelled = least;
    for (const auto [byte, target] : automaton->transitions(state)) {
      used.add(byte);
      if (single_bytes_.contains(byte)) least_spelled = std::min(least_spelled, std::uint64_t{spelled[target]} + 1);
      least = std::min(least, std::uint64_t{shortest[target]} + 1);
    }
    shortest[state] = ExpressionNode::capped(least);
    spelled[state] = ExpressionNode::capped(least_spelled);
    worst = std::max(worst, shortest[state]);
  }
  note_each(used);  // any byte may lead elsewhere than its neighbours do
  const auto number = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back({Kept(automaton), std::move(spelled), std::move(shortest), worst, used});
  strings_index_.emplace(automaton.get(), number);  // after it is kept: what is not found is added again
  return number;
}

// The last state of a string says no more than epsilon.
ExpressionId Forms::strings_state(std::uint32_t index, std::uint32_t state) {
  const KnownStrings& known = strings_[index];
  const bool accepting = known.automaton->accepting(state);
  if (known.automaton->transitions(state).empty()) return accepting ? kEpsilon : kEmpty;
  return intern({.kind = Kind::Strings,
                 .nullable = accepting,
                 .text = true,
                 .spelled = known.spelled[state],
                 .shortest = known.shortest[state],
                 .worst = known.worst,
                 .first = index,
                 .second = state});
}

std::uint32_t Pool::add_search(const std::shared_ptr<const PhraseSearch>& search) {
  for (std::uint32_t known = 0; known < searches_.size(); ++known)
    if (searches_[known].search == search) return known;
  static const auto any_code_point =
      std::make_shared<const CodePointAutomaton>(std::vector<CodePointRange>{{0, 0x10FFFF}});
  const std::uint32_t any = add_automaton(any_code_point);
  ByteSet used;
  std::uint32_t spelled_from = 0;
  for (std::uint32_t i = 0; i < search->size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(search->phrase()[i]);
    used.add(byte);
    if (!single_bytes_.contains(byte)) spelled_from = i + 1;
  }
  note_each(used);
  searches_.push_back({search, any, spelled_from});
  return static_cast<std::uint32_t>(searches_.size() - 1);
}

ExpressionId Forms::until_state(std::uint32_t index, std::uint32_t position) {
  constexpr std::uint64_t kLongestRest = 3;  // of a code point that is none of the phrase
  const KnownSearch& known = searches_[index];
  const std::uint64_t size = known.search->size();
  if (position == size) return kEpsilon;
  return intern(
      {.kind = Kind::Until,
       .text = true,
       .spelled = position >= known.spelled_from ? ExpressionNode::capped(size - position) : ExpressionNode::kUnspelled,
       .shortest = ExpressionNode::capped(size - position),
       .worst = ExpressionNode::capped(size + kLongestRest),
       .first = index,
       .second = position});
}

// The state of any code point after the first bytes of one, which are those of a phrase.
std::uint32_t Pool::code_point_state(const KnownSearch& known, std::string_view bytes) const {
  const CodePointAutomaton& all = *automata_[known.any_code_point].automaton;
  std::uint32_t state = all.start();
  for (const char byte : bytes) {
    const auto value = static_cast<std::uint8_t>(byte);
    state = std::find_if(all.begin(state), all.end(state), [&](const auto& t) {
              return t.low <= value && value <= t.high;
            })->target;
  }
  return state;
}

// Where a byte breaks off the phrase, the code point that it is of is read to its end, whichever it is.  The search
// alone would begin the phrase again with any byte, also within a code point.
ExpressionId Forms::derive_until(const ExpressionNode& n, std::uint8_t byte) {
  const KnownSearch known = searches_[n.first];
  const CodePointAutomaton& all = *automata_[known.any_code_point].automaton;
  const std::uint32_t state = code_point_state(known, known.search->begun(n.second));
  const auto read =
      std::find_if(all.begin(state), all.end(state), [&](const auto& t) { return t.low <= byte && byte <= t.high; });
  if (read == all.end(state)) return kEmpty;
  if (const std::uint32_t position = known.search->step(n.second, byte); position > 0)
    return until_state(n.first, position);
  return concatenate(automaton_state(known.any_code_point, read->target), until_state(n.first, 0));
}

std::uint32_t Pool::add_language(const std::shared_ptr<const LeafLanguage>& language) {
  return numbered(language_index_, language->key(), [&](std::uint32_t number) {
    std::unique_ptr<LeafAutomaton> automaton = language->make_automaton();
    note_bytes(automaton->bytes());
    note_each(automaton->lone_bytes());
    const std::uint32_t worst = automaton->most_missing();
    const bool is_spelled = automaton->needed_bytes().is_subset_of(single_bytes_);
    put_at(languages_, number, KnownLanguage{std::move(automaton), worst, is_spelled});
  });
}

// A state after which nothing can come says no more than epsilon.
ExpressionId Forms::language_state(std::uint32_t index, std::uint32_t state) {
  if (state == LeafAutomaton::kDead) return kEmpty;
  LeafAutomaton& automaton = *languages_[index].automaton;
  const bool accepting = automaton.accepting(state);
  if (accepting && automaton.next_bytes(state).empty()) return kEpsilon;
  const std::uint32_t shortest = automaton.distance(state);
  return intern({.kind = Kind::Language,
                 .nullable = accepting,
                 .text = true,
                 .spelled = accepting || languages_[index].is_spelled ? shortest : ExpressionNode::kUnspelled,
                 .shortest = shortest,
                 .worst = languages_[index].worst,
                 .first = index,
                 .second = state});
}

std::uint32_t Pool::add_control_token(const std::string& name) {
  const auto place = std::ranges::find(control_tokens_, name);
  const auto index = static_cast<std::uint32_t>(place - control_tokens_.begin());
  if (place == control_tokens_.end()) control_tokens_.push_back(name);
  return index;
}

// Any one of the tokens that a name stands for.
ExpressionId Forms::control_tokens_of(const std::string& name) {
  const auto known = aliases_.find(name);
  if (known == aliases_.end()) return control_token(add_control_token(name));
  std::vector<ExpressionId> tokens;
  for (const std::string& token : known->second) tokens.push_back(control_token(add_control_token(token)));
  return unite(tokens);
}

ExpressionId Forms::control_token(std::uint32_t number) {
  return intern({.kind = Kind::ControlToken, .spelled = 1, .shortest = 1, .worst = 1, .first = number});
}

// Alive or not depends on the edges to come, and is never taken for granted.
ExpressionId Forms::one_token(std::uint32_t set, Phase phase) {
  return intern({.kind = Kind::OneToken,
                 .constrained = true,
                 .edges = true,
                 .shortest = 1,
                 .first = set,
                 .second = static_cast<std::uint32_t>(phase)});
}

std::optional<std::uint32_t> Pool::find_automaton(const CodePointAutomaton& automaton) const {
  auto [first, last] = automaton_index_.equal_range(automaton.hash());
  for (auto place = first; place != last; ++place) {
    const CodePointAutomaton& known = *automata_[place->second].automaton;
    if (&known == &automaton || known == automaton) return place->second;  // one \d is mostly the same object
  }
  return std::nullopt;
}

std::uint32_t Pool::add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton) {
  if (const auto known = find_automaton(*automaton)) return *known;
  const auto index = static_cast<std::uint32_t>(automata_.size());
  KnownAutomaton known{automaton, counted::vector<ExpressionId>(automaton->state_count(), KnownAutomaton::kUnmade),
                       counted::vector<std::uint32_t>(automaton->state_count(), 0),
                       counted::vector<std::uint32_t>(automaton->state_count(), 0)};
  // States are numbered from the leaves up, so that targets come before sources.
  for (std::uint32_t state = 1; state < automaton->state_count(); ++state) {
    known.spelled[state] = known.shortest[state] = ExpressionNode::kUnspelled;
    for (auto t = automaton->begin(state); t != automaton->end(state); ++t) {
      const ByteSet range = ByteSet::range(t->low, t->high);
      note_bytes(range);
      if (range.intersects(single_bytes_))
        known.spelled[state] =
            std::min(known.spelled[state], ExpressionNode::capped(std::uint64_t{known.spelled[t->target]} + 1));
      known.shortest[state] = std::min(known.shortest[state], known.shortest[t->target] + 1);
    }
  }
  automata_.push_back(std::move(known));
  automaton_index_.emplace(automaton->hash(), index);
  return index;
}

// A state whose transitions all lead to one target is written as a set of bytes and that target,
// so that the rests of different classes after the same lead byte are one expression.
ExpressionId Forms::automaton_state(std::uint32_t automaton, std::uint32_t state) {
  if (state == CodePointAutomaton::kFinal) return kEpsilon;
  if (automata_[automaton].states[state] != KnownAutomaton::kUnmade) return automata_[automaton].states[state];
  const CodePointAutomaton& code_points = *automata_[automaton].automaton;
  const auto begin = code_points.begin(state), end = code_points.end(state);
  ExpressionId result = kEmpty;
  if (begin != end) {
    const bool single_target = std::all_of(begin, end, [&](const auto& t) { return t.target == begin->target; });
    if (single_target) {
      ByteSet set;
      for (auto t = begin; t != end; ++t) set |= ByteSet::range(t->low, t->high);
      result = pair(bytes(set), automaton_state(automaton, begin->target));
    } else {
      result = intern({.kind = Kind::CodePoints,
                       .text = true,
                       .spelled = automata_[automaton].spelled[state],
                       .shortest = automata_[automaton].shortest[state],
                       .worst = 4,
                       .first = automaton,
                       .second = state});
    }
  }
  automata_[automaton].states[state] = result;
  return result;
}

}  // namespace tokamata

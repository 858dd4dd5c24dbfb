#include "expression/leaves.hpp"

#include <algorithm>

#include "common/memoized.hpp"

namespace tokamata {

// ---- of a leaf --------------------------------------------------------------------------------

std::optional<std::uint8_t> Leaves::only_byte(const ExpressionNode& n) const {
  if (n.kind != Kind::Bytes || byte_set(n).size() != 1) return std::nullopt;
  return static_cast<std::uint8_t>(byte_set(n).next_member(0));
}

ByteSet Leaves::first_bytes(const ExpressionNode& leaf) const {
  switch (leaf.kind) {
    case Kind::Bytes:
    case Kind::OneToken: return byte_set(leaf);
    case Kind::CodePoints: return first_bytes(automaton(leaf), leaf.state());
    case Kind::Strings: {
      ByteSet set;
      for (const auto& t : string_automaton(leaf).transitions(leaf.state())) set.add(t.byte);
      return set;
    }
    case Kind::Until: {
      const KnownSearch& known = searches_[leaf.automaton()];
      return first_bytes(*automata_[known.any_code_point].automaton,
                         code_point_state(known, known.search->begun(leaf.state())));
    }
    case Kind::Language: return languages_[leaf.automaton()].automaton->next_bytes(leaf.state());
    default: return ByteSet::range(0x00, 0xFF);  // Everything
  }
}

ByteSet Leaves::first_bytes(const CodePointAutomaton& automaton, std::uint32_t state) {
  ByteSet set;
  for (auto t = automaton.begin(state); t != automaton.end(state); ++t) set |= ByteSet::range(t->low, t->high);
  return set;
}

ByteSet Leaves::first_bytes_within(const ExpressionNode& leaf) const {
  switch (leaf.kind) {
    case Kind::Strings: return strings_[leaf.automaton()].used;
    case Kind::Until: {
      const CodePointAutomaton& all = *automata_[searches_[leaf.automaton()].any_code_point].automaton;
      return first_bytes(leaf) | first_bytes(all, all.start());
    }
    case Kind::Language: return language(leaf).bytes();
    default: return first_bytes(leaf);
  }
}

// ---- of all patterns --------------------------------------------------------------------------

std::uint32_t Leaves::index_of(const ByteSet& set) {
  const std::uint64_t hash = set.hash();
  if (const auto known = set_index_.find(hash, [&](std::uint32_t number) { return sets_[number] == set; }))
    return *known;
  const auto number = static_cast<std::uint32_t>(sets_.size());
  set_index_.reserve(1);
  sets_.push_back(set);
  set_index_.add(number, hash);
  return number;
}

void Leaves::note_bytes(const ByteSet& set) {
  pattern_bytes_ |= set;
  for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
    end = set.next_non_member(low);
    class_borders_.add(static_cast<std::uint8_t>(low));
    if (end < 256) class_borders_.add(static_cast<std::uint8_t>(end));
  }
}

// Each of the bytes differs from those beside it.
void Leaves::note_each(const ByteSet& set) {
  for (unsigned byte = set.next_member(0); byte < 256; byte = set.next_member(byte + 1))
    note_bytes(ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte)));
}

std::uint32_t Leaves::add_strings(const std::shared_ptr<const StringAutomaton>& automaton) {
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

std::uint32_t Leaves::add_search(const std::shared_ptr<const PhraseSearch>& search) {
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

// The state of any code point after the first bytes of one, which are those of a phrase.
std::uint32_t Leaves::code_point_state(const KnownSearch& known, std::string_view bytes) const {
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

std::uint32_t Leaves::add_language(const std::shared_ptr<const LeafLanguage>& language) {
  return numbered(language_index_, language->key(), [&](std::uint32_t number) {
    std::unique_ptr<LeafAutomaton> automaton = language->make_automaton();
    note_bytes(automaton->bytes());
    note_each(automaton->lone_bytes());
    const std::uint32_t worst = automaton->most_missing();
    const bool is_spelled = automaton->needed_bytes().is_subset_of(single_bytes_);
    put_at(languages_, number, KnownLanguage{std::move(automaton), worst, is_spelled});
  });
}

std::uint32_t Leaves::add_control_token(const std::string& name) {
  const auto place = std::ranges::find(control_tokens_, name);
  const auto index = static_cast<std::uint32_t>(place - control_tokens_.begin());
  if (place == control_tokens_.end()) control_tokens_.push_back(name);
  return index;
}

std::optional<std::uint32_t> Leaves::find_automaton(const CodePointAutomaton& automaton) const {
  auto [first, last] = automaton_index_.equal_range(automaton.hash());
  for (auto place = first; place != last; ++place) {
    const CodePointAutomaton& known = *automata_[place->second].automaton;
    if (&known == &automaton || known == automaton) return place->second;  // one \d is mostly the same object
  }
  return std::nullopt;
}

std::uint32_t Leaves::add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton) {
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

}  // namespace tokamata

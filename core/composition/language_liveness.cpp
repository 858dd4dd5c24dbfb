#include "composition/language_liveness.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "expression/parts.hpp"

namespace tokamata {

namespace {

constexpr std::uint32_t kAnyLanguage = 0;  // no alphabet has the number of the dead state

std::uint64_t pair_of(ExpressionId expression, StateId state) {
  return (std::uint64_t{expression.value} << 32) | state.value;
}

}  // namespace

// ---- the two parts ----------------------------------------------------------------------------

std::optional<LanguageLiveness::Parts> LanguageLiveness::parts(StateId state, Budget& budget) {
  Arena& arena = automaton_.arena();
  const ExpressionNode node = automaton_.node(state);
  if (node.kind != Kind::Intersection || node.open || node.behind || node.edges || !operands_.is_spelled_by_bytes())
    return std::nullopt;
  std::optional<ExpressionId> of_rules;
  std::vector<ExpressionId> others;
  const auto items = arena.pool().items(node);
  for (const ExpressionId item : std::vector<ExpressionId>(items.begin(), items.end())) {
    if (!has_rules(item, budget)) {
      others.push_back(item);
      continue;
    }
    const ExpressionNode& n = arena.pool().node(item);
    if (of_rules || n.constrained || n.open || n.behind || n.unverified || n.commits) return std::nullopt;
    of_rules = item;
  }
  if (!of_rules || others.empty()) return std::nullopt;
  const StateId language = automaton_.state_of(arena.forms().intersect(others), budget);
  return Parts{automaton_.state_of(*of_rules, budget), language};
}

std::optional<LanguageLiveness::Parts> LanguageLiveness::approximated_parts(StateId state, Budget& budget) {
  std::optional<Parts> found = parts(state, budget);
  if (found && operands_.is_approximated(found->rules) && automaton_.node(found->rules).spellable_by_bytes())
    return found;
  return std::nullopt;
}

// Within complements and lookaround too.  What holds none is remembered with all that it consists of: twenty thousand
// brackets that are still to be closed are twenty thousand states, each of which would be gone through to its end.
bool LanguageLiveness::has_rules(ExpressionId expression, Budget& budget) {
  const Pool& pool = automaton_.arena().pool();
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  bool found = false;
  while (!open.empty() && !found) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (const auto known = has_rules_.find(at.value); known != has_rules_.end()) {
      found = known->second;
      continue;
    }
    if (!met.insert(at.value).second) continue;
    budget.step();
    found = pool.node(at).rules;
    append_parts(pool, at, open);
  }
  if (found) has_rules_.emplace(expression.value, true);
  else
    for (const std::uint32_t without : met) has_rules_.emplace(without, false);
  return found;
}

bool LanguageLiveness::accepts(StateId language, std::string_view text, Budget& budget) {
  for (const char byte : text) {
    budget.step();
    language = automaton_.next(language, static_cast<std::uint8_t>(byte), budget);
    if (language == ByteAutomaton::kDead) return false;
  }
  return automaton_.accepting(language);
}

ClosingTexts& LanguageLiveness::texts(StateId language, Budget& budget) {
  const bool is_alphabet = this->is_alphabet(language, budget);
  std::unique_ptr<ClosingTexts>& known = texts_[is_alphabet ? language.value : kAnyLanguage];
  if (known) return *known;
  std::optional<ByteSet> bytes;
  if (is_alphabet) {
    bytes.emplace();
    for (unsigned byte = 0; byte < 256; ++byte)
      if (byte >= 0x80 || automaton_.next(language, static_cast<std::uint8_t>(byte), budget) == language)
        bytes->add(static_cast<std::uint8_t>(byte));
  }
  known = std::make_unique<ClosingTexts>(operands_, bytes);
  return *known;
}

// ---- alphabets --------------------------------------------------------------------------------

bool LanguageLiveness::is_alphabet(StateId language, Budget& budget) {
  if (const auto known = alphabets_.find(language.value); known != alphabets_.end()) return known->second;
  bool is_one = automaton_.accepting(language) && all_lead_back(language, language, 1, 0x00, 0x7F, budget);
  for (unsigned value = 0xC2; value <= 0xF4 && is_one; ++value) {
    const auto lead = static_cast<std::uint8_t>(value);
    const unsigned missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    is_one = all_lead_back(automaton_.next(language, lead, budget), language, missing, low, high, budget);
  }
  alphabets_.emplace(language.value, is_one);
  return is_one;
}

// Whether so many more bytes, of which the first is between two, lead back or to nothing.
bool LanguageLiveness::all_lead_back(StateId from, StateId language, unsigned missing, std::uint8_t low,
                                     std::uint8_t high, Budget& budget) {
  if (!liveness_.lives(from, budget)) return true;
  if (missing == 0) return from == language;
  StateId before = language;
  for (unsigned byte = low; byte <= high; ++byte) {
    const StateId next = automaton_.next(from, static_cast<std::uint8_t>(byte), budget);
    if (byte != low && next == before) continue;
    before = next;
    if (!all_lead_back(next, language, missing - 1, 0x80, 0xBF, budget)) return false;
  }
  return true;
}

// Whether some text of an expression of rules may be of an alphabet; true where that is not known.  It is no more than
// what its parts say: the alphabet has a text whole if it has its parts.
bool LanguageLiveness::may_live(ExpressionId root, StateId alphabet, Budget& budget) {
  if (const auto known = may_live_.find(pair_of(root, alphabet)); known != may_live_.end()) return known->second;
  Arena& arena = automaton_.arena();
  struct Part {
    ExpressionId expression;
    bool is_any;  // whether one of the parts within will do, and not all are needed
    bool lives;
    std::vector<std::uint32_t> within;
  };
  std::vector<Part> all;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  const auto number_of = [&](ExpressionId expression) {
    const auto [number, is_new] = numbers.try_emplace(expression.value, static_cast<std::uint32_t>(all.size()));
    if (is_new) all.push_back({expression, true, false, {}});
    return number->second;
  };
  number_of(root);
  for (std::size_t i = 0; i < all.size(); ++i) {
    budget.step();
    if (i >= kMostParts) {  // rules at any depth may be different ones
      all[i].lives = true;
      continue;
    }
    const ExpressionId at = all[i].expression;
    if (const auto known = may_live_.find(pair_of(at, alphabet)); known != may_live_.end()) {
      all[i].lives = known->second;
      continue;
    }
    const ExpressionNode n = arena.pool().node(at);
    std::vector<ExpressionId> within;
    bool is_any = true, is_known = false;
    if (n.nullable) {
      all[i].lives = true;
      continue;
    }
    if (n.kind == Kind::Concatenation) {
      within = {n.head(), n.tail()};
      is_any = false;
    } else if (n.kind == Kind::Union) {
      within.assign(arena.pool().items(n).begin(), arena.pool().items(n).end());
    } else if (n.kind == Kind::Repetition) {
      within = {n.body()};
    } else if (n.kind == Kind::Rule) {
      RememberingRules* const remembering = arena.rule_sets().of(n).remembering();
      std::vector<std::string> names;
      if (remembering)
        for (const std::string_view name : remembering->strings(n.rule(), budget)) names.emplace_back(name);
      const std::optional<std::uint8_t> leaving = remembering ? remembering->leaving_byte() : std::nullopt;
      const auto stays = [&](std::uint8_t byte) { return automaton_.next(alphabet, byte, budget) == alphabet; };
      for (std::size_t name = 0; name < names.size(); ++name) {
        budget.step();
        StateId reached = alphabet;
        // bytes that the alphabet has, with and without the begin of a code point
        std::size_t whole = 0, refused = 0;
        for (; refused < names[name].size() && reached != ByteAutomaton::kDead; ++refused) {
          if (reached == alphabet) whole = refused;
          reached = automaton_.next(reached, static_cast<std::uint8_t>(names[name][refused]), budget);
        }
        if (reached == alphabet) within.push_back(remembering->after(n.rule(), name, budget));
        if (reached == alphabet || !leaving || !stays(*leaving)) continue;
        // What the alphabet lacks needs another spelling, which may begin some bytes before.
        ExpressionId after = Pool::kEmpty;
        for (std::size_t depth = whole + 1; depth-- > 0 && after == Pool::kEmpty;)
          after = remembering->after_leaving(n.rule(), name, name + 1, depth, budget);
        if (after != Pool::kEmpty) within.push_back(after);
      }
      if (names.empty()) {
        const auto body = arena.rule_sets().of(n).unfolded(n.rule(), budget);
        if (body) within = {*body};
        is_known = !body;
      }
    } else if (!n.rules && n.kind != Kind::Commit && n.kind != Kind::Unverified && !n.open && !n.behind) {
      std::vector<ExpressionId> both{at, automaton_.expression(alphabet)};
      is_known = liveness_.spellable(automaton_.state_of(arena.forms().intersect(both), budget), budget);
    } else {
      is_known = true;
    }
    all[i].lives = is_known;
    all[i].is_any = is_any;
    for (const ExpressionId part : within) {
      const std::uint32_t number = number_of(part);
      all[i].within.push_back(number);
    }
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (auto part = all.rbegin(); part != all.rend(); ++part) {
      budget.step();
      if (part->lives || part->within.empty()) continue;
      const auto lives = [&](std::uint32_t number) { return all[number].lives; };
      part->lives = part->is_any ? std::ranges::any_of(part->within, lives) : std::ranges::all_of(part->within, lives);
      is_changed |= part->lives;
    }
  }
  for (const Part& part : all) may_live_.insert_or_assign(pair_of(part.expression, alphabet), part.lives);
  return all.front().lives;
}

// ---- liveness ---------------------------------------------------------------------------------

std::optional<bool> LanguageLiveness::lives(StateId state, Budget& budget) {
  const std::optional<Parts> parts = approximated_parts(state, budget);
  if (!parts) return std::nullopt;
  if (is_alphabet(parts->language, budget)) {
    const StateId approximation = operands_.approximated({parts->rules, false}, budget).state;
    if (!may_live(automaton_.expression(approximation), parts->language, budget)) return false;
  }
  ClosingTexts& texts = this->texts(parts->language, budget);
  const ClosingText text = texts.text(parts->rules, budget);
  if (text.id == SpelledTexts::kNone || text.is_unverified ||
      !accepts(parts->language, texts.spelled().string(text.id), budget))
    return std::nullopt;
  liveness_.note_at_most(state, texts.spelled().length(text.id));
  return true;
}

}  // namespace tokamata

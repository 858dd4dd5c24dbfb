#include "composition/language_masks.hpp"

#include <algorithm>

#include "common/bits.hpp"
#include "composition/trie_walk.hpp"
#include "composition/walk_texts.hpp"
#include "expression/parts.hpp"

namespace tokamata {

namespace {

constexpr std::uint32_t kAnyLanguage = 0;  // no alphabet has the number of the dead state

std::uint64_t pair_of(ExpressionId expression, StateId state) {
  return (std::uint64_t{expression.value} << 32) | state.value;
}

}  // namespace

// ---- the two parts ----------------------------------------------------------------------------

std::optional<LanguageMasks::Parts> LanguageMasks::parts(StateId state, Budget& budget) {
  Arena& arena = automaton_.automaton().arena();
  const ExpressionNode node = automaton_.automaton().node(state);
  if (node.kind != Kind::Intersection || node.open || node.behind || node.edges || !automaton_.is_spelled_by_bytes())
    return std::nullopt;
  std::optional<ExpressionId> of_rules;
  std::vector<ExpressionId> others;
  const auto items = arena.items(node);
  for (const ExpressionId item : std::vector<ExpressionId>(items.begin(), items.end())) {
    if (!has_rules(item, budget)) {
      others.push_back(item);
      continue;
    }
    const ExpressionNode& n = arena.node(item);
    if (of_rules || n.constrained || n.open || n.behind || n.unverified || n.commits) return std::nullopt;
    of_rules = item;
  }
  if (!of_rules || others.empty()) return std::nullopt;
  const StateId language = automaton_.automaton().state_of(arena.intersect(others), budget);
  return Parts{automaton_.automaton().state_of(*of_rules, budget), language};
}

// Within complements and lookaround too.  What holds none is remembered with all that it consists of: twenty thousand
// brackets that are still to be closed are twenty thousand states, each of which would be gone through to its end.
bool LanguageMasks::has_rules(ExpressionId expression, Budget& budget) {
  const Arena& arena = automaton_.automaton().arena();
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
    found = arena.node(at).rules;
    append_parts(arena, at, open);
  }
  if (found) has_rules_.emplace(expression.value, true);
  else
    for (const std::uint32_t without : met) has_rules_.emplace(without, false);
  return found;
}

bool LanguageMasks::accepts(StateId language, std::string_view text, Budget& budget) {
  for (const char byte : text) {
    budget.step();
    language = automaton_.automaton().next(language, static_cast<std::uint8_t>(byte), budget);
    if (language == ByteAutomaton::kDead) return false;
  }
  return automaton_.automaton().accepting(language);
}

// Null where a token leads to too many states.
std::shared_ptr<const LanguageMasks::Targets> LanguageMasks::targets(StateId language, Budget& budget) {
  if (auto known = targets_.find(language)) return known;
  if (has_many_targets_.contains(language.value)) return nullptr;
  const TokenTrie& trie = automaton_.vocabulary(false).trie();
  auto made = std::make_shared<Targets>();
  made->states.push_back(ByteAutomaton::kDead);
  made->of_token.assign(32 * automaton_.vocabulary(false).words(), 0);
  std::unordered_map<std::uint32_t, std::size_t> numbers;
  walk_trie(trie, TokenTrie::root(), automaton_.automaton(), language, budget, [&](NodeId node, StateId reached) {
    const auto own = trie.own(node);
    if (own.empty()) return made->states.size() <= kMostStates;
    const auto [number, is_new] = numbers.try_emplace(reached.value, made->states.size());
    if (is_new && !automaton_.lives(reached, budget)) number->second = 0;
    if (is_new && number->second != 0) made->states.push_back(reached);
    for (const std::uint32_t token : own) made->of_token[token] = static_cast<std::uint8_t>(number->second);
    return made->states.size() <= kMostStates;
  });
  if (made->states.size() > kMostStates) {
    has_many_targets_.emplace(language.value, true);
    return nullptr;
  }
  targets_.keep(language, made);
  return made;
}

LanguageMasks::Closing& LanguageMasks::closing(StateId language, Budget& budget) {
  const bool is_alphabet = this->is_alphabet(language, budget);
  std::unique_ptr<Closing>& known = closings_[is_alphabet ? language.value : kAnyLanguage];
  if (known) return *known;
  std::optional<ByteSet> bytes;
  if (is_alphabet) {
    bytes.emplace();
    for (unsigned byte = 0; byte < 256; ++byte)
      if (byte >= 0x80 || automaton_.automaton().next(language, static_cast<std::uint8_t>(byte), budget) == language)
        bytes->add(static_cast<std::uint8_t>(byte));
  }
  known = std::make_unique<Closing>(automaton_, bytes);
  return *known;
}

// ---- alphabets --------------------------------------------------------------------------------

bool LanguageMasks::is_alphabet(StateId language, Budget& budget) {
  if (const auto known = alphabets_.find(language.value); known != alphabets_.end()) return known->second;
  bool is_one = automaton_.automaton().accepting(language) && all_lead_back(language, language, 1, 0x00, 0x7F, budget);
  for (unsigned value = 0xC2; value <= 0xF4 && is_one; ++value) {
    const auto lead = static_cast<std::uint8_t>(value);
    const unsigned missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    is_one = all_lead_back(automaton_.automaton().next(language, lead, budget), language, missing, low, high, budget);
  }
  alphabets_.emplace(language.value, is_one);
  return is_one;
}

// Whether so many more bytes, of which the first is between two, lead back or to nothing.
bool LanguageMasks::all_lead_back(StateId from, StateId language, unsigned missing, std::uint8_t low, std::uint8_t high,
                                  Budget& budget) {
  if (!automaton_.lives(from, budget)) return true;
  if (missing == 0) return from == language;
  StateId before = language;
  for (unsigned byte = low; byte <= high; ++byte) {
    const StateId next = automaton_.automaton().next(from, static_cast<std::uint8_t>(byte), budget);
    if (byte != low && next == before) continue;
    before = next;
    if (!all_lead_back(next, language, missing - 1, 0x80, 0xBF, budget)) return false;
  }
  return true;
}

// Whether some text of an expression of rules may be of an alphabet; true where that is not known.  It is no more than
// what its parts say: the alphabet has a text whole if it has its parts.
bool LanguageMasks::may_live(ExpressionId root, StateId alphabet, Budget& budget) {
  if (const auto known = may_live_.find(pair_of(root, alphabet)); known != may_live_.end()) return known->second;
  Arena& arena = automaton_.automaton().arena();
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
    const ExpressionNode n = arena.node(at);
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
      within.assign(arena.items(n).begin(), arena.items(n).end());
    } else if (n.kind == Kind::Repetition) {
      within = {n.body()};
    } else if (n.kind == Kind::Rule) {
      RememberingRules* const remembering = arena.rules(n).remembering();
      std::vector<std::string> names;
      if (remembering)
        for (const std::string_view name : remembering->strings(n.rule(), arena, budget)) names.emplace_back(name);
      const std::optional<std::uint8_t> leaving = remembering ? remembering->leaving_byte() : std::nullopt;
      const auto stays = [&](std::uint8_t byte) {
        return automaton_.automaton().next(alphabet, byte, budget) == alphabet;
      };
      for (std::size_t name = 0; name < names.size(); ++name) {
        budget.step();
        StateId reached = alphabet;
        // bytes that the alphabet has, with and without the begin of a code point
        std::size_t whole = 0, refused = 0;
        for (; refused < names[name].size() && reached != ByteAutomaton::kDead; ++refused) {
          if (reached == alphabet) whole = refused;
          reached = automaton_.automaton().next(reached, static_cast<std::uint8_t>(names[name][refused]), budget);
        }
        if (reached == alphabet) within.push_back(remembering->after(n.rule(), name, arena, budget));
        if (reached == alphabet || !leaving || !stays(*leaving)) continue;
        // What the alphabet lacks needs another spelling, which may begin some bytes before.
        ExpressionId after = Arena::kEmpty;
        for (std::size_t depth = whole + 1; depth-- > 0 && after == Arena::kEmpty;)
          after = remembering->after_leaving(n.rule(), name, name + 1, depth, arena, budget);
        if (after != Arena::kEmpty) within.push_back(after);
      }
      if (names.empty()) {
        const auto body = arena.rules(n).unfolded(n.rule(), arena, budget);
        if (body) within = {*body};
        is_known = !body;
      }
    } else if (!n.rules && n.kind != Kind::Commit && n.kind != Kind::Unverified && !n.open && !n.behind) {
      std::vector<ExpressionId> both{at, automaton_.automaton().expression(alphabet)};
      is_known = automaton_.spellable(automaton_.automaton().state_of(arena.intersect(both), budget), budget);
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

std::optional<bool> LanguageMasks::lives(StateId state, Budget& budget) {
  const std::optional<Parts> parts = this->parts(state, budget);
  if (!parts || !automaton_.is_approximated(parts->rules) ||
      !automaton_.automaton().node(parts->rules).spellable_by_bytes())
    return std::nullopt;
  if (is_alphabet(parts->language, budget)) {
    const StateId approximation = automaton_.approximated({parts->rules, false}, budget).state;
    if (!may_live(automaton_.automaton().expression(approximation), parts->language, budget)) return false;
  }
  ClosingTexts& texts = closing(parts->language, budget).texts;
  const ClosingText text = texts.text(parts->rules, budget);
  if (text.id == SpelledTexts::kNone || text.is_unverified ||
      !accepts(parts->language, texts.spelled().string(text.id), budget))
    return std::nullopt;
  automaton_.data(state).at_most =
      std::min<std::uint64_t>(automaton_.data(state).at_most, texts.spelled().length(text.id));
  return true;
}

// ---- masks ------------------------------------------------------------------------------------

std::optional<StateId> LanguageMasks::mask_state(StateId state, Budget& budget) {
  const std::optional<Parts> parts = this->parts(state, budget);
  if (!parts || !automaton_.is_approximated(parts->rules) ||
      !automaton_.automaton().node(parts->rules).spellable_by_bytes())
    return std::nullopt;
  const std::shared_ptr<const Targets> targets = this->targets(parts->language, budget);
  if (!targets) return std::nullopt;
  const MaskPtr whole = automaton_.mask({parts->rules, false}, budget);
  const StateId approximation = automaton_.approximated({parts->rules, false}, budget).state;
  const Shared key{automaton_.data(parts->rules).mask_state, approximation, parts->language};
  const bool is_accepting = automaton_.automaton().accepting(state);
  if (const auto known = shared_.find(key); known != shared_.end() && automaton_.data(known->second).mask &&
                                            automaton_.automaton().accepting(known->second) == is_accepting) {
    automaton_.data(state).most_after = automaton_.data(known->second).most_after;
    return known->second;
  }
  Closing& closing = this->closing(parts->language, budget);
  const std::shared_ptr<const Endings> endings = closing.endings.of(approximation, budget);
  const SpelledTexts& spelled = closing.texts.spelled();
  const Vocabulary& vocabulary = automaton_.vocabulary(false);
  Words row = whole->bits.row();
  Words sure(vocabulary.words()), ambiguous(vocabulary.words());
  if (approximation != parts->rules) ambiguous = automaton_.ambiguous_tokens(parts->rules, budget);
  std::uint64_t most = 0;
  std::size_t read = 0;
  bool is_by_token = false;
  for (const Ending& ending : endings->all) {
    if (ending.text == SpelledTexts::kNone) continue;
    const std::string text = spelled.string(ending.text);
    std::vector<std::optional<bool>> fits(targets->states.size());
    fits[0] = false;
    const auto add = [&](std::uint32_t token) {
      if (!has_bit(row, token)) return;
      std::optional<bool>& is_fit = fits[targets->of_token[token]];
      if (!is_fit) {
        is_fit = accepts(targets->states[targets->of_token[token]], text, budget);
        if (*is_fit) most = std::max<std::uint64_t>(most, text.size());
      }
      if (!*is_fit || has_bit(sure, token)) return;
      // the state itself reads the text, as far as that is not too much
      if (ending.is_unverified || has_bit(ambiguous, token)) {
        is_by_token = true;
        if (++read > kMostRead || !accepts(parts->rules, std::string(vocabulary.bytes({token})) + text, budget)) return;
      }
      set_bit(sure, token);
    };
    std::ranges::for_each(ending.few, add);
    if (ending.many) for_each_bit(*ending.many, add);
  }
  std::vector<std::uint32_t> doubtful;
  for_each_bit(row, [&](std::uint32_t token) {
    if (targets->of_token[token] == 0) clear_bit(row, token);
    else if (!has_bit(sure, token)) doubtful.push_back(token);
  });
  const bool is_shared = doubtful.empty() && !is_by_token;
  const std::vector<std::uint32_t> judged = doubtful;
  if (!judged.empty())
    for (const std::uint32_t token : automaton_.refused_tokens(state, std::move(doubtful), budget))
      clear_bit(row, token);
  for (std::size_t i = 0; i < judged.size() && most != TokenAutomaton::kEndless; ++i) {
    if (!has_bit(row, judged[i])) continue;
    const std::optional<StateId> target =
        i < kMostJudged ? automaton_.step({state, false}, {judged[i]}, budget) : std::nullopt;
    most = target ? std::max(most, automaton_.room(*target).at_most) : TokenAutomaton::kEndless;
  }
  MaskPtr made = automaton_.mask_of_row({state, false}, std::move(row));
  budget.check();
  automaton_.remember(state, std::move(made));
  automaton_.data(state).most_after = most;
  if (is_shared) shared_.insert_or_assign(key, state);
  return state;
}

}  // namespace tokamata

#include "composition/language_masks.hpp"

#include <algorithm>

#include "common/bits.hpp"
#include "composition/approximation_cuts.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

LanguageMasks::LanguageMasks(TokenSteps& steps, RuleMasks& rule_masks)
    : steps_(steps),
      operands_(steps.operands()),
      automaton_(operands_.automaton()),
      languages_(steps.liveness().in_languages()),
      rule_masks_(rule_masks) {}

// Null where a token leads to too many states.
std::shared_ptr<const LanguageMasks::Targets> LanguageMasks::targets(StateId language, Budget& budget) {
  if (const Kept<Targets>* const known = targets_.find(language)) return known->shared();
  if (has_many_targets_.contains(language.value)) return nullptr;
  const TokenTrie& trie = operands_.vocabulary().trie();
  auto made = std::make_shared<Targets>();
  made->states.push_back(ByteAutomaton::kDead);
  made->of_token.assign(32 * operands_.vocabulary().words(), 0);
  std::unordered_map<std::uint32_t, std::size_t> numbers;
  walk_trie(trie, TokenTrie::root(), automaton_, language, budget, [&](NodeId node, StateId reached) {
    const auto own = trie.own(node);
    if (own.empty()) return made->states.size() <= kMostTargets;
    const auto [number, is_new] = numbers.try_emplace(reached.value, made->states.size());
    if (is_new && !steps_.liveness().lives(reached, budget)) number->second = 0;
    if (is_new && number->second != 0) made->states.push_back(reached);
    for (const std::uint32_t token : own) made->of_token[token] = static_cast<std::uint8_t>(number->second);
    return made->states.size() <= kMostTargets;
  });
  if (made->states.size() > kMostTargets) {
    has_many_targets_.emplace(language.value, true);
    return nullptr;
  }
  return targets_.keep(language, Kept<Targets>(std::move(made))).shared();
}

RuleEndings& LanguageMasks::endings(ClosingTexts& texts) {
  std::unique_ptr<RuleEndings>& known = endings_[&texts];
  if (!known) known = std::make_unique<RuleEndings>(rule_masks_.context(), texts);
  return *known;
}

std::optional<StateId> LanguageMasks::mask_state(StateId state, Budget& budget) {
  const std::optional<LanguageLiveness::Parts> parts = languages_.approximated_parts(state, budget);
  if (!parts) return std::nullopt;
  MaskMemo& masks = rule_masks_.memo();
  const std::shared_ptr<const Targets> targets = this->targets(parts->language, budget);
  if (!targets) return std::nullopt;
  const MaskPtr whole = rule_masks_.of(parts->rules, budget);
  const StateId approximation = operands_.approximated({parts->rules, false}, budget).state;
  const Shared key{masks.holder(parts->rules), approximation, parts->language};
  const bool is_accepting = automaton_.accepting(state);
  if (const auto known = shared_.find(key);
      known != shared_.end() && masks.held(known->second) && automaton_.accepting(known->second) == is_accepting) {
    masks.note_most_after(state, masks.most_after(known->second));
    return known->second;
  }
  ClosingTexts& texts = languages_.texts(parts->language, budget);
  const std::shared_ptr<const Endings> endings = this->endings(texts).of(approximation, budget);
  const SpelledTexts& spelled = texts.spelled();
  const Vocabulary& vocabulary = operands_.vocabulary();
  Words row = whole->bits.row();
  Words sure(vocabulary.words()), ambiguous(vocabulary.words());
  if (approximation != parts->rules) ambiguous = ambiguous_tokens(operands_, parts->rules, budget);
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
        is_fit = languages_.accepts(targets->states[targets->of_token[token]], text, budget);
        if (*is_fit) most = std::max<std::uint64_t>(most, text.size());
      }
      if (!*is_fit || has_bit(sure, token)) return;
      // the state itself reads the text, as far as that is not too much
      if (ending.is_unverified || has_bit(ambiguous, token)) {
        is_by_token = true;
        if (++read > kMostRead ||
            !languages_.accepts(parts->rules, std::string(vocabulary.bytes({token})) + text, budget))
          return;
      }
      set_bit(sure, token);
    };
    ending.tokens.for_each(add);
  }
  std::vector<std::uint32_t> doubtful;
  for_each_bit(row, [&](std::uint32_t token) {
    if (targets->of_token[token] == 0) clear_bit(row, token);
    else if (!has_bit(sure, token)) doubtful.push_back(token);
  });
  const bool is_shared = doubtful.empty() && !is_by_token;
  const std::vector<std::uint32_t> judged = doubtful;
  if (!judged.empty())
    for (const std::uint32_t token : rule_masks_.refused_tokens(state, std::move(doubtful), budget))
      clear_bit(row, token);
  for (std::size_t i = 0; i < judged.size() && most != TokenLiveness::kEndless; ++i) {
    if (!has_bit(row, judged[i])) continue;
    const std::optional<StateId> target =
        i < kMostJudged ? steps_.step({state, false}, {judged[i]}, budget) : std::nullopt;
    most = target ? std::max(most, steps_.liveness().room(*target).at_most) : TokenLiveness::kEndless;
  }
  MaskPtr made = rule_masks_.writer().of_row({state, false}, std::move(row));
  budget.check();
  masks.keep(state, std::move(made));
  masks.note_most_after(state, most);
  if (is_shared) shared_.insert_or_assign(key, state);
  return state;
}

}  // namespace tokamata

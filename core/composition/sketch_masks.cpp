// Masks of states by their sketches, which many states share.  Part of TokenAutomaton.
//
// Problem.  What a text has written decides what it may write much later (expression/rules.hpp), so no two states need be
// alike, though most of their masks are.
// How.  A state has the masks of its sketches, each made once (rule_masks.cpp).  Tokens that begin with what a sketch
// refuses are taken out as runs of the trie; tokens on whose way a sketch is suspect, and those it doubts, are asked for
// one by one, of the state itself.
// Example.  {"a": 1, "|  where any names may stand: the mask of any name, less the tokens that begin with  a" .
// Cost.  One look for each sketch, a few words for each run cut, one step for each suspect token.

#include <algorithm>
#include <functional>

#include "composition/token_automaton.hpp"
#include "composition/walk_texts.hpp"

namespace tokamata {

TokenAutomaton::Place TokenAutomaton::sketched(Place place, Budget& budget) {
  std::vector<ExpressionId> all;
  for (const Sketch& sketch : automaton_.arena().sketches(automaton_.expression(place.state), budget)) all.push_back(sketch.expression);
  return {automaton_.state_of(automaton_.arena().settled(automaton_.arena().unite(all)), budget), place.at_start};
}

// Sketches of a state with the tokens that each refuses or doubts, those that do neither in one.
std::vector<TokenAutomaton::SketchCut> TokenAutomaton::sketch_cuts(StateId state, Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  std::vector<ExpressionId> whole;
  std::vector<SketchCut> cuts;
  for (const Sketch& sketch : automaton_.arena().sketches(automaton_.expression(state), budget)) {
    const auto marked_tokens = [&](const std::vector<TextsBehind>& texts) {
      std::vector<TokenRange> tokens;
      walk_texts(trie, texts, budget, [](NodeId) {}, [&](NodeId node, bool with_longer) {
        tokens.push_back({trie.node(node).tokens_begin, with_longer ? trie.node(node).tokens_end : trie.own_end(node)});
      });
      return tokens;
    };
    SketchCut cut{sketch.expression, marked_tokens(sketch.refused), marked_tokens(sketch.doubted)};
    if (cut.refused.empty() && cut.doubted.empty())
      whole.push_back(sketch.expression);
    else
      cuts.push_back(std::move(cut));
  }
  if (const ExpressionId all = automaton_.arena().unite(whole); all != Arena::kEmpty) cuts.push_back({all, {}, {}});
  return cuts;
}

// The state that holds the mask of a sketch.
StateId TokenAutomaton::made_rule_mask(ExpressionId sketch, Budget& budget) {
  const StateId holder = automaton_.clipped(automaton_.state_of(automaton_.arena().settled(sketch), budget), budget);
  if (data(holder).mask) return holder;
  RuleMask made = make_rule_mask(automaton_.expression(holder), TokenTrie::root(), budget);
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  mask->bits = std::move(made.bits);
  mask->set_bits = mask->open_tokens = mask->bits.count();
  if (automaton_.accepting(holder)) add_stops(*vocabulary_, *mask);
  data(holder).most_after = made.most;
  parts_bytes_ += made.suspects.capacity() * sizeof(std::uint32_t);
  if (!made.suspects.empty()) suspects_.insert_or_assign(holder.value, std::move(made.suspects));
  remember(holder, std::move(mask));
  return holder;
}

void TokenAutomaton::remember_rule_mask(StateId state, Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  const std::vector<SketchCut> cuts = sketch_cuts(state, budget);
  std::vector<std::uint32_t> suspects;
  std::uint64_t most = 0;
  Words words;  // of several masks, or of one that is cut
  if (cuts.empty()) words.resize((vocabulary_->width() + 31) / 32);  // nothing goes on from here
  StateId holder = state;
  for (const SketchCut& cut : cuts) {
    holder = made_rule_mask(cut.sketch, budget);
    most = std::max(most, data(holder).most_after);
    if (const auto known = suspects_.find(holder.value); state != holder && known != suspects_.end())
      suspects.insert(suspects.end(), known->second.begin(), known->second.end());
    for (const TokenRange& range : cut.doubted)
      for (std::uint32_t i = range.begin; i < range.end; ++i) suspects.push_back(trie.order()[i]);
    if (cuts.size() == 1 && cut.refused.empty()) break;
    Words own = data(holder).mask->bits.row();
    for (const TokenRange& range : cut.refused)
      for (std::uint32_t i = range.begin; i < range.end; ++i) own[trie.order()[i] / 32] &= ~(1u << (trie.order()[i] % 32));
    if (words.empty())
      words = std::move(own);
    else
      std::ranges::transform(words, own, words.begin(), std::bit_or());
  }
  const auto is_set = [&](std::uint32_t token) {
    return words.empty() ? data(holder).mask->bits.contains(token) : has_bit(words, token);
  };
  std::ranges::sort(suspects);
  suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
  std::erase_if(suspects, [&](std::uint32_t token) { return !is_set(token); });
  if (!suspects.empty()) suspects = refused_tokens(state, std::move(suspects), budget);
  if (!suspects.empty() && words.empty()) words = data(holder).mask->bits.row();
  data(state).most_after = most;
  data(state).mask_state = words.empty() ? holder : state;
  if (words.empty()) return;
  for (const std::uint32_t token : suspects) words[token / 32] &= ~(1u << (token % 32));
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  mask->bits = MaskBits(std::move(words));
  mask->set_bits = mask->open_tokens = mask->bits.count();
  if (automaton_.accepting(state)) mask->open_tokens -= vocabulary_->stop().size();
  remember(state, std::move(mask));
}

}  // namespace tokamata

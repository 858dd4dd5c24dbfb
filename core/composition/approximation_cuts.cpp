#include "composition/approximation_cuts.hpp"

#include "composition/walk_texts.hpp"

namespace tokamata {

std::vector<ApproximationCut> approximation_cuts(Operands& operands, StateId state, NodeId from, Budget& budget) {
  const TokenTrie& trie = operands.vocabulary().trie();
  std::vector<ExpressionId> whole;
  std::vector<ApproximationCut> cuts;
  for (const Approximation& approximation :
       operands.arena().fronts().approximations(operands.automaton().expression(state), budget)) {
    const auto marked_tokens = [&](const std::vector<TextsAfter>& texts) {
      std::vector<TokenRange> tokens;
      walk_texts(
          trie, from, texts, budget, [](NodeId) {},
          [&](NodeId node, bool with_longer) {
            tokens.push_back(
                {trie.node(node).tokens_begin, with_longer ? trie.node(node).tokens_end : trie.own_end(node)});
          });
      return tokens;
    };
    ApproximationCut cut{approximation.expression, marked_tokens(approximation.refused),
                         marked_tokens(approximation.unverified)};
    if (cut.refused.empty() && cut.unverified.empty()) whole.push_back(approximation.expression);
    else cuts.push_back(std::move(cut));
  }
  if (const ExpressionId all = operands.arena().forms().unite(whole); all != Pool::kEmpty)
    cuts.push_back({all, {}, {}});
  return cuts;
}

Words ambiguous_tokens(Operands& operands, StateId state, Budget& budget) {
  const TokenTrie& trie = operands.vocabulary().trie();
  Words tokens(operands.vocabulary().words());
  const auto note = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) set_bit(tokens, trie.order()[i]);
  };
  for (const Approximation& approximation :
       operands.arena().fronts().approximations(operands.automaton().expression(state), budget))
    for (const auto* texts : {&approximation.refused, &approximation.unverified, &approximation.alike})
      walk_texts(
          trie, TokenTrie::root(), *texts, budget,
          [&](NodeId node) { note(trie.node(node).tokens_begin, trie.own_end(node)); },
          [&](NodeId node, bool with_longer) {
            if (with_longer) note(trie.node(node).tokens_begin, trie.node(node).tokens_end);
          });
  return tokens;
}

}  // namespace tokamata

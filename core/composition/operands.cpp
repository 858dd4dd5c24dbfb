#include "composition/operands.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace tokamata {

namespace {

constexpr ByteSet kContinuations = ByteSet::range(0x80, 0xBF);

// A name of its own for each token: the same under whatever names the pattern has for it.
std::string name_of(TokenId token) { return std::to_string(token.value); }

LeafForms::Aliases aliases_of(const Operands::ControlTokens& control_tokens) {
  LeafForms::Aliases aliases;
  for (const auto& [name, tokens] : control_tokens)
    std::ranges::transform(tokens, std::back_inserter(aliases[name]), name_of);
  return aliases;
}

}  // namespace

Operands::Operands(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                   std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
                   const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : vocabulary_(std::move(vocabulary)),
      start_vocabulary_(std::move(start_vocabulary)),
      automaton_(pattern, aliases_of(control_tokens), vocabulary_->single_bytes(),
                 std::max(vocabulary_->trie().longest(), start_vocabulary_ ? start_vocabulary_->trie().longest() : 0),
                 limits, std::move(cancel)),
      uses_edges_(automaton_.node(automaton_.start()).edges),
      every_byte_is_token_(automaton_.pattern_bytes().is_subset_of(vocabulary_->single_bytes())),
      is_spelled_by_bytes_(every_byte_is_token_ && !uses_edges_),
      has_whole_leads_(kContinuations.is_subset_of(vocabulary_->single_bytes())) {
  std::map<std::string, TokenId> ids;
  for (const auto& [name, tokens] : control_tokens)
    for (const TokenId token : tokens) ids.emplace(name_of(token), token);
  for (const std::string& name : automaton_.control_tokens()) {
    const auto known = ids.find(name);
    if (known == ids.end() || known->second.value >= vocabulary_->width() || vocabulary_->is_stop(known->second) ||
        !vocabulary_->bytes(known->second).empty())
      throw std::invalid_argument("no control token of the vocabulary: " + name);
    controls_.push_back(known->second);
  }
}

std::optional<Symbol> Operands::control_symbol(TokenId token) const {
  const auto place = std::ranges::find(controls_, token);
  if (place == controls_.end()) return std::nullopt;
  return Symbol::control(static_cast<std::uint32_t>(place - controls_.begin()));
}

TokenConfiguration Operands::approximated(TokenConfiguration configuration, Budget& budget) {
  Arena& arena = automaton_.arena();
  std::vector<ExpressionId> all;
  for (const Approximation& approximation :
       arena.fronts().approximations(automaton_.expression(configuration.state), budget))
    all.push_back(approximation.expression);
  return {automaton_.state_of(arena.derivatives().settled(arena.forms().unite(all)), budget), configuration.at_start};
}

}  // namespace tokamata

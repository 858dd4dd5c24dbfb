// What is asked of the whole automaton rather than of one place: its closed form, and text that is forced.

#include <algorithm>
#include <map>

#include "canonical/canonical_automaton.hpp"

namespace tokamata {

namespace {

template <class Visit>
void for_each_token(const Mask& mask, const Vocabulary& vocabulary, Visit&& visit) {
  for_each_bit(mask.bits.row(), [&](std::uint32_t token) {
    if (!vocabulary.is_stop({token})) visit(TokenId{token});
  });
}

}  // namespace

ClosedForm CanonicalAutomaton::closed_form(Budget& budget) {
  ClosedForm result;
  struct At {
    Configuration place;
    CanonicalState canonical;
  };
  std::vector<At> places{{pattern_.start(), tokenization_->start()}};
  std::map<std::pair<StateId, CanonicalState>, std::int32_t> numbers;
  result.class_of_token.assign(tokenization_->vocabulary().width(), -1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const At at = places[i];  // a copy: the list grows
    result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
    result.accepting.push_back(accepting(at.place, at.canonical));
    const MaskPtr live = mask(at.place, at.canonical, budget);
    for_each_token(*live, tokenization_->vocabulary(), [&](TokenId token) {
      budget.step();
      std::optional<Target> target = step(at.place, at.canonical, token, budget);
      const auto [known, is_new] =
          numbers.try_emplace({target->state, target->canonical}, static_cast<std::int32_t>(places.size()));
      if (is_new) places.push_back({{target->state, false}, std::move(target->canonical)});
      result.class_of_token[token.value] = static_cast<std::int32_t>(token.value);
      result.classes.push_back(static_cast<std::int32_t>(token.value));
      result.targets.push_back(known->second);
    });
    if (places.size() > budget.limits().states)
      throw LimitExceeded("states", static_cast<double>(budget.limits().states));
    const std::size_t bytes =
        (result.classes.capacity() + result.targets.capacity()) * sizeof(std::int32_t) + places.size() * sizeof(At) * 2;
    if (bytes > budget.limits().memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
  }
  result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
  return result;
}

// Byte by byte: what is under way are tokens, each with as much of it as was taken; one that is taken whole is
// followed by all that may stand after it.
std::string CanonicalAutomaton::forced_text(Configuration start, const CanonicalState& canonical, Budget& budget) {
  struct Under {
    Configuration place;
    CanonicalState canonical;
    TokenId token;
    std::size_t taken;
  };
  const auto bytes_of = [&](const Under& at) { return pattern_.vocabulary(at.place.at_start).bytes(at.token); };
  std::string text;
  std::vector<Under> open;
  bool may_end = false;
  // Adds the tokens of a place; false where they differ in their first byte already.
  const auto expand = [&](Configuration place, const CanonicalState& state) {
    may_end = may_end || accepting(place, state);
    std::optional<char> first;
    bool agree = !may_end;
    const MaskPtr live = mask(place, state, budget);
    for_each_token(*live, tokenization_->vocabulary(), [&](TokenId token) {
      if (!agree) return;
      budget.step();
      const Under under{place, state, token, 0};
      const std::string_view bytes = bytes_of(under);
      agree = bytes.empty() || bytes[0] == first.value_or(bytes[0]);
      if (agree && !bytes.empty()) first = bytes[0];
      open.push_back(under);
    });
    return agree;
  };
  if (!expand(start, canonical)) return text;
  // The decoder may take all of the first token away; then the text begins after it.
  for (std::size_t i = 0; i < open.size();) {
    if (!bytes_of(open[i]).empty()) {
      ++i;
      continue;
    }
    const std::optional<Target> target = step(open[i].place, open[i].canonical, open[i].token, budget);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    if (!expand({target->state, false}, target->canonical)) return text;
  }
  while (!open.empty()) {
    const char next = bytes_of(open[0])[open[0].taken];
    if (std::ranges::any_of(open, [&](const Under& at) { return bytes_of(at)[at.taken] != next; })) return text;
    text.push_back(next);
    std::vector<Under> reached;
    reached.swap(open);
    std::map<std::pair<StateId, CanonicalState>, bool> expanded;
    for (Under& at : reached) {
      if (++at.taken < bytes_of(at).size()) {
        open.push_back(std::move(at));
        continue;
      }
      const std::optional<Target> target = step(at.place, at.canonical, at.token, budget);
      if (!expanded.emplace(std::pair(target->state, target->canonical), true).second) continue;
      if (!expand({target->state, false}, target->canonical)) return text;
    }
  }
  return text;
}

}  // namespace tokamata

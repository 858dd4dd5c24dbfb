#include "canonical/edge_prefix.hpp"

#include <algorithm>
#include <utility>

namespace tokamata {

EdgePrefix::EdgePrefix(const EdgeReading& reading, const EdgeAutomaton& automaton, Budget& budget)
    : tokenization_(reading.tokenization),
      descents_(reading.descents),
      hides_space_(reading.hides_space),
      before_(reading.before),
      automaton_(automaton) {
  for (unsigned byte = 0; byte < 256; ++byte) bytes_[byte] = static_cast<char>(byte);
  find_texts(budget);
  find_begun(budget);
}

bool EdgePrefix::is_any_text(const EdgeAutomaton& automaton) {
  if (automaton.starts().size() != 1 || automaton.starts()[0] != 0) return false;
  for (State state = 0; state < automaton.count(); ++state)
    if (automaton.is_prefix(state) != (state == 0)) return false;
  return automaton.is_free(0);
}

std::string EdgePrefix::text_of(std::uint32_t node) const {
  std::vector<std::string_view> parts;
  for (; node != kNoNode; node = nodes_[node].from) parts.push_back(nodes_[node].by);
  std::string text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
  return text;
}

void EdgePrefix::find_texts(Budget& budget) {
  for (const State start : automaton_.starts())
    for (const State state : automaton_.after_edge(start))
      if (automaton_.is_prefix(state))
        for (const std::uint16_t guess : tokenization_.rules().starts_after(before_))
          offer({state, {.guess = guess}, true, 0, kNoNode, {}});
  while (!open_.empty()) {
    budget.step();
    const Node node = open_.take().node;
    const Touch touch(node.text);
    if (!met_of(node).add(place_of(node.state, node.text), touch, node.cost)) continue;
    if (node.at_border) borders_by_state_[node.state].push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(node);
    open_node(static_cast<std::uint32_t>(nodes_.size() - 1), budget);
  }
  open_.clear();
}

void EdgePrefix::open_node(std::uint32_t number, Budget& budget) {
  const Node node = nodes_[number];
  const TextRules& rules = tokenization_.rules();
  const bool is_hidden = hides_space_ && node.is_start();
  if (TextState after = node.text; is_hidden && rules.read(after, ' '))
    offer({node.state, after, false, node.cost, number, {}});
  for (unsigned byte = 0; byte < 256 && !is_hidden; ++byte) {
    TextState after = node.text;
    if (!rules.read(after, static_cast<std::uint8_t>(byte))) continue;
    for (const State target : automaton_.after_byte(node.state, static_cast<std::uint8_t>(byte)))
      if (automaton_.is_prefix(target))
        offer({target, after, false, node.cost + 1, number, std::string_view(&bytes_[byte], 1)});
  }
  if (node.text.place != CodePoints::kBetween) return;
  if (!node.at_border)
    for (const std::uint16_t guess : rules.ends(node.text.guess)) {
      TextState after = node.text;
      after.guess = guess;
      offer({node.state, after, true, node.cost, number, {}});
    }
  if (!rules.may_end(node.text) || !follows_added_.is_new(node.state, node.text.open, node.is_start())) return;
  for (const auto& [added, state] : added_after(node.state, is_hidden, budget)) {
    const AddedTokens::Open open = descents_.open_after(node.text.open, added);
    if (open == AddedTokens::kDead) continue;
    const std::string_view content = descents_.added_text(added, is_hidden);
    const std::uint32_t cost = node.cost + static_cast<std::uint32_t>(content.size());
    for (const std::uint16_t guess : tokenization_.starts_after(added))
      offer({state, {.guess = guess, .open = open}, true, cost, number, content});
  }
}

// The added tokens that stay in the prefix, with the states after them.
const std::vector<EdgeDescents::Descent>& EdgePrefix::added_after(State from, bool after_hidden_space, Budget& budget) {
  const auto [known, is_new] = added_after_.try_emplace({from, after_hidden_space});
  if (is_new) known->second = descents_.staying_added(automaton_, from, after_hidden_space, budget);
  return known->second;
}

void EdgePrefix::find_begun(Budget& budget) {
  std::map<std::pair<State, bool>, std::vector<EdgeDescents::Descent>> staying;
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    const Node& node = nodes_[number];
    if (!node.at_border) continue;
    budget.check();
    const bool is_hidden = hides_space_ && node.is_start();
    const auto [from, is_new] = tokens_from_.try_emplace({node.state, node.text.guess, is_hidden});
    if (is_new) {
      const auto [descents, is_first] = staying.try_emplace({node.state, is_hidden});
      if (is_first) descents->second = staying_from(node.state, is_hidden, budget);
      from->second = tokens_from(node, descents->second);
    }
    for (const auto& [place, tokens] : from->second) {
      const std::uint32_t cost = node.cost - is_hidden, least = cost + length_of(tokens.front());
      BegunAt& at = begun_.try_emplace(place, BegunAt{place, least, {}}).first->second;
      at.least = std::min(at.least, least);
      at.runs.push_back({number, cost, tokens});
    }
  }
  for (const auto& [place, at] : begun_)
    begun_by_side_[{place.state, place.place != CodePoints::kBetween}].push_back(&at);
  for (auto& [side, places] : begun_by_side_) std::ranges::stable_sort(places, {}, &BegunAt::least);
}

std::vector<EdgeDescents::Descent> EdgePrefix::staying_from(State from, bool after_hidden_space, Budget& budget) const {
  std::vector<EdgeDescents::Descent> staying;
  const Words& beginning = tokenization_.pieces().beginning();
  const std::optional<NodeId> top = descents_.top(after_hidden_space);
  if (automaton_.is_free(from) && !after_hidden_space)
    for_each_bit(beginning, [&](std::uint32_t token) { staying.push_back({token, from}); });
  else if (top)
    walk_tokens(
        budget, tokenization_.vocabulary().trie(), *top, automaton_, from,
        [&](NodeId, State state) { return !automaton_.is_prefix(state); },
        [&](std::uint32_t token, State state, bool has_left) {
          if (!has_left && has_bit(beginning, token)) staying.push_back({token, state});
        });
  std::ranges::stable_sort(staying, {}, [&](const EdgeDescents::Descent& each) {
    return std::tuple(each.state, length_of(each.token), each.token);
  });
  return staying;
}

EdgePrefix::TokensByPlace EdgePrefix::tokens_from(const Node& border,
                                                  std::span<const EdgeDescents::Descent> staying) const {
  TokensByPlace found;
  const LandingPtr landing = tokenization_.landing(border.text.guess, border.text.place);
  std::vector<std::vector<std::uint32_t>*> lists;  // by target, of the state that comes next
  State last = kNoNode;
  for (const auto& [token, state] : staying) {
    const std::uint16_t target = landing->target_of(token);
    if (target == 0) continue;
    if (std::exchange(last, state) != state) lists.assign(landing->targets().size(), nullptr);
    std::vector<std::uint32_t>*& list = lists[target - 1u];
    if (!list) {
      const auto [guess, place] = landing->targets()[target - 1u];
      list = &found[{state, guess, place}];
    }
    list->push_back(token);
  }
  return found;
}

}  // namespace tokamata

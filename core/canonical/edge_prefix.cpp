#include "canonical/edge_prefix.hpp"

#include <algorithm>

namespace tokamata {

namespace {

// Sorts a list of a few sorted runs: most borders add their tokens in order.
void merge_runs(std::vector<EdgePrefix::Begun>& begun) {
  std::vector<std::ptrdiff_t> ends;
  for (auto end = begun.begin(); end != begun.end(); ends.push_back(end - begun.begin()))
    end = std::is_sorted_until(end, begun.end());
  while (ends.size() > 1) {
    std::vector<std::ptrdiff_t> merged;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::ptrdiff_t from = i == 0 ? 0 : ends[i - 1], end = ends[std::min(i + 1, ends.size() - 1)];
      std::inplace_merge(begun.begin() + from, begun.begin() + ends[i], begun.begin() + end);
      merged.push_back(end);
    }
    ends = std::move(merged);
  }
}

}  // namespace

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
    if (!(node.at_border ? borders_ : texts_).add(place_of(node.state, node.text), touch, node.cost)) continue;
    if (node.at_border) borders_by_state_[node.state].push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(node);
    open_node(static_cast<std::uint32_t>(nodes_.size() - 1));
  }
  open_.clear();
}

void EdgePrefix::open_node(std::uint32_t number) {
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
  for (const auto& [added, state] : added_after(node.state, is_hidden)) {
    const AddedTokens::Open open = descents_.open_after(node.text.open, added);
    if (open == AddedTokens::kDead) continue;
    const std::string_view content = descents_.added_text(added, is_hidden);
    for (const std::uint16_t guess : tokenization_.starts_after(added))
      if (const TextState after{.guess = guess, .open = open};
          !borders_.covers(place_of(state, after), Touch(after), node.cost))
        offer({state, after, true, node.cost + static_cast<std::uint32_t>(content.size()), number, content});
  }
}

// The added tokens that stay in the prefix, with the states after them.
const std::vector<EdgeDescents::Descent>& EdgePrefix::added_after(State from, bool after_hidden_space) {
  const auto [known, is_new] = added_after_.try_emplace({from, after_hidden_space});
  if (is_new) known->second = descents_.staying_added(automaton_, from, after_hidden_space);
  return known->second;
}

void EdgePrefix::find_begun(Budget& budget) {
  const Vocabulary& vocabulary = tokenization_.vocabulary();
  const Words& beginning = tokenization_.pieces().beginning();
  const auto length_of = [&](std::uint32_t token) { return vocabulary.bytes({token}).size(); };
  std::vector<std::uint32_t> shortest_first;
  if (!nodes_.empty()) for_each_bit(beginning, [&](std::uint32_t token) { shortest_first.push_back(token); });
  std::ranges::stable_sort(shortest_first, {}, length_of);
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    const Node& node = nodes_[number];
    if (!node.at_border) continue;
    const LandingPtr landing = tokenization_.landing(node.text.guess, node.text.place);
    const bool is_hidden = hides_space_ && node.is_start();
    const auto add = [&](std::uint32_t token, State state) {
      budget.step();
      const std::uint16_t target = landing->target_of(token);
      if (target == 0) return;
      const auto [guess, place] = landing->targets()[target - 1u];
      const auto length = static_cast<std::uint32_t>(length_of(token) - is_hidden);
      begun_[{state, guess, place}].push_back({node.cost + length, token, number});
    };
    const std::optional<NodeId> top = descents_.top(is_hidden);
    if (!top) continue;
    if (automaton_.is_free(node.state) && !is_hidden) {
      for (const std::uint32_t token : shortest_first) add(token, node.state);
      continue;
    }
    walk_tokens(
        vocabulary.trie(), *top, automaton_, node.state,
        [&](NodeId, State state) { return !automaton_.is_prefix(state); },
        [&](std::uint32_t token, State state, bool has_left) {
          if (!has_left && has_bit(beginning, token)) add(token, state);
        });
  }
  for (BegunAt& at : begun_) {
    merge_runs(at.second);
    budget.check();
    begun_by_side_[{at.first.state, at.first.place != CodePoints::kBetween}].push_back(&at);
  }
  for (auto& [side, places] : begun_by_side_)
    std::ranges::stable_sort(places, {}, [](const BegunAt* at) { return at->second.front().cost; });
}

}  // namespace tokamata

#include "composition/mask_records.hpp"

#include <algorithm>
#include <unordered_map>

#include "composition/approximation_cuts.hpp"

namespace tokamata {

MaskRecords MaskRecorder::records(bool had_collection) const {
  constexpr std::uint32_t kNone = MaskRecords::kNone;
  const ByteAutomaton& bytes = operands_.automaton();
  struct Edge {
    std::uint32_t source, target, symbol;
  };
  std::vector<Edge> edges;
  bytes.for_each_known([&](StateId source, Symbol symbol, StateId target) {
    edges.push_back({source.value, target.value, symbol.value});
  });
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::pair(edge.source, edge.symbol); });
  const std::size_t count = bytes.state_count();
  std::vector<std::uint32_t> first(count + 1, 0);
  for (const Edge& edge : edges) ++first[edge.source + 1];
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];

  std::vector<std::uint32_t> order{bytes.start().value};  // breadth first
  std::vector<std::uint32_t> edge_to(count, kNone);
  std::vector<bool> is_met(count), is_needed(count);
  is_met[bytes.start().value] = true;
  for (std::size_t next = 0; next < order.size(); ++next)
    for (std::uint32_t at = first[order[next]]; at < first[order[next] + 1]; ++at) {
      if (is_met[edges[at].target]) continue;
      is_met[edges[at].target] = true;
      edge_to[edges[at].target] = at;
      order.push_back(edges[at].target);
    }
  const auto known = [&](std::uint32_t state) { return memo_.find({{state}, false}); };
  std::vector<std::uint32_t> branches(count, 0);  // to states that are needed
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    is_needed[*at] = is_needed[*at] || known(*at) || at + 1 == order.rend();
    if (!is_needed[*at] || edge_to[*at] == kNone) continue;
    is_needed[edges[edge_to[*at]].source] = true;
    ++branches[edges[edge_to[*at]].source];
  }

  MaskRecords found;
  std::unordered_map<const Mask*, std::uint32_t> numbers;
  const auto number_of = [&](const MaskPtr& mask) {
    const auto [at, is_new] = numbers.try_emplace(mask.get(), static_cast<std::uint32_t>(found.masks.size()));
    if (is_new) found.masks.push_back({.mask = mask, .is_at_states = had_collection});
    return at->second;
  };
  std::unordered_map<std::uint32_t, std::vector<StackMemo::Question>> questions = rule_masks_.questions();
  // of a record, or of the record from which its symbols are counted
  std::vector<std::uint32_t> number(count, kNone);
  std::vector<std::uint32_t> symbols;
  for (const std::uint32_t state : order) {
    if (!is_needed[state]) continue;
    const MaskPtr* const mask = known(state);
    const bool is_start = edge_to[state] == kNone;
    if (!is_start && !mask && branches[state] == 1) continue;  // a state on the way of one other
    symbols.clear();
    std::uint32_t at = state;
    while (edge_to[at] != kNone && (at == state || number[at] == kNone)) {
      symbols.push_back(edges[edge_to[at]].symbol);
      at = edges[edge_to[at]].source;
    }
    MaskRecords::State record;
    record.parent = is_start ? 0 : number[at];
    found.symbols.insert(found.symbols.end(), symbols.rbegin(), symbols.rend());
    record.symbols_end = static_cast<std::uint32_t>(found.symbols.size());
    if (mask) {
      const StateId holder = memo_.holder({state});
      record.mask = number_of(*mask);
      record.most_after = memo_.most_after({state});
      record.holds = holder.value == state;
      MaskRecords::Shared& shared = found.masks[record.mask];
      shared.most_after = memo_.most_after(holder);
      shared.unverified = rule_masks_.unverified(holder);
      if (const auto asked = questions.find(holder.value); asked != questions.end())
        shared.questions = std::move(asked->second), questions.erase(asked);
    }
    number[state] = static_cast<std::uint32_t>(found.states.size());
    found.states.push_back(record);
  }
  if (const MaskPtr& start = memo_.start_mask()) found.start_mask = number_of(start);
  return found;
}

std::optional<std::vector<StateId>> MaskRecorder::walk(const MaskRecords& records, std::size_t most_states,
                                                       std::size_t most_bytes, Budget& budget) {
  ByteAutomaton& bytes = operands_.automaton();
  const std::size_t symbols = Symbol::kBytes + 1 + bytes.control_tokens().size();
  std::vector<StateId> states;
  for (std::size_t i = 0; i < records.states.size(); ++i) {
    if (bytes.state_count() >= most_states || Charge::bytes() >= most_bytes) break;
    StateId state = i == 0 ? bytes.start() : states[records.states[i].parent];
    for (const std::uint32_t value : records.symbols_of(i)) {
      if (value >= symbols) return std::nullopt;
      const Symbol symbol = value < Symbol::kBytes    ? Symbol(static_cast<std::uint8_t>(value))
                            : value == Symbol::kBytes ? Symbol::edge()
                                                      : Symbol::control(value - Symbol::kBytes - 1);
      state = bytes.next(state, symbol, budget);
      if (state == ByteAutomaton::kDead) return std::nullopt;
    }
    states.push_back(state);
  }
  return states;
}

bool MaskRecorder::are_accepted(const MaskRecords& records, std::span<const StateId> states) const {
  const std::size_t stops = operands_.vocabulary().stop().size();
  const auto is_accepted = [&](std::uint32_t mask, StateId state) {
    const Mask& given = *records.masks[mask].mask;
    return given.set_bits - given.open_tokens == (operands_.automaton().accepting(state) ? stops : 0);
  };
  for (std::size_t i = 0; i < states.size(); ++i)
    if (records.states[i].mask != MaskRecords::kNone && !is_accepted(records.states[i].mask, states[i])) return false;
  return records.start_mask == MaskRecords::kNone || states.empty() || is_accepted(records.start_mask, states.front());
}

// Where the automaton looks for the mask of a state that does not hold its own; nothing if it looks at several states.
std::optional<StateId> MaskRecorder::derived_holder(StateId state, Budget& budget) {
  ByteAutomaton& bytes = operands_.automaton();
  if (operands_.has_rule_mask(state)) {
    const auto cuts = approximation_cuts(operands_, state, TokenTrie::root(), budget);
    if (cuts.size() != 1 || !cuts.front().refused.empty()) return std::nullopt;
    return bytes.clipped(bytes.state_of(bytes.arena().derivatives().settled(cuts.front().approximation), budget),
                         budget);
  }
  if (bytes.node(state).kind == Kind::Intersection) return std::nullopt;
  return operands_.every_byte_is_token() ? bytes.clipped(state, budget) : state;
}

// With a serial of this automaton.
MaskPtr MaskRecorder::numbered(const MaskRecords::Shared& shared) {
  auto mask = std::make_shared<Mask>(*shared.mask);
  mask->serial = memo_.take_serial();
  return mask;
}

void MaskRecorder::put(StateId holder, const MaskRecords::Shared& shared, Budget& budget) {
  memo_.keep(holder, numbered(shared));
  memo_.note_most_after(holder, shared.most_after);
  rule_masks_.note_unverified(holder, shared.unverified);
  if (shared.unverified.empty()) rule_masks_.note_questions(holder, shared.most_after, shared.questions);
  budget.step();
}

void MaskRecorder::install(const MaskRecords& records, std::span<const StateId> states, std::size_t most_bytes,
                           std::size_t& count, Budget& budget) {
  std::vector<std::optional<StateId>> holders(records.masks.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    const MaskRecords::State& record = records.states[i];
    if (record.mask == MaskRecords::kNone || memo_.find({states[i], false})) continue;
    if (Charge::bytes() >= most_bytes) break;
    const MaskRecords::Shared& shared = records.masks[record.mask];
    std::optional<StateId>& holder = holders[record.mask];
    if (!holder) {
      std::optional<StateId> derived;
      if (!record.holds && !shared.is_at_states) derived = derived_holder(states[i], budget);
      const StateId place = derived.value_or(states[i]);
      if (!memo_.held(place)) put(place, shared, budget);
      holder = place;
    }
    memo_.share(states[i], *holder);
    memo_.note_most_after(states[i], record.most_after);
    ++count;
  }
  if (records.start_mask != MaskRecords::kNone && operands_.has_start_rule() && !memo_.start_mask())
    memo_.keep_start(numbered(records.masks[records.start_mask]));
}

}  // namespace tokamata

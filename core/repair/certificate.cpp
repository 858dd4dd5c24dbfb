#include "repair/certificate.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "common/best_first.hpp"

namespace tokamata {

namespace {

// Costs by the keys of states.
using Distances = counted::unordered_map<std::uint64_t, std::uint64_t>;
using Nearest = CheapestFirst<Distances, counted::vector<std::pair<std::uint64_t, std::uint64_t>>>;

class BoundCheck {
 public:
  BoundCheck(const Expression& pattern, const std::string& text, const EditModel& model, bool is_exact,
             const Limits& limits, std::shared_ptr<const CancelToken> cancel)
      : text_(text),
        model_(model),
        automaton_(pattern, {}, ByteSet::range(0x00, 0xFF), 1, limits, cancel),
        budget_(limits, cancel, 0),
        estimate_(model, text.size()) {
    for (std::uint32_t number = 0; number < model.rewrites.size(); ++number)
      rewrites_at_.emplace(model.rewrites[number].begin, number);
    relaxed_ = over_approximation(automaton_, automaton_.start(), budget_);
    start_ = is_exact ? automaton_.start() : relaxed_;
  }

  std::string flaw(const std::vector<RepairSearch::Reached>& reached, std::uint64_t bound) {
    if (bound == 0) return {};
    if (const std::string wrong = take(reached); !wrong.empty()) return wrong;
    const EditState start{0, kStartMode, start_};
    if (!is_closed_under(start, relaxed_, 0, bound)) return "the start is missing";
    for (const auto& [key, met] : met_) {
      const EditState at = state_of(key);
      if (met.cost + estimate_(at.position, automaton_, at.state).cost >= bound) continue;
      if (is_end(at)) return "a repair costs less than the bound";
      const auto leads_within = [&, &from = met](const EditState& to, std::uint64_t price, std::string_view read) {
        return is_closed_under(to, after(from.relaxed, read), from.cost + price, bound);
      };
      if (!all_edges(at, bound - met.cost, leads_within) &&
          !is_left({at.position, at.mode, met.relaxed}, met.cost, bound))
        return "an edge of less than the bound leads out of the nodes of the proof";
    }
    return {};
  }

 private:
  // A node of the proof.
  struct Met {
    std::uint64_t cost;
    StateId relaxed;  // of the over-approximation, after the same text
  };

  // Texts are at most 2^28 bytes long (Edits), and there are at most 16 modes.
  static constexpr unsigned kModeBit = 60;
  static std::uint64_t key_of(const EditState& at) {
    return std::uint64_t{at.mode} << kModeBit | std::uint64_t{at.position} << 32 | at.state.value;
  }
  static EditState state_of(std::uint64_t key) {
    const auto position = static_cast<std::uint32_t>((key & ((std::uint64_t{1} << kModeBit) - 1)) >> 32);
    return {position, static_cast<Mode>(key >> kModeBit), {static_cast<std::uint32_t>(key)}};
  }

  bool is_end(const EditState& at) const { return at.position == text_.size() && automaton_.accepting(at.state); }

  // Whether no repair below the bound leads through a state that is reached at some cost, except as the proof knows.
  bool is_closed_under(const EditState& at, StateId relaxed, std::uint64_t cost, std::uint64_t bound) {
    if (at.state == ByteAutomaton::kDead || cost + estimate_(at.position, automaton_, at.state).cost >= bound)
      return true;
    const auto known = met_.find(key_of(at));
    return (known != met_.end() && known->second.cost <= cost) || is_left({at.position, at.mode, relaxed}, cost, bound);
  }

  // Whether the over-approximation shows that so much is left to pay.
  bool is_left(const EditState& relaxed, std::uint64_t cost, std::uint64_t bound) {
    if (start_ == relaxed_) return false;
    if (!left_) left_ = distances(bound);
    const auto known = left_->find(key_of(relaxed));
    return known == left_->end() || cost + known->second >= bound;
  }

  // What is left to pay in the over-approximation, of all states that repairs below the bound lead through.
  Distances distances(std::uint64_t bound) {
    struct Edge {
      std::uint64_t from, price;
    };
    counted::unordered_multimap<std::uint64_t, Edge> into;
    Nearest reached;
    if (estimate_(0, automaton_, relaxed_).cost < bound) reached.reach(key_of({0, kStartMode, relaxed_}), 0);
    while (const auto next = reached.take()) {
      const auto [cost, key] = *next;
      all_edges(state_of(key), bound - cost, [&](const EditState& to, std::uint64_t price, std::string_view) {
        if (to.state == ByteAutomaton::kDead ||
            cost + price + estimate_(to.position, automaton_, to.state).cost >= bound)
          return true;
        into.emplace(key_of(to), Edge{key, price});
        reached.reach(key_of(to), cost + price);
        return true;
      });
    }
    Nearest left;
    for (const auto& [key, cost] : reached.costs())
      if (is_end(state_of(key))) left.reach(key, 0);
    while (const auto next = left.take()) {
      budget_.step();
      const auto [first, last] = into.equal_range(next->second);
      for (auto edge = first; edge != last; ++edge) left.reach(edge->second.from, next->first + edge->second.price);
    }
    return std::move(left).costs();
  }

  StateId after(StateId state, std::string_view bytes) {
    for (const char byte : bytes) {
      if (state == ByteAutomaton::kDead) break;
      state = automaton_.next(state, static_cast<std::uint8_t>(byte), budget_);
    }
    return state;
  }

  // Follows the steps of the proof.
  std::string take(const std::vector<RepairSearch::Reached>& reached) {
    std::vector<EditState> states;
    std::vector<StateId> relaxed;
    for (std::uint32_t number = 0; number < reached.size(); ++number) {
      budget_.step();
      const auto& [from, step, cost] = reached[number];
      if (from > number) return "a node of the proof comes before the one that leads to it";
      EditState at{0, kStartMode, start_};
      std::string read;
      if (from < number) {
        at = states[from];
        const bool is_within = at.position < text_.size();
        const bool is_byte = step.operand < 256;
        switch (step.kind) {
          case EditKind::Keep:
            if (!is_within) return "a step reads on at the end of the text";
            read = text_[at.position++];
            at.mode = model_.after(at.mode, static_cast<std::uint8_t>(read[0]));
            break;
          case EditKind::Remove:
            if (!is_within) return "a step reads on at the end of the text";
            ++at.position;
            break;
          case EditKind::Replace:
            if (!is_within) return "a step reads on at the end of the text";
            ++at.position;
            [[fallthrough]];
          case EditKind::Insert:
            if (!is_byte) return "a step writes what is no byte";
            read = static_cast<char>(step.operand);
            at.mode = model_.inserted(at.mode, static_cast<std::uint8_t>(step.operand));
            break;
          case EditKind::Rewrite:
            if (step.operand >= model_.rewrites.size() || model_.rewrites[step.operand].begin != at.position)
              return "a step takes a rewrite that does not begin there";
            read = model_.rewrites[step.operand].written;
            at.position = model_.rewrites[step.operand].end;
            at.mode = model_.after(at.mode, model_.rewrites[step.operand]);
            break;
          default: return "a step of no kind";
        }
      }
      at.state = after(at.state, read);
      states.push_back(at);
      relaxed.push_back(after(from < number ? relaxed[from] : relaxed_, read));
      const auto [known, is_new] = met_.try_emplace(key_of(at), Met{cost, relaxed.back()});
      if (!is_new && cost < known->second.cost) known->second = {cost, relaxed.back()};
    }
    return {};
  }

  // Whether `visit` says so of each edge that costs less than some price: where it leads, its price and the bytes that
  // the pattern reads.
  template <class Visit>
  bool all_edges(const EditState& at, std::uint64_t most, Visit&& visit) {
    const auto [position, mode, state] = at;
    const ModeCosts& costs = model_.costs(mode);
    if (position < text_.size()) {
      const char kept = text_[position];
      const auto byte = static_cast<std::uint8_t>(kept);
      const std::uint64_t keeping = model_.keeping(mode, position, byte);
      const std::uint64_t removing = std::uint64_t{costs.remove[byte]} + model_.firmness(position);
      if (keeping != kNoEdit && keeping < most &&
          !visit(EditState{position + 1, model_.after(mode, byte), automaton_.next(state, byte, budget_)}, keeping,
                 {&kept, 1}))
        return false;
      if (removing < most && !visit(EditState{position + 1, mode, state}, removing, {})) return false;
    }
    const auto [begin, end] = rewrites_at_.equal_range(position);
    for (auto entry = begin; entry != end; ++entry) {
      const Rewrite& rewrite = model_.rewrites[entry->second];
      if (rewrite.cost >= most || !rewrite.may_be_taken(mode)) continue;
      if (!visit(EditState{rewrite.end, model_.after(mode, rewrite), after(state, rewrite.written)}, rewrite.cost,
                 rewrite.written))
        return false;
    }
    const ByteCosts& inserting = costs.inserting(position, text_.size());
    const std::uint64_t firmness = model_.firmness(position);
    for (unsigned value = 0; value < 256; ++value) {
      budget_.step();
      const bool inserts = inserting[value] != kNoEdit && firmness + inserting[value] < most;
      const bool replaces =
          position < text_.size() && costs.replace[value] != kNoEdit && firmness + costs.replace[value] < most;
      if (!inserts && !replaces) continue;
      const char written = static_cast<char>(value);
      const StateId target = automaton_.next(state, static_cast<std::uint8_t>(value), budget_);
      const Mode then = model_.inserted(mode, static_cast<std::uint8_t>(value));
      if (inserts && !visit(EditState{position, then, target}, firmness + inserting[value], {&written, 1}))
        return false;
      if (replaces && !visit(EditState{position + 1, then, target}, firmness + costs.replace[value], {&written, 1}))
        return false;
    }
    return true;
  }

  const std::string& text_;
  const EditModel& model_;
  ByteAutomaton automaton_;
  Budget budget_;
  StateId start_, relaxed_;  // of the proof, and of the over-approximation
  Estimate estimate_;
  std::unordered_multimap<std::uint32_t, std::uint32_t> rewrites_at_;         // by position
  counted::unordered_map<std::uint64_t, Met> met_;                            // by state
  std::optional<counted::unordered_map<std::uint64_t, std::uint64_t>> left_;  // by state of the over-approximation
};

}  // namespace

std::string flaw_of_bound(const Expression& pattern, const std::string& text, const EditModel& model,
                          const RepairSearch::Proof& proof, const Limits& limits,
                          std::shared_ptr<const CancelToken> cancel) {
  MemoryAccount account;
  const Charge charge(account);
  return BoundCheck(pattern, text, model, proof.is_exact, limits, std::move(cancel)).flaw(proof.reached, proof.bound);
}

}  // namespace tokamata

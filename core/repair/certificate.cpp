#include "repair/certificate.hpp"

#include <algorithm>
#include <unordered_map>

namespace tokamata {

namespace {

struct Place {
  std::uint32_t position;
  StateId state;
  friend bool operator==(const Place&, const Place&) = default;
};

class BoundCheck {
 public:
  BoundCheck(const Expression& pattern, const std::string& text, const EditModel& model, bool is_exact, const Limits& limits,
             std::shared_ptr<const CancelToken> cancel)
      : text_(text), model_(model), automaton_(pattern, {}, ByteSet::range(0x00, 0xFF), 1, limits, cancel),
        budget_(limits, cancel, 0), estimate_(model, text.size()) {
    for (std::uint32_t number = 0; number < model.rewrites.size(); ++number)
      rewrites_at_.emplace(model.rewrites[number].begin, number);
    start_ = is_exact ? automaton_.start() : over_approximation(automaton_, automaton_.start(), budget_);
  }

  std::string flaw(const std::vector<RepairSearch::Reached>& reached, std::uint64_t bound) {
    if (bound == 0) return {};
    if (const std::string wrong = take(reached); !wrong.empty()) return wrong;
    const Place start{0, start_};
    if (start.state != ByteAutomaton::kDead && estimate_(0, automaton_, start.state).cost < bound && !holds(start, 0))
      return "the start is missing";
    for (const auto& [key, cost] : least_) {
      const Place place{static_cast<std::uint32_t>(key >> 32), {static_cast<std::uint32_t>(key)}};
      if (cost + estimate_(place.position, automaton_, place.state).cost >= bound) continue;
      if (place.position == text_.size() && automaton_.accepting(place.state)) return "a repair costs less than the bound";
      if (!has_edges(place, cost, bound)) return "an edge of less than the bound leads out of the nodes of the proof";
    }
    return {};
  }

 private:
  static std::uint64_t key_of(const Place& place) { return std::uint64_t{place.position} << 32 | place.state.value; }

  bool holds(const Place& place, std::uint64_t cost) const {
    const auto known = least_.find(key_of(place));
    return known != least_.end() && known->second <= cost;
  }

  StateId after(StateId state, const std::string& bytes) {
    for (const char byte : bytes) state = automaton_.next(state, static_cast<std::uint8_t>(byte), budget_);
    return state;
  }

  // Follows the steps of the proof.
  std::string take(const std::vector<RepairSearch::Reached>& reached) {
    std::vector<Place> places;
    for (std::uint32_t number = 0; number < reached.size(); ++number) {
      budget_.step();
      const auto& [from, step, cost] = reached[number];
      if (from > number) return "a node of the proof comes before the one that leads to it";
      Place place{0, start_};
      if (from < number) {
        place = places[from];
        const bool is_within = place.position < text_.size();
        const bool is_byte = step.operand < 256;
        switch (step.kind) {
          case EditKind::Keep:
            if (!is_within) return "a step reads on at the end of the text";
            place.state = automaton_.next(place.state, static_cast<std::uint8_t>(text_[place.position++]), budget_);
            break;
          case EditKind::Remove:
            if (!is_within) return "a step reads on at the end of the text";
            ++place.position;
            break;
          case EditKind::Replace:
            if (!is_within) return "a step reads on at the end of the text";
            ++place.position;
            [[fallthrough]];
          case EditKind::Insert:
            if (!is_byte) return "a step writes what is no byte";
            place.state = automaton_.next(place.state, static_cast<std::uint8_t>(step.operand), budget_);
            break;
          case EditKind::Rewrite:
            if (step.operand >= model_.rewrites.size() || model_.rewrites[step.operand].begin != place.position)
              return "a step takes a rewrite that does not begin there";
            place.state = after(place.state, model_.rewrites[step.operand].written);
            place.position = model_.rewrites[step.operand].end;
            break;
          default: return "a step of no kind";
        }
      }
      places.push_back(place);
      const auto [known, is_new] = least_.emplace(key_of(place), cost);
      if (!is_new) known->second = std::min(known->second, cost);
    }
    return {};
  }

  bool has_edges(const Place& place, std::uint64_t cost, std::uint64_t bound) {
    const auto [position, state] = place;
    const auto leads_within = [&](std::uint32_t to, StateId target, std::uint64_t paid) {
      if (target == ByteAutomaton::kDead || paid + estimate_(to, automaton_, target).cost >= bound) return true;
      return holds({to, target}, paid);
    };
    if (position < text_.size()) {
      const auto byte = static_cast<std::uint8_t>(text_[position]);
      if (!leads_within(position + 1, automaton_.next(state, byte, budget_), cost + model_.keeping(position))) return false;
      if (!leads_within(position + 1, state, cost + model_.remove[byte] + model_.firmness(position))) return false;
      const auto [begin, end] = rewrites_at_.equal_range(position);
      for (auto at = begin; at != end; ++at) {
        const Rewrite& rewrite = model_.rewrites[at->second];
        if (cost + rewrite.cost < bound && !leads_within(rewrite.end, after(state, rewrite.written), cost + rewrite.cost)) return false;
      }
    }
    const ByteCosts& inserting = model_.inserting(position, text_.size());
    const std::uint64_t edited = cost + model_.firmness(position);
    for (unsigned value = 0; value < 256; ++value) {
      budget_.step();
      const auto byte = static_cast<std::uint8_t>(value);
      const bool inserts = inserting[value] != kNoEdit && edited + inserting[value] < bound;
      const bool replaces = position < text_.size() && model_.replace[value] != kNoEdit && edited + model_.replace[value] < bound;
      if (!inserts && !replaces) continue;
      const StateId target = automaton_.next(state, byte, budget_);
      if (inserts && !leads_within(position, target, edited + inserting[value])) return false;
      if (replaces && !leads_within(position + 1, target, edited + model_.replace[value])) return false;
    }
    return true;
  }

  const std::string& text_;
  const EditModel& model_;
  ByteAutomaton automaton_;
  Budget budget_;
  StateId start_;
  Estimate estimate_;
  std::unordered_multimap<std::uint32_t, std::uint32_t> rewrites_at_;  // by position
  std::unordered_map<std::uint64_t, std::uint64_t> least_;             // cost by place
};

}  // namespace

std::string flaw_of_bound(const Expression& pattern, const std::string& text, EditModel model,
                          const RepairSearch::Proof& proof, const Limits& limits,
                          std::shared_ptr<const CancelToken> cancel) {
  MemoryAccount account;
  const Charge charge(account);
  std::ranges::stable_sort(model.rewrites, {}, &Rewrite::begin);
  return BoundCheck(pattern, text, model, proof.is_exact, limits, std::move(cancel)).flaw(proof.reached, proof.bound);
}

}  // namespace tokamata

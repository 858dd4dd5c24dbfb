#include "following/closed_form.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

#include "canonical/canonical_configuration.hpp"

namespace tokamata {

ClosedForm closed_form(Follower& follower, Budget& budget) {
  ClosedForm result;
  const std::unique_ptr<Transitions> transitions = follower.transitions(budget);
  Follower::Start start = follower.start({});
  const bool at_start = start.at_start;
  std::deque<Step> steps;  // one that leads to each state; they stay where they are
  std::unordered_map<ConfigurationKey, std::int32_t, ConfigurationHash, ConfigurationEqual> numbers;
  const auto number_of = [&](Step step) {
    const auto [known, is_new] = numbers.try_emplace(ConfigurationKey{step.state, false, step.canonical},
                                                     static_cast<std::int32_t>(steps.size()));
    if (is_new) steps.push_back(std::move(step));
    return known->second;
  };
  // The first state of a text may be one in the middle of a text too.
  Step first = follower.first_step(std::move(start.canonical));
  if (at_start) steps.push_back(std::move(first));
  else number_of(std::move(first));
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Place place = Place::after(steps[at], 0, at_start && at == 0);
    result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
    result.accepting.push_back(follower.accepts(place));
    transitions->visit(place, budget, [&](Step step, std::span<const std::int32_t> classes) {
      const std::int32_t target = number_of(std::move(step));
      for (const std::int32_t one : classes) {
        budget.step();
        result.classes.push_back(one);
        result.targets.push_back(target);
      }
    });
    if (steps.size() > budget.limits().states)
      throw LimitExceeded("states", static_cast<double>(budget.limits().states));
    const std::size_t bytes = (result.classes.capacity() + result.targets.capacity()) * sizeof(std::int32_t) +
                              steps.size() * (sizeof(Step) + sizeof(ConfigurationKey)) * 2;
    if (bytes > budget.limits().memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
  }
  result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
  result.class_of_token = std::move(*transitions).class_of_token();
  return result;
}

}  // namespace tokamata

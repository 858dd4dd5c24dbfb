// A shortest text of an expression that does not show its own, and how long it is: part of Derivatives.
//
// Problem.  Whether an intersection accepts anything is a search, and a walk of the vocabulary asks that of each state
// that it comes to: "exactly one of customer, maker and admin occurs" has a thousand, each with fifty bytes to try.
// How.  The search goes first where a whole text is shortest, by what an expression needs at least (A*, Hart, Nilsson
// and Raphael 1968).  A successor that is no longer than what it comes from is followed before its siblings are made.
// A search that ends with a text of n bytes has shown that an expression which it met after g bytes needs n - g at
// least; later searches know that (Koenig and Likhachev, Adaptive A*, 2005).  What is met again after fewer bytes is
// followed again, so lengths are the least, whatever was known before.
// What was found for one state is tried for others first: the end of an earlier text, of just the length that the
// expression needs at least, is a shortest one where it is accepted.
// Example.  After "cus" a shortest text is "tomer", found by a search.  After "cust" it is its end "omer"; after "cusx"
// five bytes are needed, "tomer" is refused at its first byte, and "maker", found earlier, is accepted.
// Cost.  A derivative for each byte of a text where one fits; else for each class of first bytes of each expression
// reached.  Not taken: any text at hand, whatever its length.  Lengths would depend on earlier calls.

#include <algorithm>

#include "common/best_first.hpp"
#include "expression/derivatives.hpp"

namespace tokamata {

std::uint32_t Derivatives::length_of_some_text(ExpressionId expression, Budget& budget) {
  const std::optional<std::uint32_t> known = bounds_.length_without_search(expression);
  return known ? *known : found_text(expression, budget).length;
}

std::optional<std::string> Derivatives::some_text(ExpressionId expression, Budget& budget) {
  const TextStep step = found_text(expression, budget);
  if (step.length == kNoText) return std::nullopt;
  return spelled_text(step);
}

std::string Derivatives::spelled_text(TextStep step) const {
  std::string text;
  for (; step.length > 0; step = texts_.at(step.next.value)) text.push_back(static_cast<char>(step.byte));
  return text;
}

Derivatives::TextStep Derivatives::found_text(ExpressionId expression, Budget& budget) {
  if (const auto known = texts_.find(expression.value); known != texts_.end()) return known->second;
  if (ends_like_found(expression, budget)) return texts_.at(expression.value);
  const TextStep found = search_text(expression, budget);
  if (found.length > 0 && found.length <= kLongestFound) {
    if (found_texts_.size() == kMostFound) found_texts_.erase(found_texts_.begin());
    found_texts_.push_back(spelled_text(found));
  }
  return found;
}

// Whether the end of a text found earlier is a shortest one of the expression: then it is in the memo.
bool Derivatives::ends_like_found(ExpressionId expression, Budget& budget) {
  const std::uint32_t length = pool_.node(expression).shortest;
  for (auto text = found_texts_.rbegin(); text != found_texts_.rend(); ++text)
    if (length <= text->size() &&
        has_shortest(expression, std::string_view(*text).substr(text->size() - length), budget))
      return true;
  return false;
}

// Whether it accepts a text, which is not longer than a shortest one: then it is in the memo.
bool Derivatives::has_shortest(ExpressionId expression, std::string_view text, Budget& budget) {
  std::vector<ExpressionId> path{expression};
  for (const char byte : text) {
    budget.step();
    const ExpressionId next = derivative(path.back(), static_cast<std::uint8_t>(byte), budget);
    if (next == Pool::kEmpty || pool_.node(next).shortest > text.size() - path.size()) return false;
    path.push_back(next);
  }
  if (!pool_.node(path.back()).nullable) return false;
  texts_.emplace(path.back().value, TextStep{0, 0, path.back()});
  for (std::size_t i = text.size(); i-- > 0;)
    texts_.emplace(path[i].value, TextStep{static_cast<std::uint32_t>(text.size() - i),
                                           static_cast<std::uint8_t>(text[i]), path[i + 1]});
  return true;
}

// A text through `expression` needs at least so many bytes more.
std::uint32_t Derivatives::least_length(ExpressionId expression) const {
  if (const auto known = texts_.find(expression.value); known != texts_.end()) return known->second.length;
  const auto learned = least_lengths_.find(expression.value);
  return learned != least_lengths_.end() ? learned->second
                                         : std::min(pool_.node(expression).shortest, ExpressionNode::kUnspelled / 2);
}

Derivatives::TextStep Derivatives::search_text(ExpressionId expression, Budget& budget) {
  struct Arrival {
    ExpressionId from;
    std::uint8_t byte;
    std::uint32_t length;
    std::optional<ByteSet> untried = {};  // a byte of each class
  };
  std::unordered_map<std::uint32_t, Arrival> arrivals{{expression.value, {expression, 0, 0}}};
  Frontier<Estimated<ExpressionId>> open;  // by the bytes of a whole text; of equals the longest so far
  if (expression != Pool::kEmpty) open.add({least_length(expression), 0, expression});
  while (!open.empty()) {
    const auto best = open.take();
    const ExpressionId from = best.item;
    Arrival& here = arrivals.at(from.value);
    if (here.length < best.rank) continue;
    if (pool_.node(from).nullable) texts_.emplace(from.value, TextStep{0, 0, from});
    if (const auto known = texts_.find(from.value); known != texts_.end()) {
      std::uint32_t length = known->second.length;
      for (ExpressionId at = from; at != expression;) {
        const Arrival& arrival = arrivals.at(at.value);
        texts_.emplace(arrival.from.value, TextStep{++length, arrival.byte, at});
        at = arrival.from;
      }
      for (const auto& [reached, arrival] : arrivals)
        if (length > arrival.length && length - arrival.length > least_length({reached}))
          least_lengths_[reached] = length - arrival.length;
      return texts_.at(expression.value);
    }
    if (!here.untried) here.untried = first_byte_classes(from).representatives();
    for (unsigned value = here.untried->next_member(0); value < 256; value = here.untried->next_member(value + 1)) {
      const auto byte = static_cast<std::uint8_t>(value);
      budget.step();
      const ExpressionId target = derivative(from, byte, budget);
      if (target == Pool::kEmpty) continue;
      const std::uint32_t rest = least_length(target), length = here.length + 1;
      if (const auto [arrival, is_new] = arrivals.try_emplace(target.value, Arrival{from, byte, length}); !is_new) {
        if (arrival->second.length <= length) continue;
        arrival->second = {from, byte, length};
      }
      if (rest == kNoText) continue;
      open.add({length + rest, length, target});
      if (length + rest <= best.estimate) {
        here.untried = here.untried->from(value + 1);
        open.add(best);
        break;
      }
    }
  }
  for (const auto& [dead, arrival] : arrivals) texts_.insert_or_assign(dead, TextStep{kNoText, 0, Pool::kEmpty});
  return texts_.at(expression.value);
}

}  // namespace tokamata

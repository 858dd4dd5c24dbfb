#include "canonical/byte_pair_pieces.hpp"

namespace tokamata {

BytePairPieces::BytePairPieces(Merges merges, const std::vector<bool>& in_model, bool ignore_merges, std::size_t words)
    : merges_(std::move(merges)), beginning_(words, 0), following_(words, 0), complete_(2, false),
      begins_path_(in_model.size(), false) {
  const auto add = [](std::vector<std::uint32_t>& bits, std::uint32_t token) { bits[token / 32] |= 1u << (token % 32); };
  for (std::uint32_t token = 0; token < in_model.size(); ++token) {
    if (!in_model[token]) continue;
    if (merges_.is_made({token})) {
      add(beginning_, token);
      add(following_, token);
      continue;
    }
    if (!ignore_merges) continue;
    const std::vector<std::uint32_t> parts = merges_.made_of({token});
    if (parts.empty()) continue;
    add(beginning_, token);
    begins_path_[parts[0]] = true;
    State node = kRoot;
    for (const std::uint32_t part : parts) {
      const auto [place, is_new] = children_.try_emplace({node, part}, static_cast<State>(complete_.size()));
      if (is_new) complete_.push_back(false);
      node = place->second;
    }
    complete_[node] = true;
  }
}

std::optional<Pieces::State> BytePairPieces::begin(TokenId token) const {
  if (made(token)) return child(kRoot, token.value);
  if (beginning_[token.value / 32] >> (token.value % 32) & 1) return kWhole;
  return std::nullopt;
}

std::optional<Pieces::State> BytePairPieces::extend(State state, TokenId token) const {
  if (state == kWhole || !made(token)) return std::nullopt;
  return child(state, token.value);
}

std::optional<Pieces::State> BytePairPieces::follow(State state, TokenId last, TokenId token) const {
  const std::optional<State> after = extend(state, token);
  return after && merges_.may_follow(last, token) ? after : std::nullopt;
}

void BytePairPieces::forbid(State, TokenId last, std::vector<std::uint32_t>& words) const {
  if (merges_.forbidden_count(last) >= kManyForbidden) {
    const Words allowed = allowed_behind(last);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] &= (*allowed)[i];
    return;
  }
  const std::vector<std::uint32_t>& tour = merges_.tour();
  for (const TourRange& range : merges_.forbidden(last))
    for (std::uint32_t i = range.begin; i < range.end; ++i) words[tour[i] / 32] &= ~(1u << (tour[i] % 32));
}

BytePairPieces::Words BytePairPieces::allowed_behind(TokenId last) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = allowed_.find(last.value); known != allowed_.end()) return known->second;
  }
  std::vector<std::uint32_t> bits = following_;
  const std::vector<std::uint32_t>& tour = merges_.tour();
  for (const TourRange& range : merges_.forbidden(last))
    for (std::uint32_t i = range.begin; i < range.end; ++i) bits[tour[i] / 32] &= ~(1u << (tour[i] % 32));
  auto allowed = std::make_shared<const std::vector<std::uint32_t>>(std::move(bits));
  const std::lock_guard lock(mutex_);
  if (allowed_.emplace(last.value, allowed).second) allowed_order_.push_back(last.value);
  if (allowed_order_.size() > kMostAllowed) {
    allowed_.erase(allowed_order_.front());
    allowed_order_.pop_front();
  }
  return allowed;
}

std::size_t BytePairPieces::memory_bytes() const {
  return merges_.memory_bytes() + (2 + kMostAllowed) * beginning_.size() * sizeof(std::uint32_t) + children_.size() * 64;
}

}  // namespace tokamata

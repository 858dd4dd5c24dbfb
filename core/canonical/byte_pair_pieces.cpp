#include "canonical/byte_pair_pieces.hpp"

namespace tokamata {

BytePairPieces::BytePairPieces(Merges merges, const std::vector<bool>& in_model, bool ignore_merges,
                               bool rest_is_written, std::size_t words)
    : merges_(std::move(merges)),
      beginning_(words, 0),
      following_(words, 0),
      complete_(2, false),
      begins_path_(in_model.size(), false) {
  for (std::uint32_t token = 0; token < in_model.size(); ++token) {
    if (!in_model[token]) continue;
    if (merges_.is_made({token})) {
      set_bit(beginning_, token);
      set_bit(following_, token);
      continue;
    }
    if (!ignore_merges) continue;
    const std::vector<std::uint32_t> parts = merges_.made_of({token});
    if (parts.empty()) continue;
    set_bit(beginning_, token);
    begins_path_[parts[0]] = true;
    State node = kRoot;
    for (const std::uint32_t part : parts) {
      const auto [place, is_new] =
          children_.try_emplace({node, part}, State{static_cast<std::uint32_t>(complete_.size())});
      if (is_new) complete_.push_back(false);
      node = place->second;
    }
    complete_[node.value] = true;
  }
  settled_begun_ = following_;
  for (std::uint32_t token = 0; token < in_model.size(); ++token)
    if (begins_path_[token]) clear_bit(settled_begun_, token);
  if (rest_is_written) find_apart();
}

// Those that forbid nothing after them, and that nothing forbids: what lies in no range.
void BytePairPieces::find_apart() {
  std::vector<std::int32_t> begun(merges_.tour().size() + 1, 0);  // less ended, by place in the tour
  for_each_bit(following_, [&](std::uint32_t last) {
    for (const TourRange& range : merges_.forbidden({last})) {
      ++begun[range.begin];
      --begun[range.end];
    }
  });
  apart_.assign(following_.size(), 0);
  std::int32_t under_way = 0;
  for (std::size_t i = 0; i < merges_.tour().size(); ++i) {
    under_way += begun[i];
    const std::uint32_t token = merges_.tour()[i];
    if (under_way == 0 && has_bit(following_, token) && merges_.forbidden({token}).empty()) set_bit(apart_, token);
  }
}

std::optional<Pieces::State> BytePairPieces::begin(TokenId token) const {
  if (made(token)) return child(kRoot, token.value);
  if (has_bit(beginning_, token.value)) return kWhole;
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

void BytePairPieces::forbid(State, TokenId last, const Words& kept, const Words& all, Words& words) const {
  if (merges_.forbidden_count(last) < kManyForbidden) {
    words = all;
    const std::vector<std::uint32_t>& tour = merges_.tour();
    for (const TourRange range : merges_.forbidden(last))
      for (std::uint32_t i = range.begin; i < range.end; ++i)
        if (!has_bit(kept, tour[i])) clear_bit(words, tour[i]);
    return;
  }
  const WordsPtr allowed = allowed_behind(last);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = all[i] & ((*allowed)[i] | kept[i]);
}

std::vector<std::uint32_t> BytePairPieces::carried(State state, TokenId) const {
  std::vector<std::uint32_t> tokens;
  if (state == kElsewhere || state == kWhole) return tokens;
  for (auto child = children_.lower_bound({state, 0}); child != children_.end() && child->first.first == state; ++child)
    tokens.push_back(child->first.second);
  return tokens;
}

// The tokens that a pre-token can go on with after one that forbids many.
BytePairPieces::WordsPtr BytePairPieces::allowed_behind(TokenId last) const {
  return allowed_.get(merges_.forbidden_set(last), [&] {
    Words bits = following_;
    const std::vector<std::uint32_t>& tour = merges_.tour();
    for (const TourRange range : merges_.forbidden(last))
      for (std::uint32_t i = range.begin; i < range.end; ++i) clear_bit(bits, tour[i]);
    return bits;
  });
}

Words BytePairPieces::before(TokenId token) const { return merges_.before(token, following_); }

std::size_t BytePairPieces::memory_bytes() const {
  return merges_.memory_bytes() + (4 + kMostAllowed) * beginning_.size() * sizeof(std::uint32_t) +
         children_.size() * 64;
}

}  // namespace tokamata

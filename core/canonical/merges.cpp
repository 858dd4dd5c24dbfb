#include "canonical/merges.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace tokamata {

Merges::Merges(std::span<const Merge> merges, std::vector<std::vector<std::uint32_t>> atoms)
    : atoms_(std::move(atoms)), trees_(atoms_.size()), made_(atoms_.size(), 0) {
  rules_.reserve(merges.size());
  for (const Merge& merge : merges) rules_.emplace(pair(merge.left, merge.right), Rule{merge.rank, merge.result});
  // Short tokens first: the trees of the parts are there when a token is put together.
  std::vector<std::uint32_t> order(atoms_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t token) { return atoms_[token].size(); });
  for (const std::uint32_t token : order) grow_tree(token);
  walk_forest();
  make_ranges(merges);
}

std::vector<std::uint32_t> Merges::encode(std::vector<std::uint32_t> parts) const {
  // A queue of the merges that are possible, lowest rank and then leftmost first; entries whose parts
  // have changed are stale and passed over.
  struct Possible {
    std::uint32_t rank, at, left, right, result;
    bool operator>(const Possible& other) const { return std::pair(rank, at) > std::pair(other.rank, other.at); }
  };
  const auto size = static_cast<std::uint32_t>(parts.size());
  std::vector<std::uint32_t> next(size), previous(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    next[i] = i + 1 < size ? i + 1 : kNone;
    previous[i] = i > 0 ? i - 1 : kNone;
  }
  std::priority_queue<Possible, std::vector<Possible>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t at) {
    if (at == kNone || next[at] == kNone) return;
    const auto rule = rules_.find(pair(parts[at], parts[next[at]]));
    if (rule != rules_.end()) queue.push({rule->second.rank, at, parts[at], parts[next[at]], rule->second.result});
  };
  for (std::uint32_t i = 0; i < size; ++i) offer(i);
  while (!queue.empty()) {
    const Possible merge = queue.top();
    queue.pop();
    if (parts[merge.at] != merge.left || next[merge.at] == kNone || parts[next[merge.at]] != merge.right) continue;
    const std::uint32_t gone = next[merge.at];
    parts[merge.at] = merge.result;
    parts[gone] = kNone;
    next[merge.at] = next[gone];
    if (next[gone] != kNone) previous[next[gone]] = merge.at;
    offer(previous[merge.at]);
    offer(merge.at);
  }
  std::erase(parts, kNone);
  return parts;
}

// The tree of a token that BPE makes of its own text: its last merge, and the trees of the two parts,
// which are made alone as they are made within it.
void Merges::grow_tree(std::uint32_t token) {
  const std::vector<std::uint32_t>& atoms = atoms_[token];
  if (atoms.size() == 1) made_[token] = atoms[0] == token;
  if (atoms.size() < 2) return;
  // Where the two last parts come from is seen by a simulation that stops before the last merge.
  std::vector<std::uint32_t> parts = atoms;
  while (parts.size() > 2) {
    std::size_t best = parts.size();
    std::uint32_t lowest = kNone;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto rule = rules_.find(pair(parts[i], parts[i + 1]));
      if (rule != rules_.end() && rule->second.rank < lowest) {
        lowest = rule->second.rank;
        best = i;
      }
    }
    if (best == parts.size()) return;
    parts[best] = rules_.find(pair(parts[best], parts[best + 1]))->second.result;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  const auto last = rules_.find(pair(parts[0], parts[1]));
  if (last == rules_.end() || last->second.result != token) return;
  made_[token] = 1;
  const std::uint32_t rank = last->second.rank;
  trees_[token] = {parts[0], parts[1], rank, std::max({rank + 1, trees_[parts[0]].latest, trees_[parts[1]].latest})};
}

void Merges::walk_forest() {
  const auto count = static_cast<std::uint32_t>(trees_.size());
  std::vector<std::uint32_t> roots;
  child_offsets_.assign(count + 1, 0);
  for (std::uint32_t token = 0; token < count; ++token) {
    if (!made_[token]) continue;
    if (trees_[token].left == kNone)
      roots.push_back(token);
    else
      ++child_offsets_[trees_[token].left + 1];
  }
  std::partial_sum(child_offsets_.begin(), child_offsets_.end(), child_offsets_.begin());
  children_.resize(child_offsets_.back());
  std::vector<std::uint32_t> fill(child_offsets_.begin(), child_offsets_.end() - 1);
  for (std::uint32_t token = 0; token < count; ++token)
    if (made_[token] && trees_[token].left != kNone) children_[fill[trees_[token].left]++] = token;
  for (std::uint32_t token = 0; token < count; ++token)
    std::sort(children_.begin() + child_offsets_[token], children_.begin() + child_offsets_[token + 1],
              [&](std::uint32_t a, std::uint32_t b) {
                const auto key = [&](std::uint32_t child) {
                  return std::tuple(trees_[child].latest, waits_for_sibling(child), trees_[child].rank);
                };
                return key(a) > key(b);
              });
  position_.assign(count, kNone);
  subtree_end_.assign(count, 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // a token, and the next child to visit
  for (const std::uint32_t root : roots) {
    open.emplace_back(root, child_offsets_[root]);
    position_[root] = static_cast<std::uint32_t>(tour_.size());
    tour_.push_back(root);
    while (!open.empty()) {
      auto& [token, child] = open.back();
      if (child == child_offsets_[token + 1]) {
        subtree_end_[token] = static_cast<std::uint32_t>(tour_.size());
        open.pop_back();
        continue;
      }
      const std::uint32_t next = children_[child++];
      position_[next] = static_cast<std::uint32_t>(tour_.size());
      tour_.push_back(next);
      open.emplace_back(next, child_offsets_[next]);
    }
  }
}

void Merges::make_ranges(std::span<const Merge> merges) {
  // Merges by their left part.
  const auto count = static_cast<std::uint32_t>(trees_.size());
  std::vector<std::uint32_t> first(count + 1, 0);
  const auto is_rule = [&](const Merge& merge) {
    return made_[merge.left] && made_[merge.right] && rules_.at(pair(merge.left, merge.right)).rank == merge.rank;
  };
  for (const Merge& merge : merges)
    if (is_rule(merge)) ++first[merge.left + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Merge> by_left(first.back());
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (const Merge& merge : merges)
    if (is_rule(merge)) by_left[fill[merge.left]++] = merge;
  // By rank, so that the rest is passed over once the piece is taken up into its parent before.
  for (std::uint32_t token = 0; token < count; ++token)
    std::sort(by_left.begin() + first[token], by_left.begin() + first[token + 1],
              [](const Merge& a, const Merge& b) { return a.rank < b.rank; });

  offsets_.assign(count + 1, 0);
  counts_.assign(count, 0);
  std::vector<TourRange> found;
  for (std::uint32_t token = 0; token < count; ++token) {
    found.clear();
    std::uint32_t parent = kNone;
    for (std::uint32_t x = made_[token] ? token : kNone; x != kNone; parent = x, x = trees_[x].right) {
      for (std::uint32_t i = first[x]; i < first[x + 1]; ++i) {
        const Merge& merge = by_left[i];
        const std::uint32_t y = merge.right;
        const Tree &left = trees_[x], &right = trees_[y];
        const std::uint32_t time = std::max({merge.rank + 1, left.latest, right.latest});
        if (parent != kNone) {
          const Tree& above = trees_[parent];
          if (merge.rank + 1 > above.latest) break;
          const bool follows = above.latest == time && left.latest == time && right.latest < time;
          if (above.latest <= time && !(follows && merge.rank < above.rank)) continue;
        }
        // y itself, and what grows from those of its children that come late enough.
        const auto begin = children_.begin() + child_offsets_[y], end = children_.begin() + child_offsets_[y + 1];
        const auto last = std::partition_point(begin, end, [&](std::uint32_t child) {
          const Tree& above = trees_[child];
          return above.latest > time || (above.latest == time &&
                                         (right.latest < time || waits_for_sibling(child) || merge.rank <= above.rank));
        });
        found.push_back({position_[y], last == begin ? position_[y] + 1 : subtree_end_[*(last - 1)]});
      }
    }
    std::ranges::sort(found, {}, &TourRange::begin);
    const std::size_t start = ranges_.size();
    for (const TourRange& range : found) {
      if (ranges_.size() > start && range.begin <= ranges_.back().end)
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      else
        ranges_.push_back(range);
    }
    for (std::size_t i = start; i < ranges_.size(); ++i) counts_[token] += ranges_[i].end - ranges_[i].begin;
    offsets_[token + 1] = static_cast<std::uint32_t>(ranges_.size());
  }
}

bool Merges::may_follow(TokenId left, TokenId right) const {
  const std::uint32_t place = position_[right.value];
  const auto ranges = forbidden(left);
  const auto after = std::ranges::upper_bound(ranges, place, {}, &TourRange::begin);
  return after == ranges.begin() || (after - 1)->end <= place;
}

std::size_t Merges::memory_bytes() const {
  std::size_t bytes = rules_.size() * 32 + trees_.size() * sizeof(Tree) + ranges_.size() * sizeof(TourRange);
  for (const auto* vector : {&tour_, &position_, &child_offsets_, &children_, &subtree_end_, &offsets_, &counts_})
    bytes += vector->size() * sizeof(std::uint32_t);
  for (const auto& atoms : atoms_) bytes += sizeof atoms + atoms.size() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace tokamata

// How the tables of merges.hpp are made; the algorithm is described there.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "canonical/merges.hpp"

namespace tokamata {

namespace {

constexpr std::uint32_t kNone = Merges::kNone;

// The merge trees of all tokens, and the tour of the forest in which the parent of a token is its left child.
class Forest {
 public:
  struct Tree {
    std::uint32_t left = kNone, right = kNone;
    std::uint32_t rank = 0;    // of its last merge
    std::uint32_t latest = 0;  // 1 + the largest rank in it; 0 where it was not merged
  };

  // Writes the tour, and the tokens that are not made, into `tables`.
  Forest(const MergeRules& rules, const AtomLists& atoms, MergeTables& tables)
      : trees_(atoms.size()), is_made_(atoms.size(), 0) {
    grow(rules, atoms, tables);
    order_children();
    walk(tables.tour);
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(trees_.size()); }
  bool is_made(std::uint32_t token) const { return is_made_[token]; }
  const Tree& tree(std::uint32_t token) const { return trees_[token]; }
  // All tokens, those of few atoms first.
  const std::vector<std::uint32_t>& by_size() const { return by_size_; }
  // The neighbours in the tour that `y` begins and that let it be there at `time`, for a merge of that rank.
  TourRange standing(std::uint32_t y, std::uint32_t time, std::uint32_t rank) const {
    const bool is_earlier = trees_[y].latest < time;
    const auto begin = children_.begin() + child_offsets_[y], end = children_.begin() + child_offsets_[y + 1];
    const auto last = std::partition_point(begin, end, [&](std::uint32_t child) {
      const Tree& above = trees_[child];
      return above.latest > time ||
             (above.latest == time && (is_earlier || waits_for_sibling(child) || rank <= above.rank));
    });
    // y itself, and what grows from those of its children.
    return {position_[y], last == begin ? position_[y] + 1 : subtree_end_[*(last - 1)]};
  }

 private:
  // Whether the right part of a token is made last.
  bool waits_for_sibling(std::uint32_t token) const {
    return trees_[trees_[token].right].latest == trees_[token].latest;
  }

  void grow(const MergeRules& rules, const AtomLists& atoms, MergeTables& tables) {
    // Short tokens first: the trees of the parts are there when a token is put together.
    by_size_.resize(size());
    std::iota(by_size_.begin(), by_size_.end(), 0);
    std::ranges::stable_sort(by_size_, {}, [&](std::uint32_t token) { return atoms[token].size(); });
    MergeEncoder encoder(rules);
    std::vector<std::uint32_t> parts;
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> unmade;
    for (const std::uint32_t token : by_size_) {
      parts.assign(atoms[token].begin(), atoms[token].end());
      encoder.encode(parts, 2);  // to see where the two last parts come from
      if (const Merge* last = parts.size() == 2 ? rules.find(parts[0], parts[1]) : nullptr) {
        if (last->result == token) {
          const Tree &left = trees_[parts[0]], &right = trees_[parts[1]];
          trees_[token] = {parts[0], parts[1], last->rank, std::max({last->rank + 1, left.latest, right.latest})};
        }
        parts = {last->result};
      }
      is_made_[token] = parts.size() == 1 && parts[0] == token;
      if (!is_made_[token] && !parts.empty()) unmade.emplace_back(token, parts);
    }
    std::ranges::sort(unmade);
    tables.part_offsets.push_back(0);
    for (const auto& [token, made_of] : unmade) {
      tables.unmade.push_back(token);
      tables.parts.insert(tables.parts.end(), made_of.begin(), made_of.end());
      tables.part_offsets.push_back(static_cast<std::uint32_t>(tables.parts.size()));
    }
  }

  void order_children() {
    child_offsets_.assign(size() + 1, 0);
    for (std::uint32_t token = 0; token < size(); ++token)
      if (trees_[token].left != kNone) ++child_offsets_[trees_[token].left + 1];
    std::partial_sum(child_offsets_.begin(), child_offsets_.end(), child_offsets_.begin());
    children_.resize(child_offsets_.back());
    std::vector<std::uint32_t> fill(child_offsets_.begin(), child_offsets_.end() - 1);
    for (std::uint32_t token = 0; token < size(); ++token)
      if (trees_[token].left != kNone) children_[fill[trees_[token].left]++] = token;
    const auto key = [&](std::uint32_t child) {
      return std::tuple(trees_[child].latest, waits_for_sibling(child), trees_[child].rank);
    };
    for (std::uint32_t token = 0; token < size(); ++token)
      std::sort(children_.begin() + child_offsets_[token], children_.begin() + child_offsets_[token + 1],
                [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
  }

  void walk(std::vector<std::uint32_t>& tour) {
    position_.assign(size(), kNone);
    subtree_end_.assign(size(), 0);
    const auto visit = [&](std::uint32_t token) {
      position_[token] = static_cast<std::uint32_t>(tour.size());
      tour.push_back(token);
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // a token, and the next child to visit
    for (std::uint32_t root = 0; root < size(); ++root) {
      if (!is_made_[root] || trees_[root].left != kNone) continue;
      visit(root);
      open.emplace_back(root, child_offsets_[root]);
      while (!open.empty()) {
        auto& [token, child] = open.back();
        if (child == child_offsets_[token + 1]) {
          subtree_end_[token] = static_cast<std::uint32_t>(tour.size());
          open.pop_back();
          continue;
        }
        const std::uint32_t next = children_[child++];
        visit(next);
        open.emplace_back(next, child_offsets_[next]);
      }
    }
  }

  std::vector<std::uint32_t> by_size_;
  std::vector<Tree> trees_;
  std::vector<std::uint8_t> is_made_;
  std::vector<std::uint32_t> child_offsets_;
  std::vector<std::uint32_t> children_;  // of the forest, by descending (latest, whether they wait, rank)
  std::vector<std::uint32_t> position_;  // in the tour
  std::vector<std::uint32_t> subtree_end_;
};

// A merge whose left part stands at the border, and what it forbids after it.
struct Forbidding {
  std::uint32_t time;
  bool right_is_later;  // its right part comes into being at that time itself
  std::uint32_t rank;
  TourRange range;

  auto order() const { return std::tuple(time, right_is_later, rank); }
};

// All of them by their left part, in order: those that come before the left part is taken up into a parent
// are the first ones, whatever the parent is.
class ForbiddingMerges {
 public:
  ForbiddingMerges(const MergeRules& rules, const Forest& forest) : forest_(forest), offsets_(forest.size() + 1, 0) {
    const auto each = [&](auto visit) {
      rules.each([&](const Merge& merge) {
        if (forest.is_made(merge.left) && forest.is_made(merge.right)) visit(merge);
      });
    };
    each([&](const Merge& merge) { ++offsets_[merge.left + 1]; });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    merges_.resize(offsets_.back());
    std::vector<std::uint32_t> fill(offsets_.begin(), offsets_.end() - 1);
    each([&](const Merge& merge) {
      const std::uint32_t right = forest.tree(merge.right).latest;
      const std::uint32_t time = std::max({merge.rank + 1, forest.tree(merge.left).latest, right});
      merges_[fill[merge.left]++] = {time, right == time, merge.rank, forest.standing(merge.right, time, merge.rank)};
    });
    for (std::size_t token = 0; token < forest.size(); ++token)
      std::sort(merges_.begin() + offsets_[token], merges_.begin() + offsets_[token + 1],
                [](const Forbidding& a, const Forbidding& b) { return a.order() < b.order(); });
  }
  // Those of a whole token.
  std::span<const Forbidding> of(std::uint32_t left) const {
    return std::span(merges_).subspan(offsets_[left], offsets_[left + 1] - offsets_[left]);
  }
  // Those of the right part of a token.
  std::span<const Forbidding> within(std::uint32_t parent) const {
    const Forest::Tree& above = forest_.tree(parent);
    const bool follows = above.latest == forest_.tree(above.right).latest;
    const std::span<const Forbidding> all = of(above.right);
    const auto end = std::ranges::partition_point(all, [&](const Forbidding& merge) {
      return merge.time < above.latest ||
             (merge.time == above.latest && follows && !merge.right_is_later && merge.rank < above.rank);
    });
    return {all.begin(), end};
  }

 private:
  const Forest& forest_;
  std::vector<std::uint32_t> offsets_;
  std::vector<Forbidding> merges_;
};

// What merges forbid together with ranges that are in order: ranges in order, and apart.
void unite(std::span<const Forbidding> merges, std::span<const TourRange> ranges, std::vector<TourRange>& united) {
  united.clear();
  for (const Forbidding& merge : merges) united.push_back(merge.range);
  std::ranges::sort(united, {}, &TourRange::begin);
  const auto middle = static_cast<std::ptrdiff_t>(united.size());
  united.insert(united.end(), ranges.begin(), ranges.end());
  std::ranges::inplace_merge(united, united.begin() + middle, {}, &TourRange::begin);
  std::size_t kept = 0;
  for (const TourRange& range : united) {
    if (kept > 0 && range.begin <= united[kept - 1].end)
      united[kept - 1].end = std::max(united[kept - 1].end, range.end);
    else united[kept++] = range;
  }
  united.resize(kept);
}

// What the right spines of tokens forbid, except for the tokens themselves.  It depends on the right part alone, and
// on how many of its merges come before the parent; what fewer of them forbid is part of it.
class Tails {
 public:
  Tails(const Forest& forest, const ForbiddingMerges& merges)
      : forest_(forest), merges_(merges), numbers_(forest.size(), 0), known_(forest.size()) {}

  // The number of a token's tail; those of shorter tokens are known already.
  std::uint32_t number_of(std::uint32_t token) {
    const std::uint32_t right = forest_.tree(token).right;
    if (right == kNone) return 0;
    const std::span<const Forbidding> within = merges_.within(token);
    std::vector<Known>& known = known_[right];
    const auto above = std::ranges::upper_bound(known, within.size(), {}, &Known::merges);
    const Known most = above == known.begin() ? Known{0, numbers_[right]} : *(above - 1);
    if (most.merges == within.size()) return numbers_[token] = most.number;
    unite(within.subspan(most.merges), (*this)[most.number], united_);
    numbers_[token] = static_cast<std::uint32_t>(count());
    known.insert(above, {within.size(), numbers_[token]});
    ranges_.insert(ranges_.end(), united_.begin(), united_.end());
    offsets_.push_back(ranges_.size());
    return numbers_[token];
  }
  std::size_t count() const { return offsets_.size() - 1; }
  std::span<const TourRange> operator[](std::uint32_t number) const {
    return std::span(ranges_).subspan(offsets_[number], offsets_[number + 1] - offsets_[number]);
  }

 private:
  struct Known {
    std::size_t merges;  // of the right part, the first ones
    std::uint32_t number;
  };

  const Forest& forest_;
  const ForbiddingMerges& merges_;
  std::vector<std::uint32_t> numbers_;      // by token
  std::vector<std::size_t> offsets_{0, 0};  // tail 0 is empty
  std::vector<TourRange> ranges_;
  std::vector<std::vector<Known>> known_;  // by right part
  std::vector<TourRange> united_;
};

// The sets of ranges, each of them once.
class SetsOfRanges {
 public:
  explicit SetsOfRanges(MergeTables& tables) : tables_(tables), known_(1 << 16, Hash{*this}, Equal{*this}) {
    tables_.set_offsets.push_back(0);
  }

  // The number of the set that has these ranges.
  std::uint32_t number_of(std::span<const TourRange> ranges) {
    for (const TourRange& range : ranges)
      for (std::uint32_t begin = range.begin; begin < range.end; begin += Merges::kMostSize)
        tables_.ranges.push_back((begin << Merges::kSizeBits) | (std::min(range.end - begin, Merges::kMostSize) - 1));
    const auto number = static_cast<std::uint32_t>(tables_.set_offsets.size() - 1);
    tables_.set_offsets.push_back(static_cast<std::uint32_t>(tables_.ranges.size()));
    const auto [known, is_new] = known_.insert(number);
    if (!is_new) {
      tables_.set_offsets.pop_back();
      tables_.ranges.resize(tables_.set_offsets.back());
    }
    return *known;
  }

 private:
  std::span<const std::uint32_t> set(std::uint32_t number) const {
    return std::span(tables_.ranges)
        .subspan(tables_.set_offsets[number], tables_.set_offsets[number + 1] - tables_.set_offsets[number]);
  }
  struct Hash {
    const SetsOfRanges& sets;
    std::size_t operator()(std::uint32_t number) const {
      std::uint64_t mixed = 0;
      for (const std::uint32_t range : sets.set(number)) mixed = (mixed ^ range) * 0x9E3779B97F4A7C15u;
      return static_cast<std::size_t>(mixed ^ (mixed >> 32));
    }
  };
  struct Equal {
    const SetsOfRanges& sets;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return std::ranges::equal(sets.set(a), sets.set(b)); }
  };

  MergeTables& tables_;
  std::unordered_set<std::uint32_t, Hash, Equal> known_;
};

}  // namespace

MergeTables make_merge_tables(std::span<const Merge> merges, const AtomLists& atoms) {
  if (atoms.size() > Merges::kMostTokens) throw std::length_error("merges: more tokens than tables can distinguish");
  MergeTables tables;
  const MergeRules rules(merges);
  const Forest forest(rules, atoms, tables);
  const ForbiddingMerges forbidding(rules, forest);
  Tails tails(forest, forbidding);
  SetsOfRanges sets(tables);
  tables.sets.assign(forest.size(), sets.number_of({}));
  std::unordered_map<std::uint32_t, std::uint32_t> set_of_tail;
  std::vector<TourRange> united;
  for (const std::uint32_t token : forest.by_size()) {
    if (!forest.is_made(token)) continue;
    const std::uint32_t tail = tails.number_of(token);
    if (const std::span<const Forbidding> own = forbidding.of(token); !own.empty()) {
      unite(own, tails[tail], united);
      tables.sets[token] = sets.number_of(united);
    } else {
      const auto [known, is_new] = set_of_tail.try_emplace(tail, 0);
      if (is_new) known->second = sets.number_of(tails[tail]);
      tables.sets[token] = known->second;
    }
  }
  for (auto* vector : {&tables.tour, &tables.set_offsets, &tables.ranges}) vector->shrink_to_fit();
  return tables;
}

}  // namespace tokamata

#include "canonical/unigram_pieces.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <unordered_set>

#include "common/hash.hpp"
#include "expression/utf8.hpp"

namespace tokamata {

namespace {

// Whether a code point ends before a place of a text.
bool is_border(std::string_view text, std::size_t place) {
  return place == text.size() || !is_continuation(text[place]);
}

// How many bytes of a code point are left after one more.
int left_after(int left, std::uint8_t byte) {
  if (left > 0) return left - 1;
  return byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
}

// Reads a byte.  Starts from which no token goes on so are dropped; returns how many of the first `first`.
template <class Starts>
std::size_t advance(const TokenTrie& trie, Starts& starts, std::uint8_t byte, std::size_t first = 0) {
  std::size_t kept = 0, dropped = 0;
  for (std::size_t at = 0; at < starts.size(); ++at) {
    const NodeId node = trie.child(starts[at].node, byte);
    if (node == TokenTrie::root()) {
      dropped += at < first;
      continue;
    }
    if (kept != at) starts[kept] = starts[at];
    starts[kept++].node = node;
  }
  starts.resize(kept);
  return dropped;
}

}  // namespace

// Fronts by numbers.  What no state has any more is dropped now and then, and its number is free again.
class UnigramPieces::Fronts {
 public:
  State state(Front front) {
    const std::lock_guard lock(mutex_);
    auto known = entries_.find(front);
    if (known == entries_.end()) {
      if (entries_.size() >= sweep_at_) sweep();
      const std::uint32_t number = free_.empty() ? static_cast<std::uint32_t>(entries_.size()) + 1 : free_.back();
      known = entries_.insert(std::make_shared<const Entry>(std::move(front), number)).first;
      if (!free_.empty()) free_.pop_back();
    }
    return {(*known)->number, *known};
  }
  static const Front& of(const State& state) { return static_cast<const Entry*>(state.held.get())->front; }
  std::size_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = free_.capacity() * sizeof(std::uint32_t);
    for (const EntryPtr& entry : entries_) bytes += kNodeBytes + block_bytes_of(entry->front.starts);
    return bytes;
  }

 private:
  static constexpr std::size_t kLeastSwept = 4096;

  struct Entry {
    Front front;
    std::uint32_t number;
    Entry(Front pending, std::uint32_t own) : front(std::move(pending)), number(own) {}
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  // Of the set, and of what is shared.
  static constexpr std::size_t kNodeBytes = block_bytes(48) + block_bytes(sizeof(Entry) + 16);
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const EntryPtr& entry) const { return (*this)(entry->front); }
    std::size_t operator()(const Front& front) const {
      std::uint64_t hash = mix(std::bit_cast<std::uint64_t>(front.sum), front.additions);
      for (const Start& start : front.starts) {
        hash = mix(hash, start.node.value);
        hash = mix(hash, static_cast<std::uint64_t>(start.lead));
      }
      return hash;
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const EntryPtr& a, const EntryPtr& b) const { return a->front == b->front; }
    bool operator()(const EntryPtr& a, const Front& b) const { return a->front == b; }
    bool operator()(const Front& a, const EntryPtr& b) const { return a == b->front; }
  };

  // Nobody can copy a state that the set alone has.
  void sweep() {
    free_.reserve(free_.size() + entries_.size());
    std::erase_if(entries_, [&](const EntryPtr& entry) {
      if (entry.use_count() > 1) return false;
      free_.push_back(entry->number);
      return true;
    });
    sweep_at_ = std::max(kLeastSwept, 2 * entries_.size());
  }

  mutable Mutex mutex_;
  std::unordered_set<EntryPtr, Hash, Equal> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t sweep_at_ = kLeastSwept;
};

UnigramPieces::UnigramPieces(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores, Floats floats,
                             const std::vector<std::uint32_t>& byte_tokens, Sets sets)
    : vocabulary_(std::move(vocabulary)),
      trie_(vocabulary_->trie()),
      scores_(std::move(scores)),
      floats_(std::move(floats)),
      sets_(std::move(sets)),
      is_byte_(scores_.size(), false),
      fronts_(std::make_unique<Fronts>()) {
  if (scores_.size() != vocabulary_->token_count())
    throw std::invalid_argument("unigram: scores and tokens differ in number");
  if (sums_round() && floats_.scores.size() != scores_.size())
    throw std::invalid_argument("unigram: floats and tokens differ in number");
  for (const Words* set : {&sets_.best, &sets_.close, &sets_.apart})
    if (set->size() != vocabulary_->words()) throw std::invalid_argument("unigram: a set has another size");
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(floats_.scores, is_finite) || !is_finite(floats_.unknown) || !(floats_.units > 0) ||
      !is_finite(floats_.units))
    throw std::invalid_argument("unigram: a float is not finite");
  for (const std::uint32_t token : byte_tokens) {
    if (token >= scores_.size() || scores_[token] != kNoPiece)
      throw std::invalid_argument("unigram: a byte token is a piece, or none of the tokens");
    is_byte_[token] = true;
  }
  for (std::uint32_t token = 0; token < scores_.size(); ++token) {
    if (scores_[token] == kNoPiece) continue;
    const std::string_view text = vocabulary_->bytes({token});
    if (scores_[token] > kHighest || scores_[token] < -kHighest)
      throw std::invalid_argument("unigram: a score is out of range");
    if (text.empty()) scores_[token] = kNoPiece;  // a control token
    else if (!is_border(text, 0)) throw std::invalid_argument("unigram: a piece begins within a code point");
    else if (sums_round()) {
      const auto points = std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); });
      longest_ = std::max(longest_, static_cast<std::uint32_t>(points));
      highest_ = std::max(highest_, std::abs(floats_.scores[token]));
    }
  }
  only_first_ = ByteSet::range(0, 0x7F);
  for (std::uint32_t token = 0; token < scores_.size(); ++token) {
    if (scores_[token] == kNoPiece) continue;
    ByteSet later;
    for (const char byte : vocabulary_->bytes({token}).substr(1)) later.add(static_cast<std::uint8_t>(byte));
    only_first_ = only_first_.without(later);
  }
  if (sums_round()) {
    highest_ = std::max(highest_, std::abs(floats_.unknown));
    if (highest_ > kHighestFloat || (floats_.are_single && highest_ * longest_ > kMostAhead))
      throw std::invalid_argument("unigram: a score is too high");
    step_ = step(floats_.are_single ? kBound + kHighestFloat : kHighestFloat * kMostTokens);
    widest_ = width(kMostAdditions + longest_, step_);
  }
  for (std::uint32_t node = 0; node < trie_.node_count(); ++node) {
    const auto is_piece = [&](std::uint32_t token) { return scores_[token] != kNoPiece; };
    if (std::ranges::count_if(trie_.own({node}), is_piece) > 1)
      throw std::invalid_argument("unigram: two pieces have one text");
  }
  for (const Words* set : {&sets_.best, &sets_.close, &sets_.apart})
    for_each_bit(*set, [&](std::uint32_t token) {
      const bool is_written = token < scores_.size() && (is_byte_[token] || scores_[token] != kNoPiece);
      if (!is_written || (set == &sets_.close && !sums_round()))
        throw std::invalid_argument("unigram: a set has a token that is not written");
    });
  beginning_ = sets_.best;
  for_each_bit(sets_.close, [&](std::uint32_t token) {
    if (!begin({token})) clear_bit(beginning_, token);
    Front front;
    if (const Score ahead = read(front, {token}).ahead; ahead != kNoPiece) close_.emplace_back(-ahead, token);
  });
  std::ranges::sort(close_);
}

UnigramPieces::Sets UnigramPieces::find_sets(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores,
                                             Floats floats, const std::vector<std::uint32_t>& byte_tokens) {
  const Words none(vocabulary->words(), 0);
  Sets sets{none, none, none};
  const UnigramPieces pieces(std::move(vocabulary), std::move(scores), std::move(floats), byte_tokens, sets);
  for (std::uint32_t token = 0; token < pieces.scores_.size(); ++token) {
    const bool is_byte = pieces.is_byte_[token];
    if (!is_byte && pieces.scores_[token] == kNoPiece) continue;
    Front own;
    const Rank rank = is_byte ? Rank::Best : pieces.read(own, {token}).rank;
    if (rank == Rank::Refused) continue;
    set_bit(sets.best, token);
    if (rank == Rank::Tied) set_bit(sets.close, token);
    if (own.starts.empty()) set_bit(sets.apart, token);
  }
  return sets;
}

// ---- the lattice --------------------------------------------------------------------------------

// Of the arcs that end where the starts were read to; kNoPiece where none does.
template <class AnyStart>
UnigramPieces::Score UnigramPieces::best_sum(std::span<const AnyStart> starts) const {
  Score best = kNoPiece;
  for (const AnyStart& start : starts)
    if (const Score score = score_at(start.node); score != kNoPiece) best = std::max(best, start.lead + score);
  return best;
}

UnigramPieces::Arc UnigramPieces::best_arc(std::span<const Start> starts) const {
  Arc best{starts.size(), 0};
  for (std::size_t at = 0; at < starts.size(); ++at)
    for (const std::uint32_t piece : trie_.own(starts[at].node)) {
      if (scores_[piece] == kNoPiece) continue;
      const double sum = rounded(rounded(floats_.scores[piece] + starts[at].sum) - starts[at].less);
      if (best.at == starts.size() || sum > best.sum) best = {at, sum};
    }
  return best;
}

UnigramPieces::Start UnigramPieces::begin_here(Starts& starts, Score lead, double sum) const {
  if (!floats_.are_single || std::abs(sum) <= kBound) return {TokenTrie::root(), lead, sum};
  for (Start& start : starts) start.less = sum;
  return {TokenTrie::root(), lead, 0};
}

// Leaves what is pending after a token.  Of equal sums the arc that begins first wins: those before the token do, and
// those within it do not.
UnigramPieces::Standing UnigramPieces::read(Front& front, TokenId token) const {
  Starts& starts = front.starts;
  const std::string_view text = vocabulary_->bytes(token);
  std::size_t own = starts.size();  // where the token's start is among the others
  for (Start& start : starts) start.is_carried = true;
  starts.push_back({TokenTrie::root(), 0, front.sum});
  Start latest = starts.back();
  std::uint32_t points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    own -= advance(trie_, starts, static_cast<std::uint8_t>(text[i]), own);
    if (!is_border(text, i + 1)) continue;
    ++points;
    if (i + 1 == text.size()) break;
    Score inside = kNoPiece, carried = kNoPiece;
    for (const Start& start : starts)
      if (const Score score = score_at(start.node); score != kNoPiece) {
        Score& best = start.is_carried ? carried : inside;
        best = std::max(best, start.lead + score);
      }
    const Score sum = std::max(inside, carried);
    if (sum != kNoPiece) {
      starts.push_back(begin_here(starts, sum, front.has_sums ? best_arc(starts).sum : 0));
      if (carried != kNoPiece)
        starts.back().is_carried = inside == kNoPiece || carried > inside - width(front.additions + points, step_);
    } else if (front.has_sums) {
      // Behind a character that is no piece, within one.  What begins here loses, but its sum may be subtracted.
      const Score lead = latest.lead + std::llround(floats_.unknown * floats_.units);
      starts.push_back(begin_here(starts, lead, rounded(floats_.unknown + latest.sum)));
    } else {
      continue;
    }
    latest = starts.back();
  }
  const Score whole = scores_[token.value], tie = width(front.additions + points, step_);
  Standing standing{Rank::Best, kNoPiece};
  for (std::size_t at = 0; at < starts.size(); ++at) {
    const Score score = score_at(starts[at].node);
    if (score == kNoPiece || at == own) continue;
    const Score ahead = starts[at].lead + score - whole;
    standing.ahead = std::max(standing.ahead, ahead);
    if (ahead > tie || (!sums_round() && ahead == 0 && at < own)) standing.rank = Rank::Refused;
    else if (sums_round() && ahead >= -tie) standing.rank = std::min(standing.rank, Rank::Tied);
  }
  if (front.has_sums) {
    const Arc here = best_arc(starts);
    standing.rank = here.at == own ? Rank::Best : Rank::Refused;
    front.sum = begin_here(starts, 0, here.sum).sum;
  }
  if (standing.rank == Rank::Refused) return standing;
  std::erase_if(starts, [&](Start& start) {
    start.lead -= whole;
    return !is_pending(start);
  });
  front.is_own = std::ranges::none_of(starts, &Start::is_carried);
  for (Start& start : starts) start.is_carried = false;
  if (!sums_round() || starts.empty()) front.additions = 0;
  else front.additions = front.is_own ? points : front.additions + points;
  if (front.has_sums && front.additions > kMostAdditions) read_leads(front);
  if (front.is_relaxed) relax(front);
  return standing;
}

// Byte tokens write code points that are in no piece: nothing is pending after them, and the score of an unknown code
// point is added once, with its first byte.
void UnigramPieces::read_byte(Front& front, TokenId token) const {
  front.starts.clear();
  front.additions = 0;
  front.is_own = true;
  if (front.has_sums && is_border(vocabulary_->bytes(token), 0))
    front.sum = begin_here(front.starts, 0, rounded(floats_.unknown + front.sum)).sum;
}

// Whether some arc from a start may win after here.
bool UnigramPieces::is_pending(const Start& start) const {
  if (!has_longer(start.node)) return false;
  const Score least = least_lead(start.node);
  return least != kNever && (least == kNoPiece || start.lead >= least - widest_);
}

// From the sums, so that they are as if all paths had parted here.
void UnigramPieces::read_leads(Front& front) const {
  for (Start& start : front.starts) start.lead = std::llround((start.sum - start.less - front.sum) * floats_.units);
  front.additions = 1;
}

// So that there are few states of this kind: by the most additions, or without what is pending after too many.
void UnigramPieces::relax(Front& front) const {
  front.is_relaxed = true;
  if (!floats_.are_single) front.additions = static_cast<std::uint32_t>(kMostTokens);
  if (floats_.are_single && front.additions > kMostRelaxed) front.starts.clear();
  if (front.starts.empty()) front.additions = 0;
}

UnigramPieces::Score UnigramPieces::step(double highest) const {
  const double half = std::ldexp(1.0, std::ilogb(std::max(highest, 1.0)) - (floats_.are_single ? 24 : 53));
  return static_cast<Score>(std::ceil(half * floats_.units)) + 1;
}

UnigramPieces::Score UnigramPieces::width_of(const Front& front, const Start& start) const {
  if (!sums_round()) return 0;
  if (!front.has_sums) return width(front.additions + longest_, step_);
  const double highest = std::max(std::abs(front.sum), std::abs(start.sum)) + (longest_ + 1) * highest_;
  const Score lead = std::llround((start.sum - start.less - front.sum) * floats_.units);
  return std::abs(lead - start.lead) + width(longest_, step(highest));
}

UnigramPieces::Score UnigramPieces::best(std::string_view text) const {
  std::vector<Reached> starts{{TokenTrie::root(), 0}};
  Score sum = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    advance(trie_, starts, static_cast<std::uint8_t>(text[i]));
    if (!is_border(text, i + 1)) continue;
    sum = best_sum(std::span<const Reached>(starts));
    if (sum != kNoPiece) starts.push_back({TokenTrie::root(), sum});
  }
  return sum;
}

// ---- states -------------------------------------------------------------------------------------

UnigramPieces::~UnigramPieces() = default;

std::optional<Pieces::State> UnigramPieces::begin(TokenId token) const {
  if (!has_bit(sets_.best, token.value)) return std::nullopt;
  if (!sums_round()) return kSettled;
  Front front;
  front.has_sums = true;
  return state_after(std::move(front), token);
}

std::optional<Pieces::State> UnigramPieces::follow(State state, TokenId last, TokenId token) const {
  if (!has_bit(sets_.best, token.value)) return std::nullopt;
  const Front& front = front_of(state, last);
  if (!front.has_sums && !front.is_relaxed) {
    if (is_byte_[token.value]) return kSettled;
    if (front.starts.empty()) return has_bit(sets_.close, token.value) ? kTied : kSettled;
    if (front.additions > kMostAdditions) return kTied;
  }
  return state_after(front, token);
}

std::optional<Pieces::State> UnigramPieces::state_after(Front front, TokenId token) const {
  if (is_byte_[token.value]) {
    read_byte(front, token);
    return fronts_->state(std::move(front));
  }
  if (!meets(front.starts, token)) {  // what is pending is over with this token
    const Own& alone = own(token);
    if (front.is_relaxed) {
      front = alone.front;
      relax(front);
      return fronts_->state(std::move(front));
    }
    if (!front.has_sums) return has_bit(sets_.close, token.value) ? kTied : kSettled;
    const bool is_near_bound = floats_.are_single && std::abs(front.sum) > kBound - (longest_ + 1) * highest_;
    if (alone.is_plain && !is_near_bound) {
      const double before = front.sum;
      front = alone.front;
      front.has_sums = true;
      front.sum = rounded(floats_.scores[token.value] + before);
      for (std::size_t i = 0; i < front.starts.size(); ++i) {
        double& sum = front.starts[i].sum = before;
        for (const double score : alone.arcs[i]) sum = rounded(score + sum);
      }
      return fronts_->state(std::move(front));
    }
  }
  const Rank rank = read(front, token).rank;
  if (rank == Rank::Refused) return std::nullopt;
  if (front.is_relaxed) return fronts_->state(std::move(front));
  if (rank == Rank::Tied) return kTied;
  if (!front.has_sums && front.is_own) return kSettled;
  return fronts_->state(std::move(front));
}

bool UnigramPieces::leads_on(TokenId last, TokenId token) const {
  if (!has_bit(sets_.best, token.value)) return false;
  if (is_byte_[token.value]) return true;
  Front front = own(last).front;
  return read(front, token).rank == Rank::Best && front.is_own;
}

Pieces::State UnigramPieces::projected(const State& state, TokenId last) const {
  const Front& front = front_of(state, last);
  if (!front.has_sums) return state;
  if (front.is_own) return kSettled;
  Front same = front;
  same.has_sums = false;
  same.sum = 0;
  for (Start& start : same.starts) start.sum = start.less = 0;
  return fronts_->state(std::move(same));
}

Pieces::State UnigramPieces::relaxed(const State& state, TokenId last) const {
  if (!sums_round()) return state;
  Front front = front_of(state, last);
  if (front.has_sums || front.is_relaxed) return state;
  relax(front);
  return fronts_->state(std::move(front));
}

const UnigramPieces::Front& UnigramPieces::front_of(const State& state, TokenId last) const {
  return state == kSettled ? own(last).front : Fronts::of(state);
}

// What a token leaves pending by itself.
const UnigramPieces::Own& UnigramPieces::own(TokenId token) const {
  {
    const std::lock_guard lock(mutex_);
    if (is_byte_[token.value]) return nothing_;
    if (const auto known = own_.find(token.value); known != own_.end()) return known->second;
  }
  Own own;
  read(own.front, token);
  if (sums_round()) find_arcs(own, token);
  const std::lock_guard lock(mutex_);
  return own_.try_emplace(token.value, std::move(own)).first->second;
}

// The best segmentations of the beginnings of a token, and whether the program may find others.
void UnigramPieces::find_arcs(Own& own, TokenId token) const {
  struct Place {
    Score sum = kNoPiece;
    std::size_t from = 0;
    double score = 0;
  };
  const std::string_view text = vocabulary_->bytes(token);
  std::vector<Place> places(text.size() + 1);
  places[0].sum = 0;
  const Score tie = width(static_cast<std::uint32_t>(text.size()), step_);
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (places[begin].sum == kNoPiece) continue;
    NodeId node = TokenTrie::root();
    std::size_t end = begin;
    while (end < text.size() && (node = trie_.child(node, static_cast<std::uint8_t>(text[end]))) != TokenTrie::root()) {
      ++end;
      for (const std::uint32_t piece : trie_.own(node)) {
        if (scores_[piece] == kNoPiece) continue;
        const Score sum = places[begin].sum + scores_[piece];
        Place& place = places[end];
        own.is_plain &= place.sum == kNoPiece || std::abs(sum - place.sum) > tie;
        if (sum > place.sum) place = {sum, begin, floats_.scores[piece]};
      }
    }
    const std::size_t known = own.arcs.size();
    if (end < text.size() || known == own.front.starts.size() || own.front.starts[known].node != node) continue;
    std::vector<double>& arcs = own.arcs.emplace_back();
    for (std::size_t at = begin; at > 0; at = places[at].from) arcs.push_back(places[at].score);
    std::ranges::reverse(arcs);
  }
}

// Whether an arc from one of the starts may end within a token, or after it.
bool UnigramPieces::meets(std::span<const Start> starts, TokenId token) const {
  const std::string_view text = vocabulary_->bytes(token);
  return std::ranges::any_of(starts, [&](const Start& start) {
    NodeId node = start.node;
    for (const char byte : text) {
      node = trie_.child(node, static_cast<std::uint8_t>(byte));
      if (node == TokenTrie::root()) return false;
      if (score_at(node) != kNoPiece) return true;
    }
    return has_longer(node);
  });
}

// The least lead with which some arc from the start wins against the best segmentation of the text after here; of equal
// sums it wins.
UnigramPieces::Score UnigramPieces::least_lead(NodeId node) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = leads_.find(node.value); known != leads_.end()) return known->second;
  }
  const Score found = find_least_lead(node);
  const std::lock_guard lock(mutex_);
  return leads_.try_emplace(node.value, found).first->second;
}

// Lists of starts as a stack: those of a place of a walk are side by side, above those of all places that wait.
template <class Start>
class StartStack {
 public:
  struct Range {
    std::size_t begin, end;
  };
  std::span<const Start> of(Range range) const {
    return std::span(starts_).subspan(range.begin, range.end - range.begin);
  }
  // Forgets all above a place.
  void drop_above(Range range) { starts_.resize(range.end); }
  // Reads a byte with the starts of a place, and puts those that go on on top.
  Range advanced(const TokenTrie& trie, Range from, std::uint8_t byte) {
    const std::size_t begin = starts_.size();
    for (std::size_t at = from.begin; at < from.end; ++at)
      if (const NodeId node = trie.child(starts_[at].node, byte); node != TokenTrie::root()) {
        starts_.push_back(starts_[at]);
        starts_.back().node = node;
      }
    return {begin, starts_.size()};
  }
  // Adds to the range on top.
  void add(Range& range, const Start& start) {
    starts_.push_back(start);
    range.end = starts_.size();
  }

 private:
  std::vector<Start> starts_;
};

UnigramPieces::Score UnigramPieces::find_least_lead(NodeId from) const {
  using Stack = StartStack<Reached>;
  struct Place {
    NodeId node;
    Stack::Range starts;
    int left;
  };
  Stack stack;
  Score least = kNever;
  Place first{from, {0, 0}, 0};
  stack.add(first.starts, {TokenTrie::root(), 0});
  std::vector<Place> open{first};
  while (!open.empty()) {
    const Place at = open.back();
    open.pop_back();
    stack.drop_above(at.starts);
    for (std::uint32_t child = trie_.children_begin(at.node); child < trie_.children_end(at.node); ++child) {
      const std::uint8_t byte = trie_.byte({child});
      Place next{{child}, stack.advanced(trie_, at.starts, byte), left_after(at.left, byte)};
      if (next.left == 0) {
        const Score sum = best_sum(stack.of(next.starts)), score = score_at({child});
        if (score != kNoPiece) least = std::min(least, sum == kNoPiece ? kNoPiece : sum - score);
        if (sum != kNoPiece) stack.add(next.starts, {TokenTrie::root(), sum});
      }
      if (has_longer({child})) open.push_back(next);
      else stack.drop_above({0, next.starts.begin});
    }
  }
  return least;
}

// ---- masks --------------------------------------------------------------------------------------

// The tokens that a crossing arc from a pending node forbids, and those that it lets leave more than they do by
// themselves.
class UnigramPieces::EffectsMaker {
 public:
  EffectsMaker(const UnigramPieces& pieces, NodeId node) : pieces_(pieces), trie_(pieces.trie_) {
    const std::uint32_t token = trie_.order()[trie_.node(node).tokens_begin];
    const std::string_view text = pieces_.vocabulary_->bytes({token});
    highest_ = -pieces_.best(text.substr(0, trie_.depth(node, text))) + pieces_.widest_;
    Place first{node, TokenTrie::root(), {0, 0}, {0, 0}, 0, true};
    inner_.add(first.inner, {TokenTrie::root(), 0, kNever});
    open_.push_back(first);
  }

  Effects make() {
    while (!open_.empty()) {
      const Place at = open_.back();
      open_.pop_back();
      inner_.drop_above(at.inner);
      beyond_.drop_above(at.beyond);
      for (std::uint32_t child = trie_.children_begin(at.token); child < trie_.children_end(at.token); ++child)
        read(at, {child});
    }
    return {in_order(forbidden_), in_order(carried_)};
  }

 private:
  // A start within the tokens, by segmentations of them alone.
  struct Inner {
    NodeId node;
    Score lead;
    Score improved;  // from this lead on a crossing arc leads to a higher sum at the start
  };
  struct Place {
    NodeId crossing;  // of the arc that begins at the pending start
    NodeId token;     // of the token that begins at its end
    StartStack<Inner>::Range inner;
    StartStack<Reached>::Range beyond;  // starts after a crossing arc, less the lead
    int left;                           // bytes of a code point
    bool crosses;                       // whether the arc goes on
  };

  using Found = std::vector<std::pair<Score, std::uint32_t>>;

  static Touched in_order(Found& found) {
    std::ranges::sort(found);
    Touched touched;
    touched.from.reserve(found.size());
    touched.tokens.reserve(found.size());
    for (const auto& [from, token] : found) {
      touched.from.push_back(from);
      touched.tokens.push_back(token);
    }
    return touched;
  }

  void read(const Place& at, NodeId token) {
    const std::uint8_t byte = trie_.byte(token);
    Place next{at.crossing,
               token,
               inner_.advanced(trie_, at.inner, byte),
               beyond_.advanced(trie_, at.beyond, byte),
               left_after(at.left, byte),
               at.crosses};
    if (next.crosses) {
      next.crossing = trie_.child(at.crossing, byte);
      next.crosses = next.crossing != TokenTrie::root();
    }
    if (next.left == 0) end_code_point(next);
    const bool improves = std::ranges::any_of(inner_.of(next.inner), is_improved);
    if ((next.crosses || improves || next.beyond.begin != next.beyond.end) && pieces_.has_longer(token))
      return open_.push_back(next);
    inner_.drop_above({0, next.inner.begin});
    beyond_.drop_above({0, next.beyond.begin});
  }

  static bool is_improved(const Inner& start) { return start.improved != kNever; }

  void end_code_point(Place& at) {
    const Score inside = pieces_.best_sum(inner_.of(at.inner));
    const Score direct = at.crosses ? pieces_.score_at(at.crossing) : kNoPiece;
    const Score later = pieces_.best_sum(beyond_.of(at.beyond));
    for (const std::uint32_t token : trie_.own(at.token))
      if (const Score score = pieces_.scores_[token]; score != kNoPiece && has_bit(pieces_.sets_.best, token)) {
        if (const Score from = forbidden_from(score, direct, later); from <= highest_)
          forbidden_.emplace_back(from, token);
        if (const Score from = carried_from(at, score); from <= highest_) carried_.emplace_back(from, token);
      }
    Score beyond = std::max(direct, later);
    if (beyond != kNoPiece && inside != kNoPiece && highest_ + beyond < inside) beyond = kNoPiece;
    const Score improved = beyond == kNoPiece || inside == kNoPiece ? kNever : inside - beyond + 1;
    if (inside != kNoPiece) inner_.add(at.inner, {TokenTrie::root(), inside, improved});
    if (beyond != kNoPiece) beyond_.add(at.beyond, {TokenTrie::root(), beyond});
  }

  // `direct`: the score of the crossing arc that ends where the token does; `later`: the sum of one that ends within it,
  // and what follows it.  Of equal sums the first wins against the token, and the second does not.
  // Where sums round, equal sums decide nothing: the lead is the one with which they are equal.
  Score forbidden_from(Score token, Score direct, Score later) const {
    if (pieces_.sums_round()) {
      const Score beyond = std::max(direct, later);
      return beyond == kNoPiece ? kNever : token - beyond;
    }
    return std::min(direct == kNoPiece ? kNever : token - direct, later == kNoPiece ? kNever : token - later + 1);
  }

  // A start before the token may still be pending after it, or one within it may have a higher lead.
  Score carried_from(const Place& at, Score token) const {
    Score from = kNever;
    if (at.crosses && pieces_.has_longer(at.crossing)) {
      const Score least = pieces_.least_lead(at.crossing);
      if (least != kNever) from = least == kNoPiece ? kNoPiece : least + token;
    }
    for (const Inner& start : inner_.of(at.inner))
      if (pieces_.has_longer(start.node)) from = std::min(from, start.improved);
    return from;
  }

  const UnigramPieces& pieces_;
  const TokenTrie& trie_;
  Score highest_;  // lead that the node can have
  StartStack<Inner> inner_;
  StartStack<Reached> beyond_;
  std::vector<Place> open_;
  Found forbidden_, carried_;
};

std::shared_ptr<const UnigramPieces::Effects> UnigramPieces::effects(NodeId node) const {
  if (std::shared_ptr<const Effects> known = effects_.find(node.value)) return known;
  auto made = std::make_shared<const Effects>(EffectsMaker(*this, node).make());
  std::size_t bytes = shared_block_bytes<Effects>();
  for (const Touched* touched : {&made->forbidden, &made->carried})
    bytes += block_bytes_of(touched->from) + block_bytes_of(touched->tokens);
  return effects_.keep(node.value, std::move(made), bytes);
}

void UnigramPieces::forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const {
  words = all;
  const Front& front = front_of(state, last);
  const auto check = [&](std::uint32_t token) {
    if (!front.has_sums || has_bit(kept, token) || !has_bit(words, token)) return;
    Front after = front;
    if (read(after, {token}).rank == Rank::Refused) clear_bit(words, token);
  };
  for (const Start& pending : front.starts) {
    const std::shared_ptr<const Effects> made = effects(pending.node);
    const Touched& found = made->forbidden;
    const Score tie = width_of(front, pending);
    for (std::size_t i = 0; i < found.from.size() && found.from[i] <= pending.lead + tie; ++i) {
      if (found.from[i] + tie >= pending.lead && sums_round()) check(found.tokens[i]);
      else if (!has_bit(kept, found.tokens[i])) clear_bit(words, found.tokens[i]);
    }
  }
  if (!front.has_sums) return;
  const Score tie = width(longest_, step(std::abs(front.sum) + (longest_ + 1) * highest_));
  for (std::size_t i = 0; i < close_.size() && close_[i].first <= tie; ++i) check(close_[i].second);
}

std::vector<std::uint32_t> UnigramPieces::carried(State state, TokenId last) const {
  std::vector<std::uint32_t> tokens;
  const Front& front = front_of(state, last);
  for (const Start& pending : front.starts) {
    const std::shared_ptr<const Effects> made = effects(pending.node);
    const Touched& found = made->carried;
    for (std::size_t i = 0; i < found.from.size() && found.from[i] <= pending.lead + widest_; ++i)
      tokens.push_back(found.tokens[i]);
  }
  return tokens;
}

Words UnigramPieces::before(TokenId token) const {
  Words tokens(sets_.best.size(), 0);
  for_each_bit(sets_.best, [&](std::uint32_t last) {
    if (leads_on({last}, token)) set_bit(tokens, last);
  });
  return tokens;
}

std::size_t UnigramPieces::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes =
      scores_.size() * sizeof(Score) + 2 * sets_.best.size() * sizeof(std::uint32_t) + effects_.weight();
  bytes += fronts_->memory_bytes();
  for (const auto& [token, own] : own_) {
    bytes += block_bytes_of(own.front.starts) + block_bytes_of(own.arcs) + sizeof(Own) + 48;
    for (const std::vector<double>& arcs : own.arcs) bytes += block_bytes_of(arcs);
  }
  return bytes + leads_.size() * 32;
}

}  // namespace tokamata

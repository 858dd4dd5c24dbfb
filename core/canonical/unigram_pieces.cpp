#include "canonical/unigram_pieces.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "common/memoized.hpp"

namespace tokamata {

namespace {

// Whether a code point ends before a place of a text.
bool is_border(std::string_view text, std::size_t place) {
  return place == text.size() || (static_cast<std::uint8_t>(text[place]) & 0xC0) != 0x80;
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

// Lists of pending starts by numbers.  What no state has any more is dropped now and then, and its number is free again.
class UnigramPieces::Fronts {
 public:
  State state(Front front) {
    const std::lock_guard lock(mutex_);
    auto known = entries_.find(front);
    if (known == entries_.end()) {
      if (entries_.size() >= sweep_at_) sweep();
      const std::uint32_t number = free_.empty() ? static_cast<std::uint32_t>(entries_.size()) + 1 : free_.back();
      auto entry = std::make_shared<const Entry>(std::move(front), number);
      known = entries_.insert(std::move(entry)).first;
      if (!free_.empty()) free_.pop_back();
    }
    return {(*known)->number, *known};
  }
  static const Front& of(const State& state) { return static_cast<const Entry*>(state.held.get())->front; }
  std::size_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = free_.capacity() * sizeof(std::uint32_t);
    for (const EntryPtr& entry : entries_) bytes += kNodeBytes + block_bytes_of(entry->front);
    return bytes;
  }

 private:
  static constexpr std::size_t kLeastSwept = 4096;
  static constexpr std::size_t kNodeBytes = block_bytes(48) + block_bytes(64);  // of the set, and of what is shared

  struct Entry {
    Front front;
    std::uint32_t number;
    Entry(Front pending, std::uint32_t own) : front(std::move(pending)), number(own) {}
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  struct ByFront {
    using is_transparent = void;
    bool operator()(const EntryPtr& a, const EntryPtr& b) const { return a->front < b->front; }
    bool operator()(const EntryPtr& a, const Front& b) const { return a->front < b; }
    bool operator()(const Front& a, const EntryPtr& b) const { return a < b->front; }
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
  std::set<EntryPtr, ByFront> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t sweep_at_ = kLeastSwept;
};

UnigramPieces::UnigramPieces(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores,
                             const std::vector<std::uint32_t>& byte_tokens, Sets sets)
    : vocabulary_(std::move(vocabulary)),
      trie_(vocabulary_->trie()),
      scores_(std::move(scores)),
      sets_(std::move(sets)),
      is_byte_(scores_.size(), false),
      fronts_(std::make_unique<Fronts>()) {
  if (scores_.size() != vocabulary_->token_count())
    throw std::invalid_argument("unigram: scores and tokens differ in number");
  if (sets_.best.size() != vocabulary_->words() || sets_.apart.size() != vocabulary_->words())
    throw std::invalid_argument("unigram: a set has another size");
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
  }
  for (std::uint32_t node = 0; node < trie_.node_count(); ++node) {
    const auto is_piece = [&](std::uint32_t token) { return scores_[token] != kNoPiece; };
    if (std::ranges::count_if(trie_.own({node}), is_piece) > 1)
      throw std::invalid_argument("unigram: two pieces have one text");
  }
}

UnigramPieces::Sets UnigramPieces::find_sets(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores,
                                             const std::vector<std::uint32_t>& byte_tokens) {
  Sets sets{Words(vocabulary->words(), 0), Words(vocabulary->words(), 0)};
  const UnigramPieces pieces(std::move(vocabulary), std::move(scores), byte_tokens, sets);
  for (std::uint32_t token = 0; token < pieces.scores_.size(); ++token) {
    const bool is_byte = pieces.is_byte_[token];
    if (!is_byte && pieces.scores_[token] == kNoPiece) continue;
    const std::optional<Front> own = is_byte ? Front() : pieces.after({}, {token});
    if (!own) continue;
    set_bit(sets.best, token);
    if (own->empty()) set_bit(sets.apart, token);
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

// What is pending after a token; nothing where another arc wins at its end.  Of equal sums the arc that begins first
// wins: those before the token do, and those within it do not.
std::optional<UnigramPieces::Front> UnigramPieces::after(Front starts, TokenId token) const {
  const std::string_view text = vocabulary_->bytes(token);
  std::size_t own = starts.size();  // where the token's start is among the others
  starts.push_back({TokenTrie::root(), 0});
  for (std::size_t i = 0; i < text.size(); ++i) {
    own -= advance(trie_, starts, static_cast<std::uint8_t>(text[i]), own);
    if (i + 1 < text.size() && is_border(text, i + 1))
      if (const Score sum = best_sum(std::span<const Start>(starts)); sum != kNoPiece)
        starts.push_back({TokenTrie::root(), sum});
  }
  const Score whole = scores_[token.value];
  for (std::size_t at = 0; at < starts.size(); ++at) {
    const Score score = score_at(starts[at].node);
    if (score == kNoPiece || at == own) continue;
    const Score sum = starts[at].lead + score;
    if (at < own ? sum >= whole : sum > whole) return std::nullopt;
  }
  std::erase_if(starts, [&](Start& start) {
    start.lead -= whole;
    return !has_longer(start.node) || start.lead < least_lead(start.node);
  });
  return starts;
}

UnigramPieces::Score UnigramPieces::best(std::string_view text) const {
  Front starts{{TokenTrie::root(), 0}};
  Score sum = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    advance(trie_, starts, static_cast<std::uint8_t>(text[i]));
    if (!is_border(text, i + 1)) continue;
    sum = best_sum(std::span<const Start>(starts));
    if (sum != kNoPiece) starts.push_back({TokenTrie::root(), sum});
  }
  return sum;
}

// ---- states -------------------------------------------------------------------------------------

UnigramPieces::~UnigramPieces() = default;

std::optional<Pieces::State> UnigramPieces::begin(TokenId token) const {
  return has_bit(sets_.best, token.value) ? std::optional(kSettled) : std::nullopt;
}

bool UnigramPieces::leads_on(TokenId last, TokenId token) const {
  if (!has_bit(sets_.best, token.value)) return false;
  if (is_byte_[token.value]) return true;
  const Front& pending = own(last);
  if (pending.empty()) return true;
  const std::optional<Front> front = after(pending, token);
  return front && *front == own(token);
}

std::optional<Pieces::State> UnigramPieces::follow(State state, TokenId last, TokenId token) const {
  if (!has_bit(sets_.best, token.value)) return std::nullopt;
  if (is_byte_[token.value]) return kSettled;  // no piece has the code point
  const Front& pending = front_of(state, last);
  if (pending.empty()) return kSettled;
  std::optional<Front> front = after(pending, token);
  if (!front) return std::nullopt;
  if (*front == own(token)) return kSettled;
  return fronts_->state(*std::move(front));
}

const UnigramPieces::Front& UnigramPieces::front_of(const State& state, TokenId last) const {
  return state == kSettled ? own(last) : Fronts::of(state);
}

// What a token leaves pending by itself.
const UnigramPieces::Front& UnigramPieces::own(TokenId token) const {
  {
    const std::lock_guard lock(mutex_);
    if (is_byte_[token.value]) return nothing_;
    if (const auto known = own_.find(token.value); known != own_.end()) return known->second;
  }
  Front front = *after({}, token);
  const std::lock_guard lock(mutex_);
  return own_.try_emplace(token.value, std::move(front)).first->second;
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
  using Stack = StartStack<Start>;
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

// The tokens that a crossing arc from a pending node forbids; or those that it lets leave more than they do by
// themselves.
class UnigramPieces::EffectsMaker {
 public:
  EffectsMaker(const UnigramPieces& pieces, NodeId node, EffectKind kind)
      : pieces_(pieces), trie_(pieces.trie_), kind_(kind) {
    const std::uint32_t token = trie_.order()[trie_.node(node).tokens_begin];
    const std::string_view text = pieces_.vocabulary_->bytes({token});
    highest_ = -pieces_.best(text.substr(0, trie_.depth(node, text)));
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
    std::ranges::sort(found_);
    Effects effects;
    for (const auto& [from, token] : found_) {
      effects.from.push_back(from);
      effects.tokens.push_back(token);
    }
    return effects;
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
    StartStack<Start>::Range beyond;  // starts after a crossing arc, less the lead
    int left;                         // bytes of a code point
    bool crosses;                     // whether the arc goes on
  };

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
    const bool improves = kind_ == EffectKind::Carried && std::ranges::any_of(inner_.of(next.inner), is_improved);
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
      if (pieces_.scores_[token] != kNoPiece && has_bit(pieces_.sets_.best, token)) {
        const Score from = kind_ == EffectKind::Forbidden ? forbidden_from(pieces_.scores_[token], direct, later)
                                                          : carried_from(at, pieces_.scores_[token]);
        if (from <= highest_) found_.emplace_back(from, token);
      }
    Score beyond = std::max(direct, later);
    if (beyond != kNoPiece && inside != kNoPiece && highest_ + beyond < inside) beyond = kNoPiece;
    const Score improved = beyond == kNoPiece || inside == kNoPiece ? kNever : inside - beyond + 1;
    if (inside != kNoPiece) inner_.add(at.inner, {TokenTrie::root(), inside, improved});
    if (beyond != kNoPiece) beyond_.add(at.beyond, {TokenTrie::root(), beyond});
  }

  // `direct`: the score of the crossing arc that ends where the token does; `later`: the sum of one that ends within it,
  // and what follows it.  Of equal sums the first wins against the token, and the second does not.
  Score forbidden_from(Score token, Score direct, Score later) const {
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
  const EffectKind kind_;
  Score highest_;  // lead that the node can have
  StartStack<Inner> inner_;
  StartStack<Start> beyond_;
  std::vector<Place> open_;
  std::vector<std::pair<Score, std::uint32_t>> found_;
};

std::shared_ptr<const UnigramPieces::Effects> UnigramPieces::effects(NodeId node, EffectKind kind) const {
  EffectsMemo& memo = kind == EffectKind::Forbidden ? forbidden_ : carried_;
  if (std::shared_ptr<const Effects> known = memo.find(node.value)) return known;
  auto made = std::make_shared<const Effects>(EffectsMaker(*this, node, kind).make());
  const std::size_t bytes = shared_block_bytes<Effects>() + block_bytes_of(made->from) + block_bytes_of(made->tokens);
  return memo.keep(node.value, std::move(made), bytes);
}

template <class Visit>
void UnigramPieces::for_each_effect(State state, TokenId last, EffectKind kind, Visit&& visit) const {
  for (const Start& pending : front_of(state, last)) {
    const std::shared_ptr<const Effects> found = effects(pending.node, kind);
    const auto end = std::ranges::upper_bound(found->from, pending.lead);
    for (std::size_t i = 0; i < static_cast<std::size_t>(end - found->from.begin()); ++i) visit(found->tokens[i]);
  }
}

void UnigramPieces::forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const {
  words = all;
  for_each_effect(state, last, EffectKind::Forbidden, [&](std::uint32_t token) {
    if (!has_bit(kept, token)) clear_bit(words, token);
  });
}

std::vector<std::uint32_t> UnigramPieces::carried(State state, TokenId last) const {
  std::vector<std::uint32_t> tokens;
  for_each_effect(state, last, EffectKind::Carried, [&](std::uint32_t token) { tokens.push_back(token); });
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
  std::size_t bytes = scores_.size() * sizeof(Score) + 2 * sets_.best.size() * sizeof(std::uint32_t) +
                      forbidden_.weight() + carried_.weight();
  bytes += fronts_->memory_bytes();
  for (const auto& [token, front] : own_) bytes += block_bytes(front.size() * sizeof(Start)) + 48;
  return bytes + leads_.size() * 32;
}

}  // namespace tokamata

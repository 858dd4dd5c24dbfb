#include "canonical/text_liveness.hpp"
#include "common/hash.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tokamata {

namespace {

std::vector<std::string_view> control_contents(const Tokenization& tokenization) {
  const AddedTokens& added = tokenization.rules().added();
  std::vector<std::string_view> contents;
  for (std::size_t i = 0; i < added.count(); ++i)
    if (!added.content(i).empty() && tokenization.is_control({tokenization.added()[i]}))
      contents.push_back(added.content(i));
  return contents;
}

ByteSet bytes_of_text(std::string_view text) {
  ByteSet bytes;
  for (const char byte : text) bytes.add(static_cast<std::uint8_t>(byte));
  return bytes;
}

}  // namespace

std::size_t TextLiveness::PairHash::operator()(const Pair& pair) const {
  const TextState& text = pair.second;
  std::uint64_t hash = (std::uint64_t{pair.first.value} << 32) | (std::uint64_t{text.guess} << 16) | text.place;
  hash ^=
      ((std::uint64_t{text.open.value} << 24) ^ (std::uint64_t{text.starter} << 8) ^ text.marks) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(mix(hash, hash >> 29));
}

// In bytes.
TokenCount TextLiveness::shortest_of(StateId state) const {
  const ExpressionNode& node = pattern_.automaton().node(state);
  const std::uint32_t bytes = node.rules ? node.spelled : node.shortest;
  return bytes + 1 >= ExpressionNode::kUnspelled ? kEndless : bytes;
}

// Whether nothing binds a text of rules any more.
bool TextLiveness::is_free(StateId state, const TextState& text) const {
  return pattern_.automaton().node(state).rules && text.marks == 0 && may_be_unbound(text);
}

bool TextLiveness::rules_are_harmless() {
  if (harmless_ == Calm::Unknown) harmless_ = find_harmless() ? Calm::Yes : Calm::No;
  return harmless_ == Calm::Yes;
}

// Where a text has the content of a control token, another text without it will do: in a string that may be told from
// it, some byte of the content may be another, which is in no such content.  What is spelled out must not have the
// content, nor be what stands for it with one other byte: then it holds half of it.
bool TextLiveness::find_harmless() const {
  const Arena& arena = pattern_.automaton().arena();
  const ByteSet& borders = arena.rule_sets().distinguished();
  if (tokenization_.rules().has_normal_form() && borders.next_member(0x81) < 256) return false;
  const std::vector<std::string_view> contents = control_contents(tokenization_);
  ByteSet taken = ByteSet::range(0x00, 0x20) | ByteSet::range(0x7F, 0xFF);
  for (const std::string_view content : contents) taken |= bytes_of_text(content);
  const auto has_other = [&](char byte) {
    const auto given = static_cast<std::uint8_t>(byte);
    unsigned low = given;
    while (low > 0 && !borders.contains(static_cast<std::uint8_t>(low))) --low;
    return taken.next_non_member(low) < borders.next_member(given + 1u);
  };
  return std::ranges::all_of(contents, [&](std::string_view content) {
    const std::size_t half = content.size() / 2;
    return std::ranges::any_of(content, has_other) && !arena.rule_sets().any_spells(content.substr(0, half)) &&
           !arena.rule_sets().any_spells(content.substr(half));
  });
}

// The bytes of a short text that completes an expression, which is that of its parts; all bytes where none is known.
const ByteSet& TextLiveness::closing_bytes(ExpressionId expression, Budget& budget) {
  const Pool& pool = pattern_.automaton().arena().pool();
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ByteSet bytes;
  for (ExpressionId at = expression; at != Pool::kEpsilon;) {
    if (const auto known = closing_bytes_.find(at.value); known != closing_bytes_.end()) {
      bytes = known->second;
      break;
    }
    const ExpressionNode& n = pool.node(at);
    spine.push_back(at);
    if (n.kind == Kind::Concatenation && !n.constrained && !n.open && !n.behind && !n.waits && !n.commits) {
      at = n.tail();
    } else if (n.kind == Kind::Union && n.rules) {
      at = *std::ranges::min_element(pool.items(n), {}, [&](ExpressionId item) { return pool.node(item).spelled; });
    } else {
      spine.pop_back();
      const ClosingText text = closing_texts_.text(at, budget);
      if (text.id == SpelledTexts::kNone) bytes = ByteSet::range(0x00, 0xFF);
      bytes |= bytes_of_text(closing_texts_.spelled().string(text.id));
      closing_bytes_.emplace(at.value, bytes);
      break;
    }
  }
  for (auto at = spine.rbegin(); at != spine.rend(); ++at) {
    if (pool.node(*at).kind == Kind::Concatenation) bytes |= closing_bytes(pool.node(*at).head(), budget);
    closing_bytes_.emplace(at->value, bytes);
  }
  return closing_bytes_.at(expression.value);
}

// Whether that text can be written whatever stands before it: it is not empty, it has no content of a control token,
// since it lacks a byte of each, and nothing that a normal form might change.  Where rules remember what was written it
// is not asked: their texts are long, and each state has another.
bool TextLiveness::closes_calmly(StateId state, Budget& budget) {
  if (!pattern_.operands().is_approximated(state) || pattern_.automaton().accepting(state) ||
      pattern_.automaton().arena().rule_sets().any_remembers())
    return false;
  if (!contents_) {
    contents_.emplace();
    for (const std::string_view text : control_contents(tokenization_))
      if (const ByteSet content = bytes_of_text(text); std::ranges::find(*contents_, content) == contents_->end())
        contents_->push_back(content);
  }
  const ByteSet& bytes = closing_bytes(pattern_.automaton().expression(state), budget);
  if (tokenization_.rules().has_normal_form() && !bytes.is_subset_of(ByteSet::range(0x00, 0x7F))) return false;
  return std::ranges::none_of(*contents_, [&](const ByteSet& content) { return content.is_subset_of(bytes); });
}

bool TextLiveness::is_unbound(StateId state, const TextState& text, Budget& budget) {
  if (is_free(state, text) && (rules_are_harmless() || closes_calmly(state, budget))) return true;
  return may_be_unbound(text) && is_calm(state);
}

bool TextLiveness::may_be_unbound(const TextState& text) const {
  return text.place == CodePoints::kBetween && text.open == AddedTokens::kNothing &&
         !tokenization_.rules().is_special(text) && tokenization_.rules().is_free(text.guess);
}

bool TextLiveness::takes_all(StateId state, const TextState& text) {
  return (may_be_unbound(text) && reads_calmly(state)) || (is_free(state, text) && rules_are_harmless());
}

// Whether some text is accepted from there, and nothing in any that is meets a mark or begins an added token.
bool TextLiveness::reads_calmly(StateId state) {
  if (state.value >= calm_.size())
    calm_.resize(std::max<std::size_t>(2 * calm_.size(), state.value + 64), Calm::Unknown);
  if (calm_[state.value] == Calm::Unknown) {
    ByteAutomaton& bytes = pattern_.automaton();
    const bool is_calm =
        !bytes.node(state).constrained &&
        bytes.arena().analyses().first_bytes_within(bytes.expression(state)).is_subset_of(tokenization_.rules().calm());
    calm_[state.value] = is_calm ? Calm::Yes : Calm::No;
  }
  return calm_[state.value] == Calm::Yes;
}

// A search among the pairs that it has met, each by its number.
class TextLiveness::Search {
 public:
  // `opens_dead`: also what is known to be dead, so that all that can be reached is met.
  Search(TextLiveness& liveness, const Pair& start, bool opens_dead, Budget& budget)
      : all_(liveness),
        bytes_(liveness.pattern_.automaton()),
        rules_(liveness.tokenization_.rules()),
        opens_dead_(opens_dead),
        budget_(budget),
        met_(liveness.scratch_.met),
        numbers_(liveness.scratch_.numbers),
        open_(liveness.scratch_.open),
        late_(liveness.scratch_.late) {
    met_.clear();
    numbers_.clear();
    open_.clear();
    late_.clear();
    offer(start, 0, 0, 0);
  }

  // Nothing where it takes a search that opens what is dead.
  std::optional<TokenCount> run() {
    constexpr std::size_t kTurn = 1024;
    for (std::size_t turn = 1; !open_.empty() || next_late_ < late_.size(); ++turn) {
      budget_.step();
      if (met_.size() > kMostMet && is_free_met_) return suppose();
      if (open_.empty() || (next_late_ < late_.size() && turn % kTurn == 0)) {
        const std::uint32_t here = late_[next_late_++];
        if (const TokenCount count = by_added(here); count != kDead) return found(here, count);
      } else {
        const auto [number, next] = open_.take().item;
        const TokenCount count = next == kWhole ? by_text(number) : by_bytes(number, next);
        if (count != kDead) return found(number, count);
      }
    }
    const std::size_t reached = met_.size() + below_dead_;
    const bool may_be_free = is_free_met_ || may_be_free_below_dead_;
    if (may_be_free && reached > kMostMet) return opens_dead_ ? suppose() : std::optional<TokenCount>();
    const auto capped = static_cast<std::uint32_t>(std::min<std::size_t>(reached, kMostMet + 1));
    for (const Met& dead : met_) all_.known_.emplace(dead.pair, Known{kDead, capped, may_be_free});
    return kDead;
  }

 private:
  // Whether the pair is new.  `by`: tokens from the pair before, at most; `so_far`: bytes and added tokens from the
  // start.
  bool offer(const Pair& pair, std::uint32_t from, TokenCount by, std::uint64_t so_far) {
    if (!numbers_.insert(pair)) return false;
    const auto number = static_cast<std::uint32_t>(met_.size());
    met_.push_back({pair, from, by, so_far});
    is_free_met_ = is_free_met_ || all_.is_free(pair.first, pair.second);
    open_.add({estimate(pair.first, so_far), met_.size(), {number, kWhole}});
    return true;
  }
  // Of rules it is known how long some text is, and not always how short one may be: that one is gone after.
  std::uint64_t estimate(StateId state, std::uint64_t so_far) const {
    const ExpressionNode& node = bytes_.node(state);
    return node.rules ? std::uint64_t{node.spelled} : so_far + node.shortest;
  }

  TokenCount suppose() {
    const Pair& start = met_.front().pair;
    const TokenCount count = all_.shortest_of(start.first);
    all_.known_.insert_or_assign(start, Known{count});
    return count;
  }

  // What is known at the end is known on the way to it.
  TokenCount found(std::uint32_t number, TokenCount count) {
    while (true) {
      const Met& at = met_[number];
      Known& known = all_.known_.try_emplace(at.pair, Known{count}).first->second;
      known.count = std::min(known.count, count);
      if (number == 0) return known.count;
      count = more(count, at.by);
      number = at.from;
    }
  }

  TokenCount by_added(std::uint32_t here) {
    const auto [state, text] = met_[here].pair;
    const std::uint64_t so_far = met_[here].so_far + 1;
    bool is_found = false;
    for (const AddedTransition& transition : all_.added_.of({state, false}, budget_))
      all_.added_.for_each_after(
          transition, rules_.ends_of(text), text.open,
          [&](AddedTokens::Open behind, std::span<const std::uint32_t> numbers) {
            is_found = is_found || (bytes_.accepting(transition.target) && all_.added_.may_end_after(transition));
            for (const std::uint16_t guess : all_.tokenization_.starts_after(numbers.front()))
              offer({transition.target, {.guess = guess, .open = behind}}, here, 1, so_far);
          });
    return is_found ? 1 : kDead;
  }

  TokenCount by_text(std::uint32_t here) {
    const Met at = met_[here];  // a copy: the list grows
    const auto& [state, text] = at.pair;
    if (const auto known = all_.known_.find(at.pair); known != all_.known_.end()) {
      const Known& about = known->second;
      if (about.count != kDead) return about.count;
      if (!opens_dead_) {
        below_dead_ += about.reached;
        may_be_free_below_dead_ = may_be_free_below_dead_ || about.may_be_free;
        return kDead;
      }
    }
    if (rules_.may_end(text) && bytes_.accepting(state)) return 0;
    if (rules_.ends_of(text) != 0 && !rules_.added().empty()) late_.push_back(here);
    if (all_.is_unbound(state, text, budget_)) return all_.shortest_of(state);
    if (text.place == CodePoints::kBetween) {
      for (const std::uint16_t guess : rules_.ends(text.guess)) {
        TextState after = text;
        after.guess = guess;
        offer({state, after}, here, 0, at.so_far);
      }
    }
    if (bytes_.node(state).rules) return by_likely_bytes(here);
    return by_bytes(here, 0);
  }

  // The bytes by which rules mostly end a part, or go on after one: where that brings the text nearer to its end, all
  // other bytes wait.  Each costs a derivative.
  TokenCount by_likely_bytes(std::uint32_t here) {
    const Met at = met_[here];
    const auto& [state, text] = at.pair;
    for (const char likely : bytes_.arena().rule_sets().ending_bytes()) {
      const auto byte = static_cast<std::uint8_t>(likely);
      TextState after = text;
      if (!rules_.read(after, byte)) continue;
      const StateId target = bytes_.next(state, byte, budget_);
      if (target == ByteAutomaton::kDead || bytes_.node(target).spelled >= bytes_.node(state).spelled) continue;
      if (bytes_.accepting(target) && rules_.may_end(after)) return 1;
      offer({target, after}, here, 1, at.so_far + 1);
      open_.add({estimate(state, at.so_far), 0, {here, 0}});
      return kDead;
    }
    return by_bytes(here, 0);
  }

  // One by one, since each costs a derivative: what a byte leads to has its turn before the next byte.  Those go first
  // after which nothing binds the text any more, and blanks last: pre-tokenizers bind what follows blanks.
  TokenCount by_bytes(std::uint32_t here, unsigned begin) {
    const Met at = met_[here];
    const auto& [state, text] = at.pair;
    const ByteSet readable = bytes_.may_read(state, budget_);
    for (unsigned turn = begin; turn < kTurns; ++turn) {
      const auto byte = static_cast<std::uint8_t>(turn + kFirstByte);
      if (!readable.contains(byte)) continue;
      TextState after = text;
      if (!rules_.read(after, byte) || all_.may_be_unbound(after) != (turn < 256)) continue;
      const StateId target = bytes_.next(state, byte, budget_);
      if (target == ByteAutomaton::kDead) continue;
      if (bytes_.accepting(target) && rules_.may_end(after)) return 1;
      if (all_.is_unbound(target, after, budget_)) return more(all_.shortest_of(target), 1);
      if (!offer({target, after}, here, 1, at.so_far + 1)) continue;
      open_.add({estimate(state, at.so_far), 0, {here, turn + 1}});
      break;
    }
    return kDead;
  }

  TextLiveness& all_;
  ByteAutomaton& bytes_;
  const TextRules& rules_;
  bool opens_dead_;
  Budget& budget_;
  counted::vector<Met>& met_;  // the start first
  Visited<Pair, PairHash>& numbers_;
  Open& open_;
  counted::vector<std::uint32_t>& late_;  // those that wait for added tokens
  std::size_t next_late_ = 0;
  bool is_free_met_ = false;
  std::size_t below_dead_ = 0;  // pairs, at most
  bool may_be_free_below_dead_ = false;
};

TokenCount TextLiveness::bound(StateId state, const TextState& text, Budget& budget) {
  const Pair start(state, text);
  if (const auto known = known_.find(start); known != known_.end()) return known->second.count;
  if (const std::optional<TokenCount> count = Search(*this, start, false, budget).run()) return *count;
  return *Search(*this, start, true, budget).run();
}

void TextLiveness::clear() {
  release(known_);
  release(calm_);
  release(closing_bytes_);
  closing_texts_.clear();
  added_.clear();
}

}  // namespace tokamata

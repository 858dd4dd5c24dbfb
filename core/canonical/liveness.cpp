#include "canonical/liveness.hpp"

#include <algorithm>

#include "common/bits.hpp"
#include "common/hash.hpp"
#include "common/memoized.hpp"

namespace tokamata {

std::size_t Liveness::NodeHash::operator()(const Node& node) const {
  std::uint64_t hash = TextLiveness::PairHash()({node.state, node.text});
  hash ^= ((std::uint64_t{node.last.value} << 32) | node.pieces.value) * 0x9E3779B97F4A7C15u;
  hash += static_cast<std::uint64_t>(node.edge);
  return static_cast<std::size_t>(mix(hash, hash >> 29));
}

TokenCount Liveness::bound(const Node& node, Budget& budget) {
  const TokenCount by_text = bound_by_text(node, budget);
  return by_text != kDead ? by_text : bound_by_token(node, budget);
}

// By a text alone: at a border, or after a token that stands apart.
TokenCount Liveness::bound_by_text(const Node& node, Budget& budget) {
  if (tokenization_.pieces().may_finish(node.pieces))
    if (const TokenCount count = bound_at_border(node.state, node.text, budget); count != kDead) return count;
  if (sees_edges(node.state)) return kDead;
  const bool is_apart = tokenization_.pieces().is_apart(node.pieces, node.last);
  return is_apart && node.text.place == CodePoints::kBetween ? text_.bound(node.state, node.text, budget) : kDead;
}

TokenCount Liveness::bound_at_border(StateId state, const TextState& text, Budget& budget) {
  if (text.place != CodePoints::kBetween) return kDead;
  return memoized(borders_, TextLiveness::Pair(state, text), [&] { return search_border(state, text, budget); });
}

TokenCount Liveness::search_border(StateId state, const TextState& text, Budget& budget) {
  const TextRules& rules = tokenization_.rules();
  const std::uint8_t text_ends = rules.ends_of(text);
  if ((text_ends & 1) != 0 && pattern_.automaton().accepting(state)) return 0;
  TokenCount least = kDead;
  for (const std::uint16_t guess : rules.ends(text.guess)) {
    TextState behind = text;
    behind.guess = guess;
    least = bound_after_border(state, behind, budget);
    if (least != kDead) break;
  }
  if (least == kDead) least = bound_before_parting(state, text, budget);
  if (least != kDead || text_ends == 0) return least;
  for (const AddedTransition& transition : text_.added().of({state, false}, budget))
    text_.added().for_each_after(transition, text_ends, text.open, [&](AddedTokens::Open behind, auto) {
      if (least == kDead)
        if (const TokenCount count = bound_after(transition, behind, budget); count != kDead) least = more(count, 1);
    });
  return least;
}

// No piece crosses the place before such a byte, so it is as good as a border.
TokenCount Liveness::bound_before_parting(StateId state, const TextState& text, Budget& budget) {
  if (sees_edges(state)) return kDead;
  const ByteSet parting = tokenization_.pieces().only_first() & pattern_.automaton().may_read(state, budget);
  for (unsigned byte = parting.next_member(0); byte < 256; byte = parting.next_member(byte + 1)) {
    TextState behind = text;
    if (!tokenization_.rules().read(behind, static_cast<std::uint8_t>(byte))) continue;
    const StateId target = pattern_.automaton().next(state, static_cast<std::uint8_t>(byte), budget);
    if (target == ByteAutomaton::kDead) continue;
    if (const TokenCount count = text_.bound(target, behind, budget); count != kDead) return more(count, 1);
  }
  return kDead;
}

TokenCount Liveness::bound_after_border(StateId state, const TextState& text, Budget& budget) {
  if (!sees_edges(state)) return text_.bound(state, text, budget);
  return bound_by_token({state, {}, Pieces::kSettled, text, Hypothesis::Edge::Border}, budget);
}

TokenCount Liveness::bound_after(const AddedTransition& transition, AddedTokens::Open open, Budget& budget) {
  if (pattern_.automaton().accepting(transition.target) && text_.added().may_end_after(transition)) return 0;
  TokenCount least = kDead;
  for (const std::uint16_t guess : tokenization_.starts_after(transition.numbers->front()))
    least = std::min(least, bound_after_border(transition.target, {.guess = guess, .open = open}, budget));
  return least;
}

TokenCount Liveness::by_witness(const Node& node) const {
  if (node.pieces != Pieces::kSettled || node.edge == Hypothesis::Edge::Border) return kDead;
  const auto known = witnesses_.find({node.state, node.text});
  if (known == witnesses_.end()) return kDead;
  for (const auto& [token, count] : known->second)
    if (tokenization_.pieces().leads_on(node.last, token)) return more(count, 1);
  return kDead;
}

// Best first: places down the trie, after each node that was reached.
class Liveness::Search {
 public:
  Search(Liveness& liveness, const Node& start, Budget& budget)
      : all_(liveness),
        bytes_(liveness.pattern_.automaton()),
        trie_(liveness.tokenization_.vocabulary().trie()),
        pieces_(liveness.tokenization_.pieces()),
        budget_(budget),
        nodes_(liveness.scratch_.nodes),
        met_(liveness.scratch_.met),
        open_(liveness.scratch_.open) {
    nodes_.clear();
    met_.clear();
    open_.clear();
    reach(start, 0, {});
  }

  TokenCount run() {
    while (!open_.empty()) {
      const Below entry = open_.take().item;
      budget_.step();
      if (entry.place == TokenTrie::root()) {
        if (const TokenCount count = known(entry.from); count != kDead) return found(entry.from, count);
        if (is_settled_) continue;
        if (all_.sees_edges(entry.state)) {
          if (const TokenCount count = try_added(entry.from); count != kDead) return found_last(count);
          if (!may_go_on(nodes_[entry.from].node)) continue;
        }
        if (nodes_[entry.from].node.text.place != CodePoints::kBetween) {
          if (const TokenCount count = try_listed(entry.from); count != kDead) return found_last(count);
          continue;
        }
      }
      const ByteSet readable = bytes_.may_read(entry.state, budget_);
      for (std::uint32_t child = trie_.children_begin(entry.place); child < trie_.children_end(entry.place); ++child) {
        if (!readable.contains(trie_.byte({child}))) continue;
        // What a guess refuses is no derivative.  A byte of the fallback is read by rules of its own, and is a whole
        // token.
        TextState text = entry.text;
        const bool is_read = all_.tokenization_.rules().read(text, trie_.byte({child}));
        if (!is_read && !(entry.place == TokenTrie::root() && has_byte_token({child}))) continue;
        const StateId state = bytes_.next(entry.state, trie_.byte({child}), budget_);
        if (state == ByteAutomaton::kDead) continue;
        if (const TokenCount count = try_tokens(entry.from, {child}, state); count != kDead) return found_last(count);
        if (is_read && trie_.children_begin({child}) != trie_.children_end({child}))
          push(entry.from, {child}, state, text);
      }
    }
    const TokenCount none = is_tied_ ? kUnsure : kDead;
    for (const Met& met : nodes_) all_.known_.emplace(met.node, none);
    return none;
  }

 private:
  bool has_byte_token(NodeId place) const {
    for (std::uint32_t i = trie_.node(place).tokens_begin; i < trie_.own_end(place); ++i)
      if (all_.tokenization_.is_byte_token({trie_.order()[i]})) return true;
    return false;
  }

  void push(std::uint32_t from, NodeId place, StateId state, const TextState& text) {
    // Borders first, of which there are few: they stand after nearly all tokens, and lead to all others.
    const bool is_border = nodes_[from].node.edge == Hypothesis::Edge::Border && place == TokenTrie::root();
    open_.add({more(bytes_.node(state).shortest, nodes_[from].tokens),
               order_++ | (is_border ? kFirst : 0),
               {from, place, state, text}});
  }

  void reach(const Node& node, std::uint32_t from, TokenId by) {
    if (!met_.insert(node)) return;
    nodes_.push_back({node, from, by, nodes_.empty() ? 0 : nodes_[from].tokens + 1});
    push(static_cast<std::uint32_t>(nodes_.size() - 1), TokenTrie::root(), node.state, node.text);
  }

  // What is known of a node that is to be opened; sets `is_settled_` where it need not be.
  TokenCount known(std::uint32_t number) {
    is_settled_ = false;
    if (number == 0) return kDead;  // the start, whose distance is being computed
    const Node& node = nodes_[number].node;
    if (const auto known = all_.known_.find(node); known != all_.known_.end()) {
      is_settled_ = true;
      is_tied_ |= known->second == kUnsure;
      return known->second == kUnsure ? kDead : known->second;
    }
    if (const Node same = all_.projected(node); !(same == node))
      if (const auto known = all_.known_.find(same); known != all_.known_.end() && known->second != kUnsure) {
        is_settled_ = true;
        return known->second;
      }
    is_settled_ = node.edge == Hypothesis::Edge::Inside && all_.is_dead_by_text(node, budget_);
    if (is_settled_) return kDead;
    const TokenCount count = all_.by_witness(node);
    if (count != kDead) all_.known_[node] = count;
    return count;
  }

  // The tokens that end at a place; the one that is found to live is the last node then.
  TokenCount try_tokens(std::uint32_t from, NodeId place, StateId state) {
    for (std::uint32_t i = trie_.node(place).tokens_begin; i < trie_.own_end(place); ++i)
      if (const TokenCount count = try_token(from, {trie_.order()[i]}, state); count != kDead) return count;
    return kDead;
  }

  // Within a code point few tokens may stand, and they are known.
  TokenCount try_listed(std::uint32_t from) {
    const Node before = nodes_[from].node;  // a copy: the list grows
    const LandingPtr landing = all_.tokenization_.landing(before.text.guess, before.text.place);
    for (const auto& [token, target] : landing->listed()) {
      const std::string_view bytes = all_.tokenization_.vocabulary().bytes({token});
      StateId state = before.state;
      for (std::size_t i = 0; i < bytes.size() && state != ByteAutomaton::kDead; ++i)
        state = bytes_.next(state, static_cast<std::uint8_t>(bytes[i]), budget_);
      if (state == ByteAutomaton::kDead) continue;
      if (const TokenCount count = try_token(from, {token}, state); count != kDead) return count;
    }
    return kDead;
  }

  TokenCount try_token(std::uint32_t from, TokenId token, StateId state) {
    const Node before = nodes_[from].node;
    if (!has_bit(all_.tokenization_.possible(), token.value)) return kDead;
    const std::optional<Pieces::State> after = before.edge == Hypothesis::Edge::Border
                                                   ? pieces_.begin(token)
                                                   : pieces_.follow(before.pieces, before.last, token);
    if (after == Pieces::kTied) is_tied_ = true;
    if (!after || after == Pieces::kTied) return kDead;
    TextState text = before.text;
    if (!all_.tokenization_.read(text, token)) return kDead;
    const StateId target = all_.pattern_.edge(state, budget_);
    if (!all_.pattern_.spellable(target, budget_)) return kDead;
    budget_.step();
    const Node reached{target, token, *after, text};
    if (all_.sees_edges(target)) {
      if (may_end(reached) && bytes_.accepting(target)) {
        nodes_.push_back({reached, from, token});
        return 0;
      }
      reach(reached, from, token);
      if (text.place == CodePoints::kBetween && pieces_.may_finish(*after))
        for (const std::uint16_t guess : all_.tokenization_.rules().ends(text.guess)) {
          text.guess = guess;
          reach({target, {}, Pieces::kSettled, text, Hypothesis::Edge::Border}, from, token);
        }
      return kDead;
    }
    if (const TokenCount count = all_.bound_by_text(reached, budget_); count != kDead) {
      nodes_.push_back({reached, from, token});
      return count;
    }
    if (pieces_.may_go_on(*after)) reach(reached, from, token);
    return kDead;
  }

  bool may_go_on(const Node& node) const {
    return node.edge == Hypothesis::Edge::Border || pieces_.may_go_on(node.pieces);
  }
  bool may_end(const Node& node) const { return (ends_of(node) & 1) != 0; }
  std::uint8_t ends_of(const Node& node) const {
    return all_.tokenization_.ends_of({node.text.guess, node.text.place, node.edge, node.pieces}, node.text.marks);
  }

  // The added tokens after a node that sees edges; one that is found to lead to an end is the last node then.
  TokenCount try_added(std::uint32_t from) {
    const Node before = nodes_[from].node;
    const std::uint8_t ends = ends_of(before);
    if (ends == 0) return kDead;
    TokenCount least = kDead;
    AddedTransitions& added = all_.text_.added();
    for (const AddedTransition& transition : added.of({before.state, false}, budget_))
      added.for_each_after(transition, ends, before.text.open,
                           [&](AddedTokens::Open open, std::span<const std::uint32_t> numbers) {
                             if (least != kDead) return;
                             const TokenId by{all_.tokenization_.added()[numbers.front()]};
                             least = try_after_added(from, by, transition, open);
                           });
    return least;
  }

  TokenCount try_after_added(std::uint32_t from, TokenId by, const AddedTransition& transition,
                             AddedTokens::Open open) {
    budget_.step();
    const bool is_last_edge = !all_.sees_edges(transition.target);
    const bool may_end = bytes_.accepting(transition.target) && all_.text_.added().may_end_after(transition);
    const TokenCount count = is_last_edge ? all_.bound_after(transition, open, budget_)
                             : may_end    ? TokenCount{0}
                                          : kDead;
    Node after{transition.target, {}, Pieces::kSettled, {.open = open}, Hypothesis::Edge::Border};
    if (count != kDead) {
      nodes_.push_back({after, from, by});
      return count;
    }
    if (is_last_edge) return kDead;
    for (const std::uint16_t guess : all_.tokenization_.starts_after(transition.numbers->front())) {
      after.text.guess = guess;
      reach(after, from, by);
    }
    return kDead;
  }

  TokenCount found_last(TokenCount count) { return found(static_cast<std::uint32_t>(nodes_.size() - 1), count); }

  // What is known at the end is known on the way to it.
  TokenCount found(std::uint32_t number, TokenCount count) {
    while (number != 0) {
      const Met& at = nodes_[number];
      const Node& before = nodes_[at.from].node;
      if (serves_others(before, at)) {
        Witnesses& known = all_.witnesses_[{before.state, before.text}];
        const bool is_new = std::ranges::find(known, at.by, &std::pair<TokenId, TokenCount>::first) == known.end();
        if (is_new && known.size() < kMostWitnesses) known.emplace_back(at.by, count);
      }
      count = more(count, 1);
      all_.known_[before] = count;
      number = at.from;
    }
    return count;
  }

  // Whether what a token leads to after a node is the same after each last token that it may follow.
  bool serves_others(const Node& before, const Met& at) const {
    return before.edge == Hypothesis::Edge::Inside && before.pieces == Pieces::kSettled &&
           !all_.tokenization_.added_number(at.by) &&
           (at.node.edge == Hypothesis::Edge::Border || at.node.pieces == Pieces::kSettled);
  }

  Liveness& all_;
  ByteAutomaton& bytes_;
  const TokenTrie& trie_;
  const Pieces& pieces_;
  Budget& budget_;
  counted::vector<Met>& nodes_;
  Visited<Node, NodeHash>& met_;
  Open& open_;
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 63;
  std::uint64_t order_ = 0;
  bool is_settled_ = false;
  bool is_tied_ = false;  // a token was left out, since it differs between the states that a node stands for
};

Liveness::Node Liveness::projected(const Node& node) const {
  Node same = node;
  if (node.edge == Hypothesis::Edge::Inside) same.pieces = tokenization_.pieces().projected(node.pieces, node.last);
  return same;
}

// Whether no text goes on from a node, whatever its pieces are.  Unigram has states of these without end, and a search
// that finds nothing would be through them all.
bool Liveness::is_dead_by_text(const Node& node, Budget& budget) {
  return tokenization_.pieces().ends_anywhere() && node.text.place == CodePoints::kBetween && !sees_edges(node.state) &&
         text_.bound(node.state, node.text, budget) == kDead;
}

TokenCount Liveness::bound_by_token(const Node& node, Budget& budget) {
  const bool is_inside = node.edge == Hypothesis::Edge::Inside;
  if (is_inside && !tokenization_.pieces().may_go_on(node.pieces)) return kDead;
  if (const auto known = known_.find(node); known != known_.end()) return known->second;
  if (is_inside && is_dead_by_text(node, budget)) return kDead;
  if (const Node same = projected(node); !(same == node)) {
    if (const TokenCount count = bound_by_token(same, budget); count != kUnsure) return count;
    Node relaxed = same;
    relaxed.pieces = tokenization_.pieces().relaxed(same.pieces, same.last);
    if (bound_by_token(relaxed, budget) == kDead) return kDead;
  }
  if (const TokenCount count = by_witness(node); count != kDead) return count;
  return Search(*this, node, budget).run();
}

void Liveness::clear() {
  text_.clear();
  release(borders_);
  release(known_);
  release(witnesses_);
}

}  // namespace tokamata

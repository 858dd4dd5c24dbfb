#include "matching/prepare.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <thread>
#include <unordered_set>

#include "common/hash.hpp"
#include "common/sort_unique.hpp"
#include "matching/work.hpp"

namespace tokamata {

class Preparer {
  static constexpr std::size_t kMostStates = 512, kMostTokens = 1 << 14;
  static constexpr std::size_t kFewTokens = 32;     // of a mask that are all followed
  static constexpr std::size_t kMostInside = 2;     // tokens that go on within terminals, from within one
  static constexpr std::size_t kMostStrings = 256;  // of a state
  static constexpr unsigned kNear = 3;              // expressions that the appearance of a state has

  using Configuration = TokenAutomaton::Configuration;

 public:
  explicit Preparer(Constraint& caller)
      : caller_(caller),
        constraint_(caller.states()),
        tokens_(constraint_.automaton_),
        automaton_(tokens_.automaton()),
        arena_(automaton_.arena()),
        follower_(*constraint_.follower_),
        queue_(constraint_.begin_history(follower_, follower_.start({}).canonical)) {}

  Preparation run(double seconds, const std::shared_ptr<const CancelToken>& cancel) {
    const auto begin = Budget::Clock::now();
    const auto spent = [begin] { return std::chrono::duration<double>(Budget::Clock::now() - begin).count(); };
    Limits limits = caller_.limits_;
    limits.seconds = std::min(limits.seconds, seconds);
    Preparation report;
    try {
      for (bool goes_on = true; goes_on;) {
        for (const CancelToken* token : {cancel.get(), caller_.cancel_.get()})
          if (token && token->cancelled()) throw Cancelled();
        if (spent() >= limits.seconds || !has_room()) break;
        double used = spent();
        goes_on = constraint_.work(limits, cancel ? cancel : caller_.cancel_, {}, used,
                                   [&](Budget& budget) { return expand(budget); });
        std::this_thread::yield();  // matchers may wait for the lock
      }
    } catch (const LimitExceeded&) {
      // The host has what was computed until then.
    }
    report.masks = expanded_;
    report.is_finished = is_finished_;
    report.seconds = spent();
    return report;
  }

 private:
  bool has_room() const { return constraint_.memory_bytes() < caller_.limits_.memory_bytes / 2; }

  // The next state; false where there is none, or where it was given up.
  bool expand(Budget& budget) {
    if (!has_begun_) collections_ = constraint_.collections_;
    has_begun_ = true;
    if (collections_ != constraint_.collections_) return false;
    if (next_ == queue_->size()) {
      is_finished_ = true;
      return false;
    }
    const Step step = (*queue_)[next_];
    const Place place = Place::after(step, 0, next_ == 0 && tokens_.has_start_rule());
    const MaskPtr mask = follower_.mask(place, kNoTokens, budget);
    ++next_;
    ++expanded_;
    inside_ = begins_with_terminal(place.at.state) ? kMostInside : kFewTokens;
    for (const TokenId token : representatives(place.at, *mask, budget)) {
      if (followed_ == kMostTokens || queue_->size() == kMostStates) break;
      ++followed_;
      follow(place, token, budget);
    }
    (*queue_)[next_ - 1].state = Step::kStopped;  // needed no more
    return true;
  }

  void follow(const Place& from, TokenId token, Budget& budget) {
    std::optional<Step> to = follower_.step(from, token, budget);
    if (!to || !reached_.insert({to->state, to->canonical}).second) return;
    const ExpressionNode &before = automaton_.node(from.at.state), &after = automaton_.node(to->state);
    if (after.commits || (before.waits && !after.waits && !after.nullable)) return;
    const bool is_inside = begins_with_terminal(to->state);
    if (inside_ == 0 && is_inside) return;
    if (!met_.insert(appearance(*to, budget)).second) return;
    inside_ -= is_inside;
    queue_->push_back(*std::move(to));
  }

  // Whether all that may come next is within terminals.
  bool begins_with_terminal(StateId state) const {
    const ExpressionId expression = automaton_.expression(state);
    return std::ranges::all_of(arena_.pool().alternatives(expression), [this](ExpressionId alternative) {
      return arena_.pool().node(arena_.pool().split(alternative).head).kind == Kind::Terminal;
    });
  }

  // Equal for states that look alike.
  std::uint64_t appearance(const Step& step, Budget& budget) {
    std::uint64_t hash = 0;
    for (const Hypothesis& h : step.canonical.hypotheses) hash = mix(mix(hash, h.guess), h.place);
    if (!tokens_.operands().is_approximated(step.state)) return mix(hash, automaton_.clipped(step.state, budget).value);
    std::uint64_t all = 0;
    for (const Approximation& approximation :
         arena_.fronts().approximations(automaton_.expression(step.state), budget)) {
      const ExpressionId expression = approximation.expression;
      for (const ExpressionId alternative : arena_.pool().alternatives(expression)) all += near(alternative);
    }
    return mix(hash, all);
  }

  std::uint64_t near(ExpressionId alternative) const {
    std::uint64_t hash = 1;
    for (unsigned depth = 0; depth < kNear && alternative != Pool::kEpsilon; ++depth) {
      const auto [head, tail] = arena_.pool().split(alternative);
      hash = mix(hash, head.value);
      alternative = tail;
    }
    return hash;
  }

  std::vector<TokenId> representatives(Configuration configuration, const Mask& mask, Budget& budget) {
    std::vector<TokenId> chosen;
    const Vocabulary& vocabulary = tokens_.vocabulary(configuration.at_start);
    const auto add = [&](std::uint32_t token) {
      if (!vocabulary.is_stop({token})) chosen.push_back({token});
    };
    if (mask.set_bits <= kFewTokens) {
      const Words row = mask.bits.row();
      for_each_bit(row, add);
      return chosen;
    }
    const TokenTrie& trie = vocabulary.trie();
    const auto add_longest = [&](std::string_view text) {
      std::optional<std::uint32_t> longest;
      NodeId node = TokenTrie::root();
      for (const char byte : text) {
        node = trie.child(node, static_cast<std::uint8_t>(byte));
        if (node == TokenTrie::root()) break;
        for (std::uint32_t own = trie.node(node).tokens_begin; own < trie.own_end(node); ++own)
          if (mask.bits.contains(trie.order()[own])) longest = trie.order()[own];
      }
      if (longest) add(*longest);
    };
    for (const std::uint8_t byte : automaton_.byte_classes())
      add_longest(std::string_view(reinterpret_cast<const char*>(&byte), 1));
    if (tokens_.operands().is_approximated(configuration.state))
      for_each_string(configuration.state, budget, add_longest);
    sort_unique(chosen);
    return chosen;
  }

  template <class Visit>
  void for_each_string(StateId state, Budget& budget, Visit&& visit) {
    for (const ExpressionId alternative : arena_.fronts().unfolded(automaton_.expression(state), budget)) {
      const ExpressionNode head = arena_.pool().node(arena_.pool().split(alternative).head);
      RememberingRules* const rules = head.kind == Kind::Rule ? arena_.rule_sets().of(head).remembering() : nullptr;
      if (!rules) continue;
      const auto strings = rules->strings(head.rule(), budget);
      for (const std::string_view string : strings.first(std::min(strings.size(), kMostStrings))) visit(string);
    }
  }

  const Constraint& caller_;
  SharedConstraint& constraint_;
  TokenAutomaton& tokens_;
  ByteAutomaton& automaton_;
  Arena& arena_;
  Follower& follower_;
  std::shared_ptr<History> queue_;  // the states to come, which a collection renumbers as those of a text
  std::size_t next_ = 0, expanded_ = 0, followed_ = 0;
  std::size_t inside_ = 0;  // so many more tokens are followed from here into terminals
  std::set<std::pair<StateId, CanonicalState>> reached_;
  std::unordered_set<std::uint64_t> met_;  // appearances
  std::uint64_t collections_ = 0;
  bool has_begun_ = false, is_finished_ = false;
};

Preparation prepare(Constraint& constraint, double seconds, const std::shared_ptr<const CancelToken>& cancel) {
  return Preparer(constraint).run(seconds, cancel);
}

}  // namespace tokamata

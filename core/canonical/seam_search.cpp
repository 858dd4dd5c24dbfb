#include "canonical/seam_search.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "canonical/edge_descents.hpp"
#include "common/best_first.hpp"
#include "common/byte_set.hpp"
#include "common/hash.hpp"
#include "common/sort_unique.hpp"

namespace tokamata {

namespace {

using State = EdgeAutomaton::State;

constexpr std::uint32_t kNoStep = ~std::uint32_t{0};
constexpr std::uint32_t kNothing = 256;  // read: no byte

// How a node was reached.
struct Step {
  std::uint32_t from = kNoStep;
  std::uint32_t by = kNothing;  // a byte, or kNothing + 1 + the number of an added token
  bool is_seam = false;         // a part begins
};

// Nodes in the order of the length of the text that leads to them.
template <class Node>
class Shortest {
 public:
  Shortest(const Tokenization& tokenization, std::size_t most_nodes, Budget& budget)
      : tokenization_(tokenization), most_nodes_(most_nodes), budget_(budget) {}

  void offer(const Node& node, Step step) {
    budget_.step();
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    if (!numbers_.emplace(node, number).second) return;
    if (nodes_.size() >= most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
    const std::uint32_t before = step.from == kNoStep ? 0 : lengths_[step.from];
    nodes_.push_back(node);
    steps_.push_back(step);
    lengths_.push_back(before + static_cast<std::uint32_t>(read_by(step).size()));
    open_.add({lengths_.back(), number});
  }
  // A number, which `node` takes.
  std::optional<std::uint32_t> take() {
    if (open_.empty()) return std::nullopt;
    return open_.take().second;
  }
  const Node& node(std::uint32_t number) const { return nodes_[number]; }
  // Whether a node was reached by a text that is as short.
  bool has_shorter(const Node& node, std::uint32_t number) const {
    const auto known = numbers_.find(node);
    return known != numbers_.end() && lengths_[known->second] <= lengths_[number];
  }
  // Whether the part has begun and nothing was read of it.
  bool is_fresh(std::uint32_t number) const { return steps_[number].is_seam || steps_[number].from == kNoStep; }

  SeamText text_of(std::uint32_t number) const {
    std::vector<std::uint32_t> path;
    for (; number != kNoStep; number = steps_[number].from) path.push_back(number);
    SeamText found;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      found.text += read_by(steps_[*at]);
      if (steps_[*at].is_seam) found.seams.push_back(static_cast<std::uint32_t>(found.text.size()));
    }
    return found;
  }

 private:
  struct Hash {
    std::size_t operator()(const Node& node) const { return node.hash(); }
  };

  std::string read_by(const Step& step) const {
    if (step.by < kNothing) return std::string(1, static_cast<char>(step.by));
    return step.by == kNothing ? std::string() : std::string(tokenization_.added_text(step.by - kNothing - 1));
  }

  const Tokenization& tokenization_;
  std::size_t most_nodes_;
  Budget& budget_;
  std::vector<Node> nodes_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> lengths_;
  std::unordered_map<Node, std::uint32_t, Hash> numbers_;
  Frontier<std::pair<std::uint32_t, std::uint32_t>> open_;  // length and number
};

// Added tokens within a part, with the states after them.
class AddedInParts {
 public:
  AddedInParts(const Tokenization& tokenization, const EdgeAutomaton& parts, Budget& budget)
      : parts_(parts), budget_(budget) {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < tokenization.added().size(); ++i) texts.push_back(text_of_added(tokenization, i));
    texts_ = TokenTrie(texts);
  }

  const std::vector<std::pair<std::uint32_t, State>>& after(State state) {
    const auto [known, is_new] = after_.try_emplace(state);
    if (is_new) {
      walk_tokens(budget_, texts_, TokenTrie::root(), parts_, state, kSkipNothing,
                  [&](std::uint32_t added, State target, bool) { known->second.emplace_back(added, target); });
      sort_unique(known->second);
    }
    return known->second;
  }

 private:
  const EdgeAutomaton& parts_;
  Budget& budget_;
  TokenTrie texts_;
  std::unordered_map<State, std::vector<std::pair<std::uint32_t, State>>> after_;
};

// ---- pre-tokens -----------------------------------------------------------------------------------

// Two hypotheses about pre-tokens, of the parts one by one and of the whole.
class BorderSearch {
 public:
  BorderSearch(const Tokenization& tokenization, const EdgeAutomaton& parts, Before before, std::size_t most_nodes,
               Budget& budget)
      : tokenization_(tokenization),
        rules_(tokenization.rules()),
        parts_(parts),
        before_(before),
        added_(tokenization, parts, budget),
        nodes_(tokenization, most_nodes, budget) {}

  void run(std::size_t most_texts, SeamTexts& texts) {
    for (const State state : parts_.starts())
      for (const std::uint16_t apart : rules_.starts_after(before_))
        for (const std::uint16_t whole : rules_.starts_after(before_))
          nodes_.offer({.state = state, .apart = apart, .whole = whole, .at_border = true}, {});
    while (const std::optional<std::uint32_t> number = nodes_.take()) {
      const Node node = nodes_.node(*number);  // a copy: the list grows
      if (parts_.is_accepting(node.state) && may_end_part(*number, node) && may_end(node, node.whole)) {
        if (node.is_different && texts.different.size() < most_texts)
          texts.different.push_back(nodes_.text_of(*number));
        if (node.is_joined && !texts.joined) texts.joined = nodes_.text_of(*number);
        if (texts.different.size() == most_texts && texts.joined) return;
      }
      end_pre_tokens(*number, node);
      begin_parts(*number, node);
      read_added(*number, node);
      read_bytes(*number, node);
    }
  }

 private:
  struct Node {
    State state;
    std::uint16_t apart, whole;  // guesses
    std::uint16_t place = CodePoints::kBetween;
    bool at_border = false;  // one of them has ended a pre-token here
    bool is_different = false, is_joined = false;
    bool may_join = false;  // a seam was passed where the whole has not ended its pre-token

    friend bool operator==(const Node&, const Node&) = default;
    std::size_t hash() const {
      const std::uint64_t flags =
          (at_border ? 1u : 0u) | (is_different ? 2u : 0u) | (is_joined ? 4u : 0u) | (may_join ? 8u : 0u);
      return static_cast<std::size_t>(mix((std::uint64_t{state} << 32) | (std::uint64_t{apart} << 16) | whole,
                                          (std::uint64_t{place} << 8) | flags | 0x9E37000000000000u));
    }
  };

  bool may_end(const Node& node, std::uint16_t guess) const {
    return node.place == CodePoints::kBetween && rules_.may_end(TextState{.guess = guess});
  }
  // A pre-token ends with its part; an empty part has none.
  bool may_end_part(std::uint32_t number, const Node& node) const {
    return may_end(node, node.apart) && (!node.at_border || nodes_.is_fresh(number));
  }

  void end_pre_tokens(std::uint32_t number, const Node& node) {
    if (node.at_border || node.place != CodePoints::kBetween) return;
    const auto offer = [&](std::uint16_t apart, std::uint16_t whole, bool is_different) {
      Node after = node;
      after.at_border = true;
      after.apart = apart;
      after.whole = whole;
      after.is_different = is_different;
      nodes_.offer(after, {.from = number});
    };
    for (const std::uint16_t apart : rules_.ends(node.apart)) {
      offer(apart, node.whole, true);
      for (const std::uint16_t whole : rules_.ends(node.whole)) offer(apart, whole, node.is_different);
    }
    for (const std::uint16_t whole : rules_.ends(node.whole)) offer(node.apart, whole, true);
  }

  void begin_parts(std::uint32_t number, const Node& node) {
    if (!may_end_part(number, node)) return;
    for (const State state : parts_.after_edge(node.state))
      for (const std::uint16_t apart : rules_.text_starts()) {
        Node after = node;
        after.state = state;
        after.apart = apart;
        after.at_border = true;
        after.may_join = node.may_join || !node.at_border;
        nodes_.offer(after, {.from = number, .is_seam = true});
        if (!after.may_join) continue;
        after.may_join = false;
        for (const std::uint16_t whole : rules_.ends(node.whole)) {
          after.whole = whole;
          nodes_.offer(after, {.from = number, .is_seam = true});
        }
      }
  }

  // An added token ends the pre-tokens of both.
  void read_added(std::uint32_t number, const Node& node) {
    if (!may_end(node, node.apart) || !may_end(node, node.whole)) return;
    if (!added_from_.emplace(node.state, node.is_different, node.is_joined).second) return;
    // Most of them leave the same; Gemma 3 has 6,000.
    std::set<std::pair<State, const std::uint16_t*>> known;
    for (const auto& [added, state] : added_.after(node.state)) {
      const auto starts = tokenization_.starts_after(added);
      if (!known.emplace(state, starts.data()).second) continue;
      for (const std::uint16_t apart : starts)
        for (const std::uint16_t whole : starts) {
          Node after = node;
          after.state = state;
          after.apart = apart;
          after.whole = whole;
          after.at_border = true;
          after.may_join = false;
          nodes_.offer(after, {.from = number, .by = kNothing + 1 + added});
        }
    }
  }

  // The least byte of each group that hypotheses and parts read alike in a place, in order.
  const std::vector<std::uint8_t>& bytes_in(std::uint16_t place) {
    const auto [known, is_new] = bytes_.try_emplace(place);
    if (!is_new) return known->second;
    std::set<std::tuple<bool, std::uint16_t, std::uint8_t>> groups;
    for (unsigned number = 0; number < 256; ++number) {
      const auto byte = static_cast<std::uint8_t>(number);
      const std::uint16_t reached = rules_.next_place(place, byte);
      if (reached == CodePoints::kDead) continue;
      const bool is_whole = (reached & CodePoints::kComplete) != 0;
      const std::uint16_t by =
          is_whole ? rules_.symbol_of(reached & static_cast<std::uint16_t>(~CodePoints::kComplete)) : reached;
      if (groups.emplace(is_whole, by, parts_.class_of(byte)).second) known->second.push_back(byte);
    }
    return known->second;
  }

  void read_bytes(std::uint32_t number, const Node& node) {
    Node last = node;
    last.state = kNoStep;
    for (const std::uint8_t byte : bytes_in(node.place)) {
      TextState apart{.guess = node.apart, .place = node.place}, whole{.guess = node.whole, .place = node.place};
      if (!rules_.read_guess(apart, byte) || !rules_.read_guess(whole, byte)) continue;
      Node after = node;
      after.at_border = after.may_join = false;
      after.is_joined = node.is_joined || node.may_join;
      after.apart = apart.guess;
      after.whole = whole.guess;
      after.place = apart.place;
      for (const State state : parts_.after_byte(node.state, byte)) {
        after.state = state;
        if (after == last) continue;  // as after most letters
        last = after;
        nodes_.offer(after, {.from = number, .by = byte});
      }
    }
  }

  const Tokenization& tokenization_;
  const TextRules& rules_;
  const EdgeAutomaton& parts_;
  Before before_;
  AddedInParts added_;
  std::unordered_map<std::uint16_t, std::vector<std::uint8_t>> bytes_;  // by place
  Shortest<Node> nodes_;
  std::set<std::tuple<State, bool, bool>> added_from_;
};

// ---- what a text binds ----------------------------------------------------------------------------

// The normal form and the matches of added tokens, of the parts one by one and of the whole.
class StabilitySearch {
 public:
  StabilitySearch(const Tokenization& tokenization, const EdgeAutomaton& parts, std::size_t most_nodes, Budget& budget)
      : rules_(tokenization.rules()),
        parts_(parts),
        added_(tokenization, parts, budget),
        nodes_(tokenization, most_nodes, budget),
        ahead_(find_ahead()) {}

  std::optional<SeamText> run() {
    for (const State state : parts_.starts()) offer({.state = state}, {});
    while (const std::optional<std::uint32_t> number = nodes_.take()) {
      const Node node = nodes_.node(*number);
      if (node.apart.place == CodePoints::kBetween && !rules_.owes(node.apart)) {
        if ((node.is_broken || rules_.owes(node.whole)) && parts_.is_accepting(node.state))
          return nodes_.text_of(*number);
        for (const State state : parts_.after_edge(node.state)) {
          Node after = node;
          after.state = state;
          after.apart = {};
          offer(after, {.from = *number, .is_seam = true});
        }
        read_added(*number, node);
      }
      const ByteSet bytes = bytes_after(*number, node);
      for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1)) {
        Node after = node;
        if (!rules_.read_form(after.apart, static_cast<std::uint8_t>(byte))) continue;
        after.is_broken = node.is_broken || !rules_.read_form(after.whole, static_cast<std::uint8_t>(byte));
        for (const State state : parts_.after_byte(node.state, static_cast<std::uint8_t>(byte))) {
          after.state = state;
          offer(after, {.from = *number, .by = byte});
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct Node {
    State state;
    TextState apart{}, whole{};  // without guesses
    bool is_broken = false;      // the whole is no text that the normalizer leaves as it is

    friend bool operator==(const Node&, const Node&) = default;
    std::size_t hash() const {
      const auto of_text = [](const TextState& text) {
        return (std::uint64_t{text.place} << 48) ^ (std::uint64_t{text.starter} << 32) ^
               (std::uint64_t{text.marks} << 24) ^ text.open.value;
      };
      return static_cast<std::size_t>(
          mix(mix(of_text(apart) + 1, (std::uint64_t{state} << 1) + (is_broken ? 1 : 0) + 0x9E37000000000000u),
              of_text(whole) + 0x79B97F4A7C15u));
    }
  };
  // What of the text before a seam matters after it.
  struct Ahead {
    bool has_text = false;  // a seam is ahead, after which something is read
    bool has_form = false;  // what is read first after it may be a mark, or compose
  };

  // Where no match is under way: the bytes with which one begins, and of the others the least of each group that the
  // normal form and the parts read alike.
  const ByteSet& bytes_in(std::uint16_t place) {
    const auto [known, is_new] = bytes_.try_emplace(place);
    if (!is_new) return known->second;
    std::set<std::tuple<bool, std::uint16_t, std::uint8_t>> groups;
    for (unsigned number = 0; number < 256; ++number) {
      const auto byte = static_cast<std::uint8_t>(number);
      const std::uint16_t reached = rules_.next_place(place, byte);
      if (reached == CodePoints::kDead) continue;
      const bool is_whole = (reached & CodePoints::kComplete) != 0;
      const std::uint16_t by = is_whole && !rules_.has_normal_form() ? 0 : reached;
      if (rules_.added().may_begin(byte) || groups.emplace(is_whole, by, parts_.class_of(byte)).second)
        known->second.add(byte);
    }
    return known->second;
  }

  // Other bytes than those with which a match goes on lead to what they lead to where none is under way.
  ByteSet bytes_after(std::uint32_t number, const Node& node) {
    constexpr ByteSet all = ByteSet::range(0x00, 0xFF);
    if (node.apart.open == AddedTokens::kNothing && node.whole.open == AddedTokens::kNothing)
      return bytes_in(node.apart.place);
    Node without = node;
    without.apart.open = without.whole.open = AddedTokens::kNothing;
    if (!nodes_.has_shorter(without, number)) return all;
    ByteSet bytes = rules_.added().continuing(node.apart.open);
    bytes |= rules_.added().continuing(node.whole.open);
    return bytes;
  }

  std::vector<Ahead> find_ahead() const {
    // By the state in which a part begins: an empty one leaves it to the next.
    std::vector<Ahead> first(parts_.count()), ahead(parts_.count());
    for (State state = 0; state < parts_.count(); ++state)
      for (unsigned byte = 0; byte < 256; ++byte)
        if (!parts_.after_byte(state, static_cast<std::uint8_t>(byte)).empty()) {
          first[state].has_text = true;
          first[state].has_form |= !rules_.steady().contains(static_cast<std::uint8_t>(byte));
        }
    // A part is mostly a literal text, whose states stand in its order: backwards, few rounds suffice.
    std::vector<std::vector<State>> after(parts_.count());
    for (State state = 0; state < parts_.count(); ++state) {
      for (unsigned byte = 0; byte < 256; ++byte)
        for (const State target : parts_.after_byte(state, static_cast<std::uint8_t>(byte)))
          if (after[state].empty() || after[state].back() != target) after[state].push_back(target);
      sort_unique(after[state]);
    }
    bool is_changed = true;
    const auto raise = [&](Ahead& own, const Ahead& by) {
      is_changed = is_changed || (by.has_text && !own.has_text) || (by.has_form && !own.has_form);
      own.has_text |= by.has_text;
      own.has_form |= by.has_form;
    };
    while (std::exchange(is_changed, false))
      for (State state = parts_.count(); state-- > 0;) {
        for (const State target : parts_.after_edge(state)) {
          raise(first[state], first[target]);
          raise(ahead[state], first[target]);
          raise(ahead[state], {ahead[target].has_text, false});  // there are more seams
        }
        for (const State target : after[state]) raise(ahead[state], ahead[target]);
      }
    return ahead;
  }

  // What does not matter any more is left out, so that fewer nodes differ.
  void offer(Node node, const Step& step) {
    const Ahead& ahead = ahead_[node.state];
    if (node.is_broken) {
      node.whole = {};
      node.apart = {.place = node.apart.place};
    } else if (node.apart == node.whole) {
      if (!ahead.has_text) node.apart.open = AddedTokens::kNothing;
      if (!ahead.has_form && !rules_.is_special(node.apart)) node.apart.starter = node.apart.marks = 0;
      node.whole = node.apart;
      if (!ahead.has_text) return;
    }
    nodes_.offer(node, step);
  }

  void read_added(std::uint32_t number, const Node& node) {
    const AddedTokens& tokens = rules_.added();
    const auto bound = [&](AddedTokens::Open open) { return tokens.binds_added(open) ? open : AddedTokens::kNothing; };
    const AddedTokens::Open before = bound(node.apart.open), whole_before = bound(node.whole.open);
    if (!added_from_.emplace(node.state, before, whole_before, node.is_broken).second) return;
    const auto apart = tokens.after_all(before), whole = tokens.after_all(whole_before);
    for (const auto& [added, state] : added_.after(node.state)) {
      Node after{.state = state, .is_broken = node.is_broken};
      after.apart.open = (*apart)[added];
      if (after.apart.open == AddedTokens::kDead) continue;
      if (!node.is_broken) {
        after.whole.open = (*whole)[added];
        after.is_broken = after.whole.open == AddedTokens::kDead;
      }
      offer(after, {.from = number, .by = kNothing + 1 + added});
    }
  }

  const TextRules& rules_;
  const EdgeAutomaton& parts_;
  AddedInParts added_;
  Shortest<Node> nodes_;
  std::vector<Ahead> ahead_;                          // by state
  std::unordered_map<std::uint16_t, ByteSet> bytes_;  // by place
  std::set<std::tuple<State, AddedTokens::Open, AddedTokens::Open, bool>> added_from_;
};

}  // namespace

SeamTexts texts_with_seams(const Tokenization& tokenization, const EdgeAutomaton& parts, Before before,
                           std::size_t most_texts, std::size_t most_nodes, Budget& budget) {
  SeamTexts texts;
  texts.unstable = StabilitySearch(tokenization, parts, most_nodes, budget).run();
  BorderSearch(tokenization, parts, before, most_nodes, budget).run(most_texts, texts);
  return texts;
}

}  // namespace tokamata

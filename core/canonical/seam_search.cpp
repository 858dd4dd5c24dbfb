#include "canonical/seam_search.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/best_first.hpp"
#include "common/hash.hpp"
#include "common/sort_unique.hpp"

namespace tokamata {

namespace {

using State = EdgeAutomaton::State;

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A search by the length of the text.
class Search {
 public:
  Search(const Tokenization& tokenization, const EdgeAutomaton& parts, Before before, std::size_t most_nodes,
         Budget& budget)
      : tokenization_(tokenization),
        rules_(tokenization.rules()),
        parts_(parts),
        before_(before),
        most_nodes_(most_nodes),
        budget_(budget) {}

  // The second hypothesis has pre-tokens of its own.
  void compare_borders(std::size_t most_texts, SeamTexts& texts) {
    clear();
    for (const State state : parts_.starts())
      for (const std::uint16_t apart : starts())
        for (const std::uint16_t whole : starts()) offer({.state = state, .apart = {.guess = apart}, .whole = {.guess = whole}, .at_border = true});
    while (const std::optional<std::uint32_t> number = take()) {
      const Node node = nodes_[*number];
      if (ends(node) && rules_.may_end(TextState{.guess = node.whole.guess})) {
        if (node.is_different && texts.different.size() < most_texts) texts.different.push_back(text_of(*number));
        if (node.is_joined && !texts.joined) texts.joined = text_of(*number);
        if (texts.different.size() == most_texts && texts.joined) return;
      }
      end_pre_tokens(*number, node);
      begin_parts(*number, node);
      if (rules_.may_end(TextState{.guess = node.whole.guess}))
        read_added(*number, node, [&](Node& after, std::uint32_t, std::uint16_t guess) { after.whole.guess = guess; });
      read(*number, node, [&](Node& after, std::uint8_t byte) {
        after.whole.place = node.apart.place;
        return rules_.read_guess(after.whole, byte);
      });
    }
  }

  // The second hypothesis differs by what the text before a seam binds.
  void compare_stability(SeamTexts& texts) {
    clear();
    for (const State state : parts_.starts())
      for (const std::uint16_t apart : starts()) offer({.state = state, .apart = {.guess = apart}, .at_border = true});
    while (const std::optional<std::uint32_t> number = take()) {
      const Node node = nodes_[*number];
      if (node.is_different && ends(node)) {
        texts.unstable = text_of(*number);
        return;
      }
      if (!node.at_border && node.apart.place == CodePoints::kBetween)
        for (const std::uint16_t guess : rules_.ends(node.apart.guess)) {
          Node after = next(*number, node);
          after.apart.guess = guess;
          after.at_border = true;
          offer(after);
        }
      if (may_end_part(node))
        for (const State state : parts_.after_edge(node.state))
          for (const std::uint16_t guess : rules_.text_starts()) {
            Node after = next(*number, node);
            after.state = state;
            after.apart = {.guess = guess};
            after.at_border = after.is_seam = true;
            offer(after);
          }
      read_added(*number, node, [&](Node& after, std::uint32_t added, std::uint16_t) {
        after.whole = {.open = rules_.added().after(node.whole.open, added)};
        after.is_different = node.is_different || after.whole.open == AddedTokens::kDead;
        if (after.is_different) after.whole = {};
      });
      read(*number, node, [&](Node& after, std::uint8_t byte) {
        after.whole.guess = node.apart.guess;
        after.whole.place = node.apart.place;
        after.is_different = node.is_different || !rules_.read(after.whole, byte);
        after.whole.guess = after.whole.place = 0;  // those of the first
        if (after.is_different) after.whole = {};
        return true;
      });
    }
  }

 private:
  struct Node {
    State state;
    TextState apart;        // of the parts one by one
    TextState whole{};      // of the whole
    bool at_border = false;
    bool is_different = false, is_joined = false;
    bool is_seam = false;   // a part begins
    std::uint32_t from = kNone;
    std::uint32_t by = kNothing;  // a byte, or kNothing + 1 + the number of an added token
    std::uint32_t cost = 0;
  };
  static constexpr std::uint32_t kNothing = 256;

  static bool is_same(const Node& one, const Node& other) {
    return one.state == other.state && one.apart == other.apart && one.whole == other.whole &&
           one.at_border == other.at_border && one.is_different == other.is_different &&
           one.is_joined == other.is_joined;
  }
  static std::size_t hash_of(const Node& node) {
    const auto of_text = [](const TextState& text) {
      return (std::uint64_t{text.guess} << 48) | (std::uint64_t{text.place} << 32) | (std::uint64_t{text.starter} << 16) |
             (std::uint64_t{text.marks} << 8);
    };
    const std::uint64_t flags = (node.at_border ? 1u : 0u) | (node.is_different ? 2u : 0u) | (node.is_joined ? 4u : 0u);
    return static_cast<std::size_t>(
        mix(mix(of_text(node.apart) ^ node.apart.open.value, node.state + 1u) ^ flags,
            of_text(node.whole) ^ node.whole.open.value ^ 0x9E3779B97F4A7C15u));
  }

  void clear() {
    nodes_.clear();
    numbers_.clear();
    open_.clear();
  }

  void offer(const Node& node) {
    budget_.step();
    auto& known = numbers_[hash_of(node)];
    if (std::ranges::any_of(known, [&](std::uint32_t number) { return is_same(nodes_[number], node); })) return;
    if (nodes_.size() >= most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    known.push_back(number);
    nodes_.push_back(node);
    open_.add({node.cost, number});
  }
  std::optional<std::uint32_t> take() {
    if (open_.empty()) return std::nullopt;
    return open_.take().second;
  }

  std::span<const std::uint16_t> starts() const {
    switch (before_) {
      case Before::AddedToken: return rules_.added_starts();
      case Before::ControlToken: return rules_.control_starts();
      case Before::Nothing: break;
    }
    return rules_.text_starts();
  }
  // A pre-token ends with its text, and so with its part; an empty part has none.
  bool may_end_part(const Node& node) const { return rules_.may_end(node.apart) && (!node.at_border || is_fresh(node)); }
  bool ends(const Node& node) const { return parts_.is_accepting(node.state) && may_end_part(node); }
  // Whether the part has begun and nothing was read of it.
  bool is_fresh(const Node& node) const { return node.is_seam || node.from == kNone; }

  static Node next(std::uint32_t number, const Node& node) {
    Node after = node;
    after.from = number;
    after.by = kNothing;
    after.is_seam = false;
    return after;
  }

  void end_pre_tokens(std::uint32_t number, const Node& node) {
    if (node.at_border || node.apart.place != CodePoints::kBetween) return;
    Node after = next(number, node);
    after.at_border = true;
    const auto end_whole = [&](bool is_different) {
      for (const std::uint16_t whole : rules_.ends(node.whole.guess)) {
        after.whole.guess = whole;
        after.is_different = is_different;
        offer(after);
      }
      after.whole.guess = node.whole.guess;
    };
    for (const std::uint16_t apart : rules_.ends(node.apart.guess)) {
      after.apart.guess = apart;
      after.is_different = true;
      offer(after);
      end_whole(node.is_different);
    }
    after.apart.guess = node.apart.guess;
    end_whole(true);
  }

  void begin_parts(std::uint32_t number, const Node& node) {
    if (!may_end_part(node)) return;
    for (const State state : parts_.after_edge(node.state))
      for (const std::uint16_t apart : rules_.text_starts()) {
        Node after = next(number, node);
        after.state = state;
        after.apart = {.guess = apart};
        after.at_border = after.is_seam = true;
        if (is_fresh(node)) {  // the part is empty
          offer(after);
          continue;
        }
        after.is_joined = true;
        offer(after);
        after.is_joined = node.is_joined;
        for (const std::uint16_t whole : rules_.ends(node.whole.guess)) {
          after.whole.guess = whole;
          offer(after);
        }
      }
  }

  // An added token within a part ends both; `follow(after, added, guess)` says what the whole becomes.
  template <class Follow>
  void read_added(std::uint32_t number, const Node& node, Follow&& follow) {
    if (!may_end_part(node) && !(node.at_border && rules_.may_end(node.apart))) return;
    for (std::uint32_t i = 0; i < rules_.added().count(); ++i) {
      const AddedTokens::Open open = rules_.added().after(node.apart.open, i);
      if (open == AddedTokens::kDead) continue;
      const std::string& content = rules_.added().content(i);
      for (const State state : after_content(node.state, content))
        for (const std::uint16_t apart : tokenization_.starts_after(i))
          for (const std::uint16_t whole : tokenization_.starts_after(i)) {
            Node after = next(number, node);
            after.state = state;
            after.apart = {.guess = apart, .open = open};
            after.at_border = true;
            after.by = kNothing + 1 + i;
            after.cost += static_cast<std::uint32_t>(content.size());
            follow(after, i, whole);
            offer(after);
          }
    }
  }

  std::vector<State> after_content(State from, std::string_view content) const {
    std::vector<State> states{from};
    for (const char byte : content) {
      std::vector<State> after;
      for (const State state : states)
        for (const State target : parts_.after_byte(state, static_cast<std::uint8_t>(byte))) after.push_back(target);
      sort_unique(after);
      states = std::move(after);
    }
    return states;
  }

  template <class ReadWhole>
  void read(std::uint32_t number, const Node& node, ReadWhole&& read_whole) {
    Node last;
    last.state = kNone;
    for (unsigned byte = 0; byte < 256; ++byte) {
      Node after = next(number, node);
      after.at_border = false;
      after.by = byte;
      ++after.cost;
      if (!rules_.read(after.apart, static_cast<std::uint8_t>(byte)) ||
          !read_whole(after, static_cast<std::uint8_t>(byte)))
        continue;
      for (const State state : parts_.after_byte(node.state, static_cast<std::uint8_t>(byte))) {
        after.state = state;
        if (is_same(after, last)) continue;  // as after most letters
        last = after;
        offer(after);
      }
    }
  }

  SeamText text_of(std::uint32_t number) const {
    std::vector<std::uint32_t> path;
    for (; number != kNone; number = nodes_[number].from) path.push_back(number);
    SeamText found;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      const Node& node = nodes_[*at];
      if (node.by < kNothing) found.text.push_back(static_cast<char>(node.by));
      else if (node.by > kNothing) found.text += rules_.added().content(node.by - kNothing - 1);
      if (node.is_seam) found.seams.push_back(static_cast<std::uint32_t>(found.text.size()));
    }
    return found;
  }

  const Tokenization& tokenization_;
  const TextRules& rules_;
  const EdgeAutomaton& parts_;
  Before before_;
  std::size_t most_nodes_;
  Budget& budget_;
  std::vector<Node> nodes_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> numbers_;
  Frontier<std::pair<std::uint32_t, std::uint32_t>> open_;  // cost and number
};

}  // namespace

SeamTexts texts_with_seams(const Tokenization& tokenization, const EdgeAutomaton& parts, Before before,
                           std::size_t most_texts, std::size_t most_nodes, Budget& budget) {
  SeamTexts texts;
  Search search(tokenization, parts, before, most_nodes, budget);
  search.compare_stability(texts);
  search.compare_borders(most_texts, texts);
  return texts;
}

}  // namespace tokamata

// A slow engine that is obviously right, to compare the core with.  It shares no code with it.
//
// Pattern.   A plain tree; a Thompson automaton with every count unrolled; simulation of the set
//            of its states.  A class of code points is one edge: while its bytes are being read,
//            the bytes so far are kept and say which code points they can still become.
// Tokens.    Every token is tried from every state that tokens reach; a state is live if it
//            accepts or if some token leads to a live one (a least fixpoint).
// Example.   a(b|é)  reads  61, then C3 with the partial code point "C3" kept, then A9: accepted.
// Cost.      Whatever it takes; `TooLarge` where that is too much.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace oracle {

// ---- patterns ---------------------------------------------------------------------------------

struct Tree;
using TreePtr = std::shared_ptr<const Tree>;
using Range = std::pair<std::uint32_t, std::uint32_t>;  // of code points, inclusive
inline constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

struct Tree {
  enum class Op { Empty, Literal, Class, Concatenation, Union, Repetition };
  Op op;
  std::string bytes;          // Literal
  std::vector<Range> ranges;  // Class
  std::vector<TreePtr> items;  // Concatenation, Union; the body of a Repetition
  std::uint64_t minimum = 0, maximum = 0;
};

inline TreePtr nothing() { return std::make_shared<Tree>(Tree{Tree::Op::Empty, {}, {}, {}}); }
inline TreePtr text(std::string bytes) { return std::make_shared<Tree>(Tree{Tree::Op::Literal, std::move(bytes), {}, {}}); }
inline TreePtr one_of(std::vector<Range> ranges) {
  return std::make_shared<Tree>(Tree{Tree::Op::Class, {}, std::move(ranges), {}});
}
inline TreePtr any() { return one_of({{0, 0x10FFFF}}); }
inline TreePtr sequence(std::vector<TreePtr> items) {
  return std::make_shared<Tree>(Tree{Tree::Op::Concatenation, {}, {}, std::move(items)});
}
inline TreePtr choice(std::vector<TreePtr> items) {
  return std::make_shared<Tree>(Tree{Tree::Op::Union, {}, {}, std::move(items)});
}
inline TreePtr repeat(TreePtr body, std::uint64_t minimum, std::uint64_t maximum) {
  return std::make_shared<Tree>(Tree{Tree::Op::Repetition, {}, {}, {std::move(body)}, minimum, maximum});
}
inline TreePtr star(TreePtr body) { return repeat(std::move(body), 0, kUnbounded); }
inline TreePtr optional(TreePtr body) { return repeat(std::move(body), 0, 1); }

inline std::string escaped(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string shown;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x21 && value < 0x7F && value != '\\')
      shown.push_back(byte);
    else
      shown += std::string("\\x") + digits[value >> 4] + digits[value & 15];
  }
  return shown;
}

inline std::string shown(const TreePtr& tree) {
  std::string result;
  switch (tree->op) {
    case Tree::Op::Empty: return "∅";
    case Tree::Op::Literal: return tree->bytes.empty() ? "ε" : escaped(tree->bytes);
    case Tree::Op::Class:
      for (const auto& [low, high] : tree->ranges) result += " " + std::to_string(low) + "-" + std::to_string(high);
      return "[" + (result.empty() ? result : result.substr(1)) + "]";
    case Tree::Op::Concatenation:
      for (const TreePtr& item : tree->items) result += shown(item);
      return "(" + result + ")";
    case Tree::Op::Union:
      for (const TreePtr& item : tree->items) result += (result.empty() ? "" : "|") + shown(item);
      return "(" + result + ")";
    case Tree::Op::Repetition:
      return "(" + shown(tree->items[0]) + "){" + std::to_string(tree->minimum) + "," +
             (tree->maximum == kUnbounded ? "" : std::to_string(tree->maximum)) + "}";
  }
  return result;
}

struct TooLarge : std::runtime_error {
  TooLarge() : std::runtime_error("too large for the oracle") {}
};

// ---- code points ------------------------------------------------------------------------------

// The code points whose encoding begins with these bytes, as an interval that may hold surrogates;
// nothing where no encoding does.
inline std::optional<Range> code_points_with_prefix(const std::string& bytes) {
  const auto lead = static_cast<unsigned char>(bytes.at(0));
  std::size_t length;
  std::uint32_t value, least;
  if (lead < 0x80)
    length = 1, value = lead, least = 0;
  else if (lead >= 0xC0 && lead < 0xE0)
    length = 2, value = lead & 0x1Fu, least = 0x80;
  else if (lead >= 0xE0 && lead < 0xF0)
    length = 3, value = lead & 0x0Fu, least = 0x800;
  else if (lead >= 0xF0 && lead < 0xF8)
    length = 4, value = lead & 0x07u, least = 0x10000;
  else
    return std::nullopt;
  if (bytes.size() > length) return std::nullopt;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte & 0x3Fu);
  }
  const unsigned shift = static_cast<unsigned>(6 * (length - bytes.size()));
  const std::uint32_t low = std::max(value << shift, least);
  const std::uint32_t high = std::min((value << shift) + ((1u << shift) - 1), 0x10FFFFu);
  if (low > high) return std::nullopt;
  return Range{low, high};
}

inline bool is_whole_code_point(const std::string& bytes) {
  const auto lead = static_cast<unsigned char>(bytes.at(0));
  return bytes.size() == (lead < 0x80 ? 1u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : 4u);
}

// Whether a code point that is no surrogate lies in both.
inline bool meets(const std::vector<Range>& ranges, const Range& other) {
  for (const auto& [low, high] : ranges) {
    const std::uint32_t from = std::max(low, other.first), to = std::min(high, other.second);
    if (from <= to && (from < 0xD800 || to > 0xDFFF)) return true;
  }
  return false;
}

inline std::string encoded(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), byte(0x80 | (code_point & 0x3F))};
  if (code_point < 0x10000)
    return {byte(0xE0 | (code_point >> 12)), byte(0x80 | ((code_point >> 6) & 0x3F)), byte(0x80 | (code_point & 0x3F))};
  return {byte(0xF0 | (code_point >> 18)), byte(0x80 | ((code_point >> 12) & 0x3F)),
          byte(0x80 | ((code_point >> 6) & 0x3F)), byte(0x80 | (code_point & 0x3F))};
}

// ---- the language of a pattern ----------------------------------------------------------------

// Deterministic states are numbers; `kDead` is the one from which nothing is accepted.
class Language {
 public:
  static constexpr int kDead = -1;

  explicit Language(const TreePtr& tree, std::size_t largest = 3000) : largest_(largest) {
    const int first = add_state();
    accept_ = build(*tree, first);
    find_live_states();
    std::set<Element> subset;
    enter(first, subset);
    start_ = number(subset);
  }

  int start() const { return start_; }
  bool accepts(int state) const { return accepting_[static_cast<std::size_t>(state)]; }
  int next(int state, unsigned char byte) {
    if (state == kDead) return kDead;
    int known = rows_[static_cast<std::size_t>(state)][byte];
    if (known == kUnknown) {
      known = make_next(subsets_[static_cast<std::size_t>(state)], byte);
      rows_[static_cast<std::size_t>(state)][byte] = known;
    }
    return known;
  }
  int read(int state, const std::string& bytes) {
    for (const char byte : bytes) state = next(state, static_cast<unsigned char>(byte));
    return state;
  }
  bool matches(const std::string& bytes) {
    const int state = read(start_, bytes);
    return state != kDead && accepts(state);
  }

 private:
  static constexpr int kUnknown = -2;
  struct Edge {
    bool is_class;
    unsigned char byte;
    std::vector<Range> ranges;
    int target;
  };
  struct Node {
    std::vector<int> epsilon;
    std::vector<Edge> edges;
  };
  // A state, or inside the class that is an edge of it (then `edge` is its index).
  struct Element {
    int state;
    int edge;
    std::string partial;
    friend bool operator==(const Element&, const Element&) = default;
    friend auto operator<=>(const Element&, const Element&) = default;
  };

  int add_state() {
    if (nodes_.size() >= 4 * largest_) throw TooLarge();
    nodes_.emplace_back();
    return static_cast<int>(nodes_.size()) - 1;
  }
  Node& node(int state) { return nodes_[static_cast<std::size_t>(state)]; }

  // Adds the automaton of the tree behind `from`; returns its last state.
  int build(const Tree& tree, int from) {
    switch (tree.op) {
      case Tree::Op::Empty:
        return add_state();  // that nothing leads to
      case Tree::Op::Literal:
        for (const char byte : tree.bytes) {
          const int target = add_state();
          node(from).edges.push_back({false, static_cast<unsigned char>(byte), {}, target});
          from = target;
        }
        return from;
      case Tree::Op::Class: {
        const int target = add_state();
        node(from).edges.push_back({true, 0, tree.ranges, target});
        return target;
      }
      case Tree::Op::Concatenation:
        for (const TreePtr& item : tree.items) from = build(*item, from);
        return from;
      case Tree::Op::Union: {
        const int last = add_state();
        for (const TreePtr& item : tree.items) {
          const int first = add_state();
          node(from).epsilon.push_back(first);
          const int end = build(*item, first);
          node(end).epsilon.push_back(last);
        }
        return last;
      }
      case Tree::Op::Repetition: {
        const Tree& body = *tree.items[0];
        for (std::uint64_t i = 0; i < tree.minimum; ++i) from = build(body, from);
        const int last = add_state();
        if (tree.maximum == kUnbounded) {
          const int hub = add_state();
          node(from).epsilon.push_back(hub);
          const int first = add_state();
          node(hub).epsilon.push_back(first);
          const int end = build(body, first);
          node(end).epsilon.push_back(hub);
          node(hub).epsilon.push_back(last);
          return last;
        }
        for (std::uint64_t i = tree.minimum; i < tree.maximum; ++i) {
          node(from).epsilon.push_back(last);
          const int first = add_state();
          node(from).epsilon.push_back(first);
          from = build(body, first);
        }
        node(from).epsilon.push_back(last);
        return last;
      }
    }
    return from;
  }

  // States from which the accepting one can be reached.
  void find_live_states() {
    std::vector<std::vector<int>> into(nodes_.size());
    for (std::size_t state = 0; state < nodes_.size(); ++state) {
      for (int target : nodes_[state].epsilon) into[static_cast<std::size_t>(target)].push_back(static_cast<int>(state));
      for (const Edge& edge : nodes_[state].edges)
        if (!edge.is_class || meets(edge.ranges, {0, 0x10FFFF}))
          into[static_cast<std::size_t>(edge.target)].push_back(static_cast<int>(state));
    }
    live_.assign(nodes_.size(), false);
    std::vector<int> open{accept_};
    while (!open.empty()) {
      const auto state = static_cast<std::size_t>(open.back());
      open.pop_back();
      if (live_[state]) continue;
      live_[state] = true;
      open.insert(open.end(), into[state].begin(), into[state].end());
    }
  }

  void enter(int first, std::set<Element>& subset) {
    std::vector<int> open{first};
    while (!open.empty()) {
      const int state = open.back();
      open.pop_back();
      if (!live_[static_cast<std::size_t>(state)] || !subset.insert({state, -1, ""}).second) continue;
      for (int target : node(state).epsilon) open.push_back(target);
    }
  }

  int make_next(const std::set<Element>& subset, unsigned char byte) {
    std::set<Element> reached;
    for (const Element& element : subset) {
      const std::vector<Edge>& edges = node(element.state).edges;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (element.edge >= 0 && static_cast<int>(i) != element.edge) continue;
        const Edge& edge = edges[i];
        if (!live_[static_cast<std::size_t>(edge.target)]) continue;
        if (!edge.is_class) {
          if (edge.byte == byte) enter(edge.target, reached);
          continue;
        }
        const std::string partial = element.partial + static_cast<char>(byte);
        const std::optional<Range> possible = code_points_with_prefix(partial);
        if (!possible || !meets(edge.ranges, *possible)) continue;
        if (is_whole_code_point(partial))
          enter(edge.target, reached);
        else
          reached.insert({element.state, static_cast<int>(i), partial});
      }
    }
    return number(reached);
  }

  int number(const std::set<Element>& subset) {
    if (subset.empty()) return kDead;
    const auto [place, is_new] = index_.try_emplace(subset, static_cast<int>(subsets_.size()));
    if (is_new) {
      if (subsets_.size() >= largest_) throw TooLarge();
      subsets_.push_back(subset);
      accepting_.push_back(subset.contains({accept_, -1, ""}));
      rows_.emplace_back().fill(kUnknown);
    }
    return place->second;
  }

  std::size_t largest_;
  std::vector<Node> nodes_;
  int accept_ = 0;
  std::vector<bool> live_;
  std::deque<std::set<Element>> subsets_;  // they stay where they are while more are found
  std::map<std::set<Element>, int> index_;
  std::vector<bool> accepting_;
  std::vector<std::array<int, 256>> rows_;
  int start_ = kDead;
};

// ---- tokens -----------------------------------------------------------------------------------

struct Tokens {
  std::vector<std::optional<std::string>> bytes;
  std::vector<std::uint32_t> stop;
  std::uint32_t width = 0;
  // What the tokens are as the first of a text, where that differs.
  std::optional<std::vector<std::optional<std::string>>> at_start;

  bool is_stop(std::uint32_t id) const { return std::ranges::find(stop, id) != stop.end(); }
};

inline std::string shown(const Tokens& tokens) {
  const auto list = [](const auto& all) {
    std::string result;
    for (const auto& token : all) result += " " + (token ? "'" + escaped(*token) + "'" : std::string("None"));
    return result;
  };
  std::string result = "tokens" + list(tokens.bytes) + "; stop";
  for (std::uint32_t id : tokens.stop) result += " " + std::to_string(id);
  result += "; width " + std::to_string(tokens.width);
  if (tokens.at_start) result += "; at start" + list(*tokens.at_start);
  return result;
}

// The pattern over tokens.  Nodes are numbers; node 0 is the empty text.
class TokenGraph {
 public:
  TokenGraph(Language& language, const Tokens& tokens, std::size_t largest = 3000)
      : language_(language), tokens_(tokens), largest_(largest) {
    if (language.start() == Language::kDead) return;
    node_of(language.start(), tokens.at_start.has_value());
    for (std::size_t i = 0; i < nodes_.size(); ++i) explore(i);
    find_live_nodes();
  }

  bool is_empty() const { return nodes_.empty(); }  // the pattern matches nothing
  bool lives(int node) const { return at(node).live; }
  bool accepts(int node) const { return language_.accepts(at(node).state); }
  int state(int node) const { return at(node).state; }
  bool at_start(int node) const { return at(node).at_start; }
  std::size_t size() const { return nodes_.size(); }

  // Where a text token leads, if it is allowed.
  std::optional<int> step(int node, std::uint32_t token) const {
    if (token >= at(node).targets.size()) return std::nullopt;
    const int target = at(node).targets[token];
    return target >= 0 && lives(target) ? std::optional(target) : std::nullopt;
  }
  bool has_text_tokens(int node) const {
    for (std::uint32_t id = 0; id < at(node).targets.size(); ++id)
      if (step(node, id)) return true;
    return false;
  }
  std::vector<bool> mask(int node) const {
    std::vector<bool> bits(tokens_.width, false);
    for (std::uint32_t id = 0; id < tokens_.bytes.size(); ++id) bits[id] = step(node, id).has_value();
    if (accepts(node))
      for (std::uint32_t id : tokens_.stop) bits[id] = true;
    return bits;
  }

  // The longest common prefix of all continuations: take one of them, and shorten it by every
  // other.
  std::string forced_text(int node) const {
    const std::string one = some_continuation(node);
    std::map<std::pair<int, std::size_t>, std::size_t> memo;
    return one.substr(0, agreement(node, 0, one, memo));
  }

  // Where the text may end nothing is forced, also in a vocabulary without stop tokens.
  std::vector<std::uint32_t> forced_tokens(int node) const {
    std::vector<std::uint32_t> forced;
    while (true) {
      const std::vector<bool> bits = mask(node);
      if (accepts(node) || std::count(bits.begin(), bits.end(), true) != 1) return forced;
      const auto only = static_cast<std::uint32_t>(std::find(bits.begin(), bits.end(), true) - bits.begin());
      forced.push_back(only);
      node = *step(node, only);
    }
  }

  const std::optional<std::string>& bytes(int node, std::uint32_t id) const {
    return at(node).at_start ? (*tokens_.at_start)[id] : tokens_.bytes[id];
  }
  Language& language() const { return language_; }

 private:
  struct Node {
    int state;
    bool at_start;
    bool live;
    std::vector<int> targets;  // by token
  };
  const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

  int node_of(int state, bool at_start) {
    const auto [place, is_new] = index_.try_emplace({state, at_start}, static_cast<int>(nodes_.size()));
    if (is_new) {
      if (nodes_.size() >= largest_) throw TooLarge();
      nodes_.push_back({state, at_start, false, {}});
    }
    return place->second;
  }

  void explore(std::size_t i) {
    std::vector<int> targets;
    const auto& all = nodes_[i].at_start ? *tokens_.at_start : tokens_.bytes;
    for (std::uint32_t id = 0; id < all.size(); ++id) {
      int target = Language::kDead;
      if (all[id] && !all[id]->empty() && !tokens_.is_stop(id)) target = language_.read(nodes_[i].state, *all[id]);
      targets.push_back(target == Language::kDead ? -1 : node_of(target, false));
    }
    nodes_[i].targets = std::move(targets);
  }

  void find_live_nodes() {
    for (Node& node : nodes_) node.live = language_.accepts(node.state);
    for (bool changed = true; changed;) {
      changed = false;
      for (Node& node : nodes_)
        for (int target : node.targets)
          if (!node.live && target >= 0 && at(target).live) node.live = changed = true;
    }
  }

  std::string some_continuation(int node) const {
    std::map<int, std::string> text{{node, ""}};
    std::deque<int> open{node};
    while (true) {
      const int current = open.front();
      open.pop_front();
      if (accepts(current)) return text[current];
      for (std::uint32_t id = 0; id < at(current).targets.size(); ++id)
        if (const auto target = step(current, id); target && !text.contains(*target)) {
          text[*target] = text[current] + *bytes(current, id);
          open.push_back(*target);
        }
    }
  }

  // How many bytes of `one` all continuations agree on that stand at `node` after `offset` of them.
  std::size_t agreement(int node, std::size_t offset, const std::string& one,
                        std::map<std::pair<int, std::size_t>, std::size_t>& memo) const {
    if (accepts(node) || offset == one.size()) return offset;
    if (const auto known = memo.find({node, offset}); known != memo.end()) return known->second;
    std::size_t least = one.size();
    for (std::uint32_t id = 0; id < at(node).targets.size(); ++id) {
      const auto target = step(node, id);
      if (!target) continue;
      const std::string& token = *bytes(node, id);
      std::size_t same = 0;
      while (same < token.size() && offset + same < one.size() && token[same] == one[offset + same]) ++same;
      if (same == token.size()) same = agreement(*target, offset + same, one, memo) - offset;
      least = std::min(least, offset + same);
    }
    return memo[{node, offset}] = least;
  }

  Language& language_;
  const Tokens& tokens_;
  std::size_t largest_;
  std::vector<Node> nodes_;
  std::map<std::pair<int, bool>, int> index_;
};

}  // namespace oracle

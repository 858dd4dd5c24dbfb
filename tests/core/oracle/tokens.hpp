// The pattern over tokens, by brute force: every token is tried from every state that tokens reach.
//
// A state is live if it accepts or if some token leads to a live one (a least fixpoint).  Control tokens
// lead where the pattern names them; they are no text.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "language.hpp"

namespace oracle {

struct Tokens {
  std::vector<std::optional<std::string>> bytes;
  std::vector<std::uint32_t> stop;
  std::uint32_t width = 0;
  // What the tokens are as the first of a text, where that differs.
  std::optional<std::vector<std::optional<std::string>>> at_start;
  std::map<std::string, std::uint32_t> controls;  // neither text nor stop tokens

  bool is_stop(std::uint32_t id) const { return std::ranges::find(stop, id) != stop.end(); }
  bool is_control(std::uint32_t id) const {
    return std::ranges::any_of(controls, [&](const auto& control) { return control.second == id; });
  }
  // Whether every byte is a token.
  bool has_all_bytes() const {
    std::set<std::string> found;
    for (std::uint32_t id = 0; id < bytes.size(); ++id)
      if (bytes[id] && bytes[id]->size() == 1 && !is_stop(id)) found.insert(*bytes[id]);
    return found.size() == 256;
  }
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
  for (const auto& [name, id] : tokens.controls) result += "; control " + name + " " + std::to_string(id);
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

  // Where a token that is no stop token leads, if it is allowed.
  std::optional<int> step(int node, std::uint32_t token) const {
    if (token >= at(node).targets.size()) return std::nullopt;
    const int target = at(node).targets[token];
    return target >= 0 && lives(target) ? std::optional(target) : std::nullopt;
  }
  bool has_open_tokens(int node) const {
    for (std::uint32_t id = 0; id < at(node).targets.size(); ++id)
      if (step(node, id)) return true;
    return false;
  }
  std::vector<bool> mask(int node) const {
    std::vector<bool> bits(tokens_.width, false);
    for (std::uint32_t id = 0; id < tokens_.width; ++id) bits[id] = step(node, id).has_value();
    if (accepts(node))
      for (std::uint32_t id : tokens_.stop) bits[id] = true;
    return bits;
  }

  // The longest common prefix of all continuations, each up to its first control token: take one of
  // them, and shorten it by every other.
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
  bool sees_edges() const { return language_.sees_edges(); }

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
    std::vector<int> reached(tokens_.width, Language::kDead);
    for (std::uint32_t id = 0; id < all.size(); ++id)
      if (all[id] && !all[id]->empty() && !tokens_.is_stop(id)) reached[id] = language_.read(nodes_[i].state, *all[id]);
    for (const auto& [name, id] : tokens_.controls) reached[id] = language_.next_control(nodes_[i].state, name);
    for (const int state : reached) targets.push_back(state == Language::kDead ? -1 : node_of(state, false));
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

  // Whether what is text may end here.
  bool text_ends(int node) const {
    return accepts(node) || std::ranges::any_of(tokens_.controls, [&](const auto& control) {
             return step(node, control.second).has_value();
           });
  }

  std::string some_continuation(int node) const {
    std::map<int, std::string> text{{node, ""}};
    std::deque<int> open{node};
    while (true) {
      const int current = open.front();
      open.pop_front();
      if (text_ends(current)) return text[current];
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
    if (text_ends(node) || offset == one.size()) return offset;
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

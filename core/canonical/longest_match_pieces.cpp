#include "canonical/longest_match_pieces.hpp"
#include "common/memoized.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/sort_unique.hpp"

namespace tokamata {

namespace {

using Role = LongestMatchPieces::Role;

// The texts of tokens as the first ones of words, without the space that a decoder puts before them.
std::vector<std::string> texts_of_first(const Vocabulary& vocabulary, const std::vector<Role>& roles,
                                        const std::string& mark) {
  if (roles.size() != vocabulary.token_count())
    throw std::invalid_argument("longest match: roles and tokens differ in number");
  std::vector<std::string> texts(roles.size());
  for (std::uint32_t token = 0; token < roles.size(); ++token) {
    const std::string_view bytes = vocabulary.bytes({token});
    if (roles[token] == Role::None) continue;
    if (bytes.size() < (roles[token] == Role::Begins ? 2 : 1))
      throw std::invalid_argument("longest match: a token of a word has no text");
    if (roles[token] == Role::Continues) {
      if (!mark.empty()) texts[token] = mark + std::string(bytes);
      continue;
    }
    if (bytes[0] != ' ') throw std::invalid_argument("longest match: a token that begins words has no space before it");
    texts[token] = bytes.substr(1);
  }
  return texts;
}

std::vector<std::string> texts_of_rest(const Vocabulary& vocabulary, const std::vector<Role>& roles) {
  std::vector<std::string> texts(roles.size());
  for (std::uint32_t token = 0; token < roles.size(); ++token)
    if (roles[token] == Role::Continues) texts[token] = vocabulary.bytes({token});
  return texts;
}

TokenTrie trie_of(const std::vector<std::string>& texts) {
  return TokenTrie(std::vector<std::string_view>(texts.begin(), texts.end()));
}

bool has_children(const TokenTrie& trie, NodeId node) { return trie.children_begin(node) != trie.children_end(node); }
bool is_token(const TokenTrie& trie, NodeId node) { return trie.own_end(node) > trie.node(node).tokens_begin; }

std::optional<NodeId> child_of(const TokenTrie& trie, NodeId node, std::uint8_t byte) {
  std::uint32_t low = trie.children_begin(node), high = trie.children_end(node);
  const std::uint32_t end = high;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (trie.byte({middle}) < byte) low = middle + 1;
    else high = middle;
  }
  return low < end && trie.byte({low}) == byte ? std::optional(NodeId{low}) : std::nullopt;
}

}  // namespace

LongestMatchPieces::LongestMatchPieces(const Vocabulary& vocabulary, std::vector<Role> roles, const std::string& mark)
    : rest_texts_(texts_of_rest(vocabulary, roles)),
      first_(trie_of(texts_of_first(vocabulary, roles, mark))),
      rest_(trie_of(rest_texts_)),
      beginning_(vocabulary.words(), 0),
      following_(vocabulary.words(), 0),
      settled_begun_(vocabulary.words(), 0),
      settled_following_(vocabulary.words(), 0),
      begun_(roles.size(), kNever),
      continued_(roles.size(), kNever) {
  number_of({});
  find_states(first_, 0, begun_);
  find_states(rest_, static_cast<std::uint32_t>(first_.node_count()), continued_);
  for (std::uint32_t token = 0; token < roles.size(); ++token) {
    if (begun_[token] != kNever) set_bit(beginning_, token);
    if (begun_[token] == kNothing) set_bit(settled_begun_, token);
    if (continued_[token] == kNever) continue;
    set_bit(following_, token);
    if (continued_[token] == kNothing) set_bit(settled_following_, token);
    goes_on_ = true;
  }
}

// What every token leaves pending by itself, in one of the two tries.
void LongestMatchPieces::find_states(const TokenTrie& trie, std::uint32_t offset, std::vector<State>& states) {
  for (std::uint32_t node = 0; node < trie.node_count(); ++node)
    for (std::uint32_t i = trie.node({node}).tokens_begin; i < trie.own_end({node}); ++i)
      states[trie.order()[i]] = has_children(trie, {node}) ? number_of({Node{offset + node}}) : kNothing;
}

LongestMatchPieces::Place LongestMatchPieces::place(Node node) const {
  const auto firsts = static_cast<std::uint32_t>(first_.node_count());
  return node.value < firsts ? Place{&first_, {node.value}} : Place{&rest_, {node.value - firsts}};
}

Pieces::State LongestMatchPieces::number_of(Set set) const {
  std::ranges::sort(set);
  const std::lock_guard lock(mutex_);
  return numbered(numbers_, set, [&](State number) { put_at(sets_, number.value, set); });
}

const LongestMatchPieces::Set& LongestMatchPieces::set_of(State state) const {
  const std::lock_guard lock(mutex_);
  return sets_[state.value];
}

std::optional<Pieces::State> LongestMatchPieces::begin(TokenId token) const {
  const State state = begun_[token.value];
  return state == kNever ? std::nullopt : std::optional(state);
}

std::optional<Pieces::State> LongestMatchPieces::extend(State state, TokenId token) const {
  const State own = continued_[token.value];
  if (own == kNever) return std::nullopt;
  if (state == kNothing) return own;
  Set still = own == kNothing ? Set{} : set_of(own);
  const std::size_t own_size = still.size();
  for (const Node pending : set_of(state)) {
    const auto [trie, begun] = place(pending);
    std::optional<NodeId> node = begun;
    for (const char byte : rest_texts_[token.value]) {
      node = child_of(*trie, *node, static_cast<std::uint8_t>(byte));
      if (!node) break;
      if (is_token(*trie, *node)) return std::nullopt;
    }
    if (node) still.push_back({pending.value - begun.value + node->value});
  }
  return still.size() == own_size ? own : number_of(std::move(still));
}

// What a pending node and the tokens with marks have in common.
const LongestMatchPieces::Below& LongestMatchPieces::below(Node pending) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = below_.find(pending); known != below_.end()) return known->second;
  }
  Below found;
  const auto [trie, begun] = place(pending);
  std::vector<std::pair<NodeId, NodeId>> open{{begun, TokenTrie::root()}};
  while (!open.empty()) {
    const auto [node, token] = open.back();
    open.pop_back();
    for (std::uint32_t child = trie->children_begin(node); child < trie->children_end(node); ++child) {
      const std::optional<NodeId> read = child_of(rest_, token, trie->byte({child}));
      if (!read) continue;
      if (is_token(*trie, {child})) {
        found.forbidden.push_back({rest_.node(*read).tokens_begin, rest_.node(*read).tokens_end});
        continue;
      }
      for (std::uint32_t i = rest_.node(*read).tokens_begin; i < rest_.own_end(*read); ++i)
        found.carried.push_back(rest_.order()[i]);
      open.emplace_back(NodeId{child}, *read);
    }
  }
  const std::lock_guard lock(mutex_);
  return below_.try_emplace(pending, std::move(found)).first->second;
}

void LongestMatchPieces::forbid(State state, TokenId, const Words& kept, const Words& all, Words& words) const {
  words = all;
  for (const Node pending : set_of(state))
    for (const Below::Run& run : below(pending).forbidden)
      for (std::uint32_t i = run.begin; i < run.end; ++i)
        if (const std::uint32_t token = rest_.order()[i]; !has_bit(kept, token)) clear_bit(words, token);
}

std::vector<std::uint32_t> LongestMatchPieces::carried(State state, TokenId) const {
  std::vector<std::uint32_t> tokens;
  for (const Node pending : set_of(state))
    tokens.insert(tokens.end(), below(pending).carried.begin(), below(pending).carried.end());
  sort_unique(tokens);
  return tokens;
}

std::size_t LongestMatchPieces::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t texts = 0;
  for (const std::string& text : rest_texts_) texts += sizeof text + text.size();
  return first_.memory_bytes() + rest_.memory_bytes() + texts + (begun_.size() + continued_.size()) * sizeof(State) +
         4 * beginning_.size() * sizeof(std::uint32_t) + sets_.size() * 128 + below_.size() * 128;
}

}  // namespace tokamata

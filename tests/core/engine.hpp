// From the oracle's descriptions to the core's objects, and the comparison of the two.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "expression/string_automaton.hpp"
#include "matching/matcher.hpp"
#include "oracle/tokens.hpp"
#include "test.hpp"

namespace engine {

using namespace tokamata;

inline ExpressionPtr expression_of(const oracle::TreePtr& tree) {
  using Op = oracle::Tree::Op;
  std::vector<ExpressionPtr> items;
  for (const oracle::TreePtr& item : tree->items) items.push_back(expression_of(item));
  switch (tree->op) {
    case Op::Empty: return Expression::empty();
    case Op::Literal: return Expression::literal(tree->bytes);
    case Op::Class: {
      std::vector<CodePointRange> ranges;
      for (const auto& [low, high] : tree->ranges) ranges.push_back({low, high});
      return Expression::code_points(ranges);
    }
    case Op::Concatenation: return Expression::concatenation(items);
    case Op::Union: return Expression::unite(items);
    case Op::Repetition:
      return Expression::repetition(items[0], tree->minimum,
                                    tree->maximum == oracle::kUnbounded ? kUnbounded : tree->maximum, 0);
    case Op::Strings:
      return Expression::strings(StringAutomaton::of_strings({tree->strings.begin(), tree->strings.end()}));
    case Op::Substrings: {
      Budget budget({}, nullptr, 0);
      return Expression::strings(StringAutomaton::of_substrings(tree->bytes, budget));
    }
    case Op::Everything: return Expression::everything();
    case Op::ControlToken: return Expression::control_token(tree->bytes);
    case Op::OneToken: {
      ByteSet bytes;
      for (const auto& [low, high] : tree->ranges)
        bytes |= ByteSet::range(static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high));
      return Expression::one_token(bytes);
    }
    case Op::Intersection: return Expression::intersection(items);
    case Op::Complement: return Expression::complement(items[0]);
    case Op::LookAhead: return Expression::look_ahead(items[0]);
    case Op::LookBehind: return Expression::look_behind(items[0]);
    case Op::Scope: return Expression::scope(items[0]);
  }
  return Expression::empty();
}

inline TokenAutomaton::ControlTokens controls_of(const oracle::Tokens& tokens) {
  TokenAutomaton::ControlTokens controls;
  for (const auto& [name, id] : tokens.controls) controls[name] = {TokenId{id}};
  return controls;
}

inline std::shared_ptr<const Vocabulary> vocabulary_of(const std::vector<std::optional<std::string>>& bytes,
                                                       const oracle::Tokens& tokens) {
  std::vector<std::string_view> views;
  for (const auto& token : bytes) views.push_back(token ? std::string_view(*token) : std::string_view());
  return std::make_shared<const Vocabulary>(views, tokens.stop, tokens.width);
}
inline std::shared_ptr<const Vocabulary> vocabulary_of(const oracle::Tokens& tokens) {
  return vocabulary_of(tokens.bytes, tokens);
}
inline std::shared_ptr<const Vocabulary> start_vocabulary_of(const oracle::Tokens& tokens) {
  return tokens.at_start ? vocabulary_of(*tokens.at_start, tokens) : nullptr;
}

// Tokens 0, 1, … with these bytes, and after them one stop token.
inline oracle::Tokens plain(const std::vector<std::string>& bytes) {
  oracle::Tokens tokens;
  for (const std::string& token : bytes) tokens.bytes.emplace_back(token);
  tokens.bytes.emplace_back(std::nullopt);
  tokens.width = static_cast<std::uint32_t>(tokens.bytes.size());
  tokens.stop = {tokens.width - 1};
  return tokens;
}

// All 256 bytes, the tokens given, and a stop token.
inline oracle::Tokens with_all_bytes(std::vector<std::string> more) {
  std::vector<std::string> bytes;
  for (unsigned byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes.insert(bytes.end(), more.begin(), more.end());
  return plain(bytes);
}

inline std::shared_ptr<Constraint> compile(const oracle::TreePtr& tree, const oracle::Tokens& tokens,
                                           const Limits& limits = {},
                                           std::shared_ptr<const CancelToken> cancel = nullptr) {
  return std::make_shared<Constraint>(expression_of(tree), vocabulary_of(tokens), start_vocabulary_of(tokens),
                                      controls_of(tokens), limits, std::move(cancel));
}

inline std::vector<bool> bits_of(const Mask& mask, std::uint32_t width) {
  const Words words = mask.bits.row();
  CHECK_EQUAL(words.size(), (std::size_t{width} + 31) / 32);
  std::vector<bool> bits;
  for (std::size_t id = 0; id < 32 * words.size(); ++id) {
    const bool bit = has_bit(words, static_cast<std::uint32_t>(id));
    CHECK_EQUAL(mask.bits.contains(static_cast<std::uint32_t>(id)), bit);
    if (id < width) bits.push_back(bit);
    else CHECK(!bit);
  }
  return bits;
}

inline std::string shown(const std::vector<bool>& bits) {
  std::string ids;
  for (std::size_t id = 0; id < bits.size(); ++id)
    if (bits[id]) ids += " " + std::to_string(id);
  return "{" + (ids.empty() ? ids : ids.substr(1)) + "}";
}

inline void check_bits(const std::vector<bool>& actual, const std::vector<bool>& expected) {
  if (actual != expected) ::test::fail(__FILE__, __LINE__, "mask " + shown(actual) + " should be " + shown(expected));
}

// Where a matcher should stand: a node of the token graph, or past a stop token.
struct Standing {
  int node = 0;
  bool stopped = false;
};

inline std::vector<bool> expected_mask(const oracle::TokenGraph& graph, const oracle::Tokens& tokens, Standing at) {
  if (!at.stopped) return graph.mask(at.node);
  std::vector<bool> bits(tokens.width, false);
  for (std::uint32_t id : tokens.stop) bits[id] = true;
  return bits;
}

// The mask, its counts, and the two questions.
inline void check_mask(Matcher& matcher, const oracle::TokenGraph& graph, const oracle::Tokens& tokens, Standing at) {
  const MaskPtr mask = matcher.mask();
  const std::vector<bool> expected = expected_mask(graph, tokens, at);
  check_bits(bits_of(*mask, tokens.width), expected);
  std::size_t stops = 0;
  for (std::uint32_t id = 0; id < tokens.width; ++id) stops += expected[id] && tokens.is_stop(id);
  const auto all = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true));
  CHECK_EQUAL(mask->set_bits, all);
  CHECK_EQUAL(mask->open_tokens, all - stops);
  CHECK_EQUAL(matcher.is_accepting(), at.stopped || graph.accepts(at.node));
  CHECK_EQUAL(matcher.is_finished(), at.stopped || (graph.accepts(at.node) && !graph.has_open_tokens(at.node)));
  if (const MaskPtr known = matcher.try_mask()) CHECK(known->bits.row() == mask->bits.row());
}

inline void check_forced(Matcher& matcher, const oracle::TokenGraph& graph, Standing at) {
  CHECK_EQUAL(oracle::escaped(matcher.forced_text()), oracle::escaped(at.stopped ? "" : graph.forced_text(at.node)));
  std::vector<std::uint32_t> forced;
  for (TokenId token : matcher.forced_tokens()) forced.push_back(token.value);
  CHECK(forced == (at.stopped ? std::vector<std::uint32_t>() : graph.forced_tokens(at.node)));
}

// How far the bytes of the token get, and what could come there.  Where complements and the like meet a
// vocabulary that lacks bytes, or the edges of tokens, the engine may take for alive over bytes what is not.
inline void check_bytes(const Explanation& why, const oracle::TokenGraph& graph, const oracle::Tokens& tokens,
                        Standing at, const std::string& bytes) {
  int state = graph.state(at.node);
  std::size_t length = 0;
  while (length < bytes.size()) {
    const int next =
        graph.language().next(state, static_cast<unsigned char>(bytes[length]), length + 1 == bytes.size());
    if (next == oracle::Language::kDead) break;
    state = next;
    ++length;
  }
  const bool is_exact = graph.language().is_plain() || (!graph.sees_edges() && tokens.has_all_bytes());
  CHECK(is_exact ? why.offset == length : why.offset >= length);
  if (why.offset != length) return;
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    const bool lives = graph.language().next(state, byte, false) != oracle::Language::kDead ||
                       graph.language().next(state, byte, true) != oracle::Language::kDead;
    CHECK(is_exact ? why.expected.contains(byte) == lives : why.expected.contains(byte) || !lives);
  }
}

inline void check_explanation(Matcher& matcher, const oracle::TokenGraph& graph, const oracle::Tokens& tokens,
                              Standing at, std::uint32_t id, bool allowed) {
  using enum Verdict;
  const Explanation why = matcher.explain({id});
  CHECK_EQUAL(why.verdict == Allowed, allowed);
  if (tokens.is_stop(id)) {
    CHECK(allowed || why.verdict == StopTooSoon);
    return;
  }
  // One that the pattern does not name is as good as any control token, or as none.
  if (tokens.is_control(id))
    return CHECK(allowed || why.verdict == NotText || why.verdict == Padding ||
                 (at.stopped && why.verdict == AfterStop));
  if (id >= tokens.bytes.size()) return CHECK(why.verdict == Padding);
  const auto& bytes = at.stopped ? tokens.bytes[id] : graph.bytes(at.node, id);
  if (!bytes || bytes->empty()) return CHECK(why.verdict == NotText);
  if (at.stopped) return CHECK(why.verdict == AfterStop);
  check_bytes(why, graph, tokens, at, *bytes);
  if (!allowed) CHECK_EQUAL(why.verdict == Byte, why.offset < bytes->size());
}

// advance(t) is true exactly where bit t is set; what was refused has changed nothing.
inline void check_every_token(Matcher& matcher, const oracle::TokenGraph& graph, const oracle::Tokens& tokens,
                              Standing at, bool explain) {
  const std::vector<bool> expected = expected_mask(graph, tokens, at);
  const std::size_t length = matcher.tokens().size();
  for (std::uint32_t id = 0; id < tokens.width; ++id) {
    const test::Note note([&] { return "token " + std::to_string(id); });
    if (explain) check_explanation(matcher, graph, tokens, at, id, expected[id]);
    const std::optional<bool> quick = matcher.try_advance({id});
    if (quick) CHECK_EQUAL(*quick, static_cast<bool>(expected[id]));
    if (quick && *quick) CHECK(matcher.rollback(1));
    CHECK_EQUAL(matcher.advance({id}), static_cast<bool>(expected[id]));
    if (expected[id]) CHECK(matcher.rollback(1));
  }
  CHECK_EQUAL(matcher.tokens().size(), length);
}

// Compiles, and compares the outcome with the oracle: null where both say that there is no such
// constraint.
//
// A pattern with token edges or control tokens may be reported as unspellable although it is empty.
inline std::shared_ptr<Constraint> compile_like(const oracle::TokenGraph& graph, const ExpressionPtr& pattern,
                                                std::shared_ptr<const Vocabulary> vocabulary,
                                                std::shared_ptr<const Vocabulary> start_vocabulary,
                                                const TokenAutomaton::ControlTokens& controls = {},
                                                const Limits& limits = {}) {
  const bool empty = graph.is_empty();
  const bool unspellable = !empty && !graph.lives(0);
  const bool is_text = pattern->control_tokens().empty() && !pattern->sees_edges();
  try {
    auto constraint = std::make_shared<Constraint>(pattern, std::move(vocabulary), std::move(start_vocabulary),
                                                   controls, limits, nullptr);
    CHECK(!empty);
    CHECK(!unspellable);
    return constraint;
  } catch (const EmptyConstraint&) {
    CHECK(empty);
  } catch (const Unspellable&) {
    CHECK(unspellable || (empty && !is_text));
  }
  return nullptr;
}

// Every state that tokens reach, once: masks, questions, every token, forced text and tokens.
inline void check_everywhere(const std::shared_ptr<Constraint>& constraint, const oracle::TokenGraph& graph,
                             const oracle::Tokens& tokens, bool explain) {
  Matcher matcher(constraint);
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::uint32_t> path;
  const auto visit = [&](auto&& self, Standing at) -> void {
    const test::Note note([&] {
      std::string text = "after tokens";
      for (std::uint32_t id : path) text += " " + std::to_string(id);
      return text;
    });
    if (!at.stopped) seen[static_cast<std::size_t>(at.node)] = true;
    check_mask(matcher, graph, tokens, at);
    check_every_token(matcher, graph, tokens, at, explain);
    check_forced(matcher, graph, at);
    if (at.stopped) return;
    for (std::uint32_t id = 0; id < tokens.width; ++id) {
      const bool stop = tokens.is_stop(id) && graph.accepts(at.node);
      const std::optional<int> target = graph.step(at.node, id);
      if (!stop && (!target || seen[static_cast<std::size_t>(*target)])) continue;
      path.push_back(id);
      CHECK(matcher.advance({id}));
      self(self, stop ? Standing{at.node, true} : Standing{*target, false});
      CHECK(matcher.rollback(1));
      path.pop_back();
    }
  };
  visit(visit, {});
}

}  // namespace engine

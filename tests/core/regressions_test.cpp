// What went wrong once, each under a name.

#include "engine.hpp"

namespace {

using namespace oracle;

// forced_tokens ran for ever, past every limit, where the text may end but no stop token says so:
// the only bit of `a*` over {a} without stop tokens is a, again and again.
TEST(forced_tokens_end_where_the_text_may_end) {
  Tokens tokens;
  tokens.bytes = {"a"};
  tokens.width = 1;
  tokamata::Matcher matcher(engine::compile(star(text("a")), tokens));
  CHECK(matcher.forced_tokens().empty());
  CHECK(matcher.forced_text().empty());
  tokamata::Matcher three(engine::compile(repeat(text("a"), 3, kUnbounded), tokens));
  CHECK_EQUAL(three.forced_tokens().size(), 3u);
  CHECK_EQUAL(three.forced_text(), std::string("aaa"));
}

// A limit that was met took every mask out of the memo, also that of the place where the matcher
// stood: advance threw, as it may, and then mask threw too, which had worked before.
TEST(a_limit_that_is_met_leaves_the_mask_of_the_place) {
  const Tokens tokens = engine::with_all_bytes({"abababab", "babbabba"});
  const TreePtr letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  const TreePtr tree =
      sequence({star(choice({pair, sequence({pair, letter})})), text("a"), repeat(pair, 4, 4), text("c")});
  for (std::size_t states = 10; states < 200; states += 7) {
    tokamata::Limits limits;
    limits.states = states;
    tokamata::Matcher matcher(engine::compile(tree, tokens, limits));
    bool stopped = false;
    for (unsigned step = 0; step < 60 && !stopped; ++step) {
      tokamata::MaskPtr before;
      try {
        before = matcher.mask();
        CHECK(matcher.advance({static_cast<std::uint32_t>(step % 3 == 0 ? 'b' : 'a')}));
      } catch (const tokamata::LimitExceeded&) {
        stopped = true;
        if (before) CHECK(matcher.mask() == before);
      }
    }
  }
}

// Two tokens at the start that are the same in mid-text: the mask at the start is its own.
TEST(a_stop_token_right_at_the_start) {
  Tokens tokens = engine::plain({"a", " a"});
  tokens.at_start = {"a", "a", std::nullopt};
  tokamata::Matcher matcher(engine::compile(star(text("a")), tokens));
  engine::check_bits(engine::bits_of(*matcher.mask(), 3), {true, true, true});
  CHECK(matcher.advance({2}));
  CHECK(matcher.text().empty());
  CHECK(matcher.rollback(1));
  CHECK(matcher.advance({1}));
  CHECK_EQUAL(matcher.text(), std::string("a"));
  engine::check_bits(engine::bits_of(*matcher.mask(), 3), {true, false, true});
}

// After a stop token, explaining a control token that the pattern names took a step from no state.
TEST(a_named_control_token_after_a_stop_token_is_explained) {
  Tokens tokens = engine::plain({"a"});
  tokens.bytes.push_back(std::nullopt);
  tokens.width = 3;
  tokens.controls = {{"image", 2}};
  tokamata::Matcher matcher(engine::compile(sequence({control("image"), text("a")}), tokens));
  for (const std::uint32_t id : {2u, 0u, 1u}) CHECK(matcher.advance({id}));
  CHECK(matcher.explain({2}).verdict == tokamata::Verdict::AfterStop);
}

// In a scope, once the lookaround in it was decided, what remained was a union at the head of what follows;
// the edge behind the token did not find the token in it, and the text could not end there.
TEST(a_token_beside_other_text_in_a_scope_ends) {
  const Tokens tokens = engine::plain({"a", "b", "ab"});
  const TreePtr tree = star(scope(choice({at_beginning(), text("abb"), one_token({{'a', 'b'}})})));
  oracle::Language language(tree, 300);
  const TokenGraph graph(language, tokens);
  engine::check_everywhere(engine::compile(tree, tokens), graph, tokens, true);
}

// A OneToken may stand inside a code point; what is below C3 in the trie has no character of its own, and
// was taken to live with the letters that the token could go on with.
TEST(a_token_of_some_bytes_does_not_take_the_rest_of_a_code_point) {
  const Tokens tokens = engine::plain({"b", "\xC3\xA8", "\xC3", "bb"});
  tokamata::Matcher matcher(engine::compile(one_token({{'b', 'c'}, {0xC3, 0xC3}}), tokens));
  engine::check_bits(engine::bits_of(*matcher.mask(), tokens.width), {true, false, true, true, false});
}

}  // namespace

// Texts that share their ends: their bytes, their order, and the fewest tokens that spell them, beside a table of each
// text by itself.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "choices.hpp"
#include "composition/spelled_texts.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

TokenTrie trie_of_texts(const std::vector<std::string>& tokens) {
  return TokenTrie(std::vector<std::string_view>(tokens.begin(), tokens.end()));
}

// The judge: the fewest tokens that spell each end of a text, from the last on.
TokenCount fewest_tokens(const std::string& text, const std::vector<std::string>& tokens) {
  std::vector<TokenCount> fewest(text.size() + 1, kNoTokens);
  fewest[text.size()] = 0;
  for (std::size_t at = text.size(); at-- > 0;)
    for (const std::string& token : tokens)
      if (!token.empty() && text.compare(at, token.size(), token) == 0 && fewest[at + token.size()] != kNoTokens)
        fewest[at] = std::min(fewest[at], fewest[at + token.size()] + 1);
  return fewest[0];
}

// All texts over some letters, shortest first, those of one length in the order of their bytes.
std::vector<std::string> texts_in_order(const std::string& letters, std::size_t longest) {
  std::vector<std::string> all{""};
  for (std::size_t at = 0; all[at].size() < longest; ++at)
    for (const char letter : letters) all.push_back(all[at] + letter);
  return all;
}

const std::string kLetters = "a}\xC3";  // a byte beyond ASCII comes last

TEST(all_short_texts_have_their_bytes_and_their_fewest_tokens) {
  const std::vector<std::string> texts = texts_in_order(kLetters, 5);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Choices choices(seed);
    std::vector<std::string> tokens;
    for (std::uint32_t count = choices.between(1, 8); count > 0; --count)
      tokens.push_back(texts[choices.between(1, 120)]);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const TokenTrie trie = trie_of_texts(tokens);
    SpelledTexts spelled(trie);
    std::map<std::uint32_t, std::string> of_number;
    for (const std::string& text : texts) {
      const SpelledId id = spelled.prepend(text, SpelledTexts::kEmpty);
      CHECK_EQUAL(spelled.string(id), text);
      CHECK_EQUAL(spelled.length(id), text.size());
      CHECK_EQUAL(spelled.tokens(id), fewest_tokens(text, tokens));
      CHECK(of_number.emplace(id.value, text).second);  // different texts are different numbers
    }
  }
}

TEST(equal_texts_are_one_number_however_they_are_made) {
  const TokenTrie trie = trie_of_texts({"a", "}", "a}"});
  SpelledTexts spelled(trie);
  for (const std::string& text : texts_in_order("a}", 6)) {
    const SpelledId id = spelled.prepend(text, SpelledTexts::kEmpty);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const SpelledId rest = spelled.prepend(text.substr(cut), SpelledTexts::kEmpty);
      const SpelledId first = spelled.prepend(text.substr(0, cut), SpelledTexts::kEmpty);
      CHECK(spelled.prepend(text.substr(0, cut), rest) == id);
      CHECK(spelled.concatenate(first, rest) == id);
      CHECK(spelled.concatenate(first, rest) == id);  // the second answer is a look-up
    }
  }
}

TEST(what_is_not_known_stays_so) {
  const TokenTrie trie = trie_of_texts({"a"});
  SpelledTexts spelled(trie);
  const SpelledId a = spelled.prepend('a', SpelledTexts::kEmpty);
  for (const SpelledId none :
       {spelled.prepend('a', SpelledTexts::kNone), spelled.concatenate(a, SpelledTexts::kNone),
        spelled.concatenate(SpelledTexts::kNone, a), spelled.concatenate(SpelledTexts::kEmpty, SpelledTexts::kNone),
        spelled.concatenate(SpelledTexts::kNone, SpelledTexts::kEmpty)}) {
    CHECK(none == SpelledTexts::kNone);
  }
  CHECK_EQUAL(spelled.tokens(SpelledTexts::kNone), kNoTokens);
  CHECK(spelled.is_before(a, SpelledTexts::kNone));
  CHECK(!spelled.is_before(SpelledTexts::kNone, a));
  // A text that no tokens spell is known all the same, and so is its end.
  const SpelledId xa = spelled.prepend("xa", SpelledTexts::kEmpty);
  CHECK_EQUAL(spelled.string(xa), std::string("xa"));
  CHECK_EQUAL(spelled.tokens(xa), kNoTokens);
  CHECK_EQUAL(spelled.tokens(spelled.prepend("a", xa)), kNoTokens);
  CHECK_EQUAL(spelled.tokens(a), TokenCount{1});
}

TEST(shorter_texts_come_first_then_those_of_lesser_bytes) {
  const TokenTrie trie = trie_of_texts({"a", "}}"});
  SpelledTexts spelled(trie);
  std::vector<SpelledId> ids;
  for (const std::string& text : texts_in_order(kLetters, 4))
    ids.push_back(spelled.prepend(text, SpelledTexts::kEmpty));
  for (std::size_t one = 0; one < ids.size(); ++one)
    for (std::size_t other = 0; other < ids.size(); ++other)
      CHECK_EQUAL(spelled.is_before(ids[one], ids[other]), one < other);
}

TEST(a_long_text_costs_a_node_for_each_byte_and_an_equal_one_nothing) {
  constexpr std::size_t kLength = 100'000, kMostBytes = 200;  // of a node and its entry in the index
  const TokenTrie trie = trie_of_texts({"a", "aaa"});
  const std::string text(kLength, 'a');
  MemoryAccount account;
  const Charge charge(account);
  SpelledTexts spelled(trie);
  const std::size_t before = account.bytes();
  for (int round = 0; round < 2; ++round) {
    const SpelledId id = spelled.prepend(text, SpelledTexts::kEmpty);
    CHECK_EQUAL(spelled.length(id), kLength);
    CHECK_EQUAL(spelled.tokens(id), TokenCount{kLength / 3 + 1});
    CHECK_EQUAL(spelled.string(id).size(), kLength);
    const std::size_t grown = account.bytes() - before;
    CHECK(grown > kLength);
    CHECK(grown < kMostBytes * kLength);
    CHECK(spelled.prepend(text, SpelledTexts::kEmpty) == id);
    const SpelledId half = spelled.prepend(text.substr(kLength / 2), SpelledTexts::kEmpty);
    CHECK(spelled.concatenate(half, half) == id);
    CHECK(account.bytes() - before < grown + 1000);  // the pair that was concatenated
    spelled.clear();
    CHECK(account.bytes() <= before);
  }
}

}  // namespace

// Unigram pieces against Viterbi's algorithm itself, for all texts of a few letters.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "canonical/unigram_pieces.hpp"
#include "common/bits.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

using Tokens = std::vector<std::uint32_t>;

// How a program adds up.
enum class Sums : std::uint8_t { Exact, Double, Single };

// Some pieces of `a` and `b` with scores that are multiples of `grain`, and what a program writes with them.
struct SmallUnigram {
  SmallUnigram(unsigned seed, double grain, Sums kind) : texts{"a", "b"}, sums(kind) {
    std::mt19937 draw(seed);
    for (unsigned i = 0; i < draw() % 9; ++i) {
      std::string text;
      for (unsigned length = 2 + draw() % 3; length > 0; --length) text += static_cast<char>('a' + draw() % 2);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto vocabulary =
        std::make_shared<const Vocabulary>(views, Tokens{}, static_cast<std::uint32_t>(texts.size()));
    UnigramPieces::Floats floats;
    floats.units = sums == Sums::Exact ? 1 / grain : std::ldexp(1.0, 26);
    floats.are_single = sums == Sums::Single;
    std::vector<UnigramPieces::Score> whole;
    for (std::size_t token = 0; token < texts.size(); ++token) {
      scores.push_back(rounded(-grain * static_cast<double>(1 + draw() % 12)));
      whole.push_back(std::llround(scores.back() * floats.units));
    }
    if (sums != Sums::Exact) floats.scores = scores;
    const UnigramPieces::Sets sets = UnigramPieces::find_sets(vocabulary, whole, floats, {});
    pieces = std::make_unique<const UnigramPieces>(vocabulary, whole, floats, Tokens{}, sets);
  }

  double rounded(double sum) const { return sums == Sums::Single ? static_cast<double>(static_cast<float>(sum)) : sum; }

  static constexpr std::size_t kLongest = 4;  // of a piece

  Tokens encode(const std::string& text) const {
    struct Best {
      double sum = 0;
      std::size_t start = 0;
      std::uint32_t token = 0;
      bool is_reached = false;
    };
    std::vector<Best> best(text.size() + 1);
    best[0].is_reached = true;
    for (std::size_t start = 0; start < text.size(); ++start) {
      if (const double here = best[start].sum; sums == Sums::Single && std::abs(here) > 100'000)
        for (std::size_t later = start; later < best.size(); ++later)
          if (best[later].is_reached) best[later].sum = rounded(best[later].sum - here);
      for (std::size_t length = 1; length <= kLongest && start + length <= text.size(); ++length)
        for (std::uint32_t token = 0; token < texts.size(); ++token) {
          if (text.compare(start, length, texts[token]) != 0) continue;
          const double sum = rounded(scores[token] + best[start].sum);
          Best& end = best[start + length];
          if (!end.is_reached || sum > end.sum) end = {sum, start, token, true};
        }
    }
    Tokens tokens;
    for (std::size_t at = text.size(); at > 0; at = best[at].start) tokens.insert(tokens.begin(), best[at].token);
    return tokens;
  }

  std::vector<std::string> texts;
  Sums sums;
  std::vector<double> scores;
  std::unique_ptr<const UnigramPieces> pieces;
};

// `refused`: how often a relaxed state does not let a token follow.
void check_unigram(const SmallUnigram& model, unsigned* refused) {
  const UnigramPieces& pieces = *model.pieces;
  const auto count = static_cast<std::uint32_t>(model.texts.size());
  const Words none(1, 0);
  struct At {
    Tokens tokens;
    std::string text;
    Pieces::State state;
    std::optional<Pieces::State> projected;  // of a state before, and followed; none after a near tie
    Pieces::State relaxed;                   // of the first, and followed
  };
  std::vector<At> open;
  for (std::uint32_t token = 0; token < count; ++token) {
    const std::string& text = model.texts[token];
    const std::optional<Pieces::State> state = pieces.begin({token});
    CHECK_EQUAL(state.has_value(), model.encode(text) == Tokens{token});
    CHECK_EQUAL(state.has_value(), has_bit(pieces.beginning(), token));
    if (state) {
      const Pieces::State projected = pieces.projected(*state, {token});
      open.push_back({{token}, text, *state, projected, pieces.relaxed(projected, {token})});
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    const At at = open[i];
    if (at.text.size() > 7) continue;
    Words allowed(1, 0);
    pieces.forbid(at.state, {at.tokens.back()}, none, pieces.following(), allowed);
    for (std::uint32_t token = 0; token < count; ++token) {
      At next = at;
      next.tokens.push_back(token);
      next.text += model.texts[token];
      const bool is_written = model.encode(next.text) == next.tokens;
      const std::optional<Pieces::State> state = pieces.follow(at.state, {at.tokens.back()}, {token});
      CHECK_EQUAL(state.has_value(), is_written);
      CHECK_EQUAL(has_bit(allowed, token), is_written);
      if (at.projected) {
        const auto after = pieces.follow(*at.projected, {at.tokens.back()}, {token});
        const bool is_tied = after == Pieces::kTied;
        if (!is_tied) CHECK_EQUAL(after.has_value(), is_written);
        next.projected = is_tied ? std::nullopt : after;
      }
      const auto relaxed = pieces.follow(at.relaxed, {at.tokens.back()}, {token});
      if (model.sums == Sums::Exact) CHECK_EQUAL(relaxed.has_value(), is_written);
      if (is_written) CHECK(relaxed && *relaxed != Pieces::kTied);
      else if (!relaxed) ++*refused;
      if (!state) continue;
      next.relaxed = *relaxed;
      // What is not carried leaves what it leaves by itself.
      const std::vector<std::uint32_t> carried = pieces.carried(at.state, {at.tokens.back()});
      if (std::ranges::find(carried, token) == carried.end())
        CHECK(pieces.projected(*state, {token}) == Pieces::kSettled);
      next.state = *state;
      open.push_back(next);
    }
  }
}

}  // namespace

TEST(unigram_pieces_write_what_viterbi_does) {
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    check_unigram(SmallUnigram(seed, seed % 2 ? 1.0 : 0.125, Sums::Exact), &refused);
  CHECK(refused > 1000);
}

TEST(unigram_pieces_round_sums_as_floats_do) {
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    check_unigram(SmallUnigram(seed, seed % 2 ? 0.1 : 0.3, Sums::Double), &refused);
  CHECK(refused > 1000);
}

TEST(unigram_pieces_round_sums_as_float32_does) {
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed)
    check_unigram(SmallUnigram(seed, seed % 2 ? 0.1 : 0.3, Sums::Single), &refused);
  CHECK(refused > 1000);
}

// Walks through long texts, whose sums are subtracted some times.
TEST(unigram_pieces_follow_long_texts_as_float32_does) {
  unsigned followed = 0, settled = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const SmallUnigram model(seed, seed % 3 == 0 ? 640.7 : seed % 3 == 1 ? 97.3 : 0.7, Sums::Single);
    std::mt19937 draw(seed);
    std::string text;
    while (text.size() < 400) text += static_cast<char>('a' + draw() % 2);
    const Tokens tokens = model.encode(text);
    std::optional<Pieces::State> state = model.pieces->begin({tokens[0]}), projected;
    for (std::size_t at = 1; at < tokens.size(); ++at, ++followed) {
      CHECK(state.has_value());
      if (!state) break;
      if (!projected) projected = model.pieces->projected(*state, {tokens[at - 1]});
      // What else may follow is so in the text that it makes.
      if (at % 31 == 0) {
        std::string before;
        for (std::size_t i = 0; i < at; ++i) before += model.texts[tokens[i]];
        for (std::uint32_t token = 0; token < model.texts.size(); ++token) {
          Tokens expected(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(at));
          expected.push_back(token);
          const bool is_written = model.encode(before + model.texts[token]) == expected;
          CHECK_EQUAL(model.pieces->follow(*state, {tokens[at - 1]}, {token}).has_value(), is_written);
          if (const auto after = model.pieces->follow(*projected, {tokens[at - 1]}, {token}); after != Pieces::kTied)
            CHECK_EQUAL(after.has_value(), is_written);
        }
      }
      state = model.pieces->follow(*state, {tokens[at - 1]}, {tokens[at]});
      projected = model.pieces->follow(*projected, {tokens[at - 1]}, {tokens[at]});
      CHECK(projected.has_value());
      if (projected == Pieces::kTied) projected.reset();
      else ++settled;
    }
  }
  CHECK(followed > 5'000);
  CHECK(settled > followed / 4);
}

// States that nobody has are forgotten, and their numbers are given to others.
TEST(unigram_states_are_kept_as_long_as_someone_has_them) {
  const SmallUnigram model(3, 0.3, Sums::Double);
  std::optional<Pieces::State> held = model.pieces->begin({0});
  std::size_t most = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::optional<Pieces::State> state = held;
    std::uint32_t last = 0;
    for (unsigned step = 0; step < 12 && state; ++step) {
      const std::uint32_t token = (round >> step) & 1;
      state = model.pieces->follow(*state, {last}, {token});
      last = token;
    }
    most = std::max(most, model.pieces->memory_bytes());
  }
  CHECK(most < (4u << 20));
  CHECK(model.pieces->follow(*held, {0}, {1}).has_value() == (model.encode("ab") == Tokens{0, 1}));
}

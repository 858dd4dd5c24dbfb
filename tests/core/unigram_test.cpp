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

// Some pieces of `a` and `b` with scores that are multiples of `grain`, and what a program writes with them.
struct SmallUnigram {
  SmallUnigram(unsigned seed, double grain, bool sums_round) : texts{"a", "b"} {
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
    floats.units = sums_round ? std::ldexp(1.0, 26) : 1 / grain;
    std::vector<UnigramPieces::Score> whole;
    for (std::size_t token = 0; token < texts.size(); ++token) {
      scores.push_back(-grain * static_cast<double>(1 + draw() % 12));
      whole.push_back(std::llround(scores.back() * floats.units));
    }
    if (sums_round) floats.scores = scores;
    const UnigramPieces::Sets sets = UnigramPieces::find_sets(vocabulary, whole, floats, {});
    pieces = std::make_unique<const UnigramPieces>(vocabulary, whole, floats, Tokens{}, sets);
  }

  Tokens encode(const std::string& text) const {
    struct Best {
      double sum = 0;
      std::size_t start = 0;
      std::uint32_t token = 0;
      bool is_reached = false;
    };
    std::vector<Best> best(text.size() + 1);
    best[0].is_reached = true;
    for (std::size_t start = 0; start < text.size(); ++start)
      for (std::size_t length = 1; start + length <= text.size(); ++length)
        for (std::uint32_t token = 0; token < texts.size(); ++token) {
          if (texts[token] != text.substr(start, length)) continue;
          const double sum = scores[token] + best[start].sum;
          Best& end = best[start + length];
          if (!end.is_reached || sum > end.sum) end = {sum, start, token, true};
        }
    Tokens tokens;
    for (std::size_t at = text.size(); at > 0; at = best[at].start) tokens.insert(tokens.begin(), best[at].token);
    return tokens;
  }

  std::vector<std::string> texts;
  std::vector<double> scores;
  std::unique_ptr<const UnigramPieces> pieces;
};

void check_unigram(const SmallUnigram& model) {
  const UnigramPieces& pieces = *model.pieces;
  const auto count = static_cast<std::uint32_t>(model.texts.size());
  const Words none(1, 0);
  struct At {
    Tokens tokens;
    std::string text;
    Pieces::State state;
  };
  std::vector<At> open;
  for (std::uint32_t token = 0; token < count; ++token) {
    const std::string& text = model.texts[token];
    const std::optional<Pieces::State> state = pieces.begin({token});
    CHECK_EQUAL(state.has_value(), model.encode(text) == Tokens{token});
    CHECK_EQUAL(state.has_value(), has_bit(pieces.beginning(), token));
    if (state) open.push_back({{token}, text, *state});
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
      if (!state) continue;
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
  for (unsigned seed = 0; seed < 60; ++seed) check_unigram(SmallUnigram(seed, seed % 2 ? 1.0 : 0.125, false));
}

TEST(unigram_pieces_round_sums_as_floats_do) {
  for (unsigned seed = 0; seed < 60; ++seed) check_unigram(SmallUnigram(seed, seed % 2 ? 0.1 : 0.3, true));
}

// States that nobody has are forgotten, and their numbers are given to others.
TEST(unigram_states_are_kept_as_long_as_someone_has_them) {
  const SmallUnigram model(3, 0.3, true);
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

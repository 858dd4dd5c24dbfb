// Canonical constraints in several threads.  They share their tokenizer, and with it what it remembers: where
// tokens lead by the rules of the text, what stays inside a class, who may stand before a token or behind it, and
// who keeps the normal form.

#include <map>

#include "canonical/byte_pair_pieces.hpp"
#include "canonical/tokenization.hpp"
#include "threads.hpp"

namespace {

using namespace threads;
using tokamata::AtomLists;
using tokamata::BytePairPieces;
using tokamata::Merge;
using tokamata::Merges;
using tokamata::TextRulesTables;

const std::string kAcute = oracle::encoded(0x301), kGraveBelow = oracle::encoded(0x316);

// Byte-pair encoding of the letters a to k, a space and two marks.  Behind `a`, which is joined with `b` first of all,
// stand none of the fifteen hundred tokens that begin with `b`: so many that it is remembered who may stand there.
class LettersAndMarks {
 public:
  LettersAndMarks() {
    std::vector<std::string> letters;
    for (char letter = 'a'; letter <= 'k'; ++letter) letters.emplace_back(1, letter);
    for (const std::string& letter : letters) add(letter);
    for (const std::string& other : {std::string(" "), kAcute, kGraveBelow}) add(other);
    merge("a", "b");
    merge("e", kGraveBelow);
    merge(kGraveBelow, kAcute);
    for (std::vector<std::string> begun{"b"}; begun[0].size() < 4;) {
      std::vector<std::string> longer;
      for (const std::string& left : begun)
        for (const std::string& letter : letters) longer.push_back(merge(left, letter));
      begun = std::move(longer);
    }
    Choices choices(5);
    for (unsigned i = 0; i < 60; ++i) {
      const std::string left = choices.of(letters), right = choices.of(letters);
      if (left != "b" && right != "b") merge(left, right);
    }
  }

  Tokens tokens() const { return engine::plain(texts_); }

  // `has_form`: texts are in a normal form; otherwise marks are letters like others.
  std::shared_ptr<const Tokenization> tokenization(std::shared_ptr<const Vocabulary> vocabulary, bool has_form) const {
    AtomLists atoms = atoms_;
    atoms.offsets.push_back(atoms.offsets.back());  // of the stop token
    std::vector<bool> in_model(texts_.size(), true);
    in_model.push_back(false);
    auto pieces = std::make_unique<BytePairPieces>(Merges(merges_, atoms), in_model, false, true, vocabulary->words());
    return std::make_shared<const Tokenization>(std::move(vocabulary), rules(has_form), std::move(pieces), Words{},
                                                Words{}, Words{});
  }

 private:
  std::uint32_t add(const std::string& text) {
    const auto [known, is_new] = ids_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) {
      texts_.push_back(text);
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : 2;
        atoms_.atoms.push_back(ids_.at(text.substr(at, size)));
        at += size;
      }
      atoms_.offsets.push_back(static_cast<std::uint32_t>(atoms_.atoms.size()));
    }
    return known->second;
  }
  std::string merge(const std::string& left, const std::string& right) {
    const std::uint32_t result = add(left + right);
    merges_.push_back({ids_.at(left), ids_.at(right), result, static_cast<std::uint32_t>(merges_.size())});
    return left + right;
  }

  // Pre-tokens are words and single spaces; in the normal form `e` and the acute are one.
  static TextRulesTables rules(bool has_form) {
    constexpr std::uint16_t kDead = tokamata::CodePoints::kDead, kNone = tokamata::TextRules::kDeadGuess;
    constexpr std::uint16_t kLetter = 0, kSpace = 1;
    TextRulesTables tables;
    tables.ranges = {{0, kDead},   {' ', 2},   {'!', kDead},   {'a', 0},   {'e', 1},      {'f', 0},
                     {'l', kDead}, {0x301, 3}, {0x302, kDead}, {0x316, 4}, {0x317, kDead}};
    tables.classes = {{kLetter, 0, 0, 0, false},
                      {kLetter, 1, 0, 0, false},
                      {kSpace, 0, 0, 0, false},
                      {kLetter, 0, 1, 230, false},
                      {kLetter, 0, 0, 220, false}};
    if (!has_form) tables.classes[3] = tables.classes[4] = tables.classes[0];
    // The start of a word or of a space, at the start of a text; in each; and at a border.
    tables.symbols = 2;
    tables.targets = {2, kNone, kNone, 3, 2, kNone, kNone, kNone, 2, kNone, kNone, 3};
    tables.end_offsets = {0, 0, 0, 1, 3, 3, 3};
    tables.ends = {5, 4, 5};
    tables.may_end = {1, 1, 1, 1, 0, 0};
    tables.text_starts = tables.added_starts = tables.control_starts = {0, 1};
    tables.seconds = 2;
    tables.composes = {0, 0, 0, 1};
    return tables;
  }

  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<Merge> merges_;
  AtomLists atoms_;
};

const LettersAndMarks& tokenizer() {
  static const LettersAndMarks one;
  return one;
}

using Patterns = std::vector<Sample>;  // of one tokenizer

Patterns make_patterns(bool has_form) {
  const TreePtr letter = one_of({{'a', 'k'}}), few = one_of({{'a', 'e'}}),
                mark = one_of({{0x301, 0x301}, {0x316, 0x316}});
  const TreePtr any = one_of({{' ', ' '}, {'a', 'k'}, {0x301, 0x301}, {0x316, 0x316}}),
                plain = one_of({{' ', ' '}, {'a', 'k'}});
  const TreePtr word = sequence({letter, star(choice({letter, mark}))});
  Patterns all;
  for (const TreePtr& tree :
       {star(any), repeat(plain, 3, 12), sequence({word, repeat(sequence({text(" "), word}), 0, 3)}),
        sequence({star(letter), text("cab"), star(mark), text(" "), star(plain)}),
        sequence({repeat(letter, 1, 8), text("b"), repeat(letter, 1, 5)}),
        sequence({repeat(sequence({few, optional(mark)}), 2, 6), star(any), text("a"), star(plain)})}) {
    Sample& sample = all.emplace_back(tree, tokenizer().tokens());
    sample.tokenizer = [has_form](std::shared_ptr<const Vocabulary> vocabulary) {
      return tokenizer().tokenization(std::move(vocabulary), has_form);
    };
    record(sample, 3, 6, 11);
    find_positions(sample);
  }
  return all;
}

// With tokenizers that remember nothing yet, one of which has a normal form.
std::vector<Patterns> anew() {
  static const std::vector<Patterns> made = {make_patterns(false), make_patterns(true)};
  std::vector<Patterns> result = made;
  for (Patterns& all : result) {
    const auto vocabulary = engine::vocabulary_of(all[0].tokens);
    const auto tokenization = all[0].tokenizer(vocabulary);
    for (Sample& sample : all) {
      sample.vocabulary = vocabulary;
      sample.tokenization = tokenization;
    }
  }
  return result;
}

TEST(one_thread_alone_is_told_the_same_twice) {
  for (const Patterns& all : anew())
    for (const Sample& sample : all) {
      const test::Note note([&] { return sample.name; });
      play_alone(sample.compile(), sample);
      CHECK(sample.positions.size() > 3);
    }
  // What the tests are to be about is there: many tokens that may not stand behind one, and marks that compose.
  const Sample sample = anew()[1][0];
  Matcher matcher(sample.compile());
  const auto allowed = [&](std::string_view token) {
    return has(matcher.mask()->bits.row(), *token_of(sample.tokens, token));
  };
  CHECK(matcher.advance({*token_of(sample.tokens, "a")}));
  CHECK(!allowed("bcde"));
  CHECK(allowed("c"));
  CHECK(matcher.rollback(1));
  CHECK(matcher.advance({*token_of(sample.tokens, "e")}));
  CHECK(!allowed(kAcute));
}

TEST(matchers_of_one_canonical_constraint_are_told_what_they_are_told_alone) {
  for (const Patterns& all : anew())
    for (const Sample& sample : all) {
      const auto constraint = sample.compile();
      Matcher common(constraint);
      at_once(3, [&](unsigned number) {
        const test::Note note([&] { return sample.name; });
        CHECK(common.mask()->bits.row() == sample.positions[0].mask);
        Player player(number % 2 ? common.fork() : std::make_unique<Matcher>(constraint), number);
        CHECK_EQUAL(play_all(player, sample, number), sample.texts.size());
        CHECK(sample.tokenization->memory_bytes() > 0);
      });
    }
}

TEST(canonical_constraints_of_one_tokenizer_share_what_it_remembers) {
  for (const bool in_one_order : {true, false})
    for (const Patterns& all : anew())
      compile_at_once(all, in_one_order, [](const Sample& sample) { return sample.compile(); });
}

// One of several constraints gives up what it knows all the time, and goes on from what the tokenizer remembers.
TEST(canonical_constraints_in_little_memory_are_told_the_same_or_stopped) {
  for (const Patterns& all : anew())
    for (const Sample& sample : all) {
      const test::Note note([&] { return sample.name; });
      const auto measured = sample.compile();
      (void)Matcher(measured).mask();
      const std::size_t least = measured->memory_bytes();
      play_alone(measured, sample);
      Limits limits;
      limits.memory_bytes = least + (measured->memory_bytes() - least) / 2;
      const auto little = sample.compile(limits), other = sample.compile();
      at_once(3, [&](unsigned number) {
        if (number == 2) return play_alone(other, sample);
        Player player(std::make_unique<Matcher>(little), number);
        (void)play_all(player, sample, number);
      });
    }
}

}  // namespace

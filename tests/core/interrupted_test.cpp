// Calls that end at any point leave a constraint that answers as if they had not been made.
//
// Each allocation of some walks fails once: so each call is stopped wherever it makes or keeps anything, which is where
// a limit may stop it too.  The call is made again then, by the same matcher; and when the walks are done another
// matcher walks them, and is told what a constraint is told that was never stopped.

#include <functional>
#include <map>
#include <new>

#include "allocations.hpp"
#include "amounts.hpp"
#include "canonical/byte_pair_pieces.hpp"
#include "canonical/tokenization.hpp"
#include "choices.hpp"
#include "engine.hpp"
#include "generate.hpp"
#include "random_values.hpp"

namespace {

using namespace engine;

struct Subject {
  std::string name;
  std::function<std::shared_ptr<Constraint>()> compile;
  std::vector<std::vector<TokenId>> texts = {};
  bool with_budgets = true;
};

// Masks, whole and within budgets, by row; what else is asked as numbers.
using Answers = std::vector<Words>;

constexpr TokenCount kBudgets[] = {1, 3, 7};

Words mask_within(Matcher& matcher, TokenCount budget) {
  try {
    return matcher.mask_within(budget, false)->bits.row();
  } catch (const BudgetTooSmall& error) {
    return {static_cast<std::uint32_t>(error.needed)};
  }
}

// Asks again where memory failed.
template <class Question>
auto answer(Question&& question) {
  while (true) try {
      return question();
    } catch (const std::bad_alloc&) {
    }
}

Answers walk(const Subject& subject, const std::shared_ptr<Constraint>& constraint) {
  Answers answers;
  for (const std::vector<TokenId>& text : subject.texts) {
    const auto matcher = answer([&] { return std::make_unique<Matcher>(constraint); });
    const auto keep = [&](auto&& question) {
      Words found = answer(question);
      answer([&] { return answers.push_back(found), 0; });
    };
    for (std::size_t at = 0;; ++at) {
      keep([&] { return matcher->mask()->bits.row(); });
      for (const TokenCount budget : kBudgets)
        if (subject.with_budgets) keep([&] { return mask_within(*matcher, budget); });
      keep([&] { return Words(matcher->forced_text().size(), 1); });
      if (at == text.size()) break;
      CHECK(answer([&] { return matcher->advance(text[at]); }));
    }
    if (subject.with_budgets) keep([&] { return Words(matcher->shortest_completion().size(), 1); });
  }
  return answers;
}

// Random walks of it.
void find_texts(Subject& subject, Choices& choices, unsigned count, unsigned longest) {
  const auto constraint = subject.compile();
  while (subject.texts.size() < count) {
    Matcher matcher(constraint);
    for (unsigned length = 0; length < longest; ++length) {
      const MaskPtr mask = matcher.mask();
      std::vector<std::uint32_t> allowed;
      for_each_bit(mask->bits.row(), [&](std::uint32_t token) { allowed.push_back(token); });
      if (allowed.empty()) break;
      CHECK(matcher.advance({choices.of(allowed)}));
    }
    subject.texts.push_back(matcher.tokens());
  }
}

// Each allocation of the walks, or at most so many of them, evenly spread.
void interrupt_everywhere(const Subject& subject, std::uint64_t most) {
  const Answers expected = walk(subject, subject.compile());
  const auto counted = subject.compile();
  const std::uint64_t before = allocations::count;
  walk(subject, counted);
  const std::uint64_t all = allocations::count - before;
  const std::uint64_t step = all / std::max<std::uint64_t>(1, most) + 1;
  for (std::uint64_t k = 1 + all % step; k <= all; k += step) {
    const test::Note note(
        [&] { return subject.name + ", allocation " + std::to_string(k) + " of " + std::to_string(all); });
    const auto constraint = subject.compile();
    {
      const allocations::Failing failing(k);
      CHECK(walk(subject, constraint) == expected);
    }
    CHECK(walk(subject, constraint) == expected);
  }
}

// ---- canonical tokenization -------------------------------------------------------------------

// Byte pairs over all bytes, with some merges; words and what is between them are pre-tokens.  `<>` and `ab|` are
// added, the first as a control token.
class BytePairTokenizer {
 public:
  BytePairTokenizer() {
    for (unsigned byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
    for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{{"a", "b"},
                                                                                      {"b", "a"},
                                                                                      {"ab", "a"},
                                                                                      {"\"", ":"},
                                                                                      {"\"", ","},
                                                                                      {"a", "a"},
                                                                                      {"{", "\""},
                                                                                      {"\xC3", "\xA9"},
                                                                                      {"1", "2"},
                                                                                      {"[", "["}}) {
      add(left + right);
      merges_.push_back(
          {ids_.at(left), ids_.at(right), ids_.at(left + right), static_cast<std::uint32_t>(merges_.size())});
    }
    model_size_ = texts_.size();
    add("ab|");
    add("");
  }

  std::shared_ptr<const Vocabulary> vocabulary() const {
    oracle::Tokens tokens = plain(texts_);
    tokens.bytes[model_size_ + 1] = std::nullopt;
    return vocabulary_of(tokens);
  }

  std::shared_ptr<const Tokenization> tokenization(const std::shared_ptr<const Vocabulary>& vocabulary) const {
    AtomLists atoms;
    std::vector<bool> in_model;
    for (std::size_t token = 0; token < texts_.size() + 1; ++token) {
      const bool is_in_model = token < model_size_;
      if (is_in_model)
        for (const char byte : texts_[token]) atoms.atoms.push_back(ids_.at(std::string(1, byte)));
      atoms.offsets.push_back(static_cast<std::uint32_t>(atoms.atoms.size()));
      in_model.push_back(is_in_model);
    }
    auto pieces = std::make_unique<BytePairPieces>(Merges(merges_, atoms), in_model, false, true, vocabulary->words());
    const auto added = static_cast<std::uint32_t>(model_size_);
    return std::make_shared<const Tokenization>(vocabulary, rules(), std::move(pieces),
                                                std::vector<std::uint32_t>{added, added + 1}, Words{}, Words{});
  }

 private:
  void add(const std::string& text) {
    ids_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(text);
  }

  // Runs of letters and runs of all else.
  static TextRulesTables rules() {
    constexpr std::uint16_t kLetter = 0, kOther = 1, kNoGuess = TextRules::kDeadGuess;
    TextRulesTables tables;
    tables.ranges = {{0, 1}, {'a', 0}, {'{', 1}};
    tables.classes = {{kLetter, 0, 0, 0, false}, {kOther, 0, 0, 0, false}};
    tables.symbols = 2;
    // The start of a run of each, at the start of a text; in each; and at a border.
    tables.targets = {2, kNoGuess, kNoGuess, 3, 2, kNoGuess, kNoGuess, 3, 2, kNoGuess, kNoGuess, 3};
    tables.end_offsets = {0, 0, 0, 1, 2, 2, 2};
    tables.ends = {5, 4};
    tables.may_end = {1, 1, 1, 1, 0, 0};
    tables.text_starts = tables.added_starts = tables.control_starts = {0, 1};
    tables.seconds = 1;
    tables.composes = {0};
    tables.added = {"ab|", "<>"};
    return tables;
  }

  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<Merge> merges_;
  std::size_t model_size_ = 0;
};

// What a tokenizer remembers is new each time, too.
Subject canonical(const std::string& name, const ExpressionPtr& pattern) {
  static const BytePairTokenizer tokenizer;
  return {name, [pattern] {
            const auto vocabulary = tokenizer.vocabulary();
            return std::make_shared<Constraint>(pattern, vocabulary, nullptr, TokenAutomaton::ControlTokens(), Limits(),
                                                nullptr, tokenizer.tokenization(vocabulary));
          }};
}

// The subject with texts, if its pattern has any.
bool has_texts(Subject& subject, Choices& choices) {
  try {
    find_texts(subject, choices, 2, 6);
    return true;
  } catch (const EmptyConstraint&) {
  } catch (const Unspellable&) {
  } catch (const NotCanonical&) {
  } catch (const std::invalid_argument&) {
  }
  return false;
}

template <class Make>
void interrupt_many(std::uint64_t count, std::uint64_t most, Make&& make) {
  std::uint64_t done = 0;
  for (std::uint64_t seed = 1; done < test::drawn(count); ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Subject subject = make(seed, choices);
    if (!has_texts(subject, choices)) continue;
    interrupt_everywhere(subject, most);
    ++done;
  }
}

Subject plain_subject(Choices& choices, const generate::Bounds& bounds) {
  const oracle::TreePtr tree = generate::tree(choices, choices.between(2, 9), bounds);
  const oracle::Tokens tokens = generate::tokens(choices, tree);
  return {oracle::shown(tree), [tree, tokens] { return engine::compile(tree, tokens); }};
}

}  // namespace

TEST(interrupted_masks_of_patterns) {
  interrupt_many(40, 250, [](std::uint64_t, Choices& choices) { return plain_subject(choices, {}); });
}

TEST(interrupted_masks_of_lookaround_and_the_like) {
  interrupt_many(40, 500, [](std::uint64_t seed, Choices& choices) {
    generate::Bounds bounds;
    bounds.largest_count = 5;
    bounds.has_operators = true;
    bounds.has_controls = seed % 4 == 1;
    bounds.has_edges = seed % 4 == 2;
    return plain_subject(choices, bounds);
  });
}

TEST(interrupted_masks_of_json) {
  static const auto vocabulary = vocabulary_of(RandomValues::tokens());
  interrupt_many(20, 250, [](std::uint64_t, Choices& choices) {
    const ExpressionPtr grammar = RandomValues(choices).grammar();
    return Subject{.name = "json",
                   .compile =
                       [grammar] {
                         return std::make_shared<Constraint>(grammar, vocabulary, nullptr,
                                                             TokenAutomaton::ControlTokens(), Limits(), nullptr);
                       },
                   .with_budgets = false};
  });
}

TEST(interrupted_masks_of_canonical_patterns) {
  interrupt_many(6, 150, [](std::uint64_t, Choices& choices) {
    const oracle::TreePtr tree = generate::tree(choices, choices.between(2, 7), {});
    return canonical(oracle::shown(tree), expression_of(tree));
  });
}

// `ab|` may come wherever a text may end, and whether it lives is searched.
TEST(interrupted_masks_where_added_tokens_may_come) {
  Subject subject = canonical("anything", expression_of(oracle::star(oracle::any())));
  subject.texts = {{{'c'}}};
  subject.with_budgets = false;
  interrupt_everywhere(subject, test::drawn(500));
}

TEST(interrupted_masks_of_canonical_json) {
  interrupt_many(4, 100, [](std::uint64_t, Choices& choices) {
    Subject subject = canonical("canonical json", RandomValues(choices).grammar());
    subject.with_budgets = false;
    return subject;
  });
}

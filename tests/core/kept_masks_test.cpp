// Masks as bytes: what another constraint reads of them is right by the oracle, and bytes that anybody wrote do no
// harm.

#include <string>
#include <vector>

#include "amounts.hpp"
#include "engine.hpp"
#include "generate.hpp"
#include "matching/kept_masks.hpp"

namespace {

using tokamata::Constraint;
using tokamata::KeptMasks;
using tokamata::Matcher;

struct KeptCase {
  Choices choices;
  oracle::TreePtr tree;
  oracle::Tokens tokens;

  explicit KeptCase(std::uint64_t seed) : choices(seed) {
    generate::Bounds bounds;
    bounds.largest_count = 5;
    bounds.has_operators = seed % 2 == 0;
    bounds.has_controls = seed % 4 == 1;
    bounds.has_edges = seed % 4 == 2;
    tree = generate::tree(choices, choices.between(1, 9), bounds);
    tokens = generate::tokens(choices, tree);
  }
  std::string shown() const { return "pattern " + oracle::shown(tree) + "\n    " + oracle::shown(tokens); }
  std::shared_ptr<Constraint> compile(const oracle::TokenGraph& graph) const {
    return engine::compile_like(graph, engine::expression_of(tree), engine::vocabulary_of(tokens),
                                engine::start_vocabulary_of(tokens), engine::controls_of(tokens));
  }
};

template <class One>
void for_kept_cases(std::uint64_t count, One&& one) {
  for (std::uint64_t seed = 1; seed <= test::drawn(count); ++seed) {
    KeptCase made(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed) + ", " + made.shown(); });
    try {
      oracle::Language language(made.tree, 120);
      const oracle::TokenGraph graph(language, made.tokens, 60);
      if (const auto constraint = graph.size() > 60 ? nullptr : made.compile(graph)) one(made, graph, constraint);
    } catch (const oracle::TooLarge&) {
    }
  }
}

// Tokens drawn from masks.
void use(Constraint& constraint, Matcher& matcher, Choices& choices, unsigned steps) {
  for (unsigned i = 0; i < steps; ++i) {
    std::vector<tokamata::TokenId> allowed;
    const tokamata::MaskPtr mask = matcher.mask();
    tokamata::for_each_bit(mask->bits.row(), [&](std::uint32_t token) { allowed.push_back({token}); });
    if (allowed.empty() || !matcher.advance(choices.of(allowed))) return;
  }
  CHECK(constraint.memory_bytes() > 0);
}

TEST(masks_that_are_read_are_those_of_the_oracle) {
  std::size_t states = 0;
  for_kept_cases(300,
                 [&](KeptCase& one, const oracle::TokenGraph& graph, const std::shared_ptr<Constraint>& constraint) {
                   for (int text = 0; text < 3; ++text) {
                     Matcher matcher(constraint);
                     use(*constraint, matcher, one.choices, 6);
                   }
                   const std::string bytes = KeptMasks(*constraint).bytes(nullptr);
                   const auto other = one.compile(graph);
                   const std::optional<std::size_t> count = KeptMasks(*other).read(bytes, 10, nullptr);
                   CHECK(count.has_value());
                   states += *count;
                   engine::check_everywhere(other, graph, one.tokens, false);
                   const auto third = one.compile(graph);  // of all states
                   CHECK(KeptMasks(*third).read(KeptMasks(*other).bytes(nullptr), 10, nullptr).has_value());
                   engine::check_everywhere(third, graph, one.tokens, false);
                 });
  CHECK(states > 0);
}

// Calls that go along masks, whatever these allow.
void use_in_all_ways(const std::shared_ptr<Constraint>& constraint, Choices& choices) {
  Matcher matcher(constraint);
  for (int i = 0; i < 3; ++i) {
    matcher.forced_tokens();
    matcher.shortest_completion();
    std::vector<tokamata::TokenId> draft;
    for (int node = 0; node < 3; ++node) draft.push_back({choices.below(constraint->vocabulary().width())});
    matcher.draft_masks({draft, {}}, std::nullopt, false);
    try {
      matcher.mask_within(choices.between(1, 5), false);
    } catch (const tokamata::BudgetTooSmall&) {
    }
    use(*constraint, matcher, choices, 2);
  }
}

TEST(bytes_of_anybody_do_no_harm) {
  std::size_t read = 0;
  for_kept_cases(
      200, [&](KeptCase& one, const oracle::TokenGraph& graph, const std::shared_ptr<Constraint>& constraint) {
        for (int text = 0; text < 2; ++text) {
          Matcher matcher(constraint);
          use(*constraint, matcher, one.choices, 5);
        }
        const std::string bytes = KeptMasks(*constraint).bytes(nullptr);
        for (int i = 0; i < 12; ++i) {
          std::string changed = bytes;
          for (std::uint32_t changes = one.choices.between(1, 3); changes > 0; --changes) {
            const std::uint32_t at = one.choices.between(8, static_cast<std::uint32_t>(bytes.size()) - 1);
            changed[at] = static_cast<char>(one.choices.one_in(2) ? one.choices.below(4) : one.choices.below(256));
          }
          if (one.choices.one_in(6)) changed.resize(one.choices.below(static_cast<std::uint32_t>(changed.size())));
          const auto other = one.compile(graph);
          if (!KeptMasks(*other).read(changed, 10, nullptr)) continue;
          ++read;
          use_in_all_ways(other, one.choices);
        }
      });
  CHECK(read > 0);
}

}  // namespace

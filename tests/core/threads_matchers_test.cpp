// Matchers of one constraint and of several, used at once: threads.hpp says how they are judged.

#include "matching/prepare.hpp"
#include "threads.hpp"

namespace {

using namespace threads;

// ---- matchers of one constraint ---------------------------------------------------------------

TEST(matchers_of_one_constraint_are_told_what_they_are_told_alone) {
  for (const Sample& sample : samples())
    for (unsigned round = 0; round < 4; ++round) {
      const auto constraint = sample.compile();  // nothing is known yet
      Matcher common(constraint);                // all read and fork it, none advances it
      at_once(3, [&](unsigned number) {
        const test::Note note([&] { return sample.name; });
        CHECK(common.mask()->bits.row() == sample.positions[0].mask);
        Player player(number % 2 ? common.fork() : std::make_unique<Matcher>(constraint), number);
        CHECK_EQUAL(play_all(player, sample, number * (1 + round)), sample.texts.size());
        CHECK(common.mask()->bits.row() == sample.positions[0].mask);
        (void)common.forced_text();
        (void)common.explain({number});
      });
      CHECK(common.tokens().empty());
    }
}

// Preparing takes the lock for one state at a time; with little memory, collections come between two of them.
TEST(matchers_are_told_the_same_beside_preparing) {
  for (const Sample& sample : samples())
    for (const bool in_little_memory : {false, true}) {
      const auto measured = sample.compile();
      (void)Matcher(measured).mask();
      const std::size_t least = measured->memory_bytes();
      play_alone(measured, sample);
      Limits limits;
      if (in_little_memory) limits.memory_bytes = least + (measured->memory_bytes() - least) / 2;
      const auto constraint = sample.compile(limits);
      const auto cancel = std::make_shared<CancelToken>();
      at_once(4, [&](unsigned number) {
        const test::Note note([&] { return sample.name; });
        if (number == 3) return cancel->cancel();
        if (number == 2) {
          const tokamata::Preparation report = prepare(*constraint, limits.seconds, nullptr);
          CHECK(in_little_memory || report.is_finished);
          CHECK_THROWS(Cancelled, for (unsigned i = 0; i < 100'000; ++i) prepare(*constraint, limits.seconds, cancel));
          return;
        }
        Player player(std::make_unique<Matcher>(constraint), number);
        const unsigned played = play_all(player, sample, number);
        CHECK(in_little_memory || played == sample.texts.size());
      });
      if (!in_little_memory) play_alone(constraint, sample);
    }
}

// Where masks are given up and states collected all the time: texts that are stopped are given up, and the
// others are told the same.
TEST(matchers_in_little_memory_are_told_the_same_or_stopped) {
  unsigned given_up = 0, played = 0, stopped = 0;
  for (const Sample& sample : samples())
    for (const bool few_states : {false, true}) {
      const auto measured = sample.compile();
      (void)Matcher(measured).mask();  // which is computed outside of any text
      const std::size_t least_bytes = measured->memory_bytes(), least_states = measured->state_count();
      play_alone(measured, sample);
      Limits limits;
      if (few_states) limits.states = least_states + (measured->state_count() - least_states) / 2;
      else limits.memory_bytes = least_bytes + (measured->memory_bytes() - least_bytes) / 2;
      const auto constraint = sample.compile(limits);
      const auto first = Matcher(constraint).mask();
      std::atomic<unsigned> count{0};
      at_once(3, [&](unsigned number) {
        const test::Note note([&] { return sample.name; });
        Player player(std::make_unique<Matcher>(constraint), number);
        count += play_all(player, sample, number);
      });
      played += count;
      stopped += 3 * static_cast<unsigned>(sample.texts.size()) - count;
      given_up += constraint->oldest_serial() > 0;
      CHECK(first->bits.row() == sample.positions[0].mask);
      // Memory is looked at now and then; what a stopped call has built stays until the next one.
      if (!few_states) CHECK(constraint->memory_bytes() <= limits.memory_bytes + limits.memory_bytes / 10 + 4096);
    }
  const test::Note note([&] {
    return std::to_string(played) + " texts played, " + std::to_string(stopped) + " stopped, " +
           std::to_string(given_up) + " constraints gave up masks";
  });
  CHECK(given_up >= samples().size() / 2);
  CHECK(stopped > 0);
  CHECK(3 * played > stopped);
}

// The members named try_ answer from what is known, or not at all, while another thread finds out more and
// gives up what it found before.
TEST(what_is_known_is_told_while_others_work) {
  const Sample sample(explosion(5), tokens_of_letters(8));
  const Words words = Matcher(sample.compile_apart()).mask()->bits.row();
  const Words narrow = Matcher(sample.compile_apart()).mask_within(30, true)->bits.row();
  for (const bool few_states : {false, true}) {
    Limits limits;
    if (few_states) limits.states = 500;
    const auto constraint = sample.compile(limits);
    std::atomic<bool> finished{false};
    at_once(3, [&](unsigned number) {
      Choices choices(number);
      Matcher matcher(constraint);
      const auto letter = [&] { return TokenId{static_cast<std::uint32_t>(choices.one_in(2) ? 'a' : 'b')}; };
      if (number == 0) {
        for (unsigned i = 0; i < 150; ++i) try {
            CHECK(matcher.advance(letter()));
            (void)matcher.mask();
            if (i % 10 == 0) (void)matcher.mask_within(30, true);
          } catch (const LimitExceeded&) {
            CHECK(few_states);
            CHECK(matcher.rollback(matcher.tokens().size()));
          }
        finished = true;
        return;
      }
      for (std::uint64_t oldest = 0; !finished;) {
        CHECK(constraint->oldest_serial() >= oldest);
        oldest = constraint->oldest_serial();
        if (const MaskPtr mask = matcher.try_mask()) CHECK(mask->bits.row() == words);
        if (const MaskPtr mask = matcher.try_mask_within(30, true)) CHECK(mask->bits.row() == narrow);
        const std::optional<bool> advanced = matcher.try_advance(letter());
        CHECK(advanced.value_or(true));
        if (advanced) CHECK(matcher.rollback(1));
      }
    });
    CHECK(Matcher(constraint).mask()->bits.row() == words);
    CHECK_EQUAL(constraint->oldest_serial() > 0, few_states);
  }
}

// One matcher, used by all threads at once: any interleaving is some order of whole calls.
TEST(one_matcher_takes_whole_calls_in_some_order) {
  const Tokens tokens = engine::with_all_bytes({"aa"});
  const auto constraint = engine::compile(star(one_of({{'a', 'z'}})), tokens);
  Matcher matcher(constraint);
  const auto words = matcher.mask()->bits.row();
  std::atomic<int> balance{0};
  at_once(3, [&](unsigned number) {
    Choices choices(number);
    for (unsigned i = 0; i < 3000; ++i) switch (choices.below(8)) {
        case 0: CHECK(matcher.fork()->mask()->bits.row() == words); break;
        case 1: CHECK(matcher.mask()->bits.row() == words); break;
        case 2: CHECK(std::ranges::all_of(matcher.tokens(), [](TokenId token) { return token.value == 'a'; })); break;
        case 3: CHECK(std::ranges::all_of(matcher.text(), [](char letter) { return letter == 'a'; })); break;
        case 4: CHECK(matcher.is_accepting() && matcher.forced_text().empty()); break;
        case 5: balance -= matcher.rollback(1); break;
        default: balance += matcher.try_advance({'a'}).value_or(false) || matcher.advance({'a'});
      }
  });
  CHECK_EQUAL(matcher.tokens().size(), static_cast<std::size_t>(balance.load()));
}

// ---- constraints of one vocabulary ------------------------------------------------------------

TEST(constraints_compiled_at_once_share_a_vocabulary) {
  const std::vector<Sample> all = samples_of_classes();
  for (const bool in_one_order : {false, true}) {
    const auto vocabulary = engine::vocabulary_of(all[0].tokens);
    compile_at_once(all, in_one_order, [&](const Sample& sample) { return sample.compile({}, nullptr, vocabulary); });
  }
}

TEST(shared_masks_are_found_whole_or_not_at_all) {
  MaskCache cache;
  std::atomic<unsigned> found{0};
  at_once(3, [&](unsigned number) {
    std::vector<std::pair<MaskCache::TokensPtr, std::uint32_t>> held;
    Choices choices(number);
    for (unsigned i = 0; i < 2000; ++i) {
      const std::uint32_t value = choices.one_in(3) ? i : choices.below(400);  // more than it keeps
      const std::string key = std::to_string(value);
      MaskCache::TokensPtr tokens = cache.find(key);
      found += tokens != nullptr;
      if (!tokens) {
        tokens = std::make_shared<const MaskCache::Tokens>(MaskCache::Tokens{Words(40, value), value});
        cache.keep(key, tokens);
      }
      held.emplace_back(tokens, value);
    }
    for (const auto& [tokens, value] : held) {
      CHECK(tokens->words == Words(40, value));
      CHECK_EQUAL(tokens->count, value);
    }
  });
  CHECK(found > 100);
}

TEST(short_tokens_are_counted_the_same_by_all) {
  const Tokens tokens = wide_tokens();
  const auto vocabulary = engine::vocabulary_of(tokens), apart = engine::vocabulary_of(tokens);
  std::vector<MaskCache::TokensPtr> expected;
  for (unsigned most = 0; most < 12; ++most) expected.push_back(apart->short_tokens(most));
  at_once(3, [&](unsigned number) {
    for (unsigned i = 0; i < 24; ++i) {
      const unsigned most = (i + 5 * number) % 12;
      const MaskCache::TokensPtr actual = vocabulary->short_tokens(most);
      CHECK(actual->words == expected[most]->words);
      CHECK_EQUAL(actual->count, expected[most]->count);
    }
  });
}

}  // namespace

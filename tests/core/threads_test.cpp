// Several threads at once: what each of them is told must be what a single thread is told.
//
// How.  One thread writes down calls and their answers, on constraints that nobody else uses (record).
// Then threads make the same calls at the same time, on matchers of one constraint or of several, and
// every answer is compared word by word (Player).  An answer may be missing where a limit or a cancelled
// token stopped a call; then the matcher must be as before, and it goes on with another text.
// Under the thread sanitizer (make test-threads) every access without its lock is a failure too.

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "generate.hpp"
#include "matching/batch.hpp"
#include "walk.hpp"

namespace {

using namespace oracle;
using tokamata::Cancelled;
using tokamata::CancelToken;
using tokamata::Constraint;
using tokamata::ExpressionPtr;
using tokamata::LimitExceeded;
using tokamata::Limits;
using tokamata::MaskCache;
using tokamata::MaskPtr;
using tokamata::Matcher;
using tokamata::TokenId;
using tokamata::Vocabulary;
using Words = std::vector<std::uint32_t>;

// Runs work(0), ..., work(count - 1) at once, each in a thread of its own; throws what the first of them threw.
void at_once(unsigned count, const std::function<void(unsigned)>& work) {
  std::latch start(count);
  std::vector<std::exception_ptr> faults(count);
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 0; number < count; ++number)
      threads.emplace_back([&, number] {
        start.arrive_and_wait();
        try {
          work(number);
        } catch (...) {
          faults[number] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

Words ids_of(const std::vector<TokenId>& tokens) {
  Words ids;
  for (const TokenId token : tokens) ids.push_back(token.value);
  return ids;
}

bool has(const Words& words, std::uint32_t id) { return (words[id / 32] >> (id % 32)) & 1; }

// ---- calls and their answers ------------------------------------------------------------------

struct Call {
  enum class Verb { Mask, MaskWithin, Advance, RollBack, Fork, Return, Explain, ForcedText, ForcedTokens, Shortest, Read };
  Verb verb;
  std::uint32_t first = 0, second = 0;
  Words answer = {};
};

// Makes calls, one text after the other, and compares the answers; every mask it is given it keeps.
class Player {
 public:
  Player(std::unique_ptr<Matcher> matcher, std::uint64_t seed) : choices_(seed), matcher_(std::move(matcher)) {}

  // False where a limit or a cancelled token stopped it.
  bool play(const std::vector<Call>& calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const test::Note note([&] {
        return "call " + std::to_string(i) + " of the text, verb " + std::to_string(static_cast<int>(calls[i].verb));
      });
      const std::vector<TokenId> before = matcher_->tokens();
      try {
        CHECK(answer(calls[i]) == calls[i].answer);
        continue;
      } catch (const LimitExceeded& error) {
        CHECK(error.limit == "states" || error.limit == "memory_bytes");
      } catch (const Cancelled&) {
      }
      CHECK(matcher_->tokens() == before);
      begin_again();
      return false;
    }
    begin_again();
    return true;
  }

  Words answer(const Call& call) {
    const TokenId token{call.first};
    switch (call.verb) {
      case Call::Verb::Mask: {
        const MaskPtr known = choices_.one_in(2) ? matcher_->try_mask() : nullptr;
        return kept(known ? known : matcher_->mask());
      }
      case Call::Verb::MaskWithin: return mask_within(call.first, call.second);
      case Call::Verb::Advance: {
        const std::optional<bool> quick = choices_.one_in(2) ? matcher_->try_advance(token) : std::nullopt;
        return {quick ? *quick : matcher_->advance(token)};
      }
      case Call::Verb::RollBack: return {matcher_->rollback(call.first)};
      case Call::Verb::Fork: {
        std::unique_ptr<Matcher> fork = matcher_->fork();
        origins_.push_back(std::exchange(matcher_, std::move(fork)));
        return ids_of(matcher_->tokens());
      }
      case Call::Verb::Return: {  // to what was forked last; it knows nothing of its fork
        if (origins_.empty()) return {};
        matcher_ = std::move(origins_.back());
        origins_.pop_back();
        return ids_of(matcher_->tokens());
      }
      case Call::Verb::Explain: {
        const tokamata::Explanation why = matcher_->explain(token);
        Words words = {static_cast<std::uint32_t>(why.verdict), static_cast<std::uint32_t>(why.offset)};
        for (unsigned byte = 0; byte < 256; ++byte)
          if (why.expected.contains(static_cast<std::uint8_t>(byte))) words.push_back(byte);
        return words;
      }
      case Call::Verb::ForcedText: {
        const std::string text = matcher_->forced_text();
        return Words(text.begin(), text.end());
      }
      case Call::Verb::ForcedTokens: return ids_of(matcher_->forced_tokens());
      case Call::Verb::Shortest: return shortest();
      case Call::Verb::Read: return read();
    }
    return {};
  }

  void begin_again() {
    origins_.clear();
    CHECK(matcher_->rollback(matcher_->tokens().size()));
  }

  void check_kept() const {
    for (const auto& [mask, words] : kept_) CHECK(mask->words == words);
  }

 private:
  const Words& kept(MaskPtr mask) {
    kept_.emplace_back(mask, mask->words);
    return kept_.back().second;
  }

  Words mask_within(std::uint32_t tokens, bool count_stop) {
    try {
      const MaskPtr known = choices_.one_in(2) ? matcher_->try_mask_within(tokens, count_stop) : nullptr;
      // An empty one that is known may stand for an error.
      return kept(known && known->set_bits > 0 ? known : matcher_->mask_within(tokens, count_stop));
    } catch (const tokamata::BudgetTooSmall& error) {
      return {~0u, static_cast<std::uint32_t>(error.needed)};
    }
  }

  // Its length; there may be several, of which any will do.
  Words shortest() {
    const std::vector<TokenId> tokens = matcher_->shortest_completion();
    const std::unique_ptr<Matcher> other = matcher_->fork();
    for (const TokenId token : tokens) CHECK(other->advance(token));
    CHECK(other->is_accepting());
    return {static_cast<std::uint32_t>(tokens.size())};
  }

  Words read() {
    Words words = ids_of(matcher_->tokens());
    const std::string text = matcher_->text();
    words.insert(words.end(), text.begin(), text.end());
    words.push_back(matcher_->is_accepting());
    words.push_back(matcher_->is_finished());
    Constraint& constraint = *matcher_->constraint();  // its numbers depend on what others do
    CHECK(constraint.state_count() > 0);
    CHECK(constraint.memory_bytes() > 0);
    (void)constraint.oldest_serial();
    return words;
  }

  Choices choices_;
  std::unique_ptr<Matcher> matcher_;
  std::vector<std::unique_ptr<Matcher>> origins_;
  std::vector<std::pair<MaskPtr, Words>> kept_;
};

// ---- patterns, vocabularies, and what a single thread is told ---------------------------------

struct Sample {
  struct Position {
    Words tokens;
    Words mask;
  };

  TreePtr tree;
  std::string name;
  Tokens tokens;
  ExpressionPtr pattern;
  std::shared_ptr<const Vocabulary> vocabulary, start_vocabulary;
  std::vector<std::vector<Call>> texts;
  std::vector<Position> positions;  // the first is the empty text

  Sample(const TreePtr& its_tree, Tokens its_tokens)
      : tree(its_tree), name(shown(tree)), tokens(std::move(its_tokens)), pattern(engine::expression_of(tree)),
        vocabulary(engine::vocabulary_of(tokens)), start_vocabulary(engine::start_vocabulary_of(tokens)) {}

  std::shared_ptr<Constraint> compile(const Limits& limits = {}, std::shared_ptr<const CancelToken> cancel = nullptr,
                                      std::shared_ptr<const Vocabulary> other_vocabulary = nullptr) const {
    return std::make_shared<Constraint>(*pattern, other_vocabulary ? other_vocabulary : vocabulary, start_vocabulary,
                                        engine::controls_of(tokens), limits, std::move(cancel));
  }

  // With a vocabulary of its own, as wide as this one.
  std::shared_ptr<Constraint> compile_apart() const { return compile({}, nullptr, engine::vocabulary_of(tokens)); }
};

Call drawn(Choices& choices, const Sample& sample, const Words& mask) {
  using enum Call::Verb;
  const std::uint32_t any = choices.below(sample.tokens.width);
  switch (choices.below(20)) {
    case 0: return {RollBack, choices.below(4)};
    case 1: return {Fork};
    case 2: return {Return};
    case 3: return {Explain, any};
    case 4: return {ForcedText};
    case 5: return {ForcedTokens};
    case 6: return {Shortest};
    case 7: return {Read};
    case 8: return {Advance, any};
    case 9:
    case 10: return {MaskWithin, choices.between(1, choices.one_in(2) ? 6 : 50), choices.below(2)};
    default: break;
  }
  // A token that is allowed, where there is one; seldom a stop token, after which there is little to ask.
  std::uint32_t id = any;
  for (std::uint32_t i = 0; i < sample.tokens.width && (!has(mask, id) || (sample.tokens.is_stop(id) && i % 8 != 7)); ++i)
    id = (id + 1) % sample.tokens.width;
  return {Advance, id};
}

// The longest token that `text` begins with.
std::optional<std::uint32_t> token_of(const Tokens& tokens, std::string_view text) {
  std::optional<std::uint32_t> longest;
  for (std::uint32_t id = 0; id < tokens.bytes.size(); ++id)
    if (const auto& bytes = tokens.bytes[id]; bytes && !bytes->empty() && text.starts_with(*bytes) && !tokens.is_stop(id))
      if (!longest || bytes->size() > tokens.bytes[*longest]->size()) longest = id;
  return longest;
}

// Each text begins like one that the pattern matches, and then goes its own way.
void record(Sample& sample, unsigned texts, unsigned calls, std::uint64_t seed) {
  Choices choices(seed);
  const auto constraint = sample.compile_apart();
  for (unsigned number = 0; number < texts; ++number) {
    Player player(std::make_unique<Matcher>(constraint), seed + number);
    std::vector<Call>& text = sample.texts.emplace_back();
    const auto add = [&](Call call) {
      call.answer = player.answer(call);
      text.push_back(std::move(call));
    };
    const std::string whole = number % 3 ? generate::text(choices, sample.tree) : "";
    const std::string beginning = whole.substr(0, choices.below(static_cast<std::uint32_t>(whole.size()) + 1));
    for (std::size_t at = 0; at < beginning.size();) {
      const std::optional<std::uint32_t> id = token_of(sample.tokens, std::string_view(beginning).substr(at));
      if (!id) break;
      add({Call::Verb::Advance, *id});
      if (text.back().answer == Words{0}) break;
      at += sample.tokens.bytes[*id]->size();
    }
    for (unsigned i = 0; i < calls; ++i) {
      add({Call::Verb::Read});
      add({Call::Verb::Mask});
      const Words mask = text.back().answer;
      add(drawn(choices, sample, mask));
    }
  }
}

// Where texts lead as far as nothing is taken back.
void find_positions(Sample& sample) {
  const auto constraint = sample.compile_apart();
  sample.positions.push_back({{}, Matcher(constraint).mask()->words});
  for (const std::vector<Call>& text : sample.texts) {
    Matcher matcher(constraint);
    for (const Call& call : text) {
      if (call.verb == Call::Verb::RollBack || call.verb == Call::Verb::Return) break;
      if (call.verb == Call::Verb::Advance && matcher.advance({call.first}))
        sample.positions.push_back({ids_of(matcher.tokens()), matcher.mask()->words});
    }
  }
}

// {"name":"...","tags":["...",...],"age":...}, read by some thousand tokens.
TreePtr object() {
  const TreePtr letters = one_of({{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x10FFFF}});
  const TreePtr small = one_of({{'a', 'z'}, {0xE0, 0xFF}});
  const TreePtr tag = sequence({text("\""), repeat(small, 1, kUnbounded), text("\"")});
  return sequence({text("{\"name\":\""), repeat(letters, 0, 20), text("\",\"tags\":["),
                   optional(sequence({tag, repeat(sequence({text(","), tag}), 0, 3)})), text("],\"age\":"),
                   repeat(one_of({{'0', '9'}}), 1, 3), text("}")});
}

Tokens wide_tokens() {
  std::vector<std::string> more = {"{\"", "\":\"", "\",\"", "\"],\"", "name", "tags", "age", "\":", "}", "é", "aé", "\"]"};
  Choices choices(17);
  for (unsigned i = 0; i < 3000; ++i) {
    std::string token = i % 3 == 0 ? " " : "";
    for (std::uint32_t length = choices.between(2, 7); length > 0; --length)
      token += oracle::encoded(choices.one_in(9) ? 0xE0 + choices.below(30) : 'a' + choices.below(26));
    more.push_back(i % 7 == 0 ? std::to_string(i) : token);
  }
  return engine::with_all_bytes(more);
}

// (([ab][ab]|[ab]{3})*a([ab][ab]){n}c){1,3}: every token must be walked, and nearly every one ends in a state
// of its own.
TreePtr explosion(unsigned count) {
  const TreePtr letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  const TreePtr pairs_and_threes = star(choice({pair, sequence({pair, letter})}));
  return repeat(sequence({pairs_and_threes, text("a"), repeat(pair, count, count), text("c")}), 1, 3);
}

// All bytes, all strings of so many letters a and b, and some with a c.
Tokens tokens_of_letters(unsigned length) {
  std::vector<std::string> more = {"aa", "ab", "ba", "abc", "aac", "ac", "bc", "ca", "cab"};
  for (unsigned bits = 0; bits < 1u << length; ++bits) {
    std::string token;
    for (unsigned i = 0; i < length; ++i) token.push_back((bits >> i) & 1 ? 'a' : 'b');
    more.push_back(token);
  }
  return engine::with_all_bytes(more);
}

// Two that are fixed, and random ones: plain, with every operator, with control tokens, with edges of tokens.
std::vector<Sample> make_samples() {
  std::vector<Sample> samples;
  samples.emplace_back(object(), wide_tokens());
  samples.emplace_back(explosion(4), tokens_of_letters(4));
  for (std::uint64_t seed = 1; samples.size() < 8; ++seed) {
    Choices choices(seed + 7'000'000);
    generate::Bounds bounds;
    bounds.largest_count = 6;
    bounds.may_be_empty = false;
    bounds.has_operators = samples.size() >= 4;
    bounds.has_controls = samples.size() == 6;
    bounds.has_edges = samples.size() == 7;
    const TreePtr tree = generate::tree(choices, choices.between(6, 10), bounds);
    Sample sample(tree, generate::tokens(choices, tree));
    if ((sample.start_vocabulary != nullptr) != (samples.size() == 3)) continue;
    if (sample.pattern->control_tokens().empty() == bounds.has_controls) continue;
    if (sample.pattern->sees_edges() != bounds.has_edges) continue;
    Limits limits;
    limits.states = 400;
    try {  // there must be something to find out, and not too much
      Matcher matcher(sample.compile(limits));
      std::set<Words> masks;
      for (unsigned i = 0; i < 12 && matcher.mask()->open_tokens > 0; ++i) {
        masks.insert(matcher.mask()->words);
        const Call call = drawn(choices, sample, matcher.mask()->words);
        if (call.verb == Call::Verb::Advance) (void)matcher.advance({call.first});
      }
      if (masks.size() < 4) continue;
    } catch (const std::runtime_error&) {
      continue;
    }
    samples.push_back(std::move(sample));
  }
  for (Sample& sample : samples) {
    const test::Note note([&] { return sample.name; });
    record(sample, 8, 12, samples.size());
    find_positions(sample);
  }
  return samples;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

// All texts of the sample, from one that depends on the number.  Result: how many were played to their end.
unsigned play_all(Player& player, const Sample& sample, unsigned number) {
  unsigned played = 0;
  for (std::size_t i = 0; i < sample.texts.size(); ++i)
    played += player.play(sample.texts[(i + number) % sample.texts.size()]);
  player.check_kept();
  return played;
}

void play_alone(const std::shared_ptr<Constraint>& constraint, const Sample& sample) {
  Player player(std::make_unique<Matcher>(constraint), 1);
  CHECK_EQUAL(play_all(player, sample, 0), sample.texts.size());
}

std::unique_ptr<Matcher> matcher_at(const std::shared_ptr<Constraint>& constraint, const Sample::Position& position) {
  auto matcher = std::make_unique<Matcher>(constraint);
  for (const std::uint32_t id : position.tokens) CHECK(matcher->advance({id}));
  return matcher;
}

// ---- matchers of one constraint ---------------------------------------------------------------

TEST(matchers_of_one_constraint_are_told_what_they_are_told_alone) {
  for (const Sample& sample : samples())
    for (unsigned round = 0; round < 4; ++round) {
      const auto constraint = sample.compile();  // nothing is known yet
      Matcher common(constraint);                // all read and fork it, none advances it
      at_once(3, [&](unsigned number) {
        const test::Note note([&] { return sample.name; });
        CHECK(common.mask()->words == sample.positions[0].mask);
        Player player(number % 2 ? common.fork() : std::make_unique<Matcher>(constraint), number);
        CHECK_EQUAL(play_all(player, sample, number * (1 + round)), sample.texts.size());
        CHECK(common.mask()->words == sample.positions[0].mask);
        (void)common.forced_text();
        (void)common.explain({number});
      });
      CHECK(common.tokens().empty());
    }
}

// Where masks are given up and states collected all the time: texts that are stopped are given up, and the
// others are told the same.
TEST(matchers_in_little_memory_are_told_the_same_or_stopped) {
  unsigned given_up = 0, played = 0, stopped = 0;
  for (const Sample& sample : samples())
    for (const bool few_states : {false, true}) {
      const auto measured = sample.compile();
      (void)Matcher(measured).mask();  // which is asked for outside of any text
      const std::size_t least_bytes = measured->memory_bytes(), least_states = measured->state_count();
      play_alone(measured, sample);
      Limits limits;
      if (few_states)
        limits.states = least_states + (measured->state_count() - least_states) / 2;
      else
        limits.memory_bytes = least_bytes + (measured->memory_bytes() - least_bytes) / 2;
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
      CHECK(first->words == sample.positions[0].mask);
      // Memory is looked at now and then; what a stopped call has built stays until the next one.
      if (!few_states) CHECK(constraint->memory_bytes() <= limits.memory_bytes + limits.memory_bytes / 10 + 4096);
    }
  const test::Note note([&] {
    return std::to_string(played) + " texts played, " + std::to_string(stopped) + " stopped, " + std::to_string(given_up) +
           " constraints gave up masks";
  });
  CHECK(given_up >= samples().size() / 2);
  CHECK(stopped > 0);
  CHECK(3 * played > stopped);
}

// The members named try_ answer from what is known, or not at all, while another thread finds out more and
// gives up what it found before.
TEST(what_is_known_is_told_while_others_work) {
  const Sample sample(explosion(5), tokens_of_letters(8));
  const Words words = Matcher(sample.compile_apart()).mask()->words;
  const Words narrow = Matcher(sample.compile_apart()).mask_within(30, true)->words;
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
        if (const MaskPtr mask = matcher.try_mask()) CHECK(mask->words == words);
        if (const MaskPtr mask = matcher.try_mask_within(30, true)) CHECK(mask->words == narrow);
        const std::optional<bool> advanced = matcher.try_advance(letter());
        CHECK(advanced.value_or(true));
        if (advanced) CHECK(matcher.rollback(1));
      }
    });
    CHECK(Matcher(constraint).mask()->words == words);
    CHECK_EQUAL(constraint->oldest_serial() > 0, few_states);
  }
}

// One matcher, used by all threads at once: any interleaving is some order of whole calls.
TEST(one_matcher_takes_whole_calls_in_some_order) {
  const Tokens tokens = engine::with_all_bytes({"aa"});
  const auto constraint = engine::compile(star(one_of({{'a', 'z'}})), tokens);
  Matcher matcher(constraint);
  const auto words = matcher.mask()->words;
  std::atomic<int> balance{0};
  at_once(3, [&](unsigned number) {
    Choices choices(number);
    for (unsigned i = 0; i < 3000; ++i) switch (choices.below(8)) {
        case 0: CHECK(matcher.fork()->mask()->words == words); break;
        case 1: CHECK(matcher.mask()->words == words); break;
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

// Patterns of a few classes, with bounds on both sides of the longest token.
std::vector<Sample> samples_of_classes() {
  const TreePtr quote = text("\""), small = one_of({{'a', 'z'}}), half = one_of({{'a', 'p'}});
  const TreePtr word = one_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}), inside = one_of({{0x20, 0x21}, {0x23, 0x10FFFF}});
  const TreePtr french = one_of({{'a', 'z'}, {0xE0, 0xFF}}), half_french = one_of({{'a', 'p'}, {0xE0, 0xFF}});
  const Tokens tokens = wide_tokens();
  std::vector<Sample> all;
  for (const TreePtr& tree :
       {star(inside), sequence({quote, star(inside), quote}), sequence({repeat(small, 1, 4), text("."), star(small)}),
        sequence({repeat(word, 2, 5), text(" "), repeat(french, 3, 6)}), sequence({star(choice({french, text(" ")})), quote}),
        choice({sequence({star(word), quote}), repeat(inside, 0, 7), star(small)}),
        repeat(sequence({star(small), text(",")}), 0, 30),
        sequence({star(half), text("."), star(half_french)})})
    all.emplace_back(tree, tokens);
  for (Sample& sample : all) {
    record(sample, 2, 6, all.size());
    find_positions(sample);
  }
  return all;
}

TEST(constraints_compiled_at_once_share_a_vocabulary) {
  const std::vector<Sample> all = samples_of_classes();
  for (unsigned round = 0; round < 2; ++round) {
    const auto vocabulary = engine::vocabulary_of(all[0].tokens);
    std::vector<std::vector<std::pair<MaskPtr, const Words*>>> held(3);
    at_once(3, [&](unsigned number) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Sample& sample = all[(i + (round ? 0 : 2 * number)) % all.size()];
        const test::Note note([&] { return sample.name; });
        const auto constraint = sample.compile({}, nullptr, vocabulary);
        Player player(std::make_unique<Matcher>(constraint), number);
        CHECK_EQUAL(play_all(player, sample, number), sample.texts.size());
        for (const Sample::Position& position : sample.positions)
          held[number].emplace_back(matcher_at(constraint, position)->mask(), &position.mask);
      }
    });
    for (const auto& masks : held)
      for (const auto& [mask, words] : masks) CHECK(mask->words == *words);
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

// ---- cancelling -------------------------------------------------------------------------------

void sleep_some(Choices& choices, std::uint32_t most_microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(choices.below(most_microseconds)));
}

// What was cancelled is as before, and what it shares with others is none the worse: the lock, the
// pattern, the masks of the vocabulary.
TEST(another_thread_cancels_between_and_within_calls) {
  Choices choices(3);
  unsigned stopped = 0;
  for (const Sample& sample : samples()) {
    const test::Note note([&] { return sample.name; });
    for (unsigned round = 0; round < 3; ++round) {
      const auto vocabulary = engine::vocabulary_of(sample.tokens);
      const auto cancel = std::make_shared<CancelToken>();
      const auto constraint = sample.compile({}, cancel, vocabulary), other = sample.compile({}, nullptr, vocabulary);
      Matcher matcher(constraint);
      const MaskPtr first = matcher.mask();
      std::atomic<unsigned> played{0};
      at_once(4, [&](unsigned number) {
        if (number == 3) {
          sleep_some(choices, 2000);
          return cancel->cancel();
        }
        if (number == 2) return play_alone(other, sample);
        Player player(std::make_unique<Matcher>(constraint), number);
        played += play_all(player, sample, number);
      });
      stopped += played < 2 * sample.texts.size();
      CHECK(matcher.mask() == first);
      CHECK(first->words == sample.positions[0].mask);
      CHECK(matcher.tokens().empty());
      CHECK_THROWS(Cancelled, sample.compile({}, cancel, vocabulary));
      play_alone(sample.compile({}, nullptr, vocabulary), sample);
      play_alone(other, sample);
    }
  }
  CHECK(stopped > 0);
}

TEST(another_thread_cancels_a_long_walk) {
  const TreePtr tree = explosion(18);
  const Tokens tokens = tokens_of_letters(9);
  Limits limits;
  limits.memory_bytes = std::size_t{64} << 20;
  limits.seconds = 100;
  const auto cancel = std::make_shared<CancelToken>();
  const auto constraint = engine::compile(tree, tokens, limits, cancel);
  Matcher matcher(constraint);
  const MaskPtr first = matcher.mask();
  const Words words = first->words;
  at_once(3, [&](unsigned number) {
    if (number == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return cancel->cancel();
    }
    Choices choices(number);
    const auto own = matcher.fork();
    CHECK_THROWS(Cancelled, for (unsigned i = 0; i < 1'000'000; ++i) {
      (void)own->mask();
      (void)own->advance({static_cast<std::uint32_t>(choices.one_in(2) ? 'a' : 'b')});
      if (own->tokens().size() > 900) CHECK(own->rollback(800));
    });
    CHECK(own->rollback(own->tokens().size()));
    CHECK(own->mask() == first);
  });
  CHECK(matcher.mask() == first);
  CHECK(first->words == words);
  CHECK_THROWS(Cancelled, engine::compile(tree, tokens, limits, cancel));
}

// The masks that constraints share are made within calls of one of them: a call that is cancelled leaves none
// that is half made.
TEST(another_thread_cancels_masks_that_are_shared) {
  const std::vector<Sample> all = samples_of_classes();
  Choices choices(7);
  for (unsigned round = 0; round < 8; ++round) {
    const auto vocabulary = engine::vocabulary_of(all[0].tokens);
    const auto cancel = std::make_shared<CancelToken>();
    std::vector<std::shared_ptr<Constraint>> constraints;
    for (const Sample& sample : all) constraints.push_back(sample.compile({}, cancel, vocabulary));
    if (round == 0) cancel->cancel();
    at_once(3, [&](unsigned number) {
      if (number == 2) {
        sleep_some(choices, 600);
        return cancel->cancel();
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        Matcher matcher(constraints[(i + number) % all.size()]);
        try {
          CHECK(matcher.mask()->words == all[(i + number) % all.size()].positions[0].mask);
        } catch (const Cancelled&) {
        }
      }
    });
    for (const Sample& sample : all) play_alone(sample.compile({}, nullptr, vocabulary), sample);
  }
}

// A constraint that is cancelled while it is compiled is not there, or it is whole.
TEST(another_thread_cancels_compiling) {
  const Sample& sample = samples()[0];
  const auto vocabulary = engine::vocabulary_of(sample.tokens);
  Choices choices(5);
  for (unsigned round = 0; round < 6; ++round) {
    const auto cancel = std::make_shared<CancelToken>();
    at_once(3, [&](unsigned number) {
      if (number == 2) {
        sleep_some(choices, 3000);
        return cancel->cancel();
      }
      CHECK_THROWS(Cancelled, for (unsigned i = 0; i < 100'000; ++i) {
        const auto constraint = sample.compile({}, cancel, vocabulary);
        CHECK(Matcher(constraint).mask()->words == sample.positions[0].mask);
      });
    });
    play_alone(sample.compile({}, nullptr, vocabulary), sample);
  }
}

// ---- masks of a batch -------------------------------------------------------------------------

// Rows with a word on both sides that nobody may write.
class Rows {
 public:
  explicit Rows(std::span<Matcher* const> matchers) {
    for (const Matcher* matcher : matchers) rows_.emplace_back(matcher->constraint()->vocabulary().words() + 2, kUntouched);
    for (Words& row : rows_) places_.push_back(row.data() + 1);
  }

  std::span<std::uint32_t* const> places() const { return places_; }

  bool is_untouched(std::size_t i) const {
    return std::ranges::all_of(rows_[i], [](std::uint32_t word) { return word == kUntouched; });
  }

  void check(std::size_t i, const Words& expected) const {
    CHECK_EQUAL(rows_[i].front(), kUntouched);
    CHECK_EQUAL(rows_[i].back(), kUntouched);
    CHECK(std::equal(expected.begin(), expected.end(), rows_[i].begin() + 1, rows_[i].end() - 1));
  }

 private:
  static constexpr std::uint32_t kUntouched = 0xA5A5A5A5;
  std::vector<Words> rows_;
  std::vector<std::uint32_t*> places_;
};

// What a call of fill_masks reports: nothing, or the limit, or that it was cancelled.
std::string shown(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const LimitExceeded& limit) {
    return limit.limit;
  } catch (const Cancelled&) {
    return "cancelled";
  }
}

struct Batch {
  std::vector<std::unique_ptr<Matcher>> own;
  std::vector<Matcher*> matchers;
  std::vector<const Words*> masks;  // null where the row cannot be filled
  std::vector<std::string> errors;

  void add(Matcher& matcher, const Words* mask, std::string error = "") {
    matchers.push_back(&matcher);
    masks.push_back(mask);
    errors.push_back(std::move(error));
  }
  void add(std::unique_ptr<Matcher> matcher, const Words* mask, std::string error = "") {
    add(*matcher, mask, std::move(error));
    own.push_back(std::move(matcher));
  }

  void fill(unsigned threads) const {
    const Rows rows(matchers);
    const auto faults = tokamata::fill_masks(matchers, rows.places(), threads);
    CHECK_EQUAL(faults.size(), matchers.size());
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      const test::Note note([&] { return "row " + std::to_string(i) + ", " + std::to_string(threads) + " threads"; });
      CHECK_EQUAL(shown(faults[i]), errors[i]);
      if (masks[i])
        rows.check(i, *masks[i]);
      else
        CHECK(rows.is_untouched(i));
    }
  }
};

// Matchers of all samples at all positions, in no order, and of some more than once.
Batch batch_of(const std::vector<std::shared_ptr<Constraint>>& constraints, std::uint64_t seed) {
  Batch batch;
  Choices choices(seed);
  for (unsigned i = 0; i < 240; ++i) {
    const std::uint32_t which = choices.one_in(2) ? 1 : choices.below(static_cast<std::uint32_t>(constraints.size()));
    const Sample::Position& position = choices.of(samples()[which].positions);
    batch.add(matcher_at(constraints[which], position), &position.mask);
    if (choices.one_in(6)) batch.add(*batch.own.back(), &position.mask);
  }
  return batch;
}

std::vector<std::shared_ptr<Constraint>> compile_all() {
  std::vector<std::shared_ptr<Constraint>> constraints;
  for (const Sample& sample : samples()) constraints.push_back(sample.compile());
  return constraints;
}

TEST(batches_are_filled_the_same_by_any_number_of_threads) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();  // nothing is known yet
    const Batch batch = batch_of(constraints, 1);
    batch.fill(threads);
    batch.fill(threads);  // all is known
  }
  const Batch empty;
  empty.fill(4);
}

TEST(batches_are_filled_while_others_use_their_constraints) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();
    const Batch batch = batch_of(constraints, threads), other = batch_of(constraints, threads + 10);
    at_once(3, [&](unsigned number) {
      if (number == 0) return batch.fill(threads);
      if (number == 1) return other.fill(2);
      for (std::size_t i = 0; i < constraints.size(); ++i) play_alone(constraints[i], samples()[i]);
    });
  }
}

TEST(errors_in_a_batch_stay_with_their_rows) {
  // The first mask alone meets more states than there may be.
  Limits limits;
  limits.states = 200;
  const Sample large(explosion(6), tokens_of_letters(9));
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();
    Batch batch = batch_of(constraints, 1);
    const auto limited = large.compile(limits);
    const auto cancel = std::make_shared<CancelToken>();
    const auto cancelled = samples()[0].compile({}, cancel);
    cancel->cancel();
    for (unsigned i = 0; i < 3; ++i) {
      batch.add(std::make_unique<Matcher>(limited), nullptr, "states");
      batch.add(std::make_unique<Matcher>(cancelled), nullptr, "cancelled");
      batch.add(matcher_at(constraints[2], samples()[2].positions[0]), &samples()[2].positions[0].mask);
    }
    batch.add(*batch.own.back(), &samples()[2].positions[0].mask);
    at_once(2, [&](unsigned number) { batch.fill(number ? 2 : threads); });
    batch.fill(threads);
  }
}

// ---- the ends of matchers and constraints -----------------------------------------------------

// Matchers that are handed from thread to thread.
class Pool {
 public:
  struct Item {
    std::unique_ptr<Matcher> matcher;
    const Sample::Position* position;
  };

  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  std::optional<Item> take(Choices& choices) {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    std::swap(items_[choices.below(static_cast<std::uint32_t>(items_.size()))], items_.back());
    Item item = std::move(items_.back());
    items_.pop_back();
    return item;
  }

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
};

// Threads make, fork, hand over and destroy matchers, and let go of their constraint at different times;
// with the last matcher the constraint and the vocabulary are gone, and masks that are held are not.
void come_and_go(const Sample& sample, const Limits& limits) {
  auto vocabulary = engine::vocabulary_of(sample.tokens);
  auto constraint = sample.compile(limits, nullptr, vocabulary);
  const std::weak_ptr<const Vocabulary> vocabulary_left = vocabulary;
  const std::weak_ptr<Constraint> constraint_left = constraint;
  vocabulary.reset();
  std::vector<std::shared_ptr<Constraint>> owners(3, constraint);
  std::vector<std::vector<std::pair<MaskPtr, const Sample::Position*>>> held(3);
  constraint.reset();
  auto pool = std::make_unique<Pool>();
  at_once(3, [&](unsigned number) {
    const test::Note note([&] { return sample.name; });
    Choices choices(number);
    for (unsigned round = 0; round < 240; ++round) {
      if (round == 80 + 50 * number) owners[number].reset();
      try {
        if (owners[number] && choices.one_in(2)) {
          const Sample::Position& position = choices.of(sample.positions);
          pool->put({matcher_at(owners[number], position), &position});
          continue;
        }
        const std::optional<Pool::Item> item = pool->take(choices);
        if (!item) continue;
        const auto& [matcher, position] = *item;
        CHECK(ids_of(matcher->tokens()) == position->tokens);
        if (choices.one_in(3)) pool->put({matcher->fork(), position});
        held[number].emplace_back(matcher->mask(), position);
        CHECK(held[number].back().first->words == position->mask);
      } catch (const LimitExceeded&) {
        CHECK(limits.states < 1'000'000);
      }
    }
  });
  CHECK(std::ranges::none_of(owners, [](const auto& owner) { return owner != nullptr; }));
  pool.reset();
  CHECK(constraint_left.expired());
  CHECK(vocabulary_left.expired());
  for (const auto& masks : held)
    for (const auto& [mask, position] : masks) CHECK(mask->words == position->mask);
}

TEST(matchers_and_constraints_come_and_go) {
  for (const Sample& sample : samples()) come_and_go(sample, {});
}

TEST(matchers_come_and_go_while_states_are_collected) {
  for (const Sample& sample : samples()) {
    const auto measured = sample.compile();
    Limits limits;
    limits.states = measured->state_count();
    play_alone(measured, sample);
    limits.states += (measured->state_count() - limits.states) / 2;
    come_and_go(sample, limits);
  }
}

}  // namespace

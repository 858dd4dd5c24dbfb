// What the tests of several threads share: what each thread is told must be what a single thread is told.
//
// How.  One thread writes down calls and their answers, on constraints that nobody else uses (record).
// Then threads make the same calls at the same time, on matchers of one constraint or of several, and
// every answer is compared word by word (Player).  An answer may be missing where a limit or a cancelled
// token stopped a call; then the matcher must be as before, and it goes on with another text.
// Under the thread sanitizer (make test-threads) every access without its lock is a failure too.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "generate.hpp"
#include "walk.hpp"

namespace threads {

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
using tokamata::Tokenization;
using tokamata::Vocabulary;
using Words = std::vector<std::uint32_t>;

// Runs work(0), ..., work(count - 1) at once, each in a thread of its own; throws what the first of them threw.
inline void at_once(unsigned count, const std::function<void(unsigned)>& work) {
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

inline Words ids_of(const std::vector<TokenId>& tokens) {
  Words ids;
  for (const TokenId token : tokens) ids.push_back(token.value);
  return ids;
}

inline bool has(const Words& words, std::uint32_t id) { return (words[id / 32] >> (id % 32)) & 1; }

// ---- calls and their answers ------------------------------------------------------------------

struct Call {
  enum class Verb {
    Mask,
    MaskWithin,
    Advance,
    RollBack,
    Fork,
    Return,
    Explain,
    ForcedText,
    ForcedTokens,
    Shortest,
    Read
  };
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
    for (const auto& [mask, words] : kept_) CHECK(mask->bits.row() == words);
  }

 private:
  const Words& kept(MaskPtr mask) {
    kept_.emplace_back(mask, mask->bits.row());
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
  // For canonical tokenization: of `vocabulary`, and how to make one.
  std::shared_ptr<const Tokenization> tokenization;
  std::function<std::shared_ptr<const Tokenization>(std::shared_ptr<const Vocabulary>)> tokenizer;

  Sample(const TreePtr& its_tree, Tokens its_tokens)
      : tree(its_tree),
        name(shown(tree)),
        tokens(std::move(its_tokens)),
        pattern(engine::expression_of(tree)),
        vocabulary(engine::vocabulary_of(tokens)),
        start_vocabulary(engine::start_vocabulary_of(tokens)) {}

  std::shared_ptr<Constraint> compile(const Limits& limits = {}, std::shared_ptr<const CancelToken> cancel = nullptr,
                                      std::shared_ptr<const Vocabulary> other_vocabulary = nullptr) const {
    return std::make_shared<Constraint>(pattern, other_vocabulary ? other_vocabulary : vocabulary, start_vocabulary,
                                        engine::controls_of(tokens), limits, std::move(cancel),
                                        other_vocabulary && tokenizer ? tokenizer(other_vocabulary) : tokenization);
  }

  // With a vocabulary of its own, as wide as this one, and a tokenization of its own.
  std::shared_ptr<Constraint> compile_apart() const { return compile({}, nullptr, engine::vocabulary_of(tokens)); }
};

inline Call drawn(Choices& choices, const Sample& sample, const Words& mask) {
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
  for (std::uint32_t i = 0; i < sample.tokens.width && (!has(mask, id) || (sample.tokens.is_stop(id) && i % 8 != 7));
       ++i)
    id = (id + 1) % sample.tokens.width;
  return {Advance, id};
}

// The longest token that `text` begins with.
inline std::optional<std::uint32_t> token_of(const Tokens& tokens, std::string_view text) {
  std::optional<std::uint32_t> longest;
  for (std::uint32_t id = 0; id < tokens.bytes.size(); ++id)
    if (const auto& bytes = tokens.bytes[id];
        bytes && !bytes->empty() && text.starts_with(*bytes) && !tokens.is_stop(id))
      if (!longest || bytes->size() > tokens.bytes[*longest]->size()) longest = id;
  return longest;
}

// Each text begins like one that the pattern matches, and then goes its own way.
inline void record(Sample& sample, unsigned texts, unsigned calls, std::uint64_t seed) {
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
inline void find_positions(Sample& sample) {
  const auto constraint = sample.compile_apart();
  sample.positions.push_back({{}, Matcher(constraint).mask()->bits.row()});
  for (const std::vector<Call>& text : sample.texts) {
    Matcher matcher(constraint);
    for (const Call& call : text) {
      if (call.verb == Call::Verb::RollBack || call.verb == Call::Verb::Return) break;
      if (call.verb == Call::Verb::Advance && matcher.advance({call.first}))
        sample.positions.push_back({ids_of(matcher.tokens()), matcher.mask()->bits.row()});
    }
  }
}

// {"name":"...","tags":["...",...],"age":...}, read by some thousand tokens.
inline TreePtr object() {
  const TreePtr letters = one_of({{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x10FFFF}});
  const TreePtr small = one_of({{'a', 'z'}, {0xE0, 0xFF}});
  const TreePtr tag = sequence({text("\""), repeat(small, 1, kUnbounded), text("\"")});
  return sequence({text("{\"name\":\""), repeat(letters, 0, 20), text("\",\"tags\":["),
                   optional(sequence({tag, repeat(sequence({text(","), tag}), 0, 3)})), text("],\"age\":"),
                   repeat(one_of({{'0', '9'}}), 1, 3), text("}")});
}

inline Tokens wide_tokens() {
  std::vector<std::string> more = {"{\"", "\":\"", "\",\"", "\"],\"", "name", "tags",
                                   "age", "\":",   "}",     "é",      "aé",   "\"]"};
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
inline TreePtr explosion(unsigned count) {
  const TreePtr letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  const TreePtr pairs_and_threes = star(choice({pair, sequence({pair, letter})}));
  return repeat(sequence({pairs_and_threes, text("a"), repeat(pair, count, count), text("c")}), 1, 3);
}

// All bytes, all strings of so many letters a and b, and some with a c.
inline Tokens tokens_of_letters(unsigned length) {
  std::vector<std::string> more = {"aa", "ab", "ba", "abc", "aac", "ac", "bc", "ca", "cab"};
  for (unsigned bits = 0; bits < 1u << length; ++bits) {
    std::string token;
    for (unsigned i = 0; i < length; ++i) token.push_back((bits >> i) & 1 ? 'a' : 'b');
    more.push_back(token);
  }
  return engine::with_all_bytes(more);
}

// Two that are fixed, and random ones: plain, with every operator, with control tokens, with edges of tokens.
inline std::vector<Sample> make_samples() {
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
        masks.insert(matcher.mask()->bits.row());
        const Call call = drawn(choices, sample, matcher.mask()->bits.row());
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

inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

// All texts of the sample, from one that depends on the number.  Result: how many were played to their end.
inline unsigned play_all(Player& player, const Sample& sample, unsigned number) {
  unsigned played = 0;
  for (std::size_t i = 0; i < sample.texts.size(); ++i)
    played += player.play(sample.texts[(i + number) % sample.texts.size()]);
  player.check_kept();
  return played;
}

inline void play_alone(const std::shared_ptr<Constraint>& constraint, const Sample& sample) {
  Player player(std::make_unique<Matcher>(constraint), 1);
  CHECK_EQUAL(play_all(player, sample, 0), sample.texts.size());
}

inline std::unique_ptr<Matcher> matcher_at(const std::shared_ptr<Constraint>& constraint,
                                           const Sample::Position& position) {
  auto matcher = std::make_unique<Matcher>(constraint);
  for (const std::uint32_t id : position.tokens) CHECK(matcher->advance({id}));
  return matcher;
}

// Three threads compile all samples at once, in one order or each in its own, and play them; masks that are held
// from each stay what they were.  `compile(sample)` gives the constraint.
template <class Samples, class Compile>
void compile_at_once(const Samples& all, bool in_one_order, Compile&& compile) {
  std::vector<std::vector<std::pair<MaskPtr, const Words*>>> held(3);
  at_once(3, [&](unsigned number) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Sample& sample = all[(i + (in_one_order ? 0 : 2 * number)) % all.size()];
      const test::Note note([&] { return sample.name; });
      const std::shared_ptr<Constraint> constraint = compile(sample);
      Player player(std::make_unique<Matcher>(constraint), number);
      CHECK_EQUAL(play_all(player, sample, number), sample.texts.size());
      for (const Sample::Position& position : sample.positions)
        held[number].emplace_back(matcher_at(constraint, position)->mask(), &position.mask);
    }
  });
  for (const auto& masks : held)
    for (const auto& [mask, words] : masks) CHECK(mask->bits.row() == *words);
}

// Patterns of a few classes, with bounds on both sides of the longest token.
inline std::vector<Sample> samples_of_classes() {
  const TreePtr quote = text("\""), small = one_of({{'a', 'z'}}), half = one_of({{'a', 'p'}});
  const TreePtr word = one_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}),
                inside = one_of({{0x20, 0x21}, {0x23, 0x10FFFF}});
  const TreePtr french = one_of({{'a', 'z'}, {0xE0, 0xFF}}), half_french = one_of({{'a', 'p'}, {0xE0, 0xFF}});
  const Tokens tokens = wide_tokens();
  std::vector<Sample> all;
  for (const TreePtr& tree :
       {star(inside), sequence({quote, star(inside), quote}), sequence({repeat(small, 1, 4), text("."), star(small)}),
        sequence({repeat(word, 2, 5), text(" "), repeat(french, 3, 6)}),
        sequence({star(choice({french, text(" ")})), quote}),
        choice({sequence({star(word), quote}), repeat(inside, 0, 7), star(small)}),
        repeat(sequence({star(small), text(",")}), 0, 30), sequence({star(half), text("."), star(half_french)})})
    all.emplace_back(tree, tokens);
  for (Sample& sample : all) {
    record(sample, 2, 6, all.size());
    find_positions(sample);
  }
  return all;
}

}  // namespace threads

// A random sequence of operations on some matchers of one constraint, each followed by checks.
//
// What is checked with an oracle: the mask, the questions, advance, text and tokens, forced text
// and tokens, explanations.  What is checked without one, against a second engine without limits
// or against the past:
//   - after a rollback the mask is the one that was there before, bit for bit;
//   - a fork and its origin do not see each other;
//   - masks do not depend on what was visited before, nor on what was given up for want of memory;
//   - a mask that is held keeps its bits;
//   - a call that throws LimitExceeded changes nothing, and the matcher goes on.
#pragma once

#include <optional>
#include <utility>

#include "choices.hpp"
#include "engine.hpp"

namespace engine {

class Walk {
 public:
  struct Setup {
    Limits limits;
    const oracle::TokenGraph* graph = nullptr;  // the oracle, where there is one
    unsigned operations = 40;
    bool explain = true;
  };

  // `reference` is a constraint of the same pattern and vocabulary without limits, or null.
  Walk(Choices& choices, std::shared_ptr<Constraint> constraint, std::shared_ptr<Constraint> reference,
       const oracle::Tokens& tokens, const Setup& setup)
      : choices_(choices), tokens_(tokens), setup_(setup) {
    runs_.reserve(kMostRuns);  // a run stays where it is while it is worked on
    runs_.push_back({std::make_unique<Matcher>(constraint), {{}}});
    if (reference) reference_ = std::make_unique<Matcher>(std::move(reference));
  }

  void run() {
    const test::Note note([&] { return "operations" + log_; });
    for (unsigned i = 0; i < setup_.operations && !choices_.used_up(); ++i) operate();
    for (const auto& [mask, words] : held_) CHECK(mask->bits.row() == words);
  }

  std::size_t refusals() const { return refusals_; }

 private:
  struct Past {  // after some tokens
    std::optional<std::uint32_t> token;
    Standing at;
    std::vector<std::uint32_t> words;  // of the mask, once it is computed
  };
  struct Run {
    std::unique_ptr<Matcher> matcher;
    std::vector<Past> past;
  };

  void operate() {
    const auto which = choices_.below(static_cast<std::uint32_t>(runs_.size()));
    Run& run = runs_[which];
    const std::uint32_t operation = choices_.below(12);
    log_ += " " + std::to_string(which) + ":" + std::to_string(operation);
    bool done = true;
    switch (operation) {
      case 0:
      case 1: done = attempt([&] { look(run); }); break;
      case 2: roll_back(run); break;
      case 3: done = attempt([&] { ask(run); }); break;
      case 4: fork(run); break;
      case 5: done = attempt([&] { force(run); }); break;
      case 6: done = attempt([&] { any_token(run); }); break;
      default: done = attempt([&] { advance(run); }); break;
    }
    if (!done) log_ += "!";
    check_history(run);
  }

  // False where a limit stopped it.
  template <class Task>
  bool attempt(Task&& task) {
    try {
      task();
      return true;
    } catch (const LimitExceeded& error) {
      CHECK(error.limit == "states" || error.limit == "memory_bytes" || error.limit == "seconds" ||
            error.limit == "depth");
      ++refusals_;
      return false;
    }
  }

  void look(Run& run) {
    const MaskPtr mask = run.matcher->mask();
    Past& now = run.past.back();
    if (!now.words.empty()) CHECK(mask->bits.row() == now.words);
    now.words = mask->bits.row();
    if (held_.size() < 20) held_.emplace_back(mask, mask->bits.row());
    if (setup_.graph) check_mask(*run.matcher, *setup_.graph, tokens_, now.at);
    if (reference_) check_reference(run);
  }

  // The same text, read by an engine without limits that has seen other texts before.
  void check_reference(Run& run) {
    for (std::size_t i = 1; i < run.past.size(); ++i) CHECK(reference_->advance({*run.past[i].token}));
    CHECK(reference_->mask()->bits.row() == run.past.back().words);
    CHECK_EQUAL(reference_->is_accepting(), run.matcher->is_accepting());
    CHECK_EQUAL(reference_->is_finished(), run.matcher->is_finished());
    CHECK(reference_->rollback(run.past.size() - 1));
  }

  void roll_back(Run& run) {
    const std::size_t most = run.past.size() - 1;
    CHECK(!run.matcher->rollback(most + 1));
    const std::size_t count = choices_.below(static_cast<std::uint32_t>(std::min<std::size_t>(most, 6)) + 1);
    CHECK(run.matcher->rollback(count));
    run.past.resize(run.past.size() - count);
    if (!run.past.back().words.empty())
      attempt([&] { CHECK(run.matcher->mask()->bits.row() == run.past.back().words); });
  }

  void fork(Run& run) {
    std::vector<Past> past = run.past;
    auto copy = run.matcher->fork();
    if (runs_.size() < kMostRuns) {
      runs_.push_back({std::move(copy), std::move(past)});
    } else {
      const std::size_t place = choices_.below(kMostRuns);
      runs_[place] = {std::move(copy), std::move(past)};
    }
  }

  void ask(Run& run) {
    const Standing at = run.past.back().at;
    (void)run.matcher->is_accepting();
    (void)run.matcher->is_finished();
    const std::uint32_t id = choices_.below(tokens_.width);
    if (setup_.graph && setup_.explain)
      check_explanation(*run.matcher, *setup_.graph, tokens_, at, id, expected_mask(*setup_.graph, tokens_, at)[id]);
    else (void)run.matcher->explain({id});
  }

  void force(Run& run) {
    if (setup_.graph) return check_forced(*run.matcher, *setup_.graph, run.past.back().at);
    // The forced tokens can be advanced, one by one, and spell a beginning of the forced text or
    // go on where that ends.
    const std::vector<TokenId> forced = run.matcher->forced_tokens();
    const std::string text = run.matcher->forced_text();
    const std::string before = run.matcher->text();
    std::size_t count = 0;
    attempt([&] {
      for (const TokenId token : forced) {
        CHECK(run.matcher->advance(token));
        ++count;
      }
      const std::string added = run.matcher->text().substr(before.size());
      CHECK(text.starts_with(added) || added.starts_with(text));
      // what is forced goes on behind a control token
      if (tokens_.controls.empty()) CHECK(text.size() >= added.size());
    });
    CHECK(run.matcher->rollback(count));
  }

  // A token that is allowed, where there is one.
  void advance(Run& run) {
    const MaskPtr mask = run.matcher->mask();
    if (mask->set_bits == 0) return;
    std::uint32_t id = choices_.below(tokens_.width);
    const auto allowed = [&] { return mask->bits.contains(id); };
    while (!allowed()) id = (id + 1) % tokens_.width;
    // Stop tokens end a walk; take a text token instead nine times in ten.
    if (mask->open_tokens > 0 && tokens_.is_stop(id) && !choices_.one_in(10)) do
        id = (id + 1) % tokens_.width;
      while (!allowed() || tokens_.is_stop(id));
    step(run, id, true);
  }

  void any_token(Run& run) {
    const std::uint32_t id = choices_.below(tokens_.width);
    const MaskPtr mask = run.matcher->mask();
    step(run, id, mask->bits.contains(id));
  }

  void step(Run& run, std::uint32_t id, bool expected) {
    log_ += "," + std::to_string(id);
    const std::optional<bool> quick = choices_.one_in(2) ? run.matcher->try_advance({id}) : std::nullopt;
    CHECK_EQUAL(quick ? *quick : run.matcher->advance({id}), expected);
    if (!expected) return;
    Standing at = run.past.back().at;
    if (tokens_.is_stop(id)) at.stopped = true;
    else if (setup_.graph) at.node = *setup_.graph->step(at.node, id);
    run.past.push_back({id, at, {}});
  }

  void check_history(Run& run) {
    std::vector<std::uint32_t> expected;
    std::string text;
    for (std::size_t i = 1; i < run.past.size(); ++i) {
      const std::uint32_t id = *run.past[i].token;
      expected.push_back(id);
      const auto& bytes = i == 1 && tokens_.at_start ? *tokens_.at_start : tokens_.bytes;
      if (!tokens_.is_stop(id) && !tokens_.is_control(id)) text += bytes.at(id).value();
    }
    std::vector<std::uint32_t> actual;
    for (const TokenId token : run.matcher->tokens()) actual.push_back(token.value);
    CHECK(actual == expected);
    CHECK_EQUAL(oracle::escaped(run.matcher->text()), oracle::escaped(text));
  }

  static constexpr std::uint32_t kMostRuns = 4;

  Choices& choices_;
  const oracle::Tokens& tokens_;
  Setup setup_;
  std::vector<Run> runs_;
  std::unique_ptr<Matcher> reference_;
  std::vector<std::pair<MaskPtr, std::vector<std::uint32_t>>> held_;
  std::string log_;
  std::size_t refusals_ = 0;
};

}  // namespace engine

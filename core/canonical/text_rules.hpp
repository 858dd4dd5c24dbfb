// What a tokenizer's pipeline says of a text as such, before any token: one automaton over bytes.
//
// A text is *stable* where the normalizer leaves it as it is, and every text has one way of being cut
// into pre-tokens.  Both are followed byte by byte.  A TextState holds
//
//   guess    which hypothesis about pre-tokens is followed (tokenization/pretokenizers/machine.py makes
//            their automaton; ends of pre-tokens are guessed, and a wrong guess dies);
//   place    how much of a code point is open (code_points.hpp);
//   starter, marks    what a combining mark would meet: the last starter, by what composes with it,
//            and the combining class of the last mark after it;
//   open     which added tokens may be under way (added_tokens.hpp).
//
// Normal forms.  A text is in NFC if every code point is in it by itself, the classes of marks do not
// descend after a starter, and no code point composes with the last starter.  A mark of the same class
// as the one before it is kept from composing; so is a starter after any mark.  In Qwen 3, whose text is
// NFC, `e` may not be followed by U+0301.  (Unicode Standard Annex 15; D115 and D117 of the standard.)
// Rejected: the quick check, which says "maybe" for every mark.
//
// Charsmaps.  A table of replacements leaves a text alone by other rules: `e` U+0301 is replaced, but not where three
// marks follow `e` (tokenization/pipelines/cluster_forms.py).  These are an automaton over code points, whose states are
// starters, and nothing of the above holds.  In most states it only matters which code points are forbidden next.  Other
// states are *special*: in one that *owes*, the text may not end, and most code points are forbidden.
//
// Byte fallback.  Where single bytes are tokens that stand for code points the vocabulary lacks, a code
// point begun with such a token must be one that it lacks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "canonical/added_tokens.hpp"
#include "canonical/code_points.hpp"
#include "common/byte_set.hpp"

namespace tokamata {

struct TextState {
  std::uint16_t guess = 0;
  std::uint16_t place = CodePoints::kBetween;  // with kFallback, where byte tokens have begun it
  std::uint16_t starter = 0;
  std::uint8_t marks = 0;
  AddedTokens::Open open = AddedTokens::kNothing;

  static constexpr std::uint16_t kFallback = 0x8000;
  // Stands for every starter that is not special: what holds from here holds after each of them.
  static constexpr std::uint16_t kAnyStarter = 0xFFFF;
  // Where forms are an automaton: `marks` in its special states, and those of them that owe.  No class is as high.
  static constexpr std::uint8_t kSpecial = 0xFE, kOwes = 0xFF;

  friend bool operator==(const TextState&, const TextState&) = default;
  friend auto operator<=>(const TextState&, const TextState&) = default;
};

// What one class of code points is to the rules.
struct ClassRules {
  std::uint16_t symbol;    // to the automaton of hypotheses
  std::uint16_t starter;   // the row of `composes` that it leaves; 0: nothing composes with it
  std::uint16_t second;    // the column of `composes`; 0: it composes with nothing
  std::uint8_t combining;  // its canonical combining class
  bool is_lacking;         // the vocabulary has no token for the code point
};

// What is special about a state of an automaton of forms.
enum class FormState : std::uint8_t {
  Ordinary,  // it forbids some code points; others lead where they lead from all ordinary states
  Special,
  Owes,  // special, and the text may not end
};

// What stands before a text.
enum class Before : std::uint8_t { Nothing, AddedToken, ControlToken };

// Added tokens before which texts end alike, and after which they begin alike.
struct AddedKind {
  std::uint8_t end = 1;  // the bit of `may_end` that the text before one needs; the first one is the end of all text
  std::vector<std::uint16_t> text_starts, control_starts;  // after one that is text, and after a control token
};

struct TextRulesTables {
  std::vector<ClassRange> ranges;
  std::vector<ClassRules> classes;
  // The hypotheses: targets[guess * symbols + symbol], kDeadGuess where there is none.
  std::uint32_t symbols = 0;
  std::vector<std::uint16_t> targets;
  std::vector<std::uint32_t> end_offsets;  // guesses that end a pre-token here: ends[end_offsets[g] ..]
  std::vector<std::uint16_t> ends;
  std::vector<std::uint8_t> may_end;  // the first bit: the text may end; each other: certain added tokens may follow
  std::vector<std::uint16_t> text_starts;     // at the start of a text
  std::vector<std::uint16_t> added_starts;    // after an added token that is text
  std::vector<std::uint16_t> control_starts;  // after one that is not
  // composes[starter * seconds + second]
  std::uint32_t seconds = 1;
  std::vector<std::uint8_t> composes;
  // In place of `composes` and classes, an automaton: form_targets[starter * seconds + second], kDeadForm where no text
  // goes on; and what its states are.  Texts begin in state 0.
  std::vector<std::uint16_t> form_targets;
  std::vector<FormState> form_states;
  std::vector<std::string> added, forbidden;  // see AddedTokens
  // By number: 0 for those that may stand wherever a text ends, and have `added_starts` and `control_starts` after them;
  // else 1 + an index of `kinds`.  Empty: all are 0.
  std::vector<std::uint8_t> added_kinds;
  std::vector<AddedKind> kinds;
  std::vector<bool> lone;  // by number: see AddedTokens; empty: none is
  bool added_are_apart = false;
};

class TextRules {
 public:
  static constexpr std::uint16_t kDeadGuess = 0xFFFF;
  static constexpr std::uint16_t kDeadForm = 0xFFFF;

  // Throws std::invalid_argument where the tables contradict each other.
  explicit TextRules(TextRulesTables tables);

  std::size_t guess_count() const { return tables_.may_end.size(); }
  std::span<const std::uint16_t> text_starts() const { return tables_.text_starts; }
  std::span<const std::uint16_t> added_starts() const { return tables_.added_starts; }
  std::span<const std::uint16_t> control_starts() const { return tables_.control_starts; }
  std::span<const std::uint16_t> starts_after(Before before) const {
    if (before == Before::AddedToken) return added_starts();
    return before == Before::ControlToken ? control_starts() : text_starts();
  }
  // After an added token that is text, or a control token, or as one.
  std::span<const std::uint16_t> starts_after_added(std::size_t number, bool is_control) const {
    const AddedKind* const kind = kind_of(number);
    if (kind == nullptr) return is_control ? control_starts() : added_starts();
    return is_control ? kind->control_starts : kind->text_starts;
  }
  // Where added tokens may stand alike, and lead to the same starts if they are alike in being control tokens.
  std::uint8_t added_kind(std::size_t number) const {
    return tables_.added_kinds.empty() ? std::uint8_t{0} : tables_.added_kinds[number];
  }
  // The hypotheses that end a pre-token where this one stands.
  std::span<const std::uint16_t> ends(std::uint16_t guess) const {
    return std::span(tables_.ends)
        .subspan(tables_.end_offsets[guess], tables_.end_offsets[guess + 1] - tables_.end_offsets[guess]);
  }
  bool may_end(const TextState& state) const { return (ends_of(state) & 1) != 0; }
  // What may follow where the text, or the stretch before an added token, ends: a bit for each kind of end.
  std::uint8_t ends_of(const TextState& state) const {
    return state.place == CodePoints::kBetween && !owes(state) ? tables_.may_end[state.guess] : std::uint8_t{0};
  }
  // Whether an added token may stand after a text with these ends.
  bool may_precede(std::uint8_t ends, std::size_t number) const {
    const AddedKind* const kind = kind_of(number);
    return (ends & (kind == nullptr ? 1 : kind->end)) != 0;
  }
  // Whether the normal form is one of an automaton, and in a special state; and whether it forbids an end there.
  bool is_special(const TextState& state) const { return is_special(state.marks); }
  bool is_special(std::uint8_t marks) const { return marks >= TextState::kSpecial; }
  bool owes(const TextState& state) const { return state.marks == TextState::kOwes; }
  const AddedTokens& added() const { return added_; }
  // Whether any normal form is required.
  bool has_normal_form() const { return has_normal_form_; }
  // What stands for all starters, where they matter.
  std::uint16_t any_starter() const { return has_normal_form_ ? TextState::kAnyStarter : std::uint16_t{0}; }

  // Reads a byte; false where no text goes on so.
  bool read(TextState& state, std::uint8_t byte) const {
    return read_code_point(state, byte, true) && (state.open = added_.next(state.open, byte)) != AddedTokens::kDead;
  }
  // The same for the guess and the place alone.
  bool read_guess(TextState& state, std::uint8_t byte) const;
  // The same for normal form and added tokens alone.
  bool read_form(TextState& state, std::uint8_t byte) const;
  // The steps that this is made of: what a byte does to a place (CodePoints::next); what a code point is to the
  // hypotheses, and where they go with it, kDeadGuess where nowhere.
  std::uint16_t next_place(std::uint16_t place, std::uint8_t byte) const { return all_.next(place, byte); }
  std::uint16_t symbol_of(std::uint16_t cls) const { return tables_.classes[cls].symbol; }
  std::uint16_t next_guess(std::uint16_t guess, std::uint16_t symbol) const {
    return tables_.targets[std::size_t{guess} * tables_.symbols + symbol];
  }
  // Whether some way to end the code point is one that the hypothesis allows.
  bool may_complete(std::uint16_t guess, std::uint16_t place, bool is_fallback = false) const {
    return (is_fallback ? lacking_open_ : open_)[std::size_t{place} * guess_count() + guess];
  }
  // Reads the single byte of a byte-fallback token.
  bool read_fallback(TextState& state, std::uint8_t byte) const;
  // Whether a text by itself, cut where tokens are cut, is one that the normalizer leaves alone.
  bool is_stable(std::string_view bytes) const;
  // The same after a starter and a mark of a class, where no code point is open.
  bool keeps_form(std::uint16_t starter, std::uint8_t marks, std::string_view bytes) const;
  // Whether what follows is the same whatever stands before: its first code point is whole, and neither a
  // mark nor one that composes.
  bool begins_anew(std::string_view bytes) const;
  // Whether a text may lead to a special state, or is only possible after one.
  bool is_unsteady(std::string_view bytes) const;
  // Whether the normal form lets a text follow and leads elsewhere than at the start of a text, or only does so here.
  bool differs_from_start(std::uint16_t starter, std::uint8_t marks, std::string_view bytes) const;
  // Whether every text but the empty one may follow this hypothesis, by the pre-tokenizer.
  bool is_free(std::uint16_t guess) const { return free_[guess]; }
  // Bytes that begin only code points that any text may have anywhere: none is a mark, or composes with what is before.
  const ByteSet& steady() const { return steady_; }
  // Those of them that begin no added token.
  const ByteSet& calm() const { return calm_; }
  std::size_t memory_bytes() const;

 private:
  const AddedKind* kind_of(std::size_t number) const {
    const std::uint8_t kind = added_kind(number);
    return kind == 0 ? nullptr : &tables_.kinds[kind - std::size_t{1}];
  }
  bool read_code_point(TextState& state, std::uint8_t byte, bool with_form) const;
  bool complete(TextState& state, std::uint16_t cls, bool with_form) const;
  bool keeps_form(TextState& state, const ClassRules& rules) const;
  bool follows_automaton(TextState& state, std::uint16_t second) const;
  bool keeps_form(TextState& state, std::string_view bytes) const;
  bool is_anew(const ClassRules& rules) const;
  void find_anew();
  std::vector<bool> find_open(const CodePoints& points) const;
  void find_free();
  void find_steady();

  TextRulesTables tables_;
  CodePoints all_;
  CodePoints lacking_;  // those that the vocabulary lacks alone
  AddedTokens added_;
  std::vector<bool> open_, lacking_open_;  // by place and guess
  bool has_normal_form_;
  // By `second`: the state that it leads to from each ordinary one, where no state that owes nothing forbids it; else
  // kDeadForm.
  std::vector<std::uint16_t> anew_;
  std::vector<bool> free_;
  ByteSet steady_, calm_;
};

}  // namespace tokamata

#include "json/json_spelling.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "expression/expression.hpp"
#include "expression/phrase_search.hpp"
#include "expression/string_automaton.hpp"

namespace tokamata::json {

namespace {

using Ranges = std::vector<CodePointRange>;

ExpressionPtr concat(std::vector<ExpressionPtr> items) {
  return items.size() == 1 ? items[0] : Expression::concatenation(std::move(items));
}
ExpressionPtr any_of(std::vector<ExpressionPtr> items) {
  return items.size() == 1 ? items[0] : Expression::unite(std::move(items));
}
void add(Ranges& ranges, std::uint32_t low, std::uint32_t high) {
  if (!ranges.empty() && ranges.back().high + 1 == low) ranges.back().high = high;
  else ranges.push_back({low, high});
}

// ---- the code points of an automaton ------------------------------------------------------------

// The code points below a state, `value` being the bits so far; of `missing` bytes.
void collect(const CodePointAutomaton& automaton, std::uint32_t state, std::uint32_t value, unsigned missing,
             Ranges& out) {
  for (auto t = automaton.begin(state); t != automaton.end(state); ++t) {
    if (missing == 1) {
      add(out, (value << 6) | (t->low & 0x3Fu), (value << 6) | (t->high & 0x3Fu));
      continue;
    }
    for (unsigned byte = t->low; byte <= t->high; ++byte)
      collect(automaton, t->target, (value << 6) | (byte & 0x3F), missing - 1, out);
  }
}

// In order, disjoint.  Whole blocks are taken at once: F4 stands for 65,536 code points.
Ranges ranges_of(const CodePointAutomaton& automaton) {
  Ranges ranges;
  for (auto t = automaton.begin(automaton.start()); t != automaton.end(automaton.start()); ++t) {
    if (t->low < 0x80) {
      add(ranges, t->low, t->high);
      continue;
    }
    for (unsigned lead = t->low; lead <= t->high; ++lead) {
      const unsigned missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
      const std::uint32_t bits = lead & (0x3Fu >> missing), block = bits << (6 * missing);
      if (!automaton.full_blocks().contains(static_cast<std::uint8_t>(lead))) {
        collect(automaton, t->target, bits, missing, ranges);
        continue;
      }
      const std::uint32_t low = lead == 0xE0 ? 0x800 : lead == 0xF0 ? 0x10000 : block;
      const std::uint32_t high = lead == 0xED ? 0xD7FF : lead == 0xF4 ? 0x10FFFF : block | ((1u << (6 * missing)) - 1);
      add(ranges, low, high);
    }
  }
  return ranges;
}

// ---- digits -------------------------------------------------------------------------------------

// The numbers of a set written in hexadecimal digits of either case: a minimal acyclic automaton, as
// expressions.  A digit may have fewer than four bits: those of surrogates are D, [89AB], X, X.
struct Digit {
  unsigned bits;
  unsigned base;       // what is added to them
  const char* before;  // a pattern's worth of what stands before the digit: "", "d" or "\ud"
};
constexpr std::array<Digit, 4> kFourDigits = {{{4, 0, ""}, {4, 0, ""}, {4, 0, ""}, {4, 0, ""}}};
constexpr std::array<Digit, 6> kSurrogates = {
    {{2, 8, "d"}, {4, 0, ""}, {4, 0, ""}, {2, 12, "\\ud"}, {4, 0, ""}, {4, 0, ""}}};

constexpr std::uint32_t lower_case_digit(std::uint32_t digit) { return digit < 10 ? '0' + digit : 'a' + digit - 10; }

class HexDigits {
 public:
  explicit HexDigits(std::span<const Digit> digits) : digits_(digits) {}

  // Null where the set is empty.
  ExpressionPtr expression(const Ranges& set) {
    unsigned bits = 0;
    for (const Digit& digit : digits_) bits += digit.bits;
    return within(0, 0, bits, set);
  }

 private:
  // The numbers from `low` on that share all but the last `bits` bits, written from the digit at `place` on.
  ExpressionPtr within(std::size_t place, std::uint32_t low, unsigned bits, std::span<const CodePointRange> set) {
    while (!set.empty() && set.front().high < low) set = set.subspan(1);
    const std::uint32_t high = low + (1u << bits) - 1;
    if (set.empty() || set.front().low > high) return nullptr;
    const bool whole = set.front().low <= low && set.front().high >= high;
    if (bits == 0) return epsilon_;
    if (whole && whole_[place]) return whole_[place];

    const unsigned below = bits - digits_[place].bits;
    std::vector<ExpressionPtr> rests;  // by digit
    for (std::uint32_t digit = 0; digit < (1u << digits_[place].bits); ++digit)
      rests.push_back(whole && digit > 0 ? rests[0] : within(place + 1, low + (digit << below), below, set));
    auto [known, is_new] = known_.try_emplace({place, rests});
    if (is_new) known->second = written(digits_[place], rests);
    if (whole) whole_[place] = known->second;
    return known->second;
  }

  static ExpressionPtr written(const Digit& digit, const std::vector<ExpressionPtr>& rests) {
    std::vector<ExpressionPtr> ways;
    for (std::size_t first = 0; first < rests.size(); ++first) {
      const auto known = std::find(rests.begin(), rests.end(), rests[first]) - rests.begin();
      if (!rests[first] || static_cast<std::size_t>(known) < first) continue;
      Ranges letters;
      for (std::size_t other = first; other < rests.size(); ++other)
        if (rests[other] == rests[first]) add_digit(letters, static_cast<unsigned>(other) + digit.base);
      ways.push_back(concat({Expression::code_points(letters), rests[first]}));
    }
    ExpressionPtr choice = any_of(std::move(ways));
    const std::string_view before = digit.before;
    if (before.empty()) return choice;
    return concat({Expression::literal(std::string(before.substr(0, before.size() - 1))),
                   Expression::code_points({{'d', 'd'}, {'D', 'D'}}), std::move(choice)});
  }
  static void add_digit(Ranges& letters, unsigned digit) {
    letters.push_back({lower_case_digit(digit), lower_case_digit(digit)});
    if (digit >= 10) letters.push_back({'A' + digit - 10, 'A' + digit - 10});
  }

  std::span<const Digit> digits_;
  const ExpressionPtr epsilon_ = Expression::literal("");
  std::array<ExpressionPtr, 6> whole_;  // by place: the rest where every number is in the set
  std::map<std::pair<std::size_t, std::vector<ExpressionPtr>>, ExpressionPtr> known_;
};

// ---- classes ------------------------------------------------------------------------------------

// The escapes by digits of \u00XX of the controls that have no short one.
ExpressionPtr plain_digits(const Ranges& controls) {
  std::vector<ExpressionPtr> ways;
  for (std::uint32_t high = 0; high < 2; ++high) {
    Ranges letters;
    for (const auto& [low, last] : controls)
      for (std::uint32_t c = low; c <= last; ++c)
        if (c >> 4 == high) letters.push_back({lower_case_digit(c & 15), lower_case_digit(c & 15)});
    if (!letters.empty())
      ways.push_back(concat({Expression::literal(high ? "u001" : "u000"), Expression::code_points(letters)}));
  }
  return ways.empty() ? nullptr : any_of(std::move(ways));
}

ExpressionPtr any_digits(const Ranges& ranges) {
  Ranges below, beyond;
  for (const auto& [low, high] : ranges) {
    if (low <= 0xFFFF) below.push_back({low, std::min<std::uint32_t>(high, 0xFFFF)});
    if (high > 0xFFFF) beyond.push_back({low > 0xFFFF ? low - 0x10000 : 0, high - 0x10000});
  }
  std::vector<ExpressionPtr> ways;
  if (ExpressionPtr four = HexDigits(kFourDigits).expression(below)) ways.push_back(std::move(four));
  if (ExpressionPtr pair = HexDigits(kSurrogates).expression(beyond)) ways.push_back(std::move(pair));
  return concat({Expression::literal("u"), any_of(std::move(ways))});
}

// One code point of a set that is not empty.
ExpressionPtr spelled_class(const Ranges& ranges, bool any) {
  Ranges direct, short_letters, controls;
  for (const auto& [low, high] : ranges) {
    for (std::uint32_t c = low; c <= high && c < 0x80; ++c) {
      const auto letter = static_cast<std::uint8_t>(json_short_escape(c, any));
      if (letter) short_letters.push_back({letter, letter});
      if (json_stands_for_itself(c)) direct.push_back({c, c});
      if (c < 0x20 && !letter) add(controls, c, c);
    }
    if (high >= 0x80) direct.push_back({std::max(low, 0x80u), high});
  }
  std::vector<ExpressionPtr> escapes;
  if (!short_letters.empty()) escapes.push_back(Expression::code_points(std::move(short_letters)));
  if (ExpressionPtr digits = any ? any_digits(ranges) : plain_digits(controls)) escapes.push_back(std::move(digits));
  std::vector<ExpressionPtr> ways;
  if (!direct.empty()) ways.push_back(Expression::code_points(std::move(direct)));
  if (!escapes.empty()) ways.push_back(concat({Expression::literal("\\"), any_of(std::move(escapes))}));
  return any_of(std::move(ways));
}

// ---- expressions --------------------------------------------------------------------------------

// The first code point of a text, which is cut off; nothing where it is not UTF-8.
std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const auto lead = static_cast<std::uint8_t>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || text.size() < length) return std::nullopt;
  std::uint32_t value = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<std::uint8_t>(text[i]) & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (static_cast<std::uint8_t>(text[i]) & 0x3Fu);
  }
  const std::uint32_t least = length < 3 ? 0 : length == 3 ? 0x800 : 0x10000;
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

}  // namespace

class JsonSpelling::Speller {
 public:
  explicit Speller(bool any) : any_(any), code_point_(spelled_class({{0, 0xD7FF}, {0xE000, 0x10FFFF}}, any)) {}

  ExpressionPtr whole(const ExpressionPtr& texts, Budget& budget) {
    budget_ = &budget;
    Spelled result = spelled(texts, true);
    if (!result.exact) result.expression = Expression::intersection({all_, std::move(result.expression)});
    return Expression::scope(std::move(result.expression));
  }

 private:
  struct Spelled {
    ExpressionPtr expression;
    bool exact;  // all it accepts is spelled text, and not only among spelled texts
  };

  // `last`: nothing follows to the end of the scope, so that what is read from here on is spelled text
  // as a whole, and Everything and complements need no cutting down.
  Spelled spelled(const ExpressionPtr& expression, bool last) {
    auto& known = known_[last];
    if (const auto place = known.find(expression.get()); place != known.end()) return place->second;
    budget_->step();
    Spelled result = std::visit([&](const auto& node) { return of(node, last); }, expression->node());
    if (!result.exact && !last) result = {Expression::intersection({all_, std::move(result.expression)}), true};
    known.emplace(expression.get(), result);
    return result;
  }

  Spelled of(const Expression::Empty&, bool) { return {Expression::empty(), true}; }
  Spelled of(const Expression::Literal& literal, bool) {
    std::vector<ExpressionPtr> items;
    std::string run;  // of what has one spelling
    std::string_view rest = literal.bytes;
    while (!rest.empty()) {
      const std::string_view before = rest;
      const std::optional<std::uint32_t> code_point = take_code_point(rest);
      if (!code_point) throw std::invalid_argument("spelled_in_json: a literal is not valid UTF-8");
      const bool itself = json_stands_for_itself(*code_point);
      if (!any_ && (itself || json_short_escape(*code_point, false))) {
        if (itself) run += before.substr(0, before.size() - rest.size());
        else run += {'\\', json_short_escape(*code_point, false)};
        continue;
      }
      if (!run.empty()) items.push_back(Expression::literal(std::exchange(run, {})));
      items.push_back(one(*code_point));
    }
    if (!run.empty() || items.empty()) items.push_back(Expression::literal(run));
    return {concat(std::move(items)), true};
  }
  Spelled of(const Expression::CodePoints& set, bool) {
    if (set.automaton->empty()) return {Expression::empty(), true};
    ExpressionPtr& known = classes_[set.automaton.get()];
    if (!known) known = spelled_class(ranges_of(*set.automaton), any_);
    return {known, true};
  }
  Spelled of(const Expression::Concatenation& sequence, bool last) {
    Spelled result{nullptr, true};
    std::vector<ExpressionPtr> items;
    for (std::size_t i = 0; i < sequence.items.size(); ++i)
      items.push_back(take(result, spelled(sequence.items[i], last && i + 1 == sequence.items.size())));
    result.expression = Expression::concatenation(std::move(items));
    return result;
  }
  Spelled of(const Expression::Union& choice, bool last) {
    Spelled result{nullptr, true};
    std::vector<ExpressionPtr> items;
    for (const ExpressionPtr& item : choice.items) items.push_back(take(result, spelled(item, last)));
    result.expression = Expression::unite(std::move(items));
    return result;
  }
  // One item that is spelled text makes all of it so, and then all texts say nothing more.
  Spelled of(const Expression::Intersection& both, bool) {
    Spelled result{nullptr, false};
    std::vector<ExpressionPtr> items;
    bool all = false;
    for (const ExpressionPtr& item : both.items) {
      if (is_all_text(*item)) {
        all = true;
        continue;
      }
      // What the other items exclude needs no exclusion here.
      Spelled one = spelled(item, true);
      result.exact = result.exact || one.exact;
      items.push_back(std::move(one.expression));
    }
    if (all && !result.exact) {
      items.insert(items.begin(), all_);
      result.exact = true;
    }
    result.expression = Expression::intersection(std::move(items));
    return result;
  }
  Spelled of(const Expression::Repetition& n, bool) {
    return {Expression::repetition(spelled(n.body, false).expression, n.minimum, n.maximum, n.position), true};
  }
  Spelled of(const Expression::Strings& n, bool) {
    return {Expression::strings(spelled_in_json(*n.automaton, any_)), true};
  }
  // Spelled as what it denotes: characters of the phrase may have several spellings.
  Spelled of(const Expression::Until& n, bool last) {
    const ExpressionPtr end = Expression::literal(n.search->phrase()), text = Expression::text();
    const ExpressionPtr goes_on =
        Expression::concatenation({text, end, Expression::code_points({{0, 0x10FFFF}}), Expression::everything()});
    kept_.push_back(
        Expression::intersection({Expression::concatenation({text, end}), Expression::complement(goes_on)}));
    return spelled(kept_.back(), last);
  }
  Spelled of(const Expression::Language& n, bool) {
    if (any_) throw std::invalid_argument("spelled_in_json: numbers are spelled plainly alone");
    return {Expression::language(n.language), true};
  }
  Spelled of(const Expression::Everything&, bool last) {
    return last ? Spelled{Expression::everything(), false} : Spelled{all_, true};
  }
  Spelled of(const Expression::Complement& n, bool) {
    return {Expression::complement(spelled(n.body, true).expression), false};
  }
  Spelled of(const Expression::LookAhead& n, bool) {
    return {Expression::look_ahead(spelled(n.rest, true).expression), true};
  }
  Spelled of(const Expression::LookBehind& n, bool) {
    return {Expression::look_behind(spelled(n.prefix, true).expression), true};
  }
  Spelled of(const Expression::Scope& n, bool last) {
    Spelled result = spelled(n.body, last);
    result.expression = Expression::scope(std::move(result.expression));
    return result;
  }
  Spelled of(const Expression::ControlToken& n, bool) {
    throw std::invalid_argument("spelled_in_json: the control token " + n.name + " is no text");
  }
  Spelled of(const Expression::OneToken&, bool) {
    throw std::invalid_argument("spelled_in_json: the edges of tokens are no text");
  }
  Spelled of(const Expression::Terminal& n, bool last) {
    Spelled result = spelled(n.body, last);
    result.expression = Expression::terminal(std::move(result.expression));
    return result;
  }
  Spelled of(const Expression::Grammar&, bool) {
    throw std::invalid_argument("spelled_in_json: the language of the text is not regular");
  }
  Spelled of(const Expression::Reference&, bool) {
    throw std::invalid_argument("spelled_in_json: the language of the text is not regular");
  }
  Spelled of(const Expression::TooDeep&, bool) {
    throw std::invalid_argument("spelled_in_json: the text's language nests too deep");
  }

  static ExpressionPtr take(Spelled& whole, Spelled item) {
    whole.exact = whole.exact && item.exact;
    return std::move(item.expression);
  }
  ExpressionPtr one(std::uint32_t code_point) {
    ExpressionPtr& known = code_points_[code_point];
    if (!known) known = spelled_class({{code_point, code_point}}, any_);
    return known;
  }
  static bool is_all_text(const Expression& expression) {
    const auto* const n = std::get_if<Expression::Repetition>(&expression.node());
    if (!n || n->minimum != 0 || n->maximum != kUnbounded) return false;
    const auto* const body = std::get_if<Expression::CodePoints>(&n->body->node());
    constexpr unsigned kFirstBytes = 128 + 0xF4 - 0xC2 + 1;  // of all code points
    return body && body->automaton->full_blocks().size() == kFirstBytes;
  }

  bool any_;
  Budget* budget_ = nullptr;         // of the call
  std::vector<ExpressionPtr> kept_;  // what was made and spelled: known_ is by address
  ExpressionPtr code_point_;         // any one
  ExpressionPtr all_ = Expression::repetition(code_point_, 0, kUnbounded, -1);
  std::map<const Expression*, Spelled> known_[2];  // expressions may share others
  std::map<const CodePointAutomaton*, ExpressionPtr> classes_;
  std::map<std::uint32_t, ExpressionPtr> code_points_;
};

namespace {

// Whether code points that writers escape may occur, expression by expression.
class EscapedSearch {
 public:
  bool in(const ExpressionPtr& expression) {
    if (const auto known = known_.find(expression.get()); known != known_.end()) return known->second;
    const bool found = std::visit([&](const auto& node) { return of(node); }, expression->node());
    return known_.emplace(expression.get(), found).first->second;
  }

 private:
  static bool is_byte_of_one(std::uint8_t byte) { return json_is_escaped_by_some(byte); }  // beyond ASCII all are
  bool in_any(const std::vector<ExpressionPtr>& items) {
    return std::ranges::any_of(items, [&](const ExpressionPtr& item) { return in(item); });
  }

  bool of(const Expression::Empty&) { return false; }
  bool of(const Expression::Literal& n) {
    return std::ranges::any_of(n.bytes, [](char c) { return is_byte_of_one(static_cast<std::uint8_t>(c)); });
  }
  bool of(const Expression::CodePoints& n) {
    const CodePointAutomaton& automaton = *n.automaton;
    for (auto t = automaton.begin(automaton.start()); t != automaton.end(automaton.start()); ++t)
      for (unsigned byte = t->low; byte <= t->high; ++byte)
        if (is_byte_of_one(static_cast<std::uint8_t>(byte))) return true;
    return false;
  }
  bool of(const Expression::Strings& n) {
    for (std::uint32_t state = 0; state < n.automaton->state_count(); ++state)
      if (std::ranges::any_of(n.automaton->transitions(state), [](const auto& t) { return is_byte_of_one(t.byte); }))
        return true;
    return false;
  }
  bool of(const Expression::Concatenation& n) { return in_any(n.items); }
  bool of(const Expression::Union& n) { return in_any(n.items); }
  bool of(const Expression::Intersection& n) {
    return std::ranges::all_of(n.items, [&](const ExpressionPtr& item) { return in(item); });
  }
  bool of(const Expression::Repetition& n) { return in(n.body); }
  bool of(const Expression::Scope& n) { return in(n.body); }
  bool of(const Expression::Terminal& n) { return in(n.body); }
  bool of(const Expression::Language&) { return false; }  // numbers, which are spelled plainly alone
  // These say what must stand around a place, not what stands there.
  bool of(const Expression::LookAhead&) { return false; }
  bool of(const Expression::LookBehind&) { return false; }
  template <class Other>
  bool of(const Other&) {
    return true;
  }

  std::map<const Expression*, bool> known_;
};

}  // namespace

bool may_be_escaped(const ExpressionPtr& texts) { return EscapedSearch().in(texts); }

JsonSpelling::JsonSpelling(ExpressionPtr texts, bool any)
    : texts_(std::move(texts)), speller_(std::make_unique<Speller>(any)) {}
JsonSpelling::JsonSpelling(JsonSpelling&&) noexcept = default;
JsonSpelling& JsonSpelling::operator=(JsonSpelling&&) noexcept = default;
JsonSpelling::~JsonSpelling() = default;

const ExpressionPtr& JsonSpelling::whole(Budget& budget) {
  if (!whole_) whole_ = speller_->whole(texts_, budget);
  return whole_;
}

ExpressionPtr spelled_in_json(const ExpressionPtr& texts, bool any) {
  Budget budget(Limits(), nullptr, 0);
  return JsonSpelling(texts, any).whole(budget);
}

}  // namespace tokamata::json

// Number automata against a judge that reads whole texts: which texts are accepted, that no state is a dead end,
// that no byte is missing, and how far each state is from an accepted text.  Exhaustive up to a few bytes, for
// many sets.  Python judges long texts by decimal.Decimal and by repr (test_numbers.py).

#include <set>

#include "amounts.hpp"
#include "choices.hpp"
#include "json/number_automaton.hpp"
#include "test.hpp"

namespace {

using tokamata::json::NumberAutomaton;
using tokamata::json::NumberSet;
using tokamata::json::Spelling;
using Description = NumberSet::Description;

constexpr Spelling kSpellings[] = {Spelling::Plain, Spelling::Natural, Spelling::Any};

// ---- the judge ----------------------------------------------------------------------------------

struct Number {
  bool is_negative = false;
  std::string whole, fraction, exponent;  // the exponent with its sign
  bool has_point = false, has_exponent = false;
  char mark = 0;

  std::string digits() const {  // without zeros at the front
    const std::string all = whole + fraction;
    return all.substr(std::min(all.find_first_not_of('0'), all.size()));
  }
  long weight() const { return (has_exponent ? std::stol(exponent) : 0) - static_cast<long>(fraction.size()); }
};

// What a text says, if it is a JSON number.
std::optional<Number> read(std::string_view text) {
  Number number;
  const auto digits = [&] {
    std::string taken;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') taken += text[0], text.remove_prefix(1);
    return taken;
  };
  const auto take = [&](char letter) {
    return !text.empty() && text[0] == letter ? (text.remove_prefix(1), true) : false;
  };
  number.is_negative = take('-');
  number.whole = digits();
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole[0] == '0')) return std::nullopt;
  if (take('.')) {
    number.has_point = true;
    if ((number.fraction = digits()).empty()) return std::nullopt;
  }
  for (const char mark : {'e', 'E'})
    if (!number.has_exponent && take(mark)) {
      number.has_exponent = true;
      number.mark = mark;
      if (!text.empty() && (text[0] == '+' || text[0] == '-')) number.exponent = text[0], text.remove_prefix(1);
      const std::string given = digits();
      if (given.empty() || given.size() > 4) return std::nullopt;
      number.exponent += given;
    }
  return text.empty() ? std::optional(number) : std::nullopt;
}

// Whether json.dumps may write it so.
bool is_plain(const Number& n) {
  if (!n.has_point && !n.has_exponent) return !(n.is_negative && n.whole == "0");
  if (n.has_point && n.fraction.back() == '0' && (n.fraction.size() > 1 || n.has_exponent)) return false;
  if (n.has_exponent) {
    const std::string_view given = std::string_view(n.exponent).substr(1);
    const long exponent = std::stol(n.exponent);
    return n.mark == 'e' && (n.exponent[0] == '+' || n.exponent[0] == '-') &&
           (given.size() == 2 || (given.size() == 3 && given[0] != '0')) && n.whole.size() == 1 && n.whole[0] != '0' &&
           n.digits().size() <= 17 && exponent >= -324 && exponent <= 308 && (exponent >= 16 || exponent <= -5);
  }
  const std::string digits = n.digits();
  if (digits.empty() || digits == "0") return n.fraction.size() == 1;
  const long lead = static_cast<long>(digits.size()) - 1 - static_cast<long>(n.fraction.size());
  return lead >= -4 && lead <= 15 && (digits.size() <= 17 || n.fraction == "0");
}

// Whether it has at most 32 zeros in a row in its fraction, and is not long before an exponent below zero.
bool is_natural(const Number& n) {
  if (n.fraction.find(std::string(33, '0')) != std::string::npos) return false;
  return n.whole.size() <= 3 || !n.has_exponent || std::stol(n.exponent) >= 0;
}

// -1, 0 or 1.
int compared(const Number& a, const Number& b) {
  const auto sign = [](const Number& n) {
    return n.digits().empty() || n.digits().find_first_not_of('0') == std::string::npos ? 0 : n.is_negative ? -1 : 1;
  };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  if (sign(a) == 0) return 0;
  std::string x = a.digits(), y = b.digits();
  const long lead_x = static_cast<long>(x.size()) + a.weight(), lead_y = static_cast<long>(y.size()) + b.weight();
  const std::size_t length = std::max(x.size(), y.size());
  x.resize(length, '0');
  y.resize(length, '0');
  const int above = lead_x != lead_y ? (lead_x < lead_y ? -1 : 1) : x == y ? 0 : x < y ? -1 : 1;
  return sign(a) * above;
}

bool is_multiple(const Number& n, const Number& of) {
  std::string digits = n.digits();
  if (digits.find_first_not_of('0') == std::string::npos) return true;
  long power = n.weight() - of.weight();
  while (power < 0 && digits.back() == '0') digits.pop_back(), ++power;
  const unsigned long long factor = std::stoull(of.digits());
  // 10^-power more than the factor has: digits that end in another one than 0 may still have 2s or 5s enough.
  unsigned __int128 modulus = factor;
  for (; power < 0; ++power) {
    modulus *= 10;
    if (modulus > (static_cast<unsigned __int128>(1) << 100)) return false;  // more than these digits say
  }
  unsigned __int128 rest = 0;
  for (const char digit : digits) rest = (rest * 10 + static_cast<unsigned>(digit - '0')) % modulus;
  for (; power > 0 && rest != 0; --power) rest = rest * 10 % modulus;
  return rest == 0;
}

class Judge {
 public:
  explicit Judge(const Description& description) : description_(description) {
    if (description.minimum) minimum_ = read(*description.minimum);
    if (description.maximum) maximum_ = read(*description.maximum);
    if (description.multiple_of) multiple_ = read(*description.multiple_of);
  }
  bool accepts(const std::string& text) const {
    const std::optional<Number> n = read(text);
    if (!n || (description_.spelling == Spelling::Plain && !is_plain(*n))) return false;
    if (description_.spelling == Spelling::Natural && !is_natural(*n)) return false;
    if (description_.is_unsigned && n->is_negative) return false;
    if (description_.digits_only && (n->has_point || n->has_exponent)) return false;
    if (minimum_ && compared(*n, *minimum_) < (description_.exclusive_minimum ? 1 : 0)) return false;
    if (maximum_ && compared(*n, *maximum_) > (description_.exclusive_maximum ? -1 : 0)) return false;
    if (multiple_ && !is_multiple(*n, *multiple_)) return false;
    return !(description_.integral || description_.digits_only) || is_multiple(*n, *read("1"));
  }

 private:
  Description description_;
  std::optional<Number> minimum_, maximum_, multiple_;
};

std::string shown(const Description& d) {
  return "minimum " + d.minimum.value_or("none") + (d.exclusive_minimum ? " excluded" : "") + ", maximum " +
         d.maximum.value_or("none") + (d.exclusive_maximum ? " excluded" : "") + ", multiple of " +
         d.multiple_of.value_or("none") + (d.integral ? ", integral" : "") + (d.digits_only ? ", digits only" : "") +
         (d.spelling == Spelling::Plain     ? ", plain"
          : d.spelling == Spelling::Natural ? ", natural"
                                            : ", any spelling") +
         (d.is_unsigned ? ", unsigned" : "");
}

// ---- every text of a few bytes ------------------------------------------------------------------

class Exhaustive {
 public:
  Exhaustive(const Description& description, std::size_t longest)
      : judge_(description), automaton_(std::make_shared<const NumberSet>(description)), longest_(longest) {}

  void run() { visit("", automaton_.start()); }

 private:
  static constexpr std::size_t kNone = 1000;

  // Whether a JSON number may begin so, but for its exponents' length.
  static bool may_begin(const std::string& text) {
    for (const char* rest : {"", "0", ".0", "e0"})
      if (read(text + rest)) return true;
    return false;
  }

  // How many bytes the shortest accepted text that begins so has beyond it, of those that are looked at.
  std::size_t visit(const std::string& text, std::uint32_t state) {
    const test::Note note([&] { return "after '" + text + "'"; });
    const bool accepts = judge_.accepts(text);
    CHECK_EQUAL(state != NumberAutomaton::kDead && automaton_.accepting(state), accepts);
    std::size_t best = accepts ? 0 : kNone;
    for (const char c : std::string_view("0123456789-+.eE")) {
      if (text.size() == longest_) break;
      const std::uint32_t next = automaton_.step(state, static_cast<std::uint8_t>(c));
      if (may_begin(text + c)) best = std::min(best, visit(text + c, next) + 1);
      else CHECK_EQUAL(next, NumberAutomaton::kDead);
    }
    check_distance(text, state, std::min(best, kNone));
    return std::min(best, kNone);
  }
  void check_distance(const std::string& text, std::uint32_t state, std::size_t best) {
    if (state == NumberAutomaton::kDead) return CHECK_EQUAL(best, kNone);
    const std::size_t distance = automaton_.distance(state);
    if (best != kNone) return CHECK_EQUAL(distance, best);
    CHECK(text.size() + distance > longest_);
    CHECK(distance <= automaton_.most_missing());
    if (!checked_.insert(state).second) return;
    const std::string rest = automaton_.shortest(state);
    const test::Note note([&] { return "and then '" + rest + "'"; });
    CHECK_EQUAL(rest.size(), distance);
    CHECK(judge_.accepts(text + rest));
  }

  Judge judge_;
  NumberAutomaton automaton_;
  std::size_t longest_;
  std::set<std::uint32_t> checked_;
};

void check(const Description& description, std::size_t longest) {
  const test::Note note([&] { return shown(description); });
  Exhaustive(description, longest).run();
}

TEST(every_short_text_of_plain_sets) {
  std::uint64_t way = 0;  // of writing, and of what is a number
  for (const Spelling spelling : kSpellings)
    for (const bool integral : {false, true})
      for (const bool digits_only : {false, true}) {
        if (integral && digits_only) continue;
        std::uint64_t place = ++way;  // so that each set has a share of the ways, and each way of the sets
        const auto set = [&](const char* minimum, const char* maximum, const char* multiple, bool excluded = false) {
          if (++place % test::one_in(1) != 0) return;
          const auto given = [](const char* text) { return text ? std::optional<std::string>(text) : std::nullopt; };
          check({given(minimum), given(maximum), given(multiple), excluded, excluded, integral, digits_only, spelling},
                test::all_of_them() ? 6 : 3);
        };
        set(nullptr, nullptr, nullptr);
        set("0", nullptr, nullptr);
        set("0", nullptr, nullptr, true);
        set("-5", "5", nullptr);
        set("12", "115", nullptr);
        set("0.1", "0.2", nullptr, true);
        set(nullptr, nullptr, "0.01");
        set(nullptr, nullptr, "3");
        set("10", "17", "7");
        set("1", "2", "1e-8", true);
        set(nullptr, nullptr, "7.5");
        set("1e300", nullptr, "1e300");
        set(nullptr, "-1e-7", nullptr);
        set("5", "4", nullptr);
        set("0", "0", nullptr);
        set("-0.0", "0", "5", true);
        set("99.5", "100.5", nullptr);
        set("0.99999999999999999999", "1", nullptr);
        set("1.00000000000000000001", "1.00000000000000000002", nullptr);
        set(nullptr, nullptr, "999999999999999999");
      }
}

std::string random_decimal(Choices& choices, bool positive) {
  std::string text = !positive && choices.one_in(3) ? "-" : "";
  const auto digit = [&] { return std::to_string(choices.below(10)); };
  text += std::to_string(choices.one_in(3) ? choices.below(1000) : choices.below(20));
  if (choices.one_in(2)) {
    text += "." + digit();
    while (choices.one_in(2)) text += digit();
  }
  if (choices.one_in(4))
    text +=
        (choices.one_in(2) ? "e-" : "e") + std::to_string(choices.one_in(4) ? choices.below(400) : choices.below(8));
  return text;
}

TEST(every_short_text_of_random_sets) {
  const std::uint64_t count = test::drawn(120);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed);
    Description description;
    if (!choices.one_in(4)) description.minimum = random_decimal(choices, false);
    if (!choices.one_in(4)) description.maximum = random_decimal(choices, false);
    if (choices.one_in(2)) {
      description.multiple_of = random_decimal(choices, true);
      if (read(*description.multiple_of)->digits().find_first_not_of('0') == std::string::npos)
        description.multiple_of.reset();
    }
    description.exclusive_minimum = choices.one_in(2);
    description.exclusive_maximum = choices.one_in(2);
    description.integral = choices.one_in(4);
    description.digits_only = choices.one_in(6);
    description.spelling = kSpellings[choices.below(3)];
    check(description, test::all_of_them() ? 5 : 4);
  }
}

// ---- texts with exponents -----------------------------------------------------------------------

// A value as its digits, the first of which stands for 10^lead.
struct Value {
  bool is_negative;
  std::string digits;
  long lead;

  std::string scientific(bool is_plain = true) const {
    const std::string power = std::to_string(std::labs(lead));
    return sign() + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") + "e" +
           (lead < 0   ? "-"
            : is_plain ? "+"
                       : "") +
           (is_plain && power.size() < 2 ? "0" : "") + power;
  }
  // Without an exponent.  With `has_point`, integers end with ".0".
  std::string expanded(bool has_point) const {
    if (lead < 0) return sign() + "0." + std::string(static_cast<std::size_t>(-lead - 1), '0') + digits;
    const auto length = static_cast<std::size_t>(lead + 1);
    if (digits.size() > length) return sign() + digits.substr(0, length) + "." + digits.substr(length);
    return sign() + digits + std::string(length - digits.size(), '0') + (has_point ? ".0" : "");
  }
  std::string sign() const { return is_negative ? "-" : ""; }
};

Value random_value(Choices& choices) {
  Value value{choices.one_in(3), std::string(1, static_cast<char>('1' + choices.below(9))), 0};
  const std::uint32_t more = choices.one_in(3) ? choices.below(19) : choices.below(4);
  for (std::uint32_t i = 0; i < more; ++i)
    value.digits += static_cast<char>((i + 1 == more ? '1' : '0') + choices.below(9));
  // Where spellings change: 1e-5, 1e16, and the ends of the floats.
  const long near[] = {-324, -308, -100, -5, 0, 16, 100, 308};
  value.lead = choices.one_in(4) ? static_cast<long>(choices.below(660)) - 330
                                 : near[choices.below(8)] + static_cast<long>(choices.below(9)) - 4;
  return value;
}

// The same value but for some digits from a place on, and rarely one next to it in magnitude.
Value near_value(Choices& choices, Value value) {
  if (choices.one_in(8)) value.lead += choices.one_in(2) ? 1 : -1;
  if (choices.one_in(2)) value.digits.resize(choices.between(1, static_cast<std::uint32_t>(value.digits.size())));
  if (choices.one_in(2)) value.digits.back() = static_cast<char>('1' + choices.below(9));
  if (choices.one_in(3)) value.digits += static_cast<char>('1' + choices.below(9));
  while (value.digits.size() > 1 && value.digits.back() == '0') value.digits.pop_back();
  return value;
}

// Every state that is met is next to one that is one byte nearer to acceptance, or accepts: so that no state is
// a dead end, whatever was not looked at.
class Walks {
 public:
  explicit Walks(const Description& description)
      : judge_(description), automaton_(std::make_shared<const NumberSet>(description)) {}

  bool is_empty() const { return automaton_.start() == NumberAutomaton::kDead; }

  // All that a text passes by, and whether it is accepted.
  void read_text(const std::string& text) {
    const test::Note note([&] { return "in '" + text + "'"; });
    const bool accepted = judge_.accepts(text);
    std::uint32_t state = automaton_.start();
    std::string read;
    for (const char c : text) {
      if (state == NumberAutomaton::kDead) break;
      meet(read, state);
      state = automaton_.step(state, static_cast<std::uint8_t>(c));
      read += c;
    }
    if (state != NumberAutomaton::kDead) meet(read, state);
    CHECK_EQUAL(state != NumberAutomaton::kDead && automaton_.accepting(state), accepted);
  }
  // Somewhere, and from there by a shortest way.
  void wander(Choices& choices) {
    std::string text;
    std::uint32_t state = automaton_.start();
    for (std::uint32_t steps = choices.below(24); steps > 0; --steps) {
      meet(text, state);
      std::string bytes;
      for (const char c : kBytes)
        if (automaton_.step(state, static_cast<std::uint8_t>(c)) != NumberAutomaton::kDead) bytes += c;
      if (bytes.empty()) break;
      text += bytes[choices.below(static_cast<std::uint32_t>(bytes.size()))];
      state = automaton_.step(state, static_cast<std::uint8_t>(text.back()));
    }
    meet(text, state);
    text += automaton_.shortest(state);
    CHECK(judge_.accepts(text));
  }

 private:
  static constexpr std::string_view kBytes = "0123456789-+.eE";

  void meet(const std::string& text, std::uint32_t state) {
    check_state(text, state);
    for (const char c : kBytes)
      if (const std::uint32_t next = automaton_.step(state, static_cast<std::uint8_t>(c));
          next != NumberAutomaton::kDead)
        check_state(text + c, next);
  }
  void check_state(const std::string& text, std::uint32_t state) {
    if (!checked_.insert(state).second) return;
    const test::Note note([&] { return "after '" + text + "'"; });
    const bool accepts = automaton_.accepting(state);
    CHECK_EQUAL(accepts, judge_.accepts(text));
    if (accepts) return CHECK_EQUAL(automaton_.distance(state), 0u);
    std::uint32_t best = ~std::uint32_t{0};
    for (const char c : kBytes)
      if (const std::uint32_t next = automaton_.step(state, static_cast<std::uint8_t>(c));
          next != NumberAutomaton::kDead)
        best = std::min(best, automaton_.distance(next) + 1);
    CHECK_EQUAL(automaton_.distance(state), best);
  }

  Judge judge_;
  NumberAutomaton automaton_;
  std::set<std::uint32_t> checked_;
};

void walk(Choices& choices, const Description& description, const std::vector<Value>& values) {
  const test::Note note([&] { return shown(description); });
  Walks walks(description);
  for (const Value& near : values)
    for (unsigned i = 0; i < 4; ++i) {
      const Value value = i == 0 ? near : near_value(choices, near);
      for (const std::string& text :
           {value.scientific(), value.scientific(false), value.expanded(false), value.expanded(true)})
        walks.read_text(text);
    }
  for (unsigned i = 0; i < 12 && !walks.is_empty(); ++i) walks.wander(choices);
}

// Between the greatest number with one exponent and the least with the next there may be nothing: 1.3 begins
// 1.3e+20, which is too small, and 1.3e+21, which is too large.
TEST(digits_that_no_exponent_fits) {
  for (const char* text :
       {"1.5e20", "2.5e16", "1.5e-5", "1.5e308", "-1.5e20", "5e-324", "1e22", "1.25e-7", "12345678901234567e10"})
    for (const Spelling spelling : kSpellings) {
      Choices choices(1);
      walk(choices, {.minimum = text, .maximum = text, .spelling = spelling}, {});
    }
  NumberAutomaton automaton(std::make_shared<const NumberSet>(Description{.minimum = "1.5e20", .maximum = "1.5e20"}));
  const std::uint32_t point = automaton.step(automaton.step(automaton.start(), '1'), '.');
  CHECK(automaton.next_bytes(point) == tokamata::ByteSet::range('5', '5'));
}

// 6.00 is one digit away from 6.001, and 6 from 6.01 is two: they are not the same state.
TEST(zeros_between_bounds_that_begin_alike) {
  Choices choices(1);
  walk(choices, {.minimum = "6", .maximum = "6.08", .exclusive_minimum = true, .spelling = Spelling::Any},
       {{false, "6", 0}, {false, "6001", 0}, {false, "60001", 0}, {false, "608", 0}});
}

TEST(walks_near_bounds_with_exponents) {
  const std::uint64_t count = test::drawn(300);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed);
    const Value low = random_value(choices),
                other = choices.one_in(3) ? random_value(choices) : near_value(choices, low);
    const bool is_constant = choices.one_in(4),
               swapped = compared(*read(low.scientific()), *read(other.scientific())) > 0;
    const Value &least = is_constant || !swapped ? low : other, &most = is_constant || swapped ? low : other;
    Description description;
    if (is_constant || !choices.one_in(6)) description.minimum = least.scientific();
    if (is_constant || !choices.one_in(6)) description.maximum = most.scientific();
    description.exclusive_minimum = !is_constant && choices.one_in(3);
    description.exclusive_maximum = !is_constant && choices.one_in(3);
    if (choices.one_in(3)) {
      Value factor{false, std::to_string(1 + choices.below(choices.one_in(2) ? 9 : 999)), low.lead};
      factor.lead -= static_cast<long>(choices.below(20));
      description.multiple_of = factor.scientific();
    }
    description.integral = choices.one_in(6);
    description.spelling = kSpellings[choices.below(3)];
    walk(choices, description, {least, most});
  }
}

// In natural spelling what follows many zeros must do without more of them.
TEST(zeros_in_a_row) {
  Choices choices(1);
  const auto texts_near = [&](Description description) {
    description.spelling = Spelling::Natural;
    const test::Note note([&] { return shown(description); });
    Walks walks(description);
    if (walks.is_empty()) return;
    for (const char* begun : {"0.", "1.", "-123.", "5678.", "0.25"})
      for (std::size_t zeros = 30; zeros <= 33; ++zeros)
        for (const char* rest : {"", "1", "7e3", "01", "e-2", "e40", "002"})
          walks.read_text(begun + std::string(zeros, '0') + rest);
    for (std::uint64_t i = 0; i < test::drawn(20); ++i) walks.wander(choices);
  };
  texts_near({});
  texts_near({.integral = true});
  for (const char* multiple :
       {"7", "3e-35", "1e-40", "0.01", "101e-33", "999999999", "999999999e-30", "123456789012345678e-40"}) {
    texts_near({.multiple_of = multiple});
    texts_near({.minimum = "1", .multiple_of = multiple, .exclusive_minimum = true});
    for (const char* maximum : {"2", "1e10", "1.5e33", "1e45"})
      texts_near({.minimum = "-1", .maximum = maximum, .multiple_of = multiple});
  }
  for (const char* maximum : {"1e-30", "1e-34", "1e-40", "2e-9990", "1.0000000000000000000000000001"}) {
    texts_near({.minimum = "0", .maximum = maximum, .exclusive_minimum = true});
    texts_near({.minimum = "1", .maximum = maximum, .exclusive_minimum = true});
    texts_near({.minimum = maximum, .maximum = maximum});
  }
  // Where all numbers have so many, they are written nevertheless.
  const std::string like_one = "1." + std::string(40, '0') + "1";
  const Description constant{.minimum = like_one, .maximum = like_one, .spelling = Spelling::Natural};
  NumberAutomaton long_zeros(std::make_shared<const NumberSet>(constant));
  CHECK_EQUAL(long_zeros.shortest(long_zeros.start()), like_one);
  NumberAutomaton automaton(std::make_shared<const NumberSet>(
      Description{.minimum = "0", .spelling = Spelling::Natural, .is_unsigned = true}));
  CHECK(!automaton.next_bytes(automaton.start()).contains('-'));
}

// ---- states -------------------------------------------------------------------------------------

std::size_t states_of(const Description& description, std::size_t most = 3000) {
  NumberAutomaton automaton(std::make_shared<const NumberSet>(description));
  for (std::uint32_t state = 0; state < automaton.state_count() && automaton.state_count() < most; ++state)
    automaton.next_bytes(state);
  return automaton.state_count();
}

TEST(states_are_few) {
  CHECK(states_of({.digits_only = true}) <= 5);
  CHECK(states_of({.digits_only = true, .spelling = Spelling::Any}) <= 5);
  CHECK(states_of({.spelling = Spelling::Any}) <= 15);
  CHECK(states_of({.spelling = Spelling::Natural}) <= 125);
  CHECK(states_of({.minimum = "0", .maximum = "5", .spelling = Spelling::Natural}, 20'000) <= 10'000);
  CHECK(states_of({}) <= 150);
  CHECK(states_of({.minimum = "0", .maximum = "150", .digits_only = true}) <= 12);
  CHECK(states_of({.minimum = "0", .maximum = "1000000", .digits_only = true}) <= 20);
}

TEST(equal_sets_have_equal_keys) {
  const auto key = [](const Description& description) { return NumberSet(description).key(); };
  CHECK_EQUAL(key({.minimum = "1e2", .multiple_of = "0.50"}), key({.minimum = "100.0", .multiple_of = "5e-1"}));
  CHECK_EQUAL(key({.multiple_of = "2.5", .integral = true}), key({.multiple_of = "5", .integral = true}));
  CHECK(key({.minimum = "1"}) != key({.minimum = "1", .exclusive_minimum = true}));
  CHECK(key({.minimum = "1"}) != key({.maximum = "1"}));
}

TEST(what_is_no_bound_is_refused) {
  for (const char* text : {"", "-", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN", "1 ", "1e12345", "--1"})
    CHECK_THROWS(std::invalid_argument, NumberSet({.minimum = text}));
  CHECK_THROWS(std::invalid_argument, NumberSet({.maximum = std::string(401, '9')}));
  CHECK_THROWS(std::invalid_argument, NumberSet({.maximum = "1" + std::string(20'000, '0')}));
  for (const char* text : {"0", "-1", "0.0", "1234567890123456789"})
    CHECK_THROWS(std::invalid_argument, NumberSet({.multiple_of = text}));
  NumberSet({.maximum = std::string(400, '9'), .multiple_of = "123456789012345678e-40"});
  NumberSet({.maximum = "1e00009"});
}

// Long bounds, where each digit is a state and distances are long.
TEST(long_bounds) {
  for (const Spelling spelling : kSpellings) {
    std::string digits;
    Choices choices(7);
    for (unsigned i = 0; i < 400; ++i) digits += static_cast<char>('1' + choices.below(9));
    const Description description{.minimum = digits,
                                  .maximum = digits.substr(0, 390) + "9999999999",
                                  .multiple_of = "7e-3",
                                  .spelling = spelling};
    const Judge judge(description);
    NumberAutomaton automaton(std::make_shared<const NumberSet>(description));
    std::uint32_t state = automaton.start();
    CHECK(state != NumberAutomaton::kDead);
    CHECK(judge.accepts(automaton.shortest(state)));
    for (std::size_t i = 0; i < 390; ++i) {
      state = automaton.step(state, static_cast<std::uint8_t>(digits[i]));
      CHECK(state != NumberAutomaton::kDead);
      if (i % 20 == 0) CHECK(judge.accepts(digits.substr(0, i + 1) + automaton.shortest(state)));
    }
  }
}

}  // namespace

// Strings of characters that are spelled by one expression: where it is sure, a count of them beside says less.
//
// Problem.  A string of at most 500 characters with a pattern is  c{0,500} & pattern.  At each of its characters that
// is another intersection, and each is searched for life and walked through the vocabulary by itself; but 300
// characters before the end no token sees the bound, and without it the pattern is alone.
// Example.  c*&[a-z]+ is [a-z]+;  c{0,500}&[a-z]+ has the mask of [a-z]+, for tokens of up to 499 bytes.
// How.  A note says which expression c is: one character, which stands for itself or is spelled by an *escape*.  All
// texts of another are of such characters if those of its parts are: of classes and bytes that stand for themselves,
// and of what begins with the first byte of an escape and goes on as c does.
// Of a bound that is near, without_bound says how far the string without it is right, and the tokens that go further
// are judged by themselves (composition/segments.cpp).  And what is left of all characters without some texts lives,
// whatever was read of it, where these texts lack a character.
// Cost.  Once for each expression, of whose parts most are known; an escape is followed byte by byte.
// Not taken: a search for a text that is not of characters: the whole of a pattern's states, where parts are enough.

#include <algorithm>

#include "expression/derivatives.hpp"

namespace tokamata {

void Derivatives::note_character(ExpressionId character, Budget& budget) {
  if (this->character() == character) return;
  Characters known;
  std::vector<ExpressionId> open{character};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (at == kEpsilon || !met.insert(at.value).second) continue;
    const FirstBytes first = first_byte_classes(at);
    const ByteSet representatives = first.representatives();
    ExpressionId rest = kEmpty;
    // Beyond ASCII, code points are read as a whole.
    for (unsigned value = first.bytes.next_member(0); value < 0x80; value = first.bytes.next_member(value + 1)) {
      const auto byte = static_cast<std::uint8_t>(value);
      if (representatives.contains(byte)) rest = derivative(at, byte, budget);
      if (rest == kEmpty) continue;
      if (at == character && rest == kEpsilon) {
        known.stand_for_themselves.add(byte);
        continue;
      }
      if (at == character) known.begin_escapes.add(byte);
      known.escape_steps.emplace(Characters::step_key(at, byte), rest);
      open.push_back(rest);
    }
  }
  known.character = character;
  set_characters(std::move(known));
}

bool Forms::counts_characters(const ExpressionNode& n) const {
  return n.kind == Kind::Repetition && n.body() == characters_.character;
}

// Whether it counts characters beside what has some of them and no other texts, so that nothing but its maximum
// matters.
bool Forms::is_mere_bound(ExpressionId expression, std::span<const ExpressionId> conjuncts) {
  const ExpressionNode n = node(expression);
  if (!counts_characters(n) || n.minimum > 1) return false;
  return std::ranges::any_of(conjuncts, [&](ExpressionId other) {
    return !counts_characters(node(other)) && !(n.minimum == 1 && node(other).nullable) && is_of_characters(other);
  });
}

// Several counts of characters are one, since a text has one number of characters.  They stay apart beside what may be
// of characters, of which a maximum says nothing (is_mere_bound) and a minimum may.
void Forms::join_counts_of_characters(std::vector<ExpressionId>& conjuncts) {
  Count least = 0, most = kUnbounded;
  std::vector<ExpressionId> joined;
  for (const ExpressionId item : conjuncts) {
    const ExpressionNode& n = node(item);
    if (counts_characters(n)) {
      least = std::max(least, n.minimum);
      most = std::min(most, n.maximum);
    } else if (n.kind == Kind::Complement) {
      joined.push_back(item);
    } else {
      return;
    }
  }
  if (conjuncts.size() < joined.size() + 2) return;
  joined.push_back(least > most ? kEmpty : repeat(characters_.character, least, most));
  std::ranges::sort(joined);
  conjuncts = std::move(joined);
}

void Forms::drop_counts_of_characters(std::vector<ExpressionId>& conjuncts) {
  std::vector<ExpressionId> kept;
  for (const ExpressionId item : conjuncts)
    if (node(item).maximum != kUnbounded || !is_mere_bound(item, conjuncts)) kept.push_back(item);
  conjuncts = std::move(kept);
}

// The only conjunct of an intersection beside bounds, and the least of these.  It is of characters, and so not
// constrained.
std::optional<Forms::Beside> Forms::beside_bounds(const ExpressionNode& n) {
  if (n.kind != Kind::Intersection) return std::nullopt;
  // a copy: items move when the arena grows
  const std::vector<ExpressionId> conjuncts(items(n).begin(), items(n).end());
  std::vector<ExpressionId> others;
  Count least = kUnbounded;
  for (const ExpressionId item : conjuncts) {
    if (is_mere_bound(item, conjuncts)) least = std::min(least, node(item).maximum);
    else others.push_back(item);
  }
  if (others.size() != 1 || least == kUnbounded) return std::nullopt;
  return Beside{others[0], least};
}

std::optional<Forms::Unbounded> Forms::without_bound(ExpressionId terminal) {
  const auto [head, tail] = split(node(terminal).body());
  const ExpressionNode n = node(head);
  const std::optional<std::uint8_t> end = only_byte(node(split(tail).head));
  if (!end || characters_.stand_for_themselves.contains(*end)) return std::nullopt;
  ByteSet special = characters_.begin_escapes;
  special.add(*end);
  const auto unbounded = [&, rest = tail](ExpressionId string, Count sure, Count most) {
    const ExpressionNode loop = node(string);
    const bool is_loop = loop.kind == Kind::Repetition && loop.minimum == 0 && loop.maximum == kUnbounded;
    const ExpressionId body = concatenate(string, rest);
    return Unbounded{terminal_of(body, node(body).spelled, node(body).shortest), sure, is_loop ? most : sure, most,
                     special};
  };
  if (counts_characters(n) && n.maximum != kUnbounded)
    return unbounded(repeat(n.body(), n.minimum, kUnbounded), n.maximum, n.maximum);
  const std::optional<Loosened> loosened = without_bounds(head, &ExpressionNode::worst);
  if (!loosened) return std::nullopt;
  return unbounded(loosened->expression, loosened->room, loosened->most);
}

// An intersection may begin with another one, such as a mailbox of 254 characters with a local part of 64.  What the
// inner one has without its bound ends its part as early as the worst rest says, so that the outer bound sees no
// difference.
std::optional<Forms::Loosened> Forms::without_bounds(ExpressionId expression, std::uint32_t ExpressionNode::* rest) {
  const ExpressionNode n = node(expression);
  if (n.kind == Kind::Concatenation) {
    const auto [head, tail] = split(expression);
    std::optional<Loosened> loosened = without_bounds(head, rest);
    if (loosened) loosened = Loosened{concatenate(loosened->expression, tail), loosened->room, kUnbounded};
    return loosened;
  }
  if (n.kind != Kind::Intersection) return std::nullopt;
  std::vector<ExpressionId> conjuncts(items(n).begin(), items(n).end());
  const auto others =
      std::ranges::stable_partition(conjuncts, [this](ExpressionId item) { return counts_characters(node(item)); });
  if (others.size() != 1) return std::nullopt;
  Count room = kUnbounded;
  if (const std::optional<Loosened> within = without_bounds(conjuncts.back(), rest)) {
    conjuncts.back() = within->expression;
    room = within->room;
  }
  const ExpressionNode whole = node(intersect(conjuncts));
  const std::optional<Beside> beside = beside_bounds(whole);
  if (!beside || beside->most < node(beside->other).*rest) return std::nullopt;
  return Loosened{beside->other, std::min(room, beside->most - node(beside->other).*rest), beside->most};
}

// Whether it is an automaton of strings, or a small expression of one text, in each of its spellings, or a few texts.
bool Forms::is_of_few_texts(ExpressionId expression) const {
  if (node(expression).kind == Kind::Strings) return true;
  constexpr std::size_t kMostNodes = 1024;
  constexpr std::size_t kFewBytes = 8;  // as the two cases of a digit
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (!met.insert(at.value).second) continue;
    if (met.size() > kMostNodes) return false;
    const ExpressionNode& n = node(at);
    if (n.kind == Kind::Concatenation) {
      open.push_back(n.head());
      open.push_back(n.tail());
    } else if (n.kind == Kind::Union) {
      open.insert(open.end(), items(n).begin(), items(n).end());
    } else if (at != kEpsilon && !(n.kind == Kind::Bytes && byte_set(n).size() <= kFewBytes)) {
      return false;
    }
  }
  return true;
}

std::optional<Forms::WithStrings> Forms::with_strings(ExpressionId terminal) {
  const auto [head, tail] = split(node(terminal).body());
  const ExpressionNode n = node(head);
  if (n.kind != Kind::Intersection || node(tail).nullable) return std::nullopt;
  std::vector<ExpressionId> strings, others;
  for (const ExpressionId item : items(n)) {
    const ExpressionNode& part = node(item);
    if (part.kind == Kind::Complement && is_of_few_texts(part.body())) strings.push_back(part.body());
    else others.push_back(item);
  }
  if (strings.empty() || others.empty()) return std::nullopt;
  const ExpressionId body = concatenate(intersect(others), tail);
  const ExpressionNode& next = node(split(tail).head);
  const ByteSet behind = next.kind == Kind::Bytes ? byte_set(next) : ByteSet::range(0x00, 0xFF);
  return WithStrings{terminal_of(body, node(body).spelled, node(body).shortest), std::move(strings), behind};
}

std::optional<Count> Forms::characters_but_for_some(ExpressionId expression) {
  const ExpressionNode n = node(expression);
  if (n.kind != Kind::Intersection) return std::nullopt;
  std::optional<Count> least;
  ByteSet free = characters_.stand_for_themselves & single_bytes_;
  for (const ExpressionId item : items(n)) {
    const ExpressionNode& part = node(item);
    if (counts_characters(part) && part.maximum == kUnbounded) {
      least = std::max(least.value_or(0), part.minimum);
      continue;
    }
    if (part.kind != Kind::Complement) return std::nullopt;
    const ExpressionNode& body = node(part.body());
    if (!body.text || body.constrained || body.open || body.behind || body.edges || body.rules) return std::nullopt;
    free = free.without(first_bytes_within(part.body()));
  }
  return free.empty() ? std::nullopt : least;
}

std::optional<std::uint32_t> Forms::length_without_search(ExpressionId expression) {
  const auto [head, tail] = split(expression);
  const ExpressionNode n = node(head);
  if (node(tail).constrained) return std::nullopt;
  // it is there
  const auto sure = [](std::uint64_t length) { return std::min<std::uint64_t>(length, kLongestLength); };
  if (const std::optional<Count> least = characters_but_for_some(head); least && *least < kUnbounded / 2)
    return capped_sum(sure(n.nullable ? 0 : std::max<Count>(*least, 1)), sure(node(tail).shortest));
  const std::optional<Loosened> loosened = without_bounds(head, &ExpressionNode::shortest);
  if (!loosened) return std::nullopt;
  return capped_sum(sure(node(loosened->expression).shortest), sure(node(tail).shortest));
}

// Parts before what they are part of, so that each expression is judged once, whether it is of characters or not.
bool Forms::is_of_characters(ExpressionId expression) {
  counted::vector<Characters::Known>& known = characters_.known;
  const auto of = [&](ExpressionId part) {
    return part.value < known.size() ? known[part.value] : Characters::Known::Nothing;
  };
  std::vector<ExpressionId> open{expression}, parts, unknown;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    if (of(at) != Characters::Known::Nothing) {
      open.pop_back();
      continue;
    }
    parts.clear();
    unknown.clear();
    bool result = is_of_characters_if(at, parts);
    for (std::size_t i = 0; result && i < parts.size(); ++i) {
      if (of(parts[i]) == Characters::Known::Nothing) unknown.push_back(parts[i]);
      result = of(parts[i]) != Characters::Known::Not;
    }
    if (result && !unknown.empty()) {
      open.insert(open.end(), unknown.begin(), unknown.end());
      continue;
    }
    if (at.value >= known.size()) known.resize(size());
    known[at.value] = result ? Characters::Known::OfCharacters : Characters::Known::Not;
    open.pop_back();
  }
  return of(expression) == Characters::Known::OfCharacters;
}

// Whether an expression is of characters if `parts`, to which its own are added, are.
bool Forms::is_of_characters_if(ExpressionId expression, std::vector<ExpressionId>& parts) {
  if (expression == characters_.character || expression == kEpsilon) return true;
  const ExpressionNode n = node(expression);
  switch (n.kind) {
    case Kind::Bytes: return byte_set(n).is_subset_of(characters_.stand_for_themselves);
    case Kind::CodePoints:  // of bytes over 0x7F there are whole code points alone, and all stand for themselves
      return n.second == automaton(n).start() && (first_bytes_of(automaton(n), n.second) & ByteSet::range(0x00, 0x7F))
                                                     .is_subset_of(characters_.stand_for_themselves);
    case Kind::Repetition: parts.push_back(n.body()); return true;
    case Kind::Union: parts.assign(items(n).begin(), items(n).end()); return true;
    case Kind::Concatenation: {
      const std::optional<std::uint8_t> byte = only_byte(node(n.head()));
      if (!byte || !characters_.begin_escapes.contains(*byte)) {
        parts = {n.head(), n.tail()};
        return true;
      }
      const ExpressionId escape = characters_.escape_steps.at(Characters::step_key(characters_.character, *byte));
      return add_after_escape(n.tail(), escape, parts);
    }
    default: return false;
  }
}

// What an expression goes on with where it has ended an escape, of which `escape` is the rest; whether that is sure.
bool Forms::add_after_escape(ExpressionId expression, ExpressionId escape, std::vector<ExpressionId>& parts) {
  if (escape == kEmpty) return false;
  if (escape == kEpsilon) return parts.push_back(expression), true;
  const auto [head, tail] = split(expression);
  const ExpressionNode first = node(head);
  if (first.kind == Kind::Union) {
    for (std::uint32_t i = 0; i < first.second; ++i)
      if (!add_after_escape(concatenate(item(first, i), tail), escape, parts)) return false;
    return true;
  }
  if (first.kind != Kind::Bytes) return false;
  const ByteSet bytes = byte_set(first);
  std::vector<ExpressionId> rests;
  for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1)) {
    const auto step = characters_.escape_steps.find(Characters::step_key(escape, static_cast<std::uint8_t>(byte)));
    if (step == characters_.escape_steps.end()) return false;
    rests.push_back(step->second);
  }
  std::ranges::sort(rests);
  rests.erase(std::unique(rests.begin(), rests.end()), rests.end());
  return std::ranges::all_of(rests, [&](ExpressionId rest) { return add_after_escape(tail, rest, parts); });
}

}  // namespace tokamata

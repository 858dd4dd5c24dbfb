#include "expression/characters.hpp"

#include <algorithm>

#include "common/sort_unique.hpp"
#include "expression/forms.hpp"

namespace tokamata {

bool Characters::is_mere_bound(ExpressionId expression, std::span<const ExpressionId> conjuncts) {
  const ExpressionNode n = pool_.node(expression);
  if (!counts(n) || n.minimum > 1) return false;
  return std::ranges::any_of(conjuncts, [&](ExpressionId other) {
    return !counts(pool_.node(other)) && !(n.minimum == 1 && pool_.node(other).nullable) && is_of(other);
  });
}

// Several counts of characters are one, since a text has one number of characters.  They stay apart beside what may be
// of characters, of which a maximum says nothing (is_mere_bound) and a minimum may.
void Characters::join_counts(std::vector<ExpressionId>& conjuncts) {
  Count least = 0, most = kUnbounded;
  std::vector<ExpressionId> joined;
  for (const ExpressionId item : conjuncts) {
    const ExpressionNode& n = pool_.node(item);
    if (counts(n)) {
      least = std::max(least, n.minimum);
      most = std::min(most, n.maximum);
    } else if (n.kind == Kind::Complement) {
      joined.push_back(item);
    } else {
      return;
    }
  }
  if (conjuncts.size() < joined.size() + 2) return;
  joined.push_back(least > most ? Pool::kEmpty : forms_.repeat(spelling_.character, least, most));
  std::ranges::sort(joined);
  conjuncts = std::move(joined);
}

void Characters::drop_counts(std::vector<ExpressionId>& conjuncts) {
  std::vector<ExpressionId> kept;
  for (const ExpressionId item : conjuncts)
    if (pool_.node(item).maximum != kUnbounded || !is_mere_bound(item, conjuncts)) kept.push_back(item);
  conjuncts = std::move(kept);
}

// Parts before what they are part of, so that each expression is judged once, whether it is of characters or not.
bool Characters::is_of(ExpressionId expression) {
  const auto of = [&](ExpressionId part) { return part.value < known_.size() ? known_[part.value] : Known::Nothing; };
  std::vector<ExpressionId> open{expression}, parts, unknown;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    if (of(at) != Known::Nothing) {
      open.pop_back();
      continue;
    }
    parts.clear();
    unknown.clear();
    bool result = is_of_if(at, parts);
    for (std::size_t i = 0; result && i < parts.size(); ++i) {
      if (of(parts[i]) == Known::Nothing) unknown.push_back(parts[i]);
      result = of(parts[i]) != Known::Not;
    }
    if (result && !unknown.empty()) {
      open.insert(open.end(), unknown.begin(), unknown.end());
      continue;
    }
    if (at.value >= known_.size()) known_.resize(pool_.size());
    known_[at.value] = result ? Known::OfCharacters : Known::Not;
    open.pop_back();
  }
  return of(expression) == Known::OfCharacters;
}

// Whether an expression is of characters if `parts`, to which its own are added, are.
bool Characters::is_of_if(ExpressionId expression, std::vector<ExpressionId>& parts) {
  if (expression == spelling_.character || expression == Pool::kEpsilon) return true;
  const ExpressionNode n = pool_.node(expression);
  switch (n.kind) {
    case Kind::Bytes: return leaves_.byte_set(n).is_subset_of(spelling_.stand_for_themselves);
    case Kind::CodePoints:  // of bytes over 0x7F there are whole code points alone, and all stand for themselves
      return n.state() == leaves_.automaton(n).start() &&
             (Leaves::first_bytes(leaves_.automaton(n), n.state()) & ByteSet::range(0x00, 0x7F))
                 .is_subset_of(spelling_.stand_for_themselves);
    case Kind::Repetition: parts.push_back(n.body()); return true;
    case Kind::Union: parts.assign(pool_.items(n).begin(), pool_.items(n).end()); return true;
    case Kind::Concatenation: {
      const std::optional<std::uint8_t> byte = leaves_.only_byte(pool_.node(n.head()));
      if (!byte || !spelling_.begin_escapes.contains(*byte)) {
        parts = {n.head(), n.tail()};
        return true;
      }
      const ExpressionId escape = spelling_.escape_steps.at(Spelling::step_key(spelling_.character, *byte));
      return add_after_escape(n.tail(), escape, parts);
    }
    default: return false;
  }
}

// What an expression goes on with where it has ended an escape, of which `escape` is the rest; whether that is sure.
bool Characters::add_after_escape(ExpressionId expression, ExpressionId escape, std::vector<ExpressionId>& parts) {
  if (escape == Pool::kEmpty) return false;
  if (escape == Pool::kEpsilon) return parts.push_back(expression), true;
  const auto [head, tail] = pool_.split(expression);
  const ExpressionNode first = pool_.node(head);
  if (first.kind == Kind::Union) {
    for (std::uint32_t i = 0; i < first.item_count(); ++i)
      if (!add_after_escape(forms_.concatenate(pool_.item(first, i), tail), escape, parts)) return false;
    return true;
  }
  if (first.kind != Kind::Bytes) return false;
  const ByteSet bytes = leaves_.byte_set(first);
  std::vector<ExpressionId> rests;
  for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1)) {
    const auto step = spelling_.escape_steps.find(Spelling::step_key(escape, static_cast<std::uint8_t>(byte)));
    if (step == spelling_.escape_steps.end()) return false;
    rests.push_back(step->second);
  }
  sort_unique(rests);
  return std::ranges::all_of(rests, [&](ExpressionId rest) { return add_after_escape(tail, rest, parts); });
}

}  // namespace tokamata

#include "json/tagged_members.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "expression/expression.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

const TaggedMembers::Pieces& TaggedMembers::pieces(const Work& work) {
  if (pieces_) return *pieces_;
  Pieces made{add(style_->opening, work),
              add(style_->closing, work),
              add(style_->between, work),
              add(style_->before, work),
              add(style_->after, work),
              {},
              {}};
  if (style_->named_closing) {
    std::vector<ExpressionId> either{made.closing, add(style_->named_closing, work)};
    made.closing = work.arena.forms().unite(either);
  }
  for (const TagStyle::Type& type : style_->types) {
    made.attributes.push_back(add(type.attributes, work));
    made.of_elements.push_back(type.of_element ? add(type.of_element, work) : Pool::kEmpty);
  }
  has_controls_ = std::ranges::any_of(style_->pieces(),
                                      [](const ExpressionPtr& piece) { return !piece->control_tokens().empty(); });
  std::vector<ExpressionId> first{made.opening};
  for (const ExpressionId of_element : made.of_elements)
    if (of_element != Pool::kEmpty) first.push_back(of_element);
  first_bytes_ =
      work.arena.analyses().first_bytes(work.arena.forms().concatenate(made.between, work.arena.forms().unite(first)));
  pieces_ = std::move(made);
  return *pieces_;
}

std::optional<std::string_view> TaggedMembers::written(NameId name) {
  const std::optional<std::string>& known = memoized(written_, name.value, [&] {
    const auto spelled = style_->written_names.find(sets_.table().text(name));
    return spelled == style_->written_names.end()
               ? std::nullopt
               : std::optional(spelled->second + static_cast<char>(style_->name_end));
  });
  return known ? std::optional<std::string_view>(*known) : std::nullopt;
}

// ---- values -----------------------------------------------------------------------------------

const TaggedMembers::Alternatives& TaggedMembers::alternatives(SetId set, const Work& work) {
  return memoized(alternatives_, set.value, [&] {
    const ValueParts values = sets_.parts(set, work);
    std::uint8_t present = values.simple;
    if (values.numbers.language != Pool::kEmpty) present |= kNumber;
    if (values.arrays != Formulas<ArrayTag>::kFalse) present |= kArray;
    if (values.objects != Formulas<ObjectTag>::kFalse) present |= kObject;
    const bool has_text = strings_.texts(set, work) != Pool::kEmpty;
    Alternatives found;
    for (std::uint32_t i = 0; i < style_->types.size(); ++i) {
      const TagStyle::Type& type = style_->types[i];
      if (type.form == TagStyle::Form::Text) {
        if (const ExpressionId strings = text(set, present, work); strings != Pool::kEmpty)
          found.push_back({i, type.form, strings, set});
        continue;
      }
      if (!(present & type.mask)) continue;
      std::vector<SetId> own{set};
      if (has_text || (present & ~type.mask)) own.push_back(sets_.set_of(type.values));
      if (has_text) own.push_back(sets_.set_of(type.values_beside_text));
      if (present & ~type.mask & kArray) own.push_back(sets_.set_of(type.values_beside_elements));
      if (const SetId some = sets_.all(std::move(own)); sets_.lives(some, work))
        found.push_back({i, type.form, Pool::kEmpty, some});
    }
    return found;
  });
}

// Of some texts those that a reader takes for them: it drops a line feed at either end.
ExpressionId TaggedMembers::untrimmed(ExpressionId texts, const Work& work) {
  if (!style_->trimmed) return texts;
  Arena& arena = work.arena;
  const ExpressionId dropped = add(style_->trimmed, work), any = add(Expression::everything(), work);
  const auto cut = [&](ExpressionId from, ExpressionId without) {
    std::vector<ExpressionId> both{from, arena.forms().complement(without)};
    return arena.forms().intersect(both);
  };
  const ExpressionId begun = cut(texts, arena.forms().concatenate(dropped, any)),
                     ended = cut(texts, arena.forms().concatenate(any, dropped));
  const ExpressionId neither = cut(begun, arena.forms().concatenate(any, dropped));
  std::vector<ExpressionId> ways{neither, arena.forms().concatenate(dropped, ended),
                                 arena.forms().concatenate(begun, dropped),
                                 arena.forms().concatenate(dropped, arena.forms().concatenate(texts, dropped))};
  return arena.forms().unite(ways);
}

// The strings of a set, each with the closing after it.
ExpressionId TaggedMembers::text(SetId set, std::uint8_t present, const Work& work) {
  Arena& arena = work.arena;
  const ExpressionId wanted = strings_.texts(set, work);
  if (wanted == Pool::kEmpty) return wanted;
  std::vector<ExpressionId> texts{add(style_->strings, work)}, closed{add(style_->closed_strings, work)};
  const ExpressionId closing = add(style_->closing, work);
  if (wanted != strings_.all(work)) {
    texts.push_back(untrimmed(wanted, work));
    closed.push_back(arena.forms().concatenate(texts.back(), closing));
  }
  for (const auto& [mask, misread] : style_->misread) {
    if (!(mask & (present | kString))) continue;
    const ExpressionId read = untrimmed(add(misread, work), work);
    texts.push_back(arena.forms().complement(read));
    closed.push_back(arena.forms().complement(arena.forms().concatenate(read, closing)));
  }
  const auto whole = [&](std::vector<ExpressionId>& all) {
    return arena.derivatives().terminal(all.size() == 1 ? all[0] : arena.forms().intersect(all), work.budget);
  };
  const ExpressionId result = whole(closed);
  if (!style_->named_closing || result == Pool::kEmpty) return result;
  std::vector<ExpressionId> either{result, arena.forms().concatenate(whole(texts), add(style_->named_closing, work))};
  return arena.forms().unite(either);
}

// Of a value without its attributes; where it is not text, with the closing.
std::optional<std::uint32_t> TaggedMembers::length_of(const Alternative& one, const Work& work) {
  const std::uint32_t closing = work.arena.pool().node(pieces(work).closing).spelled;
  std::optional<std::uint32_t> length;
  switch (one.form) {
    case TagStyle::Form::Text: return work.arena.pool().node(one.text).spelled;
    case TagStyle::Form::Json: length = sets_.some_length(one.values, work); break;
    case TagStyle::Form::Members: {
      const NameOrderPtr order = sets_.order(one.values);
      length = sets_.object_ends().some_length(sets_.parts(one.values, work).objects,
                                               {order.get(), 0, nullptr, {}, this}, work);
      break;
    }
    case TagStyle::Form::Elements:
      length = sets_.array_ends().some_length(
          sets_.parts(one.values, work).arrays, [&](SetId value) { return element_length(value, work); }, work);
  }
  return length ? std::optional(capped_sum(*length, closing)) : std::nullopt;
}

std::optional<std::uint32_t> TaggedMembers::find_length(SetId value, bool is_element, const Work& work) {
  std::optional<std::uint32_t> least;
  const Alternatives all = alternatives(value, work);
  for (const Alternative& one : all) {
    const std::optional<std::uint32_t> length = length_of(one, work);
    const Pieces& made = pieces(work);
    const ExpressionId attributes = is_element ? made.of_elements[one.type] : made.attributes[one.type];
    if (length)
      least = std::min(least.value_or(kNoLength), capped_sum(work.arena.pool().node(attributes).spelled, *length));
  }
  return least;
}

std::optional<std::uint32_t> TaggedMembers::value_length(SetId value, bool is_element, const Work& work) {
  const std::uint64_t key = std::uint64_t{value.value} << 1 | (is_element ? 1 : 0);
  if (const auto* const known = lengths_.known(key)) return known->answer;
  return lengths_.search(key, std::nullopt, work.budget.limits().depth, kAnythingIsEnough,
                         [&] { return find_length(value, is_element, work); });
}

std::optional<std::uint32_t> TaggedMembers::length(NameId name, SetId value, const Work& work) {
  const std::optional<std::string_view> text = written(name);
  const std::optional<std::uint32_t> length = text ? value_length(value, false, work) : std::nullopt;
  if (!length) return std::nullopt;
  const std::size_t closing = closes_by_name() ? text->size() - 1 + style_->after_name.size() : 0;
  return capped_sum(opening_length(work), text->size(), *length, closing);
}

std::optional<std::uint32_t> TaggedMembers::length_of_other(SetId value, const Work& work) {
  constexpr std::uint32_t kUndeclaredName = 10;  // bytes of such a name, and of what ends it
  const std::optional<std::uint32_t> length = value_length(value, false, work);
  return length ? std::optional(capped_sum(opening_length(work), kUndeclaredName, *length,
                                           closes_by_name() ? kUndeclaredName : 0))
                : std::nullopt;
}

std::optional<std::uint32_t> TaggedMembers::element_length(SetId value, const Work& work) {
  const std::optional<std::uint32_t> length = value_length(value, true, work);
  return length ? std::optional(capped_sum(*length, closes_by_name() ? kElement.size() + style_->after_name.size() : 0))
                : std::nullopt;
}

std::uint32_t TaggedMembers::least_length(std::optional<NameId> name, const Work& work) {
  const std::optional<std::string_view> text = name ? written(*name) : std::nullopt;
  return capped_sum(work.arena.pool().node(pieces(work).opening).shortest, text ? text->size() : 1,
                    least_closing(work));
}

ExpressionId TaggedMembers::after_closing(const Work& work) {
  if (style_->after_name.empty()) return Pool::kEpsilon;
  return work.arena.forms().concatenate(add(style_->names, work), literal(style_->after_name, work));
}

// Written names have no escapes in JSON: what stands between quotes in plain spelling stands so between tags.
ExpressionId TaggedMembers::writable(ExpressionId names, const Work& work) {
  return memoized(writable_, names.value, [&] {
    std::vector<ExpressionId> both{sets_.texts().plain(names, work), add(style_->names, work)};
    const ExpressionId all = work.arena.forms().intersect(both);
    return work.arena.derivatives().terminal(all, work.budget) == Pool::kEmpty ? Pool::kEmpty : all;
  });
}

void TaggedMembers::forget_expressions() {
  pieces_.reset();
  release(alternatives_);
  release(writable_);
  strings_.forget_expressions();
}

}  // namespace tokamata::json

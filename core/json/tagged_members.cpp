#include "json/tagged_members.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "json/json_rules.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

const TaggedMembers::Pieces& TaggedMembers::pieces(const Work& work) {
  if (pieces_) return *pieces_;
  Pieces made{add(style_->opening, work), add(style_->closing, work), add(style_->between, work), add(style_->before, work),
              add(style_->after, work), {}, {}};
  if (style_->named_closing) {
    std::vector<ExpressionId> either{made.closing, add(style_->named_closing, work)};
    made.closing = work.arena.unite(either);
  }
  for (const TagStyle::Type& type : style_->types) made.attributes.push_back(add(type.attributes, work));
  has_controls_ = std::ranges::any_of(style_->pieces(), [](const ExpressionPtr& piece) { return !piece->control_tokens().empty(); });
  const ExpressionId member = work.arena.concatenate(made.between, made.opening);
  first_bytes_ = work.arena.first_bytes(member);
  pieces_ = std::move(made);
  return *pieces_;
}

std::optional<std::string_view> TaggedMembers::written(NameId name) {
  const std::optional<std::string>& known = memoized(written_, name.value, [&] {
    const auto spelled = style_->written_names.find(sets_.table().text(name));
    return spelled == style_->written_names.end() ? std::nullopt : std::optional(spelled->second + static_cast<char>(style_->name_end));
  });
  return known ? std::optional<std::string_view>(*known) : std::nullopt;
}

// ---- values -----------------------------------------------------------------------------------

const TaggedMembers::Parts& TaggedMembers::parts(SetId set, const Work& work) {
  return memoized(parts_, set.value, [&] {
    const Pieces& all = pieces(work);
    const ValueSets::Parts values = sets_.parts(set, work);
    std::uint8_t present = values.simple;
    if (values.numbers != Arena::kEmpty) present |= kNumber;
    if (values.arrays != Formulas<ArrayTag>::kFalse) present |= kArray;
    if (values.objects != Formulas<ObjectTag>::kFalse) present |= kObject;
    Parts found;
    for (std::size_t i = 0; i < style_->types.size(); ++i) {
      const TagStyle::Type& type = style_->types[i];
      if (type.is_text) {
        if (const ExpressionId strings = text(set, present, work); strings != Arena::kEmpty) found.push_back({all.attributes[i], strings, set});
        continue;
      }
      if (!(present & type.mask)) continue;
      const bool is_all = values.strings == Arena::kEmpty && !(present & ~type.mask);
      const SetId own = is_all ? set : sets_.all({set, sets_.set_of(type.values)});
      if (sets_.lives(own, work)) found.push_back({all.attributes[i], Arena::kEmpty, own});
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
    std::vector<ExpressionId> both{from, arena.complement(without)};
    return arena.intersect(both);
  };
  const ExpressionId begun = cut(texts, arena.concatenate(dropped, any)), ended = cut(texts, arena.concatenate(any, dropped));
  const ExpressionId neither = cut(begun, arena.concatenate(any, dropped));
  std::vector<ExpressionId> ways{neither, arena.concatenate(dropped, ended), arena.concatenate(begun, dropped),
                                 arena.concatenate(dropped, arena.concatenate(texts, dropped))};
  return arena.unite(ways);
}

// The strings of a set, each with the closing after it.
ExpressionId TaggedMembers::text(SetId set, std::uint8_t present, const Work& work) {
  Arena& arena = work.arena;
  const ExpressionId wanted = strings_.texts(set, work);
  if (wanted == Arena::kEmpty) return wanted;
  std::vector<ExpressionId> texts{add(style_->strings, work)}, closed{add(style_->closed_strings, work)};
  const ExpressionId closing = add(style_->closing, work);
  if (wanted != strings_.all(work)) {
    texts.push_back(untrimmed(wanted, work));
    closed.push_back(arena.concatenate(texts.back(), closing));
  }
  for (const auto& [mask, misread] : style_->misread) {
    if (!(mask & (present | kString))) continue;
    const ExpressionId read = untrimmed(add(misread, work), work);
    texts.push_back(arena.complement(read));
    closed.push_back(arena.complement(arena.concatenate(read, closing)));
  }
  const auto whole = [&](std::vector<ExpressionId>& all) { return arena.terminal(all.size() == 1 ? all[0] : arena.intersect(all), work.budget); };
  const ExpressionId result = whole(closed);
  if (!style_->named_closing || result == Arena::kEmpty) return result;
  std::vector<ExpressionId> either{result, arena.concatenate(whole(texts), add(style_->named_closing, work))};
  return arena.unite(either);
}

std::optional<std::uint32_t> TaggedMembers::value_length(SetId value, const Work& work) {
  std::optional<std::uint32_t> least;
  const std::uint32_t closing = work.arena.node(pieces(work).closing).spelled;
  for (const Part& part : parts(value, work)) {
    const std::uint32_t length = part.text != Arena::kEmpty ? work.arena.node(part.text).spelled
                                                            : capped_sum(sets_.some_length(part.values, work).value_or(kNoLength), closing);
    least = std::min(least.value_or(kNoLength), capped_sum(work.arena.node(part.attributes).spelled, length));
  }
  return least;
}

std::optional<std::uint32_t> TaggedMembers::length(NameId name, SetId value, const Work& work) {
  const std::optional<std::string_view> text = written(name);
  const std::optional<std::uint32_t> length = text ? value_length(value, work) : std::nullopt;
  return length ? std::optional(capped_sum(opening_length(work), text->size(), *length)) : std::nullopt;
}

std::optional<std::uint32_t> TaggedMembers::length_of_other(SetId value, const Work& work) {
  constexpr std::uint32_t kName = 10;  // bytes of a name that is not declared, and of what ends it
  const std::optional<std::uint32_t> length = value_length(value, work);
  return length ? std::optional(capped_sum(opening_length(work), kName, *length)) : std::nullopt;
}

// Written names have no escapes in JSON: what stands between quotes in plain spelling stands so between tags.
ExpressionId TaggedMembers::writable(ExpressionId names, const Work& work) {
  return memoized(writable_, names.value, [&] {
    std::vector<ExpressionId> both{sets_.plain_texts(names, work), add(style_->names, work)};
    const ExpressionId all = work.arena.intersect(both);
    return work.arena.terminal(all, work.budget) == Arena::kEmpty ? Arena::kEmpty : all;
  });
}

void TaggedMembers::forget_expressions() {
  pieces_.reset();
  release(parts_);
  release(writable_);
  strings_.forget_expressions();
}

// ---- rules ------------------------------------------------------------------------------------

// One more member, and all that follow it; where the object may end, or nothing.
ExpressionId JsonRules::tagged_members(std::uint32_t number, Line line, const Work& work) {
  const Object object = objects_[number];
  ObjectFormulas& objects = sets_.objects();
  const bool may_end = objects.accepts(object.rest);
  const auto length = may_end ? objects.some_further_length(object.rest, room(object), work) : objects.some_length(object.rest, room(object), work);
  std::vector<ExpressionId> ways;
  if (may_end) ways.push_back(Arena::kEpsilon);
  if (length || !may_end) ways.push_back(expression(rule({Form::Members, number, 0, 0, 0, line}, length.value_or(ExpressionNode::kUnspelled)), work));
  return work.arena.unite(ways);
}

ExpressionId JsonRules::expand_tagged_members(const Rule& rule, const Work& work) {
  const TaggedMembers::Pieces pieces = tags_->pieces(work);
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule.subject, rule.line, work); all != Arena::kEmpty) next.push_back(work.arena.concatenate(pieces.opening, all));
  if (rule.line.mode == Mode::Approximation || rule.line.mode == Mode::Unverified) add_approximate_others(rule, next, work);
  return work.arena.concatenate(pieces.between, work.arena.unite(next));
}

// A value of a member after its name, with the closing.
ExpressionId JsonRules::tagged_value(SetId set, Line line, const Work& work) {
  const TaggedMembers::Pieces pieces = tags_->pieces(work);
  const TaggedMembers::Parts parts = tags_->parts(set, work);
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  for (const TaggedMembers::Part& part : parts) {
    ExpressionId way = part.text;
    if (way == Arena::kEmpty) {
      way = arena.concatenate(value(part.values, Gap::None, line, work), arena.concatenate(pieces.after, pieces.closing));
      way = arena.concatenate(pieces.before, way);
    }
    ways.push_back(arena.concatenate(part.attributes, way));
  }
  return arena.unite(ways);
}

ExpressionId JsonRules::after_tagged_name(const ObjectFormulas::Branches& ways, Object rest, Line line, const Work& work) {
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.objects().some_length(way.rest, room(rest), work)) continue;
    const ExpressionId value = tagged_value(way.value, line, work);
    if (value != Arena::kEmpty) next.push_back(work.arena.concatenate(value, tagged_members(object_number(rest), line, work)));
  }
  return work.arena.unite(next);
}

ExpressionId JsonRules::tagged_start(const Work& work) {
  const TaggedMembers::Pieces pieces = tags_->pieces(work);
  const SetId root = sets_.set_of(root_);
  const Object object{sets_.parts(root, work).objects, order_number(sets_.order(root)), 0, {}, true};
  if (!sets_.objects().some_length(object.rest, room(object), work)) return Arena::kEmpty;
  return work.arena.concatenate(tagged_members(object_number(object), {}, work), pieces.between);
}

}  // namespace tokamata::json

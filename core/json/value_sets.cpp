#include "json/value_sets.hpp"

#include <algorithm>

#include "common/within.hpp"
#include "json/json_spelling.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {
constexpr SetId kNoSet = Formulas<SetTag>::kFalse;
constexpr SetId kAnySet = Formulas<SetTag>::kTrue;
constexpr std::uint8_t kSimple = kNull | kFalse | kTrue;
}  // namespace

ValueSets::ValueSets(std::shared_ptr<const ValueTable> table, Spelling spelling, ExpressionPtr within)
    : table_(std::move(table)),
      schema_size_(static_cast<std::uint32_t>(table_->size())),
      spelling_(spelling),
      within_(std::move(within)),
      arrays_(*this),
      objects_(*this) {}

ValueTable& ValueSets::own_table() {
  if (!own_table_) table_ = own_table_ = std::make_shared<ValueTable>(*table_);
  return *own_table_;
}

SetId ValueSets::set_of(ValueNode node) {
  node = table_->resolved(node);
  if (std::holds_alternative<ValueTable::AnyValue>(table_->node(node))) return kAnySet;
  if (std::holds_alternative<ValueTable::NoValue>(table_->node(node))) return kNoSet;
  return formulas_.make_atom(node.value);
}

// ---- parts ------------------------------------------------------------------------------------

const ValueSets::Universe& ValueSets::universe(const Work& work) {
  if (!universe_) {
    const bool any = spelling_ != Spelling::Plain;
    work.arena.note_character(work.arena.add(*code_point_texts(any), work.budget), work.budget);
    const ExpressionId strings = work.arena.add(*string_texts(any), work.budget);
    ExpressionId within = strings;
    if (within_) {
      std::vector<ExpressionId> both{strings, work.arena.add(*within_, work.budget)};
      within = work.arena.intersect(both);
    }
    universe_ = Universe{strings, numbers(NumberTerms::all(), work), within};
  }
  return *universe_;
}

ExpressionId ValueSets::complement(ExpressionId part, ExpressionId universe, const Work& work) {
  if (part == Arena::kEmpty) return universe;
  if (part == universe) return Arena::kEmpty;
  std::vector<ExpressionId> both{universe, work.arena.complement(part)};
  return work.arena.intersect(both);
}

ExpressionId ValueSets::intersect(std::vector<ExpressionId> parts, ExpressionId universe, const Work& work) {
  if (parts.size() > 1) std::erase(parts, universe);
  if (parts.empty()) return universe;
  return parts.size() == 1 ? parts[0] : work.arena.intersect(parts);
}

ValueSets::Parts ValueSets::everything(const Work& work) {
  const Universe& all = universe(work);
  return {kSimple,
          all.strings,
          all.numbers,
          Formulas<ArrayTag>::kTrue,
          Formulas<ObjectTag>::kTrue,
          NumberTerms::all(),
          TextLengths::all()};
}

ValueSets::Parts ValueSets::all_parts(const std::vector<Parts>& parts, const Work& work) {
  Parts result = everything(work);
  NumberTerms terms = NumberTerms::all();
  TextLengths lengths = TextLengths::all();
  std::vector<ExpressionId> strings, numbers;
  std::vector<ArrayId> arrays;
  std::vector<ObjectId> objects;
  for (const Parts& part : parts) {
    result.simple &= part.simple;
    terms = terms & part.number_terms;
    if (part.text_lengths) lengths = lengths & *part.text_lengths;
    else strings.push_back(part.strings);
    numbers.push_back(part.numbers);
    arrays.push_back(part.arrays);
    objects.push_back(part.objects);
  }
  if (strings.empty() || lengths == TextLengths::none()) {
    set_strings(result, lengths, Arena::kEmpty, work);
  } else {
    strings.push_back(this->strings(lengths, work));
    set_strings(result, std::nullopt, intersect(std::move(strings), universe(work).strings, work), work);
  }
  const ExpressionId otherwise =
      terms.is_known() ? Arena::kEmpty : intersect(std::move(numbers), universe(work).numbers, work);
  set_numbers(result, std::move(terms), otherwise, work);
  result.arrays = arrays_.formulas().all(std::move(arrays));
  result.objects = objects_.formulas().all(std::move(objects));
  return result;
}

ValueSets::Parts ValueSets::any_parts(const std::vector<Parts>& parts, const Work& work) {
  Parts result{0, Arena::kEmpty, Arena::kEmpty, {}, {}, NumberTerms::none(), TextLengths::none()};
  TextLengths lengths = TextLengths::none();
  std::vector<ExpressionId> strings, numbers;
  std::vector<ArrayId> arrays;
  std::vector<ObjectId> objects;
  for (const Parts& part : parts) {
    result.simple |= part.simple;
    result.number_terms = result.number_terms | part.number_terms;
    if (part.text_lengths) lengths = lengths | *part.text_lengths;
    else strings.push_back(part.strings);
    numbers.push_back(part.numbers);
    arrays.push_back(part.arrays);
    objects.push_back(part.objects);
  }
  const auto unite = [&](std::vector<ExpressionId>& languages, ExpressionId universe) {
    const bool all = std::ranges::find(languages, universe) != languages.end();
    return all ? universe : work.arena.unite(languages);
  };
  if (strings.empty() || lengths == TextLengths::all()) {
    set_strings(result, lengths, Arena::kEmpty, work);
  } else {
    strings.push_back(this->strings(lengths, work));
    set_strings(result, std::nullopt, unite(strings, universe(work).strings), work);
  }
  result.numbers = unite(numbers, universe(work).numbers);
  result.arrays = arrays_.formulas().any(std::move(arrays));
  result.objects = objects_.formulas().any(std::move(objects));
  return result;
}

ValueSets::Parts ValueSets::complement_parts(const Parts& parts, const Work& work) {
  Parts result{static_cast<std::uint8_t>(kSimple & ~parts.simple),
               Arena::kEmpty,
               Arena::kEmpty,
               arrays_.formulas().negate(parts.arrays),
               objects_.formulas().negate(parts.objects),
               ~parts.number_terms,
               std::nullopt};
  if (parts.text_lengths) set_strings(result, ~*parts.text_lengths, Arena::kEmpty, work);
  else result.strings = complement(parts.strings, universe(work).strings, work);
  set_numbers(result, result.number_terms, complement(parts.numbers, universe(work).numbers, work), work);
  return result;
}

// What exactly one of them has: one after the other, with what none so far has and what one has.
ValueSets::Parts ValueSets::one_parts(const std::vector<Parts>& wanted, const std::vector<Parts>& denied,
                                      const Work& work) {
  std::uint8_t none = kSimple, one = 0;
  for (const Parts& part : wanted) {
    one = static_cast<std::uint8_t>((one & ~part.simple) | (none & part.simple));
    none = static_cast<std::uint8_t>(none & ~part.simple);
  }
  const auto languages = [&](ExpressionId Parts::* part, ExpressionId universe) {
    ExpressionId none_has = universe, one_has = Arena::kEmpty;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].*part == Arena::kEmpty && denied[i].*part == Arena::kEmpty) continue;
      const ExpressionId without = complement(denied[i].*part, universe, work);
      std::vector<ExpressionId> either{intersect({one_has, without}, universe, work),
                                       intersect({none_has, wanted[i].*part}, universe, work)};
      one_has = work.arena.unite(either);
      none_has = intersect({none_has, without}, universe, work);
    }
    return one_has;
  };
  std::vector<ArrayId> arrays;
  std::vector<ObjectId> objects;
  for (const Parts& part : wanted) {
    arrays.push_back(part.arrays);
    objects.push_back(part.objects);
  }
  NumberTerms none_has = NumberTerms::all(), one_has = NumberTerms::none();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_none = wanted[i].number_terms.is_known() && wanted[i].number_terms.terms().empty();
    if (is_none && denied[i].number_terms.is_known() && denied[i].number_terms.terms().empty()) continue;
    const NumberTerms without = ~denied[i].number_terms;
    one_has = (one_has & without) | (none_has & wanted[i].number_terms);
    none_has = none_has & without;
  }
  std::optional<TextLengths> none_long = TextLengths::all(), one_long = TextLengths::none();
  for (const Parts& part : wanted) {
    if (!part.text_lengths) one_long = std::nullopt;
    if (!one_long) break;
    one_long = (*one_long & ~*part.text_lengths) | (*none_long & *part.text_lengths);
    none_long = *none_long & ~*part.text_lengths;
  }
  Parts result{one,
               Arena::kEmpty,
               Arena::kEmpty,
               arrays_.formulas().one(std::move(arrays)),
               objects_.formulas().one(std::move(objects)),
               one_has,
               std::nullopt};
  set_strings(result, one_long, one_long ? Arena::kEmpty : languages(&Parts::strings, universe(work).strings), work);
  set_numbers(result, one_has, one_has.is_known() ? Arena::kEmpty : languages(&Parts::numbers, universe(work).numbers),
              work);
  return result;
}

ExpressionId ValueSets::strings(const TextLengths& lengths, const Work& work) {
  if (lengths == TextLengths::all()) return universe(work).strings;
  if (lengths == TextLengths::none()) return Arena::kEmpty;  // of most nodes, for which no code points are added
  const ExpressionId code_point = work.arena.add(*code_point_texts(spelling_ != Spelling::Plain), work.budget);
  std::vector<ExpressionId> ways;
  for (const auto& [minimum, maximum] : lengths.ranges())
    ways.push_back(work.arena.repeat(code_point, minimum, maximum));
  return work.arena.unite(ways);
}

void ValueSets::set_strings(Parts& parts, std::optional<TextLengths> lengths, ExpressionId otherwise,
                            const Work& work) {
  parts.strings = lengths ? strings(*lengths, work) : otherwise;
  parts.text_lengths = std::move(lengths);
}

ExpressionId ValueSets::numbers(const NumberTerms& terms, const Work& work, bool is_unsigned) {
  std::vector<ExpressionId> ways;
  const auto texts = [&](const NumberRange& range, bool integral, bool digits_only, bool without_minus) {
    return work.arena.add(*number_texts(range, integral, digits_only, spelling_, without_minus), work.budget);
  };
  for (const NumberTerm& term : terms.terms()) {
    ways.push_back(texts(term.range, term.integral, term.digits_only, is_unsigned));
    for (const std::string& number : term.not_multiples) {
      NumberRange multiples;
      multiples.multiple_of = number;
      ways.back() =
          intersect({ways.back(), work.arena.complement(texts(multiples, false, false, false))}, Arena::kEmpty, work);
    }
  }
  return work.arena.unite(ways);
}

bool ValueSets::has_negative(const Parts& parts, const Work& work) {
  if (parts.number_terms.is_known())
    return std::ranges::any_of(parts.number_terms.terms(), [](const NumberTerm& term) {
      return has_negative_number(term.range, term.integral, term.digits_only);
    });
  const ExpressionId after_minus = work.arena.derivative(parts.numbers, '-', work.budget);
  if (after_minus == Arena::kEmpty) return true;  // or nothing is lost
  NumberRange below_zero;
  below_zero.maximum = "0";
  below_zero.exclusive_maximum = true;
  std::vector<ExpressionId> both{parts.numbers, numbers(NumberTerms::of({below_zero}), work)};
  return work.arena.terminal(work.arena.intersect(both), work.budget) != Arena::kEmpty;
}

// Where no number is below zero, a minus would lead to -0 alone.  Not said by parts that other sets are made of: what
// denies them must deny -0.
ExpressionId ValueSets::without_minus(const Parts& parts, const Work& work) {
  if (parts.number_terms.is_known()) return numbers(parts.number_terms, work, true);
  std::vector<ExpressionId> both{parts.numbers, numbers(NumberTerms::all(), work, true)};
  return work.arena.intersect(both);
}

void ValueSets::set_numbers(Parts& parts, NumberTerms terms, ExpressionId otherwise, const Work& work) {
  parts.numbers = terms.is_known() ? numbers(terms, work) : otherwise;
  parts.number_terms = std::move(terms);
}

const ValueSets::Parts& ValueSets::parts_of_node(ValueNode node, bool wanted, const Work& work) {
  node = table_->resolved(node);
  const std::uint64_t key = (std::uint64_t{node.value} << 1) | (wanted ? 1 : 0);
  if (const auto known = node_parts_.find(key); known != node_parts_.end()) return known->second;
  work.budget.step();
  const Within within(depth_, work.budget.limits().depth);
  const Parts parts = make_parts(node, wanted, work);
  return node_parts_.insert_or_assign(key, parts).first->second;
}

ValueSets::Parts ValueSets::make_parts(ValueNode id, bool wanted, const Work& work) {
  if (std::holds_alternative<ValueTable::Nested>(table_->node(id)))
    return parts_of_node(own_table().unfold(id), wanted, work);
  const auto& node = table_->node(id);
  Parts parts = everything(work);
  const auto each = [&](const std::vector<ValueNode>& items, bool as_wanted) {
    std::vector<Parts> found;
    for (const ValueNode item : items) found.push_back(parts_of_node(item, as_wanted, work));
    return found;
  };
  std::visit(
      [&](const auto& n) {
        using N = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<N, ValueTable::NoValue>) {
          parts = {0,
                   Arena::kEmpty,
                   Arena::kEmpty,
                   Formulas<ArrayTag>::kFalse,
                   Formulas<ObjectTag>::kFalse,
                   NumberTerms::none(),
                   TextLengths::none()};
        } else if constexpr (std::is_same_v<N, ValueTable::AllOf>) {
          parts = all_parts(each(n.items, wanted), work);
        } else if constexpr (std::is_same_v<N, ValueTable::AnyOf>) {
          parts = any_parts(each(n.items, wanted), work);
        } else if constexpr (std::is_same_v<N, ValueTable::OneOf>) {
          parts = one_parts(each(n.items, wanted), each(n.items, !wanted), work);
        } else if constexpr (std::is_same_v<N, ValueTable::Negation>) {
          parts = complement_parts(parts_of_node(n.body, !wanted, work), work);
        } else if constexpr (std::is_same_v<N, ValueTable::Types>) {
          parts.simple &= n.mask;
          if (!(n.mask & kString)) set_strings(parts, TextLengths::none(), Arena::kEmpty, work);
          if (!(n.mask & kNumber)) set_numbers(parts, NumberTerms::none(), Arena::kEmpty, work);
          if (!(n.mask & kArray)) parts.arrays = Formulas<ArrayTag>::kFalse;
          if (!(n.mask & kObject)) parts.objects = Formulas<ObjectTag>::kFalse;
        } else if constexpr (std::is_same_v<N, ValueTable::Integral>) {
          set_numbers(parts, NumberTerms::of({{}, true, wanted && spelling_ != Spelling::Any}), Arena::kEmpty, work);
        } else if constexpr (std::is_same_v<N, ValueTable::Number>) {
          set_numbers(parts, NumberTerms::of({n.range}), Arena::kEmpty, work);
        } else if constexpr (std::is_same_v<N, ValueTable::String>) {
          set_strings(parts, std::nullopt, spelled(n.language, wanted, work), work);
        } else if constexpr (std::is_same_v<N, ValueTable::StringLength>) {
          set_strings(parts, TextLengths::of(n.minimum, n.maximum), Arena::kEmpty, work);
        } else if constexpr (std::is_same_v<N, ValueTable::Items>) {
          parts.arrays = arrays_.items(id);
        } else if constexpr (std::is_same_v<N, ValueTable::ArrayLength>) {
          parts.arrays = arrays_.length(n.minimum, n.maximum);
        } else if constexpr (std::is_same_v<N, ValueTable::Contains>) {
          parts.arrays = arrays_.contains(set_of(n.value), n.minimum, n.maximum);
        } else if constexpr (std::is_same_v<N, ValueTable::Unique>) {
          parts.arrays = arrays_.unique();
        } else if constexpr (std::is_same_v<N, ValueTable::Property>) {
          parts.objects = objects_.property(n.name, set_of(n.value));
        } else if constexpr (std::is_same_v<N, ValueTable::Matching>) {
          parts.objects = objects_.matching(n.names, set_of(n.value));
        } else if constexpr (std::is_same_v<N, ValueTable::Others>) {
          parts.objects = objects_.others(id);
        } else if constexpr (std::is_same_v<N, ValueTable::Has>) {
          parts.objects = objects_.has(n.name);
        } else if constexpr (std::is_same_v<N, ValueTable::PropertyCount>) {
          parts.objects = objects_.count(n.minimum, n.maximum);
        }
      },
      node);
  return parts;
}

ValueSets::Parts ValueSets::parts_of_formula(SetId set, bool wanted, const Work& work) {
  const auto each = [&](bool as_wanted) {
    const auto operands = formulas_.operands(set);
    std::vector<Parts> found;
    for (const SetId operand : std::vector<SetId>(operands.begin(), operands.end()))
      found.push_back(parts_of_formula(operand, as_wanted, work));
    return found;
  };
  switch (formulas_.operation(set)) {
    case Operation::True: return everything(work);
    case Operation::False:
      return {0,
              Arena::kEmpty,
              Arena::kEmpty,
              Formulas<ArrayTag>::kFalse,
              Formulas<ObjectTag>::kFalse,
              NumberTerms::none(),
              TextLengths::none()};
    case Operation::Atom: return parts_of_node({formulas_.atom(set)}, wanted, work);
    case Operation::Not: return complement_parts(parts_of_formula(formulas_.body(set), !wanted, work), work);
    case Operation::All: return all_parts(each(wanted), work);
    case Operation::Any: return any_parts(each(wanted), work);
    default: return one_parts(each(wanted), each(!wanted), work);
  }
}

const ValueSets::Parts& ValueSets::parts(SetId set, const Work& work) {
  if (const auto known = parts_.find(set.value); known != parts_.end()) return known->second;
  Parts found = parts_of_formula(as_listed(set, work), true, work);
  if (within_ && found.strings != Arena::kEmpty) {
    const ExpressionId all = universe(work).strings;
    std::vector<ExpressionId> both{found.strings, work.arena.add(*within_, work.budget)};
    found.strings = found.strings == all ? universe(work).within : work.arena.intersect(both);
    found.text_lengths = std::nullopt;
  }
  // What is empty is known to be so from here on.
  if (work.arena.terminal(found.strings, work.budget) == Arena::kEmpty) found.strings = Arena::kEmpty;
  if (work.arena.terminal(found.numbers, work.budget) == Arena::kEmpty) found.numbers = Arena::kEmpty;
  if (spelling_ == Spelling::Natural && found.numbers != Arena::kEmpty && !has_negative(found, work))
    found.numbers = without_minus(found, work);
  return parts_.insert_or_assign(set.value, found).first->second;
}

// ---- which sets are empty ---------------------------------------------------------------------

std::optional<std::uint32_t> ValueSets::some_length(SetId set, const Work& work) {
  if (set == kAnySet) return 2;
  if (set == kNoSet) return std::nullopt;
  if (const auto known = lengths_.find(set.value); known != lengths_.end()) {
    if (known->second.search == Search::Busy) ++taints_;
    return known->second.length;
  }
  const Within within(depth_, work.budget.limits().depth);
  lengths_.emplace(set.value, Length{Search::Busy, std::nullopt});
  const Undo undo([&] {  // of what did not come to its end
    if (const auto known = lengths_.find(set.value); known != lengths_.end() && known->second.search == Search::Busy)
      lengths_.erase(known);
  });
  const std::uint64_t before = taints_;
  const std::optional<std::uint32_t> length = find_length(set, work);
  // Found empty with sets around it still open: not known for good, unless nothing is around it.
  if (length || taints_ == before || depth_ == 1) lengths_.insert_or_assign(set.value, Length{Search::Done, length});
  return length;
}

std::optional<std::uint32_t> ValueSets::find_length(SetId set, const Work& work) {
  const Parts found = parts(set, work);
  std::optional<std::uint32_t> least;
  const auto offer = [&](std::uint32_t length) { least = std::min(least.value_or(~0u), length); };
  if (found.simple & (kNull | kTrue)) offer(4);
  if (found.simple & kFalse) offer(5);
  if (found.strings != Arena::kEmpty)
    offer(capped_sum(work.arena.node(work.arena.terminal(found.strings, work.budget)).spelled, 2));
  if (found.numbers != Arena::kEmpty) offer(work.arena.node(work.arena.terminal(found.numbers, work.budget)).spelled);
  if (least && *least < 16) return least;
  if (const auto inside = arrays_.some_length(found.arrays, work)) offer(capped_sum(*inside, 2));
  if (const auto inside = objects_.some_length(found.objects, {order(set).get(), 0, nullptr, {}}, work))
    offer(capped_sum(*inside, 2));
  return least;
}

std::uint32_t ValueSets::least_length(SetId set, std::uint32_t depth, const Work& work) {
  if (set == kAnySet || depth == 0) return 1;
  const std::uint64_t key = std::uint64_t{set.value} << 32 | depth;
  if (const auto known = least_lengths_.find(key); known != least_lengths_.end()) return known->second;
  const Parts found = parts(set, work);
  std::uint32_t least = kLongestLength;
  if (found.simple & (kNull | kTrue)) least = 4;
  else if (found.simple & kFalse) least = 5;
  if (found.strings != Arena::kEmpty) least = std::min(least, capped_sum(work.arena.node(found.strings).shortest, 2));
  if (found.numbers != Arena::kEmpty) least = std::min(least, std::max(work.arena.node(found.numbers).shortest, 1u));
  if (found.arrays != Formulas<ArrayTag>::kFalse) least = std::min(least, 2u);
  if (found.objects != Formulas<ObjectTag>::kFalse) {
    const std::uint32_t members = objects_.least_length(found.objects, depth - 1, work);
    least = std::min(least, capped_sum(members, members == 0 ? 2 : 1));  // no comma after the last one
  }
  least_lengths_.emplace(key, least);
  return least;
}

bool ValueSets::is_exact(SetId set) {
  if (spelling_ == Spelling::Any) return true;
  if (const auto known = exact_.find(set.value); known != exact_.end()) return known->second;
  std::vector<std::uint32_t> open;
  formulas_.visit(set, [&](std::uint32_t node, bool, bool) { open.push_back(node); });
  std::vector<bool> seen(table_->size(), false);
  bool exact = true;
  while (exact && !open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    exact = !std::holds_alternative<ValueTable::Integral>(table_->node({node}));
    table_->visit_references({node}, [&](ValueNode to, bool) { open.push_back(to.value); });
  }
  return exact_.emplace(set.value, exact).first->second;
}

// ---- names ------------------------------------------------------------------------------------

ValueSets::Order ValueSets::order(SetId set) {
  if (const auto known = orders_.find(set.value); known != orders_.end()) return known->second;
  std::vector<std::uint32_t> nodes;
  formulas_.visit(set, [&](std::uint32_t node, bool, bool) { nodes.push_back(node); });
  std::ranges::sort(nodes);
  std::vector<bool> seen(table_->size(), false), is_listed(table_->name_count(), false);
  NameOrder found;
  const auto collect = [&](auto begin, auto end) {
    std::vector<NameId> mentioned;
    for (auto node = begin; node != end; ++node) collect_names({*node}, seen, is_listed, found.names, mentioned);
    for (const NameId name : mentioned)
      if (!is_listed[name.value]) {
        is_listed[name.value] = true;
        found.names.push_back(name);
      }
  };
  const auto constants = std::ranges::lower_bound(nodes, schema_size_);
  collect(nodes.begin(), constants);
  found.ordered = static_cast<std::uint32_t>(found.names.size());
  collect(constants, nodes.end());
  for (std::uint32_t place = 0; place < found.names.size(); ++place)
    found.places.emplace(found.names[place].value, place);
  return orders_.emplace(set.value, std::make_shared<const NameOrder>(std::move(found))).first->second;
}

// Depth first, through what is said of the same value.
void ValueSets::collect_names(ValueNode root, std::vector<bool>& seen, std::vector<bool>& is_listed,
                              counted::vector<NameId>& declared, std::vector<NameId>& mentioned) const {
  std::vector<ValueNode> open{root};
  while (!open.empty()) {
    const ValueNode node = open.back();
    open.pop_back();
    if (seen[node.value]) continue;
    seen[node.value] = true;
    const auto& n = table_->node(node);
    if (const auto* property = std::get_if<ValueTable::Property>(&n)) {
      if (!is_listed[property->name.value]) declared.push_back(property->name);
      is_listed[property->name.value] = true;
    } else if (const auto* has = std::get_if<ValueTable::Has>(&n)) {
      mentioned.push_back(has->name);
    } else if (const auto* others = std::get_if<ValueTable::Others>(&n)) {
      mentioned.insert(mentioned.end(), others->names.begin(), others->names.end());
    }
    const std::size_t first = open.size();
    table_->visit_references(node, [&](ValueNode to, bool in_place) {
      if (in_place) open.push_back(to);
    });
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
  }
}

}  // namespace tokamata::json

#include "json/values_left.hpp"

#include <algorithm>
#include <bit>

#include "expression/text_count.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint64_t kLeastValuesCounted = 8;  // so that a few more elements ask for no new count
constexpr std::uint64_t kMoreThanTextsHold = std::uint64_t{1} << 40;

constexpr ByteSet kDigits = ByteSet::range('0', '9'), kWithoutZero = ByteSet::range('1', '9');
constexpr ByteSet kWithoutEscapes = ByteSet::range(0x00, 'A' - 1) | ByteSet::range('G', '\\' - 1) |
                                    ByteSet::range('\\' + 1, 't') | ByteSet::range('v', 0xFF);
// Texts of these bytes are different strings, and different numbers.
constexpr ByteSet kTelling = kWithoutZero | ByteSet::range('a', 'd') | ByteSet::range('f', 't') |
                             ByteSet::range('v', 'z') | ByteSet::range('"', '"');

}  // namespace

bool ValuesLeft::has_more(ExpressionId rest, ElementKind kind, std::uint64_t than, const Work& work) {
  if (than == 0) return true;  // what may be written lives
  if (kind == ElementKind::InEscape) kind = ElementKind::InString;
  const std::uint64_t key = (std::uint64_t{rest.value} << 8) | static_cast<std::uint64_t>(kind);
  const Counted known = counts_[key];
  if (known.found > than) return true;
  if (known.most > than) return false;
  const std::uint64_t most = std::max(kLeastValuesCounted, 2 * std::bit_ceil(than + 1));
  const std::uint64_t found = count(rest, kind, most, work);
  counts_[key] = {found, most};
  return found > than;
}

std::uint64_t ValuesLeft::count(ExpressionId rest, ElementKind kind, std::uint64_t most, const Work& work) {
  const bool is_plain = style_.spelling == Spelling::Plain;
  const auto texts = [&](std::uint64_t up_to, const ByteSet* among = nullptr) {
    return count_texts(work.arena, rest, up_to, work.budget, among);
  };
  switch (kind) {
    case ElementKind::String: return is_plain ? texts(most) : std::max<std::uint64_t>(1, texts(most, &kWithoutEscapes));
    case ElementKind::Number:
      if (!is_plain) return std::max<std::uint64_t>(1, texts(most, &kWithoutZero));
      return std::max(
          {std::uint64_t{1}, texts(most, &kDigits), texts(kMostPlainSpellings * most) / kMostPlainSpellings});
    case ElementKind::Word: return texts(most);
    default: return count_in_container(rest, kind == ElementKind::InString, most, work);
  }
}

std::uint64_t ValuesLeft::count_in_container(ExpressionId rest, bool is_in_string, std::uint64_t most,
                                             const Work& work) {
  Arena& arena = work.arena;
  std::uint64_t found = 1;
  for (const ExpressionId alternative : arena.fronts().of(rest))
    for (ExpressionId at = alternative; at != Pool::kEpsilon && found < most;) {
      work.budget.step();
      const auto [head, tail] = arena.pool().split(at);
      const ExpressionNode n = arena.pool().node(head);
      if (n.kind == Kind::Rule) found = std::max(found, count_of(rules_[n.rule()], most, work));
      else if (is_in_string && at == alternative && n.kind == Kind::Terminal)
        found = std::max(found, count(head, ElementKind::String, most, work));
      else if (!n.rules && !n.commits && n.kind != Kind::Unverified)
        found = std::max(found, count_texts(arena, head, most, work.budget, &kTelling));
      at = tail;
    }
  return found;
}

std::uint64_t ValuesLeft::count_of(const JsonRule& rule, std::uint64_t most, const Work& work) {
  if (const auto* value = std::get_if<ValueRule>(&rule)) return sets_.counts().of(value->set, most, work);
  if (is_endless(rule, work)) return most;
  std::uint64_t found = 1;
  if (const auto* members = std::get_if<MembersRule>(&rule)) {
    found = count_of_members(open_[members->object], most, work);
  } else if (const auto* name = std::get_if<DeclaredNameRule>(&rule)) {
    // Nobody says here which of the names it becomes.
    const counted::vector<NameChoice::Name> names = choices_.of(name->object, work).names;
    found = most;
    for (std::size_t i = name->low; i < name->high; ++i)
      found = std::min(found, count_after(open_[name->object], names[i], most, work));
  } else if (const auto* elements = std::get_if<ElementsRule>(&rule);
             elements && !sets_.arrays().tells_equal(open_[elements->array].rest)) {
    for (const auto ways = sets_.arrays().branches(open_[elements->array].rest, work);
         const Branch<ArrayTag>& way : *ways)
      if (found < most) found = std::max(found, sets_.counts().of(way.value, most, work));
  }
  return found;
}

// Of a member of a declared name, and of those after it.
std::uint64_t ValuesLeft::count_after(OpenObject object, const NameChoice::Name& name, std::uint64_t most,
                                      const Work& work) {
  const auto ways = sets_.objects().branches(object.rest, name.name, work);
  std::uint64_t found = 1;
  OpenObject after = open_.after_declared(object, name.place);
  for (const Branch<ObjectTag>& way : *ways) {
    after.rest = way.rest;
    if (found >= most || !sets_.object_ends().some_length(way.rest, open_.room(after), work)) continue;
    found = std::max(found, sets_.counts().of(way.value, most, work));
  }
  if (found >= most || ways->empty()) return found;
  after.rest = ways->front().rest;
  const bool lives = sets_.object_ends().some_length(after.rest, open_.room(after), work).has_value();
  return lives ? std::max(found, count_of_members(after, most, work)) : found;
}

// The last of the names that may come is one that must, where there is such a name: what follows it counts too.
std::uint64_t ValuesLeft::count_of_members(OpenObject object, std::uint64_t most, const Work& work) {
  work.budget.step();
  if (takes_names_for_ever(object, work)) return most;
  const counted::vector<NameChoice::Name> names = choices_.of(open_.add(object), work).names;
  if (names.empty()) return 1;
  std::uint64_t found = 1;
  const auto last = std::ranges::max_element(names, {}, &NameChoice::Name::place);
  for (const NameChoice::Name& name : names)
    for (const auto ways = sets_.objects().branches(object.rest, name.name, work);
         const Branch<ObjectTag>& way : *ways) {
      OpenObject after = open_.after_declared(object, name.place);
      after.rest = way.rest;
      if (found < most && sets_.object_ends().some_length(way.rest, open_.room(after), work))
        found = std::max(found, sets_.counts().of(way.value, most, work));
    }
  return found >= most ? found : std::max(found, count_after(object, *last, most, work));
}

// Goes along texts, and marks where no more strings than so many can follow.
class ValuesLeft::UnverifiedAlong final : public TextTree {
 public:
  UnverifiedAlong(ValuesLeft& values_left, std::shared_ptr<const TextTree> texts, ExpressionId rest, std::uint64_t than,
                  const Work& work)
      : values_left_(values_left), texts_(std::move(texts)), rest_(rest), than_(than), work_(work) {}
  void walk(Walk& walk) const override {
    Following following(*this, walk);
    texts_->walk(following);
  }

 private:
  class Following final : public Walk {
   public:
    Following(const UnverifiedAlong& tree, Walk& walk) : tree_(tree), walk_(walk), path_{tree.rest_} {}
    bool enter(std::uint8_t byte) override {
      const Work& work = tree_.work_;
      work.budget.step();
      const ExpressionId rest =
          work.arena.derivatives().settled(work.arena.derivatives().derivative(path_.back(), byte, work.budget));
      if (rest == Pool::kEmpty || !walk_.enter(byte)) return false;
      path_.push_back(rest);
      if (!tree_.values_left_.has_more(rest, ElementKind::String, tree_.than_, work)) walk_.mark(false);
      return true;
    }
    void leave() override {
      path_.pop_back();
      walk_.leave();
    }
    void mark(bool) override {}

   private:
    const UnverifiedAlong& tree_;
    Walk& walk_;
    std::vector<ExpressionId> path_;
  };

  ValuesLeft& values_left_;
  std::shared_ptr<const TextTree> texts_;
  ExpressionId rest_;
  std::uint64_t than_;
  Work work_;
};

std::shared_ptr<const TextTree> ValuesLeft::unverified_along(std::shared_ptr<const TextTree> texts, ExpressionId rest,
                                                             std::uint64_t than, const Work& work) {
  return std::make_shared<UnverifiedAlong>(*this, std::move(texts), rest, than, work);
}

bool ValuesLeft::is_endless(ExpressionId rest, const Work& work) {
  if (layout_.has_depth()) return false;  // a blank before a closing bracket has chosen to end
  const std::vector<ExpressionId> ways = work.arena.fronts().of(rest);
  return std::ranges::all_of(ways, [&](ExpressionId at) {
    for (;;) {
      work.budget.step();
      const auto [head, tail] = work.arena.pool().split(at);
      const ExpressionNode n = work.arena.pool().node(head);
      if (tail == Pool::kEpsilon) return n.kind == Kind::Rule && is_endless(rules_[n.rule()], work);
      at = tail;
    }
  });
}

bool ValuesLeft::is_endless(const JsonRule& rule, const Work& work) {
  return std::visit(
      Overloaded{
          [&](const ElementsRule& elements) { return takes_elements_for_ever(open_[elements.array].rest, work); },
          [&](const DistinctElementRule& element) { return takes_elements_for_ever(open_[element.array].rest, work); },
          [&](const MembersRule& members) { return takes_names_for_ever(open_[members.object], work); },
          [&](const UndeclaredNameRule& name) { return takes_names_for_ever(open_[name.object], work); },
          [&](const DeclaredNameRule& name) { return is_endless(name, work); },
          [](const auto&) { return false; },
      },
      rule);
}

bool ValuesLeft::is_endless(const DeclaredNameRule& rule, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const OpenObject object = open_[rule.object];
  if (choices_.awaits(rule, next) && !next.others.empty() && !takes_names_for_ever(object, work)) return false;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    OpenObject after = open_.after_declared(object, next.names[i].place);
    for (const auto ways = sets_.objects().branches(object.rest, next.names[i].name, work); const auto& way : *ways) {
      after.rest = way.rest;
      if (sets_.object_ends().some_length(way.rest, open_.room(after), work) && !takes_names_for_ever(after, work))
        return false;
    }
  }
  return true;
}

// Whether elements may always come, and leave all as it was.
bool ValuesLeft::takes_elements_for_ever(ArrayId f, const Work& work) {
  ArrayFormulas& arrays = sets_.arrays();
  if (!arrays.accepts(f)) return false;
  const auto ways = arrays.branches(f, work);
  return std::ranges::any_of(*ways, [&](const Branch<ArrayTag>& way) {
    return way.rest == f &&
           (!arrays.tells_equal(f) || sets_.counts().of(way.value, kMoreThanTextsHold, work) >= kMoreThanTextsHold);
  });
}

// Whether names that are not declared may always come, and leave all as it was.
bool ValuesLeft::takes_names_for_ever(const OpenObject& object, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  if (!sets_.object_ends().some_length(object.rest, open_.room(object), work)) return false;
  return std::ranges::any_of(*classes, [&](const NameClass& other) {
    if (!other.is_any) return false;
    const auto ways = sets_.objects().branches(object.rest, other, work);
    return std::ranges::any_of(*ways, [&](const auto& way) { return way.rest == object.rest; });
  });
}

}  // namespace tokamata::json

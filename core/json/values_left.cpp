// How many values can still be written, once an element that must differ is begun.  Part of JsonRules.
//
// A lower bound, counted no further than requested, and kept with the expression of what may still be written: that
// is the same for all elements that have come to it.
//   string   each text is a value; where there are many spellings, each text without escapes is.  Of an escape that is
//   begun
//            neither capital letters nor the u that stands beside \n are counted.
//   number   in plain spelling a value has four texts at most, and one of digits alone; elsewhere each text of the
//   digits
//            from 1 to 9 is a value, since zeros at an end are what spellings differ by.
//   others   containers have as many values as any of the parts that are to come, which all live.  A string that is
//   begun is
//            the first of them.

#include <algorithm>
#include <bit>

#include "json/json_rules.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint64_t kMostSpellings = 4;  // of a number in plain spelling

constexpr ByteSet kDigits = ByteSet::range('0', '9'), kWithoutZero = ByteSet::range('1', '9');
constexpr ByteSet kWithoutEscapes = ByteSet::range(0x00, 'A' - 1) | ByteSet::range('G', '\\' - 1) |
                                    ByteSet::range('\\' + 1, 't') | ByteSet::range('v', 0xFF);
// Texts of these bytes are different strings, and different numbers.
constexpr ByteSet kTelling = kWithoutZero | ByteSet::range('a', 'd') | ByteSet::range('f', 't') |
                             ByteSet::range('v', 'z') | ByteSet::range('"', '"');

}  // namespace

bool JsonRules::has_more(ExpressionId rest, Part part, std::uint64_t than, const Work& work) {
  constexpr std::uint64_t kAtFirst = 8;
  if (than == 0) return true;  // what may be written lives
  if (part == Part::WithinEscape) part = Part::Within;
  const std::uint64_t key = (std::uint64_t{rest.value} << 8) | static_cast<std::uint64_t>(part);
  const Counted known = values_left_[key];
  if (known.found > than) return true;
  if (known.most > than) return false;
  const std::uint64_t most = std::max(kAtFirst, 2 * std::bit_ceil(than + 1));  // enough for some more elements
  const std::uint64_t found = values_left(rest, part, most, work);
  values_left_[key] = {found, most};
  return found > than;
}

std::uint64_t JsonRules::values_left(ExpressionId rest, Part part, std::uint64_t most, const Work& work) {
  Arena& arena = work.arena;
  const bool is_plain = style_.spelling == Spelling::Plain;
  const auto count = [&](ExpressionId texts, std::uint64_t up_to, const ByteSet* among = nullptr) {
    return arena.count_texts(texts, up_to, work.budget, among);
  };
  switch (part) {
    case Part::String:
      return is_plain ? count(rest, most) : std::max<std::uint64_t>(1, count(rest, most, &kWithoutEscapes));
    case Part::Number:
      if (!is_plain) return std::max<std::uint64_t>(1, count(rest, most, &kWithoutZero));
      return std::max(
          {std::uint64_t{1}, count(rest, most, &kDigits), count(rest, kMostSpellings * most) / kMostSpellings});
    case Part::Word: return count(rest, most);
    default: return values_of_container(rest, part == Part::Within, most, work);
  }
}

std::uint64_t JsonRules::values_of_container(ExpressionId rest, bool is_in_string, std::uint64_t most,
                                             const Work& work) {
  Arena& arena = work.arena;
  std::uint64_t found = 1;
  for (const ExpressionId alternative : arena.fronts(rest))
    for (ExpressionId at = alternative; at != Arena::kEpsilon && found < most;) {
      work.budget.step();
      const auto [head, tail] = arena.split(at);
      const ExpressionNode n = arena.node(head);
      if (n.kind == Kind::Rule) found = std::max(found, values_in(rules_[n.rule().value], most, work));
      else if (is_in_string && at == alternative && n.kind == Kind::Terminal)
        found = std::max(found, values_left(head, Part::String, most, work));
      else if (!n.rules && !n.commits && n.kind != Kind::Unverified)
        found = std::max(found, arena.count_texts(head, most, work.budget, &kTelling));
      at = tail;
    }
  return found;
}

std::uint64_t JsonRules::values_in(const Rule& rule, std::uint64_t most, const Work& work) {
  if (rule.form == Form::Value) return sets_.count({rule.subject}, most, work);
  if (is_endless(rule, work)) return most;
  std::uint64_t found = 1;
  if (rule.form == Form::Members) {
    found = values_of_members(objects_[rule.subject], most, work);
  } else if (rule.form == Form::Name) {
    // Nobody says here which of the names it becomes.
    const counted::vector<Choice::Name> names = choice(rule.subject, work).names;
    found = most;
    for (std::size_t i = rule.low; i < rule.high; ++i)
      found = std::min(found, values_after(objects_[rule.subject], names[i], most, work));
  } else if (rule.form == Form::Elements && !sets_.arrays().tells_equal(arrays_[rule.subject].rest)) {
    for (const auto ways = sets_.arrays().branches(arrays_[rule.subject].rest, work);
         const Branch<ArrayTag>& way : *ways)
      if (found < most) found = std::max(found, sets_.count(way.value, most, work));
  }
  return found;
}

// Of a member of a declared name, and of those after it.
std::uint64_t JsonRules::values_after(const Object& object, const Choice::Name& name, std::uint64_t most,
                                      const Work& work) {
  const auto ways = sets_.objects().branches(object.rest, name.name, work);
  std::uint64_t found = 1;
  Object after = after_declared(object, name);
  for (const Branch<ObjectTag>& way : *ways) {
    after.rest = way.rest;
    if (found >= most || !sets_.objects().some_length(way.rest, room(after), work)) continue;
    found = std::max(found, sets_.count(way.value, most, work));
  }
  if (found >= most || ways->empty()) return found;
  after.rest = ways->front().rest;
  const bool lives = sets_.objects().some_length(after.rest, room(after), work).has_value();
  return lives ? std::max(found, values_of_members(after, most, work)) : found;
}

// The last of the names that may come is one that must, where there is such a name: what follows it counts too.
std::uint64_t JsonRules::values_of_members(const Object& object, std::uint64_t most, const Work& work) {
  work.budget.step();
  if (takes_names_for_ever(object, work)) return most;
  const counted::vector<Choice::Name> names = choice(object_number(object), work).names;
  if (names.empty()) return 1;
  std::uint64_t found = 1;
  const auto last = std::ranges::max_element(names, {}, &Choice::Name::place);
  for (const Choice::Name& name : names)
    for (const auto ways = sets_.objects().branches(object.rest, name.name, work);
         const Branch<ObjectTag>& way : *ways) {
      Object after = after_declared(object, name);
      after.rest = way.rest;
      if (found < most && sets_.objects().some_length(way.rest, room(after), work))
        found = std::max(found, sets_.count(way.value, most, work));
    }
  return found >= most ? found : std::max(found, values_after(object, *last, most, work));
}

// Goes along texts, and marks where no more strings than so many can follow.
class JsonRules::UnverifiedAlong final : public TextTree {
 public:
  UnverifiedAlong(JsonRules& rules, std::shared_ptr<const TextTree> texts, ExpressionId rest, std::uint64_t than,
                  const Work& work)
      : rules_(rules), texts_(std::move(texts)), rest_(rest), than_(than), work_(work) {}
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
      const ExpressionId rest = work.arena.settled(work.arena.derivative(path_.back(), byte, work.budget));
      if (rest == Arena::kEmpty || !walk_.enter(byte)) return false;
      path_.push_back(rest);
      if (!tree_.rules_.has_more(rest, Part::String, tree_.than_, work)) walk_.mark(false);
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

  JsonRules& rules_;
  std::shared_ptr<const TextTree> texts_;
  ExpressionId rest_;
  std::uint64_t than_;
  Work work_;
};

std::shared_ptr<const TextTree> JsonRules::unverified_along(std::shared_ptr<const TextTree> texts, ExpressionId rest,
                                                            std::uint64_t than, const Work& work) {
  return std::make_shared<UnverifiedAlong>(*this, std::move(texts), rest, than, work);
}

bool JsonRules::is_endless(ExpressionId rest, const Work& work) {
  if (layout_.has_depth()) return false;  // a blank before a closing bracket has chosen to end
  const std::vector<ExpressionId> ways = work.arena.fronts(rest);
  return std::ranges::all_of(ways, [&](ExpressionId at) {
    for (;;) {
      work.budget.step();
      const auto [head, tail] = work.arena.split(at);
      const ExpressionNode n = work.arena.node(head);
      if (tail == Arena::kEpsilon) return n.kind == Kind::Rule && is_endless(rules_[n.rule().value], work);
      at = tail;
    }
  });
}

bool JsonRules::is_endless(const Rule& rule, const Work& work) {
  if (rule.form == Form::Elements || rule.form == Form::Recorded) return is_endless(arrays_[rule.subject].rest, work);
  if (rule.form == Form::Name) {
    const Choice& next = choice(rule.subject, work);
    if (awaits(rule, next) && !next.others.empty() && !takes_names_for_ever(objects_[rule.subject], work)) return false;
    for (std::uint32_t i = rule.low; i < rule.high; ++i) {
      Object after = after_declared(objects_[rule.subject], next.names[i]);
      for (const auto ways = sets_.objects().branches(objects_[rule.subject].rest, next.names[i].name, work);
           const auto& way : *ways) {
        after.rest = way.rest;
        if (sets_.objects().some_length(way.rest, room(after), work) && !takes_names_for_ever(after, work))
          return false;
      }
    }
    return true;
  }
  if (rule.form != Form::Members && rule.form != Form::Other) return false;
  return takes_names_for_ever(objects_[rule.subject], work);
}

// Whether elements may always come, and leave all as it was.
bool JsonRules::is_endless(ArrayId f, const Work& work) {
  ArrayFormulas& arrays = sets_.arrays();
  if (!arrays.accepts(f)) return false;
  const auto ways = arrays.branches(f, work);
  return std::ranges::any_of(*ways, [&](const Branch<ArrayTag>& way) {
    return way.rest == f && (!arrays.tells_equal(f) || sets_.count(way.value, kMany, work) >= kMany);
  });
}

// Whether names that are not declared may always come, and leave all as it was.
bool JsonRules::takes_names_for_ever(const Object& object, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  if (!sets_.objects().some_length(object.rest, room(object), work)) return false;
  return std::ranges::any_of(*classes, [&](const ObjectFormulas::NameClass& other) {
    if (!other.is_any) return false;
    const auto ways = sets_.objects().branches(object.rest, other, work);
    return std::ranges::any_of(*ways, [&](const auto& way) { return way.rest == object.rest; });
  });
}

}  // namespace tokamata::json

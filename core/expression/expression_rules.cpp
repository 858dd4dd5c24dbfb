#include "expression/expression_rules.hpp"

#include <algorithm>

#include "common/best_first.hpp"
#include "common/check.hpp"
#include "common/sort_unique.hpp"
#include "expression/expression.hpp"
#include "expression/phrase_search.hpp"
#include "expression/rules.hpp"
#include "expression/show.hpp"
#include "expression/string_automaton.hpp"

namespace tokamata {

using Part = RuleParts::Part;
using PartId = RuleParts::PartId;
using Problem = RuleSetError::Problem;

namespace {

const char* words_of(Problem problem) {
  switch (problem) {
    case Problem::UnknownRule: return "refers to a rule that there is not";
    case Problem::Misplaced: return "refers to a rule within a complement, an intersection, lookaround or a terminal";
    case Problem::NotText:
      return "holds what is no text by itself: control tokens, edges of tokens, complements, rules within other than "
             "sequences";
    case Problem::Open: return "holds lookaround that sees beyond a scope of its own";
    case Problem::Empty: return "accepts the empty text";
    case Problem::LeftRecursive: return "is left recursive: it begins with itself";
  }
  return "";
}

}  // namespace

RuleSetError::RuleSetError(Problem what, std::uint32_t where)
    : std::invalid_argument("rule " + std::to_string(where) + " " + words_of(what)), problem(what), rule(where) {}

// ---- cutting ----------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_depth() { throw LimitExceeded("depth", Expression::kMaximumDepth); }

// What a tree without references is, as far as its form shows.
struct Facts {
  bool nullable, text, open;
};

// The facts of trees, each found once; also what their texts must be told apart by.
class TreeFacts {
 public:
  // `rule`: the one that is being read.
  TreeFacts(ByteSet& distinguished, const std::uint32_t& rule) : distinguished_(distinguished), rule_(rule) {}

  Facts of(const Expression& tree) {
    if (const auto known = known_.find(&tree); known != known_.end()) return known->second;
    note_distinguished(tree);
    const Facts facts = std::visit([&](const auto& n) { return in(n); }, tree.node());
    known_.emplace(&tree, facts);
    return facts;
  }

 private:
  Facts in(const Expression::Empty&) { return {false, true, false}; }
  Facts in(const Expression::Literal& n) { return {n.bytes.empty(), true, false}; }
  Facts in(const Expression::CodePoints&) { return {false, true, false}; }
  Facts in(const Expression::Strings& n) { return {n.automaton->accepting(StringAutomaton::start()), true, false}; }
  Facts in(const Expression::Until&) { return {false, true, false}; }
  Facts in(const Expression::Language&) { return {false, true, false}; }
  Facts in(const Expression::Everything&) { return {true, false, false}; }
  Facts in(const Expression::Concatenation& n) {
    return over(n.items, {true, true, false}, [](const Facts& all, const Facts& one) {
      return Facts{all.nullable && one.nullable, all.text && one.text, all.open || one.open};
    });
  }
  Facts in(const Expression::Union& n) {
    return over(n.items, {false, true, false}, [](const Facts& any, const Facts& one) {
      return Facts{any.nullable || one.nullable, any.text && one.text, any.open || one.open};
    });
  }
  Facts in(const Expression::Intersection& n) {
    return over(n.items, {true, false, false}, [](const Facts& all, const Facts& one) {
      return Facts{all.nullable && one.nullable, all.text || one.text, all.open || one.open};
    });
  }
  Facts in(const Expression::Repetition& n) {
    const Facts body = of(*n.body);
    return {n.minimum == 0 || body.nullable, body.text, body.open};
  }
  Facts in(const Expression::Complement& n) {
    const Facts body = of(*n.body);
    return {!body.nullable, false, body.open};
  }
  Facts in(const Expression::LookAhead& n) { return {of(*n.rest).nullable, true, true}; }
  Facts in(const Expression::LookBehind& n) { return {of(*n.prefix).nullable, true, true}; }
  Facts in(const Expression::Scope& n) {
    const Facts body = of(*n.body);
    return {body.nullable, body.text, false};
  }
  Facts in(const Expression::Terminal& n) { return of(*n.body); }
  Facts in(const Expression::TooDeep&) { refuse_depth(); }
  template <class Other>
  Facts in(const Other&) {  // control tokens, edges, and other rules
    throw RuleSetError(Problem::NotText, rule_);
  }

  template <class Combine>
  Facts over(const std::vector<ExpressionPtr>& items, Facts facts, Combine&& combine) {
    for (const ExpressionPtr& item : items) facts = combine(facts, of(*item));
    return facts;
  }

  // What wide classes do beyond ASCII distinguishes nothing that texts need.
  void note_distinguished(const Expression& tree) {
    constexpr ByteSet kLeads = ByteSet::range(0xC2, 0xF4);
    constexpr ByteSet kToAscii = ByteSet::range(0x00, 0x80);
    if (const auto* const set = std::get_if<Expression::CodePoints>(&tree.node())) {
      const bool is_wide = kLeads.is_subset_of(set->automaton->full_blocks());
      distinguished_ |= is_wide ? tree.class_borders() & kToAscii : tree.class_borders();
    } else if (std::holds_alternative<Expression::Literal>(tree.node()) ||
               std::holds_alternative<Expression::Strings>(tree.node())) {
      distinguished_ |= tree.class_borders();
    } else if (const auto* const until = std::get_if<Expression::Until>(&tree.node())) {
      distinguished_ |= Expression::literal(until->search->phrase())->class_borders();
    }
  }

  ByteSet& distinguished_;
  const std::uint32_t& rule_;
  std::unordered_map<const Expression*, Facts> known_;
};

// Trees into parts; what trees share, parts share.
class Cutter {
 public:
  Cutter(RuleParts& result, std::size_t rule_count)
      : result_(result), rule_count_(rule_count), facts_(result.distinguished, rule_) {}

  PartId cut(const ExpressionPtr& tree, std::uint32_t rule) {
    rule_ = rule;
    result_.class_borders |= tree->class_borders();
    return part_of(tree);
  }

  // The rules of sets that the trees contain; their numbers follow those of the trees.
  const std::vector<PartId>& rules_of_sets() const { return rules_of_sets_; }

 private:
  [[noreturn]] void refuse(Problem problem) const { throw RuleSetError(problem, rule_); }

  PartId part_of(const ExpressionPtr& tree) {
    if (const auto known = known_.find(tree.get()); known != known_.end()) return known->second;
    const bool is_leaf = !tree->has_references() && !has_sets(*tree);
    const PartId made = is_leaf ? leaf(tree) : std::visit([&](const auto& n) { return of(n); }, tree->node());
    known_.emplace(tree.get(), made);
    return made;
  }

  PartId add(Part part) {
    result_.parts.push_back(std::move(part));
    return {static_cast<std::uint32_t>(result_.parts.size() - 1)};
  }

  PartId leaf(const ExpressionPtr& tree) {
    if (!tree->control_tokens().empty() || tree->sees_edges()) refuse(Problem::NotText);
    const Facts facts = facts_.of(*tree);
    if (facts.open) refuse(Problem::Open);
    if (!facts.text) refuse(Problem::NotText);
    return add({.kind = Part::Kind::Leaf, .nullable = facts.nullable, .tree = tree});
  }

  // ---- with references ----

  PartId of(const Expression::Reference& n) {
    if (n.rule >= rule_count_) refuse(Problem::UnknownRule);
    return add({.kind = Part::Kind::Reference, .rule = n.rule});
  }
  PartId of(const Expression::Concatenation& n) {
    std::vector<PartId> items = all_of(n.items);
    const bool nullable = std::ranges::all_of(items, [this](PartId item) { return result_[item].nullable; });
    return add({.kind = Part::Kind::Concatenation, .nullable = nullable, .items = std::move(items)});
  }
  PartId of(const Expression::Union& n) {
    std::vector<PartId> items = all_of(n.items);
    const bool nullable = std::ranges::any_of(items, [this](PartId item) { return result_[item].nullable; });
    return add({.kind = Part::Kind::Union, .nullable = nullable, .items = std::move(items)});
  }
  PartId of(const Expression::Repetition& n) {
    if (n.maximum == 0) return leaf(Expression::literal(""));
    const PartId body = part_of(n.body);
    const bool nullable = n.minimum == 0 || result_[body].nullable;
    return add({.kind = Part::Kind::Repetition,
                .nullable = nullable,
                .items = {body},
                .minimum = n.minimum,
                .maximum = n.maximum});
  }
  PartId of(const Expression::Scope& n) { return part_of(n.body); }
  PartId of(const Expression::Intersection& n) {
    const ExpressionPtr* const whole = whole_of(n);
    if (whole == nullptr) refuse(Problem::Misplaced);
    return some_of(part_of(*whole));
  }
  PartId of(const Expression::Grammar& n) {
    if (const ExpressionRuleSet* const set = listed(n)) return spliced(*set);
    note_other(n.rules);
    return add({.kind = Part::Kind::Leaf, .nullable = false, .tree = Expression::grammar(n.rules)});
  }
  PartId of(const Expression::TooDeep&) { refuse_depth(); }
  template <class Other>
  PartId of(const Other&) {
    refuse(Problem::Misplaced);
  }

  // ---- without the empty text ----

  // If an intersection only excludes the empty text: that from which it does.
  static const ExpressionPtr* whole_of(const Expression::Intersection& n) {
    const auto excludes_empty = [](const ExpressionPtr& item) {
      const auto* const complement = std::get_if<Expression::Complement>(&item->node());
      const auto* const literal = complement ? std::get_if<Expression::Literal>(&complement->body->node()) : nullptr;
      return literal != nullptr && literal->bytes.empty();
    };
    if (n.items.size() != 2 || excludes_empty(n.items[0]) == excludes_empty(n.items[1])) return nullptr;
    return excludes_empty(n.items[0]) ? &n.items[1] : &n.items[0];
  }

  // The texts of a part that are not empty.  Of a sequence, the first item that is not empty is one of them.
  PartId some_of(PartId part) {
    if (!result_[part].nullable) return part;
    if (const auto known = some_.find(part.value); known != some_.end()) return known->second;
    Part n = result_[part];
    n.nullable = false;
    PartId made{};
    if (n.kind == Part::Kind::Leaf) {
      made = leaf(Expression::intersection({n.tree, Expression::complement(Expression::literal(""))}));
    } else if (n.kind == Part::Kind::Concatenation) {
      PartId rest = n.items.back();
      made = some_of(rest);
      for (std::size_t i = n.items.size() - 1; i-- > 0;) {
        const PartId begun =
            add({.kind = Part::Kind::Concatenation, .nullable = false, .items = {some_of(n.items[i]), rest}});
        rest = add({.kind = Part::Kind::Concatenation, .nullable = true, .items = {n.items[i], rest}});
        made = add({.kind = Part::Kind::Union, .nullable = false, .items = {begun, made}});
      }
    } else {
      for (PartId& item : n.items) item = some_of(item);
      n.minimum = std::max<Count>(n.minimum, 1);
      made = add(std::move(n));
    }
    some_.emplace(part.value, made);
    return made;
  }

  // ---- other sets of rules: listed ones become rules of this one ----

  void note_other(const std::shared_ptr<const RuleSet>& set) {
    if (std::ranges::find(result_.others, set) == result_.others.end()) result_.others.push_back(set);
    result_.class_borders |= set->class_borders();
    result_.distinguished |= set->distinguished();
  }

  static const ExpressionRuleSet* listed(const Expression::Grammar& n) {
    return dynamic_cast<const ExpressionRuleSet*>(n.rules.get());
  }

  // Whether a tree has such sets where references may stand.
  bool has_sets(const Expression& tree) {
    if (const auto known = has_sets_.find(&tree); known != has_sets_.end()) return known->second;
    const auto in_any = [this](const std::vector<ExpressionPtr>& items) {
      return std::ranges::any_of(items, [this](const ExpressionPtr& item) { return has_sets(*item); });
    };
    bool found = false;
    if (const auto* const grammar = std::get_if<Expression::Grammar>(&tree.node())) found = grammar != nullptr;
    else if (const auto* const sequence = std::get_if<Expression::Concatenation>(&tree.node()))
      found = in_any(sequence->items);
    else if (const auto* const choice = std::get_if<Expression::Union>(&tree.node())) found = in_any(choice->items);
    else if (const auto* const repetition = std::get_if<Expression::Repetition>(&tree.node()))
      found = has_sets(*repetition->body);
    else if (const auto* const scope = std::get_if<Expression::Scope>(&tree.node())) found = has_sets(*scope->body);
    else if (const auto* const intersection = std::get_if<Expression::Intersection>(&tree.node()))
      found = whole_of(*intersection) != nullptr && has_sets(**whole_of(*intersection));
    has_sets_.emplace(&tree, found);
    return found;
  }

  // The start of a set, whose parts and rules are added once.
  PartId spliced(const ExpressionRuleSet& set) {
    const RuleParts& given = set.parts();
    if (const auto known = starts_.find(&given); known != starts_.end()) return known->second;
    const auto first_part = static_cast<std::uint32_t>(result_.parts.size());
    const auto first_rule = static_cast<std::uint32_t>(rule_count_ + rules_of_sets_.size());
    const auto moved = [first_part](PartId part) { return PartId{first_part + part.value}; };
    for (Part part : given.parts) {
      if (part.kind == Part::Kind::Reference) part.rule += first_rule;
      for (PartId& item : part.items) item = moved(item);
      result_.parts.push_back(std::move(part));
    }
    for (const PartId body : given.bodies) rules_of_sets_.push_back(moved(body));
    result_.class_borders |= given.class_borders;
    result_.distinguished |= given.distinguished;
    for (const auto& other : given.others) note_other(other);
    return starts_.emplace(&given, moved(given.start)).first->second;
  }

  std::vector<PartId> all_of(const std::vector<ExpressionPtr>& trees) {
    std::vector<PartId> parts;
    parts.reserve(trees.size());
    for (const ExpressionPtr& tree : trees) parts.push_back(part_of(tree));
    return parts;
  }

  RuleParts& result_;
  std::size_t rule_count_;
  std::uint32_t rule_ = 0;
  std::unordered_map<const Expression*, PartId> known_;
  std::unordered_map<std::uint32_t, PartId> some_;
  TreeFacts facts_;
  std::unordered_map<const Expression*, bool> has_sets_;
  std::unordered_map<const RuleParts*, PartId> starts_;
  std::vector<PartId> rules_of_sets_;
};

// Pushes the rules that a text of a part may begin with; `met` are parts that were visited.
void push_begins(const RuleParts& all, PartId part, std::vector<bool>& met, std::vector<std::uint32_t>& out) {
  std::vector<PartId> open{part}, touched;
  while (!open.empty()) {
    const PartId at = open.back();
    open.pop_back();
    if (met[at.value]) continue;
    met[at.value] = true;
    touched.push_back(at);
    const Part& n = all[at];
    if (n.kind == Part::Kind::Reference) out.push_back(n.rule);
    for (const PartId item : n.items) {
      open.push_back(item);
      if (n.kind == Part::Kind::Concatenation && !all[item].nullable) break;
    }
  }
  for (const PartId at : touched) met[at.value] = false;
  sort_unique(out);
}

// Depth first, with a stack of its own.
void order_rules(RuleParts& all) {
  enum class Mark : std::uint8_t { New, Open, Done };
  struct Frame {
    std::uint32_t rule;
    std::size_t next = 0;
  };
  std::vector<Mark> marks(all.bodies.size(), Mark::New);
  for (std::uint32_t root = 0; root < all.bodies.size(); ++root) {
    if (marks[root] != Mark::New) continue;
    std::vector<Frame> frames{{root}};
    marks[root] = Mark::Open;
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next == all.begins[frame.rule].size()) {
        marks[frame.rule] = Mark::Done;
        all.order.push_back(frame.rule);
        frames.pop_back();
        continue;
      }
      const std::uint32_t begun = all.begins[frame.rule][frame.next++];
      if (marks[begun] == Mark::Open) throw RuleSetError(Problem::LeftRecursive, begun);
      if (marks[begun] == Mark::New) {
        marks[begun] = Mark::Open;
        frames.push_back({begun});
      }
    }
  }
}

// From the leaves up to all that contains them.
void mark_remembering(RuleParts& all) {
  all.remembers.assign(all.bodies.size(), false);
  std::vector<std::vector<PartId>> users(all.parts.size());
  std::vector<PartId> open;
  for (std::uint32_t part = 0; part < all.parts.size(); ++part) {
    const Part& n = all[{part}];
    for (const PartId item : n.items) users[item.value].push_back({part});
    if (n.kind == Part::Kind::Reference) users[all.bodies[n.rule].value].push_back({part});
    if (n.kind == Part::Kind::Leaf && std::holds_alternative<Expression::Grammar>(n.tree->node()))
      open.push_back({part});
  }
  std::vector<bool> met(all.parts.size(), false);
  while (!open.empty()) {
    const PartId at = open.back();
    open.pop_back();
    if (met[at.value]) continue;
    met[at.value] = true;
    open.insert(open.end(), users[at.value].begin(), users[at.value].end());
  }
  for (std::uint32_t rule = 0; rule < all.bodies.size(); ++rule) all.remembers[rule] = met[all.bodies[rule].value];
}

}  // namespace

ExpressionRuleSet::ExpressionRuleSet(const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start) {
  auto all = std::make_shared<RuleParts>();
  Cutter cutter(*all, bodies.size());
  for (std::uint32_t rule = 0; rule < bodies.size(); ++rule) {
    all->bodies.push_back(cutter.cut(bodies[rule], rule));
    if ((*all)[all->bodies[rule]].nullable) throw RuleSetError(Problem::Empty, rule);
  }
  all->start = cutter.cut(start, static_cast<std::uint32_t>(bodies.size()));
  all->bodies.insert(all->bodies.end(), cutter.rules_of_sets().begin(), cutter.rules_of_sets().end());
  std::vector<bool> met(all->parts.size(), false);
  all->begins.resize(all->bodies.size());
  for (std::uint32_t rule = 0; rule < all->bodies.size(); ++rule)
    push_begins(*all, all->bodies[rule], met, all->begins[rule]);
  order_rules(*all);
  mark_remembering(*all);
  parts_ = std::move(all);
}

bool ExpressionRuleSet::spells(std::string_view part) const {
  return std::ranges::any_of(parts_->others, [part](const auto& set) { return set->spells(part); });
}

std::string_view ExpressionRuleSet::ending_bytes() const {
  return parts_->others.empty() ? std::string_view() : parts_->others.front()->ending_bytes();
}

ByteSet ExpressionRuleSet::separators() const {
  ByteSet all;
  for (const auto& set : parts_->others) all |= set->separators();
  return all;
}

ByteSet ExpressionRuleSet::openers() const {
  ByteSet all;
  for (const auto& set : parts_->others) all |= set->openers();
  return all;
}

std::unique_ptr<Rules> ExpressionRuleSet::make(std::uint32_t source, Arena& arena) const {
  return std::make_unique<ExpressionRules>(source, arena, parts_);
}

// ---- measuring --------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kEndless = ExpressionNode::kUnspelled;

std::uint32_t finite(std::uint64_t length) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kEndless - 1));
}

}  // namespace

ExpressionId ExpressionRules::start(Budget& budget) {
  if (abouts_.empty()) measure(budget);
  return made(parts_->start, false, budget);
}

// The lengths of shortest texts by part, kEndless where there are none: those of leaves are given, and the shortest is
// settled first, since none is shorter than what it is made of.
template <class OfLeaf>
std::vector<std::uint32_t> ExpressionRules::lengths(OfLeaf&& of_leaf, Budget& budget) const {
  const std::size_t count = parts_->parts.size();
  // of parts: those that they are items of, or referred to by
  std::vector<std::vector<std::uint32_t>> users(count);
  std::vector<std::size_t> missing(count, 0);  // items of concatenations
  std::vector<std::uint64_t> sums(count, 0);
  std::vector<std::uint32_t> lengths(count, kEndless);
  Frontier<std::pair<std::uint32_t, std::uint32_t>> open;  // length and part
  for (std::uint32_t part = 0; part < count; ++part) {
    budget.step();
    const Part& n = parts_->parts[part];
    for (const PartId item : n.items) users[item.value].push_back(part);
    missing[part] = n.items.size();
    if (n.kind == Part::Kind::Reference) users[parts_->bodies[n.rule].value].push_back(part);
    if (n.kind == Part::Kind::Repetition && n.minimum == 0) open.add({0, part});
    if (n.kind != Part::Kind::Leaf) continue;
    if (const std::uint32_t length = of_leaf(PartId{part}); length != kEndless) open.add({length, part});
  }
  while (!open.empty()) {
    const auto [length, settled] = open.take();
    if (lengths[settled] != kEndless) continue;
    lengths[settled] = length;
    for (const std::uint32_t user : users[settled]) {
      budget.step();
      const Part& n = parts_->parts[user];
      if (n.kind == Part::Kind::Concatenation) {
        sums[user] += length;
        if (--missing[user] == 0) open.add({finite(sums[user]), user});
      } else {
        const std::uint64_t rounds = n.kind == Part::Kind::Repetition ? std::min<Count>(n.minimum, kEndless) : 1;
        open.add({finite(rounds * length), user});
      }
    }
  }
  return lengths;
}

void ExpressionRules::measure(Budget& budget) {
  const std::size_t rules = parts_->bodies.size();
  const auto about_leaf = [&](PartId part) { return arena().pool().node(leaf(part, budget)); };
  const auto shortest = lengths(
      [&](PartId part) {
        const ExpressionId known = leaf(part, budget);
        return known == Pool::kEmpty ? kEndless : finite(arena().pool().node(known).shortest);
      },
      budget);
  const auto spelled = lengths([&](PartId part) { return about_leaf(part).spelled; }, budget);
  first_bytes_.assign(rules, {});
  std::vector<std::optional<ByteSet>> known(parts_->parts.size());
  for (const std::uint32_t rule : parts_->order)
    first_bytes_[rule] = first_bytes_of(parts_->bodies[rule], known, budget);
  for (std::uint32_t rule = 0; rule < rules; ++rule) {
    const std::uint32_t body = parts_->bodies[rule].value;
    abouts_.push_back(
        {.shortest = shortest[body], .spelled = spelled[body], .waits = false, .by_tokens = !parts_->remembers[rule]});
  }
  if (parts_->others.empty()) return;
  for (std::uint32_t rule = 0; rule < rules; ++rule) {
    abouts_.push_back(abouts_[rule]);
    abouts_.back().waits = true;
  }
}

// Those of the rules that it may begin with are known.
ByteSet ExpressionRules::first_bytes_of(PartId part, std::vector<std::optional<ByteSet>>& known, Budget& budget) {
  if (known[part.value]) return *known[part.value];
  budget.step();
  const Part& n = (*parts_)[part];
  ByteSet bytes;
  if (n.kind == Part::Kind::Reference) {
    bytes = first_bytes_[n.rule];
  } else if (n.kind == Part::Kind::Leaf) {
    const ExpressionId known_leaf = leaf(part, budget);
    bytes = arena().pool().node(known_leaf).rules
                ? arena().derivatives().leaf_bytes(known_leaf, budget).value_or(ByteSet::range(0x00, 0xFF))
                : arena().analyses().first_bytes(known_leaf);
  } else {
    for (const PartId item : n.items) {
      bytes |= first_bytes_of(item, known, budget);
      if (n.kind == Part::Kind::Concatenation && !(*parts_)[item].nullable) break;
    }
  }
  known[part.value] = bytes;
  return bytes;
}

// ---- expressions ------------------------------------------------------------------------------

// What may be empty, though its form does not say so, becomes a terminal, which is known to live.
ExpressionId ExpressionRules::leaf(PartId part, Budget& budget) {
  if (const auto known = leaves_.find(part.value); known != leaves_.end()) return known->second;
  const ExpressionId tree = arena().add(*(*parts_)[part].tree, budget);
  const ExpressionId result =
      arena().pool().node(tree).constrained ? arena().derivatives().terminal(tree, budget) : tree;
  leaves_.emplace(part.value, result);
  return result;
}

ExpressionId ExpressionRules::made(PartId part, bool approximated, Budget& budget) {
  const Part& n = (*parts_)[part];
  if (n.kind == Part::Kind::Leaf) {
    const ExpressionId exact = leaf(part, budget);
    return approximated ? arena().fronts().approximated(exact, budget) : exact;
  }
  if (n.kind == Part::Kind::Reference)
    return abouts_[n.rule].shortest == kEndless
               ? Pool::kEmpty
               : arena().forms().rule(source(),
                                      {n.rule + (approximated && parts_->remembers[n.rule] ? rule_count() : 0)});
  const std::uint64_t key = (std::uint64_t{part.value} << 1) | (approximated ? 1 : 0);
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  budget.step();
  std::vector<ExpressionId> items;
  for (const PartId item : n.items) items.push_back(made(item, approximated, budget));
  const ExpressionId result = n.kind == Part::Kind::Concatenation ? arena().forms().concatenate_all(items, budget)
                              : n.kind == Part::Kind::Union ? arena().forms().unite(items)
                                                            : arena().forms().repeat(items[0], n.minimum, n.maximum);
  made_.emplace(key, result);
  return result;
}

ExpressionId ExpressionRules::derivative(RuleId rule, std::uint8_t byte, Budget& budget) {
  const auto key = [byte](std::uint32_t of) { return (std::uint64_t{of} << 8) | byte; };
  const std::uint32_t offset = is_approximated(rule.value) ? rule_count() : 0;
  const auto is_known = [&](std::uint32_t of) {
    return !first_bytes_[number(of)].contains(byte) || derivatives_.contains(key(of));
  };
  std::vector<std::uint32_t> open{rule.value};
  while (!open.empty()) {
    budget.step();
    const std::uint32_t at = open.back();
    const std::size_t before = open.size();
    if (!is_known(at))
      for (const std::uint32_t begun : parts_->begins[number(at)])
        if (const std::uint32_t also = begun + (parts_->remembers[begun] ? offset : 0); !is_known(also))
          open.push_back(also);
    if (open.size() > before) continue;
    open.pop_back();
    if (is_known(at)) continue;
    const ExpressionId result = arena().derivatives().derivative(body(at, budget), byte, budget);
    derivatives_.emplace(key(at), result);
  }
  const auto known = derivatives_.find(key(rule.value));
  return known == derivatives_.end() ? Pool::kEmpty : known->second;
}

ExpressionId ExpressionRules::approximated(RuleId rule, Budget&) {
  return arena().forms().rule(source(),
                              {parts_->remembers[number(rule.value)] ? number(rule.value) + rule_count() : rule.value});
}

std::vector<Approximation> ExpressionRules::approximations(RuleId rule, Budget& budget) {
  return {{approximated(rule, budget)}};
}

ExpressionId ExpressionRules::after(RuleId, std::size_t, Budget&) {
  TOKAMATA_CHECK(false, "no listed rule begins with strings");
  return Pool::kEmpty;
}

// ---- memory -----------------------------------------------------------------------------------

void ExpressionRules::begin_anew() {
  release(leaves_);
  release(made_);
  release(derivatives_);
}

// Leaves that no text has reached are not known to the pool.
std::string ExpressionRules::show(PartId id) const {
  const Part& part = (*parts_)[id];
  const auto all = [&](std::string_view between) {
    std::string text;
    for (const PartId item : part.items) text += (text.empty() ? "" : std::string(between)) + show(item);
    return text;
  };
  switch (part.kind) {
    case Part::Kind::Leaf: {
      const auto known = leaves_.find(id.value);
      return known == leaves_.end() ? "…" : tokamata::show(arena(), known->second);
    }
    case Part::Kind::Reference: return "$" + std::to_string(part.rule);
    case Part::Kind::Concatenation: return all("·");
    case Part::Kind::Union: return "(" + all(" | ") + ")";
    case Part::Kind::Repetition: return "(" + all("") + ")" + shown_counts(part.minimum, part.maximum);
  }
  return {};
}

}  // namespace tokamata

// Hash-consed expressions in normal form: the states of the engine, before they have numbers.
//
// Contract.  Two expressions with the same id denote the same language.  Expressions are built
// by the member functions below alone; each returns a normal form, so that a derivative that
// was seen before is found again and the set of states reached stays finite and small.
//
// Normal forms.
//   concatenation   head · tail; no epsilon, no empty, the head of an item of a union is never
//                   itself a concatenation.  The tail is the continuation: what remains to be
//                   done after the head, shared like a graph-structured stack.
//                   A class of code points beside itself is a repetition of it: .... is .{4}.
//   repetition      body{minimum,maximum}; counts are numbers, so {0,100000} is one node, as is
//                   {0,4}.  A nullable body makes the minimum 0; (x{1,n}){c,d} is x{c,nd}.
//   union           sorted, flat, no duplicates, single bytes merged into one set, and without
//                   dominated items: x{0,3}·t beside x{0,5}·t is dropped, and x{0,3}·t beside
//                   x{4,5}·t becomes x{0,5}·t.  (a{0,1000}b?){0,1000} keeps at most two items.
//   stub            lives and accepts nothing: stands for a continuation that no token reaches.
//   intersection    sorted, flat, no duplicates; complement: never of a complement.
//   guarded         what continues here, if it is also in the guard (boolean.cpp): what becomes of a
//                   lookahead once something was read.  An alternative beside it with the same core
//                   and fewer guards makes it superfluous.
//   lookbehind      holds the derivative of its prefix by all that was read so far, and so every
//                   derivative is taken of the lookbehinds in the continuation too.
//   terminal        a regular part that stays whole as the head of what follows it: what it does to a
//                   vocabulary is asked once for all that may follow (vocabulary/segment.hpp).  It is
//                   alive by itself, or kEmpty: where its body is constrained, that was searched.
//   suspect         accepts the empty text, at the end of what is suspect, so that it is that to its very end.
//   rule            rules.hpp.  Where its set asks for it (Rules::joins), what follows one rule is one union, so
//                   that an ambiguous text has no stack for each of its readings: r·s beside r·t is r·(s|t).
//   commit          never in front of a state: what follows it is committed then.
//
// Cost: constant per node made (amortized), n log n for a union of n items.
// Source: derivatives with similarity, Brzozowski 1964 (whose proof that they are finitely many
// holds for intersection and complement too), Owens, Reppy and Turon 2009; unions as
// sets of continuations, Antimirov 1996; symbolic counts as in "counting-set automata",
// Turonova et al. 2020; guards as the universal branches of an alternating automaton, Chandra,
// Kozen and Stockmeyer 1981.  Not taken: unrolled counts (states in proportion to the bound), full
// distribution of concatenation over union (exponential).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/byte_set.hpp"
#include "common/ids.hpp"
#include "common/lengths.hpp"
#include "common/limits.hpp"
#include "expression/expression.hpp"
#include "expression/number_automaton.hpp"
#include "expression/rules.hpp"

namespace tokamata {

enum class Kind : std::uint8_t {
  Empty, Epsilon, Stub, Everything,
  Bytes, CodePoints, Strings, Numbers, ControlToken, OneToken,
  Concatenation, Union, Repetition, Intersection, Complement,
  LookAhead, LookBehind, Scope, Guarded,
  Terminal, Rule, Commit, Suspect,
  Until,  // the last one: files of parts hold these numbers
};

struct ExpressionNode {
  Kind kind;
  bool nullable : 1 = false;            // accepts the empty text, where what is open is decided here and now
  bool counts_past_reach : 1 = false;   // somewhere counts to more than a token is long
  bool windowed : 1 = false;            // somewhere counts characters to more than that, beside something else
  bool open : 1 = false;                // has a lookaround that sees beyond it
  bool behind : 1 = false;              // has a lookbehind, to be kept up to date while it waits
  bool constrained : 1 = false;         // may be empty without being the empty expression
  bool edges : 1 = false;               // sees the edges of tokens
  bool text : 1 = false;                // all it accepts is valid UTF-8, and no control token
  bool waits : 1 = false;               // has a rule that waits for a choice
  bool rules : 1 = false;               // has a rule
  bool commits : 1 = false;             // a Commit stands in front
  bool by_byte : 1 = false;             // a rule in front keeps what is read, so that no two bytes are alike
  bool suspect : 1 = false;             // has a sketch of a rule that may accept what the rule does not
  std::uint32_t spelled = kUnspelled;  // bytes of a shortest text of single-byte tokens that is sure to be there
  std::uint32_t shortest = 0;  // bytes of a shortest text; at least so many, where it is constrained
  std::uint32_t worst = 0;     // no more than so many bytes, after whatever was read of it; not where constrained
  std::uint32_t depth = 0;   // nesting, tails not counted
  std::uint32_t shape = 0;   // hash of the structure without the counts
  std::uint32_t first = 0;   // Bytes: set; CodePoints, Strings, Numbers, Until: automaton; ControlToken: number; OneToken: set;
                             // Concatenation: head; Union, Intersection: offset; Guarded: core; Rule: source; Commit: choice;
                             // others: body
  std::uint32_t second = 0;  // CodePoints, Strings, Numbers: state; Until: position; OneToken: phase; Concatenation: tail;
                             // Union, Intersection: length; Guarded: guard; Rule: number
  Count minimum = 0;
  Count maximum = 0;

  static constexpr std::uint32_t kUnspelled = kNoLength;
  static std::uint32_t capped(std::uint64_t length) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kUnspelled)); }
  bool spellable_by_bytes() const { return spelled < kUnspelled; }

  ExpressionId head() const { return {first}; }
  ExpressionId tail() const { return {second}; }
  ExpressionId body() const { return {first}; }
  ExpressionId core() const { return {first}; }
  ExpressionId guard() const { return {second}; }
  RuleId rule() const { return {second}; }
  bool has_items() const { return kind == Kind::Union || kind == Kind::Intersection; }
};

class Arena {
 public:
  static constexpr ExpressionId kEmpty{0};
  static constexpr ExpressionId kEpsilon{1};
  static constexpr ExpressionId kStub{2};
  static constexpr ExpressionId kEverything{3};

  // `single_bytes` are the bytes that the vocabulary has as tokens of their own; `reach` is the
  // length of its longest token in bytes.  Both only steer the flags of the nodes.
  Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit);

  // Which control tokens are the same one under another name; the names of patterns added later.
  using Aliases = std::map<std::string, std::string>;
  void join_control_tokens(Aliases aliases) { aliases_ = std::move(aliases); }

  // A pattern, into normal form.
  ExpressionId add(const Expression& pattern, Budget& budget);
  // Gives up every expression that no root is made of (compact.cpp).  Result: by the old number of each expression
  // that stays its new one.  Where it throws, nothing has changed.
  std::vector<ExpressionId> keep_only(std::span<const ExpressionId> roots);

  ExpressionId bytes(const ByteSet& set);
  ExpressionId concatenate(ExpressionId head, ExpressionId tail);
  // One after the other, flat all the way.
  ExpressionId concatenate_all(std::span<const ExpressionId> items, Budget& budget);
  ExpressionId repeat(ExpressionId body, Count minimum, Count maximum);
  // Sorts and empties `items`.
  ExpressionId unite(std::vector<ExpressionId>& items);
  ExpressionId intersect(std::vector<ExpressionId>& items);
  ExpressionId complement(ExpressionId body);
  ExpressionId look_ahead(ExpressionId rest);
  ExpressionId look_behind(ExpressionId prefix);
  ExpressionId scope(ExpressionId body);
  // kEmpty where the body accepts nothing.
  ExpressionId terminal(ExpressionId body, Budget& budget);
  ExpressionId rule(std::uint32_t source, RuleId rule);
  ExpressionId commit(std::uint32_t choice);
  ExpressionId suspect_end();
  // Some text of the language, as short as a search from the front finds; nothing where there is none.  Not
  // where there are rules in it.
  std::optional<std::string> some_text(ExpressionId expression, Budget& budget);
  // The number of texts of such a language, at most `most`, or of those of some bytes alone; as many of them, the shortest
  // first.
  std::uint64_t count_texts(ExpressionId expression, std::uint64_t most, Budget& budget, const ByteSet* among = nullptr);
  std::vector<std::string> some_texts(ExpressionId expression, std::size_t most, Budget& budget);

  // The same with every Commit in front made: to be asked of whole texts, since all that follows is committed.
  ExpressionId settled(ExpressionId expression);
  // The alternatives of an expression, each to begin with something else than a union, or than one that holds rules.
  std::vector<ExpressionId> fronts(ExpressionId expression, bool without_rules = true);
  // The same, with what the rules in front stand for, and what is behind parts that may be skipped.
  std::vector<ExpressionId> unfolded(ExpressionId expression, Budget& budget);
  // The same with sketches in place of rules, behind something else.
  ExpressionId sketched(ExpressionId expression, Budget& budget);
  // Sketches of an expression, in front of all that is to come: one of whatever refuses nothing and one for each
  // alternative that does.
  std::vector<Sketch> sketches(ExpressionId expression, Budget& budget);
  // What an expression begins with, and what follows that: of one that is no concatenation, itself and kEpsilon.
  struct Split {
    ExpressionId head, tail;
  };
  Split split(ExpressionId expression) const {
    const ExpressionNode& n = node(expression);
    return n.kind == Kind::Concatenation ? Split{n.head(), n.tail()} : Split{expression, kEpsilon};
  }
  // Says which expression a character of a JSON string is: characters.cpp.
  void note_character(ExpressionId character, Budget& budget);
  ExpressionId character() const { return memos_.character; }
  // The terminal of a string's rest without its bound: it does the same to tokens that begin `sure` code points at most.
  // Of tokens without an escape or a quote, those that begin `sure_plain` at most do the same, and those that begin more
  // than `most` are not of the bounded one.
  struct Unbounded {
    ExpressionId terminal;
    Count sure, sure_plain, most;
  };
  std::optional<Unbounded> without_bound(ExpressionId terminal);
  // A terminal that begins with what is left of something without some strings: the one that has these as well, the
  // strings, and the bytes that may come behind one.
  struct WithStrings {
    ExpressionId terminal;
    std::vector<ExpressionId> strings;
    ByteSet behind;
  };
  std::optional<WithStrings> with_strings(ExpressionId terminal);
  // Where any characters but some texts are left, which all lack one character, so that there is always a way on: the least
  // number of characters.
  std::optional<Count> characters_but_for_some(ExpressionId expression);
  // A conjunct of an intersection that is of finitely many strings.
  std::optional<ExpressionId> strings_within(const ExpressionNode& node) const;
  // The byte of a node that stands for one alone.
  std::optional<std::uint8_t> only_byte(const ExpressionNode& node) const;
  // From now on what may still be written of something that must differ from what was written holds nothing of that, also
  // where so much may follow that the end alone needs to be compared.  A tokenization asks for it: of all that may follow
  // the text of a token, it may admit nothing but what was written already.
  void narrow_always() { narrows_always_ = true; }
  bool narrows_always() const { return narrows_always_; }
  Rules& rules(const ExpressionNode& node) { return *rules_[node.first]; }
  // Whether an alternative begins with a rule that is joined (Rules::joins), or may do so; and whether any does here.
  bool awaits_rule(ExpressionId alternative) const;
  bool joins_rules() const { return joins_rules_; }

  // What may follow after `symbol` was read.  Reports each unit of work to `budget`.
  ExpressionId derivative(ExpressionId expression, Symbol symbol, Budget& budget);

  // Where that is cheap to tell: the bytes after which something may live.
  std::optional<ByteSet> leaf_bytes(ExpressionId expression, Budget& budget);

  // An expression with the same mask, for every vocabulary whose longest token is `reach` bytes
  // long, in which counts beyond that reach are forgotten: x{0,n} becomes x*, and x{m,n}·t with m
  // beyond reach becomes x*·stub.  Sound where every byte of the pattern is a token of its own.
  ExpressionId clip(ExpressionId expression);

  const ExpressionNode& node(ExpressionId id) const { return nodes_[id.value]; }
  const ByteSet& byte_set(const ExpressionNode& node) const { return sets_[node.first]; }
  const StringAutomaton& string_automaton(const ExpressionNode& node) const { return *strings_[node.first].automaton; }
  const PhraseSearch& phrase_search(const ExpressionNode& node) const { return *searches_[node.first].search; }
  const CodePointAutomaton& automaton(const ExpressionNode& node) const { return *automata_[node.first].automaton; }
  std::span<const ExpressionId> items(const ExpressionNode& node) const {
    return {items_.data() + node.first, node.second};
  }
  // The items of a union, or the expression itself, which must not be a temporary.
  std::span<const ExpressionId> alternatives(const ExpressionId& id) const {
    const ExpressionNode& n = node(id);
    return n.kind == Kind::Union ? items(n) : std::span<const ExpressionId>(&id, 1);
  }
  // Bytes that begin or end a range somewhere in the patterns added: bit b means that b - 1 and b
  // may behave differently.  Bytes between two such borders are one byte class.
  const ByteSet& class_borders() const { return class_borders_; }
  // Those of the rules' own languages and names (RuleSet::told_apart).
  const ByteSet& told_apart_by_rules() const { return told_apart_by_rules_; }
  // All bytes that occur in the patterns added.
  const ByteSet& pattern_bytes() const { return pattern_bytes_; }
  // The control tokens that the patterns added name; Symbol::control(i) stands for the i-th.
  const std::vector<std::string>& control_tokens() const { return control_tokens_; }

  // The bytes that an expression can begin with; not where it is constrained.
  ByteSet first_bytes(ExpressionId expression) const;
  // First bytes of all code points that an expression may read, anywhere in it; not where it is
  // constrained.
  ByteSet first_bytes_within(ExpressionId expression);

  // All of an expression as a key: equal keys, of whichever arenas, are of one language.  Empty where it would be
  // long, or where rules, lookarounds, tokens or edges are in it.
  std::string structure(ExpressionId expression) const;

  // Offset into the pattern of the repetition that occurs most among the alternatives, or -1.
  std::int64_t blame(ExpressionId expression) const;

  std::size_t size() const { return nodes_.size(); }
  std::size_t memory_bytes() const;

 private:
  enum class Phase : std::uint32_t { BeforeEdge, AtEdge, Inside };  // of a OneToken

  struct KnownAutomaton {
    static constexpr ExpressionId kUnmade{~std::uint32_t{0}};
    std::shared_ptr<const CodePointAutomaton> automaton;
    std::vector<ExpressionId> states;  // the expression of each state, or kUnmade
    std::vector<std::uint32_t> spelled;   // of each state, as of a node
    std::vector<std::uint32_t> shortest;
  };
  struct KnownStrings {
    std::shared_ptr<const StringAutomaton> automaton;
    std::vector<std::uint32_t> spelled;
    std::vector<std::uint32_t> shortest;
    std::uint32_t worst = 0;
    ByteSet used;
  };
  struct KnownNumbers {
    std::unique_ptr<NumberAutomaton> automaton;
    std::uint32_t worst;
    bool is_spelled;  // every byte that a shortest text may need is a token of its own
  };
  struct KnownSearch {
    std::shared_ptr<const PhraseSearch> search;
    std::uint32_t any_code_point;  // an automaton
    std::uint32_t spelled_from;    // all later bytes of the phrase are tokens of their own
  };
  struct Counted {  // an alternative body{minimum,maximum}·tail
    ExpressionId body, tail;
    Count minimum, maximum;
  };
  template <class Visit>
  void visit_derivatives(ExpressionId expression, Budget& budget, const ByteSet* among, Visit&& visit);
  // One derivative under way.
  struct Derivation {
    Symbol symbol;
    Budget& budget;
    bool remember;                             // there are many alternatives
    std::unordered_set<std::uint64_t> derived = {};  // expression and tail

    // Whether it has not met the two together before.
    bool is_first(ExpressionId expression, ExpressionId tail) {
      return !remember || derived.insert((std::uint64_t{expression.value} << 32) | tail.value).second;
    }
  };

  ExpressionId intern(ExpressionNode node, std::span<const ExpressionId> items = {});
  std::uint64_t hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const;
  bool same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const;
  void grow_table();
  // Where the node belongs in a table that has room and does not hold it.
  std::size_t free_slot(const std::vector<std::uint32_t>& table, std::uint32_t node) const;

  // Compaction: compact.cpp.
  struct Leaves;
  template <class Visit>
  void visit_parts(ExpressionNode& n, Visit&& visit);
  std::vector<ExpressionId> moves_to_keep(std::span<const ExpressionId> roots);
  Leaves leaves_to_keep(const std::vector<ExpressionId>& moved) const;
  std::vector<RuleId> rules_to_keep(const std::vector<ExpressionId>& moved);
  void move_nodes(const std::vector<ExpressionId>& moved, Leaves& leaves, const std::vector<RuleId>& rules);

  // Leaves.
  void note_bytes(const ByteSet& set);
  ExpressionId add_literal(const std::string& bytes, Budget& budget);
  ExpressionId add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton);
  ExpressionId automaton_state(std::uint32_t automaton, std::uint32_t state);
  std::optional<std::uint32_t> find_automaton(const CodePointAutomaton& automaton) const;
  std::uint32_t add_strings(const std::shared_ptr<const StringAutomaton>& automaton);
  ExpressionId strings_state(std::uint32_t automaton, std::uint32_t state);
  std::uint32_t add_search(const std::shared_ptr<const PhraseSearch>& search);
  ExpressionId until_state(std::uint32_t search, std::uint32_t position);
  ExpressionId derive_until(const ExpressionNode& node, std::uint8_t byte);
  std::uint32_t code_point_state(const KnownSearch& known, std::string_view bytes) const;
  std::uint32_t add_numbers(const std::shared_ptr<const NumberSet>& set);
  ExpressionId numbers_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId add_control_token(const std::string& name);
  ExpressionId one_token(std::uint32_t set, Phase phase);
  std::uint32_t index_of(const ByteSet& set);

  // Compounds.
  // What was added already of one pattern: its parts may be shared, and then a tree is a graph.
  using Added = std::unordered_map<const Expression*, ExpressionId>;
  ExpressionId add(const Expression& expression, Added& added, Budget& budget);
  ExpressionId add_union(const Expression::Union& choice, Added& added, Budget& budget);
  ExpressionId add_concatenation(const Expression::Concatenation& sequence, Added& added, Budget& budget);
  ExpressionId add_repetition(const Expression::Repetition& repetition, Added& added, Budget& budget);
  std::vector<ExpressionId> add_all(const std::vector<ExpressionPtr>& expressions, Added& added, Budget& budget);
  ExpressionId pair(ExpressionId head, ExpressionId tail);
  bool is_class(const ExpressionNode& n) const;
  bool is_spelled_class(const ExpressionNode& n) const;
  ByteSet first_bytes_of_until(const ExpressionNode& node) const;
  static ByteSet first_bytes_of(const CodePointAutomaton& automaton, std::uint32_t state);
  std::optional<Counted> class_run(ExpressionId head) const;
  ExpressionId rotated(ExpressionId expression);

  // Unions: unite.cpp.
  void push_alternative(ExpressionId expression, std::vector<ExpressionId>& out);
  void merge_byte_sets(std::vector<ExpressionId>& items);
  void merge_counts(std::vector<ExpressionId>& items);
  void merge_rules(std::vector<ExpressionId>& items);
  bool join_heads(std::vector<ExpressionId>& items);
  ExpressionId unite_tails(std::vector<ExpressionId>& tails);
  void drop_skipped(std::vector<ExpressionId>& items);
  void drop_guarded(std::vector<ExpressionId>& items);
  void absorb_epsilon(std::vector<ExpressionId>& items);
  void drop_dominated(std::vector<ExpressionId>& items);
  bool dominates(ExpressionId larger, ExpressionId smaller) const;

  // Intersection, complement, lookaround: boolean.cpp.
  ExpressionId wrap(Kind kind, ExpressionId body);
  ExpressionId guarded(ExpressionId expression, ExpressionId guard);
  std::span<const ExpressionId> conjuncts(const ExpressionId& id) const;

  // Counts of characters beside other conjuncts: characters.cpp.
  bool counts_characters(const ExpressionNode& n) const;
  bool is_mere_bound(ExpressionId expression, std::span<const ExpressionId> conjuncts);
  bool is_of_characters(ExpressionId expression);
  template <class Add>
  bool add_behind_escape(ExpressionId expression, ExpressionId escape, Add&& add);
  void drop_counts_of_characters(std::vector<ExpressionId>& conjuncts);
  struct Beside {
    ExpressionId other;
    Count most;
  };
  std::optional<Beside> beside_bounds(const ExpressionNode& n);
  // An expression without the bounds of the intersections that it begins with, one within the other, where each bound has
  // room for `rest` (the shortest text, or the worst rest) of what is beside it; and the least room that is left.
  struct Loosened {
    ExpressionId expression;
    Count room, most;  // `most`: the bound of the whole
  };
  std::optional<Loosened> without_bounds(ExpressionId expression, std::uint32_t ExpressionNode::* rest);
  // The bytes of some short text, where it is clear that there is one: bounds have room for the shortest without them, or
  // nothing but some texts is excluded.
  std::optional<std::uint32_t> length_without_search(ExpressionId expression);

  bool is_skippable(const ExpressionNode& n) const { return n.nullable && !n.open; }
  bool is_all_text(ExpressionId expression) const;
  ExpressionId condition(ExpressionId expression);
  ExpressionId empty_part(ExpressionId expression);
  ExpressionId repeat_conditional(ExpressionId body, ExpressionId when_empty, Count minimum, Count maximum, Budget& budget);

  // Derivatives: derivative.cpp.
  void derive_into(ExpressionId expression, ExpressionId tail, Derivation& run, std::vector<ExpressionId>& out);
  bool is_derived_whole(const ExpressionNode& node) const;
  void derive_union(ExpressionId expression, ExpressionId tail, const Derivation& run, std::vector<ExpressionId>& out);
  void derive_guarded(ExpressionId expression, ExpressionId tail, ExpressionId guard, const Derivation& run,
                      std::vector<ExpressionId>& out);
  ExpressionId derive_leaf(const ExpressionNode& leaf, ExpressionId expression, Symbol symbol);
  ExpressionId derive_closed(const ExpressionNode& n, const Derivation& run);
  ExpressionId advanced(ExpressionId waiting, Symbol symbol, Budget& budget);
  ExpressionId advanced_node(const ExpressionNode& n, Symbol symbol, Budget& budget);
  static bool is_closed(Kind kind) {
    return kind == Kind::Intersection || kind == Kind::Complement || kind == Kind::Scope || kind == Kind::Guarded;
  }
  ExpressionId at_edge(ExpressionId expression, Budget& budget);
  static constexpr std::size_t kLongestLead = 4;  // before what is still judged as if it were in front
  std::vector<Sketch> sketches(ExpressionId expression, std::size_t lead, Budget& budget);
  void distribute(ExpressionId begun, ExpressionId tail, std::vector<ExpressionId>& out);
  void begin_tokens(ExpressionId expression, ExpressionId tail, Budget& budget, std::vector<ExpressionId>& out);
  void begin_tokens_behind(ExpressionId head, ExpressionId expression, ExpressionId tail, Budget& budget,
                           std::vector<ExpressionId>& out);
  ExpressionId closed_at_edge(const ExpressionNode& n, Budget& budget);

  ExpressionId clip_repetition(const ExpressionNode& node);

  // Rules and terminals: rules.cpp.
  ExpressionId add_grammar(const std::shared_ptr<const RuleSet>& rules, Budget& budget);
  ExpressionId terminal_of(ExpressionId body, std::uint32_t spelled, std::uint32_t shortest);
  ExpressionId derive_terminal(const ExpressionNode& n, const Derivation& run);
  // The first step of a text that a search found: its byte, what is left then, and the length of all of it.
  struct TextStep {
    std::uint32_t length;  // or kNoText: there is none
    std::uint8_t byte;
    ExpressionId next;
  };
  static constexpr std::uint32_t kNoText = ~std::uint32_t{0};
  TextStep found_text(ExpressionId expression, Budget& budget);
  std::uint32_t length_of_some_text(ExpressionId expression, Budget& budget);
  template <class Concerns, class Key, class OfRule>
  ExpressionId with_rules(ExpressionId expression, std::unordered_map<std::uint64_t, ExpressionId>& known, Concerns&& concerns,
                          Key&& key, OfRule&& of_rule);
  ExpressionId committed(ExpressionId expression, std::uint32_t choice);
  bool append_structure(ExpressionId expression, std::string& key) const;

  static constexpr std::size_t kLeastSlots = 256;

  ByteSet single_bytes_;
  std::size_t reach_;
  std::uint32_t depth_limit_;
  std::vector<ExpressionNode> nodes_;  // the parts of each before it
  std::vector<ExpressionId> items_;
  std::vector<std::uint32_t> table_;  // open addressing: id + 1, or 0
  std::vector<ByteSet> sets_;
  std::unordered_map<ByteSet, std::uint32_t, ByteSetHash> set_index_;
  std::vector<KnownAutomaton> automata_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> automaton_index_;
  std::vector<KnownStrings> strings_;
  std::vector<KnownSearch> searches_;
  std::vector<KnownNumbers> numbers_;
  std::unordered_map<std::string, std::uint32_t> numbers_index_;  // by key
  std::vector<std::string> control_tokens_;
  Aliases aliases_;
  std::unordered_map<std::uint32_t, std::int64_t> positions_;  // of repetition bodies
  std::vector<std::shared_ptr<const RuleSet>> rule_sets_;
  std::vector<std::unique_ptr<Rules>> rules_;
  bool joins_rules_ = false, narrows_always_ = false;
  unsigned merging_ = 0;  // unions of tails within unions of tails
  // What is remembered by the ids of expressions and can be found again.  Compaction forgets all of it at once.
  struct Memos {
    std::unordered_map<std::uint32_t, ExpressionId> clipped;
    std::unordered_map<std::uint32_t, ByteSet> first_bytes;
    std::unordered_map<std::uint64_t, ExpressionId> union_derivatives;  // of large ones, by union and symbol
    std::unordered_map<std::uint64_t, ExpressionId> advanced;           // by expression and symbol
    std::unordered_map<std::uint64_t, ExpressionId> committed;          // by expression and choice
    std::unordered_map<std::uint64_t, ExpressionId> sketched;
    std::unordered_map<std::uint64_t, ExpressionId> terminal_derivatives;  // by body and byte
    std::unordered_map<std::uint32_t, TextStep> texts;                     // of bodies that were searched
    ExpressionId character = kEmpty;  // of a JSON string, where one is noted
    ExpressionId behind_backslash = kEmpty;
    ByteSet stand_for_themselves;
    std::unordered_map<std::uint64_t, ExpressionId> escape_steps;  // by what is left of an escape and byte
    std::unordered_map<std::uint32_t, bool> of_characters;
  };
  Memos memos_;
  ByteSet class_borders_;
  ByteSet told_apart_by_rules_;
  ByteSet pattern_bytes_;
};

}  // namespace tokamata

// The language of a pattern as a deterministic automaton, made the slow way.
//
// Problem.   Masks need to know what can still be accepted, after whatever comes: more than matching.hpp,
//            which looks at one whole text, can say.
// How.       Simulation of sets of Thompson states.  A class of code points is one edge: while its bytes are
//            being read, the bytes so far are kept and say which code points they can still become.  Of a
//            complement or an intersection, the sets of its bodies are kept.
//            At every place it is guessed of every lookahead whether it holds there.  A guess is a promise
//            about the rest of the scope: the set of states of its body goes along, and must accept
//            at the end, or must not.  A lookbehind is not guessed: its body reads from the beginning on.
//            A *world* is what one row of guesses makes of the text; a state is the set of all worlds that may
//            still prove true.  For every whole text exactly one of them does.
// Liveness.  All states are visited, and searched backwards from those that accept; where a pattern is
//            without complement, intersection and lookaround, the drawing of the automaton tells.
// Example.   a(b|é)  reads  61, then C3 with the partial code point "C3" kept, then A9: accepted.
//            a(?!b)[bc]  after a: in one world (?!b) was promised, in the other its opposite; b breaks the
//            first promise and keeps the second, but there the pattern had no way on.
// Source.    Guessing universal branches and checking them later is how an alternating automaton is run by a
//            nondeterministic one (Chandra, Kozen and Stockmeyer 1981).
// Cost.      Whatever it takes; `TooLarge` where that is too much.
#pragma once

#include <array>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "thompson.hpp"

namespace oracle {

// Deterministic states are numbers; `kDead` is the one from which nothing is accepted.
class Language {
 public:
  static constexpr int kDead = -1;

  explicit Language(const TreePtr& tree, std::size_t largest = 3000) : Language(tree, shared_of(tree), largest) {}

  int start() const { return start(true); }
  bool accepts(int state) const { return accepting_[static_cast<std::size_t>(state)]; }
  // One byte, and whether a token ends with it.
  int next(int state, unsigned char byte, bool at_edge = false) { return step(state, shared_->number(byte, at_edge)); }
  int next_control(int state, const std::string& name) {
    const auto place = std::ranges::find(shared_->controls, name);
    return place == shared_->controls.end() ? kDead : step(state, shared_->number(place - shared_->controls.begin()));
  }
  // One token.
  int read(int state, const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      state = next(state, static_cast<unsigned char>(bytes[i]), i + 1 == bytes.size());
    return state;
  }
  // Every byte is a token.
  bool matches(const std::string& bytes) {
    int state = start();
    for (const char byte : bytes) state = next(state, static_cast<unsigned char>(byte), true);
    return state != kDead && accepts(state);
  }
  std::size_t size() const { return states_.size(); }
  // Whether the drawing of the automaton tells what is dead.
  bool is_plain() const { return lives_.empty(); }
  bool sees_edges() const { return shared_->sees_edges; }

 private:
  static constexpr int kUnknown = -2;
  static constexpr std::uint64_t kMostWork = 3'000'000;  // elements; a second or so

  // What the whole pattern and its scopes have in common: the symbols.
  struct Shared {
    std::vector<std::string> controls;
    bool sees_edges = false;
    std::array<int, 256> class_of{};     // of a byte
    std::vector<unsigned char> classes;  // a byte of each

    // Bytes of each class, then the same before an edge, then the control tokens.
    int number(unsigned char byte, bool at_edge) const {
      return class_of[byte] + (at_edge && sees_edges ? static_cast<int>(classes.size()) : 0);
    }
    int number(std::ptrdiff_t control) const {
      return 2 * static_cast<int>(classes.size()) + static_cast<int>(control);
    }
    int count() const { return number(static_cast<std::ptrdiff_t>(controls.size())); }
  };
  // One symbol as the states of the automaton see it.
  struct Input {
    int number;
    int byte;     // or -1
    int control;  // or -1
    bool at_edge;
  };
  Input input(int number) const {
    const int classes = static_cast<int>(shared_->classes.size());
    if (number >= 2 * classes) return {number, -1, number - 2 * classes, true};
    return {number, shared_->classes[static_cast<std::size_t>(number % classes)], -1, number >= classes};
  }

  // A Thompson state, or inside an edge of it (then `edge` is its index).
  struct Element;
  using Set = std::set<Element>;
  struct Element {
    int state;
    int edge = -1;
    std::string partial = {};      // Class: the bytes so far
    std::vector<Set> bodies = {};  // Not, And
    int within = 0;                // Within: a state of that language
    friend bool operator<(const Element& a, const Element& b) {
      return std::tie(a.state, a.edge, a.partial, a.within, a.bodies) <
             std::tie(b.state, b.edge, b.partial, b.within, b.bodies);
    }
  };
  using Promises = std::set<std::pair<std::size_t, Set>>;  // by lookaround
  struct World {
    Set main;
    std::vector<Set> behind;  // by lookaround; empty for a lookahead
    Promises kept, broken;    // must accept at the end of the scope, must not
    friend bool operator<(const World& a, const World& b) {
      return std::tie(a.main, a.behind, a.kept, a.broken) < std::tie(b.main, b.behind, b.kept, b.broken);
    }
  };
  struct Place {
    bool is_edge;
    std::vector<bool> holds;  // by lookaround
  };

  Language(const TreePtr& tree, std::shared_ptr<const Shared> shared, std::size_t largest)
      : shared_(std::move(shared)), largest_(largest) {
    const auto scoped = [&](const TreePtr& body) {
      return std::shared_ptr<Language>(new Language(body, shared_, largest_));
    };
    automaton_ = ThompsonBuilder(4 * largest, scoped).build(tree);
    for (const bool at_edge : {false, true}) {
      std::set<World> worlds;
      imagine(nullptr, {}, at_edge, worlds);
      starts_[at_edge] = number(worlds);
    }
    using enum Tree::Op;
    if (holds(tree, {Intersection, Complement, LookAhead, LookBehind, Scope, OneToken})) find_dead_states();
  }

  static std::shared_ptr<const Shared> shared_of(const TreePtr& tree) {
    auto shared = std::make_shared<Shared>();
    std::set<std::string> names;
    add_control_names(tree, names);
    shared->controls.assign(names.begin(), names.end());
    shared->sees_edges = oracle::sees_edges(tree);
    // Where bytes may begin to behave otherwise than those before them.
    std::set<unsigned> borders = {0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1,
                                  0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5, 0xF8};
    add_borders(*tree, borders);
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (borders.contains(byte)) shared->classes.push_back(static_cast<unsigned char>(byte));
      shared->class_of[byte] = static_cast<int>(shared->classes.size()) - 1;
    }
    return shared;
  }
  static void add_borders(const Tree& tree, std::set<unsigned>& borders) {
    std::string alone = tree.bytes;  // bytes that may behave like no other
    for (const std::string& one : tree.strings) alone += one;
    for (const auto& [low, high] : tree.ranges) {
      if (tree.op == Tree::Op::Class) {
        alone += encoded(low) + encoded(high);
      } else {
        borders.insert(low);
        borders.insert(high + 1);
      }
    }
    for (const char byte : alone) {
      borders.insert(static_cast<unsigned char>(byte));
      borders.insert(static_cast<unsigned char>(byte) + 1u);
    }
    for (const TreePtr& item : tree.items) add_borders(*item, borders);
  }

  const Thompson::State& drawn(int state) const { return automaton_.states[static_cast<std::size_t>(state)]; }
  const Thompson::Edge& edge(const Element& element) const {
    return drawn(element.state).edges[static_cast<std::size_t>(element.edge)];
  }
  static bool accepts(const Set& set, const Thompson::Part& part) { return set.contains(Element{part.accept}); }
  // Whether the edge may end where the element stands.
  bool may_end(const Element& element) const {
    const Thompson::Edge& e = edge(element);
    switch (e.kind) {
      case Thompson::Edge::Kind::Not: return !accepts(element.bodies[0], e.bodies[0]);
      case Thompson::Edge::Kind::And:
        for (std::size_t i = 0; i < e.bodies.size(); ++i)
          if (!accepts(element.bodies[i], e.bodies[i])) return false;
        return true;
      case Thompson::Edge::Kind::Within: return e.scope->accepts(element.within);
      default: return false;
    }
  }

  // Adds the state and all that is reached from it without reading.
  void enter(int first, const Place& place, Set& set) const {
    std::vector<int> open{first};
    while (!open.empty()) {
      const int state = open.back();
      open.pop_back();
      if (++work_ > kMostWork) throw TooLarge();
      if (!drawn(state).lives || !set.insert(Element{state}).second) continue;
      open.insert(open.end(), drawn(state).epsilon.begin(), drawn(state).epsilon.end());
      for (std::size_t i = 0; i < drawn(state).edges.size(); ++i)
        if (begin_edge(state, static_cast<int>(i), place, set)) open.push_back(drawn(state).edges[i].target);
    }
  }
  // Begins an edge that is more than one symbol, at this place; true where it may end here too.
  bool begin_edge(int state, int index, const Place& place, Set& set) const {
    Element element{state, index};
    const Thompson::Edge& e = edge(element);
    switch (e.kind) {
      case Thompson::Edge::Kind::Test: return place.holds[e.lookaround];
      case Thompson::Edge::Kind::Token:
        if (place.is_edge) set.insert(element);
        return false;
      case Thompson::Edge::Kind::Not:
      case Thompson::Edge::Kind::And:
        for (const Thompson::Part& body : e.bodies) enter(body.start, place, element.bodies.emplace_back());
        break;
      case Thompson::Edge::Kind::Within:
        element.within = e.scope->start(place.is_edge);
        if (element.within == kDead) return false;
        break;
      default: return false;
    }
    set.insert(element);
    return may_end(element);
  }

  // What becomes of a set after one symbol, which leads to `place`.
  Set after(const Set& set, const Input& read, const Place& place) const {
    Set reached;
    for (const Element& element : set) {
      if (element.edge >= 0) {
        go_on(element, read, place, reached);
        continue;
      }
      const auto& edges = drawn(element.state).edges;
      for (std::size_t i = 0; i < edges.size(); ++i)
        if (edges[i].begins_by_reading()) go_on({element.state, static_cast<int>(i)}, read, place, reached);
    }
    return reached;
  }
  void go_on(Element element, const Input& read, const Place& place, Set& reached) const {
    if (++work_ > kMostWork) throw TooLarge();
    const Thompson::Edge& e = edge(element);
    if (!drawn(e.target).lives) return;
    switch (e.kind) {
      case Thompson::Edge::Kind::Byte:
        if (read.byte == e.byte) enter(e.target, place, reached);
        return;
      case Thompson::Edge::Kind::Anything: enter(e.target, place, reached); return;
      case Thompson::Edge::Kind::Control:
        if (read.control >= 0 && shared_->controls[static_cast<std::size_t>(read.control)] == e.control)
          enter(e.target, place, reached);
        return;
      case Thompson::Edge::Kind::Class: {
        if (read.byte < 0) return;
        element.partial.push_back(static_cast<char>(read.byte));
        const std::optional<Range> possible = code_points_with_prefix(element.partial);
        if (!possible || !meets(e.ranges, *possible)) return;
        if (is_whole_code_point(element.partial)) enter(e.target, place, reached);
        else reached.insert(element);
        return;
      }
      case Thompson::Edge::Kind::Token: {
        const auto byte = static_cast<std::uint32_t>(read.byte);
        if (read.byte < 0 ||
            std::ranges::none_of(e.ranges, [&](const Range& r) { return r.first <= byte && byte <= r.second; }))
          return;
        if (place.is_edge) enter(e.target, place, reached);
        else reached.insert(element);
        return;
      }
      case Thompson::Edge::Kind::Test: return;
      case Thompson::Edge::Kind::Not:
      case Thompson::Edge::Kind::And:
        for (Set& body : element.bodies) {
          body = after(body, read, place);
          if (body.empty() && e.kind == Thompson::Edge::Kind::And) return;
        }
        break;
      case Thompson::Edge::Kind::Within:
        element.within = e.scope->step(element.within, read.number);
        if (element.within == kDead) return;
        break;
    }
    const bool ends = may_end(element);
    reached.insert(std::move(element));
    if (ends) enter(e.target, place, reached);
  }

  // Adds the worlds that come of one, or of none at the beginning of the scope, after a symbol.
  void imagine(const World* before, const Input& read, bool is_edge, std::set<World>& worlds) const {
    const auto& looks = automaton_.lookarounds;
    const auto count = static_cast<unsigned>(std::ranges::count(looks, true, &Thompson::Lookaround::ahead));
    if (count > 8) throw TooLarge();
    for (unsigned guesses = 0; guesses < (1u << count); ++guesses) {
      World world;
      Place place{is_edge, std::vector<bool>(looks.size(), false)};
      unsigned left = guesses;
      bool possible = true;
      // Those within come before those around them, so that what an automaton tests is known.
      for (std::size_t i = 0; i < looks.size(); ++i) {
        Set& behind = world.behind.emplace_back();
        if (looks[i].ahead) {
          place.holds[i] = left & 1;
          left >>= 1;
          Set begun;
          enter(looks[i].body.start, place, begun);
          possible = promise(world, i, place.holds[i], std::move(begun)) && possible;
        } else {
          if (before) behind = after(before->behind[i], read, place);
          else enter(looks[i].body.start, place, behind);
          place.holds[i] = accepts(behind, looks[i].body);
        }
      }
      if (before) {
        for (const auto& [i, set] : before->kept)
          possible = promise(world, i, true, after(set, read, place)) && possible;
        for (const auto& [i, set] : before->broken) promise(world, i, false, after(set, read, place));
        world.main = after(before->main, read, place);
      } else {
        enter(automaton_.whole.start, place, world.main);
      }
      if (possible && !world.main.empty()) worlds.insert(std::move(world));
    }
  }
  // False where it cannot be kept any more.
  static bool promise(World& world, std::size_t lookaround, bool holds, Set set) {
    if (set.empty()) return !holds;
    (holds ? world.kept : world.broken).emplace(lookaround, std::move(set));
    return true;
  }
  bool is_true(const World& world) const {
    const auto accepted = [&](const auto& promise) {
      return accepts(promise.second, automaton_.lookarounds[promise.first].body);
    };
    return accepts(world.main, automaton_.whole) && std::ranges::all_of(world.kept, accepted) &&
           std::ranges::none_of(world.broken, accepted);
  }

  int start(bool at_edge) const { return alive(starts_[at_edge]); }
  int alive(int state) const {
    return state == kDead || (!lives_.empty() && !lives_[static_cast<std::size_t>(state)]) ? kDead : state;
  }

  int step(int state, int number) { return state == kDead ? kDead : alive(go(state, number)); }
  int go(int state, int symbol) {
    int& known = rows_[static_cast<std::size_t>(state)][static_cast<std::size_t>(symbol)];
    if (known != kUnknown) return known;
    const Input read = input(symbol);
    std::set<World> worlds;
    for (const World& world : states_[static_cast<std::size_t>(state)]) imagine(&world, read, read.at_edge, worlds);
    return known = number(worlds);
  }
  int number(const std::set<World>& worlds) {
    if (worlds.empty()) return kDead;
    const auto [place, is_new] = index_.try_emplace(worlds, static_cast<int>(states_.size()));
    if (is_new) {
      if (states_.size() >= largest_ || worlds.size() > 200) throw TooLarge();
      states_.push_back(worlds);
      accepting_.push_back(std::ranges::any_of(worlds, [&](const World& world) { return is_true(world); }));
      rows_.emplace_back(static_cast<std::size_t>(shared_->count()), kUnknown);
    }
    return place->second;
  }

  void find_dead_states() {
    std::vector<std::vector<int>> into;
    for (int state = 0; state < static_cast<int>(states_.size()); ++state)
      for (int symbol = 0; symbol < shared_->count(); ++symbol) {
        if (!shared_->sees_edges && input(symbol).at_edge && input(symbol).byte >= 0) continue;
        const int target = go(state, symbol);
        into.resize(states_.size());
        if (target != kDead) into[static_cast<std::size_t>(target)].push_back(state);
      }
    into.resize(states_.size());
    lives_.assign(states_.size(), false);
    std::vector<int> open;
    for (int state = 0; state < static_cast<int>(states_.size()); ++state)
      if (accepts(state)) open.push_back(state);
    while (!open.empty()) {
      const auto state = static_cast<std::size_t>(open.back());
      open.pop_back();
      if (lives_[state]) continue;
      lives_[state] = true;
      open.insert(open.end(), into[state].begin(), into[state].end());
    }
  }

  std::shared_ptr<const Shared> shared_;
  std::size_t largest_;
  Thompson automaton_;
  std::array<int, 2> starts_{kDead, kDead};  // in the middle of a token, at an edge
  std::deque<std::set<World>> states_;
  std::map<std::set<World>, int> index_;
  std::vector<bool> accepting_;
  std::vector<bool> lives_;  // none where all do
  mutable std::uint64_t work_ = 0;
  std::deque<std::vector<int>> rows_;  // they stay where they are while more are found
};

}  // namespace oracle

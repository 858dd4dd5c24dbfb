#include "canonical/edge_search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "canonical/edge_places.hpp"
#include "canonical/edge_prefix.hpp"
#include "canonical/edge_relaxation.hpp"
#include "common/best_first.hpp"

namespace tokamata {

// Not without a name: the class below has members of its types.
namespace edge_search {

using State = EdgeAutomaton::State;

constexpr std::uint32_t kNoNode = EdgePrefix::kNoNode;

class Search {
 public:
  // `follows_texts`: whether a text is enough where edges do not matter.
  Search(const EdgeReading& reading, const EdgeAutomaton& automaton, const EdgePrefix& prefix, bool follows_texts,
         std::size_t most_nodes, Budget& budget)
      : reading_(reading),
        tokenization_(reading.tokenization),
        rules_(reading.tokenization.rules()),
        pieces_(reading.tokenization.pieces()),
        automaton_(automaton),
        prefix_(prefix),
        follows_texts_(follows_texts),
        most_nodes_(most_nodes),
        budget_(budget) {
    for (unsigned byte = 0; byte < 256; ++byte) bytes_[byte] = static_cast<char>(byte);
  }

  // Whether there is such a text.
  bool run() {
    begin();
    while (!search())
      if (!texts_allow_it() || !begin_deeper()) return false;
    return true;
  }
  std::string text() const {
    std::vector<std::string_view> parts;
    std::uint32_t at = end_;
    for (; nodes_[at].from != kNoNode; at = nodes_[at].from) parts.push_back(nodes_[at].by);
    std::string text = nodes_[at].prefix == kNoNode ? std::string() : prefix_.text_of(nodes_[at].prefix);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
    return text;
  }
  // Those that were followed.
  std::vector<std::uint32_t> tokens() const {
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t at = end_; nodes_[at].from != kNoNode; at = nodes_[at].from) {
      const Node& node = nodes_[at];
      if (node.kind == Kind::Inside || (node.kind == Kind::Border && !node.by.empty()))
        tokens.push_back(node.last.value);
    }
    std::ranges::reverse(tokens);
    return tokens;
  }

 private:
  enum class Kind : std::uint8_t {
    Text,    // inside a pre-token whose tokens do not matter
    Border,  // a pre-token begins
    Inside,  // a token has ended, and its pre-token goes on or ends
    End,     // the text ends
  };
  struct Node {
    Kind kind;
    State state;
    TextState text;
    Pieces::State pieces;
    TokenId last;
    std::uint32_t cost;
    std::uint32_t from;  // kNoNode: the prefix
    std::string_view by;
    std::uint32_t prefix;  // where `from` is none: a node of it, kNoNode for the start
  };
  struct Key {
    Kind kind;
    TextPlace place;
    Pieces::State pieces;
    TokenId last;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(
          mix(TextPlaceHash()(key.place) ^ (std::uint64_t{key.last.value} << 8 | static_cast<std::uint8_t>(key.kind)),
              key.pieces.value + 1u));
    }
  };
  // Of equal estimates, what is nearer to the end comes first.
  struct Arrival {
    std::uint32_t estimate, rest, number;
    friend auto operator<=>(const Arrival&, const Arrival&) = default;
  };
  using Leaving = EdgeDescents::Descent;  // the state is that after its edge

  Key key_of(const Node& node) const {
    const bool is_inside = node.kind == Kind::Inside;
    return {node.kind, place_of(node.state, node.text), is_inside ? node.pieces : Pieces::kSettled,
            is_inside ? node.last : TokenId{}};
  }
  void offer(const Node& node) {
    budget_.step();
    const std::uint32_t rest = node.kind == Kind::End ? 0 : automaton_.rest(node.state);
    if (rest == EdgeAutomaton::kNever) return;
    if (node.kind != Kind::End && met_.covers(key_of(node), Touch(node.text), node.cost)) return;
    if (nodes_.size() >= most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
    nodes_.push_back(node);
    open_.add({node.cost + rest, rest, static_cast<std::uint32_t>(nodes_.size() - 1)});
  }
  // A node that is on the way alone.
  std::uint32_t note(const Node& node) {
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::uint32_t note_prefix(std::uint32_t number) {
    const EdgePrefix::Node& node = prefix_.nodes()[number];
    return note({Kind::Text, node.state, node.text, Pieces::kSettled, {}, node.cost, kNoNode, {}, number});
  }

  // ---- out of the prefix --------------------------------------------------------------------------

  using Borders = std::vector<std::uint32_t>;
  using BegunPlaces = std::vector<const EdgePrefix::BegunAt*>;
  // A token that leaves the prefix, first of all tokens or later: behind borders of pre-tokens, or behind a token that
  // begins one.
  struct Exit {
    State from;
    bool is_first;
    Leaving leaving;
    const Borders* borders;
    const BegunPlaces* begun;
  };
  // Where a token that leaves the prefix may stand: after borders of pre-tokens, or after the first token of one; those
  // from a number on.
  struct Way {
    std::uint32_t estimate, exit;
    bool is_inside;
    std::uint32_t number;
    friend auto operator<=>(const Way&, const Way&) = default;
  };
  bool is_start(const Node& node) const {
    return node.kind == Kind::Border && node.from == kNoNode && node.prefix == kNoNode;
  }

  void begin() {
    for (const State start : automaton_.starts())
      for (const State state : automaton_.after_edge(start))
        if (!automaton_.is_prefix(state))
          for (const std::uint16_t guess : rules_.starts_after(reading_.before))
            offer({Kind::Border, state, {.guess = guess}, Pieces::kSettled, {}, 0, kNoNode, {}, kNoNode});
    sort_prefix();
    for (const auto& [state, borders] : prefix_.borders()) {
      exit_states_.insert(state);
      if (reading_.hides_space && prefix_.nodes()[borders.front()].is_start()) add_exits(state, true);
    }
    for (const auto& [side, places] : prefix_.begun_by_side()) exit_states_.insert(side.first);
    for (const State state : exit_states_) add_exits(state, false);
  }

  // The nodes of the prefix are sorted by cost; where what is left differs, by their estimates.
  void sort_prefix() {
    std::set<std::uint32_t> rests;
    for (State state = 0; state < automaton_.count(); ++state)
      if (automaton_.is_prefix(state)) rests.insert(automaton_.rest(state));
    if (rests.size() < 2) return;
    for (std::uint32_t number = 0; number < prefix_.nodes().size(); ++number) order_.push_back(number);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t number) { return estimate_of(prefix_.nodes()[number]); });
  }
  std::uint32_t nth_of_prefix(std::size_t n) const {
    return order_.empty() ? static_cast<std::uint32_t>(n) : order_[n];
  }
  std::uint32_t estimate_of(const EdgePrefix::Node& node) const {
    const std::uint32_t rest = automaton_.rest(node.state);
    return rest == EdgeAutomaton::kNever ? kNoNode : node.cost + rest;
  }

  static bool begins_within(std::string_view bytes) { return (bytes[0] & 0xC0) == 0x80; }

  template <class Map>
  static const typename Map::mapped_type* found_in(const Map& map, const typename Map::key_type& key) {
    const auto known = map.find(key);
    return known == map.end() ? nullptr : &known->second;
  }

  void add_exits(State from, bool is_first) {
    const Borders* borders = found_in(prefix_.borders(), from);
    const BegunPlaces* between = is_first ? nullptr : found_in(prefix_.begun_by_side(), {from, false});
    const BegunPlaces* within = is_first ? nullptr : found_in(prefix_.begun_by_side(), {from, true});
    for (const auto& [token, state] : reading_.descents.leaving(automaton_, from, is_first, budget_)) {
      const BegunPlaces* begun = begins_within(tokenization_.vocabulary().bytes({token})) ? within : between;
      const bool may_follow = has_bit(pieces_.following(), token);
      for (const State after : automaton_.after_edge(state)) {
        budget_.step();
        if (automaton_.rest(after) == EdgeAutomaton::kNever) continue;
        const auto number = static_cast<std::uint32_t>(exits_.size());
        exits_.push_back({from, is_first, {token, after}, borders, may_follow ? begun : nullptr});
        if (exits_.back().borders) add_way(number, false, 0);
        if (exits_.back().begun) add_way(number, true, 0);
      }
    }
  }

  void add_way(std::uint32_t exit, bool is_inside, std::uint32_t number) {
    const Exit& own = exits_[exit];
    if (number == (is_inside ? own.begun->size() : own.borders->size())) return;
    const std::uint32_t before = is_inside ? (*own.begun)[number]->least : prefix_.nodes()[(*own.borders)[number]].cost;
    const std::uint32_t rest = length_of(own.leaving.token) - own.is_first + automaton_.rest(own.leaving.state);
    ways_.add({before + rest, exit, is_inside, number});
  }

  // Whether anything is left that leaves the prefix with a text that costs no more than what is met next.
  bool leave_prefix() {
    const std::uint32_t most = open_.empty() ? kNoNode : open_.first().estimate;
    if (next_node_ < prefix_.nodes().size() && estimate_of(prefix_.nodes()[nth_of_prefix(next_node_)]) <= most) {
      leave_as_text(nth_of_prefix(next_node_++));
      return true;
    }
    if (ways_.empty() || ways_.first().estimate > most) return false;
    const Way way = ways_.take();
    const Exit exit = exits_[way.exit];
    if (way.is_inside) {
      leave_from_inside(*(*exit.begun)[way.number], exit.leaving);
    } else {
      leave_by_token(exit, (*exit.borders)[way.number]);
    }
    add_way(way.exit, way.is_inside, way.number + 1);
    return true;
  }

  void leave_as_text(std::uint32_t number) {
    const EdgePrefix::Node& node = prefix_.nodes()[number];
    std::uint32_t here = kNoNode;
    const auto from = [&] { return here == kNoNode ? here = note_prefix(number) : here; };
    const bool is_hidden = reading_.hides_space && node.is_start();  // the node after the hidden space has the bytes
    for (const auto& [byte, target] : text_exits(node.state)) {
      TextState after = node.text;
      if (!is_hidden && rules_.read(after, byte))
        offer({Kind::Text, target, after, Pieces::kSettled, {}, node.cost + 1, from(), piece(byte), kNoNode});
    }
    if (node.text.place != CodePoints::kBetween || !rules_.may_end(node.text)) return;
    if (!follows_added_.is_new(node.state, node.text.open, is_hidden)) return;
    for (const auto& [added, state] : added_after(node.state, is_hidden))
      add_added(added, state, node.text.open, is_hidden, node.cost, from);
  }

  void leave_by_token(const Exit& exit, std::uint32_t number) {
    const auto& [token, state] = exit.leaving;
    const std::optional<Pieces::State> pieces = pieces_.begin({token});
    const EdgePrefix::Node& node = prefix_.nodes()[number];
    if (!pieces || (reading_.hides_space && node.is_start() != exit.is_first)) return;
    TextState after = node.text;
    if ((node.is_start() && tokenization_.is_never_first({token})) || !tokenization_.read(after, {token})) return;
    const std::uint32_t cost = node.cost + length_of(token) - exit.is_first;
    if (offers_.add({Kind::Inside, place_of(state, after), *pieces, {token}}, Touch(after), cost))
      offer(inside(state, after, *pieces, token, node.cost, note_prefix(number), exit.is_first));
  }

  // What a token leaves where nothing before it binds it; nothing where it cannot be read there.
  std::optional<TextState> freely_read(const TextPlace& place, TokenId token) const {
    TextState text{.guess = place.guess, .place = place.place};
    return tokenization_.read(text, token) ? std::optional(text) : std::nullopt;
  }

  // The first token of the pre-token that lets this one follow; others too, if it binds what follows.
  void leave_from_inside(const EdgePrefix::BegunAt& begun, const Leaving& leaving) {
    const TokenId token{leaving.token};
    const std::optional<TextState> freely = freely_read(begun.place, token);
    if (!freely) return;
    const Key best{Kind::Inside, place_of(leaving.state, *freely), Pieces::kSettled, token};
    const Touch touch(*freely);
    std::size_t tries = 0;
    std::shared_ptr<const Words> before;
    prefix_.each_begun(begun, [&](const EdgePrefix::Begun& first) {
      if (offers_.covers(best, touch, first.cost + length_of(token.value))) return true;
      if (++tries > kTries) {
        budget_.step();
        if (!before) before = tokenization_.before(token);
        if (has_bit(pieces_.following(), first.token) && has_bit(pieces_.settled(true), first.token) &&
            !has_bit(*before, first.token))
          return false;
      }
      follow_in_prefix(first, {}, leaving);
      return false;
    });
  }

  // What the first token of a pre-token leaves if it may go on; nothing if it cannot be there.
  struct Began {
    TextState text;
    Pieces::State pieces;
  };
  std::optional<Began> began(const EdgePrefix::Begun& first) const {
    const EdgePrefix::Node& border = prefix_.nodes()[first.border];
    const std::optional<Pieces::State> pieces = pieces_.begin({first.token});
    TextState text = border.text;
    if ((border.is_start() && tokenization_.is_never_first({first.token})) || !pieces || !pieces_.may_go_on(*pieces) ||
        !tokenization_.read(text, {first.token}))
      return std::nullopt;
    return Began{text, *pieces};
  }

  // Offers a token that leaves the prefix after others of its pre-token, if they can follow each other.
  void follow_in_prefix(const EdgePrefix::Begun& first, std::span<const std::uint32_t> between,
                        const Leaving& leaving) {
    const EdgePrefix::Node& border = prefix_.nodes()[first.border];
    const std::optional<Began> start = began(first);
    if (!start) return;
    std::optional<Pieces::State> pieces = start->pieces;
    TextState text = start->text;
    TokenId last{first.token};
    for (const std::uint32_t token : between) {
      pieces = pieces_.follow(*pieces, last, {token});
      if (!pieces || !tokenization_.read(text, {token})) return;
      last = {token};
    }
    pieces = pieces_.follow(*pieces, last, {leaving.token});
    if (!pieces || !tokenization_.read(text, {leaving.token})) return;
    std::uint32_t cost = first.cost + length_of(leaving.token);
    for (const std::uint32_t token : between) cost += length_of(token);
    if (!offers_.add({Kind::Inside, place_of(leaving.state, text), *pieces, {leaving.token}}, Touch(text), cost))
      return;
    std::uint32_t here = note_prefix(first.border);
    cost = border.cost;
    const auto go = [&](std::uint32_t token, bool is_hidden) {
      const std::string_view bytes = tokenization_.vocabulary().bytes({token}).substr(is_hidden ? 1 : 0);
      cost += static_cast<std::uint32_t>(bytes.size());
      here = note({Kind::Text, border.state, text, Pieces::kSettled, {}, cost, here, bytes, kNoNode});
    };
    go(first.token, reading_.hides_space && border.is_start());
    for (const std::uint32_t token : between) go(token, false);
    offer(inside(leaving.state, text, *pieces, leaving.token, cost, here, false));
  }

  std::uint32_t length_of(std::uint32_t token) const {
    return static_cast<std::uint32_t>(tokenization_.vocabulary().bytes({token}).size());
  }

  // Texts that leave the prefix where edges do not matter, by a byte.
  const std::vector<std::pair<std::uint8_t, State>>& text_exits(State state) {
    const auto [known, is_new] = text_exits_.try_emplace(state);
    if (is_new)
      for (unsigned byte = 0; byte < 256; ++byte)
        for (const State target : automaton_.after_byte(state, static_cast<std::uint8_t>(byte)))
          if (!automaton_.is_prefix(target) && automaton_.ignores_edges(target))
            known->second.emplace_back(static_cast<std::uint8_t>(byte), target);
    return known->second;
  }

  // ---- after it -----------------------------------------------------------------------------------

  bool texts_allow_it() {
    if (!texts_allow_it_) texts_allow_it_ = !follows_texts_ || may_exist(reading_, automaton_, prefix_, budget_);
    return *texts_allow_it_;
  }

  bool search() {
    for (std::size_t steps = 0;; ++steps) {
      if (steps == kPatience && !texts_allow_it()) return false;
      if (leave_prefix()) continue;
      if (open_.empty()) {
        if (next_late_ == late_.size()) return false;
        follow_tokens(late_[next_late_++]);
        continue;
      }
      const std::uint32_t number = open_.take().number;
      const Node node = nodes_[number];  // a copy: the list grows
      if (node.kind == Kind::End) {
        end_ = number;
        return true;
      }
      if (!met_.add(key_of(node), Touch(node.text), node.cost)) continue;
      switch (node.kind) {
        case Kind::Text: open_text(number, node); break;
        case Kind::Border: open_border(number, node); break;
        case Kind::Inside: open_inside(number, node); break;
        case Kind::End: break;
      }
    }
  }

  void open_text(std::uint32_t number, const Node& node) {
    if (node.text.place == CodePoints::kBetween) {
      if (end_text(number, node)) return;
      end_pre_token(number, node);
    }
    read_text(number, node);
  }

  void open_border(std::uint32_t number, const Node& node) {
    if (end_text(number, node)) return;
    if (automaton_.ignores_edges(node.state)) read_text(number, node);
    if (!automaton_.is_wide(node.state)) follow_tokens(number);
  }

  void open_inside(std::uint32_t number, const Node& node) {
    if (node.text.place == CodePoints::kBetween && pieces_.may_finish(node.pieces)) {
      if (end_text(number, node)) return;
      end_pre_token(number, node);
    }
    if (!pieces_.may_go_on(node.pieces)) return;
    if (automaton_.is_wide(node.state)) late_.push_back(number);
    else follow_tokens(number);
  }

  void read_text(std::uint32_t number, const Node& node) {
    if (!follows_texts_) return;
    const bool is_hidden = reading_.hides_space && is_start(node);
    if (TextState after = node.text; is_hidden && rules_.read(after, ' '))
      offer({Kind::Text, node.state, after, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
    for (unsigned byte = 0; byte < 256 && !is_hidden; ++byte)
      for (const State target : automaton_.after_byte(node.state, static_cast<std::uint8_t>(byte))) {
        TextState after = node.text;
        if (!automaton_.ignores_edges(target) || !rules_.read(after, static_cast<std::uint8_t>(byte))) continue;
        offer({Kind::Text,
               target,
               after,
               Pieces::kSettled,
               {},
               node.cost + 1,
               number,
               piece(static_cast<std::uint8_t>(byte)),
               kNoNode});
      }
  }

  void end_pre_token(std::uint32_t number, const Node& node) {
    for (const std::uint16_t guess : rules_.ends(node.text.guess)) {
      TextState after = node.text;
      after.guess = guess;
      offer({Kind::Border, node.state, after, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
    }
  }

  // Ends the text here, or goes on with added tokens.  Returns whether it is accepted, so that no longer one is searched.
  bool end_text(std::uint32_t number, const Node& node) {
    if (!rules_.may_end(node.text)) return false;
    if (automaton_.is_accepting(node.state)) {
      offer({Kind::End, node.state, node.text, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
      return true;
    }
    const bool is_hidden = reading_.hides_space && is_start(node);
    if (!follows_added_.is_new(node.state, node.text.open, is_hidden)) return false;
    for (const auto& [added, state] : added_after(node.state, is_hidden))
      add_added(added, state, node.text.open, is_hidden, node.cost, [&] { return number; });
    return false;
  }

  // The added tokens that leave the prefix, or stand after it, and the states after them.
  const std::vector<Leaving>& added_after(State state, bool is_hidden) {
    const auto [known, is_new] = added_after_.try_emplace({state, is_hidden});
    if (is_new)
      for (const auto& [added, before] : reading_.descents.leaving_added(automaton_, state, is_hidden, budget_))
        for (const State after : automaton_.after_edge(before)) known->second.push_back({added, after});
    return known->second;
  }

  template <class From>
  void add_added(std::uint32_t added, State state, AddedTokens::Open open, bool is_hidden, std::uint32_t cost,
                 From&& from) {
    const AddedTokens::Open behind = reading_.descents.open_after(open, added);
    if (behind == AddedTokens::kDead) return;
    const std::string_view content = reading_.descents.added_text(added, is_hidden);
    for (const std::uint16_t guess : tokenization_.starts_after(added))
      offer({Kind::Border,
             state,
             {.guess = guess, .open = behind},
             Pieces::kSettled,
             TokenId{tokenization_.added()[added]},
             cost + static_cast<std::uint32_t>(content.size()),
             from(),
             content,
             kNoNode});
  }

  void follow_tokens(std::uint32_t number) {
    const Node node = nodes_[number];
    const bool is_border = node.kind == Kind::Border, is_hidden = reading_.hides_space && is_start(node);
    const std::optional<NodeId> top = reading_.descents.top(is_hidden);
    if (!top) return;
    walk_tokens(budget_, tokenization_.vocabulary().trie(), *top, automaton_, node.state, kSkipNothing,
                [&](std::uint32_t token, State state, bool) {
                  budget_.step();
                  if (!has_bit(tokenization_.possible(), token)) return;
                  const std::optional<Pieces::State> pieces =
                      is_border ? pieces_.begin({token}) : pieces_.follow(node.pieces, node.last, {token});
                  TextState after = node.text;
                  if (!pieces || (is_start(node) && tokenization_.is_never_first({token})) ||
                      !tokenization_.read(after, {token}))
                    return;
                  for (const State target : automaton_.after_edge(state))
                    offer(inside(target, after, *pieces, token, node.cost, number, is_hidden));
                });
  }

  Node inside(State state, const TextState& text, Pieces::State pieces, std::uint32_t token, std::uint32_t cost,
              std::uint32_t from, bool is_hidden) const {
    const std::string_view bytes = tokenization_.vocabulary().bytes({token}).substr(is_hidden ? 1 : 0);
    return {Kind::Inside, state, text,   pieces, {token}, cost + static_cast<std::uint32_t>(bytes.size()),
            from,         bytes, kNoNode};
  }

  // ---- deeper in the prefix -----------------------------------------------------------------------

  // An exit whose token no first token of a pre-token lets follow; a later one may.
  struct Deep {
    TextPlace place;  // before the token
    Leaving leaving;
    TextState after;  // where nothing before binds it
  };

  // Returns whether it offered a node.  What may stand before such a token takes long to find.  So it is searched only
  // for one after which a text ends where nothing before binds it, without which none ends.
  bool begin_deeper() {
    if (!deep_) find_deep();
    while (!deep_->empty()) {
      const std::optional<std::size_t> number = first_that_ends();
      if (!number) return false;
      const Deep deep = (*deep_)[*number];
      deep_->erase(deep_->begin() + static_cast<std::ptrdiff_t>(*number));
      const std::size_t before = nodes_.size();
      search_before(deep);
      if (nodes_.size() > before) return true;
    }
    return false;
  }

  void find_deep() {
    deep_.emplace();
    find_inner_places();
    std::set<State> states;  // those that no first token of a pre-token leads to
    for (const std::set<TextPlace>* places : {&between_, &within_})
      for (const TextPlace& place : *places)
        if (!exit_states_.contains(place.state)) states.insert(place.state);
    for (const State state : states) add_exits(state, false);
    for (const Exit& exit : exits_) {
      const TokenId token{exit.leaving.token};
      if (exit.is_first || !has_bit(pieces_.following(), token.value)) continue;
      const bool continues = begins_within(tokenization_.vocabulary().bytes(token));
      const std::set<TextPlace>& places = continues ? within_ : between_;
      for (auto place = places.lower_bound({exit.from, 0, 0}); place != places.end() && place->state == exit.from;
           ++place) {
        budget_.step();
        const std::optional<TextState> freely = freely_read(*place, token);
        if (!freely) continue;
        const Key best{Kind::Inside, place_of(exit.leaving.state, *freely), Pieces::kSettled, token};
        if (!offers_.covers(best, Touch(*freely), kNoNode)) deep_->push_back({*place, exit.leaving, *freely});
      }
    }
  }

  // The first of them after which a text ends, if it stands somewhere.
  std::optional<std::size_t> first_that_ends() {
    Search ahead(reading_, automaton_, prefix_, follows_texts_, most_nodes_, budget_);
    std::vector<std::size_t> numbers;  // by node
    for (std::size_t number = 0; number < deep_->size(); ++number) {
      const auto& [place, leaving, after] = (*deep_)[number];
      ahead.offer({Kind::Inside,
                   leaving.state,
                   after,
                   Pieces::kSettled,
                   {leaving.token},
                   length_of(leaving.token),
                   kNoNode,
                   {},
                   kNoNode});
      numbers.resize(ahead.nodes_.size(), number);
    }
    ahead.next_node_ = prefix_.nodes().size();
    ahead.texts_allow_it_ = true;
    if (!ahead.search()) return std::nullopt;
    std::uint32_t at = ahead.end_;
    while (ahead.nodes_[at].from != kNoNode) at = ahead.nodes_[at].from;
    return numbers[at];
  }

  // Where tokens may end inside pre-tokens of the prefix: where texts do, and byte tokens.
  void find_inner_places() {
    std::vector<TextPlace> open;  // from where byte tokens may follow
    for (const EdgePrefix::Node& node : prefix_.nodes()) {
      const TextPlace place = place_of(node.state, node.text);
      const bool is_between = place.place == CodePoints::kBetween;
      if (is_between) open.push_back(place);
      if (!node.at_border) (is_between ? between_ : within_).insert(place);
    }
    while (!open.empty()) {
      const TextPlace place = open.back();
      open.pop_back();
      for (unsigned byte = 0x80; byte < 256; ++byte) {
        TextState text{.guess = place.guess, .place = place.place};
        if (!rules_.read_fallback(text, static_cast<std::uint8_t>(byte))) continue;
        for (const State target : automaton_.after_byte(place.state, static_cast<std::uint8_t>(byte))) {
          const TextPlace reached = place_of(target, text);
          if (automaton_.is_prefix(target) && reached.place != CodePoints::kBetween && within_.insert(reached).second)
            open.push_back(reached);
        }
      }
    }
  }

  // The tokens that follow from a place inside a pre-token of the prefix, and where they lead.
  template <class Visit>
  void for_each_step(const TextPlace& from, Visit&& visit) {
    const LandingPtr landing = tokenization_.landing(from.guess, from.place);
    const auto step = [&](std::uint32_t token, State state) {
      budget_.step();
      const std::uint16_t target = landing->target_of(token);
      if (target == 0) return;
      const auto [guess, reached] = landing->targets()[target - 1u];
      visit(token, TextPlace{state, guess, reached});
    };
    if (automaton_.is_free(from.state)) {
      for_each_bit(pieces_.following(), [&](std::uint32_t token) { step(token, from.state); });
      return;
    }
    walk_tokens(
        budget_, tokenization_.vocabulary().trie(), TokenTrie::root(), automaton_, from.state,
        [&](NodeId, State state) { return !automaton_.is_prefix(state); },
        [&](std::uint32_t token, State state, bool has_left) {
          if (!has_left && has_bit(pieces_.following(), token)) step(token, state);
        });
  }

  // A token within a pre-token of the prefix, and the place where it ends; by the place where it begins.
  struct Inner {
    std::uint32_t token;
    TextPlace to;
    friend auto operator<=>(const Inner&, const Inner&) = default;
  };
  using Steps = std::map<TextPlace, std::set<Inner>>;

  // Those through which a deep token may be reached, as far as neighbours decide: from its place backwards.
  Steps steps_to(const Deep& deep) {
    Steps steps;
    std::vector<std::pair<TextPlace, TokenId>> open{{deep.place, {deep.leaving.token}}};
    std::set<std::pair<TextPlace, TokenId>> met;
    std::size_t count = 0;
    while (!open.empty()) {
      const auto [to, token] = open.back();
      open.pop_back();
      for (const std::set<TextPlace>* places : {&between_, &within_})
        for (const TextPlace& from : *places)
          for_each_step(from, [&](std::uint32_t other, const TextPlace& reached) {
            if (reached != to || !pieces_.follow(Pieces::kSettled, {other}, token)) return;
            if (steps[from].insert({other, to}).second && ++count > most_nodes_)
              throw LimitExceeded("states", static_cast<double>(most_nodes_));
            if (met.emplace(from, TokenId{other}).second) open.emplace_back(from, TokenId{other});
          });
    }
    return steps;
  }

  // Tokens from the begin of a pre-token on.
  struct Chain {
    TextPlace place;
    TextState text;
    Pieces::State pieces;
    TokenId last;
    std::uint32_t before;  // the chain without the last token; kNoNode for none
    EdgePrefix::Begun first;
  };

  // Offers a deep token after what may stand before it: forwards from the tokens that begin pre-tokens, through those
  // steps alone, with all that a text binds, until one is found that binds nothing of what follows.
  void search_before(const Deep& deep) {
    const Steps steps = steps_to(deep);
    const Key best{Kind::Inside, place_of(deep.leaving.state, deep.after), Pieces::kSettled, {deep.leaving.token}};
    std::vector<Chain> chains;
    Least<Key, KeyHash> met;
    const auto add = [&](const Chain& chain) {
      budget_.step();
      if (!met.add({Kind::Inside, chain.place, chain.pieces, chain.last}, Touch(chain.text), 0)) return;
      if (chains.size() >= most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
      chains.push_back(chain);
    };
    std::uint32_t next = 0;
    const auto follow_all = [&](const EdgePrefix::Begun& first, const TextPlace& place) {
      if (const std::optional<Began> start = began(first))
        add({place, start->text, start->pieces, {first.token}, kNoNode, first});
      for (; next < chains.size(); ++next) {
        const Chain chain = chains[next];  // a copy: the list grows
        if (chain.before != kNoNode && chain.place == deep.place) offer_chain(chains, next, deep.leaving);
        if (offers_.covers(best, Touch(deep.after), kNoNode)) return true;
        const std::set<Inner>* inner = found_in(steps, chain.place);
        if (!inner) continue;
        for (const auto& [token, to] : *inner) {
          const std::optional<Pieces::State> pieces = pieces_.follow(chain.pieces, chain.last, {token});
          TextState text = chain.text;
          if (pieces && tokenization_.read(text, {token}) && place_of(to.state, text) == to)
            add({to, text, *pieces, {token}, next, chain.first});
        }
      }
      return false;
    };
    for (const auto& [place, inner] : steps) {
      const EdgePrefix::BegunAt* begun = prefix_.begun_at(place);
      bool is_enough = false;
      if (begun)
        prefix_.each_begun(*begun,
                           [&](const EdgePrefix::Begun& first) { return is_enough = follow_all(first, begun->place); });
      if (is_enough) return;
    }
  }

  void offer_chain(const std::vector<Chain>& chains, std::uint32_t number, const Leaving& leaving) {
    std::vector<std::uint32_t> between;
    for (; chains[number].before != kNoNode; number = chains[number].before)
      between.push_back(chains[number].last.value);
    std::ranges::reverse(between);
    follow_in_prefix(chains[number].first, between, leaving);
  }

  // -------------------------------------------------------------------------------------------------

  std::string_view piece(std::uint8_t byte) const { return {&bytes_[byte], 1}; }

  static constexpr std::size_t kTries = 16;        // tokens that are followed before they are filtered
  static constexpr std::size_t kPatience = 1'000;  // steps before texts alone are asked: most searches end before

  const EdgeReading& reading_;
  const Tokenization& tokenization_;
  const TextRules& rules_;
  const Pieces& pieces_;
  const EdgeAutomaton& automaton_;
  const EdgePrefix& prefix_;
  bool follows_texts_;
  std::size_t most_nodes_;
  Budget& budget_;
  std::array<char, 256> bytes_;
  std::vector<Node> nodes_;
  std::uint32_t end_ = kNoNode;
  Frontier<Arrival> open_;
  std::vector<std::uint32_t>
      late_;  // inside wide states: their tokens are many, and tried only when nothing else is left
  std::size_t next_late_ = 0;
  Least<Key, KeyHash> met_;
  Least<Key, KeyHash> offers_;  // of nodes that leave the prefix
  FollowsAdded follows_added_;
  std::map<State, std::vector<std::pair<std::uint8_t, State>>> text_exits_;
  std::map<std::pair<State, bool>, std::vector<Leaving>> added_after_;
  std::vector<Exit> exits_;
  std::set<State> exit_states_;  // where a token begins that is first or second in its pre-token
  Frontier<Way> ways_;
  std::vector<std::uint32_t> order_;  // of the nodes of the prefix, if it is not theirs
  std::size_t next_node_ = 0;
  std::optional<std::vector<Deep>> deep_;
  std::optional<bool> texts_allow_it_;
  std::set<TextPlace> between_, within_;  // code points, or one
};

}  // namespace edge_search

EdgeSearch::EdgeSearch(std::shared_ptr<const Tokenization> tokenization, bool has_hidden_space)
    : tokenization_(std::move(tokenization)),
      has_hidden_space_(has_hidden_space),
      descents_(std::make_unique<const EdgeDescents>(*tokenization_, has_hidden_space)) {}
EdgeSearch::~EdgeSearch() = default;

EdgeReading EdgeSearch::reading(Before before) const {
  return {*tokenization_, *descents_, has_hidden_space_ && before == Before::Nothing, before};
}

std::shared_ptr<const EdgePrefix> EdgeSearch::prefix_of(const EdgeAutomaton& automaton, const EdgeReading& reading,
                                                        Budget& budget) const {
  const auto make = [&] { return std::make_shared<const EdgePrefix>(reading, automaton, budget); };
  if (reading.before != Before::Nothing || !EdgePrefix::is_any_text(automaton)) return make();
  const std::lock_guard lock(mutex_);
  if (!any_text_) any_text_ = make();
  return any_text_;
}

std::optional<std::string> EdgeSearch::shortest(const EdgeAutomaton& automaton, Before before, std::size_t most_nodes,
                                                Budget& budget) const {
  if (!automaton.accepts_any()) return std::nullopt;
  const EdgeReading reading = this->reading(before);
  const std::shared_ptr<const EdgePrefix> prefix = prefix_of(automaton, reading, budget);
  edge_search::Search search(reading, automaton, *prefix, true, most_nodes, budget);
  return search.run() ? std::optional(search.text()) : std::nullopt;
}

std::optional<std::vector<std::uint32_t>> EdgeSearch::tokens_of(std::string_view text, Before before,
                                                                std::size_t most_nodes, Budget& budget) const {
  const EdgeReading reading = this->reading(before);
  const EdgeAutomaton automaton = EdgeAutomaton::of_text(text);
  const EdgePrefix none(reading, automaton, budget);
  edge_search::Search search(reading, automaton, none, false, most_nodes, budget);
  return search.run() ? std::optional(search.tokens()) : std::nullopt;
}

}  // namespace tokamata

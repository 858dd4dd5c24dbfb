// The accepted token sequence that is nearest to a given one, and a proof of how near any other can be.
//
// Problem.  Of all sequences that a constraint accepts, find the one that is reached by the cheapest edits: a token is
// inserted, removed, or put in place of another one.  Give a first answer soon, better ones as time passes, and at any
// moment a bound.
// Example.  `(ab)+` with the tokens a, b, ab, and the sequence  a a b : one edit, the removal of a token.  Nodes: (0,
// start), (1, after a); there `a` is refused, and (2, after a) costs 1; `b` is kept, and (3, after b) is an end.
//
// How.  A node is a position in the sequence and a place (token_places.hpp).  The search is that of search.hpp, over
// tokens:
//   - Order.  A*.  A node's edges are made in steps of their cost: what is kept and removed, then insertions and
//     replacements of each price, when the search has come to that price.  So rows that no cheap repair needs are not
//     made.
//   - Estimate.  With l tokens to an end at least and r left to read, l - r must be inserted.  Where the next token is
//     refused, or the sequence ends and is no end, the cheapest edit must be paid.  This second part is what keeps the
//     search small: of the 300 places that an insertion may lead to, few can go on.  Both parts are consistent where l
//     is exact.
//   - First answers.  The longest beginning that is allowed, and the shortest end after it; then every token that is
//     unread counts by a weight, which is lowered (search_weight.hpp).
//   - Bound.  The least of the open nodes' bounds, whatever the weight.
//   - Two kinds of places.  The search begins in relaxed places.  An answer that is not accepted exactly is none; if
//     the least cost is that of such an answer, the search is made again in exact places, and the bound so far stays.
//     Exact places remember what was written, so that after an edit in a name all are new.  Therefore it is first made
//     along the nodes alone that are on a relaxed repair of that cost, as far as these are found within kMostForAGuide
//     nodes: an answer there is the optimum.  If there is none, it is made along all.  Where rows are not whole, what
//     they lack bounds the rest: it costs at least what was paid and the cheapest edit.
//   - Ties.  Of equal costs, the sequence that keeps more tokens, then the shorter one, then the first in the order of
//     ids.  The first two are part of what a path costs.  Once the cost is proven, kMostTies nodes more are searched
//     for them.  For the third, from the start, the set of nodes after the ids so far, on the cheapest paths alone,
//     takes the least id that any of them writes.
//
// Cost.  Nodes within the optimum times edges, and a logarithm.
// Source.  Wagner, Order-n correction for regular languages, 1974; Hart, Nilsson and Raphael 1968.
// Not taken.  Wagner's table of all positions and states: there is no end of states.
//
// Contract.
//   - Locks.  It has none; one thread at a time, which has the places for itself while the search lives.
//   - Errors.  The constructor may end with LimitExceeded, Cancelled or std::bad_alloc, where there is no answer yet.
//     `improve` may end with Cancelled, and may be called again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/limits.hpp"
#include "repair/edit_model.hpp"
#include "repair/edit_state.hpp"
#include "repair/open_nodes.hpp"
#include "repair/path_cost.hpp"
#include "repair/search_weight.hpp"
#include "repair/token_places.hpp"

namespace tokamata {

// What edits cost, by type of token: of the one written, or of the one removed.  kNoEdit, for `replace` alone: it is
// not made.
struct TokenPrices {
  std::vector<EditCost> insert, remove, replace;
  std::vector<std::uint8_t> types = {};  // by id; empty: all are of type 0
};

class TokenRepairSearch : private BorrowedTokenPlaces {
 public:
  // `weight` is in hundredths, at least 100.  `limits.seconds` bounds the search as a whole; `making` bounds what is
  // made before.
  TokenRepairSearch(std::shared_ptr<KeptTokenPlaces> places, const Limits& making, std::vector<std::uint32_t> tokens,
                    TokenPrices prices, std::uint32_t weight, const Limits& limits,
                    std::shared_ptr<const CancelToken> cancel);
  ~TokenRepairSearch() { begin_charging(); }

  enum class Outcome : std::uint8_t { Better, Ended, Stopped };
  // Searches until there is a better answer, or there are none to be found, or a limit is reached.
  Outcome improve();

  struct Answer {
    PathCost cost;
    std::vector<EditStep> steps;  // of all tokens, in order; operands are the tokens written
  };
  const Answer& best() const { return best_; }
  std::uint64_t lower_bound() const { return lower_bound_; }
  // Whether the bound is one of relaxed places.
  bool is_bound_relaxed() const { return is_bound_relaxed_; }
  std::uint64_t expansions() const { return expansions_; }

 private:
  using Place = TokenPlaces::Place;
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNoNode = ~NodeNumber{0};
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint16_t kFirst = 0, kDone = 0xFFFF;
  static constexpr std::uint64_t kMostTies = 4096;
  // Nodes that are searched for other repairs of a cost whose first answer was refused.
  static constexpr std::uint64_t kMostForAGuide = 50'000;

  struct At {
    std::uint32_t position;
    Place place;
    friend bool operator==(const At&, const At&) = default;
    std::uint64_t hash() const { return mix(mix(0x9e3779b97f4a7c15, position), place); }
  };
  struct Node {
    At at;
    Place kept;  // where the token at the position leads
    PathCost reached;
    PathCost estimate;
    NodeNumber from;
    EditStep step;
    std::uint32_t version = 0;    // how often it was reached more cheaply
    std::uint16_t next = kFirst;  // which edges come next: kFirst, or 1 + an index into the prices, or kDone
    bool is_cheapest = false;     // an end follows at the cost of the best path
    bool is_taken = false;        // on such a path that writes the first ids
  };
  struct Entry {
    std::uint64_t key;
    std::uint32_t unread;
    NodeNumber node;
    std::uint32_t version;
    bool operator<(const Entry& other) const {  // the best on top
      if (key != other.key) return key > other.key;
      if (unread != other.unread) return unread > other.unread;
      return node < other.node;
    }
  };

  std::uint8_t type_at(std::size_t position) const { return places_.type(tokens_[position]); }
  PathCost price(EditStep step, std::size_t position) const;
  void answer_at_once(Budget& budget);
  Answer answer_of(std::vector<EditStep> steps) const;
  std::optional<std::vector<EditStep>> accepted_steps_to(NodeNumber number, Budget& budget);
  void begin(Place start, Budget& budget);
  void begin_exactly(bool along_guide, Budget& budget);
  void make_guide(Budget& budget);
  bool is_along_guide(const At& at, std::uint64_t cost) const;
  PathCost estimate(const At& at, Place kept) const;
  PathCost bound_of(const Node& node) const;
  std::uint64_t key_of(const Node& node, std::uint64_t cost) const;
  bool is_hopeless(const PathCost& bound) const { return bound > best_.cost; }
  bool is_stale(const Entry& entry) const;
  void push(NodeNumber node);
  void relax(NodeNumber from, const At& at, PathCost reached, EditStep step, Budget& budget);
  void expand(NodeNumber node, Budget& budget);
  void reach_end(NodeNumber node, Budget& budget);
  void queue_again();
  bool is_proven() const;
  std::uint64_t open_bound() const;
  void note_bound();

  template <class Visit>
  void visit_first(const Node& node, Visit&& visit) const;
  template <class Visit>
  void visit_priced(const Node& node, EditCost wanted, Budget& budget, Visit&& visit);
  template <class Visit>
  void visit_cheapest(NodeNumber number, Budget& budget, Visit&& visit);
  std::vector<EditStep> steps_to(NodeNumber number) const;
  bool is_end(const Node& node) const { return node.at.position == tokens_.size() && places_.accepting(node.at.place); }
  void choose_among_equals(Budget& budget);
  void mark_cheapest(Budget& budget);
  template <class Visit>
  void visit_edges(const Node& node, Budget& budget, Visit&& visit);
  void take(std::vector<NodeNumber>& list, NodeNumber from, NodeNumber target, EditStep step);

  TokenPlaces& places_;  // that are borrowed
  std::vector<std::uint32_t> tokens_;
  TokenPrices prices_;
  std::vector<EditCost> each_price_;  // of insertions and replacements, each once, in order
  EditCost least_insert_, cheapest_;  // the least that is not 0
  SearchWeight weight_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  double spent_seconds_ = 0;
  NodeTable<Node> nodes_;
  OpenNodes<Entry> queue_;
  // The nodes of relaxed repairs that cost no more than the refused one.
  struct Stop {
    At at;
    std::uint64_t cost;
  };
  using Guide = NodeTable<Stop>;
  std::optional<Guide> guide_;
  bool is_exact_ = false;
  std::optional<NodeNumber> end_;         // of the best answer, if the search in these places has met it
  std::uint64_t least_refused_ = kNever;  // the least cost of an answer that is accepted in relaxed places alone
  std::uint64_t least_missing_ = kNever;  // no edge that rows lack leads to less
  std::uint64_t lower_bound_ = 0;
  bool is_bound_relaxed_ = true, is_better_ = false, is_over_ = false;
  Answer best_;
  std::uint64_t expansions_ = 0, ties_ = 0;
};

// What is wrong with the claim that no repair costs less than `bound`; empty where it holds.  Dijkstra's algorithm,
// without the estimates and the order of the search, over exact or relaxed places.
std::string flaw_of_token_bound(TokenPlaces& places, std::span<const std::uint32_t> tokens, const TokenPrices& prices,
                                std::uint64_t bound, bool is_relaxed, Budget& budget);

}  // namespace tokamata

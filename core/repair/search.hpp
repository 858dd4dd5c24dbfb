// The accepted text that is cheapest to reach from a broken one, and a proof of how near any other can be.
//
// Problem.  Of all texts that a pattern accepts, find the one whose edits cost least; give a first answer soon, better
// ones as time passes, and at any moment a bound that no answer can go below.
// Example.  The text  [1,2  and arrays of numbers: `]` is appended.  Nodes: (0, start) (1, after "[") … (4, after "2"),
// each for nothing; from the last one an insertion leads to an accepting state with nothing left to read.
//
// How.  The composition of broken text, edits and byte automaton is searched as a graph.  A node is a position in the
// text and a state of the automaton.  An edge keeps a byte, or is an edit (edit_model.hpp).  Bytes of one class lead to
// one state, so an insertion is one edge for each class: its cheapest byte, of these the least.  Where a state keeps
// what is read, each byte is an edge.
//   - Order.  A* with the estimate of estimate.hpp.  A node's edges are made in steps of their cost, when the search
//     has come to that price: first what costs nothing, mostly the byte that is kept.  So neither nodes nor transitions
//     are made that no cheap repair takes.  A rewrite that reads far waits by itself, since it leads nearer to the end
//     than its node is.
//   - First answers.  Every byte that is unread counts by a weight, which is lowered (search_weight.hpp).  It is on the
//     distance still to go, and not on the estimate, which is mostly 0.
//   - Bound.  The least of the open edges' bounds, whatever the weight: it needs no property of the order.  Where it
//     reaches the cost of the answer, that is optimal.
//   - Ties.  Of equal costs the answer that keeps more bytes, then the shorter one; then the one whose edges came
//     first, in an order that depends on nothing but the text, the pattern and the model.
//   - What texts remember.  A pattern may forbid what the text has written before (names that differ).  Its states then
//     hold all that was read, and an edit in one name makes every later state another one.  So the search is made in
//     the over-approximation that masks are made of, which forgets: its bounds hold for the pattern too.  An answer
//     that the pattern refuses is none; if the least cost there is that of such an answer, the search is made again in
//     the pattern.  Its lengths are not known there, so that what is left to pay in the over-approximation from the
//     same text is its estimate (Guide): `{"a": 1 "b": [1, 1]}`, whose elements must differ, first gets its comma, then
//     other elements.  Where that finds nothing, a first attempt goes on whatever it costs.
// The first answer of all removes the whole text and writes a short one, so there is an answer at any deadline.
//
// Cost.  One look-up for each edge whose cost is within the optimum; O(log n) for the queue.
// Source.  Wagner 1974 (correction for regular languages); Hart, Nilsson and Raphael 1968; Hansen and Zhou 2007.
// Not taken.  A table of all positions and states, as Wagner's: 1 kB of JSON under a schema has a million of them, of
// which some thousands are needed.  A queue of buckets: keys spread over a million values.
//
// Contract.
//   - Locks.  It has none; one thread at a time.
//   - Errors.  The constructor may end with LimitExceeded, Cancelled, EmptyLanguage, BadEditModel or std::bad_alloc.
//     `improve` may end with Cancelled, and may be called again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repair/edits.hpp"
#include "repair/estimate.hpp"
#include "repair/graph.hpp"
#include "repair/guide.hpp"
#include "repair/kept_automata.hpp"
#include "repair/open_nodes.hpp"
#include "repair/path_cost.hpp"
#include "repair/pattern_states.hpp"
#include "repair/search_weight.hpp"

namespace tokamata {

class RepairSearch : private BorrowedAutomaton {
 public:
  // `weight` is in hundredths, at least 100.  `limits.seconds` bounds the search as a whole.
  RepairSearch(std::shared_ptr<KeptAutomata> automata, std::string text, std::shared_ptr<const EditModel> model,
               std::uint32_t weight, const Limits& limits, std::shared_ptr<const CancelToken> cancel);
  ~RepairSearch() { begin_charging(); }

  enum class Outcome : std::uint8_t { Better, Optimal, Stopped };
  // Searches until there is a better answer, or none can be better, or a limit is reached.
  Outcome improve();

  struct Answer {
    PathCost cost;
    std::string text;
    std::vector<EditStep> steps;  // of all positions, in order
  };
  const Answer& best() const { return best_; }
  std::uint64_t lower_bound() const { return std::max(open_bound(), proven_.bound); }
  std::uint64_t expansions() const { return expansions_; }
  std::size_t state_count() const { return automaton().state_count(); }
  std::size_t memory_bytes() const { return account().bytes(); }

  // What proves the bound: for each node that an answer below it could pass, its cost from the start and the step that
  // led there from an earlier one (certificate.hpp).
  struct Reached {
    std::uint32_t from;  // an earlier one; its own number: the start
    EditStep step;
    std::uint64_t cost;
  };
  struct Proof {
    std::uint64_t bound = 0;
    std::vector<Reached> reached;
    bool is_exact = true;  // its states are those of the pattern; otherwise of its over-approximation
  };
  // Of the lower bound.
  Proof proof() const;

  // All repairs that cost no more than a bound; those of the pattern, or of its over-approximation.  May end with
  // LimitExceeded, Cancelled or std::bad_alloc; the limits are of this call.  `bytes` has the GraphBytes of each
  // position.
  RepairGraph graph(std::uint64_t bound, bool is_exact, std::string_view bytes, const Limits& limits);

 private:
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNoNode = ~NodeNumber{0};
  static constexpr std::uint64_t kNothingRefused = ~std::uint64_t{0};
  static constexpr std::uint64_t kFirst = 0, kDone = ~std::uint64_t{0};
  static constexpr std::uint32_t kByPrice = ~std::uint32_t{0};
  static constexpr std::uint32_t kFarBytes = 3;  // a rewrite that reads so many reads far
  static constexpr std::uint64_t kExpansionsOfAGuidedTry = 20'000;

  struct Node {
    EditState at;
    std::uint32_t version;  // how often it was reached more cheaply
    PathCost reached;       // from the start
    Estimate::Bound estimate;
    EditStep step;
    NodeNumber from;
    StateId guiding;              // of the over-approximation, after the same text; dead: nothing guides
    std::uint64_t next = kFirst;  // what its next edges cost; kDone: it has no more
  };
  struct Entry {
    std::uint64_t key;
    std::uint32_t unread;
    NodeNumber node;
    std::uint32_t version;
    std::uint32_t rewrite = kByPrice;  // a rewrite of the node that reads far; otherwise its next edges by price
    bool operator<(const Entry& other) const {  // the best on top
      if (key != other.key) return key > other.key;
      if (unread != other.unread) return unread > other.unread;
      if (node != other.node) return node < other.node;
      return rewrite > other.rewrite;  // the latest: of nodes that are alike it is the nearest to an end
    }
  };

  void write_anew(Budget& budget);
  bool is_accepted(const std::string& text, Budget& budget);
  void relax(NodeNumber from, const EditState& at, StateId guiding, PathCost reached, EditStep step);
  void expand(NodeNumber node, Budget& budget);
  void take_rewrite(NodeNumber number, std::uint32_t index, Budget& budget);
  void take_writing(NodeNumber number, const Writing& writing, Budget& budget);
  template <class Visit>
  void visit_prices(const Node& node, Visit&& visit) const;
  std::uint64_t bound_of(const Node& node) const;
  std::uint64_t bound_of(const Entry& entry) const;
  std::uint64_t key_of(std::uint64_t unread, std::uint64_t cost) const;
  void push(NodeNumber node);
  void push_far_rewrites(NodeNumber node);
  static bool is_far(const Rewrite& rewrite) { return rewrite.end - rewrite.begin >= kFarBytes; }
  bool has_no_better(const Node& node, const Rewrite& rewrite) const;
  bool is_stale(const Entry& entry) const;
  void queue_again();
  void take_answer(NodeNumber node, Budget& budget);
  void begin(StateId start, StateId guiding);
  void begin_exactly(Budget& budget);
  void go_on_blindly();
  StateId guiding_after(StateId guiding, std::uint8_t byte, Budget& budget);
  bool is_exact() const { return start_ == automaton().start(); }
  std::uint64_t open_bound() const;
  std::vector<Reached> reached(std::uint64_t bound) const;
  bool is_hopeless(const PathCost& bound) const { return bound >= best_.cost; }
  bool has_no_better(const Node& node) const;

  Edits edits_;
  SearchWeight weight_;
  EditCost cheapest_;   // of the edits of single bytes that are not free
  std::uint64_t pull_;  // of an unread byte on the place in the queue, at a weight of 2
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  double spent_seconds_ = 0;
  Estimate estimate_;
  NodeTable<Node> nodes_;
  OpenNodes<Entry> queue_;
  std::optional<Guide> guide_;
  bool is_guided_try_ = false;  // until there is an answer, or there was none for long
  StateId start_;
  // the least cost of an answer that the over-approximation alone accepts
  std::uint64_t least_refused_ = kNothingRefused;
  Proof proven_;  // of the search in the over-approximation, where it is over
  Answer best_;
  bool is_better_ = false;
  std::uint64_t expansions_ = 0;
};

}  // namespace tokamata

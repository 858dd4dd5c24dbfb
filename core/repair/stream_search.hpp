// The nearest text to one that still arrives, and how much of it no continuation changes.
//
// Problem.  A text arrives in pieces, and its repair is to be used before its end.  Which beginning of the repaired
// text do all continuations share?
// Example.  Of  {'a': 1, 'b  the quote before b may close a string or be an apostrophe of it, but every repair that
// costs at most `slack` more than the cheapest one reads the member a alike: its text is decided.
//
// How.  The graph is that of search.hpp.  Dijkstra's algorithm, resumed with each piece: nodes that need bytes or
// rewrites which are not there *wait*.  Let C be the least cost of a node that waits, or that a rewrite
// might leave which is still open (streamed_patterns.hpp), and C0 that of the start.  All edges up to the bound
// C + slack + 2 max(0, C - C0 - slack) are made: where a large mistake is near, it may be another one than it seems, so
// that more alternatives are kept until the start has passed it.  Those of these nodes that are
// within the bound have a nearest common ancestor in the tree of cheapest paths.
//   - Claim.  The cheapest repair of any continuation passes the ancestor, if it costs at most the bound, takes no
//     rewrite that was made known later than its beginning was *settled* (`add` with an earlier begin), and is the only
//     one of its cost.
//   - Proof.  Its path leaves the part of the graph that is known through a node that waits, or through an open
//     rewrite.  What it paid until there is at most the bound, so that node is among those above, and the cheapest path
//     to it passes the ancestor.  In the search, patterns that remember what was written are over-approximated, which
//     adds paths and takes none.
//   - A text that is accepted is its own repair, whatever looks doubtful in it.  So while what has arrived may become
//     an accepted text, nothing is decided but what it says itself.
//   - The ancestor becomes the start: what does not descend from it is dropped.
// Where nothing cheap leads on (prose, where JSON is wanted), the search stops for a time: nothing is decided until a
// cheaper edge arrives, or the next bytes lead on.
//
// Cost.  In time a share of each byte fed, whatever the text: what the search may expand, and how often ancestors are
// computed, grows with the bytes.  In memory, what is between the ancestor and the end.
// Source.  Decided prefixes of Viterbi's algorithm: Šrámek, Brejová and Vinař, On-line Viterbi algorithm for analysis
// of long biological sequences, 2007; here with a slack, and over edits.
// Not taken.  A table of all states at each position: states of JSON are not listed.  A beam, which proves nothing.
//
// Contract.
//   - Locks.  It has none; one thread at a time.
//   - Errors.  `advance` may end with Cancelled.  Where a limit is passed, it stops to follow the text: `follows` is
//     false, and nothing more is decided.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "repair/edit_model.hpp"
#include "repair/edit_state.hpp"
#include "repair/kept_automata.hpp"
#include "repair/path_cost.hpp"
#include "repair/writings.hpp"

namespace tokamata {

class StreamSearch : private BorrowedAutomaton {
 public:
  // A rewrite that may turn out to begin at a position.
  struct OpenRewrite {
    std::uint32_t position;
    EditCost cost;
    ModeSet within;
  };

  StreamSearch(std::shared_ptr<KeptAutomata> automata, std::shared_ptr<const EditMachine> machine, EditCost slack,
               const Limits& limits, std::shared_ptr<const CancelToken> cancel);
  ~StreamSearch() { begin_charging(); }

  // More of the text.
  void feed(std::string_view bytes);
  // What edits may be made; rewrites may begin anywhere, doubts and firm bytes only where nothing is settled.
  void add(Rewrite rewrite);
  void add_doubt(std::uint32_t position, EditCost cost, ModeSet within);
  void add_firm(std::uint32_t position, EditCost cost);
  // Searches.  Up to `settled` all doubts and firm bytes are known, and all rewrites but those that are open.  No
  // ancestor is taken beyond `withheld`.  Returns what has been decided of the repaired text.
  std::string advance(std::size_t settled, std::vector<OpenRewrite> open, std::size_t withheld);

  bool follows() const { return follows_; }
  // How much of the text the decided part of the repaired text has read.
  std::size_t decided_until() const { return base_; }
  // What the cheapest repair costs at least, of what is settled; kNoCost where the search has stopped for a time.
  std::uint64_t cost() const { return least_waiting_; }
  // What the repair of the whole text may cost, for which all holds that was decided by the last call; kNoCost as
  // `cost`.
  std::uint64_t decided_bound() const { return decided_bound_; }
  // The cheapest repair of the text so far after what is decided, as far as bytes go on from it.
  std::string undecided();
  std::size_t memory_bytes() const { return account().bytes(); }
  std::uint64_t expansions() const { return expansions_; }

  static constexpr std::uint64_t kNoCost = ~std::uint64_t{0};

 private:
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNone = ~NodeNumber{0};
  static constexpr std::uint64_t kCaution = 2;
  static constexpr std::uint64_t kNothingLeft = ~std::uint64_t{0};

  struct Node {
    EditState at;
    PathCost reached;
    NodeNumber from;
    EditStep step;         // of a rewrite the operand is an index into rewrites_
    NodeNumber next_here;  // another node of this position
    std::uint32_t version = 0;
    bool is_begun = false;
    std::uint64_t next = 0;  // the least price of its edges that are not made; kNothingLeft: all are
  };
  struct Entry {
    std::uint64_t key;
    std::uint32_t position;
    NodeNumber node;
    std::uint32_t version;
    std::uint64_t price;
    bool operator<(const Entry& other) const {  // the best on top: of equals the first in the text
      if (key != other.key) return key > other.key;
      if (position != other.position) return position > other.position;
      return node > other.node;
    }
  };
  struct Position {  // of each from base_ on
    NodeNumber first = kNone;
    std::uint32_t first_rewrite = kNone;  // by their order
    EditCost firm = 0;
    bool has_doubt = false, has_open = false;
  };
  struct HeldRewrite {
    Rewrite rewrite;
    std::uint32_t next;  // of the same begin
  };
  struct Doubt {
    EditCost cost;
    ModeSet within;
  };

  Position& at(std::size_t position) { return positions_[position - base_]; }
  std::uint8_t byte_at(std::size_t position) const { return static_cast<std::uint8_t>(text_[position]); }
  std::uint64_t keeping(Mode mode, std::uint32_t position);
  std::uint64_t bound() const {
    const std::uint64_t small = start_cost_ + slack_;
    return least_waiting_ + slack_ + kCaution * (least_waiting_ - std::min(least_waiting_, small));
  }
  void push(NodeNumber node);
  void relax(NodeNumber from, const EditState& at, PathCost reached, EditStep step);
  struct Arrival {
    NodeNumber from;
    EditStep step;
  };
  bool is_edited_later(Arrival one, Arrival other) const;
  void take_rewrite(NodeNumber from, std::uint32_t index, Budget& budget);
  void expand(NodeNumber node, std::uint64_t price, Budget& budget);
  bool search(Budget& budget);
  void wait_for(const OpenRewrite& open, const Node& node);
  std::optional<NodeNumber> ancestor() const;
  NodeNumber not_beyond(NodeNumber node, std::size_t withheld) const;
  std::string written_to(NodeNumber node) const;
  void begin_at(NodeNumber node);
  void lose();

  std::shared_ptr<const EditMachine> machine_;
  EditModel model_;  // of the machine alone
  std::uint64_t slack_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  double spent_seconds_ = 0;

  counted::vector<char> text_;
  std::size_t base_ = 0;  // the position of the start
  std::size_t settled_ = 0;
  counted::vector<Position> positions_;
  counted::vector<HeldRewrite> rewrites_;
  std::vector<OpenRewrite> open_;    // before settled_, by position
  std::vector<std::uint32_t> late_;  // rewrites that nodes do not have yet
  std::unordered_map<std::uint32_t, std::vector<Doubt>> doubts_;
  std::shared_ptr<Writings> writings_;

  NodeTable<Node> nodes_;
  counted::vector<Entry> queue_;  // a heap
  std::vector<NodeNumber> waiting_;
  std::uint64_t least_waiting_ = kNoCost;
  std::uint64_t decided_bound_ = kNoCost;
  std::uint64_t start_cost_ = 0;           // what the start was reached at
  std::uint64_t given_up_ = kNothingLeft;  // no edge of this key or above is made
  std::uint64_t allowed_ = 0;              // expansions
  std::uint64_t credit_ = 0;               // of nodes that may be visited for an ancestor

  std::size_t decided_bytes_ = 0;
  bool is_same_ = true;  // whether these are those of the text
  StateId same_;         // after the text as it is; dead: no accepted text begins so
  std::size_t same_read_ = 0;
  bool follows_ = true;
  std::uint64_t expansions_ = 0;
};

}  // namespace tokamata

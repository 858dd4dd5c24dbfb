// The memo of masks by what was read to make them: where expressions share their parts, and where only first bytes are
// asked.

#include <string>
#include <vector>

#include "composition/stack_memo.hpp"
#include "expression/arena.hpp"
#include "expression/expression.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

ByteSet byte_set(const std::string& text) {
  ByteSet set;
  for (const char byte : text) set.add(static_cast<std::uint8_t>(byte));
  return set;
}

struct Shared {
  Arena arena{ByteSet::range(0x00, 0xFF), 1, 1000};
  Budget budget{{}, nullptr, 0};
  StackMemo memo;

  ExpressionId text(const std::string& bytes) {
    ExpressionId made = Pool::kEpsilon;
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
      made = arena.forms().concatenate(arena.add(*Expression::literal(std::string(1, *byte)), budget), made);
    return made;
  }
  // Optional letters one after another, then an end: as a tree it has twice as many parts for each of them.
  ExpressionId optional_letters(int count, char end) {
    ExpressionId rest = text(std::string(1, end));
    for (int number = count; number > 0; --number) {
      std::vector<ExpressionId> either{
          rest, arena.forms().concatenate(text(std::string(1, static_cast<char>('A' + number % 50))), rest)};
      rest = arena.forms().unite(either);
    }
    return rest;
  }
  ByteSet beginnings(ExpressionId expression) const {
    const ExpressionNode& node = arena.pool().node(expression);
    if (node.kind == Kind::Bytes) return arena.leaves().byte_set(node);
    if (node.kind == Kind::Repetition) return beginnings(node.body());
    ByteSet bytes;
    if (node.kind == Kind::Union)
      for (const ExpressionId item : arena.pool().items(node)) bytes |= beginnings(item);
    if (node.kind == Kind::Concatenation) {
      bytes = beginnings(node.head());
      if (arena.pool().node(node.head()).nullable) bytes |= beginnings(node.tail());
    }
    return bytes;
  }
  template <class ReadOf>
  void add(ExpressionId expression, StackMemo::Found found, ReadOf&& read) {
    memo.add(arena.pool(), expression, found, [this](ExpressionId part) { return beginnings(part); }, read);
  }
  std::optional<StackMemo::Found> find(ExpressionId expression) const {
    return memo.find(arena.pool(), expression, [this](ExpressionId part) { return beginnings(part); });
  }
};

TEST(shared_parts_are_split_once) {
  for (const int count : {1, 4, 16, 40}) {
    Shared shared;
    const ExpressionId state = shared.optional_letters(count, '!');
    std::size_t asked = 0;
    shared.add(state, {StateId{7}, 0}, [&](ExpressionId) { return ++asked, StackMemo::Read{.is_split = true}; });
    CHECK(asked < 5000);
    const auto found = shared.find(state);
    CHECK(!found || found->holder == StateId{7});
    if (count <= 4) CHECK(found.has_value());
  }
}

TEST(a_part_that_is_shared_is_not_one_that_is_alike) {
  Shared shared;
  const ExpressionId x = shared.text("xz"), y = shared.text("yz");
  const auto state_of = [&](ExpressionId first, ExpressionId second) {
    std::vector<ExpressionId> either{shared.arena.forms().concatenate(shared.text("a"), first),
                                     shared.arena.forms().concatenate(shared.text("b"), second)};
    return shared.arena.forms().unite(either);
  };
  const auto all = [](ExpressionId) { return StackMemo::Read{.is_split = true}; };
  shared.add(state_of(x, x), {StateId{1}, 0}, all);
  CHECK(shared.find(state_of(x, x)).has_value());
  for (const ExpressionId other : {state_of(x, y), state_of(y, x), state_of(y, y)}) CHECK(!shared.find(other));
  shared.add(state_of(x, y), {StateId{2}, 0}, all);
  CHECK(shared.find(state_of(x, y))->holder == StateId{2});
  CHECK(shared.find(state_of(x, x))->holder == StateId{1});
}

// After `n` no token reads on but by `;`: what begins with other bytes has the same mask, whatever it is.
TEST(states_that_avoid_the_same_bytes_share_a_mask) {
  Shared shared;
  const ExpressionId head = shared.text("n");
  const auto after_head = [&](ExpressionId rest) { return shared.arena.forms().concatenate(head, rest); };
  const auto state_of = [&](const std::string& rest) { return after_head(shared.text(rest)); };
  const ExpressionId made = state_of("xy"), rest = shared.text("xy");
  shared.add(made, {StateId{1}, 0}, [&](ExpressionId part) {
    if (part == made) return StackMemo::Read{.is_split = true};
    return part == rest ? StackMemo::Read{.is_split = false, .avoided = byte_set(";,")} : StackMemo::Read{};
  });
  CHECK(shared.find(made)->holder == StateId{1});
  CHECK(shared.find(state_of("abcd"))->holder == StateId{1});
  CHECK(!shared.find(state_of(";x")));
  CHECK(!shared.find(state_of(",")));
  std::vector<ExpressionId> either{shared.text("xy"), shared.text(";")};
  CHECK(!shared.find(after_head(shared.arena.forms().unite(either))));
  // What may be empty begins with what follows it; where nothing follows, no token reads on.
  CHECK(!shared.find(after_head(
      shared.arena.forms().concatenate(shared.arena.forms().repeat(shared.text("x"), 0, 1), shared.text(";")))));
  CHECK(shared.find(after_head(shared.arena.forms().repeat(shared.text("x"), 0, 1)))->holder == StateId{1});
  CHECK(!shared.find(head));
}

// The leaf holds what tokens leave to be written above the parts that were not split; each state adds its own.
TEST(a_shared_mask_needs_the_bytes_of_the_state_that_asks) {
  Shared shared;
  const auto state_of = [&](const std::string& rest) {
    return shared.arena.forms().concatenate(shared.text("n"), shared.text(rest));
  };
  const ExpressionId made = state_of("xyz"), rest = shared.text("xyz");
  shared.add(made, {StateId{1}, 5}, [&](ExpressionId part) {
    if (part == made) return StackMemo::Read{.is_split = true};
    return part == rest ? StackMemo::Read{.is_split = false, .avoided = byte_set(";")} : StackMemo::Read{};
  });
  CHECK(shared.find(made)->most == 5);
  CHECK(shared.find(state_of("abcdefg"))->most == 9);
  CHECK(shared.find(state_of("a"))->most == 3);
}

}  // namespace

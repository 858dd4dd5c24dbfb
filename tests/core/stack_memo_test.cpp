// The memo of masks by what was split to make them, where expressions share their parts.

#include <string>
#include <vector>

#include "composition/stack_memo.hpp"
#include "expression/arena.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

struct Shared {
  Arena arena{ByteSet::range(0x00, 0xFF), 1, 1000};
  Budget budget{{}, nullptr, 0};

  ExpressionId letter(char byte) { return arena.add(*Expression::literal(std::string(1, byte)), budget); }
  // Optional letters one after another, then an end: as a tree it has twice as many parts for each of them.
  ExpressionId optional_letters(int count, char end) {
    ExpressionId rest = letter(end);
    for (int number = count; number > 0; --number) {
      std::vector<ExpressionId> either{rest, arena.concatenate(letter(static_cast<char>('A' + number % 50)), rest)};
      rest = arena.unite(either);
    }
    return rest;
  }
};

TEST(shared_parts_are_split_once) {
  for (const int count : {1, 4, 16, 40}) {
    Shared shared;
    const ExpressionId state = shared.optional_letters(count, '!');
    StackMemo memo;
    std::size_t asked = 0;
    memo.add(shared.arena, state, {StateId{7}, 0}, [&](ExpressionId) { return ++asked, true; });
    CHECK(asked < 5000);
    const auto found = memo.find(shared.arena, state);
    CHECK(!found || found->holder == StateId{7});
    if (count <= 4) CHECK(found.has_value());
  }
}

TEST(a_part_that_is_shared_is_not_one_that_is_alike) {
  Shared shared;
  const ExpressionId x = shared.arena.concatenate(shared.letter('x'), shared.letter('z'));
  const ExpressionId y = shared.arena.concatenate(shared.letter('y'), shared.letter('z'));
  const auto state_of = [&](ExpressionId first, ExpressionId second) {
    std::vector<ExpressionId> either{shared.arena.concatenate(shared.letter('a'), first), shared.arena.concatenate(shared.letter('b'), second)};
    return shared.arena.unite(either);
  };
  StackMemo memo;
  const auto all = [](ExpressionId) { return true; };
  memo.add(shared.arena, state_of(x, x), {StateId{1}, 0}, all);
  CHECK(memo.find(shared.arena, state_of(x, x)).has_value());
  for (const ExpressionId other : {state_of(x, y), state_of(y, x), state_of(y, y)}) CHECK(!memo.find(shared.arena, other));
  memo.add(shared.arena, state_of(x, y), {StateId{2}, 0}, all);
  CHECK(memo.find(shared.arena, state_of(x, y))->holder == StateId{2});
  CHECK(memo.find(shared.arena, state_of(x, x))->holder == StateId{1});
}

}  // namespace

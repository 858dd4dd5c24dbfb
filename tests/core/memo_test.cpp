// Memos of bounded size, beside a list of all that was kept.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "choices.hpp"
#include "common/bounded_memo.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

struct KeptPair {
  std::uint32_t key;
  std::string value;
  std::size_t weight;
};

// The judge: pairs in the order in which they came.
class KeptPairs {
 public:
  explicit KeptPairs(std::size_t most) : most_(most) {}
  const std::string* find(std::uint32_t key) const {
    for (const KeptPair& pair : pairs_)
      if (pair.key == key) return &pair.value;
    return nullptr;
  }
  void keep(std::uint32_t key, const std::string& value, std::size_t weight) {
    if (find(key)) return;
    pairs_.push_back({key, value, weight});
    while (this->weight() > most_ && pairs_.size() > 1) pairs_.pop_front();
  }
  std::size_t weight() const {
    std::size_t sum = 0;
    for (const KeptPair& pair : pairs_) sum += pair.weight;
    return sum;
  }
  std::deque<KeptPair>& pairs() { return pairs_; }

 private:
  std::size_t most_;
  std::deque<KeptPair> pairs_;
};

TEST(the_oldest_are_dropped_first) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const std::size_t most = choices.between(1, 12);
    BoundedMemo<std::unordered_map<std::uint32_t, std::string>> memo(most);
    KeptPairs judge(most);
    for (std::uint32_t round = 0; round < 60; ++round) {
      const std::uint32_t key = choices.below(20);
      const std::size_t weight = choices.between(0, 5);
      const std::string value = std::to_string(round);
      judge.keep(key, value, weight);
      CHECK_EQUAL(memo.keep(key, value, weight), *judge.find(key));
      if (choices.one_in(10) && memo.size() > 1) {
        CHECK_EQUAL(memo.oldest(), judge.pairs().front().value);
        memo.drop_oldest();
        judge.pairs().pop_front();
      }
      if (choices.one_in(40)) {
        memo.clear();
        judge.pairs().clear();
      }
      CHECK_EQUAL(memo.size(), judge.pairs().size());
      CHECK_EQUAL(memo.weight(), judge.weight());
      for (std::uint32_t other = 0; other < 20; ++other) {
        const std::string* const known = memo.find(other);
        CHECK_EQUAL(known != nullptr, judge.find(other) != nullptr);
        if (known) CHECK_EQUAL(*known, *judge.find(other));
      }
    }
  }
}

// A key that cannot be copied into the map, as where there is no memory for it.
struct Fragile {
  int number;
  bool fails = false;
  Fragile(int value, bool does_fail) : number(value), fails(does_fail) {}
  Fragile(const Fragile& other) : number(other.number), fails(other.fails) {
    if (fails) throw std::runtime_error("no room");
  }
  bool operator<(const Fragile& other) const { return number < other.number; }
};

TEST(what_fails_to_be_kept_leaves_all_as_it_was) {
  BoundedMemo<std::map<int, Fragile>> memo(2);
  memo.keep(1, Fragile(10, false));
  memo.keep(2, Fragile(20, false));
  const Fragile failing(30, true);
  CHECK_THROWS(std::runtime_error, memo.keep(3, failing));
  CHECK_EQUAL(memo.size(), 2u);
  CHECK_EQUAL(memo.weight(), 2u);
  CHECK_EQUAL(memo.oldest().number, 10);
  memo.keep(3, Fragile(31, false));
  CHECK(!memo.find(1));
  CHECK_EQUAL(memo.find(3)->number, 31);
}

TEST(what_is_shared_is_computed_once_and_outlives_its_memo) {
  SharedMemo<int, std::string> memo(2);
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::string("one");
  };
  const std::shared_ptr<const std::string> one = memo.get(1, make);
  CHECK(memo.get(1, make) == one);
  CHECK_EQUAL(made, 1);
  CHECK(memo.keep(1, std::make_shared<const std::string>("other")) == one);
  const auto large = std::make_shared<const std::string>("large");
  CHECK(memo.keep(2, large, 3) == large);
  CHECK(!memo.find(2));
  memo.keep(3, large);
  memo.keep(4, large);
  CHECK(!memo.find(1));
  CHECK_EQUAL(*one, "one");
  CHECK_EQUAL(memo.weight(), 2u);
}

}  // namespace

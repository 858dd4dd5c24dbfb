// How many bytes a constraint holds: counted where they are given out, not estimated.
//
// Problem.  Limits::memory_bytes protects a server from the schemas of strangers.  Sums of sizes that each class
// estimates for itself were wrong by up to three times, and walked everything for one figure.
// How.  A constraint has one account.  While a thread works for a constraint it charges to this account (`Charge`), and
// containers of namespace `counted` add what they allocate and subtract what they free.  What others hold too, such as
// a mask, is charged to each who keeps it, for as long as he does (`Kept`).  What is gone at the end of a call, or is
// handed out, is in containers of std, and is not counted.
// Example.  charge to A; counted::vector<int> v(100): A has 416 bytes; v = {}: A has none.
//
// Contract.  What is counted is allocated and freed by work for one account alone: the allocator has no state, so that
// a container is as large as one of std.  A container that was freed elsewhere would leave its bytes in the account; an
// account checks that it ends with none (sanitized builds).  One thread at a time charges to an account, any may read
// it.
// Cost.  A load of a thread's variable and an addition for each block.
// Not taken.  std::pmr: a virtual call for each block, and a pointer in each container, which nested ones must be
// given.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tokamata {

// What a block takes, as glibc's malloc rounds it: a word before it, steps of 16 bytes, at least 32.
constexpr std::size_t block_bytes(std::size_t size) {
  constexpr std::size_t kStep = 16, kLeast = 32;
  return std::max(kLeast, (size + sizeof(std::size_t) + kStep - 1) / kStep * kStep);
}

// Of a list of std; and of an object that std::make_shared made.
template <class List>
std::size_t block_bytes_of(const List& list) {
  return list.capacity() == 0 ? 0 : block_bytes(list.capacity() * sizeof(typename List::value_type));
}
template <class T>
constexpr std::size_t shared_block_bytes() {
  return block_bytes(2 * sizeof(std::size_t) + sizeof(T));
}

class MemoryAccount {
 public:
  MemoryAccount() = default;
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class Charge;
  // Not one step: no two threads charge at once.
  void add(std::size_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  std::atomic<std::size_t> bytes_ = 0;
};

// While it lives, this thread charges to an account; afterwards to the one before, if any.
class Charge {
 public:
  explicit Charge(MemoryAccount& account) : before_(std::exchange(current, &account)) {}
  ~Charge() { current = before_; }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  // Of the account that this thread charges to.
  static std::size_t bytes() { return current ? current->bytes() : 0; }
  static void add(std::size_t bytes) {
    if (current) current->add(bytes);
  }
  static void remove(std::size_t bytes) {
    if (current) current->add(-bytes);
  }

 private:
  static inline constinit thread_local MemoryAccount* current = nullptr;

  MemoryAccount* before_;
};

// A base of what has an account: its members are charged to it from the first to the last.
class Accounted {
 public:
  Accounted(const Accounted&) = delete;
  Accounted& operator=(const Accounted&) = delete;

 protected:
  Accounted() { begin_charging(); }
  ~Accounted() {
    end_charging();
    // less: it may be the last to hold what a pattern has made
    assert(static_cast<std::ptrdiff_t>(account_.bytes()) <= 0);
  }
  // To be called at the beginning of the destructor, and at the end of the constructor.
  void begin_charging() { charge_.emplace(account_); }
  void end_charging() { charge_.reset(); }

  MemoryAccount account_;

 private:
  std::optional<Charge> charge_;  // while it is made, and while it goes
};

template <class T>
struct CountedAllocator {
  using value_type = T;
  CountedAllocator() = default;
  template <class U>
  CountedAllocator(const CountedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    T* const block = std::allocator<T>().allocate(count);
    Charge::add(block_bytes(count * sizeof(T)));
    return block;
  }
  void deallocate(T* block, std::size_t count) noexcept {
    Charge::remove(block_bytes(count * sizeof(T)));
    std::allocator<T>().deallocate(block, count);
  }
  friend bool operator==(const CountedAllocator&, const CountedAllocator&) { return true; }
};

// A base of classes whose objects are held by pointers.
class CountedObject {
 public:
  static void* operator new(std::size_t size) {
    void* const block = ::operator new(size);
    Charge::add(block_bytes(size));
    return block;
  }
  static void operator delete(void* block, std::size_t size) noexcept {
    Charge::remove(block_bytes(size));
    ::operator delete(block);
  }
};

// An object that several parts of what one account pays for share.
template <class T, class... Arguments>
std::shared_ptr<const T> make_counted(Arguments&&... arguments) {
  return std::allocate_shared<const T>(CountedAllocator<T>(), std::forward<Arguments>(arguments)...);
}

// What others may hold too.  `T` says what it takes (memory_bytes), always the same.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(std::shared_ptr<const T> shared) : shared_(std::move(shared)) {
    if (shared_) Charge::add(shared_->memory_bytes());
  }
  Kept(const Kept& other) : Kept(other.shared_) {}
  Kept(Kept&& other) noexcept = default;
  Kept& operator=(Kept other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Kept() {
    if (shared_) Charge::remove(shared_->memory_bytes());
  }

  const std::shared_ptr<const T>& shared() const { return shared_; }
  const T& operator*() const { return *shared_; }
  const T* operator->() const { return shared_.get(); }
  explicit operator bool() const { return shared_ != nullptr; }

 private:
  std::shared_ptr<const T> shared_;
};

namespace counted {

template <class T>
using vector = std::vector<T, CountedAllocator<T>>;
using string = std::basic_string<char, std::char_traits<char>, CountedAllocator<char>>;
template <class T>
using deque = std::deque<T, CountedAllocator<T>>;
template <class Key, class Value, class Less = std::less<Key>>
using map = std::map<Key, Value, Less, CountedAllocator<std::pair<const Key, Value>>>;
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using unordered_map = std::unordered_map<Key, Value, Hash, Equal, CountedAllocator<std::pair<const Key, Value>>>;
template <class Key, class Value>
using unordered_multimap = std::unordered_multimap<Key, Value, std::hash<Key>, std::equal_to<Key>,
                                                   CountedAllocator<std::pair<const Key, Value>>>;
template <class Key, class Hash = std::hash<Key>>
using unordered_set = std::unordered_set<Key, Hash, std::equal_to<Key>, CountedAllocator<Key>>;

}  // namespace counted

// Empties a container and frees what it has allocated (assigning {} mostly does not).
template <class Container>
void release(Container& container) {
  Container().swap(container);
}

}  // namespace tokamata

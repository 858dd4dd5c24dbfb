// Masks that belong to a vocabulary, and not to one constraint: which tokens stay inside a class of code
// points.  The patterns of a server, or of one schema, use the same few classes again and again.
//
// Safe to use from many threads.  The oldest go first; whoever holds one keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tokamata {

class MaskCache {
 public:
  struct Tokens {
    std::vector<std::uint32_t> words;
    std::size_t count;  // of set bits
  };
  using TokensPtr = std::shared_ptr<const Tokens>;

  TokensPtr find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto place = masks_.find(key);
    return place == masks_.end() ? nullptr : place->second;
  }

  void keep(const std::string& key, TokensPtr tokens) {
    const std::lock_guard lock(mutex_);
    if (!masks_.emplace(key, std::move(tokens)).second) return;
    order_.push_back(key);
    if (order_.size() > kMost) {
      masks_.erase(order_.front());
      order_.pop_front();
    }
  }

 private:
  static constexpr std::size_t kMost = 256;  // of 33 kB each, for 262,144 tokens

  mutable std::mutex mutex_;
  std::unordered_map<std::string, TokensPtr> masks_;
  std::deque<std::string> order_;
};

// Set bits; by the processor's own instruction, where it has one and the build does not take it for
// granted (four times as fast).
std::size_t count_bits(const std::vector<std::uint32_t>& words);

}  // namespace tokamata

// The steps of a text; copies share all steps that they have in common.
//
// Problem.  A matcher is forked for each beam, each draft and each request that begins alike.  A copy of the steps
// takes as long as the text is, for every one of them.
// How.  Steps are in blocks of kSteps, each with a pointer to the block before.  A history is its last block and a
// number of steps, so a copy is a pointer and a number.  A block that two histories hold is not written to: who goes on
// copies its own part of that one block.
// Cost.  Copying, appending, and removing the last step: constant.  Removing n steps: n / kSteps.
// Contract.  Copies belong to one constraint, whose lock guards all of them; only the destructor needs no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "following/follower.hpp"

namespace tokamata {

class History {
 public:
  explicit History(Step first) : last_(std::make_shared<Block>()) {
    last_->steps.push_back(std::move(first));
    size_ = 1;
  }
  History(const History&) = default;
  History(History&&) = default;
  History& operator=(History other) noexcept {
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::size_t size() const { return size_; }
  const Step& back() const { return last_->steps[size_ - 1 - last_->first]; }
  // To be changed by who has made it and has not copied it.
  Step& operator[](std::size_t index) {
    TOKAMATA_CHECK(index < size_, "a step of the text");
    Block* block = last_.get();
    while (block->first > index) block = block->before.get();
    return block->steps[index - block->first];
  }
  // If it throws, nothing has changed.
  void push_back(Step step) {
    const std::size_t used = size_ - last_->first;
    if (used < kSteps && last_.use_count() == 1) {
      last_->steps.resize(used);
      last_->steps.push_back(std::move(step));
    } else {
      auto block = std::make_shared<Block>();
      block->steps.reserve(kSteps);
      if (used == kSteps) {
        block->first = size_;
        block->before = last_;
      } else {
        block->first = last_->first;
        block->before = last_->before;
        block->steps.assign(last_->steps.begin(), last_->steps.begin() + static_cast<std::ptrdiff_t>(used));
      }
      block->steps.push_back(std::move(step));
      last_ = std::move(block);
    }
    ++size_;
  }
  // The first step stays.
  void remove_last(std::size_t count) {
    TOKAMATA_CHECK(count < size_, "the step before the first token stays");
    size_ -= count;
    while (last_->first >= size_) last_ = std::shared_ptr<Block>(last_->before);
  }
  // In order.
  template <class Visit>
  void visit(Visit&& visit) const {
    std::vector<const Block*> blocks;
    for (const Block* block = last_.get(); block; block = block->before.get()) blocks.push_back(block);
    for (std::size_t left = size_; !blocks.empty(); blocks.pop_back())
      for (const Step& step : blocks.back()->steps) {
        if (left == 0) return;
        visit(step);
        --left;
      }
  }

  // The steps of many histories, each once; those that a history has removed may be among them.
  class Visitor {
   public:
    template <class Visit>
    void visit(History& history, Visit&& visit) {
      for (Block* block = history.last_.get(); block && seen_.insert(block).second; block = block->before.get())
        for (Step& step : block->steps) visit(step);
    }

   private:
    std::unordered_set<const void*> seen_;
  };

 private:
  static constexpr std::size_t kSteps = 32;
  struct Block {
    std::shared_ptr<Block> before;
    std::size_t first = 0;  // how many steps are before
    std::vector<Step> steps;

    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    // One block after another: the destructors of a long text would call each other as deep as it is long.
    ~Block() {
      while (before && before.use_count() == 1) before = std::shared_ptr<Block>(std::move(before->before));
    }
  };

  std::shared_ptr<Block> last_;
  std::size_t size_ = 0;
};

}  // namespace tokamata

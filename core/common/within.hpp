// What is undone at the end of a scope, however it is left, unless it is to be kept.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "common/limits.hpp"

namespace tokamata {

// One level of a recursion, which is no deeper than a limit.
class Within {
 public:
  Within(std::uint32_t& depth, std::uint32_t limit) : depth_(depth) {
    if (depth_ >= limit) throw LimitExceeded("depth", limit);
    ++depth_;
  }
  ~Within() { --depth_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  std::uint32_t& depth_;
};

template <class Task>
class Undo {
 public:
  explicit Undo(Task task) : task_(std::move(task)) {}
  ~Undo() {
    if (!is_kept_) task_();
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  // Nothing is undone.
  void keep() { is_kept_ = true; }

 private:
  Task task_;
  bool is_kept_ = false;
};

// What is done where a scope is left by an error; it is given up where it fails itself, as without memory.
template <class Task>
class OnError {
 public:
  explicit OnError(Task task) : task_(std::move(task)) {}
  ~OnError() {
    if (std::uncaught_exceptions() == errors_) return;
    try {
      task_();
    } catch (...) {
    }
  }
  OnError(const OnError&) = delete;
  OnError& operator=(const OnError&) = delete;

 private:
  Task task_;
  const int errors_ = std::uncaught_exceptions();
};

}  // namespace tokamata

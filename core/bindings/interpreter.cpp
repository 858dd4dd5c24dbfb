#include "bindings/interpreter.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "common/interruption.hpp"
#include "common/mutex.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

constexpr std::chrono::seconds kLongestStep{5};  // that the end of the interpreter waits for

// Never destroyed: threads may outlive the interpreter.
struct Interpreter {
  std::atomic<unsigned long> main_thread{0};
  std::atomic<bool> has_ended{false};
  std::atomic<unsigned long> ending_thread{0};
  std::atomic<int> threads{0};  // that are in an EngineCall, or hold a Released

  static Interpreter& own() {
    static Interpreter& interpreter = *new Interpreter;
    return interpreter;
  }
  bool has_ended_for_this_thread() const {
    return has_ended.load(std::memory_order_acquire) && ending_thread != PyThread_get_thread_ident();
  }
};

thread_local int depth = 0;  // of this thread's calls

void enter() {
  if (depth++ == 0) ++Interpreter::own().threads;
}
void leave() {
  if (--depth == 0) --Interpreter::own().threads;
}

// The thread holds nothing that another one may wait for.
[[noreturn]] void stay_for_ever() {
  --Interpreter::own().threads;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

EngineCall::EngineCall() { enter(); }
EngineCall::~EngineCall() { leave(); }

Released::Released() : state_((enter(), PyEval_SaveThread())) {
  if (Interpreter::own().has_ended_for_this_thread()) stay_for_ever();
}

Released::~Released() {
  if (Interpreter::own().has_ended_for_this_thread()) stay_for_ever();
  PyEval_RestoreThread(state_);
  leave();
}

void Released::check(Clock::time_point now) {
  const Interpreter& interpreter = Interpreter::own();
  if (interpreter.has_ended_for_this_thread()) throw Interrupted();
  if (PyThread_get_thread_ident() != interpreter.main_thread.load(std::memory_order_relaxed)) return;
  static Clock::time_point asked = {};  // used by the main thread alone
  if (now - asked < kPatience) return;
  asked = now;
  PyEval_RestoreThread(state_);
  const bool raises = PyErr_CheckSignals() != 0;  // the error stays with the thread
  state_ = PyEval_SaveThread();
  if (raises) throw Interrupted();
}

namespace {

void end() {
  Interpreter& interpreter = Interpreter::own();
  interpreter.ending_thread = PyThread_get_thread_ident();
  interpreter.has_ended.store(true, std::memory_order_release);
  const nb::gil_scoped_release release;  // which the others need to leave their calls
  const auto last = std::chrono::steady_clock::now() + kLongestStep;
  while (interpreter.threads > (depth > 0) && std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void begin_child() {
  Interpreter& interpreter = Interpreter::own();
  interpreter.main_thread = PyThread_get_thread_ident();
  interpreter.threads = depth > 0;
  Fork::in_child();
}

}  // namespace

void watch_interpreter() {
  const nb::object main_thread = nb::module_::import_("threading").attr("main_thread")();
  Interpreter::own().main_thread = nb::cast<unsigned long>(main_thread.attr("ident"));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end));
  const nb::module_ os = nb::module_::import_("os");
  if (!nb::hasattr(os, "register_at_fork")) return;  // a system without fork
  os.attr("register_at_fork")("before"_a = nb::cpp_function(&Fork::prepare),
                              "after_in_parent"_a = nb::cpp_function(&Fork::in_parent),
                              "after_in_child"_a = nb::cpp_function(&begin_child));
}

}  // namespace tokamata

// The interpreter around the engine: its lock, its signals, its end, and forks.
//
// The lock is released around everything that may work or wait (`Released`).  Nobody waits for the engine while he
// holds it, so a thread of the engine may take it again at any time, whatever it has locked.
//
// Signals.  Python notes a signal, and runs its handler when the main thread runs Python.  While that is in the engine,
// it asks every 20 ms (`Interruption`): the handler runs, and where it raises, as that of Ctrl-C does, the call ends
// with its error.
//
// The end.  A thread that takes the interpreter's lock after the interpreter has ended is ended by Python in the middle
// of a call (until 3.13), which C++ answers by aborting the process.  Therefore `end` is called before (atexit): other
// threads leave the engine at their next step, wait there for ever, and hold neither the interpreter's lock nor one of
// the engine's.
//
// Forks.  See common/mutex.hpp.
#pragma once

#include <nanobind/nanobind.h>

#include "common/interruption.hpp"

namespace tokamata {

// A call of the engine, with its conversion of errors: while one is under way, the interpreter does not end.
class EngineCall {
 public:
  EngineCall();
  ~EngineCall();
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;
};

// While it lives, this thread does not hold the interpreter's lock, and is interrupted as said above.
class Released final : private Interruption {
 public:
  Released();
  ~Released() override;

 private:
  void check(Clock::time_point now) override;

  PyThreadState* state_;
  Interruption::Set set_{this};
};

// Registers what is called at the end of the interpreter and around its forks.
void watch_interpreter();

}  // namespace tokamata

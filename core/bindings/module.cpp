// The engine for Python: conversion, the interpreter's lock, and errors.  No decision is made here.
//
// The interpreter's lock is released around everything that may work or wait.  What is known
// already is answered without (the members of Matcher named try_), since releasing it would cost
// more than the answer.

#include "bindings/interpreter.hpp"
#include "bindings/parts.hpp"
#include "common/limits.hpp"

namespace nb = nanobind;
using namespace tokamata;

NB_MODULE(_core, m) {
  m.doc() = "The engine (C++): this module only converts arguments and results; core/ has the algorithms.";
  // Nanobind's notes on what is left at the end of a process blame these bindings.  But what they hold of Python's are
  // texts, arrays and each other, never in a circle, so that it goes when its holders go; and where another package
  // keeps its callers alive to the end (an import of torch within a function does, and an error of pydantic's that it
  // has caught), the notes are about what those callers hold.  Tests turn them on where nothing else is imported.
  nb::set_leak_warnings(false);
  m.def(
      "report_leaks", [] { nb::set_leak_warnings(true); },
      R"doc(At the end of the process, nanobind reports its objects that are still alive; for tests.)doc");
  m.def(
      "steps_of_thread", [] { return Budget::steps_of_thread(); },
      R"doc(The steps of work that all calls of this thread have taken, the same in every run; for tests.)doc");

  watch_interpreter();
  bind_expressions(m);
  bind_json(m);
  bind_programs(m);
  bind_repair(m);
  bind_repair_outline(m);
  bind_repair_stream(m);
  bind_token_repair(m);
  bind_limits(m);
  bind_vocabulary(m);
  bind_tokenization(m);
  bind_token_edges(m);
  bind_constraints(m);
  bind_batches(m);
  bind_matchers(m);
}

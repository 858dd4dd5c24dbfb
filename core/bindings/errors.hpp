// Errors of the engine as those of tokamata.errors, and the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings/interpreter.hpp"
#include "matching/matcher.hpp"

namespace tokamata {

[[noreturn]] inline void raise(const char* type, nanobind::object args) {
  const nanobind::object error = nanobind::module_::import_("tokamata.errors").attr(type);
  PyErr_SetObject(error.ptr(), args.ptr());
  throw nanobind::python_error();
}

// ArgumentError(name, what was given, what is expected).
[[noreturn]] inline void raise_argument(const char* name, nanobind::handle given, const char* expected) {
  const nanobind::object shown = nanobind::module_::import_("tokamata.errors").attr("shown_argument")(given);
  raise("ArgumentError", nanobind::make_tuple(name, shown, expected));
}

// What errors show: a pattern, or a description of a constraint that was not made from one.
struct Shown {
  nanobind::object text;
  bool is_pattern;        // places are offsets into it
  TokenCount budget = 0;  // of the call, where it has one
};

// The pattern of a call, where it has one.
inline nanobind::object object_of(const std::optional<nanobind::str>& pattern) {
  return pattern ? nanobind::object(*pattern) : nanobind::none();
}

// Runs a task of the engine; its errors become those of tokamata.errors.
template <class Task>
auto guarded(const Shown& shown, Task&& task) {
  const EngineCall call;
  const nanobind::object& pattern = shown.text;
  try {
    return task();
  } catch (const LimitExceeded& error) {
    const bool known = shown.is_pattern && error.position >= 0;
    const nanobind::object position = known ? nanobind::object(nanobind::int_(error.position)) : nanobind::none();
    raise("LimitExceeded", nanobind::make_tuple(error.limit, error.bound, pattern, position));
  } catch (const BudgetTooSmall& error) {
    raise("BudgetError", nanobind::make_tuple(shown.budget, error.needed));
  } catch (const TooFewTokens& error) {
    raise("LengthError", nanobind::make_tuple(pattern, error.least));
  } catch (const Interrupted&) {
    throw nanobind::python_error();  // of the handler of a signal
  } catch (const Orphaned&) {
    raise("ForkError", nanobind::make_tuple(pattern));
  } catch (const HeldBySelf&) {
    raise("BusyError", nanobind::make_tuple(pattern));
  } catch (const Cancelled&) {
    raise("Cancelled", nanobind::make_tuple("the CancelToken was cancelled; what the call was made on is unchanged"));
  } catch (const EmptyConstraint&) {
    raise("EmptyConstraintError",
          nanobind::make_tuple(
              nanobind::str("the pattern {!r} matches no text at all; check it for parts that exclude each other")
                  .attr("format")(pattern)));
  } catch (const NotCanonical& error) {
    raise("NoncanonicalError", nanobind::make_tuple(pattern, error.by_context));
  } catch (const ContextNotCanonical& error) {
    raise("ContextError", nanobind::make_tuple(error.position));
  } catch (const NotAllowed& error) {
    raise("ArgumentError", nanobind::make_tuple("written", "token " + std::to_string(error.position) + " of the list",
                                                "tokens that the constraint allows one after another"));
  } catch (const Unspellable& error) {
    const std::string bytes = [&] {
      std::string list;
      for (unsigned byte = 0; byte < 256; ++byte)
        if (error.bytes.contains(static_cast<std::uint8_t>(byte))) list.push_back(static_cast<char>(byte));
      return list;
    }();
    raise("UnspellableError",
          nanobind::make_tuple(
              nanobind::str("the vocabulary has no tokens that spell a text which {!r} matches; of the bytes in the "
                            "pattern these are not tokens of their own: {!r}")
                  .attr("format")(pattern, nanobind::bytes(bytes.data(), bytes.size()))));
  }
}

template <class Task>
auto without_interpreter(const Shown& shown, Task&& task) {
  return guarded(shown, [&] {
    const Released released;
    return task();
  });
}

}  // namespace tokamata

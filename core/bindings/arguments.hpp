// Arguments that are checked as they arrive; what is wrong is an ArgumentError, or an error of the argument's own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bindings/errors.hpp"

namespace tokamata {

// An int, or what stands for one, such as numpy's integers.
struct WholeNumber {
  nanobind::object number;
  long long value;
  int overflow;  // 0 where `value` is it; otherwise its sign
};

inline WholeNumber checked_whole(const char* name, nanobind::handle given, const char* expected) {
  nanobind::object number = nanobind::steal(PyNumber_Index(given.ptr()));
  if (!number.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nanobind::python_error();
    PyErr_Clear();
    raise_argument(name, given, expected);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return {std::move(number), value, overflow};
}

inline bool checked_flag(const char* name, nanobind::handle given) {
  if (given.ptr() == Py_True) return true;
  if (given.ptr() != Py_False) raise_argument(name, given, "True or False");
  return false;
}

// More tokens than anyone writes are as good as any number; there is no budget of none.
inline TokenCount checked_budget(const nanobind::handle tokens) {
  const WholeNumber budget = checked_whole("budget", tokens, "a whole number of tokens, or None");
  if (budget.overflow < 0 || (budget.overflow == 0 && budget.value < 1))
    raise("BudgetError", nanobind::make_tuple(budget.number));
  return budget.overflow > 0 ? TokenCount{1} << 62 : static_cast<TokenCount>(budget.value);
}

inline Deadline checked_deadline(const nanobind::handle given) {
  if (given.is_none()) return {};
  const nanobind::object seconds =
      nanobind::module_::import_("tokamata.calls.arguments").attr("checked_number")("deadline_seconds", given, 0);
  return Deadline::after(nanobind::cast<double>(nanobind::float_(seconds)));
}

inline OnDeadline checked_on_deadline(const nanobind::handle given) {
  std::string value;
  if (nanobind::isinstance<nanobind::str>(given)) value = nanobind::str(given).c_str();
  if (value == "error") return OnDeadline::Error;
  if (value != "some") raise_argument("on_deadline", given, "\"error\" or \"some\"");
  return OnDeadline::Some;
}

// The items of an argument; an error of its own iterator passes.
inline nanobind::tuple items_of(const char* name, const nanobind::handle given, const char* expected) {
  nanobind::object all = nanobind::steal(PySequence_Tuple(given.ptr()));
  if (!all.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nanobind::python_error();
    PyErr_Clear();
    raise_argument(name, given, expected);
  }
  return nanobind::borrow<nanobind::tuple>(all);
}

// A sequence of whole numbers; what has more than 64 bits becomes the least of them.
inline std::vector<std::int64_t> whole_numbers(const char* name, const nanobind::handle given, const char* expected) {
  std::vector<std::int64_t> numbers;
  for (const nanobind::handle one : items_of(name, given, expected)) {
    const WholeNumber number = checked_whole(name, one, expected);
    numbers.push_back(number.overflow != 0 ? std::numeric_limits<std::int64_t>::min() : number.value);
  }
  return numbers;
}

inline std::vector<std::int64_t> token_numbers(const nanobind::handle given) {
  return whole_numbers("tokens", given, "a sequence of token ids");
}

}  // namespace tokamata

// A small frame for the tests of the core: named cases, checks, and what to print when one fails.
//
//   TEST(masks_are_exact) {
//     const test::Note note([&] { return "seed " + std::to_string(seed); });
//     CHECK(mask == expected);
//   }
//
// A failed check ends its case and prints the notes that are alive, innermost last.
#pragma once

#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace test {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a failure says about where it happened.  The text is made only when it is needed.
class Note {
 public:
  explicit Note(std::function<std::string()> text) { alive().push_back(std::move(text)); }
  ~Note() { alive().pop_back(); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

  static std::string all() {
    std::string text;
    for (const auto& note : alive()) text += "\n    " + note();
    return text;
  }

 private:
  static std::vector<std::function<std::string()>>& alive() {
    static thread_local std::vector<std::function<std::string()>> notes;
    return notes;
  }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
  std::ostringstream message;
  message << file << ":" << line << ": " << what << Note::all();
  throw Failure(message.str());
}

template <class T>
std::string shown(const T& value) {
  if constexpr (requires(std::ostream& out) { out << value; }) {
    std::ostringstream out;
    out << value;
    return out.str();
  } else {
    return "?";
  }
}

template <class A, class B>
void check_equal(const A& actual, const B& expected, const char* file, int line, const char* what) {
  if (!(actual == expected)) fail(file, line, what + shown(actual) + " is not " + shown(expected));
}

struct Case {
  std::string suite;
  std::string name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  Registration(const std::string& file, const char* name, void (*run)()) {
    std::string suite = file.substr(file.find_last_of('/') + 1);
    suite.resize(suite.rfind("_test"));
    cases().push_back({suite, name, run});
  }
};

}  // namespace test

#define TEST(name)                                                                 \
  static void name();                                                              \
  static const ::test::Registration registration_of_##name(__FILE__, #name, name); \
  static void name()

#define CHECK(condition) ((condition) ? void() : ::test::fail(__FILE__, __LINE__, "CHECK(" #condition ")"))

#define CHECK_EQUAL(actual, expected) \
  ::test::check_equal((actual), (expected), __FILE__, __LINE__, "CHECK_EQUAL(" #actual ", " #expected "): ")

// Runs the statement, which must throw `Error`; the value is what it threw.
#define CHECK_THROWS(Error, ...)                                                                       \
  [&]() -> Error {                                                                                     \
    try {                                                                                              \
      __VA_ARGS__;                                                                                     \
    } catch (const Error& thrown) {                                                                    \
      return thrown;                                                                                   \
    }                                                                                                  \
    ::test::fail(__FILE__, __LINE__, "CHECK_THROWS(" #Error "): nothing was thrown by " #__VA_ARGS__); \
  }()

// The items that brackets hold: examples, ends of texts, bounds, and texts that arrive in pieces.

#include "json/bracket_outline.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "amounts.hpp"
#include "choices.hpp"
#include "test.hpp"

namespace {

using tokamata::json::BracketOutline;

BracketOutline::Settings outline_settings(std::size_t most_items = 100) {
  return {{"think", "thought"}, most_items, true, true};
}

std::string shown_event(const BracketOutline::Root& one) { return "root " + std::to_string(one.begin); }

std::string shown_event(const BracketOutline::Item& one) {
  std::string shown = one.is_whole ? "whole" : "broken";
  if (one.is_only) shown += " only";
  shown += one.is_member ? " member " : " element ";
  shown += std::to_string(one.begin) + "-" + std::to_string(one.end);
  if (one.after != BracketOutline::kNowhere) shown += " after " + std::to_string(one.after);
  if (one.before != BracketOutline::kNowhere) shown += " before " + std::to_string(one.before);
  return shown;
}

std::string shown_event(const BracketOutline::Repeated& one) {
  return "repeated " + std::to_string(one.begin) + "-" + std::to_string(one.after);
}

std::string shown_event(const BracketOutline::Closed& one) {
  std::string shown = one.is_root ? "closed root " : "closed ";
  shown += std::to_string(one.begin) + "-" + std::to_string(one.end) + " height " + std::to_string(one.height);
  std::vector<std::string> names = one.names;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) shown += " " + name;
  return shown;
}

std::vector<std::string> shown_events(const BracketOutline::Events& events) {
  std::vector<std::string> shown;
  for (const auto& event : events) shown.push_back(std::visit([](const auto& one) { return shown_event(one); }, event));
  return shown;
}

// All events of a text, and of the brackets that its end leaves open.
std::vector<std::string> events_of(std::string_view text, BracketOutline::Settings settings = outline_settings()) {
  BracketOutline outline(0, std::move(settings));
  BracketOutline::Events events;
  CHECK(!outline.read(text, true, text.size() + 1, events));
  CHECK(outline.position() == text.size());
  outline.finish(text.size(), events);
  return shown_events(events);
}

using Lines = std::vector<std::string>;

TEST(the_items_of_brackets) {
  // The example of the header; the object is a broken element, for `"b" 3` has no colon.
  CHECK((events_of("[1, {a: 2, \"b\" 3}]") == Lines{"root 0", "whole element 1-2 after 3", "whole member 5-9 after 10",
                                                    "broken member 11-16 before 9", "closed 4-17 height 1 a",
                                                    "broken element 4-17 before 2", "closed root 0-18 height 2"}));
  CHECK((events_of("{\"a\": 1, \"a\": 2}") == Lines{"root 0", "whole member 1-7 after 8", "repeated 1-8",
                                                    "whole member 9-15 before 7", "closed root 0-16 height 1 a"}));
  // What stands in a bracket is no name.
  CHECK((events_of("{[a]: 1, : 2}") == Lines{"root 0", "whole only element 2-3 before 2", "closed 1-4 height 1",
                                             "whole member 1-7 after 8", "whole member 9-12 before 7",
                                             "closed root 0-13 height 2"}));
  // A comma is lost; a closing quote is; what closes another bracket is passed over.
  CHECK((events_of("{\"a\": 1 \"b\": 2}") ==
         Lines{"root 0", "whole member 1-7 after 8", "whole member 8-14 before 8", "closed root 0-15 height 1 a b"}));
  CHECK((events_of("{a: \"x, \"b\": 2}") ==
         Lines{"root 0", "whole member 1-6 after 7", "whole member 8-14 before 6", "closed root 0-15 height 1 a b"}));
  CHECK((events_of("[1}, 2]") ==
         Lines{"root 0", "whole element 1-3 after 4", "whole element 5-6 before 3", "closed root 0-7 height 1"}));
  // Strings and comments may hold brackets; parentheses count where they fill a line.
  CHECK((events_of("['[', /* ] */ \"]\"] // [") ==
         Lines{"root 0", "whole element 1-4 after 5", "whole element 14-17 before 4", "closed root 0-18 height 1"}));
  CHECK(events_of("f(1)").empty());
  CHECK((events_of("\n(1)\n") == Lines{"root 1", "whole only element 2-3 before 2", "closed root 1-4 height 1"}));
}

TEST(the_ends_of_texts) {
  CHECK(events_of("").empty());
  CHECK((events_of("{") == Lines{"root 0"}));
  CHECK((events_of("[\"a") == Lines{"root 0", "whole only element 1-3 before 1"}));
  CHECK((events_of("[\"") == Lines{"root 0", "broken only element 1-2 before 1"}));
  CHECK((events_of("[1, /* ]") ==
         Lines{"root 0", "whole only element 1-2 after 3 before 1", "closed root 0-8 height 1"}));
  CHECK((events_of("{a: [1, {b:") == Lines{"root 0", "whole element 5-6 after 7", "whole only member 1-11 before 1",
                                           "whole element 8-11 before 6", "broken only member 9-11 before 9"}));
  // Of a text that goes on, what may be other waits.
  BracketOutline outline(0, outline_settings());
  BracketOutline::Events events;
  for (const auto& [text, position] :
       std::vector<std::pair<std::string_view, std::size_t>>{{"[1", 1},
                                                             {"[12", 1},
                                                             {"[12 ", 4},
                                                             {"[12 \"a\nb\"", 4},
                                                             {"[12 \"a\nb\" ", 4},
                                                             {"[12 \"a\nb\" ]", 11},
                                                             {"[12 \"a\nb\" ]<th", 11}}) {
    CHECK(!outline.read(text, false, 100, events));
    CHECK_EQUAL(outline.position(), position);
  }
}

TEST(outlines_are_bounded) {
  const std::size_t depth = BracketOutline::kMostDepth + 10;
  BracketOutline outline(0, outline_settings());
  BracketOutline::Events events;
  const std::string text = std::string(depth, '[') + "1, 2" + std::string(depth, ']');
  CHECK(!outline.read(text.substr(0, depth), true, text.size(), events));
  CHECK_EQUAL(outline.depth(), BracketOutline::kMostDepth);
  CHECK(!outline.read(text, true, text.size(), events));
  CHECK_EQUAL(outline.depth(), 0u);
  CHECK(shown_event(std::get<BracketOutline::Closed>(events.back())) ==
        "closed root 0-" + std::to_string(text.size()) + " height " + std::to_string(BracketOutline::kMostDepth));
  // Of a bracket with many items, those that are too many are not reported.
  CHECK((events_of("[1, 2, 3, 4]", outline_settings(2)) ==
         Lines{"root 0", "whole element 1-2 after 3", "whole element 4-5 after 6", "closed root 0-12 height 1"}));
  // After so many bytes the caller decides whether to go on.
  BracketOutline slow(0, outline_settings());
  std::size_t calls = 1;
  while (slow.read(text, true, 1000, events)) ++calls;
  CHECK(calls >= text.size() / 1000);
}

TEST(outlines_do_not_depend_on_cuts) {
  const std::vector<std::string> parts{
      "{", "}",     "[",       "]",  "(",  ")",     "\"",           "'",    ",",   ":",    "\n",
      " ", "\\",    "\\\"",    "/*", "*/", "//",    "<think>",      "<tho", "<",   "`",    "a",
      "b", "\"a\"", "\"b\": ", "1",  "-",  "\"x, ", "\"a, \"b\": ", "(\n",  ")\n", "\\\n", "\xc3\xa9"};
  for (std::uint64_t seed = 0; seed < test::drawn(4000); ++seed) {
    Choices choices(seed + 310'000);
    std::string text;
    for (std::uint32_t count = choices.below(24); count > 0; --count) text += choices.of(parts);
    const test::Note note([&] { return "seed " + std::to_string(seed) + ": " + text; });
    BracketOutline outline(0, outline_settings());
    BracketOutline::Events events;
    for (std::size_t end = 0; end < text.size(); end += choices.between(1, 5)) {
      while (outline.read(std::string_view(text).substr(0, end), false, choices.between(1, 9), events)) {
      }
    }
    while (outline.read(text, true, 3, events)) {
    }
    outline.finish(text.size(), events);
    CHECK(shown_events(events) == events_of(text));
  }
}

}  // namespace

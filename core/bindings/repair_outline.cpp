// The outline of a broken text, for Python.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.hpp"
#include "json/bracket_outline.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

using json::BracketOutline;

namespace {

// Of bytes or a bytearray; it is not changed while the interpreter's lock is held.
std::string_view view_of(nb::handle given) {
  if (PyBytes_Check(given.ptr()))
    return {PyBytes_AS_STRING(given.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(given.ptr()))};
  if (PyByteArray_Check(given.ptr()))
    return {PyByteArray_AS_STRING(given.ptr()), static_cast<std::size_t>(PyByteArray_GET_SIZE(given.ptr()))};
  throw nb::type_error("the text of an outline is bytes or a bytearray");
}

// The kinds of events, for Python; each event begins with the number of its own.
enum class OutlineEvent : std::uint8_t { Root, Item, Repeated, Closed };

template <class... Fields>
nb::tuple tuple_of_kind(OutlineEvent kind, Fields&&... fields) {
  return nb::make_tuple(static_cast<unsigned>(kind), std::forward<Fields>(fields)...);
}

nb::tuple tuple_of(const BracketOutline::Root& one) { return tuple_of_kind(OutlineEvent::Root, one.begin); }

nb::tuple tuple_of(const BracketOutline::Item& one) {
  return tuple_of_kind(OutlineEvent::Item, one.is_member, one.is_whole, one.is_only, one.begin, one.end, one.after,
                       one.before);
}

nb::tuple tuple_of(const BracketOutline::Repeated& one) {
  return tuple_of_kind(OutlineEvent::Repeated, one.begin, one.after);
}

nb::tuple tuple_of(const BracketOutline::Closed& one) {
  nb::list names;
  for (const std::string& name : one.names) names.append(nb::bytes(name.data(), name.size()));
  return tuple_of_kind(OutlineEvent::Closed, one.is_root, one.is_object, one.has_items, one.begin, one.end, one.height,
                       std::move(names));
}

using Events = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::ellipsis>>;

Events list_of(const BracketOutline::Events& events) {
  Events made;
  for (const BracketOutline::Event& event : events)
    made.append(std::visit([](const auto& one) { return tuple_of(one); }, event));
  return made;
}

}  // namespace

void bind_repair_outline(nb::module_& m) {
  nb::enum_<OutlineEvent>(m, "OutlineEvent", "The kinds of events of a BracketOutline.")
      .value("ROOT", OutlineEvent::Root, "A bracket within no other begins.")
      .value("ITEM", OutlineEvent::Item, "An item has ended.")
      .value("REPEATED", OutlineEvent::Repeated, "The name of a whole member comes again.")
      .value("CLOSED", OutlineEvent::Closed, "A bracket has closed.");
  nb::class_<BracketOutline>(
      m, "BracketOutline",
      R"doc(Items that brackets hold, in a text that arrives in pieces; ``core/json/bracket_outline.hpp``.

Args:
    begin: what stands before it is not read.
    tags: their begins in angle brackets are no text; reading stops there until the end of the text.
    most_items: of a bracket; further ones are not reported.
    reports_inner: whether closed brackets within others are reported.
    keeps_names: whether a closed object is reported with the names in it.)doc")
      .def(
          "__init__",
          [](BracketOutline* self, std::size_t begin, std::vector<std::string> tags, std::size_t most_items,
             bool reports_inner, bool keeps_names) {
            new (self) BracketOutline(begin, {std::move(tags), most_items, reports_inner, keeps_names});
          },
          "begin"_a, "tags"_a, "most_items"_a, "reports_inner"_a, "keeps_names"_a)
      .def(
          "read",
          [](BracketOutline& self, nb::handle text, bool is_end,
             std::size_t most_bytes) -> nb::typed<nb::tuple, Events, bool> {
            BracketOutline::Events events;
            const bool goes_on = self.read(view_of(text), is_end, most_bytes, events);
            return nb::make_tuple(list_of(events), goes_on);
          },
          "text"_a, "is_end"_a, "most_bytes"_a,
          nb::sig("def read(self, text: bytes | bytearray, is_end: bool, most_bytes: int) -> "
                  "tuple[list[tuple[typing.Any, ...]], bool]"),
          R"doc(Events, and whether there is more to read; it stops after some ``most_bytes``.

An event begins with the number of its kind, an ``OutlineEvent``.  ``ROOT``: where it begins.
``ITEM``: whether it is a member, whole, the only one; its begin and end, where it ends with its
comma, and, of the last one, where it begins with the comma before it.  ``REPEATED``: the begin of
the member, and its end with its comma.  ``CLOSED``: whether the bracket is within no other, an
object, has items; its begin and end, its height, and the names in it.  What there is not is -1.)doc")
      .def(
          "finish",
          [](BracketOutline& self, std::size_t end) {
            BracketOutline::Events events;
            self.finish(end, events);
            return list_of(events);
          },
          "end"_a, R"doc(The events of items that the end of the text leaves open.)doc")
      .def(
          "open",
          [](const BracketOutline& self, std::size_t index)
              -> nb::typed<nb::tuple, bool, bool, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t> {
            if (index >= self.depth()) throw nb::index_error();
            const BracketOutline::Open one = self.open(index);
            return nb::make_tuple(one.opening == '{', one.has_name, one.begin, one.item, one.ended, one.before_ended,
                                  one.before);
          },
          "index"_a,
          R"doc(An open bracket: whether it is an object, whether the item that is read has a name, and positions.

These are the begin of the bracket, of the item, of one that has ended and is not reported, where that
one begins with the comma before it, and where the one that is read or comes next does.)doc")
      .def("first_open_from", &BracketOutline::first_open_from, "position"_a,
           R"doc(The first open bracket of which the item that is read begins at a position or later.)doc")
      .def_prop_ro("position", &BracketOutline::position, R"doc(All before it has been read.)doc")
      .def_prop_ro("depth", &BracketOutline::depth, R"doc(How many brackets are open.)doc")
      .def_prop_ro("last_begin", &BracketOutline::last_begin,
                   R"doc(Where the last string, word or other byte in a bracket begins.)doc")
      .def_prop_ro(
          "unmatched", &BracketOutline::unmatched,
          R"doc(The end of the last bracket that closed nothing outside of all others; -1: there is none.)doc");
}

}  // namespace tokamata

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

// Each event begins with the number of its kind.
nb::tuple tuple_of(const BracketOutline::Root& one) { return nb::make_tuple(0, one.begin); }

nb::tuple tuple_of(const BracketOutline::Item& one) {
  return nb::make_tuple(1, one.is_member, one.is_whole, one.is_only, one.begin, one.end, one.after, one.before);
}

nb::tuple tuple_of(const BracketOutline::Repeated& one) { return nb::make_tuple(2, one.begin, one.after); }

nb::tuple tuple_of(const BracketOutline::Closed& one) {
  nb::list names;
  for (const std::string& name : one.names) names.append(nb::bytes(name.data(), name.size()));
  return nb::make_tuple(3, one.is_root, one.is_object, one.has_items, one.begin, one.end, one.height, std::move(names));
}

nb::list list_of(const BracketOutline::Events& events) {
  nb::list made;
  for (const BracketOutline::Event& event : events)
    made.append(std::visit([](const auto& one) { return tuple_of(one); }, event));
  return made;
}

}  // namespace

void bind_repair_outline(nb::module_& m) {
  nb::class_<BracketOutline>(m, "BracketOutline")
      .def(
          "__init__",
          [](BracketOutline* self, std::size_t begin, std::vector<std::string> tags, std::size_t most_items,
             bool reports_inner, bool keeps_names) {
            new (self) BracketOutline(begin, {std::move(tags), most_items, reports_inner, keeps_names});
          },
          "begin"_a, "tags"_a, "most_items"_a, "reports_inner"_a, "keeps_names"_a)
      .def(
          "read",
          [](BracketOutline& self, nb::handle text, bool is_end, std::size_t most_bytes) {
            BracketOutline::Events events;
            const bool goes_on = self.read(view_of(text), is_end, most_bytes, events);
            return nb::make_tuple(list_of(events), goes_on);
          },
          "text"_a, "is_end"_a, "most_bytes"_a)
      .def(
          "finish",
          [](BracketOutline& self, std::size_t end) {
            BracketOutline::Events events;
            self.finish(end, events);
            return list_of(events);
          },
          "end"_a)
      .def(
          "open",
          [](const BracketOutline& self, std::size_t index) {
            if (index >= self.depth()) throw nb::index_error();
            const BracketOutline::Open one = self.open(index);
            return nb::make_tuple(one.opening == '{', one.has_name, one.begin, one.item, one.ended, one.before_ended,
                                  one.before);
          },
          "index"_a)
      .def("first_open_from", &BracketOutline::first_open_from, "position"_a)
      .def_prop_ro("position", &BracketOutline::position)
      .def_prop_ro("depth", &BracketOutline::depth)
      .def_prop_ro("last_begin", &BracketOutline::last_begin)
      .def_prop_ro("unmatched", &BracketOutline::unmatched);
}

}  // namespace tokamata

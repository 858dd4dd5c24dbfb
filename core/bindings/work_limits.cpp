// Limits and cancel tokens for Python.

#include "bindings/parts.hpp"
#include "common/limits.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

void bind_limits(nb::module_& m) {
  nb::class_<CancelToken>(m, "CancelToken", "Stops work under way, from any thread.")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel,
           "Makes all work that was given this token raise tokamata.Cancelled, now and later.")
      .def_prop_ro("cancelled", &CancelToken::cancelled, "Whether cancel() was called.");

  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, std::size_t states, std::size_t memory_bytes, double seconds, std::uint32_t depth) {
            new (self) Limits{states, memory_bytes, seconds, depth};
          },
          "states"_a, "memory_bytes"_a, "seconds"_a, "depth"_a);
}

}  // namespace tokamata

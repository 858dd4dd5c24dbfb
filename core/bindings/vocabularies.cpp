// Vocabularies for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <span>

#include "bindings/interpreter.hpp"
#include "bindings/parts.hpp"
#include "vocabulary/vocabulary.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

std::shared_ptr<Vocabulary> make_vocabulary(const nb::typed<nb::list, std::optional<nb::bytes>>& tokens,
                                            std::vector<std::uint32_t> stop, std::uint32_t width) {
  std::vector<std::string_view> views;
  views.reserve(tokens.size());
  for (const nb::handle token : tokens) {
    if (token.is_none()) {
      views.emplace_back();
    } else if (PyBytes_CheckExact(token.ptr())) {
      views.emplace_back(PyBytes_AS_STRING(token.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(token.ptr())));
    } else {
      throw nb::type_error("tokens must be bytes or None");
    }
  }
  // `tokens` is referenced by the caller, so that the views live; but it must not change, and so
  // the interpreter's lock is kept.
  return std::make_shared<Vocabulary>(views, std::move(stop), width);
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::new_(&make_vocabulary), "tokens"_a, "stop"_a, "width"_a)
      .def_prop_ro(
          "content",
          [](const Vocabulary& v) {
            const std::string bytes = v.content();
            return nb::bytes(bytes.data(), bytes.size());
          },
          R"doc(The bytes that identify the tokens, for the names of derived files.)doc")
      .def(
          "use_segment_files",
          [](Vocabulary& v, const std::string& folder, double least_seconds, std::uint64_t most_written) {
            v.use_segment_files(std::make_unique<SegmentFiles>(
                std::filesystem::path(std::u8string(folder.begin(), folder.end())), v.text_words(),
                v.trie().node_count(), SegmentFiles::Duration(least_seconds), most_written));
          },
          "folder"_a, "least_seconds"_a, "most_written"_a, nb::call_guard<Released>(),
          R"doc(Keeps segments of this vocabulary in a folder, and uses those that are there.

Must be called before anything is compiled for the vocabulary.

Args:
    folder: only for this vocabulary and this version of the engine; created by the first write.
    least_seconds: a segment that took less is not written.
    most_written: the number of bytes that this object may write.)doc")
      .def(
          "tokens_with",
          [](const Vocabulary& v, const nb::bytes& text) {
            const std::optional<NodeId> node = v.trie().find({text.c_str(), text.size()});
            if (!node) return std::vector<std::uint32_t>();
            const std::span<const std::uint32_t> own = v.trie().own(*node);
            return std::vector<std::uint32_t>(own.begin(), own.end());
          },
          "text"_a, "The tokens whose bytes are these.")
      .def_prop_ro("trie_nodes", [](const Vocabulary& v) { return v.trie().node_count(); })
      .def_prop_ro("trie_bytes", [](const Vocabulary& v) { return v.trie().memory_bytes(); })
      .def_prop_ro("longest", [](const Vocabulary& v) { return v.trie().longest(); });
}

}  // namespace tokamata

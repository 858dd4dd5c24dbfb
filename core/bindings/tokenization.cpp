// Tokenizations for Python: the tables that the front end reads, as the engine has them.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/interpreter.hpp"
#include "bindings/parts.hpp"
#include "canonical/byte_pair_pieces.hpp"
#include "canonical/longest_match_pieces.hpp"
#include "canonical/text_ids.hpp"
#include "canonical/tokenization.hpp"
#include "canonical/unigram_pieces.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

std::vector<std::string> texts_of(const nb::dict& tables, const char* name) {
  std::vector<std::string> texts;
  for (const nb::handle each : nb::cast<nb::list>(tables[name])) {
    const auto text = nb::cast<nb::bytes>(each);
    texts.emplace_back(text.c_str(), text.size());
  }
  return texts;
}

// Lists one after the other, with where each begins.
std::vector<std::vector<std::uint16_t>> lists_of(const nb::dict& tables, const char* offsets_name, const char* name) {
  const auto offsets = to_vector<std::uint32_t>(tables, offsets_name);
  const auto all = to_vector<std::uint16_t>(tables, name);
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != all.size() || !std::ranges::is_sorted(offsets))
    throw nb::value_error("the offsets of lists are not in order");
  std::vector<std::vector<std::uint16_t>> lists;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    lists.emplace_back(all.begin() + offsets[i], all.begin() + offsets[i + 1]);
  return lists;
}

void add_kinds(TextRulesTables& rules, const nb::dict& tables) {
  const auto ends = to_vector<std::uint8_t>(tables, "kind_ends");
  auto text_starts = lists_of(tables, "kind_text_offsets", "kind_text_starts");
  auto control_starts = lists_of(tables, "kind_control_offsets", "kind_control_starts");
  if (text_starts.size() != ends.size() || control_starts.size() != ends.size())
    throw nb::value_error("the tables of kinds differ in length");
  for (std::size_t i = 0; i < ends.size(); ++i)
    rules.kinds.push_back({ends[i], std::move(text_starts[i]), std::move(control_starts[i])});
}

TextRulesTables text_rules(const nb::dict& tables) {
  TextRulesTables rules;
  const auto firsts = to_vector<std::uint32_t>(tables, "range_firsts");
  const auto classes = to_vector<std::uint16_t>(tables, "range_classes");
  if (firsts.size() != classes.size()) throw nb::value_error("range_firsts and range_classes differ in length");
  for (std::size_t i = 0; i < firsts.size(); ++i) rules.ranges.push_back({firsts[i], classes[i]});
  const auto symbols = to_vector<std::uint16_t>(tables, "class_symbols"),
             starters = to_vector<std::uint16_t>(tables, "class_starters"),
             seconds = to_vector<std::uint16_t>(tables, "class_seconds");
  const auto combining = to_vector<std::uint8_t>(tables, "class_combining"),
             lacking = to_vector<std::uint8_t>(tables, "class_lacking");
  for (const std::size_t size : {starters.size(), seconds.size(), combining.size(), lacking.size()})
    if (size != symbols.size()) throw nb::value_error("the tables of classes differ in length");
  for (std::size_t i = 0; i < symbols.size(); ++i)
    rules.classes.push_back({symbols[i], starters[i], seconds[i], combining[i], lacking[i] != 0});
  rules.symbols = nb::cast<std::uint32_t>(tables["symbols"]);
  rules.targets = to_vector<std::uint16_t>(tables, "targets");
  rules.end_offsets = to_vector<std::uint32_t>(tables, "end_offsets");
  rules.ends = to_vector<std::uint16_t>(tables, "ends");
  rules.may_end = to_vector<std::uint8_t>(tables, "may_end");
  rules.text_starts = to_vector<std::uint16_t>(tables, "text_starts");
  rules.added_starts = to_vector<std::uint16_t>(tables, "added_starts");
  rules.control_starts = to_vector<std::uint16_t>(tables, "control_starts");
  rules.seconds = nb::cast<std::uint32_t>(tables["seconds"]);
  rules.composes = to_vector<std::uint8_t>(tables, "composes");
  rules.form_targets = to_vector<std::uint16_t>(tables, "form_targets");
  for (const std::uint8_t state : to_vector<std::uint8_t>(tables, "form_states")) {
    if (state > static_cast<std::uint8_t>(FormState::Owes)) throw nb::value_error("form_states has another state");
    rules.form_states.push_back(static_cast<FormState>(state));
  }
  rules.added = texts_of(tables, "added_texts");
  rules.forbidden = texts_of(tables, "forbidden_texts");
  rules.added_kinds = to_vector<std::uint8_t>(tables, "added_kinds");
  for (const std::uint8_t is_lone : to_vector<std::uint8_t>(tables, "added_lone")) rules.lone.push_back(is_lone != 0);
  add_kinds(rules, tables);
  rules.added_are_apart = nb::cast<bool>(tables["added_are_apart"]);
  return rules;
}

// Appends a text's code points; bytes count as one each.  False for anything else.
bool append_text(std::u32string& text, nb::handle value) {
  if (PyBytes_Check(value.ptr())) {
    const auto* const data = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(value.ptr()));
    text.append(data, data + PyBytes_GET_SIZE(value.ptr()));
    return true;
  }
  if (!PyUnicode_Check(value.ptr())) return false;
  const int kind = PyUnicode_KIND(value.ptr());
  const void* const data = PyUnicode_DATA(value.ptr());
  const Py_ssize_t size = PyUnicode_GET_LENGTH(value.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) text.push_back(PyUnicode_READ(kind, data, i));
  return true;
}

TextIds text_ids(const nb::dict& ids) {
  TextIds result(ids.size());
  std::u32string text;
  for (const auto& [key, id] : ids) {
    text.clear();
    if (!append_text(text, key)) throw nb::type_error("texts must be str or bytes");
    result.add(text, nb::cast<std::uint32_t>(id));
  }
  return result;
}

using MergeColumns =
    nb::typed<nb::tuple, NumberArray<std::uint32_t>, NumberArray<std::uint32_t>, NumberArray<std::uint32_t>>;

MergeColumns columns_of(const std::vector<Merge>& merges) {
  std::vector<std::uint32_t> left, right, result;
  for (auto* column : {&left, &right, &result}) column->reserve(merges.size());
  for (const Merge& merge : merges) {
    left.push_back(merge.left);
    right.push_back(merge.right);
    result.push_back(merge.result);
  }
  return nb::make_tuple(to_array(std::move(left)), to_array(std::move(right)), to_array(std::move(result)));
}

// The two parts of a merge, [left, right] or "left right", one after the other, and the length of the first.
std::optional<std::size_t> append_parts(std::u32string& text, nb::handle merge) {
  if (PyList_Check(merge.ptr())) {
    if (PyList_GET_SIZE(merge.ptr()) != 2) return std::nullopt;
    const nb::handle left = PyList_GET_ITEM(merge.ptr(), 0), right = PyList_GET_ITEM(merge.ptr(), 1);
    if (!append_text(text, left)) return std::nullopt;
    const std::size_t cut = text.size();
    return append_text(text, right) ? std::optional(cut) : std::nullopt;
  }
  if (!append_text(text, merge)) return std::nullopt;
  const std::size_t space = text.find(U' ');
  if (space == std::u32string::npos) return std::nullopt;
  text.erase(space, 1);
  return space;
}

// The merges up to the first that is not of texts with ids.
MergeColumns merge_ids(const nb::typed<nb::list, nb::any>& merges,
                       const nb::typed<nb::dict, nb::str, std::uint32_t>& ids) {
  const TextIds known = text_ids(ids);
  std::vector<Merge> found;
  found.reserve(merges.size());
  std::u32string text;
  for (const nb::handle merge : merges) {
    text.clear();
    const std::optional<std::size_t> cut = append_parts(text, merge);
    if (!cut) break;
    const std::u32string_view whole = text;
    const auto left = known.find(whole.substr(0, *cut)), right = known.find(whole.substr(*cut)),
               result = known.find(whole);
    if (!left || !right || !result) break;
    found.push_back({*left, *right, *result, 0});
  }
  return columns_of(found);
}

MergeColumns rank_merge_ids(const nb::dict& ids) { return columns_of(every_cut(text_ids(ids))); }

// The arrays of MergeTables, as Python keeps them.
constexpr std::pair<const char*, std::vector<std::uint32_t> MergeTables::*> kMergeTables[] = {
    {"tour", &MergeTables::tour},
    {"forbidden_sets", &MergeTables::sets},
    {"forbidden_offsets", &MergeTables::set_offsets},
    {"forbidden_ranges", &MergeTables::ranges},
    {"unmade", &MergeTables::unmade},
    {"unmade_offsets", &MergeTables::part_offsets},
    {"unmade_parts", &MergeTables::parts},
};

using Numbers = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::typed<nb::dict, nb::str, NumberArray<std::uint32_t>> merge_tables(const Numbers& left, const Numbers& right,
                                                                      const Numbers& result, const Numbers& rank,
                                                                      const Numbers& atom_offsets,
                                                                      const Numbers& atoms) {
  const auto view = [](const Numbers& array) { return std::span(array.data(), array.shape(0)); };
  const std::size_t count = left.shape(0);
  if (right.shape(0) != count || result.shape(0) != count || rank.shape(0) != count)
    throw nb::value_error("the arrays of merges differ in length");
  AtomLists lists{{view(atom_offsets).begin(), view(atom_offsets).end()}, {view(atoms).begin(), view(atoms).end()}};
  if (lists.offsets.empty() || lists.offsets[0] != 0 || !std::ranges::is_sorted(lists.offsets) ||
      lists.offsets.back() != lists.atoms.size())
    throw nb::value_error("atom_offsets are not in order");
  const auto check_tokens = [&](std::span<const std::uint32_t> tokens) {
    if (std::ranges::any_of(tokens, [&](std::uint32_t token) { return token >= lists.size(); }))
      throw nb::value_error("a merge or an atom is not of tokens");
  };
  for (const Numbers* tokens : {&left, &right, &result, &atoms}) check_tokens(view(*tokens));
  std::vector<Merge> merges;
  merges.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    merges.push_back({view(left)[i], view(right)[i], view(result)[i], view(rank)[i]});
  MergeTables tables = [&] {
    const Released released;
    return make_merge_tables(merges, lists);
  }();
  nb::dict arrays;
  for (const auto& [name, member] : kMergeTables) arrays[name] = to_array(std::move(tables.*member));
  return arrays;
}

std::unique_ptr<const Pieces> byte_pair_pieces(const nb::dict& tables, const Vocabulary& vocabulary) {
  MergeTables merges;
  for (const auto& [name, member] : kMergeTables) merges.*member = to_vector<std::uint32_t>(tables, name);
  const auto in_model = to_vector<std::uint8_t>(tables, "in_model");
  const bool ignore_merges = nb::cast<bool>(tables["ignore_merges"]),
             rest_is_written = nb::cast<bool>(tables["rest_is_written"]);
  for (const std::size_t size : {merges.sets.size(), in_model.size()})
    if (size != vocabulary.token_count())
      throw nb::value_error("a table of tokens has another length than the vocabulary");
  const Released released;
  return std::make_unique<BytePairPieces>(Merges(std::move(merges)),
                                          std::vector<bool>(in_model.begin(), in_model.end()), ignore_merges,
                                          rest_is_written, vocabulary.words());
}

std::unique_ptr<const Pieces> longest_match_pieces(const nb::dict& tables, const Vocabulary& vocabulary) {
  std::vector<LongestMatchPieces::Role> roles;
  for (const std::uint8_t role : to_vector<std::uint8_t>(tables, "roles")) {
    if (role > static_cast<std::uint8_t>(LongestMatchPieces::Role::Continues))
      throw nb::value_error("a role is not known");
    roles.push_back(static_cast<LongestMatchPieces::Role>(role));
  }
  const auto mark = nb::cast<nb::bytes>(tables["mark"]);
  return std::make_unique<LongestMatchPieces>(vocabulary, std::move(roles), std::string(mark.c_str(), mark.size()));
}

UnigramPieces::Floats unigram_floats(const nb::dict& tables) {
  return {to_vector<double>(tables, "floats"), nb::cast<double>(tables["unknown_score"]),
          nb::cast<double>(tables["units"]), nb::cast<bool>(tables["are_single"])};
}

std::unique_ptr<const Pieces> unigram_pieces(const nb::dict& tables, std::shared_ptr<const Vocabulary> vocabulary) {
  auto scores = to_vector<std::int64_t>(tables, "scores");
  const auto byte_tokens = to_vector<std::uint32_t>(tables, "byte_tokens");
  UnigramPieces::Floats floats = unigram_floats(tables);
  UnigramPieces::Sets sets{to_vector<std::uint32_t>(tables, "best"), to_vector<std::uint32_t>(tables, "close"),
                           to_vector<std::uint32_t>(tables, "apart")};
  const Released released;
  return std::make_unique<UnigramPieces>(std::move(vocabulary), std::move(scores), std::move(floats), byte_tokens,
                                         std::move(sets));
}

nb::typed<nb::dict, nb::str, NumberArray<std::uint32_t>> unigram_sets(
    std::shared_ptr<Vocabulary> vocabulary, const nb::typed<nb::dict, nb::str, nb::any>& tables) {
  auto scores = to_vector<std::int64_t>(tables, "scores");
  UnigramPieces::Floats floats = unigram_floats(tables);
  const auto byte_tokens = to_vector<std::uint32_t>(tables, "byte_tokens");
  UnigramPieces::Sets sets = [&] {
    const Released released;
    return UnigramPieces::find_sets(std::move(vocabulary), std::move(scores), std::move(floats), byte_tokens);
  }();
  nb::dict arrays;
  arrays["best"] = to_array(std::move(sets.best));
  arrays["close"] = to_array(std::move(sets.close));
  arrays["apart"] = to_array(std::move(sets.apart));
  return arrays;
}

std::unique_ptr<const Pieces> pieces_of(const nb::dict& tables, const std::shared_ptr<Vocabulary>& vocabulary) {
  if (tables.contains("roles")) return longest_match_pieces(tables, *vocabulary);
  if (tables.contains("scores")) return unigram_pieces(tables, vocabulary);
  return byte_pair_pieces(tables, *vocabulary);
}

std::shared_ptr<Tokenization> make_tokenization(std::shared_ptr<Vocabulary> vocabulary,
                                                const nb::typed<nb::dict, nb::str, nb::any>& tables) {
  TextRulesTables rules = text_rules(tables);
  auto added = to_vector<std::uint32_t>(tables, "added_tokens"),
       byte_tokens = to_vector<std::uint32_t>(tables, "byte_tokens"),
       never_first = to_vector<std::uint32_t>(tables, "never_first");
  auto pieces = pieces_of(tables, vocabulary);
  const Released released;
  return std::make_shared<Tokenization>(std::move(vocabulary), std::move(rules), std::move(pieces), std::move(added),
                                        std::move(byte_tokens), std::move(never_first));
}

// The place of the first token that no canonical sequence has there; the number of tokens where all are
// right but the text may not end; nothing where the sequence is canonical.
std::optional<std::size_t> first_noncanonical(const Tokenization& tokenization,
                                              const std::vector<std::uint32_t>& tokens) {
  CanonicalState state = tokenization.start();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::optional<CanonicalState> after = tokenization.step(state, {tokens[i]});
    if (!after) return i;
    state = *std::move(after);
  }
  return tokenization.may_end(state) ? std::nullopt : std::optional(tokens.size());
}

}  // namespace

void bind_tokenization(nb::module_& m) {
  m.def("merge_ids", &merge_ids, "merges"_a, "ids"_a,
        R"doc(The ids of the left parts of merges, of their right parts, and of their results.

Args:
    merges: lists of two texts each, or both in one string, with a space between them.
    ids: tokens by their text.

Returns:
    Three arrays of equal length, up to the first merge with a text that has no id.)doc");
  m.def(
      "rank_merge_ids", &rank_merge_ids, "ids"_a,
      nb::sig("def rank_merge_ids(ids: dict[str, int] | dict[bytes, int]) -> tuple[numpy.typing.NDArray[numpy.uint32], "
              "numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]]"),
      R"doc(The same, with a merge for each cut of a text into two texts that have ids.)doc");
  m.def("merge_tables", &merge_tables, "left"_a, "right"_a, "result"_a, "rank"_a, "atom_offsets"_a, "atoms"_a,
        R"doc(The engine's tables of the merges of byte-pair encoding, by name; see ``core/canonical/merges.hpp``.

Raises:
    ValueError: the arrays have different lengths, or a number is not a token.)doc");
  m.def("unigram_sets", &unigram_sets, "vocabulary"_a, "tables"_a,
        R"doc(The engine's sets of the pieces of a Unigram model, by name; see ``core/canonical/unigram_pieces.hpp``.

Args:
    vocabulary: the tokens.
    tables: those of the model without these sets: ``scores``, ``floats``, ``unknown_score``, ``units``,
        ``are_single`` and ``byte_tokens``.

Raises:
    ValueError: the tables contradict each other, or the vocabulary.)doc");
  using Role = LongestMatchPieces::Role;
  nb::enum_<Role>(m, "WordRole", "What a token does in a word that is cut by longest match.")
      .value("NONE", Role::None)
      .value("BEGINS", Role::Begins)
      .value("CONTINUES", Role::Continues);
  nb::class_<Tokenization>(
      m, "Tokenization",
      R"doc(A tokenizer as an automaton over its tokens; see ``core/canonical/tokenization.hpp``.)doc")
      .def(nb::new_(&make_tokenization), "vocabulary"_a, "tables"_a)
      .def_prop_ro("guesses", [](const Tokenization& t) { return t.rules().guess_count(); })
      .def_prop_ro("memory_bytes", &Tokenization::memory_bytes)
      .def("first_noncanonical", &first_noncanonical, "tokens"_a,
           R"doc(The index of the first token that no canonical sequence has there.

``None`` if the sequence is canonical; ``len(tokens)`` if it is only a prefix of a canonical one.)doc");
}

}  // namespace tokamata

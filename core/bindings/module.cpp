// The engine for Python: conversion, the interpreter's lock, and errors.  No decision is made here.
//
// The interpreter's lock is released around everything that may work or wait.  What is known
// already is answered without (the members of Matcher named try_), since releasing it would cost
// more than the answer.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>

#include "bindings/json.hpp"
#include "canonical/byte_pair_pieces.hpp"
#include "canonical/longest_match_pieces.hpp"
#include "canonical/text_ids.hpp"
#include "expression/expression_rules.hpp"
#include "expression/json_spelling.hpp"
#include "expression/shortest_text.hpp"
#include "matching/batch.hpp"
#include "matching/matcher.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace tokamata;

namespace {

// ---- errors -----------------------------------------------------------------------------------

[[noreturn]] void raise(const char* type, nb::object args) {
  const nb::object error = nb::module_::import_("tokamata.errors").attr(type);
  PyErr_SetObject(error.ptr(), args.ptr());
  throw nb::python_error();
}

// What errors show: a pattern, or a description of a constraint that was not made from one.
struct Shown {
  nb::object text;
  bool is_pattern;  // places are offsets into it
  TokenCount budget = 0;  // of the call, where it has one
};

// Runs a task of the engine; its errors become those of tokamata.errors.
template <class Task>
auto guarded(const Shown& shown, Task&& task) {
  const nb::object& pattern = shown.text;
  try {
    return task();
  } catch (const LimitExceeded& error) {
    const bool known = shown.is_pattern && error.position >= 0;
    const nb::object position = known ? nb::object(nb::int_(error.position)) : nb::none();
    raise("LimitExceeded", nb::make_tuple(error.limit, error.bound, pattern, position));
  } catch (const BudgetTooSmall& error) {
    raise("BudgetError", nb::make_tuple(shown.budget, error.needed));
  } catch (const Cancelled&) {
    raise("Cancelled", nb::make_tuple("the CancelToken was cancelled; what the call was made on is unchanged"));
  } catch (const EmptyConstraint&) {
    raise("EmptyConstraintError",
          nb::make_tuple(nb::str("the pattern {!r} matches no text at all; check it for parts that exclude each other")
                             .attr("format")(pattern)));
  } catch (const NotCanonical& error) {
    raise("NoncanonicalError", nb::make_tuple(pattern, error.by_context));
  } catch (const ContextNotCanonical& error) {
    raise("ContextError", nb::make_tuple(error.position));
  } catch (const Unspellable& error) {
    const std::string bytes = [&] {
      std::string list;
      for (unsigned byte = 0; byte < 256; ++byte)
        if (error.bytes.contains(static_cast<std::uint8_t>(byte))) list.push_back(static_cast<char>(byte));
      return list;
    }();
    raise("UnspellableError",
          nb::make_tuple(nb::str("the vocabulary has no tokens that spell a text which {!r} matches; of the bytes in the "
                                 "pattern these are not tokens of their own: {!r}")
                             .attr("format")(pattern, nb::bytes(bytes.data(), bytes.size()))));
  }
}

template <class Task>
auto without_interpreter(const Shown& shown, Task&& task) {
  return guarded(shown, [&] {
    const nb::gil_scoped_release release;
    return task();
  });
}

// ---- vocabulary -------------------------------------------------------------------------------

std::shared_ptr<Vocabulary> make_vocabulary(const nb::list& tokens, std::vector<std::uint32_t> stop, std::uint32_t width) {
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

// ---- arrays -------------------------------------------------------------------------------------

template <class Number>
nb::object to_array(std::vector<Number>&& numbers) {
  auto owner = std::make_unique<std::vector<Number>>(std::move(numbers));
  Number* const data = owner->data();
  const std::size_t shape[1] = {owner->size()};
  const nb::capsule capsule(owner.release(), [](void* held) noexcept { delete static_cast<std::vector<Number>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(data, 1, shape, capsule));
}

template <class Number>
std::vector<Number> to_vector(const nb::dict& tables, const char* name) {
  const auto array = nb::cast<nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(tables[name]);
  return std::vector<Number>(array.data(), array.data() + array.shape(0));
}

// ---- tokenization -----------------------------------------------------------------------------

TextRulesTables text_rules(const nb::dict& tables) {
  TextRulesTables rules;
  const auto firsts = to_vector<std::uint32_t>(tables, "range_firsts");
  const auto classes = to_vector<std::uint16_t>(tables, "range_classes");
  if (firsts.size() != classes.size()) throw nb::value_error("range_firsts and range_classes differ in length");
  for (std::size_t i = 0; i < firsts.size(); ++i) rules.ranges.push_back({firsts[i], classes[i]});
  const auto symbols = to_vector<std::uint16_t>(tables, "class_symbols"), starters = to_vector<std::uint16_t>(tables, "class_starters"),
             seconds = to_vector<std::uint16_t>(tables, "class_seconds");
  const auto combining = to_vector<std::uint8_t>(tables, "class_combining"), lacking = to_vector<std::uint8_t>(tables, "class_lacking");
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
  for (const nb::handle content : nb::cast<nb::list>(tables["added_texts"])) {
    const auto text = nb::cast<nb::bytes>(content);
    rules.added.emplace_back(text.c_str(), text.size());
  }
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

nb::tuple columns_of(const std::vector<Merge>& merges) {
  std::vector<std::uint32_t> left, right, result;
  for (auto* column : {&left, &right, &result}) column->reserve(merges.size());
  for (const Merge& merge : merges) {
    left.push_back(merge.left);
    right.push_back(merge.right);
    result.push_back(merge.result);
  }
  return nb::make_tuple(to_array(std::move(left)), to_array(std::move(right)), to_array(std::move(result)));
}

// The two parts of a merge, [left, right] or "left right", one behind the other, and the length of the first.
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
nb::tuple merge_ids(const nb::list& merges, const nb::dict& ids) {
  const TextIds known = text_ids(ids);
  std::vector<Merge> found;
  found.reserve(merges.size());
  std::u32string text;
  for (const nb::handle merge : merges) {
    text.clear();
    const std::optional<std::size_t> cut = append_parts(text, merge);
    if (!cut) break;
    const std::u32string_view whole = text;
    const auto left = known.find(whole.substr(0, *cut)), right = known.find(whole.substr(*cut)), result = known.find(whole);
    if (!left || !right || !result) break;
    found.push_back({*left, *right, *result, 0});
  }
  return columns_of(found);
}

nb::tuple rank_merge_ids(const nb::dict& ids) { return columns_of(every_cut(text_ids(ids))); }

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

nb::dict merge_tables(const Numbers& left, const Numbers& right, const Numbers& result, const Numbers& rank, const Numbers& atom_offsets,
                      const Numbers& atoms) {
  const auto view = [](const Numbers& array) { return std::span(array.data(), array.shape(0)); };
  const std::size_t count = left.shape(0);
  if (right.shape(0) != count || result.shape(0) != count || rank.shape(0) != count)
    throw nb::value_error("the arrays of merges differ in length");
  AtomLists lists{{view(atom_offsets).begin(), view(atom_offsets).end()}, {view(atoms).begin(), view(atoms).end()}};
  if (lists.offsets.empty() || lists.offsets[0] != 0 || !std::ranges::is_sorted(lists.offsets) || lists.offsets.back() != lists.atoms.size())
    throw nb::value_error("atom_offsets are not in order");
  const auto check_tokens = [&](std::span<const std::uint32_t> tokens) {
    if (std::ranges::any_of(tokens, [&](std::uint32_t token) { return token >= lists.size(); })) throw nb::value_error("a merge or an atom is not of tokens");
  };
  for (const Numbers* tokens : {&left, &right, &result, &atoms}) check_tokens(view(*tokens));
  std::vector<Merge> merges;
  merges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) merges.push_back({view(left)[i], view(right)[i], view(result)[i], view(rank)[i]});
  MergeTables tables = [&] {
    const nb::gil_scoped_release release;
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
  const bool ignore_merges = nb::cast<bool>(tables["ignore_merges"]);
  for (const std::size_t size : {merges.sets.size(), in_model.size()})
    if (size != vocabulary.token_count()) throw nb::value_error("a table of tokens has another length than the vocabulary");
  const nb::gil_scoped_release release;
  return std::make_unique<BytePairPieces>(Merges(std::move(merges)), std::vector<bool>(in_model.begin(), in_model.end()), ignore_merges,
                                          vocabulary.words());
}

std::unique_ptr<const Pieces> longest_match_pieces(const nb::dict& tables, const Vocabulary& vocabulary) {
  std::vector<LongestMatchPieces::Role> roles;
  for (const std::uint8_t role : to_vector<std::uint8_t>(tables, "roles")) {
    if (role > static_cast<std::uint8_t>(LongestMatchPieces::Role::Continues)) throw nb::value_error("a role is not known");
    roles.push_back(static_cast<LongestMatchPieces::Role>(role));
  }
  const auto mark = nb::cast<nb::bytes>(tables["mark"]);
  return std::make_unique<LongestMatchPieces>(vocabulary, std::move(roles), std::string(mark.c_str(), mark.size()));
}

std::shared_ptr<Tokenization> make_tokenization(std::shared_ptr<Vocabulary> vocabulary, const nb::dict& tables) {
  TextRulesTables rules = text_rules(tables);
  auto added = to_vector<std::uint32_t>(tables, "added_tokens"), byte_tokens = to_vector<std::uint32_t>(tables, "byte_tokens"),
       never_first = to_vector<std::uint32_t>(tables, "never_first");
  auto pieces = tables.contains("roles") ? longest_match_pieces(tables, *vocabulary) : byte_pair_pieces(tables, *vocabulary);
  const nb::gil_scoped_release release;
  return std::make_shared<Tokenization>(std::move(vocabulary), std::move(rules), std::move(pieces), std::move(added), std::move(byte_tokens),
                                        std::move(never_first));
}

// The place of the first token that no canonical sequence has there; the number of tokens where all are
// right but the text may not end; nothing where the sequence is canonical.
std::optional<std::size_t> first_noncanonical(const Tokenization& tokenization, const std::vector<std::uint32_t>& tokens) {
  CanonicalState state = tokenization.start();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::optional<CanonicalState> after = tokenization.step(state, {tokens[i]});
    if (!after) return i;
    state = *std::move(after);
  }
  return tokenization.may_end(state) ? std::nullopt : std::optional(tokens.size());
}

// ---- masks ------------------------------------------------------------------------------------

// A constraint, what it came from, and the views of its masks that were
// handed out and can be handed out again.
struct BoundConstraint {
  std::shared_ptr<Constraint> constraint;
  Shown shown;
  std::map<std::uint64_t, nb::object> views;  // by serial

  nb::object view(const MaskPtr& mask) {
    if (const auto known = views.find(mask->serial); known != views.end()) return view_of(known->second);
    const std::uint64_t oldest = constraint->oldest_serial();
    while (!views.empty() && views.begin()->first < oldest) views.erase(views.begin());
    struct Held {
      MaskPtr mask;
      Words row;  // of a mask that is not kept as one
    };
    auto held = std::make_unique<Held>(Held{mask, mask->bits.data() ? Words() : mask->bits.row()});
    const void* words = mask->bits.data() ? mask->bits.data() : held->row.data();
    const std::size_t shape[1] = {mask->bits.size()};
    const nb::capsule capsule(held.release(), [](void* one) noexcept { delete static_cast<Held*>(one); });
    const nb::object view =
        nb::cast(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(words, 1, shape, capsule));
    views.emplace(mask->serial, view);
    return view_of(view);
  }

  // Everyone gets an array of their own: its shape and dtype can be set, though its bits cannot.
  static nb::object view_of(const nb::object& array) {
    static PyObject* const name = PyUnicode_InternFromString("view");
    PyObject* const arguments[1] = {array.ptr()};
    PyObject* const result = PyObject_VectorcallMethod(name, arguments, 1, nullptr);
    if (!result) throw nb::python_error();
    return nb::steal(result);
  }
};

[[noreturn]] void refuse_row(const std::string& what, std::size_t words) {
  raise("MaskError", nb::make_tuple("fill_mask needs one row of a mask, a writable contiguous int32 array of " +
                                    std::to_string(words) + " words; " + what +
                                    ". Make masks with allocate_mask() and pass mask[i]."));
}

void copy_into(const nb::handle row, const Mask& mask) {
  const std::size_t words = mask.bits.size();
  Py_buffer buffer;
  if (PyObject_CheckBuffer(row.ptr())) {
    if (PyObject_GetBuffer(row.ptr(), &buffer, PyBUF_RECORDS) != 0) {
      PyErr_Clear();
      refuse_row("this one is read-only", words);
    }
    std::string fault;
    const std::string_view format = buffer.format ? buffer.format : "B";
    if (buffer.itemsize != 4 || (format != "i" && format != "l"))
      fault = "this one has another dtype";
    else if (buffer.ndim != 1)
      fault = "this one has " + std::to_string(buffer.ndim) + " dimensions";
    else if (static_cast<std::size_t>(buffer.shape[0]) != words)
      fault = "this one has " + std::to_string(buffer.shape[0]);
    else if (words > 1 && buffer.strides[0] != 4)
      fault = "this one is not contiguous";
    else
      mask.bits.write(static_cast<std::uint32_t*>(buffer.buf));
    PyBuffer_Release(&buffer);
    if (!fault.empty()) refuse_row(fault, words);
    return;
  }
  nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> tensor;
  if (!nb::try_cast(nb::borrow(row), tensor, /*convert=*/false)) refuse_row("this is no such array", words);
  if (tensor.shape(0) != words) refuse_row("this one has " + std::to_string(tensor.shape(0)), words);
  mask.bits.write(reinterpret_cast<std::uint32_t*>(tensor.data()));
}

// ---- matcher ----------------------------------------------------------------------------------

class BoundMatcher {
  template <class Task>
  auto work(Task&& task) {
    return without_interpreter(bound_->shown, task);
  }

 public:
  BoundMatcher(nb::object constraint, const std::vector<std::uint32_t>& context)
      : owner_(std::move(constraint)), bound_(nb::cast<BoundConstraint*>(owner_)), matcher_(work([&] {
          std::vector<TokenId> tokens;
          for (const std::uint32_t token : context) tokens.push_back({token});
          return std::make_unique<Matcher>(bound_->constraint, tokens);
        })) {}
  BoundMatcher(const BoundMatcher& other)
      : owner_(other.owner_), bound_(other.bound_), matcher_(work([&other] { return other.matcher_->fork(); })) {}

  MaskPtr current_mask() {
    if (MaskPtr known = matcher_->try_mask()) return known;
    return work([&] { return matcher_->mask(); });
  }
  void fill_mask(const nb::handle row, const nb::object& tokens, bool count_stop) {
    copy_into(row, tokens.is_none() ? *current_mask() : *mask_within(tokens, count_stop));
  }
  MaskPtr mask_within(const nb::object& tokens, bool count_stop) {
    const TokenCount left = checked_budget(tokens);
    if (MaskPtr known = matcher_->try_mask_within(left, count_stop); known && known->set_bits) return known;
    return without_interpreter({bound_->shown.text, bound_->shown.is_pattern, left},
                               [&] { return matcher_->mask_within(left, count_stop); });
  }
  nb::list shortest_completion() { return to_list(work([&] { return matcher_->shortest_completion(); })); }
  nb::object mask() { return bound_->view(current_mask()); }

  bool advance(std::int64_t token) {
    const TokenId id = checked(token);
    if (const std::optional<bool> known = matcher_->try_advance(id)) return *known;
    return work([&] { return matcher_->advance(id); });
  }
  nb::tuple explain(std::int64_t token) {
    const TokenId id = checked(token);
    const Explanation explanation = work([&] { return matcher_->explain(id); });
    nb::list expected;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (explanation.expected.contains(static_cast<std::uint8_t>(byte))) expected.append(byte);
    return nb::make_tuple(static_cast<int>(explanation.verdict), explanation.offset, expected);
  }
  void rollback(std::int64_t count) {
    if (count < 0 || !work([&] { return matcher_->rollback(static_cast<std::size_t>(count)); }))
      raise("RollbackError", nb::make_tuple("cannot roll back " + std::to_string(count) + " tokens: " +
                                            std::to_string(matcher_->tokens().size()) + " were advanced"));
  }
  Matcher& matcher() const { return *matcher_; }
  const Shown& shown() const { return bound_->shown; }

  bool is_accepting() { return work([&] { return matcher_->is_accepting(); }); }
  bool is_finished() { return work([&] { return matcher_->is_finished(); }); }
  nb::bytes text() { return to_bytes(work([&] { return matcher_->text(); })); }
  nb::bytes forced_text() { return to_bytes(work([&] { return matcher_->forced_text(); })); }
  nb::list tokens() { return to_list(work([&] { return matcher_->tokens(); })); }
  nb::list forced_tokens() { return to_list(work([&] { return matcher_->forced_tokens(); })); }

 private:
  TokenId checked(std::int64_t token) const {
    const std::uint32_t width = bound_->constraint->vocabulary().width();
    if (token < 0 || token >= static_cast<std::int64_t>(width))
      raise("TokenIdError", nb::make_tuple("token id " + std::to_string(token) + " is outside the vocabulary, whose width is " +
                                           std::to_string(width)));
    return {static_cast<std::uint32_t>(token)};
  }
  // More tokens than anyone writes are as good as any number; there is no budget of none.
  static TokenCount checked_budget(const nb::object& tokens) {
    int overflow = 0;
    const nb::object number = nb::steal(PyNumber_Index(tokens.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow < 0 || (overflow == 0 && value < 1)) raise("BudgetError", nb::make_tuple(number));
    return overflow > 0 ? TokenCount{1} << 62 : static_cast<TokenCount>(value);
  }
  static nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
  static nb::list to_list(const std::vector<TokenId>& tokens) {
    nb::list list;
    for (const TokenId token : tokens) list.append(token.value);
    return list;
  }

  nb::object owner_;
  BoundConstraint* bound_;
  std::unique_ptr<Matcher> matcher_;
};

// ---- the closed form ---------------------------------------------------------------------------

nb::tuple make_closed_form(BoundConstraint& bound) {
  ClosedForm form = without_interpreter(bound.shown, [&] { return bound.constraint->closed_form(); });
  return nb::make_tuple(to_array(std::move(form.accepting)), to_array(std::move(form.class_of_token)),
                        to_array(std::move(form.offsets)), to_array(std::move(form.classes)),
                        to_array(std::move(form.targets)));
}

// Integers past 64 bits, which come to the second of two overloads.
bool refuse_huge_token(BoundMatcher&, const nb::int_&) {
  raise("TokenIdError", nb::make_tuple("the token id is outside the vocabulary: it has more than 64 bits"));
}
void refuse_huge_count(BoundMatcher&, const nb::int_&) {
  raise("RollbackError", nb::make_tuple("cannot roll back so many tokens: the number has more than 64 bits"));
}

// ---- batches ----------------------------------------------------------------------------------

void fill_batch(const std::vector<nb::object>& owners, const nb::handle mask, unsigned threads) {
  std::vector<const BoundMatcher*> bound;
  for (const nb::object& owner : owners) {
    if (!nb::isinstance<BoundMatcher>(owner)) throw nb::type_error("fill_masks takes matchers");
    bound.push_back(nb::cast<const BoundMatcher*>(owner));
  }
  if (bound.empty()) return;
  const Vocabulary& vocabulary = bound[0]->matcher().constraint()->vocabulary();
  for (std::size_t i = 1; i < bound.size(); ++i)
    if (&bound[i]->matcher().constraint()->vocabulary() != &vocabulary)
      raise("MaskError", nb::make_tuple("matcher " + std::to_string(i) + " of the batch has another vocabulary than matcher 0; "
                                        "make one batch for each vocabulary"));
  nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows;
  const std::string needed = "fill_masks needs a writable contiguous int32 array of at least " + std::to_string(bound.size()) +
                             " rows of " + std::to_string(vocabulary.words()) + " words";
  if (!nb::try_cast(nb::borrow(mask), rows, /*convert=*/false))
    raise("MaskError", nb::make_tuple(needed + "; this is no such array. Make one with allocate_mask()."));
  if (rows.shape(0) < bound.size() || rows.shape(1) != vocabulary.words())
    raise("MaskError", nb::make_tuple(needed + "; this one has " + std::to_string(rows.shape(0)) + " of " +
                                      std::to_string(rows.shape(1)) + ". Make one with allocate_mask()."));
  std::vector<Matcher*> matchers;
  std::vector<std::uint32_t*> places;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    matchers.push_back(&bound[i]->matcher());
    places.push_back(reinterpret_cast<std::uint32_t*>(rows.data()) + i * vocabulary.words());
  }
  std::vector<std::exception_ptr> errors;
  {
    const nb::gil_scoped_release release;
    errors = fill_masks(matchers, places, threads);
  }
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i]) guarded(bound[i]->shown(), [&] { std::rethrow_exception(errors[i]); });
}

BoundConstraint compile(const ExpressionPtr& expression, std::shared_ptr<Vocabulary> vocabulary,
                        std::shared_ptr<Vocabulary> start_vocabulary,
                        const std::map<std::string, std::uint32_t>& control_tokens, const Limits& limits,
                        std::shared_ptr<CancelToken> cancel, nb::object pattern, bool is_pattern,
                        std::shared_ptr<Tokenization> tokenization) {
  Shown shown{std::move(pattern), is_pattern};
  TokenAutomaton::ControlTokens ids;
  for (const auto& [name, id] : control_tokens) ids.emplace(name, TokenId{id});
  auto constraint = without_interpreter(shown, [&] {
    return std::make_shared<Constraint>(*expression, std::move(vocabulary), std::move(start_vocabulary), ids, limits,
                                        std::move(cancel), std::move(tokenization));
  });
  return {std::move(constraint), std::move(shown), {}};
}

// A shortest text of the expression, None where it has none.
nb::object find_shortest_text(const ExpressionPtr& expression, const Limits& limits, std::shared_ptr<CancelToken> cancel,
                              nb::object pattern, bool is_pattern) {
  const std::optional<std::string> text = without_interpreter({std::move(pattern), is_pattern}, [&] {
    const ByteSet every_byte = ByteSet::range(0, 0xFF);
    ByteAutomaton automaton(*expression, {}, every_byte, 1, limits, cancel);
    Budget budget(limits, cancel, 0, [&] { return automaton.memory_bytes(); });
    return shortest_text(automaton, budget);
  });
  return text ? nb::object(nb::bytes(text->data(), text->size())) : nb::none();
}

// Views of the strings, which live as long as the list does and does not change.
ExpressionPtr make_strings(const nb::list& strings) {
  std::vector<std::string_view> views;
  views.reserve(strings.size());
  for (const nb::handle string : strings) {
    Py_ssize_t length = 0;
    const char* const data = PyUnicode_Check(string.ptr()) ? PyUnicode_AsUTF8AndSize(string.ptr(), &length) : nullptr;
    if (!data) {
      if (PyErr_Occurred()) throw nb::python_error();
      throw nb::type_error("strings must be str");
    }
    views.emplace_back(data, static_cast<std::size_t>(length));
  }
  return Expression::strings(StringAutomaton::of_strings(std::move(views)));
}

ByteSet byte_set_of(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
  ByteSet set;
  for (const auto& [low, high] : ranges)
    if (low <= high) set |= ByteSet::range(low, high);
  return set;
}

void bind_expressions(nb::module_& m) {
  nb::class_<Expression>(m, "Expression")
      .def_prop_ro("depth", &Expression::depth)
      .def_prop_ro("control_tokens", [](const Expression& e) { return std::vector<std::string>(e.control_tokens().begin(), e.control_tokens().end()); })
      .def_prop_ro("sees_edges", &Expression::sees_edges);
  m.def("empty", [] { return Expression::empty(); });
  m.def("epsilon", [] { return Expression::literal(""); });
  m.def("literal", [](const nb::bytes& data) { return Expression::literal(std::string(data.c_str(), data.size())); }, "data"_a);
  m.def("code_points",
        [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges) {
          std::vector<CodePointRange> converted;
          converted.reserve(ranges.size());
          for (const auto& [low, high] : ranges) converted.push_back({low, high});
          return Expression::code_points(std::move(converted));
        },
        "ranges"_a);
  m.def("concat", [](std::vector<ExpressionPtr> items) { return Expression::concatenation(std::move(items)); }, "items"_a);
  m.def("union", [](std::vector<ExpressionPtr> items) { return Expression::unite(std::move(items)); }, "items"_a);
  m.def("repeat",
        [](ExpressionPtr body, Count minimum, std::optional<Count> maximum, std::int64_t position) {
          return Expression::repetition(std::move(body), minimum, maximum.value_or(kUnbounded), position);
        },
        "body"_a, "minimum"_a, "maximum"_a.none(), "position"_a = -1);
  m.def("text", &Expression::text);
  m.def("anything", &Expression::everything);
  m.def("intersect", [](std::vector<ExpressionPtr> items) { return Expression::intersection(std::move(items)); }, "items"_a);
  m.def("complement", &Expression::complement, "body"_a);
  m.def("look_ahead", &Expression::look_ahead, "rest"_a);
  m.def("look_behind", &Expression::look_behind, "prefix"_a);
  m.def("scope", &Expression::scope, "body"_a);
  m.def("strings", &make_strings, "strings"_a);
  m.def("substrings",
        [](const nb::str& text) {
          Py_ssize_t length = 0;
          const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
          if (!data) throw nb::python_error();
          const nb::gil_scoped_release release;
          return Expression::strings(StringAutomaton::of_substrings({data, static_cast<std::size_t>(length)}));
        },
        "text"_a);
  m.def("numbers",
        [](std::optional<std::string> minimum, bool exclusive_minimum, std::optional<std::string> maximum, bool exclusive_maximum,
           std::optional<std::string> multiple_of, bool integral, bool digits_only, bool any_spelling) {
          return Expression::numbers(std::make_shared<const NumberSet>(NumberSet::Description{
              std::move(minimum), std::move(maximum), std::move(multiple_of), exclusive_minimum, exclusive_maximum, integral, digits_only,
              any_spelling}));
        },
        "minimum"_a.none(), "exclusive_minimum"_a, "maximum"_a.none(), "exclusive_maximum"_a, "multiple_of"_a.none(), "integral"_a,
        "digits_only"_a, "any_spelling"_a);
  m.def("spelled_in_json",
        [](const ExpressionPtr& expression, bool any_spelling) {
          const nb::gil_scoped_release release;
          return spelled_in_json(expression, any_spelling);
        },
        "expression"_a, "any_spelling"_a);
  m.def("control_token", &Expression::control_token, "name"_a);
  m.def("one_token",
        [](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
          return Expression::one_token(byte_set_of(ranges));
        },
        "ranges"_a);
  nb::exception<RuleSetError>(m, "RuleSetError", PyExc_ValueError);
  m.def("terminal", &Expression::terminal, "body"_a);
  m.def("reference", &Expression::reference, "rule"_a);
  m.def("rules",
        [](const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start) {
          return Expression::grammar(std::make_shared<ExpressionRuleSet>(bodies, start));
        },
        "bodies"_a, "start"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("shortest_text", &find_shortest_text, "expression"_a, "limits"_a, "cancel"_a.none(), "pattern"_a.none(),
        "is_pattern"_a);
}

}  // namespace

NB_MODULE(_core, m) {
  bind_expressions(m);
  bind_json(m);

  nb::class_<CancelToken>(m, "CancelToken", "Stops work under way, from any thread.")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel,
           "Makes all work that was given this token raise tokamata.Cancelled, now and later.")
      .def_prop_ro("cancelled", &CancelToken::cancelled, "Whether cancel() was called.");

  nb::class_<Limits>(m, "Limits")
      .def("__init__",
           [](Limits* self, std::size_t states, std::size_t memory_bytes, double seconds, std::uint32_t depth) {
             new (self) Limits{states, memory_bytes, seconds, depth};
           },
           "states"_a, "memory_bytes"_a, "seconds"_a, "depth"_a);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::new_(&make_vocabulary), "tokens"_a, "stop"_a, "width"_a)
      .def_prop_ro("content", [](const Vocabulary& v) { const std::string bytes = v.content(); return nb::bytes(bytes.data(), bytes.size()); })
      .def("use_part_files",
           [](Vocabulary& v, const std::string& folder, double least_seconds, std::uint64_t most_written) {
             v.use_part_files(std::make_unique<PartFiles>(std::filesystem::path(std::u8string(folder.begin(), folder.end())),
                                                          v.width(), PartFiles::Duration(least_seconds), most_written));
           },
           "folder"_a, "least_seconds"_a, "most_written"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("trie_nodes", [](const Vocabulary& v) { return v.trie().node_count(); })
      .def_prop_ro("trie_bytes", [](const Vocabulary& v) { return v.trie().memory_bytes(); })
      .def_prop_ro("longest", [](const Vocabulary& v) { return v.trie().longest(); });

  m.def("merge_ids", &merge_ids, "merges"_a, "ids"_a);
  m.def("rank_merge_ids", &rank_merge_ids, "ids"_a);
  m.def("merge_tables", &merge_tables, "left"_a, "right"_a, "result"_a, "rank"_a, "atom_offsets"_a, "atoms"_a);
  nb::class_<Tokenization>(m, "Tokenization")
      .def(nb::new_(&make_tokenization), "vocabulary"_a, "tables"_a)
      .def_prop_ro("guesses", [](const Tokenization& t) { return t.rules().guess_count(); })
      .def_prop_ro("memory_bytes", &Tokenization::memory_bytes)
      .def("first_noncanonical", &first_noncanonical, "tokens"_a);

  nb::class_<BoundConstraint>(m, "Constraint")
      .def(nb::new_(&compile), "expression"_a, "vocabulary"_a, "start_vocabulary"_a.none(), "control_tokens"_a,
           "limits"_a, "cancel"_a.none(), "pattern"_a.none(),
           "is_pattern"_a, "tokenization"_a.none())
      .def("closed_form", &make_closed_form)
      .def_prop_ro("states", [](BoundConstraint& c) { return c.constraint->state_count(); })
      .def_prop_ro("memory_bytes", [](BoundConstraint& c) { return c.constraint->memory_bytes(); });

  m.def("fill_masks", &fill_batch, "matchers"_a, "mask"_a.none(), "threads"_a);

  nb::class_<BoundMatcher>(m, "Matcher")
      .def(nb::init<const BoundMatcher&>(), "origin"_a)
      .def("__init__",
           [](BoundMatcher* self, nb::handle_t<BoundConstraint> c, const std::vector<std::uint32_t>& context) {
             new (self) BoundMatcher(nb::borrow(c), context);
           },
           "constraint"_a, "context"_a)
      .def("fill_mask", &BoundMatcher::fill_mask, "row"_a.none(), "budget"_a.none() = nb::none(), "count_stop"_a = false)
      .def("shortest_completion", &BoundMatcher::shortest_completion)
      .def_prop_ro("mask", &BoundMatcher::mask)
      .def("advance", &BoundMatcher::advance, "token"_a)
      .def("advance", &refuse_huge_token, "token"_a)
      .def("rollback", &BoundMatcher::rollback, "count"_a)
      .def("rollback", &refuse_huge_count, "count"_a)
      .def_prop_ro("is_accepting", &BoundMatcher::is_accepting)
      .def_prop_ro("is_finished", &BoundMatcher::is_finished)
      .def_prop_ro("tokens", &BoundMatcher::tokens)
      .def_prop_ro("text", &BoundMatcher::text)
      .def("forced_text", &BoundMatcher::forced_text)
      .def("forced_tokens", &BoundMatcher::forced_tokens)
      .def("_explain", &BoundMatcher::explain, "token"_a)
      .def("_explain", &refuse_huge_token, "token"_a);
}

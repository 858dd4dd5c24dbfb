// A matcher, for the bindings of matchers and of batches.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bound_constraint.hpp"
#include "matching/matcher.hpp"

namespace tokamata {

using TokenList = nanobind::typed<nanobind::list, std::uint32_t>;

// What is known already is answered while the interpreter's lock is held (the members of Matcher named try_), since
// releasing it would cost more than the answer.
class BoundMatcher {
 public:
  using Explained = nanobind::typed<nanobind::tuple, Verdict, std::size_t, nanobind::typed<nanobind::list, unsigned>,
                                    TokenList, nanobind::typed<nanobind::list, nanobind::str>>;

  BoundMatcher(nanobind::object constraint, const std::vector<std::uint32_t>& context,
               const std::vector<std::uint32_t>& written, const std::vector<std::uint32_t>& canonical,
               const std::optional<std::vector<std::uint32_t>>& stops, TokenCount least);
  BoundMatcher(const BoundMatcher& other);

  Matcher& matcher() const { return *matcher_; }
  const Shown& shown() const { return bound_->shown; }
  // The ids that a draft names; one that is outside of the vocabulary is allowed nowhere.
  std::vector<TokenId> drafted(nanobind::handle tokens) const;

  nanobind::object mask() { return bound_->view(current_mask({}, false).mask); }
  // Whether the row is whole.
  bool fill_mask(nanobind::handle row, nanobind::handle budget, nanobind::handle count_stop,
                 nanobind::handle deadline_seconds, nanobind::handle on_deadline);
  TokenList shortest_completion(nanobind::handle deadline_seconds);
  Counts mask_work(nanobind::handle deadline_seconds);

  bool advance(std::int64_t token);
  bool advance_all(nanobind::handle tokens);
  std::size_t validate(nanobind::handle tokens);
  Explained explain(std::int64_t token);
  void rollback(std::int64_t count);

  bool is_accepting();
  bool is_finished();
  nanobind::bytes text();
  nanobind::bytes forced_text();
  TokenList tokens();
  TokenList forced_tokens();
  std::string show();

 private:
  template <class Task>
  auto work(Task&& task) {
    return without_interpreter(bound_->shown, task);
  }
  TokenId checked(std::int64_t token) const;
  MadeMask current_mask(const Deadline& deadline, bool takes_some);
  MadeMask mask_within(nanobind::handle budget, bool count_stop, const Deadline& deadline, bool takes_some);

  nanobind::object owner_;
  BoundConstraint* bound_;
  std::unique_ptr<Matcher> matcher_;
};

}  // namespace tokamata

// The parts of the module, one for each file beside module.cpp.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "json/style.hpp"

namespace tokamata {
void bind_batches(nanobind::module_& m);
void bind_constraints(nanobind::module_& m);
void bind_expressions(nanobind::module_& m);
void bind_json(nanobind::module_& m);
void bind_limits(nanobind::module_& m);
void bind_matchers(nanobind::module_& m);
void bind_programs(nanobind::module_& m);
void bind_repair(nanobind::module_& m);
void bind_repair_outline(nanobind::module_& m);
void bind_repair_stream(nanobind::module_& m);
void bind_token_edges(nanobind::module_& m);
void bind_token_repair(nanobind::module_& m);
void bind_tokenization(nanobind::module_& m);
void bind_vocabulary(nanobind::module_& m);

// "plain", "natural" or "any"; throws ValueError.
json::Spelling spelling_named(const std::string& name);
}  // namespace tokamata

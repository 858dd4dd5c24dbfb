// Sets of JSON values for Python: conversion only.
#pragma once

#include <nanobind/nanobind.h>

namespace tokamata {
void bind_json(nanobind::module_& m);
}

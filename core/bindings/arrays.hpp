// Vectors as arrays of numpy, without a copy, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

namespace tokamata {

template <class Number>
using NumberArray = nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<1>>;

template <class Number>
NumberArray<Number> to_array(std::vector<Number>&& numbers) {
  auto owner = std::make_unique<std::vector<Number>>(std::move(numbers));
  Number* const data = owner->data();
  const std::size_t shape[1] = {owner->size()};
  const nanobind::capsule capsule(owner.release(),
                                  [](void* held) noexcept { delete static_cast<std::vector<Number>*>(held); });
  return NumberArray<Number>(data, 1, shape, capsule);
}

template <class Number>
std::vector<Number> to_vector(const nanobind::dict& tables, const char* name) {
  const auto array =
      nanobind::cast<nanobind::ndarray<const Number, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>>(
          tables[name]);
  return std::vector<Number>(array.data(), array.data() + array.shape(0));
}

}  // namespace tokamata

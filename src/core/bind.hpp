// What the files that bind the core to Python share.
#pragma once

#include "base.hpp"
#include "circuit.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace herbrand {

namespace nb = nanobind;

// Arrays of numpy as arguments: contiguous, of exactly this type; anything else is a TypeError.
template <class T> using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The name of an argument that is such an array: nanobind would convert others, and what is written into
// a converted array is lost.
inline auto array(const char *name) { return nb::arg(name).noconvert(); }
// A vector as an array that owns it.
template <class T> nb::ndarray<nb::numpy, T, nb::ndim<1>> as_array(std::vector<T> &&values) {
    auto *kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> as_array2(std::vector<T> &&values, std::size_t columns) {
    auto *kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    const std::size_t rows = columns ? kept->size() / columns : 0;
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {rows, columns}, owner);
}

// Throws std::invalid_argument, in Python a ValueError, with a text.
inline void require(bool condition, const char *what) {
    if (!condition) throw std::invalid_argument(what);
}

using Release = nb::call_guard<nb::gil_scoped_release>;

void bind_circuit(nb::module_ &m);
void bind_expand(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_explore(nb::module_ &m);
void bind_minimax(nb::module_ &m);
void bind_lanes(nb::module_ &m);
void bind_play(nb::module_ &m);
void bind_env(nb::module_ &m);
void bind_graph(nb::module_ &m);
void bind_state(nb::module_ &m);

} // namespace herbrand

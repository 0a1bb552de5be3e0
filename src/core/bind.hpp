// What the files that bind the core to Python share.
#pragma once

#include "base.hpp"
#include "circuit.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <thread>

namespace herbrand {

namespace nb = nanobind;

// Arrays of numpy as arguments: contiguous, aligned, of exactly this type; anything else is a TypeError.
template <class T, int N> struct Array : nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu> {
    using Any = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
    using Any::Any;
    Array() = default;
    Array(Any &&any) : Any(std::move(any)) {}
};
template <class T> using Array1 = Array<T, 1>;
template <class T> using Array2 = Array<T, 2>;

} // namespace herbrand

// nanobind takes arrays of any alignment, which may not be read as what they are.
template <class T, int N> struct nanobind::detail::type_caster<herbrand::Array<T, N>> {
    using Any = typename herbrand::Array<T, N>::Any;
    using Own = herbrand::Array<T, N>;
    NB_TYPE_CASTER(Own, make_caster<Any>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
        make_caster<Any> any;
        if (!any.from_python(source, flags, cleanup)) return false;
        value = std::move(any.value);
        return !value.is_valid() || reinterpret_cast<std::uintptr_t>(value.data()) % alignof(T) == 0;
    }
};

namespace herbrand {

// The name of an argument that is such an array: nanobind would convert others, and what is written into
// a converted array is lost.
inline auto array(const char *name) { return nb::arg(name).noconvert(); }
// The elements of an array.
template <class T> std::vector<T> copied(const Array1<const T> &array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}
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

// What an object of Python is for; a TypeError if only its `__new__` was called.
template <class T> T *made(nb::handle self) {
    if (!nb::inst_ready(self)) throw nb::type_error("the object was not initialized");
    return nb::inst_ptr<T>(self);
}

// Lets other threads of Python run while it lives.
//
// When the interpreter ends, CPython before 3.14 ends daemon threads by `pthread_exit` as soon as they ask for the
// GIL.  glibc unwinds their stacks for that, and the frames of the binding above this one are noexcept: the
// process would abort.  So such a thread sleeps here until the process is gone, which is what newer versions do.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    WithoutGil(const WithoutGil &) = delete;
    WithoutGil &operator=(const WithoutGil &) = delete;
    ~WithoutGil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

private:
    PyThreadState *state_;
};

// An argument `stop`: what can end a call, or None.
inline auto stop_argument() { return nb::arg("stop").none() = nb::none(); }

using Release = nb::call_guard<WithoutGil>;

void bind_circuit(nb::module_ &m);
void bind_expand(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_explore(nb::module_ &m);
void bind_minimax(nb::module_ &m);
void bind_prover(nb::module_ &m);
void bind_diagrams(nb::module_ &m);
void bind_lanes(nb::module_ &m);
void bind_play(nb::module_ &m);
void bind_env(nb::module_ &m);
void bind_graph(nb::module_ &m);
void bind_state(nb::module_ &m);
void bind_watchdog(nb::module_ &m);

} // namespace herbrand

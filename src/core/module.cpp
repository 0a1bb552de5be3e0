#include "bind.hpp"
#include "cpu.hpp"

#include <pythread.h>

#include <atomic>

#if defined(__clang__)
#define HB_COMPILER "Clang " __clang_version__
#else
#define HB_COMPILER "GCC " __VERSION__
#endif

namespace herbrand {

// The thread that runs Python's signal handlers; others have no reason to ask for the GIL.
static std::atomic<unsigned long> main_thread{0};

bool Stop::interrupted() {
    if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return false;
    nb::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return false;
}

} // namespace herbrand

NB_MODULE(_core, m) {
    using namespace herbrand;
    nb::set_leak_warnings(false); // daemon threads keep what they use until the process is gone
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Stopped &) {
            nb::object type = nb::module_::import_("herbrand.errors").attr("Stopped");
            PyErr_SetObject(type.ptr(), type().ptr());
        }
    });
    m.doc() = "The compiled core of herbrand; `herbrand.core` is what to import.";
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    const nb::module_ os = nb::module_::import_("os");
    if (nb::hasattr(os, "register_at_fork")) // the thread that forks is the main thread of the child
        os.attr("register_at_fork")(
            nb::arg("after_in_child") = nb::cpp_function([] { main_thread = PyThread_get_thread_ident(); }));
    m.def("levels", &usable_levels, "The kernel levels that this processor supports, best last.");
    m.def("level", [] { return std::string(kernels().level); }, "The level of the kernels in use.");
    m.def("use_level", [](const std::string &level) { use_kernels(kernels_of(level)); }, nb::arg("level"),
          "Use the kernels of a level, for all that is called from now on; `ValueError` if that cannot be used here.");

    m.def("compiler", [] { return std::string(HB_COMPILER); }, "The compiler that the core was built with, and its version.");

    nb::class_<Stop>(m, "Stop",
                     "Cancels calls into the core.\n\n"
                     "A call that is given one ends within some milliseconds after another thread called `set`, or after\n"
                     "the deadline.  Ctrl-C is noticed in any case.")
        .def(nb::init<>())
        .def("set", &Stop::set, "End current and future calls.")
        .def("clear", &Stop::clear, "Undo `set`.")
        .def_prop_ro("is_set", &Stop::is_set, "Whether `set` was called.")
        .def_prop_ro("is_late", &Stop::is_late, "Whether the deadline has passed.")
        .def("set_deadline", &Stop::set_deadline, nb::arg("seconds"),
             "Let calls end so many seconds from now; infinity for never.");
    bind_circuit(m);
    bind_expand(m);
    bind_search(m);
    bind_explore(m);
    bind_minimax(m);
    bind_prover(m);
    bind_diagrams(m);
    bind_lanes(m);
    bind_play(m);
    bind_env(m);
    bind_graph(m);
    bind_state(m);
    bind_watchdog(m);
}

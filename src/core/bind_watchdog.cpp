#include "bind.hpp"
#include "watchdog.hpp"

#include <nanobind/stl/pair.h>

namespace herbrand {

namespace {

Allowance allowance(double megabytes, double seconds) {
    Allowance made;
    if (megabytes < 1e9) made.bytes = static_cast<i64>(megabytes * (1 << 20));
    made.seconds = seconds;
    return made;
}

} // namespace

void bind_watchdog(nb::module_ &m) {
    nb::class_<Watchdog>(m, "Watchdog", "Watches memory and time of this process; see `herbrand.runtime.watchdog`.")
        .def(
            "__init__",
            [](Watchdog *self, std::pair<double, double> soft, std::pair<double, double> hard, int signal, int status,
               std::string memory_text, std::string time_text) {
                const bool ordered = soft.first > 0 && soft.second > 0 && hard.first >= soft.first && hard.second >= soft.second;
                if (!ordered) throw nb::value_error("limits are positive, and the hard one is not below the soft one");
                if (signal < 1 || signal > 64) throw nb::value_error("no such signal");
                new (self) Watchdog(allowance(soft.first, soft.second), allowance(hard.first, hard.second), signal,
                                    status, std::move(memory_text), std::move(time_text));
            },
            nb::arg("soft"), nb::arg("hard"), nb::arg("signal"), nb::arg("status"), nb::arg("memory_text"),
            nb::arg("time_text"), "Limits are pairs of megabytes and seconds from now; infinity for none.")
        .def("stop", &Watchdog::stop, Release(), "End the watch.")
        .def_prop_ro(
            "excess",
            [](const Watchdog &watchdog) {
                constexpr const char *NAMES[] = {"", "memory", "time"};
                return NAMES[static_cast<int>(watchdog.excess())];
            },
            "\"memory\" or \"time\" once the soft limit was exceeded, before that \"\".");
}

} // namespace herbrand

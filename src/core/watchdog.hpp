// Watches what this process and its descendants take, from a thread that needs nothing of Python.
#pragma once

#include "base.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace herbrand {

struct Allowance {
    i64 bytes = std::numeric_limits<i64>::max();
    double seconds = std::numeric_limits<double>::infinity();
};

// Two limits, each on memory and on time from now on.  Beyond the soft one, the process gets a signal, whose handler in
// Python raises an exception: again and again, in case it is caught and nothing becomes better.  Beyond the hard one,
// which is reached when Python is inside one long operation, the process says why and ends.
class Watchdog {
public:
    enum class Excess { NONE, MEMORY, TIME };

    // `status` is the exit status, and the texts are written to standard error, at the hard limit.
    Watchdog(Allowance soft, Allowance hard, int signal, int status, std::string memory_text, std::string time_text);
    ~Watchdog() { stop(); }
    Watchdog(const Watchdog &) = delete;
    Watchdog &operator=(const Watchdog &) = delete;

    void stop();
    // What was beyond the soft limit when the last signal was sent.
    Excess excess() const { return excess_.load(); }

private:
    void watch();
    Excess beyond(const Allowance &allowance, i64 bytes, double seconds) const;
    [[noreturn]] void end(Excess excess);

    const Allowance soft_, hard_;
    const int signal_, status_;
    const std::string memory_text_, time_text_;
    std::atomic<Excess> excess_{Excess::NONE};
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopped_ = false;
    long process_ = 0; // that has the thread
    std::thread thread_;
};

} // namespace herbrand

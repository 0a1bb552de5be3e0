#include "watchdog.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#if defined(__linux__)
#include <dirent.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#elif defined(_WIN32)
// clang-format off
#include <windows.h>
#include <psapi.h>
// clang-format on
#endif

namespace herbrand {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto PAUSE = std::chrono::milliseconds(20);     // between looks at this process
constexpr int LOOKS = 2;                                  // one of so many is at the descendants, too
constexpr auto GRACE = std::chrono::milliseconds(100);    // from the first signal to the end
constexpr auto PATIENCE = std::chrono::milliseconds(500); // between signals
constexpr std::size_t MOST_PROCESSES = 1024;              // beyond that, descendants are not counted

#if defined(__linux__)

std::vector<i64> numbers_in(const std::string &path) {
    std::vector<i64> numbers;
    std::FILE *file = std::fopen(path.c_str(), "re");
    if (!file) return numbers; // the process has ended
    long long number = 0;
    while (std::fscanf(file, "%lld", &number) == 1) numbers.push_back(number);
    std::fclose(file);
    return numbers;
}

std::string folder_of(i64 process) { return "/proc/" + std::to_string(process); }

// Resident bytes; with `own_only` without pages that are shared with files and other processes.
i64 bytes_of(i64 process, bool own_only) {
    const std::vector<i64> pages = numbers_in(folder_of(process) + "/statm"); // size, resident, shared, ...
    if (pages.size() < 3) return 0;
    return (pages[1] - (own_only ? pages[2] : 0)) * sysconf(_SC_PAGESIZE);
}

// All descendants of this process, parents before their children.
std::vector<i64> descendants() {
    std::vector<i64> processes{static_cast<i64>(getpid())};
    for (std::size_t i = 0; i < processes.size() && processes.size() < MOST_PROCESSES; ++i) {
        const std::string tasks = folder_of(processes[i]) + "/task/"; // a child belongs to the thread that started it
        DIR *folder = opendir(tasks.c_str());
        if (!folder) continue;
        while (const dirent *entry = readdir(folder))
            if (entry->d_name[0] != '.')
                for (i64 child : numbers_in(tasks + entry->d_name + "/children")) processes.push_back(child);
        closedir(folder);
    }
    processes.erase(processes.begin());
    return processes;
}

i64 bytes_of_descendants() {
    i64 total = 0;
    for (i64 process : descendants()) total += bytes_of(process, true);
    return total;
}

i64 own_bytes() { return bytes_of(getpid(), false); }

// Started by this process for its own ends: they must not live on.
void end_descendants() {
    for (i64 process : descendants()) kill(static_cast<pid_t>(process), SIGKILL);
}

#else

i64 bytes_of_descendants() { return 0; }
void end_descendants() {}

i64 own_bytes() {
#if defined(__APPLE__)
    mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count) == KERN_SUCCESS)
        return static_cast<i64>(info.resident_size);
#elif defined(_WIN32)
    PROCESS_MEMORY_COUNTERS counters;
    if (K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
        return static_cast<i64>(counters.WorkingSetSize);
#endif
    return 0;
}

#endif

} // namespace

Watchdog::Watchdog(Allowance soft, Allowance hard, int signal, int status, std::string memory_text,
                   std::string time_text)
    : soft_(soft), hard_(hard), signal_(signal), status_(status), memory_text_(std::move(memory_text)),
      time_text_(std::move(time_text)), thread_(&Watchdog::watch, this) {
#if defined(__unix__) || defined(__APPLE__)
    process_ = getpid();
#endif
}

void Watchdog::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    wake_.notify_all();
    if (!thread_.joinable()) return;
#if defined(__unix__) || defined(__APPLE__)
    if (getpid() != process_) return thread_.detach(); // in a forked copy, which has no such thread
#endif
    thread_.join();
}

Watchdog::Excess Watchdog::beyond(const Allowance &allowance, i64 bytes, double seconds) const {
    if (bytes > allowance.bytes) return Excess::MEMORY;
    return seconds > allowance.seconds ? Excess::TIME : Excess::NONE;
}

void Watchdog::watch() {
#if defined(__unix__) || defined(__APPLE__)
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr); // signals are for the threads of Python
#endif
    const Clock::time_point started = Clock::now();
    Clock::time_point next_signal = started, end_at = started;
    bool over = false;
    i64 others = 0;
    std::unique_lock lock(mutex_);
    for (int look = 0; !wake_.wait_for(lock, PAUSE, [this] { return stopped_; }); ++look) {
        if (look % LOOKS == 0) others = bytes_of_descendants();
        const i64 bytes = own_bytes() + others;
        const Clock::time_point now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - started).count();
        const Excess excess = beyond(soft_, bytes, seconds);
        if (!over) end_at = now + GRACE;
        over = excess != Excess::NONE;
        if (now >= end_at && beyond(hard_, bytes, seconds) != Excess::NONE) end(beyond(hard_, bytes, seconds));
        if (!over || now < next_signal) continue;
        excess_ = excess;
        next_signal = now + PATIENCE;
#if defined(_WIN32)
        std::raise(signal_);
#else
        kill(getpid(), signal_); // interrupts what the main thread waits for
#endif
    }
}

void Watchdog::end(Excess excess) {
    const std::string &text = excess == Excess::MEMORY ? memory_text_ : time_text_;
    end_descendants();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    std::_Exit(status_);
}

} // namespace herbrand

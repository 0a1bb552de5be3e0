// Basics of the whole core: integer types, rows of lanes, cancellation of long calls, random numbers.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace herbrand {

using u64 = std::uint64_t;
using u32 = std::uint32_t;
using u16 = std::uint16_t;
using u8 = std::uint8_t;
using i64 = std::int64_t;
using i32 = std::int32_t;
using i16 = std::int16_t;

// A row has one state, or one game, in each bit.  Its 64 bytes are a cache line and the widest vector register.  All
// backends use this size, whatever their registers, so that all of them play the same games.
inline constexpr int LANES = 512;
inline constexpr int WORDS = LANES / 64;
static_assert(std::endian::native == std::endian::little, "bits in words are taken for bits in bytes, as numpy packs them");

// Special goal values; `herbrand.core` defines the same numbers.
inline constexpr i16 NO_VALUE = -1;       // no goal value holds
inline constexpr i16 SEVERAL_VALUES = -2; // several hold, or one that is not an integer from 0 to 100
inline constexpr i16 STUCK = -3;          // a role has no legal move though the game is not over

// Zeroed memory for rows, aligned to cache lines.
class RowBuffer {
public:
    RowBuffer() = default;
    explicit RowBuffer(std::size_t rows) : rows_(rows) {
        if (rows > std::numeric_limits<std::size_t>::max() / 64) throw std::bad_alloc();
        data_ = static_cast<u64 *>(::operator new(rows * 64, ALIGNMENT));
        clear();
    }
    RowBuffer(RowBuffer &&other) noexcept : data_(other.data_), rows_(other.rows_) {
        other.data_ = nullptr;
        other.rows_ = 0;
    }
    RowBuffer &operator=(RowBuffer &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(rows_, other.rows_);
        return *this;
    }
    RowBuffer(const RowBuffer &) = delete;
    RowBuffer &operator=(const RowBuffer &) = delete;
    ~RowBuffer() { ::operator delete(data_, ALIGNMENT); }

    u64 *row(std::size_t i) { return data_ + i * WORDS; }
    const u64 *row(std::size_t i) const { return data_ + i * WORDS; }
    u64 *data() { return data_; }
    const u64 *data() const { return data_; }
    std::size_t rows() const { return rows_; }
    void clear() {
        for (std::size_t i = 0; i < rows_ * WORDS; ++i) data_[i] = 0;
    }

private:
    static constexpr std::align_val_t ALIGNMENT{64};

    u64 *data_ = nullptr;
    std::size_t rows_ = 0;
};

// Cancels long calls: another thread has set the flag, the deadline has passed, or Python has a pending signal such as
// Ctrl-C.  Loops poll `due()` every few microseconds.  Several threads may share one.
class Stop {
public:
    using Clock = std::chrono::steady_clock;

    void set() noexcept { flag_.store(true, std::memory_order_relaxed); }
    void clear() noexcept { flag_.store(false, std::memory_order_relaxed); }
    bool is_set() const noexcept { return flag_.load(std::memory_order_relaxed); }
    // Seconds from now; infinity for none.
    void set_deadline(double seconds) noexcept {
        using Seconds = std::chrono::duration<double>;
        const auto left = [&] { return std::chrono::duration_cast<Clock::duration>(Seconds(seconds)).count(); };
        deadline_.store(seconds > 1e9 ? NEVER : ticks() + left(), std::memory_order_relaxed);
    }
    bool is_late() const noexcept {
        const Ticks deadline = deadline_.load(std::memory_order_relaxed);
        return deadline != NEVER && ticks() >= deadline;
    }
    // Whether to end now.  Reads the clock: for loops whose iterations take a microsecond or more.
    bool due() {
        if (is_set()) return true;
        const Ticks now = ticks();
        if (now >= deadline_.load(std::memory_order_relaxed)) return true;
        if (now >= next_signal_.load(std::memory_order_relaxed)) {
            constexpr Clock::duration PAUSE = std::chrono::milliseconds(20);
            next_signal_.store(now + PAUSE.count(), std::memory_order_relaxed);
            return interrupted();
        }
        return false;
    }

private:
    using Ticks = Clock::rep;
    static constexpr Ticks NEVER = std::numeric_limits<Ticks>::max();

    static Ticks ticks() noexcept { return Clock::now().time_since_epoch().count(); }
    // Runs Python's signal handlers if this is the main thread; throws the exceptions that they raise (module.cpp).
    static bool interrupted();

    std::atomic<bool> flag_{false};
    std::atomic<Ticks> deadline_{NEVER}, next_signal_{std::numeric_limits<Ticks>::min()};
};

// Thrown when a `Stop` ends a call that has no partial result.
struct Stopped : std::runtime_error {
    Stopped() : std::runtime_error("stopped before there was an answer") {}
};

// Polls a `Stop`, or signals alone if that is null, and throws: for calls without partial results.
class Patience {
public:
    explicit Patience(Stop *stop) : stop_(stop ? *stop : own_) {}
    Patience(const Patience &) = delete;
    Patience &operator=(const Patience &) = delete;

    // For iterations that take a microsecond or more.
    void check() {
        if (stop_.due()) throw Stopped();
    }
    // For shorter ones: polls once in WORK units, of which one is about one memory access.
    void turn(i64 work = 1) {
        if ((left_ -= work) >= 0) return;
        left_ = WORK;
        check();
    }

private:
    static constexpr i64 WORK = 20'000;

    Stop own_;
    Stop &stop_;
    i64 left_ = 0;
};

inline int popcount(u64 word) {
#if defined(__POPCNT__) || defined(__aarch64__)
    return __builtin_popcountll(word);
#else // __builtin_popcountll would call a library function
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return static_cast<int>(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#endif
}
inline int lowest_bit(u64 word) { return __builtin_ctzll(word); }

// Call f with the number of each bit that is set.
template <class F> void each_bit(u64 word, F &&f) {
    for (; word; word &= word - 1) f(lowest_bit(word));
}
// Call f with each lane that is set in a row.
template <class F> void each_lane(const u64 *row, F &&f) {
    for (int w = 0; w < WORDS; ++w) each_bit(row[w], [&](int b) { f(64 * w + b); });
}

// Throws std::invalid_argument, in Python a ValueError.
inline void require(bool condition, const char *what) {
    if (!condition) throw std::invalid_argument(what);
}

// The finaliser of SplitMix (Steele, Lea and Flood 2014): a bijective hash of a word.
inline u64 scatter(u64 word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

// The 128-bit product of two words.
struct Product {
    u64 low, high;
};
inline Product multiply(u64 a, u64 b) {
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<u64>(product), static_cast<u64>(product >> 64)};
#else
    const u64 low = u32(a), high = a >> 32, other_low = u32(b), other_high = b >> 32;
    const u64 first = low * other_low, second = high * other_low + (first >> 32);
    const u64 third = low * other_high + u32(second);
    return {third << 32 | u32(first), high * other_high + (second >> 32) + (third >> 32)};
#endif
}

// SplitMix: a small generator for scalar choices.
struct SplitMix {
    u64 state = 0;
    u64 next() { return scatter(state += 0x9E3779B97F4A7C15u); }
    // A uniformly random number below `bound` (Lemire 2019).
    u64 below(u64 bound) {
        Product product = multiply(next(), bound);
        if (product.low < bound) {
            const u64 threshold = -bound % bound;
            while (product.low < threshold) product = multiply(next(), bound);
        }
        return product.high;
    }
    // A uniformly random number in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * (1.0 / 9007199254740992.0); }
};

} // namespace herbrand

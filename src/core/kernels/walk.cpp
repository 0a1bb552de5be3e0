// Interprets a lane program: runs of operations with equal codes, with a loop for each code.

#include "kernels.hpp"
#include "lanes.hpp"

#include <array>
#include <cstring>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace herbrand::HB_LEVEL {

namespace {

typedef u64 Row __attribute__((vector_size(8 * WORDS)));

inline Row load(const u64 *rows, i32 i) {
    Row row;
    std::memcpy(&row, rows + std::ptrdiff_t(i) * WORDS, sizeof row);
    return row;
}

inline void store(u64 *rows, i32 i, const Row &row) {
    std::memcpy(rows + std::ptrdiff_t(i) * WORDS, &row, sizeof row);
}

// A function of two bits by its four values; bit 2 * b + c.
template <int T> inline Row two(const Row &b, const Row &c) {
    if constexpr (T == 0) return b ^ b;
    else if constexpr (T == 1) return ~(b | c);
    else if constexpr (T == 2) return ~b & c;
    else if constexpr (T == 3) return ~b;
    else if constexpr (T == 4) return b & ~c;
    else if constexpr (T == 5) return ~c;
    else if constexpr (T == 6) return b ^ c;
    else if constexpr (T == 7) return ~(b & c);
    else if constexpr (T == 8) return b & c;
    else if constexpr (T == 9) return ~(b ^ c);
    else if constexpr (T == 10) return c;
    else if constexpr (T == 11) return ~b | c;
    else if constexpr (T == 12) return b;
    else if constexpr (T == 13) return b | ~c;
    else if constexpr (T == 14) return b | c;
    else return ~(b ^ b);
}

// A function of three bits by its eight values.
template <int T> inline Row three(const Row &a, const Row &b, const Row &c) {
#if defined(__AVX512F__)
    return (Row)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, T);
#else
    constexpr int one = T >> 4, zero = T & 15;
    if constexpr (one == zero) return two<zero>(b, c);
    else if constexpr (zero == 0) return a & two<one>(b, c);
    else if constexpr (one == 0) return ~a & two<zero>(b, c);
    else if constexpr (zero == 15) return ~a | two<one>(b, c);
    else if constexpr (one == 15) return a | two<zero>(b, c);
    else return two<zero>(b, c) ^ (a & two<(one ^ zero)>(b, c));
#endif
}

constexpr bool needs_a(int t) { return (t >> 4) != (t & 15); }
constexpr bool needs_b(int t) { return ((t >> 2) & 0x33) != (t & 0x33); }
constexpr bool needs_c(int t) { return ((t >> 1) & 0x55) != (t & 0x55); }

template <int T> void run(u64 *rows, const Op *op, const Op *end) {
    for (; op != end; ++op) {
        // operands on which the function does not depend are not read
        const Row a = load(rows, needs_a(T) ? op->a : 0);
        const Row b = load(rows, needs_b(T) ? op->b : 0);
        const Row c = load(rows, needs_c(T) ? op->c : 0);
        store(rows, op->out, three<T>(a, b, c));
    }
}

using Run = void (*)(u64 *, const Op *, const Op *);

template <int... T> constexpr std::array<Run, sizeof...(T)> all(std::integer_sequence<int, T...>) {
    return {&run<T>...};
}

constexpr auto runs = all(std::make_integer_sequence<int, 256>{});

// What works on words of 64 lanes.
void words(u64 *rows, const Op *op, const Op *end) {
    for (; op != end; ++op) {
        const Row a = load(rows, op->a);
        if (op->code == ADD) store(rows, op->out, a + load(rows, op->b));
        else if (op->code == SHIFT) store(rows, op->out, a << op->c);
        else store(rows, op->out, (a << op->c) | (a >> (64 - op->c)));
    }
}

void walk(u64 *rows, const Op *begin, const Op *end) {
    while (begin != end) {
        const Op *last = begin + 1;
        while (last != end && last->code == begin->code) ++last;
        if (begin->code < ADD) runs[begin->code](rows, begin, last);
        else words(rows, begin, last);
        begin = last;
    }
}

} // namespace

void walk_rows(u64 *rows, const Op *begin, const Op *end) { walk(rows, begin, end); }

} // namespace herbrand::HB_LEVEL

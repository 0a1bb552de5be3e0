#include "batch.hpp"

#include "kernels.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand::HB_LEVEL {

namespace {

typedef u64 Row __attribute__((vector_size(8 * WORDS)));

inline Row load(const u64 *row) {
    Row words;
    std::memcpy(&words, row, sizeof words);
    return words;
}

inline void store(u64 *row, const Row &words) { std::memcpy(row, &words, sizeof words); }

int survey(const u64 *const *legal, int n, const u8 *idle, u64 *options, u8 *is_live, i32 *live, u64 *seen, u64 *choice,
           u64 *active) {
    Row some{}, several{}, busy{};
    int count = 0;
    for (int i = 0; i < n; ++i, options += WORDS) {
        const Row row = load(legal[i]);
        if (!any_both(legal[i], legal[i])) {
            if (is_live[i]) store(options, row);
            is_live[i] = 0;
            continue;
        }
        is_live[i] = 1;
        live[count++] = i;
        store(options, row);
        several |= some & row;
        some |= row;
        if (!idle[i]) busy |= row;
    }
    store(seen, some);
    store(choice, several);
    store(active, busy);
    return count;
}

void assign(const u8 *values, int n, const u64 *lanes, u64 *rows) {
    const Row mask = load(lanes);
    for (int i = 0; i < n; ++i, rows += WORDS) store(rows, values[i] ? load(rows) | mask : load(rows) & ~mask);
}

void merge(const u64 *const *source, int n, const u64 *lanes, u64 *rows) {
    const Row mask = load(lanes);
    for (int i = 0; i < n; ++i, rows += WORDS) {
        const Row old = load(rows);
        store(rows, old ^ (mask & (old ^ load(source[i]))));
    }
}

void copy(const u64 *rows, int n, u64 *const *target) {
    for (int i = 0; i < n; ++i) store(target[i], load(rows + std::ptrdiff_t(i) * WORDS));
}

void take_options(const u64 *options, const i32 *which, int n, const u64 *lanes, u64 *const *target) {
    const Row outside = ~load(lanes);
    for (int i = 0; i < n; ++i)
        store(target[which[i]], load(options + std::ptrdiff_t(which[i]) * WORDS) & outside);
}

void clear(u64 *const *rows, const i32 *which, int n) {
    for (int i = 0; i < n; ++i) store(rows[which[i]], Row{});
}

void unite(const u64 *options, const i32 *which, int n, const i32 *place, const u64 *lanes, u8 *is_there, u64 *out) {
    const Row mine = load(lanes);
    for (int i = 0; i < n; ++i) {
        const i32 a = place[which[i]];
        if (a < 0) continue;
        const Row row = load(options + std::ptrdiff_t(which[i]) * WORDS) & mine;
        u64 *to = out + std::ptrdiff_t(a) * WORDS;
        store(to, is_there[a] ? load(to) | row : row);
        is_there[a] = 1;
    }
}

// One step of transposing squares of bits, one square for each word of a row (Warren, Hacker's Delight, 7-3).
template <int DISTANCE> inline void swap_bits(Row &a, Row &b) {
    constexpr u64 low = ~u64(0) / ((u64(1) << DISTANCE) + 1);
    const Row changed = ((a >> DISTANCE) ^ b) & low;
    a ^= changed << DISTANCE;
    b ^= changed;
}

// The three steps between eight rows that are STRIDE apart, in registers.
template <int STRIDE> inline void swap_eight(Row (&rows)[8]) {
    for (int i = 0; i < 4; ++i) swap_bits<4 * STRIDE>(rows[i], rows[i + 4]);
    for (int i = 0; i < 8; i += i & 1 ? 3 : 1) swap_bits<2 * STRIDE>(rows[i], rows[i + 2]);
    for (int i = 0; i < 8; i += 2) swap_bits<STRIDE>(rows[i], rows[i + 1]);
}

void pack(const u64 *rows, const i32 *columns, int n, u64 *squares) {
    for (int done = 0; done < n; done += 64, squares += 64 * WORDS) {
        Row eight[8];
        if (std::all_of(columns + done, columns + std::min(done + 64, n), [](i32 column) { return column < 0; })) {
            std::memset(squares, 0, 64 * 8 * WORDS);
            continue;
        }
        for (int i = 0; i < 8; ++i) {
            for (int k = 0; k < 8; ++k) {
                const int at = done + 8 * k + i;
                const i32 column = at < n ? columns[at] : -1;
                eight[k] = column < 0 ? Row{} : load(rows + std::ptrdiff_t(column) * WORDS);
            }
            swap_eight<8>(eight);
            for (int k = 0; k < 8; ++k) store(squares + (8 * k + i) * WORDS, eight[k]);
        }
        for (int i = 0; i < 64; i += 8) {
            for (int k = 0; k < 8; ++k) eight[k] = load(squares + (i + k) * WORDS);
            swap_eight<1>(eight);
            for (int k = 0; k < 8; ++k) store(squares + (i + k) * WORDS, eight[k]);
        }
    }
}

// Write 64 bits as 64 bytes.
inline void spread_word(u64 word, u8 *out) {
#if defined(__AVX512BW__)
    _mm512_storeu_si512(out, _mm512_maskz_set1_epi8(word, 1));
#elif defined(__AVX2__)
    typedef u8 Bytes __attribute__((vector_size(32)));
    typedef u64 Words __attribute__((vector_size(32)));
    const Words all = Words{} + word, bit = Words{} + 0x8040201008040201u;
    const Bytes bytes = (Bytes)all;
    // each half of the register has all 8 bytes; the shuffle works within halves
    const Bytes low = __builtin_shufflevector(bytes, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18,
                                              18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19);
    const Bytes high = __builtin_shufflevector(bytes, bytes, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 22, 22, 22,
                                               22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 23, 23, 23);
    const Bytes first = (Bytes)((low & (Bytes)bit) != 0) & 1, second = (Bytes)((high & (Bytes)bit) != 0) & 1;
    std::memcpy(out, &first, 32);
    std::memcpy(out + 32, &second, 32);
#else
    for (int i = 0; i < 8; ++i) {
        // broadcast the byte to eight, keep one bit in each, then compare
        const u64 bits = ((word >> 8 * i & 0xFF) * 0x0101010101010101u) & 0x8040201008040201u;
        const u64 bytes = (bits + 0x7F7F7F7F7F7F7F7Fu) >> 7 & 0x0101010101010101u;
        for (int b = 0; b < 8; ++b) out[8 * i + b] = static_cast<u8>(bytes >> 8 * b);
    }
#endif
}

void emit(const u64 *squares, int n, bool packed, int count, u8 *out, u8 *end) {
    const int groups = (n + 63) / 64;
    constexpr int square = 64 * WORDS;
    if (packed) {
        for (int lane = 0; lane < count; ++lane) {
            const u64 *word = squares + (lane & 63) * WORDS + (lane >> 6);
            for (int j = 0; j < groups; ++j, out += 8) std::memcpy(out, word + j * square, 8);
        }
        return;
    }
    int lane = 0;
    for (; lane < count && end - out >= 64 * groups; ++lane, out += n) {
        const u64 *word = squares + (lane & 63) * WORDS + (lane >> 6);
        for (int j = 0; j < groups; ++j) spread_word(word[j * square], out + 64 * j);
    }
    for (; lane < count; ++lane, out += n) { // the last lane must not be written past its end
        const u64 *word = squares + (lane & 63) * WORDS + (lane >> 6);
        for (int j = 0; j < groups; ++j) {
            u8 bytes[64];
            spread_word(word[j * square], bytes);
            std::memcpy(out + 64 * j, bytes, std::min(64, n - 64 * j));
        }
    }
}

void spread(const u64 *row, u8 *out) {
    for (int w = 0; w < WORDS; ++w) spread_word(row[w], out + 64 * w);
}

i32 age(i32 *steps, const u64 *going, const u64 *begun) {
    typedef i32 Numbers __attribute__((vector_size(64)));
    const Numbers place = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Numbers most{};
    for (int lane = 0; lane < LANES; lane += 16, steps += 16) {
        const Numbers goes = (Numbers{} + i32(going[lane >> 6] >> (lane & 63) & 0xFFFF)) >> place & 1;
        const Numbers begins = (Numbers{} + i32(begun[lane >> 6] >> (lane & 63) & 0xFFFF)) >> place & 1;
        Numbers count;
        std::memcpy(&count, steps, sizeof count);
        count = (count & (begins - 1)) + goes;
        std::memcpy(steps, &count, sizeof count);
        most = count > most ? count : most;
    }
    i32 largest = 0;
    for (int i = 0; i < 16; ++i) largest = std::max(largest, most[i]);
    return largest;
}

} // namespace

extern const BatchKernels batch;
const BatchKernels batch = {survey, assign, merge, copy, take_options, clear, unite, pack, emit, spread, age};

} // namespace herbrand::HB_LEVEL

// Choosing one of the true bits of many rows in every lane, all equally likely.
//
// The rows are counted with carry-save adders, the count is multiplied with a random fraction of FRACTION bits,
// and the whole part is the rank of the bit that is taken, found by counting the rank down along the rows; a bit
// is preferred by less than 2**-FRACTION.  All numbers are bit-sliced: row b holds bit b for every lane.
//
// For files that are compiled for each level: everything here is in the namespace of the level.
#pragma once

#include "base.hpp"

#include <cstring>
#include <type_traits>

namespace herbrand::HB_LEVEL {

inline constexpr int FRACTION = 20;
inline constexpr int MOST_BITS = 12;
inline constexpr int MOST_CHOICES = (1 << MOST_BITS) - 1;

// Part of a row, as long as a register, so that many of them can be in registers.
#if defined(__AVX512F__)
inline constexpr int PART_WORDS = 8;
#elif defined(__AVX2__)
inline constexpr int PART_WORDS = 4;
#else
inline constexpr int PART_WORDS = 2;
#endif
inline constexpr int PARTS = WORDS / PART_WORDS;
typedef u64 Part __attribute__((vector_size(8 * PART_WORDS)));

inline Part load_part(const u64 *words) {
    Part part;
    std::memcpy(&part, words, sizeof part);
    return part;
}

inline void store_part(u64 *words, const Part &part) { std::memcpy(words, &part, sizeof part); }

inline bool any_part(const Part &part) {
    u64 any = 0;
    for (int w = 0; w < PART_WORDS; ++w) any |= part[w];
    return any != 0;
}

// One xoshiro256++ (Blackman and Vigna 2021) in every word.
struct Generator {
    Part s[4];

    // `rows`: four rows of state, of which this is the part from word `at`.
    Generator(const u64 *rows, int at) {
        for (int i = 0; i < 4; ++i) s[i] = load_part(rows + i * WORDS + at);
    }
    void store(u64 *rows, int at) const {
        for (int i = 0; i < 4; ++i) store_part(rows + i * WORDS + at, s[i]);
    }
    Part next() {
        const Part sum = s[0] + s[3], result = (sum << 23 | sum >> 41) + s[0], shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3] << 45 | s[3] >> 19;
        return result;
    }
};

// Add three bits: `a` becomes the sum, the carry is returned.
inline Part full_adder(Part &a, const Part &b, const Part &c) {
    const Part half = a ^ b, carry = (a & b) | (half & c);
    a = half ^ c;
    return carry;
}

// How many of the bits at(0) .. at(n - 1) are set in each lane.
template <int BITS, class At> inline void count_bits(At &&at, int n, Part (&total)[BITS]) {
    for (int b = 0; b < BITS; ++b) total[b] = Part{};
    const auto add = [&](Part carry, int from) {
        for (int b = from; b < BITS; ++b) {
            const Part sum = total[b] ^ carry;
            carry &= total[b];
            total[b] = sum;
        }
    };
    int i = 0;
    if constexpr (BITS > 3)
        for (; i + 8 <= n; i += 8) { // eight bits give one carry into the fourth row
            const Part two = full_adder(total[0], at(i), at(i + 1));
            const Part two_more = full_adder(total[0], at(i + 2), at(i + 3));
            const Part four = full_adder(total[1], two, two_more);
            const Part two_again = full_adder(total[0], at(i + 4), at(i + 5));
            const Part two_last = full_adder(total[0], at(i + 6), at(i + 7));
            const Part four_more = full_adder(total[1], two_again, two_last);
            add(full_adder(total[2], four, four_more), 3);
        }
    for (; i < n; ++i) add(at(i), 0);
}

// The whole part of `count` times a random fraction.
template <int BITS> inline void draw_rank(const Part (&count)[BITS], Generator &generator, Part (&rank)[BITS]) {
    for (int b = 0; b < BITS; ++b) rank[b] = Part{};
    for (int i = 0; i < FRACTION; ++i) {
        const Part random = generator.next();
        // add the count where the bit is set, then halve: the lowest bit of the sum drops out
        Part carry{};
        for (int b = 0; b < BITS; ++b) {
            const Part addend = count[b] & random, half = rank[b] ^ addend;
            const Part sum = half ^ carry;
            carry = (rank[b] & addend) | (half & carry);
            if (b) rank[b - 1] = sum;
        }
        rank[BITS - 1] = carry;
    }
}

// Tell of each of the bits at(0) .. at(n - 1) whether it is the one with the rank: take(i, lanes).
template <int BITS, class At, class Take> inline void take_ranked(At &&at, int n, Part (&rank)[BITS], Take &&take) {
    for (int i = 0; i < n; ++i) {
        const Part legal = at(i);
        if (!any_part(legal)) {
            take(i, legal);
            continue;
        }
        Part nonzero = rank[0];
        for (int b = 1; b < BITS; ++b) nonzero |= rank[b];
        take(i, legal & ~nonzero);
        // count down where the bit is set; past zero the number wraps around and stays nonzero
        Part borrow = legal;
        for (int b = 0; b < BITS; ++b) {
            rank[b] ^= borrow;
            borrow &= rank[b];
        }
    }
}

// Call `work` with the number of bits that counts up to `n` need, rounded up, as a constant.
template <class Work> inline void with_bits(int n, Work &&work) {
    if (n < 1 << 2) work(std::integral_constant<int, 2>());
    else if (n < 1 << 4) work(std::integral_constant<int, 4>());
    else if (n < 1 << 6) work(std::integral_constant<int, 6>());
    else if (n < 1 << 8) work(std::integral_constant<int, 8>());
    else if (n < 1 << 10) work(std::integral_constant<int, 10>());
    else work(std::integral_constant<int, MOST_BITS>());
}

} // namespace herbrand::HB_LEVEL

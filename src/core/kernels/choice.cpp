// Drawing one of the true bits of many rows in every lane; see choice.hpp.
//
// The leaves of the tree are blocks of eight rows, whose numbers of true bits are computed and searched in registers.
// A node of level l has the number of true bits among 2**l rows, a number of l + 1 bits; level 3 are the blocks.  On the
// way down, every lane is at exactly one node of each level, so there is one rank for the level, not one for each node;
// `masks` of a node are the lanes at it.

#include "choice.hpp"
#include "kernels.hpp"
#include "rows.hpp"

#include <cstring>

namespace herbrand::HB_LEVEL {

namespace {

// Rows are processed in pieces as wide as a register, so that carries and ranks stay in registers.
#if defined(__AVX512F__)
constexpr int PIECE = 64;
#elif defined(__AVX2__)
constexpr int PIECE = 32;
#else
constexpr int PIECE = 16;
#endif
constexpr int STRIDE = PIECE / 8; // words

typedef u64 Piece __attribute__((vector_size(PIECE)));

inline Piece load_piece(const u64 *row, int word) {
    Piece piece;
    std::memcpy(&piece, row + word, sizeof piece);
    return piece;
}

inline void store_piece(u64 *row, int word, Piece piece) { std::memcpy(row + word, &piece, sizeof piece); }

#if defined(__AVX512F__)
template <int T> inline Piece lut(Piece a, Piece b, Piece c) {
    return (Piece)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, T);
}
inline Piece xor3(Piece a, Piece b, Piece c) { return lut<0x96>(a, b, c); }
inline Piece majority(Piece a, Piece b, Piece c) { return lut<0xE8>(a, b, c); }
inline Piece borrow(Piece a, Piece b, Piece c) { return lut<0x8E>(a, b, c); } // of a - b - c
inline Piece select(Piece m, Piece a, Piece b) { return lut<0xCA>(m, a, b); }
inline Piece or_and(Piece a, Piece b, Piece c) { return lut<0xF8>(a, b, c); }
#else
inline Piece xor3(Piece a, Piece b, Piece c) { return a ^ b ^ c; }
inline Piece majority(Piece a, Piece b, Piece c) { return (a & b) | (c & (a ^ b)); }
inline Piece borrow(Piece a, Piece b, Piece c) { return (b & c) | (~a & (b ^ c)); }
inline Piece select(Piece m, Piece a, Piece b) { return b ^ (m & (a ^ b)); }
inline Piece or_and(Piece a, Piece b, Piece c) { return a | (b & c); }
#endif

template <int N> inline Piece rotate(Piece x) { return (x << N) | (x >> (64 - N)); }

constexpr int MAX_LEVELS = 31;

// Calls a function for 0 .. BITS - 1, unrolled, or for 0 .. `bits` - 1 if BITS is 0.
template <int BITS, class Work> [[gnu::always_inline]] inline void for_bits(int bits, Work &&work) {
    if constexpr (BITS > 0) repeat<BITS>(work);
    else
        for (int k = 0; k < bits; ++k) work(k);
}

// Adds the counts of neighbouring nodes, of `bits` rows each; a last node without a neighbour is copied.
template <int BITS> void add(const u64 *in, int nodes, int bits, u64 *out, int words) {
    const int n = BITS ? BITS : bits;
    for (int i = 0; i + 1 < nodes; i += 2) {
        const u64 *other = in + n * WORDS;
        for (int word = 0; word < words; word += STRIDE) {
            Piece carry{};
            for_bits<BITS>(bits, [&](int k) {
                const Piece x = load_piece(in + k * WORDS, word), y = load_piece(other + k * WORDS, word);
                store_piece(out + k * WORDS, word, xor3(x, y, carry));
                carry = majority(x, y, carry);
            });
            store_piece(out + n * WORDS, word, carry);
        }
        in += 2 * n * WORDS;
        out += (n + 1) * WORDS;
    }
    if (nodes & 1) {
        std::memcpy(out, in, sizeof(u64) * WORDS * n);
        std::memset(out + n * WORDS, 0, 8 * WORDS);
    }
}

void add(const u64 *in, int nodes, int bits, u64 *out, int words) {
    switch (bits) {
    case 4: return add<4>(in, nodes, bits, out, words);
    case 5: return add<5>(in, nodes, bits, out, words);
    case 6: return add<6>(in, nodes, bits, out, words);
    default: return add<0>(in, nodes, bits, out, words);
    }
}

// The integer part of `total`, BITS rows, times a random fraction of FRACTION bits (as in Lemire 2019, without rejection):
// shift and add, from the lowest bit of the fraction, which xoshiro256++ draws for 64 lanes at a time.
template <int BITS> void draw(const u64 *total, u64 *rank, u64 *generator, int words) {
    for (int word = 0; word < words; word += STRIDE) {
        Piece s0 = load_piece(generator, word), s1 = load_piece(generator + WORDS, word);
        Piece s2 = load_piece(generator + 2 * WORDS, word), s3 = load_piece(generator + 3 * WORDS, word);
        Piece count[BITS], sum[BITS];
        repeat<BITS>([&](int k) {
            count[k] = load_piece(total + k * WORDS, word);
            sum[k] = Piece{};
        });
        for (int i = 0; i < FRACTION; ++i) {
            const Piece random = rotate<23>(s0 + s3) + s0;
            const Piece shifted = s1 << 17;
            s2 ^= s0;
            s3 ^= s1;
            s1 ^= s2;
            s0 ^= s3;
            s2 ^= shifted;
            s3 = rotate<45>(s3);
            // add `total` where the random bit is set, then halve: the lowest bit of the sum is dropped
            Piece carry{};
            repeat<BITS>([&](int k) {
                const Piece addend = count[k] & random, value = sum[k];
                if (k) sum[k - 1] = xor3(value, addend, carry);
                carry = majority(value, addend, carry);
            });
            sum[BITS - 1] = carry;
        }
        repeat<BITS>([&](int k) { store_piece(rank + k * WORDS, word, sum[k]); });
        // Generators of words in which nothing is drawn do not advance, so that all levels draw the same bits.
        const std::size_t bytes = 8 * (words < STRIDE ? words : STRIDE);
        std::memcpy(generator + word, &s0, bytes);
        std::memcpy(generator + WORDS + word, &s1, bytes);
        std::memcpy(generator + 2 * WORDS + word, &s2, bytes);
        std::memcpy(generator + 3 * WORDS + word, &s3, bytes);
    }
}

void draw(int bits, const u64 *total, u64 *rank, u64 *generator, int words) {
    switch (bits) {
    case 1:
    case 2: return draw<2>(total, rank, generator, words);
    case 3: return draw<3>(total, rank, generator, words);
    case 4: return draw<4>(total, rank, generator, words);
    case 5: return draw<5>(total, rank, generator, words);
    case 6: return draw<6>(total, rank, generator, words);
    case 7: return draw<7>(total, rank, generator, words);
    case 8: return draw<8>(total, rank, generator, words);
    default: break;
    }
    if (bits <= 12) return draw<12>(total, rank, generator, words);
    if (bits <= 16) return draw<16>(total, rank, generator, words);
    return draw<MAX_LEVELS>(total, rank, generator, words);
}

// One level down: `counts` are those of the level below, `below` nodes of `bits` rows each, of which `used` rows may be
// true.  Sets the masks of that level, and subtracts the counts of left nodes from `rank` in lanes that go right.
template <int USED>
void descend(const u64 *counts, int below, int bits, int used, const u64 *masks, u64 *after, u64 *rank,
             int words) {
    const int nodes = (below + 1) / 2;
    for (int word = 0; word < words; word += STRIDE) {
        Piece left[USED ? USED : MAX_LEVELS];
        for_bits<USED>(used, [&](int k) { left[k] = Piece{}; });
        const u64 *count = counts;
        for (int i = 0; i < nodes; ++i, count += 2 * bits * WORDS) {
            const Piece mask = load_piece(masks + i * WORDS, word);
            for_bits<USED>(used, [&](int k) { left[k] = or_and(left[k], mask, load_piece(count + k * WORDS, word)); });
        }
        Piece goes_left{};
        Piece value[USED ? USED : MAX_LEVELS], rest[USED ? USED : MAX_LEVELS];
        for_bits<USED>(used, [&](int k) {
            value[k] = load_piece(rank + k * WORDS, word);
            rest[k] = xor3(value[k], left[k], goes_left);
            goes_left = borrow(value[k], left[k], goes_left);
        });
        for_bits<USED>(used, [&](int k) { store_piece(rank + k * WORDS, word, select(goes_left, value[k], rest[k])); });
        for (int i = 0; i + 1 < below; i += 2) {
            const Piece mask = load_piece(masks + i / 2 * WORDS, word);
            store_piece(after + i * WORDS, word, mask & goes_left);
            store_piece(after + (i + 1) * WORDS, word, mask & ~goes_left);
        }
        if (below & 1) store_piece(after + (below - 1) * WORDS, word, load_piece(masks + (nodes - 1) * WORDS, word));
    }
}

void descend(const u64 *counts, int below, int bits, int used, const u64 *masks, u64 *after, u64 *rank,
             int words) {
    switch (used) {
    case 2: return descend<2>(counts, below, bits, used, masks, after, rank, words);
    case 3: return descend<3>(counts, below, bits, used, masks, after, rank, words);
    case 4: return descend<4>(counts, below, bits, used, masks, after, rank, words);
    case 5: return descend<5>(counts, below, bits, used, masks, after, rank, words);
    case 6: return descend<6>(counts, below, bits, used, masks, after, rank, words);
    case 7: return descend<7>(counts, below, bits, used, masks, after, rank, words);
    default: return descend<0>(counts, below, bits, used, masks, after, rank, words);
    }
}

// The number of true bits among four rows, as three rows.
struct Quad {
    Piece sums[2], carries[2]; // of the first two rows, of the others
    Piece count[3];
    Quad(Piece a, Piece b, Piece c, Piece d) : sums{a ^ b, c ^ d}, carries{a & b, c & d} {
        const Piece both = sums[0] & sums[1];
        count[0] = sums[0] ^ sums[1];
        count[1] = xor3(carries[0], carries[1], both);
        count[2] = majority(carries[0], carries[1], both);
    }
};

// The number of true bits among eight rows, as four rows.
void count_eight(const u64 *const *rows, u64 *out, int words) {
    for (int word = 0; word < words; word += STRIDE) {
        const Quad a(load_piece(rows[0], word), load_piece(rows[1], word), load_piece(rows[2], word), load_piece(rows[3], word));
        const Quad b(load_piece(rows[4], word), load_piece(rows[5], word), load_piece(rows[6], word), load_piece(rows[7], word));
        Piece carry{};
        repeat<3>([&](int k) {
            store_piece(out + k * WORDS, word, xor3(a.count[k], b.count[k], carry));
            carry = majority(a.count[k], b.count[k], carry);
        });
        store_piece(out + 3 * WORDS, word, carry);
    }
}

// In the lanes of `mask`, selects the row with the given rank (three rows) among the true ones of eight.
void take_eight(const u64 *const *rows, const u64 *mask, const u64 *rank, u64 *const *taken, int words) {
    for (int word = 0; word < words; word += STRIDE) {
        const Piece here = load_piece(mask, word);
        const Piece r0 = load_piece(rank, word), r1 = load_piece(rank + WORDS, word), r2 = load_piece(rank + 2 * WORDS, word);
        const auto x = [&](int i) { return load_piece(rows[i], word); };
        const Quad a(x(0), x(1), x(2), x(3));
        // the first four, or the others, with the rank less the number of the first
        const Piece b0 = borrow(r0, a.count[0], Piece{}), b1 = borrow(r1, a.count[1], b0);
        const Piece low = borrow(r2, a.count[2], b1);
        const Piece s0 = select(low, r0, r0 ^ a.count[0]);
        const Piece s1 = select(low, r1, xor3(r1, a.count[1], b0));
        // the first two of these, or the others
        const Piece u = x(4), v = x(5);
        const Piece sum = select(low, a.sums[0], u ^ v), carry = select(low, a.carries[0], u & v);
        const Piece first = borrow(s1, carry, borrow(s0, sum, Piece{}));
        const Piece last = select(first, s0, s0 ^ sum);
        const auto pair = [&](int i, Piece lanes) {
            const Piece one = lanes & x(i) & ~last;
            store_piece(taken[i], word, one);
            store_piece(taken[i + 1], word, lanes & ~one);
        };
        const Piece left = here & low, right = here & ~low;
        pair(0, left & first);
        pair(2, left & ~first);
        pair(4, right & first);
        pair(6, right & ~first);
    }
}

// If no lane has more than one true row, each is selected where it is true.
void take_all(const RowDraw &d) {
    for (int i = 0; i < d.count; ++i)
        for (int word = 0; word < d.words; word += STRIDE)
            store_piece(d.taken[i], word, load_piece(d.rows[i], word) & load_piece(d.among, word));
}

} // namespace

int list_live(const u64 *const *rows, u64 *const *taken, int count, const u64 *among, u64 *is_live, i32 *live,
              const u64 **from, u64 **to) {
    int count_live = 0;
    for (int begin = 0; begin < count; begin += 64) {
        const int size = count - begin < 64 ? count - begin : 64;
        u64 some = 0;
        for (int i = 0; i < size; ++i) some |= u64(any_both(rows[begin + i], among)) << i;
        u64 &before = is_live[begin / 64];
        each_bit(before & ~some, [&](int i) { std::memset(taken[begin + i], 0, 8 * WORDS); });
        each_bit(some, [&](int i) {
            live[count_live] = begin + i;
            from[count_live] = rows[begin + i];
            to[count_live++] = taken[begin + i];
        });
        before = some;
    }
    return count_live;
}

void draw_row(const RowDraw &d) {
    if (d.count <= 1) {
        take_all(d);
        for (int w = 0; w < WORDS; ++w) d.none[w] |= d.among[w] & ~(d.count ? d.rows[0][w] : 0);
        return;
    }
    // The last block is padded with false rows.
    alignas(64) u64 nothing[WORDS] = {}, nobody[WORDS];
    const u64 *last_rows[8];
    u64 *last_taken[8];
    const int blocks = (d.count + 7) / 8, whole = d.count / 8;
    for (int i = 0; i < 8; ++i) {
        const bool is_there = 8 * whole + i < d.count;
        last_rows[i] = is_there ? d.rows[8 * whole + i] : nothing;
        last_taken[i] = is_there ? d.taken[8 * whole + i] : nobody;
    }
    // up
    const u64 *counts[MAX_LEVELS];
    int nodes[MAX_LEVELS];
    u64 *free = d.scratch;
    int level = 3;
    nodes[3] = blocks;
    counts[3] = free;
    for (int i = 0; i < blocks; ++i, free += 4 * WORDS) count_eight(i < whole ? d.rows + 8 * i : last_rows, free, d.words);
    while (nodes[level] > 1) {
        add(counts[level], nodes[level], level + 1, free, d.words);
        ++level;
        nodes[level] = (nodes[level - 1] + 1) / 2;
        counts[level] = free;
        free += std::ptrdiff_t(nodes[level]) * (level + 1) * WORDS;
    }
    // draw
    const u64 *total = counts[level];
    int bits = level + 1;
    while (bits > 0 && !any_both(total + (bits - 1) * WORDS, d.among)) --bits;
    u64 *rank = free;
    free += (level + 1) * WORDS;
    u64 *masks = free, *after = free + std::ptrdiff_t(blocks + 1) * WORDS;
    for (int w = 0; w < WORDS; ++w) {
        u64 some = 0;
        for (int k = 0; k < bits; ++k) some |= total[k * WORDS + w];
        masks[w] = d.among[w] & some;
        d.none[w] |= d.among[w] & ~some;
    }
    if (bits <= 1) {
        take_all(d);
        return;
    }
    alignas(64) u64 padded[MAX_LEVELS * WORDS], drawn[MAX_LEVELS * WORDS];
    const int wide = bits <= 8 ? bits : bits <= 12 ? 12 : bits <= 16 ? 16 : MAX_LEVELS;
    for (int k = 0; k < bits; ++k) std::memcpy(padded + k * WORDS, total + k * WORDS, 8 * WORDS);
    for (int k = bits; k < wide; ++k) std::memset(padded + k * WORDS, 0, 8 * WORDS);
    draw(bits, padded, drawn, d.generator, d.words);
    for (int k = 0; k <= level; ++k) {
        if (k < bits) std::memcpy(rank + k * WORDS, drawn + k * WORDS, 8 * WORDS);
        else std::memset(rank + k * WORDS, 0, 8 * WORDS);
    }
    // down: at level l a rank is less than 2**l, which takes l rows
    for (; level > 3; --level) {
        const int used = level < bits ? level : bits;
        descend(counts[level - 1], nodes[level - 1], level, used, masks, after, rank, d.words);
        u64 *swapped = masks;
        masks = after;
        after = swapped;
    }
    for (int i = 0; i < blocks; ++i)
        take_eight(i < whole ? d.rows + 8 * i : last_rows, masks + i * WORDS, rank,
                   i < whole ? d.taken + 8 * i : last_taken, d.words);
}

// Warren, Hacker's Delight, 7-3, for the words of a row at once.
void transpose_rows(u64 *rows) {
    u64 mask = 0x00000000FFFFFFFFu;
    for (int distance = 32; distance; distance >>= 1, mask ^= mask << distance) {
        for (int k = 0; k < 64; k = (k + distance + 1) & ~distance) {
            u64 *a = rows + k * WORDS, *b = rows + (k + distance) * WORDS;
            for (int word = 0; word < WORDS; word += STRIDE) {
                const Piece x = load_piece(a, word), y = load_piece(b, word);
                const Piece swapped = ((x >> distance) ^ y) & mask;
                store_piece(a, word, x ^ (swapped << distance));
                store_piece(b, word, y ^ swapped);
            }
        }
    }
}

void take_where(u64 *const *to, const u64 *const *from, int count, const u64 *mask, int words) {
    for (int word = 0; word < words; word += STRIDE) {
        const Piece chosen = load_piece(mask, word);
        for (int i = 0; i < count; ++i) store_piece(to[i], word, select(chosen, load_piece(from[i], word), load_piece(to[i], word)));
    }
}

} // namespace herbrand::HB_LEVEL

// Choosing a random legal move of one role in every lane; see choice.hpp.
//
// Level 0 of the tree are the moves that are legal somewhere, a node of level l has the number of legal moves
// among its 2**l leaves in l + 1 rows.  Going down, every lane is at one node of each level, so its rank is kept
// once for the level, not for each node: `mask` of a node are the lanes that are there.

#include "choice.hpp"
#include "kernels.hpp"

#include <cstring>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace herbrand::HB_LEVEL {

namespace {

// Rows are worked on in pieces as wide as a register, so that what is carried along stays in registers.
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
inline bool any_both(const u64 *a, const u64 *b) {
    return _mm512_test_epi64_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)) != 0;
}
#else
inline Piece xor3(Piece a, Piece b, Piece c) { return a ^ b ^ c; }
inline Piece majority(Piece a, Piece b, Piece c) { return (a & b) | (c & (a ^ b)); }
inline Piece borrow(Piece a, Piece b, Piece c) { return (b & c) | (~a & (b ^ c)); }
inline Piece select(Piece m, Piece a, Piece b) { return b ^ (m & (a ^ b)); }
inline Piece or_and(Piece a, Piece b, Piece c) { return a | (b & c); }
inline bool any_both(const u64 *a, const u64 *b) {
#if defined(__AVX2__)
    const auto at = [](const u64 *row, int i) { return _mm256_loadu_si256((const __m256i *)row + i); };
    return !_mm256_testz_si256(at(a, 0), at(b, 0)) || !_mm256_testz_si256(at(a, 1), at(b, 1));
#else
    u64 any = 0;
    for (int w = 0; w < WORDS; ++w) any |= a[w] & b[w];
    return any != 0;
#endif
}
#endif

template <int N> inline Piece rotate(Piece x) { return (x << N) | (x >> (64 - N)); }

constexpr int MAX_LEVELS = 31;

// Add the counts of neighbours, of `bits` rows each; a last one without a neighbour is taken over.
template <int BITS> void add(const u64 *in, int nodes, int bits, u64 *out) {
    const int n = BITS ? BITS : bits;
    for (int i = 0; i + 1 < nodes; i += 2) {
        const u64 *other = in + n * WORDS;
        for (int word = 0; word < WORDS; word += STRIDE) {
            Piece carry{};
            for (int k = 0; k < n; ++k) {
                const Piece x = load_piece(in + k * WORDS, word), y = load_piece(other + k * WORDS, word);
                store_piece(out + k * WORDS, word, xor3(x, y, carry));
                carry = majority(x, y, carry);
            }
            store_piece(out + n * WORDS, word, carry);
        }
        in += 2 * n * WORDS;
        out += (n + 1) * WORDS;
    }
    if (nodes & 1) {
        for (int word = 0; word < WORDS; word += STRIDE) {
            for (int k = 0; k < n; ++k) store_piece(out + k * WORDS, word, load_piece(in + k * WORDS, word));
            store_piece(out + n * WORDS, word, Piece{});
        }
    }
}

void add(const u64 *in, int nodes, int bits, u64 *out) {
    switch (bits) {
    case 2: return add<2>(in, nodes, bits, out);
    case 3: return add<3>(in, nodes, bits, out);
    case 4: return add<4>(in, nodes, bits, out);
    case 5: return add<5>(in, nodes, bits, out);
    case 6: return add<6>(in, nodes, bits, out);
    default: return add<0>(in, nodes, bits, out);
    }
}

// The whole part of `total` times a random fraction, both of BITS rows.
template <int BITS> void draw(const u64 *total, u64 *rank, u64 *generator) {
    for (int word = 0; word < WORDS; word += STRIDE) {
        Piece s0 = load_piece(generator, word), s1 = load_piece(generator + WORDS, word);
        Piece s2 = load_piece(generator + 2 * WORDS, word), s3 = load_piece(generator + 3 * WORDS, word);
        Piece count[BITS], sum[BITS];
        for (int k = 0; k < BITS; ++k) {
            count[k] = load_piece(total + k * WORDS, word);
            sum[k] = Piece{};
        }
        for (int i = 0; i < FRACTION; ++i) {
            const Piece random = rotate<23>(s0 + s3) + s0;
            const Piece shifted = s1 << 17;
            s2 ^= s0;
            s3 ^= s1;
            s1 ^= s2;
            s0 ^= s3;
            s2 ^= shifted;
            s3 = rotate<45>(s3);
            // add where the bit is set, then halve: the lowest bit of the sum drops out
            Piece carry{};
            for (int k = 0; k < BITS; ++k) {
                const Piece addend = count[k] & random, value = sum[k];
                if (k) sum[k - 1] = xor3(value, addend, carry);
                carry = majority(value, addend, carry);
            }
            sum[BITS - 1] = carry;
        }
        for (int k = 0; k < BITS; ++k) store_piece(rank + k * WORDS, word, sum[k]);
        store_piece(generator, word, s0);
        store_piece(generator + WORDS, word, s1);
        store_piece(generator + 2 * WORDS, word, s2);
        store_piece(generator + 3 * WORDS, word, s3);
    }
}

void draw(int bits, const u64 *total, u64 *rank, u64 *generator) {
    switch (bits) {
    case 1:
    case 2: return draw<2>(total, rank, generator);
    case 3: return draw<3>(total, rank, generator);
    case 4: return draw<4>(total, rank, generator);
    case 5: return draw<5>(total, rank, generator);
    case 6: return draw<6>(total, rank, generator);
    case 7: return draw<7>(total, rank, generator);
    case 8: return draw<8>(total, rank, generator);
    default: break;
    }
    if (bits <= 12) return draw<12>(total, rank, generator);
    if (bits <= 16) return draw<16>(total, rank, generator);
    return draw<MAX_LEVELS>(total, rank, generator);
}

// One level down: `counts` are those of the level below, `below` nodes of `bits` rows each, `used` of which say
// something.  Sets the masks of that level, and makes `rank` the one within the node that a lane goes to.
template <int USED>
void descend(const u64 *counts, int below, int bits, int used, const u64 *masks, u64 *after, u64 *rank) {
    const int n = USED ? USED : used, nodes = (below + 1) / 2;
    for (int word = 0; word < WORDS; word += STRIDE) {
        Piece left[USED ? USED : MAX_LEVELS];
        for (int k = 0; k < n; ++k) left[k] = Piece{};
        const u64 *count = counts;
        for (int i = 0; i < nodes; ++i, count += 2 * bits * WORDS) {
            const Piece mask = load_piece(masks + i * WORDS, word);
            for (int k = 0; k < n; ++k) left[k] = or_and(left[k], mask, load_piece(count + k * WORDS, word));
        }
        Piece goes_left{};
        Piece value[USED ? USED : MAX_LEVELS], rest[USED ? USED : MAX_LEVELS];
        for (int k = 0; k < n; ++k) {
            value[k] = load_piece(rank + k * WORDS, word);
            rest[k] = xor3(value[k], left[k], goes_left);
            goes_left = borrow(value[k], left[k], goes_left);
        }
        for (int k = 0; k < n; ++k) store_piece(rank + k * WORDS, word, select(goes_left, value[k], rest[k]));
        for (int i = 0; i + 1 < below; i += 2) {
            const Piece mask = load_piece(masks + i / 2 * WORDS, word);
            store_piece(after + i * WORDS, word, mask & goes_left);
            store_piece(after + (i + 1) * WORDS, word, mask & ~goes_left);
        }
        if (below & 1) store_piece(after + (below - 1) * WORDS, word, load_piece(masks + (nodes - 1) * WORDS, word));
    }
}

void descend(const u64 *counts, int below, int bits, int used, const u64 *masks, u64 *after, u64 *rank) {
    switch (used) {
    case 2: return descend<2>(counts, below, bits, used, masks, after, rank);
    case 3: return descend<3>(counts, below, bits, used, masks, after, rank);
    case 4: return descend<4>(counts, below, bits, used, masks, after, rank);
    case 5: return descend<5>(counts, below, bits, used, masks, after, rank);
    case 6: return descend<6>(counts, below, bits, used, masks, after, rank);
    case 7: return descend<7>(counts, below, bits, used, masks, after, rank);
    default: return descend<0>(counts, below, bits, used, masks, after, rank);
    }
}

// Take each move where it is legal: where there is no more than one.
void take_all(const RoleChoice &c, int live) {
    for (int i = 0; i < live; ++i) {
        const u64 *legal = c.legal[c.live[i]];
        u64 *taken = c.moves[c.live[i]];
        for (int word = 0; word < WORDS; word += STRIDE)
            store_piece(taken, word, load_piece(legal, word) & load_piece(c.playing, word));
    }
}

} // namespace

int choose(const RoleChoice &c) {
    int live = 0;
    for (int m = 0; m < c.count; ++m) {
        c.live[live] = m;
        live += any_both(c.legal[m], c.playing);
    }
    if (live <= 1) {
        take_all(c, live);
        for (int w = 0; w < WORDS; ++w) c.stuck[w] |= c.playing[w] & ~(live ? c.legal[c.live[0]][w] : 0);
        return live;
    }
    // up
    const u64 *counts[MAX_LEVELS];
    int nodes[MAX_LEVELS];
    u64 *free = c.scratch;
    int level = 1;
    nodes[0] = live;
    nodes[1] = (live + 1) / 2;
    counts[1] = free;
    for (int i = 0; i < live; i += 2) {
        const u64 *a = c.legal[c.live[i]], *b = i + 1 < live ? c.legal[c.live[i + 1]] : nullptr;
        for (int word = 0; word < WORDS; word += STRIDE) {
            const Piece x = load_piece(a, word), y = b ? load_piece(b, word) : Piece{};
            store_piece(free, word, x ^ y);
            store_piece(free + WORDS, word, x & y);
        }
        free += 2 * WORDS;
    }
    while (nodes[level] > 1) {
        add(counts[level], nodes[level], level + 1, free);
        ++level;
        nodes[level] = (nodes[level - 1] + 1) / 2;
        counts[level] = free;
        free += std::ptrdiff_t(nodes[level]) * (level + 1) * WORDS;
    }
    // draw
    const u64 *total = counts[level];
    int bits = level + 1;
    while (bits > 0 && !any_both(total + (bits - 1) * WORDS, c.playing)) --bits;
    u64 *rank = free;
    free += (level + 1) * WORDS;
    u64 *masks = free, *after = free + std::ptrdiff_t(nodes[1] + 1) * WORDS;
    for (int w = 0; w < WORDS; ++w) {
        u64 some = 0;
        for (int k = 0; k < bits; ++k) some |= total[k * WORDS + w];
        masks[w] = c.playing[w] & some;
        c.stuck[w] |= c.playing[w] & ~some;
    }
    if (bits <= 1) {
        take_all(c, live);
        return live;
    }
    alignas(64) u64 padded[MAX_LEVELS * WORDS], drawn[MAX_LEVELS * WORDS];
    const int wide = bits <= 8 ? bits : bits <= 12 ? 12 : bits <= 16 ? 16 : MAX_LEVELS;
    for (int k = 0; k < bits; ++k) std::memcpy(padded + k * WORDS, total + k * WORDS, 8 * WORDS);
    for (int k = bits; k < wide; ++k) std::memset(padded + k * WORDS, 0, 8 * WORDS);
    draw(bits, padded, drawn, c.generator);
    const int kept = bits < level + 1 ? bits : level + 1;
    for (int k = 0; k < kept; ++k) std::memcpy(rank + k * WORDS, drawn + k * WORDS, 8 * WORDS);
    // down: at level l a rank is less than 2**l, so that l rows of it say all
    for (; level >= 2; --level) {
        const int used = level < bits ? level : bits;
        descend(counts[level - 1], nodes[level - 1], level, used, masks, after, rank);
        u64 *swapped = masks;
        masks = after;
        after = swapped;
    }
    for (int i = 0; i < live; i += 2) {
        const u64 *legal = c.legal[c.live[i]], *mask = masks + i / 2 * WORDS;
        u64 *first = c.moves[c.live[i]], *second = i + 1 < live ? c.moves[c.live[i + 1]] : nullptr;
        for (int word = 0; word < WORDS; word += STRIDE) {
            const Piece here = load_piece(mask, word);
            const Piece taken = second ? here & load_piece(legal, word) & ~load_piece(rank, word) : here;
            store_piece(first, word, taken);
            if (second) store_piece(second, word, here & ~taken);
        }
    }
    return live;
}

void clear_rows(u64 *const *rows, const i32 *which, int count) {
    for (int i = 0; i < count; ++i)
        for (int word = 0; word < WORDS; word += STRIDE) store_piece(rows[which[i]], word, Piece{});
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

void take_where(u64 *const *to, const u64 *const *from, int count, const u64 *mask) {
    for (int word = 0; word < WORDS; word += STRIDE) {
        const Piece chosen = load_piece(mask, word);
        for (int i = 0; i < count; ++i) store_piece(to[i], word, select(chosen, load_piece(from[i], word), load_piece(to[i], word)));
    }
}

} // namespace herbrand::HB_LEVEL

#include "evaluator.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

void transpose(u64 *square) {
    u64 mask = 0x00000000FFFFFFFFu;
    for (int distance = 32; distance; distance >>= 1, mask ^= mask << distance) {
        for (int k = 0; k < 64; k = (k + distance + 1) & ~distance) {
            const u64 swapped = ((square[k] >> distance) ^ square[k + distance]) & mask;
            square[k] ^= swapped << distance;
            square[k + distance] ^= swapped;
        }
    }
}

namespace {

// Transposes a square of bits; only the first `count` words of the result are defined, and exchanges that do not
// contribute to them are left out.
void transpose_first(u64 *square, int count) {
    u64 mask = 0x00000000FFFFFFFFu;
    int distance = 32;
    for (; distance && count <= distance; distance >>= 1, mask ^= mask << distance)
        for (int k = 0; k < distance; ++k) square[k] = (square[k] & mask) | (square[k + distance] & mask) << distance;
    const int size = 2 * distance; // a power of two, at least `count`
    for (; distance; distance >>= 1, mask ^= mask << distance) {
        for (int k = 0; k < size; k = (k + distance + 1) & ~distance) {
            const u64 swapped = ((square[k] >> distance) ^ square[k + distance]) & mask;
            square[k] ^= swapped << distance;
            square[k + distance] ^= swapped;
        }
    }
}

} // namespace

void pack_rows(const u64 *const *rows, int n, u64 *out, i64 stride, int count) {
    alignas(64) u64 squares[64 * WORDS];
    const auto transpose_all = kernels().transpose;
    for (int j = 0; 64 * j < n; ++j) {
        const int bits = std::min(64, n - 64 * j);
        if (count <= 64) { // few states: one square, not one for each word of a row
            u64 square[64] = {}, any = 0;
            for (int b = 0; b < bits; ++b) any |= square[b] = rows[64 * j + b][0];
            if (!any) { // in large games few moves are legal
                for (int b = 0; b < count; ++b) out[b * stride + j] = 0;
                continue;
            }
            if (count <= 32) transpose_first(square, count);
            else transpose(square);
            for (int b = 0; b < count; ++b) out[b * stride + j] = square[b];
            continue;
        }
        for (int b = 0; b < bits; ++b) std::memcpy(squares + b * WORDS, rows[64 * j + b], 8 * WORDS);
        for (int b = bits; b < 64; ++b) std::memset(squares + b * WORDS, 0, 8 * WORDS);
        transpose_all(squares);
        for (int i = 0; i < count; ++i) out[i * stride + j] = squares[(i & 63) * WORDS + (i >> 6)];
    }
}

Evaluator::Evaluator(CircuitPtr circuit) : circuit_(std::move(circuit)), machine_(circuit_->evaluating()) {}

void Evaluator::load(const u64 *states, int words, const i64 *index, i64 begin, i64 end) {
    const int fluents = circuit_->fluents;
    const i64 count = end - begin;
    const auto transpose_all = kernels().transpose;
    const auto state = [&](i64 i) { return states + (index ? index[begin + i] : begin + i) * words; };
    bool are_equal = true;
    for (i64 i = 1; i < count && are_equal; ++i) are_equal = state(i) == state(0);
    alignas(64) u64 squares[64 * WORDS];
    for (int j = 0; 64 * j < fluents; ++j) {
        const int bits = std::min(64, fluents - 64 * j);
        const u64 first = state(0)[j];
        if (are_equal) {
            for (int b = 0; b < bits; ++b) std::fill_n(fluent(64 * j + b), WORDS, u64(0) - (first >> b & 1));
            continue;
        }
        if (count <= 64) { // few states: one square, and nothing but the first state in the other words
            u64 square[64];
            for (i64 i = 0; i < 64; ++i) square[i] = i < count ? state(i)[j] : first;
            transpose(square);
            for (int b = 0; b < bits; ++b) {
                u64 *row = fluent(64 * j + b);
                row[0] = square[b];
                std::fill_n(row + 1, WORDS - 1, u64(0) - (first >> b & 1));
            }
            continue;
        }
        for (i64 i = 0; i < LANES; ++i) squares[(i & 63) * WORDS + (i >> 6)] = i < count ? state(i)[j] : first;
        transpose_all(squares);
        for (int b = 0; b < bits; ++b) std::memcpy(fluent(64 * j + b), squares + b * WORDS, 8 * WORDS);
    }
}

void Evaluator::clear_moves() {
    for (int m = 0; m < circuit_->moves; ++m) clear_move(m);
}

namespace {

template <class At> void pack(int n, u64 *out, i64 stride, int count, At &&at) {
    std::vector<const u64 *> rows(n);
    for (int k = 0; k < n; ++k) rows[k] = at(k);
    pack_rows(rows.data(), n, out, stride, count);
}

} // namespace

void Evaluator::store_next(u64 *out, i64 stride, int count) const {
    if (!circuit_->fluents)
        for (int i = 0; i < count; ++i) out[i * stride] = 0;
    pack(circuit_->fluents, out, stride, count, [&](int f) { return next(f); });
}

void Evaluator::store_fluents(u64 *out, i64 stride, int count) const {
    if (!circuit_->fluents)
        for (int i = 0; i < count; ++i) out[i * stride] = 0;
    pack(circuit_->fluents, out, stride, count, [&](int f) { return machine_.state(f); });
}

void Evaluator::store_legal(u64 *out, i64 stride, int count) const {
    const Circuit &c = *circuit_;
    for (int r = 0; r < c.roles; ++r)
        pack(c.bounds[r + 1] - c.bounds[r], out + c.places[r], stride, count,
             [&](int i) { return legal(c.bounds[r] + i); });
}

void Evaluator::store_sees(u64 *out, i64 stride, int count) const {
    pack(static_cast<int>(circuit_->sees.size()), out, stride, count, [&](int k) { return sees(k); });
}

void Evaluator::read_goals(i16 *values, int count) const {
    const Circuit &c = *circuit_;
    std::fill(values, values + i64(count) * c.roles, NO_VALUE);
    for (int k = 0; k < c.goals(); ++k) {
        const u64 *row = goal(k);
        for (int w = 0; 64 * w < count; ++w) {
            for (u64 lanes = row[w]; lanes; lanes &= lanes - 1) {
                const int lane = 64 * w + lowest_bit(lanes);
                if (lane >= count) break;
                i16 &value = values[i64(lane) * c.roles + c.goal_role[k]];
                value = value == NO_VALUE ? c.goal_value[k] : SEVERAL_VALUES;
            }
        }
    }
}

} // namespace herbrand

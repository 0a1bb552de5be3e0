#include "evaluator.hpp"

#include "lanes.hpp"

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

// The first `count` words of the transposed square; the others become anything.  Of each exchange only the half
// that leads there is made.
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
    u64 square[64];
    for (int w = 0; 64 * w < count; ++w) {
        const int lanes = std::min(64, count - 64 * w);
        for (int j = 0; 64 * j < n; ++j) {
            const int bits = std::min(64, n - 64 * j);
            for (int b = 0; b < bits; ++b) square[b] = rows[64 * j + b][w];
            for (int b = bits; b < 64; ++b) square[b] = 0;
            if (lanes <= 32)
                transpose_first(square, lanes);
            else
                transpose(square);
            for (int b = 0; b < lanes; ++b) out[(64 * w + b) * stride + j] = square[b];
        }
    }
}

Evaluator::Evaluator(CircuitPtr circuit) : circuit_(std::move(circuit)), program_(make_program(*circuit_)) {
    const Program &p = *program_;
    rows_ = RowBuffer(p.rows);
    std::memset(rows_.row(1), 0xFF, 8 * WORDS);
    fluent_row_ = p.fluent_row;
    move_row_ = p.move_row;
    legal_row_ = p.legal_row;
    next_row_ = p.next_row;
    goal_row_ = p.goal_row;
    sees_row_ = p.sees_row;
    terminal_row_ = p.terminal_row;
}

Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator &&) noexcept = default;

void Evaluator::run_legal() { program_->run(rows_.data(), program_->legal); }
void Evaluator::run_next() { program_->run(rows_.data(), program_->next); }
void Evaluator::run_goals() { program_->run(rows_.data(), program_->goals); }

void Evaluator::load(const u64 *states, int words, const i64 *index, i64 begin, i64 end) {
    u64 square[64];
    const int fluents = circuit_->fluents;
    for (int w = 0; w < WORDS; ++w) {
        for (int j = 0; 64 * j < fluents; ++j) {
            const int bits = std::min(64, fluents - 64 * j);
            const i64 first = begin + 64 * w;
            if (first >= end) { // nothing but the first state
                const u64 word = states[(index ? index[begin] : begin) * words + j];
                for (int b = 0; b < bits; ++b) fluent(64 * j + b)[w] = word >> b & 1 ? ~u64(0) : 0;
                continue;
            }
            for (int b = 0; b < 64; ++b) {
                const i64 i = first + b < end ? first + b : begin;
                square[b] = states[(index ? index[i] : i) * words + j];
            }
            transpose(square);
            for (int b = 0; b < bits; ++b) fluent(64 * j + b)[w] = square[b];
        }
    }
}

void Evaluator::take_next() {
    // `next` of one fluent may be the row of another one: all are read before any is written
    const int fluents = circuit_->fluents;
    std::vector<u64> taken(std::size_t(fluents) * WORDS);
    for (int f = 0; f < fluents; ++f) std::memcpy(&taken[std::size_t(f) * WORDS], next(f), 8 * WORDS);
    for (int f = 0; f < fluents; ++f) std::memcpy(fluent(f), &taken[std::size_t(f) * WORDS], 8 * WORDS);
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
    pack(circuit_->fluents, out, stride, count, [&](int f) { return rows_.row(fluent_row_[f]); });
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

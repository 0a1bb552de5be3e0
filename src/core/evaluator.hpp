// One block of 512 states of a game, evaluated together: what all that asks about many states stands on.
//
//     Evaluator e(circuit);
//     e.load(states, words, index, begin, end);   // packed states into the lanes
//     e.run_legal();                              // legal(m), terminal() can be read now
//     e.set_move(lane, m); ...  e.run_next();     // next(f), sees(k) can be read now
//     e.run_goals();                              // goal(k) can be read now: after run_legal, before or
//                                                 // after run_next, of the state that was loaded
//     e.clear_moves();
//
// A row has one bit for each lane: WORDS words of 64.  A packed state has fluent f in bit f % 64 of word f / 64.
// An evaluator belongs to one thread; any number can share a circuit.
#pragma once

#include "lanes.hpp"

namespace herbrand {

class Evaluator {
public:
    explicit Evaluator(CircuitPtr circuit);

    const Circuit &circuit() const { return *circuit_; }

    u64 *fluent(int f) { return machine_.state(f); }
    u64 *move(int m) { return machine_.row(machine_.program().move_row[m]); }
    const u64 *legal(int m) const { return machine_.row(machine_.program().legal_row[m]); }
    const u64 *terminal() const { return machine_.row(machine_.program().terminal_row); }
    const u64 *next(int f) const { return machine_.after(f); }
    const u64 *goal(int k) const { return machine_.row(machine_.program().goal_row[k]); }
    const u64 *sees(int k) const { return machine_.row(machine_.program().sees_row[k]); }

    // How many lanes are computed at a time: fewer take no less time.
    int least_lanes() const { return machine_.least_lanes(); }
    // What is asked about the first so many lanes.
    void run_legal(int lanes = LANES) { machine_.run(machine_.program().legal, lanes); }
    void run_next(int lanes = LANES) { machine_.run(machine_.program().next, lanes); }
    void run_goals(int lanes = LANES) { machine_.run(machine_.program().goals, lanes); }

    // Put the packed states `states[index[i] * words ...]`, begin <= i < end, into lanes 0, 1, ...; at most LANES.
    // Lanes without a state get the first one.  A null `index` means the identity.
    void load(const u64 *states, int words, const i64 *index, i64 begin, i64 end);
    // Make fluents what `next` says, in all lanes; `next` cannot be read then.
    void take_next() { machine_.exchange(); }

    void set_move(int lane, int m) { move(m)[lane >> 6] |= u64(1) << (lane & 63); }
    void clear_move(int m) {
        u64 *row = move(m);
        for (int w = 0; w < WORDS; ++w) row[w] = 0;
    }
    void clear_moves();

    // Pack the lanes 0 .. count - 1 into `out[lane * stride ...]`.
    void store_next(u64 *out, i64 stride, int count) const;    // packed states, circuit().state_words() words
    void store_fluents(u64 *out, i64 stride, int count) const; // the same for the states that are loaded
    void store_legal(u64 *out, i64 stride, int count) const;   // circuit().legal_words() words, see `places`
    void store_sees(u64 *out, i64 stride, int count) const;    // circuit().sees_words() words
    // Fill values[lane * roles + role] for the lanes 0 .. count - 1: goals, or NO_VALUE, SEVERAL_VALUES.
    void read_goals(i16 *values, int count) const;

    static bool bit(const u64 *row, int lane) { return row[lane >> 6] >> (lane & 63) & 1; }

private:
    CircuitPtr circuit_;
    mutable Machine machine_;
};

// Transpose 64 words as a square of bits, in place (Warren, Hacker's Delight, 7-3).
void transpose(u64 *square);
// Pack `count` lanes of `n` rows, rows[k] being the k-th, into out[lane * stride + k / 64].
void pack_rows(const u64 *const *rows, int n, u64 *out, i64 stride, int count);
// How many bits below bit `end` of a row are set, and all of them.
inline int row_count(const u64 *row) {
    int total = 0;
    for (int w = 0; w < WORDS; ++w) total += popcount(row[w]);
    return total;
}
inline bool row_any(const u64 *row) {
    u64 any = 0;
    for (int w = 0; w < WORDS; ++w) any |= row[w];
    return any != 0;
}
// The lanes below `count`.
inline void row_below(u64 *row, int count) {
    for (int w = 0; w < WORDS; ++w) {
        const int rest = count - 64 * w;
        row[w] = rest >= 64 ? ~u64(0) : rest <= 0 ? 0 : (u64(1) << rest) - 1;
    }
}

} // namespace herbrand

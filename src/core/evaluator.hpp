// Evaluates a block of 512 states of a game: the basis of everything that handles many states.
//
//     Evaluator e(circuit);
//     e.load(states, words, index, begin, end);   // packed states into the lanes
//     e.run_legal();                              // legal(m), terminal() are valid now
//     e.set_move(lane, m); ...  e.run_next();     // next(f), sees(k) are valid now
//     e.run_goals();                              // goal(k) is valid now; after run_legal, before or after
//                                                 // run_next; always of the loaded state
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

    // The granularity of `lanes`: fewer take no less time.
    int least_lanes() const { return machine_.least_lanes(); }
    // Run a stage for at least the first `lanes` lanes; the results in other lanes are undefined.
    void run_legal(int lanes = LANES) { machine_.run(machine_.program().legal, lanes); }
    void run_next(int lanes = LANES) { machine_.run(machine_.program().next, lanes); }
    void run_goals(int lanes = LANES) { machine_.run(machine_.program().goals, lanes); }

    // Put the packed states `states[index[i] * words ...]`, begin <= i < end, into lanes 0, 1, ...; at most LANES.
    // Other lanes get a copy of the first state.  A null `index` means the identity.
    void load(const u64 *states, int words, const i64 *index, i64 begin, i64 end);
    // Make the next state the current one in all lanes, which invalidates `next`.
    void take_next() { machine_.exchange(); }

    void set_move(int lane, int m) { move(m)[lane >> 6] |= u64(1) << (lane & 63); }
    void clear_move(int m) {
        u64 *row = move(m);
        for (int w = 0; w < WORDS; ++w) row[w] = 0;
    }
    void clear_moves();

    // Pack the lanes 0 .. count - 1 into `out[lane * stride ...]`.
    void store_next(u64 *out, i64 stride, int count) const;    // packed states, circuit().state_words() words
    void store_fluents(u64 *out, i64 stride, int count) const; // the same for the current state
    void store_legal(u64 *out, i64 stride, int count) const;   // circuit().legal_words() words, see `places`
    void store_sees(u64 *out, i64 stride, int count) const;    // circuit().sees_words() words
    // Fill values[lane * roles + role] for the lanes 0 .. count - 1 with goals, NO_VALUE or SEVERAL_VALUES.
    void read_goals(i16 *values, int count) const;

    static bool bit(const u64 *row, int lane) { return row[lane >> 6] >> (lane & 63) & 1; }

private:
    CircuitPtr circuit_;
    mutable Machine machine_;
};

// Transpose a 64 by 64 bit matrix in place (Warren, Hacker's Delight, 7-3).
void transpose(u64 *square);
// Pack `count` lanes of `n` rows: bit k % 64 of out[lane * stride + k / 64] is that of rows[k].
void pack_rows(const u64 *const *rows, int n, u64 *out, i64 stride, int count);
// The number of bits that are set in a row.
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
// Set exactly the lanes below `count`.
inline void row_below(u64 *row, int count) {
    for (int w = 0; w < WORDS; ++w) {
        const int rest = count - 64 * w;
        row[w] = rest >= 64 ? ~u64(0) : rest <= 0 ? 0 : (u64(1) << rest) - 1;
    }
}

} // namespace herbrand

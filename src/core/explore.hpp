// The graph of all states of a game: a hash set of packed states, counting on the graph, and what can be forced in it.
//
// A graph is given by rows: the edges of state i are starts[i] .. starts[i + 1] of `children`, one for each joint
// move, in mixed radix of counts[i], the numbers of legal moves of the roles, the last role's changing fastest.
// States from `expanded` on were not looked into: nothing is known of what follows them.
//
// Graphs come from Python, so every number is checked where it is used, which costs next to nothing beside the
// reading of memory; what does not fit throws std::invalid_argument.
//
// Whatever takes a `stop`, which may be null, throws `Stopped` some milliseconds after that says so at the latest.
#pragma once

#include "circuit.hpp"
#include "memory.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace herbrand {

// Mixes the words of a packed state.
inline u64 state_hash(const u64 *state, int words) {
    u64 h = 0x9E3779B97F4A7C15u;
    for (int j = 0; j < words; ++j) h = scatter((h ^ state[j]) + 0x9E3779B97F4A7C15u);
    return h;
}

// A set of packed states, which stand elsewhere, in the order in which they were added.
//
// Open addressing with entries of 64 bits: the number of a state plus one in the low half, 32 bits of its hash in
// the high half, 0 for an empty place.  It takes 13 to 27 bytes a state, beside the states, when it is large.
class StateTable {
public:
    explicit StateTable(int words) : words_(words), entries_(i64(1) << 14) {}

    int words() const { return words_; }
    i64 count() const { return count_; }
    i64 bytes() const { return 8 * entries_.size(); }

    // Adds `n` rows.  numbers[i] becomes the number of row i; new states are appended to `states`, where there is
    // room for all, and their `parents` become first_origin + origins[i].  `room` is checked against what other threads
    // may have added meanwhile.
    void insert(u64 *states, i32 *parents, const u64 *rows, i64 n, const i64 *origins, i64 first_origin, i32 *numbers,
                i64 room, Stop *stop);

private:
    void grow(const u64 *states, i64 needed, Patience &patience);

    int words_;
    i64 count_ = 0;
    Zeros<u64> entries_;
    bool is_whole_ = true; // false after it was stopped while it grew
    std::mutex mutex_;
};

// What is counted while states are looked into; all numbers are over the states that are not terminal.
struct Survey {
    explicit Survey(CircuitPtr circuit);

    CircuitPtr circuit;
    mutable std::mutex mutex;
    std::vector<i64> branching;  // [roles, 2] the sum of legal moves, and the states with a choice
    std::vector<i64> choosers;   // [roles + 1] states in which so many roles have a choice
    std::vector<u64> ever, always; // [state_words] fluents that are true in some state, in every state
    std::vector<u64> ever_legal; // [legal_words] moves that are legal in some state

    // Looks at `n` states and their legal moves.  Fills counts[i * roles + r], the sums starts[1 .. n] after starts[0],
    // and the numbers, from 0, of the states in which a role cannot move; returns how many these are.  Joint moves are
    // cut at 2^40 a state.
    i64 add(i64 n, const u64 *states, const u8 *over, const u64 *legal, i32 *counts, i64 *starts, i64 *stuck, Stop *stop);
};

// 128-bit numbers of lines of play, one for each state.
struct Numbers {
    std::vector<u64> low, high;
};

struct Lasso {
    i64 state = -1;         // where the circle begins, or -1
    std::vector<i64> path;  // the states on the circle, from that one on
    bool finished = false;  // whether all were looked at
};

class StateGraph {
public:
    static constexpr i32 NEVER = -1; // the rank of a state in which a role cannot force what it wants

    i64 states = 0, expanded = 0, transitions = 0;
    int roles = 0;
    const i64 *starts = nullptr;   // [expanded + 1]
    const i32 *children = nullptr; // [transitions]
    const i32 *counts = nullptr;   // [expanded, roles]

    // Sorts the states so that each comes before its successors (Kahn 1962), as far as there are no circles.
    // longest[i] becomes the most joint moves that lead to state i.  Returns the states that could be sorted.
    std::vector<i32> order(i32 *longest, Stop *stop) const;
    // The lines of play from every state to an end; nothing when a number does not fit into 128 bits.
    // `sequence` has every state before its successors.
    std::optional<Numbers> count_plays(const i32 *sequence, i64 n, Stop *stop) const;
    // Each state hands its number of lines on to its successors.
    std::optional<Numbers> spread(const u64 *low, const u64 *high, Stop *stop) const;
    // values[i * columns + c] becomes the mean over the successors, for every state that has some.
    void random_values(const i32 *sequence, i64 n, double *values, int columns, Stop *stop) const;

    // From where a role can force a state of `target`, whatever the others do: rank[i] becomes the number of steps
    // in which it can do so, or NEVER, and move[i] which of its legal moves does it.  With a `sequence`, which has each
    // state before its successors, in one pass; without one it is the least fixpoint, one step at a time.
    void force(const u8 *target, int role, const i32 *sequence, i64 n, i32 *rank, i32 *move, Stop *stop) const;
    // An edge of state i with the role's a-th move after which it can force nothing, or NEVER.
    i64 reply(i64 i, i64 a, int role, const i32 *rank) const;
    // A shortest line of play that comes back to a state where it was.  `candidates` are states in the order of
    // `depth`, with every circle through one of them; looks at `work` edges at most.
    Lasso lasso(const i64 *depth, const i64 *candidates, i64 n, i64 work, Stop *stop) const;

    // The edges of a state, and a child, checked.
    std::pair<i64, i64> edges(i64 i) const {
        if (i >= expanded) return {0, 0};
        const i64 first = starts[i], last = starts[i + 1];
        if (first < 0 || last < first || last > transitions) [[unlikely]] wrong("`starts` do not fit");
        return {first, last};
    }
    i32 child(i64 edge) const {
        const i32 c = children[edge];
        if (c < 0 || c >= states) [[unlikely]] wrong("a child that is no state");
        return c;
    }
    i64 checked(i64 i) const {
        if (i < 0 || i >= states) [[unlikely]] wrong("a number of no state");
        return i;
    }
    [[noreturn]] static void wrong(const char *what);

    // How the joint moves of a state are laid out for a role: edge = (outer * mine + move) * stride + inner.
    struct Layout {
        i64 first, mine, stride, outer;
    };
    // For a state with edges: checks that they are a product of its counts.
    Layout layout(i64 i, int role) const;

private:
    std::pair<i32, i32> best(i64 i, int role, const i32 *rank, i32 below, Patience &patience) const;
};

// Backward induction over a graph without circles.
//
// With a `role` of -1 at most one other role than `chance` may choose, and takes the first move that is best for
// it; `ties` counts the states in which another best move would be worth something else to somebody.  With a role,
// only its column of `values` is filled: what it gets at least, choosing at the same time as all others together.
// What `chance` (a role, or -1) does is equally likely.
struct Induction {
    const StateGraph &graph;
    const u8 *over;     // [states]
    const i32 *sequence; // [states] each before its successors
    int chance, role;
    double top;         // the highest goal value: halfway up, shorter play is better
    double *values;     // [states, roles] those of terminal states are given
    i32 *length;        // [states] steps of best play
    i32 *best;          // [states] the number of the move taken, or NEVER where no one chooses or choices are mixed
    i64 ties = 0;
    std::vector<double> payoffs; // [moves of the role, moves of the others] where mixing is needed

    // Works from place `begin` - 1 of the sequence down to 0.  Returns the place of a state where mixing is needed:
    // its value must be filled in, then go on from there; or -1 when all is done.
    i64 run(i64 begin, Stop *stop);
};

// Gates on what can be true and what must be true, [nodes] each (Bryant 1987); both are least fixpoints in loops.
void evaluate_ternary(const Circuit &circuit, u8 *can, u8 *must, Stop *stop);

} // namespace herbrand

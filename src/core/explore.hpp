// The graph of all states of a game: a hash set of packed states, counting and solving on the graph.
//
// A graph is given by rows: the edges of state i are starts[i] .. starts[i + 1] of `children`, one for each joint
// move, in mixed radix of counts[i], the numbers of legal moves of the roles, the last role's changing fastest.
// States from `expanded` on have no recorded edges.
//
// Graphs come from Python, so every number is checked where it is used, which costs little compared with the memory
// access; invalid numbers throw std::invalid_argument.
//
// Functions with a `stop`, which may be null, throw `Stopped` within milliseconds after it is due.
#pragma once

#include "circuit.hpp"
#include "memory.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace herbrand {

// Hash of a packed state.
inline u64 state_hash(const u64 *state, int words) {
    u64 h = 0x9E3779B97F4A7C15u;
    for (int j = 0; j < words; ++j) h = scatter((h ^ state[j]) + 0x9E3779B97F4A7C15u);
    return h;
}

// An index of packed states, which the caller stores, in the order in which they were added.
//
// Open addressing with 64-bit entries: the number of a state plus one in the low half, 32 bits of its hash in the high
// half, 0 for an empty slot.  A large table takes 13 to 27 bytes for each state, in addition to the states.
class StateTable {
public:
    explicit StateTable(int words) : words_(words), entries_(i64(1) << 14) {}

    int words() const { return words_; }
    i64 count() const { return count_; }
    i64 bytes() const { return 8 * entries_.size(); }

    // Adds `n` rows.  numbers[i] becomes the number of row i; new states are appended to `states`, which must have space
    // for all, and their `parents` become first_origin + origins[i].  `room` is checked under the lock, since other
    // threads may have added states.
    void insert(u64 *states, i32 *parents, const u64 *rows, i64 n, const i64 *origins, i64 first_origin, i32 *numbers,
                i64 room, Stop *stop);

private:
    void grow(const u64 *states, i64 needed, Patience &patience);

    int words_;
    i64 count_ = 0;
    Zeros<u64> entries_;
    bool is_whole_ = true; // false after `Stopped` was thrown while it grew
    std::mutex mutex_;
};

// Statistics of expanded states; terminal states are not counted.
struct Survey {
    explicit Survey(CircuitPtr circuit);

    CircuitPtr circuit;
    mutable std::mutex mutex;
    std::vector<i64> branching;  // [roles, 2] the sum of legal moves, and the number of states with a choice
    std::vector<i64> choosers;   // [roles + 1] the number of states in which k roles have a choice
    std::vector<u64> ever, always; // [state_words] fluents that are true in some state, in every state
    std::vector<u64> ever_legal; // [legal_words] moves that are legal in some state

    // Adds `n` states and their legal moves.  Fills counts[i * roles + r], the prefix sums starts[1 .. n] after starts[0],
    // and `stuck` with the indices of the states in which a role has no legal move; returns their number.  The joint
    // moves of a state are capped at 2^40.
    i64 add(i64 n, const u64 *states, const u8 *over, const u64 *legal, i32 *counts, i64 *starts, i64 *stuck, Stop *stop);
};

// 128-bit numbers of plays, one for each state.
struct Numbers {
    std::vector<u64> low, high;
};

struct Lasso {
    i64 state = -1;         // where the cycle begins, or -1
    std::vector<i64> path;  // the states on the cycle, from that one on
    bool finished = false;  // whether all candidates were examined
};

class StateGraph {
public:
    static constexpr i32 NEVER = -1; // the rank of a state from which the target cannot be forced

    i64 states = 0, expanded = 0, transitions = 0;
    int roles = 0;
    const i64 *starts = nullptr;   // [expanded + 1]
    const i32 *children = nullptr; // [transitions]
    const i32 *counts = nullptr;   // [expanded, roles]

    // Sorts the states topologically, each before its successors (Kahn 1962).  longest[i] becomes the length of the longest
    // path to state i.  Returns the sorted states; those on cycles and beyond are missing.
    std::vector<i32> order(i32 *longest, Stop *stop) const;
    // The number of plays from every state to an end; nullopt if one exceeds 128 bits.  `sequence` is topological, every
    // state before its successors.
    std::optional<Numbers> count_plays(const i32 *sequence, i64 n, Stop *stop) const;
    // Adds the number of each state to all its successors.
    std::optional<Numbers> spread(const u64 *low, const u64 *high, Stop *stop) const;
    // values[i * columns + c] becomes the mean over the successors, for every state that has successors.
    void random_values(const i32 *sequence, i64 n, double *values, int columns, Stop *stop) const;

    // Computes where a role can force a state of `target`, whatever the others do: rank[i] becomes the number of steps
    // that this takes, or NEVER, and move[i] the index among its legal moves of one that does it.  One pass with a
    // topological `sequence`; without one, the least fixpoint, one step at a time.
    void force(const u8 *target, int role, const i32 *sequence, i64 n, i32 *rank, i32 *move, Stop *stop) const;
    // An edge of state i with the role's a-th move to a state where it cannot force the target, or NEVER.
    i64 reply(i64 i, i64 a, int role, const i32 *rank) const;
    // A shortest play that returns to a state on it.  `candidates` are states in ascending order of `depth`, of which every
    // cycle must contain one; at most `work` edges are examined.
    Lasso lasso(const i64 *depth, const i64 *candidates, i64 n, i64 work, Stop *stop) const;

    // Checked access.
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

    // The layout of the joint moves of a state for a role: edge = first + (o * mine + move) * stride + i, for o < outer and
    // i < stride.
    struct Layout {
        i64 first, mine, stride, outer;
    };
    // For a state with edges; checks that their number is the product of its counts.
    Layout layout(i64 i, int role) const;

private:
    std::pair<i32, i32> best(i64 i, int role, const i32 *rank, i32 below, Patience &patience) const;
};

// Backward induction over an acyclic graph.
//
// With a `role` of -1, at most one role other than `chance` may have a choice in a state, and takes its first best move;
// `ties` counts the states in which another best move would change the value of some other role.  With a role, only
// its column of `values` is filled, with its maximin value if it moves simultaneously with all others as one opponent.
// The moves of `chance` (a role, or -1) are equally likely.
struct Induction {
    const StateGraph &graph;
    const u8 *over;     // [states]
    const i32 *sequence; // [states] each before its successors
    int chance, role;
    double top;         // the highest goal value: from half of it on, shorter plays are preferred
    double *values;     // [states, roles] input for terminal states, output for others
    i32 *length;        // [states] steps of best play
    i32 *best;          // [states] the move taken, or NEVER if no role chooses or strategies are mixed
    i64 ties = 0;
    std::vector<double> payoffs; // [moves of the role, moves of the others] the matrix game to be solved

    // Works from position `begin` - 1 of the sequence down to 0.  Returns the position of a state that needs a mixed
    // strategy, whose value the caller fills in before it continues from there, or -1 at the end.
    i64 run(i64 begin, Stop *stop);
};

// Ternary evaluation (Bryant 1987): which nodes can and which must be true, [nodes] each; least fixpoints in loops.
void evaluate_ternary(const Circuit &circuit, u8 *can, u8 *must, Stop *stop);

} // namespace herbrand

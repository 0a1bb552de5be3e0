// A game as a Boolean circuit: a validated copy of a `herbrand.network.Network`.
//
// Node 0 is false, then come fluents, moves, feedback, gates; a literal is 2 * node + inverted.  Gate g is
// the conjunction of left[g] and right[g].  Moves are sorted by role.
#pragma once

#include "base.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace herbrand {

struct Program; // lanes.hpp
using ProgramPtr = std::shared_ptr<const Program>;

struct Loop {
    i32 first, last;           // gates
    i32 first_back, last_back; // feedback nodes, counted from 0
};

// Fluents that may be mutually exclusive; groups of a family have the same syntactic pattern.
struct Alternatives {
    i32 family;
    std::vector<i32> fluents;
};

// Immutable after construction; shared between threads.
struct Circuit {
    int fluents = 0, moves = 0, roles = 0, feedbacks = 0, gates = 0;
    std::vector<i32> left, right;
    std::vector<i32> feedback; // [feedbacks] the source literal of each feedback node
    std::vector<Loop> loops;   // sorted by their first gate
    std::vector<i32> legal;    // [moves] literals
    std::vector<i32> next;     // [fluents]
    i32 terminal = 0;
    std::vector<i32> goal;      // [goals] literals
    std::vector<i32> goal_role; // [goals]
    std::vector<i16> goal_value; // [goals] 0 to 100, or SEVERAL_VALUES for other terms
    std::vector<i32> sees;      // [percepts] literals
    std::vector<i32> sees_role; // [percepts]
    std::vector<i32> bounds;    // [roles + 1] the first move of each role
    std::vector<i32> places;    // [roles + 1] the first word of each role in a packed set of legal moves:
                                // every role begins at a new word
    std::vector<Alternatives> alternatives; // a hint, not checked
    std::vector<u64> initial;   // [state_words] the initial state, packed
    int cones[3] = {0, 0, 0};   // ends of the gates for legal and terminal, for next and sees, for goals

    int inputs() const { return 1 + fluents + moves + feedbacks; }
    int nodes() const { return inputs() + gates; }
    int first_move() const { return 1 + fluents; } // node
    int first_feedback() const { return 1 + fluents + moves; }
    int state_words() const { return fluents > 0 ? (fluents + 63) / 64 : 1; }
    int legal_words() const { return places.back(); }
    int sees_words() const { return (static_cast<int>(sees.size()) + 63) / 64; }
    int goals() const { return static_cast<int>(goal.size()); }

    // Sets `bounds` and `places` from the role of each move; throws std::invalid_argument unless these are ascending roles.
    void divide_moves(const std::vector<i32> &move_role);
    // Throws std::invalid_argument unless everything is as described above.
    void validate() const;

    // The lane programs of the circuit, compiled on first use for the current kernels.
    ProgramPtr evaluating() const;
    // `assume` as in lanes.hpp.
    ProgramPtr playing(bool assume) const;
    // The circuit that `make` returns for these literals, shared with those who still use one made before.
    std::shared_ptr<const Circuit> extended(const std::vector<i32> &literals,
                                            const std::function<std::shared_ptr<const Circuit>()> &make) const;

private:
    struct Programs {
        Programs() = default;
        Programs(const Programs &) {} // copies of a circuit are modified: do not share programs
        std::mutex lock;
        ProgramPtr made[3];
        const void *kernels = nullptr; // the kernels they were compiled for
    };
    mutable Programs programs_;
    struct Extensions {
        Extensions() = default;
        Extensions(const Extensions &) {}
        std::mutex lock;
        std::vector<std::pair<std::vector<i32>, std::weak_ptr<const Circuit>>> made;
    };
    mutable Extensions extensions_;
    template <class Make> ProgramPtr made(int which, Make &&make) const;
};

using CircuitPtr = std::shared_ptr<const Circuit>;

} // namespace herbrand

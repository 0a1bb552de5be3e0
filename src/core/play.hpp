// Random games from the initial state, 512 at a time: one block of lanes with its counters.
#pragma once

#include "lanes.hpp"

namespace herbrand {

// Every lane plays a fixed number of games, so that short games are not over-represented.
struct Block {
    Block(const Circuit &circuit, ProgramPtr program, u64 seed, const std::vector<i64> &quota, i64 max_steps,
          bool walk);

    const Circuit &circuit;
    Machine machine;
    i64 max_steps;
    i64 step = 0;                 // the number of the next pass
    i64 oldest = 0;               // no current game began before this pass
    struct Lane {
        i64 start = 0; // the pass in which the current game began
        i64 quota = 0; // games left to finish, including the current one
    };
    std::vector<Lane> lanes;      // [LANES]
    SplitMix random;              // for scalar draws, after rejection in the program
    alignas(64) u64 generator[4][WORDS]; // for rows of random bits: xoshiro256+, one in every word
    int since_flush = 0;          // steps since the counters of the program were added up
    bool conflict = false;        // an assumption of the program was violated

    // Statistics.
    std::vector<i64> lengths;     // [max_steps + 2] games by their length; grows as needed
    std::vector<i64> goals;       // [goals] games that ended with the goal, where the role has exactly one
    std::vector<i64> choices;     // [roles] sums of the numbers of legal moves
    i64 games = 0, ended = 0, truncated = 0, stuck = 0;
    int stuck_role = -1;                // the role without a legal move in the first stuck game
    std::vector<u64> stuck_state;       // its state, packed

    // Switch to another program for the same circuit.
    void change(ProgramPtr program, bool walk);
    // Add the counters of the program to `choices` and clear them.
    void flush();
    // Transitions so far, including those of unfinished games.
    i64 transitions() const;
    bool done() const;
};

} // namespace herbrand

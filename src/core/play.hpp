// Random games from the initial state, 512 at a time: one block of lanes, and what it counts.
#pragma once

#include "lanes.hpp"

namespace herbrand {

// Every lane plays a number of games that is fixed beforehand, so that short games are not preferred.
struct Block {
    Block(const Circuit &circuit, ProgramPtr program, u64 seed, const std::vector<i64> &quota, i64 max_steps,
          bool walk);

    const Circuit &circuit;
    Machine machine;
    i64 max_steps;
    i64 step = 0;                 // the number of the next pass
    i64 oldest = 0;               // no game that is being played began before this pass
    struct Lane {
        i64 start = 0; // the pass in which the present game began
        i64 quota = 0; // games that the lane still has to end, the present one included
    };
    std::vector<Lane> lanes;      // [LANES]
    SplitMix random;              // for draws that have to be made again
    alignas(64) u64 generator[4][WORDS]; // of the rows of random bits: xoshiro256+, one in every word
    int since_flush = 0;          // steps that are in the counters of the program
    bool conflict = false;        // what the program takes for granted is not so

    // What is counted.
    std::vector<i64> lengths;     // [max_steps + 2] games by their length; grows as needed
    std::vector<i64> goals;       // [goals] games that ended with the goal, where the role has exactly one
    std::vector<i64> choices;     // [roles] sums of the numbers of legal moves
    i64 games = 0, ended = 0, truncated = 0, stuck = 0;
    int stuck_role = -1;                // of the first game that got stuck
    std::vector<u64> stuck_state;       // its state, packed

    // Take over another program for the same circuit.
    void change(ProgramPtr program, bool walk);
    // Add what the program counts by itself.
    void flush();
    // Transitions made so far, those of games that are under way included.
    i64 transitions() const;
    bool done() const;
};

} // namespace herbrand

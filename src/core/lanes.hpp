// Lane programs: straight-line code over rows, of which each has one bit for every lane.
#pragma once

#include "circuit.hpp"

namespace herbrand {

// One operation: row `out` becomes a function of rows `a`, `b`, `c`.  With `code` below 256 it is any function of
// three bits: bit 4 * a + 2 * b + c of the code is its value (the numbering of x86's vpternlog).
struct Op {
    i32 out, a, b, c;
    i32 code;
};

// Some operations, executed once, or, with feedback, again and again until nothing changes.
struct Section {
    i32 begin, end;            // operations
    i32 first_back, last_back; // entries of `Program::back`; none unless this is a loop
};

struct Back {
    i32 row;    // the row of the feedback, false at first
    i32 source; // the row it takes over
};

struct Program {
    int rows = 0; // row 0 is false, row 1 is true
    std::vector<Op> ops;
    std::vector<Back> back;
    std::vector<Section> legal, next, goals; // the three stages
    std::vector<i32> fluent_row, move_row, legal_row, next_row, goal_row, sees_row;
    i32 terminal_row = 0;

    void run(u64 *rows, const std::vector<Section> &stage) const;
};

std::shared_ptr<const Program> make_program(const Circuit &circuit);

} // namespace herbrand

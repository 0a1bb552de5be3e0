// Lane programs: straight-line code over rows, of which each has one bit for every lane.
//
// A program is what a network, and the choice of moves on it, become between the network and the machine: units of
// operations, each on three rows at most, in stages that the caller runs.  It can be walked (kernels/walk.cpp), encoded as
// machine code (x86.cpp), or written as C (Python: herbrand.convert.lanes).
//
//     rows 0, 1                      false and true in all lanes
//     2 .. 2 + states                the state: fluents, and in programs that play counters
//     .. + states                    the state after it, which the program writes
//     .. kept                        rows that are read by other units, or by the caller
//     .. rows                        rows within a unit: nobody may rely on them after it
#pragma once

#include "circuit.hpp"

namespace herbrand {

enum : i32 { ADD = 256, SHIFT = 257, ROTATE = 258 };

// Row `out` becomes a function of rows `a`, `b`, `c`.  With `code` below 256 it is any function of three bits: bit
// 4 * a + 2 * b + c of the code is its value (the numbering of x86's vpternlog).  ADD is the sum of the words of 64 lanes,
// SHIFT and ROTATE move them by `c` places to the left.
struct Op {
    i32 out, a, b, c;
    i32 code;
};

// How many rows it reads.
inline i32 operands(const Op &op) { return op.code < ADD ? 3 : op.code == ADD ? 2 : 1; }

struct Back {
    i32 row;    // the row of the feedback, false at first
    i32 source; // the row it takes over
};

// Some operations, executed once, or, with feedback, again and again until nothing changes.
struct Unit {
    i32 begin, end;            // operations
    i32 first_back, last_back; // entries of `Program::back`; none unless this is a loop
};

struct Stage {
    i32 begin = 0, end = 0; // units
};

class Code; // x86.hpp

// Bits of a counter beyond those of what is added to it: it holds the sum of 2 ** COUNTER_BITS - 1 steps.
inline constexpr int COUNTER_BITS = 5;
// How often a draw is tried for all lanes at once: each attempt succeeds in at least half of them.
inline constexpr int ATTEMPTS = 5;

// The rows of one choice: of all roles in it together, of which at most one has to choose in any lane.
struct Choice {
    std::vector<i32> roles;
    i32 places = 0;               // of the tree: moves that are never legal at once share one
    int bits = 0;                 // of the number of moves
    std::vector<i32> count, rank; // [bits] rows, the lowest bit first: moves, the one that is taken
    i32 again = 0;                // lanes in which the draw has to be made again
};

struct Program {
    int arity = 3;
    int states = 0, kept = 0, rows = 0;
    std::vector<Op> ops;
    std::vector<Back> back;
    std::vector<Unit> units;
    Stage legal, next, goals;

    // Rows, in programs that evaluate and in those that play; `next` goes into the state after.
    std::vector<i32> move_row, legal_row, next_row, goal_row, sees_row;
    i32 terminal_row = 0;

    // Only in programs that play.
    bool plays = false;
    i32 active = 0, late = 0, restart = 0; // written by the caller: lanes that play, are too long under way, begin anew
    i32 over = 0, playing = 0, stuck = 0, conflict = 0;
    std::vector<i32> stuck_role; // [roles] lanes in which the role has no legal move
    std::vector<Choice> choices;
    i32 random = 0; // the first of the rows that the caller fills with random bits before every step
    int randoms = 0;
    std::vector<std::pair<int, int>> counters; // [roles] states: the first, how many; the sum of the moves to choose from

    // What is walked: the same operations, those of a unit sorted so that equal codes stand together.
    std::vector<Op> walked;
    int walked_rows = 0;
    std::shared_ptr<const Code> code; // machine code; null where there is none
    std::string why_walked;           // the reason; empty where there is code
};

// A program that evaluates: legal and terminal; next and sees; goals.
ProgramPtr evaluating(const Circuit &circuit, int arity);
// A program that plays random games: `legal` chooses moves, `next` makes them.  With `assume` it relies on what merge.hpp
// tells; lanes where that is not so are in row `conflict`, and have to be played by the other program.
ProgramPtr playing(const Circuit &circuit, int arity, bool assume);

// The rows of a block of lanes, and what runs a program on them.  The rows are those of the program, of which the two
// states may be exchanged.  In programs that evaluate the words of a row stand side by side; in those that play the second
// half of the words may stand elsewhere, see `word`.
class Machine {
public:
    explicit Machine(ProgramPtr program, bool walk = false);

    const Program &program() const { return *program_; }
    u64 *row(i32 i) {
        const i32 states = program_->states;
        if (i >= 2 && i < 2 + 2 * states) return i < 2 + states ? state(i - 2) : after(i - 2 - states);
        return rows_.data() + i64(i) * pitch_;
    }
    u64 *state(int i) { return now_ + i64(i) * pitch_; }
    u64 *after(int i) { return after_ + i64(i) * pitch_; }
    // Word w of a row.
    u64 &word(u64 *row, int w) const { return row[w < WORDS / 2 ? w : w + gap_]; }
    // How many words lead from a row to the next one, where both are not of a state.
    int pitch() const { return pitch_; }
    // How many words stand between the halves of a row.
    std::ptrdiff_t gap() const { return gap_; }
    // How many lanes are computed at a time.
    int least_lanes() const { return 64 * words(); }
    // Compute the first so many lanes at least; in the others rows have any values then.
    void run(const Stage &stage, int lanes = LANES);
    // Make the state after the present one.
    void exchange();

private:
    int words() const;
    void run(i32 unit, int at, int end);
    void run_loop(i32 unit, int at);
    template <int N> bool take_back(const Unit &unit, int at);

    ProgramPtr program_;
    bool walk_;
    RowBuffer rows_;
    u64 *now_, *after_;
    int pitch_ = WORDS; // words from a row to the next
    std::ptrdiff_t gap_ = 0;
};

} // namespace herbrand

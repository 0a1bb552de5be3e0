// Lane programs: straight-line code over rows, each with one bit for every lane.
//
// A program is the intermediate code of a network, and of the choice of moves on it: units of operations, each on three
// rows at most, in stages that the caller runs.  It can be interpreted ("walked", kernels/walk.cpp), compiled to
// machine code (x86.cpp), or written as C (Python: herbrand.convert.lanes).
//
//     rows 0, 1                      false and true in all lanes
//     2 .. 2 + states                the state: fluents, and counters in programs that play
//     .. + states                    the next state, which the program writes
//     .. kept                        rows that other units or the caller read
//     .. rows                        temporary rows of a unit, undefined after it
#pragma once

#include "circuit.hpp"

namespace herbrand {

enum : i32 { ADD = 256, SHIFT = 257, ROTATE = 258 };

// Row `out` becomes a function of rows `a`, `b`, `c`.  A `code` below 256 is the truth table of a function of three bits:
// bit 4 * a + 2 * b + c is the value (as for x86's vpternlog).  ADD adds 64-bit words, SHIFT and ROTATE move their bits
// by `c` to the left.
struct Op {
    i32 out, a, b, c;
    i32 code;
};

// The number of rows that it reads.
inline i32 operands(const Op &op) { return op.code < ADD ? 3 : op.code == ADD ? 2 : 1; }

struct Back {
    i32 row;    // the row of the feedback, false at first
    i32 source; // the row whose value it takes
};

// A row that a loop reads.  While it only changes in the direction that makes the feedback grow, or not at all, the loop
// can go on from its last result.
struct Read {
    i32 row;
    u8 may_rise, may_fall;
};

// Operations that are executed once, or, with feedback, until nothing changes.
struct Unit {
    i32 begin, end;                    // operations
    i32 first_back, last_back;         // entries of `Program::back`; none unless this is a loop
    i32 first_read = 0, last_read = 0; // entries of `Program::reads`
    bool resumes = false;              // whether it can go on from its last result: see `Machine::run_loop`
};

struct Stage {
    i32 begin = 0, end = 0; // units
};

class Code; // x86.hpp

// Bits of a counter beyond those of its increments: it cannot overflow in 2 ** COUNTER_BITS - 1 steps.
inline constexpr int COUNTER_BITS = 5;
// Attempts of rejection sampling for all lanes at once; each succeeds in a lane with probability at least 1/2.
inline constexpr int ATTEMPTS = 5;

// The rows of one choice, shared by roles of which at most one has to choose in any lane.
struct Choice {
    std::vector<i32> roles;
    i32 places = 0;               // leaves of the tree: moves that are never legal together share one
    int bits = 0;                 // of the number of moves
    std::vector<i32> count, rank; // [bits] rows, the lowest bit first: the number of moves, the rank of the choice
    i32 again = 0;                // row: lanes in which all attempts failed and the caller must draw
};

struct Program {
    int arity = 3;
    int states = 0, kept = 0, rows = 0;
    std::vector<Op> ops;
    std::vector<Back> back;
    std::vector<Read> reads;
    std::vector<Unit> units;
    Stage legal, next, goals;

    // Rows of inputs and outputs; `next_row` lies in the next state.
    std::vector<i32> move_row, legal_row, next_row, goal_row, sees_row;
    i32 terminal_row = 0;

    // Only in programs that play.
    bool plays = false;
    i32 active = 0, late = 0, restart = 0; // written by the caller: lanes that play, have reached the step limit, restart
    i32 over = 0, playing = 0, stuck = 0, conflict = 0;
    std::vector<i32> stuck_role; // [roles] lanes in which the role has no legal move
    std::vector<Choice> choices;
    i32 random = 0; // the first of the rows that the caller fills with random bits before every step
    int randoms = 0;
    std::vector<std::pair<int, int>> counters; // [roles] states: the first, the number of bits; the sum of legal moves

    // For the interpreter: the same operations, sorted within units so that equal codes are adjacent.
    std::vector<Op> walked;
    int walked_rows = 0;
    std::shared_ptr<const Code> code; // machine code; null if there is none
    std::string why_walked;           // the reason for that; empty if there is code
};

// A program that evaluates states.  Its stages compute legal and terminal; next and sees; goals.
ProgramPtr evaluating(const Circuit &circuit, int arity);
// A program that plays random games: `legal` chooses moves, `next` makes them.  With `assume` it relies on assumptions,
// see merge.hpp; lanes that violate them are in row `conflict`, and must be played by the program without them.
ProgramPtr playing(const Circuit &circuit, int arity, bool assume);

// The rows of a block of lanes, with the execution of a program on them.  Current and next state are swapped by pointer.
// In programs that evaluate, the words of a row are contiguous; in those that play, the second half of the words may be
// stored elsewhere, see `word`.
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
    // The distance in words between consecutive rows outside the states.
    int pitch() const { return pitch_; }
    // The number of words between the halves of a row.
    std::ptrdiff_t gap() const { return gap_; }
    // The number of lanes that are computed at a time.
    int least_lanes() const { return 64 * words(); }
    // Compute at least the first `lanes` lanes; the rows are undefined in the others.
    void run(const Stage &stage, int lanes = LANES);
    // Make the state after the present one.
    void exchange();

private:
    int words() const;
    void run(i32 unit, int at, int end);
    void run_loop(i32 unit, int at);

    ProgramPtr program_;
    bool walk_;
    RowBuffer rows_;
    u64 *now_, *after_;
    int pitch_ = WORDS; // words from a row to the next
    std::ptrdiff_t gap_ = 0;
    RowBuffer before_;       // [reads] what the loops read when they were run last
    std::vector<u64 *> back_; // of the loop that is being run: feedback, its sources, and what the loop reads
    std::vector<const u64 *> source_, read_;
    std::vector<u8> is_run_; // [units] a bit for each half of the lanes: whether the loop was run there
};

} // namespace herbrand

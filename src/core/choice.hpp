// Drawing one of the true bits of many rows in every lane, as for a random legal move of each role in 512 lanes at once.
//
// The true bits of a lane are counted by a tree of adders over rows, the count is multiplied by a random fraction, and the
// whole part of the product is the rank of the row that is taken, found by going down the tree: the bias of a row is below
// 2**-FRACTION.  Rows that are true in no lane, as most moves are in large games, are left out first.
#pragma once

#include "evaluator.hpp"

namespace herbrand {

inline constexpr int FRACTION = 20; // random bits that decide one choice

// What is drawn, as the kernel gets it.
struct RowDraw {
    const u64 *const *rows; // [count] the lanes in which each can be taken
    u64 *const *taken;      // [count] rows that become the lanes in which each is taken
    int count;
    const u64 *among; // row: the lanes in which one is to be taken
    u64 *generator;   // 4 rows: the state of xoshiro256++ in each word of a row; used up
    u64 *none;        // row: lanes of `among` in which none can be taken are added
    u64 *scratch;     // draw_rows(count) rows
    int words;        // of rows, from the first one on, in which anything is drawn: a multiple of 4
};

// How many rows of scratch a draw from so many rows needs.
inline std::size_t draw_rows(int count) {
    const std::size_t blocks = (std::size_t(count) + 7) / 8;
    std::size_t rows = 2 * (blocks + 1) + 4 * blocks, bits = 4; // masks of two levels, and numbers
    for (std::size_t nodes = blocks; nodes > 1;) {
        nodes = (nodes + 1) / 2;
        rows += nodes * ++bits;
    }
    return rows + bits;
}

// Makes the choices of all roles in an evaluator, whose move rows are all false but for what this sets.
class Chooser {
public:
    explicit Chooser(Evaluator &evaluator);

    // Take a random legal move for each role in each lane of the row `playing`; after `run_legal`.  Moves that were
    // taken before are taken back.  Lanes in which a role has none are taken out of `playing` and set in `stuck`.
    // `generator` is 4 rows, used up.  Nothing is done beyond the first so many lanes, a multiple of 256.
    void choose(u64 *playing, u64 *stuck, u64 *generator, int lanes = LANES);
    // Take back what was taken.
    void clear();

    // The moves, counted within their role, that were taken in some lane, or could have been.
    const i32 *live(int role) const { return live_.data() + circuit_.bounds[role]; }
    int live_count(int role) const { return counts_[role]; }
    const u64 *taken(int move) const { return moves_[move]; }

private:
    const Circuit &circuit_;
    std::vector<const u64 *> legal_; // [moves]
    std::vector<u64 *> moves_;
    std::vector<const u64 *> from_; // of the role that chooses, those that are live
    std::vector<u64 *> to_;
    std::vector<u8> is_live_; // [moves]
    std::vector<i32> live_;   // [moves] for each role the first `counts_` of its own are used
    std::vector<int> counts_; // [roles]
    RowBuffer scratch_;
};

} // namespace herbrand

// Draws one of the true bits of many rows in every lane: a random legal move of each role in 512 lanes at once.
//
// A tree of adders over rows counts the true bits of each lane.  The count is multiplied by a random fraction, the integer
// part of the product is the rank of the chosen row, and descending the tree locates it.  The bias of a row is below
// 2**-FRACTION.  Rows that are true in no lane, as most moves are in large games, are skipped first.
#pragma once

#include "evaluator.hpp"

namespace herbrand {

inline constexpr int FRACTION = 20; // random bits for each choice

// The arguments of the kernel `draw`.
struct RowDraw {
    const u64 *const *rows; // [count] the lanes in which each is an option
    u64 *const *taken;      // [count] output rows: the lanes in which each is chosen
    int count;
    const u64 *among; // row: the lanes to choose in
    u64 *generator;   // 4 rows: the state of xoshiro256++ in each word of a row; advanced
    u64 *none;        // row: lanes of `among` without options are added
    u64 *scratch;     // draw_rows(count) rows
    int words;        // the first so many words of rows are used: a multiple of 4
};

// The rows of scratch memory that a draw from `count` rows needs.
inline std::size_t draw_rows(int count) {
    const std::size_t blocks = (std::size_t(count) + 7) / 8;
    std::size_t rows = 2 * (blocks + 1) + 4 * blocks, bits = 4; // masks of two levels, and numbers
    for (std::size_t nodes = blocks; nodes > 1;) {
        nodes = (nodes + 1) / 2;
        rows += nodes * ++bits;
    }
    return rows + bits;
}

// Chooses random moves for all roles in an evaluator.  Nothing else may set its move rows.
class Chooser {
public:
    explicit Chooser(Evaluator &evaluator);

    // Set a random legal move for each role in each lane of the row `playing`, after `run_legal`, and clear the previous
    // ones.  Lanes in which a role has no legal move are removed from `playing` and set in `stuck`.  `generator` is 4 rows,
    // which are advanced.  Only the first `lanes` lanes, a multiple of 256, are used.
    void choose(u64 *playing, u64 *stuck, u64 *generator, int lanes = LANES);
    // Clear the moves that were set.
    void clear();

    // The moves, counted within their role, that were options in some lane.
    const i32 *live(int role) const { return live_.data() + circuit_.bounds[role]; }
    int live_count(int role) const { return counts_[role]; }
    const u64 *taken(int move) const { return moves_[move]; }

private:
    const Circuit &circuit_;
    std::vector<const u64 *> legal_; // [moves]
    std::vector<u64 *> moves_;
    std::vector<const u64 *> from_; // the live moves of the current role
    std::vector<u64 *> to_;
    std::vector<u64> is_live_; // [legal words] a bit for each move, see `Circuit::places`
    std::vector<i32> live_;   // [moves] each role uses the first `counts_[role]` of its range
    std::vector<int> counts_; // [roles]
    RowBuffer scratch_;
};

} // namespace herbrand

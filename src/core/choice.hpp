// Choosing a random legal move for each role in 512 lanes at once.
//
// The legal moves of a lane are counted by a tree of adders over rows, the count is multiplied by a random
// fraction, and the whole part of the product is the rank of the move that is taken, found by going down the
// tree: the bias of a move is below 2**-FRACTION.  Moves that are legal in no lane are left out first.
#pragma once

#include "evaluator.hpp"

namespace herbrand {

inline constexpr int FRACTION = 20; // random bits that decide one choice

// One role's choice, as the kernel gets it.
struct RoleChoice {
    const u64 *const *legal; // [count] rows: the lanes in which each move is legal
    u64 *const *moves;       // [count] rows, all false; become the lanes in which each move is taken
    int count;
    const u64 *playing; // row: the lanes in which a move is to be taken
    u64 *generator;     // 4 rows: the state of xoshiro256++ in each word of a row; used up
    u64 *stuck;         // row: lanes that are playing and have no legal move are added
    i32 *live;          // [count] becomes the list of the moves that are legal in some lane that is playing
    u64 *scratch;       // choice_rows(count) rows
};

// How many rows of scratch a choice among so many moves needs.
inline std::size_t choice_rows(int count) {
    std::size_t rows = 4 + std::size_t(count); // masks: those of two levels, one half and one quarter, rounded up
    int bits = 2;
    for (int nodes = (count + 1) / 2;; nodes = (nodes + 1) / 2, ++bits) {
        rows += std::size_t(nodes) * bits;
        if (nodes <= 1) break;
    }
    return rows + 2 * bits;
}

// Makes the choices of all roles in an evaluator, whose move rows are all false but for what this sets.
class Chooser {
public:
    explicit Chooser(Evaluator &evaluator);

    // Take a random legal move for each role in each lane of the row `playing`; after `run_legal`.  Moves that were
    // taken before are taken back.  Lanes in which a role has none are taken out of `playing` and set in `stuck`.
    // `generator` is 4 rows, used up.
    void choose(u64 *playing, u64 *stuck, u64 *generator);
    // Take back what was taken.
    void clear();

    // The moves, counted within their role, that were taken in some lane, or could have been.
    const i32 *live(int role) const { return live_.data() + circuit_.bounds[role]; }
    int live_count(int role) const { return counts_[role]; }
    const u64 *taken(int move) const { return moves_[move]; }

private:
    const Circuit &circuit_;
    std::vector<const u64 *> legal_;
    std::vector<u64 *> moves_;
    std::vector<i32> live_;   // [moves] for each role the first `counts_` of its own are used
    std::vector<int> counts_; // [roles]
    RowBuffer scratch_;
};

} // namespace herbrand

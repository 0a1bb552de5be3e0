// Monte Carlo tree search: positions, arms and joint moves in flat arrays, and the rounds that extend them.
//
// A *position* is a state in the tree, located by a hash table (transpositions share a position).  When it is expanded,
// its *arms*, the legal moves of role 0, then of role 1 and so on, get consecutive indices.  Where one role has a choice,
// an arm keeps the results of the playouts after it, and the position after it is only added when the arm is taken again:
// most moves are tried once, so that most of what a tree knows are arms of 20 bytes.  A *way* is the path of one
// descent from a root to a leaf: positions with the arm of every role in each.  A *row* is a joint move to be made in an
// expanded position; rows that do not lead to positions of the tree are *fresh*, and playouts start there.
//
// When the memory is used up, the tree grows on by *recycling*: a hand goes round the positions and takes those after
// them that were visited least and lead to no others (as the CLOCK algorithm does with pages, Corbato 1968).  Only links
// that are the last to a position are followed, so that transpositions are safe; what the playouts from it said stays in
// the arm.  After a new root was set, what cannot be reached from it any more is freed a little in each round.
//
//     Round round(tree, ways, rows);
//     round.expand(roots, count, most, widest, weight);   // selection and expansion
//     ... playouts from round.starts() ...
//     round.backpropagate(goals, lengths, games, played);  // or round.abandon()
//
// Values are goals divided by 100; a role without exactly one goal in a terminal state has the value 0.  Each call locks the tree, so that several threads can each run a round.
#pragma once

#include "expand.hpp"
#include "memory.hpp"

#include <mutex>

namespace herbrand::search {

enum Kind : u8 {
    LEAF = 0,  // not expanded yet
    ALONE = 1, // at most one role has a choice
    JOINT = 2, // several roles have
    OVER = 3,  // the game is over, or stuck
    FREE = 4,  // no position: recycled
};

// In `seen`: playouts from this position are in progress; do not expand it.
inline constexpr i64 BUSY = i64(1) << 62;

// One member of an array of records: strided access.
template <class T> class Field {
public:
    Field() = default;
    Field(std::byte *first, i64 stride) : first_(first), stride_(stride) {}
    T &operator[](i64 i) const { return *reinterpret_cast<T *>(first_ + i * stride_); }
    T *at(i64 i) const { return reinterpret_cast<T *>(first_ + i * stride_); }
    i64 stride() const { return stride_ / i64(sizeof(T)); } // in elements

private:
    std::byte *first_ = nullptr;
    i64 stride_ = 0; // bytes
};

class Tree {
public:
    struct Settings {
        double exploration = 0.5; // the constant of UCB1
        int chance = -1;          // the role `random`; -1 without one
        bool regret = false;      // roles that move simultaneously use regret matching, not UCB1
        double amaf = 0.0;        // playouts after which a move's own mean and its AMAF mean have equal weight
                                  // (RAVE); 0 disables AMAF
        double reference = 0.0;   // playouts below which a position uses the AMAF means of an ancestor (GRAVE)
    };

    // An empty tree that takes `memory` bytes at most, but room for the children of a few positions, and has at most
    // `most` positions.  With `labelled`, states have an additional word, a label that distinguishes states that are
    // otherwise equal, and nothing is recycled.
    Tree(CircuitPtr circuit, bool labelled, const Settings &settings, i64 memory, i64 most, u64 seed);

    const CircuitPtr circuit;
    const int words, roles;
    const Settings settings;
    const bool single;   // one role, no chance: selection also uses the best value reached
    const bool recycles; // whether a full tree recycles positions
    i64 room = 0;        // the most positions, if there were hardly any arms
    i64 arm_room = 0;    // the most arms, if there were hardly any positions

    // The constant sum of the values of the two players, from 0 to 2; -1 if it varies or there are not two, -2 while
    // unknown.
    double sum = -2.0;
    i64 positions = 0, arms = 0, edges = 0;
    i64 used = 0;      // all positions have lower numbers; some numbers may be FREE
    i64 recycled = 0;  // positions freed for lack of memory
    i64 serial = 0;    // the number of the last descent
    bool full = false; // an insertion failed for lack of memory
    u64 epoch = 0;     // changes when positions are renumbered
    mutable std::mutex lock;

    // A position is one record that begins at a cache line: accesses are random, so the number of cache lines decides.
    Field<double> games;  // [positions] playouts at or below it
    Field<double> best;   // [positions] the highest value of role 0 in any of them
    Field<double> totals; // [positions, roles] the sums of their values
    Field<double> lows;   // [positions, roles] proved lower bound of a role's value
    Field<double> highs;  // [positions, roles] proved upper bound of a role's value
    Field<i32> first;     // [positions] the first arm
    Field<i32> space;     // [positions] arms there is space for
    Field<i64> seen;      // [positions] the number of the last descent through it, or BUSY
    Field<i32> plies;     // [positions] length of the proof in steps
    Field<i16> mover;     // [positions] the role that has a choice, or 0
    Field<u8> kind;       // [positions]
    Field<u32> refs;      // [positions] arms and edges that lead to it, and 1 for a root
    Field<u32> kids;      // [positions] arms with a position after them; JOINT: edges
    Field<i32> sizes;     // [positions, roles] number of arms
    Field<u64> states;    // [positions, words] packed
    double *total(i64 at) { return totals.at(at); }
    double *low(i64 at) { return lows.at(at); }
    double *high(i64 at) { return highs.at(at); }
    i32 *size(i64 at) { return sizes.at(at); }
    u64 *state(i64 at) const { return states.at(at); }
    Zeros<i32> slots; // hash table with open addressing: 1 + the position, or 0

    Field<float> arm_count, arm_total; // [arms] playouts, and the sum of the values of the arm's role
    Field<i32> arm_virtual;            // [arms] descents in progress through it (virtual loss)
    Field<i32> arm_child; // [arms] ALONE: the position after it, or -1; JOINT: of the first arm, the last edge
    Field<i32> move;      // [arms] the move, numbered among those of all roles
    Field<float> amaf_count, amaf_total; // [arms] AMAF, if used: playouts in which the role made the move here or later
    Field<float> arm_regret, arm_share;  // [arms] regret matching, if used: cumulative regret and strategy
    Zeros<i32> edge_slots;               // hash table of edges (joint moves made): 1 + the edge, or 0
    Zeros<u64> edge_key;                 // [edges] hash of position and joint move
    Zeros<i32> edge_parent, edge_child;
    Zeros<i32> edge_next; // [edges] the previous edge of the same position, or -1

    SplitMix random;

    i64 find(const u64 *state) const; // -1 if the tree does not have it
    // The position of a state, created if it is new; -1 if the tree is full.
    i64 add(const u64 *state, bool &is_new);
    i64 add(const u64 *state) {
        bool is_new;
        return add(state, is_new);
    }
    void clear();
    // Drop all positions that are unreachable from `root`; returns the new number of the root.
    i64 forget(i64 root);
    bool has(i64 at) const { return at >= 0 && at < used && kind[at] != FREE; }
    i64 bytes() const; // in use

    // Give a position space for `count` arms; false if the tree is full.
    bool add_arms(i64 at, i64 count);
    void free_arms(i64 at);
    void link(i64 at, i64 arm, i64 child); // `child` is the position after an arm of a role that alone has a choice
    // Give a new position after an arm the results of the playouts that began there, where they say what all roles got.
    void seed(i64 child, i64 at, i64 arm);
    // A round begins at `root`: free some of what cannot be reached from it.
    void go_to(i64 root);

    bool is_exact(i64 at); // proved for all roles but chance
    bool is_open(i64 at) { return kind[at] == ALONE || kind[at] == JOINT; }
    // The position after the arms `arm[role]` of an expanded position; -1 if there is none yet.
    i64 after(i64 at, const i64 *arm);
    void add_edge(u64 key, i64 parent, i64 child);
    u64 joint_key(i64 at, const i64 *arm); // never 0

    // Update the proved bounds of a position from those of its successors; returns whether they changed.
    bool tighten(i64 at);
    // Reset the proved bounds of all positions in which the game is not over.
    void unproved();
    // Update `sum` from the goals [games, roles] and lengths of playouts.
    void look_at_sums(const i16 *goals, const i64 *lengths, i64 games);

    // The best move of a role at a root: by proved values where possible, else by the mean minus its uncertainty; -1 if the
    // root is not expanded.
    i32 best_move(i64 root, int role);

    // Add the value of each move of a role at a root, 1 for each move that was tried, and its playouts to the arrays, which
    // are indexed by the number of the move among the role's.
    void add_up(i64 root, int role, double *values, double *looked_at, double *playouts);

    // Regret matching: update the cumulative regrets and strategies of roles that moved simultaneously.
    void add_regret(i64 at, i64 *arm, const double *value, double weight);

    // [roles] the last position on the present way with `reference` playouts where the role alone had a choice; -1: none
    std::vector<i64> referred;

    // Selection: the arm that a role takes.
    i64 best_alone(i64 at, int role, i64 begin, i64 end, double weight);
    i64 best_joint(i64 at, i64 begin, i64 end, double weight);
    i64 by_regret(i64 begin, i64 end);
    // Fill arm[role]; returns the position after it, or -1.
    i64 choose(i64 at, i64 *arm, double weight);
    i64 draw(i64 begin, i64 size) { // a uniformly random arm
        const i64 k = static_cast<i64>(random.uniform() * static_cast<double>(size));
        return begin + (k < size ? k : size - 1);
    }

private:
    i64 slot(const u64 *state) const;
    i64 edge_slot(u64 key) const;
    bool fits(i64 more_positions, i64 more_arms) const;
    void free_position(i64 at);
    void free_block(i64 begin, i64 size);
    bool merge_blocks();
    void unlink(i64 at, i64 arm);
    i64 drain(i64 most);
    i64 shake(i64 at);
    bool recycle();
    bool tighten_joint(i64 at);
    bool opposed(i64 at);
    void count_plies(i64 at, int mover, i64 begin, i64 size);
    void align(i64 begin, i64 end, int role);

    Pages memory_; // positions from the front on, arms from the back
    i64 region_ = 0, record_ = 0, arm_ = 0; // bytes: of all, of a position, of an arm
    i64 top_ = 0; // all arms have lower numbers
    i64 loose_ = 0; // arms freed since blocks were merged
    i64 free_ = -1; // the first FREE position; `first` has the next one
    // [classes] the first free block of arms of each size; `arm_child` of its first arm has the next one, `move` its size
    std::vector<i32> blocks_;
    std::vector<i32> garbage_; // positions to which nothing leads
    i64 root_ = -1, hand_ = 0, freed_ = 0, candidates_ = 0;
    bool tired_ = false; // whether nearly nothing could be recycled in this round
    double few_ = 0.0; // playouts below which a position is recycled
    std::vector<double> least_, most_;
    std::vector<i64> made_;
    std::vector<i32> place_;
    std::vector<i64> aligned_; // [arms of a position] the arm of the same move in the one referred to, or -1
};

using TreePtr = std::shared_ptr<Tree>;

// Runs rounds on a tree, one after the other; one object for each thread.
class Round {
public:
    // `ways` and `rows` are their maximum numbers in a round.
    Round(TreePtr tree, int ways, int rows);

    // Descend at most `most` times, from the roots in turn, and expand the leaves, at most `widest` joint moves each; if
    // the tree is full, use the leaves themselves.  `weight` is the virtual loss of a descent in
    // progress, in playouts.  Returns the number of fresh rows.  An unfinished round is abandoned first.
    i64 expand(const i64 *roots, i64 count, int most, int widest, double weight);
    // Backpropagate the results of playouts, goals [games, roles], to the roots.  Game i of g started after fresh row
    // i * fresh / g; a game of length 0 started in a terminal state.  `played` [moves, words] has the games in which each
    // move was made, for AMAF, and is overwritten; null if unknown.
    void backpropagate(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words);
    // End the round without playouts.
    void abandon();

    // Parameters of whole rounds from one root.
    struct Plan {
        double each = 1.0;           // mean number of playouts after a new position
        int widest = LANES;          // maximum number of joint moves from a leaf
        i64 max_steps = 1000;        // step limit of playouts
        const i64 *places = nullptr; // [moves] the first of the moves of the players' circuit that are this one of the
                                     // tree's, where it has several of each; null if they are the same
        u64 *generator = nullptr;    // 4 rows: the state of the random numbers
        i64 rounds = 1;              // at most
        double seconds = 0.0;        // no round begins later, except the first
    };
    // Run rounds until the plan ends, the root is solved, a round has no playouts, or `stop` is due, which abandons the
    // round.  Returns the number of playouts.
    i64 run(i64 root, Expander &players, const Plan &plan, Stop &stop);

    bool is_under_way() const { return under_way_; }
    // Moving average of the rows from a leaf; decides how many descents fill a round.
    double per_leaf() const { return per_leaf_; }
    i64 rows() const { return used_; }
    i64 fresh() const { return fresh_; }
    i64 asked() const { return asked_; } // ways that ended with a leaf or a joint move to expand
    // The packed states of the fresh rows, circuit().state_words() words each.
    std::vector<u64> starts();
    // The moves of role 0 from the root to the position after fresh row k.
    std::vector<i32> line(i64 k);

    Tree &tree() { return *tree_; }

private:
    enum End : u8 {
        OPEN,  // at a leaf to be expanded
        MAKE,  // at a joint move without an edge
        KNOWN, // at a position of known value, or at a repetition on the same way
        JOINS, // at a position that another way to it had added before
        VOID,  // at a leaf that another way expands: discarded
    };
    i64 last(i64 way) const { return way_first_[way + 1] - 1; }
    i64 *arm(i64 step) { return way_arm_.data() + step * tree_->roles; }
    void fill(i64 root);
    void descend(const i64 *roots, i64 count, int most);
    void enter();
    void describe(); // compute the legal moves of the leaves, and which are terminal
    void open(int widest);
    void make(const i64 *parents, const i64 *arms, i64 count);
    void attach();
    void begin_at(i64 way);
    bool is_leaf(i64 row) const { return row_arm_[row * tree_->roles] < 0; } // playouts from the leaf itself
    void mark(i64 at) {
        tree_->seen[at] = BUSY;
        busy_.push_back(at);
    }
    void settle(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words);
    void add_later(i64 at, const i64 *arm, u64 *played, i64 words, const u64 *some);
    void leave();       // `abandon` with the lock held
    void check() const; // throws std::invalid_argument unless a round is in progress and the tree was not renumbered

    TreePtr tree_;
    Evaluator evaluator_;
    int most_rows_;
    double weight_ = 1.0, per_leaf_ = 8.0;
    bool under_way_ = false;
    u64 epoch_ = 0;
    i64 pinned_ = -1; // the root, which must not be freed
    std::vector<i64> busy_;

    i64 ways_ = 0;
    std::vector<i64> way_first_;    // [ways + 1] first step of each
    std::vector<u8> way_end_;       // [ways]
    std::vector<i32> way_position_; // [steps] -1 at the last step if the position could not be added
    std::vector<i64> way_arm_;      // [steps, roles] -1 at the last position if no arm was chosen there
    std::vector<i64> from_, arms_;  // [n], [n, roles] joint moves to be made

    std::vector<i64> leaves_; // capacity for positions at the ends of the ways that are OPEN
    std::vector<u64> legal_;  // [leaves, legal words]

    i64 used_ = 0, fresh_ = 0, asked_ = 0;
    std::vector<i32> row_way_;
    std::vector<i64> row_parent_;
    std::vector<i64> row_arm_;   // [rows, roles]
    std::vector<i32> row_child_; // -1 if there is no position yet
    std::vector<i64> row_fresh_; // [fresh]
    std::vector<double> row_games_, row_best_, row_total_; // [rows], [rows, roles] of the playouts after each
    std::vector<u64> after_; // [rows, words]

    std::vector<i64> parents_, lengths_; // [games]
    std::vector<i16> goals_;             // [games, roles]
    std::vector<u64> played_, joined_;   // [moves, words] of the players' circuit, of the tree's

    std::vector<double> value_;
    std::vector<u64> half_, more_, some_; // bit sets of games: a role's value is at least 1/2, more than 1/2; scratch
};

} // namespace herbrand::search

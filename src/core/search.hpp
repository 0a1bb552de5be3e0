// Tree search: positions, arms and joint moves in flat arrays, and the rounds in which they grow.
//
// A *position* is a state that the tree has met, found by a hash table (transpositions are one position).  When
// it is expanded its *arms*, the legal moves of role 0, then of role 1 and so on, get consecutive places.  A *way*
// leads from a root to a leaf: positions with the arm of every role in each.  A *row* is a joint move that is to
// be made in an expanded position; rows that lead to new positions are *fresh*, and playouts start there.
//
//     Round round(tree, ways, rows);
//     round.expand(roots, count, most, widest, weight);   // selection and expansion
//     ... playouts from round.starts() ...
//     round.backpropagate(goals, lengths, games, played);  // or round.abandon()
//
// Values are goals divided by 100.  Each call locks its tree, so that several threads can each have a round.
#pragma once

#include "expand.hpp"
#include "memory.hpp"

#include <mutex>

namespace herbrand::search {

enum Kind : u8 {
    LEAF = 0,  // valued, but not expanded
    ALONE = 1, // at most one role has a choice
    JOINT = 2, // several have
    OVER = 3,  // the game is over, or stuck
};

// In `seen`: playouts from this position are under way, and it is not to be expanded.
inline constexpr i64 BUSY = i64(1) << 62;

// One member of records that follow one another.
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
        bool regret = false;      // roles that move at once choose by regret matching, not by UCB1
        double amaf = 0.0;        // playouts after which a move's own mean counts as much as that of playouts with
                                  // the move later (GRAVE and RAVE); 0: those are not counted
    };

    // An empty tree that takes at most about `memory` bytes, and has at most `most` positions.  With `labelled`
    // states have one more word, which keeps states that are equal otherwise apart.
    Tree(CircuitPtr circuit, bool labelled, const Settings &settings, i64 memory, i64 most, u64 seed);

    const CircuitPtr circuit;
    const int words, roles;
    const Settings settings;
    const bool single; // one role, no chance: the best value that was reached counts besides the mean
    i64 room = 0;      // positions
    i64 arm_room = 0;

    // What the goals of the two players add up to, from 0 to 2; -1 if that differs or they are not two, -2 while
    // it is not known.
    double sum = -2.0;
    i64 positions = 0, arms = 0, edges = 0;
    i64 serial = 0;    // the number of the last way down
    bool full = false; // something did not fit
    u64 epoch = 0;     // changes when positions are renumbered
    mutable std::mutex lock;

    // A position is one record that begins with a line of the cache: with random access, lines are what costs.
    Field<double> games;  // [positions] playouts at or below it
    Field<double> best;   // [positions] the highest value of role 0 in one of them
    Field<double> totals; // [positions, roles] the sums of their values
    Field<double> lows;   // [positions, roles] what a role can make sure of, proved
    Field<double> highs;  // [positions, roles] what a role can get at most, proved
    Field<i64> first;     // [positions] the first arm
    Field<i64> seen;      // [positions] the number of the last way that came by, or BUSY
    Field<i32> plies;     // [positions] how many steps a proof looks ahead
    Field<i16> mover;     // [positions] the role that has a choice, or 0
    Field<u8> kind;       // [positions]
    Field<i32> sizes;     // [positions, roles] how many arms each role has
    Field<u64> states;    // [positions, words] packed
    double *total(i64 at) { return totals.at(at); }
    double *low(i64 at) { return lows.at(at); }
    double *high(i64 at) { return highs.at(at); }
    i32 *size(i64 at) { return sizes.at(at); }
    u64 *state(i64 at) const { return states.at(at); }
    Zeros<i32> slots; // hash table with open addressing: 1 + the position, or 0

    Field<double> arm_count, arm_total; // [arms] playouts, and the values of the role that has the arm
    Field<i32> arm_virtual;             // [arms] ways under way through it
    Field<i32> arm_child; // [arms] ALONE: the position after it, or -1; JOINT: the first arm has the last edge
    Field<i32> move;      // [arms] the move, by its number among the moves of all roles
    Zeros<float> amaf_count, amaf_total; // [arms] playouts in which the role made the move now or later
    Zeros<double> arm_regret, arm_share; // [arms] regret matching: cumulated regret and strategy
    Zeros<i32> edge_slots;               // hash table of joint moves that were made: 1 + the edge, or 0
    Zeros<u64> edge_key;                 // [edges] a number for state and joint move
    Zeros<i32> edge_parent, edge_child;
    Zeros<i32> edge_next; // [edges] the edge made before from the same position, or -1

    SplitMix random;

    i64 find(const u64 *state) const; // -1 if the tree does not have it
    // The position of a state, made if need be; -1 if there is no room.
    i64 add(const u64 *state, bool &is_new);
    i64 add(const u64 *state) {
        bool is_new;
        return add(state, is_new);
    }
    void clear();
    // Drop every position that cannot be reached from `root`; returns the root's new number.
    i64 forget(i64 root);

    bool is_exact(i64 at); // proved for all roles but chance
    bool is_open(i64 at) { return kind[at] == ALONE || kind[at] == JOINT; }
    // The position after the arms `arm[role]` of an expanded position; -1 if that was not made yet.
    i64 after(i64 at, const i64 *arm);
    void add_edge(u64 key, i64 parent, i64 child);
    u64 joint_key(i64 at, const i64 *arm); // never 0

    // Carry what is proved of the positions after one over to it; returns whether that changed anything.
    bool tighten(i64 at);
    // Forget what was proved, of all positions in which the game is not over.
    void unproved();
    // Learn from the goals [games, roles] of playouts whether those of two players always add up to the same.
    void look_at_sums(const i16 *goals, i64 games);

    // The move of a role at a root that promises most: what is proved decides where it can, else the mean less its
    // uncertainty; -1 if the root was not expanded.
    i32 best_move(i64 root, int role);

    // Add what each move of a role at a root is worth, how many roots it was looked at, and the playouts after it,
    // by the number of the move among the role's.
    void add_up(i64 root, int role, double *values, double *looked_at, double *playouts);

    // Regret matching: add to the regrets of roles that moved at once, and to their strategies.
    void add_regret(i64 at, i64 *arm, const double *value, double weight);

    // The arm that a role takes.
    i64 best_alone(i64 at, int role, i64 begin, i64 end, double weight);
    i64 best_joint(i64 at, i64 begin, i64 end, double weight);
    i64 by_regret(i64 begin, i64 end);
    // Fill arm[role]; returns the position after it, or -1.
    i64 choose(i64 at, i64 *arm, double weight);
    i64 draw(i64 begin, i64 size) { // any of some arms
        const i64 k = static_cast<i64>(random.uniform() * static_cast<double>(size));
        return begin + (k < size ? k : size - 1);
    }

private:
    i64 slot(const u64 *state) const;
    i64 edge_slot(u64 key) const;
    bool tighten_joint(i64 at);
    bool opposed(i64 at);
    void count_plies(i64 at, int mover, i64 begin, i64 size);

    Pages positions_, arms_;
    i64 record_ = 0; // bytes of a position
    std::vector<double> least_, most_;
    std::vector<i64> arm_;
    std::vector<i32> place_;
};

using TreePtr = std::shared_ptr<Tree>;

// One round after the other on a tree: an object for each thread.
class Round {
public:
    // `ways` and `rows` are the most that there are in one round.
    Round(TreePtr tree, int ways, int rows);

    // Go down at most `most` times, from the roots in turn; expand the leaves found, at most `widest` joint moves
    // from each, and make them; or, when the tree is full, take the leaves themselves.  `weight` is what a way
    // under way counts, in playouts.  Returns how many rows are fresh.  A round that is under way is abandoned.
    i64 expand(const i64 *roots, i64 count, int most, int widest, double weight);
    // Add the ends of playouts, goals [games, roles], up to the roots.  Game i of g started after fresh row
    // i * fresh / g; one of length 0 started where the game is over.  `played` [moves, words] are the games in
    // which a move was made, for AMAF, and is changed; null if that is not known.
    void backpropagate(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words);
    // End the round without playouts.
    void abandon();

    // Whole rounds from one root: with how many playouts, and how they are played.
    struct Plan {
        double each = 1.0;           // playouts after a new position, on the average
        int widest = LANES;          // joint moves made from a leaf, at most
        i64 max_steps = 1000;        // what cuts playouts off
        const i64 *places = nullptr; // [moves] the first of the moves of the players' circuit that are this one of the
                                     // tree's, where it has several of each; null if they are the same
        u64 *generator = nullptr;    // 4 rows: the state of the random numbers
        i64 rounds = 1;              // at most
        double seconds = 0.0;        // after which no round is begun, but for the first
    };
    // Do so until the root is solved, a round has no playouts, or `stop` says so, which abandons a round.  Returns
    // how many playouts there were.
    i64 run(i64 root, Expander &players, const Plan &plan, Stop &stop);

    bool is_under_way() const { return under_way_; }
    // Rows that come from a leaf, on the average of late; as many ways give about one playout for each row.
    double per_leaf() const { return per_leaf_; }
    bool grew() const { return grew_; }
    i64 rows() const { return used_; }
    i64 fresh() const { return fresh_; }
    i64 asked() const { return asked_; } // ways that ended with a leaf, or a joint move, to look at
    // The packed states of the fresh rows, circuit().state_words() words each.
    std::vector<u64> starts();
    // The moves of role 0 from the root to where fresh row k leads.
    std::vector<i32> line(i64 k);

    Tree &tree() { return *tree_; }

private:
    enum End : u8 {
        OPEN,  // at a leaf, which is to be expanded
        MAKE,  // with a joint move that has not been made yet
        KNOWN, // where the value is known, or where it came before on the same way
        VOID,  // at a leaf that another way of the round expands: nothing is learnt
    };
    i64 last(i64 way) const { return way_first_[way + 1] - 1; }
    i64 *arm(i64 step) { return way_arm_.data() + step * tree_->roles; }
    void descend(const i64 *roots, i64 count, int most);
    void describe(); // the legal moves of the leaves, and which are over
    void open(int widest);
    void make();
    void attach();
    void take_leaves();
    void settle(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words);
    void add_later(i64 at, const i64 *arm, u64 *played, i64 words, const u64 *some);
    void leave();       // as `abandon`, with the lock held
    void check() const; // throws std::invalid_argument unless a round is under way in the tree as it is

    TreePtr tree_;
    Evaluator evaluator_;
    int most_rows_;
    double weight_ = 1.0, per_leaf_ = 8.0;
    bool grew_ = true, under_way_ = false;
    u64 epoch_ = 0;

    i64 ways_ = 0;
    std::vector<i64> way_first_;    // [ways + 1] where each begins
    std::vector<u8> way_end_;       // [ways]
    std::vector<i32> way_position_; // [steps]
    std::vector<i64> way_arm_;      // [steps, roles] -1 at the last position if no move was chosen there

    std::vector<i64> leaves_; // positions at the ends of the ways that are OPEN
    std::vector<u64> legal_;  // [leaves, legal words]

    i64 used_ = 0, fresh_ = 0, asked_ = 0;
    std::vector<i32> row_way_;
    std::vector<i64> row_parent_;
    std::vector<i64> row_arm_;   // [rows, roles]
    std::vector<i32> row_child_; // -1 if there was no room
    std::vector<i64> row_fresh_; // [fresh]
    std::vector<double> row_games_, row_total_; // [rows], [rows, roles] of the playouts after each
    std::vector<u64> after_; // [rows, words]

    std::vector<i64> parents_, lengths_; // [games]
    std::vector<i16> goals_;             // [games, roles]
    std::vector<u64> played_, joined_;   // [moves, words] of the players' circuit, of the tree's

    std::vector<double> value_;
    std::vector<u64> half_, more_, some_; // games in which each role got at least, and more than, half of the points
};

} // namespace herbrand::search

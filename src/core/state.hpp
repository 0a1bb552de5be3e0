// One state of a circuit, kept between questions, so that the next question costs what has changed.
//
// There are two ways to bring the gates up to date.  *Walking* evaluates all gates of a cone.  *Reckoning*
// follows the changes alone, which players of General Game Playing call forward dead reckoning: where a node
// changes, each gate that reads it changes as well if its other operand is true, and is marked as due; a sweep
// over what is due, in topological order, makes these changes, and more become due.  A gate that gets its
// second mark has none: both operands have changed, and it has not.  So what is due is always just what
// differs from the noted operands, and nothing is evaluated.  Gates that nobody asks for stay due until somebody
// does; goals, asked for at the end, are walked.  A change costs some ten times as much as a walked gate, so
// reckoning pays where a step changes little.
//
// A loop is the least fixpoint of monotone gates.  What lets it only grow, it grows by: the sweep goes on from
// the fixpoint before.  What could let it shrink spoils it, and it is evaluated anew; `spoils` tells the one from
// the other.  A stone more on the board of hex costs no more than its neighbours.
//
// In most games nothing changes as much as whose turn it is, every time: nearly all legal moves with it.  So several
// states can be kept: moves take turns with them, so that with two the next state is reached from the one in which the
// same player had the turn before.  In chess that leaves a sixth of the changes.  Any other state is reached from
// the nearest one.
//
// The outputs are packed bits: the legal moves of each role, the next state, the end, goals, percepts.
#pragma once

#include "circuit.hpp"

#include <algorithm>

namespace herbrand {

// What the memories of one circuit share.
struct StatePlan {
    // `order[i]` is the i-th move as answers shall have them: sorted by role.
    StatePlan(CircuitPtr circuit, std::vector<i32> order);

    CircuitPtr circuit;
    std::vector<i32> order;    // [moves]
    std::vector<i32> place;    // [moves] the place of each move among those of its role
    std::vector<i32> word_of;  // [roles + 1] the output word at which the moves of a role begin
    int word_next = 0, word_terminal = 0, word_goal = 0, word_sees = 0, words = 0;
    std::vector<i32> literals; // [64 * words] the outputs
    std::vector<i32> bits;     // [words] how many outputs each word has
    std::vector<u64> valid;    // [words] a bit for each of them

    // For reckoning, every node and every output has a bit, outputs after the nodes, in words: `marks` says what is due,
    // and for outputs their value; `operands` has the noted values of two operands, words for the left and the right
    // ones in turn.  A node's value is (left & right) ^ due.  What has one operand only has a true one besides.
    int words_of_nodes = 0;
    std::vector<u64> marks_at_first;    // all nodes are false
    std::vector<u64> operands_at_first; // [2 * marks_at_first]

    // What changes with a node: from the highest bits, entries have the word and the bit of what reads it, between
    // them whether it is the right operand, and whether a loop is spoiled when the node becomes true and false.
    // Most nodes have one reader or two, and need nothing else; where there is one, the second is a bit that nobody reads.
    struct Fan {
        u32 first, second;
        u32 begin, count; // in `more`
    };
    static constexpr u32 SPOILED_BY_FALSE = 1, SPOILED_BY_TRUE = 2;
    std::vector<Fan> fans; // [nodes]
    std::vector<u32> more;
    std::vector<i32> weights; // [fluents] about how much changes with each

    // Some gates by themselves, for evaluating them all: nodes are counted anew, the ones that are read from outside
    // first (after false), then feedback, then gates.
    struct Part {
        std::vector<i32> outside; // nodes of the circuit
        std::vector<i32> back;    // nodes of the circuit
        std::vector<i32> left, right, feedback;
        std::vector<Loop> loops;
        std::vector<i32> wanted; // literals that are asked for
        int first_gate() const { return 1 + static_cast<int>(outside.size() + back.size()); }
        int nodes() const { return first_gate() + static_cast<int>(left.size()); }
    };
    std::vector<Part> loop_parts; // [loops] those that are reckoned; wanted is nothing
    Part goal_part;               // wanted are the goals, in whole words as in `literals`

private:
    void connect();
    std::vector<u8> spoils() const;
    Part part(int begin, int end, const std::vector<i32> &wanted) const;
};

using StatePlanPtr = std::shared_ptr<const StatePlan>;

// At first all fluents are false and nothing is evaluated.
class StateMemory {
public:
    static constexpr int MOST_KEPT = 16;

    explicit StateMemory(StatePlanPtr plan);

    const StatePlan &plan() const { return *plan_; }
    const StatePlanPtr &shared_plan() const { return plan_; }

    // Whether changes are followed instead of walking over all gates, and how many states are kept, 1 to MOST_KEPT.
    // To set them goes back to where nothing is true and nothing is known.
    bool reckons() const { return reckons_; }
    void set_reckons(bool reckons) { begin(reckons, kept()); }
    int kept() const { return static_cast<int>(slots_.size()); }
    void set_kept(int states) { begin(reckons_, states); }

    static constexpr int OVER = -1;
    static constexpr int ILLEGAL = -2;

    // Bring the legal moves and the end up to date, which they are after all questions.
    void look() { know(LEGAL); }
    // Go to a packed state, of circuit().state_words() words without a bit too many; returns whether it is terminal.
    bool enter(const u64 *key);
    // Make the joint move that stands in `joint` and go to the next state.  Returns whether that is terminal, or, and
    // then the state stays, OVER if the present one is terminal, ILLEGAL if a role has no such legal move.
    int forward();
    // Evaluate what the joint move that stands in `joint` gives in the present state, legal or not.
    void follow();
    // Bring the goals of the present state up to date.
    void score();

    // The joint move to be made: a move for each role.
    i32 *joint() { return joint_.data(); }
    const u64 *state() const { return now_->state.data(); }
    // Those words that were asked for are up to date.
    const u64 *outputs() const { return now_->marks.data() + plan_->words_of_nodes; }

private:
    enum Known : int { LEGAL = 1, NEXT = 2, GOAL = 4 };

    // A state and what follows from it.
    struct Slot {
        int known = 0;
        std::vector<u64> state; // empty before it is used
        std::vector<i32> made;  // [roles] the joint move whose inputs are set, -1 for none
        std::vector<u64> marks, operands;
        std::vector<u64> spoiled; // by node
        std::vector<u8> values;   // [2 * nodes] of all literals, for walking
    };

    void begin(bool reckons, int states);
    Slot &nearest(const u64 *key);
    Slot &next_slot();
    bool is_at(const u64 *key) const {
        return now_->known & LEGAL && std::equal(now_->state.begin(), now_->state.end(), key);
    }
    bool is_over() const { return outputs()[plan_->word_terminal] & 1; }

    void put(i32 node, bool value);
    bool value(i32 node) const {
        const u64 *operands = &now_->operands[2 * (node >> 6)];
        return ((operands[0] & operands[1]) ^ now_->marks[node >> 6]) >> (node & 63) & 1;
    }
    void note(u32 entry, u32 spoiling);
    void spread(i32 node, bool now);
    void sweep(int begin, int end);
    template <bool LOOPS> void sweep_nodes(i32 begin, i32 end);
    bool grow(const Loop &loop);
    void flip_loop(const Loop &loop, const StatePlan::Part &part);
    void load(const StatePlan::Part &part);

    void show(int begin, int end, const u8 *values, const i32 *literals);
    void know(Known what);
    void go(const u64 *key);
    void take(const u64 *key);
    void make();

    StatePlanPtr plan_;
    const Circuit &circuit_;
    bool reckons_ = true;
    std::vector<Slot> slots_;
    Slot *now_ = nullptr;
    std::vector<u64> entering_;
    std::vector<u8> part_;   // the values of all literals of a part
    std::vector<i32> changed_;
    std::vector<i32> joint_; // [roles]
};

} // namespace herbrand

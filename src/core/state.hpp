// One state of a circuit, kept between questions, so that the next question costs what has changed.
//
// There are two ways to bring the gates up to date.  *Walking* evaluates all gates of a cone.  *Reckoning*
// follows the changes alone, which players of General Game Playing call forward dead reckoning.  A gate with the
// gates that only it reads is one conjunction of many operands, and knows how many of them are false.  Where a node
// changes, this number changes in all that read it, and what comes to no false operand, or from none to one, is
// due: it waits in a queue until its turn comes, and if it still differs by then it changes as well.  Gates that
// nobody asks for stay due until somebody does; goals, asked for at the end, are walked.  A change costs some ten
// times as much as a walked gate, so reckoning pays where a step changes little.
//
// A loop is the least fixpoint of monotone gates.  What lets it only grow, it grows by: the changes go on from the
// fixpoint before.  What could let it shrink spoils it, and it is evaluated anew; `spoils` tells the one from the
// other.  A stone more on the board of hex costs no more than its neighbours.
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

    // For reckoning: inputs, feedback, and what is left of the gates when conjunctions are taken together.
    struct Stage {
        int loop = -1;        // of which these are the gates
        bool is_next = false; // whether only the next state and percepts need them
    };
    // Before a loop, in it, and so on: each waits for the one before, within a stage the order does not matter.
    // Inputs belong to the first one.  For each loop one more follows, for its feedback.
    std::vector<Stage> stages;
    int queues = 0;
    std::vector<std::size_t> capacities; // [queues] twice what belongs there, and more
    int units = 0;
    int first_late = 0;         // without loops, the first unit of the second stage
    std::vector<i32> unit_of;   // [nodes] -1 for what is part of another one, or walked
    std::vector<u16> stage_of;  // [units]
    std::vector<u8> false_at_first; // [units] how many operands are false where all nodes are
    std::vector<std::vector<u32>> due_at_first; // [queues]
    std::vector<u64> outputs_at_first;
    // What reads a unit: `entries` from `begin` on are units, times eight; from `outputs` on bits of the outputs.
    // In the former the lowest bit says whether it reads the opposite, the next ones whether a loop is spoiled where
    // the unit becomes false and true.
    struct Fan {
        u32 begin, outputs;
    };
    static constexpr u32 SPOILED_BY_FALSE = 2, SPOILED_BY_TRUE = 4;
    std::vector<Fan> fans; // [units + 1]
    std::vector<u32> entries;
    u32 longest_fan = 0;
    std::vector<i32> weights; // [fluents] about how much changes with each

    // Some gates by themselves, for evaluating them all: nodes are counted anew, the ones that are read from outside
    // first (after false), then feedback, then gates.
    struct Part {
        std::vector<i32> outside; // nodes of the circuit
        std::vector<i32> back;    // nodes of the circuit
        std::vector<i32> left, right, feedback;
        std::vector<Loop> loops;
        std::vector<i32> wanted; // literals that are asked for
        int first_back() const { return 1 + static_cast<int>(outside.size()); }
        int first_gate() const { return first_back() + static_cast<int>(back.size()); }
        int nodes() const { return first_gate() + static_cast<int>(left.size()); }
    };
    std::vector<Part> loop_parts; // [loops] those that are reckoned; wanted is nothing
    Part goal_part;               // wanted are the goals, in whole words as in `literals`

private:
    void connect();
    std::vector<i32> owners(const std::vector<u16> &stage_of_gate) const;
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
    const u64 *outputs() const { return now_->outputs.data(); }

private:
    enum Known : int { LEGAL = 1, NEXT = 2, GOAL = 4 };

    // Units that may differ from what their operands say; some do no longer, some are in it twice.
    struct Queue {
        std::vector<u32> units;
        std::size_t size = 0;
    };
    // A state and what follows from it.
    struct Slot {
        int known = 0;
        std::vector<u64> state; // empty before it is used
        std::vector<i32> made;  // [roles] the joint move whose inputs are set, -1 for none
        std::vector<u64> outputs;
        std::vector<u8> values; // of all units, or, for walking, of all literals
        std::vector<u8> falses; // [units] how many operands are false
        std::vector<Queue> queues;
        std::vector<u8> spoiled; // [stages]
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
        const i32 unit = plan_->unit_of[node];
        return unit >= 0 && now_->values[unit];
    }
    bool is_due(u32 unit) const { return (now_->falses[unit] == 0) != now_->values[unit]; }
    void push(int queue, u32 unit);
    std::size_t tidy(int queue, std::size_t begin);
    void change(u32 unit);
    void run(int stage);
    template <bool LATE> void run_without_loops();
    bool grow(int stage);
    void flip_loop(int stage);
    void sweep(bool all);
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
    std::vector<i32> joint_; // [roles]
};

} // namespace herbrand

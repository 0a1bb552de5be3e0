// Incremental evaluation of single states: the cost of a step is proportional to what changes.
//
// There are two modes.  *Walking* evaluates all gates of a cone.  *Reckoning* propagates changes only (forward dead
// reckoning in General Game Playing).  A gate and the gates that only it reads form a *unit*, one conjunction of many
// operands with a count of the false ones.  When a node changes, the counts of its readers change; a unit whose count
// becomes 0, or is no longer 0, is *due*: it is queued, and changes as well if it still differs when it is dequeued.  Units
// that no query needs stay due until one does; goals, needed at the end only, are walked.  A change costs about ten
// times as much as walking a gate, so that reckoning pays if a step changes little.
//
// A loop is the least fixpoint of monotone gates.  Changes that can only make it grow are propagated from the previous
// fixpoint.  Changes that could make it shrink *spoil* it, and it is evaluated from scratch; `spoils` decides which is
// which.  Adding a stone in hex costs no more than its neighbours.
//
// In most games the change of turn changes more than anything else, namely nearly all legal moves.  So several states can
// be cached, in rotation: with two, the next state is computed from the last one in which the same player was to move.
// In chess that leaves a sixth of the changes.  Any other state is computed from the cached one that differs least.
//
// The outputs are packed bits: the legal moves of each role, the next state, terminal, goals, percepts.
#pragma once

#include "circuit.hpp"

#include <algorithm>

namespace herbrand {

// The immutable tables that all memories of a circuit share.
struct StatePlan {
    // `order` is the order of the moves in outputs, sorted by role.
    StatePlan(CircuitPtr circuit, std::vector<i32> order);

    CircuitPtr circuit;
    std::vector<i32> order;    // [moves]
    std::vector<i32> place;    // [moves] index of each move among those of its role
    std::vector<i32> word_of;  // [roles + 1] the first output word of each role's moves
    int word_next = 0, word_terminal = 0, word_goal = 0, word_sees = 0, words = 0;
    std::vector<i32> literals; // [64 * words] the literals of the outputs
    std::vector<i32> bits;     // [words] number of outputs in each word
    std::vector<u64> valid;    // [words] mask of these

    // For reckoning.  The units are inputs, feedback, and gates merged to wide conjunctions.
    struct Stage {
        int loop = -1;        // the loop whose gates these are, -1 for none
        bool is_next = false; // whether only the next state and percepts depend on them
    };
    // Stages alternate between gates outside loops and those of one loop.  They run in order; within a stage the order does
    // not matter.  Inputs belong to the first stage.  Each loop has a further queue for its feedback.
    std::vector<Stage> stages;
    int queues = 0;
    std::vector<std::size_t> capacities; // [queues] more than twice the units of the queue
    int units = 0;
    int first_late = 0;         // without loops, the first unit of the second stage
    std::vector<i32> unit_of;   // [nodes] -1 if merged into another unit, or walked
    std::vector<u16> stage_of;  // [units]
    std::vector<u8> false_at_first; // [units] count of false operands when all nodes are false
    std::vector<std::vector<u32>> due_at_first; // [queues]
    std::vector<u64> outputs_at_first;
    // The readers of a unit: `entries` from `begin` on are units times eight, those from `outputs` on are output bits.
    // For units, bit 0 is set if the operand is inverted, the next two if the loop is spoiled when the unit becomes false
    // or true.
    struct Fan {
        u32 begin, outputs;
    };
    static constexpr u32 SPOILED_BY_FALSE = 2, SPOILED_BY_TRUE = 4;
    std::vector<Fan> fans; // [units + 1]
    std::vector<u32> entries;
    u32 longest_fan = 0;
    std::vector<i32> weights; // [fluents] estimated number of changes caused by each

    // A subcircuit that is always walked.  Nodes are renumbered: false, the nodes read from outside, feedback, gates.
    struct Part {
        std::vector<i32> outside; // nodes of the circuit
        std::vector<i32> back;    // nodes of the circuit
        std::vector<i32> left, right, feedback;
        std::vector<Loop> loops;
        std::vector<i32> wanted; // output literals
        int first_back() const { return 1 + static_cast<int>(outside.size()); }
        int first_gate() const { return first_back() + static_cast<int>(back.size()); }
        int nodes() const { return first_gate() + static_cast<int>(left.size()); }
    };
    std::vector<Part> loop_parts; // [loops] for reckoning; without `wanted`
    Part goal_part;               // `wanted` are the goals, in whole words as in `literals`

private:
    void connect();
    std::vector<i32> owners(const std::vector<u16> &stage_of_gate) const;
    std::vector<u8> spoils() const;
    Part part(int begin, int end, const std::vector<i32> &wanted) const;
};

using StatePlanPtr = std::shared_ptr<const StatePlan>;

// A current state with its outputs.  Initially all fluents are false and nothing is evaluated.
class StateMemory {
public:
    static constexpr int MOST_KEPT = 16;

    explicit StateMemory(StatePlanPtr plan);

    const StatePlan &plan() const { return *plan_; }
    const StatePlanPtr &shared_plan() const { return plan_; }

    // Whether to reckon instead of walking, and the number of cached states, 1 to MOST_KEPT.  Setting either resets the
    // memory: all fluents are false and nothing is evaluated.
    bool reckons() const { return reckons_; }
    void set_reckons(bool reckons) { begin(reckons, kept()); }
    int kept() const { return static_cast<int>(slots_.size()); }
    void set_kept(int states) { begin(reckons_, states); }

    static constexpr int OVER = -1;
    static constexpr int ILLEGAL = -2;

    // Bring the legal moves and `terminal` up to date, as all other calls do, too.
    void look() { know(LEGAL); }
    // Go to a packed state of circuit().state_words() words, whose unused bits must be 0; returns whether it is terminal.
    bool enter(const u64 *key);
    // Make the joint move in `joint` and go to the next state.  Returns whether that is terminal; or, without changing the
    // state, OVER if the current one is terminal, ILLEGAL if a role has no such legal move.
    int forward();
    // Evaluate the next state and the percepts for the joint move in `joint`, legal or not.
    void follow();
    // Bring the goals of the current state up to date.
    void score();

    // The joint move to be made, written by the caller: a move for each role.
    i32 *joint() { return joint_.data(); }
    const u64 *state() const { return now_->state.data(); }
    // Only words that were brought up to date are valid.
    const u64 *outputs() const { return now_->outputs.data(); }

private:
    enum Known : int { LEGAL = 1, NEXT = 2, GOAL = 4 };

    // Units that may be due; some no longer are, some are in it twice.
    struct Queue {
        std::vector<u32> units;
        std::size_t size = 0;
    };
    // A cached state with its evaluation.
    struct Slot {
        int known = 0;
        std::vector<u64> state; // empty before it is used
        std::vector<i32> made;  // [roles] the joint move whose inputs are set, -1 for none
        std::vector<u64> outputs;
        std::vector<u8> values; // values of all units, or, for walking, of all literals
        std::vector<u8> falses; // [units] count of false operands
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

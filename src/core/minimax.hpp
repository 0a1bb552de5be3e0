// Alpha-beta search on a circuit, for one role against all others.
//
// All successors of a state are made, valued and tested for the end in two passes over the circuit, one successor
// in each lane, before any of them is searched.  A pass has more lanes than a state has successors, so those of other
// states that will probably be asked for are made with them: of the next siblings where the first one was not good
// enough to look no further, and of the best successors of siblings where a state is the first of its own.  That changes
// how long a search takes and nothing else.
//
// Sources: alpha-beta (Knuth and Moore 1975), iterative deepening with a transposition table (Slate and Atkin 1977),
// null windows (Pearl 1980; Reinefeld 1983), the history heuristic (Schaeffer 1989), cutoffs by successors that are
// in the table (Plaat et al. 1996), tables without locks (Hyatt and Mann 2002).
#pragma once

#include "judge.hpp"
#include "memory.hpp"

#include <mutex>

namespace herbrand {

// What a value is of the true one.
enum Bound : int { EXACT = 0, LOWER = 1, UPPER = 2 };

// Maps hashes of states to what is known of them; several threads may share one.
//
// An entry is two words, the data and the key combined with the data, so that an entry which two threads wrote at
// the same time matches no key.  A bucket has two entries: the first keeps what was searched deepest, the second
// whatever came last.
class TranspositionTable {
public:
    // Of at most so many bytes, but not less than 16 KiB.
    explicit TranspositionTable(i64 bytes);

    struct Entry {
        bool known = false;
        i64 value = 0; // below 2^20
        int depth = 0; // below 2^9
        int bound = EXACT;
        bool proved = false;
        i64 move = -1; // below 2^30
    };
    Entry probe(u64 key) const;
    void store(u64 key, i64 value, int depth, int bound, bool proved, i64 move);
    i64 bytes() const { return 8 * words_.size(); }
    // Takes all its memory now, and not while a clock runs; what it kept is forgotten.
    void touch() { words_.touch(); }
    void prefetch(u64 key) const { __builtin_prefetch(words_.data() + 2 * place(key)); }

private:
    u64 place(u64 key) const { return key & mask_; }

    u64 mask_ = 0;
    mutable Zeros<u64> words_; // of entry i: the key at 2 * i, the data at 2 * i + 1
};

// One search, which stops when told to and goes on later.  One call at a time: `go_on` lets others in between.
//
// A value is the goal of the role times SCALE; proved ends are moved by their distance, so that wins are taken soon
// and losses late.  A value is *proved* when no heuristic value took part in it.  Where the role chooses the highest
// value counts, elsewhere the lowest.
class AlphaBeta {
public:
    static constexpr int DEEPEST = 200; // steps from the root that are looked at, at most

    // With `exact`, no successor is searched less deeply than others; with `novelty`, successors in which fluents are
    // true that were so in no root are looked at sooner.
    AlphaBeta(CircuitPtr circuit, int role, Judge judge, std::shared_ptr<TranspositionTable> table, bool exact,
              bool novelty);

    const Circuit &circuit() const { return valuer_.circuit(); }

    // Makes a packed state the root.
    void move_to(const u64 *state);
    // Begins an iteration that looks so many steps ahead.
    void begin(int depth);
    // Goes on with it until about so many states were expanded; returns whether it ended.
    bool go_on(Stop &stop, i64 most);

    // The role that has a choice at the root, or a negative number if there is not just one.
    int chooser() const;
    i64 nodes() const { return nodes_.load(std::memory_order_relaxed); } // expanded since the root was set
    bool simultaneous() const { return simultaneous_.load(std::memory_order_relaxed); }
    i64 root_value() const; // of the root by itself
    // The best move at the root, as far as this iteration came; -1 if it did not come far.
    i64 choice() const;
    // Of the iteration that ended last.
    i64 value() const;
    bool solved() const;
    int depth() const;
    // How much fluents count that were true in no root: none unless `novelty`.
    std::vector<u64> seen() const;

    struct RootMove {
        i64 move = 0;   // among the moves of all roles
        i64 value = -1; // -1 if it was not searched in this iteration
        int bound = EXACT;
        bool proved = false;
        i64 nodes = 0; // states expanded below it, in all iterations
    };
    std::vector<RootMove> root() const;
    // The move that the table knows for a packed state, or -1.
    i64 known_move(const u64 *state) const;

private:
    class Turn;

    static constexpr i64 ROWS = i64(1) << 15; // states on the stack, at most
    static constexpr i64 INFINITE = i64(1) << 19;
    static constexpr i64 FIRST = i64(1) << 60; // the order of what is searched first
    static constexpr i64 DONE = i64(-1) * FIRST;
    static constexpr int LATE = 3; // successors before the others are searched less deeply at first
    // What a fluent counts for the order that was true in no root (the novelty of Lipovetzky and Geffner 2012, between
    // the states of a match): a fiftieth of a point of the goal, so that it decides between successors that are
    // valued about alike.
    static constexpr i64 NOVEL = 20;
    // In place of a role that has a choice.
    static constexpr int AT_ONCE = -1, STUCK = -2;

    // A state on the way from the root that is being searched.
    struct Frame {
        i64 row = 0;
        i64 first = 0, successors = 0; // its successors' rows
        i64 kept = 0;                  // rows that are in use as long as the frame is
        i64 child = 0;                 // the row of the successor that is being searched
        i64 tried = 0;                 // how many successors were searched
        int reduced = 0;               // 2: the successor is searched less deeply, 1: with a null window
        i64 alpha = 0, beta = 0;
        i64 alpha_first = 0, beta_first = 0;
        i64 best = 0;
        i64 choice = 0;                         // the move with the best value
        bool proves = false, heuristic = false; // whether that value is proved; whether any was heuristic
        bool highest = false, open = false;     // whether the role itself chooses; whether there are successors
        int depth = 0;
    };
    // A state is done: its value, and whether that is heuristic.
    struct Result {
        bool done = false;
        i64 value = 0;
        bool heuristic = false;
    };

    // A successor has a row: its state, and what is known about it.  Rows are a stack.
    u64 *state(i64 row) { return states_.data() + row * words_; }
    const u64 *state(i64 row) const { return states_.data() + row * words_; }
    u64 *legal(i64 row) { return legal_.data() + row * legal_words_; }
    const u64 *legal(i64 row) const { return legal_.data() + row * legal_words_; }

    int mover(i64 row) const;
    i64 order(i64 row, bool highest, i64 value, i64 hint) const;
    bool has_successors(i64 row, bool leaves) const;
    bool want(i64 row, int depth, bool leaves);
    i64 promising(i64 row) const;
    int gather(int top, bool leaves);
    bool make_successors(int top, bool leaves);
    void set_others(u64 value);
    void push(int top, i64 row, i64 alpha, i64 beta, int depth);
    void send(int top, i64 child, bool full);
    Result enter(int top);
    Result close(int top);
    bool enough(int top) const;
    i64 next_child(int top);
    void credit(i64 move, int depth);

    mutable std::mutex turn_;
    mutable std::atomic<int> waiting_{0}; // calls that want to look at the search while it is under way
    Valuer valuer_;
    std::shared_ptr<TranspositionTable> table_;
    bool exact_;
    int words_, legal_words_;
    i64 rows_;
    Zeros<u64> states_, legal_, keys_;
    Zeros<i32> moves_;
    Zeros<u8> overs_;
    Zeros<i64> values_, orders_;
    // Where the successors of a row are, if they still are: 1 + the row stands in `parents_` of the first of them.
    Zeros<i32> first_of_, count_of_, parents_;
    Zeros<u8> whole_; // whether the legal moves of the successors are kept
    i64 used_ = 1;    // rows
    // Rows whose successors are made together.
    struct Wanted {
        i64 row;
        int mover;
        i64 count;
    };
    std::vector<Wanted> wanted_;
    i64 wanted_rows_ = 0;
    std::vector<std::pair<i64, i64>> next_; // orders and rows
    std::vector<i64> made_from_;            // [successors] the rows of their parents
    std::vector<Frame> frames_;
    std::vector<i64> history_; // [moves] how often a move was good enough to look no further
    std::vector<u64> seen_;    // the fluents that were true in some root; empty if that does not matter
    std::vector<RootMove> root_;
    int top_ = 0;       // the frame at work
    i64 sent_ = 0;      // the number of states when a successor of the root was begun
    i64 result_ = 50 * SCALE;
    bool result_heuristic_ = true;
    std::atomic<i64> nodes_{0};
    std::atomic<bool> simultaneous_{false};
};

} // namespace herbrand

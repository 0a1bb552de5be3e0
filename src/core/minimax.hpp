// Alpha-beta search on a circuit, for one role against all others.
//
// Two passes over the circuit generate all successors of a state, one in each lane, with their values and whether they
// are terminal, before any of them is searched.  A pass has more lanes than most states have successors, so the
// successors of other states that will probably be needed are generated speculatively: those of the next siblings if the
// first one did not cause a cutoff, and those of the best successors of siblings if a state is the first among its own.
// That affects the time of a search only, not its result.
//
// Sources: alpha-beta (Knuth and Moore 1975), iterative deepening with a transposition table (Slate and Atkin 1977),
// null windows (Pearl 1980; Reinefeld 1983), the history heuristic (Schaeffer 1989), cutoffs by successors that are
// in the table (Plaat et al. 1996), tables without locks (Hyatt and Mann 2002).
#pragma once

#include "judge.hpp"
#include "memory.hpp"

#include <mutex>

namespace herbrand {

// How a value relates to the true one.
enum Bound : int { EXACT = 0, LOWER = 1, UPPER = 2 };

// Maps hashes of states to search results; several threads may share one.
//
// An entry is two words, the data and the key xor the data, so that an entry torn by concurrent writes matches no key.
// A bucket has two entries: the first is replaced by deeper searches only, the second always.
class TranspositionTable {
public:
    // A table of at most `bytes` bytes, but not less than 16 KiB.
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
    // Commits all memory now, not while a player's clock runs; clears the table.
    void touch() { words_.touch(); }
    void prefetch(u64 key) const { __builtin_prefetch(words_.data() + 2 * place(key)); }

private:
    u64 place(u64 key) const { return key & mask_; }

    u64 mask_ = 0;
    mutable Zeros<u64> words_; // of entry i: the key at 2 * i, the data at 2 * i + 1
};

// An interruptible search.  A lock serialises calls; `go_on` yields to waiting ones.
//
// A value is the goal of the role times SCALE, adjusted at terminal states by their distance, so that wins are taken soon
// and losses late.  A value is *proved* if no heuristic value contributes to it.  The role maximises, all others
// minimise.
class AlphaBeta {
public:
    static constexpr int DEEPEST = 200; // maximum depth in steps

    // `exact` disables late move reductions; `novelty` orders successors earlier that have fluents which were true in no
    // root.
    AlphaBeta(CircuitPtr circuit, int role, Judge judge, std::shared_ptr<TranspositionTable> table, bool exact,
              bool novelty);

    const Circuit &circuit() const { return valuer_.circuit(); }

    // Makes a packed state the root.
    void move_to(const u64 *state);
    // Begins an iteration of the given depth in steps.
    void begin(int depth);
    // Continues it until about `most` states were expanded; returns whether it is complete.
    bool go_on(Stop &stop, i64 most);

    // The role that has a choice at the root, or a negative number if there is not exactly one.
    int chooser() const;
    i64 nodes() const { return nodes_.load(std::memory_order_relaxed); } // states expanded since the root was set
    bool simultaneous() const { return simultaneous_.load(std::memory_order_relaxed); }
    i64 root_value() const; // static value of the root
    // The best move at the root so far in this iteration; -1 if no move was searched completely.
    i64 choice() const;
    // Results of the last complete iteration.
    i64 value() const;
    bool solved() const;
    int depth() const;
    // The fluents that were true in some root; empty unless `novelty`.
    std::vector<u64> seen() const;

    struct RootMove {
        i64 move = 0;   // among the moves of all roles
        i64 value = -1; // -1 if it was not searched in this iteration
        int bound = EXACT;
        bool proved = false;
        i64 nodes = 0; // states expanded below it, in all iterations
    };
    std::vector<RootMove> root() const;
    // The move in the table for a packed state, or -1.
    i64 known_move(const u64 *state) const;

private:
    class Turn;

    static constexpr i64 ROWS = i64(1) << 15; // capacity of the stack of states
    static constexpr i64 INFINITE = i64(1) << 19;
    static constexpr i64 FIRST = i64(1) << 60; // order of successors to search first
    static constexpr i64 DONE = i64(-1) * FIRST;
    static constexpr int LATE = 3; // successors at full depth before late move reductions begin
    // Order bonus for each fluent that was true in no root (novelty as in Lipovetzky and Geffner 2012, over the states of a
    // match): a fiftieth of a goal point, so that it decides between successors of similar values only.
    static constexpr i64 NOVEL = 20;
    // Special values in place of the role that has a choice.
    static constexpr int AT_ONCE = -1, STUCK = -2;

    // A state on the path from the root to the state being searched.
    struct Frame {
        i64 row = 0;
        i64 first = 0, successors = 0; // its successors' rows
        i64 kept = 0;                  // end of the rows in use by this frame
        i64 child = 0;                 // row of the successor being searched
        i64 tried = 0;                 // number of successors searched
        int reduced = 0;               // 2: the successor is searched with reduced depth, 1: with a null window
        i64 alpha = 0, beta = 0;
        i64 alpha_first = 0, beta_first = 0;
        i64 best = 0;
        i64 choice = 0;                         // the move with the best value
        bool proves = false, heuristic = false; // whether `best` is proved; whether any value was heuristic
        bool highest = false, open = false;     // whether the role maximises here; whether there are successors
        int depth = 0;
    };
    // The result of a state, if `done`: its value, and whether that is heuristic.
    struct Result {
        bool done = false;
        i64 value = 0;
        bool heuristic = false;
    };

    // Every generated successor has a row: its state and properties.  Rows form a stack.
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
    void value_unclear_ends(i64 begin, int lanes);
    void push(int top, i64 row, i64 alpha, i64 beta, int depth);
    void send(int top, i64 child, bool full);
    Result enter(int top);
    Result close(int top);
    bool enough(int top) const;
    i64 next_child(int top);
    void credit(i64 move, int depth);

    mutable std::mutex turn_;
    mutable std::atomic<int> waiting_{0}; // calls that wait while `go_on` runs
    Valuer valuer_;
    std::shared_ptr<TranspositionTable> table_;
    bool exact_;
    int words_, legal_words_;
    i64 rows_;
    Zeros<u64> states_, legal_, keys_;
    Zeros<i32> moves_;
    Zeros<u8> overs_;
    Zeros<i64> values_, orders_;
    // Where the successors of a row are; valid if `parents_` of the first of them is 1 + the row.
    Zeros<i32> first_of_, count_of_, parents_;
    Zeros<u8> whole_; // whether the legal moves of the successors are stored
    i64 used_ = 1;    // rows
    // Rows whose successors are generated in one pass.
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
    std::vector<i64> history_; // [moves] history heuristic: weighted count of cutoffs by the move
    std::vector<u64> seen_;    // the fluents that were true in some root; empty unless `novelty`
    std::vector<RootMove> root_;
    int top_ = 0;       // the current frame
    i64 sent_ = 0;      // the number of states when a successor of the root was begun
    i64 result_ = 50 * SCALE;
    bool result_heuristic_ = true;
    std::atomic<i64> nodes_{0};
    std::atomic<bool> simultaneous_{false};
};

} // namespace herbrand

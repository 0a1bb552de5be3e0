// Decides who can force what: can a role force at least a goal value from a state, whatever the others do?
//
// The search is depth-first proof-number search, by many *walkers* at once.  Each walks down from the root to a state to
// be expanded; the successors of all these states are then generated together, one in each lane, so that a pass over the
// circuit is shared by many states.  Walkers share a table of proof and disproof numbers, and avoid states that others
// are at.
//
// A state is *proved* or *disproved* only by successors that are, down to terminal states.  That holds in any game: what
// depends on a repeated state stays open.  So does a state in which several roles have a choice, unless the question is
// what can be forced *for certain*: then the role commits itself to a move first, and the others, chance among them,
// reply to it, one after another where they have too many joint moves.  A state with moves to which roles have committed
// themselves is a position of its own, in which these are the only legal ones; a state in which a role has no legal move,
// and an end without a goal value, are not what the role wants.  With symmetries of the rules, states that
// are images of each other share an entry of the table.
//
// States are identified by 128 bits of a universal hash (the entry's place, and 64 more bits in the entry), so that
// confusing two of them is less probable than a fault of the memory.
//
// Sources: proof-number search (Allis, van der Meulen and van den Herik 1994), depth first with a table (Nagai 2002),
// wider thresholds (Pawlewicz and others 2007), the greatest number in place of the sum where states are reached in many
// ways (Ueda, Hashimoto, Hashimoto and Iida 2008), several threads on one table (Kaneko 2010), hashes of state as sums
// of random words (Zobrist 1970; Carter and Wegman 1979).
#pragma once

#include "evaluator.hpp"
#include "memory.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace herbrand {

class Prover {
public:
    static constexpr int MOST_WALKERS = 64;

    enum Verdict : int { OPEN = 0, PROVED = 1, DISPROVED = -1, STALLED = 2 };

    // A table of at most `bytes` bytes.  `symmetries` are permutations of the fluents, one after another, that preserve
    // legal moves of the same role, ends, goals and successors; the caller has proved that.  `certain` is said above.
    Prover(CircuitPtr circuit, i64 bytes, const std::vector<i32> &symmetries, int walkers, bool certain);

    const Circuit &circuit() const { return *circuit_; }

    // Sets a circuit over the same fluents, or none, whose `terminal` says in which states the side not to move would
    // decide the question if it were to move.  Such threats leave few replies, so states with one are searched first.
    void set_threats(CircuitPtr threats);

    // Makes a question the current one: whether `role` can force at least `goal` from a packed state.
    void ask(const u64 *state, int role, int goal);
    // Searches until the question is decided, `stop` is due or about `most` states were expanded.  STALLED: whatever is
    // left depends on repeated states, on several roles choosing at once, or on ends without a goal value.
    Verdict go_on(Stop &stop, i64 most);

    // What is known of `n` packed states for the current role and goal: terminal states are evaluated, others looked up.
    // `work` becomes the binary logarithm of the states expanded for the answer.
    void known(const u64 *states, i64 n, std::int8_t *verdicts, u8 *work, Stop *stop);

    i64 expanded() const { return expanded_; }   // states whose successors were generated
    i64 generated() const { return generated_; } // successors
    i64 entries() const { return entries_; }     // used entries of the table
    i64 capacity() const { return i64(BUCKET) << bits_; } // entries of the table, which grows
    // Whether some state could not be searched: several roles had a choice in it, or one had no legal move.
    bool simultaneous() const { return simultaneous_; }
    // The least and the greatest sum of goal values in the terminal states that were generated; -1 for one without values.
    std::pair<i64, i64> sums() const { return {least_sum_, greatest_sum_}; }
    i64 proof() const { return root_pn_; }
    i64 disproof() const { return root_dn_; }

private:
    // Numbers: 0 is decided, HARD cannot be decided on this path, NEVER is decided the other way.
    static constexpr u32 NEVER = (1u << 24) - 1, HARD = 1u << 22;
    static constexpr int BUCKET = 4, DEEPEST = 4000;
    static constexpr i64 MOST_REPLIES = 256; // joint moves of the others that are generated together
    static constexpr int FIRST_BITS = 14; // of the number of buckets at first; entries have eight more bits of their place

    struct Key {
        u64 place, tag;
        bool operator==(const Key &other) const { return place == other.place && tag == other.tag; }
    };
    struct Entry {
        u64 tag = 0, data = 0; // 24 bits proof number, 24 bits disproof number, 8 bits work, 8 bits place; 0 if unused
    };
    struct Numbers {
        u32 pn = 1, dn = 1;
        int work = 0;
    };
    enum Kind : u8 { MINE, THEIRS, UNCLEAR };

    struct Row {
        Key key;
        u32 pn, dn;
        i32 move; // into this state
        Kind kind;
        u8 open; // whether it is not terminal
        bool committed = false;
        bool threatened = false;
    };
    struct Frame {
        Key key;
        Kind kind;
        bool expanded = false;
        u32 tp = 0, td = 0;
        i64 parent = 0; // its own row
        i64 first = 0, count = 0;
        i64 child = -1;
        i64 since = 0; // states expanded before it
    };
    struct Walker {
        std::vector<Frame> frames;
        std::vector<u16> slots; // of the frames
        std::vector<Row> rows;
        std::vector<u64> states, legal;
        bool waits = false;
        i64 steps = 0;
    };

    // How a position goes on.
    struct Turn {
        Kind kind = UNCLEAR;
        int commits = -1; // the role that commits itself to a move; -1: successors are generated
        int mover = 0;    // a role with a choice
        i64 moves = 1;    // positions that follow
    };

    Key key_of(const u64 *state) const;
    Key hash_of(const u64 *state, int symmetry) const;
    u64 *bucket(const Key &key) const {
        return table_.data() + 2 * BUCKET * static_cast<i64>(key.place & ((u64(1) << bits_) - 1));
    }
    bool probe(const Key &key, Numbers &numbers) const;
    void store(const Key &key, u32 pn, u32 dn, i64 work);
    void grow();

    Turn turn_of(const u64 *legal) const;
    // The numbers of a state that is no good end and has no successors.
    std::pair<u32, u32> stuck() const { return certain_ ? std::pair{NEVER, 0u} : std::pair{HARD, HARD}; }
    void begin(int walker);
    void enter(Walker &walker, int number, const Frame &frame);
    void leave(Walker &walker, int number);
    bool run(int number);
    bool cut(int number);
    bool finish(int number, u32 pn, u32 dn);
    void trim(Walker &walker, i64 rows);
    void expand(const std::vector<int> &wanted);
    void commit(Walker &walker, int role);
    void add_joint_moves(const u64 *legal, const Turn &turn);
    void judge(int lanes, Row *const *rows);
    bool on_path(const Walker &walker, const Key &key, u16 slot) const;
    u64 others(const Key &key, int number) const { return active_[slot_of(key)] & ~(u64(1) << number); }
    static u16 slot_of(const Key &key) { return static_cast<u16>(key.tag); }
    Verdict verdict() const;

    mutable std::mutex lock_;
    CircuitPtr circuit_;
    Evaluator evaluator_;
    std::unique_ptr<Evaluator> threats_;
    int words_, legal_words_;
    int bits_ = 0, first_bits_ = 0, most_bits_ = 6; // the binary logarithm of the number of buckets, now, at first, at most
    mutable Zeros<u64> table_;
    int symmetries_ = 1;
    bool certain_;
    std::vector<Key> bytes_; // [symmetries, 8 * words, 256], the identity first
    std::vector<Key> move_words_; // [moves] of committing oneself
    std::vector<Walker> walkers_;
    std::vector<u64> active_; // [2^16] walkers that are at a state with this slot
    std::vector<u32> history_; // [moves] cutoffs that it caused

    // The question.
    bool asked_ = false;
    int role_ = 0, goal_ = 0;
    std::vector<int> good_, bad_, unclear_; // goals of the role: at least the value, less, no value
    Key question_{0, 0};
    Key root_key_{0, 0};
    std::vector<u64> root_, root_legal_;
    Row root_row_{};
    u32 root_pn_ = 1, root_dn_ = 1;
    i64 expanded_ = 0, generated_ = 0, entries_ = 0;
    bool simultaneous_ = false;
    i64 least_sum_ = std::numeric_limits<i64>::max(), greatest_sum_ = -1;

    // Scratch for `expand`.
    std::vector<u64> parents_, next_, next_legal_;
    std::vector<i64> from_;
    std::vector<i32> joints_; // [successors, roles] global numbers of moves
    std::vector<Row *> made_;
    std::vector<Walker *> owners_; // of the states whose successors are generated
    std::vector<i16> values_;
};

} // namespace herbrand

// Evaluates many given states of a game: legal moves, terminal states, goals, successors, random playouts.
#pragma once

#include "choice.hpp"
#include "evaluator.hpp"

#include <mutex>

namespace herbrand {

// Random games to play, and their output arrays.
struct Games {
    const u64 *states = nullptr;  // packed
    const i64 *parents = nullptr; // [count] the state in which each game begins; may be null:
    i64 each = 1;                 // then games i * each to i * each + each - 1 begin in state i
    i64 count = 0;
    i64 max_steps = 0;
    i16 *values = nullptr;     // [count, roles] output: goals, NO_VALUE, SEVERAL_VALUES or STUCK
    i64 *lengths = nullptr;    // [count] output: the number of steps; -1 - steps for truncated games
    i64 watched = -1;          // a game whose moves are recorded, -1 for none
    std::vector<i32> *record = nullptr; // output: the moves of that game, those of all roles for each step
    u64 *played = nullptr;     // [moves, WORDS] output, for at most LANES games: sets the games in which each move was made
    u64 *last = nullptr;       // [count, words] output: the packed last states

    i64 parent(i64 game) const { return parents ? parents[game] : each == 1 ? game : game / each; }
};

// Plays random games in the lanes of an evaluator.
class Playing {
public:
    explicit Playing(Evaluator &evaluator);

    // Returns whether all games were played; if not, the outputs are undefined.  `generator` is 4 rows, advanced.
    bool play(const Games &games, u64 *generator, Stop &stop);

private:
    void begin_more(const Games &games);
    void read_out(const Games &games);
    void end(const Games &games, const u64 *lanes, bool is_late);
    void note_played(const Games &games);
    void advance();
    void move_together();
    void note_played_apart(const Games &games);

    Evaluator &evaluator_;
    const Circuit &circuit_;
    Chooser chooser_;
    // Fluents that can change, and their next values; those that would be overwritten before they are read are copied
    // to `buffer_` first.
    std::vector<u64 *> changing_;
    std::vector<const u64 *> following_, early_;
    RowBuffer buffer_;
    std::vector<u64> states_; // packed states of all lanes
    int lanes_ = LANES;       // lanes in use: half of them once the others have no games left
    std::vector<u64> played_; // [moves, WORDS] as in `Games`, by lane, of the current game
    alignas(64) u64 playing_[WORDS], done_[WORDS], stuck_[WORDS];
    i64 game_[LANES];  // the game in each lane
    i64 start_[LANES]; // the step in which it began
    i64 step_ = 0, begun_ = 0;
    int watched_lane_ = -1;
};

// Evaluates many states of one game.  Thread-safe.
class Expander {
public:
    explicit Expander(CircuitPtr circuit) : circuit_(std::move(circuit)) {}

    const Circuit &circuit() const { return *circuit_; }

    // All take `n` packed states; if `parents` is not null, row i refers to state parents[i].  Indices and moves must be
    // valid (not checked).  They throw the exceptions of Python's signal handlers, and `Stopped` when `stop`, which may
    // be null, is due.
    void legal(const u64 *states, i64 n, bool *over, u64 *bits, Stop *stop = nullptr);
    void goals(const u64 *states, i64 n, i16 *values, Stop *stop = nullptr);
    // Compute the successors of joint moves [n, roles], counted within their roles, -1 for none.  `seen` may be null.
    void step(const u64 *states, const i64 *parents, i64 n, const i32 *moves, u64 *after, u64 *seen,
              Stop *stop = nullptr);
    bool play(const Games &games, u64 *generator, Stop &stop);

private:
    struct Worker {
        explicit Worker(const CircuitPtr &circuit) : evaluator(circuit) {}
        Evaluator evaluator;
        std::unique_ptr<Playing> playing;
    };
    // A worker for one call.  It is reused unless an exception ended the call, which may leave moves set.
    class Lease {
    public:
        explicit Lease(Expander &owner);
        ~Lease();
        Worker *operator->() { return worker_.get(); }
        void is_clean() { is_clean_ = true; }

    private:
        Expander &owner_;
        std::unique_ptr<Worker> worker_;
        bool is_clean_ = false;
    };

    CircuitPtr circuit_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Worker>> idle_;
};

// Count the joint moves of states: 0 for terminal states, at most 2**62.  `bits` are packed sets of legal moves of
// `columns` words each; role r has the words from places[r] to places[r + 1].
void count_joints(const bool *over, const u64 *bits, i64 n, i64 columns, const std::vector<i64> &places, i64 *counts,
                  Stop *stop = nullptr);

// List the joint moves numbered `begin` to `begin + size` of `n` states in order, that of the last role changing fastest.
// `starts` [n + 1] are the prefix sums of the numbers of joint moves.  Throws std::invalid_argument if they do not match.
void enumerate_joints(const Circuit &circuit, const u64 *bits, const i64 *starts, i64 n, i64 begin, i64 size,
                      i64 *parents, i32 *moves, Stop *stop = nullptr);

} // namespace herbrand

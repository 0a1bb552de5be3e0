// Many given states of a game at once: legal moves, ends, goals, successors, random games.
#pragma once

#include "choice.hpp"
#include "evaluator.hpp"

#include <mutex>

namespace herbrand {

// Random games to play, and where to put what comes of them.
struct Games {
    const u64 *states = nullptr;  // packed
    const i64 *parents = nullptr; // [count] the state in which each game begins; may be null:
    i64 each = 1;                 // else so many games begin in each state, one after the other
    i64 count = 0;
    i64 max_steps = 0;
    i16 *values = nullptr;     // [count, roles] becomes goals, NO_VALUE, SEVERAL_VALUES or STUCK
    i64 *lengths = nullptr;    // [count] becomes the number of steps; -1 - steps of games that were cut off
    i64 watched = -1;          // a game of which the moves are kept, -1 for none
    std::vector<i32> *record = nullptr; // becomes the moves of that game, for each step those of all roles
    u64 *played = nullptr;     // [moves, WORDS], of at most LANES games: those in which a move was made are added
    u64 *last = nullptr;       // [count, words] becomes the packed last states

    i64 parent(i64 game) const { return parents ? parents[game] : each == 1 ? game : game / each; }
};

// Plays random games in the lanes of an evaluator.
class Playing {
public:
    explicit Playing(Evaluator &evaluator);

    // Returns whether all games were played; else what was put down means nothing.  `generator` is 4 rows.
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
    // fluents that can change, and what they become; those that another fluent would overwrite first are read
    // from `buffer_`
    std::vector<u64 *> changing_;
    std::vector<const u64 *> following_, early_;
    RowBuffer buffer_;
    std::vector<u64> states_; // packed states of all lanes
    int lanes_ = LANES;       // the first so many have games: half of them when the others have none any more
    std::vector<u64> played_; // [moves, WORDS] as in `Games`, since then, by lane
    alignas(64) u64 playing_[WORDS], done_[WORDS], stuck_[WORDS];
    i64 game_[LANES];  // the game in each lane
    i64 start_[LANES]; // the step in which it began
    i64 step_ = 0, begun_ = 0;
    int watched_lane_ = -1;
};

// Answers about many states of one game.  Any number of threads can ask at the same time.
class Expander {
public:
    explicit Expander(CircuitPtr circuit) : circuit_(std::move(circuit)) {}

    const Circuit &circuit() const { return *circuit_; }

    // All take `n` packed states; where `parents` is given, row i is about state parents[i].  Indices and moves
    // must be valid.  They throw what a signal handler of Python raises, and `Stopped` when `stop`, which may be null,
    // says so.
    void legal(const u64 *states, i64 n, bool *over, u64 *bits, Stop *stop = nullptr);
    void goals(const u64 *states, i64 n, i16 *values, Stop *stop = nullptr);
    // Makes joint moves [n, roles], counted within their roles, -1 for none.  `seen` may be null.
    void step(const u64 *states, const i64 *parents, i64 n, const i32 *moves, u64 *after, u64 *seen,
              Stop *stop = nullptr);
    bool play(const Games &games, u64 *generator, Stop &stop);

private:
    struct Worker {
        explicit Worker(const CircuitPtr &circuit) : evaluator(circuit) {}
        Evaluator evaluator;
        std::unique_ptr<Playing> playing;
    };
    // A worker for one call.  It goes back unless the call was broken off, which may leave moves set.
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

// How many joint moves states have: none where they are over, 2**62 where the number does not fit.  `bits` are
// packed sets of legal moves, `columns` words each; role r has the words from places[r] to places[r + 1].
void count_joints(const bool *over, const u64 *bits, i64 n, i64 columns, const std::vector<i64> &places, i64 *counts,
                  Stop *stop = nullptr);

// List joint moves number `begin` to `begin + size` of `n` states in order, the last role's changing fastest.
// `starts` [n + 1] are sums of the numbers of joint moves.  Throws std::invalid_argument where they do not fit.
void enumerate_joints(const Circuit &circuit, const u64 *bits, const i64 *starts, i64 n, i64 begin, i64 size,
                      i64 *parents, i32 *moves, Stop *stop = nullptr);

} // namespace herbrand

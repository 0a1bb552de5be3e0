// Heuristic values of states: a sum over conditions of the rules, mobility and the present goal value.
#pragma once

#include "evaluator.hpp"

namespace herbrand {

// A value is the goal of a role times this, from 0 to 100 * SCALE.
inline constexpr i64 SCALE = 1000;
// Heuristic values are between these, so that none looks like the end of a game.
inline constexpr i64 LOWEST = SCALE / 2;
inline constexpr i64 HIGHEST = 100 * SCALE - LOWEST;

struct Judge {
    std::vector<i32> literals;    // [features] fluents or gates that are known once the legal moves are
    std::vector<i32> table;       // [8 * feature words, 256] what each byte of the features counts
    std::vector<double> mobility; // [roles] what each legal move of a role counts
    double progress = 0;          // what a point of the goal counts in a state that is not the last,
    double no_goal = 0;           // and what having none counts
    double bias = 50.0 * SCALE;
};

// A circuit with one more role, whose moves have these literals as `legal` and do nothing: so an evaluator computes
// them together with the legal moves.  The literals are of fluents, or of gates for the legal moves; others throw
// std::invalid_argument.  Without literals this is the circuit itself.
CircuitPtr with_features(const CircuitPtr &circuit, const std::vector<i32> &literals);

// An evaluator that also says what the states in its lanes are worth to a role.  It belongs to one thread.
class Valuer {
public:
    // Throws std::invalid_argument where the judge does not fit the circuit.
    Valuer(CircuitPtr circuit, int role, Judge judge);

    const Circuit &circuit() const { return *circuit_; } // without features
    Evaluator &evaluator() { return evaluator_; }
    int role() const { return role_; }

    // Looks at the states in lanes 0 .. count - 1, which were loaded or taken: what is legal, whether the game is
    // over, and the value, which is the goal times SCALE where it is, 50 * SCALE if that is not one number.  Packed
    // legal moves go to legal[lane * circuit().legal_words() ...] unless it is null.
    void look(int count, u64 *legal, u8 *over, i64 *values);

    // values[i] becomes what packed state i is worth.  Throws `Stopped` when `stop`, which may be null, says so.
    void values(const u64 *states, i64 n, i64 *values, Stop *stop);
    // The packed literals of the judge: bits[i * feature_words() ...] of state i.
    void features(const u64 *states, i64 n, u64 *bits, Stop *stop);
    int feature_words() const { return (static_cast<int>(judge_.literals.size()) + 63) / 64; }

private:
    void pack_features(u64 *out, int count);
    i64 judged(const u64 *features, const u64 *legal, i64 goal) const;

    CircuitPtr circuit_;
    int role_;
    Judge judge_;
    Evaluator evaluator_;
    std::vector<int> mine_; // goals of the role
    bool counts_moves_ = false, has_progress_ = false;
    std::vector<u64> features_, legal_;
    std::vector<i64> goals_;
    std::vector<u8> over_;
    std::vector<const u64 *> rows_;
};

} // namespace herbrand

// Heuristic values of states: a weighted sum of conditions of the rules, mobility and the current goal value.
#pragma once

#include "evaluator.hpp"

namespace herbrand {

// The unit of values: a value is a goal of a role times SCALE, from 0 to 100 * SCALE.
inline constexpr i64 SCALE = 1000;
// Heuristic values are clamped to this interval, so that they differ from the values of terminal states.
inline constexpr i64 LOWEST = SCALE / 2;
inline constexpr i64 HIGHEST = 100 * SCALE - LOWEST;

struct Judge {
    std::vector<i32> literals;    // [features] fluents, or gates in the first cone
    std::vector<i32> table;       // [8 * feature words, 256] the contribution of each value of each byte of features
    std::vector<double> mobility; // [roles] weight of the number of legal moves of each role
    double progress = 0;          // weight of a goal point in a state that is not terminal
    double no_goal = 0;           // contribution of having no goal value
    double bias = 50.0 * SCALE;
};

// A circuit with an additional role, whose moves have these literals as `legal` and no effect, so that an evaluator
// computes them together with the legal moves.  Literals other than those of fluents and of gates in the first cone throw
// std::invalid_argument.  Returns the circuit itself if there are no literals, and shares what it returned for the same
// literals as long as that is in use: compiling it may take seconds.
CircuitPtr with_features(const CircuitPtr &circuit, const std::vector<i32> &literals);

// An evaluator with heuristic values for a role.  It belongs to one thread.
class Valuer {
public:
    // Throws std::invalid_argument if the judge does not match the circuit.
    Valuer(CircuitPtr circuit, int role, Judge judge);

    const Circuit &circuit() const { return *circuit_; } // the original, without features
    Evaluator &evaluator() { return evaluator_; }
    int role() const { return role_; }

    // Evaluates the current states of lanes 0 .. count - 1: legal moves, whether the game is over, and the value.  That of a
    // terminal state is the goal times SCALE, or 50 * SCALE if the goal is not one number.  Packed legal moves go to
    // legal[lane * circuit().legal_words() ...] unless it is null.
    void look(int count, u64 *legal, u8 *over, i64 *values);

    // values[i] becomes the value of packed state i.  Throws `Stopped` when `stop`, which may be null, is due.
    void values(const u64 *states, i64 n, i64 *values, Stop *stop);
    // The packed values of the judge's literals in state i go to bits[i * feature_words() ...].
    void features(const u64 *states, i64 n, u64 *bits, Stop *stop);
    int feature_words() const { return (static_cast<int>(judge_.literals.size()) + 63) / 64; }

private:
    void pack_features(u64 *out, int count);
    void add_up(int count);
    i64 judged(i64 sum, const u64 *legal, i64 goal) const;

    CircuitPtr circuit_;
    int role_;
    Judge judge_;
    Evaluator evaluator_;
    std::vector<int> mine_; // goals of the role
    bool counts_moves_ = false, has_progress_ = false;
    std::vector<u64> word_, legal_; // a word of the features of each lane; legal moves
    std::vector<i64> sums_, goals_; // of each lane: what its features count; its goal
    std::vector<u8> over_;
    std::vector<const u64 *> rows_;
};

} // namespace herbrand

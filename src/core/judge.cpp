#include "judge.hpp"

#include <algorithm>

namespace herbrand {

namespace {

CircuitPtr extend(const Circuit &c, const std::vector<i32> &literals) {
    const int first_gate = c.inputs(), known = first_gate + c.cones[0];
    for (const i32 literal : literals) {
        const i32 node = literal >> 1;
        const bool fits = literal >= 0 && (node <= c.fluents || (node >= first_gate && node < known));
        if (!fits) throw std::invalid_argument("a feature that is not known once the legal moves are");
    }
    const i32 more = static_cast<i32>(literals.size()), border = c.first_feedback();
    auto made = std::make_shared<Circuit>(c);
    Circuit &with = *made;
    // The added moves follow the others, so feedback and gates get higher numbers.
    const auto moved = [&](i32 literal) { return (literal >> 1) >= border ? literal + 2 * more : literal; };
    for (auto *list : {&with.left, &with.right, &with.feedback, &with.legal, &with.next, &with.goal, &with.sees})
        for (i32 &literal : *list) literal = moved(literal);
    with.terminal = moved(with.terminal);
    for (const i32 literal : literals) with.legal.push_back(moved(literal));
    with.moves += more;
    with.roles += 1;
    with.bounds.push_back(with.moves);
    with.places.push_back(with.places.back() + (more + 63) / 64);
    with.validate();
    return made;
}

} // namespace

CircuitPtr with_features(const CircuitPtr &circuit, const std::vector<i32> &literals) {
    if (literals.empty()) return circuit;
    return circuit->extended(literals, [&] { return extend(*circuit, literals); });
}

Valuer::Valuer(CircuitPtr circuit, int role, Judge judge)
    : circuit_(std::move(circuit)), role_(role), judge_(std::move(judge)),
      evaluator_(with_features(circuit_, judge_.literals)) {
    const Circuit &c = *circuit_;
    if (role < 0 || role >= c.roles) throw std::invalid_argument("a number of no role");
    if (judge_.mobility.size() != std::size_t(c.roles))
        throw std::invalid_argument("mobility has not one number for each role");
    if (!judge_.table.empty() && judge_.table.size() != std::size_t(8) * feature_words() * 256)
        throw std::invalid_argument("the table of a judge does not fit its features");
    for (int k = 0; k < c.goals(); ++k)
        if (c.goal_role[k] == role) mine_.push_back(k);
    for (const double each : judge_.mobility) counts_moves_ |= each != 0.0;
    has_progress_ = judge_.progress != 0.0 || judge_.no_goal != 0.0;
    word_.resize(LANES);
    sums_.resize(LANES);
    if (counts_moves_) legal_.resize(std::size_t(LANES) * c.legal_words());
    goals_.resize(LANES);
    over_.resize(LANES);
}

void Valuer::pack_features(u64 *out, int count) {
    const int n = static_cast<int>(judge_.literals.size());
    rows_.resize(n);
    for (int k = 0; k < n; ++k) rows_[k] = evaluator_.legal(circuit_->moves + k);
    pack_rows(rows_.data(), n, out, feature_words(), count);
}

// One word of features of all lanes at a time: its eight tables stay in the nearest cache, those of all words may not.
void Valuer::add_up(int count) {
    const int n = static_cast<int>(judge_.literals.size());
    rows_.resize(n);
    for (int k = 0; k < n; ++k) rows_[k] = evaluator_.legal(circuit_->moves + k);
    std::fill_n(sums_.begin(), count, i64(0));
    const i32 *table = judge_.table.data();
    for (int k = 0; k < n; k += 64, table += 8 * 256) {
        pack_rows(rows_.data() + k, std::min(64, n - k), word_.data(), 1, count);
        for (int i = 0; i < count; ++i) {
            const u64 word = word_[i];
            const i32 *const half = table + 4 * 256;
            const i64 low = i64(table[word & 255]) + table[256 + (word >> 8 & 255)] + table[512 + (word >> 16 & 255)] +
                            table[768 + (word >> 24 & 255)];
            const i64 high = i64(half[word >> 32 & 255]) + half[256 + (word >> 40 & 255)] +
                             half[512 + (word >> 48 & 255)] + half[768 + (word >> 56)];
            sums_[i] += low + high;
        }
    }
}

i64 Valuer::judged(i64 sum, const u64 *legal, i64 goal) const {
    double total = judge_.bias + static_cast<double>(sum);
    if (counts_moves_)
        for (int r = 0; r < circuit_->roles; ++r) {
            if (judge_.mobility[r] == 0.0) continue;
            int count = 0;
            for (int j = circuit_->places[r]; j < circuit_->places[r + 1]; ++j) count += popcount(legal[j]);
            total += judge_.mobility[r] * count;
        }
    if (has_progress_) total += goal < 0 ? judge_.no_goal : judge_.progress * static_cast<double>(goal);
    // Compare before the conversion: NaN and numbers out of the range of i64 must not be converted.
    if (!(total > static_cast<double>(LOWEST))) return LOWEST;
    if (total > static_cast<double>(HIGHEST)) return HIGHEST;
    return static_cast<i64>(total);
}

void Valuer::look(int count, u64 *legal, u8 *over, i64 *values) {
    const Circuit &c = *circuit_;
    evaluator_.run_legal(count);
    if (!legal && counts_moves_) legal = legal_.data();
    if (legal) {
        for (int r = 0; r < c.roles; ++r) {
            const int first = c.bounds[r], n = c.bounds[r + 1] - first;
            rows_.resize(n);
            for (int k = 0; k < n; ++k) rows_[k] = evaluator_.legal(first + k);
            pack_rows(rows_.data(), n, legal + c.places[r], c.legal_words(), count);
        }
    }
    if (!judge_.table.empty()) add_up(count);
    bool any = has_progress_;
    const u64 *terminal = evaluator_.terminal();
    for (int i = 0; i < count; ++i) {
        over[i] = Evaluator::bit(terminal, i);
        any |= over[i] != 0;
    }
    if (any) {
        // -1: none yet, -2: several values, or one that is no number
        evaluator_.run_goals(count);
        std::fill(goals_.begin(), goals_.begin() + count, -1);
        for (const int k : mine_) {
            const u64 *row = evaluator_.goal(k);
            for (int w = 0; 64 * w < count; ++w)
                for (u64 lanes = row[w]; lanes; lanes &= lanes - 1) {
                    const int lane = 64 * w + lowest_bit(lanes);
                    if (lane >= count) break;
                    goals_[lane] = goals_[lane] == -1 && c.goal_value[k] >= 0 ? c.goal_value[k] : -2;
                }
        }
    }
    for (int i = 0; i < count; ++i) {
        const i64 goal = any ? goals_[i] : -1;
        if (over[i])
            values[i] = SCALE * (goal >= 0 ? goal : 50);
        else
            values[i] = judged(sums_[i], legal ? legal + i64(i) * c.legal_words() : nullptr, goal);
    }
}

void Valuer::values(const u64 *states, i64 n, i64 *values, Stop *stop) {
    Patience patience(stop);
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const i64 end = std::min<i64>(begin + LANES, n);
        evaluator_.load(states, circuit_->state_words(), nullptr, begin, end);
        look(static_cast<int>(end - begin), nullptr, over_.data(), values + begin);
    }
}

void Valuer::features(const u64 *states, i64 n, u64 *bits, Stop *stop) {
    Patience patience(stop);
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const i64 end = std::min<i64>(begin + LANES, n);
        evaluator_.load(states, circuit_->state_words(), nullptr, begin, end);
        evaluator_.run_legal(static_cast<int>(end - begin));
        pack_features(bits + begin * feature_words(), static_cast<int>(end - begin));
    }
}

} // namespace herbrand

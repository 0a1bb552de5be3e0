#include "minimax.hpp"

#include "explore.hpp"

#include <algorithm>
#include <thread>

namespace herbrand {

// -- the transposition table ----------------------------------------------------------------------------------

namespace {

// Relaxed access to words that other threads may write at the same time (std::atomic_ref is missing in libc++ before 19).
u64 peek(const u64 &word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
void poke(u64 &word, u64 value) { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }

} // namespace

TranspositionTable::TranspositionTable(i64 bytes) {
    std::size_t entries = std::size_t(1) << 10;
    while (i64(entries) <= bytes / (2 * 16)) entries *= 2;
    words_ = Zeros<u64>(static_cast<i64>(2 * entries));
    mask_ = entries - 2; // clears the lowest bit: the first entry of a bucket
}

// The data of an entry, from the lowest bit: 1 bit that is set in used entries, 2 for the bound, 1 for proved, 9 for the
// depth, 20 for the value, 30 for the move plus 1.
TranspositionTable::Entry TranspositionTable::probe(u64 key) const {
    u64 *bucket = words_.data() + 2 * place(key);
    for (int k = 0; k < 4; k += 2) {
        const u64 data = peek(bucket[k + 1]);
        if (data && (peek(bucket[k]) ^ data) == key)
            return {true, i64(data >> 13 & 0xFFFFF), int(data >> 4 & 511), int(data >> 1 & 3), bool(data >> 3 & 1),
                    i64(data >> 33 & 0x3FFFFFFF) - 1};
    }
    return {};
}

void TranspositionTable::store(u64 key, i64 value, int depth, int bound, bool proved, i64 move) {
    const u64 data = u64(1) | u64(bound) << 1 | u64(proved) << 3 | u64(depth) << 4 | u64(value) << 13 | u64(move + 1) << 33;
    u64 *entry = words_.data() + 2 * place(key);
    const u64 old = peek(entry[1]);
    if (old && (peek(entry[0]) ^ old) != key && int(old >> 4 & 511) > depth) entry += 2;
    poke(entry[1], data);
    poke(entry[0], key ^ data);
}

// Locks a search; `go_on` sees `waiting_` between two states and releases the lock.
class AlphaBeta::Turn {
public:
    explicit Turn(const AlphaBeta &search) : search_(search) {
        ++search_.waiting_;
        search_.turn_.lock();
        --search_.waiting_;
    }
    ~Turn() { search_.turn_.unlock(); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

private:
    const AlphaBeta &search_;
};

// -- rows -----------------------------------------------------------------------------------------------------

namespace {

// A value other than that of a draw moves towards it by the plies from the root (sign -1), so that quicker wins and later
// losses are better.  In the table values are relative to their state (sign 1), since it is reached at various plies.
i64 moved(i64 value, int ply, int sign) {
    if (value > 50 * SCALE) return value + sign * ply;
    if (value < 50 * SCALE) return value - sign * ply;
    return value;
}

} // namespace

AlphaBeta::AlphaBeta(CircuitPtr circuit, int role, Judge judge, std::shared_ptr<TranspositionTable> table, bool exact,
                     bool novelty)
    : valuer_(std::move(circuit), role, std::move(judge)), table_(std::move(table)), exact_(exact),
      words_(valuer_.circuit().state_words()), legal_words_(valuer_.circuit().legal_words()),
      rows_(std::max<i64>(ROWS, i64(4) * valuer_.circuit().moves)), states_(rows_ * words_),
      legal_(rows_ * legal_words_), keys_(rows_), moves_(rows_), overs_(rows_), values_(rows_), orders_(rows_),
      first_of_(rows_), count_of_(rows_), parents_(rows_), whole_(rows_), frames_(DEEPEST), history_(valuer_.circuit().moves, 0), seen_(novelty ? words_ : 0, 0) {
    if (!table_) throw std::invalid_argument("a search needs a table");
    if (valuer_.circuit().moves >= 1 << 29) throw std::invalid_argument("too many moves");
}

// The role that has a choice in a row, 0 if none has; AT_ONCE if several have, STUCK if one has no legal move.
int AlphaBeta::mover(i64 row) const {
    const Circuit &c = circuit();
    const u64 *mine = legal(row);
    int mover = -1;
    for (int r = 0; r < c.roles; ++r) {
        bool some = false, several = false; // legal moves, by bits that are set in the role's words
        for (int j = c.places[r]; j < c.places[r + 1]; ++j) {
            several |= (some && mine[j]) || (mine[j] & (mine[j] - 1));
            some |= mine[j] != 0;
        }
        if (!some) return STUCK;
        if (several) {
            if (mover >= 0) return AT_ONCE;
            mover = r;
        }
    }
    return std::max(mover, 0);
}

// The priority of a successor: the move in the table first, then by static value, history heuristic and novelty.
i64 AlphaBeta::order(i64 row, bool highest, i64 value, i64 hint) const {
    if (moves_[row] == hint) return FIRST;
    i64 order = highest ? value : 100 * SCALE - value;
    order += history_[moves_[row]];
    for (std::size_t j = 0; j < seen_.size(); ++j) order += NOVEL * popcount(state(row)[j] & ~seen_[j]);
    return order;
}

// Whether the successors of a row were generated and not overwritten; without `leaves`, with their legal moves.
bool AlphaBeta::has_successors(i64 row, bool leaves) const {
    const i64 first = first_of_[row];
    return first > 0 && first < used_ && parents_[first] == row + 1 && (leaves || whole_[row]);
}

// Adds a row to those whose successors are generated in the next pass, unless they exist already or the table entry may
// make them unnecessary; returns false if they do not fit into the pass, or into half of the stack.
bool AlphaBeta::want(i64 row, int depth, bool leaves) {
    if (has_successors(row, leaves)) return true;
    const auto entry = table_->probe(keys_[row]);
    if (entry.known && (entry.proved || entry.depth >= depth)) return true;
    const int mover = this->mover(row);
    if (mover < 0) return true;
    const Circuit &c = circuit();
    i64 count = 0;
    for (int j = c.places[mover]; j < c.places[mover + 1]; ++j) count += popcount(legal(row)[j]);
    if (wanted_rows_ + count > LANES || 2 * (used_ + wanted_rows_ + count) > rows_) return false;
    wanted_.push_back({row, mover, count});
    wanted_rows_ += count;
    return true;
}

// The successor of a row that will probably be searched first; -1 if none will.
i64 AlphaBeta::promising(i64 row) const {
    const auto entry = table_->probe(keys_[row]);
    const i64 hint = entry.known ? entry.move : -1, first = first_of_[row];
    const bool highest = mover(row) == valuer_.role();
    i64 best = -1, highest_order = DONE;
    for (i64 k = first; k < first + count_of_[row]; ++k) {
        if (overs_[k]) {
            if (values_[k] == (highest ? 100 * SCALE : 0)) return -1; // the row is decided without a search
            continue;
        }
        const i64 order = this->order(k, highest, values_[k], hint);
        if (order > highest_order) {
            best = k;
            highest_order = order;
        }
    }
    return best;
}

// Fills `wanted_` with the row of a frame and rows whose successors will probably be needed: if the frame is not the first
// below its parent, its siblings; if it is, the best successors of its parent's siblings.  Returns the lowest frame below
// which they stay in use.
int AlphaBeta::gather(int top, bool leaves) {
    const Circuit &c = circuit();
    const i64 row = frames_[top].row;
    const int mover = this->mover(row);
    i64 count = 0;
    for (int j = c.places[mover]; j < c.places[mover + 1]; ++j) count += popcount(legal(row)[j]);
    wanted_.assign(1, {row, mover, count});
    wanted_rows_ = count;
    if (top == 0 || used_ + count > rows_) return top;
    const int depth = frames_[top].depth;
    const auto left = [&](const Frame &frame) { // the successors that are not searched yet, in order
        next_.clear();
        for (i64 k = frame.first; k < frame.first + frame.successors; ++k)
            if (orders_[k] != DONE) next_.push_back({-orders_[k], k});
        std::sort(next_.begin(), next_.end());
    };
    if (frames_[top - 1].tried > 0) {
        left(frames_[top - 1]);
        for (const auto &[order, sibling] : next_)
            if (!want(sibling, depth, leaves)) break;
        return top - 1;
    }
    if (top == 1 || frames_[top - 2].tried == 0) return top - 1;
    left(frames_[top - 2]);
    for (const auto &[order, other] : next_) {
        if (!has_successors(other, false)) continue;
        const i64 first = promising(other);
        if (first >= 0 && !want(first, depth, leaves)) break;
    }
    return top - 2;
}

// Sets or clears the only legal moves of the roles that have no choice, in all lanes of `made_from_`.
void AlphaBeta::set_others(u64 value) {
    const Circuit &c = circuit();
    const int lanes = static_cast<int>(made_from_.size());
    for (int begin = 0, end; begin < lanes; begin = end) {
        const i64 from = made_from_[begin];
        for (end = begin + 1; end < lanes && made_from_[end] == from;) ++end; // lanes of one parent are neighbours
        const int mover = this->mover(from);
        for (int r = 0; r < c.roles; ++r) {
            if (r == mover) continue;
            for (int j = c.places[r]; j < c.places[r + 1]; ++j) {
                const u64 word = legal(from)[j];
                if (!word) continue;
                u64 *row = valuer_.evaluator().move(c.bounds[r] + 64 * (j - c.places[r]) + lowest_bit(word));
                for (int w = begin >> 6; 64 * w < end; ++w) {
                    const u64 above = ~u64(0) << std::max(0, begin - 64 * w);
                    const u64 mine = end - 64 * w >= 64 ? above : above & ~(~u64(0) << (end - 64 * w));
                    row[w] = value ? row[w] | mine : row[w] & ~mine;
                }
                break;
            }
        }
    }
}

// Generates the successors of a frame's row and of other rows; returns false if the stack is full.  With `leaves` only
// their values are needed, so that their legal moves are not stored.
bool AlphaBeta::make_successors(int top, bool leaves) {
    const Circuit &c = circuit();
    Evaluator &e = valuer_.evaluator();
    const int longest = gather(top, leaves);
    const i64 first = used_, last = used_ + wanted_rows_;
    if (last > rows_) return false;
    std::vector<i64> &from = made_from_;
    i64 at = first;
    for (const Wanted &each : wanted_) {
        first_of_[each.row] = static_cast<i32>(at);
        count_of_[each.row] = static_cast<i32>(each.count);
        whole_[each.row] = !leaves;
        for (int j = c.places[each.mover]; j < c.places[each.mover + 1]; ++j)
            for (u64 word = legal(each.row)[j]; word; word &= word - 1) {
                moves_[at] = c.bounds[each.mover] + 64 * (j - c.places[each.mover]) + lowest_bit(word);
                first_of_[at] = 0;
                parents_[at++] = 0;
            }
        parents_[first_of_[each.row]] = static_cast<i32>(each.row + 1);
    }
    // In each lane the state of the parent with one of its moves.  After two passes (`legal` for derived values on which
    // `next` depends, `next`), `look` evaluates the new states.
    std::size_t which = 0;
    i64 left = wanted_[0].count;
    for (i64 begin = first; begin < last; begin += LANES) {
        const i64 end = std::min<i64>(begin + LANES, last);
        const int lanes = static_cast<int>(end - begin);
        from.clear();
        for (int k = 0; k < lanes; ++k, --left) {
            if (!left) left = wanted_[++which].count;
            from.push_back(wanted_[which].row);
        }
        e.load(states_.data(), words_, from.data(), 0, lanes);
        e.run_legal(lanes);
        set_others(1);
        for (int k = 0; k < lanes; ++k) e.set_move(k, moves_[begin + k]);
        e.run_next(lanes);
        set_others(0);
        for (int k = 0; k < lanes; ++k) e.move(moves_[begin + k])[k >> 6] = 0;
        e.store_next(state(begin), words_, lanes);
        e.take_next();
        valuer_.look(lanes, leaves ? nullptr : legal(begin), overs_.data() + begin, values_.data() + begin);
        value_unclear_ends(begin, lanes);
        for (i64 k = begin; k < end; ++k) {
            keys_[k] = state_hash(state(k), words_);
            if (!leaves) table_->prefetch(keys_[k]);
        }
    }
    used_ = last;
    for (int k = longest; k <= top; ++k) frames_[k].kept = used_; // they stay until this frame is closed
    return true;
}

// A terminal state in which the rules give the role no goal, or several, is worth nothing to it, as match managers count.
void AlphaBeta::value_unclear_ends(i64 begin, int lanes) {
    const Circuit &c = circuit();
    for (int lane = 0; lane < lanes; ++lane) {
        if (!overs_[begin + lane] || values_[begin + lane] != 50 * SCALE) continue;
        int clear = 0, unclear = 0;
        for (int k = 0; k < c.goals(); ++k)
            if (c.goal_role[k] == valuer_.role() && Evaluator::bit(valuer_.evaluator().goal(k), lane))
                ++(c.goal_value[k] >= 0 ? clear : unclear);
        if (clear != 1 || unclear) values_[begin + lane] = 0;
    }
}

void AlphaBeta::move_to(const u64 *root) {
    const Turn turn(*this);
    std::copy(root, root + words_, state(0));
    for (std::size_t j = 0; j < seen_.size(); ++j) seen_[j] |= root[j];
    root_.clear();
    simultaneous_ = false;
    nodes_ = 0;
    for (i64 &count : history_) count /= 8; // the history of the last move is a weak hint for this one
    for (Frame &frame : frames_) frame = Frame();
    top_ = 0;
    used_ = 1;
    result_ = 50 * SCALE;
    result_heuristic_ = true;
    valuer_.evaluator().load(root, words_, nullptr, 0, 1);
    valuer_.look(1, legal(0), overs_.data(), values_.data());
    keys_[0] = state_hash(root, words_);
}

// -- the search -----------------------------------------------------------------------------------------------

void AlphaBeta::begin(int depth) {
    const Turn turn(*this);
    top_ = 0;
    used_ = 1;
    for (RootMove &move : root_) move.value = -1;
    push(0, 0, -INFINITE, INFINITE, depth);
}

void AlphaBeta::push(int top, i64 row, i64 alpha, i64 beta, int depth) {
    Frame &frame = frames_[top];
    frame.row = row;
    frame.alpha = frame.alpha_first = alpha;
    frame.beta = frame.beta_first = beta;
    frame.depth = depth;
    frame.open = false;
}

// Opens a frame: probes the table, generates and orders successors, and looks up theirs (enhanced transposition
// cutoffs).  Returns a result if no search is needed.
AlphaBeta::Result AlphaBeta::enter(int top) {
    Frame &frame = frames_[top];
    const i64 row = frame.row;
    const int depth = frame.depth;
    i64 hint = -1;
    const auto entry = table_->probe(keys_[row]);
    if (entry.known) {
        hint = entry.move;
        if (top && (entry.proved || entry.depth >= depth)) {
            const i64 value = moved(entry.value, top, -1);
            if (entry.bound == EXACT || (entry.bound == LOWER && value >= frame.beta) ||
                (entry.bound == UPPER && value <= frame.alpha))
                return {true, value, !entry.proved};
        }
    }
    const int mover = this->mover(row);
    if (mover < 0 || top + 2 >= DEEPEST) {
        if (mover == AT_ONCE) simultaneous_ = true;
        return {true, values_[row], true};
    }
    const bool last = depth <= 1 && top > 0;
    if (!has_successors(row, last) && !make_successors(top, last)) return {true, values_[row], true};
    const i64 first = first_of_[row], count = count_of_[row];
    frame.kept = used_;
    nodes_.store(nodes() + 1, std::memory_order_relaxed);
    const bool highest = mover == valuer_.role();
    frame.first = first;
    frame.successors = count;
    frame.highest = highest;
    frame.tried = 0;
    frame.heuristic = frame.proves = false;
    frame.choice = moves_[first];
    frame.best = highest ? -INFINITE : INFINITE;
    frame.open = true;
    if (top == 0 && root_.size() != std::size_t(count)) {
        root_.assign(count, {});
        for (i64 k = 0; k < count; ++k) root_[k].move = moves_[first + k];
    }
    for (i64 k = first; k < first + count; ++k) {
        i64 value = values_[k];
        bool heuristic = false;
        if (overs_[k]) {
            value = moved(value, top + 1, -1);
        } else if (last) {
            heuristic = true;
        } else {
            // The table entry of a successor may cause a cutoff; a proved one suffices at any depth.
            const auto successor = table_->probe(keys_[k]);
            if (successor.known && top) {
                const i64 bound = moved(successor.value, top + 1, -1);
                if ((successor.depth >= depth - 1 || successor.proved) &&
                    ((highest && successor.bound != UPPER && bound >= frame.beta) ||
                     (!highest && successor.bound != LOWER && bound <= frame.alpha)))
                    return {true, bound, !successor.proved};
                if (successor.bound == EXACT) value = bound;
            }
            orders_[k] = order(k, highest, value, hint);
            continue;
        }
        orders_[k] = DONE;
        ++frame.tried;
        frame.heuristic |= heuristic;
        if (top == 0) {
            RootMove &move = root_[k - first];
            move.value = value;
            move.bound = EXACT;
            move.proved = true;
        }
        if (highest ? value > frame.best : value < frame.best) {
            frame.best = value;
            frame.choice = moves_[k];
            frame.proves = !heuristic;
        }
    }
    if (highest)
        frame.alpha = std::max(frame.alpha, frame.best);
    else
        frame.beta = std::min(frame.beta, frame.best);
    if (last || enough(top)) return close(top);
    return {};
}

// Whether no other successor can matter: a cutoff, or a proved win (or loss) in DEEPEST steps at most.
bool AlphaBeta::enough(int top) const {
    const Frame &frame = frames_[top];
    if (frame.highest) return frame.best >= frame.beta_first || (frame.proves && frame.best > 100 * SCALE - DEEPEST - 1);
    return frame.best <= frame.alpha_first || (frame.proves && frame.best < DEEPEST + 1);
}

// The result of a frame whose search is complete, which is also stored in the table.
AlphaBeta::Result AlphaBeta::close(int top) {
    const Frame &frame = frames_[top];
    bool heuristic = frame.heuristic;
    int bound = EXACT;
    if (frame.best <= frame.alpha_first)
        bound = UPPER;
    else if (frame.best >= frame.beta_first)
        bound = LOWER;
    // Heuristic values of other successors cannot change a proved cutoff.
    if (frame.proves && enough(top)) heuristic = false;
    table_->store(keys_[frame.row], moved(frame.best, top, 1), std::clamp(frame.depth, 0, 511), bound, !heuristic,
                  frame.choice);
    return {true, frame.best, heuristic};
}

// Takes the unsearched successor with the highest order; -1 if there is none.
i64 AlphaBeta::next_child(int top) {
    const Frame &frame = frames_[top];
    i64 chosen = -1, highest = DONE;
    for (i64 k = frame.first; k < frame.first + frame.successors; ++k)
        if (orders_[k] > highest) {
            chosen = k;
            highest = orders_[k];
        }
    if (chosen >= 0) orders_[chosen] = DONE;
    return chosen;
}

// Pushes a frame for a successor.  With `full`, or if it is the first, it has the whole window and depth; others are
// searched with a null window, late ones also with reduced depth (late move reductions).
void AlphaBeta::send(int top, i64 child, bool full) {
    Frame &frame = frames_[top];
    i64 alpha = frame.alpha, beta = frame.beta;
    int depth = frame.depth - (frame.successors == 1 ? 0 : 1); // a forced move extends the search
    frame.child = child;
    if (top == 0) sent_ = nodes();
    frame.reduced = 0;
    if (!full && frame.tried >= 1) {
        frame.reduced = 1;
        if (frame.highest)
            beta = alpha + 1;
        else
            alpha = beta - 1;
        if (depth >= 3 && frame.tried >= LATE && !exact_) {
            frame.reduced = 2;
            depth -= frame.tried < 4 * LATE ? 1 : 2;
        }
    }
    push(top + 1, child, alpha, beta, depth);
}

// The history heuristic: a cutoff counts more the deeper the search below it; all counts are halved before they dominate
// values.
void AlphaBeta::credit(i64 move, int depth) {
    history_[move] += i64(depth) * depth;
    if (history_[move] > 50 * SCALE)
        for (i64 &count : history_) count /= 2;
}

// The recursion of alpha-beta with an explicit stack of frames, so that it can be suspended between any two states.
bool AlphaBeta::go_on(Stop &stop, i64 most) {
    std::unique_lock lock(turn_);
    const i64 last = nodes() + std::min(most, i64(1) << 60);
    int top = top_;
    while (true) {
        top_ = top;
        if (nodes() >= last || stop.due()) return false;
        if (waiting_.load(std::memory_order_relaxed)) {
            lock.unlock();
            while (waiting_.load(std::memory_order_relaxed)) std::this_thread::yield();
            lock.lock();
            top = top_; // `move_to` or `begin` may have been called
        }
        Result result;
        if (!frames_[top].open) result = enter(top);
        if (!result.done) {
            const i64 child = next_child(top);
            if (child >= 0) {
                send(top++, child, false);
                continue;
            }
            result = close(top);
        }
        while (result.done) {
            if (top == 0) {
                top_ = 0;
                result_ = result.value;
                result_heuristic_ = result.heuristic;
                return true;
            }
            Frame &frame = frames_[--top];
            used_ = frame.kept; // pop the rows generated below it
            const i64 value = result.value, alpha = frame.alpha, beta = frame.beta;
            const i64 child = frame.child, move = moves_[child];
            RootMove *root_move = top == 0 ? &root_[child - frame.first] : nullptr;
            if (root_move) root_move->nodes += nodes() - sent_;
            const bool better = frame.highest ? value > alpha : value < beta;
            if (better && (frame.reduced == 2 || (frame.reduced && alpha < value && value < beta))) {
                // it failed high (or low) with a null window or reduced depth: search it again in full
                send(top++, child, true);
                break;
            }
            if (root_move) {
                root_move->value = value;
                root_move->bound = alpha < value && value < beta ? EXACT : value <= alpha ? UPPER : LOWER;
                root_move->proved = !result.heuristic;
            }
            ++frame.tried;
            frame.heuristic |= result.heuristic;
            if (frame.highest ? value > frame.best : value < frame.best) {
                frame.best = value;
                frame.choice = move;
                frame.proves = !result.heuristic;
            }
            if (frame.highest)
                frame.alpha = std::max(alpha, value);
            else
                frame.beta = std::min(beta, value);
            result.done = false;
            if (enough(top)) {
                credit(move, frame.depth);
                result = close(top);
            }
        }
    }
}

// -- results --------------------------------------------------------------------------------------------------

int AlphaBeta::chooser() const {
    const Turn turn(*this);
    return mover(0);
}

i64 AlphaBeta::root_value() const {
    const Turn turn(*this);
    return values_[0];
}

i64 AlphaBeta::choice() const {
    const Turn turn(*this);
    const Frame &frame = frames_[0];
    return frame.tried > 0 && frame.open && std::abs(frame.best) < INFINITE ? frame.choice : -1;
}

i64 AlphaBeta::value() const {
    const Turn turn(*this);
    return result_;
}

bool AlphaBeta::solved() const {
    const Turn turn(*this);
    return !result_heuristic_;
}

int AlphaBeta::depth() const {
    const Turn turn(*this);
    return frames_[0].depth;
}

std::vector<u64> AlphaBeta::seen() const {
    const Turn turn(*this);
    return seen_;
}

std::vector<AlphaBeta::RootMove> AlphaBeta::root() const {
    const Turn turn(*this);
    return root_;
}

i64 AlphaBeta::known_move(const u64 *state) const {
    const auto entry = table_->probe(state_hash(state, words_));
    return entry.known ? entry.move : -1;
}

} // namespace herbrand

#include "explore.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace herbrand {

namespace {

constexpr u64 LOW = 0xFFFFFFFFu;

} // namespace

// -- the set of states ----------------------------------------------------------------------------------------

void StateTable::grow(const u64 *states, i64 needed, Patience &patience) {
    i64 size = entries_.size();
    // Grows fast while the table is small, slowly when it is large, to save memory.
    while (5 * needed > 3 * size) size *= size < (i64(1) << 22) ? 8 : 2;
    if (size == entries_.size()) return;
    is_whole_ = false;
    entries_ = Zeros<u64>(); // free the old table before allocating the new one
    entries_ = Zeros<u64>(size);
    const u64 mask = static_cast<u64>(size) - 1;
    constexpr i64 AHEAD = 16;
    u64 hashes[AHEAD];
    for (i64 i = 0; i < count_ + AHEAD; ++i) {
        if (i >= AHEAD) {
            const u64 h = hashes[i % AHEAD];
            u64 place = h & mask;
            while (entries_[place]) place = (place + 1) & mask;
            entries_[place] = (h & ~LOW) | u64(i - AHEAD + 1);
        }
        if (i < count_) {
            const u64 h = hashes[i % AHEAD] = state_hash(states + i * words_, words_);
            __builtin_prefetch(entries_.data() + (h & mask), 1);
        }
        patience.turn(4 * words_);
    }
    is_whole_ = true;
}

void StateTable::insert(u64 *states, i32 *parents, const u64 *rows, i64 n, const i64 *origins, i64 first_origin,
                        i32 *numbers, i64 room, Stop *stop) {
    const std::lock_guard lock(mutex_);
    if (count_ + n > room) throw std::invalid_argument("there is no room for all rows");
    if (!is_whole_) throw std::invalid_argument("a table that was stopped while it grew");
    Patience patience(stop);
    constexpr i64 BLOCK = 64;
    u64 hashes[BLOCK];
    const std::size_t size = 8 * std::size_t(words_);
    for (i64 first = 0; first < n; first += BLOCK) {
        const i64 last = std::min(first + BLOCK, n);
        patience.turn(BLOCK * (4 + words_));
        grow(states, count_ + (last - first), patience);
        u64 *const entries = entries_.data();
        const u64 mask = static_cast<u64>(entries_.size()) - 1;
        // Independent lookups in batches, so that their cache misses overlap.
        for (i64 i = first; i < last; ++i) {
            const u64 h = hashes[i - first] = state_hash(rows + i * words_, words_);
            __builtin_prefetch(entries + (h & mask));
        }
        for (i64 i = first; i < last; ++i) {
            const u64 entry = entries[hashes[i - first] & mask];
            if (entry) __builtin_prefetch(states + (i64(entry & LOW) - 1) * words_);
        }
        for (i64 i = first; i < last; ++i) {
            const u64 h = hashes[i - first], tag = h & ~LOW;
            const u64 *row = rows + i * words_;
            for (u64 place = h & mask;; place = (place + 1) & mask) {
                const u64 entry = entries[place];
                if (!entry) {
                    std::memcpy(states + count_ * words_, row, size);
                    parents[count_] = static_cast<i32>(first_origin + origins[i]);
                    numbers[i] = static_cast<i32>(count_);
                    entries[place] = tag | u64(++count_);
                    break;
                }
                if ((entry & ~LOW) == tag) {
                    const i64 at = i64(entry & LOW) - 1;
                    if (!std::memcmp(states + at * words_, row, size)) {
                        numbers[i] = static_cast<i32>(at);
                        break;
                    }
                }
            }
        }
    }
}

constexpr i64 MOST_JOINTS = i64(1) << 62;

// -- the survey -----------------------------------------------------------------------------------------------

Survey::Survey(CircuitPtr made)
    : circuit(std::move(made)), branching(2 * circuit->roles, 0), choosers(circuit->roles + 1, 0),
      ever(circuit->state_words(), 0), always(circuit->state_words(), ~u64(0)), ever_legal(circuit->legal_words(), 0) {}

i64 Survey::add(i64 n, const u64 *states, const u8 *over, const u64 *legal, i32 *counts, i64 *starts, i64 *stuck,
                Stop *stop) {
    const std::lock_guard lock(mutex);
    Patience patience(stop);
    require(starts[0] >= 0 && starts[0] <= MOST_JOINTS, "a sum of joint moves is out of range");
    const Circuit &c = *circuit;
    const int words = c.state_words(), moves = c.legal_words();
    i64 stuck_count = 0;
    for (i64 i = 0; i < n; ++i, states += words, legal += moves, counts += c.roles) {
        patience.turn(words + moves);
        for (int j = 0; j < words; ++j) {
            ever[j] |= states[j];
            always[j] &= states[j];
        }
        i64 joints = over[i] ? 0 : 1;
        int choices = 0;
        for (int r = 0; r < c.roles; ++r) {
            i64 mine = 0;
            for (int j = c.places[r]; j < c.places[r + 1]; ++j) mine += popcount(legal[j]);
            counts[r] = static_cast<i32>(mine);
            joints = std::min(joints * mine, i64(1) << 40);
            if (over[i]) continue;
            branching[2 * r] += mine;
            if (mine > 1) {
                ++branching[2 * r + 1];
                ++choices;
            }
        }
        starts[i + 1] = std::min(starts[i] + joints, MOST_JOINTS);
        if (over[i]) continue;
        ++choosers[choices];
        for (int j = 0; j < moves; ++j) ever_legal[j] |= legal[j];
        if (!joints) stuck[stuck_count++] = i;
    }
    return stuck_count;
}

// -- counting on the graph ------------------------------------------------------------------------------------

void StateGraph::wrong(const char *what) { throw std::invalid_argument(std::string("no graph of states: ") + what); }

std::vector<i32> StateGraph::order(i32 *longest, Stop *stop) const {
    Patience patience(stop);
    std::vector<i32> waiting(states, 0), sequence;
    sequence.reserve(states);
    for (i64 i = 0; i < expanded; ++i) {
        const auto [first, last] = edges(i);
        patience.turn();
        for (i64 e = first; e < last; ++e, patience.turn()) ++waiting[child(e)];
    }
    for (i64 i = 0; i < states; ++i) {
        longest[i] = 0;
        if (!waiting[i]) sequence.push_back(static_cast<i32>(i));
    }
    for (std::size_t at = 0; at < sequence.size(); ++at) {
        const i32 i = sequence[at];
        const auto [first, last] = edges(i);
        patience.turn();
        for (i64 e = first; e < last; ++e, patience.turn()) {
            const i32 c = child(e);
            longest[c] = std::max(longest[c], longest[i] + 1);
            if (!--waiting[c]) sequence.push_back(c);
        }
    }
    return sequence;
}

std::optional<Numbers> StateGraph::count_plays(const i32 *sequence, i64 n, Stop *stop) const {
    Patience patience(stop);
    Numbers sums{std::vector<u64>(states), std::vector<u64>(states)};
    for (i64 k = n - 1; k >= 0; --k) {
        const i64 i = checked(sequence[k]);
        const auto [first, last] = edges(i);
        patience.turn();
        u64 a = first == last, b = 0;
        for (i64 e = first; e < last; ++e, patience.turn()) {
            const i32 c = child(e);
            a += sums.low[c];
            const u64 more = sums.high[c] + (a < sums.low[c]);
            b += more;
            if (b < more) return {};
        }
        sums.low[i] = a;
        sums.high[i] = b;
    }
    return sums;
}

std::optional<Numbers> StateGraph::spread(const u64 *low, const u64 *high, Stop *stop) const {
    Patience patience(stop);
    Numbers after{std::vector<u64>(states), std::vector<u64>(states)};
    for (i64 i = 0; i < expanded; ++i) {
        const u64 a = low[i], b = high[i];
        patience.turn();
        if (!a && !b) continue;
        const auto [first, last] = edges(i);
        for (i64 e = first; e < last; ++e, patience.turn()) {
            const i32 c = child(e);
            after.low[c] += a;
            const u64 more = b + (after.low[c] < a);
            after.high[c] += more;
            if (after.high[c] < more) return {};
        }
    }
    return after;
}

void StateGraph::random_values(const i32 *sequence, i64 n, double *values, int columns, Stop *stop) const {
    Patience patience(stop);
    for (i64 k = n - 1; k >= 0; --k) {
        const i64 i = checked(sequence[k]);
        const auto [first, last] = edges(i);
        patience.turn();
        if (first == last) continue;
        for (int c = 0; c < columns; ++c) {
            double total = 0;
            for (i64 e = first; e < last; ++e, patience.turn()) total += values[i64(child(e)) * columns + c];
            values[i * columns + c] = total / static_cast<double>(last - first);
        }
    }
}

// -- what can be forced ---------------------------------------------------------------------------------------

StateGraph::Layout StateGraph::layout(i64 i, int role) const {
    if (role < 0 || role >= roles) wrong("a number of no role");
    const auto [first, last] = edges(i);
    i64 stride = 1, total = 1;
    for (int q = roles - 1; q >= 0; --q) {
        const i64 mine = counts[i * roles + q];
        if (q == role) stride = total;
        if (mine < 1 || total > (last - first) / mine) wrong("edges that are no product of counts");
        total *= mine;
    }
    if (total != last - first) wrong("edges that are no product of counts");
    const i64 mine = counts[i * roles + role];
    return {first, mine, stride, total / (stride * mine)};
}

// The maximin move of a role, and its rank: the best worst case.  All ranks must be in [0, below).
std::pair<i32, i32> StateGraph::best(i64 i, int role, const i32 *rank, i32 below, Patience &patience) const {
    const auto [begin, end] = edges(i);
    if (begin == end) return {NEVER, NEVER};
    const Layout at = layout(i, role);
    i32 best = below, move = NEVER;
    for (i64 a = 0; a < at.mine; ++a) {
        i32 worst = 0;
        for (i64 o = 0; o < at.outer && worst < best; ++o) {
            const i64 first = at.first + (o * at.mine + a) * at.stride;
            for (i64 e = first; e < first + at.stride; ++e, patience.turn()) {
                const i32 r = rank[child(e)];
                if (r < 0 || r >= below) {
                    worst = below;
                    break;
                }
                worst = std::max(worst, r);
            }
        }
        if (worst < best) {
            best = worst;
            move = static_cast<i32>(a);
        }
    }
    if (move < 0) return {NEVER, NEVER};
    return {best, move};
}

void StateGraph::force(const u8 *target, int role, const i32 *sequence, i64 n, i32 *rank, i32 *move, Stop *stop) const {
    Patience patience(stop);
    if (role < 0 || role >= roles) wrong("a number of no role");
    for (i64 i = 0; i < states; ++i) {
        rank[i] = target[i] ? 0 : NEVER;
        move[i] = NEVER;
    }
    if (sequence) {
        for (i64 k = n - 1; k >= 0; --k) {
            patience.turn();
            const i64 i = checked(sequence[k]);
            if (target[i]) continue;
            const auto [worst, a] = best(i, role, rank, i32(1) << 30, patience);
            if (a >= 0) {
                rank[i] = worst + 1;
                move[i] = a;
            }
        }
        return;
    }
    std::vector<i64> waiting;
    for (i64 i = 0; i < expanded; ++i) {
        const auto [first, last] = edges(i);
        if (!target[i] && last > first) waiting.push_back(i);
    }
    for (i32 step = 1;; ++step) {
        std::size_t left = 0;
        for (const i64 i : waiting) {
            patience.turn();
            const i32 a = best(i, role, rank, step, patience).second;
            if (a >= 0) {
                rank[i] = step;
                move[i] = a;
            } else {
                waiting[left++] = i;
            }
        }
        if (left == waiting.size()) return;
        waiting.resize(left);
    }
}

i64 StateGraph::reply(i64 i, i64 a, int role, const i32 *rank) const {
    if (i < 0 || i >= expanded) wrong("a state that was not looked into");
    const Layout at = layout(i, role);
    if (a < 0 || a >= at.mine) wrong("a number of no move");
    for (i64 o = 0; o < at.outer; ++o) {
        const i64 first = at.first + (o * at.mine + a) * at.stride;
        for (i64 e = first; e < first + at.stride; ++e)
            if (rank[child(e)] < 0) return e;
    }
    return NEVER;
}

Lasso StateGraph::lasso(const i64 *depth, const i64 *candidates, i64 n, i64 work, Stop *stop) const {
    Patience patience(stop);
    Lasso result;
    work = std::max<i64>(work, 0);
    std::vector<i64> seen(states, -1);
    std::vector<i32> parent(states), queue(states);
    std::vector<u8> inside(states, 0);
    for (i64 k = 0; k < n; ++k) inside[checked(candidates[k])] = 1;
    i64 best = i64(1) << 40;
    for (i64 number = 0; number < n; ++number) {
        const i64 root = candidates[number];
        if (depth[root] >= best - 1) break;
        queue[0] = static_cast<i32>(root);
        i64 first = 0, last = 1, level_end = 1, steps = 0;
        bool is_found = false;
        while (first < last && !is_found) {
            patience.turn();
            if (first == level_end) {
                level_end = last;
                ++steps;
            }
            if (depth[root] + steps + 1 >= best) break;
            const i32 i = queue[first++];
            const auto [begin, end] = edges(i);
            for (i64 e = begin; e < end; ++e) {
                --work;
                patience.turn();
                const i32 c = child(e);
                if (c == root) {
                    best = depth[root] + steps + 1;
                    result.state = root;
                    result.path.clear();
                    for (i64 node = i; node != root; node = parent[node]) result.path.push_back(node);
                    result.path.push_back(root);
                    std::reverse(result.path.begin(), result.path.end());
                    is_found = true;
                    break;
                }
                if (inside[c] && seen[c] != number) {
                    seen[c] = number;
                    parent[c] = i;
                    queue[last++] = c;
                }
            }
            if (work < 0) return result;
        }
    }
    result.finished = true;
    return result;
}

// -- backward induction ---------------------------------------------------------------------------------------

i64 Induction::run(i64 begin, Stop *stop) {
    Patience patience(stop);
    constexpr i32 NEVER = StateGraph::NEVER;
    const int roles = graph.roles;
    std::vector<double> column(roles), chosen(roles);
    for (i64 k = begin - 1; k >= 0; --k) {
        patience.turn();
        const i64 i = graph.checked(sequence[k]);
        best[i] = NEVER;
        const auto [begins, ends] = graph.edges(i);
        const i64 total = ends - begins;
        if (over[i] || total == 0) continue;
        const i32 *counts = graph.counts + i * roles;
        int mine = role;
        if (role < 0)
            for (int r = 0; r < roles; ++r)
                if (r != chance && counts[r] > 1) mine = r;
        const StateGraph::Layout at = graph.layout(i, std::max(mine, 0));
        const i64 rows = mine < 0 ? 1 : counts[mine];
        const i64 draws = chance < 0 ? 1 : counts[chance];
        if (role < 0) {
            bool first = true, tie = false;
            const i64 stride = mine < 0 ? total : at.stride, outer = total / (stride * rows);
            for (i64 a = 0; a < rows; ++a) {
                std::fill(column.begin(), column.end(), 0.0);
                i32 steps = 0;
                for (i64 o = 0; o < outer; ++o) {
                    const i64 from = begins + (o * rows + a) * stride;
                    for (i64 e = from; e < from + stride; ++e, patience.turn()) {
                        const i64 c = graph.child(e);
                        for (int r = 0; r < roles; ++r) column[r] += values[c * roles + r];
                        steps = std::max(steps, length[c] + 1);
                    }
                }
                for (double &value : column) value /= static_cast<double>(draws);
                // without a chooser the last role's values are compared, of which there is one
                const int who = mine < 0 ? roles - 1 : mine;
                bool better = first || column[who] > chosen[who];
                if (better) {
                    tie = false;
                } else if (column[who] == chosen[who]) {
                    if (column != chosen)
                        tie = true;
                    else if (2 * chosen[who] >= top)
                        better = steps < length[i];
                    else
                        better = steps > length[i];
                }
                if (better) {
                    chosen = column;
                    best[i] = mine >= 0 ? static_cast<i32>(a) : NEVER;
                    length[i] = steps;
                    first = false;
                }
            }
            std::copy(chosen.begin(), chosen.end(), values + i * roles);
            ties += tie;
            continue;
        }
        const i64 columns = total / (rows * draws);
        payoffs.assign(rows * columns, 0.0);
        for (i64 e = 0; e < total; ++e, patience.turn()) {
            i64 rest = e, a = 0, o = 0, scale = 1;
            for (int q = roles - 1; q >= 0; --q) {
                const i64 digit = rest % counts[q];
                rest /= counts[q];
                if (q == role) {
                    a = digit;
                } else if (q != chance) {
                    o += digit * scale;
                    scale *= counts[q];
                }
            }
            payoffs[a * columns + o] += values[i64(graph.child(begins + e)) * roles + role] / static_cast<double>(draws);
        }
        constexpr double INFINITE = std::numeric_limits<double>::infinity();
        double low = -INFINITE, high = INFINITE;
        for (i64 a = 0; a < rows; ++a) {
            const double worst = *std::min_element(payoffs.begin() + a * columns, payoffs.begin() + (a + 1) * columns);
            if (worst > low) {
                low = worst;
                best[i] = static_cast<i32>(a);
            }
        }
        for (i64 o = 0; o < columns; ++o) {
            double most = -INFINITE;
            for (i64 a = 0; a < rows; ++a, patience.turn()) most = std::max(most, payoffs[a * columns + o]);
            high = std::min(high, most);
        }
        values[i * roles + role] = low;
        if (rows == 1) best[i] = NEVER;
        if (low < high) return k;
    }
    return -1;
}

// -- three values ---------------------------------------------------------------------------------------------

void evaluate_ternary(const Circuit &c, u8 *can, u8 *must, Stop *stop) {
    Patience patience(stop);
    const int first = c.inputs(), fed = c.first_feedback();
    const auto possible = [&](i32 literal) -> u8 { return literal & 1 ? !must[literal >> 1] : can[literal >> 1]; };
    const auto certain = [&](i32 literal) -> u8 { return literal & 1 ? !can[literal >> 1] : must[literal >> 1]; };
    const auto gates = [&](i32 begin, i32 end) {
        for (i32 g = begin; g < end; ++g, patience.turn()) {
            const i32 a = c.left[g], b = c.right[g];
            can[first + g] = possible(a) & possible(b);
            must[first + g] = certain(a) & certain(b);
        }
    };
    i32 at = 0;
    for (const Loop &loop : c.loops) {
        gates(at, loop.first);
        for (i32 f = loop.first_back; f < loop.last_back; ++f) can[fed + f] = must[fed + f] = 0;
        for (bool changed = true; changed;) {
            gates(loop.first, loop.last);
            changed = false;
            for (i32 f = loop.first_back; f < loop.last_back; ++f) {
                const u8 now = possible(c.feedback[f]), sure = certain(c.feedback[f]);
                if (now == can[fed + f] && sure == must[fed + f]) continue;
                can[fed + f] = now;
                must[fed + f] = sure;
                changed = true;
            }
        }
        at = loop.last;
    }
    gates(at, c.gates);
}

} // namespace herbrand

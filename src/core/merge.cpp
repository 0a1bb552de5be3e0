#include "merge.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace herbrand {

namespace {

constexpr i64 MOST_WORK = 40'000'000; // gates computed for samples
constexpr int MOST_STEPS = 256;
constexpr std::size_t MOST_IMPLIED = 24; // maximum number of recorded literals that a gate implies
constexpr std::size_t MOST_TURNS = 4;    // maximum number of fluents that identify the turn of a role
constexpr int OFTEN = 64;                // sampled states in which they have to be true

// -- random games, 64 at a time, in the plainest way ----------------------------------------

class Sample {
public:
    explicit Sample(const Circuit &circuit) : c(circuit), value_(circuit.nodes(), 0), alive(c.alternatives.size(), 1), most(c.roles, 0), exact_(alive) {
        const i64 gates = std::max<i64>(1, c.cones[1]);
        const int steps = static_cast<int>(std::clamp<i64>(MOST_WORK / gates, 16, MOST_STEPS));
        begin(~u64(0));
        for (int step = 0; step < steps; ++step) {
            look();
            for (int f = 0; f < c.fluents; ++f) states.push_back(value_[1 + f]);
            play();
        }
        // In groups that often have no true member, two may be true rarely.  Where that was seen in one group, it is likely
        // in others of the same form.
        i32 families = 0;
        for (const auto &group : c.alternatives) families = std::max(families, group.family + 1);
        std::vector<u8> broken(families, 0);
        for (std::size_t g = 0; g < alive.size(); ++g)
            if (!alive[g]) broken[c.alternatives[g].family] = 1;
        for (std::size_t g = 0; g < alive.size(); ++g)
            if (!exact_[g] && broken[c.alternatives[g].family]) alive[g] = 0;
    }

private:
    u64 of(i32 literal) const { return value_[literal >> 1] ^ (literal & 1 ? ~u64(0) : 0); }
    void begin(u64 lanes) {
        for (int f = 0; f < c.fluents; ++f) {
            u64 &word = value_[1 + f];
            word = c.initial[f / 64] >> (f % 64) & 1 ? word | lanes : word & ~lanes;
        }
    }
    // Drop groups of which two members were true in some sampled state.
    void look() {
        for (std::size_t g = 0; g < alive.size(); ++g) {
            if (!alive[g]) continue;
            u64 once = 0, twice = 0;
            for (const i32 f : c.alternatives[g].fluents) {
                twice |= once & value_[1 + f];
                once |= value_[1 + f];
            }
            if (twice) alive[g] = 0;
            if (~once) exact_[g] = 0;
        }
    }
    void gates(i32 begin, i32 end) {
        const i32 first = c.inputs();
        for (i32 g = begin; g < end; ++g) value_[first + g] = of(c.left[g]) & of(c.right[g]);
    }
    void cone(i32 begin, i32 end) {
        for (const Loop &loop : c.loops) {
            if (loop.first < begin || loop.first >= end) continue;
            gates(begin, loop.first);
            u64 *back = value_.data() + c.first_feedback();
            std::fill(back + loop.first_back, back + loop.last_back, 0);
            for (bool changed = true; changed;) {
                gates(loop.first, loop.last);
                changed = false;
                for (i32 f = loop.first_back; f < loop.last_back; ++f) {
                    const u64 now = of(c.feedback[f]);
                    changed |= now != back[f];
                    back[f] = now;
                }
            }
            begin = loop.last;
        }
        gates(begin, end);
    }
    void play() {
        cone(0, c.cones[0]);
        const u64 over = of(c.terminal);
        u64 again = over;
        for (int r = 0; r < c.roles; ++r) {
            i32 chosen[64], count[64] = {};
            u64 more = 0;
            for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m) {
                value_[c.first_move() + m] = 0;
                for (u64 lanes = of(c.legal[m]); lanes; lanes &= lanes - 1) {
                    const int lane = lowest_bit(lanes);
                    if (random_.below(++count[lane]) == 0) chosen[lane] = m;
                }
            }
            for (int lane = 0; lane < 64; ++lane) {
                most[r] = std::max(most[r], count[lane]);
                more |= u64(count[lane] > 1) << lane;
                if (count[lane]) value_[c.first_move() + chosen[lane]] |= u64(1) << lane;
                else again |= u64(1) << lane;
            }
            several.push_back(more & ~over);
        }
        cone(c.cones[0], c.cones[1]);
        after_.resize(c.fluents);
        for (int f = 0; f < c.fluents; ++f) after_[f] = of(c.next[f]);
        std::copy(after_.begin(), after_.end(), value_.begin() + 1);
        begin(again);
    }

    const Circuit &c;
    std::vector<u64> value_, after_;
    SplitMix random_{1};

public:
    std::vector<u8> alive;  // [alternatives] whether never two members were true
    std::vector<i32> most;  // [roles] legal moves at once
    std::vector<u64> states;  // [steps, fluents] 64 states of each step
    std::vector<u64> several; // [steps, roles] where the role had several moves
    int steps() const { return static_cast<int>(several.size()) / std::max(1, c.roles); }

private:
    std::vector<u8> exact_; // [alternatives] whether always one member was true
};

// -- which literals of fluents must hold where a move is legal ------------------------------

class Implied {
public:
    explicit Implied(const Circuit &circuit) : c(circuit) {
        const i32 first = c.inputs();
        std::vector<u8> needed(2 * c.nodes(), 0);
        for (const i32 literal : c.legal) needed[literal] = 1;
        for (i32 g = c.cones[0] - 1; g >= 0; --g)
            for (int sign = 0; sign < 2; ++sign)
                if (needed[2 * (first + g) + sign]) needed[c.left[g] ^ sign] = needed[c.right[g] ^ sign] = 1;
        at_.assign(2 * c.nodes(), {0, 0});
        for (i32 f = 0; f < c.fluents; ++f)
            for (int sign = 0; sign < 2; ++sign) {
                const i32 literal = 2 * (1 + f) + sign;
                if (!needed[literal]) continue;
                at_[literal] = {pool_.size(), 1};
                pool_.push_back(literal);
            }
        std::vector<i32> made;
        for (i32 g = 0; g < c.cones[0]; ++g)
            for (int sign = 0; sign < 2; ++sign) {
                if (!needed[2 * (first + g) + sign]) continue;
                const auto [a, as] = at_[c.left[g] ^ sign];
                const auto [b, bs] = at_[c.right[g] ^ sign];
                made.clear();
                const i32 *x = pool_.data() + a, *y = pool_.data() + b;
                // a conjunction implies what either operand implies; a disjunction, what both imply
                if (sign) std::set_intersection(x, x + as, y, y + bs, std::back_inserter(made));
                else std::set_union(x, x + as, y, y + bs, std::back_inserter(made));
                // positive literals are more useful than inverted ones
                while (made.size() > MOST_IMPLIED) {
                    const auto odd = std::find_if(made.rbegin(), made.rend(), [](i32 l) { return (l & 1) != 0; });
                    made.erase(odd == made.rend() ? made.end() - 1 : odd.base() - 1);
                }
                at_[2 * (first + g) + sign] = {pool_.size(), made.size()};
                pool_.insert(pool_.end(), made.begin(), made.end());
            }
    }
    std::pair<const i32 *, const i32 *> of(i32 literal) const {
        const auto [begin, size] = at_[literal];
        return {pool_.data() + begin, pool_.data() + begin + size};
    }

private:
    const Circuit &c;
    std::vector<std::pair<std::size_t, std::size_t>> at_;
    std::vector<i32> pool_;
};

// -- places ---------------------------------------------------------------------------------

class Merger {
public:
    explicit Merger(const Circuit &circuit) : c(circuit), sample_(c), implied_(c), groups_of_(c.fluents), used_(c.alternatives.size()) {
        for (std::size_t g = 0; g < c.alternatives.size(); ++g)
            if (sample_.alive[g])
                for (const i32 f : c.alternatives[g].fluents) groups_of_[f].push_back(static_cast<i32>(g));
    }

    Merge made() {
        std::vector<i32> roles;
        for (int r = 0; r < c.roles; ++r)
            if (c.bounds[r + 1] - c.bounds[r] > 1) roles.push_back(r);
        Merge result;
        while (!roles.empty()) {
            Draw draw = together(roles);
            for (const i32 r : draw.roles) roles.erase(std::find(roles.begin(), roles.end(), r));
            share(draw);
            if (!draw.places.empty()) result.draws.push_back(std::move(draw)); // else no move is ever legal
        }
        for (auto &group : used_) {
            std::sort(group.begin(), group.end());
            group.erase(std::unique(group.begin(), group.end()), group.end());
            if (group.size() > 1) result.groups.push_back(group);
        }
        return result;
    }

private:
    // A group that contains two different fluents, or -1.
    i32 group_of_both(i32 f, i32 other) const {
        if (f == other) return -1;
        const auto &x = groups_of_[f], &y = groups_of_[other];
        for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
            if (x[i] == y[j]) return x[i];
            if (x[i] < y[j]) ++i;
            else ++j;
        }
        return -1;
    }
    bool excludes(i32 literal, i32 other) const {
        if (literal == (other ^ 1)) return true;
        return !(literal & 1) && !(other & 1) && group_of_both((literal >> 1) - 1, (other >> 1) - 1) >= 0;
    }
    void rely(i32 literal, i32 other) {
        if (literal == (other ^ 1)) return;
        const i32 f = (literal >> 1) - 1, o = (other >> 1) - 1;
        auto &group = used_[group_of_both(f, o)];
        group.push_back(f);
        group.push_back(o);
    }

    // Whether two sets of fluents were never true at once in the samples.
    bool apart(const std::vector<i32> &x, const std::vector<i32> &y) const {
        for (int step = 0; step < sample_.steps(); ++step) {
            const u64 *state = sample_.states.data() + std::size_t(step) * c.fluents;
            u64 one = 0, other = 0;
            for (const i32 f : x) one |= state[f];
            for (const i32 f : y) other |= state[f];
            if (one & other) return false;
        }
        return true;
    }
    // A few fluents such that each move of a role but at most one needs one of them, and that were false wherever another
    // role had a choice.  Empty if there are none.
    std::pair<std::vector<i32>, i32> turn(int r) const {
        std::vector<std::vector<i32>> by(c.fluents); // [fluents] moves that need it
        std::vector<i32> left;
        for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m) {
            if (c.legal[m] == 0) continue;
            left.push_back(m);
            const auto [from, to] = implied_.of(c.legal[m]);
            for (const i32 *l = from; l != to; ++l)
                if (!(*l & 1)) by[(*l >> 1) - 1].push_back(m);
        }
        for (i32 f = 0; f < c.fluents; ++f) {
            if (by[f].empty()) continue;
            int times = 0;
            for (int step = 0; step < sample_.steps(); ++step) {
                const u64 now = sample_.states[std::size_t(step) * c.fluents + f];
                times += popcount(now);
                for (int s = 0; s < c.roles; ++s)
                    if (s != r && (now & sample_.several[std::size_t(step) * c.roles + s])) times = -(1 << 30);
            }
            if (times < OFTEN) by[f].clear();
        }
        std::vector<u8> covered(c.moves, 0);
        std::vector<i32> found;
        std::size_t open = left.size();
        while (open > 1 && found.size() < MOST_TURNS) {
            i32 best = -1;
            std::size_t most = 0;
            for (i32 f = 0; f < c.fluents; ++f) {
                const std::size_t gain =
                    by[f].size() <= most ? 0 : std::count_if(by[f].begin(), by[f].end(), [&](i32 m) { return !covered[m]; });
                if (gain <= most) continue;
                most = gain;
                best = f;
            }
            if (best < 0) break;
            found.push_back(best);
            for (const i32 m : by[best])
                if (!covered[m]) {
                    covered[m] = 1;
                    --open;
                }
        }
        if (open > 1) return {{}, -1};
        const auto idle = std::find_if(left.begin(), left.end(), [&](i32 m) { return !covered[m]; });
        return {found, idle == left.end() ? -1 : *idle};
    }
    // A large set of roles that take turns with the first one, which may be the only member.
    Draw together(const std::vector<i32> &roles) const {
        Draw draw{{roles[0]}, {{}}, {-1}, {}, 0};
        if (roles.size() == 1) return draw;
        std::tie(draw.turn[0], draw.idle[0]) = turn(roles[0]);
        for (std::size_t i = 1; i < roles.size() && !draw.turn[0].empty(); ++i) {
            const auto [mine, idle] = turn(roles[i]);
            if (mine.empty() || !std::all_of(draw.turn.begin(), draw.turn.end(), [&, &my = mine](const auto &other) { return apart(other, my); }))
                continue;
            draw.roles.push_back(roles[i]);
            draw.turn.push_back(mine);
            draw.idle.push_back(idle);
        }
        if (draw.roles.size() == 1) return Draw{{roles[0]}, {{}}, {-1}, {}, 0};
        return draw;
    }

    void share(Draw &draw) {
        for (std::size_t i = 0; i < draw.roles.size(); ++i) {
            const int r = draw.roles[i];
            draw.most = std::max(draw.most, 2 * sample_.most[r] + 1);
            std::vector<i32> moves;
            for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m) {
                if (c.legal[m] == 0) continue;
                if (m == draw.idle[i]) {
                    // the move that needs no turn fluent takes no part in the choice if it is never legal in a turn
                    const auto [from, to] = implied_.of(c.legal[m]);
                    const bool never = std::all_of(draw.turn[i].begin(), draw.turn[i].end(), [&, from = from, to = to](i32 f) {
                        return std::find_if(from, to, [&](i32 l) { return excludes(l, 2 * (1 + f)); }) != to;
                    });
                    if (never) {
                        for (const i32 f : draw.turn[i])
                            rely(*std::find_if(from, to, [&](i32 l) { return excludes(l, 2 * (1 + f)); }), 2 * (1 + f));
                        continue;
                    }
                }
                moves.push_back(m);
            }
            const auto places = of_role(moves);
            if (draw.places.size() < places.size()) draw.places.resize(places.size());
            for (std::size_t k = 0; k < places.size(); ++k)
                draw.places[k].insert(draw.places[k].end(), places[k].begin(), places[k].end());
        }
    }

    // The places of the moves of one role: those that need different fluents of one group share places.  Groups are taken in
    // the order of how many places they save.
    std::vector<std::vector<i32>> of_role(const std::vector<i32> &moves) {
        struct Split {
            std::map<i32, std::vector<i32>> by; // fluent's literal -> moves
        };
        std::map<i32, Split> splits;
        for (const i32 m : moves) {
            const auto [from, to] = implied_.of(c.legal[m]);
            for (const i32 *l = from; l != to; ++l) {
                if (*l & 1) continue;
                for (const i32 g : groups_of_[(*l >> 1) - 1]) splits[g].by[*l].push_back(m);
            }
        }
        std::vector<u8> placed(c.moves, 0);
        const auto saved = [&](const Split &split) {
            std::size_t all = 0, most = 0;
            for (const auto &[literal, mine] : split.by) {
                const std::size_t left = std::count_if(mine.begin(), mine.end(), [&](i32 m) { return !placed[m]; });
                all += left;
                most = std::max(most, left);
            }
            return all - most;
        };
        // Savings only decrease: if the top of the queue keeps its value when computed again, it is the maximum.
        std::vector<std::pair<std::size_t, i32>> heap;
        for (const auto &[g, split] : splits) heap.push_back({saved(split), -g});
        std::make_heap(heap.begin(), heap.end());
        std::vector<std::vector<i32>> places;
        while (!heap.empty()) {
            std::pop_heap(heap.begin(), heap.end());
            const auto [gain, negative] = heap.back();
            heap.pop_back();
            const Split &split = splits[-negative];
            const std::size_t now = saved(split);
            if (now == 0) continue;
            if (now < gain) {
                heap.push_back({now, negative});
                std::push_heap(heap.begin(), heap.end());
                continue;
            }
            const std::size_t first = places.size();
            for (const auto &[literal, mine] : split.by) {
                std::size_t k = first;
                for (const i32 m : mine) {
                    if (placed[m]) continue;
                    placed[m] = 1;
                    if (k == places.size()) places.emplace_back();
                    places[k++].push_back(m);
                    used_[-negative].push_back((literal >> 1) - 1);
                }
            }
        }
        for (const i32 m : moves)
            if (!placed[m]) places.push_back({m});
        return places;
    }

    const Circuit &c;
    Sample sample_;
    Implied implied_;
    std::vector<std::vector<i32>> groups_of_; // [fluents] groups that held in all samples, ascending
    std::vector<std::vector<i32>> used_;      // [alternatives] the members that the program assumes to be exclusive
};

} // namespace

Merge merge(const Circuit &c, bool assume) {
    if (assume) return Merger(c).made();
    Merge result;
    for (int r = 0; r < c.roles; ++r) {
        const i32 size = c.bounds[r + 1] - c.bounds[r];
        if (size < 2) continue;
        Draw draw{{r}, {{}}, {-1}, {}, size};
        for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m) draw.places.push_back({m});
        result.draws.push_back(std::move(draw));
    }
    return result;
}

} // namespace herbrand

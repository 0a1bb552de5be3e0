#include "graph_builder.hpp"

#include <algorithm>
#include <cmath>

namespace herbrand {

namespace {

constexpr int CUTS = 6;
constexpr std::size_t LARGE = 256; // uses that a change of one cut may change
constexpr i32 RECENT = 32; // operations after which a result is probably not in a register any more

struct Cut {
    i32 leaf[3];
    u8 size;
    u8 table; // over the leaves in ascending order; the first leaf is the highest bit of three
    float cost;
};

// The values of the leaf in place 0, 1, 2.
constexpr u8 VARIABLE[3] = {0xF0, 0xCC, 0xAA};

// The truth table of a cut with its leaves in other places.
u8 spread(u8 table, const u8 *place, int size) {
    u8 result = 0;
    for (int row = 0; row < 8; ++row) {
        int source = 0;
        for (int i = 0; i < size; ++i) source |= (row >> (2 - place[i]) & 1) << (2 - i);
        result |= (table >> source & 1) << row;
    }
    return result;
}

class Spread {
public:
    Spread() {
        // places of up to three leaves, ascending: as a mask of the places that are used
        for (int mask = 0; mask < 8; ++mask) {
            u8 place[3];
            int size = 0;
            for (u8 i = 0; i < 3; ++i)
                if (mask >> i & 1) place[size++] = i;
            for (int table = 0; table < 256; ++table) by_[mask][table] = spread(static_cast<u8>(table), place, size);
        }
    }
    u8 operator()(int mask, u8 table) const { return by_[mask][table]; }

private:
    u8 by_[8][256];
};

const Spread spreads;

class Cover {
public:
    Cover(const Graph &graph, const std::vector<i32> &mine, std::vector<i32> &index, int arity)
        : g_(graph), mine_(mine), index_(index), arity_(arity) {
        for (i32 i = 0; i < i32(mine_.size()); ++i) index_[mine_[i]] = i;
        cuts_.resize(mine_.size());
        flow_.assign(mine_.size(), 0);
        fanout_.assign(mine_.size(), 0);
        used_.assign(mine_.size(), 0);
        best_.assign(mine_.size(), 0);
    }
    ~Cover() {
        for (const i32 n : mine_) index_[n] = -1;
    }

    std::vector<Lut> run(const std::vector<i32> &wanted) {
        for (const i32 n : mine_) {
            count(g_.nodes[n].a >> 1);
            if (g_.nodes[n].kind <= Graph::ADD) count(g_.nodes[n].b >> 1);
        }
        for (const i32 n : wanted) count(n);
        for (i32 i = 0; i < i32(mine_.size()); ++i) enumerate(i);
        roots_.clear();
        for (const i32 n : wanted)
            if (index_[n] >= 0) roots_.push_back(n);
        // special nodes (adders, shifts) are not covered; they become roots of their operands when they are used
        for (const i32 n : roots_) {
            changed_.clear();
            refer(n, 3 * mine_.size()); // all uses
        }
        for (int round = 0; round < 2; ++round)
            for (i32 i = 0; i < i32(mine_.size()); ++i)
                if (used_[i] && g_.nodes[mine_[i]].kind == Graph::AND) improve(i);
        return listed();
    }

private:
    void count(i32 n) {
        if (index_[n] >= 0) ++fanout_[index_[n]];
    }
    bool special(i32 n) const { return g_.nodes[n].kind != Graph::AND; }
    float flow(i32 n) const { return index_[n] < 0 ? 0.0f : flow_[index_[n]]; }

    void enumerate(i32 i) {
        const i32 n = mine_[i];
        const Graph::Node &node = g_.nodes[n];
        const float shares = std::max(1, fanout_[i]);
        if (node.kind != Graph::AND) {
            flow_[i] = (1 + flow(node.a >> 1) + (node.kind == Graph::ADD ? flow(node.b >> 1) : 0)) / shares;
            return;
        }
        auto &cuts = cuts_[i];
        Cut own[2] = {trivial(node.a >> 1), trivial(node.b >> 1)};
        const auto options = [&](i32 child, Cut *alone) -> std::pair<const Cut *, int> {
            const i32 at = index_[child];
            if (at < 0 || special(child)) return {alone, 1};
            return {cuts_[at].data(), static_cast<int>(cuts_[at].size())};
        };
        const auto [first, firsts] = options(node.a >> 1, &own[0]);
        const auto [second, seconds] = options(node.b >> 1, &own[1]);
        for (int x = 0; x < firsts; ++x)
            for (int y = 0; y < seconds; ++y) {
                Cut cut;
                if (!merge(first[x], second[y], node.a & 1, node.b & 1, cut)) continue;
                cut.cost = 1;
                for (int k = 0; k < cut.size; ++k) cut.cost += flow(cut.leaf[k]);
                keep(cuts, cut);
            }
        flow_[i] = cuts.front().cost / shares;
        // the trivial cut, for cuts of nodes above
        Cut self = trivial(n);
        self.cost = 1e30f;
        if (cuts.size() == CUTS) cuts.pop_back();
        cuts.push_back(self);
    }

    static Cut trivial(i32 n) { return Cut{{n, 0, 0}, 1, VARIABLE[0], 0}; }

    bool merge(const Cut &x, const Cut &y, int invert_x, int invert_y, Cut &cut) const {
        int i = 0, j = 0, size = 0, mask_x = 0, mask_y = 0;
        while (i < x.size || j < y.size) {
            if (size == arity_) return false;
            const i32 next = j >= y.size || (i < x.size && x.leaf[i] <= y.leaf[j]) ? x.leaf[i] : y.leaf[j];
            if (i < x.size && x.leaf[i] == next) {
                mask_x |= 1 << size;
                ++i;
            }
            if (j < y.size && y.leaf[j] == next) {
                mask_y |= 1 << size;
                ++j;
            }
            cut.leaf[size++] = next;
        }
        cut.size = static_cast<u8>(size);
        const u8 left = spreads(mask_x, x.table) ^ (invert_x ? 0xFF : 0);
        const u8 right = spreads(mask_y, y.table) ^ (invert_y ? 0xFF : 0);
        cut.table = left & right;
        return true;
    }

    static void keep(std::vector<Cut> &cuts, const Cut &cut) {
        for (const Cut &other : cuts)
            if (other.size == cut.size && std::equal(other.leaf, other.leaf + other.size, cut.leaf)) return;
        const auto better = [&](const Cut &other) {
            return cut.cost < other.cost || (cut.cost == other.cost && cut.size < other.size);
        };
        auto place = std::find_if(cuts.begin(), cuts.end(), better);
        if (cuts.size() == CUTS) {
            if (place == cuts.end()) return;
            const std::size_t at = place - cuts.begin();
            cuts.pop_back();
            place = cuts.begin() + at;
        }
        cuts.insert(place, cut);
    }

    // -- counting uses in the cover -------------------------------------------------------

    template <class Visit> void operands(i32 i, Visit &&visit) const {
        const i32 n = mine_[i];
        const Graph::Node &node = g_.nodes[n];
        if (node.kind == Graph::AND) {
            const Cut &cut = cuts_[i][best_[i]];
            for (int k = 0; k < cut.size; ++k) visit(cut.leaf[k]);
            return;
        }
        visit(node.a >> 1);
        if (node.kind == Graph::ADD) visit(node.b >> 1);
    }
    // Adds a use of a node; the first use also uses its leaves.  Returns the number of functions that this adds.  Ends
    // early after `most` changes of `used_`, which are listed in `changed_`.
    int refer(i32 node, std::size_t most) {
        int added = 0;
        stack_.assign(1, node);
        while (!stack_.empty() && changed_.size() <= most) {
            const i32 at = index_[stack_.back()];
            stack_.pop_back();
            if (at < 0) continue;
            changed_.push_back(at);
            if (used_[at]++) continue;
            ++added;
            operands(at, [&](i32 n) { stack_.push_back(n); });
        }
        return added;
    }
    void release(i32 node, std::size_t most) {
        stack_.assign(1, node);
        while (!stack_.empty() && changed_.size() <= most) {
            const i32 at = index_[stack_.back()];
            stack_.pop_back();
            if (at < 0) continue;
            changed_.push_back(at);
            if (--used_[at] == 0) operands(at, [&](i32 n) { stack_.push_back(n); });
        }
    }
    // Chooses the cut with which the cover has fewest functions.  A node that alone uses a large part of the graph, such
    // as the end of a long chain, keeps its cut: to look at the whole part from each of its nodes takes quadratic time.
    void improve(i32 i) {
        auto &cuts = cuts_[i];
        const auto change = [&](int by) {
            for (const i32 at : changed_) used_[at] += by;
        };
        const auto add = [&](int k) {
            int added = 0;
            changed_.clear();
            for (int l = 0; l < cuts[k].size; ++l) added += refer(cuts[k].leaf[l], LARGE);
            return added;
        };
        changed_.clear();
        for (int l = 0; l < cuts[best_[i]].size; ++l) release(cuts[best_[i]].leaf[l], LARGE);
        if (changed_.size() > LARGE) return change(1);
        int least = 1 << 30, chosen = best_[i];
        for (int k = 0; k < int(cuts.size()); ++k) {
            if (cuts[k].size == 1 && cuts[k].leaf[0] == mine_[i]) continue;
            const int cost = add(k);
            const bool whole = changed_.size() <= LARGE;
            change(-1);
            if (whole && (cost < least || (cost == least && cuts[k].size < cuts[chosen].size))) {
                least = cost;
                chosen = k;
            }
        }
        best_[i] = chosen;
        add(chosen);
    }

    // -- the order ------------------------------------------------------------------------

    // Depth first from the roots, which keeps operands near their uses.  A function is computed early if its leaves are
    // recent and it is the last use of one: the sum and the carry of an adder, for example.
    std::vector<Lut> listed() {
        std::vector<Lut> luts;
        std::vector<u8> state(mine_.size(), 0);
        std::vector<i32> stack, left(mine_.size(), 0), when(mine_.size(), -(1 << 30));
        std::vector<std::vector<i32>> users(mine_.size());
        for (i32 i = 0; i < i32(mine_.size()); ++i)
            if (used_[i])
                operands(i, [&](i32 n) {
                    if (index_[n] < 0) return;
                    ++left[index_[n]];
                    users[index_[n]].push_back(i);
                });
        // the Sethi-Ullman number of an operand: the one that needs most registers comes first
        std::vector<i32> need(mine_.size(), 0), order;
        const auto sorted = [&](i32 i) {
            order.clear();
            operands(i, [&](i32 n) {
                if (index_[n] >= 0) order.push_back(n);
            });
            std::stable_sort(order.begin(), order.end(), [&](i32 x, i32 y) { return need[index_[x]] < need[index_[y]]; });
        };
        for (i32 i = 0; i < i32(mine_.size()); ++i) {
            if (!used_[i]) continue;
            sorted(i);
            i32 most = 1;
            for (std::size_t k = order.size(); k-- > 0;)
                most = std::max(most, need[index_[order[k]]] + i32(order.size() - 1 - k));
            need[i] = most;
        }
        std::vector<i32> fresh;
        const auto emit = [&](i32 at) {
            fresh.push_back(at);
            while (!fresh.empty()) {
                const i32 now = fresh.back();
                fresh.pop_back();
                if (state[now] == 2) continue;
                state[now] = 2;
                when[now] = static_cast<i32>(luts.size());
                luts.push_back(lut(now));
                operands(now, [&](i32 n) {
                    if (index_[n] >= 0) --left[index_[n]];
                });
                for (const i32 user : users[now]) {
                    if (state[user] == 2) continue;
                    bool ready = true, frees = false;
                    operands(user, [&](i32 n) {
                        const i32 its = index_[n];
                        if (its < 0) return;
                        if (when[its] < static_cast<i32>(luts.size()) - RECENT) ready = false;
                        frees |= left[its] == 1;
                    });
                    if (ready && frees) fresh.push_back(user);
                }
            }
        };
        for (const i32 root : roots_) {
            stack.push_back(root);
            while (!stack.empty()) {
                const i32 n = stack.back(), at = index_[n];
                if (at < 0 || state[at] == 2) {
                    stack.pop_back();
                    continue;
                }
                if (state[at] == 0) {
                    state[at] = 1;
                    sorted(at);
                    for (const i32 other : order)
                        if (state[index_[other]] == 0) stack.push_back(other);
                    continue;
                }
                stack.pop_back();
                emit(at);
            }
        }
        return luts;
    }
    Lut lut(i32 at) const {
        const i32 n = mine_[at];
        const Graph::Node &node = g_.nodes[n];
        if (node.kind != Graph::AND) return {n, 0, u8(node.kind == Graph::ADD ? 2 : 1), {node.a >> 1, node.b >> 1, 0}};
        const Cut &cut = cuts_[at][best_[at]];
        return {n, cut.table, cut.size, {cut.leaf[0], cut.size > 1 ? cut.leaf[1] : 0, cut.size > 2 ? cut.leaf[2] : 0}};
    }

    const Graph &g_;
    const std::vector<i32> &mine_;
    std::vector<i32> &index_; // [nodes] index in `mine_`
    int arity_;
    std::vector<i32> roots_, stack_, changed_;
    std::vector<std::vector<Cut>> cuts_;
    std::vector<float> flow_;
    std::vector<i32> fanout_, used_, best_;
};

} // namespace

std::vector<Lut> cover(const Graph &graph, const std::vector<i32> &mine, std::vector<i32> &index,
                       const std::vector<i32> &wanted, int arity) {
    return Cover(graph, mine, index, arity).run(wanted);
}

} // namespace herbrand

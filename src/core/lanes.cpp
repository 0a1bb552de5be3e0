#include "lanes.hpp"

#include "cpu.hpp"
#include "graph_builder.hpp"
#include "merge.hpp"
#include "schedule.hpp"
#include "x86.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

namespace {

constexpr u8 COPY = 0xF0, NOT = 0x0F, FALSE = 0x00, TRUE = 0xFF;

// Builds the graph of a program unit by unit; `finish` covers it with functions and assigns rows.
class Assembler {
public:
    Assembler(const Circuit &circuit, int arity) : c(circuit) {
        p->arity = arity;
        node_.assign(c.nodes(), -1);
        node_[0] = 0;
    }

    // -- the graph ------------------------------------------------------------------------

    i32 state() { // a new row of the state
        const i32 literal = g.input();
        states_.push_back(literal >> 1);
        return literal;
    }
    // A row that the caller or the feedback of a loop writes; all `state` rows must have been added before.
    i32 row_input() {
        const i32 literal = g.input();
        inputs_.push_back(literal >> 1);
        return literal;
    }
    i32 last_input() const { return 1 + static_cast<i32>(2 * states_.size() + inputs_.size()); } // its row
    // Maps a literal of the circuit to one of the graph.
    i32 literal(i32 of) const { return node_[of >> 1] ^ (of & 1); }
    void stand_for(i32 node, i32 literal) { node_[node] = literal; }

    // Requests a row with the value of a literal.  Returns the number of the output, whose row is known after `finish`.
    int output(i32 literal) {
        outputs_.push_back({literal, g.unit, -1, -1});
        return static_cast<int>(outputs_.size()) - 1;
    }
    void set_after(int state, i32 literal) { outputs_.push_back({literal, g.unit, state, -1}); }
    // Requests that a literal is written to the row of an input of later units, which the caller may change in between.
    void set_input(i32 input, i32 literal) { outputs_.push_back({literal, g.unit, -1, input >> 1}); }
    i32 row(int output) const { return outputs_[output].row; }

    void gates(i32 begin, i32 end) {
        const i32 first = c.inputs();
        for (i32 gate = begin; gate < end; ++gate)
            node_[first + gate] = g.both(literal(c.left[gate]), literal(c.right[gate]));
    }
    void cone(i32 begin, i32 end) {
        for (const Loop &loop : c.loops) {
            if (loop.first < begin || loop.first >= end || loop.last == loop.first) continue;
            gates(begin, loop.first);
            next_unit();
            for (i32 f = loop.first_back; f < loop.last_back; ++f) stand_for(c.first_feedback() + f, row_input());
            gates(loop.first, loop.last);
            for (i32 f = loop.first_back; f < loop.last_back; ++f) {
                const i32 back = literal(2 * (c.first_feedback() + f));
                feedback_.push_back({g.unit, back >> 1, output(literal(c.feedback[f]))});
            }
            begin = loop.last;
            next_unit();
        }
        gates(begin, end);
    }
    void next_unit() { ++g.unit; }
    // Later units do not reuse gates of units from `visible` on: other stages may not have run before this one.
    Stage begin_stage(i32 visible) {
        next_unit();
        g.hidden = visible;
        g.first_own = g.unit;
        return {g.unit, g.unit};
    }
    void end_stage(Stage &stage) { stage.end = g.unit + 1; }

    // -- from the graph to rows -----------------------------------------------------------

    void finish() {
        const i32 nodes = g.size(), units = g.unit + 1;
        p->states = static_cast<int>(states_.size());
        i32 next_row = 2 + 2 * p->states;
        row_.assign(nodes, -1);
        row_[0] = 0;
        for (int s = 0; s < p->states; ++s) row_[states_[s]] = 2 + s;
        for (const i32 n : inputs_) row_[n] = next_row++;
        std::vector<std::vector<i32>> mine(units), wanted(units);
        for (i32 n = 0; n < nodes; ++n)
            if (g.nodes[n].kind > Graph::INPUT) mine[g.nodes[n].unit].push_back(n);
        phase_.assign(nodes, 0);
        const auto want = [&](i32 of) {
            if (row_[of >> 1] == -1) {
                row_[of >> 1] = -2; // needs a row, which `place` assigns
                wanted[g.nodes[of >> 1].unit].push_back(of >> 1);
            }
        };
        for (const Output &out : outputs_) want(out.literal);
        // Later units first, since the leaves of their functions are roots of earlier units.
        std::vector<std::vector<Lut>> luts(units);
        std::vector<i32> index(nodes, -1);
        for (i32 u = units - 1; u >= 0; --u) {
            std::sort(wanted[u].begin(), wanted[u].end());
            luts[u] = cover(g, mine[u], index, wanted[u], p->arity);
            for (const Lut &lut : luts[u])
                for (int k = 0; k < lut.leaves; ++k) {
                    const i32 leaf = lut.leaf[k];
                    if (g.nodes[leaf].unit != u) want(2 * leaf);
                }
        }
        place(luts, next_row);
        for (i32 u = 0; u < units; ++u) emit(u, luts[u], next_row);
        // Temporary rows, which no other unit reads, have the highest numbers.
        p->kept = next_row;
        number_rest();
    }

    const Circuit &c;
    Graph g;
    std::shared_ptr<Program> p = std::make_shared<Program>();

private:
    struct Output {
        i32 literal;
        i32 unit;
        int state; // the fluent whose next value it is, or -1
        i32 input; // the input whose row it is written to, or -1
        i32 row = -1;
    };
    struct Feedback {
        i32 unit;
        i32 node;
        int output;
    };

    // Assigns rows to nodes that other units or the caller read.  A node that is only read inverted has its inverse in its
    // row (phase 1); one that is the next value of a fluent is computed in that fluent's row.
    void place(const std::vector<std::vector<Lut>> &luts, i32 &next_row) {
        std::vector<u8> phases(g.size(), 0);
        for (const Output &out : outputs_) phases[out.literal >> 1] |= out.literal & 1 ? 2 : 1;
        for (const auto &unit : luts)
            for (const Lut &lut : unit)
                if (special(lut.node)) {
                    const Graph::Node &node = g.nodes[lut.node];
                    phases[node.a >> 1] |= node.a & 1 ? 2 : 1;
                    if (node.kind == Graph::ADD) phases[node.b >> 1] |= node.b & 1 ? 2 : 1;
                }
        for (const auto &unit : luts)
            for (const Lut &lut : unit)
                if (!special(lut.node) && phases[lut.node] == 2) phase_[lut.node] = 1;
        for (Output &out : outputs_) {
            const i32 n = out.literal >> 1;
            if (out.state < 0 && out.input < 0) continue;
            out.row = out.state < 0 ? row_[out.input] : 2 + p->states + out.state;
            // Without a copy if the node is computed in this unit, in this phase, and has no other row.
            if (row_[n] == -2 && g.nodes[n].unit == out.unit && (out.literal & 1) == phase_[n]) row_[n] = out.row;
        }
        for (i32 n = 0; n < g.size(); ++n)
            if (row_[n] == -2) row_[n] = next_row++;
    }

    bool special(i32 n) const { return g.nodes[n].kind > Graph::AND; }

    // The truth table for the inverted operand in place 0, 1 or 2.
    static u8 inverted(u8 table, int place) {
        switch (place) {
        case 0: return static_cast<u8>((table << 4) | (table >> 4));
        case 1: return static_cast<u8>(((table & 0x33) << 2) | ((table >> 2) & 0x33));
        default: return static_cast<u8>(((table & 0x55) << 1) | ((table >> 1) & 0x55));
        }
    }

    i32 row_of(i32 n) {
        if (row_[n] < 0) row_[n] = fresh();
        return row_[n];
    }
    i32 fresh() { return TEMPORARY + temporaries_++; }

    // A row with the value of a literal, not inverted, in the current unit.
    i32 positive(i32 of) {
        const i32 n = of >> 1;
        if (of == 0) return 0;
        if (of == 1) return 1;
        if ((of & 1) == phase_[n]) return row_of(n);
        i32 &other = other_[n];
        if (other == 0) {
            other = fresh();
            p->ops.push_back({other, row_of(n), 0, 0, NOT});
        }
        return other;
    }

    void emit(i32 unit, const std::vector<Lut> &luts, i32 &next_row) {
        const i32 begin = static_cast<i32>(p->ops.size());
        other_.clear();
        for (const Lut &lut : luts) {
            const Graph::Node &node = g.nodes[lut.node];
            if (special(lut.node)) {
                const i32 a = positive(node.a);
                if (node.kind == Graph::ADD) {
                    const i32 b = positive(node.b);
                    p->ops.push_back({row_of(lut.node), a, b, 0, ADD});
                } else
                    p->ops.push_back({row_of(lut.node), a, 0, node.amount, node.kind == Graph::SHIFT ? SHIFT : ROTATE});
                continue;
            }
            u8 table = lut.table;
            i32 leaf[3] = {0, 0, 0};
            for (int k = 0; k < lut.leaves; ++k) {
                leaf[k] = row_of(lut.leaf[k]);
                if (phase_[lut.leaf[k]]) table = inverted(table, k);
            }
            if (phase_[lut.node]) table ^= 0xFF;
            p->ops.push_back({row_of(lut.node), leaf[0], leaf[1], leaf[2], table});
        }
        // Copies and inverses for outputs whose row is not the one their node is computed in.
        for (Output &out : outputs_) {
            if (out.unit != unit) continue;
            const i32 n = out.literal >> 1;
            const bool fits = (out.literal & 1) == phase_[n];
            if (out.row >= 0) {
                if (row_[n] == out.row) continue;
                if (n == 0) p->ops.push_back({out.row, 0, 0, 0, out.literal ? TRUE : FALSE});
                else p->ops.push_back({out.row, row_of(n), 0, 0, fits ? COPY : NOT});
            } else if (n == 0) {
                out.row = out.literal;
            } else if (fits) {
                out.row = row_of(n);
            } else {
                const auto known = inverse_.find_or(u64(unit) << 32 | u32(n));
                if (!known) {
                    inverse_.set(u64(unit) << 32 | u32(n), next_row);
                    p->ops.push_back({next_row, row_of(n), 0, 0, NOT});
                    out.row = next_row++;
                } else
                    out.row = known;
            }
        }
        Unit made{begin, static_cast<i32>(p->ops.size()), 0, 0};
        made.first_back = static_cast<i32>(p->back.size());
        for (const Feedback &feedback : feedback_)
            if (feedback.unit == unit) p->back.push_back({row_[feedback.node], outputs_[feedback.output].row});
        made.last_back = static_cast<i32>(p->back.size());
        p->units.push_back(made);
    }

    void number_rest() {
        const auto final_row = [&](i32 &row) {
            if (row >= TEMPORARY) row = p->kept + (row - TEMPORARY);
        };
        for (Op &op : p->ops) {
            final_row(op.out);
            final_row(op.a);
            if (op.code < SHIFT) {
                final_row(op.b);
                if (op.code < ADD) final_row(op.c);
            }
        }
        p->rows = p->kept + temporaries_;
    }

    // A small hash map to rows other than 0.
    class Rows {
    public:
        i32 find_or(u64 key) const {
            for (const auto &[known, row] : entries_[key % 256])
                if (known == key) return row;
            return 0;
        }
        void set(u64 key, i32 row) { entries_[key % 256].push_back({key, row}); }
        i32 &operator[](i32 key) {
            for (auto &[known, row] : entries_[key % 256])
                if (known == u64(key)) return row;
            entries_[key % 256].push_back({u64(key), 0});
            return entries_[key % 256].back().second;
        }
        void clear() {
            for (auto &bucket : entries_) bucket.clear();
        }

    private:
        std::vector<std::pair<u64, i32>> entries_[256];
    };

    static constexpr i32 TEMPORARY = 1 << 29;

    std::vector<i32> node_; // [nodes of the circuit] literals of the graph
    std::vector<i32> states_, inputs_;
    std::vector<Output> outputs_;
    std::vector<Feedback> feedback_;
    std::vector<i32> row_;
    std::vector<u8> phase_; // [nodes] 1 if the row of a node has its inverse
    Rows other_, inverse_;
    i32 temporaries_ = 0;
};

// The order for walking: by level (the longest path from an input), then by code, so that runs of equal codes are long.
void by_level(Program &p) {
    p.walked = p.ops;
    p.walked_rows = p.rows;
    std::vector<i32> level(p.rows, 0), mine, order;
    for (const Unit &unit : p.units) {
        const i32 size = unit.end - unit.begin;
        mine.resize(size);
        order.resize(size);
        const Op *ops = p.ops.data() + unit.begin;
        for (i32 i = 0; i < size; ++i) {
            const Op &op = ops[i];
            const i32 rows[3] = {op.a, op.b, op.c};
            i32 at = 0;
            for (i32 k = 0; k < operands(op); ++k) at = std::max(at, level[rows[k]]);
            level[op.out] = mine[i] = at + 1;
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [&](i32 x, i32 y) {
            return mine[x] != mine[y] ? mine[x] < mine[y] : ops[x].code < ops[y].code;
        });
        for (i32 i = 0; i < size; ++i) p.walked[unit.begin + i] = ops[order[i]];
        for (i32 i = 0; i < size; ++i) level[ops[i].out] = 0;
    }
}

// -- choosing -----------------------------------------------------------------------------

using Number = std::vector<i32>; // literals, the lowest bit first

Number sum(Graph &g, const Number &x, const Number &y, i32 carry = 0) {
    Number total;
    for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
        const i32 a = i < x.size() ? x[i] : 0, b = i < y.size() ? y[i] : 0;
        total.push_back(g.differ(g.differ(a, b), carry));
        carry = g.majority(a, b, carry);
    }
    if (carry) total.push_back(carry);
    return total;
}

// The number of true literals, by full adders.
Number population(Graph &g, const i32 *begin, const i32 *end) {
    Number total;
    for (std::vector<i32> bits(begin, end), carries; !bits.empty(); bits.swap(carries)) {
        carries.clear();
        i32 one = bits[0];
        std::size_t i = 1;
        for (; i + 1 < bits.size(); i += 2) {
            const i32 either = g.differ(one, bits[i]);
            carries.push_back(g.choose(either, bits[i + 1], one));
            one = g.differ(either, bits[i + 1]);
        }
        if (i < bits.size()) {
            carries.push_back(g.both(one, bits[i]));
            one = g.differ(one, bits[i]);
        }
        total.push_back(one);
    }
    return total;
}

// The sums of numbers as a balanced tree in postorder.  `overflow` becomes true if a sum has more than `bits` bits.
void tally(Graph &g, const std::vector<Number> &numbers, i32 begin, i32 end, std::size_t bits, std::vector<Number> &sums,
           i32 &overflow) {
    if (end - begin == 1) {
        sums.push_back(numbers[begin]);
    } else {
        const i32 middle = (begin + end) / 2;
        tally(g, numbers, begin, middle, bits, sums, overflow);
        const Number left = sums.back();
        tally(g, numbers, middle, end, bits, sums, overflow);
        sums.push_back(sum(g, left, sums.back()));
    }
    Number &total = sums.back();
    for (std::size_t b = bits; b < total.size(); ++b) overflow = g.either(overflow, total[b]);
    if (total.size() > bits) total.resize(bits);
}

// Descends the tree of `tally` to the number i whose interval of the prefix sums contains `rank`: chosen[i] becomes true in
// the lanes of `mask`, and ranks[i] the rank within it.  `at` is the root of the subtree for numbers `begin` to `end`.
void find(Graph &g, const std::vector<Number> &sums, i32 begin, i32 end, i32 at, Number rank, i32 mask,
          std::vector<i32> &chosen, std::vector<Number> &ranks) {
    if (end - begin == 1) {
        chosen[begin] = mask;
        // a rank is less than the number, and has no more bits
        rank.resize(std::min(rank.size(), sums[at].size()));
        ranks[begin] = rank;
        return;
    }
    const i32 middle = (begin + end) / 2;
    const i32 right = at - 1, left = right - (2 * (end - middle) - 1);
    const Number &fewer = sums[left];
    // rest = rank - fewer; a borrow means that the rank is in the left half
    Number rest;
    i32 borrow = 0;
    for (std::size_t i = 0; i < std::max(rank.size(), fewer.size()); ++i) {
        const i32 a = i < rank.size() ? rank[i] : 0, b = i < fewer.size() ? fewer[i] : 0;
        const i32 differs = g.differ(a, b);
        rest.push_back(g.differ(differs, borrow));
        borrow = g.choose(differs, b, borrow);
    }
    const auto cut = [](Number number, const Number &sum) {
        number.resize(std::min(number.size(), sum.size()));
        return number;
    };
    find(g, sums, begin, middle, left, cut(rank, sums[left]), g.both(mask, borrow), chosen, ranks);
    find(g, sums, middle, end, right, cut(rest, sums[right]), g.both(mask, borrow ^ 1), chosen, ranks);
}

// Circuits that choose one of many literals by its rank among the true ones.  The literals (*places*) are divided into
// *stretches*: a tree over the stretches selects one, whose places are copied to one small tree that selects the place.
struct Tree {
    std::vector<i32> places;
    i32 stretch = 1;
    std::size_t bits = 0;     // of the number of true places
    std::vector<Number> sums; // over stretches
    Number count;
    i32 overflow = 0;

    Tree(Graph &g, std::vector<i32> literals, std::size_t most_bits, int arity) : places(std::move(literals)), bits(most_bits) {
        stretch = best_stretch(arity);
        std::vector<Number> counts;
        for (i32 i = 0; i < size(); i += stretch)
            counts.push_back(population(g, places.data() + i, places.data() + std::min(size(), i + stretch)));
        tally(g, counts, 0, static_cast<i32>(counts.size()), bits, sums, overflow);
        count = sums.back();
        count.resize(bits, 0);
    }
    // For each place the lanes of `mask` in which it is the one with the given rank.
    std::vector<i32> taken(Graph &g, const Number &rank, i32 mask) const {
        const i32 stretches = (size() + stretch - 1) / stretch;
        std::vector<i32> chosen(stretches, 0), chosen_places(size(), 0);
        std::vector<Number> ranks(stretches);
        find(g, sums, 0, stretches, static_cast<i32>(sums.size()) - 1, rank, mask, chosen, ranks);
        if (stretch == 1) return chosen;
        std::vector<Number> window(stretch, Number(1, 0));
        Number inside;
        for (i32 s = 0; s < stretches; ++s) {
            for (i32 i = 0; i < stretch && s * stretch + i < size(); ++i)
                window[i][0] = g.either(window[i][0], g.both(chosen[s], places[s * stretch + i]));
            for (std::size_t b = 0; b < ranks[s].size(); ++b) {
                if (b == inside.size()) inside.push_back(0);
                inside[b] = g.either(inside[b], g.both(chosen[s], ranks[s][b]));
            }
        }
        std::vector<Number> within;
        i32 none = 0;
        tally(g, window, 0, stretch, 32, within, none);
        std::vector<i32> at(stretch, 0);
        std::vector<Number> unused(stretch);
        find(g, within, 0, stretch, static_cast<i32>(within.size()) - 1, inside, 1, at, unused);
        for (i32 i = 0; i < size(); ++i) chosen_places[i] = g.both(chosen[i / stretch], at[i % stretch]);
        return chosen_places;
    }

private:
    i32 size() const { return static_cast<i32>(places.size()); }
    // Estimated costs in operations.
    i32 best_stretch(int arity) const {
        const double node = arity == 3 ? 4.5 : 10, leaf = arity == 3 ? 9 : 17, each = arity == 3 ? 4 : 8;
        i32 best = 1;
        double least = leaf * size();
        for (i32 length = 8; length <= size() / 2; length += 4) {
            const double stretches = (size() + length - 1) / length;
            const double cost = each * size() + stretches * double(bits) * node + leaf * length;
            if (cost >= least) continue;
            least = cost;
            best = length;
        }
        return best;
    }
};

// Whether any of some literals is true.
i32 any_of(Graph &g, const Number &literals) {
    i32 any = 0;
    for (const i32 literal : literals) any = g.either(any, literal);
    return any;
}

// Whether two of some literals are true, as a balanced tree; `any` becomes whether at least one is.
i32 two_of(Graph &g, const std::vector<i32> &literals, std::size_t begin, std::size_t end, i32 &any) {
    if (end - begin <= 1) {
        any = begin == end ? 0 : literals[begin];
        return 0;
    }
    const std::size_t middle = (begin + end) / 2;
    i32 left = 0, right = 0;
    const i32 low = two_of(g, literals, begin, middle, left), high = two_of(g, literals, middle, end, right);
    any = g.either(left, right);
    return g.either(g.either(low, high), g.both(left, right));
}

// A uniformly distributed number below `count` by rejection sampling: of several random numbers with as many bits as the
// count, the first that is below it; 0 in lanes in which all are rejected.  `bits` returns random bits.
template <class Bits> Number drawn(Graph &g, const Number &count, Bits &&bits, i32 &succeeded) {
    const std::size_t size = count.size();
    Number mask(size), rank(size, 0);
    for (std::size_t b = size; b-- > 0;) mask[b] = g.either(count[b], b + 1 < size ? mask[b + 1] : 0);
    i32 done = 0;
    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        Number number;
        i32 below = 0;
        for (std::size_t b = 0; b < size; ++b) {
            number.push_back(g.both(mask[b], bits()));
            below = g.choose(g.differ(number[b], count[b]), count[b], below);
        }
        const i32 now = g.both(below, done ^ 1);
        for (std::size_t b = 0; b < size; ++b) rank[b] = g.either(rank[b], g.both(now, number[b]));
        done = g.either(done, below);
    }
    succeeded = done;
    return rank;
}

// Which way each operand of a function of three bits may change without the result falling: bit 0 if it may rise, bit 1 if
// it may fall.
int direction(i32 table, int operand) {
    const int distance = 4 >> operand;
    int both = 3;
    for (int i = 0; i < 8; ++i) {
        if (i & distance) continue;
        const bool low = table >> i & 1, high = table >> (i + distance) & 1;
        if (low && !high) both &= ~1;
        if (high && !low) both &= ~2;
    }
    return both;
}

// Lists what the loops read that can go on from their last result.  Feedback grows with feedback, since rules of recursion
// have no negation; where that cannot be seen operation by operation, the loop begins anew each time.
void find_reads(Program &p) {
    std::vector<u8> ways(p.rows, 3); // of a row: as `direction` says, for the feedback as a whole
    std::vector<i32> read;
    for (Unit &unit : p.units) {
        unit.first_read = unit.last_read = static_cast<i32>(p.reads.size());
        if (unit.first_back == unit.last_back) continue;
        for (i32 i = unit.first_back; i < unit.last_back; ++i) ways[p.back[i].source] &= 1;
        read.clear();
        for (i32 i = unit.end - 1; i >= unit.begin; --i) {
            const Op &op = p.ops[i];
            const i32 rows[] = {op.a, op.b, op.c};
            for (int k = 0; k < operands(op); ++k) {
                if (rows[k] < 2) continue;
                read.push_back(rows[k]);
                if ((ways[op.out] & 3) == 3) continue; // no feedback depends on it
                const int mine = op.code < ADD ? direction(op.code, k) : 0, swapped = (mine & 1) << 1 | mine >> 1;
                ways[rows[k]] &= static_cast<u8>(ways[op.out] == 1 ? mine : ways[op.out] == 2 ? swapped : 0);
            }
        }
        unit.resumes = true;
        for (i32 i = unit.first_back; i < unit.last_back; ++i) unit.resumes &= ways[p.back[i].row] & 1;
        // what is not written here, nor fed back, is read
        for (i32 i = unit.begin; i < unit.end; ++i) ways[p.ops[i].out] |= 4;
        for (i32 i = unit.first_back; i < unit.last_back; ++i) ways[p.back[i].row] |= 4;
        for (const i32 row : read) {
            if (unit.resumes && !(ways[row] & 4)) p.reads.push_back({row, static_cast<u8>(ways[row] & 1), static_cast<u8>(ways[row] >> 1 & 1)});
            ways[row] |= 4;
        }
        unit.last_read = static_cast<i32>(p.reads.size());
        for (const i32 row : read) ways[row] = 3;
        for (i32 i = unit.begin; i < unit.end; ++i) ways[p.ops[i].out] = 3;
        for (i32 i = unit.first_back; i < unit.last_back; ++i) ways[p.back[i].row] = ways[p.back[i].source] = 3;
    }
}

void finish(Program &p) {
    find_reads(p);
    if (why_no_code().empty()) schedule(p); // walking has an order of its own
    by_level(p);
    p.code = encode(p, p.why_walked);
}

} // namespace

ProgramPtr evaluating(const Circuit &c, int arity) {
    Assembler a(c, arity);
    Program &p = *a.p;
    for (int f = 0; f < c.fluents; ++f) a.stand_for(1 + f, a.state());
    std::vector<int> moves, legal, next, sees, goal;
    for (int m = 0; m < c.moves; ++m) {
        a.stand_for(c.first_move() + m, a.row_input());
        p.move_row.push_back(2 + 2 * c.fluents + m);
    }
    a.cone(0, c.cones[0]);
    for (const i32 literal : c.legal) legal.push_back(a.output(a.literal(literal)));
    const int terminal = a.output(a.literal(c.terminal));
    p.legal = {0, a.g.unit + 1};
    const i32 visible = a.g.unit + 1;
    p.next = a.begin_stage(visible);
    a.cone(c.cones[0], c.cones[1]);
    for (int f = 0; f < c.fluents; ++f) {
        a.set_after(f, a.literal(c.next[f]));
        p.next_row.push_back(2 + c.fluents + f);
    }
    for (const i32 literal : c.sees) sees.push_back(a.output(a.literal(literal)));
    a.end_stage(p.next);
    p.goals = a.begin_stage(visible);
    a.cone(c.cones[1], c.cones[2]);
    for (const i32 literal : c.goal) goal.push_back(a.output(a.literal(literal)));
    a.end_stage(p.goals);
    a.finish();
    for (const int i : legal) p.legal_row.push_back(a.row(i));
    for (const int i : sees) p.sees_row.push_back(a.row(i));
    for (const int i : goal) p.goal_row.push_back(a.row(i));
    p.terminal_row = a.row(terminal);
    finish(p);
    return a.p;
}

ProgramPtr playing(const Circuit &c, int arity, bool assume) {
    Assembler a(c, arity);
    Graph &g = a.g;
    Program &p = *a.p;
    const Merge plan = merge(c, assume);
    p.plays = true;
    for (int f = 0; f < c.fluents; ++f) a.stand_for(1 + f, a.state());
    // The choice of moves, as `merge` divides it into draws, and counters of legal moves.
    struct Role {
        int draw = -1, place = 0;  // the draw that decides for the role, and its place in it
        std::vector<i32> taken;    // [moves of the role]
        Number counter;
    };
    std::vector<Role> roles(c.roles);
    for (std::size_t k = 0; k < plan.draws.size(); ++k)
        for (std::size_t i = 0; i < plan.draws[k].roles.size(); ++i) {
            roles[plan.draws[k].roles[i]].draw = static_cast<int>(k);
            roles[plan.draws[k].roles[i]].place = static_cast<int>(i);
        }
    const auto width = [](i64 most) {
        int bits = 1;
        while ((i64(1) << bits) <= most) ++bits;
        return bits;
    };
    std::vector<int> width_of;
    for (const Draw &draw : plan.draws)
        width_of.push_back(width(std::min<i64>(draw.most, i64(draw.places.size()))));
    int states = c.fluents;
    for (Role &role : roles) {
        const int size = (role.draw < 0 ? 1 : width_of[role.draw]) + COUNTER_BITS;
        p.counters.push_back({states, size});
        for (int b = 0; b < size; ++b) role.counter.push_back(a.state());
        states += size;
    }
    const auto input = [&](i32 &row) {
        const i32 literal = a.row_input();
        row = a.last_input();
        return literal;
    };
    const i32 active = input(p.active), late = input(p.late), restart = input(p.restart);

    a.cone(0, c.cones[0]);
    const i32 terminal = a.literal(c.terminal);
    const i32 over = g.both(active, terminal);
    const i32 playing = g.both(g.both(active, terminal ^ 1), late ^ 1);
    const auto legal = [&](i32 move) { return a.literal(c.legal[move]); };
    struct Chosen {
        Tree tree;
        std::vector<i32> turn;
        Number rank;
        i32 any = 0;
        std::vector<int> count_out, rank_out;
        int again_out = 0;
    };
    const auto random_bit = [&] {
        i32 row = 0;
        const i32 literal = input(row);
        if (p.randoms++ == 0) p.random = row; // random rows are consecutive
        return literal;
    };
    std::vector<Chosen> choices;
    i32 wrong = 0; // whether an assumption of `merge` does not hold
    for (const auto &group : plan.groups) {
        std::vector<i32> members;
        i32 any = 0;
        for (const i32 f : group) members.push_back(a.literal(2 * (1 + f)));
        wrong = g.either(wrong, two_of(g, members, 0, members.size(), any));
    }
    for (std::size_t k = 0; k < plan.draws.size(); ++k) {
        const Draw &draw = plan.draws[k];
        i32 any = 0;
        std::vector<i32> turn, places;
        for (const auto &fluents : draw.turn) {
            Number mine;
            for (const i32 f : fluents) mine.push_back(a.literal(2 * (1 + f)));
            turn.push_back(mine.empty() ? 1 : any_of(g, mine));
        }
        wrong = g.either(wrong, two_of(g, turn, 0, turn.size(), any));
        for (const auto &moves : draw.places) {
            i32 one = 0;
            for (const i32 m : moves) {
                const auto idle = std::find(draw.idle.begin(), draw.idle.end(), m);
                one = g.either(one, idle == draw.idle.end() ? legal(m) : g.both(legal(m), turn[idle - draw.idle.begin()]));
            }
            places.push_back(one);
        }
        Chosen choice{Tree(g, std::move(places), width_of[k], arity), std::move(turn), {}, 0, {}, {}, 0};
        const Number &count = choice.tree.count;
        wrong = g.either(wrong, choice.tree.overflow);
        choice.any = any_of(g, count);
        i32 succeeded = 0;
        choice.rank = drawn(g, count, random_bit, succeeded);
        const Number several(count.begin() + 1, count.end());
        choice.again_out = a.output(g.both(g.both(any_of(g, several), succeeded ^ 1), playing));
        for (const i32 bit : count) choice.count_out.push_back(a.output(bit));
        choices.push_back(std::move(choice));
    }
    // The next stage reads ranks from input rows, so that the caller can replace rejected ones.
    for (Chosen &choice : choices)
        for (i32 &bit : choice.rank) {
            const i32 read = a.row_input();
            a.set_input(read, bit);
            bit = read;
            choice.rank_out.push_back(a.output(read));
        }
    i32 stuck = 0;
    std::vector<int> stuck_out;
    for (int r = 0; r < c.roles; ++r) {
        Role &role = roles[r];
        i32 any = 0, first = playing;
        Number seen;
        if (role.draw < 0) {
            if (c.bounds[r] < c.bounds[r + 1]) any = legal(c.bounds[r]);
            seen.push_back(g.both(any, playing));
        } else {
            const Draw &draw = plan.draws[role.draw];
            const Chosen &choice = choices[role.draw];
            const i32 turn = choice.turn[role.place], idle = draw.idle[role.place];
            const i32 otherwise = idle < 0 ? 0 : legal(idle);
            any = g.choose(turn, choice.any, otherwise);
            first = g.both(turn, playing);
            for (const i32 bit : choice.tree.count) seen.push_back(g.both(bit, first));
            seen[0] = g.either(seen[0], g.both(otherwise, g.both(turn ^ 1, playing)));
        }
        const i32 mine = g.both(playing, any ^ 1);
        stuck_out.push_back(a.output(mine));
        stuck = g.either(stuck, mine);
        Number total = sum(g, role.counter, seen);
        total.resize(role.counter.size(), 0);
        for (std::size_t b = 0; b < total.size(); ++b) a.set_after(p.counters[r].first + int(b), total[b]);
    }
    const int over_out = a.output(over), playing_out = a.output(playing), stuck_all = a.output(stuck),
              conflict_out = a.output(g.both(wrong, playing));
    p.legal = {0, g.unit + 1};
    const i32 visible = g.unit + 1;

    p.next = a.begin_stage(visible);
    for (int r = 0; r < c.roles; ++r)
        for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m) a.stand_for(c.first_move() + m, legal(m));
    for (std::size_t k = 0; k < plan.draws.size(); ++k) {
        const Draw &draw = plan.draws[k];
        const Chosen &choice = choices[k];
        // If roles that take turns share a draw, only one of them may have several moves.
        const std::vector<i32> taken = choice.tree.taken(g, choice.rank, draw.roles.size() > 1 ? choice.any : 1);
        for (std::size_t i = 0; i < taken.size(); ++i)
            for (const i32 m : draw.places[i]) {
                i32 made = draw.places[i].size() == 1 ? taken[i] : g.both(taken[i], legal(m));
                const auto idle = std::find(draw.idle.begin(), draw.idle.end(), m);
                if (idle != draw.idle.end())
                    made = g.both(legal(m), g.either(taken[i], choice.turn[idle - draw.idle.begin()] ^ 1));
                a.stand_for(c.first_move() + m, made);
            }
    }
    a.cone(c.cones[0], c.cones[1]);
    for (int f = 0; f < c.fluents; ++f) {
        const bool initial = c.initial[f / 64] >> (f % 64) & 1;
        const i32 next = a.literal(c.next[f]);
        a.set_after(f, initial ? g.either(next, restart) : g.both(next, restart ^ 1));
    }
    a.end_stage(p.next);

    p.goals = a.begin_stage(visible);
    a.cone(c.cones[1], c.cones[2]);
    std::vector<i32> once(c.roles, 0), twice(c.roles, 0);
    for (int k = 0; k < c.goals(); ++k) {
        const i32 goal = a.literal(c.goal[k]);
        const int r = c.goal_role[k];
        twice[r] = g.either(twice[r], g.both(once[r], goal));
        once[r] = g.either(once[r], goal);
    }
    std::vector<int> goal_out;
    for (int k = 0; k < c.goals(); ++k) {
        const int r = c.goal_role[k];
        const i32 only = g.both(g.both(once[r], twice[r] ^ 1), over);
        goal_out.push_back(a.output(g.both(a.literal(c.goal[k]), only)));
    }
    a.end_stage(p.goals);
    a.finish();
    p.over = a.row(over_out);
    p.playing = a.row(playing_out);
    p.stuck = a.row(stuck_all);
    p.conflict = a.row(conflict_out);
    for (const int i : stuck_out) p.stuck_role.push_back(a.row(i));
    for (std::size_t k = 0; k < choices.size(); ++k) {
        Choice choice;
        choice.roles = plan.draws[k].roles;
        choice.places = static_cast<i32>(plan.draws[k].places.size());
        choice.bits = width_of[k];
        for (const int i : choices[k].count_out) choice.count.push_back(a.row(i));
        for (const int i : choices[k].rank_out) choice.rank.push_back(a.row(i));
        choice.again = a.row(choices[k].again_out);
        p.choices.push_back(choice);
    }
    for (const int i : goal_out) p.goal_row.push_back(a.row(i));
    finish(p);
    return a.p;
}

Machine::Machine(ProgramPtr program, bool walk) : program_(std::move(program)), walk_(walk || !program_->code) {
    const Program &p = *program_;
    std::size_t rows = walk_ ? p.walked_rows : p.code->rows();
    if (!walk_ && p.code->pitch() < WORDS) {
        rows += rows % 2; // both arrays of halves begin at a cache line
        pitch_ = p.code->pitch();
        gap_ = std::ptrdiff_t(rows - 1) * pitch_;
    }
    rows_ = RowBuffer(rows);
    for (int w = 0; w < WORDS; ++w) word(row(1), w) = ~u64(0);
    now_ = rows_.data() + 2 * pitch_;
    after_ = now_ + i64(p.states) * pitch_;
    before_ = RowBuffer(p.reads.size());
    is_run_.assign(p.units.size(), 0);
    back_.resize(p.back.size());
    source_.resize(p.back.size());
    read_.resize(p.reads.size());
}

void Machine::exchange() {
    // Walked operations have absolute rows, so states are copied; machine code gets pointers, which are swapped.
    if (walk_) std::memcpy(now_, after_, sizeof(u64) * WORDS * program_->states);
    else std::swap(now_, after_);
}

int Machine::words() const { return walk_ ? WORDS : program_->code->words(); }

void Machine::run(i32 u, int at, int end) {
    const Program &p = *program_;
    const Unit &unit = p.units[u];
    if (walk_) kernels().walk(rows_.data(), p.walked.data() + unit.begin, p.walked.data() + unit.end);
    else p.code->run(u, rows_.data(), now_, after_, at, end, gap_);
}

// A least fixpoint, by evaluating the loop until the feedback does not change.  It only grows where what the loop reads has
// changed in the right direction since the last time, so the iteration goes on from the last result in these lanes, and
// begins with nothing in the others: a stone more on the board makes chains longer.
void Machine::run_loop(i32 u, int at) {
    const Program &p = *program_;
    const Unit &unit = p.units[u];
    const int words = this->words(), backs = unit.last_back - unit.first_back, reads = unit.last_read - unit.first_read;
    for (i32 i = 0; i < backs; ++i) {
        back_[i] = &word(row(p.back[unit.first_back + i].row), at);
        source_[i] = &word(row(p.back[unit.first_back + i].source), at);
    }
    for (i32 i = 0; i < reads; ++i) read_[i] = &word(row(p.reads[unit.first_read + i].row), at);
    const u8 half = at ? 2 : 1;
    const bool changed = kernels().resume(p.reads.data() + unit.first_read, read_.data(), before_.row(unit.first_read) + at,
                                          reads, back_.data(), backs, words);
    if (!unit.resumes || !(is_run_[u] & half))
        for (i32 i = 0; i < backs; ++i) std::memset(back_[i], 0, 8 * words);
    else if (!changed)
        return;
    is_run_[u] |= half;
    do run(u, at, at + words);
    while (kernels().take_back(back_.data(), source_.data(), backs, words));
}

void Machine::run(const Stage &stage, int lanes) {
    const int end = (lanes + 63) / 64;
    for (i32 u = stage.begin; u < stage.end; ++u) {
        const Unit &unit = program_->units[u];
        if (unit.first_back == unit.last_back) {
            run(u, 0, end);
            continue;
        }
        for (int at = 0; at < end; at += words()) run_loop(u, at);
    }
}

} // namespace herbrand

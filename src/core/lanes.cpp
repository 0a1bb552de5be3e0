#include "lanes.hpp"

#include "cpu.hpp"
#include "graph_builder.hpp"
#include "x86.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

namespace {

constexpr u8 COPY = 0xF0, NOT = 0x0F, FALSE = 0x00, TRUE = 0xFF;

// Builds the graph of a program unit by unit, and then lays it out as rows and operations.
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
    i32 row_input() { // a row that the caller writes, or a loop
        const i32 literal = g.input();
        inputs_.push_back(literal >> 1);
        return literal;
    }
    // The literal in the graph of one in the circuit.
    i32 literal(i32 of) const { return node_[of >> 1] ^ (of & 1); }
    void stand_for(i32 node, i32 literal) { node_[node] = literal; }

    // Have a literal in a row: `output` returns its number, which is known after `finish`.
    int output(i32 literal) {
        outputs_.push_back({literal, g.unit, -1, -1});
        return static_cast<int>(outputs_.size()) - 1;
    }
    void set_after(int state, i32 literal) { outputs_.push_back({literal, g.unit, state, -1}); }
    // Have a literal in the row of an input of later units, which the caller may change in between.
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
    // Units from here on see those of the first stage only.
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
                row_[of >> 1] = -2; // some row
                wanted[g.nodes[of >> 1].unit].push_back(of >> 1);
            }
        };
        for (const Output &out : outputs_) want(out.literal);
        // later units first: what they need of earlier ones is wanted there
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
        // rows within units have the highest numbers
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
        int state; // the state that becomes it, -1 for none
        i32 input; // the input that is given it, -1 for none
        i32 row = -1;
    };
    struct Feedback {
        i32 unit;
        i32 node;
        int output;
    };

    // Give a row to what is kept: that of its state where it is the state after, and the phase that is asked for.
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
            // the node itself is written there if it is made in the same unit, and stands in no other row
            if (row_[n] == -2 && g.nodes[n].unit == out.unit && (out.literal & 1) == phase_[n]) row_[n] = out.row;
        }
        for (i32 n = 0; n < g.size(); ++n)
            if (row_[n] == -2) row_[n] = next_row++;
    }

    bool special(i32 n) const { return g.nodes[n].kind > Graph::AND; }

    // The table of a function when the operand in place 0, 1 or 2 is inverted.
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

    // A row with a literal in the present unit.
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
        // outputs that are not where they are made
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

    // A small map from numbers to rows, none of which is 0.
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

    std::vector<i32> node_; // of the circuit, as literals of the graph
    std::vector<i32> states_, inputs_;
    std::vector<Output> outputs_;
    std::vector<Feedback> feedback_;
    std::vector<i32> row_;
    std::vector<u8> phase_; // whether a node's row has its opposite
    Rows other_, inverse_;
    i32 temporaries_ = 0;
};

// Sorts the operations of each unit so that equal codes stand together, each after what it reads.
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
            i32 at = level[op.a];
            if (op.code < SHIFT) at = std::max(at, level[op.b]);
            if (op.code < ADD) at = std::max(at, level[op.c]);
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

// How many of some literals are true, as a balanced tree: `counts` has its nodes, children first, the left one before.
Number tally(Graph &g, const std::vector<i32> &literals, i32 begin, i32 end, std::vector<Number> &counts) {
    if (end - begin == 1) {
        counts.push_back({literals[begin]});
        return counts.back();
    }
    const i32 middle = (begin + end) / 2;
    const Number left = tally(g, literals, begin, middle, counts);
    const Number right = tally(g, literals, middle, end, counts);
    counts.push_back(sum(g, left, right));
    return counts.back();
}

// Set taken[m] to where literal m is the one of the given rank among those that are true, within `mask`.  `at` is the
// node of the tree, counted in the order in which `tally` made them: children come before, the right one last.
void take(Graph &g, const std::vector<i32> &literals, i32 begin, i32 end, const std::vector<Number> &counts, i32 at,
          Number rank, i32 mask, std::vector<i32> &taken) {
    if (end - begin == 1) {
        taken[begin] = mask;
        return;
    }
    const i32 middle = (begin + end) / 2;
    const i32 right = at - 1, left = right - (2 * (end - middle) - 1);
    const Number &fewer = counts[left];
    // rank - fewer, and whether that is negative: then the move is in the left half
    Number rest;
    i32 borrow = 0;
    for (std::size_t i = 0; i < std::max(rank.size(), fewer.size()); ++i) {
        const i32 a = i < rank.size() ? rank[i] : 0, b = i < fewer.size() ? fewer[i] : 0;
        rest.push_back(g.differ(g.differ(a, b), borrow));
        borrow = g.majority(a ^ 1, b, borrow);
    }
    // a rank within a half has as many bits as its size needs
    const auto cut = [&](const Number &number, i32 size) {
        std::size_t bits = 0;
        while ((i32(1) << bits) < size) ++bits;
        return Number(number.begin(), number.begin() + std::min(bits, number.size()));
    };
    take(g, literals, begin, middle, counts, left, cut(rank, middle - begin), g.both(mask, borrow), taken);
    take(g, literals, middle, end, counts, right, cut(rest, end - middle), g.both(mask, borrow ^ 1), taken);
}

// One step of xoshiro256+ in every word of 64 lanes (Blackman and Vigna 2021).
i32 random_row(Graph &g, i32 (&s)[4]) {
    const i32 result = g.add(s[0], s[3]);
    const i32 shifted = g.shift(s[1], 17);
    s[2] = g.differ(s[2], s[0]);
    s[3] = g.differ(s[3], s[1]);
    s[1] = g.differ(s[1], s[2]);
    s[0] = g.differ(s[0], s[3]);
    s[2] = g.differ(s[2], shifted);
    s[3] = g.rotate(s[3], 45);
    return result;
}

void finish(Program &p) {
    by_level(p);
    p.code = encode(p);
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

ProgramPtr playing(const Circuit &c, int arity, bool shared) {
    Assembler a(c, arity);
    Graph &g = a.g;
    Program &p = *a.p;
    p.plays = true;
    for (int f = 0; f < c.fluents; ++f) a.stand_for(1 + f, a.state());
    p.generator = c.fluents;
    i32 s[4];
    for (i32 &word : s) word = a.state();
    std::vector<int> bits_of(c.roles);
    std::vector<Number> counter(c.roles);
    int states = c.fluents + 4;
    for (int r = 0; r < c.roles; ++r) {
        const int size = c.bounds[r + 1] - c.bounds[r];
        int bits = 1;
        while ((1 << bits) <= size) ++bits;
        bits_of[r] = bits;
        p.counter_bits.push_back(bits);
        p.counters.push_back({states, bits + COUNTER_BITS});
        for (int b = 0; b < bits + COUNTER_BITS; ++b) counter[r].push_back(a.state());
        states += bits + COUNTER_BITS;
    }
    const auto caller = [&](i32 &row) {
        row = 2 + 2 * states + (&row == &p.active ? 0 : &row == &p.late ? 1 : 2);
        return a.row_input();
    };
    const i32 active = caller(p.active), late = caller(p.late), restart = caller(p.restart);

    a.cone(0, c.cones[0]);
    const i32 terminal = a.literal(c.terminal);
    const i32 over = g.both(active, terminal);
    const i32 playing = g.both(g.both(active, terminal ^ 1), late ^ 1);
    struct Role {
        std::vector<i32> legal, taken;
        std::vector<Number> counts;
        Number count;
        i32 several = 0; // at least two legal moves
    };
    std::vector<Role> roles(c.roles);
    i32 stuck = 0, conflict = 0, choosing = 0;
    std::vector<int> stuck_out;
    for (int r = 0; r < c.roles; ++r) {
        Role &role = roles[r];
        for (int m = c.bounds[r]; m < c.bounds[r + 1]; ++m) role.legal.push_back(a.literal(c.legal[m]));
        if (!role.legal.empty()) role.count = tally(g, role.legal, 0, i32(role.legal.size()), role.counts);
        role.count.resize(bits_of[r], 0);
        i32 any = 0;
        for (const i32 bit : role.count) any = g.either(any, bit);
        for (int b = 1; b < bits_of[r]; ++b) role.several = g.either(role.several, role.count[b]);
        stuck_out.push_back(a.output(g.both(playing, any ^ 1)));
        stuck = g.either(stuck, g.both(playing, any ^ 1));
        if (shared) conflict = g.either(conflict, g.both(g.both(choosing, role.several), playing));
        choosing = g.either(choosing, role.several);
        Number seen;
        for (const i32 bit : role.count) seen.push_back(g.both(bit, playing));
        Number total = sum(g, counter[r], seen);
        total.resize(counter[r].size(), 0);
        for (std::size_t b = 0; b < total.size(); ++b) a.set_after(p.counters[r].first + int(b), total[b]);
    }
    // roles that never have two moves choose nothing
    std::vector<std::vector<int>> groups;
    for (int r = 0; r < c.roles; ++r) {
        if (roles[r].legal.size() < 2) continue;
        if (shared && !groups.empty()) groups[0].push_back(r);
        else groups.push_back({r});
    }
    struct Drawn {
        std::vector<int> count, rank, low;
        int suspicious;
        Number inputs; // the rank as the next stage reads it: the caller may change it in between
    };
    std::vector<Drawn> drawn;
    for (const auto &group : groups) {
        Choice choice;
        choice.roles.assign(group.begin(), group.end());
        for (const int r : group) choice.bits = std::max(choice.bits, bits_of[r]);
        choice.fraction = choice.bits + SPARE_BITS;
        Number count(choice.bits, 0);
        i32 several = 0;
        for (const int r : group) {
            several = g.either(several, roles[r].several);
            for (int b = 0; b < bits_of[r]; ++b)
                count[b] = g.either(count[b], group.size() > 1 ? g.both(roles[r].count[b], roles[r].several)
                                                               : roles[r].count[b]);
        }
        // the count times a random fraction, from the lowest bit on; what is shifted out is the product's fraction
        Number product(choice.bits, 0), low;
        i32 nonzero = 0;
        for (int i = 0; i < choice.fraction; ++i) {
            const i32 bit = random_row(g, s);
            Number addend;
            for (const i32 b : count) addend.push_back(g.both(b, bit));
            Number total = sum(g, product, addend);
            total.resize(choice.bits + 1, 0);
            if (i < choice.bits) low.push_back(total[0]);
            else nonzero = g.either(nonzero, total[0]);
            product.assign(total.begin() + 1, total.end());
        }
        Drawn out;
        for (int b = 0; b < choice.bits; ++b) {
            out.count.push_back(a.output(count[b]));
            out.low.push_back(a.output(low[b]));
            const i32 rank = a.row_input();
            out.inputs.push_back(rank);
            a.set_input(rank, product[b]);
            out.rank.push_back(a.output(rank));
        }
        out.suspicious = a.output(g.both(g.both(nonzero ^ 1, several), playing));
        drawn.push_back(out);
        p.choices.push_back(choice);
    }
    for (int i = 0; i < 4; ++i) a.set_after(p.generator + i, s[i]);
    const int over_out = a.output(over), playing_out = a.output(playing), stuck_all = a.output(stuck),
              conflict_out = a.output(conflict);
    p.legal = {0, g.unit + 1};
    const i32 visible = g.unit + 1;

    p.next = a.begin_stage(visible);
    for (std::size_t k = 0; k < groups.size(); ++k)
        for (const int r : groups[k]) {
            Role &role = roles[r];
            role.taken.assign(role.legal.size(), 0);
            Number rank = drawn[k].inputs;
            rank.resize(std::min(rank.size(), std::size_t(bits_of[r])));
            if (groups[k].size() > 1)
                for (i32 &bit : rank) bit = g.both(bit, role.several);
            take(g, role.legal, 0, i32(role.legal.size()), role.counts, i32(role.counts.size()) - 1, rank, 1, role.taken);
        }
    for (int r = 0; r < c.roles; ++r)
        for (int m = c.bounds[r]; m < c.bounds[r + 1]; ++m) {
            const std::size_t i = m - c.bounds[r];
            a.stand_for(c.first_move() + m, roles[r].taken.empty() ? roles[r].legal[i]
                                                                   : g.both(roles[r].taken[i], roles[r].legal[i]));
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
    for (std::size_t k = 0; k < groups.size(); ++k) {
        for (const int i : drawn[k].count) p.choices[k].count.push_back(a.row(i));
        for (const int i : drawn[k].rank) p.choices[k].rank.push_back(a.row(i));
        for (const int i : drawn[k].low) p.choices[k].low.push_back(a.row(i));
        p.choices[k].suspicious = a.row(drawn[k].suspicious);
    }
    for (const int i : goal_out) p.goal_row.push_back(a.row(i));
    finish(p);
    return a.p;
}

Machine::Machine(ProgramPtr program, bool walk) : program_(std::move(program)), walk_(walk || !program_->code) {
    const Program &p = *program_;
    rows_ = RowBuffer(walk_ ? p.walked_rows : p.code->rows());
    std::memset(rows_.row(1), 0xFF, 8 * WORDS);
    now_ = rows_.row(2);
    after_ = rows_.row(2 + p.states);
}

void Machine::exchange() {
    // operations that are walked name their rows; machine code has two pointers
    if (walk_) std::memcpy(now_, after_, sizeof(u64) * WORDS * program_->states);
    else std::swap(now_, after_);
}

// Take over what the feedback of a loop has become, N words from `at` on; returns whether that changed anything.
template <int N> bool Machine::take_back(const Unit &unit, int at) {
    typedef u64 Words __attribute__((vector_size(8 * N)));
    Words differs{};
    for (i32 i = unit.first_back; i < unit.last_back; ++i) {
        u64 *to = row(program_->back[i].row) + at;
        Words before, after;
        std::memcpy(&before, to, sizeof before);
        std::memcpy(&after, row(program_->back[i].source) + at, sizeof after);
        std::memcpy(to, &after, sizeof after);
        differs |= before ^ after;
    }
    u64 words[N], any = 0;
    std::memcpy(words, &differs, sizeof words);
    for (const u64 word : words) any |= word;
    return any != 0;
}

void Machine::run(i32 u, int at, int words) {
    const Program &p = *program_;
    const Unit &unit = p.units[u];
    for (i32 i = unit.first_back; i < unit.last_back; ++i) std::memset(row(p.back[i].row) + at, 0, 8 * words);
    do {
        if (walk_) kernels().walk(rows_.data(), p.walked.data() + unit.begin, p.walked.data() + unit.end);
        else p.code->run(u, rows_.data(), now_, after_, at);
    } while (words == WORDS ? take_back<WORDS>(unit, at) : take_back<WORDS / 2>(unit, at));
}

void Machine::run(const Stage &stage, int lanes) {
    const int words = walk_ ? WORDS : program_->code->words();
    for (int at = 0; 64 * at < lanes; at += words)
        for (i32 u = stage.begin; u < stage.end; ++u) run(u, at, words);
}

} // namespace herbrand

// The graph that lane programs are compiled from: gates, arithmetic on words of random bits, and their units.
//
// A unit is a run of straight-line code.  A value that is computed in one unit and used in a later one has a row of its
// own; within a unit, gates are covered by functions of three (or two) bits, see `cover`.
#pragma once

#include "base.hpp"

#include <array>

namespace herbrand {

class Graph {
public:
    enum Kind : u8 { CONSTANT, INPUT, AND, ADD, SHIFT, ROTATE };
    struct Node {
        Kind kind;
        u8 amount; // of SHIFT and ROTATE: bits to the left
        i32 unit;
        i32 a, b; // literals
    };

    Graph() {
        nodes.push_back({CONSTANT, 0, 0, 0, 0});
        slots_.assign(1 << 12, -1);
    }

    std::vector<Node> nodes;
    i32 unit = 0; // the unit of new nodes
    // Gates of units from `hidden` up to `first_own` are not shared with new nodes: those units may not have run before.
    i32 hidden = 1 << 30, first_own = 0;

    i32 input() {
        nodes.push_back({INPUT, 0, unit, 0, 0});
        return 2 * (size() - 1);
    }
    i32 both(i32 a, i32 b) {
        if (a > b) std::swap(a, b);
        if (a == 0 || a == (b ^ 1)) return 0;
        if (a == 1 || a == b) return b;
        if (2 * nodes.size() >= slots_.size()) grow();
        std::size_t place = find(a, b);
        if (slots_[place] >= 0) return 2 * slots_[place];
        slots_[place] = size();
        nodes.push_back({AND, 0, unit, a, b});
        return 2 * (size() - 1);
    }
    i32 either(i32 a, i32 b) { return both(a ^ 1, b ^ 1) ^ 1; }
    i32 differ(i32 a, i32 b) { return both(both(a, b) ^ 1, both(a ^ 1, b ^ 1) ^ 1); }
    i32 choose(i32 condition, i32 yes, i32 no) {
        return both(both(condition, yes) ^ 1, both(condition ^ 1, no) ^ 1) ^ 1;
    }
    i32 majority(i32 a, i32 b, i32 c) { return either(both(a, b), both(c, either(a, b))); }
    // Arithmetic on words of 64 bits: sums, shifts.
    i32 add(i32 a, i32 b) { return special(ADD, 0, a, b); }
    i32 shift(i32 a, int places) { return special(SHIFT, static_cast<u8>(places), a, 0); }
    i32 rotate(i32 a, int places) { return special(ROTATE, static_cast<u8>(places), a, 0); }

    i32 size() const { return static_cast<i32>(nodes.size()); }

private:
    i32 special(Kind kind, u8 amount, i32 a, i32 b) {
        nodes.push_back({kind, amount, unit, a, b});
        return 2 * (size() - 1);
    }
    std::size_t find(i32 a, i32 b) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = scatter(u64(u32(a)) << 32 | u32(b)) & mask;
        while (slots_[place] >= 0) {
            const Node &node = nodes[slots_[place]];
            if (node.a == a && node.b == b && (node.unit < hidden || node.unit >= first_own)) break;
            place = (place + 1) & mask;
        }
        return place;
    }
    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        const std::size_t mask = slots_.size() - 1;
        for (i32 i = 0; i < size(); ++i) {
            if (nodes[i].kind != AND) continue;
            std::size_t place = scatter(u64(u32(nodes[i].a)) << 32 | u32(nodes[i].b)) & mask;
            while (slots_[place] >= 0) place = (place + 1) & mask;
            slots_[place] = i;
        }
    }

    std::vector<i32> slots_;
};

// A node as a function of up to three others; bit 4 * a + 2 * b + c of the table is its value.
struct Lut {
    i32 node;
    u8 table;
    u8 leaves; // the number of leaves that the value depends on
    std::array<i32, 3> leaf;
};

// Technology mapping: covers the gates of a unit that the `wanted` nodes depend on by few functions of at most `arity`
// bits, with cuts chosen by area flow, then by exact local area (Mishchenko, Chatterjee and Brayton 2007).  The result
// is in topological order.  Arithmetic nodes are included, with table 0 and the nodes of their operands as leaves.
// `mine` are the nodes of the unit other than inputs, ascending; `index` is scratch with an entry for every node, all -1.
std::vector<Lut> cover(const Graph &graph, const std::vector<i32> &mine, std::vector<i32> &index,
                       const std::vector<i32> &wanted, int arity);

} // namespace herbrand

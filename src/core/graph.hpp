// And-inverter graphs under construction, with structural hashing: equal gates are shared.
//
// A literal is 2 * node + inverted; node 0 is false.  Numbers from callers are checked before they are used as indices;
// those out of range throw std::invalid_argument.
#pragma once

#include "base.hpp"

namespace herbrand {

// A read-only, non-owning array.
template <class T> struct View {
    const T *data = nullptr;
    i64 size = 0;

    T operator[](i64 i) const { return data[i]; }
    T at(i64 i) const {
        if (static_cast<u64>(i) >= static_cast<u64>(size)) throw std::invalid_argument("a number is out of range");
        return data[i];
    }
};

// A hash table of gates by their operands, which are stored elsewhere; open addressing.  At least half of the slots
// must stay free.
class GateTable {
public:
    explicit GateTable(i64 least) {
        u64 size = 16;
        while (size < static_cast<u64>(least)) size *= 2;
        slots_.assign(size, -1);
    }
    // The slot of the gate with these operands, or the free one where it belongs.
    i32 &slot(i32 a, i32 b, const i32 *left, const i32 *right) {
        const u64 mask = slots_.size() - 1;
        u64 where = ((static_cast<u64>(a) * 0x9E3779B97F4A7C15u) ^ (static_cast<u64>(b) * 0xC2B2AE3D27D4EB4Fu)) >> 20;
        for (where &= mask;; where = (where + 1) & mask) {
            i32 &gate = slots_[where];
            if (gate < 0 || (left[gate] == a && right[gate] == b)) return gate;
        }
    }

private:
    std::vector<i32> slots_;
};

// A growing graph.  Nodes are the constant, variables and gates, in order of creation; `left` of a node that is not a
// gate is -1.
class GateGraph {
public:
    // The operands, sized to the capacity; arrays in Python keep an old block alive after it is replaced.
    struct Operands {
        std::vector<i32> left, right;
    };

    GateGraph();
    i64 nodes() const { return nodes_; }
    const std::shared_ptr<Operands> &operands() const { return operands_; }

    // Create variables and return the node of the first.
    i64 variables(i64 count);
    i32 conjunction(i32 a, i32 b);
    // Copy the gates begin <= g < end of another graph, whose gate 0 is node `first`: `value[node]` has the literals of its
    // nodes in this graph, and is filled in for these gates.
    void copy(View<i32> left, View<i32> right, i64 first, i64 begin, i64 end, i32 *value, i64 values);
    // The conjunction of any number of literals, as a balanced tree.
    i32 all_of(View<i32> literals);
    // The literals of "exactly one is true" and "at most one is true".
    std::pair<i32, i32> only_one(View<i32> literals);

private:
    void grow(i64 nodes);
    void check(View<i32> literals) const;

    i64 nodes_ = 1;
    std::shared_ptr<Operands> operands_;
    GateTable table_{0};
};

// Nodes 0 .. count - 1 in topological order, ends of edges first, and the strong component of each (Tarjan 1972);
// the edges of node n are edges[start[n] .. start[n + 1] - 1].
struct Components {
    std::vector<i32> order, component;
};
Components strong_components(View<i64> start, View<i32> edges, i64 count);

struct Wired {
    std::vector<i32> left, right;
    std::vector<i32> feedback; // atoms
    std::vector<i32> loops;    // four numbers each: first gate, last + 1, first feedback, last + 1
};
// The gates of all atoms of a ground program; see `herbrand.network.graph.build_gates`.
Wired build_gates(View<i32> order, View<i32> component, View<i64> rule_start, View<i32> rules, View<i64> body_start,
                  View<i32> body, i32 *literal, i64 literals, i64 first, i64 feedback_first);

// Marks the gates that some literals depend on; loops (four numbers each, as above) are marked as a whole.
std::vector<u8> mark_cone(View<i32> left, View<i32> right, i64 first, i64 feedback_first, View<i32> feedback,
                          View<i32> loops, View<i32> wanted);

// The gates that a node depends on and whose `state` is not 1, as wide conjunctions: node, number of inputs, and these
// as literals.  `state` and `uses` have `room` entries.
std::vector<i64> unknown_cone(View<i32> left, View<i32> right, std::int8_t *state, i32 *uses, i64 room, i64 root);

// The literals of the maximal conjunction that equals a literal.
std::vector<i32> conjuncts(View<i32> left, View<i32> right, i64 first, i32 literal);

// The number of gates that each literal depends on, capped at `most`.
std::vector<i64> cone_sizes(View<i32> left, View<i32> right, i64 first, View<i32> literals, i64 most);

} // namespace herbrand

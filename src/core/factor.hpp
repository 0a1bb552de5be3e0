// Smaller and-inverter graphs: common factors of disjunctions, common pairs of conjunctions.
#pragma once

#include "graph.hpp"

namespace herbrand {

struct Factored {
    std::vector<i32> left, right; // gate g is node first + g
    std::vector<i32> outputs;     // the literals that the outputs have become
};

// Gates for the same outputs; see `herbrand.network.passes.factor`.
//
// Gate g of the graph is node `first + g`, its operands are nodes before it.  Of the inputs of a group, literals
// group[group_start[k]] .. group[group_start[k + 1] - 1], never two are true: the outputs are equal where that holds.
Factored factor(View<i32> left, View<i32> right, i64 first, View<i32> outputs, View<i64> group_start,
                View<i32> group);

} // namespace herbrand

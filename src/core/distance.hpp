// Heuristic distances of states to a condition, computed over gates (see `herbrand.analyse.solving.distance`).
#pragma once

#include "base.hpp"

namespace herbrand {

// Nodes are 0 (false), the fluents, then gates in topological order; literals are 2 * node + inverted.
// Groups of fluents have tables of the steps from one of their fluents to another: group k has the fluents
// members[starts[k] .. starts[k + 1]], and its table of (size + 1) * size steps, the last row for the case that
// none of them is true, begins at steps[tables[k]].
struct DistanceNetwork {
    i64 fluents, gates, groups;
    const i32 *left, *right; // [gates]
    std::vector<i32> literals;
    std::vector<float> weights; // [literals]
    const i64 *starts;          // [groups + 1]
    const i64 *members;
    const i64 *tables; // [groups]
    const float *steps;
    float far; // the distance to an impossible condition
};

} // namespace herbrand

// How far states are from being of some kind, counted along gates (see `herbrand.analyse.solving.distance`).
#pragma once

#include "base.hpp"

namespace herbrand {

// Nodes are 0 (false), the fluents, then gates, each after what it depends on; literals are 2 * node + inverted.
// Groups of fluents say how many steps it takes from one of them to another: group k has the fluents
// members[starts[k] .. starts[k + 1]], and its table of (size + 1) * size steps, the last row from none of
// them, begins at steps[tables[k]].
struct DistanceNetwork {
    i64 fluents, gates, groups;
    const i32 *left, *right; // [gates]
    std::vector<i32> literals;
    std::vector<float> weights; // [literals]
    const i64 *starts;          // [groups + 1]
    const i64 *members;
    const i64 *tables; // [groups]
    const float *steps;
    float far; // the distance to what cannot be
};

} // namespace herbrand

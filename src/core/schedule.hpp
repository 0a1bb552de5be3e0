// Instruction scheduling of lane programs.
#pragma once

#include "lanes.hpp"

namespace herbrand {

// Reorders the operations of each unit so that few rows are live at a time and values are used while they are in a
// register or in the L1 cache.  The optimal order is NP-hard to find (Sethi 1975); this is a greedy heuristic in about
// linear time.
void schedule(Program &program);

} // namespace herbrand

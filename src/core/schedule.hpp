// The order of the operations of a unit.
#pragma once

#include "lanes.hpp"

namespace herbrand {

// Reorders the operations of each unit so that few rows are alive at a time: what is made is used soon, while it stands in a
// register or in the first level of the cache.  Finding the best order is NP-hard (Sethi 1975); this goes step by step, in
// time about proportional to the number of operations.
void schedule(Program &program);

} // namespace herbrand

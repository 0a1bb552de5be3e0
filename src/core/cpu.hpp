// Processor levels that kernels are compiled for, and the choice among them.
#pragma once

#include "kernels.hpp"

#include <string>
#include <vector>

namespace herbrand {

// The names of the levels that this build contains and this processor supports, best last.
std::vector<std::string> usable_levels();
// The kernels of a level; throws std::invalid_argument if it is not usable.
const Kernels &kernels_of(const std::string &level);
// The kernels in use, initially those of the best level.
const Kernels &kernels();
void use_kernels(const Kernels &);
// Whether this is an x86-64 processor with POPCNT.
bool has_popcount();

} // namespace herbrand

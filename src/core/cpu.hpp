// The levels of processors that kernels are compiled for.
#pragma once

#include "kernels.hpp"

#include <string>
#include <vector>

namespace herbrand {

// The names of the levels that this build has and this processor can run, the best one last.
std::vector<std::string> usable_levels();
// The kernels of a level by its name; throws std::invalid_argument for one that cannot be used here.
const Kernels &kernels_of(const std::string &level);
// Those that are used: at first of the best level.
const Kernels &kernels();
void use_kernels(const Kernels &);
// Whether this is an x86-64 with an instruction that counts bits.
bool has_popcount();

} // namespace herbrand

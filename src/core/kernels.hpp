// The functions that are compiled once for each level of the processor, as a table.
#pragma once

#include "base.hpp"

namespace herbrand {

struct DistanceNetwork;
struct Op;

struct Kernels {
    const char *level;
    // Compute the rows of straight-line code, one row of 512 lanes after the other; see lanes.hpp.
    void (*walk)(u64 *rows, const Op *begin, const Op *end);
    // Fill found[i] with the distance of packed state i, of so many words; false when `stop` ended it.
    // See distance.hpp.
    bool (*distances)(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *found, Stop &stop);
};

#define HB_DECLARE_KERNELS(name) \
    namespace name {             \
    extern const Kernels table;  \
    }
HB_DECLARE_KERNELS(portable)
HB_DECLARE_KERNELS(x86_64_v2)
HB_DECLARE_KERNELS(x86_64_v3)
HB_DECLARE_KERNELS(x86_64_v4)
#undef HB_DECLARE_KERNELS

} // namespace herbrand

// The functions that are compiled once for each level of the processor, as a table.
#pragma once

#include "base.hpp"

namespace herbrand {

struct Op;
struct BatchKernels; // batch.hpp

struct Kernels {
    const char *level;
    // Compute the rows of straight-line code, one row of 512 lanes after the other; see lanes.hpp.
    void (*walk)(u64 *rows, const Op *begin, const Op *end);
    // What environments do with rows.
    const BatchKernels *batch;
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

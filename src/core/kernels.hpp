// The functions that are compiled once for each level of the processor, as a table.
#pragma once

#include "base.hpp"

namespace herbrand {

struct DistanceNetwork;
struct Op;
struct RowDraw;
struct Block;
struct BatchKernels; // batch.hpp

struct Kernels {
    const char *level;
    // Compute the rows of straight-line code, one row of 512 lanes after the other; see lanes.hpp.
    void (*walk)(u64 *rows, const Op *begin, const Op *end);
    // List the rows that are true in some lane of the row `among`, ascending; returns how many.  `from` and `to` get the
    // rows of these, `taken` of those that were live, and are no longer, becomes false.  All have `count` elements.
    int (*list_live)(const u64 *const *rows, u64 *const *taken, int count, const u64 *among, u8 *is_live, i32 *live,
                     const u64 **from, u64 **to);
    // Take one of the true bits of some rows in every lane.  See choice.hpp.
    void (*draw)(const RowDraw &draw);
    // Make the first words of each row to[i] what from[i] says in the lanes of the row `mask`.
    void (*take_where)(u64 *const *to, const u64 *const *from, int count, const u64 *mask, int words);
    // Transpose, for each of the words of a row, that word of 64 rows as a square of bits, in place.
    void (*transpose)(u64 *rows);
    // Play on in all lanes for at most so many passes; returns how many were made.  See play.hpp.
    i64 (*play)(Block &block, i64 passes);
    // Compute functions of three bits on values in registers, `turns` times 64 rows.
    u64 (*spin)(i64 turns);
    // Fill found[i] with the distance of packed state i, of so many words; false when `stop` ended it.
    // See distance.hpp.
    bool (*distances)(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *found, Stop &stop);
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
HB_DECLARE_KERNELS(arm64)
#undef HB_DECLARE_KERNELS

} // namespace herbrand

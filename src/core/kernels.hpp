// The table of functions that are compiled once for each processor level.
#pragma once

#include "base.hpp"

namespace herbrand {

struct DistanceNetwork;
struct Op;
struct Read;
struct RowDraw;
struct Block;
struct BatchKernels; // batch.hpp

struct Kernels {
    const char *level;
    // Interpret operations of a lane program, one row of 512 lanes at a time; see lanes.hpp.
    void (*walk)(u64 *rows, const Op *begin, const Op *end);
    // List in `live` the rows that are true in some lane of the row `among`, ascending, and return their number.  `from`
    // and `to` get the pointers of these; rows of `taken` that were live and no longer are become false.  All arrays have
    // `count` elements.
    int (*list_live)(const u64 *const *rows, u64 *const *taken, int count, const u64 *among, u64 *is_live, i32 *live,
                     const u64 **from, u64 **to);
    // Choose one of the true bits of some rows in every lane; see choice.hpp.
    void (*draw)(const RowDraw &draw);
    // Copy from[i] to to[i] in the lanes of the row `mask`, for the first `words` words of each row.
    void (*take_where)(u64 *const *to, const u64 *const *from, int count, const u64 *mask, int words);
    // Copy from[i] to to[i], `words` words of each row; return whether any of them changed.
    bool (*take_back)(u64 *const *to, const u64 *const *from, int count, int words);
    // Prepare the feedback of a loop, `backs` rows, to go on from its last result: it becomes false in the lanes in which
    // a row that is read has changed in a direction in which it may not.  `before` are the rows that were read the last
    // time, `now` those of this time, which are copied there.  Return whether any of them changed.
    bool (*resume)(const Read *reads, const u64 *const *now, u64 *before, int count, u64 *const *back, int backs,
                   int words);
    // Transpose 64 consecutive rows as WORDS bit matrices, one for each word of a row, in place.
    void (*transpose)(u64 *rows);
    // Play in all lanes for at most so many passes; returns the number of passes.  See play.hpp.
    i64 (*play)(Block &block, i64 passes);
    // Benchmark of peak speed: compute `turns` times 64 three-input functions of rows in registers.
    u64 (*spin)(i64 turns);
    // Fill results[i] with the distance of packed state i, of so many words; false if `stop` ended the call.
    // See distance.hpp.
    bool (*distances)(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *results, Stop &stop);
    // Kernels of environments.
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

// Kernels of environments on the rows of a block, compiled for each processor level.
#pragma once

#include "base.hpp"

namespace herbrand {

struct BatchKernels {
    // Copy the `n` rows of a role's legal moves to `options`; rows that are false in all lanes, and were before according to
    // `is_live`, are not written.  `live` becomes the list of the other rows, whose number is returned.  `seen` becomes
    // the lanes with a legal move, `choice` those with several, `active` those with one that is not idle.
    int (*survey)(const u64 *const *legal, int n, const u8 *idle, u64 *options, u8 *is_live, i32 *live, u64 *seen,
                  u64 *choice, u64 *active);
    // rows[i] becomes values[i] in the lanes of `lanes`.
    void (*assign)(const u8 *values, int n, const u64 *lanes, u64 *rows);
    // rows[i] becomes *source[i] in the lanes of `lanes`.
    void (*merge)(const u64 *const *source, int n, const u64 *lanes, u64 *rows);
    // *target[i] becomes rows[i].
    void (*copy)(const u64 *rows, int n, u64 *const *target);
    // *target[m] becomes options[m] outside of `lanes`, for the n moves m in `which`.
    void (*take_options)(const u64 *options, const i32 *which, int n, const u64 *lanes, u64 *const *target);
    // *rows[m] becomes false, for the n moves m in `which`.
    void (*clear)(u64 *const *rows, const i32 *which, int n);
    // Or options[m] & lanes into out[place[m]], for the n moves m in `which` whose place is not negative; rows of `out`
    // for which `is_there` is false are uninitialised.
    void (*unite)(const u64 *options, const i32 *which, int n, const i32 *place, const u64 *lanes, u8 *is_there, u64 *out);
    // Transpose the rows[columns[i]], i < n, into squares of 64 by 64 bits, one for each word of a row: word w of
    // row 64 * j + b has the bits 64 * j ... of lane 64 * w + b.  A column below 0 is false;
    // `squares` has room for n rows, rounded up to 64.
    void (*pack)(const u64 *rows, const i32 *columns, int n, u64 *squares);
    // Write such squares lane by lane, for the lanes below `count`: a byte for each bit, or packed whole words.  Vector
    // stores may go beyond a lane, up to `end`; the next lane overwrites that.
    void (*emit)(const u64 *squares, int n, bool packed, int count, u8 *out, u8 *end);
    // Write the bits of a row as bytes.
    void (*spread)(const u64 *row, u8 *out);
    // Set steps[lane] to 0 in the lanes of `begun` and increment it in those of `going`; return the maximum.
    i32 (*age)(i32 *steps, const u64 *going, const u64 *begun);
};

} // namespace herbrand

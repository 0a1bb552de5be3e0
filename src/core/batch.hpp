// What environments do with the rows of a block, compiled for each level of the processor.
#pragma once

#include "base.hpp"

namespace herbrand {

struct BatchKernels {
    // What a role may do: copies `n` rows into `options`; `seen` gets the lanes with a legal move, `choice` those
    // with two, `active` those with one that is not idle.
    void (*survey)(const u64 *const *legal, int n, const u8 *idle, u64 *options, u64 *seen, u64 *choice, u64 *active);
    // Draw one of the true bits of n rows in every lane; `generator` is four rows of state, used up in place.
    // At most 4095 rows.
    void (*choose)(const u64 *const *rows, int n, u64 *generator, u64 *const *taken);
    // The next random row.
    void (*random)(u64 *generator, u64 *row);
    // rows[i] becomes values[i] in the lanes of `lanes`.
    void (*assign)(const u8 *values, int n, const u64 *lanes, u64 *rows);
    // rows[i] becomes *source[i] in the lanes of `lanes`.
    void (*merge)(const u64 *const *source, int n, const u64 *lanes, u64 *rows);
    // *target[i] becomes rows[i].
    void (*copy)(const u64 *rows, int n, u64 *const *target);
    // *target[i] becomes rows[i] outside of `lanes`.
    void (*copy_outside)(const u64 *rows, int n, const u64 *lanes, u64 *const *target);
    // out[a] becomes the union, over players p, of turns[p] & options[number[p * n + a]]; numbers below 0 are none.
    void (*mask)(const u64 *options, const i32 *number, const u64 *turns, int players, int n, u64 *out);
    // Transpose the rows[columns[i]], i < n, into squares of 64 by 64 bits, one for each word of a row: word w of
    // row 64 * j + b has the bits 64 * j ... of lane 64 * w + b.  A column below 0 is false;
    // `squares` has room for n rows, rounded up to 64.
    void (*pack)(const u64 *rows, const i32 *columns, int n, u64 *squares);
    // Write them, of the lanes below `count`, lane by lane: a byte for each bit, or packed whole words.  What is
    // written past a lane, before `end`, is written again by the next one.
    void (*emit)(const u64 *squares, int n, bool packed, int count, u8 *out, u8 *end);
    // Write the bits of a row as bytes.
    void (*spread)(const u64 *row, u8 *out);
    // steps[lane] becomes 0 in the lanes of `begun` and one more in those of `going`; returns the largest.
    i32 (*age)(i32 *steps, const u64 *going, const u64 *begun);
};

} // namespace herbrand

// The table of the functions that are compiled for this level.

#include "kernels.hpp"

#define HB_TEXT(name) #name
#define HB_NAME(name) HB_TEXT(name)

namespace herbrand::HB_LEVEL {

void walk_rows(u64 *rows, const Op *begin, const Op *end);
int choose(const RoleChoice &choice);
void take_where(u64 *const *to, const u64 *const *from, int count, const u64 *mask);
void clear_rows(u64 *const *rows, const i32 *which, int count);
void transpose_rows(u64 *rows);

i64 play_block(Block &block, i64 passes);
u64 spin(i64 turns);
bool distances(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *found, Stop &stop);

extern const BatchKernels batch;
extern const Kernels table;
const Kernels table = {HB_NAME(HB_LEVEL), walk_rows, choose, take_where, clear_rows, transpose_rows, play_block, spin,
                       distances, &batch};

} // namespace herbrand::HB_LEVEL

// The table of the functions that are compiled for this level.

#include "kernels.hpp"

#define HB_TEXT(name) #name
#define HB_NAME(name) HB_TEXT(name)

// What a level adds to the one below may be of no use to some functions: HB_ROWS is the level that they are taken from.
namespace herbrand::HB_ROWS {

void walk_rows(u64 *rows, const Op *begin, const Op *end);
int list_live(const u64 *const *rows, u64 *const *taken, int count, const u64 *among, u64 *is_live, i32 *live,
              const u64 **from, u64 **to);
void draw_row(const RowDraw &draw);
void take_where(u64 *const *to, const u64 *const *from, int count, const u64 *mask, int words);
bool take_back(u64 *const *to, const u64 *const *from, int count, int words);
bool resume(const Read *reads, const u64 *const *now, u64 *before, int count, u64 *const *back, int backs, int words);
void transpose_rows(u64 *rows);
u64 spin(i64 turns);
bool distances(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *results, Stop &stop);

} // namespace herbrand::HB_ROWS

namespace herbrand::HB_LEVEL {

i64 play_block(Block &block, i64 passes);

extern const BatchKernels batch;
extern const Kernels table;
const Kernels table = {HB_NAME(HB_LEVEL),      HB_ROWS::walk_rows, HB_ROWS::list_live, HB_ROWS::draw_row,
                       HB_ROWS::take_where,    HB_ROWS::take_back, HB_ROWS::resume,    HB_ROWS::transpose_rows,
                       play_block,             HB_ROWS::spin,      HB_ROWS::distances, &batch};

} // namespace herbrand::HB_LEVEL

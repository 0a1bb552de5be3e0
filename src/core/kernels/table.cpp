// The table of the functions that are compiled for this level.

#include "kernels.hpp"

#define HB_TEXT(name) #name
#define HB_NAME(name) HB_TEXT(name)

namespace herbrand::HB_LEVEL {

void walk_rows(u64 *rows, const Op *begin, const Op *end);
i64 play_block(Block &block, i64 passes);
u64 spin(i64 turns);

extern const Kernels table;
const Kernels table = {HB_NAME(HB_LEVEL), walk_rows, play_block, spin};

} // namespace herbrand::HB_LEVEL

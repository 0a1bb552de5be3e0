// Loops of lane programs: feedback, and whether it can go on from its last result; see `Machine::run_loop`.

#include "kernels.hpp"
#include "lanes.hpp"

#include <cstring>

namespace herbrand::HB_LEVEL {

namespace {

template <int N> struct Lanes {
    typedef u64 Words __attribute__((vector_size(8 * N)));

    static Words load(const u64 *row) {
        Words words;
        std::memcpy(&words, row, sizeof words);
        return words;
    }
    static void store(u64 *row, Words words) { std::memcpy(row, &words, sizeof words); }
    static bool any(Words words) {
        u64 each[N], all = 0;
        std::memcpy(each, &words, sizeof each);
        for (const u64 word : each) all |= word;
        return all != 0;
    }

    static bool take_back(u64 *const *to, const u64 *const *from, int count) {
        Words differs{};
        for (int i = 0; i < count; ++i) {
            const Words before = load(to[i]), after = load(from[i]);
            store(to[i], after);
            differs |= before ^ after;
        }
        return any(differs);
    }

    static bool resume(const Read *reads, const u64 *const *now, u64 *before, int count, u64 *const *back, int backs) {
        Words differs{}, wrong{};
        for (int i = 0; i < count; ++i, before += WORDS) {
            const Words last = load(before), mine = load(now[i]), change = last ^ mine;
            store(before, mine);
            differs |= change;
            // what rose though it may not, or fell
            wrong |= change & (reads[i].may_rise ? (reads[i].may_fall ? Words{} : last) : reads[i].may_fall ? mine : change);
        }
        if (!any(differs)) return false;
        for (int i = 0; i < backs; ++i) store(back[i], load(back[i]) & ~wrong);
        return true;
    }
};

} // namespace

bool take_back(u64 *const *to, const u64 *const *from, int count, int words) {
    return words == WORDS ? Lanes<WORDS>::take_back(to, from, count) : Lanes<WORDS / 2>::take_back(to, from, count);
}

bool resume(const Read *reads, const u64 *const *now, u64 *before, int count, u64 *const *back, int backs, int words) {
    return words == WORDS ? Lanes<WORDS>::resume(reads, now, before, count, back, backs)
                          : Lanes<WORDS / 2>::resume(reads, now, before, count, back, backs);
}

} // namespace herbrand::HB_LEVEL

// Random games, 512 at a time: the parts of a step that are not in the lane program.
//
// A step is: mark the lanes at the step limit in `late`, fill the random rows, run the stage `legal`, which also draws the
// moves, run `goals` if a game is over, restart the lanes whose games end, run `next`, which computes the next states
// (the initial one in the lanes of `restart`), and exchange the two arrays of state rows.

#include "kernels.hpp"
#include "play.hpp"

#include <cstring>

namespace herbrand::HB_LEVEL {

namespace {

typedef u64 Half __attribute__((vector_size(4 * WORDS)));

// A row of the machine of a block.  In machine code for AVX2 its halves are `gap` words apart.
class SplitRow {
public:
    SplitRow(Machine &machine, i32 i) : half_{machine.row(i), machine.row(i) + WORDS / 2 + machine.gap()} {}
    u64 &operator[](int w) const { return half_[w / (WORDS / 2)][w % (WORDS / 2)]; }
    Half load(int k) const {
        Half half;
        std::memcpy(&half, half_[k], sizeof half);
        return half;
    }
    void store(int k, const Half &half) const { std::memcpy(half_[k], &half, sizeof half); }

private:
    u64 *half_[2];
};

bool any(const SplitRow &row) {
    const Half united = row.load(0) | row.load(1);
    return (united[0] | united[1] | united[2] | united[3]) != 0;
}

i64 count(const SplitRow &row) {
    i64 total = 0;
    for (int w = 0; w < WORDS; ++w) total += popcount(row[w]);
    return total;
}

// Draw a rank below `count` in each lane of `again`, where rejection sampling in the program rejected all its attempts:
// rare, so done one lane at a time.  Ranks and counts are binary numbers across rows, lowest bit first.
void draw_again(Block &block, const Choice &choice) {
    Machine &machine = block.machine;
    const SplitRow again(machine, choice.again);
    for (int w = 0; w < WORDS; ++w) {
        const u64 failed = again[w];
        if (!failed) continue;
        u64 count[32], rank[32];
        const int bits = choice.bits;
        for (int b = 0; b < bits; ++b) {
            count[b] = SplitRow(machine, choice.count[b])[w];
            rank[b] = SplitRow(machine, choice.rank[b])[w] & ~failed;
        }
        for (u64 lanes = failed; lanes; lanes &= lanes - 1) {
            const int lane = lowest_bit(lanes);
            u64 moves = 0;
            for (int b = 0; b < bits; ++b) moves |= (count[b] >> lane & 1) << b;
            const u64 drawn = block.random.below(moves);
            for (int b = 0; b < bits; ++b) rank[b] |= (drawn >> b & 1) << lane;
        }
        for (int b = 0; b < bits; ++b) SplitRow(machine, choice.rank[b])[w] = rank[b];
    }
}

// Fill the random rows: one xoshiro256+ generator for each word of 64 lanes (Blackman and Vigna 2021).
void fill_random(Machine &machine, u64 (&generator)[4][WORDS]) {
#if defined(__AVX512F__)
    typedef u64 Part __attribute__((vector_size(64)));
#elif defined(__AVX__)
    typedef u64 Part __attribute__((vector_size(32)));
#else
    typedef u64 Part __attribute__((vector_size(16)));
#endif
    constexpr int WIDTH = sizeof(Part) / 8, PARTS = WORDS / WIDTH;
    const Program &p = machine.program();
    Part s[4][PARTS];
    std::memcpy(s, generator, sizeof s);
    u64 *rows = machine.row(p.random);
    const int pitch = machine.pitch();
    const std::ptrdiff_t gap = machine.gap();
    for (int i = p.randoms; i; --i, rows += pitch) {
#pragma GCC unroll 4
        for (int k = 0; k < PARTS; ++k) {
            const Part result = s[0][k] + s[3][k], shifted = s[1][k] << 17;
            if (WIDTH < WORDS || gap == 0) {
                std::memcpy(rows + k * WIDTH + (k * WIDTH < WORDS / 2 ? 0 : gap), &result, sizeof result);
            } else {
                // a vector is a whole row, whose halves are apart
                std::memcpy(rows, &result, sizeof result / 2);
                std::memcpy(rows + WORDS / 2 + gap, reinterpret_cast<const u8 *>(&result) + sizeof result / 2, sizeof result / 2);
            }
            s[2][k] ^= s[0][k];
            s[3][k] ^= s[1][k];
            s[1][k] ^= s[2][k];
            s[0][k] ^= s[3][k];
            s[2][k] ^= shifted;
            s[3][k] = (s[3][k] << 45) | (s[3][k] >> 19);
        }
    }
    std::memcpy(generator, s, sizeof s);
}

// Count the games that end in the lanes of a row, and begin new ones; lanes that have played their quota become inactive.
void end_games(Block &block, const SplitRow &ended, const SplitRow &active) {
    Block::Lane *const all = block.lanes.data();
    i64 *lengths = block.lengths.data();
    std::size_t longest = block.lengths.size();
    const i64 step = block.step;
    for (int w = 0; w < WORDS; ++w) {
        const u64 word = ended[w];
        u64 idle = 0;
        for (u64 lanes = word; lanes; lanes &= lanes - 1) {
            const int bit = lowest_bit(lanes);
            Block::Lane &lane = all[64 * w + bit];
            const std::size_t length = static_cast<std::size_t>(step - lane.start);
            if (length >= longest) {
                block.lengths.resize(2 * length, 0);
                lengths = block.lengths.data();
                longest = block.lengths.size();
            }
            ++lengths[length];
            lane.start = step + 1;
            if (--lane.quota == 0) idle |= u64(1) << bit;
        }
        block.games += popcount(word);
        if (idle) active[w] &= ~idle; // conditional, because a vector load after a store of one word stalls
    }
}

} // namespace

i64 play_block(Block &block, i64 passes) {
    Machine &machine = block.machine;
    const Program &p = machine.program();
    const SplitRow active(machine, p.active), late(machine, p.late), restart(machine, p.restart);
    const SplitRow over(machine, p.over), stuck(machine, p.stuck), conflict(machine, p.conflict);
    i64 steps = 0;
    while (steps < passes && any(active)) {
        // Games that have reached the step limit end with this step, even if they are not over.
        const bool limit = block.step - block.oldest >= block.max_steps;
        for (int k = 0; k < 2; ++k) late.store(k, Half{});
        if (limit) {
            i64 oldest = block.step;
            for (int lane = 0; lane < LANES; ++lane) {
                if (!(active[lane >> 6] >> (lane & 63) & 1)) continue;
                const i64 start = block.lanes[lane].start;
                if (block.step - start >= block.max_steps) late[lane >> 6] |= u64(1) << (lane & 63);
                else if (start < oldest) oldest = start;
            }
            block.oldest = oldest;
        }
        fill_random(machine, block.generator);
        machine.run(p.legal);
        if (any(conflict)) { // an assumption of the program is wrong: the caller repeats this step with another program
            block.conflict = true;
            break;
        }
        for (const Choice &choice : p.choices)
            if (any(SplitRow(machine, choice.again))) draw_again(block, choice);
        const bool some_over = any(over), some_stuck = any(stuck);
        if (some_over) {
            machine.run(p.goals);
            block.ended += count(over);
            // `goals` has the games with each goal; equal functions share a row, and then follow each other
            i32 last = -1;
            i64 games = 0;
            for (std::size_t k = 0; k < block.goals.size(); ++k) {
                if (p.goal_row[k] != last) {
                    last = p.goal_row[k];
                    games = count(SplitRow(machine, last));
                }
                block.goals[k] += games;
            }
        }
        for (int k = 0; k < 2; ++k) {
            const Half is_late = late.load(k) & active.load(k) & ~over.load(k);
            late.store(k, is_late);
            restart.store(k, over.load(k) | stuck.load(k) | is_late);
        }
        if (some_stuck) {
            block.stuck += count(stuck);
            if (block.stuck_role < 0) { // keep the first such state, for the message
                for (int r = 0; r < block.circuit.roles && block.stuck_role < 0; ++r)
                    if (any(SplitRow(machine, p.stuck_role[r]))) block.stuck_role = r;
                const SplitRow stuck_lanes(machine, p.stuck_role[block.stuck_role]);
                int w = 0;
                while (!stuck_lanes[w]) ++w;
                const int bit = lowest_bit(stuck_lanes[w]);
                block.stuck_state.assign(block.circuit.state_words(), 0);
                for (int f = 0; f < block.circuit.fluents; ++f)
                    block.stuck_state[f / 64] |= (machine.word(machine.state(f), w) >> bit & 1) << (f % 64);
            }
        }
        if (limit) block.truncated += count(late);
        if (some_over || some_stuck || limit) end_games(block, restart, active);
        machine.run(p.next);
        machine.exchange();
        ++block.step;
        ++steps;
        if (++block.since_flush == (1 << COUNTER_BITS) - 1) block.flush();
    }
    return steps;
}

} // namespace herbrand::HB_LEVEL

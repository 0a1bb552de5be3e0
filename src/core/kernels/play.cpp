// The passes of random play: what a program does not do by itself.

#include "kernels.hpp"
#include "play.hpp"

#include <cstring>

namespace herbrand::HB_LEVEL {

namespace {

bool any(const u64 *row) {
    u64 found = 0;
    for (int w = 0; w < WORDS; ++w) found |= row[w];
    return found != 0;
}

i64 count(const u64 *row) {
    i64 total = 0;
    for (int w = 0; w < WORDS; ++w) total += popcount(row[w]);
    return total;
}

// Draw where all attempts failed: that happens too rarely to do it for all lanes at once.
void draw_again(Block &block, const Choice &choice) {
    Machine &machine = block.machine;
    const u64 *again = machine.row(choice.again);
    for (int w = 0; w < WORDS; ++w)
        for (u64 lanes = again[w]; lanes; lanes &= lanes - 1) {
            const u64 bit = lanes & -lanes;
            u64 moves = 0;
            for (int b = 0; b < choice.bits; ++b) moves |= u64((machine.row(choice.count[b])[w] & bit) != 0) << b;
            const u64 rank = block.random.below(moves);
            for (int b = 0; b < choice.bits; ++b) {
                u64 &word = machine.row(choice.rank[b])[w];
                word = (rank >> b & 1) ? word | bit : word & ~bit;
            }
        }
}

// Fill rows with random bits: xoshiro256+ in every word of 64 lanes (Blackman and Vigna 2021).
void fill_random(u64 *rows, int count, u64 (&generator)[4][WORDS]) {
#if defined(__AVX512F__)
    typedef u64 Part __attribute__((vector_size(64)));
#elif defined(__AVX__)
    typedef u64 Part __attribute__((vector_size(32)));
#else
    typedef u64 Part __attribute__((vector_size(16)));
#endif
    constexpr int WIDTH = sizeof(Part) / 8, PARTS = WORDS / WIDTH;
    Part s[4][PARTS];
    std::memcpy(s, generator, sizeof s);
    for (int i = 0; i < count; ++i, rows += WORDS)
#pragma GCC unroll 4
        for (int k = 0; k < PARTS; ++k) {
            const Part result = s[0][k] + s[3][k], shifted = s[1][k] << 17;
            std::memcpy(rows + k * WIDTH, &result, sizeof result);
            s[2][k] ^= s[0][k];
            s[3][k] ^= s[1][k];
            s[1][k] ^= s[2][k];
            s[0][k] ^= s[3][k];
            s[2][k] ^= shifted;
            s[3][k] = (s[3][k] << 45) | (s[3][k] >> 19);
        }
    std::memcpy(generator, s, sizeof s);
}

// Count the games that end in the lanes of a row and begin new ones; lanes without another game to play stop.
void end_games(Block &block, const u64 *ended, u64 *active) {
    for (int w = 0; w < WORDS; ++w)
        for (u64 lanes = ended[w]; lanes; lanes &= lanes - 1) {
            const int lane = 64 * w + lowest_bit(lanes);
            const std::size_t length = static_cast<std::size_t>(block.step - block.start[lane]);
            if (length >= block.lengths.size()) block.lengths.resize(2 * length, 0);
            ++block.lengths[length];
            block.start[lane] = block.step + 1;
            ++block.games;
            if (--block.quota[lane] == 0) active[w] &= ~(lanes & -lanes);
        }
}

} // namespace

i64 play_block(Block &block, i64 passes) {
    Machine &machine = block.machine;
    const Program &p = machine.program();
    u64 *active = machine.row(p.active), *late = machine.row(p.late), *restart = machine.row(p.restart);
    const u64 *over = machine.row(p.over), *stuck = machine.row(p.stuck), *conflict = machine.row(p.conflict);
    i64 made = 0;
    while (made < passes && any(active)) {
        // games that have reached the limit end with this pass, unless they are over anyway
        const bool limit = block.step - block.oldest >= block.max_steps;
        std::memset(late, 0, 8 * WORDS);
        if (limit) {
            i64 oldest = block.step;
            for (int lane = 0; lane < LANES; ++lane) {
                if (!(active[lane >> 6] >> (lane & 63) & 1)) continue;
                if (block.step - block.start[lane] >= block.max_steps) late[lane >> 6] |= u64(1) << (lane & 63);
                else if (block.start[lane] < oldest) oldest = block.start[lane];
            }
            block.oldest = oldest;
        }
        fill_random(machine.row(p.random), p.randoms, block.generator);
        machine.run(p.legal);
        if (any(conflict)) {
            block.conflict = true;
            break;
        }
        for (const Choice &choice : p.choices)
            if (any(machine.row(choice.again))) draw_again(block, choice);
        const bool some_over = any(over), some_stuck = any(stuck);
        if (some_over) {
            machine.run(p.goals);
            block.ended += count(over);
            // equal goals share a row
            i32 last = -1;
            i64 games = 0;
            for (std::size_t k = 0; k < block.goals.size(); ++k) {
                if (p.goal_row[k] != last) {
                    last = p.goal_row[k];
                    games = count(machine.row(last));
                }
                block.goals[k] += games;
            }
        }
        for (int w = 0; w < WORDS; ++w) {
            late[w] &= active[w] & ~over[w];
            restart[w] = over[w] | stuck[w] | late[w];
        }
        if (some_stuck) {
            block.stuck += count(stuck);
            if (block.stuck_role < 0) {
                for (int r = 0; r < block.circuit.roles && block.stuck_role < 0; ++r)
                    if (any(machine.row(p.stuck_role[r]))) block.stuck_role = r;
                const u64 *mine = machine.row(p.stuck_role[block.stuck_role]);
                int w = 0;
                while (!mine[w]) ++w;
                const int bit = lowest_bit(mine[w]);
                block.stuck_state.assign(block.circuit.state_words(), 0);
                for (int f = 0; f < block.circuit.fluents; ++f)
                    block.stuck_state[f / 64] |= (machine.state(f)[w] >> bit & 1) << (f % 64);
            }
        }
        if (limit) block.truncated += count(late);
        if (some_over || some_stuck || limit) end_games(block, restart, active);
        machine.run(p.next);
        machine.exchange();
        ++block.step;
        ++made;
        if (++block.since_flush == (1 << COUNTER_BITS) - 1) block.flush();
    }
    return made;
}

} // namespace herbrand::HB_LEVEL

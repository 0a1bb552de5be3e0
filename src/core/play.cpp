#include "play.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

Block::Block(const Circuit &c, ProgramPtr program, u64 seed, const std::vector<i64> &games_of, i64 most, bool walk)
    : circuit(c), machine(std::move(program), walk), max_steps(most), start(LANES, 0), quota(games_of) {
    if (quota.size() != std::size_t(LANES)) throw std::invalid_argument("a block has 512 lanes");
    SplitMix seeds{seed};
    random.state = seeds.next();
    const Program &p = machine.program();
    for (int f = 0; f < c.fluents; ++f)
        if (c.initial[f / 64] >> (f % 64) & 1) std::memset(machine.state(f), 0xFF, 8 * WORDS);
    for (auto &words : generator)
        for (u64 &word : words) word = seeds.next();
    u64 *active = machine.row(p.active);
    for (int lane = 0; lane < LANES; ++lane)
        if (quota[lane] > 0) active[lane >> 6] |= u64(1) << (lane & 63);
    lengths.assign(1024, 0);
    goals.assign(c.goals(), 0);
    choices.assign(c.roles, 0);
}

void Block::change(ProgramPtr program, bool walk) {
    flush(); // counters are not alike
    Machine other(std::move(program), walk);
    const Program &from = machine.program(), &to = other.program();
    std::memcpy(other.state(0), machine.state(0), sizeof(u64) * WORDS * circuit.fluents);
    std::memcpy(other.row(to.active), machine.row(from.active), 8 * WORDS);
    machine = std::move(other);
}

void Block::flush() {
    const Program &p = machine.program();
    for (int r = 0; r < circuit.roles; ++r)
        for (int b = 0; b < p.counters[r].second; ++b) {
            u64 *row = machine.state(p.counters[r].first + b);
            for (int w = 0; w < WORDS; ++w) {
                choices[r] += i64(popcount(row[w])) << b;
                row[w] = 0;
            }
        }
    since_flush = 0;
}

bool Block::done() const {
    return std::all_of(quota.begin(), quota.end(), [](i64 left) { return left <= 0; });
}

i64 Block::transitions() const {
    i64 total = 0;
    for (std::size_t n = 0; n < lengths.size(); ++n) total += i64(n) * lengths[n];
    for (int lane = 0; lane < LANES; ++lane)
        if (quota[lane] > 0) total += step - start[lane];
    return total;
}

} // namespace herbrand

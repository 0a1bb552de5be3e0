#include "play.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

Block::Block(const Circuit &c, ProgramPtr program, u64 seed, const std::vector<i64> &quota, i64 most, bool walk)
    : circuit(c), machine(std::move(program), walk), max_steps(most), lanes(LANES) {
    if (quota.size() != std::size_t(LANES)) throw std::invalid_argument("a block has 512 lanes");
    SplitMix seeds{seed};
    random.state = seeds.next();
    const Program &p = machine.program();
    for (int f = 0; f < c.fluents; ++f)
        if (c.initial[f / 64] >> (f % 64) & 1)
            for (int w = 0; w < WORDS; ++w) machine.word(machine.state(f), w) = ~u64(0);
    for (auto &words : generator)
        for (u64 &word : words) word = seeds.next();
    u64 *active = machine.row(p.active);
    for (int lane = 0; lane < LANES; ++lane) {
        lanes[lane].quota = quota[lane];
        if (quota[lane] > 0) machine.word(active, lane >> 6) |= u64(1) << (lane & 63);
    }
    lengths.assign(1024, 0);
    goals.assign(c.goals(), 0);
    choices.assign(c.roles, 0);
}

void Block::change(ProgramPtr program, bool walk) {
    flush(); // programs may have different counters
    Machine other(std::move(program), walk);
    const Program &from = machine.program(), &to = other.program();
    const auto copy = [&](u64 *target, u64 *source) {
        for (int w = 0; w < WORDS; ++w) other.word(target, w) = machine.word(source, w);
    };
    for (int f = 0; f < circuit.fluents; ++f) copy(other.state(f), machine.state(f));
    copy(other.row(to.active), machine.row(from.active));
    machine = std::move(other);
}

void Block::flush() {
    const Program &p = machine.program();
    for (int r = 0; r < circuit.roles; ++r)
        for (int b = 0; b < p.counters[r].second; ++b) {
            u64 *row = machine.state(p.counters[r].first + b);
            for (int w = 0; w < WORDS; ++w) {
                u64 &word = machine.word(row, w);
                choices[r] += i64(popcount(word)) << b;
                word = 0;
            }
        }
    since_flush = 0;
}

bool Block::done() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return lane.quota <= 0; });
}

i64 Block::transitions() const {
    i64 total = 0;
    for (std::size_t n = 0; n < lengths.size(); ++n) total += i64(n) * lengths[n];
    for (const Lane &lane : lanes)
        if (lane.quota > 0) total += step - lane.start;
    return total;
}

} // namespace herbrand

// Runs the core without Python, for processors and systems where only that can be tried: `packaging/check_builds.py`
// compiles it for them, and compares what it prints.
//
// Standard input are circuits, as numbers with spaces between them: fluents, roles, terminal, three cones, then the
// lists, each after its length.  Printed is a checksum of everything that was computed on each circuit; that it is the
// same for all kernels, and for machine code, is checked here.

#include "cpu.hpp"
#include "env.hpp"
#include "expand.hpp"
#include "play.hpp"
#include "search.hpp"
#include "x86.hpp"

#include <cstdio>
#include <cstring>

namespace herbrand {

bool Stop::interrupted() { return false; }

} // namespace herbrand

using namespace herbrand;

namespace {

template <class T> bool read(T &number) {
    long long found;
    if (std::scanf("%lld", &found) != 1) return false;
    number = static_cast<T>(found);
    return true;
}

template <class T> void read(std::vector<T> &list) {
    std::size_t size = 0;
    read(size);
    list.resize(size);
    for (T &number : list) read(number);
}

CircuitPtr read_circuit() {
    auto c = std::make_shared<Circuit>();
    if (!read(c->fluents)) return nullptr;
    read(c->roles);
    read(c->terminal);
    for (int &cone : c->cones) read(cone);
    std::vector<i32> loops, move_role;
    std::vector<i64> initial;
    read(c->left), read(c->right), read(c->feedback), read(loops), read(c->legal), read(move_role), read(c->next);
    read(c->goal), read(c->goal_role), read(c->goal_value), read(c->sees), read(c->sees_role), read(initial);
    c->initial.assign(initial.begin(), initial.end());
    c->gates = static_cast<int>(c->left.size());
    c->moves = static_cast<int>(c->legal.size());
    c->feedbacks = static_cast<int>(c->feedback.size());
    for (std::size_t i = 0; i + 3 < loops.size(); i += 4)
        c->loops.push_back({loops[i], loops[i + 1], loops[i + 2], loops[i + 3]});
    c->divide_moves(move_role);
    c->validate();
    return c;
}

class Checksum {
public:
    template <class T> void add(const T *values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) total_ = scatter(total_ ^ static_cast<u64>(static_cast<i64>(values[i])));
    }
    template <class T> void add(const std::vector<T> &values) { add(values.data(), values.size()); }
    u64 total() const { return total_; }

private:
    u64 total_ = 1;
};

u64 playouts(const Circuit &c, bool walk) {
    const std::vector<i64> quota(LANES, 2);
    ProgramPtr program = c.playing(c.roles > 1);
    Block block(c, program, 7, quota, 200, walk);
    while (!block.done()) {
        kernels().play(block, 64);
        if (!block.conflict) continue;
        block.conflict = false;
        block.change(c.playing(false), walk);
    }
    block.flush();
    Checksum sum;
    sum.add(block.lengths);
    sum.add(block.goals);
    sum.add(block.choices);
    const i64 counts[] = {block.games, block.ended, block.truncated, block.stuck};
    sum.add(counts, 4);
    return sum.total();
}

u64 environment(const CircuitPtr &c) {
    constexpr i64 LANES_HERE = 700; // a block and part of one
    EnvOptions options;
    options.max_steps = 40;
    for (int r = 0; r < c->roles; ++r) {
        options.players.push_back(r);
        options.actions = std::max(options.actions, c->bounds[r + 1] - c->bounds[r]);
    }
    for (int r = 0; r < c->roles; ++r)
        for (int a = 0; a < options.actions; ++a)
            options.number.push_back(a < c->bounds[r + 1] - c->bounds[r] ? c->bounds[r] + a : -1);
    options.idle.assign(c->moves, 0);
    for (int f = 0; f < c->fluents; ++f) options.columns.push_back(f);
    Checksum sum;
    for (const bool packed : {false, true}) {
        options.packed = packed;
        Env env(c, LANES_HERE, options);
        std::vector<u64> seeds(env.seed_words());
        SplitMix random{3};
        for (u64 &seed : seeds) seed = random.next();
        env.sow(seeds.data());
        std::vector<u8> observation(env.observation_bytes()), legal(env.legal_bytes()), player(LANES_HERE),
            terminated(LANES_HERE), truncated(LANES_HERE), fresh(LANES_HERE, 1);
        std::vector<float> rewards(LANES_HERE * env.players());
        Told told;
        told.observation = observation.data();
        told.legal = legal.data();
        told.player = player.data();
        told.rewards = rewards.data();
        told.terminated = terminated.data();
        told.truncated = truncated.data();
        env.begin(fresh.data(), told);
        std::vector<i32> actions(LANES_HERE * env.given());
        for (int step = 0; step < 60; ++step) {
            env.sample(actions.data());
            sum.add(actions);
            env.step(actions.data(), nullptr, told);
            sum.add(observation);
            sum.add(legal);
            sum.add(terminated);
            sum.add(truncated);
            for (const float reward : rewards) {
                const i32 hundredths = static_cast<i32>(100 * reward);
                sum.add(&hundredths, 1);
            }
        }
    }
    return sum.total();
}

u64 expansion(const CircuitPtr &c) {
    Expander expander(c);
    const i64 words = c->state_words(), columns = c->legal_words();
    std::vector<u64> states = c->initial;
    Checksum sum;
    Stop stop;
    for (int ply = 0; ply < 4; ++ply) {
        const i64 n = static_cast<i64>(states.size()) / words;
        const std::unique_ptr<bool[]> over(new bool[n]);
        std::vector<u64> bits(n * columns);
        std::vector<i16> values(n * c->roles);
        std::vector<i64> counts(n), starts(n + 1), places(c->places.begin(), c->places.end());
        expander.legal(states.data(), n, over.get(), bits.data());
        expander.goals(states.data(), n, values.data());
        count_joints(over.get(), bits.data(), n, columns, places, counts.data());
        for (i64 i = 0; i < n; ++i) starts[i + 1] = starts[i] + counts[i];
        const i64 size = std::min<i64>(starts[n], 1000);
        std::vector<i64> parents(size);
        std::vector<i32> moves(size * c->roles);
        enumerate_joints(*c, bits.data(), starts.data(), n, 0, size, parents.data(), moves.data());
        std::vector<u64> after(size * words), seen(size * c->sees_words());
        expander.step(states.data(), parents.data(), size, moves.data(), after.data(), seen.data());
        sum.add(bits);
        sum.add(values);
        sum.add(counts);
        sum.add(after);
        sum.add(seen);
        if (!size) break;
        states = after;
    }
    // random games from there
    const i64 n = static_cast<i64>(states.size()) / words;
    std::vector<i16> values(n * c->roles);
    std::vector<i64> lengths(n);
    Games games;
    games.states = states.data();
    games.count = n;
    games.max_steps = 100;
    games.values = values.data();
    games.lengths = lengths.data();
    std::vector<u64> generator(4 * WORDS);
    SplitMix random{5};
    for (u64 &word : generator) word = random.next();
    expander.play(games, generator.data(), stop);
    sum.add(values);
    sum.add(lengths);
    return sum.total();
}

// What comes of it depends on the last bits of logarithms: only that it grows is checked.
bool search_grows(const CircuitPtr &c) {
    auto tree = std::make_shared<search::Tree>(c, false, search::Tree::Settings(), i64(1) << 24, i64(1) << 16, 1);
    const i64 root = tree->add(c->initial.data());
    search::Round round(tree, 64, 512);
    Expander players(c);
    std::vector<u64> generator(4 * WORDS);
    SplitMix random{9};
    for (u64 &word : generator) word = random.next();
    search::Round::Plan plan;
    plan.generator = generator.data();
    plan.rounds = 20;
    plan.seconds = 60.0;
    plan.max_steps = 100;
    Stop stop;
    return round.run(root, players, plan, stop) > 0 && tree->positions > 1;
}

} // namespace

int main() {
    std::fprintf(stderr, "kernels:");
    for (const std::string &level : usable_levels()) std::fprintf(stderr, " %s", level.c_str());
    std::fprintf(stderr, "\n");
    int number = 0;
    while (const CircuitPtr circuit = read_circuit()) {
        u64 first[3] = {};
        bool is_first = true;
        for (const std::string &level : usable_levels()) {
            use_kernels(kernels_of(level));
            for (const bool walk : {true, false}) {
                allow_code(!walk);
                const auto fresh = std::make_shared<Circuit>(*circuit); // without programs
                const u64 sums[3] = {playouts(*fresh, walk), environment(fresh), expansion(fresh)};
                if (is_first) std::memcpy(first, sums, sizeof first);
                is_first = false;
                for (int k = 0; k < 3; ++k)
                    if (sums[k] != first[k]) {
                        std::fprintf(stderr, "circuit %d: %s differs at level %s%s\n", number,
                                     k == 0 ? "random play" : k == 1 ? "environment" : "expansion", level.c_str(),
                                     walk ? "" : " with machine code");
                        return 1;
                    }
            }
        }
        if (!search_grows(circuit)) {
            std::fprintf(stderr, "circuit %d: the search does not grow a tree\n", number);
            return 1;
        }
        std::printf("%d %016llx %016llx %016llx\n", number++, static_cast<unsigned long long>(first[0]),
                    static_cast<unsigned long long>(first[1]), static_cast<unsigned long long>(first[2]));
    }
    return 0;
}

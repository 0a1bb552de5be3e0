// Heuristic distances of states to making a literal true: 32 states side by side, gate by gate.

#include "distance.hpp"
#include "kernels.hpp"

#include <algorithm>

namespace herbrand::HB_LEVEL {

namespace {

constexpr int SIDE_BY_SIDE = 32; // states

// Vectors of the size of a register: comparing larger ones is done one number at a time.
#if defined(__AVX512F__)
constexpr int WIDTH = 16;
#elif defined(__AVX__)
constexpr int WIDTH = 8;
#else
constexpr int WIDTH = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * WIDTH)));
constexpr int PIECES = SIDE_BY_SIDE / WIDTH;

} // namespace

bool distances(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *results, Stop &stop);

bool distances(const DistanceNetwork &network, const u64 *states, i64 n, int words, float *results, Stop &stop) {
    const i64 fluents = network.fluents, gates = network.gates;
    // [literals] the distance to making it true
    const std::size_t rows = 2 * std::size_t(1 + fluents + gates);
    RowBuffer memory(rows * SIDE_BY_SIDE * sizeof(float) / 64);
    Floats *const way = reinterpret_cast<Floats *>(memory.data());
    float *const each = reinterpret_cast<float *>(memory.data());
    const auto at = [&](i64 literal, int i) -> float & { return each[literal * SIDE_BY_SIDE + i]; };
    const Floats most = Floats{} + network.far;
    for (int p = 0; p < PIECES; ++p) way[p] = most;
    for (i64 begin = 0; begin < n; begin += SIDE_BY_SIDE) {
        if (stop.due()) return false;
        const int count = static_cast<int>(std::min<i64>(SIDE_BY_SIDE, n - begin));
        // states beyond `count` are ignored
        u64 word[SIDE_BY_SIDE] = {};
        for (i64 f = 0; f < fluents; ++f) {
            if (f % 64 == 0)
                for (int i = 0; i < count; ++i) word[i] = states[(begin + i) * words + f / 64];
            float *no = &at(2 * f + 3, 0), *yes = &at(2 * f + 2, 0);
            for (int i = 0; i < SIDE_BY_SIDE; ++i) {
                const float is = static_cast<float>(static_cast<i32>(word[i] & 1));
                word[i] >>= 1;
                no[i] = is;
                yes[i] = 1.0f - is;
            }
        }
        for (i64 k = 0; k < network.groups; ++k) {
            const i64 size = network.starts[k + 1] - network.starts[k];
            const i64 *mine = network.members + network.starts[k];
            for (int i = 0; i < count; ++i) {
                i64 now = 0;
                while (now < size && at(2 * mine[now] + 2, i) != 0) ++now;
                const float *row = network.steps + network.tables[k] + now * size;
                for (i64 j = 0; j < size; ++j) {
                    float &to = at(2 * mine[j] + 2, i);
                    to = std::max(to, row[j]);
                }
            }
        }
        Floats *out = way + 2 * (1 + fluents) * PIECES;
        for (i64 g = 0; g < gates; ++g, out += 2 * PIECES) {
            const i64 a = network.left[g], b = network.right[g];
            const Floats *yes_a = way + a * PIECES, *no_a = way + (a ^ 1) * PIECES;
            const Floats *yes_b = way + b * PIECES, *no_b = way + (b ^ 1) * PIECES;
            for (int p = 0; p < PIECES; ++p) {
                const Floats both = yes_a[p] + yes_b[p];
                out[p] = both < most ? both : most;
                out[PIECES + p] = no_a[p] < no_b[p] ? no_a[p] : no_b[p];
            }
        }
        for (int i = 0; i < count; ++i) {
            float total = 0;
            for (std::size_t k = 0; k < network.literals.size(); ++k)
                total += network.weights[k] * at(network.literals[k], i);
            results[begin + i] = total;
        }
    }
    return true;
}

} // namespace herbrand::HB_LEVEL

#include "distance.hpp"

#include <algorithm>

namespace herbrand {

namespace {

constexpr int SIDE_BY_SIDE = 32; // states

// The compilers' vectors: several registers each where the machine has none of this size.
typedef float Floats __attribute__((vector_size(4 * SIDE_BY_SIDE)));

} // namespace

bool DistanceNetwork::run(const u64 *states, i64 n, int words, float *distances, Stop &stop) const {
    // by literal: the distance to its being true
    const std::size_t rows = 2 * std::size_t(1 + fluents + gates);
    std::vector<float> memory(rows * SIDE_BY_SIDE + 32, 0.0f);
    void *start = memory.data();
    std::size_t room = memory.size() * sizeof(float);
    float *at = static_cast<float *>(std::align(alignof(Floats), rows * sizeof(Floats), start, room));
    if (!at) throw std::bad_alloc();
    Floats *const way = reinterpret_cast<Floats *>(at);
    const Floats most = Floats{} + far;
    way[0] = most;
    for (i64 begin = 0; begin < n; begin += SIDE_BY_SIDE) {
        if (stop.due()) return false;
        const int count = static_cast<int>(std::min<i64>(SIDE_BY_SIDE, n - begin));
        for (i64 f = 0; f < fluents; ++f) {
            Floats yes = way[2 * f + 2]; // what stands beyond `count` counts for nothing
            for (int i = 0; i < count; ++i)
                yes[i] = static_cast<float>(~(states[(begin + i) * words + (f >> 6)] >> (f & 63)) & 1);
            way[2 * f + 2] = yes;
            way[2 * f + 3] = 1.0f - yes;
        }
        for (i64 k = 0; k < groups; ++k) {
            const i64 size = starts[k + 1] - starts[k];
            const i64 *mine = members + starts[k];
            for (int i = 0; i < count; ++i) {
                i64 now = 0;
                while (now < size && way[2 * mine[now] + 2][i] != 0) ++now;
                const float *row = steps + tables[k] + now * size;
                for (i64 j = 0; j < size; ++j) {
                    Floats &to = way[2 * mine[j] + 2];
                    to[i] = std::max<float>(to[i], row[j]);
                }
            }
        }
        Floats *out = way + 2 * (1 + fluents);
        for (i64 g = 0; g < gates; ++g, out += 2) {
            const i32 a = left[g], b = right[g];
            const Floats both = way[a] + way[b], no_a = way[a ^ 1], no_b = way[b ^ 1];
            out[0] = both < most ? both : most;
            out[1] = no_a < no_b ? no_a : no_b;
        }
        for (int i = 0; i < count; ++i) {
            float total = 0;
            for (std::size_t k = 0; k < literals.size(); ++k) total += weights[k] * way[literals[k]][i];
            distances[begin + i] = total;
        }
    }
    return true;
}

} // namespace herbrand

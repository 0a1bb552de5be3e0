#include "choice.hpp"

#include "cpu.hpp"

#include <algorithm>

namespace herbrand {

Chooser::Chooser(Evaluator &evaluator) : circuit_(evaluator.circuit()) {
    int widest = 0;
    for (int r = 0; r < circuit_.roles; ++r) widest = std::max(widest, circuit_.bounds[r + 1] - circuit_.bounds[r]);
    for (int m = 0; m < circuit_.moves; ++m) {
        legal_.push_back(evaluator.legal(m));
        moves_.push_back(evaluator.move(m));
    }
    live_.resize(circuit_.moves);
    is_live_.assign(circuit_.legal_words(), 0);
    from_.resize(widest);
    to_.resize(widest);
    counts_.assign(circuit_.roles, 0);
    scratch_ = RowBuffer(draw_rows(widest));
}

void Chooser::choose(u64 *playing, u64 *stuck, u64 *generator, int lanes) {
    alignas(64) u64 bad[WORDS] = {};
    const Kernels &kernel = kernels();
    for (int r = 0; r < circuit_.roles; ++r) {
        const int first = circuit_.bounds[r];
        counts_[r] = kernel.list_live(legal_.data() + first, moves_.data() + first, circuit_.bounds[r + 1] - first, playing,
                                      is_live_.data() + circuit_.places[r], live_.data() + first, from_.data(), to_.data());
        kernel.draw({from_.data(), to_.data(), counts_[r], playing, generator, bad, scratch_.data(),
                     lanes / 64});
    }
    for (int w = 0; w < WORDS; ++w) {
        playing[w] &= ~bad[w];
        stuck[w] |= bad[w];
    }
}

void Chooser::clear() {
    for (int r = 0; r < circuit_.roles; ++r) {
        for (int i = 0; i < counts_[r]; ++i) {
            const int move = circuit_.bounds[r] + live(r)[i];
            std::fill_n(moves_[move], WORDS, 0);
        }
        counts_[r] = 0;
    }
    std::fill(is_live_.begin(), is_live_.end(), 0);
}

} // namespace herbrand

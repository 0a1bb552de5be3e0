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
    counts_.assign(circuit_.roles, 0);
    scratch_ = RowBuffer(choice_rows(widest));
}

void Chooser::choose(u64 *playing, u64 *stuck, u64 *generator) {
    clear();
    alignas(64) u64 bad[WORDS] = {};
    const auto kernel = kernels().choose;
    for (int r = 0; r < circuit_.roles; ++r) {
        const int first = circuit_.bounds[r], count = circuit_.bounds[r + 1] - first;
        counts_[r] = kernel({legal_.data() + first, moves_.data() + first, count, playing, generator, bad,
                             live_.data() + first, scratch_.data()});
    }
    for (int w = 0; w < WORDS; ++w) {
        playing[w] &= ~bad[w];
        stuck[w] |= bad[w];
    }
}

void Chooser::clear() {
    for (int r = 0; r < circuit_.roles; ++r) {
        kernels().clear_rows(moves_.data() + circuit_.bounds[r], live(r), counts_[r]);
        counts_[r] = 0;
    }
}

} // namespace herbrand

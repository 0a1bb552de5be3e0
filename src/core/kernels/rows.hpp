// Row functions for kernels.  Everything is in the namespace of the processor level for which a file is compiled.
#pragma once

#include "base.hpp"

#include <utility>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace herbrand::HB_LEVEL {

// Call `work` for 0 to N - 1, unrolled, so that arrays of vector variables stay in registers.
template <int N, class Work> [[gnu::always_inline]] inline void repeat(Work &&work) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
        (work(std::integral_constant<int, I>()), ...);
    }(std::make_integer_sequence<int, N>());
}

// Whether the rows have a lane in common.
inline bool any_both(const u64 *a, const u64 *b) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)) != 0;
#elif defined(__AVX2__)
    const auto at = [](const u64 *row, int i) { return _mm256_loadu_si256((const __m256i *)row + i); };
    return !_mm256_testz_si256(at(a, 0), at(b, 0)) || !_mm256_testz_si256(at(a, 1), at(b, 1));
#else
    u64 any = 0;
    for (int w = 0; w < WORDS; ++w) any |= a[w] & b[w];
    return any != 0;
#endif
}

} // namespace herbrand::HB_LEVEL

// What the processor could do at most: functions of three bits on values that stay in registers.

#include "kernels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace herbrand::HB_LEVEL {

u64 spin(i64 turns) {
    // eight independent chains hide the latency of the instruction
    constexpr int CHAINS = 8;
#if defined(__AVX512F__)
    __m512i x[CHAINS], y = _mm512_set1_epi64(turns), z = _mm512_set1_epi64(0x5555);
    for (int k = 0; k < CHAINS; ++k) x[k] = _mm512_set1_epi64(k);
    for (i64 i = 0; i < turns; ++i)
#pragma GCC unroll 64
        for (int k = 0; k < 64; ++k) {
            x[k % CHAINS] = _mm512_ternarylogic_epi64(x[k % CHAINS], y, z, 0x96);
            __asm__("" : "+v"(x[k % CHAINS]));
        }
    u64 total = 0;
    for (const __m512i &word : x) total += static_cast<u64>(_mm512_reduce_add_epi64(word));
    return total;
#else
    // without such an instruction: a choice, which takes three
#if defined(__AVX__)
    typedef u64 Vector __attribute__((vector_size(32)));
#else
    typedef u64 Vector __attribute__((vector_size(16)));
#endif
    constexpr int PARTS = 64 / sizeof(Vector);
    const Vector zero = {};
    Vector x[CHAINS], y = zero + u64(turns), z = zero + 0x5555u;
    for (int k = 0; k < CHAINS; ++k) x[k] = zero + u64(k);
    for (i64 i = 0; i < turns; ++i)
#pragma GCC unroll 256
        for (int k = 0; k < 64 * PARTS; ++k) {
            x[k % CHAINS] = y ^ (x[k % CHAINS] & z);
#if defined(__x86_64__)
            __asm__("" : "+x"(x[k % CHAINS]));
#endif
        }
    u64 total = 0;
    for (const Vector &word : x) total += word[0];
    return total;
#endif
}

} // namespace herbrand::HB_LEVEL

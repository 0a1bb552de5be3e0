#include "cpu.hpp"

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace herbrand {

namespace {

#if defined(__x86_64__)

// What the processor offers and the system keeps when it switches tasks, as 1 to 4 for x86-64-v1 to v4.
int x86_level() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
    const auto has = [](unsigned word, int bit) { return (word >> bit & 1) != 0; };
    const unsigned basic = c;
    unsigned extended = 0, ext_b = 0, ext_c = 0, ext_d = 0;
    __get_cpuid(0x80000001u, &extended, &ext_b, &ext_c, &ext_d);
    // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF
    for (const int bit : {0, 9, 13, 19, 20, 23})
        if (!has(basic, bit)) return 1;
    if (!has(ext_c, 0)) return 1;
    // FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT
    for (const int bit : {12, 22, 27, 28, 29})
        if (!has(basic, bit)) return 2;
    if (!has(ext_c, 5)) return 2;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 0x6) != 0x6) return 2;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 2;
    for (const int bit : {3, 5, 8}) // BMI1, AVX2, BMI2
        if (!has(b, bit)) return 2;
    if ((low & 0xE6) != 0xE6) return 3;
    for (const int bit : {16, 17, 28, 30, 31}) // AVX-512 F, DQ, CD, BW, VL
        if (!has(b, bit)) return 3;
    return 4;
}

#endif

std::vector<const Kernels *> usable() {
    std::vector<const Kernels *> usable;
#if HB_HAS_PORTABLE
    usable.push_back(&portable::table);
#endif
#if HB_HAS_ARM64
    usable.push_back(&arm64::table);
#endif
#if defined(__x86_64__)
    [[maybe_unused]] const int level = x86_level();
#if HB_HAS_X86_64_V2
    if (level >= 2) usable.push_back(&x86_64_v2::table);
#endif
#if HB_HAS_X86_64_V3
    if (level >= 3) usable.push_back(&x86_64_v3::table);
#endif
#if HB_HAS_X86_64_V4
    if (level >= 4) usable.push_back(&x86_64_v4::table);
#endif
#endif
    return usable;
}

std::atomic<const Kernels *> &chosen() {
    static std::atomic<const Kernels *> table{usable().back()};
    return table;
}

} // namespace

std::vector<std::string> usable_levels() {
    std::vector<std::string> names;
    for (const Kernels *table : usable()) names.emplace_back(table->level);
    return names;
}

const Kernels &kernels_of(const std::string &level) {
    for (const Kernels *table : usable())
        if (level == table->level) return *table;
    throw std::invalid_argument("no kernels for `" + level + "` can be used here");
}

#if defined(__x86_64__)
bool has_popcount() { return x86_level() >= 2; }
#else
bool has_popcount() { return false; }
#endif

const Kernels &kernels() { return *chosen().load(std::memory_order_relaxed); }

void use_kernels(const Kernels &table) { chosen().store(&table, std::memory_order_relaxed); }

} // namespace herbrand

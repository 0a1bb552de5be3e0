#include "memory.hpp"

#include <cstring>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace herbrand {

namespace {

constexpr std::size_t MAPPED = std::size_t(1) << 22; // bytes; below this the heap is as good

} // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes ? bytes : 1) {
#if defined(MAP_ANONYMOUS)
    if (bytes_ >= MAPPED) {
#if defined(MAP_NORESERVE)
        constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
        constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
        void *pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, how, -1, 0);
        if (pages != MAP_FAILED) {
#if defined(MADV_HUGEPAGE)
            (void)madvise(pages, bytes_, MADV_HUGEPAGE);
#endif
            data_ = pages;
            mapped_ = true;
            return;
        }
    }
#endif
    data_ = std::calloc(bytes_, 1);
    if (!data_) throw std::bad_alloc();
}

Pages::~Pages() {
#if defined(MAP_ANONYMOUS)
    if (mapped_) {
        munmap(data_, bytes_);
        return;
    }
#endif
    std::free(data_);
}

void Pages::clear() {
#if defined(__linux__)
    // only here private pages that were given back are read as zeros
    if (mapped_ && madvise(data_, bytes_, MADV_DONTNEED) == 0) return;
#endif
    touch();
}

void Pages::touch() {
    if (data_) std::memset(data_, 0, bytes_);
}

} // namespace herbrand

// Large arrays that take memory only where they are written to.
#pragma once

#include "base.hpp"

#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace herbrand {

// Zeros.  Where the system has them, in large pages: what is looked up in a hash table lies anywhere in it, and
// with small pages much time goes into translating addresses.
template <class T> class Zeros {
public:
    Zeros() = default;
    explicit Zeros(std::size_t size) : size_(size) {
        const std::size_t bytes = size * sizeof(T);
#if defined(__linux__)
        if (bytes >= LARGE) {
            void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (at == MAP_FAILED) throw std::bad_alloc();
            madvise(at, bytes, MADV_HUGEPAGE);
            data_ = static_cast<T *>(at);
            return;
        }
#endif
        data_ = static_cast<T *>(std::calloc(size ? size : 1, sizeof(T)));
        if (!data_) throw std::bad_alloc();
        (void)bytes;
    }
    Zeros(Zeros &&other) noexcept : data_(other.data_), size_(other.size_) {
        other.data_ = nullptr;
        other.size_ = 0;
    }
    Zeros &operator=(Zeros &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    Zeros(const Zeros &) = delete;
    Zeros &operator=(const Zeros &) = delete;
    ~Zeros() {
        if (!data_) return;
#if defined(__linux__)
        if (size_ * sizeof(T) >= LARGE) {
            munmap(data_, size_ * sizeof(T));
            return;
        }
#endif
        std::free(data_);
    }

    T *data() { return data_; }
    const T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return data_[i]; }
    const T &operator[](std::size_t i) const { return data_[i]; }
    // Writes to all of it, so that the memory is given now and not while a clock runs.
    void touch() { std::memset(static_cast<void *>(data_), 0, size_ * sizeof(T)); }

private:
    static constexpr std::size_t LARGE = std::size_t(1) << 22; // bytes; below this the heap is as good

    T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace herbrand

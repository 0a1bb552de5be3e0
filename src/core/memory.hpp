// Large arrays whose memory is committed only where they are written.
#pragma once

#include "base.hpp"

#include <utility>

namespace herbrand {

// Zeroed memory, in huge pages where the system supports them: random accesses to hash tables in small pages would spend
// much time on TLB misses.
class Pages {
public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    Pages(Pages &&other) noexcept { swap(other); }
    Pages &operator=(Pages &&other) noexcept {
        swap(other);
        return *this;
    }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    ~Pages();

    void *data() const { return data_; }
    // Zero everything again; returns the memory to the system where that works in place.
    void clear();
    // Write to every page, so that the memory is committed now and not while a player's clock runs.
    void touch();

private:
    void swap(Pages &other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(mapped_, other.mapped_);
    }
    void *data_ = nullptr;
    std::size_t bytes_ = 0;
    bool mapped_ = false;
};

// An array of numbers in such memory.
template <class T> class Zeros {
public:
    Zeros() = default;
    explicit Zeros(i64 size)
        : pages_(static_cast<std::size_t>(size) * sizeof(T)), data_(static_cast<T *>(pages_.data())), size_(size) {}

    T *data() { return data_; }
    const T *data() const { return data_; }
    i64 size() const { return size_; }
    T &operator[](i64 i) { return data_[i]; }
    const T &operator[](i64 i) const { return data_[i]; }
    void clear() { pages_.clear(); }
    void touch() { pages_.touch(); }

private:
    Pages pages_;
    T *data_ = nullptr;
    i64 size_ = 0;
};

} // namespace herbrand

// Executable memory: first writable, then executable, never both (W^X).
#pragma once

#include "base.hpp"

namespace herbrand {

class ExecutableMemory {
public:
    ExecutableMemory() = default;
    // A copy of the bytes; empty if there is no memory, or if the system does not allow its execution.
    explicit ExecutableMemory(const std::vector<u8> &bytes);
    ExecutableMemory(ExecutableMemory &&other) noexcept : at_(other.at_), size_(other.size_), refused_(other.refused_) {
        other.at_ = nullptr;
    }
    ExecutableMemory &operator=(ExecutableMemory &&other) noexcept {
        std::swap(at_, other.at_);
        std::swap(size_, other.size_);
        std::swap(refused_, other.refused_);
        return *this;
    }
    ExecutableMemory(const ExecutableMemory &) = delete;
    ExecutableMemory &operator=(const ExecutableMemory &) = delete;
    ~ExecutableMemory();

    const u8 *at() const { return at_; }     // null if empty
    std::size_t size() const { return size_; } // in bytes, whole pages
    bool refused() const { return refused_; } // the system did not allow execution

private:
    u8 *at_ = nullptr;
    std::size_t size_ = 0;
    bool refused_ = false;
};

} // namespace herbrand

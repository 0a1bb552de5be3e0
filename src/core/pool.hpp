// A pool of memory blocks for the results of repeated calls: reusing blocks saves the system from clearing new pages.
#pragma once

#include "base.hpp"

#include <map>
#include <mutex>

namespace herbrand {

// Thread-safe; any thread may return blocks of another.
class Pool {
public:
    Pool() = default;
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool() {
        for (auto &[bytes, blocks] : free_)
            for (void *block : blocks) std::free(block);
    }

    // A block of `bytes` uninitialised bytes.
    void *take(std::size_t bytes) {
        {
            const std::lock_guard lock(mutex_);
            auto &blocks = free_[bytes];
            if (!blocks.empty()) {
                void *found = blocks.back();
                blocks.pop_back();
                return found;
            }
        }
        void *made = std::malloc(bytes ? bytes : 1);
        if (!made) throw std::bad_alloc();
        return made;
    }
    void give_back(void *block, std::size_t bytes) noexcept {
        const std::lock_guard lock(mutex_);
        auto &blocks = free_[bytes];
        if (blocks.size() < MOST) blocks.push_back(block); // cannot throw: capacity is reserved
        else std::free(block);
    }

private:
    static constexpr std::size_t MOST = 4; // maximum of free blocks for each size

    // Reserves capacity up front, so that `give_back` cannot throw.
    struct Blocks : std::vector<void *> {
        Blocks() { reserve(MOST); }
    };
    std::map<std::size_t, Blocks> free_;
    std::mutex mutex_;
};

} // namespace herbrand

// Memory for results that are made anew in every call: blocks that come back are handed out again, so that the system
// need not clear pages each time.
#pragma once

#include "base.hpp"

#include <map>
#include <mutex>

namespace herbrand {

// Any thread may give back what another one took.
class Pool {
public:
    Pool() = default;
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool() {
        for (auto &[bytes, blocks] : free_)
            for (void *block : blocks) std::free(block);
    }

    // So many bytes, which may hold anything.
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
        if (blocks.size() < MOST) blocks.push_back(block); // there is room: see below
        else std::free(block);
    }

private:
    static constexpr std::size_t MOST = 4; // blocks of a size that wait

    // Has room from the beginning, so that giving back does not fail.
    struct Blocks : std::vector<void *> {
        Blocks() { reserve(MOST); }
    };
    std::map<std::size_t, Blocks> free_;
    std::mutex mutex_;
};

} // namespace herbrand

#include "executable.hpp"

#include <algorithm>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace herbrand {

#if defined(_WIN32)

ExecutableMemory::ExecutableMemory(const std::vector<u8> &bytes) {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    size_ = (bytes.size() / system.dwPageSize + 1) * system.dwPageSize; // there may be no bytes
    void *memory = VirtualAlloc(nullptr, size_, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!memory) return;
    std::copy(bytes.begin(), bytes.end(), static_cast<u8 *>(memory));
    DWORD before;
    if (!VirtualProtect(memory, size_, PAGE_EXECUTE_READ, &before)) {
        VirtualFree(memory, 0, MEM_RELEASE);
        refused_ = true;
        return;
    }
    FlushInstructionCache(GetCurrentProcess(), memory, size_);
    at_ = static_cast<u8 *>(memory);
}

ExecutableMemory::~ExecutableMemory() {
    if (at_) VirtualFree(at_, 0, MEM_RELEASE);
}

#elif defined(MAP_ANONYMOUS)

ExecutableMemory::ExecutableMemory(const std::vector<u8> &bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes.size() / page + 1) * page; // there may be no bytes
    void *memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    std::copy(bytes.begin(), bytes.end(), static_cast<u8 *>(memory));
    if (mprotect(memory, size_, PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, size_);
        refused_ = true;
        return;
    }
    at_ = static_cast<u8 *>(memory);
}

ExecutableMemory::~ExecutableMemory() {
    if (at_) munmap(at_, size_);
}

#else

ExecutableMemory::ExecutableMemory(const std::vector<u8> &) : refused_(true) {}
ExecutableMemory::~ExecutableMemory() = default;

#endif

} // namespace herbrand

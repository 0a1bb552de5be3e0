// Machine code for lane programs, written by ourselves: AVX-512 with functions of three bits, or AVX2.
#pragma once

#include "lanes.hpp"

namespace herbrand {

class Code {
public:
    ~Code();
    // Rows of memory that the code needs.
    i32 rows() const { return rows_; }
    std::size_t bytes() const { return bytes_; }
    const char *kind() const { return wide_ ? "avx512" : "avx2"; }
    void run(i32 unit, u64 *rows, u64 *now, u64 *after) const {
        for (const std::size_t part : parts_[unit]) {
            const auto call = reinterpret_cast<void (*)(u64 *, u64 *, u64 *)>(memory_ + part);
            call(rows, now, after);
            if (!wide_) call(rows + WORDS / 2, now + WORDS / 2, after + WORDS / 2);
        }
    }

private:
    friend std::shared_ptr<const Code> encode(const Program &program, std::string &why);
    u8 *memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::vector<std::size_t>> parts_; // of each unit: where its parts begin
    i32 rows_ = 0;
    bool wide_ = false;
};

// The code of a program for this processor; null, with the reason in `why`, where there is no encoder for it, or where the
// system refuses memory that can be executed.  Memory is first written and then executed, never both.
std::shared_ptr<const Code> encode(const Program &program, std::string &why);

// How many bits functions should have for the code that `encode` would write: 3 or 2.
int encoded_arity();
// Whether programs made from now on get machine code.
void allow_code(bool allowed);
// Why programs made now get no machine code: empty if they do.
std::string why_no_code();

} // namespace herbrand

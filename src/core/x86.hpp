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
    // Words of a row that the code computes at a time.
    int words() const { return wide_ ? WORDS : WORDS / 2; }
    // Compute these words from word `at` on; rows are given from their first word.
    void run(i32 unit, u64 *rows, u64 *now, u64 *after, int at) const {
        const auto call = reinterpret_cast<void (*)(u64 *, u64 *, u64 *)>(memory_ + entry_[unit]);
        call(rows + at, now + at, after + at);
    }

private:
    friend std::shared_ptr<const Code> encode(const Program &program);
    u8 *memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::size_t> entry_;
    i32 rows_ = 0;
    bool wide_ = false;
};

// The code of a program for this processor; null where there is no encoder for it, or where the system refuses memory that
// can be executed.  Memory is first written and then executed, never both.
std::shared_ptr<const Code> encode(const Program &program);

// How many bits functions should have for the code that `encode` would write: 3 or 2.
int encoded_arity();
// Whether programs made from now on get machine code.
void allow_code(bool allowed);
// Why there is no machine code: empty if there is.
std::string why_no_code();

} // namespace herbrand

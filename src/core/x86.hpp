// Machine code for lane programs, written by ourselves: AVX-512 with functions of three bits, or AVX2.
#pragma once

#include "executable.hpp"
#include "lanes.hpp"

namespace herbrand {

class Code {
public:
    // Rows of memory that the code needs.
    i32 rows() const { return rows_; }
    std::size_t bytes() const { return memory_.size(); }
    const char *kind() const { return wide_ ? "avx512" : "avx2"; }
    // Words of a row that the code computes at a time.
    int words() const { return wide_ ? WORDS : WORDS / 2; }
    // Words from a row to the next: `WORDS`, or half of that where the halves of rows have memory of their own.
    int pitch() const { return pitch_; }
    // Compute the words of rows from word `at` to `end`; the second half of rows stands so many words further on.
    void run(i32 unit, u64 *rows, u64 *now, u64 *after, int at, int end, std::ptrdiff_t gap) const {
        const auto call = reinterpret_cast<Call *>(const_cast<u8 *>(memory_.at() + begins_[unit]));
        for (int w = at; w < end; w += words()) {
            const std::ptrdiff_t i = w + (w < WORDS / 2 ? 0 : gap);
            call(rows + i, now + i, after + i);
        }
    }

private:
    friend std::shared_ptr<const Code> encode(const Program &program, std::string &why);
#if defined(__x86_64__)
    // the code expects its arguments where all systems but Windows put them
    using Call __attribute__((sysv_abi)) = void(u64 *, u64 *, u64 *);
#else
    using Call = void(u64 *, u64 *, u64 *);
#endif
    ExecutableMemory memory_;
    std::vector<std::size_t> begins_; // of each unit: where its code begins
    i32 rows_ = 0;
    int pitch_ = WORDS;
    bool wide_ = false;
};

// The code of a program for this processor; null, with the reason in `why`, where there is no encoder for it, or where the
// system refuses memory that can be executed.  Memory is first written and then executed, never both.
std::shared_ptr<const Code> encode(const Program &program, std::string &why);

// The bytes of the code of a program and where each unit begins, for AVX-512 if `wide`, else for AVX2, whether or not this
// processor executes them.  Throws std::invalid_argument where there is no encoder.
struct Written {
    std::vector<u8> bytes;
    std::vector<std::size_t> begins;
    i32 rows = 0;
    int pitch = WORDS; // words from a row to the next
};
Written write(const Program &program, bool wide);

// How many bits functions should have for the code that `encode` would write: 3 or 2.
int encoded_arity();
// Whether programs made from now on get machine code.
void allow_code(bool allowed);
// Why programs made now get no machine code: empty if they do.
std::string why_no_code();
// What `encode` writes: "avx512", "avx2", or nothing.
std::string code_kind();

} // namespace herbrand

// Compiles lane programs to x86-64 machine code: AVX-512 with functions of three bits, or AVX2.
#pragma once

#include "executable.hpp"
#include "lanes.hpp"

namespace herbrand {

class Code {
public:
    // The number of rows of memory that the code needs.
    i32 rows() const { return rows_; }
    std::size_t bytes() const { return memory_.size(); }
    const char *kind() const { return wide_ ? "avx512" : "avx2"; }
    // The number of words of a row that the code computes at a time.
    int words() const { return wide_ ? WORDS : WORDS / 2; }
    // Words from a row to the next: `WORDS`, or half of that if the halves of rows are stored separately.
    int pitch() const { return pitch_; }
    // Compute the words `at` to `end` of rows; `gap` is the number of words between the halves of a row.
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
    // the code uses the System V calling convention on all systems
    using Call __attribute__((sysv_abi)) = void(u64 *, u64 *, u64 *);
#else
    using Call = void(u64 *, u64 *, u64 *);
#endif
    ExecutableMemory memory_;
    std::vector<std::size_t> begins_; // [units] offset of its code
    i32 rows_ = 0;
    int pitch_ = WORDS;
    bool wide_ = false;
};

// The code of a program for this processor; null, with the reason in `why`, if there is no encoder for it, or if the
// system does not allow executable memory.
std::shared_ptr<const Code> encode(const Program &program, std::string &why);

// The code of a program and the offset of each unit, for AVX-512 if `wide`, else for AVX2, whether or not this
// processor supports it.  Throws std::invalid_argument if there is no encoder.
struct Written {
    std::vector<u8> bytes;
    std::vector<std::size_t> begins;
    i32 rows = 0;
    int pitch = WORDS; // words from a row to the next
};
Written write(const Program &program, bool wide);

// The arity of functions that suits the code of `encode`: 3 or 2.
int encoded_arity();
// Enable or disable machine code for programs created from now on.
void allow_code(bool allowed);
// Why programs created now would get no machine code; empty if they would.
std::string why_no_code();
// The instruction set that `encode` uses: "avx512", "avx2", or "".
std::string code_kind();

} // namespace herbrand

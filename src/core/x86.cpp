#include "x86.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace herbrand {

namespace {

std::atomic<bool> allowed{true};

} // namespace

void allow_code(bool allow) { allowed.store(allow); }

#if defined(__x86_64__)

namespace {

std::atomic<bool> refused{false}; // the system refused executable memory

constexpr i32 NEVER = 1 << 30;
constexpr std::size_t MOST_BYTES = std::size_t(1) << 30;

enum Base { RAX = 0, RCX = 1, RDX = 2, RSI = 6, RDI = 7, R8 = 8, R9 = 9, R10 = 10, R11 = 11 };

constexpr u8 VPAND = 0xDB, VPANDN = 0xDF, VPOR = 0xEB, VPXOR = 0xEF, VPADDQ = 0xD4;

// Assembles the few instructions that lane programs need: VEX encodings on ymm registers, or, if `wide`, EVEX encodings on
// zmm registers (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2).  A memory operand is
// a row: a base register and a displacement in bytes.
class Writer {
public:
    explicit Writer(bool wide) : wide_(wide) {}

    std::vector<u8> bytes;

    struct Place {
        Base base;
        i32 offset; // bytes
    };

    // op dst, src, mem/reg with the opcode in map 0F (66 prefix)
    void three(u8 opcode, int dst, int src, int other) {
        if (!wide_ && opcode != VPANDN && other >= 8 && src < 8) std::swap(src, other); // two-byte prefix
        vex(1, opcode, dst, src, other);
        reg(dst, other);
    }
    void three(u8 opcode, int dst, int src, Place other) { vex(1, opcode, dst, src, -1, other.base); mem(dst, other); }
    void load(int dst, Place from) { vex(1, 0x6F, dst, 0, -1, from.base, true); mem(dst, from); }
    void copy(int dst, int from) { vex(1, 0x6F, dst, 0, from, RAX, true); reg(dst, from); }
    void store(int from, Place to) { vex(1, 0x7F, from, 0, -1, to.base, true); mem(from, to); }
    void ternary(int dst, int src, int other, u8 table) {
        vex(3, 0x25, dst, src, other);
        reg(dst, other);
        bytes.push_back(table);
    }
    void ternary(int dst, int src, Place other, u8 table) {
        vex(3, 0x25, dst, src, -1, other.base);
        mem(dst, other);
        bytes.push_back(table);
    }
    // Shifts by a constant: `vvvv` is the destination, and the field `reg` extends the opcode.
    void shift(u8 opcode, int extension, int dst, int src, u8 places) {
        vex(1, opcode, extension, dst, src);
        reg(extension, src);
        bytes.push_back(places);
    }
    void move_address(Base to, Base from, i32 offset) { // lea to, [from + offset]
        bytes.push_back(static_cast<u8>(0x48 | (to >= 8 ? 4 : 0) | (from >= 8 ? 1 : 0)));
        bytes.push_back(0x8D);
        bytes.push_back(static_cast<u8>(0x80 | (to & 7) << 3 | (from & 7)));
        word(offset);
    }
    void end() {
        for (const u8 byte : {0xC5, 0xF8, 0x77, 0xC3}) bytes.push_back(byte); // vzeroupper; ret
    }

private:
    void word(i32 value) {
        for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<u8>(u32(value) >> (8 * i)));
    }
    // The prefix and the opcode.  r, v, rm are register numbers for the fields reg, vvvv, r/m; `rm` is -1 with the base
    // of an address.  The prefix has the high bits of all of them, inverted.
    void vex(int map, u8 opcode, int r, int v, int rm, Base base = RAX, bool no_v = false) {
        if (no_v) v = 0;
        const int b = rm >= 0 ? rm >> 3 & 1 : base >> 3 & 1;
        if (wide_) {
            const int x = rm >= 0 ? rm >> 4 & 1 : 0;
            bytes.push_back(0x62);
            bytes.push_back(static_cast<u8>((r >> 3 & 1 ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) |
                                            (r >> 4 & 1 ? 0 : 0x10) | map));
            // W = 1: 64-bit elements, which matters for vprolq (72) and vpsllq (73); 01: the prefix 66
            bytes.push_back(static_cast<u8>(0x80 | (~v & 15) << 3 | 0x04 | 1));
            bytes.push_back(static_cast<u8>(0x40 | (v >> 4 & 1 ? 0 : 0x08)));
        } else if (map == 1 && b == 0) { // two-byte prefix
            bytes.push_back(0xC5);
            bytes.push_back(static_cast<u8>((r >> 3 & 1 ? 0 : 0x80) | (~v & 15) << 3 | 0x04 | 1));
        } else {
            bytes.push_back(0xC4);
            bytes.push_back(static_cast<u8>((r >> 3 & 1 ? 0 : 0x80) | 0x40 | (b ? 0 : 0x20) | map));
            bytes.push_back(static_cast<u8>((~v & 15) << 3 | 0x04 | 1));
        }
        bytes.push_back(opcode);
    }
    void reg(int r, int rm) { bytes.push_back(static_cast<u8>(0xC0 | (r & 7) << 3 | (rm & 7))); }
    // ModRM and the displacement: none, 8 bits, which EVEX scales by the operand size, or 32 bits.  (The bases in use need
    // no SIB byte, and do not include rbp and r13, which always have a displacement.)
    void mem(int r, Place place) {
        const u8 low = static_cast<u8>((r & 7) << 3 | (place.base & 7));
        const i32 scale = wide_ ? 64 : 1;
        if (place.offset == 0) {
            bytes.push_back(low);
        } else if (place.offset % scale == 0 && place.offset / scale >= -128 && place.offset / scale < 128) {
            bytes.push_back(0x40 | low);
            bytes.push_back(static_cast<u8>(place.offset / scale));
        } else {
            bytes.push_back(0x80 | low);
            word(place.offset);
        }
    }

    bool wide_;
};

// Register allocation and instruction selection for straight-line code.
//
// The code of a unit is a function of three pointers (rdi: rows, rsi: state rows, rdx: next state rows).  A row is in a
// register, in memory, or both.  When registers run out, the row with the furthest next use is evicted (Belady 1966), to
// memory only if it is used again and is not there.  Rows below `kept` are written through to their fixed place; the
// others get a *slot*, a row of memory that is reused after their last use.
//
// AVX-512 has any function of three bits (vpternlog); an operand may be in memory, and the first one is overwritten.
// AVX2 has and, andn, or, xor only: other functions of two bits are computed inverted, which `flipped_` records and
// the tables of later operations take into account, so that inverters cost nothing.
class Encoder {
public:
    Encoder(const Program &p, bool wide)
        : p_(p), wide_(wide), pitch_(wide || !p.plays ? WORDS : WORDS / 2), w_(wide), registers_(wide ? 32 : 16) {
        row_register_.assign(p.rows, -1);
        slot_.assign(p.rows, -1);
        flipped_.assign(p.rows, 0);
        use_.assign(p.rows, NEVER);
        slots_ = p.kept;
    }

    // Writes the code of a unit; returns where it begins.
    std::size_t unit(const Unit &unit) {
        const i32 begin = unit.begin, size = unit.end - unit.begin;
        // Backwards: the next use of each operand and of each result, as numbers of operations in the unit.
        next_.assign(std::size_t(size) * 3, NEVER);
        first_.assign(size, NEVER);
        for (i32 i = size - 1; i >= 0; --i) {
            const Op &op = p_.ops[begin + i];
            first_[i] = use_[op.out];
            const i32 count = operands(op);
            const i32 rows[3] = {op.a, op.b, op.c};
            for (i32 k = 0; k < count; ++k) next_[3 * i + k] = use_[rows[k]];
            for (i32 k = 0; k < count; ++k) use_[rows[k]] = i;
        }
        for (i32 i = 0; i < size; ++i) {
            const Op &op = p_.ops[begin + i];
            const i32 rows[3] = {op.a, op.b, op.c};
            for (i32 k = 0; k < operands(op); ++k) use_[rows[k]] = NEVER;
        }
        // Registers are empty between units, and `use_` is NEVER for all rows again.
        const std::size_t at = w_.bytes.size();
        prologue();
        for (i32 i = 0; i < size; ++i) operation(p_.ops[begin + i], i);
        w_.end();
        for (Held &held : registers_) {
            if (held.row >= 0) row_register_[held.row] = -1;
            held = {};
        }
        for (i32 i = 0; i < size; ++i) {
            const i32 out = p_.ops[begin + i].out;
            if (slot_[out] >= 0) free_slot(out);
        }
        return at;
    }

    std::vector<u8> &bytes() { return w_.bytes; }
    i32 rows() const { return slots_; }
    int pitch() const { return pitch_; }

private:
    // The content of a register.
    struct Held {
        i32 row = -1;        // -1 if it is free
        i32 next = NEVER;    // the operation that uses the row next
        bool pinned = false; // an operand of the current operation: not to be evicted
    };

    // Further base registers, 256 rows apart, so that rows near them have displacements of 8 bits: shorter code.
    void prologue() {
        if (!wide_) return;
        for (int k = 0; k < 6; ++k) w_.move_address(EXTRA[k], RDI, 8 * WORDS * 256 * (k + 1));
    }

    Writer::Place place(i32 row) const {
        const i32 states = p_.states, size = 8 * pitch_;
        if (row >= 2 && row < 2 + states) return {RSI, size * (row - 2)};
        if (row >= 2 + states && row < 2 + 2 * states) return {RDX, size * (row - 2 - states)};
        if (row >= p_.kept) row = slot_[row];
        const i32 window = (row + 128) / 256;
        if (wide_ && window >= 1 && window <= 6) return {EXTRA[window - 1], size * (row - 256 * window)};
        return {RDI, size * row};
    }

    // Stores the row in a register to a new slot.
    void store(int r) {
        const i32 row = registers_[r].row;
        if (free_slots_.empty()) slot_[row] = slots_++;
        else {
            slot_[row] = free_slots_.back();
            free_slots_.pop_back();
        }
        w_.store(r, place(row));
    }

    void free_slot(i32 row) {
        free_slots_.push_back(slot_[row]);
        slot_[row] = -1;
    }

    // Rows below `kept` are stored as soon as they are computed.
    bool in_memory(i32 row) const { return row < p_.kept || slot_[row] >= 0; }

    // A free register, after evicting the row with the furthest next use if there is none.
    int take_register() {
        int chosen = -1;
        for (int r = 0; r < int(registers_.size()); ++r) {
            if (registers_[r].pinned) continue;
            if (registers_[r].row < 0) return r;
            if (chosen < 0 || registers_[r].next > registers_[chosen].next) chosen = r;
        }
        const i32 row = registers_[chosen].row;
        if (!in_memory(row) && registers_[chosen].next != NEVER) store(chosen);
        row_register_[row] = -1;
        registers_[chosen] = {};
        return chosen;
    }
    void hold(int r, i32 row, i32 next) {
        registers_[r].row = row;
        registers_[r].next = next;
        row_register_[row] = r;
    }
    void drop(int r) {
        row_register_[registers_[r].row] = -1;
        registers_[r].row = -1;
        registers_[r].next = NEVER;
    }
    // Whether loading a row pays: it is used again, and before some row that is in a register, or there is a free one.
    bool worth(i32 next) const {
        if (next == NEVER) return false;
        for (const Held &held : registers_)
            if (!held.pinned && (held.row < 0 || held.next > next)) return true;
        return false;
    }
    int load(i32 row, i32 next) {
        const int r = take_register();
        w_.load(r, place(row));
        hold(r, row, next);
        registers_[r].pinned = true;
        return r;
    }

    struct Operand {
        i32 row;
        i32 next;
        int reg; // -1 in memory
    };

    // Whether a truth table depends on the operand in a place.  As in vpternlog, bit 4a + 2b + c is f(a, b, c).
    static bool matters(u8 table, int place) {
        switch (place) {
        case 0: return (table >> 4) != (table & 15);
        case 1: return ((table >> 2) & 0x33) != (table & 0x33);
        default: return ((table >> 1) & 0x55) != (table & 0x55);
        }
    }
    // The table for the inverted operand.
    static u8 flip(u8 table, int place) {
        switch (place) {
        case 0: return static_cast<u8>(table << 4 | table >> 4);
        case 1: return static_cast<u8>((table & 0x33) << 2 | (table >> 2 & 0x33));
        default: return static_cast<u8>((table & 0x55) << 1 | (table >> 1 & 0x55));
        }
    }
    // The table when operand order[k] stands in place k.
    static u8 permuted(u8 table, const int (&order)[3]) {
        u8 result = 0;
        for (int row = 0; row < 8; ++row) {
            int source = 0;
            for (int k = 0; k < 3; ++k) source |= (row >> (2 - k) & 1) << (2 - order[k]);
            result |= (table >> source & 1) << row;
        }
        return result;
    }

    void operation(const Op &op, i32 i) {
        // The operands on which the result depends, each once.
        std::vector<Operand> &in = in_;
        in.clear();
        u8 table = static_cast<u8>(op.code);
        int operand_at[3] = {-1, -1, -1}; // [places of the table] the index in `in`
        const i32 rows[3] = {op.a, op.b, op.c};
        const i32 count = operands(op);
        for (int k = 0; k < count; ++k) {
            const i32 next = next_[3 * i + k];
            for (Held &held : registers_)
                if (held.row == rows[k]) held.next = next;
        }
        for (int k = 0; k < count; ++k) {
            if (op.code < ADD && !matters(table, k)) continue;
            if (!wide_ && op.code < ADD && flipped_[rows[k]]) table = flip(table, k);
            int index = -1;
            for (int j = 0; j < int(in.size()); ++j)
                if (in[j].row == rows[k]) index = j;
            if (index < 0) {
                index = int(in.size());
                in.push_back({rows[k], next_[3 * i + k], row_register_[rows[k]]});
                if (in.back().reg >= 0) registers_[in.back().reg].pinned = true;
            }
            operand_at[k] = index;
        }
        // The truth table with the operands in the order of `in`.
        u8 compact = 0;
        if (op.code < ADD)
            for (int row = 0; row < 8; ++row) {
                int source = 0;
                for (int k = 0; k < 3; ++k)
                    if (operand_at[k] >= 0) source |= (row >> (2 - operand_at[k]) & 1) << (2 - k);
                compact |= (table >> source & 1) << row;
            }
        bool flipped = false;
        const int out = compute(op, compact, flipped);
        for (Held &held : registers_) held.pinned = false;
        // Free the registers and slots of operands that are not used again.
        for (const Operand &operand : in)
            if (operand.next == NEVER) {
                const int r = row_register_[operand.row];
                if (r >= 0 && r != out) drop(r);
                if (operand.row >= p_.kept && slot_[operand.row] >= 0) free_slot(operand.row);
            }
        if (op.out < p_.kept && flipped) {
            w_.three(VPXOR, out, out, place(1)); // row 1 is all ones; rows that other code reads are not inverted
            flipped = false;
        }
        flipped_[op.out] = flipped;
        if (op.out < p_.kept) w_.store(out, place(op.out));
        if (first_[i] != NEVER) hold(out, op.out, first_[i]);
        else if (registers_[out].row >= 0) drop(out);
    }

    // A register for the result: that of an operand that is not used again, if there is one.
    int result_register() {
        for (Operand &operand : in_)
            if (operand.reg >= 0 && operand.next == NEVER) {
                const int r = operand.reg;
                drop(r);
                return r;
            }
        return take_register();
    }
    int in_register(int j) {
        Operand &operand = in_[j];
        if (operand.reg < 0) operand.reg = load(operand.row, operand.next);
        return operand.reg;
    }
    // Loads an operand into a register if that pays; otherwise the instruction reads it from memory.
    void settle(int j) {
        if (in_[j].reg < 0 && worth(in_[j].next)) in_register(j);
    }

    // dst = f(first, second), where the second may be in memory.
    int binary(u8 opcode, int first, int second, bool commutes) {
        if (commutes && in_[first].reg < 0 && in_[second].reg >= 0) std::swap(first, second);
        const int a = in_register(first);
        settle(second);
        if (in_[second].reg >= 0) {
            const int b = in_[second].reg;
            const int out = result_register();
            w_.three(opcode, out, a, b);
            return out;
        }
        const Writer::Place b = place(in_[second].row);
        const int out = result_register();
        w_.three(opcode, out, a, b);
        return out;
    }

    // An operand in a register that may be overwritten: its own after its last use, otherwise a copy.
    int destroyed(int j) {
        Operand &operand = in_[j];
        if (operand.reg >= 0 && operand.next == NEVER) {
            drop(operand.reg);
            return operand.reg;
        }
        const int r = take_register();
        registers_[r].pinned = true;
        if (operand.reg >= 0) w_.copy(r, operand.reg);
        else w_.load(r, place(operand.row));
        return r;
    }

    // Selects the instructions of an operation; returns the register of the result, inverted if `flipped` is set.
    int compute(const Op &op, u8 table, bool &flipped) {
        const int size = int(in_.size());
        if (op.code == ADD) {
            if (size == 1) in_.push_back(in_[0]);
            return binary(VPADDQ, 0, 1, true);
        }
        if (op.code == SHIFT || op.code == ROTATE) {
            const u8 places = static_cast<u8>(op.c);
            const int a = in_register(0);
            if (op.code == SHIFT || wide_) {
                const int out = result_register();
                if (op.code == SHIFT) w_.shift(0x73, 6, out, a, places);
                else w_.shift(0x72, 1, out, a, places);
                return out;
            }
            const int low = take_register(); // AVX2 has no rotation: two shifts
            registers_[low].pinned = true;
            w_.shift(0x73, 2, low, a, static_cast<u8>(64 - places));
            const int out = result_register();
            w_.shift(0x73, 6, out, a, places);
            w_.three(VPOR, out, out, low);
            return out;
        }
        if (size == 0) {
            const int out = take_register();
            if (!wide_) {
                w_.three(VPXOR, out, out, out);
                flipped = table != 0;
            } else if (table) {
                w_.ternary(out, out, out, 0xFF);
            } else {
                w_.three(VPXOR, out, out, out);
            }
            return out;
        }
        if (size == 1) {
            const bool inverts = !(table & 0x80);
            if (!wide_) {
                flipped = inverts;
                return destroyed(0);
            }
            if (!inverts) return destroyed(0);
            settle(0);
            if (in_[0].reg >= 0) {
                const int a = in_[0].reg, out = result_register();
                w_.ternary(out, out, a, 0x55);
                return out;
            }
            const Writer::Place a = place(in_[0].row);
            const int out = result_register();
            w_.ternary(out, out, a, 0x55);
            return out;
        }
        if (size == 2) {
            // the table of two operands: bit 2 * first + second
            u8 two = 0;
            for (int row = 0; row < 4; ++row) two |= (table >> (2 * row) & 1) << row;
            switch (two) {
            case 8: return binary(VPAND, 0, 1, true);
            case 14: return binary(VPOR, 0, 1, true);
            case 6: return binary(VPXOR, 0, 1, true);
            case 2: return binary(VPANDN, 0, 1, false);
            case 4: return binary(VPANDN, 1, 0, false);
            default: break;
            }
            if (!wide_) {
                flipped = true;
                switch (two) {
                case 7: return binary(VPAND, 0, 1, true);
                case 1: return binary(VPOR, 0, 1, true);
                case 9: return binary(VPXOR, 0, 1, true);
                case 13: return binary(VPANDN, 0, 1, false);
                default: return binary(VPANDN, 1, 0, false); // 11
                }
            }
        }
        // vpternlog: overwrite an operand after its last use, preferably one in a register; one other may be in memory.
        int first = -1;
        for (int j = 0; j < size; ++j)
            if (in_[j].reg >= 0 && in_[j].next == NEVER) first = j;
        for (int j = 0; j < size && first < 0; ++j)
            if (in_[j].reg < 0 && in_[j].next == NEVER) first = j;
        for (int j = 0; j < size && first < 0; ++j)
            if (in_[j].reg < 0) first = j;
        if (first < 0) first = 0;
        int others[2], n = 0;
        for (int j = 0; j < size; ++j)
            if (j != first) others[n++] = j;
        if (n == 1) others[1] = others[0];
        for (int k = 0; k < n; ++k) settle(others[k]);
        if (n == 2 && in_[others[0]].reg < 0) {
            if (in_[others[1]].reg < 0) in_register(others[0]);
            else std::swap(others[0], others[1]);
        }
        const int out = destroyed(first);
        const int second = n == 2 ? in_[others[0]].reg : out;
        // The operands of the instruction in the order of its table: overwritten, second, third.
        int order[3];
        order[0] = first;
        if (n == 2) {
            order[1] = others[0];
            order[2] = others[1];
        } else {
            order[2] = others[0];
            order[1] = 3 - order[0] - order[2]; // the place that does not matter
        }
        const u8 permuted_table = permuted(table, order);
        if (in_[others[1]].reg >= 0) w_.ternary(out, second, in_[others[1]].reg, permuted_table);
        else w_.ternary(out, second, place(in_[others[1]].row), permuted_table);
        return out;
    }

    static constexpr Base EXTRA[6] = {R8, R9, R10, R11, RAX, RCX};

    const Program &p_;
    bool wide_;
    // Words from a row to the next.  For AVX2 the rows of random games are two arrays of halves: the code computes one
    // half at a time, and needs half as much of the first level of the cache.
    int pitch_;
    Writer w_;
    std::vector<Held> registers_;
    std::vector<int> row_register_;      // [rows] the register of a row, or -1
    std::vector<i32> slot_;              // [rows] the slot of a row, or -1
    std::vector<i32> next_, first_;      // [operations, 3] next uses of operands; [operations] first use of the result
    std::vector<i32> use_, free_slots_;  // [rows] scratch: the next use
    std::vector<u8> flipped_;            // [rows] AVX2: whether register and slot have the inverse of the row
    std::vector<Operand> in_;            // the operands of the current operation
    i32 slots_;                          // rows of memory: `kept`, then slots
};

bool is_wide() { return std::strcmp(kernels().level, "x86_64_v4") == 0; }
bool is_narrow() { return std::strcmp(kernels().level, "x86_64_v3") == 0; }

const char *const REFUSED = "the system refuses memory that can be executed";

// Tests once whether the system executes a page that was written before (a `ret`).
void ask_system() {
    static const bool asked = [] {
        if (ExecutableMemory({0xC3}).refused()) refused = true;
        return true;
    }();
    (void)asked;
}

} // namespace

std::string why_no_code() {
    if (!allowed) return "machine code is switched off";
    if (!is_wide() && !is_narrow()) return std::string("there is no encoder for the level ") + kernels().level;
    ask_system();
    return refused ? REFUSED : "";
}

std::string code_kind() { return !why_no_code().empty() ? "" : is_wide() ? "avx512" : "avx2"; }

Written write(const Program &program, bool wide) {
    Encoder encoder(program, wide);
    Written written;
    for (const Unit &unit : program.units) written.begins.push_back(encoder.unit(unit));
    written.bytes = std::move(encoder.bytes());
    written.rows = encoder.rows();
    written.pitch = encoder.pitch();
    return written;
}

int encoded_arity() { return is_narrow() && why_no_code().empty() ? 2 : 3; }

std::shared_ptr<const Code> encode(const Program &program, std::string &why) {
    const bool wide = is_wide();
    why = why_no_code();
    if (why.empty() && program.arity != (wide ? 3 : 2)) why = "its functions have another number of bits";
    if (why.empty() && program.ops.size() > MOST_BYTES / 32) why = "it is too large";
    if (!why.empty()) return nullptr;
    Written written = write(program, wide);
    auto code = std::make_shared<Code>();
    code->memory_ = ExecutableMemory(written.bytes);
    if (!code->memory_.at()) {
        refused = refused || code->memory_.refused();
        why = code->memory_.refused() ? REFUSED : "the system gives no memory for machine code";
        return nullptr;
    }
    code->begins_ = std::move(written.begins);
    code->rows_ = written.rows;
    code->pitch_ = written.pitch;
    code->wide_ = wide;
    return code;
}

#else

Written write(const Program &, bool) { throw std::invalid_argument("there is no encoder for this processor"); }
int encoded_arity() { return 3; }
std::shared_ptr<const Code> encode(const Program &, std::string &why) {
    why = why_no_code();
    return nullptr;
}
std::string why_no_code() { return "there is no encoder for this processor"; }
std::string code_kind() { return ""; }

#endif

} // namespace herbrand

#include "lanes.hpp"

#include "cpu.hpp"
#include "evaluator.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

namespace {

enum : i32 { A_AND_B = 0xC0, A_AND_NOT_B = 0x30, NOT_A_AND_B = 0x0C, NEITHER = 0x03, NOT_A = 0x0F };

// Sorts the operations of a section so that equal codes stand together, each after what it reads.
void by_level(std::vector<Op> &ops, i32 begin, i32 end, std::vector<i32> &level) {
    std::vector<i32> mine(end - begin);
    for (i32 i = begin; i < end; ++i) {
        const Op &op = ops[i];
        const i32 at = 1 + std::max({level[op.a], level[op.b], level[op.c]});
        level[op.out] = mine[i - begin] = at;
    }
    std::vector<i32> order(end - begin);
    for (i32 i = 0; i < end - begin; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](i32 x, i32 y) {
        if (mine[x] != mine[y]) return mine[x] < mine[y];
        return ops[begin + x].code < ops[begin + y].code;
    });
    std::vector<Op> sorted;
    sorted.reserve(order.size());
    for (const i32 i : order) sorted.push_back(ops[begin + i]);
    std::copy(sorted.begin(), sorted.end(), ops.begin() + begin);
}

} // namespace

std::shared_ptr<const Program> make_program(const Circuit &c) {
    auto program = std::make_shared<Program>();
    Program &p = *program;
    const int first = c.inputs();
    // row 0 and 1 are the constants; node n > 0 has row n + 1
    const auto row_of = [](i32 node) { return node ? node + 1 : 0; };
    p.rows = first + 1 + c.gates;
    for (int f = 0; f < c.fluents; ++f) p.fluent_row.push_back(row_of(1 + f));
    for (int m = 0; m < c.moves; ++m) p.move_row.push_back(row_of(c.first_move() + m));
    std::vector<i32> negated(c.nodes(), -1);
    const auto operand = [&](i32 literal) { return literal == 1 ? 1 : row_of(literal >> 1); };
    const auto gates = [&](i32 begin, i32 end) {
        for (i32 g = begin; g < end; ++g) {
            const i32 a = c.left[g], b = c.right[g];
            const bool na = (a & 1) && a != 1, nb = (b & 1) && b != 1;
            const i32 code = na ? (nb ? NEITHER : NOT_A_AND_B) : (nb ? A_AND_NOT_B : A_AND_B);
            p.ops.push_back({row_of(first + g), operand(a), operand(b), 0, code});
        }
    };
    // the rows of literals that are asked for: inversions are written out
    std::vector<i32> inverted(c.nodes(), 0);
    const auto positive = [&](i32 literal) -> i32 {
        if (literal < 2) return literal;
        const i32 node = literal >> 1;
        if (!(literal & 1)) return row_of(node);
        if (!inverted[node]) {
            inverted[node] = p.rows++;
            p.ops.push_back({inverted[node], row_of(node), 0, 0, NOT_A});
        }
        return inverted[node];
    };
    std::vector<i32> level;
    const auto stage = [&](std::vector<Section> &sections, i32 begin, i32 end, auto &&outputs) {
        i32 from = static_cast<i32>(p.ops.size());
        const auto close = [&] {
            const i32 to = static_cast<i32>(p.ops.size());
            if (to > from) sections.push_back({from, to, 0, 0});
            from = to;
        };
        for (const Loop &loop : c.loops) {
            if (loop.first < begin || loop.first >= end || loop.last == loop.first) continue;
            gates(begin, loop.first);
            close();
            gates(loop.first, loop.last);
            const i32 first_back = static_cast<i32>(p.back.size());
            for (i32 f = loop.first_back; f < loop.last_back; ++f)
                p.back.push_back({row_of(c.first_feedback() + f), positive(c.feedback[f])});
            sections.push_back({from, static_cast<i32>(p.ops.size()), first_back, static_cast<i32>(p.back.size())});
            from = static_cast<i32>(p.ops.size());
            begin = loop.last;
        }
        gates(begin, end);
        outputs();
        close();
        level.assign(p.rows, 0);
        for (const Section &section : sections) by_level(p.ops, section.begin, section.end, level);
    };
    stage(p.legal, 0, c.cones[0], [&] {
        for (const i32 literal : c.legal) p.legal_row.push_back(positive(literal));
        p.terminal_row = positive(c.terminal);
    });
    stage(p.next, c.cones[0], c.cones[1], [&] {
        for (const i32 literal : c.next) p.next_row.push_back(positive(literal));
        for (const i32 literal : c.sees) p.sees_row.push_back(positive(literal));
    });
    // an inversion made for `next` is not there when goals are asked for before
    std::fill(inverted.begin(), inverted.end(), 0);
    stage(p.goals, c.cones[1], c.cones[2], [&] {
        for (const i32 literal : c.goal) p.goal_row.push_back(positive(literal));
    });
    return program;
}

void Program::run(u64 *rows, const std::vector<Section> &stage) const {
    const auto walk = kernels().walk;
    for (const Section &section : stage) {
        const Op *begin = ops.data() + section.begin, *end = ops.data() + section.end;
        if (section.first_back == section.last_back) {
            walk(rows, begin, end);
            continue;
        }
        for (i32 i = section.first_back; i < section.last_back; ++i)
            std::memset(rows + back[i].row * WORDS, 0, 8 * WORDS);
        for (bool changed = true; changed;) {
            walk(rows, begin, end);
            u64 differs = 0;
            for (i32 i = section.first_back; i < section.last_back; ++i) {
                u64 *row = rows + back[i].row * WORDS;
                const u64 *source = rows + back[i].source * WORDS;
                for (int w = 0; w < WORDS; ++w) {
                    differs |= row[w] ^ source[w];
                    row[w] = source[w];
                }
            }
            changed = differs != 0;
        }
    }
}

} // namespace herbrand

#include "state.hpp"

#include <algorithm>

namespace herbrand {

namespace {

// The first mark from `begin` on, or `end`.
int next_mark(const u64 *marks, int begin, int end) {
    if (begin >= end) return end;
    int word = begin >> 6;
    u64 bits = marks[word] >> (begin & 63);
    if (bits) return std::min(begin + lowest_bit(bits), end);
    const int last = (end - 1) >> 6;
    while (word < last) {
        bits = marks[++word];
        if (bits) return std::min(64 * word + lowest_bit(bits), end);
    }
    return end;
}

void clean_marks(u64 *marks, int begin, int end) {
    for (int i = next_mark(marks, begin, end); i < end; i = next_mark(marks, i + 1, end))
        marks[i >> 6] &= ~(u64(1) << (i & 63));
}

constexpr u8 EVEN = 1, ODD = 2, BOTH = 3;
constexpr u8 OPPOSITE[] = {0, ODD, EVEN, BOTH};

} // namespace

// -- what memories share ------------------------------------------------------------------

StatePlan::StatePlan(CircuitPtr given, std::vector<i32> given_order)
    : circuit(std::move(given)), order(std::move(given_order)) {
    const Circuit &c = *circuit;
    if (order.size() != std::size_t(c.moves)) throw std::invalid_argument("an order has all moves");
    place.assign(c.moves, -1);
    for (int r = 0; r < c.roles; ++r)
        for (int i = c.bounds[r]; i < c.bounds[r + 1]; ++i) {
            const i32 m = order[i];
            if (m < c.bounds[r] || m >= c.bounds[r + 1] || place[m] >= 0)
                throw std::invalid_argument("an order has all moves, each once, sorted by role");
            place[m] = i - c.bounds[r];
        }
    auto append = [&](const i32 *from, int count) {
        const int first = words;
        words += (count + 63) / 64;
        literals.resize(std::size_t(64) * words, 0);
        std::copy(from, from + count, literals.begin() + std::size_t(64) * first);
        for (int w = first; w < words; ++w) {
            const int rest = std::min(64, count - 64 * (w - first));
            bits.push_back(rest);
            valid.push_back(rest == 64 ? ~u64(0) : (u64(1) << rest) - 1);
        }
        return first;
    };
    for (int r = 0; r < c.roles; ++r) {
        std::vector<i32> mine;
        for (int i = c.bounds[r]; i < c.bounds[r + 1]; ++i) mine.push_back(c.legal[order[i]]);
        word_of.push_back(append(mine.data(), static_cast<int>(mine.size())));
    }
    word_next = append(c.next.data(), c.fluents);
    if (words == word_next) { // a state has a word even if there are no fluents
        ++words;
        literals.resize(std::size_t(64) * words, 0);
        bits.push_back(0);
        valid.push_back(0);
    }
    word_of.push_back(word_next);
    word_terminal = append(&c.terminal, 1);
    word_goal = append(c.goal.data(), c.goals());
    word_sees = append(c.sees.data(), static_cast<int>(c.sees.size()));
    for (const Loop &loop : c.loops)
        longest_loop = std::max(longest_loop, loop.last - loop.first + loop.last_back - loop.first_back);
    connect();
}

void StatePlan::connect() {
    const Circuit &c = *circuit;
    mark_words = (c.gates + c.feedbacks + 63) / 64;
    due_at_first.assign(mark_words + words, 0);
    auto mark = [&](i64 bit) { due_at_first[bit >> 6] |= u64(1) << (bit & 63); };
    const std::vector<u8> spoiling = spoils();
    std::vector<std::pair<i32, u64>> found; // a node, and an entry for it
    found.reserve(2 * std::size_t(c.gates) + c.feedbacks + literals.size());
    auto add = [&](i32 source, i32 needed, i64 bit, int spoil) {
        found.emplace_back(source >> 1, u64(needed) << 32 | u64(bit) << 2 | u64(spoil));
    };
    for (int g = 0; g < c.gates; ++g) {
        const i32 a = c.left[g], b = c.right[g];
        if (a & b & 1) mark(g);
        if (g >= c.cones[1]) continue; // goals are walked: nothing else reads their gates
        if (a == b) {
            add(a, 1, g, spoiling[2 * g] | spoiling[2 * g + 1]);
        } else if (a >> 1 != b >> 1) {
            add(a, b, g, spoiling[2 * g]);
            add(b, a, g, spoiling[2 * g + 1]);
        }
    }
    for (int f = 0; f < c.feedbacks; ++f) {
        if (c.feedback[f] & 1) mark(c.gates + f);
        add(c.feedback[f], 1, c.gates + f, 0);
    }
    for (int w = 0; w < words; ++w)
        for (int b = 0; b < bits[w]; ++b) {
            const i64 bit = 64 * (i64(mark_words) + w) + b;
            const i32 literal = literals[64 * w + b];
            if (literal & 1) mark(bit);
            if (w < word_goal || w >= word_sees) add(literal, 1, bit, 0);
        }
    std::stable_sort(found.begin(), found.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
    fan_start.assign(c.nodes() + 1, 0);
    for (const auto &[node, entry] : found) {
        ++fan_start[node + 1];
        fan.push_back(entry);
    }
    for (int node = 0; node < c.nodes(); ++node) fan_start[node + 1] += fan_start[node];
    for (int f = 0; f < c.fluents; ++f) weights.push_back(1 + fan_start[f + 2] - fan_start[f + 1]);
}

// For the left and the right operand of each gate, by which of its changes it spoils a loop: by becoming false (1),
// true (2).
//
// The gates between a feedback and its source are monotone, with an odd number of inversions before the source
// or with an even one.  Where what comes from outside changes so that the source can only rise, the least fixpoint
// only grows (Tarski 1955), and all values that were reached stay below it.
std::vector<u8> StatePlan::spoils() const {
    const Circuit &c = *circuit;
    std::vector<u8> found(2 * std::size_t(c.gates), 0);
    const i32 first = c.inputs(), back = c.first_feedback();
    std::vector<u8> inside(c.nodes(), 0), ways(c.nodes(), 0); // whether the way to a source is even, odd, both
    for (const Loop &loop : c.loops) {
        const i32 begin = first + loop.first, end = first + loop.last;
        const i32 back_begin = back + loop.first_back, back_end = back + loop.last_back;
        std::fill(inside.begin() + back_begin, inside.begin() + back_end, 1);
        for (i32 node = begin; node < end; ++node)
            inside[node] = inside[c.left[node - first] >> 1] | inside[c.right[node - first] >> 1];
        for (int f = loop.first_back; f < loop.last_back; ++f) {
            const i32 literal = c.feedback[f];
            if (inside[literal >> 1]) ways[literal >> 1] |= literal & 1 ? ODD : EVEN;
        }
        for (i32 node = end - 1; node >= begin; --node) {
            const u8 way = inside[node] ? ways[node] : 0;
            if (way == 0) continue;
            for (const i32 literal : {c.left[node - first], c.right[node - first]})
                if (inside[literal >> 1]) ways[literal >> 1] |= literal & 1 ? OPPOSITE[way] : way;
        }
        bool monotone = true;
        for (i32 node = back_begin; node < back_end; ++node) monotone &= (ways[node] & ODD) == 0;
        for (i32 node = begin; node < end; ++node) {
            if (!inside[node]) continue;
            const u8 way = monotone ? ways[node] : BOTH;
            const i32 operands[] = {c.left[node - first], c.right[node - first]};
            for (int side = 0; side < 2; ++side)
                if (!inside[operands[side] >> 1])
                    found[2 * std::size_t(node - first) + side] = operands[side] & 1 ? OPPOSITE[way] : way;
        }
        for (const auto &[from, to] : {std::pair(begin, end), std::pair(back_begin, back_end)}) {
            std::fill(inside.begin() + from, inside.begin() + to, 0);
            std::fill(ways.begin() + from, ways.begin() + to, 0);
        }
    }
    return found;
}

// -- one memory ---------------------------------------------------------------------------

StateMemory::StateMemory(StatePlanPtr plan)
    : plan_(std::move(plan)), circuit_(*plan_->circuit), entering_(circuit_.state_words()),
      old_(plan_->longest_loop), joint_(circuit_.roles) {
    begin(true, 1);
}

void StateMemory::begin(bool reckons, int states) {
    reckons_ = reckons;
    Slot slot;
    slot.state.assign(circuit_.state_words(), 0);
    slot.made.assign(circuit_.roles, -1);
    slot.values.resize(2 * std::size_t(circuit_.nodes()));
    for (std::size_t i = 0; i < slot.values.size(); ++i) slot.values[i] = i & 1;
    slot.due = plan_->due_at_first;
    slot.spoiled.assign(circuit_.gates / 64 + 2, 0);
    slots_.assign(states, {});
    slots_[0] = std::move(slot);
    now_ = &slots_[0];
}

// The slot from which a state is reached with the fewest changes.
StateMemory::Slot &StateMemory::nearest(const u64 *key) {
    Slot *found = now_;
    i64 least = std::numeric_limits<i64>::max();
    for (Slot &slot : slots_) {
        if (slot.state.empty()) continue;
        i64 distance = 0;
        for (int w = 0; w < circuit_.state_words(); ++w)
            for (u64 bits = slot.state[w] ^ key[w]; bits; bits &= bits - 1)
                distance += plan_->weights[64 * w + lowest_bit(bits)];
        if (distance < least) {
            least = distance;
            found = &slot;
        }
    }
    return *found;
}

// The next one in turn; it begins as the present one.
StateMemory::Slot &StateMemory::next_slot() {
    Slot &slot = now_ == &slots_.back() ? slots_.front() : now_[1];
    if (slot.state.empty()) slot = *now_;
    return slot;
}

// -- reckoning ----------------------------------------------------------------------------

// Change the value of a node, and what changes with it: outputs at once, gates become due.
inline void StateMemory::flip(i32 node) {
    const u8 now = now_->values[2 * node] ^ 1;
    set(node, now);
    const u64 spoiling = u64(1) << now;
    const u64 *fan = plan_->fan.data();
    const u8 *values = now_->values.data();
    u64 *due = now_->due.data();
    for (i32 at = plan_->fan_start[node], end = plan_->fan_start[node + 1]; at < end; ++at) {
        const u64 entry = fan[at];
        const u32 bit = static_cast<u32>(entry) >> 2;
        due[bit >> 6] ^= u64(values[entry >> 32]) << (bit & 63);
        if (entry & spoiling) now_->spoiled[bit >> 6] |= u64(1) << (bit & 63);
    }
}

// Evaluate a whole loop anew and flip what changed.
void StateMemory::flip_loop(const Loop &loop) {
    const i32 first = circuit_.inputs() + loop.first, back = circuit_.first_feedback() + loop.first_back;
    const int gates = loop.last - loop.first, count = gates + loop.last_back - loop.first_back;
    auto node = [&](int i) { return i < gates ? first + i : back + i - gates; };
    for (int i = 0; i < count; ++i) old_[i] = now_->values[2 * node(i)];
    repeat(loop);
    // back to what was, all of it: flipping looks at other operands
    for (int i = 0; i < count; ++i) {
        const u8 value = now_->values[2 * node(i)];
        set(node(i), old_[i]);
        old_[i] = value;
    }
    for (int i = 0; i < count; ++i)
        if (now_->values[2 * node(i)] != old_[i]) flip(node(i));
    clean_marks(now_->due.data(), loop.first, loop.last);
    clean_marks(now_->due.data(), circuit_.gates + loop.first_back, circuit_.gates + loop.last_back);
    clean_marks(now_->spoiled.data(), loop.first, loop.last);
}

// Bring a loop up to date from the fixpoint before; returns whether that was possible.
bool StateMemory::grow(const Loop &loop) {
    const i32 back = circuit_.first_feedback();
    const int begin = circuit_.gates + loop.first_back, end = circuit_.gates + loop.last_back;
    while (true) {
        sweep_gates(loop.first, loop.last);
        if (next_mark(now_->spoiled.data(), loop.first, loop.last) < loop.last) return false;
        int mark = next_mark(now_->due.data(), begin, end);
        if (mark == end) return true;
        while (mark < end) {
            const i32 node = back + mark - circuit_.gates;
            if (now_->values[2 * node]) return false;
            now_->due[mark >> 6] &= ~(u64(1) << (mark & 63));
            flip(node);
            mark = next_mark(now_->due.data(), mark + 1, end);
        }
    }
}

// Make the changes of the gates `begin <= g < end` that are due, and of those that become due.
void StateMemory::sweep_gates(int begin, int end) {
    const i32 first = circuit_.inputs();
    for (int at = begin & -64; at < end; at += 64) {
        u64 *word = &now_->due[at >> 6];
        if (!*word) continue;
        const u64 within = ~u64(0) << std::max(begin - at, 0) & ~u64(0) >> std::max(at + 64 - end, 0);
        while (const u64 bits = *word & within) {
            const int bit = lowest_bit(bits);
            *word ^= u64(1) << bit;
            flip(first + at + bit);
        }
    }
}

// Bring the gates `begin <= g < end` up to date, loops included.
void StateMemory::sweep(int begin, int end) {
    for (const Loop &loop : circuit_.loops) {
        if (loop.first >= end) break;
        sweep_gates(begin, loop.first);
        if (next_mark(now_->spoiled.data(), loop.first, loop.last) < loop.last || !grow(loop)) flip_loop(loop);
        begin = loop.last;
    }
    sweep_gates(begin, end);
}

// -- walking ------------------------------------------------------------------------------

void StateMemory::evaluate(int begin, int end) {
    u8 *values = now_->values.data();
    const i32 *left = circuit_.left.data(), *right = circuit_.right.data();
    u8 *at = values + 2 * std::size_t(circuit_.inputs() + begin);
    for (int g = begin; g < end; ++g, at += 2) {
        const u8 value = values[left[g]] & values[right[g]];
        at[0] = value;
        at[1] = value ^ 1;
    }
}

// Evaluate a whole loop anew, from false to its fixpoint.
void StateMemory::repeat(const Loop &loop) {
    const i32 back = circuit_.first_feedback();
    for (int f = loop.first_back; f < loop.last_back; ++f) set(back + f, 0);
    bool changed = true;
    while (changed) {
        evaluate(loop.first, loop.last);
        changed = false;
        for (int f = loop.first_back; f < loop.last_back; ++f) {
            const u8 value = now_->values[circuit_.feedback[f]];
            if (value != now_->values[2 * (back + f)]) {
                set(back + f, value);
                changed = true;
            }
        }
    }
}

void StateMemory::walk(int begin, int end) {
    for (const Loop &loop : circuit_.loops) {
        if (loop.first < begin) continue;
        if (loop.first >= end) break;
        evaluate(begin, loop.first);
        repeat(loop);
        begin = loop.last;
    }
    evaluate(begin, end);
}

// Write the words `begin <= w < end` of the outputs.
void StateMemory::show(int begin, int end) {
    const u8 *values = now_->values.data();
    for (int w = begin; w < end; ++w) {
        const i32 *literals = plan_->literals.data() + 64 * std::size_t(w);
        u64 word = 0;
        for (int b = 0; b < plan_->bits[w]; ++b) word |= u64(values[literals[b]]) << b;
        now_->due[plan_->mark_words + w] = word;
    }
}

// -- both ways ----------------------------------------------------------------------------

void StateMemory::know(Known what) {
    if (now_->known & what) return;
    now_->known |= what;
    const StatePlan &p = *plan_;
    const int a = circuit_.cones[0], b = circuit_.cones[1], c = circuit_.cones[2];
    if (what == GOAL) {
        walk(b, c);
        show(p.word_goal, p.word_sees);
    } else if (reckons_) {
        sweep(0, what == LEGAL ? a : b);
    } else if (what == LEGAL) {
        walk(0, a);
        show(0, p.word_next);
        show(p.word_terminal, p.word_terminal + 1);
    } else {
        walk(a, b);
        show(p.word_next, p.word_terminal);
        show(p.word_sees, p.words);
    }
}

// Take over a state, and forget the joint move.
void StateMemory::go(const u64 *key) {
    for (std::size_t w = 0; w < now_->state.size(); ++w) {
        const u64 now = key[w];
        u64 bits = now_->state[w] ^ now;
        now_->state[w] = now;
        for (; bits; bits &= bits - 1) {
            const int bit = lowest_bit(bits);
            put(static_cast<i32>(1 + 64 * w + bit), now >> bit & 1);
        }
    }
    for (i32 &made : now_->made) {
        if (made >= 0) put(circuit_.first_move() + made, 0);
        made = -1;
    }
    now_->known = 0;
}

void StateMemory::take(const u64 *key) {
    if (is_at(key)) return;
    go(key);
    know(LEGAL);
}

// Set the inputs of the joint move.
void StateMemory::make() {
    const i32 first = circuit_.first_move();
    for (int r = 0; r < circuit_.roles; ++r) {
        if (now_->made[r] == joint_[r]) continue;
        if (now_->made[r] >= 0) put(first + now_->made[r], 0);
        put(first + joint_[r], 1);
        now_->made[r] = joint_[r];
    }
    now_->known &= LEGAL | GOAL;
}

bool StateMemory::enter(const u64 *key) {
    if (!is_at(key)) {
        if (slots_.size() > 1) now_ = &nearest(key);
        take(key);
    }
    return is_over();
}

int StateMemory::forward() {
    know(LEGAL);
    if (is_over()) return OVER;
    const StatePlan &p = *plan_;
    for (int r = 0; r < circuit_.roles; ++r) {
        const i32 bit = p.place[joint_[r]];
        if (!(outputs()[p.word_of[r] + (bit >> 6)] >> (bit & 63) & 1)) return ILLEGAL;
    }
    make();
    know(NEXT);
    // copied, because going there changes the outputs
    std::copy_n(outputs() + p.word_next, entering_.size(), entering_.data());
    if (slots_.size() > 1) now_ = &next_slot();
    take(entering_.data());
    return is_over();
}

void StateMemory::follow() {
    know(LEGAL);
    make();
    know(NEXT);
}

void StateMemory::score() {
    know(LEGAL);
    know(GOAL);
}

} // namespace herbrand

#include "state.hpp"

#include <unordered_map>

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

void set(u8 *values, i32 node, u8 value) {
    values[2 * std::size_t(node)] = value;
    values[2 * std::size_t(node) + 1] = value ^ 1;
}

// Evaluating all of some gates, by the values of all literals: a byte each.
struct Walk {
    u8 *values;
    const i32 *left, *right, *feedback;
    i32 first_gate, first_back;

    void gates(int begin, int end) const {
        u8 *at = values + 2 * std::size_t(first_gate + begin);
        for (int g = begin; g < end; ++g, at += 2) {
            const u8 value = values[left[g]] & values[right[g]];
            at[0] = value;
            at[1] = value ^ 1;
        }
    }
    // A whole loop, from false to its fixpoint.
    void loop(const Loop &loop) const {
        for (int f = loop.first_back; f < loop.last_back; ++f) set(values, first_back + f, 0);
        for (bool changed = true; changed;) {
            gates(loop.first, loop.last);
            changed = false;
            for (int f = loop.first_back; f < loop.last_back; ++f) {
                const u8 value = values[feedback[f]];
                if (value != values[2 * std::size_t(first_back + f)]) {
                    set(values, first_back + f, value);
                    changed = true;
                }
            }
        }
    }
    void all(int begin, int end, const std::vector<Loop> &loops) const {
        for (const Loop &each : loops) {
            if (each.first < begin) continue;
            if (each.first >= end) break;
            gates(begin, each.first);
            loop(each);
            begin = each.last;
        }
        gates(begin, end);
    }
};

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
    connect();
}

void StatePlan::connect() {
    const Circuit &c = *circuit;
    constexpr int NOBODY = 8; // words for bits that nobody reads: several, so that none waits for the one before
    words_of_nodes = (c.nodes() + 63) / 64;
    const int all_words = words_of_nodes + words + NOBODY;
    if (all_words >= 1 << 23) throw std::invalid_argument("too many nodes for one state at a time");
    marks_at_first.assign(all_words, 0);
    operands_at_first.assign(2 * std::size_t(all_words), 0);
    auto set_up = [&](i64 bit, bool left, bool right) {
        operands_at_first[2 * (bit >> 6)] |= u64(left) << (bit & 63);
        operands_at_first[2 * (bit >> 6) + 1] |= u64(right) << (bit & 63);
        marks_at_first[bit >> 6] |= u64(left & right) << (bit & 63);
    };
    std::vector<std::pair<i32, u32>> found; // a node, and an entry for it
    found.reserve(2 * std::size_t(c.gates) + c.feedbacks + literals.size());
    auto add = [&](i32 source, i64 bit, bool is_right, int spoil) {
        found.emplace_back(source >> 1, u32(bit >> 6) << 9 | u32(is_right) << 8 | u32(bit & 63) << 2 | u32(spoil));
    };
    const std::vector<u8> spoiling = spoils();
    const i32 first = c.inputs(), back = c.first_feedback();
    for (i32 node = 0; node < back; ++node) set_up(node, false, true);
    for (int f = 0; f < c.feedbacks; ++f) {
        set_up(back + f, c.feedback[f] & 1, true);
        add(c.feedback[f], back + f, false, 0);
    }
    for (int g = 0; g < c.cones[1]; ++g) { // goals are walked: nothing else reads their gates
        const i32 a = c.left[g], b = c.right[g];
        if (a == b) {
            set_up(first + g, a & 1, true);
            add(a, first + g, false, spoiling[2 * g] | spoiling[2 * g + 1]);
        } else if (a >> 1 != b >> 1) {
            set_up(first + g, a & 1, b & 1);
            add(a, first + g, false, spoiling[2 * g]);
            add(b, first + g, true, spoiling[2 * g + 1]);
        }
    }
    for (int w = 0; w < words; ++w)
        for (int b = 0; b < bits[w]; ++b) {
            const i64 bit = 64 * (i64(words_of_nodes) + w) + b;
            const i32 literal = literals[64 * w + b];
            set_up(bit, literal & 1, true);
            if (w < word_goal || w >= word_sees) add(literal, bit, false, 0);
        }
    std::stable_sort(found.begin(), found.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
    std::size_t at = 0;
    for (i32 node = 0; node < c.nodes(); ++node) {
        const std::size_t begin = at;
        while (at < found.size() && found[at].first == node) ++at;
        const std::size_t count = at - begin;
        auto entry = [&](std::size_t i) {
            return i < count ? found[begin + i].second : u32(words_of_nodes + words + node % NOBODY) << 9;
        };
        const std::size_t rest = count > 2 ? count - 2 : 0;
        fans.push_back({entry(0), entry(1), u32(more.size()), u32(rest)});
        for (std::size_t i = 0; i < rest; ++i) more.push_back(entry(2 + i));
        if (node > 0 && node <= c.fluents) weights.push_back(1 + static_cast<i32>(count));
    }
    for (const Loop &loop : c.loops)
        if (loop.first < c.cones[1]) loop_parts.push_back(part(loop.first, loop.last, {}));
    goal_part = part(c.cones[1], c.cones[2],
                     {literals.begin() + 64 * std::size_t(word_goal), literals.begin() + 64 * std::size_t(word_sees)});
}

// Cut out the gates `begin <= g < end`, and whole loops among them.
StatePlan::Part StatePlan::part(int begin, int end, const std::vector<i32> &wanted) const {
    const Circuit &c = *circuit;
    const i32 first = c.inputs();
    Part made;
    std::unordered_map<i32, i32> places{{0, 0}}; // nodes of the circuit that are no gates of the part, in the part
    std::vector<i32> sources;
    for (const Loop &loop : c.loops) {
        if (loop.first < begin || loop.last > end) continue;
        const int count = static_cast<int>(sources.size());
        made.loops.push_back({loop.first - begin, loop.last - begin, count, count + loop.last_back - loop.first_back});
        for (int f = loop.first_back; f < loop.last_back; ++f) {
            made.back.push_back(c.first_feedback() + f);
            sources.push_back(c.feedback[f]);
            places.emplace(c.first_feedback() + f, -1);
        }
    }
    auto meet = [&](i32 literal) {
        const i32 node = literal >> 1;
        if ((node < first + begin || node >= first + end) &&
            places.emplace(node, static_cast<i32>(made.outside.size()) + 1).second)
            made.outside.push_back(node);
    };
    for (int g = begin; g < end; ++g) {
        meet(c.left[g]);
        meet(c.right[g]);
    }
    for (const i32 literal : sources) meet(literal);
    for (const i32 literal : wanted) meet(literal);
    i32 place = 1 + static_cast<i32>(made.outside.size());
    for (const i32 node : made.back) places[node] = place++;
    auto translated = [&](i32 literal) {
        const i32 node = literal >> 1;
        const bool inside = node >= first + begin && node < first + end;
        return 2 * (inside ? made.first_gate() + node - first - begin : places.at(node)) | (literal & 1);
    };
    for (int g = begin; g < end; ++g) {
        made.left.push_back(translated(c.left[g]));
        made.right.push_back(translated(c.right[g]));
    }
    for (const i32 literal : sources) made.feedback.push_back(translated(literal));
    for (const i32 literal : wanted) made.wanted.push_back(translated(literal));
    return made;
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
    : plan_(std::move(plan)), circuit_(*plan_->circuit), entering_(circuit_.state_words()), joint_(circuit_.roles) {
    int nodes = plan_->goal_part.nodes();
    for (const StatePlan::Part &part : plan_->loop_parts) nodes = std::max(nodes, part.nodes());
    part_.resize(2 * std::size_t(nodes));
    begin(true, 1);
}

void StateMemory::begin(bool reckons, int states) {
    reckons_ = reckons;
    Slot slot;
    slot.state.assign(circuit_.state_words(), 0);
    slot.made.assign(circuit_.roles, -1);
    slot.marks = plan_->marks_at_first;
    if (reckons) {
        slot.operands = plan_->operands_at_first;
        slot.spoiled.assign(circuit_.loops.empty() ? 0 : plan_->words_of_nodes, 0);
    } else {
        slot.values.resize(2 * std::size_t(circuit_.nodes()));
        for (i32 node = 0; node < circuit_.nodes(); ++node) set(slot.values.data(), node, 0);
    }
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

// Note that an operand has changed: what reads it changes with it if the other one is true.
inline void StateMemory::note(u32 entry, u32 spoiling) {
    const u64 bit = u64(1) << (entry >> 2 & 63);
    u64 *operands = now_->operands.data();
    operands[entry >> 8] ^= bit;
    now_->marks[entry >> 9] ^= operands[entry >> 8 ^ 1] & bit;
    if (entry & spoiling) now_->spoiled[entry >> 9] |= bit;
}

// Tell all that read a node that it has changed.  `now` matters for loops only.
inline void StateMemory::spread(i32 node, bool now) {
    const StatePlan::Fan fan = plan_->fans[node];
    const u32 spoiling = now ? StatePlan::SPOILED_BY_TRUE : StatePlan::SPOILED_BY_FALSE;
    note(fan.first, spoiling);
    note(fan.second, spoiling);
    const u32 *more = plan_->more.data() + fan.begin;
    for (u32 i = 0; i < fan.count; ++i) note(more[i], spoiling);
}

// Evaluate a whole loop anew, and make its changes.
void StateMemory::flip_loop(const Loop &loop, const StatePlan::Part &part) {
    const i32 first = circuit_.inputs() + loop.first, last = circuit_.inputs() + loop.last;
    const i32 back = circuit_.first_feedback() + loop.first_back, last_back = circuit_.first_feedback() + loop.last_back;
    load(part);
    Walk{part_.data(), part.left.data(), part.right.data(), part.feedback.data(), part.first_gate(),
         part.first_gate() - static_cast<i32>(part.back.size())}
        .all(0, loop.last - loop.first, part.loops);
    // what changes, before anything does: values follow from what is noted
    changed_.clear();
    for (i32 node = back; node < last_back; ++node)
        if (value(node) != part_[2 * std::size_t(part.first_gate() - last_back + node)]) changed_.push_back(node);
    for (i32 node = first; node < last; ++node)
        if (value(node) != part_[2 * std::size_t(part.first_gate() - first + node)]) changed_.push_back(node);
    for (const i32 node : changed_) {
        const i32 place = part.first_gate() + (node < first ? node - last_back : node - first);
        spread(node, part_[2 * std::size_t(place)]);
    }
    // by now all that is noted is what follows from the new values
    clean_marks(now_->marks.data(), first, last);
    clean_marks(now_->marks.data(), back, last_back);
    clean_marks(now_->spoiled.data(), first, last);
}

// Bring a loop up to date from the fixpoint before; returns whether that was possible.
bool StateMemory::grow(const Loop &loop) {
    const i32 first = circuit_.inputs() + loop.first, last = circuit_.inputs() + loop.last;
    const i32 back = circuit_.first_feedback() + loop.first_back, last_back = circuit_.first_feedback() + loop.last_back;
    while (true) {
        sweep_nodes<true>(first, last);
        if (next_mark(now_->spoiled.data(), first, last) < last) return false;
        i32 node = next_mark(now_->marks.data(), back, last_back);
        if (node == last_back) return true;
        for (; node < last_back; node = next_mark(now_->marks.data(), node + 1, last_back)) {
            if (value(node)) return false;
            now_->marks[node >> 6] &= ~(u64(1) << (node & 63));
            spread(node, true);
        }
    }
}

// Make the changes of the gates `begin <= node < end` that are due, and of those that become due.
template <bool LOOPS> void StateMemory::sweep_nodes(i32 begin, i32 end) {
    u64 *marks = now_->marks.data();
    for (i32 at = begin & -64; at < end; at += 64) {
        u64 *word = &marks[at >> 6];
        if (!*word) continue;
        const u64 within = ~u64(0) << std::max(begin - at, 0) & ~u64(0) >> std::max(at + 64 - end, 0);
        while (const u64 bits = *word & within) {
            const int bit = lowest_bit(bits);
            *word ^= u64(1) << bit;
            spread(at + bit, LOOPS && value(at + bit));
        }
    }
}

// Bring the gates `begin <= g < end` up to date, loops included.
void StateMemory::sweep(int begin, int end) {
    const i32 first = circuit_.inputs();
    if (plan_->loop_parts.empty()) {
        sweep_nodes<false>(first + begin, first + end);
        return;
    }
    for (std::size_t i = 0; i < plan_->loop_parts.size(); ++i) {
        const Loop &loop = circuit_.loops[i];
        if (loop.first >= end) break;
        sweep_nodes<true>(first + begin, first + loop.first);
        if (next_mark(now_->spoiled.data(), first + loop.first, first + loop.last) < first + loop.last || !grow(loop))
            flip_loop(loop, plan_->loop_parts[i]);
        begin = loop.last;
    }
    sweep_nodes<true>(first + begin, first + end);
}

// Put the values of what is outside of a part into `part_`.
void StateMemory::load(const StatePlan::Part &part) {
    u8 *values = part_.data();
    set(values, 0, 0);
    i32 at = 1;
    for (const i32 node : part.outside) set(values, at++, reckons_ ? value(node) : now_->values[2 * std::size_t(node)]);
}

// -- both ways ----------------------------------------------------------------------------

// Write the words `begin <= w < end` of the outputs, whose literals are given.
void StateMemory::show(int begin, int end, const u8 *values, const i32 *literals) {
    for (int w = begin; w < end; ++w, literals += 64) {
        u64 word = 0;
        for (int b = 0; b < plan_->bits[w]; ++b) word |= u64(values[literals[b]]) << b;
        now_->marks[plan_->words_of_nodes + w] = word;
    }
}

void StateMemory::know(Known what) {
    if (now_->known & what) return;
    now_->known |= what;
    const StatePlan &p = *plan_;
    if (what == GOAL) {
        const StatePlan::Part &part = p.goal_part;
        load(part);
        Walk{part_.data(), part.left.data(), part.right.data(), part.feedback.data(), part.first_gate(),
             part.first_gate() - static_cast<i32>(part.back.size())}
            .all(0, static_cast<int>(part.left.size()), part.loops);
        show(p.word_goal, p.word_sees, part_.data(), part.wanted.data());
        return;
    }
    const int a = circuit_.cones[0], b = circuit_.cones[1];
    if (reckons_) {
        sweep(0, what == LEGAL ? a : b);
        return;
    }
    u8 *values = now_->values.data();
    const Walk walk{values, circuit_.left.data(), circuit_.right.data(), circuit_.feedback.data(), circuit_.inputs(),
                    circuit_.first_feedback()};
    auto show_all = [&](int begin, int end) { show(begin, end, values, p.literals.data() + 64 * std::size_t(begin)); };
    if (what == LEGAL) {
        walk.all(0, a, circuit_.loops);
        show_all(0, p.word_next);
        show_all(p.word_terminal, p.word_terminal + 1);
    } else {
        walk.all(a, b, circuit_.loops);
        show_all(p.word_next, p.word_terminal);
        show_all(p.word_sees, p.words);
    }
}

// Change an input.
void StateMemory::put(i32 node, bool value) {
    if (reckons_) {
        now_->operands[2 * std::size_t(node >> 6)] ^= u64(1) << (node & 63);
        spread(node, value);
    } else {
        set(now_->values.data(), node, value);
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

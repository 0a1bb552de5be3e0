#include "state.hpp"

#include <unordered_map>

namespace herbrand {

namespace {

void set(u8 *values, i32 node, u8 value) {
    values[2 * std::size_t(node)] = value;
    values[2 * std::size_t(node) + 1] = value ^ 1;
}

// Evaluates gates in order; `values` has a byte for each literal, so that an inverted operand costs nothing.
struct Walk {
    u8 *values;
    const i32 *left, *right, *feedback;
    i32 first_gate, first_back;

    void gates(int begin, int end) const {
        // Local copies: stores to bytes may alias the members.
        u8 *const all = values, *at = values + 2 * std::size_t(first_gate + begin);
        const i32 *const a = left, *const b = right;
        for (int g = begin; g < end; ++g, at += 2) {
            const u8 value = all[a[g]] & all[b[g]];
            at[0] = value;
            at[1] = value ^ 1;
        }
    }
    // The least fixpoint of a loop, from false (Tarski 1955).
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
    if (words == word_next) { // states without fluents have one word, too
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
    const i32 first = c.inputs(), back = c.first_feedback();
    // stages
    std::vector<u16> stage_of_gate(c.gates, 0), stage_of_back(c.feedbacks, 0);
    stages.emplace_back();
    int loops = 0;
    auto extend = [&](int begin, int end, int loop) {
        if (loop >= 0 || stages.back().loop >= 0 || stages.back().is_next != (begin >= c.cones[0]))
            stages.push_back({loop, begin >= c.cones[0]});
        std::fill(stage_of_gate.begin() + begin, stage_of_gate.begin() + end, u16(stages.size() - 1));
    };
    int done = 0;
    auto extend_to = [&](int end) { // both cones
        for (const int border : {std::min(end, std::max(done, c.cones[0])), end})
            if (done < border) {
                extend(done, border, -1);
                done = border;
            }
    };
    for (const Loop &loop : c.loops) {
        if (loop.first >= c.cones[1]) break;
        extend_to(loop.first);
        extend(loop.first, loop.last, loops++);
        done = loop.last;
    }
    extend_to(c.cones[1]);
    if (loops == 0 && stages.size() == 1) stages.push_back({-1, true});
    queues = static_cast<int>(stages.size()) + loops;
    if (queues > 65535) throw std::invalid_argument("too many loops for one state at a time");
    for (int i = 0; i < loops; ++i)
        std::fill(stage_of_back.begin() + c.loops[i].first_back, stage_of_back.begin() + c.loops[i].last_back,
                  u16(stages.size() + i));

    // units
    const std::vector<i32> owner = owners(stage_of_gate);
    unit_of.assign(c.nodes(), -1);
    for (i32 node = 0; node < first; ++node) {
        unit_of[node] = units++;
        stage_of.push_back(node < back ? 0 : stage_of_back[node - back]);
    }
    for (int g = 0; g < c.cones[1]; ++g)
        if (owner[g] == g) {
            if (g >= c.cones[0] && first_late == 0) first_late = units;
            unit_of[first + g] = units++;
            stage_of.push_back(stage_of_gate[g]);
        }
    if (first_late == 0) first_late = units;
    if (units >= 1 << 28) throw std::invalid_argument("too many nodes for one state at a time");
    false_at_first.assign(units, 0);
    for (i32 node = 0; node < first; ++node) false_at_first[node] = stage_of[node] == 0; // inputs

    // The units that read each unit.
    struct Reader {
        i32 unit;
        bool is_output;
        u32 entry;
    };
    std::vector<Reader> readers;
    readers.reserve(2 * std::size_t(c.gates) + c.feedbacks + literals.size());
    auto add = [&](i32 literal, i32 unit, int spoil) {
        if (!(literal & 1)) ++false_at_first[unit];
        if (unit_of[literal >> 1] >= 0)
            readers.push_back({unit_of[literal >> 1], false, u32(unit) << 3 | u32(spoil) << 1 | u32(literal & 1)});
    };
    const std::vector<u8> spoiling = spoils();
    for (int i = 0; i < loops; ++i)
        for (int f = c.loops[i].first_back; f < c.loops[i].last_back; ++f)
            add(c.feedback[f], unit_of[back + f], 0);
    for (int g = 0; g < c.cones[1]; ++g)
        for (int side = 0; side < 2; ++side) {
            const i32 literal = side ? c.right[g] : c.left[g], node = literal >> 1;
            if (node < first || owner[node - first] == node - first) // otherwise it is part of a larger unit
                add(literal, unit_of[first + owner[g]], spoiling[2 * std::size_t(g) + side]);
        }
    outputs_at_first.assign(words, 0);
    for (int w = 0; w < words; ++w)
        for (int b = 0; b < bits[w]; ++b) {
            const i32 literal = literals[64 * std::size_t(w) + b];
            outputs_at_first[w] |= u64(literal & 1) << b;
            if ((w < word_goal || w >= word_sees) && unit_of[literal >> 1] >= 0)
                readers.push_back({unit_of[literal >> 1], true, u32(64 * w + b)});
        }
    std::stable_sort(readers.begin(), readers.end(), [](const Reader &x, const Reader &y) {
        return std::pair(x.unit, x.is_output) < std::pair(y.unit, y.is_output);
    });
    std::size_t at = 0;
    auto pass = [&](i32 unit, bool is_output) {
        for (; at < readers.size() && readers[at].unit == unit && readers[at].is_output == is_output; ++at)
            entries.push_back(readers[at].entry);
        return static_cast<u32>(at);
    };
    for (i32 unit = 0; unit < units; ++unit) {
        const u32 begin = static_cast<u32>(at), outputs = pass(unit, false);
        pass(unit, true);
        fans.push_back({begin, outputs});
        longest_fan = std::max(longest_fan, outputs - begin);
        if (unit > 0 && unit <= c.fluents) weights.push_back(1 + static_cast<i32>(at - begin));
    }
    fans.push_back({static_cast<u32>(at), static_cast<u32>(at)});

    // queues
    due_at_first.resize(queues);
    for (i32 unit = 0; unit < units; ++unit)
        if (false_at_first[unit] == 0) due_at_first[stage_of[unit]].push_back(unit);
    capacities.assign(queues, 2 * longest_fan + 64);
    for (const u16 stage : stage_of) capacities[stage] += 2;

    for (int i = 0; i < loops; ++i) loop_parts.push_back(part(c.loops[i].first, c.loops[i].last, {}));
    goal_part = part(c.cones[1], c.cones[2],
                     {literals.begin() + 64 * std::size_t(word_goal), literals.begin() + 64 * std::size_t(word_sees)});
}

// A gate whose only reader uses it uninverted is merged into that gate, so that units are conjunctions of many operands.
// Returns for each gate the one whose unit it is part of, which may be itself.
std::vector<i32> StatePlan::owners(const std::vector<u16> &stage_of_gate) const {
    const Circuit &c = *circuit;
    constexpr i32 NOBODY = -1, SEVERAL = -2;
    constexpr int MOST = 255; // operands of a unit: `falses` counts them in a byte
    const i32 first = c.inputs();
    std::vector<i32> reader(c.gates, NOBODY);
    auto read = [&](i32 literal, i32 by) {
        const i32 g = (literal >> 1) - first;
        if (g >= 0) reader[g] = literal & 1 || reader[g] != NOBODY ? SEVERAL : by;
    };
    for (int g = 0; g < c.gates; ++g) {
        read(c.left[g], g);
        read(c.right[g], g);
    }
    for (const auto *row : {&c.feedback, &literals})
        for (const i32 literal : *row) read(literal, SEVERAL);
    std::vector<i32> owner(c.gates), operands(c.gates, 2);
    for (int g = c.gates - 1; g >= 0; --g) {
        const i32 by = reader[g];
        owner[g] = g;
        if (by < 0 || g >= c.cones[1] || by >= c.cones[1] || stage_of_gate[g] != stage_of_gate[by]) continue;
        const i32 whole = owner[by];
        if (operands[whole] + 1 > MOST) continue;
        ++operands[whole];
        owner[g] = whole;
    }
    return owner;
}

// The gates `begin <= g < end`, with the loops among them, as a circuit of their own, whose nodes are numbered like this:
// false, nodes of other gates and inputs (`outside`), feedback, gates.
StatePlan::Part StatePlan::part(int begin, int end, const std::vector<i32> &wanted) const {
    const Circuit &c = *circuit;
    const i32 first = c.inputs();
    Part part;
    std::unordered_map<i32, i32> places{{0, 0}}; // node of the circuit, other than gates of the part -> node of the part
    std::vector<i32> sources;
    for (const Loop &loop : c.loops) {
        if (loop.first < begin || loop.last > end) continue;
        const int count = static_cast<int>(sources.size());
        part.loops.push_back({loop.first - begin, loop.last - begin, count, count + loop.last_back - loop.first_back});
        for (int f = loop.first_back; f < loop.last_back; ++f) {
            part.back.push_back(c.first_feedback() + f);
            sources.push_back(c.feedback[f]);
            places.emplace(c.first_feedback() + f, -1);
        }
    }
    auto add_outside = [&](i32 literal) {
        const i32 node = literal >> 1;
        if ((node < first + begin || node >= first + end) &&
            places.emplace(node, static_cast<i32>(part.outside.size()) + 1).second)
            part.outside.push_back(node);
    };
    for (int g = begin; g < end; ++g) {
        add_outside(c.left[g]);
        add_outside(c.right[g]);
    }
    for (const i32 literal : sources) add_outside(literal);
    for (const i32 literal : wanted) add_outside(literal);
    i32 place = 1 + static_cast<i32>(part.outside.size());
    for (const i32 node : part.back) places[node] = place++;
    auto translated = [&](i32 literal) {
        const i32 node = literal >> 1;
        const bool inside = node >= first + begin && node < first + end;
        return 2 * (inside ? part.first_gate() + node - first - begin : places.at(node)) | (literal & 1);
    };
    for (int g = begin; g < end; ++g) {
        part.left.push_back(translated(c.left[g]));
        part.right.push_back(translated(c.right[g]));
    }
    for (const i32 literal : sources) part.feedback.push_back(translated(literal));
    for (const i32 literal : wanted) part.wanted.push_back(translated(literal));
    return part;
}

// [gates, 2] by which changes of its left and right operand a loop is *spoiled*: by becoming false (1), true (2), both (3).
//
// A loop is monotone: on each path from a gate to a source of feedback the inversions are even in number, or odd on all.
// While inputs from outside the loop change such that its sources can only rise, the least fixpoint only grows (Tarski
// 1955), and iteration may go on from the previous fixpoint, which is below the new one.  Other changes spoil the loop:
// it must be evaluated again from false.
std::vector<u8> StatePlan::spoils() const {
    const Circuit &c = *circuit;
    std::vector<u8> spoiling(2 * std::size_t(c.gates), 0);
    const i32 first = c.inputs(), back = c.first_feedback();
    std::vector<u8> inside(c.nodes(), 0), ways(c.nodes(), 0); // parities of paths to a source
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
                    spoiling[2 * std::size_t(node - first) + side] = operands[side] & 1 ? OPPOSITE[way] : way;
        }
        for (const auto &[from, to] : {std::pair(begin, end), std::pair(back_begin, back_end)}) {
            std::fill(inside.begin() + from, inside.begin() + to, 0);
            std::fill(ways.begin() + from, ways.begin() + to, 0);
        }
    }
    return spoiling;
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
    slot.outputs = plan_->outputs_at_first;
    if (reckons) {
        slot.values.assign(plan_->units, 0);
        slot.falses = plan_->false_at_first;
        slot.spoiled.assign(plan_->stages.size(), 0);
        slot.queues.resize(plan_->queues);
        for (int i = 0; i < plan_->queues; ++i) {
            Queue &queue = slot.queues[i];
            queue.units.resize(plan_->capacities[i]);
            queue.size = plan_->due_at_first[i].size();
            std::copy_n(plan_->due_at_first[i].begin(), queue.size, queue.units.begin());
        }
    } else {
        slot.values.resize(2 * std::size_t(circuit_.nodes()));
        for (i32 node = 0; node < circuit_.nodes(); ++node) set(slot.values.data(), node, 0);
    }
    slots_.assign(states, {});
    slots_[0] = std::move(slot);
    now_ = &slots_[0];
}

// The slot whose state is nearest to `key`, by the sum of the weights of the fluents that differ.
StateMemory::Slot &StateMemory::nearest(const u64 *key) {
    Slot *nearest = now_;
    i64 least = std::numeric_limits<i64>::max();
    for (Slot &slot : slots_) {
        if (slot.state.empty()) continue;
        i64 distance = 0;
        for (int w = 0; w < circuit_.state_words(); ++w)
            for (u64 bits = slot.state[w] ^ key[w]; bits; bits &= bits - 1)
                distance += plan_->weights[64 * w + lowest_bit(bits)];
        if (distance < least) {
            least = distance;
            nearest = &slot;
        }
    }
    return *nearest;
}

// The slot to overwrite next, round robin; an empty one begins as a copy of the current slot.
StateMemory::Slot &StateMemory::next_slot() {
    Slot &slot = now_ == &slots_.back() ? slots_.front() : now_[1];
    if (slot.state.empty()) slot = *now_;
    return slot;
}

// -- incremental evaluation ---------------------------------------------------------------

inline void StateMemory::push(int queue, u32 unit) {
    Queue &to = now_->queues[queue];
    if (to.size == to.units.size()) to.size = tidy(queue, 0);
    to.units[to.size++] = unit;
}

// Removes duplicates and units that are no longer due from a queue, and everything before `begin`; returns the new size.
std::size_t StateMemory::tidy(int queue, std::size_t begin) {
    Queue &all = now_->queues[queue];
    const auto from = all.units.begin(), to = from + all.size;
    auto last = std::copy_if(from + begin, to, from, [&](u32 unit) { return is_due(unit); });
    std::sort(from, last);
    return static_cast<std::size_t>(std::unique(from, last) - from);
}

// Flips a unit, and updates the counts of false operands of its readers; queues those whose value no longer fits.
inline void StateMemory::change(u32 unit) {
    const StatePlan &p = *plan_;
    Slot &slot = *now_;
    const u32 now = slot.values[unit] ^= 1;
    const u32 spoiling = now ? StatePlan::SPOILED_BY_TRUE : StatePlan::SPOILED_BY_FALSE;
    const StatePlan::Fan fan = p.fans[unit];
    for (u32 i = fan.begin; i < fan.outputs; ++i) {
        const u32 entry = p.entries[i], target = entry >> 3;
        const u8 becomes_true = (entry ^ now) & 1, falses = slot.falses[target];
        slot.falses[target] = falses + 1 - 2 * becomes_true;
        if (falses == becomes_true) push(p.stage_of[target], target);
        if (entry & spoiling) slot.spoiled[p.stage_of[target]] = 1;
    }
    for (u32 i = fan.outputs, end = p.fans[unit + 1].begin; i < end; ++i)
        slot.outputs[p.entries[i] >> 6] ^= u64(1) << (p.entries[i] & 63);
}

// Flips all units of a stage that are due.
void StateMemory::run(int stage) {
    Queue &queue = now_->queues[stage];
    // `change` appends to the queue; when it is full, its processed part is removed.
    while (queue.size > 0) {
        std::size_t head = 0;
        for (; head < queue.size && queue.size + plan_->longest_fan < queue.units.size(); ++head)
            if (is_due(queue.units[head])) change(queue.units[head]);
        queue.size = head == queue.size ? 0 : tidy(stage, head);
    }
}

// The same for two stages without loops, specialised so that the pointers stay in registers.
template <bool LATE> void StateMemory::run_without_loops() {
    const StatePlan &p = *plan_;
    Slot &slot = *now_;
    Queue &mine = slot.queues[LATE], &other = slot.queues[1];
    u8 *const values = slot.values.data(), *const falses = slot.falses.data();
    u64 *const outputs = slot.outputs.data();
    const u32 *const entries = p.entries.data();
    const StatePlan::Fan *const fans = p.fans.data();
    const u32 first_late = p.first_late;
    u32 *const queue = mine.units.data(), *const late = other.units.data();
    const std::size_t most = mine.units.size() - p.longest_fan - 1, most_late = other.units.size() - p.longest_fan - 1;
    std::size_t size = mine.size, late_size = other.size;
    for (std::size_t head = 0; head < size; ++head) {
        if (size > most || (!LATE && late_size > most_late)) [[unlikely]] {
            mine.size = size;
            if (!LATE) {
                other.size = late_size;
                late_size = tidy(1, 0);
            }
            size = tidy(LATE, head);
            head = 0;
            if (size == 0) break;
        }
        const u32 unit = queue[head];
        if ((falses[unit] == 0) == values[unit]) continue;
        const u32 now = values[unit] ^= 1;
        const StatePlan::Fan fan = fans[unit];
        for (u32 i = fan.begin; i < fan.outputs; ++i) {
            const u32 entry = entries[i], target = entry >> 3;
            const u32 becomes_true = (entry ^ now) & 1, count = falses[target];
            falses[target] = static_cast<u8>(count + 1 - 2 * becomes_true);
            const bool differs = count == becomes_true;
            // an unconditional store, since the branch would be mispredicted often
            queue[size] = target;
            if (LATE) {
                size += differs;
            } else {
                late[late_size] = target;
                const bool is_late = target >= first_late;
                size += differs & !is_late;
                late_size += differs & is_late;
            }
        }
        for (u32 i = fan.outputs, end = fans[unit + 1].begin; i < end; ++i)
            outputs[entries[i] >> 6] ^= u64(1) << (entries[i] & 63);
    }
    if (!LATE) other.size = late_size;
    mine.size = 0;
}

// Evaluates a loop from false, and flips the units that differ.
void StateMemory::flip_loop(int stage) {
    const int number = plan_->stages[stage].loop;
    const Loop &loop = circuit_.loops[number];
    const StatePlan::Part &part = plan_->loop_parts[number];
    load(part);
    Walk{part_.data(), part.left.data(), part.right.data(), part.feedback.data(), part.first_gate(), part.first_back()}
        .all(0, loop.last - loop.first, part.loops);
    auto compare = [&](i32 first, i32 count, i32 place) {
        for (i32 i = 0; i < count; ++i) {
            const i32 unit = plan_->unit_of[first + i];
            if (unit >= 0 && now_->values[unit] != part_[2 * std::size_t(place + i)]) change(unit);
        }
    };
    compare(circuit_.first_feedback() + loop.first_back, loop.last_back - loop.first_back, part.first_back());
    compare(circuit_.inputs() + loop.first, loop.last - loop.first, part.first_gate());
    // The values are consistent: nothing is due.
    now_->queues[stage].size = now_->queues[plan_->stages.size() + number].size = 0;
    now_->spoiled[stage] = 0;
}

// Updates a loop from its previous fixpoint; false if the loop is spoiled, or a feedback value would fall.
bool StateMemory::grow(int stage) {
    const int of_feedback = static_cast<int>(plan_->stages.size()) + plan_->stages[stage].loop;
    Queue &feedback = now_->queues[of_feedback];
    while (true) {
        run(stage);
        if (now_->spoiled[stage]) return false;
        if (feedback.size == 0) return true;
        for (std::size_t i = 0; i < feedback.size; ++i) {
            const u32 unit = feedback.units[i];
            if (!is_due(unit)) continue;
            if (now_->values[unit]) return false;
            if (feedback.size + plan_->longest_fan >= feedback.units.size()) {
                feedback.size = tidy(of_feedback, i);
                i = static_cast<std::size_t>(-1);
                continue;
            }
            change(unit);
        }
        feedback.size = 0;
    }
}

// Updates the stages on which legal moves and termination depend; with `all`, also those of the next state.
void StateMemory::sweep(bool all) {
    if (plan_->loop_parts.empty()) {
        run_without_loops<false>();
        if (all) run_without_loops<true>();
        return;
    }
    for (int stage = 0; stage < static_cast<int>(plan_->stages.size()); ++stage) {
        const StatePlan::Stage &which = plan_->stages[stage];
        if (which.is_next && !all) return;
        if (which.loop < 0)
            run(stage);
        else if (now_->spoiled[stage] || !grow(stage))
            flip_loop(stage);
    }
}

// Loads the values of the nodes outside a part into `part_`.
void StateMemory::load(const StatePlan::Part &part) {
    u8 *values = part_.data();
    set(values, 0, 0);
    i32 at = 1;
    for (const i32 node : part.outside) set(values, at++, reckons_ ? value(node) : now_->values[2 * std::size_t(node)]);
}

// -- both ways ----------------------------------------------------------------------------

// Packs the values of `literals` into the words `begin <= w < end` of the outputs.
void StateMemory::show(int begin, int end, const u8 *values, const i32 *literals) {
    for (int w = begin; w < end; ++w, literals += 64) {
        u64 word = 0;
        for (int b = 0; b < plan_->bits[w]; ++b) word |= u64(values[literals[b]]) << b;
        now_->outputs[w] = word;
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
             part.first_back()}
            .all(0, static_cast<int>(part.left.size()), part.loops);
        show(p.word_goal, p.word_sees, part_.data(), part.wanted.data());
        return;
    }
    const int a = circuit_.cones[0], b = circuit_.cones[1];
    if (reckons_) {
        sweep(what == NEXT);
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
        now_->falses[node] = !value; // inputs are the first units, with themselves as operand
        push(0, node);
    } else {
        set(now_->values.data(), node, value);
    }
}

// Sets the inputs of a state, and clears those of the joint move.
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

// Sets the inputs of the joint move.
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
    // copied, because `go_to` changes the outputs
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

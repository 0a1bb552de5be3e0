#include "search.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace herbrand::search {

namespace {

constexpr int JOINTS = 64;     // maximum number of joint moves made when a JOINT position is expanded
constexpr int CHECKED = 1024;  // JOINT positions with more joint moves get no proved bounds
constexpr int USELESS = 64;    // selection ends after descents worth this much ended at no leaf to expand
constexpr i64 STEPS = 1 << 16; // capacity for the steps of all ways of a round
constexpr i64 SHAKEN = 20'000;  // positions that are looked at in one call to recycle some
constexpr i64 RECYCLED = 256;   // positions after which that call ends
constexpr i64 DRAINED = 4096;   // garbage positions freed before a round
constexpr i64 FILLED = 4096;    // a root with more arms does not get all positions after it
constexpr double FEWEST = 8.0;  // playouts below which positions are recycled, at least
constexpr u64 GOLDEN = 0x9E3779B97F4A7C15u; // 2^64 / golden ratio, the increment of SplitMix64

u64 hashed(const u64 *state, int words) {
    u64 key = GOLDEN;
    for (int j = 0; j < words; ++j) key = scatter(key ^ state[j]) + GOLDEN;
    return key;
}

bool same(const u64 *a, const u64 *b, int words) { // mostly one or two words: faster than memcmp
    for (int j = 0; j < words; ++j)
        if (a[j] != b[j]) return false;
    return true;
}

// The goal of a terminal state as a value from 0 to 1.  A role to which the rules give no goal there, or several, gets
// nothing, as match managers count it.  Where a role has no legal move though the game is not over, no value is defined.
double value_of(i16 goal) { return goal >= 0 ? goal / 100.0 : goal == STUCK ? 0.5 : 0.0; }
// The same of the last state of a game, which may have been cut off.
double value_of(i16 goal, i64 length) { return goal < 0 && length < 0 ? 0.5 : value_of(goal); }

// The least power of two that is not below n.
i64 power_above(i64 n) {
    i64 power = 1;
    while (power < n) power *= 2;
    return power;
}

// Free blocks of arms are kept by size: 1 to 8, then in eight classes for each power of two.
int class_above(i64 size) { // the first class of which every block has this size
    if (size <= 8) return static_cast<int>(size);
    const int shift = std::bit_width(static_cast<u64>(size - 1)) - 4;
    return 8 + 8 * shift + static_cast<int>(((size - 1) >> shift) + 1 - 8);
}
int class_of(i64 size) { // the class of a block
    const int above = class_above(size);
    return above == class_above(size + 1) ? above - 1 : above;
}
constexpr int CLASSES = 8 + 8 * 28; // of blocks below 2^31 arms

} // namespace

// -- the tree ---------------------------------------------------------------------------------

Tree::Tree(CircuitPtr given, bool labelled, const Settings &settings, i64 memory, i64 most, u64 seed)
    : circuit(std::move(given)), words(circuit->state_words() + labelled), roles(circuit->roles), settings(settings),
      single(roles == 1), recycles(!labelled) {
    sum = roles - (settings.chance >= 0) == 2 ? -2.0 : -1.0;
    // A record: the fields in the order below, the state last at a multiple of 8, padded to whole cache lines.
    const i64 sizes_at = 8 * (2 + 3 * i64(roles)) + 32, states_at = sizes_at + (4 * i64(roles) + 7) / 8 * 8;
    record_ = (states_at + 8 * i64(words) + 63) / 64 * 64;
    arm_ = 20 + (settings.amaf > 0.0 ? 8 : 0) + (settings.regret ? 8 : 0);
    // There are two arms for each position at least: one that leads to it, and those of roles without a choice.
    const i64 least = 64 * record_ + 2 * arm_ * std::max<i64>(circuit->moves, 500);
    const i64 per_position = record_ + 8 + 2 * arm_ + (roles > 1 ? 28 : 0);
    room = std::min(most, std::max(memory, least) / per_position);
    const i64 size = power_above(room + room / 2 + 1); // at most two thirds of the slots are in use
    region_ = std::max(least, memory - 4 * size);
    room = std::min(room, region_ / (record_ + arm_));
    arm_room = region_ / arm_;
    memory_ = Pages(region_ + 64);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    std::byte *const begin = static_cast<std::byte *>(memory_.data()) + (64 - address % 64) % 64;
    std::byte *at = begin;
    const auto field = [&](auto &member, i64 bytes) {
        member = std::remove_reference_t<decltype(member)>(at, record_);
        at += bytes;
    };
    field(games, 8);
    field(best, 8);
    field(totals, 8 * i64(roles));
    field(lows, 8 * i64(roles));
    field(highs, 8 * i64(roles));
    field(first, 4);
    field(space, 4);
    field(seen, 8);
    field(plies, 4);
    field(mover, 2);
    field(kind, 2);
    field(refs, 4);
    field(kids, 4);
    field(sizes, states_at - sizes_at);
    field(states, 8 * i64(words));
    at = begin + region_ / 4 * 4 - arm_; // the first arm is the last in memory
    const auto arm_field = [&](auto &member) {
        member = std::remove_reference_t<decltype(member)>(at, -arm_);
        at += 4;
    };
    arm_field(arm_count);
    arm_field(arm_total);
    arm_field(arm_virtual);
    arm_field(arm_child);
    arm_field(move);
    if (settings.amaf > 0.0) {
        arm_field(amaf_count);
        arm_field(amaf_total);
    }
    if (settings.regret) {
        arm_field(arm_regret);
        arm_field(arm_share);
    }
    slots = Zeros<i32>(size);
    edge_slots = Zeros<i32>(size);
    edge_key = Zeros<u64>(room);
    edge_parent = Zeros<i32>(room);
    edge_child = Zeros<i32>(room);
    edge_next = Zeros<i32>(room);
    random.state = seed * GOLDEN + 0x1234567u;
    most_.resize(roles);
    made_.resize(roles);
    place_.resize(roles);
    referred.assign(roles, -1);
    blocks_.assign(CLASSES + 1, -1);
    few_ = FEWEST;
}

void Tree::clear() {
    if (used) slots.clear();
    if (edges) edge_slots.clear();
    positions = used = arms = top_ = edges = 0;
    free_ = root_ = -1;
    std::fill(blocks_.begin(), blocks_.end(), -1);
    garbage_.clear();
    hand_ = freed_ = candidates_ = loose_ = 0;
    few_ = FEWEST;
    full = false;
    ++epoch;
}

i64 Tree::bytes() const {
    return 4 * slots.size() + (edges ? 4 * edge_slots.size() + 20 * edges : 0) + used * record_ + top_ * arm_;
}

bool Tree::fits(i64 more_positions, i64 more_arms) const {
    const i64 edge_bytes = edges ? 4 * edge_slots.size() + 20 * edges : 0;
    return used + more_positions <= room &&
           (used + more_positions) * record_ + (top_ + more_arms) * arm_ + edge_bytes <= region_;
}

// Blocks that are a little too large are used as they are: their rests would be too small for anything.
bool Tree::add_arms(i64 at, i64 count) {
    do {
        for (int which = class_above(count); which < CLASSES; ++which) {
            const i64 begin = blocks_[which];
            if (begin < 0) continue;
            i64 size = move[begin];
            if (2 * size >= 3 * count && fits(0, count)) break; // rather the end of the memory
            blocks_[which] = arm_child[begin];
            if (2 * size >= 3 * count) {
                free_block(begin + count, size - count);
                size = count;
            }
            first[at] = static_cast<i32>(begin);
            space[at] = static_cast<i32>(size);
            arms += size;
            return true;
        }
        if (fits(0, count)) {
            first[at] = static_cast<i32>(top_);
            space[at] = static_cast<i32>(count);
            top_ += count;
            arms += count;
            return true;
        }
    } while (merge_blocks() || recycle());
    full = true;
    return false;
}

// Makes large blocks of free ones that are neighbours, once there may be many; returns whether it did.
bool Tree::merge_blocks() {
    if (8 * loose_ < top_ || !loose_) return false;
    loose_ = 0;
    std::vector<std::pair<i32, i32>> blocks; // begin and size
    for (i32 &head : blocks_) {
        for (i64 begin = head; begin >= 0; begin = arm_child[begin]) blocks.emplace_back(static_cast<i32>(begin), move[begin]);
        head = -1;
    }
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t k = 0; k < blocks.size();) {
        const i64 begin = blocks[k].first;
        i64 size = 0;
        while (k < blocks.size() && blocks[k].first == begin + size) size += blocks[k++].second;
        if (begin + size == top_)
            top_ = begin;
        else
            free_block(begin, size);
    }
    return true;
}

void Tree::free_block(i64 begin, i64 size) {
    const int which = class_of(size);
    arm_child[begin] = blocks_[which];
    move[begin] = static_cast<i32>(size);
    blocks_[which] = static_cast<i32>(begin);
}

void Tree::free_arms(i64 at) {
    free_block(first[at], space[at]);
    arms -= space[at];
    loose_ += space[at];
}

// -- recycling --------------------------------------------------------------------------------

void Tree::link(i64 at, i64 arm, i64 child) {
    if (arm_child[arm] >= 0) return;
    arm_child[arm] = static_cast<i32>(child);
    ++refs[child];
    ++kids[at];
}

void Tree::unlink(i64 at, i64 arm) {
    const i64 child = arm_child[arm];
    arm_child[arm] = -1;
    --kids[at];
    if (--refs[child] == 0) garbage_.push_back(static_cast<i32>(child));
}

// Frees a position to which nothing leads, and which leads to nothing.
void Tree::free_position(i64 at) {
    const u64 mask = static_cast<u64>(slots.size()) - 1;
    u64 hole = static_cast<u64>(slot(state(at)));
    slots[hole] = 0;
    // what was put behind it for lack of space moves up, so that probing still finds it
    for (u64 place = (hole + 1) & mask; slots[place]; place = (place + 1) & mask) {
        const u64 home = hashed(state(i64(slots[place]) - 1), words) & mask;
        if (((place - home) & mask) < ((place - hole) & mask)) continue;
        slots[hole] = slots[place];
        slots[place] = 0;
        hole = place;
    }
    if (is_open(at)) free_arms(at);
    kind[at] = FREE;
    first[at] = static_cast<i32>(free_);
    free_ = at;
    --positions;
}

// Where a garbage position led to becomes garbage as well, unless something else leads there.
i64 Tree::drain(i64 most) {
    i64 count = 0;
    while (!garbage_.empty() && count < most) {
        const i64 at = garbage_.back();
        garbage_.pop_back();
        if (kind[at] == FREE || refs[at] || seen[at] == BUSY) continue;
        if (kind[at] == JOINT && kids[at]) continue; // edges are not removed; `forget` drops them
        if (kind[at] == ALONE && kids[at]) {
            i64 begin = first[at];
            for (int r = 0; r < mover[at]; ++r) begin += size(at)[r];
            for (i64 a = begin; a < begin + size(at)[mover[at]]; ++a)
                if (arm_child[a] >= 0) unlink(at, a);
        }
        free_position(at);
        ++count;
    }
    return count;
}

// Frees positions after a position: those that were visited little and lead to no others; and, where its mover has a
// proved win, all that do not belong to that proof.
i64 Tree::shake(i64 at) {
    if (kind[at] != ALONE || !kids[at] || seen[at] == BUSY || at == root_) return 0;
    const int who = mover[at];
    i64 begin = first[at];
    for (int r = 0; r < who; ++r) begin += size(at)[r];
    const i64 end = begin + size(at)[who];
    i64 winning = -1;
    if (who != settings.chance && low(at)[who] >= 1.0) {
        for (i64 a = begin; a < end; ++a)
            if (arm_child[a] >= 0 && low(arm_child[a])[who] >= 1.0 &&
                (winning < 0 || plies[arm_child[a]] < plies[arm_child[winning]]))
                winning = a;
    }
    if (winning < 0 && is_exact(at)) return 0; // how it was proved is needed to play it
    i64 count = 0;
    for (i64 a = begin; a < end; ++a) {
        const i64 child = arm_child[a];
        if (child < 0 || a == winning || arm_virtual[a] > 0 || seen[child] == BUSY) continue;
        if (winning < 0) {
            if (refs[child] != 1 || kids[child]) continue;
            ++candidates_;
            bool bounded = false; // proofs are worth more
            for (int r = 0; r < roles; ++r)
                bounded = bounded || (r != settings.chance && (low(child)[r] > 0.0 || high(child)[r] < 1.0));
            if (!(games[child] < (bounded ? few_ / 16 : few_))) continue;
        }
        unlink(at, a);
        ++count;
    }
    return count;
}

// Makes room by freeing positions; returns whether there were any.  The hand goes on where it stopped, so that a new
// position has one round of the hand to prove its worth.
bool Tree::recycle() {
    if (!recycles || tired_) return false;
    i64 count = drain(RECYCLED);
    const i64 most = std::min(SHAKEN, 2 * used);
    for (i64 looked = 0; looked < most && count < RECYCLED; ++looked) {
        if (hand_ >= used) {
            hand_ = 0;
            if (8 * freed_ < candidates_)
                few_ *= 2.0;
            else if (2 * freed_ > candidates_)
                few_ = std::max(FEWEST, few_ / 2.0);
            freed_ = candidates_ = 0;
        }
        const i64 found = shake(hand_++);
        if (!found) continue;
        const i64 freed = drain(RECYCLED);
        count += freed;
        freed_ += freed;
    }
    recycled += count;
    tired_ = count < RECYCLED / 8; // so much looking for so little: not again in this round
    return count > 0;
}

void Tree::go_to(i64 root) {
    tired_ = false;
    drain(DRAINED);
    if (root == root_) return;
    ++refs[root];
    if (root_ >= 0 && kind[root_] != FREE && --refs[root_] == 0) garbage_.push_back(static_cast<i32>(root_));
    root_ = root;
}

// Where one role alone plays, or two with a constant sum, the value of the mover says what all roles got.
void Tree::seed(i64 child, i64 at, i64 arm) {
    const double count = arm_count[arm];
    if (!(count > 0.0) || (roles > 1 && sum < 0.0)) return;
    const int who = mover[at];
    if (who == settings.chance) return;
    games[child] = count;
    for (int r = 0; r < roles; ++r)
        total(child)[r] = r == who ? double(arm_total[arm]) : r == settings.chance ? 0.5 * count : sum * count - arm_total[arm];
    best[child] = total(child)[0] / count;
}

i64 Tree::slot(const u64 *wanted) const {
    const u64 mask = static_cast<u64>(slots.size()) - 1;
    u64 place = hashed(wanted, words) & mask;
    for (;; place = (place + 1) & mask) {
        const i64 at = i64(slots[place]) - 1;
        if (at < 0 || same(wanted, state(at), words)) return static_cast<i64>(place);
    }
}

i64 Tree::find(const u64 *wanted) const { return i64(slots[slot(wanted)]) - 1; }

i64 Tree::add(const u64 *wanted, bool &is_new) {
    i64 place = slot(wanted);
    i64 at = i64(slots[place]) - 1;
    is_new = false;
    if (at >= 0) return at;
    while (free_ < 0 && !fits(1, 0)) {
        if (recycle()) continue;
        full = true;
        return -1;
    }
    place = slot(wanted); // recycling moves entries
    is_new = true;
    at = free_;
    if (at >= 0)
        free_ = first[at];
    else
        at = used++;
    ++positions;
    slots[place] = static_cast<i32>(at + 1);
    kind[at] = LEAF;
    games[at] = 0.0;
    best[at] = 0.0;
    plies[at] = 0;
    seen[at] = 0;
    first[at] = space[at] = 0;
    refs[at] = kids[at] = 0;
    std::copy(wanted, wanted + words, state(at));
    for (int r = 0; r < roles; ++r) {
        total(at)[r] = 0.0;
        low(at)[r] = 0.0;
        high(at)[r] = 1.0;
        size(at)[r] = 0;
    }
    return at;
}

i64 Tree::edge_slot(u64 key) const {
    const u64 mask = static_cast<u64>(edge_slots.size()) - 1;
    u64 place = key & mask;
    while (edge_slots[place] && edge_key[edge_slots[place] - 1] != key) place = (place + 1) & mask;
    return static_cast<i64>(place);
}

void Tree::add_edge(u64 key, i64 parent, i64 child) {
    const i64 place = edge_slot(key);
    if (edge_slots[place] || edges == room) return;
    const i64 more = 20 + (edges ? 0 : 4 * edge_slots.size());
    if (!fits(0, (more + arm_ - 1) / arm_)) {
        full = true;
        return;
    }
    const i64 edge = edges++;
    ++refs[child];
    ++kids[parent];
    edge_slots[place] = static_cast<i32>(edge + 1);
    edge_key[edge] = key;
    edge_parent[edge] = static_cast<i32>(parent);
    edge_child[edge] = static_cast<i32>(child);
    edge_next[edge] = arm_child[first[parent]];
    arm_child[first[parent]] = static_cast<i32>(edge);
}

// The hash of position and joint move stands for both: edges with equal keys are taken for the same.
u64 Tree::joint_key(i64 at, const i64 *arm) {
    u64 key = hashed(state(at), words);
    for (int r = 0; r < roles; ++r) key = scatter(key ^ static_cast<u64>(move[arm[r]])) + GOLDEN;
    return key | 1;
}

i64 Tree::after(i64 at, const i64 *arm) {
    if (kind[at] == ALONE) return arm_child[arm[mover[at]]];
    const i64 edge = i64(edge_slots[edge_slot(joint_key(at, arm))]) - 1;
    return edge >= 0 ? edge_child[edge] : -1;
}

bool Tree::is_exact(i64 at) {
    for (int r = 0; r < roles; ++r)
        if (r != settings.chance && low(at)[r] != high(at)[r]) return false;
    return true;
}

// Compacts positions and arms in place, then rebuilds both hash tables.
i64 Tree::forget(i64 root) {
    std::vector<i32> moved(used, -1); // new numbers; -1 for unreachable positions
    std::vector<i64> opened, stack{root};
    const auto reach = [&](i64 child) {
        if (moved[child] < 0) {
            moved[child] = 0;
            stack.push_back(child);
        }
    };
    const auto arms_of = [&](i64 at) {
        i64 count = 0;
        for (int r = 0; r < roles; ++r) count += size(at)[r];
        return count;
    };
    moved[root] = 0;
    while (!stack.empty()) {
        const i64 at = stack.back();
        stack.pop_back();
        if (!is_open(at)) continue;
        if (kind[at] == ALONE) {
            const i64 end = first[at] + arms_of(at);
            for (i64 a = first[at]; a < end; ++a)
                if (arm_child[a] >= 0) reach(arm_child[a]);
        } else {
            for (i64 edge = arm_child[first[at]]; edge >= 0; edge = edge_next[edge]) reach(edge_child[edge]);
        }
        opened.push_back(at);
    }
    i64 reachable = 0;
    for (i32 &number : moved)
        if (number >= 0) number = static_cast<i32>(reachable++);
    // Arms move to the front in their order, so that none is overwritten before it was moved.
    std::sort(opened.begin(), opened.end(), [&](i64 a, i64 b) { return first[a] < first[b]; });
    for (i64 at = 0; at < used; ++at) refs[at] = kids[at] = 0;
    i64 next = 0;
    for (const i64 at : opened) {
        const i64 count = arms_of(at), from = first[at];
        first[at] = static_cast<i32>(next);
        space[at] = static_cast<i32>(count);
        i64 to = next;
        next += count;
        for (i64 a = from; a < from + count; ++a, ++to) {
            move[to] = move[a];
            arm_count[to] = arm_count[a];
            arm_total[to] = arm_total[a];
            arm_virtual[to] = 0; // rounds in progress are lost
            if (settings.amaf > 0.0) {
                amaf_count[to] = amaf_count[a];
                amaf_total[to] = amaf_total[a];
            }
            if (settings.regret) {
                arm_regret[to] = arm_regret[a];
                arm_share[to] = arm_share[a];
            }
            const i32 child = arm_child[a];
            arm_child[to] = -1;
            if (child < 0 || kind[at] != ALONE) continue;
            arm_child[to] = moved[child];
            ++refs[child];
            ++kids[at];
        }
    }
    arms = top_ = next;
    std::fill(blocks_.begin(), blocks_.end(), -1);
    for (i64 from = 0; from < used; ++from) {
        const i64 at = moved[from];
        if (at < 0) continue;
        if (seen[from] == BUSY) seen[from] = 0;
        if (at != from) std::memcpy(games.at(at), games.at(from), record_); // `games` is the first field of a record
    }
    positions = used = reachable;
    free_ = -1;
    garbage_.clear();
    hand_ = freed_ = candidates_ = loose_ = 0;
    root_ = moved[root];
    ++refs[root_];
    full = false;
    slots.clear();
    const u64 mask = static_cast<u64>(slots.size()) - 1;
    for (i64 at = 0; at < positions; ++at) {
        u64 place = hashed(state(at), words) & mask;
        while (slots[place]) place = (place + 1) & mask;
        slots[place] = static_cast<i32>(at + 1);
    }
    const i64 before = edges;
    edges = 0;
    if (before) edge_slots.clear();
    for (i64 e = 0; e < before; ++e) {
        const i64 parent = moved[edge_parent[e]], child = moved[edge_child[e]];
        if (parent >= 0 && child >= 0) add_edge(edge_key[e], parent, child);
    }
    ++epoch;
    return moved[root];
}

// -- selection --------------------------------------------------------------------------------

// UCB1 (Auer, Cesa-Bianchi and Fischer 2002) on the values of the positions after the arms of a role that alone has a
// choice.  The exploration term counts playouts of the arm, since transpositions share positions (Childs, Brodeur and
// Kocsis 2008).  Values are clamped to the proved bounds of the successor, and mixed with AMAF means by the weights of
// RAVE (Gelly and Silver 2011).  `weight` is the virtual loss of a descent in progress (Chaslot et al. 2008).
i64 Tree::best_alone(i64 at, int role, i64 begin, i64 end, double weight) {
    for (i64 a = begin; a < end; ++a)
        if (arm_child[a] >= 0) __builtin_prefetch(games.at(arm_child[a]));
    const double constant = settings.exploration, equal = settings.amaf;
    const double parent = games[at];
    const double width = constant * constant * std::log(parent + 2.0);
    const double sure = low(at)[role];
    const double unknown = parent > 0.0 ? total(at)[role] / parent : 0.5; // of untried arms: the mean of the parent
    i64 chosen = begin;
    double highest = -1e300;
    // AMAF means of few playouts say little: those of an ancestor are used (GRAVE: Cazenave 2015).
    const bool refers = equal > 0.0 && parent < settings.reference && referred[role] >= 0;
    if (refers) align(begin, end, role);
    i64 a = draw(begin, end - begin); // begin at a random arm: the first of equal ones is chosen
    for (i64 k = begin; k < end; ++k) {
        a = a + 1 < end ? a + 1 : begin;
        const i64 child = arm_child[a];
        const double under_way = arm_virtual[a] * weight;
        double value = unknown, lower = 0.0, upper = 1.0, count = 0.0;
        if (child >= 0) {
            lower = low(child)[role];
            upper = high(child)[role];
            if (upper <= sure) { // no better than the proved value, so not searched unless all arms are like this
                if (highest < -1.0 && lower == upper && upper == sure) {
                    chosen = a;
                    highest = -2.0;
                }
                continue;
            }
            if (lower == upper) return a; // proved and better: the bound of the parent is out of date
            count = games[child];
            if (count > 0.0) {
                value = total(child)[role] / count;
                if (single) value = 0.5 * (value + best[child]); // nobody prevents the best play
            }
        }
        if (!(count > 0.0) && arm_count[a] > 0.0f) {
            count = arm_count[a];
            value = arm_total[a] / count;
        }
        const i64 same = refers ? aligned_[a - begin] : a;
        if (equal > 0.0 && same >= 0 && amaf_count[same] > 0.0f) {
            const double later = amaf_count[same];
            const double share = later / (later + count + later * count / equal);
            value += share * (amaf_total[same] / amaf_count[same] - value);
        }
        if (under_way != 0.0) value *= (count + 1.0) / (count + 1.0 + under_way);
        value = std::min(std::max(value, lower), upper);
        const double promise = value + std::sqrt(width / (arm_count[a] + under_way + 1.0));
        if (promise > highest) {
            chosen = a;
            highest = promise;
        }
    }
    return chosen;
}

// Finds the arms of a position in the one that the role refers to; arms are in the order of their moves.
void Tree::align(i64 begin, i64 end, int role) {
    const i64 from = referred[role];
    i64 other = first[from];
    for (int r = 0; r < role; ++r) other += size(from)[r];
    const i64 last = other + size(from)[role];
    aligned_.resize(end - begin);
    for (i64 a = begin; a < end; ++a) {
        while (other < last && move[other] < move[a]) ++other;
        aligned_[a - begin] = other < last && move[other] == move[a] ? other : -1;
    }
}

// UCB1 on the mean values of a role's own arms, whatever the others chose (decoupled UCT).
i64 Tree::best_joint(i64 at, i64 begin, i64 end, double weight) {
    const double constant = settings.exploration;
    const double width = constant * constant * std::log(games[at] + 2.0);
    i64 chosen = begin;
    double highest = -1e300;
    for (i64 a = begin; a < end; ++a) { // a little noise breaks ties
        const double count = arm_count[a] + arm_virtual[a] * weight;
        const double value = count > 0.0 ? arm_total[a] / count : 1.0;
        const double promise = value + std::sqrt(width / (count + 1.0)) + 1e-3 * random.uniform();
        if (promise > highest) {
            chosen = a;
            highest = promise;
        }
    }
    return chosen;
}

// Regret matching (Hart and Mas-Colell 2000): arms in proportion to their positive regrets, with 10 % exploration.
i64 Tree::by_regret(i64 begin, i64 end) {
    double all = 0.0;
    for (i64 a = begin; a < end; ++a) all += std::max(arm_regret[a], 0.0f);
    if (all <= 0.0 || random.uniform() < 0.1) return draw(begin, end - begin);
    double rest = random.uniform() * all;
    for (i64 a = begin; a < end; ++a) {
        rest -= std::max(arm_regret[a], 0.0f);
        if (rest < 0.0) return a;
    }
    return end - 1;
}

i64 Tree::choose(i64 at, i64 *arm, double weight) {
    i64 begin = first[at];
    for (int r = 0; r < roles; ++r) {
        const i64 count = size(at)[r], end = begin + count;
        if (count == 1)
            arm[r] = begin;
        else if (r == settings.chance)
            arm[r] = draw(begin, count);
        else if (kind[at] == ALONE)
            arm[r] = best_alone(at, r, begin, end, weight);
        else if (settings.regret)
            arm[r] = by_regret(begin, end);
        else
            arm[r] = best_joint(at, begin, end, weight);
        begin = end;
    }
    return after(at, arm);
}

// A descent ends at a LEAF, at a joint move without an edge or an arm without a position, or where searching on is
// useless: at a proved position, or at one that it has visited before (`seen` has the serial number of the last descent).
// What another way is about to expand, in this round or another thread's, is not taken again: leaves (BUSY), and arms
// without a position through which a descent is in progress.
void Round::descend(const i64 *roots, i64 count, int most) {
    Tree &t = *tree_;
    i64 n = 0, step = 0;
    int useless = 0;
    const i64 steps = static_cast<i64>(way_position_.size());
    way_first_[0] = 0;
    while (n < most && useless < USELESS) {
        const i64 serial = ++t.serial;
        std::fill(t.referred.begin(), t.referred.end(), i64(-1));
        i64 at = roots[n % count];
        for (;;) {
            way_position_[step] = static_cast<i32>(at);
            std::fill_n(arm(step), t.roles, i64(-1));
            if (t.seen[at] == BUSY) {
                way_end_[n] = VOID;
                useless += 4;
                break;
            }
            if (t.kind[at] == OVER || t.seen[at] == serial || step + 3 >= steps || t.is_exact(at)) {
                way_end_[n] = KNOWN;
                ++useless;
                break;
            }
            if (t.kind[at] == LEAF) {
                way_end_[n] = OPEN;
                mark(at);
                break;
            }
            t.seen[at] = serial;
            if (t.kind[at] == ALONE && t.games[at] >= t.settings.reference) t.referred[t.mover[at]] = at;
            const i64 child = t.choose(at, arm(step), weight_);
            const bool taken = child < 0 && t.kind[at] == ALONE && t.arm_virtual[arm(step)[t.mover[at]]] > 0;
            for (int r = 0; r < t.roles; ++r) ++t.arm_virtual[arm(step)[r]];
            if (child < 0) {
                way_end_[n] = taken ? VOID : MAKE;
                if (taken) useless += 4;
                if (t.kind[at] == ALONE) { // for the position to be added
                    way_position_[++step] = -1;
                    std::fill_n(arm(step), t.roles, i64(-1));
                }
                break;
            }
            ++step;
            at = child;
        }
        way_first_[++n] = ++step;
        if (step + 3 >= steps) break;
    }
    ways_ = n;
}

// -- expansion --------------------------------------------------------------------------------

Round::Round(TreePtr tree, int ways, int rows)
    : tree_(std::move(tree)), evaluator_(tree_->circuit), most_rows_(rows), way_first_(ways + 1), way_end_(ways),
      way_position_(STEPS), way_arm_(STEPS * tree_->roles), row_way_(rows), row_parent_(rows),
      row_arm_(i64(rows) * tree_->roles), row_child_(rows), row_fresh_(rows), row_games_(rows), row_best_(rows),
      row_total_(i64(rows) * tree_->roles), value_(tree_->roles) {}

i64 Round::expand(const i64 *roots, i64 count, int most, int widest, double weight) {
    Tree &t = *tree_;
    std::lock_guard hold(t.lock);
    for (i64 i = 0; i < count; ++i)
        if (!t.has(roots[i])) throw std::invalid_argument("no such position to start from");
    leave();
    weight_ = weight;
    used_ = fresh_ = 0;
    epoch_ = t.epoch;
    busy_.clear();
    under_way_ = true;
    pinned_ = roots[0];
    ++t.refs[pinned_];
    ways_ = 0;
    if (count == 1) fill(roots[0]);
    descend(roots, count, std::min<int>(most, static_cast<int>(way_end_.size())));
    enter();
    describe();
    open(widest);
    make(row_parent_.data(), row_arm_.data(), used_);
    attach();
    asked_ = 0;
    for (i64 way = 0; way < ways_; ++way) asked_ += way_end_[way] == OPEN || way_end_[way] == MAKE;
    if (asked_) per_leaf_ += 0.1 * (std::max(1.0, double(used_) / double(asked_)) - per_leaf_);
    return fresh_;
}

// Set the root of the tree, and add the positions after it, of which reports and proofs tell.
void Round::fill(i64 root) {
    Tree &t = *tree_;
    if (!t.recycles) return;
    t.go_to(root);
    if (t.kind[root] != ALONE || t.seen[root] == BUSY) return;
    const int who = t.mover[root];
    const i64 all = t.size(root)[who];
    if (all > FILLED || t.kids[root] == u64(all)) return;
    from_.clear();
    arms_.clear();
    i64 begin = t.first[root];
    for (int r = 0; r < who; ++r) begin += t.size(root)[r];
    for (i64 a = begin; a < begin + all; ++a) {
        if (t.arm_child[a] >= 0 || t.arm_virtual[a] > 0) continue;
        i64 other = t.first[root];
        for (int r = 0; r < t.roles; ++r) {
            arms_.push_back(r == who ? a : other);
            other += t.size(root)[r];
        }
        from_.push_back(root);
    }
    const i64 count = static_cast<i64>(from_.size());
    make(from_.data(), arms_.data(), count);
    for (i64 k = 0; k < count; ++k) {
        const i64 a = arms_[k * t.roles + who];
        bool is_new;
        const i64 child = t.add(&after_[k * t.words], is_new);
        if (child < 0) break;
        t.link(root, a, child);
        if (is_new) t.seed(child, root, a);
    }
}

// Add the positions after the arms at which ways ended.  If the tree is full, playouts start there all the same.
void Round::enter() {
    Tree &t = *tree_;
    from_.clear();
    arms_.clear();
    for (i64 way = 0; way < ways_; ++way) {
        if (way_end_[way] != MAKE || way_position_[last(way)] >= 0) continue;
        const i64 step = last(way) - 1;
        from_.push_back(way_position_[step]);
        arms_.insert(arms_.end(), arm(step), arm(step) + t.roles);
    }
    make(from_.data(), arms_.data(), static_cast<i64>(from_.size()));
    i64 k = 0;
    for (i64 way = 0; way < ways_; ++way) {
        if (way_end_[way] != MAKE || way_position_[last(way)] >= 0) continue;
        const i64 at = from_[k], a = arms_[k * t.roles + t.mover[at]];
        bool is_new;
        const i64 child = t.add(&after_[k++ * t.words], is_new);
        if (child < 0) continue;
        t.link(at, a, child);
        way_position_[last(way)] = static_cast<i32>(child);
        if (t.seen[child] == BUSY) {
            way_end_[way] = VOID;
        } else if (t.kind[child] == LEAF) {
            way_end_[way] = OPEN;
            mark(child);
            if (is_new) t.seed(child, at, a);
        } else {
            way_end_[way] = JOINS;
        }
    }
}

// Leaves that turn out to be terminal become OVER here, and are removed from `leaves_`.
void Round::describe() {
    Tree &t = *tree_;
    const Circuit &c = *t.circuit;
    leaves_.clear();
    std::vector<i64> ways;
    for (i64 way = 0; way < ways_; ++way) {
        if (way_end_[way] != OPEN) continue;
        leaves_.push_back(way_position_[last(way)]);
        ways.push_back(way);
    }
    const i64 words = c.legal_words(), count = static_cast<i64>(leaves_.size());
    legal_.assign(count * words, 0);
    std::vector<i16> goals;
    for (i64 begin = 0; begin < count; begin += LANES) {
        const i64 end = std::min<i64>(begin + LANES, count);
        const int lanes = static_cast<int>(end - begin);
        evaluator_.load(t.state(0), static_cast<int>(t.states.stride()), leaves_.data(), begin, end);
        evaluator_.run_legal(lanes);
        evaluator_.store_legal(legal_.data() + begin * words, words, lanes);
        bool any = false;
        for (int lane = 0; lane < lanes; ++lane) any = any || Evaluator::bit(evaluator_.terminal(), lane);
        if (!any) continue;
        // Terminal states are known from playouts of length 0, except where those were abandoned.
        goals.resize(i64(lanes) * t.roles);
        evaluator_.run_goals(lanes);
        evaluator_.read_goals(goals.data(), lanes);
        for (int lane = 0; lane < lanes; ++lane) {
            if (!Evaluator::bit(evaluator_.terminal(), lane)) continue;
            const i64 at = leaves_[begin + lane];
            t.kind[at] = OVER;
            for (int r = 0; r < t.roles; ++r) t.low(at)[r] = t.high(at)[r] = value_of(goals[lane * t.roles + r]);
            way_end_[ways[begin + lane]] = KNOWN;
            leaves_[begin + lane] = -1;
        }
    }
    i64 remaining = 0;
    for (i64 i = 0; i < count; ++i) {
        if (leaves_[i] < 0) continue;
        if (i != remaining) {
            leaves_[remaining] = leaves_[i];
            std::copy_n(&legal_[i * words], words, &legal_[remaining * words]);
        }
        ++remaining;
    }
    leaves_.resize(remaining);
}

// Give the leaves at the ends of the ways their arms, and list the joint moves to make.
void Round::open(int widest) {
    Tree &t = *tree_;
    const Circuit &c = *t.circuit;
    const int roles = t.roles;
    const i64 words = c.legal_words();
    i64 leaf = -1;
    for (i64 way = 0; way < ways_; ++way) {
        i64 step = last(way);
        if (way_end_[way] == MAKE && used_ < most_rows_) {
            if (way_position_[step] < 0) --step;
            row_way_[used_] = static_cast<i32>(way);
            row_parent_[used_] = way_position_[step];
            std::copy_n(arm(step), roles, &row_arm_[used_ * roles]);
            ++used_;
        }
        if (way_end_[way] != OPEN) continue;
        const i64 at = way_position_[step];
        ++leaf;
        i64 all = 0;
        for (i64 j = 0; j < words; ++j) all += popcount(legal_[leaf * words + j]);
        if (all && !t.add_arms(at, all)) {
            begin_at(way);
            continue;
        }
        const i64 first = t.first[at];
        i64 a = first;
        int choosing = 0, mover = 0;
        double product = 1.0;
        for (int r = 0; r < roles; ++r) {
            const i64 begin = a;
            for (i32 j = c.places[r]; j < c.places[r + 1]; ++j) {
                for (u64 word = legal_[leaf * words + j]; word; word &= word - 1) {
                    t.move[a] = c.bounds[r] + 64 * (j - c.places[r]) + lowest_bit(word);
                    t.arm_count[a] = t.arm_total[a] = 0.0f;
                    t.arm_virtual[a] = 0;
                    t.arm_child[a] = -1;
                    if (t.settings.amaf > 0.0) t.amaf_count[a] = t.amaf_total[a] = 0.0f;
                    if (t.settings.regret) t.arm_regret[a] = t.arm_share[a] = 0.0f;
                    ++a;
                }
            }
            const i64 count = a - begin;
            t.size(at)[r] = static_cast<i32>(count);
            product *= static_cast<double>(count);
            if (count > 1) {
                ++choosing;
                mover = r;
            }
        }
        if (product == 0.0) { // a role has no legal move in a nonterminal state: the rules define no value
            if (all) t.free_arms(at);
            t.kind[at] = OVER;
            std::fill_n(t.low(at), roles, 0.5);
            std::fill_n(t.high(at), roles, 0.5);
            continue;
        }
        const bool alone = choosing <= 1;
        t.mover[at] = static_cast<i16>(mover);
        t.kind[at] = alone ? ALONE : JOINT;
        const i64 most = alone ? widest : std::min(JOINTS, widest);
        const bool every = product <= static_cast<double>(most);
        const i64 wanted = std::min(every ? static_cast<i64>(product) : most, most_rows_ - used_);
        // If not all fit, take evenly spaced ones, since neighbours in the order of the rules are similar.
        const i64 shift = alone && !every ? static_cast<i64>(t.random.uniform() * product) : 0;
        for (i64 k = 0; k < wanted; ++k) {
            i64 rest = k; // the number of a joint move: arms of the roles as mixed-radix digits
            if (alone && !every) {
                const i64 all = static_cast<i64>(product);
                rest = (shift + static_cast<i64>(static_cast<double>(k) * product / static_cast<double>(wanted))) % all;
            }
            i64 begin = first;
            for (int r = 0; r < roles; ++r) {
                const i64 count = t.size(at)[r];
                if (every || alone) {
                    row_arm_[used_ * roles + r] = begin + rest % count;
                    rest /= count;
                } else {
                    row_arm_[used_ * roles + r] = t.draw(begin, count);
                }
                begin += count;
            }
            row_way_[used_] = static_cast<i32>(way);
            row_parent_[used_] = at;
            ++used_;
        }
    }
}

// Playouts from a leaf itself, as the tree is full.
void Round::begin_at(i64 way) {
    if (used_ == most_rows_) return;
    row_way_[used_] = static_cast<i32>(way);
    row_parent_[used_] = way_position_[last(way)];
    std::fill_n(&row_arm_[used_ * tree_->roles], tree_->roles, i64(-1));
    ++used_;
}

// Compute the states after joint moves, 512 at a time; without a move, that is the state itself.
void Round::make(const i64 *parents, const i64 *arms, i64 count) {
    Tree &t = *tree_;
    const int roles = t.roles, label = t.words - 1;
    after_.resize(count * t.words);
    for (i64 begin = 0; begin < count; begin += LANES) {
        const i64 end = std::min<i64>(begin + LANES, count);
        evaluator_.load(t.state(0), static_cast<int>(t.states.stride()), parents, begin, end);
        for (i64 row = begin; row < end; ++row)
            for (int r = 0; r < roles; ++r)
                if (arms[row * roles] >= 0)
                    evaluator_.set_move(static_cast<int>(row - begin), t.move[arms[row * roles + r]]);
        evaluator_.run_legal(static_cast<int>(end - begin));
        evaluator_.run_next(static_cast<int>(end - begin));
        evaluator_.store_next(after_.data() + begin * t.words, t.words, static_cast<int>(end - begin));
        if ((end - begin) * roles < t.circuit->moves) { // clearing single moves is faster than clearing all rows
            for (i64 row = begin; row < end; ++row)
                for (int r = 0; r < roles; ++r)
                    if (arms[row * roles] >= 0) evaluator_.clear_move(t.move[arms[row * roles + r]]);
        } else {
            evaluator_.clear_moves();
        }
        for (i64 row = begin; row < end; ++row) {
            if (arms[row * roles] < 0)
                std::copy_n(t.state(parents[row]), t.words, &after_[row * t.words]);
            else if (t.words > t.circuit->state_words())
                after_[row * t.words + label] = t.state(parents[row])[label];
        }
    }
}

// Link the rows to positions that are in the tree; where several roles have a choice they are added.  All slots are
// prefetched first, because every lookup is a cache miss.
void Round::attach() {
    Tree &t = *tree_;
    const int roles = t.roles;
    const u64 mask = static_cast<u64>(t.slots.size()) - 1;
    for (i64 row = 0; row < used_; ++row)
        __builtin_prefetch(&t.slots[static_cast<i64>(hashed(&after_[row * t.words], t.words) & mask)]);
    for (i64 row = 0; row < used_; ++row) {
        const i64 at = row_parent_[row];
        const i64 *arm = &row_arm_[row * roles];
        bool is_fresh = true;
        i64 child = at;
        if (is_leaf(row)) {
        } else if (t.kind[at] == ALONE) {
            child = t.find(&after_[row * t.words]);
            is_fresh = child < 0;
            if (child >= 0) t.link(at, arm[t.mover[at]], child);
        } else {
            child = t.add(&after_[row * t.words], is_fresh);
            if (child >= 0) t.add_edge(t.joint_key(at, arm), at, child);
            if (child >= 0 && is_fresh) mark(child);
            is_fresh = is_fresh || child < 0;
        }
        if (is_fresh) row_fresh_[fresh_++] = row;
        row_child_[row] = static_cast<i32>(child);
    }
}

std::vector<u64> Round::starts() {
    Tree &t = *tree_;
    std::lock_guard hold(t.lock);
    const int words = t.circuit->state_words();
    check();
    std::vector<u64> states(fresh_ * words);
    for (i64 k = 0; k < fresh_; ++k) std::copy_n(&after_[row_fresh_[k] * t.words], words, &states[k * words]);
    return states;
}

std::vector<i32> Round::line(i64 k) {
    Tree &t = *tree_;
    std::lock_guard hold(t.lock);
    std::vector<i32> moves;
    if (epoch_ != t.epoch || k < 0 || k >= fresh_)
        throw std::invalid_argument("no such place for playouts to start from");
    const i64 row = row_fresh_[k], way = row_way_[row];
    for (i64 step = way_first_[way]; step < last(way); ++step) moves.push_back(t.move[arm(step)[0]]);
    if (!is_leaf(row) && way_position_[last(way)] >= 0) moves.push_back(t.move[row_arm_[row * t.roles]]);
    return moves;
}

// -- backpropagation --------------------------------------------------------------------------

void Round::abandon() {
    std::lock_guard hold(tree_->lock);
    leave();
}

void Round::leave() {
    if (!under_way_) return;
    used_ = 0;
    if (epoch_ == tree_->epoch) settle(nullptr, nullptr, 0, nullptr, 0); // undoes virtual losses and BUSY
    under_way_ = false;
}

void Round::check() const {
    if (!under_way_) throw std::invalid_argument("no round is under way");
    if (epoch_ != tree_->epoch) throw std::invalid_argument("the tree was cleared during the round, or has forgotten");
}

void Round::backpropagate(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words) {
    Tree &t = *tree_;
    std::lock_guard hold(t.lock);
    check();
    if (!(t.settings.amaf > 0.0)) played = nullptr;
    if (games && t.sum != -1.0) t.look_at_sums(goals, lengths, games);
    settle(goals, lengths, games, played, words);
    under_way_ = false;
}

// Three passes: results of the games to rows, rows to their positions, and, from the end of each way up to its root,
// values, bounds, AMAF means and regrets to the positions and arms on it.
void Round::settle(const i16 *goals, const i64 *lengths, i64 games, u64 *played, i64 words) {
    Tree &t = *tree_;
    const int roles = t.roles;
    if (!used_) fresh_ = 0;
    if (!fresh_) games = 0;
    std::fill_n(row_games_.begin(), used_, 0.0);
    std::fill_n(row_best_.begin(), used_, 0.0);
    std::fill_n(row_total_.begin(), used_ * roles, 0.0);
    const i64 sets = played ? words : 0;
    half_.assign(sets * roles, 0);
    more_.assign(sets * roles, 0);
    some_.assign(sets, 0);
    for (i64 game = 0; game < games; ++game) {
        const i64 row = row_fresh_[game * fresh_ / games];
        i64 child = row_child_[row];
        const i16 *mine = goals + game * roles;
        if (played) {
            const u64 bit = u64(1) << (game & 63);
            for (int r = 0; r < roles; ++r) {
                const double value = value_of(mine[r], lengths[game]);
                if (value >= 0.5) half_[r * words + (game >> 6)] |= bit;
                if (value > 0.5) more_[r * words + (game >> 6)] |= bit;
                if (!is_leaf(row)) played[t.move[row_arm_[row * roles + r]] * words + (game >> 6)] |= bit;
            }
        }
        row_games_[row] += 1.0;
        for (int r = 0; r < roles; ++r) row_total_[row * roles + r] += value_of(mine[r], lengths[game]);
        row_best_[row] = std::max(row_best_[row], value_of(mine[0], lengths[game]));
        if (lengths[game] == 0 && child < 0 && t.kind[row_parent_[row]] == ALONE) { // a value that is certain
            bool is_new;
            child = t.add(&after_[row * t.words], is_new);
            row_child_[row] = static_cast<i32>(child);
            if (child >= 0) t.link(row_parent_[row], row_arm_[row * roles + t.mover[row_parent_[row]]], child);
        }
        if (lengths[game] == 0 && child >= 0 && t.kind[child] == LEAF) {
            t.kind[child] = OVER;
            for (int r = 0; r < roles; ++r) t.low(child)[r] = t.high(child)[r] = value_of(mine[r]);
        }
    }
    for (i64 k = 0; k < fresh_; ++k) {
        const i64 row = row_fresh_[k], child = row_child_[row];
        if (child < 0 || is_leaf(row)) continue;
        t.games[child] += row_games_[row];
        t.best[child] = std::max(t.best[child], row_best_[row]);
        for (int r = 0; r < roles; ++r) t.total(child)[r] += row_total_[row * roles + r];
    }
    const double each = fresh_ ? std::max(1.0, static_cast<double>(games) / static_cast<double>(fresh_)) : 1.0;
    // Rows that lead to positions of the tree have no playouts: they count as much as a fresh row, with the mean of
    // their position.
    for (i64 row = 0; row < used_; ++row) {
        const i64 child = row_child_[row];
        if (child < 0 || is_leaf(row) || row_games_[row] != 0.0 || !(t.games[child] > 0.0)) continue;
        row_games_[row] = std::min(each, t.games[child]);
        row_best_[row] = t.best[child];
        for (int r = 0; r < roles; ++r) row_total_[row * roles + r] = t.total(child)[r] / t.games[child] * row_games_[row];
    }
    i64 row = 0, game = 0;
    double *value = value_.data();
    for (i64 way = 0; way < ways_; ++way) {
        i64 end_step = last(way), at = way_position_[end_step];
        const u8 end = way_end_[way];
        if (at < 0) at = way_position_[--end_step];
        double weight = 0.0, best = 0.0;
        bool changed = false;
        std::fill_n(value, roles, 0.0);
        std::fill(some_.begin(), some_.end(), u64(0));
        for (; row < used_ && row_way_[row] == way; ++row) {
            const i64 child = row_child_[row];
            for (; played && game < games && row_fresh_[game * fresh_ / games] == row; ++game)
                some_[game >> 6] |= u64(1) << (game & 63);
            weight += row_games_[row];
            best = std::max(best, row_best_[row]);
            for (int r = 0; r < roles; ++r) {
                value[r] += row_total_[row * roles + r];
                if (child >= 0 && (t.low(child)[r] > 0.0 || t.high(child)[r] < 1.0)) changed = true;
                if (end == OPEN && !is_leaf(row)) {
                    const i64 a = row_arm_[row * roles + r];
                    t.arm_count[a] += static_cast<float>(row_games_[row]);
                    t.arm_total[a] += static_cast<float>(row_total_[row * roles + r]);
                }
            }
        }
        if (end == KNOWN || end == JOINS) {
            changed = true;
            weight = end == KNOWN || t.is_exact(at) ? weight_ : std::min(weight_, t.games[at]);
            best = t.best[at];
            for (int r = 0; r < roles; ++r) {
                if (t.low(at)[r] == t.high(at)[r])
                    value[r] = weight * t.low(at)[r];
                else if (t.games[at] > 0.0)
                    value[r] = weight * t.total(at)[r] / t.games[at];
                else
                    value[r] = 0.5 * weight;
            }
        }
        if (end == JOINS) --end_step; // these playouts were counted there
        for (i64 step = end_step; step >= way_first_[way]; --step) {
            at = way_position_[step];
            i64 *taken = arm(step);
            if (taken[0] >= 0) {
                for (int r = 0; r < roles; ++r) {
                    --t.arm_virtual[taken[r]];
                    t.arm_count[taken[r]] += static_cast<float>(weight);
                    t.arm_total[taken[r]] += static_cast<float>(value[r]);
                }
                if (t.settings.regret && t.kind[at] == JOINT && weight > 0.0) t.add_regret(at, taken, value, weight);
            }
            if (played) add_later(at, taken, played, words, some_.data());
            t.games[at] += weight;
            for (int r = 0; r < roles; ++r) t.total(at)[r] += value[r];
            t.best[at] = std::max(t.best[at], best);
            if (changed && t.is_open(at)) changed = t.tighten(at) || end == KNOWN;
            if (weight > 0.0 && t.is_exact(at))
                for (int r = 0; r < roles; ++r)
                    if (t.low(at)[r] == t.high(at)[r]) value[r] = weight * t.low(at)[r];
        }
    }
    for (const i64 at : busy_) t.seen[at] = 0;
    busy_.clear();
    --t.refs[pinned_];
}

namespace {

// Add to `count` the games in some & played, and to `points` 1 for each of them with a value of 1/2, 2 for more.
[[gnu::always_inline]] inline void count_games(const u64 *played, const u64 *some, const u64 *half, const u64 *more,
                                               i64 words, i64 &count, i64 &points) {
    for (i64 w = 0; w < words; ++w) {
        if (!some[w]) continue;
        const u64 mine = played[w] & some[w];
        count += __builtin_popcountll(mine);
        points += __builtin_popcountll(mine & half[w]) + __builtin_popcountll(mine & more[w]);
    }
}

void later_plain(Tree &t, i64 begin, i64 end, const u64 *played, const u64 *some, const u64 *half, const u64 *more,
                 i64 words) {
    for (i64 a = begin; a < end; ++a) {
        i64 count = 0, points = 0;
        count_games(played + t.move[a] * words, some, half, more, words, count, points);
        t.amaf_count[a] += static_cast<float>(count);
        t.amaf_total[a] += 0.5f * static_cast<float>(points);
    }
}

#if defined(__x86_64__)
// Compiled for the lowest level, popcount is a call of a library function; so choose at run time.
[[gnu::target("popcnt")]] void later_quick(Tree &t, i64 begin, i64 end, const u64 *played, const u64 *some,
                                           const u64 *half, const u64 *more, i64 words) {
    for (i64 a = begin; a < end; ++a) {
        i64 count = 0, points = 0;
        count_games(played + t.move[a] * words, some, half, more, words, count, points);
        t.amaf_count[a] += static_cast<float>(count);
        t.amaf_total[a] += 0.5f * static_cast<float>(points);
    }
}
auto later_here() { return has_popcount() ? later_quick : later_plain; }
#else
auto later_here() { return later_plain; }
#endif

} // namespace

// Add the games in the set `some` to the AMAF means of the arms of a position.  The arms taken there join `played`, so
// that positions above count these moves as made later.
void Round::add_later(i64 at, const i64 *taken, u64 *played, i64 words, const u64 *some) {
    static const auto later = later_here();
    Tree &t = *tree_;
    if (t.kind[at] != ALONE && taken[0] < 0) return;
    i64 begin = t.first[at];
    for (int r = 0; r < t.roles; ++r) {
        const i64 count = t.kind[at] == ALONE ? t.size(at)[r] : 0;
        if (taken[r] >= 0) {
            u64 *mine = played + t.move[taken[r]] * words;
            for (i64 w = 0; w < words; ++w) mine[w] |= some[w];
        }
        if (count > 1 && r != t.settings.chance)
            later(t, begin, begin + count, played, some, half_.data() + r * words, more_.data() + r * words, words);
        begin += count;
    }
}

// Lisý, Kovařík, Lanctot and Bošanský 2013: the regret of an arm grows by the mean of the position after it, with the
// other roles' arms unchanged, minus the value of this way.
void Tree::add_regret(i64 at, i64 *arm, const double *value, double weight) {
    i64 begin = first[at];
    for (int r = 0; r < roles; ++r) {
        const i64 count = size(at)[r], end = begin + count;
        if (count > 1 && r != settings.chance) {
            double all = 0.0;
            for (i64 a = begin; a < end; ++a) all += std::max(arm_regret[a], 0.0f);
            const i64 taken = arm[r];
            const double got = value[r] / weight;
            for (i64 a = begin; a < end; ++a)
                arm_share[a] += static_cast<float>(all > 0.0 ? std::max(arm_regret[a], 0.0f) / all
                                                             : 1.0 / static_cast<double>(count));
            for (i64 a = begin; a < end; ++a) {
                if (a == taken) continue;
                arm[r] = a;
                const i64 child = after(at, arm);
                if (child >= 0 && games[child] > 0.0) arm_regret[a] += static_cast<float>(total(child)[r] / games[child] - got);
            }
            arm[r] = taken;
        }
        begin = end;
    }
}

// -- whole rounds -----------------------------------------------------------------------------

i64 Round::run(i64 root, Expander &players, const Plan &plan, Stop &stop) {
    Tree &t = *tree_;
    const i64 moves = t.circuit->moves, lanes = LANES;
    const auto began = Stop::Clock::now();
    i64 count = 0;
    for (i64 round = 0; round < plan.rounds; ++round) {
        if (stop.due()) break;
        if (round && std::chrono::duration<double>(Stop::Clock::now() - began).count() >= plan.seconds) break;
        // as many descents as give 512 playouts in all, with each about `per_leaf_` rows
        const double wanted = double(lanes) / (plan.each * per_leaf_);
        const int most = static_cast<int>(std::min<double>(double(way_end_.size()), std::max(1.0, wanted)));
        const i64 fresh = expand(&root, 1, most, plan.widest, double(lanes) / most);
        const i64 games = fresh ? std::max(lanes, fresh) : 0;
        const bool counts_later = t.settings.amaf > 0.0 && games > 0 && games <= lanes;
        lengths_.assign(games, 0);
        goals_.assign(games * t.roles, 0);
        if (games) {
            const std::vector<u64> states = starts();
            parents_.resize(games);
            for (i64 game = 0; game < games; ++game) parents_[game] = game * fresh / games;
            Games all;
            all.states = states.data();
            all.parents = parents_.data();
            all.count = games;
            all.max_steps = plan.max_steps;
            all.values = goals_.data();
            all.lengths = lengths_.data();
            if (counts_later) {
                played_.assign(i64(players.circuit().moves) * WORDS, 0);
                all.played = played_.data();
            }
            bool complete = false;
            try {
                complete = players.play(all, plan.generator, stop);
            } catch (...) {
                abandon();
                throw;
            }
            if (!complete) {
                abandon();
                break;
            }
        }
        u64 *played = counts_later ? played_.data() : nullptr;
        if (played && plan.places) { // a move of the tree was made in a game in which any of its copies was
            joined_.assign(moves * WORDS, 0);
            for (i64 m = 0; m < moves; ++m) {
                const i64 end = m + 1 < moves ? plan.places[m + 1] : players.circuit().moves;
                for (i64 place = plan.places[m]; place < end; ++place)
                    for (int w = 0; w < WORDS; ++w) joined_[m * WORDS + w] |= played_[place * WORDS + w];
            }
            played = joined_.data();
        }
        backpropagate(goals_.data(), lengths_.data(), games, played, WORDS);
        count += games;
        if (!fresh) break;
        std::lock_guard hold(t.lock);
        if (!t.has(root) || t.kind[root] == OVER || t.is_exact(root)) break;
    }
    return count;
}

// -- proofs -----------------------------------------------------------------------------------

// Score-bounded search (Cazenave and Saffidine 2010) for several roles.  The mover gets the maximum over its arms,
// chance gives the mean; another role has the minimum of the lower bounds and the maximum of the upper bounds.  An arm
// without a successor in the tree has the bounds 0 and 1.
bool Tree::tighten(i64 at) {
    if (kind[at] == JOINT) return tighten_joint(at);
    const int who = mover[at], chance = settings.chance;
    i64 begin = first[at];
    for (int r = 0; r < who; ++r) begin += size(at)[r];
    const i64 count = size(at)[who];
    bool changed = false;
    for (int r = 0; r < roles; ++r) {
        if (r == chance) continue;
        double lower = 0.0, upper = 0.0, least = 1.0, lows = 0.0, highs = 0.0;
        for (i64 a = begin; a < begin + count; ++a) {
            const i64 child = arm_child[a];
            const double mine = child >= 0 ? low(child)[r] : 0.0;
            const double most = child >= 0 ? high(child)[r] : 1.0;
            lower = std::max(lower, mine);
            least = std::min(least, mine);
            upper = std::max(upper, most);
            lows += mine;
            highs += most;
        }
        if (who == chance && count > 1) {
            lower = lows / static_cast<double>(count);
            upper = highs / static_cast<double>(count);
            if (upper - lower < 1e-6) upper = lower; // equal but for rounding
        } else if (r != who) {
            lower = least;
        }
        if (lower > low(at)[r]) {
            low(at)[r] = lower;
            changed = true;
        }
        if (upper < high(at)[r]) {
            high(at)[r] = std::max(upper, low(at)[r]);
            changed = true;
        }
    }
    changed = opposed(at) || changed;
    if (changed) count_plies(at, who, begin, count);
    return changed;
}

// If the values of two players have a constant sum, an upper bound of one is the sum minus the other's lower bound.
bool Tree::opposed(i64 at) {
    if (sum < 0.0) return false;
    const int chance = settings.chance;
    const int one = chance == 0 ? 1 : 0, two = one + 1 != chance ? one + 1 : one + 2;
    bool changed = false;
    for (int k = 0; k < 2; ++k) {
        const int a = k ? two : one, b = k ? one : two;
        double upper = sum - low(at)[b];
        if (std::abs(upper - low(at)[a]) < 1e-6) upper = low(at)[a];
        if (upper < high(at)[a]) {
            high(at)[a] = std::max(upper, low(at)[a]);
            changed = true;
        }
    }
    return changed;
}

// Set the length of the proof: the shortest line if the mover gets 1/2 or more, else the longest.
void Tree::count_plies(i64 at, int who, i64 begin, i64 count) {
    const double value = low(at)[who];
    const bool exact = value == high(at)[who] && who != settings.chance;
    const bool shortest = exact && value >= 0.5;
    i32 extreme = -1;
    for (i64 a = begin; a < begin + count; ++a) {
        const i64 child = arm_child[a];
        if (child < 0 || (exact && low(child)[who] != value)) continue;
        const i32 steps = plies[child] + 1;
        if (extreme < 0 || (shortest ? steps < extreme : steps > extreme)) extreme = steps;
    }
    plies[at] = std::max(extreme, 0);
}

// Lower bounds are maximin values in pure strategies, which are sound for mixed ones; upper bounds are the highest of
// any joint move.
bool Tree::tighten_joint(i64 at) {
    double product = 1.0;
    i64 largest = 0;
    for (int r = 0; r < roles; ++r) {
        product *= size(at)[r];
        largest = std::max<i64>(largest, size(at)[r]);
    }
    if (product > CHECKED) return false;
    least_.assign(largest * roles, 1.0); // [roles, arms] the lowest bound over the moves of the others
    std::fill(most_.begin(), most_.end(), 0.0);
    i32 steps = 0;
    for (i64 k = 0; k < static_cast<i64>(product); ++k) {
        i64 rest = k, begin = first[at];
        for (int r = 0; r < roles; ++r) {
            const i64 count = size(at)[r];
            place_[r] = static_cast<i32>(rest % count);
            rest /= count;
            made_[r] = begin + place_[r];
            begin += count;
        }
        const i64 child = after(at, made_.data());
        for (int r = 0; r < roles; ++r) {
            double &mine = least_[r * largest + place_[r]];
            mine = std::min(mine, child >= 0 ? low(child)[r] : 0.0);
            most_[r] = std::max(most_[r], child >= 0 ? high(child)[r] : 1.0);
        }
        if (child >= 0) steps = std::max(steps, plies[child] + 1);
    }
    bool changed = false;
    for (int r = 0; r < roles; ++r) {
        if (r == settings.chance) continue;
        double lower = 0.0;
        for (i64 a = 0; a < size(at)[r]; ++a) lower = std::max(lower, least_[r * largest + a]);
        if (lower > low(at)[r]) {
            low(at)[r] = lower;
            changed = true;
        }
        if (most_[r] < high(at)[r]) {
            high(at)[r] = std::max(most_[r], low(at)[r]);
            changed = true;
        }
    }
    changed = opposed(at) || changed;
    if (changed) plies[at] = steps;
    return changed;
}

void Tree::unproved() {
    for (i64 at = 0; at < used; ++at) {
        if (kind[at] == OVER || kind[at] == FREE) continue;
        std::fill_n(low(at), roles, 0.0);
        std::fill_n(high(at), roles, 1.0);
    }
}

void Tree::look_at_sums(const i16 *goals, const i64 *lengths, i64 games) {
    const int one = settings.chance == 0 ? 1 : 0, two = one + 1 != settings.chance ? one + 1 : one + 2;
    for (i64 game = 0; game < games && sum != -1.0; ++game) {
        const i16 a = goals[game * roles + one], b = goals[game * roles + two];
        if ((a < 0 || b < 0) && (lengths[game] < 0 || a == STUCK)) continue;
        const int both = std::max<int>(a, 0) + std::max<int>(b, 0);
        if (sum == -2.0) sum = both / 100.0;
        if (both == static_cast<int>(std::lround(100.0 * sum))) continue;
        sum = -1.0;
        unproved(); // bounds that `opposed` derived from the sum are wrong
    }
}

// -- results at a root ------------------------------------------------------------------------

i32 Tree::best_move(i64 at, int role) {
    if (at < 0 || !is_open(at)) return -1;
    i64 begin = first[at];
    for (int r = 0; r < role; ++r) begin += size(at)[r];
    const i64 count = size(at)[role];
    int highest_tier = -1;
    double highest = 0.0;
    i32 chosen = -1;
    i64 a = draw(begin, count); // begin at a random arm: the first of equal ones is chosen
    for (i64 k = 0; k < count; ++k) {
        i64 child = kind[at] == ALONE && mover[at] == role ? arm_child[a] : -1;
        if (child >= 0 && !(games[child] > 0.0) && low(child)[role] < high(child)[role]) child = -1;
        int tier = 1; // 2: a proved win, 1: neither, 0: a proved loss
        double promise;
        if (child < 0) {
            const double seen_games = arm_count[a];
            promise = (seen_games > 0.0 ? arm_total[a] / seen_games : 0.0) -
                      settings.exploration / std::sqrt(seen_games + 1.0);
        } else if (low(child)[role] == high(child)[role]) {
            // among proved wins the shortest, among proved losses the longest
            promise = low(child)[role];
            if (promise >= 1.0) {
                tier = 2;
                promise = -plies[child];
            } else if (promise <= 0.0) {
                tier = 0;
                promise = plies[child];
            }
        } else {
            const double seen_games = games[child];
            double mean = seen_games > 0.0 ? total(child)[role] / seen_games : 0.0;
            if (single) mean = 0.5 * (mean + best[child]);
            promise = mean - settings.exploration / std::sqrt(seen_games + 1.0);
            promise = std::min(std::max(promise, low(child)[role]), high(child)[role]);
        }
        if (tier > highest_tier || (tier == highest_tier && promise > highest)) {
            highest_tier = tier;
            highest = promise;
            chosen = move[a];
        }
        a = a + 1 < begin + count ? a + 1 : begin;
    }
    return chosen;
}

void Tree::add_up(i64 at, int role, double *values, double *looked_at, double *playouts) {
    if (at < 0 || !is_open(at)) return;
    i64 a = first[at];
    for (int r = 0; r < role; ++r) a += size(at)[r];
    const i64 end = a + size(at)[role];
    for (; a < end; ++a) {
        double count = arm_count[a], value = 0.0;
        i64 child = kind[at] == ALONE && mover[at] == role ? arm_child[a] : -1;
        if (child >= 0 && !(games[child] > 0.0) && low(child)[role] < high(child)[role]) child = -1;
        if (child >= 0) {
            count = games[child];
            value = count > 0.0 ? total(child)[role] / count : 0.0;
            if (low(child)[role] == high(child)[role]) {
                value = low(child)[role];
                count = std::max(count, 1.0);
            }
        } else if (count > 0.0) {
            value = arm_total[a] / count;
        }
        if (!(count > 0.0)) continue;
        const i32 place = move[a] - circuit->bounds[role];
        values[place] += value;
        looked_at[place] += 1.0;
        playouts[place] += count;
    }
}

} // namespace herbrand::search

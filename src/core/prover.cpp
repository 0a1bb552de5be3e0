#include "prover.hpp"

#include <algorithm>
#include <tuple>

namespace herbrand {

Prover::Prover(CircuitPtr circuit, i64 bytes, const std::vector<i32> &symmetries, int walkers, bool certain)
    : circuit_(std::move(circuit)), evaluator_(circuit_), words_(circuit_->state_words()),
      legal_words_(circuit_->legal_words()), certain_(certain), walkers_(static_cast<std::size_t>(std::clamp(walkers, 1, MOST_WALKERS))),
      active_(std::size_t(1) << 16, 0), history_(static_cast<std::size_t>(circuit_->moves), 0) {
    const std::size_t fluents = static_cast<std::size_t>(circuit_->fluents);
    require(fluents == 0 ? symmetries.empty() : symmetries.size() % fluents == 0, "`symmetries` are not permutations of the fluents");
    while (most_bits_ < 40 && (i64(2) << most_bits_) * i64(sizeof(Entry)) * BUCKET <= bytes) ++most_bits_;
    first_bits_ = bits_ = std::max(std::min(FIRST_BITS, most_bits_), most_bits_ - 8);
    table_ = Zeros<u64>((i64(1) << bits_) * BUCKET * 2);

    SplitMix random{0x5DEECE66Du};
    std::vector<Key> words(fluents);
    for (Key &word : words) word = {random.next(), random.next()};
    symmetries_ = 1;
    std::vector<i32> identity(fluents);
    for (std::size_t f = 0; f < fluents; ++f) identity[f] = static_cast<i32>(f);
    std::vector<std::vector<i32>> images{identity};
    for (std::size_t begin = 0; fluents && begin < symmetries.size(); begin += fluents) {
        std::vector<i32> image(symmetries.begin() + static_cast<std::ptrdiff_t>(begin),
                               symmetries.begin() + static_cast<std::ptrdiff_t>(begin + fluents));
        std::vector<u8> used(fluents, 0);
        for (const i32 f : image) {
            require(f >= 0 && static_cast<std::size_t>(f) < fluents && !used[static_cast<std::size_t>(f)], "a symmetry is no permutation");
            used[static_cast<std::size_t>(f)] = 1;
        }
        if (image != identity) images.push_back(std::move(image));
    }
    symmetries_ = static_cast<int>(images.size());
    bytes_.assign(static_cast<std::size_t>(symmetries_) * 8 * static_cast<std::size_t>(words_) * 256, Key{0, 0});
    Key *table = bytes_.data();
    for (const std::vector<i32> &image : images)
        for (int byte = 0; byte < 8 * words_; ++byte, table += 256)
            for (int bits = 1; bits < 256; ++bits) {
                const int low = lowest_bit(static_cast<u64>(bits));
                const std::size_t f = static_cast<std::size_t>(8 * byte + low);
                Key key = table[bits & (bits - 1)];
                if (f < fluents) {
                    const Key &word = words[static_cast<std::size_t>(image[f])];
                    key.place ^= word.place;
                    key.tag ^= word.tag;
                }
                table[bits] = key;
            }
    move_words_.resize(static_cast<std::size_t>(circuit_->moves));
    for (Key &word : move_words_) word = {random.next(), random.next()};
}

void Prover::set_threats(CircuitPtr threats) {
    const std::lock_guard hold(lock_);
    require(!threats || threats->state_words() == words_, "the threats are about other states");
    threats_ = threats ? std::make_unique<Evaluator>(std::move(threats)) : nullptr;
}

// The hash of an image of a state.
Prover::Key Prover::hash_of(const u64 *state, int symmetry) const {
    const Key *table = bytes_.data() + i64(symmetry) * 8 * words_ * 256;
    Key key{0, 0};
    for (int w = 0; w < words_; ++w)
        for (u64 word = state[w], b = 0; b < 8; ++b, word >>= 8, table += 256) {
            const Key &part = table[word & 255];
            key.place ^= part.place;
            key.tag ^= part.tag;
        }
    return key;
}

// The least hash of the images of a state, for the current question.
Prover::Key Prover::key_of(const u64 *state) const {
    Key least{~u64(0), ~u64(0)};
    for (int s = 0; s < symmetries_; ++s) {
        const Key key = hash_of(state, s);
        if (key.place < least.place || (key.place == least.place && key.tag < least.tag)) least = key;
    }
    least.place ^= question_.place;
    least.tag ^= question_.tag;
    return least;
}

bool Prover::probe(const Key &key, Numbers &numbers) const {
    const u64 *entry = bucket(key);
    for (int k = 0; k < BUCKET; ++k, entry += 2)
        if (entry[1] && entry[0] == key.tag) {
            numbers = {static_cast<u32>(entry[1] & NEVER), static_cast<u32>(entry[1] >> 24 & NEVER),
                       static_cast<int>(entry[1] >> 48 & 255)};
            return true;
        }
    return false;
}

// A new entry takes the place of the one with the least work in its bucket.
void Prover::store(const Key &key, u32 pn, u32 dn, i64 work) {
    u64 bits = 0;
    while (bits < 62 && i64(1) << bits <= work) ++bits;
    u64 *entry = bucket(key), *least = nullptr;
    for (int k = 0; k < BUCKET; ++k, entry += 2) {
        if (entry[1] && entry[0] == key.tag) {
            bits = std::max(bits, entry[1] >> 48 & 255);
            least = entry;
            break;
        }
        if (!least || (least[1] && (!entry[1] || (entry[1] >> 48 & 255) < (least[1] >> 48 & 255)))) least = entry;
    }
    entries_ += least[1] == 0;
    least[0] = key.tag;
    least[1] = u64(pn) | u64(dn) << 24 | bits << 48 | (key.place >> first_bits_ & 255) << 56;
}

// Makes the table four times as large, once it is more than half full: memory is taken when it is needed.
void Prover::grow() {
    const int bits = std::min({bits_ + 2, most_bits_, first_bits_ + 8});
    if (2 * entries_ < capacity() || bits <= bits_) return;
    Zeros<u64> larger((i64(1) << bits) * BUCKET * 2);
    for (i64 k = 0; k < BUCKET << bits_; ++k) {
        const u64 *entry = table_.data() + 2 * k;
        if (!entry[1]) continue;
        const u64 low = static_cast<u64>(k / BUCKET) & ((u64(1) << first_bits_) - 1);
        const u64 place = (low | entry[1] >> 56 << first_bits_) & ((u64(1) << bits) - 1);
        u64 *other = larger.data() + 2 * BUCKET * static_cast<i64>(place);
        while (other[1]) other += 2; // at most as many as were in one bucket
        other[0] = entry[0];
        other[1] = entry[1];
    }
    table_ = std::move(larger);
    bits_ = bits;
}

// Whose turn it is: UNCLEAR where a role has no legal move, or where several have a choice and the question is not what
// can be forced for certain.
Prover::Turn Prover::turn_of(const u64 *legal) const {
    const Circuit &c = *circuit_;
    int choosing = 0, first = -1;
    i64 own = 0, first_moves = 1, joint = 1;
    for (int r = 0; r < c.roles; ++r) {
        i64 some = 0;
        for (int j = c.places[r]; j < c.places[r + 1]; ++j) some += popcount(legal[j]);
        if (!some) return Turn{};
        if (some == 1) continue;
        ++choosing;
        if (r == role_) own = some;
        if (first < 0) {
            first = r;
            first_moves = some;
        }
        joint = std::min(joint * some, i64(1) << 40);
    }
    if (choosing > 1 && !certain_) return Turn{};
    if (own) return Turn{MINE, choosing > 1 ? role_ : -1, role_, own};
    if (joint > MOST_REPLIES && choosing > 1) return Turn{THEIRS, first, first, first_moves};
    return Turn{THEIRS, -1, std::max(first, 0), joint};
}

// -- the question ---------------------------------------------------------------------------------------------

void Prover::ask(const u64 *state, int role, int goal) {
    const std::lock_guard hold(lock_);
    const Circuit &c = *circuit_;
    require(role >= 0 && role < c.roles, "no such role");
    require(goal >= 0 && goal <= 100, "a goal value is a number from 0 to 100");
    role_ = role;
    goal_ = goal;
    good_.clear();
    bad_.clear();
    unclear_.clear();
    for (int k = 0; k < c.goals(); ++k)
        if (c.goal_role[k] == role) (c.goal_value[k] < 0 ? unclear_ : c.goal_value[k] >= goal ? good_ : bad_).push_back(k);
    SplitMix random{(u64(static_cast<u64>(role)) << 8 | static_cast<u64>(goal)) + 1};
    question_ = {random.next(), random.next()};
    root_.assign(state, state + words_);
    root_legal_.assign(static_cast<std::size_t>(legal_words_), 0);
    const i64 index = 0;
    evaluator_.load(state, words_, &index, 0, 1);
    evaluator_.run_legal(1);
    evaluator_.store_legal(root_legal_.data(), legal_words_, 1);
    root_row_ = Row{key_of(state), 1, 1, -1, UNCLEAR, 1};
    Row *row = &root_row_;
    judge(1, &row);
    if (root_row_.open) {
        root_row_.kind = turn_of(root_legal_.data()).kind;
        Numbers numbers;
        if (probe(root_row_.key, numbers)) {
            root_row_.pn = numbers.pn;
            root_row_.dn = numbers.dn;
        } else if (root_row_.kind == UNCLEAR) {
            std::tie(root_row_.pn, root_row_.dn) = stuck();
            simultaneous_ = true;
        }
    }
    root_key_ = root_row_.key;
    root_pn_ = root_row_.pn;
    root_dn_ = root_row_.dn;
    std::fill(active_.begin(), active_.end(), 0);
    for (Walker &walker : walkers_) {
        walker.frames.clear();
        walker.slots.clear();
        walker.rows.clear();
        walker.waits = false;
    }
    asked_ = true;
}

Prover::Verdict Prover::verdict() const {
    if (root_pn_ == 0) return PROVED;
    if (root_dn_ == 0) return DISPROVED;
    return root_pn_ >= HARD || root_dn_ >= HARD ? STALLED : OPEN;
}

Prover::Verdict Prover::go_on(Stop &stop, i64 most) {
    const std::lock_guard hold(lock_);
    if (!asked_) throw std::invalid_argument("nothing was asked");
    const i64 last = expanded_ + std::min(most, i64(1) << 60);
    std::vector<int> wanted;
    while (verdict() == OPEN && expanded_ < last && !stop.due()) {
        wanted.clear();
        for (int number = 0; number < static_cast<int>(walkers_.size()); ++number) {
            if (!walkers_[static_cast<std::size_t>(number)].waits && !run(number)) break;
            wanted.push_back(number);
        }
        if (verdict() != OPEN) break;
        grow();
        expand(wanted);
    }
    return verdict();
}

// -- walkers --------------------------------------------------------------------------------------------------

bool Prover::on_path(const Walker &walker, const Key &key, u16 slot) const {
    for (std::size_t k = 0; k < walker.slots.size(); ++k)
        if (walker.slots[k] == slot && walker.frames[k].key == key) return true;
    return false;
}

void Prover::enter(Walker &walker, int number, const Frame &frame) {
    walker.frames.push_back(frame);
    walker.slots.push_back(slot_of(frame.key));
    active_[walker.slots.back()] |= u64(1) << number;
}

void Prover::leave(Walker &walker, int number) {
    const u16 slot = walker.slots.back();
    walker.frames.pop_back();
    walker.slots.pop_back();
    if (std::find(walker.slots.begin(), walker.slots.end(), slot) == walker.slots.end())
        active_[slot] &= ~(u64(1) << number);
}

void Prover::begin(int number) {
    Walker &walker = walkers_[static_cast<std::size_t>(number)];
    walker.rows.assign(1, root_row_);
    walker.states = root_;
    walker.legal = root_legal_;
    Frame frame;
    frame.key = root_key_;
    frame.kind = root_row_.kind;
    frame.tp = frame.td = HARD;
    frame.since = expanded_;
    enter(walker, number, frame);
}

// Leaves the last frame with these numbers of its state; returns false if the question is decided.
bool Prover::finish(int number, u32 pn, u32 dn) {
    Walker &walker = walkers_[static_cast<std::size_t>(number)];
    if (walker.frames.back().expanded) trim(walker, walker.frames.back().first);
    leave(walker, number);
    if (!walker.frames.empty()) {
        Row &row = walker.rows[static_cast<std::size_t>(walker.frames.back().child)];
        row.pn = pn;
        row.dn = dn;
        return true;
    }
    root_pn_ = pn;
    root_dn_ = dn;
    if (verdict() != OPEN) return false;
    begin(number);
    return true;
}

void Prover::trim(Walker &walker, i64 rows) {
    walker.rows.resize(static_cast<std::size_t>(rows));
    walker.states.resize(static_cast<std::size_t>(rows * words_));
    walker.legal.resize(static_cast<std::size_t>(rows * legal_words_));
}

// Leaves a state on the path that another walker has decided; returns false if the question is decided.
bool Prover::cut(int number) {
    Walker &walker = walkers_[static_cast<std::size_t>(number)];
    Numbers numbers;
    for (std::size_t k = 0; k + 1 < walker.frames.size(); ++k)
        if (probe(walker.frames[k].key, numbers) && (numbers.pn == 0 || numbers.dn == 0)) {
            while (walker.frames.size() > k + 1) leave(walker, number);
            return finish(number, numbers.pn, numbers.dn);
        }
    return true;
}

// Walks until successors are needed; returns false if the question is decided.
bool Prover::run(int number) {
    Walker &walker = walkers_[static_cast<std::size_t>(number)];
    if (walker.frames.empty()) begin(number);
    if (++walker.steps % 64 == 0 && !cut(number)) return false;
    const u64 bit = u64(1) << number;
    while (true) {
        Frame &frame = walker.frames.back();
        if (!frame.expanded) {
            Numbers numbers;
            const bool decided = probe(frame.key, numbers) && (numbers.pn == 0 || numbers.dn == 0);
            if (!decided) {
                walker.waits = true;
                return true;
            }
            if (!finish(number, numbers.pn, numbers.dn)) return false;
            continue;
        }
        // The numbers of this state.  Successors are rows; the one to be chosen is looked up again, since another walker, or
        // another path, may have changed it.
        const bool mine = frame.kind == MINE;
        Row *rows = walker.rows.data() + frame.first;
        u32 least = NEVER, second = NEVER, greatest = 0, unsolved = 0;
        i64 chosen = -1;
        bool decided = false;
        while (true) {
            least = second = NEVER;
            greatest = unsolved = 0;
            u64 best = ~u64(0);
            chosen = -1;
            decided = false;
            for (i64 k = 0; k < frame.count; ++k) {
                const Row &row = rows[k];
                const u32 low = mine ? row.pn : row.dn, high = mine ? row.dn : row.pn;
                if (low == 0) {
                    decided = true;
                    chosen = k;
                    break;
                }
                if (high == 0) continue;
                ++unsolved;
                greatest = std::max(greatest, high);
                if (low < least) {
                    second = least;
                    least = low;
                } else {
                    second = std::min(second, low);
                }
                if (low >= HARD) continue;
                const u64 there = static_cast<u64>(popcount(others(row.key, number)));
                const u64 weighed = u64(low) + there * (1 + low / 2);
                const u64 order = weighed << 32 | (0xFFFFFFFFu - std::min(history_[static_cast<std::size_t>(row.move)], 0xFFFFFFFFu));
                if (order < best) {
                    best = order;
                    chosen = k;
                }
            }
            if (decided || chosen < 0) break;
            Row &row = rows[chosen];
            Numbers numbers;
            if (!probe(row.key, numbers) || (numbers.pn == row.pn && numbers.dn == row.dn)) {
                if (active_[slot_of(row.key)] & bit && on_path(walker, row.key, slot_of(row.key))) {
                    row.pn = row.dn = HARD;
                    continue;
                }
                break;
            }
            row.pn = numbers.pn;
            row.dn = numbers.dn;
        }
        u32 low, high;
        if (decided) {
            low = 0;
            high = NEVER;
            history_[static_cast<std::size_t>(rows[chosen].move)] += 1;
        } else if (!unsolved) {
            low = NEVER;
            high = 0;
        } else {
            low = std::min(least, HARD);
            high = std::min(HARD, greatest + unsolved - 1);
        }
        const u32 pn = mine ? low : high, dn = mine ? high : low;
        const u32 low_limit = mine ? frame.tp : frame.td, high_limit = mine ? frame.td : frame.tp;
        if (low == 0 || high == 0) {
            store(frame.key, pn, dn, (expanded_ - frame.since) / static_cast<i64>(walkers_.size()) + 1);
            if (!finish(number, pn, dn)) return false;
            continue;
        }
        const bool deep = walker.frames.size() >= DEEPEST;
        if (low >= low_limit || high >= high_limit || chosen < 0 || deep) {
            // Numbers are not kept where it is this path alone that makes them hard.
            const bool hard = deep || (pn >= HARD && dn >= HARD);
            if (!hard) store(frame.key, pn, dn, (expanded_ - frame.since) / static_cast<i64>(walkers_.size()) + 1);
            if (!finish(number, hard ? HARD : pn, hard ? HARD : dn)) return false;
            continue;
        }
        const Row &row = rows[chosen];
        const u32 other = (mine ? row.pn : row.dn) == least ? second : least;
        const u32 wide = std::min(HARD, std::max(other + 1, other + other / 4));
        u32 low_next = std::max(std::min(low_limit, wide), (mine ? row.pn : row.dn) + 1);
        u32 high_next = std::max(high_limit - (unsolved - 1), (mine ? row.dn : row.pn) + 1);
        low_next = std::min(low_next, HARD);
        high_next = std::min(high_next, HARD);
        frame.child = frame.first + chosen;
        Frame next;
        next.key = row.key;
        next.kind = row.kind;
        next.tp = mine ? low_next : high_next;
        next.td = mine ? high_next : low_next;
        next.parent = frame.child;
        next.since = expanded_;
        enter(walker, number, next);
    }
}

// -- successors -----------------------------------------------------------------------------------------------

// Sets the numbers of terminal states in the lanes 0 .. lanes - 1.
void Prover::judge(int lanes, Row *const *rows) {
    alignas(64) u64 once[WORDS] = {}, twice[WORDS] = {}, reached[WORDS] = {};
    const u64 *terminal = evaluator_.terminal();
    u64 over[WORDS], any = 0;
    for (int w = 0; w < WORDS; ++w) {
        const int rest = lanes - 64 * w;
        over[w] = terminal[w] & (rest >= 64 ? ~u64(0) : rest <= 0 ? 0 : (u64(1) << rest) - 1);
        any |= over[w];
    }
    if (!any) return;
    evaluator_.run_goals(lanes);
    const auto add = [&](const std::vector<int> &goals, bool reaches, bool clear) {
        for (const int k : goals) {
            const u64 *row = evaluator_.goal(k);
            for (int w = 0; w < WORDS; ++w) {
                twice[w] |= clear ? once[w] & row[w] : row[w];
                once[w] |= row[w];
                if (reaches) reached[w] |= row[w];
            }
        }
    };
    add(good_, true, true);
    add(bad_, false, true);
    add(unclear_, false, false);
    const int roles = circuit_->roles;
    values_.resize(static_cast<std::size_t>(LANES * roles));
    evaluator_.read_goals(values_.data(), lanes);
    for (int w = 0; w < WORDS; ++w)
        each_bit(over[w], [&](int b) {
            i64 sum = 0;
            for (int r = 0; r < roles; ++r) {
                const i64 value = values_[static_cast<std::size_t>((64 * w + b) * roles + r)];
                sum = value < 0 || sum < 0 ? -1 : sum + value;
            }
            least_sum_ = std::min(least_sum_, sum);
            greatest_sum_ = std::max(greatest_sum_, sum);
            Row &row = *rows[64 * w + b];
            const bool clear = once[w] >> b & 1 && !(twice[w] >> b & 1), reaches = reached[w] >> b & 1;
            row.open = 0;
            row.kind = UNCLEAR;
            std::tie(row.pn, row.dn) = !clear ? stuck() : reaches ? std::pair{0u, NEVER} : std::pair{NEVER, 0u};
        });
}

// Makes the positions that follow the last frame, in which a role has committed itself to a move.
void Prover::commit(Walker &walker, int role) {
    const Circuit &c = *circuit_;
    const Frame &frame = walker.frames.back();
    const i64 first = frame.first;
    const std::size_t states = static_cast<std::size_t>(words_), legals = static_cast<std::size_t>(legal_words_);
    const std::size_t parent = static_cast<std::size_t>(frame.parent);
    const Key key = walker.rows[parent].committed ? frame.key : [&] {
        Key whole = hash_of(walker.states.data() + parent * states, 0);
        whole.place ^= question_.place;
        whole.tag ^= question_.tag;
        return whole;
    }();
    for (int j = c.places[role]; j < c.places[role + 1]; ++j)
        for (u64 word = walker.legal[parent * legals + static_cast<std::size_t>(j)]; word; word &= word - 1) {
            const i32 move = c.bounds[role] + 64 * (j - c.places[role]) + lowest_bit(word);
            const Key &part = move_words_[static_cast<std::size_t>(move)];
            walker.rows.push_back(Row{{key.place ^ part.place, key.tag ^ part.tag}, 1, 1, move, UNCLEAR, 1, true});
        }
    walker.states.resize(walker.rows.size() * states);
    walker.legal.resize(walker.rows.size() * legals);
    for (std::size_t k = static_cast<std::size_t>(first); k < walker.rows.size(); ++k) {
        std::copy_n(walker.states.begin() + static_cast<std::ptrdiff_t>(parent * states), words_,
                    walker.states.begin() + static_cast<std::ptrdiff_t>(k * states));
        u64 *legal = walker.legal.data() + k * legals;
        std::copy_n(walker.legal.begin() + static_cast<std::ptrdiff_t>(parent * legals), legal_words_, legal);
        std::fill(legal + c.places[role], legal + c.places[role + 1], 0);
        const i32 local = walker.rows[k].move - c.bounds[role];
        legal[c.places[role] + local / 64] = u64(1) << (local % 64);
    }
}

// Adds the joint moves of a position to `joints_`; the last role with a choice varies first.
void Prover::add_joint_moves(const u64 *legal, const Turn &turn) {
    const Circuit &c = *circuit_;
    const std::size_t roles = static_cast<std::size_t>(c.roles), base = joints_.size();
    joints_.resize(base + static_cast<std::size_t>(turn.moves) * roles);
    i64 period = turn.moves;
    for (int r = 0; r < c.roles; ++r) {
        i64 some = 0;
        for (int j = c.places[r]; j < c.places[r + 1]; ++j) some += popcount(legal[j]);
        period /= some;
        i64 number = 0;
        for (int j = c.places[r]; j < c.places[r + 1]; ++j)
            for (u64 word = legal[j]; word; word &= word - 1, ++number) {
                const i32 move = c.bounds[r] + 64 * (j - c.places[r]) + lowest_bit(word);
                for (i64 from = number * period; from < turn.moves; from += some * period)
                    for (i64 k = from; k < from + period; ++k)
                        joints_[base + static_cast<std::size_t>(k) * roles + static_cast<std::size_t>(r)] = move;
            }
    }
}

// Generates what follows the positions that these walkers wait for.
void Prover::expand(const std::vector<int> &wanted) {
    const Circuit &c = *circuit_;
    Evaluator &e = evaluator_;
    const std::size_t roles = static_cast<std::size_t>(c.roles);
    // The rows of all walkers are reserved first, so that pointers to them stay valid.
    made_.clear();
    from_.clear();
    joints_.clear();
    parents_.clear();
    owners_.clear();
    for (const int number : wanted) {
        Walker &walker = walkers_[static_cast<std::size_t>(number)];
        Frame &frame = walker.frames.back();
        const u64 *legal = walker.legal.data() + frame.parent * legal_words_;
        const Turn turn = turn_of(legal);
        frame.first = static_cast<i64>(walker.rows.size());
        frame.count = turn.moves;
        ++expanded_;
        if (turn.commits >= 0) {
            commit(walker, turn.commits);
            continue;
        }
        const std::size_t base = joints_.size();
        add_joint_moves(legal, turn);
        for (i64 k = 0; k < turn.moves; ++k) {
            const i32 move = joints_[base + static_cast<std::size_t>(k) * roles + static_cast<std::size_t>(turn.mover)];
            walker.rows.push_back(Row{{0, 0}, 1, 1, move, UNCLEAR, 1});
        }
        from_.insert(from_.end(), static_cast<std::size_t>(turn.moves), static_cast<i64>(owners_.size()));
        owners_.push_back(&walker);
        walker.states.resize(walker.rows.size() * static_cast<std::size_t>(words_));
        walker.legal.resize(walker.rows.size() * static_cast<std::size_t>(legal_words_));
        parents_.insert(parents_.end(), walker.states.begin() + static_cast<std::ptrdiff_t>(frame.parent * words_),
                        walker.states.begin() + static_cast<std::ptrdiff_t>((frame.parent + 1) * words_));
    }
    const i64 total = static_cast<i64>(from_.size());
    generated_ += total;
    for (Walker *walker : owners_)
        for (i64 k = walker->frames.back().first; k < static_cast<i64>(walker->rows.size()); ++k)
            made_.push_back(&walker->rows[static_cast<std::size_t>(k)]);
    next_.resize(LANES * static_cast<std::size_t>(words_));
    next_legal_.resize(LANES * static_cast<std::size_t>(legal_words_));
    for (i64 begin = 0; begin < total; begin += LANES) {
        const i64 end = std::min<i64>(begin + LANES, total);
        const int lanes = static_cast<int>(end - begin);
        const i32 *joints = joints_.data() + begin * c.roles;
        e.load(parents_.data(), words_, from_.data() + begin, 0, lanes);
        e.run_legal(lanes);
        const auto set_moves = [&](bool value) { // in runs of lanes with the same move of a role
            for (int r = 0; r < c.roles; ++r)
                for (int k = 0, last; k < lanes; k = last) {
                    const i32 move = joints[k * c.roles + r];
                    for (last = k + 1; last < lanes && (last & 63) && joints[last * c.roles + r] == move;) ++last;
                    const u64 bits = (~u64(0) >> (64 - (last - k))) << (k & 63);
                    u64 &word = e.move(move)[k >> 6];
                    word = value ? word | bits : 0;
                }
        };
        set_moves(true);
        e.run_next(lanes);
        set_moves(false);
        e.store_next(next_.data(), words_, lanes);
        e.take_next();
        e.run_legal(lanes);
        e.store_legal(next_legal_.data(), legal_words_, lanes);
        judge(lanes, made_.data() + begin);
        if (threats_) {
            threats_->load(next_.data(), words_, nullptr, 0, lanes);
            threats_->run_legal(lanes);
        }
        for (int k = 0; k < lanes; ++k) {
            Row &row = *made_[static_cast<std::size_t>(begin + k)];
            row.threatened = threats_ && threats_->terminal()[k >> 6] >> (k & 63) & 1;
            Walker &walker = *owners_[static_cast<std::size_t>(from_[static_cast<std::size_t>(begin + k)])];
            const std::size_t number = static_cast<std::size_t>(&row - walker.rows.data());
            const u64 *state = next_.data() + k * words_, *legal = next_legal_.data() + k * legal_words_;
            std::copy(state, state + words_, walker.states.data() + number * static_cast<std::size_t>(words_));
            std::copy(legal, legal + legal_words_, walker.legal.data() + number * static_cast<std::size_t>(legal_words_));
            row.key = key_of(state);
            if (row.open) __builtin_prefetch(bucket(row.key));
        }
    }
    for (const int number : wanted) {
        Walker &walker = walkers_[static_cast<std::size_t>(number)];
        Frame &frame = walker.frames.back();
        frame.expanded = true;
        walker.waits = false;
        for (i64 k = frame.first; k < frame.first + frame.count; ++k) {
            Row &row = walker.rows[static_cast<std::size_t>(k)];
            if (!row.open) continue;
            const Turn turn = turn_of(walker.legal.data() + k * legal_words_);
            row.kind = turn.kind;
            const u32 moves = row.threatened ? 1 : static_cast<u32>(turn.moves);
            Numbers numbers;
            if (row.kind == UNCLEAR) {
                simultaneous_ = true;
                std::tie(row.pn, row.dn) = stuck();
            } else if (probe(row.key, numbers)) {
                row.pn = numbers.pn;
                row.dn = numbers.dn;
            } else {
                row.pn = row.kind == MINE ? 1 : moves;
                row.dn = row.kind == MINE ? moves : 1;
            }
        }
    }
}

// -- results --------------------------------------------------------------------------------------------------

void Prover::known(const u64 *states, i64 n, std::int8_t *verdicts, u8 *work, Stop *stop) {
    const std::lock_guard hold(lock_);
    if (!asked_) throw std::invalid_argument("nothing was asked");
    Patience patience(stop);
    std::vector<Row> rows(LANES);
    std::vector<Row *> pointers(LANES);
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const i64 end = std::min<i64>(begin + LANES, n);
        const int lanes = static_cast<int>(end - begin);
        for (int k = 0; k < lanes; ++k) {
            rows[static_cast<std::size_t>(k)] = Row{key_of(states + (begin + k) * words_), 1, 1, -1, UNCLEAR, 1};
            pointers[static_cast<std::size_t>(k)] = &rows[static_cast<std::size_t>(k)];
        }
        evaluator_.load(states, words_, nullptr, begin, end);
        evaluator_.run_legal(lanes);
        judge(lanes, pointers.data());
        for (int k = 0; k < lanes; ++k) {
            const Row &row = rows[static_cast<std::size_t>(k)];
            Numbers numbers{row.pn, row.dn, 0};
            if (row.open && !probe(row.key, numbers)) numbers = {1, 1, 0};
            verdicts[begin + k] = numbers.pn == 0 ? 1 : numbers.dn == 0 ? -1 : 0;
            work[begin + k] = static_cast<u8>(numbers.work);
        }
    }
}

} // namespace herbrand

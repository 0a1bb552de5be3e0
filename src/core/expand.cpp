#include "expand.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

namespace {

// While games wait, idle lanes are refilled when they are this many, because each refill costs an additional evaluation.
constexpr int REFILL = 96;
// The interval in steps at which games are moved together if half of the lanes are enough for them.
constexpr i64 LONG = 16;

} // namespace

Playing::Playing(Evaluator &evaluator)
    : evaluator_(evaluator), circuit_(evaluator.circuit()), chooser_(evaluator) {
    std::vector<const u64 *> fluents;
    for (int f = 0; f < circuit_.fluents; ++f) fluents.push_back(evaluator.fluent(f));
    std::sort(fluents.begin(), fluents.end());
    for (int f = 0; f < circuit_.fluents; ++f) {
        if (evaluator.next(f) == evaluator.fluent(f)) continue;
        changing_.push_back(evaluator.fluent(f));
        following_.push_back(evaluator.next(f));
        if (std::binary_search(fluents.begin(), fluents.end(), evaluator.next(f))) early_.push_back(evaluator.next(f));
    }
    buffer_ = RowBuffer(early_.size());
    std::size_t i = 0;
    for (const u64 *&row : following_)
        if (std::binary_search(fluents.begin(), fluents.end(), row)) row = buffer_.row(i++);
}

void Playing::advance() {
    for (std::size_t i = 0; i < early_.size(); ++i) std::memcpy(buffer_.row(i), early_[i], 8 * WORDS);
    kernels().take_where(changing_.data(), following_.data(), static_cast<int>(changing_.size()), playing_, lanes_ / 64);
}

// Moves the running games into the first half of the lanes, in their order.
void Playing::move_together() {
    const int words = circuit_.state_words();
    states_.resize(std::size_t(LANES) * words);
    evaluator_.store_fluents(states_.data(), words, LANES);
    std::vector<i64> from;
    each_lane(playing_, [&](int lane) {
        game_[from.size()] = game_[lane];
        start_[from.size()] = start_[lane];
        if (watched_lane_ == lane) watched_lane_ = static_cast<int>(from.size());
        from.push_back(lane);
    });
    evaluator_.load(states_.data(), words, from.data(), 0, static_cast<i64>(from.size()));
    row_below(playing_, static_cast<int>(from.size()));
    lanes_ = LANES / 2;
}

// Records in which games the current moves are made.
void Playing::note_played(const Games &games) {
    u64 *all = lanes_ == LANES ? games.played : played_.data();
    for (int r = 0; r < circuit_.roles; ++r) {
        for (int i = 0; i < chooser_.live_count(r); ++i) {
            const int move = circuit_.bounds[r] + chooser_.live(r)[i];
            for (int w = 0; w < lanes_ / 64; ++w)
                all[std::size_t(move) * WORDS + w] |= chooser_.taken(move)[w] & playing_[w];
        }
    }
}

// Reports the moves recorded since games were last moved together; lane i has game `game_[i]`.
void Playing::note_played_apart(const Games &games) {
    for (int move = 0; move < circuit_.moves; ++move)
        each_lane(played_.data() + std::size_t(move) * WORDS, [&](int lane) {
            games.played[std::size_t(move) * WORDS + game_[lane] / 64] |= u64(1) << (game_[lane] % 64);
        });
}

// Begins waiting games in all idle lanes.
void Playing::begin_more(const Games &games) {
    alignas(64) u64 fresh[WORDS] = {};
    const int words = circuit_.state_words();
    const u64 *from[LANES], *one = nullptr; // packed states of the fresh lanes
    bool are_equal = true;
    for (int w = 0; w < WORDS; ++w)
        for (u64 idle = ~playing_[w]; idle && begun_ < games.count; idle &= idle - 1, ++begun_) {
            const int lane = 64 * w + lowest_bit(idle);
            fresh[w] |= idle & -idle;
            game_[lane] = begun_;
            start_[lane] = step_;
            from[lane] = games.states + games.parent(begun_) * words;
            are_equal &= !one || one == from[lane];
            one = from[lane];
            if (begun_ == games.watched) watched_lane_ = lane;
        }
    const auto put = [&](int f, const u64 *row) {
        u64 *fluent = evaluator_.fluent(f);
        for (int w = 0; w < WORDS; ++w) fluent[w] = (fluent[w] & ~fresh[w]) | (row[w] & fresh[w]);
    };
    alignas(64) u64 rows[2][WORDS] = {};
    std::fill_n(rows[1], WORDS, ~u64(0));
    alignas(64) u64 squares[64 * WORDS]; // lanes that are not fresh are undefined
    for (int j = 0; 64 * j < circuit_.fluents; ++j) {
        const int bits = std::min(64, circuit_.fluents - 64 * j);
        if (are_equal) {
            for (int b = 0; b < bits; ++b) put(64 * j + b, rows[one[j] >> b & 1]);
            continue;
        }
        each_lane(fresh, [&](int lane) { squares[(lane & 63) * WORDS + (lane >> 6)] = from[lane][j]; });
        kernels().transpose(squares);
        for (int b = 0; b < bits; ++b) put(64 * j + b, squares + b * WORDS);
    }
    for (int w = 0; w < WORDS; ++w) playing_[w] |= fresh[w];
}

// Records games that ended or were cut off.
void Playing::end(const Games &games, const u64 *lanes, bool is_late) {
    each_lane(lanes, [&](int lane) {
        const i64 steps = step_ - start_[lane];
        games.lengths[game_[lane]] = is_late ? -1 - steps : steps;
        if (lane == watched_lane_) watched_lane_ = -1;
    });
    for (int w = 0; w < WORDS; ++w) {
        playing_[w] &= ~lanes[w];
        done_[w] |= lanes[w];
    }
}

// Reads the goals and last states of finished games; after `run_legal`.
void Playing::read_out(const Games &games) {
    const int roles = circuit_.roles;
    evaluator_.run_goals(lanes_);
    each_lane(done_, [&](int lane) {
        const i16 none = stuck_[lane >> 6] >> (lane & 63) & 1 ? STUCK : NO_VALUE;
        std::fill_n(games.values + game_[lane] * roles, roles, none);
    });
    std::vector<u64> once(std::size_t(roles) * WORDS); // lanes in which the role has a value already
    for (int k = 0; k < circuit_.goals(); ++k) {
        const u64 *goal = evaluator_.goal(k);
        const int role = circuit_.goal_role[k];
        for (int w = 0; w < lanes_ / 64; ++w) {
            u64 &before = once[std::size_t(role) * WORDS + w];
            const u64 now = goal[w] & done_[w] & ~stuck_[w], again = before & now;
            each_bit(now ^ again, [&](int b) { games.values[game_[64 * w + b] * roles + role] = circuit_.goal_value[k]; });
            each_bit(again, [&](int b) { games.values[game_[64 * w + b] * roles + role] = SEVERAL_VALUES; });
            before |= now;
        }
    }
    if (games.last) {
        const int words = circuit_.state_words();
        states_.resize(std::size_t(LANES) * words);
        evaluator_.store_fluents(states_.data(), words, LANES);
        each_lane(done_, [&](int lane) {
            std::copy_n(&states_[std::size_t(lane) * words], words, games.last + game_[lane] * words);
        });
    }
    std::memset(done_, 0, sizeof done_);
    std::memset(stuck_, 0, sizeof stuck_);
}

bool Playing::play(const Games &games, u64 *generator, Stop &stop) {
    if (games.record) games.record->clear();
    if (!games.count) return true;
    step_ = begun_ = 0;
    lanes_ = LANES;
    watched_lane_ = -1;
    std::memset(playing_, 0, sizeof playing_);
    std::memset(done_, 0, sizeof done_);
    std::memset(stuck_, 0, sizeof stuck_);
    // Idle lanes need a reachable state too, on whose invariants the program relies.
    const i64 first = games.parent(0);
    evaluator_.load(games.states, circuit_.state_words(), &first, 0, 1);
    begin_more(games);
    i64 oldest = 0; // a lower bound of the steps in which running games began
    for (;;) {
        if (stop.due()) {
            chooser_.clear();
            return false;
        }
        evaluator_.run_legal(lanes_);
        alignas(64) u64 row[WORDS];
        for (int w = 0; w < WORDS; ++w) row[w] = evaluator_.terminal()[w] & playing_[w];
        if (row_any(row)) end(games, row, false);
        if (step_ - oldest >= games.max_steps) { // some game may have reached the limit
            oldest = step_;
            std::memset(row, 0, sizeof row);
            each_lane(playing_, [&](int lane) {
                if (step_ - start_[lane] >= games.max_steps) row[lane >> 6] |= u64(1) << (lane & 63);
                else oldest = std::min(oldest, start_[lane]);
            });
            end(games, row, true);
        }
        const int left = row_count(playing_);
        const bool waits = begun_ < games.count;
        const bool moves = !waits && lanes_ == LANES && step_ >= LONG && left > 0 && left <= LANES / 2;
        if (!left || moves || (waits && row_count(done_) >= REFILL)) {
            read_out(games);
            if (waits) {
                begin_more(games);
                continue;
            }
            if (!left) break;
            if (games.played) played_.assign(std::size_t(circuit_.moves) * WORDS, 0);
            chooser_.clear();
            move_together();
            continue;
        }
        alignas(64) u64 before[WORDS];
        std::memcpy(before, playing_, sizeof before);
        chooser_.choose(playing_, stuck_, generator, lanes_);
        for (int w = 0; w < WORDS; ++w) row[w] = before[w] & ~playing_[w];
        if (row_any(row)) end(games, row, false);
        if (games.played) note_played(games);
        if (watched_lane_ >= 0 && games.record) {
            for (int r = 0; r < circuit_.roles; ++r) {
                for (int i = 0; i < chooser_.live_count(r); ++i) {
                    const int move = chooser_.live(r)[i];
                    if (Evaluator::bit(chooser_.taken(circuit_.bounds[r] + move), watched_lane_))
                        games.record->push_back(move);
                }
            }
        }
        if (!row_any(playing_)) continue;
        evaluator_.run_next(lanes_);
        advance();
        ++step_;
    }
    if (games.played && lanes_ < LANES) note_played_apart(games);
    chooser_.clear();
    return true;
}

Expander::Lease::Lease(Expander &owner) : owner_(owner) {
    {
        std::lock_guard<std::mutex> hold(owner.lock_);
        if (!owner.idle_.empty()) {
            worker_ = std::move(owner.idle_.back());
            owner.idle_.pop_back();
        }
    }
    if (!worker_) worker_ = std::make_unique<Worker>(owner.circuit_);
}

Expander::Lease::~Lease() {
    if (!is_clean_) return;
    std::lock_guard<std::mutex> hold(owner_.lock_);
    owner_.idle_.push_back(std::move(worker_));
}

void Expander::legal(const u64 *states, i64 n, bool *over, u64 *bits, Stop *stop) {
    Lease lease(*this);
    Evaluator &e = lease->evaluator;
    Patience patience(stop);
    const i64 stride = circuit_->legal_words();
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const int count = static_cast<int>(std::min<i64>(LANES, n - begin));
        e.load(states, circuit_->state_words(), nullptr, begin, begin + count);
        e.run_legal(count);
        e.store_legal(bits + begin * stride, stride, count);
        for (int i = 0; i < count; ++i) over[begin + i] = Evaluator::bit(e.terminal(), i);
    }
    lease.is_clean();
}

void Expander::goals(const u64 *states, i64 n, i16 *values, Stop *stop) {
    Lease lease(*this);
    Evaluator &e = lease->evaluator;
    Patience patience(stop);
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const int count = static_cast<int>(std::min<i64>(LANES, n - begin));
        e.load(states, circuit_->state_words(), nullptr, begin, begin + count);
        e.run_legal(count);
        e.run_goals(count);
        e.read_goals(values + begin * circuit_->roles, count);
    }
    lease.is_clean();
}

void Expander::step(const u64 *states, const i64 *parents, i64 n, const i32 *moves, u64 *after, u64 *seen,
                    Stop *stop) {
    Lease lease(*this);
    Evaluator &e = lease->evaluator;
    Patience patience(stop);
    const Circuit &c = *circuit_;
    const i64 words = c.state_words();
    for (i64 begin = 0; begin < n; begin += LANES) {
        patience.check();
        const int count = static_cast<int>(std::min<i64>(LANES, n - begin));
        e.load(states, c.state_words(), parents, begin, begin + count);
        const i32 *move = moves + begin * c.roles;
        for (int i = 0; i < count; ++i)
            for (int r = 0; r < c.roles; ++r, ++move)
                if (*move >= 0) e.set_move(i, c.bounds[r] + *move);
        e.run_legal(count);
        e.run_next(count);
        e.store_next(after + begin * words, words, count);
        if (seen) e.store_sees(seen + begin * c.sees_words(), c.sees_words(), count);
        move = moves + begin * c.roles;
        for (int i = 0; i < count; ++i)
            for (int r = 0; r < c.roles; ++r, ++move)
                if (*move >= 0) e.move(c.bounds[r] + *move)[i >> 6] = 0;
    }
    lease.is_clean();
}

bool Expander::play(const Games &games, u64 *generator, Stop &stop) {
    Lease lease(*this);
    if (!lease->playing) lease->playing = std::make_unique<Playing>(lease->evaluator);
    const bool done = lease->playing->play(games, generator, stop);
    lease.is_clean();
    return done;
}

namespace {

constexpr i64 MOST = i64(1) << 62;

i64 times(i64 total, i64 mine) { return mine && total > MOST / mine ? MOST : total * mine; }

} // namespace

void count_joints(const bool *over, const u64 *bits, i64 n, i64 columns, const std::vector<i64> &places, i64 *counts,
                  Stop *stop) {
    Patience patience(stop);
    for (i64 i = 0; i < n; ++i, bits += columns) {
        patience.turn(1 + columns);
        i64 total = over[i] ? 0 : 1;
        for (std::size_t r = 0; r + 1 < places.size(); ++r) {
            i64 mine = 0;
            for (i64 j = places[r]; j < places[r + 1]; ++j) mine += popcount(bits[j]);
            total = times(total, mine);
        }
        counts[i] = total;
    }
}

void enumerate_joints(const Circuit &c, const u64 *bits, const i64 *starts, i64 n, i64 begin, i64 size,
                      i64 *parents, i32 *moves, Stop *stop) {
    Patience patience(stop);
    std::vector<std::vector<i32>> lists(c.roles);
    std::vector<i64> digits(c.roles);
    i64 at = 0;
    i64 i = std::upper_bound(starts, starts + n + 1, begin) - starts - 1;
    for (; at < size; ++i) {
        require(i >= 0 && i < n, "fewer joint moves than are asked for");
        const i64 mine = starts[i + 1] - starts[i];
        if (mine <= 0) continue;
        const u64 *words = bits + i * c.legal_words();
        i64 rank = begin + at - starts[i];
        const i64 left = std::min(mine - rank, size - at);
        i64 total = 1;
        for (int r = 0; r < c.roles; ++r) {
            lists[r].clear();
            for (int j = c.places[r]; j < c.places[r + 1]; ++j)
                each_bit(words[j], [&](int b) { lists[r].push_back(64 * (j - c.places[r]) + b); });
            require(lists[r].empty() || lists[r].back() < c.bounds[r + 1] - c.bounds[r], "a legal move that no role has");
            total = times(total, static_cast<i64>(lists[r].size()));
        }
        require(mine == total, "the numbers of joint moves do not fit to the legal moves");
        for (int r = c.roles - 1; r >= 0; --r) {
            const i64 radix = static_cast<i64>(lists[r].size());
            digits[r] = rank % radix;
            rank /= radix;
        }
        for (i64 k = 0; k < left; ++k, ++at) {
            patience.turn();
            parents[at] = i;
            for (int r = 0; r < c.roles; ++r) moves[at * c.roles + r] = lists[r][digits[r]];
            for (int r = c.roles - 1; r >= 0 && ++digits[r] == static_cast<i64>(lists[r].size()); --r) digits[r] = 0;
        }
    }
}

} // namespace herbrand

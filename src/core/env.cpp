#include "env.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <cstring>

namespace herbrand {

Env::Machine::Machine(const CircuitPtr &circuit) : evaluator(circuit) {
    for (int f = 0; f < circuit->fluents; ++f) {
        next.push_back(evaluator.next(f));
        fluent.push_back(evaluator.fluent(f));
    }
    for (int m = 0; m < circuit->moves; ++m) {
        legal.push_back(evaluator.legal(m));
        move.push_back(evaluator.move(m));
    }
}

void Env::Machine::load(const RowBuffer &fluents) {
    kernels().batch->copy(fluents.data(), static_cast<int>(fluent.size()), fluent.data());
}

Env::Env(CircuitPtr circuit, i64 lanes, EnvOptions options)
    : circuit_(std::move(circuit)), lanes_(lanes), options_(std::move(options)),
      percepts_(options_.percepts ? static_cast<i64>(circuit_->sees.size()) : 0) {
    const Circuit &c = *circuit_;
    require(lanes >= 1 && lanes <= (i64(1) << 24), "the number of lanes is out of range");
    require(!options_.players.empty() && players() < 128, "there are 1 to 127 players");
    require(options_.chance >= -1 && options_.chance < c.roles, "the role of chance is out of range");
    require(options_.actions >= 1 && options_.number.size() == std::size_t(players()) * options_.actions,
         "moves have the shape [players, actions]");
    require(options_.idle.size() == std::size_t(c.moves), "`idle` has an element for each move");
    require(options_.max_steps >= 1, "the number of steps is 1 or more");
    player_of_.assign(c.roles, -1);
    action_of_.assign(c.moves, -1);
    for (int p = 0; p < players(); ++p) {
        const i32 role = options_.players[p];
        require(role >= 0 && role < c.roles && role != options_.chance, "a player is no role, or that of chance");
        require(p == 0 || role > options_.players[p - 1], "players are roles in ascending order");
        player_of_[role] = p;
        for (int a = 0; a < options_.actions; ++a) {
            const i32 m = options_.number[std::size_t(p) * options_.actions + a];
            require(m >= -1 && m < c.moves && (m < 0 || (m >= c.bounds[role] && m < c.bounds[role + 1])),
                 "an action is no move of the player");
            if (m >= 0) action_of_[m] = a;
        }
    }
    for (const i32 column : options_.columns) require(column >= -1 && column < c.fluents, "a column is no fluent");

    for (int i = 0; i < given() * options_.actions; ++i)
        legal_columns_.push_back(options_.by_turns ? i : options_.number[i]);
    for (i64 k = 0; k < percepts_; ++k) percept_columns_.push_back(static_cast<i32>(k));
    const auto squares = [](i64 n) { return static_cast<std::size_t>((n + 63) / 64 * 64); };
    look_ = RowBuffer(squares(static_cast<i64>(options_.columns.size())));
    squares_ = RowBuffer(squares(std::max(static_cast<i64>(legal_columns_.size()), percepts_)));
    over_legal_.assign((legal_columns_.size() + 63) / 64, 0);
    for (std::size_t i = 0; i < legal_columns_.size(); ++i)
        over_legal_[i / 64] |= u64(options_.number[i] >= 0) << (i % 64);
    mask_ = RowBuffer(options_.by_turns ? options_.actions : 0);
    united_.resize(options_.actions);
    columns_.resize(legal_columns_.size());
    const int most = std::max(c.moves, options_.actions);
    const i64 drawn = std::max<i64>(most, percepts_);
    scratch_ = RowBuffer(drawn + draw_rows(most));
    for (i64 i = 0; i < drawn; ++i) taken_.push_back(scratch_.row(i));
    for (int f = 0; f < c.fluents; ++f) initial_.push_back(c.initial[f >> 6] >> (f & 63) & 1);

    const i64 count = (lanes + LANES - 1) / LANES;
    blocks_ = std::vector<Block>(count);
    Row all;
    row_below(all.words, LANES);
    for (i64 k = 0; k < count; ++k) {
        Block &block = blocks_[k];
        block.fluents = RowBuffer(c.fluents);
        block.options = RowBuffer(c.moves);
        block.is_live.resize(c.moves);
        block.live.resize(c.moves);
        block.live_counts.resize(c.roles);
        block.turns = RowBuffer(players());
        block.chance = RowBuffer(4);
        block.dice = RowBuffer(4);
        row_below(block.live_lanes.words, lanes_of(k));
        kernels().batch->assign(initial_.data(), c.fluents, all.words, block.fluents.data());
    }
    const bool keep = count * (i64(c.nodes()) + 1) * 8 * WORDS <= options_.keep;
    for (i64 k = 0; k < (keep ? count : 1); ++k) machines_.push_back(std::make_unique<Machine>(circuit_));
    made_.resize(static_cast<std::size_t>(lanes) * given());

    // Options, turns and observation of the initial state, for restarts.
    Row stuck, clash;
    machine(0).load(blocks_[0].fluents);
    machine(0).evaluator.run_legal();
    survey(machine(0), blocks_[0], stuck, clash);
    for (int m = 0; m < c.moves; ++m) first_options_.push_back(blocks_[0].options.row(m)[0] & 1);
    for (int p = 0; p < players(); ++p)
        if (blocks_[0].turns.row(p)[0] & 1) first_turn_ = p;
    look(blocks_[0]);
    for (std::size_t j = 0; j < look_.rows(); j += 64) first_look_.push_back(look_.row(j)[0]);
}

void Env::sow(const u64 *words) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t each = 4 * WORDS;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        std::memcpy(blocks_[k].chance.data(), words + k * each, 8 * each);
        std::memcpy(blocks_[k].dice.data(), words + (blocks_.size() + k) * each, 8 * each);
    }
}

void Env::collect(const u8 *values, int count, Row &row) {
    row = Row();
    for (int lane = 0; lane < count; ++lane) row.words[lane >> 6] |= u64(values[lane] != 0) << (lane & 63);
}

// Computes the options and turns of a block, the lanes in which some role has no legal move, and those in which two
// players have a choice.
void Env::survey(Machine &machine, Block &block, Row &stuck, Row &clash) {
    const Circuit &c = *circuit_;
    stuck = clash = Row();
    Row chosen, active; // lanes in which some player has a choice; has a move other than noop
    const auto look = [&](int role, Row &seen, Row &choice, Row &busy) {
        const i32 first = c.bounds[role];
        i32 *live = block.live.data() + first;
        const int count = kernels().batch->survey(
            machine.legal.data() + first, c.bounds[role + 1] - first, options_.idle.data() + first,
            block.options.row(first), block.is_live.data() + first, live, seen.words, choice.words, busy.words);
        for (int i = 0; i < count; ++i) live[i] += first;
        block.live_counts[role] = count;
        for (int w = 0; w < WORDS; ++w) stuck.words[w] |= ~seen.words[w];
    };
    Row seen, choice;
    std::vector<Row> busy(players());
    if (options_.chance >= 0) look(options_.chance, seen, choice, active);
    for (int p = 0; p < players(); ++p) {
        look(options_.players[p], seen, choice, busy[p]);
        std::memcpy(block.turns.row(p), choice.words, sizeof choice.words);
        for (int w = 0; w < WORDS; ++w) {
            clash.words[w] |= chosen.words[w] & choice.words[w];
            chosen.words[w] |= choice.words[w];
        }
    }
    // The turn is that of the player with a choice, else of the first that is active, else of the first.
    active = chosen;
    for (int p = 0; p < players(); ++p) {
        for (int w = 0; w < WORDS; ++w) {
            const u64 forced = busy[p].words[w] & ~active.words[w];
            active.words[w] |= forced;
            block.turns.row(p)[w] |= forced;
        }
    }
    for (int w = 0; w < WORDS; ++w) block.turns.row(0)[w] |= ~active.words[w];
}

// Updates the lists of live moves.
void Env::list_live(Block &block) {
    const Circuit &c = *circuit_;
    for (int r = 0; r < c.roles; ++r) {
        int count = 0;
        for (i32 m = c.bounds[r]; m < c.bounds[r + 1]; ++m)
            if (block.is_live[m]) block.live[c.bounds[r] + count++] = m;
        block.live_counts[r] = count;
    }
}

// In finished games it is the first player's turn; `write_outputs` makes all actions legal there.
void Env::open(Block &block) {
    const u64 *over = block.over.words;
    if (!row_any(over)) return;
    for (int p = 0; p < players(); ++p)
        for (int w = 0; w < WORDS; ++w)
            block.turns.row(p)[w] = p ? block.turns.row(p)[w] & ~over[w] : block.turns.row(p)[w] | over[w];
}

// Restarts lanes: fluents, options, turns, steps and observations.
void Env::restart(Block &block, const Row &ended) {
    const Circuit &c = *circuit_;
    kernels().batch->assign(initial_.data(), c.fluents, ended.words, block.fluents.data());
    for (i32 m = 0; m < c.moves; ++m) {
        if (!first_options_[m] && !block.is_live[m]) continue;
        u64 *row = block.options.row(m);
        for (int w = 0; w < WORDS; ++w)
            row[w] = first_options_[m] ? row[w] | ended.words[w] : row[w] & ~ended.words[w];
        block.is_live[m] = 1;
    }
    list_live(block);
    for (int p = 0; p < players(); ++p)
        for (int w = 0; w < WORDS; ++w) {
            u64 &turn = block.turns.row(p)[w];
            turn = p == first_turn_ ? turn | ended.words[w] : turn & ~ended.words[w];
        }
    each_lane(ended.words, [&](int lane) {
        block.steps[lane] = 0;
        for (std::size_t j = 0; j < first_look_.size(); ++j)
            look_.row(64 * j + (lane & 63))[lane >> 6] = first_look_[j];
    });
}

void Env::look(const Block &block) {
    kernels().batch->pack(block.fluents.data(), options_.columns.data(), static_cast<int>(options_.columns.size()),
                          look_.data());
}

void Env::emit(const RowBuffer &squares, i64 n, bool packed, i64 k, u8 *out) {
    const i64 each = packed ? 8 * ((n + 63) / 64) : n;
    kernels().batch->emit(squares.data(), static_cast<int>(n), packed, lanes_of(k), out + k * LANES * each,
                          out + lanes_ * each);
}

// Joins the options of the players to move, by action.
void Env::unite(const Block &block) {
    std::fill(united_.begin(), united_.end(), 0);
    for (int p = 0; p < players(); ++p) {
        const int role = options_.players[p];
        kernels().batch->unite(block.options.data(), live(block, role), block.live_counts[role], action_of_.data(),
                               block.turns.row(p), united_.data(), mask_.data());
    }
}

// Unpack a block for the caller: observation, after `look`, legal moves, whose turn it is.
void Env::write_outputs(i64 k, const OutputArrays &arrays) {
    Block &block = blocks_[k];
    const BatchKernels &kernel = *kernels().batch;
    emit(look_, static_cast<i64>(options_.columns.size()), options_.packed, k, arrays.observation);
    const int columns = static_cast<int>(legal_columns_.size());
    if (options_.by_turns) unite(block);
    for (int i = 0; i < columns; ++i) {
        const i32 column = legal_columns_[i];
        const bool is_live = column >= 0 && (options_.by_turns ? united_[column] : block.is_live[column]);
        columns_[i] = is_live ? column : -1;
    }
    kernel.pack(options_.by_turns ? mask_.data() : block.options.data(), columns_.data(), columns, squares_.data());
    // in finished games every action is legal
    each_lane(block.over.words, [&](int lane) {
        for (std::size_t j = 0; j < over_legal_.size(); ++j)
            squares_.row(64 * j + (lane & 63))[lane >> 6] = over_legal_[j];
    });
    emit(squares_, columns, options_.packed, k, arrays.legal);
    if (options_.by_turns && players() == 2) { // one row is enough
        kernel.spread(block.turns.row(1), block.to_move);
    } else {
        std::memset(block.to_move, 0, sizeof block.to_move);
        if (options_.by_turns)
            for (int p = 1; p < players(); ++p)
                each_lane(block.turns.row(p), [&](int lane) { block.to_move[lane] = static_cast<u8>(p); });
    }
    std::memcpy(arrays.player + k * LANES, block.to_move, lanes_of(k));
}

bool Env::begin(const u8 *fresh, const OutputArrays &arrays) {
    const std::lock_guard lock(mutex_);
    bool fine = true;
    for (i64 k = 0; k < blocks(); ++k) {
        Block &block = blocks_[k];
        Machine &m = machine(k);
        Row begun, stuck, clash;
        collect(fresh + k * LANES, lanes_of(k), begun);
        kernels().batch->assign(initial_.data(), circuit_->fluents, begun.words, block.fluents.data());
        for (int w = 0; w < WORDS; ++w) block.over.words[w] &= ~begun.words[w];
        each_lane(begun.words, [&](int lane) { block.steps[lane] = 0; });
        m.load(block.fluents);
        m.evaluator.run_legal(lanes_of(k));
        survey(m, block, stuck, clash);
        for (int w = 0; w < WORDS; ++w)
            fine &= !(clash.words[w] & ~block.over.words[w] & block.live_lanes.words[w]);
        open(block);
        look(block);
        write_outputs(k, arrays);
    }
    return fine;
}

// Maps actions to moves; returns the first active lane whose action is not legal, or -1.
i64 Env::find_illegal(const i32 *actions) {
    const int each = given();
    const i32 *number = options_.number.data();
    const u32 most = static_cast<u32>(options_.actions);
    i32 *made = made_.data();
    for (i64 k = 0; k < blocks(); ++k) {
        const Block &block = blocks_[k];
        const u64 *options = block.options.data();
        const int count = lanes_of(k);
        for (int lane = 0; lane < count; ++lane) {
            const int w = lane >> 6, b = lane & 63;
            const bool waits = (block.over.words[w] | block.held.words[w]) >> b & 1;
            for (int p = 0; p < each; ++p, ++actions, ++made) {
                *made = -1;
                if (waits) continue;
                const u32 action = static_cast<u32>(*actions);
                if (action >= most) return k * LANES + lane;
                const i32 m = number[(options_.by_turns ? block.to_move[lane] : p) * std::size_t(most) + action];
                if (m < 0 || !(options[std::size_t(m) * WORDS + w] >> b & 1)) return k * LANES + lane;
                *made = m;
            }
        }
    }
    return -1;
}

// Returns the first active lane in which a move of chance is not legal, or -1.
i64 Env::find_illegal_outcome(const i32 *outcomes) const {
    const i32 first = circuit_->bounds[options_.chance], end = circuit_->bounds[options_.chance + 1];
    for (i64 lane = 0; lane < lanes_; ++lane) {
        const Block &block = blocks_[lane / LANES];
        const int w = static_cast<int>(lane % LANES) >> 6, b = static_cast<int>(lane & 63);
        if ((block.over.words[w] | block.held.words[w]) >> b & 1) continue;
        const i32 m = outcomes[lane];
        if (m < first || m >= end || !(block.options.data()[std::size_t(m) * WORDS + w] >> b & 1)) return lane;
    }
    return -1;
}

// Makes given moves of chance.
void Env::make_outcomes(Machine &machine, const Block &block, const i32 *outcomes, int count) {
    for (int lane = 0; lane < count; ++lane) {
        const int w = lane >> 6, b = lane & 63;
        if ((block.over.words[w] | block.held.words[w]) >> b & 1) continue;
        machine.move[outcomes[lane]][w] |= u64(1) << b;
    }
}

// `made` has the moves of each lane, -1 where it does not move.
void Env::make_moves(Machine &machine, const Block &block, const i32 *made, int count) {
    // By turns, the other roles make their only moves; the rows of earlier moves were cleared.
    if (options_.by_turns)
        for (int p = 0; p < players(); ++p) {
            const int role = options_.players[p];
            kernels().batch->take_options(block.options.data(), live(block, role), block.live_counts[role],
                                          block.turns.row(p), machine.move.data());
        }
    const int each = given();
    u64 *const *move = machine.move.data();
    for (int lane = 0; lane < count; ++lane)
        for (int p = 0; p < each; ++p, ++made)
            if (*made >= 0) move[*made][lane >> 6] |= u64(1) << (lane & 63);
}

void Env::draw_chance(Machine &machine, Block &block) {
    const int role = options_.chance, count = block.live_counts[role];
    from_.clear();
    to_.clear();
    for (int i = 0; i < count; ++i) {
        from_.push_back(machine.legal[live(block, role)[i]]);
        to_.push_back(machine.move[live(block, role)[i]]);
    }
    Row all, none;
    row_below(all.words, LANES);
    kernels().draw({from_.data(), to_.data(), count, all.words, block.chance.data(), none.words,
                    scratch_.row(taken_.size()), WORDS});
}

// Clears the rows of the moves made: live ones, or only moves of other roles.
void Env::clear_moves(Machine &machine, const Block &block) {
    for (int r = 0; r < circuit_->roles; ++r)
        kernels().batch->clear(machine.move.data(), live(block, r), block.live_counts[r]);
}

// Writes the rewards of the lanes in `over`; returns false if a player does not have exactly one goal value in one.
bool Env::score(Machine &machine, const Row &over, int count, float *rewards) {
    const Circuit &c = *circuit_;
    std::vector<Row> once(players());
    u64 wrong = 0;
    for (int k = 0; k < c.goals(); ++k) {
        const int p = player_of_[c.goal_role[k]];
        if (p < 0 || c.goal_value[k] < 0) continue;
        const u64 *goal = machine.evaluator.goal(k);
        Row row;
        for (int w = 0; w < WORDS; ++w) {
            row.words[w] = goal[w] & over.words[w];
            wrong |= once[p].words[w] & row.words[w];
            once[p].words[w] |= row.words[w];
        }
        const float reward = static_cast<float>(options_.low + (options_.high - options_.low) * c.goal_value[k] / 100);
        each_lane(row.words, [&](int lane) {
            if (lane < count) rewards[i64(lane) * players() + p] = reward;
        });
    }
    for (const Row &row : once)
        for (int w = 0; w < WORDS; ++w) wrong |= over.words[w] & ~row.words[w];
    return !wrong;
}

void Env::advance(i64 k, const i32 *outcomes, const OutputArrays &arrays, Outcome &outcome) {
    const Circuit &c = *circuit_;
    const BatchKernels &kernel = *kernels().batch;
    Block &block = blocks_[k];
    Machine &m = machine(k);
    const int count = lanes_of(k);
    if (!kept()) {
        m.load(block.fluents);
        m.evaluator.run_legal(count);
    }
    Row playing, waiting, again; // lanes that move; that are over and not held; that restart
    for (int w = 0; w < WORDS; ++w) {
        playing.words[w] = block.live_lanes.words[w] & ~(block.over.words[w] | block.held.words[w]);
        waiting.words[w] = block.over.words[w] & ~block.held.words[w];
    }
    if (options_.reset == Reset::NEXT) again = waiting;

    // the moves and the next state
    make_moves(m, block, made_.data() + k * LANES * given(), count);
    if (outcomes)
        make_outcomes(m, block, outcomes + k * LANES, count);
    else if (options_.chance >= 0)
        draw_chance(m, block);
    m.evaluator.run_next(count);
    if (percepts_) {
        for (i64 i = 0; i < percepts_; ++i)
            for (int w = 0; w < WORDS; ++w)
                scratch_.row(i)[w] = m.evaluator.sees(static_cast<int>(i))[w] & playing.words[w];
        kernel.pack(scratch_.data(), percept_columns_.data(), static_cast<int>(percepts_), squares_.data());
        emit(squares_, percepts_, false, k, arrays.percepts);
    }
    kernel.merge(m.next.data(), c.fluents, playing.words, block.fluents.data());
    if (row_any(again.words)) kernel.assign(initial_.data(), c.fluents, again.words, block.fluents.data());
    clear_moves(m, block);
    m.load(block.fluents);

    // Properties of the new states.
    m.evaluator.run_legal(count);
    Row stuck, clash, ended, over, late;
    survey(m, block, stuck, clash);
    const i32 longest = kernel.age(block.steps, playing.words, again.words);
    const u64 *terminal = m.evaluator.terminal();
    if (longest >= options_.max_steps)
        each_lane(playing.words, [&](int lane) {
            if (block.steps[lane] >= options_.max_steps) late.words[lane >> 6] |= u64(1) << (lane & 63);
        });
    for (int w = 0; w < WORDS; ++w) {
        over.words[w] = terminal[w] & playing.words[w];
        const u64 going = playing.words[w] & ~over.words[w];
        outcome.clash |= (clash.words[w] & going) != 0;
        late.words[w] = (late.words[w] | stuck.words[w]) & going;
        ended.words[w] = over.words[w] | late.words[w];
    }
    const auto spread = [&](const Row &row, u8 *out) {
        u8 bytes[LANES];
        kernel.spread(row.words, count == LANES ? out + k * LANES : bytes);
        if (count < LANES) std::memcpy(out + k * LANES, bytes, count);
    };
    spread(over, arrays.terminated);
    spread(late, arrays.truncated);
    float *rewards = arrays.rewards + k * LANES * players();
    std::fill_n(rewards, i64(count) * players(), 0.0f);
    if (row_any(over.words)) {
        m.evaluator.run_goals(count);
        outcome.goalless |= !score(m, over, count, rewards);
    }

    look(block);
    if (options_.reset != Reset::SAME) {
        for (int w = 0; w < WORDS; ++w)
            block.over.words[w] = ended.words[w] | (block.over.words[w] & ~again.words[w]);
        open(block);
    } else if (row_any(ended.words)) {
        emit(look_, static_cast<i64>(options_.columns.size()), options_.packed, k, arrays.last);
        restart(block, ended);
        if (kept()) {
            m.load(block.fluents);
            m.evaluator.run_legal(count);
        }
    }
    write_outputs(k, arrays);
}

Env::Outcome Env::step(const i32 *actions, const i32 *outcomes, const u8 *held, const OutputArrays &arrays) {
    const std::lock_guard lock(mutex_);
    Outcome outcome;
    for (i64 k = 0; k < blocks(); ++k) {
        if (held) collect(held + k * LANES, lanes_of(k), blocks_[k].held);
        else blocks_[k].held = Row();
    }
    outcome.illegal = find_illegal(actions);
    if (outcome.illegal < 0 && outcomes) outcome.illegal_outcome = find_illegal_outcome(outcomes);
    if (outcome.illegal >= 0 || outcome.illegal_outcome >= 0) return outcome;
    for (i64 k = 0; k < blocks(); ++k) advance(k, outcomes, arrays, outcome);
    return outcome;
}

void Env::sample(i32 *actions) {
    const std::lock_guard lock(mutex_);
    const int each = given();
    std::fill_n(actions, lanes_ * each, 0);
    Row all;
    row_below(all.words, LANES);
    for (i64 k = 0; k < blocks(); ++k) {
        Block &block = blocks_[k];
        const int lanes = lanes_of(k);
        i32 *out = actions + k * LANES * each;
        const auto draw = [&](int p, auto &&action) {
            const int count = static_cast<int>(from_.size());
            Row none;
            kernels().draw({from_.data(), taken_.data(), count, all.words, block.dice.data(), none.words,
                            scratch_.row(taken_.size()), WORDS});
            for (int i = 0; i < count; ++i)
                each_lane(taken_[i], [&](int lane) {
                    if (lane < lanes) out[i64(lane) * each + p] = action(i);
                });
        };
        if (options_.by_turns) { // drawn from the union over players
            unite(block);
            from_.clear();
            drawn_from_.clear();
            for (i32 a = 0; a < options_.actions; ++a)
                if (united_[a]) {
                    from_.push_back(mask_.row(a));
                    drawn_from_.push_back(a);
                }
            draw(0, [&](int i) { return drawn_from_[i]; });
            continue;
        }
        for (int p = 0; p < players(); ++p) {
            const int role = options_.players[p];
            from_.clear();
            for (int i = 0; i < block.live_counts[role]; ++i) from_.push_back(block.options.row(live(block, role)[i]));
            draw(p, [&](int i) { return std::max(0, action_of_[live(block, role)[i]]); });
        }
    }
}

void Env::observe(const i32 *columns, int n, bool packed, u8 *out) {
    const std::lock_guard lock(mutex_);
    const std::vector<i32> listed(columns, columns + n);
    for (const i32 column : listed) require(column >= -1 && column < circuit_->fluents, "a column is no fluent");
    if (static_cast<std::size_t>(n) > squares_.rows()) squares_ = RowBuffer((n + 63) / 64 * 64);
    for (i64 k = 0; k < blocks(); ++k) {
        kernels().batch->pack(blocks_[k].fluents.data(), listed.data(), n, squares_.data());
        emit(squares_, n, packed, k, out);
    }
}

std::vector<i32> Env::steps() {
    const std::lock_guard lock(mutex_);
    std::vector<i32> steps;
    for (i64 k = 0; k < blocks(); ++k)
        steps.insert(steps.end(), blocks_[k].steps, blocks_[k].steps + lanes_of(k));
    return steps;
}

std::vector<u8> Env::over() {
    const std::lock_guard lock(mutex_);
    std::vector<u8> over;
    for (i64 lane = 0; lane < lanes_; ++lane)
        over.push_back(Evaluator::bit(blocks_[lane / LANES].over.words, lane % LANES));
    return over;
}

std::vector<u8> Env::to_move() {
    const std::lock_guard lock(mutex_);
    std::vector<u8> players;
    for (i64 k = 0; k < blocks(); ++k)
        players.insert(players.end(), blocks_[k].to_move, blocks_[k].to_move + lanes_of(k));
    return players;
}

} // namespace herbrand

// Many games with the same rules, stepped together: the core of `herbrand.envs.BatchEnv`.
//
// Games are in blocks of 512 lanes; the last block may have lanes without a game.  Between steps a block consists of its
// fluents, legal moves, the roles to move and the lanes that are over, each as rows.
#pragma once

#include "batch.hpp"
#include "choice.hpp"
#include "pool.hpp"

#include <mutex>

namespace herbrand {

enum class Reset {
    OFF = 0,  // games that are over keep their last state
    NEXT = 1, // they restart in the next step
    SAME = 2, // they restart in the step in which they end
};

struct EnvOptions {
    std::vector<i32> players;  // the roles that agents control, ascending
    std::vector<i32> number;   // [players * actions] the move of each action, -1 for none
    std::vector<u8> idle;      // [moves] no-ops, made while another player chooses
    std::vector<i32> columns;  // fluents that are observed, -1 for false
    int actions = 0;
    int chance = -1;           // the role that is drawn, -1 for none
    bool by_turns = false;     // one player moves at a time: actions are those of that player
    bool packed = false;       // observations and legal moves as bits instead of bytes
    bool percepts = false;     // whether percepts are returned
    Reset reset = Reset::NEXT;
    i32 max_steps = 1000;
    double low = -1, high = 1; // rewards for the goal values 0 and 100
    i64 keep = 0;              // memory limit up to which every block has its own evaluator
};

// Output arrays of the caller, lane by lane, see `Env::bytes`.  `percepts` and `last` only if the options require them.
struct OutputArrays {
    u8 *observation = nullptr, *legal = nullptr;
    u8 *player = nullptr;     // [lanes] the player to move
    float *rewards = nullptr; // [lanes * players]
    u8 *terminated = nullptr, *truncated = nullptr;
    u8 *percepts = nullptr;
    u8 *last = nullptr;       // the last observation of games that ended, before their restart
};

class Env {
public:
    Env(CircuitPtr circuit, i64 lanes, EnvOptions options);

    i64 lanes() const { return lanes_; }
    i64 blocks() const { return static_cast<i64>(blocks_.size()); }
    // The number of actions for each lane.
    int given() const { return options_.by_turns ? 1 : players(); }
    int players() const { return static_cast<int>(options_.players.size()); }
    // The size in bytes of an array with `elements` bits for each lane, as bytes or packed in words.
    i64 bytes(i64 elements, bool packed) const { return lanes_ * (packed ? 8 * ((elements + 63) / 64) : elements); }
    i64 observation_bytes() const { return bytes(static_cast<i64>(options_.columns.size()), options_.packed); }
    i64 legal_bytes() const { return bytes(i64(given()) * options_.actions, options_.packed); }
    i64 percept_bytes() const { return bytes(percepts_, false); }
    const EnvOptions &options() const { return options_; }

    // Words of seeds: for each block four rows of generator state for chance, four for samples.
    i64 seed_words() const { return blocks() * 2 * 4 * WORDS; }
    void sow(const u64 *words);
    // Reset the lanes in `fresh` to the initial state, write the outputs of all lanes; false if two players have a choice.
    bool begin(const u8 *fresh, const OutputArrays &arrays);

    struct Outcome {
        i64 illegal = -1;      // the first lane whose action is not legal: then no game has moved
        i64 illegal_outcome = -1; // the same for a given move of chance
        bool clash = false;    // two players have a choice in the same state
        bool goalless = false; // a player does not have exactly one goal value at the end of a game
    };
    // Step all lanes that are neither over nor in `held`, which may be null.  `actions` has `given()` numbers for each lane;
    // `outcomes`, if not null, the move of chance for each, as its number in the circuit: then nothing is drawn.
    Outcome step(const i32 *actions, const i32 *outcomes, const u8 *held, const OutputArrays &arrays);
    // Draw a random legal action for each player, or for the player to move.
    void sample(i32 *actions);
    // Write the values of these fluents; column -1 is false.
    void observe(const i32 *columns, int n, bool packed, u8 *out);

    // Memory pool for result arrays.
    const std::shared_ptr<Pool> &pool() const { return pool_; }

    std::vector<i32> steps();
    std::vector<u8> over();
    std::vector<u8> to_move();

private:
    struct Machine {
        explicit Machine(const CircuitPtr &circuit);
        void load(const RowBuffer &fluents);

        Evaluator evaluator;
        std::vector<const u64 *> legal, next;
        std::vector<u64 *> fluent, move;
    };
    struct Row {
        alignas(64) u64 words[WORDS] = {};
    };
    struct Block {
        RowBuffer fluents, options, turns, chance, dice;
        std::vector<u8> is_live;       // [moves] whether it is legal in some lane; other rows of `options` are false
        std::vector<i32> live;         // [moves] for each role, from its first move on, its live moves
        std::vector<int> live_counts;  // [roles] the number of these
        Row live_lanes; // lanes with a game
        Row over;
        Row held; // lanes that do not move in this step
        i32 steps[LANES] = {};
        u8 to_move[LANES] = {};
    };

    Machine &machine(i64 block) { return *machines_[machines_.size() > 1 ? block : 0]; }
    bool kept() const { return static_cast<i64>(machines_.size()) == blocks(); }
    int lanes_of(i64 block) const { return static_cast<int>(std::min<i64>(LANES, lanes_ - block * LANES)); }
    static void collect(const u8 *values, int count, Row &row);
    const i32 *live(const Block &block, int role) const { return block.live.data() + circuit_->bounds[role]; }
    void list_live(Block &block);
    i64 find_illegal(const i32 *actions);
    i64 find_illegal_outcome(const i32 *outcomes) const;
    void survey(Machine &machine, Block &block, Row &stuck, Row &clash);
    void draw_chance(Machine &machine, Block &block);
    void make_outcomes(Machine &machine, const Block &block, const i32 *outcomes, int count);
    void clear_moves(Machine &machine, const Block &block);
    void unite(const Block &block);
    void make_moves(Machine &machine, const Block &block, const i32 *made, int count);
    bool score(Machine &machine, const Row &over, int count, float *rewards);
    void open(Block &block);
    void restart(Block &block, const Row &ended);
    void look(const Block &block);
    void write_outputs(i64 k, const OutputArrays &arrays);
    void emit(const RowBuffer &squares, i64 n, bool packed, i64 k, u8 *out);
    void advance(i64 k, const i32 *outcomes, const OutputArrays &arrays, Outcome &outcome);

    CircuitPtr circuit_;
    i64 lanes_;
    EnvOptions options_;
    i64 percepts_;
    std::vector<std::unique_ptr<Machine>> machines_; // one for each block, or one for all
    std::vector<Block> blocks_;
    std::vector<i32> player_of_; // [roles] -1 for roles that do not choose
    std::vector<i32> action_of_; // [moves] -1 for none
    std::vector<i32> legal_columns_, percept_columns_;
    std::vector<u64> over_legal_; // the legal moves reported for games that are over, packed
    std::vector<u8> initial_, first_options_; // [fluents], [moves]
    std::vector<u64> first_look_; // the observation of the initial state, packed
    int first_turn_ = 0;
    std::vector<i32> made_;       // [lanes * given] the moves of this step
    RowBuffer look_;              // the observation of a block, transposed
    RowBuffer scratch_, squares_;
    // If players take turns: the actions of the players to move as rows, whether each is legal in some lane, and its row
    // in `mask_`.
    RowBuffer mask_;
    std::vector<u8> united_;     // [actions]
    std::vector<i32> columns_;   // [legal columns] -1 for those that are false in all lanes
    // Arguments of draws.
    std::vector<const u64 *> from_;
    std::vector<i32> drawn_from_;
    std::vector<u64 *> to_, taken_;
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
    std::mutex mutex_; // serialises calls
};

} // namespace herbrand

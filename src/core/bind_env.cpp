#include "bind.hpp"
#include "env.hpp"

#include <nanobind/stl/optional.h>

namespace herbrand {

namespace {

using Bytes = Array1<u8>;

u8 *sized(const Bytes &array, i64 size, const char *what) {
    require(static_cast<i64>(array.size()) == size, what);
    return array.data();
}

// New bytes from a pool, which lives as long as there are any.
nb::ndarray<nb::numpy, u8, nb::ndim<1>> room(const Env &env, std::size_t bytes) {
    struct Owner {
        std::shared_ptr<Pool> pool;
        void *block;
        std::size_t bytes;
    };
    auto owner = std::make_unique<Owner>(Owner{env.pool(), nullptr, bytes});
    owner->block = owner->pool->take(bytes);
    u8 *data = static_cast<u8 *>(owner->block);
    nb::capsule deleter(owner.release(), [](void *p) noexcept {
        const std::unique_ptr<Owner> back(static_cast<Owner *>(p));
        back->pool->give_back(back->block, back->bytes);
    });
    return nb::ndarray<nb::numpy, u8, nb::ndim<1>>(data, {bytes}, deleter);
}

void fill_arrays(const Env &env, const Bytes &observation, const Bytes &legal, const Bytes &player, OutputArrays &arrays) {
    arrays.observation = sized(observation, env.observation_bytes(), "`observation` has another length");
    arrays.legal = sized(legal, env.legal_bytes(), "`legal` has another length");
    arrays.player = sized(player, env.lanes(), "`player` has another length");
}

} // namespace

void bind_env(nb::module_ &m) {
    nb::class_<Env::Outcome>(m, "EnvOutcome", "The outcome of `Env.step`.")
        .def_ro("illegal", &Env::Outcome::illegal,
                "The first game whose action is not legal, -1 if there is none; if there is, nothing has moved.")
        .def_ro("illegal_outcome", &Env::Outcome::illegal_outcome,
                "The first lane in which a given move of chance is not legal, or -1: then nothing has moved.")
        .def_ro("clash", &Env::Outcome::clash, "Whether two players have a choice in the same state.")
        .def_ro("goalless", &Env::Outcome::goalless,
                "Whether a game ended in a state in which a player does not have exactly one goal value.");

    nb::class_<Env>(m, "Env",
                    "Many games with the same rules, stepped together; see `herbrand.envs.BatchEnv`.\n\n"
                    "Output arrays belong to the caller and are ordered by lane: uint8, a byte for each element, or\n"
                    "packed, where each lane has whole words of 64 bits.")
        .def(
            "__init__",
            [](Env *self, CircuitPtr circuit, i64 lanes, Array1<const i32> players, Array2<const i32> number,
               Array1<const u8> idle, Array1<const i32> columns, int chance, bool by_turns, bool packed,
               bool percepts, int reset, int max_steps, double low, double high, i64 keep) {
                require(circuit != nullptr, "there is no circuit");
                require(reset >= 0 && reset <= 2, "`reset` is 0, 1 or 2");
                require(number.shape(0) == players.size() && number.shape(1) < (1u << 29),
                        "moves have the shape [players, actions]");
                EnvOptions options;
                options.players = copied(players);
                options.number.assign(number.data(), number.data() + number.size());
                options.actions = static_cast<int>(number.shape(1));
                options.idle = copied(idle);
                options.columns = copied(columns);
                options.chance = chance;
                options.by_turns = by_turns;
                options.packed = packed;
                options.percepts = percepts;
                options.reset = static_cast<Reset>(reset);
                options.max_steps = max_steps;
                options.low = low;
                options.high = high;
                options.keep = keep;
                const WithoutGil without_gil;
                new (self) Env(std::move(circuit), lanes, std::move(options));
            },
            nb::kw_only(), nb::arg("circuit"), nb::arg("lanes"), array("players"), array("number"),
            array("idle"), array("columns"), nb::arg("chance"), nb::arg("by_turns"), nb::arg("packed"),
            nb::arg("percepts"), nb::arg("reset"), nb::arg("max_steps"), nb::arg("low"), nb::arg("high"),
            nb::arg("keep"),
            "`lanes` games.  `players` are the roles that choose, ascending; `number[p, a]` the move of action a of\n"
            "player p, -1 for none; `idle` says of each move whether it waits; `columns` are the fluents that are\n"
            "observed, -1 for false; `chance` is the role that is drawn, -1 for none.  `reset`: games that are over\n"
            "stay (0), begin again in the next step (1), at once (2).  `low` and `high` are the rewards for goal\n"
            "values 0 and 100.  Up to `keep` bytes every block of 512 games has rows of its own.")
        .def_prop_ro("seed_words", &Env::seed_words, "The number of words that `sow` needs.")
        .def_prop_ro("observation_bytes", &Env::observation_bytes, "The length of `observation` and `last`.")
        .def_prop_ro("legal_bytes", &Env::legal_bytes, "The length of `legal`.")
        .def_prop_ro("percept_bytes", &Env::percept_bytes, "The length of `percepts`.")
        .def("room", &room, nb::arg("bytes"),
             "Return a new array of so many bytes, [bytes] uint8, that holds anything.  Memory of such arrays is used again\n"
             "when they are gone, which is quicker than new memory.")
        .def(
            "sow",
            [](Env &env, Array1<const u64> words) {
                require(static_cast<i64>(words.size()) == env.seed_words(), "another number of words");
                env.sow(words.data());
            },
            array("words"), "Set the states of the random generators for chance and for samples, [seed_words] uint64.")
        .def(
            "begin",
            [](Env &env, Array1<const u8> fresh, Bytes observation, Bytes legal, Bytes player) {
                require(static_cast<i64>(fresh.size()) == env.lanes(), "`fresh` has another length");
                OutputArrays arrays;
                fill_arrays(env, observation, legal, player, arrays);
                WithoutGil without_gil;
                return env.begin(fresh.data(), arrays);
            },
            array("fresh"), array("observation"), array("legal"), array("player"),
            "Put the games for which `fresh`, [lanes] uint8, is not 0 into the initial state, and fill the arrays\n"
            "for all; return whether no two players have a choice at the same time.")
        .def(
            "step",
            [](Env &env, Array2<const i32> actions, std::optional<Array1<const u8>> held, Bytes observation,
               Bytes legal, Bytes player, Array2<float> rewards, Bytes terminated, Bytes truncated, Bytes percepts,
               Bytes last, std::optional<Array1<const i32>> outcomes) {
                require(static_cast<i64>(actions.shape(0)) == env.lanes() &&
                            static_cast<i64>(actions.shape(1)) == env.given(),
                        "`actions` has another shape");
                require(!held || static_cast<i64>(held->size()) == env.lanes(), "`held` has another length");
                require(!outcomes || static_cast<i64>(outcomes->size()) == env.lanes(),
                        "`outcomes` has another length");
                require(!outcomes || env.options().chance >= 0, "nothing is left to chance");
                require(static_cast<i64>(rewards.shape(0)) == env.lanes() &&
                            static_cast<i64>(rewards.shape(1)) == env.players(),
                        "`rewards` has another shape");
                OutputArrays arrays;
                fill_arrays(env, observation, legal, player, arrays);
                arrays.rewards = rewards.data();
                arrays.terminated = sized(terminated, env.lanes(), "`terminated` has another length");
                arrays.truncated = sized(truncated, env.lanes(), "`truncated` has another length");
                arrays.percepts = sized(percepts, env.percept_bytes(), "`percepts` has another length");
                arrays.last = sized(last, env.options().reset == Reset::SAME ? env.observation_bytes() : 0,
                                  "`last` has another length");
                const u8 *still = held ? held->data() : nullptr;
                WithoutGil without_gil;
                return env.step(actions.data(), outcomes ? outcomes->data() : nullptr, still, arrays);
            },
            array("actions"), array("held").none(), array("observation"), array("legal"),
            array("player"), array("rewards"), array("terminated"), array("truncated"),
            array("percepts"), array("last"), array("outcomes").none() = nb::none(),
            "Move the games that are neither over nor `held`, [lanes] uint8 or None, and fill the arrays.\n\n"
            "`actions` is [lanes, 1] int32 by turns, else [lanes, players].  `last` is the observation before games\n"
            "that ended began again; empty unless `reset` is 2.  `outcomes`, [lanes] int32, are the moves of chance\n"
            "as their numbers in the circuit; without them they are drawn.")
        .def(
            "sample",
            [](Env &env, Array2<i32> actions) {
                require(static_cast<i64>(actions.shape(0)) == env.lanes() &&
                            static_cast<i64>(actions.shape(1)) == env.given(),
                        "`actions` has another shape");
                WithoutGil without_gil;
                env.sample(actions.data());
            },
            array("actions"), "Draw legal actions for `step` uniformly; arbitrary ones where a game is over.")
        .def(
            "observe",
            [](Env &env, Array1<const i32> columns, bool packed, Bytes out) {
                require(columns.size() < (1u << 29), "there are too many columns");
                u8 *bytes = sized(out, env.bytes(static_cast<i64>(columns.size()), packed),
                                  "`out` has another length");
                WithoutGil without_gil;
                env.observe(columns.data(), static_cast<int>(columns.size()), packed, bytes);
            },
            array("columns"), nb::arg("packed"), array("out"),
            "Fill `out` with the values of the fluents `columns`; -1 is false.")
        .def_prop_ro(
            "steps", [](Env &env) { return as_array(env.steps()); }, nb::rv_policy::automatic,
            "[lanes] int32, the number of steps of each game.")
        .def_prop_ro(
            "over", [](Env &env) { return as_array(env.over()); }, nb::rv_policy::automatic,
            "[lanes] uint8, which games are over.")
        .def_prop_ro(
            "to_move", [](Env &env) { return as_array(env.to_move()); }, nb::rv_policy::automatic,
            "[lanes] uint8, the player to move, an index of `players`.");
}

} // namespace herbrand

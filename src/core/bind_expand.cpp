#include "bind.hpp"
#include "expand.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace herbrand {

namespace {

template <class T> using Result1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T> using Result2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// New arrays of zeros, which may be empty; called while Python's lock is held.
template <class T> Result2<T> zeros(i64 rows, i64 columns) {
    T *data = new T[rows * columns + 1]();
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result2<T>(data, {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, owner);
}
template <class T> Result1<T> zeros(i64 size) {
    T *data = new T[size + 1]();
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result1<T>(data, {static_cast<std::size_t>(size)}, owner);
}

i64 checked_states(const Expander &expander, const Array2<const u64> &states) {
    require(states.shape(1) == static_cast<std::size_t>(expander.circuit().state_words()),
            "packed states have another number of words");
    return static_cast<i64>(states.shape(0));
}

void check_parents(const Array1<const i64> &parents, i64 states) {
    for (std::size_t i = 0; i < parents.size(); ++i)
        require(parents(i) >= 0 && parents(i) < states, "parents do not name a state for each row");
}

nb::tuple legal(Expander &expander, const Array2<const u64> &states, Stop *stop) {
    const i64 n = checked_states(expander, states);
    auto over = zeros<bool>(n);
    auto bits = zeros<u64>(n, expander.circuit().legal_words());
    {
        WithoutGil without_gil;
        expander.legal(states.data(), n, over.data(), bits.data(), stop);
    }
    return nb::make_tuple(over, bits);
}

Result2<i16> goals(Expander &expander, const Array2<const u64> &states, Stop *stop) {
    const i64 n = checked_states(expander, states);
    auto values = zeros<i16>(n, expander.circuit().roles);
    WithoutGil without_gil;
    expander.goals(states.data(), n, values.data(), stop);
    return values;
}

nb::tuple step(Expander &expander, const Array2<const u64> &states, const Array2<const i32> &moves,
               const std::optional<Array1<const i64>> &parents, bool sees, Stop *stop) {
    const Circuit &c = expander.circuit();
    const i64 given = checked_states(expander, states), n = static_cast<i64>(moves.shape(0));
    require(moves.shape(1) == static_cast<std::size_t>(c.roles), "joint moves have a column for each role");
    for (i64 i = 0; i < n; ++i)
        for (int r = 0; r < c.roles; ++r)
            require(moves(i, r) >= -1 && moves(i, r) < c.bounds[r + 1] - c.bounds[r],
                    "a move has a number that no move of its role has");
    if (parents) {
        require(parents->size() == moves.shape(0), "parents do not name a state for each joint move");
        check_parents(*parents, given);
    } else {
        require(n == given, "there is not one joint move for each state");
    }
    auto after = zeros<u64>(n, c.state_words());
    auto seen = zeros<u64>(n, sees ? c.sees_words() : 0);
    {
        WithoutGil without_gil;
        expander.step(states.data(), parents ? parents->data() : nullptr, n, moves.data(), after.data(),
                      sees ? seen.data() : nullptr, stop);
    }
    return nb::make_tuple(after, seen);
}

Result1<i64> joint_counts(const Array1<const bool> &over, const Array2<const u64> &bits,
                          const std::vector<i64> &places, Stop *stop) {
    require(over.size() == bits.shape(0), "there is not one set of legal moves for each state");
    require(!places.empty() && places[0] >= 0 && places.back() <= static_cast<i64>(bits.shape(1)),
            "`places` do not fit");
    for (std::size_t r = 0; r + 1 < places.size(); ++r) require(places[r] <= places[r + 1], "`places` descend");
    auto counts = zeros<i64>(static_cast<i64>(over.size()));
    WithoutGil without_gil;
    count_joints(over.data(), bits.data(), static_cast<i64>(over.size()), static_cast<i64>(bits.shape(1)), places,
                 counts.data(), stop);
    return counts;
}

nb::tuple joints(const Expander &expander, const Array2<const u64> &bits, const Array1<const i64> &starts, i64 begin,
                 i64 size, Stop *stop) {
    const Circuit &c = expander.circuit();
    const i64 n = static_cast<i64>(bits.shape(0));
    require(bits.shape(1) == static_cast<std::size_t>(c.legal_words()),
            "packed sets of legal moves have another number of words");
    require(starts.size() == bits.shape(0) + 1 && starts(0) == 0, "`starts` begin with 0 and have n + 1 numbers");
    for (i64 i = 0; i < n; ++i) require(starts(i) <= starts(i + 1), "`starts` descend");
    require(begin >= 0 && size >= 0 && begin <= starts(n) && size <= starts(n) - begin,
            "fewer joint moves than are asked for");
    auto parents = zeros<i64>(size);
    auto moves = zeros<i32>(size, c.roles);
    {
        WithoutGil without_gil;
        enumerate_joints(c, bits.data(), starts.data(), n, begin, size, parents.data(), moves.data(),
                         stop);
    }
    return nb::make_tuple(parents, moves);
}

// What `rollouts` returns.
struct Ended {
    nb::object goals, lengths, line, played, last;
    bool complete = false;
};

Ended rollouts(Expander &expander, const Array2<const u64> &states, const std::optional<Array1<const i64>> &parents,
               const Array1<u64> &generator, i64 max_steps, Stop *stop, i64 watched, bool want_played, bool want_last,
               i64 each) {
    const Circuit &c = expander.circuit();
    const i64 given = checked_states(expander, states);
    require(each >= 1 && each < (i64(1) << 40) && (each == 1 || !parents), "`each` is 1 or more, without `parents`");
    require(given < (i64(1) << 62) / each, "there are too many games");
    if (parents) check_parents(*parents, given);
    const i64 n = parents ? static_cast<i64>(parents->size()) : given * each;
    require(generator.size() == 4 * WORDS, "a generator has 32 words");
    require(max_steps >= 0 && max_steps < (i64(1) << 60), "`max_steps` is negative or too large");
    require(watched >= -1 && watched < n, "no game with the number of the one to watch");
    require(!want_played || n <= LANES, "moves are recorded for at most 512 games");
    Ended ended;
    auto values = zeros<i16>(n, c.roles);
    auto lengths = zeros<i64>(n);
    auto played = zeros<u64>(want_played ? c.moves : 0, WORDS);
    auto last = zeros<u64>(want_last ? n : 0, c.state_words());
    std::vector<i32> record;
    Games games;
    games.states = states.data();
    games.parents = parents ? parents->data() : nullptr;
    games.each = each;
    games.count = n;
    games.max_steps = max_steps;
    games.values = values.data();
    games.lengths = lengths.data();
    games.watched = watched;
    games.record = &record;
    games.played = want_played ? played.data() : nullptr;
    games.last = want_last ? last.data() : nullptr;
    {
        WithoutGil without_gil;
        Stop never;
        ended.complete = expander.play(games, generator.data(), stop ? *stop : never);
    }
    ended.goals = nb::cast(values);
    ended.lengths = nb::cast(lengths);
    ended.line = nb::cast(as_array2(std::move(record), static_cast<std::size_t>(c.roles)));
    ended.played = nb::cast(played);
    ended.last = nb::cast(last);
    return ended;
}

} // namespace

void bind_expand(nb::module_ &m) {
    nb::class_<Ended>(m, "Ended", "The results of random games.")
        .def_prop_ro("goals", [](const Ended &e) { return e.goals; },
                     nb::sig("def goals(self) -> numpy.typing.NDArray[numpy.int16]"),
                "int16 [n, roles]: goal values; `NO_VALUE`, `SEVERAL_VALUES` or `STUCK` if there is none.")
        .def_prop_ro("lengths", [](const Ended &e) { return e.lengths; },
                     nb::sig("def lengths(self) -> numpy.typing.NDArray[numpy.int64]"), "int64 [n]: steps played; -1 - steps for games that reached the limit.")
        .def_prop_ro("line", [](const Ended &e) { return e.line; },
                     nb::sig("def line(self) -> numpy.typing.NDArray[numpy.int32]"), "int32 [steps, roles]: the moves of the game that was watched.")
        .def_prop_ro("played", [](const Ended &e) { return e.played; },
                     nb::sig("def played(self) -> numpy.typing.NDArray[numpy.uint64]"),
                "uint64 [moves, 8]: for each move of all roles the games in which it was made; empty if not requested.")
        .def_prop_ro("last", [](const Ended &e) { return e.last; },
                     nb::sig("def last(self) -> numpy.typing.NDArray[numpy.uint64]"), "uint64 [n, words]: the last states, packed; empty if not requested.")
        .def_ro("complete", &Ended::complete, "Whether all games were played; if not, the other results are undefined.");
    nb::class_<Expander>(m, "StateEvaluator",
                         "Evaluates many packed states of a game at once.\n\n"
                         "States are uint64 [n, circuit.state_words]; moves are counted for each role from 0.  Any number\n"
                         "of threads can ask at the same time.  Calls raise `herbrand.errors.Stopped` when their `stop` says so,\n"
                         "but for `rollouts`, which says that it is not complete.")
        .def(nb::init<CircuitPtr>(), nb::arg("circuit"), Release())
        .def("legal", &legal, array("states"), stop_argument(),
             nb::sig("def legal(self, states: numpy.typing.NDArray[numpy.uint64], stop: Stop | None = None) -> "
                     "tuple[numpy.typing.NDArray[numpy.bool_], numpy.typing.NDArray[numpy.uint64]]"),
             "Return which states are terminal, bool [n], and the packed sets of legal moves, uint64\n"
             "[n, circuit.legal_words], in which each role begins at `circuit.places`.")
        .def("goals", &goals, array("states"), stop_argument(),
             "Return the goal values, int16 [n, roles]; `NO_VALUE` or `SEVERAL_VALUES` where there is not one.")
        .def("step", &step, array("states"), array("moves"), array("parents").none() = nb::none(),
             nb::arg("sees") = false, stop_argument(),
             nb::sig("def step(self, states: numpy.typing.NDArray[numpy.uint64], moves: numpy.typing.NDArray[numpy.int32], "
                     "parents: numpy.typing.NDArray[numpy.int64] | None = None, sees: bool = False, "
                     "stop: Stop | None = None) -> "
                     "tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint64]]"),
             "Return the states after joint moves, and if asked for what roles see, packed: uint64 [k, ...] both.\n\n"
             "`moves` is int32 [k, roles], -1 for a role that does nothing.  Row i is made in state i, or parents[i].\n"
             "Legality is not checked.  `ValueError` for moves or states that do not exist.")
        .def("joints", &joints, array("bits"), array("starts"), nb::arg("begin"), nb::arg("size"),
             stop_argument(),
             nb::sig("def joints(self, bits: numpy.typing.NDArray[numpy.uint64], starts: numpy.typing.NDArray[numpy.int64], "
                     "begin: int, size: int, stop: Stop | None = None) -> "
                     "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]"),
             "List joint moves number `begin` to `begin + size` of all states: parents, int64 [size], and moves, int32\n"
             "[size, roles], the last role's changing fastest.\n\n"
             "`bits` are sets of legal moves as `legal` returns them, `starts`, [n + 1], the sums of how many joint\n"
             "moves states have.  `ValueError` where these do not fit together.")
        .def("rollouts", &rollouts, array("states"), array("parents").none(), array("generator"),
             nb::arg("max_steps"), nb::arg("stop") = nb::none(), nb::arg("watched") = -1, nb::arg("played") = false,
             nb::arg("last") = false, nb::arg("each") = 1,
             "Play one uniformly random game from each of the states `parents[i]`, int64 [n], to its end; without parents\n"
             "`each` games from every state, one after the other.\n\n"
             "`generator`, uint64 [32], is random state that is used up in place: the same state gives the same games.\n"
             "Games are cut off after `max_steps`, with the goals of their last states.  `watched` is a game whose\n"
             "moves are wanted, -1 for none; `played`, of 512 games at most, and `last` ask for what `Ended` says.\n"
             "Ends within a step of the games when `stop` says so.");
    m.def("joint_counts", &joint_counts, array("over"), array("bits"), nb::arg("places"),
          stop_argument(),
          "Return how many joint moves states have, int64 [n]: 0 where they are `over`, 2**62 if more do not fit.\n\n"
          "`bits` are packed sets of legal moves, in which role r has the words from places[r] to places[r + 1].");
}

} // namespace herbrand

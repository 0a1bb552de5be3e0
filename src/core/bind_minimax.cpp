#include "bind.hpp"
#include "minimax.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

namespace herbrand {

namespace {

Judge make_judge(Array1<const i32> literals, Array2<const i32> table, Array1<const double> mobility,
                 Array1<const double> progress, double bias) {
    require(progress.size() == 2, "progress has two numbers");
    require(table.shape(0) == 0 || table.shape(1) == 256, "a table of a judge has 256 columns");
    Judge judge;
    judge.literals.assign(literals.data(), literals.data() + literals.size());
    judge.table.assign(table.data(), table.data() + table.size());
    judge.mobility.assign(mobility.data(), mobility.data() + mobility.size());
    judge.progress = progress(0);
    judge.no_goal = progress(1);
    judge.bias = bias;
    return judge;
}

// A valuer that threads take turns with.
struct SharedValuer {
    std::mutex turn;
    Valuer valuer;
    SharedValuer(CircuitPtr circuit, int role, const Judge &judge) : valuer(std::move(circuit), role, judge) {}
};

auto values(SharedValuer &v, Array2<const u64> states, Stop *stop) {
    require(i64(states.shape(1)) == v.valuer.circuit().state_words(), "states have not the words of the circuit");
    std::vector<i64> values(states.shape(0));
    {
        WithoutGil without_gil;
        const std::lock_guard lock(v.turn);
        v.valuer.values(states.data(), i64(values.size()), values.data(), stop);
    }
    return as_array(std::move(values));
}

auto features(SharedValuer &v, Array2<const u64> states, Stop *stop) {
    require(i64(states.shape(1)) == v.valuer.circuit().state_words(), "states have not the words of the circuit");
    const int words = v.valuer.feature_words();
    std::vector<u64> bits(states.shape(0) * words);
    {
        WithoutGil without_gil;
        const std::lock_guard lock(v.turn);
        v.valuer.features(states.data(), i64(states.shape(0)), bits.data(), stop);
    }
    return as_array2(std::move(bits), words);
}

void store(TranspositionTable &table, u64 key, i64 value, int depth, int bound, bool proved, i64 move) {
    require(value >= 0 && value < (1 << 20), "a value out of range");
    require(depth >= 0 && depth < (1 << 9), "a depth out of range");
    require(bound >= EXACT && bound <= UPPER, "no bound");
    require(move >= -1 && move < (1 << 29), "no move");
    table.store(key, value, depth, bound, proved, move);
}

std::optional<std::tuple<i64, int, int, bool, i64>> probe(const TranspositionTable &table, u64 key) {
    const auto entry = table.probe(key);
    if (!entry.known) return {};
    return std::make_tuple(entry.value, entry.depth, entry.bound, entry.proved, entry.move);
}

const u64 *checked(const AlphaBeta &search, const Array1<const u64> &state) {
    require(i64(state.size()) == search.circuit().state_words(), "a state has not the words of the circuit");
    return state.data();
}

} // namespace

void bind_minimax(nb::module_ &m) {
    nb::class_<TranspositionTable>(m, "TranspositionTable",
                                   "Search results by the hashes of states; several searches, and threads, may share one.")
        .def(nb::init<i64>(), nb::arg("bytes"), Release(), "Create a table of at most `bytes` bytes, but not less than 16384.")
        .def_prop_ro("bytes", &TranspositionTable::bytes)
        .def("touch", &TranspositionTable::touch, Release(), "Commit all memory now, not while a player's clock runs; clears the table.")
        .def("probe", &probe, nb::arg("key"), "Return value, depth, bound, whether it is proved, and move; None if there is no entry.")
        .def("store", &store, nb::arg("key"), nb::arg("value"), nb::arg("depth"), nb::arg("bound"), nb::arg("proved"),
             nb::arg("move"),
             "Keep a value below 2**20, a depth below 2**9, a bound, whether it is proved, and a move below 2**29 or -1.");

    nb::class_<Judge>(m, "Judge", "A heuristic value: a sum over features of a state and over its legal moves.")
        .def("__init__",
             [](Judge *self, Array1<const i32> literals, Array2<const i32> table, Array1<const double> mobility,
                Array1<const double> progress, double bias) {
                 new (self) Judge(make_judge(literals, table, mobility, progress, bias));
             },
             array("literals"), array("table"), array("mobility"), array("progress"), nb::arg("bias"),
             "`literals`, int32 [features], are of fluents or of gates for the legal moves.  `table`, int32\n"
             "[8 * words, 256], says what each byte of the packed features counts; no rows leave them out.  `mobility`,\n"
             "float64 [roles], is what each legal move of a role counts.  `progress`, float64 [2], is what a point of the\n"
             "goal counts in a state that is not the last, and what having none counts.  A goal of 1 counts 1000.");

    nb::class_<SharedValuer>(m, "Valuer", "Computes heuristic values of states for a role, by a `Judge`; a lock serialises calls.")
        .def(nb::init<CircuitPtr, int, const Judge &>(), nb::arg("circuit"), nb::arg("role"), nb::arg("judge"), Release(),
             "Raises `ValueError` if the judge does not match the circuit.")
        .def("values", &values, array("states"), stop_argument(),
             "Return what packed states, uint64 [n, words], are worth, int64 [n]: 1000 times the goal where the game is\n"
             "over, 50000 where that is not one number, elsewhere the heuristic value from 500 to 99500.  Raises\n"
             "`herbrand.errors.Stopped` when `stop` says so.")
        .def("features", &features, array("states"), stop_argument(),
             "Return the values of the judge's literals in packed states, packed, uint64 [n, feature words]; `stop` as in\n"
             "`values`.");

    using RootMove = AlphaBeta::RootMove;
    nb::class_<RootMove>(m, "RootMove", "Search results for a move at the root.")
        .def_ro("move", &RootMove::move, "Its number among the moves of all roles.")
        .def_ro("value", &RootMove::value, "1000 times the goal, or -1 if it was not searched in this iteration.")
        .def_ro("bound", &RootMove::bound, "0: the value is exact, 1: at least that, 2: at most that.")
        .def_ro("proved", &RootMove::proved, "Whether no heuristic value contributes to it.")
        .def_ro("nodes", &RootMove::nodes, "States expanded below it, in all iterations from this root.");

    nb::class_<AlphaBeta>(m, "AlphaBeta",
                          "Alpha-beta search for one role against all others.\n\n"
                          "A *value* is 1000 times the role's goal; proved ends are moved by their distance, so that wins are\n"
                          "taken soon and losses late.  Threads may share it: `go_on` lets other calls in between.")
        .def(nb::init<CircuitPtr, int, Judge, std::shared_ptr<TranspositionTable>, bool, bool>(), nb::arg("circuit"),
             nb::arg("role"), nb::arg("judge"), nb::arg("table"), nb::arg("exact"), nb::arg("novelty"), Release(),
             "Create a search without a root.\n\n"
             "With `exact`, no successor is searched less deeply than others; with `novelty`, successors in which fluents\n"
             "are true that were so in no root are looked at sooner.")
        .def("move_to",
             [](AlphaBeta &search, Array1<const u64> state) {
                 const u64 *root = checked(search, state);
                 WithoutGil without_gil;
                 search.move_to(root);
             },
             array("state"), "Make a packed state, uint64 [words], the root.")
        .def("begin", &AlphaBeta::begin, nb::arg("depth"), Release(), "Begin an iteration of this depth in steps.")
        .def("go_on", &AlphaBeta::go_on, nb::arg("stop"), nb::arg("most"), Release(),
             "Go on with the iteration until it ends, about `most` states were expanded, or `stop` says so.\n\n"
             "Returns whether it is complete.")
        .def_prop_ro("nodes", &AlphaBeta::nodes, "States expanded since the root was set; does not wait.")
        .def_prop_ro("is_simultaneous", &AlphaBeta::simultaneous,
                     "Whether several roles have a choice in some state that was searched; does not wait.")
        .def("chooser", &AlphaBeta::chooser, Release(),
             "Return the role that has a choice at the root, 0 if none has; negative if not just one has, or one is stuck.")
        .def("root_value", &AlphaBeta::root_value, Release(), "Return the static value of the root.")
        .def("choice", &AlphaBeta::choice, Release(),
             "Return the best move at the root so far in this iteration; -1 if no move was searched.")
        .def("value", &AlphaBeta::value, Release(), "Return the value of the last complete iteration.")
        .def("is_solved", &AlphaBeta::solved, Release(), "Return whether that is proved.")
        .def("depth", &AlphaBeta::depth, Release(), "Return the depth of the current iteration in steps.")
        .def("root", &AlphaBeta::root, Release(), "Return the results of each move at the root, as `RootMove`.")
        .def("seen",
             [](const AlphaBeta &search) {
                 std::vector<u64> found;
                 {
                     WithoutGil without_gil;
                     found = search.seen();
                 }
                 return as_array(std::move(found));
             },
             "Return the fluents that were true in some root, packed; empty without `novelty`.")
        .def("known_move",
             [](const AlphaBeta &search, Array1<const u64> state) { return search.known_move(checked(search, state)); },
             array("state"), "Return the move in the table for a packed state, or -1.");
}

} // namespace herbrand

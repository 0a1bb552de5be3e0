// Binds `Prover`: who can force what.
#include "bind.hpp"
#include "prover.hpp"

#include <nanobind/stl/pair.h>

namespace herbrand {

namespace {

const u64 *checked(const Prover &prover, const Array1<const u64> &state) {
    require(i64(state.size()) == prover.circuit().state_words(), "a state has not the words of the circuit");
    return state.data();
}

nb::tuple known(Prover &prover, Array2<const u64> states, Stop *stop) {
    require(i64(states.shape(1)) == prover.circuit().state_words(), "a state has not the words of the circuit");
    const i64 n = static_cast<i64>(states.shape(0));
    std::vector<std::int8_t> verdicts(static_cast<std::size_t>(n));
    std::vector<u8> work(static_cast<std::size_t>(n));
    {
        const WithoutGil without_gil;
        prover.known(states.data(), n, verdicts.data(), work.data(), stop);
    }
    return nb::make_tuple(as_array(std::move(verdicts)), as_array(std::move(work)));
}

} // namespace

void bind_prover(nb::module_ &m) {
    nb::class_<Prover>(m, "Prover",
                       "Decides by proof-number search whether a role can force a goal value, whatever the others do.\n\n"
                       "Answers about all states that were decided stay in a table for later questions, for any role and goal\n"
                       "value.  A lock serialises calls.")
        .def("__init__",
             [](Prover *self, CircuitPtr circuit, i64 bytes, Array1<const i32> symmetries, int walkers, bool certain) {
                 auto permutations = copied(symmetries);
                 const WithoutGil without_gil;
                 new (self) Prover(std::move(circuit), bytes, std::move(permutations), walkers, certain);
             },
             nb::arg("circuit"), nb::arg("bytes"), array("symmetries"), nb::arg("walkers"), nb::arg("certain") = false,
             "`bytes` bounds the table.  `symmetries`, int32, are permutations of the fluents, one after another, that are\n"
             "proved to preserve the game.  `walkers`, 1 to 64, are the places at which the search goes on at the same time.\n"
             "`certain` allows simultaneous choices: the others, chance among them, then reply to the move of the role.")
        .def("set_threats", &Prover::set_threats, nb::arg("threats").none(), Release(),
             "Set a circuit over the same fluents, or None, whose `terminal` says in which states the side not to move\n"
             "would decide the question if it were to move.  Only the order of the search depends on it.")
        .def("ask",
             [](Prover &prover, Array1<const u64> state, int role, int goal) {
                 const u64 *root = checked(prover, state);
                 const WithoutGil without_gil;
                 prover.ask(root, role, goal);
             },
             array("state"), nb::arg("role"), nb::arg("goal"),
             "Ask whether `role` can force at least `goal` from a packed state, uint64 [words].")
        .def("go_on", [](Prover &prover, Stop &stop, i64 most) { return static_cast<int>(prover.go_on(stop, most)); },
             nb::arg("stop"), nb::arg("most"), Release(),
             "Search until the question is decided, `stop` says so or about `most` states were expanded.\n\n"
             "Returns 1 if it can be forced, -1 if the others can prevent it, 0 if that is not known yet, 2 if this search\n"
             "cannot know it: it depends on repeated states, on simultaneous choices or on ends without a goal value.")
        .def("known", &known, array("states"), stop_argument(),
             "Return what is known of packed states, uint64 [n, words], for the current role and goal value.\n\n"
             "The first array, int8 [n], has 1, -1 and 0 as from `go_on`; the second, uint8 [n], the binary logarithm of the\n"
             "states expanded for the answer.  Terminal states are evaluated, others looked up.")
        .def_prop_ro("expanded", &Prover::expanded, "States whose successors were generated, for all questions.")
        .def_prop_ro("generated", &Prover::generated, "Successors that were generated, for all questions.")
        .def_prop_ro("entries", &Prover::entries, "Used entries of the table.")
        .def_prop_ro("capacity", &Prover::capacity, "Entries of the table.")
        .def_prop_ro("is_simultaneous", &Prover::simultaneous,
                     "Whether several roles have a choice, or one no legal move, in some state that was generated.")
        .def_prop_ro("sums", &Prover::sums,
                     "The least and the greatest sum of the goal values of all roles in terminal states that were generated; -1 for\n"
                     "one in which a role has no goal value.  The greatest is -1, and the least larger, before there is any.")
        .def_prop_ro("numbers", [](const Prover &prover) { return std::make_pair(prover.proof(), prover.disproof()); },
                     "The proof and disproof numbers of the root when it was last left.");
}

} // namespace herbrand

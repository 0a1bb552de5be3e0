#include "bind.hpp"
#include "evaluator.hpp"
#include "lanes.hpp"

#include <nanobind/stl/pair.h>

namespace herbrand {

namespace {

CircuitPtr make_circuit(int fluents, int roles, Array1<const i32> left, Array1<const i32> right,
                        Array1<const i32> feedback, Array2<const i32> loops, Array1<const i32> legal,
                        Array1<const i32> move_role, Array1<const i32> next, int terminal,
                        Array1<const i32> goal, Array1<const i32> goal_role, Array1<const i16> goal_value,
                        Array1<const i32> sees, Array1<const i32> sees_role, Array1<const u64> initial,
                        const std::vector<int> &cones,
                        const std::vector<std::pair<i32, std::vector<i32>>> &alternatives) {
    auto made = std::make_shared<Circuit>();
    Circuit &c = *made;
    c.fluents = fluents;
    c.roles = roles;
    c.moves = static_cast<int>(legal.size());
    c.feedbacks = static_cast<int>(feedback.size());
    c.gates = static_cast<int>(left.size());
    c.left = copied(left);
    c.right = copied(right);
    c.feedback = copied(feedback);
    require(loops.shape(1) == 4, "no circuit: loops have four columns");
    for (std::size_t i = 0; i < loops.shape(0); ++i)
        c.loops.push_back({loops(i, 0), loops(i, 1), loops(i, 2), loops(i, 3)});
    c.legal = copied(legal);
    c.next = copied(next);
    c.terminal = terminal;
    c.goal = copied(goal);
    c.goal_role = copied(goal_role);
    c.goal_value = copied(goal_value);
    c.sees = copied(sees);
    c.sees_role = copied(sees_role);
    c.initial = copied(initial);
    require(cones.size() == 3, "no circuit: there are three cones");
    for (int i = 0; i < 3; ++i) c.cones[i] = cones[i];
    require(roles >= 0 && roles < (1 << 20), "no circuit: the number of roles");
    for (const auto &[family, members] : alternatives) c.alternatives.push_back({family, members});
    auto roles_of_moves = copied(move_role);
    const WithoutGil without_gil;
    c.divide_moves(std::move(roles_of_moves));
    c.validate();
    return made;
}

} // namespace

void bind_circuit(nb::module_ &m) {
    nb::class_<Circuit>(m, "Circuit",
                        "A game as a Boolean circuit, checked and copied: what the core works on.\n\n"
                        "`herbrand.network.Network.circuit` makes it; see there for the encoding.  Immutable.")
        .def_ro("fluents", &Circuit::fluents)
        .def_ro("moves", &Circuit::moves)
        .def_ro("roles", &Circuit::roles)
        .def_ro("gates", &Circuit::gates)
        .def_prop_ro("why_walked", [](const Circuit &c) { return c.evaluating()->why_walked; }, Release(),
                     "Why its gates are interpreted, not compiled to machine code; empty if they are compiled.")
        .def_prop_ro("state_words", &Circuit::state_words, "Words of 64 bits in a packed state.")
        .def_prop_ro("legal_words", &Circuit::legal_words, "Words in a packed set of legal moves.")
        .def_ro("bounds", &Circuit::bounds, "The first move of each role, and the number of moves.")
        .def_ro("places", &Circuit::places, "The first word of each role in a packed set of legal moves.");
    m.def("make_circuit", &make_circuit, nb::arg("fluents"), nb::arg("roles"), array("left"), array("right"),
          array("feedback"), array("loops"), array("legal"), array("move_role"), array("next"),
          nb::arg("terminal"), array("goal"), array("goal_role"), array("goal_value"), array("sees"),
          array("sees_role"), array("initial"), nb::arg("cones"),
          nb::arg("alternatives") = std::vector<std::pair<i32, std::vector<i32>>>(),
          "Return a `Circuit`; raises `ValueError` if the arrays are inconsistent.");
}

} // namespace herbrand

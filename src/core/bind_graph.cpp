#include "bind.hpp"
#include "factor.hpp"
#include "graph.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace herbrand {

namespace {

template <class T> View<T> view(const Array1<const T> &array) {
    return {array.data(), static_cast<i64>(array.size())};
}

View<i32> loops_of(const Array2<const i32> &loops) {
    require(loops.shape(1) == 4, "loops have four columns");
    return {loops.data(), static_cast<i64>(loops.size())};
}

// What `work` returns, other threads running meanwhile.
template <class Work> auto released(Work &&work) {
    WithoutGil without_gil;
    return work();
}

using Numbers = nb::ndarray<nb::numpy, i32, nb::ndim<1>>;

// An array over operands of a graph, of all nodes that there is room for; it keeps their memory alive.
Numbers operands(const GateGraph &graph, std::vector<i32> GateGraph::Operands::*side) {
    auto *kept = new std::shared_ptr<GateGraph::Operands>(graph.operands());
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::shared_ptr<GateGraph::Operands> *>(p); });
    std::vector<i32> &values = (**kept).*side;
    return Numbers(values.data(), {values.size()}, owner);
}

} // namespace

void bind_graph(nb::module_ &m) {
    nb::class_<GateGraph>(m, "GateGraph",
                          "A growing and-inverter graph with structural hashing; see `herbrand.network.circuit`.\n\n"
                          "Node 0 is false, then come variables and gates in the order in which they are made; a\n"
                          "literal is 2 * node + inverted.  One that is out of range is a `ValueError`.")
        .def(nb::init<>())
        .def_prop_ro("nodes", &GateGraph::nodes, "The number of nodes.")
        .def_prop_ro(
            "left", [](const GateGraph &graph) { return operands(graph, &GateGraph::Operands::left); },
            nb::rv_policy::automatic,
            "[room] int32, the first operands of gates; -1 for what is none.  New arrays when the graph has grown.")
        .def_prop_ro(
            "right", [](const GateGraph &graph) { return operands(graph, &GateGraph::Operands::right); },
            nb::rv_policy::automatic,
            "[room] int32, the second operands.")
        .def("variables", &GateGraph::variables, nb::arg("count"),
             "Create variables; return the node of the first one.")
        .def("conjunction",
             [](GateGraph &graph, i32 a, i32 b) {
                 const i32 both[] = {a, b};
                 return graph.all_of({both, 2});
             },
             nb::arg("a"), nb::arg("b"), "Return the literal of `a and b`.")
        .def("copy",
             [](GateGraph &graph, Array1<const i32> left, Array1<const i32> right, i64 first, i64 begin, i64 end,
                Array1<i32> value) {
                 graph.copy(view(left), view(right), first, begin, end, value.data(),
                            static_cast<i64>(value.size()));
             },
             array("left"), array("right"), nb::arg("first"), nb::arg("begin"), nb::arg("end"),
             array("value"),
             "Copy the gates `begin <= g < end` of a graph whose gate 0 is node `first`.\n\n"
             "`value[node]`, int32, holds the literals that its nodes stand for, and is filled in for these gates.")
        .def("all_of", [](GateGraph &graph, Array1<const i32> literals) { return graph.all_of(view(literals)); },
             array("literals"), "Return the conjunction of any number of literals.")
        .def("only_one", [](GateGraph &graph, Array1<const i32> literals) { return graph.only_one(view(literals)); },
             array("literals"), "Return the literals of \"exactly one is true\" and \"at most one is true\".");

    m.def(
        "strong_components",
        [](Array1<const i64> start, Array1<const i32> edges, i64 count) {
            Components components = released([&] { return strong_components(view(start), view(edges), count); });
            return nb::make_tuple(as_array(std::move(components.order)), as_array(std::move(components.component)));
        },
        array("start"), array("edges"), nb::arg("count"),
        "Return nodes in an order in which ends of edges come first, and each one's component, [count] int32.\n\n"
        "The edges of node n are `edges[start[n]:start[n + 1]]` (Tarjan 1972).");
    m.def(
        "build_gates",
        [](Array1<const i32> order, Array1<const i32> component, Array1<const i64> rule_start,
           Array1<const i32> rules, Array1<const i64> body_start, Array1<const i32> body, Array1<i32> literal,
           i64 first, i64 feedback_first) {
            Wired made = released([&] {
                return build_gates(view(order), view(component), view(rule_start), view(rules), view(body_start),
                                   view(body), literal.data(), static_cast<i64>(literal.size()), first,
                                   feedback_first);
            });
            return nb::make_tuple(as_array(std::move(made.left)), as_array(std::move(made.right)),
                                  as_array(std::move(made.feedback)), as_array2(std::move(made.loops), 4));
        },
        array("order"), array("component"), array("rule_start"), array("rules"),
        array("body_start"), array("body"), array("literal"), nb::arg("first"),
        nb::arg("feedback_first"),
        "Build the gates of all atoms; see `herbrand.network.graph.build_gates`.");
    m.def(
        "mark_cone",
        [](Array1<const i32> left, Array1<const i32> right, i64 first, i64 feedback_first,
           Array1<const i32> feedback,
           Array2<const i32> loops, Array1<const i32> wanted) {
            return as_array(released([&] {
                return mark_cone(view(left), view(right), first, feedback_first, view(feedback), loops_of(loops),
                                 view(wanted));
            }));
        },
        array("left"), array("right"), nb::arg("first"), nb::arg("feedback_first"), array("feedback"),
        array("loops"), array("wanted"),
        "Return for each gate whether the literals `wanted` depend on it, [gates] uint8; of loops all gates or none.");
    m.def(
        "unknown_cone",
        [](Array1<const i32> left, Array1<const i32> right, Array1<std::int8_t> state, Array1<i32> uses, i64 root) {
            const i64 room = static_cast<i64>(std::min(state.size(), uses.size()));
            return as_array(unknown_cone(view(left), view(right), state.data(), uses.data(), room, root));
        },
        array("left"), array("right"), array("state"), array("uses"), nb::arg("root"),
        "Return the gates that a node depends on and that are not defined yet, as wide conjunctions, int64;\n"
        "see `herbrand.network.graph.unknown_cone`.");
    m.def(
        "conjuncts",
        [](Array1<const i32> left, Array1<const i32> right, i64 first, i32 literal) {
            return as_array(conjuncts(view(left), view(right), first, literal));
        },
        array("left"), array("right"), nb::arg("first"), nb::arg("literal"),
        "Return the literals of the maximal conjunction that equals a literal, int32.");
    m.def(
        "cone_sizes",
        [](Array1<const i32> left, Array1<const i32> right, i64 first, Array1<const i32> literals, i64 most) {
            return as_array(
                released([&] { return cone_sizes(view(left), view(right), first, view(literals), most); }));
        },
        array("left"), array("right"), nb::arg("first"), array("literals"), nb::arg("most"),
        "Return the number of gates that each literal depends on, int64, capped at `most`.");
    m.def(
        "factor",
        [](Array1<const i32> left, Array1<const i32> right, i64 first, Array1<const i32> outputs,
           Array1<const i64> group_start, Array1<const i32> group) {
            Factored made = released([&] {
                return factor(view(left), view(right), first, view(outputs), view(group_start), view(group));
            });
            return nb::make_tuple(as_array(std::move(made.left)), as_array(std::move(made.right)),
                                  as_array(std::move(made.outputs)));
        },
        array("left"), array("right"), nb::arg("first"), array("outputs"), array("group_start"), array("group"),
        "Return a smaller graph for the same outputs: gates' operands, and the literals of the outputs, all int32.\n\n"
        "Gate g is node `first + g`.  `group[group_start[k]:group_start[k + 1]]` are literals of inputs of which\n"
        "never two are true; see `herbrand.network.passes.factor`.");
}

} // namespace herbrand

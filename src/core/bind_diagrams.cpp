// Binds `Diagrams`: large sets of states.
#include "bind.hpp"
#include "diagrams.hpp"

namespace herbrand {

namespace {

nb::object whole(unsigned __int128 number) {
    const nb::int_ high(static_cast<u64>(number >> 64)), low(static_cast<u64>(number));
    return high.attr("__lshift__")(64).attr("__or__")(low);
}

} // namespace

void bind_diagrams(nb::module_ &m) {
    nb::class_<Diagrams>(m, "Diagrams",
                         "Sets of states, and relations between states, as decision diagrams.\n\n"
                         "A state is a row of small numbers, one for each level.  Sets and relations are numbers: 0 is empty, 1 the\n"
                         "set of the state of zeros or the relation that changes nothing; equal ones have equal numbers.  They are\n"
                         "valid until a `collect` that does not name them.  Operations raise `MemoryError` where there is no room.\n"
                         "Not for several threads.")
        .def("__init__",
             [](Diagrams *self, Array1<const i32> values, i64 bytes) { new (self) Diagrams(copied(values), bytes); },
             array("values"), nb::arg("bytes"),
             "`values`, int32 [levels], are the numbers of values of each level, 2 to 4; `bytes` bounds the memory.")
        .def("state", [](Diagrams &d, Array1<const i32> values) { return d.state(copied(values)); }, array("values"),
             "Return the set of one state, int32 [levels].")
        .def("relation", [](Diagrams &d, int level, const std::vector<u32> &children) { return d.relation(level, children); },
             nb::arg("level"), nb::arg("children"),
             "Return the relation with these relations of later levels for each pair of values of a level: those for the\n"
             "first value before the step first.")
        .def("unite_relations", &Diagrams::unite_relations, nb::arg("a"), nb::arg("b"), stop_argument(), Release(),
             "Return the pairs of states that are in either relation.")
        .def("image", &Diagrams::image, nb::arg("states"), nb::arg("relation"), stop_argument(), Release(),
             "Return the states to which a relation leads from those of a set.")
        .def("unite", &Diagrams::unite, nb::arg("a"), nb::arg("b"), stop_argument(), Release(), "Return the states of either set.")
        .def("intersect", &Diagrams::intersect, nb::arg("a"), nb::arg("b"), stop_argument(), Release(), "Return the states of both sets.")
        .def("subtract", &Diagrams::subtract, nb::arg("a"), nb::arg("b"), stop_argument(), Release(),
             "Return the states of the first set that are not in the second.")
        .def("collect",
             [](Diagrams &d, const std::vector<u32> &roots) {
                 Diagrams::Measured measured;
                 {
                     const WithoutGil without_gil;
                     measured = d.collect(roots);
                 }
                 if (measured.too_many) throw std::overflow_error("a set has more than 2^128 states");
                 return nb::make_tuple(whole(measured.states), measured.nodes);
             },
             nb::arg("roots"),
             "Forget everything that these sets and relations do not need.\n\n"
             "Returns the number of states in the first of them, a set, and of its nodes.  `OverflowError` if it has more\n"
             "than 2^128 states.")
        .def("exported",
             [](Diagrams &d, const std::vector<u32> &roots) {
                 Diagrams::Exported saved = d.exported(roots);
                 return nb::make_tuple(as_array(std::move(saved.levels)), as_array(std::move(saved.children)),
                                       as_array(std::move(saved.roots)));
             },
             nb::arg("roots"),
             "Return sets as arrays: the levels of nodes, uint16, children before their parents; the children, uint32, one\n"
             "node after the other, where k + 2 is node k; and the sets, uint32.")
        .def("imported",
             [](Diagrams &d, Array1<const u16> levels, Array1<const u32> children, Array1<const u32> roots) {
                 return d.imported({copied(levels), copied(children), copied(roots)});
             },
             array("levels"), array("children"), array("roots"), "Return the sets of such arrays; `ValueError` for others.")
        .def_prop_ro("nodes", &Diagrams::nodes, "Nodes, those included that nobody needs.");
}

} // namespace herbrand

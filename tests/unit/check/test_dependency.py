"""The dependency graph: components, strata, paths, and cycles of rules."""

from __future__ import annotations

import random
from xml.etree import ElementTree as ET

import pytest

from herbrand.check.dependency import DependencyGraph, dependency_graph, negative_rule_cycles
from herbrand.check.relations import strongly_connected
from herbrand.syntax import read


def graph(text: str) -> DependencyGraph:
    return dependency_graph(read(text, "prefix").statements)


def bad_cycles(text: str) -> int:
    statements = read(text, "prefix").statements
    return len(negative_rule_cycles(dependency_graph(statements), statements))


def test_edges_have_polarity() -> None:
    """A literal under an odd number of `not` makes a negative edge; facts make none."""
    g = graph("(<= p (q a) (not (r ?x ?y)) (or (not s) t) (not (not u))) (q a)")
    assert str(g) == "p/0: q/1 ~r/2 ~s/0 t/0 u/0\nq/1:\nr/2:\ns/0:\nt/0:\nu/0:"
    assert [edge.negative for edge in g.edges] == [False, True, True, False, False]


def test_relations_of_different_arity_are_different_nodes() -> None:
    """`p` with one and with two arguments do not depend on each other."""
    g = graph("(<= (p ?x) (p ?x ?x))")
    assert g.nodes == (("p", 1), ("p", 2))
    assert not g.recursive


def test_components_come_after_what_they_depend_on() -> None:
    """Evaluation can follow the order of the components."""
    g = graph("(<= a b) (<= b c) (<= c b) (<= c d) (<= e a)")
    names = [tuple(sorted(n for n, _ in part)) for part in g.components]
    assert names == [("d",), ("b", "c"), ("a",), ("e",)]
    assert g.recursive == {("b", 0), ("c", 0)}


def test_strata_rise_over_negation_only() -> None:
    """A relation is above what it depends on negatively, and as low as possible."""
    g = graph("(<= a (not b)) (<= b c) (<= d (not a)) (<= e d)")
    assert g.strata == ((("b", 0), ("c", 0)), (("a", 0),), (("d", 0), ("e", 0)))
    assert g.is_stratified


def test_a_negative_cycle_is_found_and_shown() -> None:
    """The cycle begins with the negative edge and comes back."""
    g = graph("(<= a b) (<= b c) (<= c (not a))")
    assert not g.is_stratified
    cycle = g.cycle(g.negative_cycle_edges[0])
    assert [str(edge) for edge in cycle] == ["c/0 -> not a/0", "a/0 -> b/0", "b/0 -> c/0"]


def test_paths_are_shortest_and_can_avoid_a_relation() -> None:
    """`path` gives a chain of edges; () when there is none."""
    g = graph("(<= a b) (<= b c) (<= c d) (<= a x) (<= x d)")
    assert [edge.body[0] for edge in g.path(("a", 0), ("d", 0))] == ["x", "d"]
    assert [e.body[0] for e in g.path(("a", 0), ("d", 0), avoiding=("x", 0))] == ["b", "c", "d"]
    assert g.path(("d", 0), ("a", 0)) == ()
    assert g.depends_on(("a", 0), ("c", 0))
    assert not g.depends_on(("a", 0), ("a", 0))


def test_dot_names_every_node_and_edge() -> None:
    """Graphviz text: negative edges dashed, quotes escaped, one line each."""
    dot = graph('(<= (p"q ?x) (not (r ?x)))').to_dot()
    assert dot.startswith("digraph dependencies {")
    assert '[label="p\\"q/1"]' in dot
    assert "n0 -> n1 [style=dashed];" in dot


def test_components_agree_with_the_definition_on_random_graphs() -> None:
    """Two nodes share a component exactly when each reaches the other; successors come first."""
    chance = random.Random(1)
    for _ in range(60):
        size = chance.randrange(1, 12)
        arcs = {i: [chance.randrange(size) for _ in range(chance.randrange(3))] for i in range(size)}
        reach = {i: {i} for i in arcs}
        for _ in arcs:
            for i in arcs:
                reach[i] |= {k for j in reach[i] for k in arcs[j]}
        found = strongly_connected(arcs, arcs.__getitem__)
        place = {node: number for number, part in enumerate(found) for node in part}
        for i in arcs:
            for j in arcs:
                assert (place[i] == place[j]) == (j in reach[i] and i in reach[j])
                assert j not in reach[i] or place[j] <= place[i]


def test_a_long_chain_needs_no_deep_recursion() -> None:
    """20 000 relations in a row are no trouble."""
    size = 20_000
    found = strongly_connected(range(size), lambda i: [i + 1] if i + 1 < size else [])
    assert len(found) == size


def test_rules_are_told_apart_by_their_heads() -> None:
    """A cycle by name is no cycle by rule when the heads do not unify."""
    assert bad_cycles("(<= (g ?r 0) (role ?r) (not (g ?r 100))) (<= (g ?r 100) (won ?r))") == 0
    assert bad_cycles("(<= (g ?r ?n) (v ?n) (not (g ?r 100)))") == 1
    assert bad_cycles("(<= (p (s ?x)) (q ?x) (not (p ?x)))") == 1
    assert bad_cycles("(<= (p (f ?x)) (q ?x) (not (p (g ?x))))") == 0


def test_repeated_variables_are_unified_exactly() -> None:
    """(p ?x ?x) does not meet (p a b), and a variable does not meet a term with itself inside."""
    assert bad_cycles("(<= (p a b) (q a) (not (p ?x ?x)))") == 0
    assert bad_cycles("(<= (p ?x (f ?x)) (q ?x) (not (p ?y ?y)))") == 0
    assert bad_cycles("(<= (p ?x ?x) (q ?x) (not (p ?y ?z)))") == 1


def test_a_cycle_of_rules_is_a_cycle() -> None:
    """Each step ends in the rule where the next one begins, and the first step is negative."""
    text = "(<= (a ?x) (b ?x)) (<= (b ?x) (or (q ?x) (c ?x))) (<= (c ?x) (q ?x) (not (a ?x))) (q 1)"
    statements = read(text, "prefix").statements
    (cycle,) = negative_rule_cycles(dependency_graph(statements), statements)
    assert cycle[0].negative
    assert len(cycle) == 3
    for step, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert step.other is following.rule


def test_a_graph_is_drawn_with_strata_as_layers() -> None:
    """Each relation lies above those it asks for, and higher strata above lower ones; names are escaped."""
    g = graph("(<= p q (not r)) (<= q s) (<= r s) (<= s (t a)) (<= |<b>| p) (alone a) (<= u u s)")
    drawn = g.to_svg()
    root = ET.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    places = {
        node.attrib["data-relation"]: float(node.find(f"{space}rect").attrib["y"])  # type: ignore[union-attr]
        for node in root.iter(f"{space}g")
    }
    assert set(places) == {"p/0", "q/0", "r/0", "s/0", "t/1", "|<b>|/0", "u/0"}
    for edge in g.edges:
        if edge.head != edge.body:
            head, body = (f"{name}/{arity}" for name, arity in (edge.head, edge.body))
            assert places[head] < places[body], str(edge)
    assert max(places["p/0"], places["|<b>|/0"]) < min(places[name] for name in ("q/0", "r/0", "u/0"))
    edges = [path for path in root.iter(f"{space}path") if "data-from" in path.attrib]
    assert sum("stroke-dasharray" in path.attrib for path in edges) == 1
    assert len(edges) == len(g.edges) - 1
    assert dependency_graph(()).to_svg().startswith("<svg")


def test_wide_strata_are_wrapped_and_cycles_drawn_from_above() -> None:
    """A row has a bounded width; in a cycle an edge leaves at the upper side of its relation."""
    space = "{http://www.w3.org/2000/svg}"
    g = graph(" ".join(f"(<= relation_with_a_long_name_{n} base)" for n in range(20)))
    root = ET.fromstring(g.to_svg())
    assert float(root.attrib["width"]) < 1200
    rows = {rect.attrib["y"] for node in root.iter(f"{space}g") for rect in node.iter(f"{space}rect")}
    assert len(rows) > 3
    root = ET.fromstring(graph("(<= a b) (<= b a)").to_svg())
    (top,) = {rect.attrib["y"] for node in root.iter(f"{space}g") for rect in node.iter(f"{space}rect")}
    edges = [path.attrib["d"] for path in root.iter(f"{space}path") if "data-from" in path.attrib]
    assert [edge.split("C")[0].split()[1] for edge in edges] == [top, top]
    assert "<rect" not in graph("(alone a)").to_svg()


def test_networkx_gets_the_same_graph() -> None:
    """Relations with whether they are recursive, dependencies with whether they are negative and their rule."""
    pytest.importorskip("networkx")
    g = graph("(<= a b) (<= b (not c)) (<= c c) (<= c d)")
    other = g.to_networkx()
    assert dict(other.nodes(data="recursive")) == {(name, 0): name == "c" for name in "abcd"}
    assert {(head, body, data["negative"], data["rule"]) for head, body, data in other.edges(data=True)} == {
        (edge.head, edge.body, edge.negative, edge.rule) for edge in g.edges
    }


def test_edges_leave_a_relation_towards_the_other() -> None:
    """From its lower border if the other is below, from its upper border if it is above; boxes do not overlap."""
    drawn = ET.fromstring(
        graph("(<= (a ?x) (b ?x)) (<= (b ?x) (c ?x)) (<= (c ?x) (b ?x)) (<= (a ?x) (d ?x))").to_svg()
    )
    svg = "{http://www.w3.org/2000/svg}"
    boxes = {}
    for group in drawn.iter(f"{svg}g"):
        box = group.find(f"{svg}rect")
        if box is not None and (name := group.get("data-relation")):
            boxes[name] = [float(box.get(key, "nan")) for key in ("x", "y", "width", "height")]
    for one, (x, y, width, height) in boxes.items():
        for other, (x2, y2, width2, height2) in boxes.items():
            apart = x + width < x2 or x2 + width2 < x or y + height < y2 or y2 + height2 < y
            assert one == other or apart, (one, other)
    directions = set()
    for path in drawn.iter(f"{svg}path"):
        if not (head := path.get("data-from")):
            continue
        _, y, _, height = boxes[head]
        _, end, _, _ = boxes[path.get("data-to", "")]
        start = float(path.get("d", "").split("C")[0].split()[1])
        assert abs(start - (y + height if end > y else y)) < 1
        directions.add(end > y)
    assert directions == {True, False}

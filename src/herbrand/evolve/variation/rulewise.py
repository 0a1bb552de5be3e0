"""Mutation and crossover of arbitrary GDL rulesheets, rule by rule.

| operator    | what it does                                                                              |
|-------------|-------------------------------------------------------------------------------------------|
| `constant`  | replaces a constant by another one of its type; numbers mostly change by one               |
| `relation`  | replaces the relation of a condition by one with the same argument types                  |
| `negate`    | negates a condition, or removes its negation                                              |
| `drop`      | removes a condition                                                                       |
| `copy`      | adds a condition of another rule, with variables of the same types                        |
| `remove`    | removes a rule                                                                            |
| `swap`      | (crossover) replaces the rules for a relation by those of the other sheet                 |

Relations keep their arities, and arguments their types (`types`).  Results with a diagnostic above a note,
such as unsafe or unstratified rules, are discarded, as are results with dead relations.  Comments and layout
of unchanged rules are preserved.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from herbrand.check import check
from herbrand.diagnostic import Source
from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.variation.lineage import Lineage, Variant
from herbrand.syntax import read
from herbrand.syntax.argument_types import Types, places
from herbrand.syntax.layout import format_text
from herbrand.syntax.nodes import Atom, Constant, Function, Not, Rule, Variable, rebuilt, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.evolve.blocks.design import Design
    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tree import Tree

__all__ = ["cross_rules", "mutate_rules"]

ATTEMPTS: Final = 60
"""Maximum number of attempts."""
_FIXED: Final = frozenset({"role", "base", "input"})
"""Relations whose rules are not varied, since they declare the domain."""
_VOCABULARY: Final = frozenset(
    {
        *(("succ", 2), ("number", 1), ("greater", 2), ("at_least", 2), ("at_most", 2), ("sum", 3)),
        *(("column", 1), ("row", 1), ("square", 2), ("right_of", 2), ("above", 2), ("toward", 5)),
        *(("right", 2), ("up", 2), ("following", 4), ("rivals", 2)),
    }
)
"""The same for relations that designs print, whose meaning comments describe: numbers, the board,
opponents."""
_INPUTS: Final = frozenset({"true", "does"})


def mutate_rules(design: Design | str, seed: int) -> Variant:
    """Return the rulesheet of a design, or any prefix rulesheet, with one of its rules changed.

    Results have no warnings and are deterministic by seed.  Raises `GameError` for a text with syntax errors.
    """
    text, name = _text_of(design)
    tree = read(text, "prefix", name)
    types = Types.of(tree.statements)
    numbers = [n for n, rule in enumerate(tree.statements) if _may_change(rule.head.key)]

    weights = [4 if tree.statements[n].body else 1 for n in numbers]

    def attempt(chance: Random) -> tuple[str, str] | None:
        (number,) = chance.choices(numbers, weights)
        rule = tree.statements[number]
        ways = _OPERATORS if rule.body else (_constant, _constant, _remove)
        way = chance.choice(ways)
        new = way(rule, tree, types, chance)
        if new is None or new == rule:
            return None
        change = f"“{rule}” is gone" if new is _REMOVED else f"“{rule}” became “{new}”"
        return _with_rules(tree, {number: [] if new is _REMOVED else [new]}), change

    return _first("mutate_rules", attempt, (design,), text, seed)


def cross_rules(mother: Design | str, father: Design | str, seed: int) -> Variant:
    """Return the first rulesheet with some or all rules for one relation taken from the second one.

    The relation is one that both define; other relations that these rules need are copied, too.
    """
    text, name = _text_of(mother)
    tree = read(text, "prefix", name)
    other = read(*(_text_of(father)[0], "prefix"))
    own = {rule.head.key for rule in tree.statements}
    theirs: dict[tuple[str, int], list[Rule]] = {}
    for rule in other.statements:
        theirs.setdefault(rule.head.key, []).append(rule)
    shared = sorted(
        key
        for key in own & theirs.keys()
        if _may_change(key) and {r for r in tree.statements if r.head.key == key} != set(theirs[key])
    )

    def attempt(chance: Random) -> tuple[str, str] | None:
        if not shared:
            return None
        key = chance.choice(shared)
        old = [n for n, rule in enumerate(tree.statements) if rule.head.key == key]
        if chance.random() < 0.5:
            old = [chance.choice(old)]
        new = theirs[key] if chance.random() < 0.5 else [chance.choice(theirs[key])]
        helpers = _needed(new, theirs, own)
        changed: dict[int, list[Rule]] = {number: [] for number in old}
        changed[old[0]] = [*new, *helpers]
        were = "a rule" if len(old) == 1 else f"{len(old)} rules"
        by = f"{'one' if len(new) == 1 else len(new)} of {_text_of(father)[1]}"
        change = f"{were} for {key[0]} {'was' if len(old) == 1 else 'were'} replaced by {by}"
        return _with_rules(tree, changed), change

    return _first("cross_rules", attempt, (mother, father), text, seed)


def _may_change(relation: tuple[str, int]) -> bool:
    return relation[0] not in _FIXED and relation not in _VOCABULARY


def _text_of(design: Design | str) -> tuple[str, str]:
    if isinstance(design, str):
        return design, "rulesheet"
    return (design.sheet if isinstance(design, Rewritten) else design.rulesheet()), design.name


def _first(
    operator: str,
    attempt: Callable[[Random], tuple[str, str] | None],
    parents: tuple[Design | str, ...],
    old: str,
    seed: int,
) -> Variant:
    """Return the first attempt that is a valid rulesheet."""
    chance = Random(seed)
    reasons = []
    names = tuple(_text_of(parent)[1] for parent in parents)
    before = {d.check for d in check(read(old, "prefix")).diagnostics}
    parent = parents[0]
    origin, changes = None if isinstance(parent, str) else parent, tuple[str, ...]()
    if isinstance(parent, Rewritten):
        origin, changes = parent.origin, parent.changes
    for _ in range(ATTEMPTS):
        result = attempt(chance)
        if result is None:
            reasons.append("nothing to change")
            continue
        text, change = result
        if reason := _unsound(text, before):
            reasons.append(reason)
            continue
        sheet = format_text(Source(text, "prefix"), width=110)
        new = Rewritten(sheet, origin, (*changes, change))
        return Variant(new, Lineage(operator, seed, names, change), tuple(reasons))
    return Variant(None, Lineage(operator, seed, names), tuple(reasons))


def _unsound(text: str, before: set[str]) -> str | None:
    """Return the first diagnostic above a note, or about a dead relation that the parent does not have."""
    for diagnostic in check(read(text, "prefix")).diagnostics:
        if diagnostic.severity.value != "note":
            return f"{diagnostic.check}: {diagnostic.message}"
        if diagnostic.check in {"unused-relation", "no-extreme-goal"} and diagnostic.check not in before:
            return f"dead: {diagnostic.message}"
    return None


def _with_rules(tree: Tree, changed: dict[int, list[Rule]]) -> str:
    """Return the text with some statements replaced and the rest unchanged."""
    text, pieces, last = tree.source.text, [], 0
    for number in sorted(changed):
        rule = tree.statements[number]
        pieces += [text[last : rule.start], "\n".join(map(str, changed[number]))]
        last = rule.end
    return "".join([*pieces, text[last:]])


def _needed(
    rules: Sequence[Rule], theirs: dict[tuple[str, int], list[Rule]], own: set[tuple[str, int]]
) -> list[Rule]:
    """Return the rules for relations of the other sheet that these rules need, directly or indirectly."""
    needed: list[Rule] = []
    pending, seen = list(rules), set(own)
    while pending:
        rule = pending.pop()
        for literal in rule.body:
            atom = _atom(literal)
            if atom is not None and atom.key not in seen and atom.key in theirs:
                seen.add(atom.key)
                needed += theirs[atom.key]
                pending += theirs[atom.key]
    return needed


def _atom(literal: Literal) -> Atom | None:
    """Return the atom of a positive or negated literal; None for other literals."""
    if isinstance(literal, Not):
        return literal.literal if isinstance(literal.literal, Atom) else None
    return literal if isinstance(literal, Atom) else None


# -- operators: each returns a new rule, `_REMOVED`, or None if it does not apply --------------------

_REMOVED: Final = Rule(Atom("gone"))


def _constant(rule: Rule, _tree: Tree, types: Types, chance: Random) -> Rule | None:
    """Replace one constant."""
    spots = []
    for atom in (rule.head, *(a for literal in rule.body if (a := _atom(literal)) is not None)):
        spots += [(place, term) for place, term in places(atom) if isinstance(term, Constant)]
    if not spots:
        return None
    place, old = chance.choice(spots)
    others = [constant for constant in types.domain(place) if constant != old]
    if old.name.isdigit() and chance.random() < 0.7:
        near = {str(int(old.name) + 1), str(int(old.name) - 1)}
        others = [constant for constant in others if constant.name in near] or others
    if not others:
        return None
    return _replaced(rule, chance, old, chance.choice(others))


def _replaced(rule: Rule, chance: Random, old: Constant, new: Constant) -> Rule:
    """Replace a constant in one of the atoms that contain it."""
    parts = [rule.head, *rule.body]
    chosen = chance.choice([n for n, part in enumerate(parts) if old in _constants(part)])
    parts[chosen] = _mapped(parts[chosen], {old: new})
    head, *body = parts
    assert isinstance(head, Atom)
    return Rule(head, tuple(body))


def _constants(node: Any) -> set[Constant]:
    if isinstance(node, Constant):
        return {node}
    if isinstance(node, (Atom, Function)):
        return set().union(*(_constants(arg) for arg in node.args))
    return _constants(node.literal) if isinstance(node, Not) else set()


def _mapped(node: Any, to: dict[Any, Any]) -> Any:
    """Return a node with its terms replaced by a mapping."""
    if isinstance(node, (Constant, Variable)):
        return to.get(node, node)
    return rebuilt(node, lambda child: _mapped(child, to))


def _relation(rule: Rule, tree: Tree, types: Types, chance: Random) -> Rule | None:
    """Replace the relation of a condition."""
    atoms = [(n, _atom(literal)) for n, literal in enumerate(rule.body)]
    spots = [n for n, atom in atoms if atom is not None and atom.args and atom.name not in _INPUTS]
    if not spots:
        return None
    number = chance.choice(spots)
    atom = _atom(rule.body[number])
    assert atom is not None
    signature = types.signature(atom)
    others = sorted(
        {
            other.head.name
            for other in tree.statements
            if other.head.arity == atom.arity
            and other.head.name not in _FIXED | {"next", "legal", "init", "goal", "sees", atom.name}
            and types.signature(other.head) == signature
        }
    )
    if not others:
        return None
    new: Literal = Atom(chance.choice(others), atom.args)
    return _with(rule, number, [Not(new) if isinstance(rule.body[number], Not) else new])


def _negate(rule: Rule, _tree: Tree, _types: Types, chance: Random) -> Rule | None:
    """Negate a condition, or remove its negation."""
    number = chance.randrange(len(rule.body))
    literal = rule.body[number]
    if isinstance(literal, Not):
        return _with(rule, number, [literal.literal])
    return _with(rule, number, [Not(literal)]) if isinstance(literal, Atom) else None


def _drop(rule: Rule, _tree: Tree, _types: Types, chance: Random) -> Rule | None:
    """Remove a condition."""
    return _with(rule, chance.randrange(len(rule.body)), []) if len(rule.body) > 1 else None


def _copy(rule: Rule, tree: Tree, types: Types, chance: Random) -> Rule | None:
    """Add a condition of another rule, with variables of this rule where the types agree."""
    donor = chance.choice([other for other in tree.statements if other.body])
    literal = chance.choice(donor.body)
    atom = _atom(literal)
    if atom is None or atom.name == "does":
        return None
    here: dict[Any, list[Variable]] = {}
    for own_atom in (rule.head, *(a for part in rule.body if (a := _atom(part)) is not None)):
        for place, term in places(own_atom):
            if isinstance(term, Variable) and term not in here.setdefault(types.type_of(place), []):
                here[types.type_of(place)].append(term)
    to: dict[Term, Term] = {}
    for place, term in places(atom):
        fitting = here.get(types.type_of(place), [])
        if isinstance(term, Variable) and term not in to:
            to[term] = chance.choice(fitting) if fitting else Variable(f"{term.name}_new")
    return Rule(rule.head, (*rule.body, _mapped(literal, to)))


def _remove(_rule: Rule, _tree: Tree, _types: Types, _chance: Random) -> Rule | None:
    """Remove the rule."""
    return _REMOVED


def _with(rule: Rule, number: int, literals: Sequence[Literal]) -> Rule | None:
    """Return the rule with one condition replaced; None if a variable of the head becomes unbound."""
    body = (*rule.body[:number], *literals, *rule.body[number + 1 :])
    binding = [literal for literal in body if isinstance(literal, Atom)]
    bound = {variable.name for literal in binding for variable in variables_of(literal)}
    free = {variable.name for variable in variables_of(rule.head)}
    return Rule(rule.head, body) if free <= bound else None


_OPERATORS: Final = (_constant, _constant, _relation, _negate, _drop, _copy, _copy, _remove)

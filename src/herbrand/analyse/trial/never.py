"""Conditions that hold in no play: most are misspelt.

The facts of the delete relaxation (`herbrand.syntax.ggdl.relax`) include all that can ever be true.  A
condition of which none is an instance never holds, and its rule never applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.play import NEVER_TRUE
from herbrand.diagnostic import Diagnostic, Edit, Fix, Span
from herbrand.errors import BudgetExceeded
from herbrand.syntax.ggdl.relax import relation_of, relax
from herbrand.syntax.nodes import Atom, Constant, Function, Variable, variables_of, walk

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.syntax.ggdl.relax import DerivedFacts, Relation
    from herbrand.syntax.nodes import Rule, Term

__all__ = ["never_checks"]

MAX_STEPS: Final = 100_000
"""Conditions that the relaxation may evaluate: about half a second."""
SHOWN: Final = 6


def never_checks(rules: Rules, *, max_steps: int = MAX_STEPS) -> tuple[Diagnostic, ...]:
    """Report the conditions that never hold, one for each relation; none if that takes too many steps.

    A condition on a relation that is empty is not reported if the rules of that relation have one themselves.
    """
    statements = rules.tree.statements
    atoms = [atom for rule in statements for atom in (rule.head, *_conditions(rule))]
    try:
        model = relax(statements, {relation_of(atom) for atom in atoms}, {}, None, max_steps=max_steps)
    except BudgetExceeded:
        return ()
    never = [
        (rule, atom)
        for rule in statements
        for atom in _conditions(rule)
        if atom.key[0] not in {"role", "base", "input"} and not model.has_instance(atom)
    ]
    explained = _explained(never)
    findings: dict[Relation, Diagnostic] = {}
    defined = {relation_of(rule.head) for rule in statements}
    for rule, atom in never:
        relation = relation_of(atom)
        if relation in explained or (not relation[0] and relation not in defined):
            continue  # its own rules have such a condition; or it is undefined, which another check reports
        findings.setdefault(relation, _finding(rules, model, rule, atom))
    return tuple(findings.values())


def _conditions(rule: Rule) -> list[Atom]:
    """Return the positive atoms of a conjunctive body."""
    return [literal for literal in rule.body if isinstance(literal, Atom)]


def _explained(never: list[tuple[Rule, Atom]]) -> set[Relation]:
    """Return the empty relations that are empty because a condition in their rules never holds."""
    blocked: dict[Relation, list[Atom]] = {}
    for rule, atom in never:
        blocked.setdefault(relation_of(rule.head), []).append(atom)
    reasons = {relation_of(atom) for atoms in blocked.values() for atom in atoms}
    explained = _closure(blocked, reasons - blocked.keys())
    fluents = {relation for relation in blocked.keys() - explained if relation[0] == "true"}
    return explained | (_closure(blocked, fluents) - fluents)


def _closure(blocked: dict[Relation, list[Atom]], reasons: set[Relation]) -> set[Relation]:
    """Return the relations whose rules need, directly or not, one of these."""
    explained: set[Relation] = set()
    changed = True
    while changed:
        changed = False
        for relation, atoms in blocked.items():
            others = {relation_of(atom) for atom in atoms} - {relation}
            if relation not in explained and others & (reasons | explained):
                explained.add(relation)
                changed = True
    return explained


def _finding(rules: Rules, model: DerivedFacts, rule: Rule, atom: Atom) -> Diagnostic:
    tree = rules.tree
    text = " ".join(tree.source.text[atom.start : atom.end].split())
    message, place = f"`{text}` never holds, so its rule never applies", Span(atom.start, atom.end)
    advice, fix = _remedy(rules, model, rule, atom)
    name, severity = NEVER_TRUE.name, NEVER_TRUE.severity
    return Diagnostic(name, severity, message, tree.source, place, help=advice, fix=fix)


def _remedy(rules: Rules, model: DerivedFacts, rule: Rule, atom: Atom) -> tuple[str | None, Fix | None]:
    """Find a constant of the condition that is to blame: a variable that lost its sign, or a wrong value."""
    term = atom.args[-1] if atom.name in {"true", "does"} and atom.args else atom
    if atom.name == "does" and not isinstance(term, Function):
        return "no such move is ever legal", None
    if not isinstance(term, Atom | Function):
        return "nothing makes it true: is an `init` missing, or is the name misspelt?", None
    is_prefix = rules.tree.notation == "prefix"
    names = {variable.name for variable in variables_of(rule)}
    others = (other for other in rules.tree.statements if other is not rule)
    elsewhere = {node.name for other in others for node in walk(other) if isinstance(node, Constant)}
    for place, arg in enumerate(term.args):
        if not isinstance(arg, Constant):
            continue
        values = _values(model, atom, place)
        if not values:
            continue
        is_letter = len(arg.name) == 1 and arg.name.isalpha() and arg.name not in elsewhere
        if is_prefix and (arg.name in names or is_letter):
            fix = None if arg.name in elsewhere else _as_variable(rule, arg.name)
            return f"did you mean `?{arg.name}`, a variable?", fix
        listed = ", ".join(f"`{value}`" for value in values[:SHOWN]) + (", …" if len(values) > SHOWN else "")
        gap = _gap(rules, values, arg.name)
        question = "" if gap is None else f": is `{gap.edits[0].text.strip()}` missing?"
        return f"argument {place + 1} of `{term.name}` is only ever {listed}{question}", gap
    if atom.name == "does":
        return "no such move is ever legal", None
    if not model.rows(relation_of(atom)):
        return "nothing makes it true: is an `init` missing, or is the name misspelt?", None
    return None, None


def _values(model: DerivedFacts, atom: Atom, place: int) -> list[str]:
    """Return the values of one argument with which the condition can hold."""
    any_value = Variable("", None)
    term = atom.args[-1] if atom.name in {"true", "does"} else atom
    assert isinstance(term, Atom | Function)
    args: tuple[Term, ...] = (*term.args[:place], any_value, *term.args[place + 1 :])
    if isinstance(term, Atom):
        general = Atom(atom.name, args)
    else:
        general = Atom(atom.name, (*atom.args[:-1], Function(term.name, args)))
    offset = len(atom.args) - 1 if term is not atom else 0
    return sorted({str(row[offset + place]) for row in model.instances(general)}, key=lambda v: (len(v), v))


def _gap(rules: Rules, values: list[str], wanted: str) -> Fix | None:
    """Add the fact, such as `(succ 6 7)`, without which numbers end before the one that is wanted."""
    last = max((int(value) for value in values if value.isdecimal()), default=None)
    if rules.tree.notation != "prefix" or last is None or not wanted.isdecimal() or last >= int(wanted):
        return None
    chains: dict[str, dict[int, Rule]] = {}
    for rule in rules.tree.statements:
        steps = [str(arg) for arg in rule.head.args]
        is_pair = rule.is_fact and len(steps) == 2 and all(map(str.isdecimal, steps))
        if is_pair and int(steps[0]) + 1 == int(steps[1]):
            chains.setdefault(rule.head.name, {})[int(steps[0])] = rule
    for name, chain in chains.items():
        if last - 1 in chain and last not in chain and last + 1 in chain:
            at = chain[last - 1].end
            return Fix("add the missing fact", (Edit(Span(at, at), f" ({name} {last} {last + 1})"),))
    return None


def _as_variable(rule: Rule, name: str) -> Fix:
    """Write every constant of this name in a rule as a variable."""
    edits = {
        Edit(Span(node.start, node.start), "?")
        for node in walk(rule)
        if isinstance(node, Constant) and node.name == name and node.end > node.start
    }
    return Fix(f"write `?{name}`", tuple(sorted(edits, key=lambda edit: edit.span.start)))

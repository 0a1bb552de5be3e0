"""Checks of the keywords, the relations with a fixed meaning (K1-K10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, KEYWORDS, NOTE, WARNING, Check, Sheet, nearest
from herbrand.diagnostic import Span
from herbrand.syntax.nodes import Constant, Function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Atom

__all__ = ["CHECKS", "find"]

KEYWORD_ARITY: Final = Check(
    "keyword-arity", "K1", ERROR, "a keyword has the wrong number of arguments",
    "Points at keywords with too few or too many arguments: `role`, `base`, `init`, `true` and `next` take "
    "one, `input`, `does`, `legal`, `goal` and `sees` two, `terminal` none.",
    "Systems reject the statement or misread it: a later dialect has `(legal move)`.",
    "(role red blue)",
    "One statement per role:\n\n    (role red)\n    (role blue)",
    spec=True,
)  # fmt: skip
KEYWORD_AS_FUNCTION: Final = Check(
    "keyword-as-function", "K2", WARNING, "a keyword is used as a function",
    "Points at terms such as `(does red go)` inside other terms. Percepts (in `sees`) may contain them.",
    "It is only a term of that name, not a query of the facts, and some systems reject it.",
    "(<= (next (does ?r ?m)) (does ?r ?m))",
    "Use another name:\n\n    (<= (next (did ?r ?m)) (does ?r ?m))",
    spec=True,
)  # fmt: skip
KEYWORD_AS_CONSTANT: Final = Check(
    "keyword-as-constant", "K3", WARNING, "a keyword is used as an object",
    "Points at terms such as `(phase terminal)`.",
    "It is unrelated to the relation of that name, which misleads readers.",
    "(init (phase goal))",
    "Use another name:\n\n    (init (phase scoring))",
)  # fmt: skip
ROLE_NOT_GROUND_FACT: Final = Check(
    "role-not-ground-fact", "K4", ERROR, "`role` is the head of a rule",
    "Points at rules that derive roles.",
    "The order of the `role` facts in the text is the order of the moves in every joint move; derived roles "
    "have no order.",
    "(<= (role ?x) (player ?x))",
    "List the roles:\n\n    (role red)\n    (role blue)",
    spec=True,
)  # fmt: skip
INIT_IN_BODY: Final = Check(
    "init-in-body", "K5", ERROR, "`init`, `base` or `input` is a condition",
    "Points at `init` in bodies, an error, and at `base` and `input`, a warning.",
    "`init` describes the initial state only; the current one is queried with `true`. `base` and `input` are "
    "declarations, which many systems read before the rules.",
    "(<= (start ?x) (init (at ?x)))",
    "Derive both from a helper relation:\n\n    (<= (init (at ?x)) (start ?x))",
    spec=True,
)  # fmt: skip
NEXT_IN_BODY: Final = Check(
    "next-in-body", "K6", ERROR, "`next` is a condition",
    "Points at `next` in bodies. Under `sees`, where games with hidden information do use it, it is a note.",
    "The rules derive the next state; querying it meanwhile is circular, and many systems "
    "reject it.",
    "(<= terminal (next over))",
    "Query the current state:\n\n    (<= terminal (true over))",
    spec=True,
)  # fmt: skip
GIVEN_RELATION_DEFINED: Final = Check(
    "given-relation-defined", "K7", ERROR, "`true` or `does` is defined",
    "Points at facts and rules for `true` and `does`.",
    "The state and the moves are inputs; rules can only query them.",
    "(<= (true (open ?d)) (door ?d))",
    "Use `init` and `next`, or define another relation:\n\n    (<= (init (open ?d)) (door ?d))",
    spec=True,
)  # fmt: skip
MISSING_KEYWORD: Final = Check(
    "missing-keyword", "K8", ERROR, "`role`, `legal`, `goal` or `terminal` is not defined",
    "Reports each of the four that no statement defines.",
    "Without it there is no player, no move, no result or no end.",
    "(role robot)\n(legal robot wait)\n(<= terminal (true over))",
    "Define it:\n\n    (<= (goal robot 100) (true over))",
    spec=True,
)  # fmt: skip
NO_INIT_OR_NEXT: Final = Check(
    "no-init-or-next", "K9", NOTE, "`init` or `next` is not defined",
    "Reports a sheet without `init`, or without `next`.",
    "The first state, or every other one, is then empty. That is allowed, but rarely intended.",
    "(role robot)\n(legal robot wait)\n(goal robot 100)\n(<= terminal (not (true going)))\n(init going)",
    "Say how the state changes:\n\n    (<= (next going) (does robot wait))",
)  # fmt: skip
UNKNOWN_ROLE: Final = Check(
    "unknown-role", "K10", WARNING, "a rule names an unknown role",
    "Points at the first argument of `legal`, `goal` and `input` when it is neither a role nor a variable.",
    "No player has that role, so the rule has no effect; the name is probably misspelt.",
    "(role white)\n(goal whit 100)",
    "Use the name of a role:\n\n    (goal white 100)",
)  # fmt: skip

CHECKS: Final = (
    KEYWORD_ARITY,
    KEYWORD_AS_FUNCTION,
    KEYWORD_AS_CONSTANT,
    ROLE_NOT_GROUND_FACT,
    INIT_IN_BODY,
    NEXT_IN_BODY,
    GIVEN_RELATION_DEFINED,
    MISSING_KEYWORD,
    NO_INIT_OR_NEXT,
    UNKNOWN_ROLE,
)

_NUMBERS: Final = ("no arguments", "one argument", "two arguments")
_NEEDED: Final = {"role": "player", "legal": "move", "goal": "result", "terminal": "end of the game"}
_OUTCOMES: Final = frozenset({("legal", 2), ("goal", 2), ("terminal", 0)})


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the use of keywords."""
    yield from _heads(sheet)
    yield from _bodies(sheet)
    yield from _terms(sheet)
    if not sheet.is_incomplete:
        yield from _missing(sheet)


def _heads(sheet: Sheet) -> Iterator[Diagnostic]:
    roles = {role.name for role in sheet.roles if isinstance(role, Constant)}
    for rule in sheet.statements:
        head = rule.head
        if head.name not in KEYWORDS:
            continue
        if head.name in ("true", "does"):
            noun = "state" if head.name == "true" else "moves"
            yield sheet.report(
                GIVEN_RELATION_DEFINED,
                head,
                f"`{head.name}` cannot be defined: the {noun} {'is' if noun == 'state' else 'are'} given",
                help="`init` defines what holds initially, `next` what holds afterwards"
                if head.name == "true"
                else "`legal` defines which moves there are",
            )
        elif head.arity != KEYWORDS[head.name]:
            yield _wrong_arity(sheet, head)
        elif head.name == "role" and rule.body:
            yield sheet.report(
                ROLE_NOT_GROUND_FACT,
                head,
                "`role` is the head of a rule",
                help="write one fact for each role, in the order of the joint moves",
            )
        elif head.name in ("legal", "goal", "input"):
            role = head.args[0]
            if isinstance(role, Constant) and roles and role.name not in roles:
                suggestion = nearest(role.name, roles)
                yield sheet.report(
                    UNKNOWN_ROLE,
                    role,
                    f"{sheet.quote(role)} is not a role",
                    help=f"did you mean `{suggestion}`?" if suggestion else f"the roles are {_listed(sheet)}",
                )


def _listed(sheet: Sheet) -> str:
    names = [f"`{role}`" for role in sheet.roles]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _wrong_arity(sheet: Sheet, atom: Atom) -> Diagnostic:
    name, args = atom.name, atom.args
    arity = KEYWORDS[name]
    hint = None
    if name == "legal" and len(args) == 1:
        hint = "unary `legal` belongs to a later dialect: name the role that may make the move"
    elif name == "base":
        hint = "`base` lists what can be true, one proposition a statement; older sheets used it differently"
    elif name == "input" and len(args) == 1:
        hint = "name the role that may make the move"
    return sheet.report(
        KEYWORD_ARITY, atom, f"`{name}` takes {_NUMBERS[arity]}, but has {len(args)} here", help=hint
    )


def _bodies(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule, atom, _ in sheet.body_atoms:
        name = atom.name
        if name not in KEYWORDS or (name in ("true", "does") and len(atom.args) == KEYWORDS[name]):
            continue
        if len(atom.args) != KEYWORDS[name]:
            yield _wrong_arity(sheet, atom)
        elif name == "init":
            yield sheet.report(
                INIT_IN_BODY,
                atom,
                "`init` is a condition here",
                help="use `true`, or define a relation that both `init` and this rule use",
            )
        elif name in ("base", "input"):
            yield sheet.report(
                INIT_IN_BODY,
                atom,
                f"`{name}` is a condition here",
                severity=WARNING,
                help=f"define a relation that both `{name}` and this rule use",
            )
        elif name == "next":
            head = rule.head.key
            above = [k for k in sheet.definitions if k[0] in KEYWORDS and head in sheet.graph.reachable(k)]
            users = {head, *above} if head[0] in KEYWORDS else set(above)
            if users == {("sees", 2)}:
                yield sheet.report(
                    NEXT_IN_BODY,
                    atom,
                    "`next` is a condition of `sees`",
                    severity=NOTE,
                    notes=("the percept reveals part of the next state, which not every system allows",),
                )
            elif head in _OUTCOMES or not users & _OUTCOMES:
                yield sheet.report(
                    NEXT_IN_BODY,
                    atom,
                    "`next` is a condition here",
                    help="refer to the current state with `true`",
                )


def _terms(sheet: Sheet) -> Iterator[Diagnostic]:
    for term, percept in sheet.terms:
        if term.name not in KEYWORDS or percept:
            continue
        if isinstance(term, Function):
            yield sheet.report(
                KEYWORD_AS_FUNCTION,
                Span(term.start, term.end),
                f"the keyword `{term.name}` is used as a function",
                help="choose another name",
            )
        else:
            yield sheet.report(
                KEYWORD_AS_CONSTANT,
                term,
                f"the keyword `{term.name}` is used as an object",
                help="choose another name",
            )


def _missing(sheet: Sheet) -> Iterator[Diagnostic]:
    defined = sheet.defined_names
    for name, noun in _NEEDED.items():
        if name not in defined:
            suggestion = nearest(name, (other for other in defined if other not in KEYWORDS))
            yield sheet.report(
                MISSING_KEYWORD,
                sheet.definitions[defined[suggestion].key][0].head if suggestion else Span(0, 0),
                f"no statement defines `{name}`, so there is no {noun}",
                help=f"did you mean `{name}` instead of `{suggestion}`?" if suggestion else None,
            )
    for name, noun in (("init", "the first state"), ("next", "every state but the first")):
        if name not in defined:
            yield sheet.report(
                NO_INIT_OR_NEXT, Span(0, 0), f"no statement defines `{name}`, so {noun} is empty"
            )

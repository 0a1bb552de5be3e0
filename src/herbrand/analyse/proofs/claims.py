"""Remarks as claims that other programs can check.

Most say that a condition holds in no reachable state, or in none with a legal joint move.  Such a condition
is written as the body of a rule, so that all programs get it as a part of the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.proofs.excluded import find_invariant, possible_conditions, possible_losses, watch
from herbrand.analyse.proofs.observe import contrary, is_test
from herbrand.analyse.proofs.tendency import advantage_text
from herbrand.rules.terms import read_term
from herbrand.syntax.nodes import Atom, Constant, Distinct, Not, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.proofs.excluded import Body, SampledStates, Watch
    from herbrand.analyse.proofs.observation import Observation
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "RemarkClaim",
    "WatchedClaims",
    "claim_of",
    "find_excluded",
    "read_claim",
    "read_number",
    "read_text",
    "watch_claims",
]

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "fluent-never-true": ("items",),
    "fluent-always-true": ("items",),
    "latched-fluent": ("items",),
    "move-never-legal": ("role", "items"),
    "role-never-chooses": ("role",),
    "turn-taking": (),
    "goal-never-reached": ("role", "values"),
    "constant-sum": ("sum",),
    "terminal-at-start": (),
    "shortest-play": ("steps", "line"),
    "longest-play": ("steps", "line"),
    "dead-end": ("states", "of", "aim", "line"),
    "rule-never-fires": ("rule",),
    "condition-always-true": ("rule", "condition"),
    "forced-result": ("value",),
    "first-move-advantage": ("role", "advantage", "value"),
    "symmetric-roles": ("roles", "generators"),
}
"""The kinds of remarks that can have a certificate, with the fields of a claim."""


@dataclass(frozen=True, slots=True)
class RemarkClaim:
    """The statement of a remark, in plain values."""

    kind: str
    about: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return plain values, from which `read_claim` gives the claim back."""
        return {"kind": self.kind, **self.about}

    def text(self, game: StateMachine) -> str:
        """Return a sentence, which depends on nothing but the claim and the rules."""
        about = self.about
        items = ", ".join(map(str, about.get("items", ())))
        if self.kind in ("rule-never-fires", "condition-always-true"):
            rule = game.tree.statements[about["rule"]]
            line = game.tree.source.position(rule.span.start).line
            if self.kind == "rule-never-fires":
                return f"line {line}: never fires: {rule}"
            condition = rule.body[about["condition"]]
            return f"line {line}: always true where the rest of the rule is: {condition} in {rule}"
        if self.kind == "dead-end":
            aim = about["aim"]
            lost = "no play ends any more" if aim is None else f"{aim['goal']} cannot be reached any more"
            nearest = f"the nearest after {_steps(len(about['line']))}"
            return f"in {about['states']} of {about['of']} states {lost}, {nearest}"
        if self.kind == "first-move-advantage":
            where = "on average over all random play" if about["value"] is None else "with best play"
            return f"{advantage_text(about['role'], about['advantage'])} {where}"
        if self.kind == "forced-result":
            value = ", ".join(f"{role} {goal:g}" for role, goal in about["value"].items())
            return f"best play ends with {value}"
        return {
            "fluent-never-true": f"never true: {items}",
            "fluent-always-true": f"always true: {items}",
            "latched-fluent": f"stays true once true: {items}",
            "move-never-legal": f"never legal for {about.get('role')}: {items}",
            "role-never-chooses": f"{about.get('role')} never has a choice",
            "turn-taking": "at most one role has a choice at a time",
            "goal-never-reached": f"{about.get('role')} never ends with {_listed(about.get('values', ()))}",
            "constant-sum": f"goal values always add up to {about.get('sum')}",
            "terminal-at-start": "the game is over before it begins",
            "shortest-play": f"the shortest play has {_steps(about.get('steps', 0))}",
            "longest-play": f"the longest play has {_steps(about.get('steps', 0))}",
            "symmetric-roles": f"the rules treat {' and '.join(about.get('roles', ()))} alike",
        }[self.kind]

    def never(self, game: StateMachine) -> list[Body] | None:
        """Return the conditions that the claim excludes in all reachable states; None for others."""
        about, fold = self.about, game.rules.tree.folds_case
        terms = [read_term(text, fold=fold) for text in about.get("items", ())]
        role: Any = game.rules.roles[game.role_index(about["role"])] if "role" in about else None
        ongoing = Not(Atom("terminal", ()))
        if self.kind == "fluent-never-true":
            return [(Atom("true", (term,)),) for term in terms]
        if self.kind == "fluent-always-true":
            return [(Not(Atom("true", (term,))),) for term in terms]
        if self.kind == "move-never-legal":
            return [(Atom("legal", (role, term)), ongoing) for term in terms]
        if self.kind == "role-never-chooses":
            return [(*_choice(role, "x", "y"), ongoing)]
        if self.kind == "turn-taking":
            return [
                (*_choice(a, "x", "y"), *_choice(b, "z", "w"), ongoing)
                for a, b in combinations(game.rules.roles, 2)
            ]
        if self.kind == "goal-never-reached":
            return [
                (Atom("terminal", ()), Atom("goal", (role, Constant(str(value)))))
                for value in about["values"]
            ]
        if self.kind == "rule-never-fires":
            return [game.tree.statements[about["rule"]].body]
        if self.kind == "condition-always-true":
            rule = game.tree.statements[about["rule"]]
            condition = rule.body[about["condition"]]
            if not is_test(rule, condition):
                raise ValueError("the condition does more than test")
            return [contrary(rule, condition)]
        return None

    def latched_fluents(self) -> list[str]:
        """Return fluents that no step makes false."""
        return list(self.about["items"]) if self.kind == "latched-fluent" else []


def _choice(role: Any, first: str, second: str) -> Body:
    """Return that a role has two legal moves."""
    moves = Variable(first), Variable(second)
    return (*(Atom("legal", (role, move)) for move in moves), Distinct(*moves))


def _steps(number: int) -> str:
    return f"{number} {'step' if number == 1 else 'steps'}"


def _listed(values: Any) -> str:
    return ", ".join(map(str, values))


# -- from remarks and from files -----------------------------------------------------------------------


def claim_of(observation: Observation) -> RemarkClaim | str:
    """Return the claim of a remark, or why there can be no certificate of it."""
    if observation.uncertified:
        return observation.uncertified
    evidence = dict(observation.evidence)
    if observation.kind in ("rule-never-fires", "condition-always-true"):
        evidence |= {"rule": evidence["statement"], "condition": evidence.get("place")}
    if observation.kind == "first-move-advantage":
        evidence.setdefault("value", None)
    fields = _FIELDS[observation.kind]
    return read_claim({"kind": observation.kind, **{name: evidence[name] for name in fields}})


def read_claim(value: Mapping[str, Any]) -> RemarkClaim:
    """Return the claim with these plain values; raises `TypeError`, `KeyError` or `ValueError` for others."""
    kind = value["kind"]
    return RemarkClaim(kind, {name: _READERS[name](value[name]) for name in _FIELDS[kind]})


def read_number(value: object) -> int:
    """Return a number that is not negative; raises `TypeError` for other values."""
    if type(value) is not int or value < 0:
        raise TypeError("expected a number that is not negative")
    return value


def _points(value: object) -> float:
    if type(value) not in (int, float) or not -100 <= value <= 100:  # type: ignore[operator]
        raise TypeError("expected points")
    return float(value)  # type: ignore[arg-type]


def read_text(value: object) -> str:
    """Return a text; raises `TypeError` for other values."""
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value


def _texts(value: list[Any]) -> list[str]:
    return list(map(read_text, value))


_READERS: Final[Mapping[str, Any]] = {
    "items": _texts,
    "role": read_text,
    "roles": _texts,
    "values": lambda value: list(map(read_number, value)),
    **dict.fromkeys(("sum", "steps", "states", "of", "rule", "condition"), read_number),
    "line": lambda value: list(map(_texts, value)),
    "aim": lambda value: (
        None if value is None else {"role": read_text(value["role"]), "goal": read_number(value["goal"])}
    ),
    "advantage": _points,
    "value": lambda value: (
        None if value is None else {read_text(role): _points(goal) for role, goal in value.items()}
    ),
    "generators": lambda value: [{read_text(a): read_text(b) for a, b in one.items()} for one in value],
}


# -- conditions as rules ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WatchedClaims:
    """Claims with their conditions as percepts, see `excluded.watch`."""

    watched: Watch
    owners: tuple[int, ...]
    """For each condition, the number of its claim."""


def watch_claims(game: StateMachine, claims: Sequence[RemarkClaim]) -> WatchedClaims:
    """Return a game with percepts for the conditions that should never hold."""
    pairs = [(number, body) for number, claim in enumerate(claims) for body in claim.never(game) or ()]
    return WatchedClaims(watch(game, [body for _, body in pairs]), tuple(number for number, _ in pairs))


def find_excluded(
    game: StateMachine, claims: Sequence[RemarkClaim], sample: SampledStates | None, budget: Budget
) -> tuple[Invariant, list[RemarkClaim]]:
    """Return groups of fluents as an invariant, and the claims whose contrary they exclude.

    The states of the sample refute candidates.  Raises `BudgetExceeded`, and `MissingExtra` where no SAT
    solver is installed.
    """
    if not claims:
        return Invariant(""), []
    conditions = watch_claims(game, claims)
    copy = conditions.watched.game
    invariant = find_invariant(copy, sample, 0.5 * budget.left)
    possible = possible_conditions(conditions.watched, invariant, budget.left)
    wrong = {conditions.owners[number] for number in possible}
    for number, claim in enumerate(claims):
        if claim.latched_fluents() and possible_losses(copy, claim.latched_fluents(), invariant, budget.left):
            wrong.add(number)
    return invariant, [claim for number, claim in enumerate(claims) if number not in wrong]

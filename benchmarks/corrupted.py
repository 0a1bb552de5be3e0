"""Corrupted certificates: does any program accept one that proves nothing?

    python benchmarks/corrupted.py [--number N] [--seed S] [--only KIND...] [--json FILE] [--markdown FILE]

Writes certificates of small games, one for every kind of evidence, and changes each in seeded ways:

- *evidence*: another literal of an invariant, a group or clause that is missing, another weight or bound,
  other moves of a play or a strategy.  The files are written anew from the changed evidence, as a forger
  would, so that only the programs that check them can notice;
- *statement*: the opposite verdict, another property, another role;
- *game*: the same certificate, for another game;
- *files*: missing lines, changed clauses, rules and constraints, truncated and swapped files.

Each is checked as `herbrand certify --verify` does.  An accepted one must still be a true proof of the same
statement, or of another one that the same files show.  That is decided by another method: the rule evaluator
for plays and strategies, exploring for bounds on plays and other statements, Glucose on the network of gates
for invariants and inductions; clingo for weights.  For changed files `alone` counts those that the programs
accept when they are not compared with the rules.  Ends with status 1 if some certificate is accepted wrongly.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from analysing import CLAIMS

import herbrand
from herbrand.analyse import Budget, analyse, explore
from herbrand.analyse.certification import verify_certificate
from herbrand.analyse.certification.evidence import evidence_of
from herbrand.analyse.certification.folder import write_certificate
from herbrand.analyse.certification.outside import Checker, checker_for, run_checker
from herbrand.analyse.exploration.certificates import (
    CounterCertificate,
    Policy,
    SpoiledBeliefs,
    Spoiler,
    StateSet,
    UniformPolicy,
)
from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.invariants.bounds import Bound, ProgressMeasure
from herbrand.analyse.invariants.derived import Dependencies, DerivedGroup
from herbrand.analyse.invariants.exposed import expose, exposed_atoms
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.hopeless import CutShort
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.proofs.determined import NEEDED, DeterminedGame, prove_determined
from herbrand.analyse.proofs.exchanged import ExchangedRoles, refute_by_exchange
from herbrand.analyse.proofs.pairing import refute_by_pairs
from herbrand.analyse.proofs.reactive import ReactivePlay, prove_by_reactions
from herbrand.analyse.proofs.restricted import RestrictedPlay, refute_by_preferences
from herbrand.analyse.solving.certain import strong_by_search
from herbrand.analyse.verdict import PROPERTIES, Verdict, Witness
from herbrand.check.step_counter import StepCounter
from herbrand.convert.cut_short import cut_short
from herbrand.convert.joint_win import joint_win
from herbrand.convert.missed_win import missed_win
from herbrand.convert.restrict import Preference, restrict
from herbrand.convert.settled import settled
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from herbrand.analyse.certification.evidence import EvidenceFile
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.analyse.invariants.hopeless import Hopeless
    from herbrand.analyse.verdict import Answer
    from herbrand.machine.state_machine import StateMachine

LEAD = re.compile(r"^lead\((\d+), (.*), (\d+)\)\.$", re.MULTILINE)
POSSIBLE = re.compile(r"^possible\((\d+), (.*)$", re.MULTILINE)
"""Lines of the evidence of `SpoiledBeliefs`."""
SECONDS = 600.0
"""For one check, by the clock."""
ENDLESS = """
(role player) (init (lamp off)) (legal player press) (legal player wait)
(<= (next (lamp on)) (true (lamp off)) (does player press))
(<= (next (lamp off)) (true (lamp on)) (does player press))
(<= (next (lamp ?x)) (true (lamp ?x)) (does player wait))
(<= terminal (true (lamp broken)))
(<= (goal player 100) (true (lamp broken)))
(<= (goal player 0) (not (true (lamp broken))))
"""
STUCK = """
(role walker) (succ 1 2) (succ 2 3) (succ 3 4) (init (at 1))
(<= (legal walker east) (true (at ?x)) (succ ?x ?y))
(<= (legal walker jump) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
(<= (next (at ?y)) (does walker east) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?z)) (does walker jump) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
(<= terminal (true (at 9)))
(goal walker 0)
"""
SEEN = """
(role random) (role seeker) (box 1) (box 2) (init hiding)
(<= (legal random (put ?b)) (true hiding) (box ?b)) (<= (legal random wait) (not (true hiding)))
(<= (legal seeker wait) (true hiding)) (<= (legal seeker (open ?b)) (not (true hiding)) (box ?b))
(<= (next (coin ?b)) (does random (put ?b))) (<= (next (coin ?b)) (true (coin ?b)))
(<= (next (opened ?b)) (does seeker (open ?b))) (<= (sees seeker (coin ?b)) (does random (put ?b)))
(<= over (true (opened ?b))) (<= terminal over)
(<= (goal seeker 100) (true (coin ?b)) (true (opened ?b))) (<= (goal seeker 0) (not over)) (goal random 0)
"""
"""Who sees in which box a coin is put can always find it."""
PASSES = """
(role red) (role blue) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (init (at red 1)) (init (at blue 5))
(init (turn red)) (home red 5) (home blue 1) (other red blue) (other blue red)
(<= (beside ?x ?y) (succ ?x ?y)) (<= (beside ?x ?y) (succ ?y ?x))
(<= (legal ?r stay) (role ?r))
(<= (legal ?r (go ?y)) (true (turn ?r)) (true (at ?r ?x)) (beside ?x ?y) (free ?y))
(<= (free ?x) (beside ?x ?y) (not (at ?x))) (<= (at ?x) (true (at ?r ?x)))
(<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
(<= (next (at ?r ?y)) (does ?r (go ?y))) (<= (next (at ?r ?x)) (does ?r stay) (true (at ?r ?x)))
(<= (won ?r) (home ?r ?x) (true (at ?r ?x))) (<= terminal (won ?r))
(<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (role ?r) (not (won ?r)))
"""
"""Two pieces that want to stand where the other one began, and need not move."""
ROWS = """
(role x) (role o) (other x o) (other o x) (init (turn x)) {places} {rows}
(<= (legal ?r (take ?p)) (true (turn ?r)) (place ?p) (not (taken ?p)))
(<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
(<= (taken ?p) (true (has ?r ?p)))
(<= (next (has ?r ?p)) (does ?r (take ?p))) (<= (next (has ?r ?p)) (true (has ?r ?p)))
(<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
(<= free (place ?p) (not (taken ?p)))
(<= terminal (row ?r)) (<= terminal (not free))
(<= (goal ?r 100) (row ?r)) (<= (goal ?r 0) (other ?r ?o) (row ?o))
(<= (goal ?r 50) (role ?r) (not (row x)) (not (row o)))
"""
"""Who has all places of a row first wins."""
LAMPS = """
(role r) {beside} {lit}
(<= (legal r (switch ?m ?n)) (beside ?m ?n)) (legal r done)
(<= (switched ?m) (does r (switch ?m ?n))) (<= (switched ?n) (does r (switch ?m ?n)))
(<= (next (lit ?n)) (true (lit ?n)) (not (switched ?n)))
(<= (next (lit ?n)) (switched ?n) (lamp ?n) (not (true (lit ?n))))
(<= (lamp ?n) (beside ?n ?m)) (<= (lamp ?n) (beside ?m ?n))
(<= (next over) (does r done)) (<= terminal (true over))
(<= dark (not some)) (<= some (true (lit ?n)))
(<= (goal r 100) dark) (<= (goal r 0) some)
"""
"""Lamps in a row, some of them lit; a move switches two that are next to each other."""
RACE = """
(role red) (role blue) (init (at red 0)) (init (at blue 0)) (other red blue) (other blue red)
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r stay) (role ?r)) (<= (legal ?r run) (role ?r))
(<= (moves ?r) (does ?r run) (other ?r ?o) (does ?o stay))
(<= (next (at ?r ?y)) (moves ?r) (true (at ?r ?x)) (succ ?x ?y))
(<= (next (at ?r ?x)) (true (at ?r ?x)) (not (moves ?r)))
(<= (there ?r) (true (at ?r 3))) (<= terminal (there ?r))
(<= (goal ?r 100) (there ?r) (other ?r ?o) (not (there ?o)))
(<= (goal ?r 0) (role ?r) (not (there ?r))) (<= (goal ?r 50) (there red) (there blue) (role ?r))
"""
"""Two runners on one path, who are in each other's way where both run."""


TALLY = """
(role red) (role blue) (init (step 1)) (init (score 0)) (side heads) (side tails)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (more 0 1) (more 1 2) (more 2 3) (more 3 3)
(<= (legal ?r (bet ?s)) (role ?r) (side ?s))
(<= hit (does red (bet ?s)) (does blue (bet ?s)))
(<= (next (score ?n)) hit (true (score ?m)) (more ?m ?n)) (<= (next (score ?n)) (true (score ?n)) (not hit))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 5)))
(<= won (true (score 3))) (<= (goal red 100) won) (<= (goal red 0) (not won))
(<= (goal blue 100) (not won)) (<= (goal blue 0) won)
"""
"""Who misses twice in four rounds cannot hit three times."""
TAKE = """
(role red) (role blue) (init (heap 7)) (init (turn red)) (other red blue) (other blue red)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
(<= (less ?m ?n 1) (succ ?m ?n)) (<= (less ?k ?n 2) (succ ?k ?m) (succ ?m ?n))
(<= (legal ?r (take ?k)) (true (turn ?r)) (true (heap ?n)) (less ?m ?n ?k))
(<= (legal ?r wait) (true (turn ?o)) (other ?r ?o))
(<= (next (heap ?m)) (does ?r (take ?k)) (true (heap ?n)) (less ?m ?n ?k))
(<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
(<= terminal (true (heap 0)))
(<= (goal ?r 100) (role ?r) (not (true (turn ?r)))) (<= (goal ?r 0) (true (turn ?r)))
"""
"""Who takes the last of some things wins; each takes one or two at a time."""
CATCH = """
(role random) (role player) (init (dropped 0)) (init (caught 0))
(column a) (column b) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal random (drop ?c)) (column ?c) (true (dropped ?n)) (succ ?n ?m))
(<= (legal random wait) (true (dropped 4))) (<= (legal player (catch ?c)) (column ?c))
(<= (next (falling ?c 2)) (does random (drop ?c))) (<= (next (falling ?c 1)) (true (falling ?c 2)))
(<= dropping (does random (drop ?c))) (<= (next (dropped ?n)) dropping (true (dropped ?m)) (succ ?m ?n))
(<= (next (dropped ?n)) (not dropping) (true (dropped ?n)))
(<= catching (does player (catch ?c)) (true (falling ?c 1)))
(<= (next (caught ?n)) catching (true (caught ?m)) (succ ?m ?n))
(<= (next (caught ?n)) (not catching) (true (caught ?n)))
(<= above (true (falling ?c ?h))) (<= terminal (true (dropped 4)) (not above))
(<= (goal player 100) (true (caught 4))) (<= (goal player 0) (not (true (caught 4)))) (goal random 0)
"""
"""Who always moves to the column in which something comes down catches all of four things."""


@dataclass(frozen=True)
class Original:
    """A certificate before it is damaged."""

    kind: str
    game: StateMachine
    name: str
    verdict: Verdict


def bundled(name: str, **budget: Any) -> Callable[[str], tuple[herbrand.Game, Verdict]]:
    """Return a function that decides a property of a bundled game."""

    def decide(wanted: str) -> tuple[herbrand.Game, Verdict]:
        game = herbrand.load(name)
        limits = Budget(60, **budget)
        found = analyse(game, [wanted], budget=limits, check=False, values=False, remarks=False)
        return game, found.properties[wanted]

    return decide


def given(text: str, certificate: Any = None) -> Callable[[str], tuple[herbrand.Game, Verdict]]:
    """Return a function that gives a game (text of rules, or a bundled one) a certificate, or decides."""

    def decide(wanted: str) -> tuple[herbrand.Game, Verdict]:
        game = herbrand.loads(text, name="small") if "(" in text else herbrand.load(text)
        if certificate is not None:
            return game, Verdict("proved", certificate.kind, certificate=certificate)
        found = analyse(game, [wanted], budget=Budget(20), check=False, values=False, remarks=False)
        return game, found.properties[wanted]

    return decide


def in_rows(places: int, *rows: Sequence[str]) -> str:
    """Return the rules of `ROWS` with some rows, each of numbers of places."""
    facts = " ".join(f"(place {place})" for place in range(1, places + 1))
    rules = " ".join(f"(<= (row ?r) {' '.join(f'(true (has ?r {p}))' for p in row)})" for row in rows)
    return ROWS.format(places=facts, rows=rules)


def in_line(lamps: int, *lit: int) -> str:
    """Return the rules of `LAMPS` for some lamps, numbered from 1, of which some are lit at first."""
    beside = " ".join(f"(beside {lamp} {lamp + 1})" for lamp in range(1, lamps))
    return LAMPS.format(beside=beside, lit=" ".join(f"(init (lit {lamp}))" for lamp in lit))


def by_method(text: str, answer: Answer, method: Any) -> Callable[[str], tuple[herbrand.Game, Verdict]]:
    """Return a function that decides strong winnability of roles by a method, without listing states."""

    def decide(_: str) -> tuple[herbrand.Game, Verdict]:
        game = herbrand.loads(text, name="small")
        players = [game.role_index(role) for role in game.players]
        found = sorted(dict(method(game, players, Budget(20, states=2))).items())
        roles = {game.roles[role]: verdict for role, verdict in found}
        return game, Verdict(answer, "-", roles=roles)

    return decide


def _never_dark(_: str) -> tuple[herbrand.Game, Verdict]:
    odd = Invariant("win r", parities=(tuple(f"(lit {lamp})" for lamp in range(1, 5)),))
    verdict = Verdict("refuted", "parity", certificate=odd)
    return herbrand.loads(in_line(4, 2), name="small"), Verdict("refuted", "-", roles={"r": verdict})


def _by_search(game: StateMachine, roles: Sequence[int], budget: Budget) -> Iterator[tuple[int, Verdict]]:
    yield from strong_by_search(game, roles, 100, budget=budget).items()


def _determined(_: str) -> tuple[herbrand.Game, Verdict]:
    game = herbrand.loads(TAKE, name="small")
    verdict = prove_determined(game, Budget(20))
    assert verdict is not None
    return game, verdict


_MARKED = tuple((f"(cell {x} {y} x)", f"(cell {x} {y} o)", f"(cell {x} {y} b)") for x in "123" for y in "123")
_CONTROL = ("(control xplayer)", "(control oplayer)")
_GROUPS = Invariant("", (*_MARKED, _CONTROL))
ORIGINALS: dict[str, tuple[str, Callable[[str], tuple[herbrand.Game, Verdict]]]] = {
    "win": ("weak_winnability", bundled("ticTacToe")),
    "recurring state": ("termination", given(ENDLESS)),
    "role without a move": ("playability", given(STUCK)),
    "decreasing goal": ("monotonicity", bundled("ticTacToe")),
    "strategy": ("strong_winnability", bundled("nim")),
    "replies": ("strong_winnability", bundled("kuhn")),
    "strategy by percepts": ("strong_winnability", given(SEEN)),
    "spoiled beliefs": ("strong_winnability", bundled("montyHall")),
    "restricted play": ("strong_winnability", by_method(PASSES, "refuted", refute_by_preferences)),
    "replies in pairs": ("strong_winnability", by_method(in_rows(4, "12", "34"), "refuted", refute_by_pairs)),
    "reactive play": ("strong_winnability", by_method(CATCH, "proved", prove_by_reactions)),
    "exchanged roles": ("strong_winnability", by_method(RACE, "refuted", refute_by_exchange)),
    "determined game": ("strong_winnability", _determined),
    "play cut short": ("strong_winnability", by_method(TALLY, "refuted", _by_search)),
    "all states": ("goals", bundled("nim")),
    "all states, ranked": ("termination", bundled("nim")),
    "all states, below": ("weak_winnability", bundled("leduc")),
    "step counter": ("termination", bundled("rockPaperScissors")),
    "fluents that change once": ("termination", bundled("connectFour", states=10_000)),
    "invariant": ("playability", given("ticTacToe", Invariant("playability", (*_MARKED, _CONTROL)))),
    "parity": ("weak_winnability", _never_dark),
    "measure of progress": (
        "termination",
        given(
            "ticTacToe",
            ProgressMeasure(tuple((name, 1) for group in _MARKED for name in group[:2]), _GROUPS),
        ),
    ),
    "bounded model checking": ("termination", given("ticTacToe", Exhausted("", 9))),
    "bounded model checking, unreachable": ("goals", given("notakto", Exhausted("goals", 9))),
    "k-induction": (
        "playability", given("ticTacToe", KInduction("playability", 2, _GROUPS)),
    ),
    "functional dependencies": ("goals", bundled("trefoil", states=1_000)),
}  # fmt: skip
"""By the kind of evidence, a property and a game that has it."""


# -- other evidence ------------------------------------------------------------------------------------


def changed_invariant(invariant: Invariant, names: list[str], chance: Random) -> Invariant:
    """Return an invariant with another clause, group or parity."""
    if invariant.parities and chance.random() < 0.5:
        fluents = list(invariant.parities[0])
        if chance.random() < 0.5:
            del fluents[chance.randrange(len(fluents))]
        else:
            fluents.append(chance.choice(names))
        return replace(invariant, parities=(tuple(fluents), *invariant.parities[1:]))
    groups = [*invariant.exactly]
    clauses = [*invariant.clauses]
    way = chance.randrange(6)
    place = chance.randrange(len(groups)) if groups else 0
    if way == 0 and groups:
        del groups[place]
    elif way == 1 and groups:
        groups[place] = tuple(name for name in groups[place] if name != chance.choice(groups[place]))
    elif way == 2 and groups:
        groups[place] = (*groups[place], chance.choice(names))
    elif way == 3 and groups:
        others = list(groups[place])
        others[chance.randrange(len(others))] = chance.choice(names)
        groups[place] = tuple(others)
    elif way == 4 and clauses:
        at = chance.randrange(len(clauses))
        clause = list(clauses[at])
        if chance.random() < 0.5:
            del clauses[at]
        else:
            which = chance.randrange(len(clause))
            clause[which] = (chance.choice(names), chance.random() < 0.5)
            clauses[at] = tuple(clause)
    else:
        clauses.append(
            tuple((name, chance.random() < 0.5) for name in chance.sample(names, chance.randint(1, 2)))
        )
    return replace(invariant, exactly=tuple(groups), clauses=tuple(clauses))


def changed_weights(weights: tuple[tuple[str, int], ...], chance: Random) -> tuple[tuple[str, int], ...]:
    """Return weights of which one is missing, or another one."""
    rows = list(weights)
    place = chance.randrange(len(rows))
    if chance.random() < 0.3:
        del rows[place]
    else:
        rows[place] = (rows[place][0], rows[place][1] + chance.choice((-2, -1, 1, 2)))
    return tuple(rows)


def changed_play(game: herbrand.Game, witness: Witness, chance: Random) -> Witness:
    """Return a play with other moves, more or fewer steps, or another loop."""
    moves = [list(joint) for joint in witness.moves]
    terms = game.network.terms.text
    way = chance.randrange(6 if witness.loop is None else 7)
    place = chance.randrange(len(moves))
    if way == 0:
        del moves[place]
    elif way == 1:
        moves.insert(place, list(chance.choice(moves)))
    elif way == 2:
        other = chance.randrange(len(moves))
        moves[place], moves[other] = moves[other], moves[place]
    elif way == 6:
        return replace(witness, loop=chance.randint(0, len(moves) + 1))
    else:
        role = chance.randrange(len(game.roles))
        every = [terms(move) for owner, move in game.network.moves.tolist() if owner == role]
        moves[place][role] = chance.choice(every)
    return replace(witness, moves=tuple(map(tuple, moves)))


def changed_entries(entries: dict[Any, Any], chance: Random, *, keyed: bool) -> dict[Any, Any]:
    """Return a strategy or replies of which one is missing, or another one."""
    rows = list(entries.items())
    place = chance.randrange(len(rows))
    if chance.random() < 0.3:
        del rows[place]
    elif keyed and chance.random() < 0.4:
        key = rows[place][0]
        state, *rest = key if isinstance(key, tuple) else (key,)
        other = frozenset(sorted(state)[1:])
        rows[place] = ((other, *rest) if rest else other, rows[place][1])
    else:
        rows[place] = (rows[place][0], chance.choice(rows)[1])
    return dict(rows)


def changed_evidence(original: Original, verdict: Verdict, chance: Random) -> Verdict:
    """Return the verdict with other evidence."""
    game = original.game
    if verdict.roles:
        shown = [role for role, inner in verdict.roles.items() if inner.answer == verdict.answer]
        role = chance.choice(shown)
        return verdict.with_(
            roles={**verdict.roles, role: changed_evidence(original, verdict.roles[role], chance)}
        )
    if verdict.witness is not None:
        return verdict.with_(witness=changed_play(game, verdict.witness, chance))
    certificate = verdict.certificate
    names = [game.network.terms.text(fluent) for fluent in game.network.fluents.tolist()]
    other: Any = certificate
    if isinstance(certificate, Policy):
        other = replace(certificate, moves=changed_entries(certificate.moves, chance, keyed=True))
    elif isinstance(certificate, UniformPolicy):
        other = replace(certificate, moves=changed_entries(certificate.moves, chance, keyed=False))
    elif isinstance(certificate, SpoiledBeliefs):
        other = replace(certificate, leads=changed_entries(certificate.leads, chance, keyed=False))
    elif isinstance(certificate, RestrictedPlay | ReactivePlay):
        other = changed_restriction(certificate, original, chance)
    elif isinstance(certificate, ExchangedRoles):
        other = changed_exchange(certificate, original, chance)
    elif isinstance(certificate, DeterminedGame):
        other = changed_turns(certificate, original, chance)
    elif isinstance(certificate, CutShort):
        other = changed_end(certificate, original, names, chance)
    elif isinstance(certificate, Spoiler):
        other = replace(certificate, replies=changed_entries(certificate.replies, chance, keyed=True))
    elif isinstance(certificate, CounterCertificate):
        bound = max(0, certificate.counter.bound + chance.choice((-3, -2, -1, 1, 2)))
        other = CounterCertificate(StepCounter(bound, (), ()))
    elif isinstance(certificate, Exhausted):
        other = replace(certificate, steps=max(0, certificate.steps + chance.randint(-5, 2)))
    elif isinstance(certificate, KInduction):
        if chance.random() < 0.4:
            other = replace(certificate, steps=chance.choice((0, 1, 3)))
        else:
            other = replace(certificate, invariant=changed_invariant(certificate.invariant, names, chance))
    elif isinstance(certificate, Dependencies):
        if chance.random() < 0.8:
            other = replace(certificate, groups=changed_groups(certificate.groups, chance))
        else:
            other = replace(certificate, invariant=changed_invariant(certificate.invariant, names, chance))
    elif isinstance(certificate, Invariant):
        other = changed_invariant(certificate, names, chance)
    elif isinstance(certificate, ProgressMeasure):
        if chance.random() < 0.5:
            other = replace(certificate, weights=changed_weights(certificate.weights, chance))
        else:
            other = replace(certificate, invariant=changed_invariant(certificate.invariant, names, chance))
    elif isinstance(certificate, Bound):
        other = changed_bound(certificate, names, chance)
    return verdict.with_(certificate=other)


def changed_restriction(
    play: RestrictedPlay | ReactivePlay, original: Original, chance: Random
) -> RestrictedPlay | ReactivePlay:
    """Return a game in which roles prefer other moves or replies, or other roles do, or another proof."""
    game, rows = original.game, list(play.preferences)
    restricted = restrict(game, rows)
    place = chance.randrange(len(rows))
    way = chance.randrange(6 if rows[place].when else 5)
    if way == 0:
        del rows[place]
    elif way == 5:
        rows[place] = replace(rows[place], when=chance.choice(sorted(game.expander.fluent_names)))
    elif way == 1:
        every = game.expander.moves[game.role_index(rows[place].role)]
        rows[place] = replace(rows[place], move=chance.choice(every))
    elif way == 2:
        roles = [role for role in game.roles if (role == play.role) != (rows[place].role == play.role)]
        rows.append(Preference(chance.choice(roles), rows[place].move))
    elif isinstance(play, RestrictedPlay):
        return replace(play, certificate=changed_inner(play.certificate, restricted, chance))
    elif way == 3:
        inner = changed_inner(play.playability, game, chance, "playability", "proved")
        return replace(play, playability=inner)
    else:
        missed = missed_win(restricted, play.role)
        return replace(play, certificate=changed_inner(play.certificate, missed, chance))
    return replace(play, preferences=tuple(rows))


def changed_exchange(proof: ExchangedRoles, original: Original, chance: Random) -> ExchangedRoles:
    """Return an exchange with another permutation, another role, or another proof about joint wins."""
    images = dict(proof.images)
    one, two = chance.sample(sorted(images), 2)
    way = chance.randrange(5)
    if way == 0:
        del images[one]
    elif way == 1:
        images[one], images[two] = images[two], images[one]
    elif way == 2:
        images[one] = images[two]
    elif way == 3:
        return replace(proof, other=chance.choice((*original.game.roles, "nobody")))
    else:
        together = joint_win(original.game, proof.role, proof.other)
        return replace(proof, certificate=changed_inner(proof.certificate, together, chance))
    return replace(proof, images=images)


def changed_turns(proof: DeterminedGame, original: Original, chance: Random) -> DeterminedGame:
    """Return a proof with another idle move or another of its three parts."""
    game, part = original.game, chance.choice(("idle", *NEEDED, "ends"))
    if part == "idle":
        role = chance.choice(game.roles)
        move = chance.choice(game.expander.moves[game.role_index(role)])
        return replace(proof, idle={**proof.idle, role: move})
    if part == "ends":
        other = settled(game, proof.idle)
        return replace(proof, ends=changed_inner(proof.ends, other, chance, "goals", "proved"))
    inner = changed_inner(getattr(proof, part), game, chance, part, "proved")
    return replace(proof, termination=inner) if part == "termination" else replace(proof, playability=inner)


def changed_end(proof: CutShort, original: Original, names: list[str], chance: Random) -> CutShort:
    """Return a proof with other conditions, another invariant, or other replies."""
    hopeless = proof.hopeless
    conditions = list(hopeless.conditions)
    place = chance.randrange(len(conditions))
    way = chance.randrange(5)
    if way == 0:
        del conditions[place]
    elif way == 1:
        conditions[place] = conditions[place][1:]
    elif way == 2:
        conditions[place] = ((chance.choice(names), chance.random() < 0.5), *conditions[place][1:])
    elif way == 3:
        return replace(
            proof,
            hopeless=replace(hopeless, invariant=changed_invariant(hopeless.invariant, names, chance)),
        )
    else:
        shorter = cut_short(original.game, conditions)
        return replace(proof, certificate=changed_inner(proof.certificate, shorter, chance))
    return replace(proof, hopeless=replace(hopeless, conditions=tuple(conditions)))


def changed_inner(
    certificate: Any,
    game: StateMachine,
    chance: Random,
    name: str = "weak_winnability",
    answer: Answer = "refuted",
) -> Any:
    """Return another proof of a part: that a role does not win another game, unless it says otherwise."""
    inner = Original("", game, name, Verdict.unknown(""))
    return changed_evidence(inner, Verdict(answer, "-", certificate=certificate), chance).certificate


def changed_groups(groups: tuple[DerivedGroup, ...], chance: Random) -> tuple[DerivedGroup, ...]:
    """Return groups of derived atoms without one of them, or with other atoms in one."""
    rows = list(groups)
    place = chance.randrange(len(rows))
    atoms, some = rows[place]
    way = chance.randrange(4)
    if way == 0:
        del rows[place]
    elif way == 1:
        rows[place] = DerivedGroup((*atoms, *chance.choice(rows).atoms[:1]), some)
    elif way == 2 and len(atoms) > 1:
        rows[place] = DerivedGroup(atoms[1:], some)
    else:
        rows[place] = DerivedGroup(atoms, not some)
    return tuple(rows)


def changed_bound(bound: Bound, names: list[str], chance: Random) -> Bound:
    """Return a bound with other fluents or another invariant."""
    way = chance.randrange(4)
    if way == 0:
        return replace(bound, rising=(*bound.rising, chance.choice(names)))
    if way == 1:
        return replace(bound, falling=(*bound.falling, chance.choice(names)))
    if way == 2:
        field = "rising" if bound.rising and (chance.random() < 0.5 or not bound.falling) else "falling"
        rows = list(getattr(bound, field))
        del rows[chance.randrange(len(rows))]
        return replace(bound, **{field: tuple(rows)})
    return replace(bound, invariant=changed_invariant(bound.invariant, names, chance))


def exchanges(game: StateMachine, proof: ExchangedRoles) -> bool:
    """Return whether a permutation maps a role to another player, and all plays of a small game to plays."""
    images = proof.images

    def of(kind: str, *names: str) -> str:
        whole = f"({kind} {' '.join(names)})"
        return images.get(whole, whole)

    def moved(joint: dict[str, str]) -> dict[str, str]:
        pairs = (of("does", role, move)[len("(does ") : -1].split(" ", 1) for role, move in joint.items())
        return dict(pairs)

    if proof.other not in game.players or proof.role == proof.other:
        return False
    if of("role", proof.role) != f"(role {proof.other})":
        return False
    first = game.initial_state("rules")
    queue = [(first, first)]
    seen = {first.facts}
    for state, image in queue:
        if image.facts != {images.get(fluent, fluent) for fluent in state.facts}:
            return False
        if state.is_terminal != image.is_terminal:
            return False
        goals = {of("role", role)[len("(role ") : -1]: value for role, value in state.goals.items()}
        if goals != image.goals:
            return False
        for joint in () if state.is_terminal else state.joint_moves():
            named = dict(zip(game.roles, map(str, joint), strict=True))
            other = moved(named)
            if set(other) != set(game.roles):
                return False
            if any(move not in map(str, image.legal_moves(role)) for role, move in other.items()):
                return False
            after = state.next(named)
            if after.facts not in seen:
                seen.add(after.facts)
                queue.append((after, image.next(other)))
    return True


# -- is it still a proof? ------------------------------------------------------------------------------


class StillProof:
    """Decides without the checkers whether evidence shows a statement about a game."""

    def __init__(self, game: StateMachine, name: str) -> None:
        self.game, self.name = game, name

    def __call__(self, verdict: Verdict) -> bool:
        """Return whether the evidence is right."""
        if verdict.roles:
            return all(self(inner) for inner in verdict.roles.values() if inner.answer == verdict.answer)
        if verdict.witness is not None:
            return holds(self.game, CLAIMS[self.name], verdict.witness)
        certificate = verdict.certificate
        if isinstance(certificate, Policy | UniformPolicy | Spoiler | SpoiledBeliefs | StateSet):
            return certificate.check(self.game, SECONDS)
        if isinstance(certificate, RestrictedPlay):
            if any(one.role == certificate.role for one in certificate.preferences):
                return False
            inner = StillProof(restrict(self.game, certificate.preferences), "weak_winnability")
            return inner(Verdict("refuted", "-", certificate=certificate.certificate))
        if isinstance(certificate, ReactivePlay):
            if any(one.role != certificate.role for one in certificate.preferences):
                return False
            missed = missed_win(restrict(self.game, certificate.preferences), certificate.role)
            playable = Verdict("proved", "-", certificate=certificate.playability)
            won = Verdict("refuted", "-", certificate=certificate.certificate)
            return StillProof(self.game, "playability")(playable) and StillProof(missed, "weak_winnability")(
                won
            )
        if isinstance(certificate, ExchangedRoles):
            if not exchanges(self.game, certificate):
                return False
            inner = StillProof(joint_win(self.game, certificate.role, certificate.other), "weak_winnability")
            return inner(Verdict("refuted", "-", certificate=certificate.certificate))
        if isinstance(certificate, DeterminedGame):
            about = {**dict.fromkeys(NEEDED, self.game), "ends": settled(self.game, certificate.idle)}
            return all(
                StillProof(game, "goals" if name == "ends" else name)(
                    Verdict("proved", "-", certificate=getattr(certificate, name))
                )
                for name, game in about.items()
            )
        if isinstance(certificate, CutShort):
            hopeless = certificate.hopeless
            shorter = cut_short(self.game, hopeless.conditions)
            return self._lasts(hopeless) and certificate.certificate.check(shorter, SECONDS)
        if isinstance(certificate, CounterCertificate | Exhausted):
            space = explore(self.game.expander)
            assert space.complete
            steps = certificate.steps if isinstance(certificate, Exhausted) else certificate.counter.bound
            return bool(space.acyclic) and space.longest_play <= steps
        if isinstance(certificate, KInduction):
            return self._is_inductive(certificate.invariant, "") and self._induction(certificate)
        if isinstance(certificate, Dependencies):
            return self._is_inductive(certificate.invariant, "") and self._excludes(certificate)
        if isinstance(certificate, Bound):
            return self._is_inductive(certificate.invariant, "") and self._is_bound(certificate)
        if isinstance(certificate, ProgressMeasure):
            return certificate.check(self.game, SECONDS)
        assert isinstance(certificate, Invariant)
        return self._is_inductive(certificate, certificate.wanted)

    def _place(self, frame: Frame) -> Mapping[str, int]:
        """Return the literals of fluents by name; the network has none for those that never change."""
        literals = defaultdict(int, dict.fromkeys(self.game.initial_state().facts, 1))
        return literals | {
            name: int(x) for name, x in zip(frame.system.fluent_texts, frame.state, strict=True)
        }

    def _require(self, solver: Solver, frame: Frame, invariant: Invariant) -> None:
        place = self._place(frame)
        for group in invariant.exactly:
            solver.add([place[name] for name in group])
        for group in (*invariant.exactly, *invariant.never_two):
            for a, b in combinations([place[name] for name in group], 2):
                solver.add([a ^ 1, b ^ 1])
        for clause in invariant.clauses:
            solver.add([place[name] ^ (not value) for name, value in clause])
        for fluents in invariant.parities:
            solver.add([self._turned(frame, fluents) ^ 1])

    def _turned(self, frame: Frame, fluents: Sequence[str]) -> int:
        """Return the literal that not as many of some fluents are true as initially, modulo 2."""
        circuit, place = frame.system.circuit, self._place(frame)
        turned = sum(name in self.game.initial_state().facts for name in fluents) % 2
        for name in fluents:
            one, other = circuit.all_of((turned, place[name])), circuit.any_of((turned, place[name]))
            turned = circuit.all_of((one ^ 1, other))
        return turned

    def _can_break(self, solver: Solver, frame: Frame, invariant: Invariant) -> bool:
        place = self._place(frame)
        for group in invariant.exactly:
            if solver.solve(*(place[name] ^ 1 for name in group)):
                return True
        for group in (*invariant.exactly, *invariant.never_two):
            for a, b in combinations([place[name] for name in group], 2):
                if solver.solve(a, b):
                    return True
        if any(solver.solve(self._turned(frame, fluents)) for fluents in invariant.parities):
            return True
        return any(
            solver.solve(*(place[name] ^ value for name, value in clause)) for clause in invariant.clauses
        )

    def _wanted(self, frame: Frame, name: str) -> int:
        circuit, roles = frame.system.circuit, range(len(self.game.roles))
        if name == "playability":
            return circuit.any_of([frame.stuck(role) for role in roles])
        if name.startswith("win "):
            return frame.wins(self.game.role_index(name.removeprefix("win ")))
        assert name == "goals"
        return circuit.any_of([frame.has_no_goal(role) for role in roles])

    def _is_inductive(self, invariant: Invariant, wanted: str) -> bool:
        system = System(self.game.network)
        deadline = time.monotonic() + SECONDS
        with Solver(system.circuit, deadline) as solver:
            if self._can_break(solver, system.initial(), invariant):
                return False
        with Solver(system.circuit, deadline) as solver:
            frame = system.any_state()
            self._require(solver, frame, invariant)
            if wanted and solver.solve(self._wanted(frame, wanted)):
                return False
            return not self._can_break(solver, frame.play(solver).after, invariant)

    def _lasts(self, hopeless: Hopeless) -> bool:
        """Return whether conditions last and exclude 100, by asking about each condition alone."""
        if not self._is_inductive(hopeless.invariant, ""):
            return False
        system = System(self.game.network)
        role = self.game.role_index(hopeless.role)
        with Solver(system.circuit, time.monotonic() + SECONDS) as solver:
            frame = system.any_state()
            self._require(solver, frame, hopeless.invariant)
            before = self._place(frame)
            for condition in hopeless.conditions:
                if solver.solve(frame.hundred(role), *(before[f] ^ (not value) for f, value in condition)):
                    return False
            after = self._place(frame.play(solver).after)
            for condition in hopeless.conditions:
                solver.add([after[f] ^ value for f, value in condition])
            return not any(
                solver.solve(*(before[f] ^ (not value) for f, value in condition))
                for condition in hopeless.conditions
            )

    def _induction(self, certificate: KInduction) -> bool:
        system = System(self.game.network)
        for initial in (True, False):
            with Solver(system.circuit, time.monotonic() + SECONDS) as solver:
                frame = system.initial() if initial else system.any_state()
                for _ in range(certificate.steps):
                    wanted = self._wanted(frame, certificate.wanted)
                    if initial and solver.solve(wanted):
                        return False
                    solver.add([wanted ^ 1])
                    if not initial:
                        self._require(solver, frame, certificate.invariant)
                    frame = frame.play(solver).after
                if not initial:
                    self._require(solver, frame, certificate.invariant)
                    if solver.solve(self._wanted(frame, certificate.wanted)):
                        return False
        return True

    def _excludes(self, certificate: Dependencies) -> bool:
        """Return whether groups follow one from the other, and exclude states, by asking about each alone."""
        system = System(expose(self.game, certificate.relations).network)
        with Solver(system.circuit, time.monotonic() + SECONDS) as solver:
            frame = system.any_state()
            self._require(solver, frame, certificate.invariant)
            atoms = dict(zip(exposed_atoms(system.network), frame.sees().tolist(), strict=True))
            for names, some in certificate.groups:
                literals = [atoms[name] for name in names]
                pairs = list(combinations(literals, 2))
                if any(solver.solve(a, b) for a, b in pairs):
                    return False
                if some and solver.solve(*(x ^ 1 for x in literals)):
                    return False
                for a, b in pairs:
                    solver.add([a ^ 1, b ^ 1])
                if some:
                    solver.add(literals)
            return not solver.solve(self._wanted(frame, certificate.wanted))

    def _is_bound(self, bound: Bound) -> bool:
        assert bound.within == 1
        system = System(self.game.network)
        with Solver(system.circuit, time.monotonic() + SECONDS) as solver:
            frame = system.any_state()
            self._require(solver, frame, bound.invariant)
            after = frame.play(solver).after
            place = {name: i for i, name in enumerate(system.fluent_texts)}
            pairs = [(int(frame.state[place[f]]), int(after.state[place[f]])) for f in bound.rising]
            pairs += [(int(frame.state[place[f]]) ^ 1, int(after.state[place[f]]) ^ 1) for f in bound.falling]
            if any(solver.solve(before, then ^ 1) for before, then in pairs):
                return False
            for before, then in pairs:
                solver.add([before, then ^ 1])
            return not solver.solve()


# -- other files ---------------------------------------------------------------------------------------


def changed_line(text: str, file: str, chance: Random) -> str:
    """Return a text with one line changed in its meaning: a literal, a rule, an entry."""
    lines = text.splitlines()
    rows = [
        number for number, line in enumerate(lines)
        if line.strip() and not line.startswith(("c ", "%", "p ", ":- module", ":- use_module"))
    ]  # fmt: skip
    place = chance.choice(rows)
    if chance.random() < 0.5:
        del lines[place]
    elif file.endswith(".cnf"):
        words = lines[place].split()
        which = chance.randrange(len(words) - 1)
        words[which] = str(-int(words[which])) if chance.random() < 0.5 else str(int(words[which]) + 1 or 1)
        lines[place] = " ".join(words)
    else:
        digits = [i for i, letter in enumerate(lines[place]) if letter.isdigit()]
        if digits:
            at = chance.choice(digits)
            lines[place] = lines[place][:at] + str(chance.randrange(10)) + lines[place][at + 1 :]
        else:
            lines.insert(place, lines[chance.choice(rows)])
    return "\n".join(lines) + "\n"


def changed_files(files: dict[str, str], chance: Random) -> dict[str, str]:
    """Return the files of a certificate with one of them changed, truncated or swapped."""
    names = sorted(
        name
        for name in files
        if name.endswith((".pl", ".lp", ".cnf"))
        and not (name.endswith(".cnf") and f"{name.rpartition('/')[0]}/evidence.pl" in files)  # not verified
    )
    name = chance.choice(names)
    way = chance.randrange(4)
    changed = dict(files)
    if way == 0:
        changed[name] = files[name][: chance.randrange(len(files[name]))]
    elif way == 1 and len(names) > 1:
        other = chance.choice([one for one in names if one != name])
        changed[name], changed[other] = files[other], files[name]
    elif way == 2 and name.endswith(".pl"):
        changed[name] = f":- initialization((writeln(accepted), halt(0))).\n{files[name]}"
    else:
        changed[name] = changed_line(files[name], name, chance)
    return changed


def changed_statement(content: dict[str, Any], roles: list[str], chance: Random) -> dict[str, Any]:
    """Return the contents of `certificate.json` with another verdict, property, kind or role."""
    changed: dict[str, Any] = json.loads(json.dumps(content))
    evidence = changed["evidence"]
    way = chance.randrange(3)
    if way == 0:
        opposite = "refuted" if content["verdict"] == "proved" else "proved"
        changed["verdict"] = evidence["verdict"] = opposite
        for inner in evidence.get("roles", {}).values():
            inner["verdict"] = opposite
    elif way == 1:
        changed["property"] = chance.choice([name for name in PROPERTIES if name != content["property"]])
        never = evidence.get("certificate", {})
        if "never" in never:
            never["never"] = changed["property"]
    elif len(evidence.get("roles", {})) > 1:
        inner = list(evidence["roles"].values())
        evidence["roles"] = dict(zip(evidence["roles"], [*inner[1:], inner[0]], strict=True))
    else:
        evidence["roles"] = {chance.choice(roles): {**evidence}}
    return changed


# -- the trials ----------------------------------------------------------------------------------------


class Trials:
    """Damages one certificate in many ways."""

    def __init__(self, original: Original, others: list[Original], place: Path) -> None:
        self.original, self.others, self.place = original, others, place
        game, name, verdict = original.game, original.name, original.verdict
        self.still_proof = StillProof(game, name)
        self.evidence = list(evidence_of(game, name, verdict, SECONDS))
        write_certificate(game, name, verdict, place / "whole", Budget(SECONDS), check=False)
        self.files = contents(place / "whole")
        assert self._verify(game, place / "whole"), original.kind
        self._truth: dict[str, str] | None = None

    def _verify(self, game: herbrand.Game, folder: Path) -> bool:
        return verify_certificate(game, folder, budget=Budget(SECONDS)).accepted is True

    def run(self, number: int, seed: int) -> Iterator[dict[str, Any]]:
        """Yield the results of so many trials."""
        for trial in range(number):
            chance = Random(f"{self.original.kind} {seed} {trial}")
            way = chance.choices(("evidence", "statement", "game", "files"), (6, 1, 1, 3))[0]
            folder = self.place / f"trial-{trial}"
            result = getattr(self, f"_{way}")(folder, chance)
            if result is not None:
                yield {"kind": self.original.kind, "way": way, "trial": trial, **result}

    def _evidence(self, folder: Path, chance: Random) -> dict[str, Any] | None:
        original = self.original
        if isinstance(original.verdict.certificate, StateSet) or any(
            isinstance(inner.certificate, StateSet) for inner in original.verdict.roles.values()
        ):
            files = dict(self.files)
            name = chance.choice([name for name in files if name.endswith("evidence.pl")])
            count = int(files[name].strip().removeprefix("states(").removesuffix(")."))
            files[name] = f"states({max(0, count + chance.choice((-100, -2, -1, 1, 2, 100)))}).\n"
            write(folder, files)
            return self._outcome(folder, still=False)
        verdict = changed_evidence(original, original.verdict, chance)
        if _evidence_json(verdict) == _evidence_json(original.verdict):
            return None
        write_certificate(
            original.game, original.name, verdict, folder, Budget(SECONDS), check=False, solve=False
        )
        if not (folder / "certificate.json").exists():  # such as a counter with too few steps
            return {"outcome": "refused by the writer"}
        return self._outcome(folder, still=verdict)

    def _statement(self, folder: Path, chance: Random) -> dict[str, Any]:
        content = json.loads(self.files["certificate.json"])
        changed = changed_statement(content, list(self.original.game.roles), chance)
        write(folder, {**self.files, "certificate.json": json.dumps(changed)})
        received = verify_certificate(self.original.game, folder, budget=Budget(SECONDS))
        if received.accepted is not True:
            return {"outcome": "refused by comparison" if received.missing else "refused by programs"}
        # no file with a question or with data has changed: it may show another property, too
        answer = received.verdict.answer
        same = received.name == self.original.name and answer == self.original.verdict.answer
        if not same:
            found = analyse(self.original.game, [received.name], check=False, values=False, remarks=False)
            same = found.properties[received.name].answer == answer
        return {"outcome": "still a proof" if same else "WRONG"}

    def _game(self, folder: Path, chance: Random) -> dict[str, Any]:
        other = chance.choice(self.others).game
        write(folder, self.files)
        received = verify_certificate(other, folder, budget=Budget(SECONDS))
        if received.accepted is not True:
            return {"outcome": "refused by comparison" if received.missing else "refused by programs"}
        return {"outcome": "WRONG"}

    def _files(self, folder: Path, chance: Random) -> dict[str, Any] | None:
        files = changed_files(self.files, chance)
        if files == self.files:
            return None
        write(folder, files)
        data = [name for name in files if files[name] != self.files[name]]
        still = all(name.endswith("evidence.pl") for name in data) and self._read(files)
        return {**self._outcome(folder, still=still), "alone": self._alone(folder)}

    def _read(self, files: dict[str, str]) -> Verdict | bool:
        """Return the verdict with the strategies that files have; False for other evidence.

        Lines that no original file has are left out: states in them are none to which the strategy leads.
        """
        roles = {}
        for number, (role, inner) in enumerate(self.original.verdict.roles.items(), 1):
            certificate: Any = inner.certificate
            if isinstance(certificate, SpoiledBeliefs):
                name = f"role-{number}/evidence.pl"
                leads = read_leads(certificate, self.files[name], files[name])
                roles[role] = inner.with_(certificate=replace(certificate, leads=leads))
                continue
            if not isinstance(certificate, Policy | UniformPolicy | Spoiler):
                return False
            is_policy = not isinstance(certificate, Spoiler)
            entries = certificate.moves if is_policy else certificate.replies
            name = f"role-{number}/evidence.pl"
            entry_of = dict(zip(self.files[name].splitlines(), entries.items(), strict=True))
            rows = [entry_of[line] for line in files[name].splitlines() if line in entry_of]
            kept = dict(reversed(rows))  # the first counts
            other = replace(certificate, **{"moves" if is_policy else "replies": kept})
            roles[role] = inner.with_(certificate=other)
        return self.original.verdict.with_(roles=roles) if roles else False

    def _alone(self, folder: Path) -> bool:
        """Return whether the programs accept the files as they are."""
        return all(_accepts(folder, file) for file in self.evidence)

    def _outcome(self, folder: Path, *, still: Verdict | bool) -> dict[str, Any]:
        received = verify_certificate(self.original.game, folder, budget=Budget(SECONDS))
        if received.missing:
            return {"outcome": "refused by comparison"}
        if received.accepted is not True:
            return {"outcome": "refused by programs"}
        if isinstance(still, Verdict):
            still = self.still_proof(still)
        return {"outcome": "still a proof" if still else "WRONG"}


def read_leads(original: SpoiledBeliefs, before: str, after: str) -> dict[Any, Any]:
    """Return the leads of a changed file, without those that name other beliefs or moves than before."""
    entry_of = dict(zip(LEAD.findall(before), original.leads.items(), strict=True))
    belief = {n: entry[0][0] for (n, _, _), entry in entry_of.items()}
    belief |= {n: entry[1] for (_, _, n), entry in entry_of.items()}
    moves = {move: entry[0][1] for (_, move, _), entry in entry_of.items()}
    whole = {n for n, line in POSSIBLE.findall(before) if line in after}
    read = {}
    for first, move, then in reversed(LEAD.findall(after)):
        if {first, then} <= whole and move in moves:
            read[belief[first], moves[move]] = belief[then]
    return read


def _accepts(folder: Path, file: EvidenceFile) -> bool:
    checker = checker_for(file.program)
    if not isinstance(checker, Checker):
        raise HerbrandError(checker)
    return run_checker(checker, folder, file, SECONDS).accepted is True


def _evidence_json(verdict: Verdict) -> Any:
    """Return what tells evidence from other evidence."""
    certificate = verdict.certificate
    if verdict.roles:
        return {role: _evidence_json(inner) for role, inner in verdict.roles.items()}
    if isinstance(certificate, SpoiledBeliefs):
        return certificate.leads
    if isinstance(certificate, Policy | UniformPolicy | Spoiler):
        return certificate.replies if isinstance(certificate, Spoiler) else certificate.moves
    return [
        None if verdict.witness is None else (verdict.witness.moves, verdict.witness.loop),
        None if certificate is None else certificate.as_json(),
    ]


def contents(folder: Path) -> dict[str, str]:
    """Return the files of a folder by their names."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files into a new folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run(kinds: list[str], number: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the results of `number` trials, shared by the kinds of evidence."""
    originals = []
    for kind in kinds:
        name, decide = ORIGINALS[kind]
        game, verdict = decide(name)
        assert verdict.is_known, kind
        originals.append(Original(kind, game, name, verdict))
    each = -(-number // len(originals))
    for original in originals:
        others = [one for one in originals if one.game.name != original.game.name] or [
            Original("", herbrand.load("mnk"), "", Verdict.unknown(""))
        ]
        with tempfile.TemporaryDirectory(prefix="herbrand-") as place:
            results = Trials(original, others, Path(place)).run(3 * each, seed)
            for _, result in zip(range(each), results, strict=False):
                yield result


OUTCOMES = ("refused by programs", "refused by comparison", "refused by the writer", "still a proof", "WRONG")


def table(results: list[dict[str, Any]]) -> str:
    """Return the numbers of outcomes by kind of evidence."""
    lines = [
        "| evidence | damages | refused by programs | by comparison | still a proof | accepted wrongly |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    kinds = list(dict.fromkeys(result["kind"] for result in results))
    for kind in [*kinds, ""]:
        counts = Counter(result["outcome"] for result in results if kind in ("", result["kind"]))
        row = [counts[outcome] for outcome in OUTCOMES]
        cells = [row[0], row[1] + row[2], *row[3:]]
        lines.append(f"| {kind or 'all'} | {sum(row)} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(ORIGINALS), default=list(ORIGINALS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    results = []
    for result in run(options.only, options.number, options.seed):
        results.append(result)
        print(json.dumps(result), file=sys.stderr, flush=True)
    counts = Counter(result["outcome"] for result in results)
    summary = {
        "damages": len(results),
        "outcomes": {outcome: counts[outcome] for outcome in OUTCOMES},
        "files": sum("alone" in result for result in results),
        "alone": sum(result.get("alone", False) for result in results),
        "seed": options.seed,
    }
    if options.json is not None:
        options.json.write_text(json.dumps({**summary, "results": results}, indent=1), encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(table(results), encoding="utf-8")
    print(json.dumps(summary))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Verify certificates written by others against rules that the reader trusts.

The questions are not read from the folder but regenerated, from the rules and the evidence in
`certificate.json`, and have to be equal to those in it; only plays, strategies and numbers are data of their
own.  So a question about other rules, or one that is unsatisfiable for another reason, is refused, whatever
the programs say of it.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.budget import Budget
from herbrand.analyse.certification.evidence import ForcedPlay, WrittenData, evidence_of
from herbrand.analyse.certification.folder import STRATEGY, CertifiedVerdict, check_files, remarks_of
from herbrand.analyse.certification.remarks import (
    REMARKS,
    SHOWN_BY,
    Excluded,
    Explored,
    Measured,
    Permuted,
    RemarkProof,
    Strategies,
    verdicts_of,
)
from herbrand.analyse.exploration.certificates import (
    CounterCertificate,
    Policy,
    SpoiledBeliefs,
    Spoiler,
    StateSet,
    UniformPolicy,
)
from herbrand.analyse.invariants.bounds import Bound, ProgressMeasure
from herbrand.analyse.invariants.derived import Dependencies, DerivedGroup
from herbrand.analyse.invariants.hopeless import CutShort, Hopeless
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.proofs.claims import read_claim, read_number, read_text
from herbrand.analyse.proofs.determined import NEEDED, DeterminedGame
from herbrand.analyse.proofs.exchanged import ExchangedRoles
from herbrand.analyse.proofs.reactive import ReactivePlay
from herbrand.analyse.proofs.restricted import RestrictedPlay
from herbrand.analyse.solving.strategy import Claim
from herbrand.analyse.verdict import PROPERTIES, Verdict, Witness
from herbrand.check.features import features
from herbrand.check.step_counter import StepCounter
from herbrand.convert.cut_short import cut_short
from herbrand.convert.joint_win import joint_win
from herbrand.convert.missed_win import missed_win
from herbrand.convert.restrict import Preference, restrict
from herbrand.convert.settled import settled
from herbrand.errors import BudgetExceeded, HerbrandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.analyse.verdict import Answer, Certificate
    from herbrand.machine.state_machine import StateMachine

__all__ = ["verify_certificate"]

_MOST_BYTES: Final = 200_000_000
"""Bytes of one file."""
_CLAIMS: Final = {
    "termination": "ranked",
    "playability": "playable",
    "goals": "goals",
    "monotonicity": "monotonic",
}
"""The claim about all states that shows a property."""
_BY_ROLE: Final = ("weak_winnability", "strong_winnability")
_UNREACHABLE: Final = (Invariant.kind, Exhausted.kind, KInduction.kind, Dependencies.kind)
_PROOFS: Final = {
    ("termination", "proved"): (
        StateSet.kind, CounterCertificate.kind, Bound.kind, ProgressMeasure.kind, Exhausted.kind,
    ),
    ("playability", "proved"): (StateSet.kind, *_UNREACHABLE),
    ("goals", "proved"): (StateSet.kind, *_UNREACHABLE),
    ("monotonicity", "proved"): (StateSet.kind,),
    ("weak_winnability", "refuted"): (StateSet.kind, CutShort.kind, *_UNREACHABLE),
    ("strong_winnability", "proved"): (
        Policy.kind, UniformPolicy.kind, ReactivePlay.kind, DeterminedGame.kind,
    ),
    ("strong_winnability", "refuted"): (
        StateSet.kind, Spoiler.kind, SpoiledBeliefs.kind, RestrictedPlay.kind, ExchangedRoles.kind,
        CutShort.kind, *_UNREACHABLE,
    ),
}  # fmt: skip
"""The kinds of certificates that can show an answer."""


class _Unfit(HerbrandError):
    """A certificate that does not show its claim, and why."""


def verify_certificate(game: StateMachine, folder: Path, *, budget: Budget | None = None) -> CertifiedVerdict:
    """Check that a folder certifies a verdict about these rules, by the programs of others on this machine.

    `missing` of the result says what is wrong with the folder; then no program is asked.  Raises
    `BudgetExceeded` where the questions cannot be written in time.
    """
    budget = budget or Budget()
    try:
        name, verdict = _read(game, folder)
        written = list(evidence_of(game, name, verdict, budget.left, solve=False))
        if not written:
            raise _Unfit("there is no evidence")
        needed = {file.question: file.name for file in written if not file.is_extra}
        files = [
            replace(file, is_extra=file.question not in needed)
            for file in written
            if (folder / file.name).exists()
        ]
        for question in needed.keys() - {file.question for file in files}:
            raise _Unfit(f"{needed[question]} cannot be read")
        for file in files:
            for part, text in ((file.name, file.text), *file.beside):
                if _text(folder / part) != text:
                    raise _Unfit(f"{part} is not what the rules and the evidence give")
    except BudgetExceeded:
        raise
    except (HerbrandError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        is_reported = isinstance(error, HerbrandError)
        reason = str(error) if is_reported else "certificate.json: its evidence is not valid"
        return CertifiedVerdict(
            game.name, "", Verdict.unknown("the certificate is refused"), folder, (), reason
        )
    with tempfile.TemporaryDirectory(prefix="herbrand-") as place:
        checked = check_files(Path(place), files, budget)
    return CertifiedVerdict(game.name, name, verdict, folder, checked, "", remarks_of(game, verdict, checked))


def _text(path: Path) -> str:
    """Return the contents of a file of the folder."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _Unfit(f"{path.name} is larger than {_MOST_BYTES} bytes")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise _Unfit(f"{path.name} cannot be read") from None


def _read(game: StateMachine, folder: Path) -> tuple[str, Verdict]:
    """Return the property and the verdict that a folder has evidence for."""
    content = json.loads(_text(folder / "certificate.json"))
    name, evidence = content["property"], content["evidence"]
    if name not in (*PROPERTIES, STRATEGY, REMARKS) or evidence["verdict"] != content["verdict"]:
        raise _Unfit("certificate.json: there is no such verdict")
    if name == REMARKS:
        parts = verdicts_of(
            _remark_proof(game, inner["certificate"], folder / f"proof-{number}")
            for number, inner in enumerate(evidence["roles"].values(), 1)
        )
        if evidence["verdict"] != "proved" or list(evidence["roles"]) != list(parts):
            raise _Unfit("certificate.json: the proofs are not those of the remarks")
        return name, Verdict("proved", REMARKS, roles=parts)
    if name == STRATEGY:
        claims = [_claim(game, inner["certificate"]) for inner in evidence["roles"].values()]
        roles = {
            str(claim): Verdict(
                "proved", "-", certificate=_written_strategy(claim, folder / f"role-{number}")
            )
            for number, claim in enumerate(claims, 1)
        }  # fmt: skip
        if evidence["verdict"] != "proved" or list(evidence["roles"]) != list(roles):
            raise _Unfit("certificate.json: the claims are not those of the strategies")
        return name, Verdict("proved", STRATEGY, "; ".join(roles), roles=roles)
    if name not in _BY_ROLE:
        if evidence.get("roles"):
            raise _Unfit(f"certificate.json: {name} is not a property of each role")
        return name, _verdict(game, name, evidence, None, folder)
    if (evidence.get("certificate") or {}).get("kind") == DeterminedGame.kind:
        return name, _verdict(game, name, evidence, None, folder)
    players = list(game.players)
    if list(evidence["roles"]) != players:
        raise _Unfit(f"certificate.json: the roles are {', '.join(players)}")
    roles = {
        role: _verdict(game, name, evidence["roles"][role], role, folder / f"role-{number}")
        for number, role in enumerate(players, 1)
    }
    every = name == "weak_winnability"
    deciding, unanimous = ("refuted", "proved") if every else ("proved", "refuted")
    answers = [verdict.answer for verdict in roles.values()]
    answer = deciding if deciding in answers else unanimous
    if evidence["verdict"] != answer or (answer == unanimous and set(answers) != {answer}):
        raise _Unfit("certificate.json: the verdict does not follow from those of the roles")
    return name, Verdict(answer, "-", roles=roles)  # type: ignore[arg-type]  # one of the answers


def _verdict(
    game: StateMachine, name: str, value: Mapping[str, Any], role: str | None, folder: Path
) -> Verdict:
    """Return a verdict with its evidence, which is of a kind that can show it."""
    answer: Answer = value["verdict"]
    if answer not in ("proved", "refuted"):
        return Verdict.unknown("undecided")
    if value.get("witness") is not None:
        alone = name == "strong_winnability" and len(game.roles) == 1
        if (answer == "proved") != (name == "weak_winnability" or alone):
            raise _Unfit(f"a play does not show that {name} is {answer}")
        moves = tuple(_texts(joint) for joint in value["witness"])
        if any(len(joint) != len(game.roles) for joint in moves):
            raise _Unfit("a play has joint moves of another number of roles")
        loop = read_number(value["loop"]) if name == "termination" else None
        return Verdict(answer, "-", witness=Witness(moves, role, loop))
    certificate = value["certificate"]
    kind = certificate["kind"]
    if kind not in _PROOFS.get((name, answer), ()):
        raise _Unfit(f"{kind} does not show that {name} is {answer}")
    if kind == DeterminedGame.kind and role is not None:
        raise _Unfit(f"that one of two roles can force a win does not show that {role} can")
    if kind == Policy.kind and features(game.rules).has_sees:
        raise _Unfit("a strategy by states does not show what a role with incomplete information can force")
    if kind in (UniformPolicy.kind, SpoiledBeliefs.kind) and not features(game.rules).has_sees:
        raise _Unfit("a strategy by percepts is for games with percepts")
    if kind in (StateSet.kind, Policy.kind, UniformPolicy.kind, Spoiler.kind, SpoiledBeliefs.kind):
        text = _text(folder / "evidence.pl")
        return Verdict(answer, "-", certificate=WrittenData(kind, _CLAIMS.get(name, "below"), role, text))
    if kind == RestrictedPlay.kind:
        return Verdict(answer, "-", certificate=_restricted_play(game, certificate, str(role), folder))
    if kind == ReactivePlay.kind:
        return Verdict(answer, "-", certificate=_reactive_play(game, certificate, str(role), folder))
    if kind == ExchangedRoles.kind:
        return Verdict(answer, "-", certificate=_exchanged_roles(game, certificate, str(role), folder))
    if kind == DeterminedGame.kind:
        return Verdict(answer, "-", certificate=_determined_game(game, certificate, folder))
    if kind == CutShort.kind:
        return Verdict(answer, "-", certificate=_play_cut_short(game, name, certificate, str(role), folder))
    wanted = f"win {role}" if role is not None else "" if name == "termination" else name
    if certificate.get("never", wanted) != wanted:
        raise _Unfit(f"certificate.json: the certificate is not about {wanted or 'all plays'}")
    return Verdict(answer, "-", certificate=_certificate(kind, certificate))


def _restricted_play(game: StateMachine, value: Mapping[str, Any], role: str, folder: Path) -> RestrictedPlay:
    """Return the proof that a role does not win while others prefer some moves."""
    preferences = _preferences(value)
    if value["role"] != role or not {one.role for one in preferences} <= set(game.roles) - {role}:
        raise _Unfit(f"certificate.json: it restricts other roles than those that play against {role}")
    restricted = restrict(game, preferences)
    inner = _premise(restricted, "weak_winnability", "refuted", value["certificate"], role, folder)
    return RestrictedPlay(role, preferences, inner)


def _reactive_play(game: StateMachine, value: Mapping[str, Any], role: str, folder: Path) -> ReactivePlay:
    """Return the proof that a role wins every play in which it prefers some moves."""
    if value["role"] != role:
        raise _Unfit(f"certificate.json: it is not about {role}")
    preferences = _preferences(value)
    missed = missed_win(restrict(game, preferences), role)
    won = _premise(missed, "weak_winnability", "refuted", value["certificate"], role, folder / "missed")
    playability = _premise(game, "playability", "proved", value["playability"], None, folder / "playability")
    termination = None
    if "termination" in value:
        part = value["termination"]
        termination = _premise(game, "termination", "proved", part, None, folder / "termination")
    return ReactivePlay(role, preferences, termination, playability, won)


def _preferences(value: Mapping[str, Any]) -> tuple[Preference, ...]:
    """Return the preferences of which `preferences_as_json` gave a value."""
    always = [Preference(role, move) for role, moves in value["preferred"].items() for move in _texts(moves)]
    replies = [
        Preference(role, move, when)
        for role, rows in value.get("replies", {}).items()
        for when, move in map(_texts, rows)
    ]
    return (*always, *replies)


def _exchanged_roles(game: StateMachine, value: Mapping[str, Any], role: str, folder: Path) -> ExchangedRoles:
    """Return the proof that a role and another could exchange places, but never win together."""
    other = value["other"]
    if value["role"] != role or other not in game.players or other == role:
        raise _Unfit(f"certificate.json: it does not exchange {role} with another player")
    images = dict(zip(_texts(list(value["images"])), _texts(list(value["images"].values())), strict=True))
    together, first = joint_win(game, role, other), min(role, other)
    inner = _premise(together, "weak_winnability", "refuted", value["certificate"], first, folder)
    return ExchangedRoles(role, other, images, inner)


def _play_cut_short(
    game: StateMachine, name: str, value: Mapping[str, Any], role: str, folder: Path
) -> CutShort:
    """Return the proof of a property that it refutes where play also ends as soon as a win is hopeless."""
    given = value["hopeless"]
    if value["role"] != role or given["role"] != role:
        raise _Unfit(f"certificate.json: what is hopeless is not about {role}")
    conditions = _clauses(given["conditions"])
    hopeless = Hopeless(role, conditions, _invariant(given["invariant"]))
    inner = _premise(cut_short(game, conditions), name, "refuted", value["certificate"], role, folder)
    return CutShort(hopeless, inner)


def _determined_game(game: StateMachine, value: Mapping[str, Any], folder: Path) -> DeterminedGame:
    """Return the proof that one of two roles can force a win."""
    if game.has_percepts:
        raise _Unfit("a game with percepts need not be determined")
    idle = {read_text(role): read_text(move) for role, move in value["idle"].items()}
    termination, playability = (
        _premise(game, name, "proved", value[name], None, folder / name) for name in NEEDED
    )
    ends = _premise(settled(game, idle), "goals", "proved", value["ends"], None, folder / "ends")
    return DeterminedGame(idle, termination, playability, ends)


def _premise(
    game: StateMachine, name: str, answer: Answer, value: Any, role: str | None, folder: Path
) -> Certificate:
    """Return a certificate that another one rests on, perhaps about another game."""
    verdict = _verdict(game, name, {"verdict": answer, "certificate": value}, role, folder)
    assert verdict.certificate is not None
    return verdict.certificate


def _remark_proof(game: StateMachine, value: Mapping[str, Any], folder: Path) -> RemarkProof:
    """Return the proof of remarks of which `as_json` gave a value."""
    kind, claims = value["kind"], tuple(map(read_claim, value["claims"]))
    is_extra = value["extra"] is True
    shown = SHOWN_BY.get(kind)
    if shown is None or not claims or not all(claim.kind in shown for claim in claims):
        raise _Unfit(f"{kind} does not show these remarks")
    if kind == Explored.kind:
        if any(claim.about.get("value") is not None for claim in claims):
            raise _Unfit("exploring does not show values of best play")
        return Explored(claims, read_number(value["states"]), is_extra=is_extra)
    if kind == Excluded.kind:
        return Excluded(claims, _invariant(value["invariant"]), is_extra=is_extra)
    if kind == Strategies.kind:
        forced = [_claim(game, one) for one in value["forced"]]
        plays = (_written_strategy(one, folder / f"claim-{k}") for k, one in enumerate(forced, 1))
        return Strategies(claims, tuple(plays), is_extra=is_extra)
    if kind == Permuted.kind:
        return Permuted(claims, is_extra=is_extra)
    return Measured(claims, counts_steps=value["counts_steps"] is True, is_extra=is_extra)


def _written_strategy(claim: Claim, folder: Path) -> WrittenData:
    return WrittenData(ForcedPlay.kind, "", claim.role, _text(folder / "evidence.pl"), claim)


def _claim(game: StateMachine, value: Mapping[str, Any]) -> Claim:
    role = read_text(value["role"])
    if role not in game.roles or type(value["holds"]) is not bool:
        raise _Unfit("certificate.json: a claim is not about a role of the game")
    return Claim(role, read_number(value["goal"]), value["holds"])


def _certificate(kind: str, value: Mapping[str, Any]) -> Certificate:
    """Return the certificate of which `as_json` gave a value."""
    if kind == CounterCertificate.kind:
        return CounterCertificate(StepCounter(read_number(value["bound"]), (), ()))
    if kind == Exhausted.kind:
        return Exhausted(read_text(value["never"]), read_number(value["steps"]))
    if kind == KInduction.kind:
        return KInduction(
            read_text(value["never"]), read_number(value["steps"]), _invariant(value["invariant"])
        )
    if kind == Dependencies.kind:
        groups = tuple(
            DerivedGroup(_texts(group["atoms"]), group["one_is_true"] is True) for group in value["groups"]
        )
        if not all(group.atoms for group in groups):
            raise TypeError("groups have atoms")
        relations = tuple(
            (read_text(one["name"]), read_number(one["arguments"])) for one in value["relations"]
        )
        return Dependencies(read_text(value["never"]), groups, relations, _invariant(value["invariant"]))
    if kind == Bound.kind:
        rising, falling = _texts(value["rising"]), _texts(value["falling"])
        return Bound(rising, falling, _invariant(value["invariant"]), max(1, read_number(value["within"])))
    if kind == ProgressMeasure.kind:
        invariant = _invariant(value["invariant"])
        return ProgressMeasure(_weights(value["weights"]), invariant, max(1, read_number(value["within"])))
    return _invariant(value)


def _invariant(value: Mapping[str, Any]) -> Invariant:
    return Invariant(
        read_text(value["never"]),
        tuple(_texts(group) for group in value["exactly_one"]),
        tuple(_texts(group) for group in value["never_two"]),
        _clauses(value["clauses"]),
        tuple(_weights(weights) for weights in value["constant_sums"]),
        tuple(map(_texts, value.get("constant_parities", ()))),
    )


def _clauses(value: Any) -> tuple[tuple[tuple[str, bool], ...], ...]:
    return tuple(tuple(map(_literal, _texts(clause))) for clause in value)


def _literal(text: str) -> tuple[str, bool]:
    return (text[5:-1], False) if text.startswith("(not ") else (text, True)


def _weights(value: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    if not all(type(weight) is int for weight in value.values()):
        raise TypeError("weights are integers")
    return tuple((read_text(name), weight) for name, weight in value.items())


def _texts(value: list[Any]) -> tuple[str, ...]:
    return tuple(map(read_text, value))

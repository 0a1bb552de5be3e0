"""Remarks on rules and roles for inlay hints, proved for all states of a small game in a subprocess.

`python -m herbrand.lsp.remarks` reads a request as `sizes` does, and prints a JSON list of remarks, each
`[offset, label, tooltip]`; the list is empty where not all states are listed in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.lsp.sizes import MEGABYTES, answer, ask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lsprotocol import types as lsp

    from herbrand.analyse.proofs.observation import Observation
    from herbrand.check.rules import Rules
    from herbrand.lsp.document import OpenSheet

__all__ = ["Remark", "find_remarks", "hints", "remarks_of"]

Remark = tuple[int, str, str]
"""The offset at which a remark stands, a few words, and a sentence."""
STATES: Final = 50_000
"""Reachable states at most; larger games have no remarks."""
_LABELS: Final = {"rule-never-fires": "never fires", "condition-always-true": "always true"}


def remarks_of(request: Mapping[str, Any]) -> list[Remark]:
    """Return the remarks on a text.

    >>> text = "(role a) (init p) (legal a x) (<= (next q) (true p)) (<= (next p) (true r))"
    >>> text += " (<= terminal (true q)) (goal a 0)"
    >>> [(text[:offset][-9:], label) for offset, label, _ in remarks_of({"text": text, "seconds": 9})][:2]
    [('(role a)', 'never has a choice'), ('(true r))', 'never fires')]
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import explore
    from herbrand.analyse.proofs.observe import observe
    from herbrand.errors import HerbrandError
    from herbrand.game import loads
    from herbrand.runtime.limits import Limits

    budget = Budget(request["seconds"], STATES, MEGABYTES)
    try:
        game = loads(request["text"], notation=request.get("notation", "auto"), limits=Limits(budget.seconds))
        if game.rules.errors or game.tree.ggdl is not None:
            return []
        space = explore(game.expander, budget=budget.share(0.4))
        if not space.complete:
            return []
        observations = observe(game, space, budget=budget)
    except HerbrandError:
        return []
    file = request.get("name", "FILE")
    basis = f"in all {len(space.states)} reachable states"
    remarks = []
    for one in observations:
        for offset, label in _shown(game.rules, one):
            command = one.as_command(file)
            text = one.text.partition(": ")[2] if one.kind in _LABELS else one.text  # without the line
            text += "" if one.kind == "symmetric-roles" else f" ({basis})"
            remarks.append((offset, label, f"{text}; certificate: `{command}`" if command else text))
    return sorted(_joined(remarks))


def _shown(rules: Rules, one: Observation) -> Iterator[tuple[int, str]]:
    """Yield where the hints of a remark stand, and their labels."""
    evidence = one.evidence
    if one.kind in _LABELS:
        yield int(evidence["span"][1]), _LABELS[one.kind]
    elif one.kind == "role-never-chooses":
        yield from ((end, "never has a choice") for end in _roles(rules, [evidence["role"]]))
    elif one.kind == "first-move-advantage":
        points = evidence["advantage"]
        label = f"moves first: {points:+g}" if points else "moves first: \N{PLUS-MINUS SIGN}0"
        yield from ((end, label) for end in _roles(rules, [evidence["role"]]))
    elif one.kind == "symmetric-roles":
        yield from ((end, "interchangeable") for end in _roles(rules, evidence["roles"]))
    elif one.kind == "move-never-legal":
        count = len(evidence["items"])
        label = "1 move never legal" if count == 1 else f"{count} moves never legal"
        yield from ((end, label) for end in _heads(rules, ("legal", 2)))
    elif one.kind == "dead-end":
        yield from ((end, "dead ends") for end in _heads(rules, ("terminal", 0)))
    elif one.kind in ("shortest-play", "longest-play"):
        steps = f"{evidence['steps']} {'step' if evidence['steps'] == 1 else 'steps'}"
        label = f"{one.kind.replace('-', ' ')}: {steps}"
        yield from ((end, label) for end in _heads(rules, ("terminal", 0)))


def _joined(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield each label at a place once, with all texts."""
    texts: dict[tuple[int, str], list[str]] = {}
    for offset, label, text in remarks:
        texts.setdefault((offset, label), []).append(text)
    for (offset, label), some in texts.items():
        yield offset, label, "\n\n".join(some)


def _roles(rules: Rules, names: Iterable[str]) -> Iterator[int]:
    """Yield where the declarations of roles end."""
    wanted = {name.lower() for name in names}
    for rule in rules.tree.statements:
        if rule.head.key == ("role", 1) and not rule.body and str(rule.head.args[0]).lower() in wanted:
            yield rule.span.end


def _heads(rules: Rules, key: tuple[str, int]) -> Iterator[int]:
    """Yield where the first rule for a relation ends."""
    first = next((rule for rule in rules.tree.statements if rule.head.key == key), None)
    if first is not None:
        yield first.span.end


async def find_remarks(sheet: OpenSheet, seconds: float) -> list[Remark]:
    """Return the remarks on a sheet; none on failure or timeout."""
    found = await ask("herbrand.lsp.remarks", sheet, seconds)
    return [(int(offset), str(label), str(text)) for offset, label, text in found or ()]


def hints(sheet: OpenSheet, remarks: Sequence[Remark], wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Return a hint behind each rule, condition or role that has a remark."""
    from lsprotocol import types as lsp  # slow to import, and not needed in the subprocess

    span = sheet.places.span(wanted)
    return [
        lsp.InlayHint(sheet.places.position(offset), label, padding_left=True, tooltip=text)
        for offset, label, text in remarks
        if span.start <= offset <= span.end
    ]


if __name__ == "__main__":
    answer(remarks_of)

"""Remarks on rules and roles for inlay hints, proved for all states of a small game in a subprocess.

`python -m herbrand.lsp.remarks` reads a request as `sizes` does, and prints a JSON list of remarks, each
`[offset, label, tooltip]`; the list is empty where not all states are listed in time.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from herbrand.lsp.sizes import MEGABYTES, ask
from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lsprotocol import types as lsp

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
    >>> [(text[:offset][-9:], label) for offset, label, _ in remarks_of({"text": text, "seconds": 9})]
    [('(role a)', 'never has a choice'), ('(true r))', 'never fires')]
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import explore
    from herbrand.analyse.proofs.observe import rule_remarks, state_remarks
    from herbrand.errors import HerbrandError
    from herbrand.game import loads
    from herbrand.runtime.limits import Limits

    budget = Budget(request["seconds"], STATES, MEGABYTES)
    try:
        game = loads(request["text"], notation=request.get("notation", "auto"), limits=Limits(budget.seconds))
        if game.rules.errors or game.tree.ggdl is not None:
            return []
        space = explore(game.expander, budget=budget.share(0.4), edges=False)
        if not space.complete:
            return []
        found = [*state_remarks(space), *rule_remarks(game, budget)]
    except HerbrandError:
        return []
    basis = f"in all {len(space.states)} reachable states"
    remarks = [
        (int(one.evidence["span"][1]), _LABELS[one.kind], f"{one.text.partition(': ')[2]} ({basis})")
        for one in found
        if one.kind in _LABELS
    ]
    idle = {str(one.evidence["role"]).lower() for one in found if one.kind == "role-never-chooses"}
    remarks += (
        (end, "never has a choice", f"at most one legal move {basis}") for end in _roles(game.rules, idle)
    )
    return sorted(remarks)


def _roles(rules: Rules, names: set[str]) -> Iterator[int]:
    """Yield where the declarations of roles end."""
    for rule in rules.tree.statements:
        if rule.head.key == ("role", 1) and not rule.body and str(rule.head.args[0]).lower() in names:
            yield rule.span.end


async def find_remarks(sheet: OpenSheet, seconds: float) -> list[Remark]:
    """Return the remarks on a sheet; none on failure or timeout."""
    answer = await ask("herbrand.lsp.remarks", sheet, seconds)
    return [(int(offset), str(label), str(text)) for offset, label, text in answer or ()]


def hints(sheet: OpenSheet, remarks: Sequence[Remark], wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Return a hint behind each rule, condition or role that has a remark."""
    from lsprotocol import types as lsp  # slow to import, and not needed in the subprocess

    span = sheet.places.span(wanted)
    return [
        lsp.InlayHint(sheet.places.position(offset), label, padding_left=True, tooltip=text)
        for offset, label, text in remarks
        if span.start <= offset <= span.end
    ]


def _main() -> None:
    limit_memory(3 * MEGABYTES)
    print(json.dumps(remarks_of(json.loads(sys.stdin.read()))))


if __name__ == "__main__":
    _main()

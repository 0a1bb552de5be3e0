"""All checks by name, and their documentation.

`python -m herbrand.check.catalogue` prints the page `docs/reference/checks.md`.
"""

from __future__ import annotations

import difflib
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from herbrand.check.checks import (
    compounds,
    dependencies,
    ggdl,
    goals,
    keywords,
    names,
    percepts,
    play,
    reading,
    safety,
    style,
)
from herbrand.check.checks.base import Check
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHECKS", "Check", "UnknownCheckError", "explain", "find", "page"]

FAMILIES: Final = (
    ("Reading", reading.CHECKS),
    ("Keywords", keywords.CHECKS),
    ("Names", names.CHECKS),
    ("Safety", safety.CHECKS),
    ("Dependencies", dependencies.CHECKS),
    ("Goals", goals.CHECKS),
    ("Hidden information and chance", percepts.CHECKS),
    ("Style", (*style.CHECKS, *compounds.CHECKS)),
    ("Play", play.PLAY),
    ("Play with hidden information", play.KNOWLEDGE),
    ("GGDL", ggdl.CHECKS),
)

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {check.name: check for _, checks in FAMILIES for check in checks}
)
"""Every check by its name."""

_BY_CODE: Final = {check.code.lower(): check for check in CHECKS.values() if check.code}


class UnknownCheckError(HerbrandError, LookupError):
    """No check has this name; the message suggests the nearest one."""


def find(name: str) -> Check:
    """Return a check by its name, or by its code such as "V1"; raise `UnknownCheckError`."""
    key = name.strip().lower().replace("_", "-")
    check = CHECKS.get(key) or _BY_CODE.get(key)
    if check is None:
        matches = difflib.get_close_matches(key, CHECKS, n=1, cutoff=0.5)
        hint = f": did you mean `{matches[0]}`?" if matches else ""
        raise UnknownCheckError(f"unknown check `{name}`{hint}")
    return check


def explain(name: str) -> str:
    """Return the documentation of a check as Markdown: what it flags, why, an example, the fix."""
    return find(name).explain()


def page() -> str:
    """Return the reference page of all checks as Markdown."""
    lines = [
        "# Checks",
        "",
        "Written by `python -m herbrand.check.catalogue`; do not edit.",
        "",
        "Every finding has the name of its check: `error[unsafe-variable]: ...`. *Errors* make a game",
        "unplayable, *warnings* point at something that is probably unintended or not accepted everywhere,",
        "*notes* are worth knowing. `herbrand explain NAME` prints the same texts. *spec* marks what the",
        "language specification forbids; such findings are errors in strict mode. Otherwise an error that",
        "leaves no doubt about the meaning is a warning; a note says [how it is read](language.md#faults).",
        "",
        "| check | code | severity | reported | what it flags |",
        "|---|---|---|---|---|",
    ]
    stages = {"read": "when reading", "check": "when checking", "play": "when playing"}
    for _, checks in FAMILIES:
        for check in checks:
            level = check.severity.value + (", spec" if check.spec else "")
            level += "" if check.default else ", off by default"
            lines.append(
                f"| [{check.name}](#{check.name}) | {check.code} | {level} | {stages[check.stage]} | "
                f"{check.title.replace('|', chr(92) + '|')} |"
            )
    for family, checks in FAMILIES:
        lines += ["", f"## {family}"]
        for check in checks:
            fence = {"prefix": "kif", "infix": "hrf", "prolog": "prolog", "ggdl": "ggdl"}[check.notation]
            lines += [
                *("", f"### {check.name}", ""),
                f"{check.title[0].upper()}{check.title[1:]}.",
                *("", f"**What it does.** {check.what}", "", f"**Why this is bad.** {check.why}", ""),
                *("**Example.**", "", f"```{fence}", check.example, "```", ""),
                f"**Use instead.** {check.instead}",
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")

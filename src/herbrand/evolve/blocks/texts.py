"""Rules from the templates, and words from `phrases.toml`, filled with what depends on the design."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.evolve.sheet import SheetWriter

__all__ = ["add_rules", "helper_relations", "numbers", "phrase"]

_COMMENT: Final = re.compile(r"^; (.*)\n", re.MULTILINE)
_RULE: Final = re.compile(r"\n+(?=\()")
_RELATION: Final = re.compile(r"\((?:<= \()?([a-z_]+)")


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))


def phrase(choice: str, value: str, **values: object) -> str:
    """Return the phrase for a value of a choice, from `phrases.toml`."""
    return _phrases()[choice][value].format(**values)


def _sections(name: str, **values: object) -> list[tuple[str, list[str]]]:
    """Return the sections of a template: the comment and the rules of each."""
    from herbrand.runtime.rendering import render_program

    _, *parts = _COMMENT.split(render_program(f"evolve/blocks/{name}.kif", **values))
    return [
        (comment, _RULE.split(rules.strip())) for comment, rules in zip(parts[::2], parts[1::2], strict=True)
    ]


def add_rules(sheet: SheetWriter, name: str, **values: object) -> None:
    """Fill a template and add its sections to a sheet."""
    for comment, rules in _sections(name, **values):
        sheet.section(comment)
        sheet.add(*rules)


def helper_relations(name: str, **values: object) -> dict[str, tuple[str, str]]:
    """Return the relations that a file defines: comment of the section and rules."""
    helpers: dict[str, tuple[str, str]] = {}
    for comment, rules in _sections(name, **values):
        for rule in rules:
            if (head := _RELATION.match(rule)) is not None:
                _, before = helpers.get(head[1], (comment, ""))
                helpers[head[1]] = comment, f"{before}\n{rule}".lstrip()
    return helpers


def numbers(most: int) -> dict[str, tuple[str, str]]:
    """Return the helper relations about the numbers from 0 to `most`."""
    return helper_relations("numbers", succ="\n".join(f"(succ {n} {n + 1})" for n in range(most)))

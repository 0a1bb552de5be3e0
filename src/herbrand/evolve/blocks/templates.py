"""Rules and words that stand in files beside this one, with `$name` for what depends on the design."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

__all__ = ["helper_relations", "numbers", "phrase", "sections"]

_COMMENT: Final = re.compile(r"^; (.*)\n", re.MULTILINE)
_RULE: Final = re.compile(r"\n+(?=\()")
_RELATION: Final = re.compile(r"\((?:<= \()?([a-z_]+)")


@cache
def _template(name: str) -> Template:
    return Template(Path(__file__).with_name(f"{name}.kif").read_text(encoding="utf-8"))


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))


def phrase(choice: str, value: str, **values: object) -> str:
    """Return what stands for a value of a choice in `phrases.toml`."""
    return _filled(Template(_phrases()[choice][value]), values)


def _filled(template: Template, values: dict[str, object]) -> str:
    # formatted, since a parameter of the game formats as its name
    return template.substitute({key: f"{value}" for key, value in values.items()})


def sections(name: str, **values: object) -> list[tuple[str, str]]:
    """Return the sections of a file: the comment and the rules of each."""
    _, *parts = _COMMENT.split(_filled(_template(name), values))
    return [(comment, rules.strip()) for comment, rules in zip(parts[::2], parts[1::2], strict=True)]


def helper_relations(name: str, **values: object) -> dict[str, tuple[str, str]]:
    """Return the relations that a file defines: comment of the section and rules."""
    helpers: dict[str, tuple[str, str]] = {}
    for comment, rules in sections(name, **values):
        for rule in _RULE.split(rules):
            if (head := _RELATION.match(rule)) is not None:
                _, before = helpers.get(head[1], (comment, ""))
                helpers[head[1]] = comment, f"{before}\n{rule}".lstrip()
    return helpers


def numbers(most: int) -> dict[str, tuple[str, str]]:
    """Return the helper relations about the numbers from 0 to `most`."""
    return helper_relations("numbers", succ="\n".join(f"(succ {n} {n + 1})" for n in range(most)))

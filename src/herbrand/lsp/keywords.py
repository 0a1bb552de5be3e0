"""Descriptions of keywords for hover and completion, from `keywords.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final, NamedTuple

__all__ = ["GDL", "GGDL", "Word", "help_for"]


class Word(NamedTuple):
    """The description of a keyword."""

    form: str
    """Its syntax in prefix notation, or in GGDL for keywords of GGDL."""
    text: str
    """Its meaning in one or two sentences."""
    snippet: str = ""
    """Text that completion inserts after the name, with placeholders."""


_KEYWORDS: Final = tomllib.loads(files("herbrand.lsp").joinpath("keywords.toml").read_text(encoding="utf-8"))

GDL: Final = {name: Word(**entry) for name, entry in _KEYWORDS["gdl"].items()}
"""The keywords of GDL, GDL-II and GDL-III."""

GGDL: Final = {name: Word(**entry) for name, entry in _KEYWORDS["ggdl"].items()}
"""Keywords of GGDL, and those with another syntax there."""


def help_for(name: str, notation: str) -> Word | None:
    """Return the description of a word in a notation; None if it is not a keyword."""
    if notation == "ggdl" and name in GGDL:
        return GGDL[name]
    return GDL.get(name)

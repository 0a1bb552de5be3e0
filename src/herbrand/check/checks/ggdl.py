"""Checks of GGDL programs, in addition to those of the rules they translate to.

The codes are those of the language (`docs/reference/ggdl.md`); the reader of GGDL
(`herbrand.syntax.ggdl`) reports all of these.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check

__all__ = ["CHECKS"]

_check = partial(Check, stage="read", notation="ggdl")

CHECKS: Final = (
    _check("ggdl-syntax", "E-SYNTAX", ERROR),
    _check("other-dialect", "E-DIALECT", ERROR),
    _check("undeclared-name", "E-NAME-UNDECLARED", ERROR),
    _check("ambiguous-name", "E-NAME-AMBIGUOUS", ERROR),
    _check("name-clash", "E-NAME-CLASH", ERROR),
    _check("not-a-constant", "E-CONST", ERROR),
    _check("empty-type", "E-RANGE-EMPTY", ERROR),
    _check("parameter-missing", "E-PARAM-MISSING", ERROR),
    _check("parameter-range", "E-PARAM-RANGE", ERROR),
    _check("parameter-type", "E-PARAM-TYPE", ERROR),
    _check("parameter-default", "E-PARAM-DEFAULT", ERROR),
    _check("parameter-unknown", "E-PARAM-UNKNOWN", ERROR),
    _check("unknown-type", "E-TYPE-UNKNOWN", ERROR),
    _check("infinite-type", "E-TYPE-INFINITE", ERROR),
    _check("ambiguous-type", "E-TYPE-AMBIGUOUS", ERROR),
    _check("type-mismatch", "E-TYPE-MISMATCH", ERROR),
    _check("preference-cycle", "E-PREF-CYCLE", ERROR),
    _check("preference-type", "E-PREF-TYPE", ERROR),
    _check("external-property", "E-ROLE-PROP", ERROR),
    _check("conflicting-init", "E-INIT-CONFLICT", ERROR),
    _check("move-domain", "E-MOVE-DOMAIN", ERROR),
    _check("effect-target", "E-EFFECT-TARGET", ERROR),
    _check("effect-conflict", "E-EFFECT-CONFLICT", ERROR),
    _check("persist-target", "E-PERSIST-TARGET", ERROR),
    _check("surface", "E-SURFACE", ERROR),
    _check("consult-not-found", "E-CONSULT-NOTFOUND", ERROR),
    _check("consult-name", "E-CONSULT-NAME", ERROR),
    _check("consult-cycle", "E-CONSULT-CYCLE", ERROR),
    _check("import-clash", "E-IMPORT-CLASH", ERROR),
    _check("older-spelling", "W-STYLE", NOTE),
    _check("declared-name", "W-NAME-DECLARED", WARNING),
    _check("implicit-true", "W-IMPLICIT-TRUE", NOTE),
    _check("fluent-and-view", "W-FLUENT-VIEW", WARNING),
    _check("own-frame", "W-FRAME", WARNING),
    _check("integer-range", "W-INT-RANGE", WARNING),
    _check("input-too-narrow", "W-INPUT", WARNING),
    _check("unused-hook", "W-HOOK-UNUSED", WARNING),
)

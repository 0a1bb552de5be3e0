"""Checks that `herbrand.syntax` performs while reading."""

from __future__ import annotations

from functools import partial
from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check

__all__ = ["CHECKS"]

_check = partial(Check, stage="read")

CHECKS: Final = (
    _check("unusual-character", "L2", NOTE),
    _check("nameless-variable", "L4", ERROR, spec=True),
    _check("inconsistent-case", "L5", WARNING),
    _check("ambiguous-semicolon", "L7", NOTE, notation="infix"),
    _check("not-utf-8", "", WARNING),
    _check("misnamed-file", "", WARNING),
    _check("mixed-notation", "", NOTE, notation="infix"),
    _check("too-deep", "", ERROR),
    _check("too-large", "", ERROR),
    _check("not-text", "", ERROR),
    _check("extra-parenthesis", "S1", ERROR, spec=True),
    _check("unclosed-parenthesis", "S2", ERROR, spec=True),
    _check("list-without-name", "S3", ERROR, spec=True),
    _check("empty-list", "S4", ERROR, spec=True),
    _check("misplaced-literal", "S5", ERROR, spec=True),
    _check("rule-without-head", "S6", ERROR, spec=True),
    _check("nested-rule", "S7", ERROR, spec=True),
    _check("wrong-operand-count", "S8", ERROR, spec=True),
    _check("empty-or", "S8b", WARNING),
    _check("rule-without-body", "S9", WARNING),
    _check("superfluous-parentheses", "S10", WARNING),
    _check("nested-or", "S11b", NOTE),
    _check("explicit-and", "S11c", NOTE),
    _check("missing-conjunction", "S12", ERROR, spec=True, notation="infix"),
    _check("dangling-conjunction", "S13", ERROR, spec=True, notation="infix"),
    _check("infix-in-prefix", "S14", ERROR, spec=True),
    _check("comma-in-name", "S15", ERROR, spec=True),
    _check("misplaced-parenthesis", "S16", ERROR, spec=True),
    _check("left-over-text", "S17", WARNING, spec=True),
    _check("foreign-comment", "", WARNING, spec=True),
    _check("commented-rules", "", WARNING, spec=True),
    _check("unreadable-token", "", ERROR, spec=True, notation="infix"),
    _check("prolog-only", "", ERROR, notation="infix"),
    _check("transition-rule", "", ERROR, notation="infix"),
    _check("case-collision", "N8", WARNING, notation="infix"),
)

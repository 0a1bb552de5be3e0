"""The names that outside code relies on."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.errors import MissingExtra

if TYPE_CHECKING:
    from types import ModuleType

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(herbrand.__path__, "herbrand.")
    if module.name not in {"herbrand.__main__", "herbrand.core._core"}
)


def test_every_public_name_exists() -> None:
    """Whatever `herbrand.__all__` lists can be had, and `dir` shows it."""
    assert set(herbrand.__all__) <= set(dir(herbrand))
    for name in herbrand.__all__:
        assert getattr(herbrand, name) is not None


def test_the_names_users_were_promised_are_public() -> None:
    """Loading, states, moves and the errors are reached from the package itself."""
    promised = {"load", "loads", "read", "Game", "State", "Move", "Limits", "GameError", "BudgetExceeded"}
    assert promised <= set(herbrand.__all__)
    for name in ("name", "roles", "diagnostics", "engine", "initial_state", "simulate", "state"):
        assert hasattr(herbrand.loads("(role a)"), name), name
    for name in ("facts", "legal_moves", "next", "is_terminal", "goals", "goal_values", "why", "ask"):
        assert hasattr(herbrand.State, name), name


def test_a_name_that_is_not_there_is_refused() -> None:
    """A misspelt name raises what Python raises for any module."""
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        _ = herbrand.laod  # type: ignore[attr-defined]


def test_modules_are_found() -> None:
    """The collection below is not empty by accident."""
    assert len(MODULES) > 20


@functools.cache
def parsed(path: Path) -> ast.Module:
    """A module as a tree, parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_public_class_name_stands_for_two_things() -> None:
    """Whoever reads `Plan` need not ask which one; the core and what wraps it keep apart, too."""
    homes: dict[str, list[str]] = {}
    package = Path(herbrand.__file__).parent
    for path in (*package.rglob("*.py"), package / "core" / "_core.pyi"):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(package)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.fixture(scope="module")
def modules() -> list[ModuleType]:
    """All modules but those that need a library that is not installed."""
    found = []
    for name in MODULES:
        with suppress(MissingExtra):
            found.append(importlib.import_module(name))
    return found


def test_all_is_true(modules: list[ModuleType]) -> None:
    """Every name in a module's `__all__` is there, is listed once, and no module goes without a docstring."""
    for module in modules:
        assert module.__doc__, module.__name__
        listed = list(getattr(module, "__all__", ()))
        assert len(listed) == len(set(listed)), module.__name__
        for entry in listed:
            assert hasattr(module, entry), f"{module.__name__}.{entry}"


def test_public_things_are_documented(modules: list[ModuleType]) -> None:
    """Every function and class in `__all__` has a docstring."""
    missing = []
    for module in modules:
        listed = set(getattr(module, "__all__", ()))
        missing += [
            f"{module.__name__}.{node.name}"
            for node in (parsed(Path(module.__file__ or "")).body if listed else ())
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and node.name in listed
            and not ast.get_docstring(node)
        ]
    assert not missing

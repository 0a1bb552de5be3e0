"""The names that outside code relies on."""

from __future__ import annotations

import ast
import importlib
import pkgutil
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


def test_no_public_class_name_stands_for_two_things() -> None:
    """Whoever reads `Plan` need not ask which one; the core and what wraps it keep apart, too."""
    homes: dict[str, list[str]] = {}
    package = Path(herbrand.__file__).parent
    for path in (*package.rglob("*.py"), package / "core" / "_core.pyi"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(package)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def imported(name: str) -> ModuleType:
    """Return a module; skip the test if it needs a library that is not installed."""
    try:
        return importlib.import_module(name)
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", MODULES)
def test_all_is_true(name: str) -> None:
    """Every name in a module's `__all__` is there, is listed once, and no module goes without a docstring."""
    module = imported(name)
    assert module.__doc__
    listed = list(getattr(module, "__all__", ()))
    assert len(listed) == len(set(listed))
    for entry in listed:
        assert hasattr(module, entry), entry


@pytest.mark.parametrize("name", [m for m in MODULES if not m.startswith("herbrand.games")])
def test_public_things_are_documented(name: str) -> None:
    """Every function and class in `__all__` has a docstring."""
    module = imported(name)
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    listed = set(getattr(module, "__all__", ()))
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in listed:
            assert ast.get_docstring(node), node.name

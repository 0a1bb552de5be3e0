"""Lazy exports: names of a package that are imported on first use."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["exports"]


def exports(
    package: str, names_by_module: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package (PEP 562).

    `names_by_module` has the names that each module, relative to the package, defines.
    """
    home = {name: f"{package}.{module}" for module, names in names_by_module.items() for name in names}

    def get(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # later accesses do not get here
        return value

    return sorted(home), get, lambda: sorted({*vars(sys.modules[package]), *home})

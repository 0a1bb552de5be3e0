"""`compiled`: functions that numba translates to machine code, kept on disk where that is possible.

What is kept is a convenience, never a condition: a user without a writable folder (a container, a
read-only installation) has the functions compiled in every process; where the disk is full, too,
with a warning; a damaged file, or one made by another version of numba or by other sources of
this package, is replaced.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_bitcode
from numba import njit
from numba.core.caching import FunctionCache

from herbrand import elsewhere
from herbrand.memory import forget_libraries

__all__ = ["compiled", "inlined", "keep_code"]

_IMPORT = re.compile(r"^from (herbrand[.\w]*) import (\w+)|^from (herbrand[.\w]*) import \($", re.MULTILINE)
_ROOT = Path(__file__).parent
_LIBRARIES = 64.0
"""Megabytes of files in memory above which LLVM is forgotten after it has loaded machine code."""
_HOLDS_CODE = ("herbrand.compiled import", "herbrand.builtin import", "from numba import")
"""A module with one of these holds code that may be part of what is kept."""


@cache
def _imports(module: Path) -> frozenset[Path]:
    """Return the modules of the package that a module imports when it is loaded, itself and theirs too."""
    found = {module}
    todo = [module]
    while todo:
        for name, what, several in _IMPORT.findall(todo.pop().read_text(encoding="utf-8")):
            base = _ROOT.parent.joinpath(*(name or several).split("."))
            options = (base.with_suffix(".py"), base / f"{what}.py", base / "__init__.py")
            new = {path for path in options if path.is_file()} - found
            found |= new
            todo += new
    return frozenset(found)


@cache
def sources(module: Path) -> str:
    """Return a digest of the modules whose compiled functions those of a module may have inside them.

    numba looks only at the file of the function itself; the code of what it calls is part of its own.
    """
    digest = hashlib.sha256()
    for path in sorted(_imports(module)):
        text = path.read_text(encoding="utf-8")
        if any(mark in text for mark in _HOLDS_CODE):
            digest.update(text.encode())
    return digest.hexdigest()


class _Kept(FunctionCache):
    """The files of one function; nothing that is wrong with them is an error."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = (
            self._cache_file._source_stamp,
            sources(Path(function.__code__.co_filename)),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for some types of arguments; None if there is none of any use.

        Where functions are to be compiled elsewhere, this one is, and then loaded.  `BudgetExceeded` where
        nothing may be compiled here, and that failed.
        """
        found = self._loaded(sig, target_context)
        if found is None and elsewhere.is_wanted() and self._has_a_name():
            if elsewhere.made(self._py_func.__module__, self._py_func.__name__, sig):
                found = self._loaded(sig, target_context)
            if found is None:
                elsewhere.check_allowed(self._py_func.__name__)
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - anything can come out of a damaged pickle
            with suppress(OSError):
                self.flush()
            return None
        if found is not None:
            _lighten(found.library)
            forget_libraries(above=_LIBRARIES)
        return found

    def _has_a_name(self) -> bool:
        """Whether another process can find the function."""
        module, name = self._py_func.__module__, self._py_func.__qualname__
        return bool(module.startswith("herbrand.") and name.isidentifier())

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, if that can be done."""
        try:
            super().save_overload(sig, data)
        except Exception as problem:  # noqa: BLE001
            self.disable()
            warnings.warn(
                f"machine code cannot be kept in {self.cache_path} and will be made again: {problem}",
                RuntimeWarning,
                stacklevel=2,
            )


def _lighten(library: Any) -> None:
    """Keep the intermediate code of a loaded function as bytes, a tenth of what it takes as LLVM's objects.

    It is asked for when another function is compiled that has this one inside.
    """
    try:
        bitcode = library._shared_module.as_bitcode()
    except AttributeError:  # another version of numba
        return

    def read() -> Any:
        library._shared_module = parse_bitcode(bitcode)
        del library._get_module_for_linking
        return library._shared_module

    library._shared_module = None
    library._get_module_for_linking = read


def _probe() -> int:
    return 0


def can_cache() -> bool:
    """Return whether numba finds a folder in which it may keep what it compiled."""
    try:
        njit(cache=True)(_probe)
    except RuntimeError:
        return False
    return True


_CACHE = can_cache()


def keep_code(made: Any, function: Any) -> None:
    """Have what numba makes of a function kept on disk, if that is possible."""
    if _CACHE:
        made._cache = _Kept(function)


def compiled(function: Any) -> Any:
    """Compile a function when it is first called; it must not touch Python objects."""
    made = njit(function, nogil=True)
    keep_code(made, function)
    return made


def inlined(function: Any) -> Any:
    """Compile a function into those that call it: for what is small and called all the time."""
    return njit(function, nogil=True, forceinline=True)

"""The build backend: scikit-build-core, with a C++ compiler from the package index where there is none.

A machine without a compiler gets Zig's, which is a package like any other (`ziglang`) and brings its own
headers and libraries.  It is slower to start than the compiler of a system, so it is only the fallback.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_WINDOWS = os.name == "nt"
# Microsoft's own compiler has no vector types, so on Windows it does not count
_COMPILERS = ("clang++", "g++") if _WINDOWS else ("c++", "g++", "clang++")
_ELSEWHERE = Path(os.environ.get("PROGRAMFILES", "")) / "LLVM" / "bin" / "clang++.exe"

get_requires_for_build_sdist = _build.get_requires_for_build_sdist
build_sdist = _build.build_sdist
prepare_metadata_for_build_wheel = _build.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = _build.prepare_metadata_for_build_editable


def find_compiler() -> str | None:
    """Return the C++ compiler of the system, None if it has none that will do."""
    if os.environ.get("CXX"):
        return os.environ["CXX"]
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    return str(_ELSEWHERE) if compiler is None and _WINDOWS and _ELSEWHERE.is_file() else compiler


def _with_compiler(required: list[str]) -> list[str]:
    more = ["ziglang>=0.13"] if find_compiler() is None else []
    return [*required, *more, *(["ninja"] if _WINDOWS else [])]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what has to be installed to build a wheel."""
    return _with_compiler(_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what has to be installed to build in place."""
    return _with_compiler(_build.get_requires_for_build_editable(config_settings))


def _zig(folder: Path, tool: str) -> str:
    """Write a script that is one of Zig's tools, as CMake wants programs; return its path."""
    script = folder / (f"zig-{tool}.cmd" if _WINDOWS else f"zig-{tool}")
    text = (
        f'@"{sys.executable}" -m ziglang {tool} %*\n'
        if _WINDOWS
        else f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool} "$@"\n'
    )
    script.write_text(text, encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script.as_posix()


class _Compiler:
    """While this lasts, CMake finds a compiler: that of the system, or Zig's."""

    def __enter__(self) -> None:
        self._before = dict(os.environ)
        compiler = find_compiler()
        if compiler is None:
            # beside what CMake keeps, as it remembers where its compiler was
            folder = Path.cwd() / "build" / "zig"
            folder.mkdir(parents=True, exist_ok=True)
            os.environ["CXX"] = _zig(folder, "c++")
            tools = {"CMAKE_AR": "ar", "CMAKE_RANLIB": "ranlib"}
            more = [f"-D{name}={_zig(folder, tool)}" for name, tool in tools.items()]
            os.environ["CMAKE_ARGS"] = " ".join([os.environ.get("CMAKE_ARGS", ""), *more]).strip()
        elif _WINDOWS:
            os.environ["CXX"] = compiler
        if _WINDOWS:
            os.environ.setdefault("CMAKE_GENERATOR", "Ninja")

    def __exit__(self, *problem: object) -> None:
        os.environ.clear()
        os.environ.update(self._before)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build a wheel."""
    with _Compiler():
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build in place."""
    with _Compiler():
        return _build.build_editable(wheel_directory, config_settings, metadata_directory)

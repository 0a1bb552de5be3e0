"""The build backend: scikit-build-core, with a C++ compiler from the package index where there is none.

A machine without a compiler gets Zig's, which is a package like any other (`ziglang`) and brings its own
headers and libraries.  It is slower to start than the compiler of a system, so it is only the fallback.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
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

_COMPILERS = ("c++", "g++", "clang++", "cl", "clang-cl")

get_requires_for_build_sdist = _build.get_requires_for_build_sdist
build_sdist = _build.build_sdist
prepare_metadata_for_build_wheel = _build.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = _build.prepare_metadata_for_build_editable


def has_compiler() -> bool:
    """Return whether CMake will find a C++ compiler by itself.

    On Windows Visual Studio is found by other means than the search path, so nothing is fetched there.
    """
    return bool(os.environ.get("CXX")) or os.name == "nt" or any(map(shutil.which, _COMPILERS))


def _with_compiler(required: list[str]) -> list[str]:
    return required if has_compiler() else [*required, "ziglang>=0.13"]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what has to be installed to build a wheel."""
    return _with_compiler(_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what has to be installed to build in place."""
    return _with_compiler(_build.get_requires_for_build_editable(config_settings))


class _Compiler:
    """While this lasts, CMake finds a compiler: that of the system, or Zig's."""

    def __enter__(self) -> None:
        self._before = dict(os.environ)
        self._folder: Path | None = None
        if has_compiler():
            return
        self._folder = Path(tempfile.mkdtemp(prefix="herbrand-zig-"))
        for name in ("cc", "c++", "ar", "ranlib"):
            script = self._folder / f"zig-{name}"
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {name} "$@"\n')
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        os.environ["CC"] = str(self._folder / "zig-cc")
        os.environ["CXX"] = str(self._folder / "zig-c++")
        arguments = f"-DCMAKE_AR={self._folder}/zig-ar -DCMAKE_RANLIB={self._folder}/zig-ranlib"
        os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {arguments}".strip()

    def __exit__(self, *problem: object) -> None:
        os.environ.clear()
        os.environ.update(self._before)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build a wheel."""
    with _Compiler():
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build in place."""
    with _Compiler():
        return _build.build_editable(wheel_directory, config_settings, metadata_directory)

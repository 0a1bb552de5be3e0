"""Compiled functions work with and without a place to keep them."""

from __future__ import annotations

import ctypes
import errno
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import herbrand.compiled
from herbrand.builtin import Entry
from herbrand.compiled import can_cache, compiled, sources

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(autouse=True)
def _beside_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is kept where it is without a word from the environment."""
    monkeypatch.setattr("numba.config.CACHE_DIR", "")


def test_no_folder_to_write_in_is_no_error(monkeypatch) -> None:
    """Where numba finds no folder for its cache, functions are compiled without one."""

    def refuse(*_args: object, **_options: object):
        def decorate(_function: object) -> None:
            raise RuntimeError("cannot cache function: no locator available")

        return decorate

    with monkeypatch.context() as patched:
        patched.setattr(herbrand.compiled, "njit", refuse)
        assert not can_cache()
    monkeypatch.setattr(herbrand.compiled, "_CACHE", False)

    def double(x):
        return 2 * x

    assert compiled(double)(21) == 42


def loaded(path: Path) -> ModuleType:
    """The module in a file, as a new process would have it."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def kept(tmp_path: Path):
    """A module with a function to compile, and the folder where its machine code is kept."""
    path = tmp_path / "doubling.py"
    path.write_text("def double(x):\n    return 2 * x\n")

    def load() -> ModuleType:
        return loaded(path)

    function = compiled(load().double)
    assert function(21) == 42
    folder = tmp_path / "__pycache__"
    assert list(folder.glob("*.nbi"))
    assert list(folder.glob("*.nbc"))
    again = compiled(load().double)
    assert again(21) == 42
    assert again.stats.cache_hits
    return load, folder


@pytest.mark.parametrize("what", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("how", [b"", b"nonsense", b"\x80\x05K\x01.\x80\x05]."])
def test_damaged_files_are_replaced(kept, what: str, how: bytes) -> None:
    """Machine code on disk that cannot be read is made anew, and can be read the next time."""
    load, folder = kept
    for path in folder.glob(what):
        path.write_bytes(how)
    function = compiled(load().double)
    assert function(21) == 42
    assert not function.stats.cache_hits
    again = compiled(load().double)
    assert again(4) == 8
    assert again.stats.cache_hits


def test_machine_code_of_another_version_is_not_used(kept, monkeypatch) -> None:
    """What another version of numba, or other sources of this package, left on disk is replaced."""
    load, _ = kept
    with monkeypatch.context() as patched:
        patched.setattr("numba.__version__", "0.0.1")
        other = compiled(load().double)
        assert other(21) == 42
        assert not other.stats.cache_hits
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(herbrand.compiled, "sources", lambda _module: "other")
            function = compiled(load().double)
            assert function(21) == 42
    assert function.stats.cache_hits
    mine = compiled(load().double)
    assert mine(21) == 42
    assert not mine.stats.cache_hits


def test_a_full_disk_is_a_warning(kept, monkeypatch) -> None:
    """Where nothing can be kept functions work all the same, and one line says so."""
    load, folder = kept
    for path in folder.glob("*.nb?"):
        path.unlink()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    function = compiled(load().double)
    with pytest.warns(RuntimeWarning, match="cannot be kept.*No space left"):
        assert function(21) == 42
    assert function(1.5) == 3


@pytest.mark.parametrize("how", ["damaged", "other version", "no folder"])
def test_entries_are_kept_like_functions(tmp_path: Path, monkeypatch, how: str) -> None:
    """Code that is called by its address comes from the disk, and is made anew where that cannot be used."""
    path = tmp_path / "adding.py"
    path.write_text("def add(a, b):\n    return a + b\n")

    def load() -> Entry:
        return Entry(loaded(path).add)

    def works(entry: Entry) -> bool:
        call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(entry.address)
        assert call(40, 2) == 42
        return bool(entry._code.cache_hits)

    assert not works(load())
    assert works(load())
    if how == "damaged":
        for file in (tmp_path / "__pycache__").glob("*.nb?"):
            file.write_bytes(b"nonsense")
    elif how == "other version":
        monkeypatch.setattr("numba.__version__", "0.0.1")
    else:
        monkeypatch.setattr(herbrand.compiled, "_CACHE", False)
    assert not works(load())


def test_functions_depend_on_the_modules_they_are_made_of() -> None:
    """The loop of playouts has the code for rows inside it, and nothing of the players'."""
    from herbrand.compiled import _imports
    from herbrand.simulate import kernel, vectors

    found = {path.name for path in _imports(Path(kernel.__file__))}
    assert {"kernel.py", "vectors.py", "compiled.py"} <= found
    assert "tree.py" not in found
    assert sources(Path(kernel.__file__)) != sources(Path(vectors.__file__))

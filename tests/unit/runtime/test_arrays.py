"""Archives of plain arrays: written and read, and what is refused."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from herbrand.errors import HerbrandError
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path


def test_arrays_come_back_and_equal_ones_give_equal_files(tmp_path: Path) -> None:
    """Also empty ones and numbers without dimensions; numpy reads them, too."""
    arrays = {"a": np.arange(6, dtype="<i4").reshape(2, 3), "none": np.zeros((0, 4)), "one": np.array(2.5)}
    for name in ("first", "second"):
        write_arrays(tmp_path / name, arrays)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    found = read_arrays(tmp_path / "first", 10_000)
    with np.load(tmp_path / "first") as loaded:
        for name, array in arrays.items():
            assert np.array_equal(found[name], array)
            assert found[name].dtype == loaded[name].dtype


def test_damaged_and_hostile_archives_are_refused(tmp_path: Path) -> None:
    """Pickles, headers that claim what is not there, texts, archives that are too large or cut off."""

    def archive(name: str, content: bytes) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.npy", content)
        return tmp_path / name

    def header(shape: tuple[int, ...]) -> bytes:
        content = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            content, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        return content.getvalue()

    np.savez((tmp_path / "pickle").open("wb"), a=np.array([{}], object))
    (tmp_path / "text").write_text("no archive")
    write_arrays(tmp_path / "whole", {"a": np.arange(1000)})
    (tmp_path / "part").write_bytes((tmp_path / "whole").read_bytes()[:-40])
    damaged = bytearray((tmp_path / "whole").read_bytes())
    damaged[100] ^= 255
    (tmp_path / "damaged").write_bytes(damaged)
    paths = [tmp_path / name for name in ("pickle", "text", "part", "damaged")]
    paths += [
        archive("claims", header((1 << 60,))),
        archive("negative", header((-1,)) + bytes(8)),
        archive("no", b"x"),
    ]
    for path in paths:
        with pytest.raises(ValueError):  # by zipfile, zlib, numpy or this module
            read_arrays(path, 100_000)
    with pytest.raises(HerbrandError, match="more than"):
        read_arrays(archive("bomb", bytes(1_000_000)), 100_000)

"""NumPy archives (`.npz`) of plain arrays, also from strangers: no pickles, and sizes are checked first."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["read_arrays", "write_arrays"]

_MOST_ARRAYS = 1000


def write_arrays(path: Path | str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Create a file of arrays, or replace its contents.  Equal arrays give equal files."""
    import numpy as np

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asanyarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED)
    write_atomically(path, data.getvalue())


def read_arrays(path: Path | str, most_bytes: int, only: str | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, which together have at most so many bytes, or `only` the one of a name.

    Raises `HerbrandError` for larger files, `ValueError` for what is no archive of arrays, and `OSError`.
    """
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_ARRAYS or sum(entry.file_size for entry in entries) > most_bytes:
                raise HerbrandError(f"`{path}` has more than {most_bytes / 1e6:.0f} MB unpacked")
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                if only in (None, name):
                    arrays[name] = _array(archive.read(entry))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise ValueError(str(error) or "a damaged archive") from error
    return arrays


def _array(data: bytes) -> NDArray[Any]:
    """Return the array of a `.npy` file; `ValueError` if its header does not fit its size."""
    import numpy as np

    content = io.BytesIO(data)
    if np.lib.format.read_magic(content) != (1, 0):
        raise ValueError("arrays of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(content)
    left = len(data) - content.tell()
    if dtype.hasobject or not dtype.itemsize or by_columns or math.prod(shape) * dtype.itemsize != left:
        raise ValueError("an array of another size than it says")
    return np.frombuffer(data, dtype, offset=content.tell()).reshape(shape)

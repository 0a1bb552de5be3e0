"""Machine code on disk: files beside those of the kernels, named by what they depend on.

They are a convenience, never a condition: where nothing can be written, or what is there is
damaged, code is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["read", "write"]

KEPT_BYTES = 256 << 20
"""The folder is kept smaller than that."""
_MAGIC = b"herbrand straight 1\n"
_DIGEST_BYTES = 32


def folder() -> Path | None:
    """Return where code is kept; None where the kernels cannot be kept either."""
    from herbrand.simulate import kernel

    path = getattr(getattr(kernel.play, "_cache", None), "cache_path", None)
    return None if path is None else Path(path) / "straight"


def read(key: str) -> list[bytes] | None:
    """Return what was written under a name; None where there is nothing, or nothing whole."""
    where = folder()
    if where is None:
        return None
    path = where / f"{key}.bin"
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[len(_MAGIC) + _DIGEST_BYTES :]
    digest = data[len(_MAGIC) : len(_MAGIC) + _DIGEST_BYTES]
    if not data.startswith(_MAGIC) or digest != hashlib.sha256(body).digest():
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # what was used last is thrown away last
    objects = []
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 8], "little")
        objects.append(body[at + 8 : at + 8 + size])
        at += 8 + size
    return objects


def write(key: str, objects: list[bytes]) -> None:
    """Keep code, whole or not at all; nothing that is wrong with the disk is an error."""
    where = folder()
    if where is None:
        return
    body = b"".join(len(code).to_bytes(8, "little") + code for code in objects)
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=where, suffix=".new")
    except OSError:
        return
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        made.replace(where / f"{key}.bin")
        _thin(where)
    except OSError:
        with contextlib.suppress(OSError):
            made.unlink()


def _thin(where: Path) -> None:
    """Throw away what was not used for longest, until the folder is small enough."""
    files = sorted(((path.stat(), path) for path in where.glob("*.bin")), key=lambda file: -file[0].st_mtime)
    total = 0
    for stat, path in files:
        total += stat.st_size
        if total > KEPT_BYTES:
            path.unlink(missing_ok=True)

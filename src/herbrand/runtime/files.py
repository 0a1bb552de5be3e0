"""Writing files atomically: readers see the old contents or the new ones, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path | str, contents: str | bytes) -> None:
    """Create a file, or replace its contents; after a failure it is as it was before.

    Text is written in UTF-8.  Preserves permissions and symbolic links; pipes and devices are written to
    directly.  Raises `OSError`, for example `PermissionError` for a read-only file.
    """
    data = contents.encode() if isinstance(contents, str) else contents
    target = Path(path).resolve()
    is_new = not target.exists()
    if str(path).startswith(("/dev/", "/proc/")) or not (is_new or target.is_file()):
        Path(path).write_bytes(data)
        return
    if not is_new and not os.access(target, os.W_OK):
        raise PermissionError(13, "permission denied", str(path))
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not is_new:
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename = str(path)
        raise

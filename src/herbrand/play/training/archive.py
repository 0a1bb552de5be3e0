"""What the files of all trainings share: NumPy archives (`.npz`) of plain arrays, for one game.

`about` is JSON as bytes: the format, the digest of the rules, the time of training, and more by format.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.solving.strategy import digest_of
from herbrand.errors import HerbrandError
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.play.training.interface import Training

__all__ = [
    "checked_array",
    "file_for",
    "format_of",
    "natural",
    "read_archive",
    "reading",
    "restore_progress",
    "write_archive",
]

_LARGEST: Final = 64_000_000
"""Bytes of the arrays of a file, at most."""
_MOST_FILES: Final = 1000
"""The most files of a folder that are examined."""


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn the exceptions of damaged data into `HerbrandError`."""
    try:
        yield
    except OSError as error:
        raise HerbrandError(f"cannot read `{path}`: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise HerbrandError(
            f"`{path}` is not a file that `herbrand train` wrote, or damaged ({error})"
        ) from error


def write_archive(
    path: Path | str, form: str, training: Training, about: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a training to a file, all of it or nothing."""
    about = {
        "format": form,
        "game": training.game.name,
        "rules": digest_of(training.game),
        "seconds": training.seconds,
        "cpu_seconds": training.cpu_seconds,
        **about,
    }
    write_arrays(path, {"about": np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays})


def read_archive(path: Path | str, game: Game, *forms: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the data and the arrays of a file in one of some formats.

    Raises `HerbrandError` if it is not for this game, or damaged.
    """
    with reading(path):
        arrays = read_arrays(path, _LARGEST)
    return _checked(path, game, arrays, forms), arrays


def format_of(path: Path | str, game: Game, *forms: str) -> str:
    """Return the format of a file, which is one of some; raises as `read_archive` does."""
    with reading(path):
        arrays = read_arrays(path, _LARGEST, "about")
    return str(_checked(path, game, arrays, forms)["format"])


def _checked(
    path: Path | str, game: Game, arrays: dict[str, NDArray[Any]], forms: tuple[str, ...]
) -> dict[str, Any]:
    """Return the data of a file; `HerbrandError` if it is not for this game, or in no such format."""
    with reading(path):
        about: dict[str, Any] = json.loads(arrays["about"].tobytes())
        rules, name = about["rules"], str(about.get("game", ""))[:80]
        form = about["format"]
    if rules != digest_of(game):
        raise HerbrandError(f"`{path}` was learned for other rules than those of `{game.name}` ({name!r})")
    with reading(path):
        if form not in forms:
            raise ValueError("another format")
    return about


def file_for(path: Path | str, game: Game) -> str | None:
    """Return the file of a training for a game: the path, or the first such file in it if it is a folder.

    Files for other rules, damaged ones too, are passed over in a folder; None if that leaves nothing.
    """
    folder = Path(path)
    if not folder.is_dir():
        return str(path)
    rules = digest_of(game)
    for file in sorted(folder.glob("*.npz"))[:_MOST_FILES]:
        with suppress(HerbrandError), reading(file):
            if json.loads(read_arrays(file, _LARGEST, "about")["about"].tobytes())["rules"] == rules:
                return str(file)
    return None


def restore_progress(training: Training, about: dict[str, Any], read: Callable[..., Any], most: int) -> None:
    """Let a training go on from the times and the snapshots in a file, at most so many; `read` makes one."""
    training.seconds, training.cpu_seconds = (
        max(0.0, float(about[name])) for name in ("seconds", "cpu_seconds")
    )
    if len(about["snapshots"]) > most:
        raise ValueError("too many snapshots")
    training.snapshots = [read(one) for one in about["snapshots"]]


def natural(value: Any) -> int:
    """Return a number of a file that counts something."""
    number = int(value)
    if not 0 <= number < 1 << 60:
        raise ValueError("a number out of range")
    return number


def checked_array(array: NDArray[Any], dtype: str, dimensions: int) -> NDArray[Any]:
    """Return an array of a file; `ValueError` if it has another type or shape."""
    if array.dtype != np.dtype(dtype) or array.ndim != dimensions:
        raise ValueError("an array of another type")
    return array

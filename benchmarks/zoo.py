"""Train players for bundled games: a folder for `learned(file='FOLDER')`.

    python benchmarks/zoo.py FOLDER [GAME...] [--minutes M] [--device NAME]

Without names, all bundled games that `herbrand train` takes.  Each is trained for `--minutes` (2), one at a
time for every two processors; a training whose file is in the folder goes on until it has lasted so long.
Prints a line of JSON for each game: games, inputs, and Elo above the values at the beginning.  The files
have a few kilobytes each, up to 2 MB on boards, whose values have tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from herbrand import games
from herbrand.play.threads import available_cores


def train(name: str, folder: Path, minutes: float, device: str | None) -> dict[str, object]:
    """Train a player for a game by a process; return what it did, or why it did nothing."""
    command = [sys.executable, "-m", "herbrand", "train", name, "--minutes", str(minutes), "--json"]
    command += ["-o", str(folder / f"{name}.npz"), *(["--device", device] if device else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    if done.returncode:
        return {"game": name, "error": done.stderr.strip().splitlines()[-1:]}
    report = json.loads(done.stdout)
    snapshots = report.pop("snapshots", [])
    return {**report, "elo": round(max((one.get("elo", 0.0) for one in snapshots), default=0.0))}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", metavar="GAME", nargs="*")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--device", help="fit on this device of PyTorch")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    names = given.names or games.names()
    with ThreadPoolExecutor(max(1, available_cores() // 2)) as pool:
        for row in pool.map(lambda name: train(name, given.folder, given.minutes, given.device), names):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

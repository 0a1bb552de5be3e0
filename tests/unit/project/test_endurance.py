"""What is concluded from a run of hours: growth and losses are found, and nothing else."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from endurance import ATTACKS, Course, Hostile, summarise

from herbrand.match.protocol.server import PlayerServer

PROCESS = {"megabytes": 100.0, "threads": 10.0, "descriptors": 20.0, "children": 2.0}
REPORT: dict[str, Any] = {
    "matches": {"nim": 3},
    "match_failures": [],
    "replies": 12,
    "late": 0,
    "latest_reply": -1.0,
    "bad": 51,
    "bad_failures": [],
    "attacks": {"sends noise": {"tried": 2, "outcomes": {"answered or closed": 2}, "failures": []}},
    "ended": [],
    "samples": [
        {"second": 10.0 * n, "player": PROCESS, "manager": PROCESS, "manager of bad players": PROCESS}
        for n in range(40)
    ],
}


def lost(report: dict[str, Any]) -> list[str]:
    """Everything that was lost."""
    return [failure for case in summarise(report) for failure in case.failures]


def test_a_run_in_which_all_went_well_lost_nothing() -> None:
    """A short peak is no growth, and memory that the first minutes take is none either."""
    report = copy.deepcopy(REPORT)
    report["samples"][5]["player"] = {**PROCESS, "megabytes": 20.0}
    report["samples"][35]["player"] = {name: 10 * value for name, value in PROCESS.items()}
    assert not lost(report)
    assert [case.tried for case in summarise(report)] == [3, 12, 51, 2, 12]


@pytest.mark.parametrize("name", PROCESS)
@pytest.mark.parametrize("party", ["player", "manager", "manager of bad players"])
def test_what_grows_slowly_is_found(party: str, name: str) -> None:
    """Each quantity of each process that is watched."""
    report = copy.deepcopy(REPORT)
    for number, sample in enumerate(report["samples"]):
        sample[party] = {**PROCESS, name: PROCESS[name] * (1 + number / 20)}
    (failure,) = lost(report)
    assert failure.startswith(f"{name} of the {party}: from ")


def test_losses_are_counted_but_not_matches_that_found_no_seat() -> None:
    """A flood of other matches may take the last seat before a match is begun."""
    report = copy.deepcopy(REPORT)
    busy = "nim: step 0: unreadable: the answer to START is not `ready`: busy; step 1: unreadable: busy"
    report["match_failures"] = [busy]
    assert summarise(report)[0].outcomes == {"played to its end": 2, "found all seats taken": 1}
    assert not lost(report)
    report["match_failures"] = [busy, "nim: step 3: illegal: (take 9)"]
    report["late"] = 1
    report["bad_failures"] = ["says NIL: running, []"]
    report["attacks"]["sends noise"]["failures"] = ["INFO was not answered"]
    report["ended"] = ["player"]
    assert len(lost(report)) == 5


def test_the_attacks_reach_a_player_and_are_refused() -> None:
    """Each raises an error if the player obeys, but for one that waits longer than a test should."""

    async def run() -> dict[str, str]:
        async with PlayerServer("legal", port=0, matches=50) as server:
            hostile = Hostile(server.port, Course())
            attacks = [name for name in ATTACKS if name != "opens half a connection"]
            outcomes = await asyncio.gather(*(getattr(hostile, ATTACKS[name])() for name in attacks))
            return dict(zip(attacks, outcomes, strict=True))

    assert set(asyncio.run(run()).values()) <= {
        "followed", "given up", "begun", "begun up to the limit", "refused", "answered",
    }  # fmt: skip

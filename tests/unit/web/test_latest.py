"""Answers that are computed anew for each request, but never waited for long."""

from __future__ import annotations

import asyncio
import threading

import pytest

from herbrand.web.latest import MOST, PATIENCE, Latest


def test_an_old_answer_is_given_while_a_new_one_takes_long() -> None:
    """The first is waited for; then, at most, what was known before is late by one request."""

    async def play() -> None:
        latest: Latest[str] = Latest()
        assert await latest.get("home", lambda: "first") == "first"
        assert await latest.get("home", lambda: "second") == "second"
        go_on = threading.Event()
        calls = []

        def slow() -> str:
            calls.append(1)
            go_on.wait(30)
            return "third"

        loop = asyncio.get_running_loop()
        begun = loop.time()
        assert [await latest.get("home", slow) for _ in range(2)] == ["second", "second"]
        assert PATIENCE < loop.time() - begun < 20
        assert len(calls) == 1
        go_on.set()
        await latest._pending["home"]
        assert await latest.get("home", lambda: "fourth") in ("third", "fourth")
        assert await latest.get("home", lambda: "fifth") == "fifth"

    asyncio.run(play())


def test_failures_are_reported_and_forgotten() -> None:
    """An error is that of the request; the next one computes again.  Old keys make room."""

    async def play() -> None:
        latest: Latest[int] = Latest()
        with pytest.raises(ZeroDivisionError):
            await latest.get("a", lambda: 1 // 0)
        for number in range(MOST + 1):
            assert await latest.get(number, lambda value=number: value) == number
        assert list(latest._answers) == [*range(1, MOST + 1)]
        assert not latest._pending

    asyncio.run(play())

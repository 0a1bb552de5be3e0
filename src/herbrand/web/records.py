"""Records of matches and tournaments: the addresses at which they are shown, live while they are played.

The database is that of `herbrand match --record` and `herbrand tournament --record`, which other programs
may be writing to.  A page that shows something unfinished listens at `/records/changes` (server-sent
events) and asks anew when it hears that something was written.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from herbrand.match.records import RecordError, Store
from herbrand.web.answers import page_answer, step_of, token_for
from herbrand.web.charts import lines
from herbrand.web.pages_records import record_page, records_page, tournament_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from herbrand.match.records import MatchRecord
    from herbrand.web.matches import Desks

__all__ = ["Records"]

MOST_LISTED: Final = 300
"""So many matches are listed, the latest."""
PAUSE: Final = 0.4
"""Seconds between looks at the database."""
LONGEST: Final = 120.0
"""Seconds after which a listener is sent away; it comes back by itself."""
MOST_LISTENERS: Final = 20


class Records:
    """Answers requests about a database."""

    def __init__(self, database: Path | None, desks: Desks) -> None:
        self._database = database
        self._desks = desks
        self._listeners = 0

    def routes(self) -> list[Route]:
        """Return all addresses; names of matches may have any letters, hence they are no parts of paths."""
        return [
            Route("/records", self.every, methods=["GET"]),
            Route("/records/changes", self.changes, methods=["GET"]),
            Route("/record", self.record, methods=["GET"]),
            Route("/record/state", self.state, methods=["GET"]),
            Route("/record/told", self.told, methods=["GET"]),
            Route("/record/curve", self.curve, methods=["GET"]),
            Route("/record/judged", self.judged, methods=["GET"]),
            Route("/tournament", self.tournament, methods=["GET"]),
        ]

    def _store(self) -> Store:
        if self._database is None:
            raise RecordError("no records were given to this server")
        return Store(self._database, create=False)

    def _load(self, name: str) -> MatchRecord:
        with self._store() as store:
            return store.load(name)

    async def every(self, request: Request) -> Response:
        """List tournaments and matches."""

        def look() -> tuple[list[tuple[str, int, int]], list[dict[str, Any]]]:
            from herbrand.match.tournament import Tournament

            with self._store() as store:
                found = [Tournament(store, name).results() for name in Tournament.names(store)]
                rows = store.summaries(latest=MOST_LISTED)
            return [(one.name, one.played, one.matches) for one in reversed(found)], rows[::-1]

        tournaments, rows = ([], []) if self._database is None else await run_in_threadpool(look)
        given = self._database is not None
        return page_answer(records_page(tournaments, rows, given=given, token=token_for(request)))

    async def record(self, request: Request) -> Response:
        """Show a match, at its end or after some steps."""
        record = await run_in_threadpool(self._load, _name(request, "match"))
        shown = await run_in_threadpool(self._shown, record, _step(request, len(record.moves)))
        return page_answer(record_page(annotated(record), shown, token=token_for(request)))

    async def state(self, request: Request) -> Response:
        """Return what a match looked like after some steps."""
        record = await run_in_threadpool(self._load, _name(request, "match"))
        return JSONResponse(await run_in_threadpool(self._shown, record, _step(request, len(record.moves))))

    async def told(self, request: Request) -> Response:
        """Return what is recorded of a match."""
        record = await run_in_threadpool(self._load, _name(request, "match"))
        return JSONResponse(annotated(record))

    async def curve(self, request: Request) -> Response:
        """Draw how the chances went."""
        record = await run_in_threadpool(self._load, _name(request, "match"))
        found = await run_in_threadpool(
            self._desks.ask, "curve", place="records", seconds=90, **_played(record)
        )
        said = f"what {found['games']} random games from each step give"
        return JSONResponse({"svg": str(lines(found["values"], found["steps"], said)), "said": said})

    async def judged(self, request: Request) -> Response:
        """Return what a search thinks of the moves of one step."""
        record = await run_in_threadpool(self._load, _name(request, "match"))
        step = _step(request, len(record.moves))
        if not step:
            return JSONResponse([])
        given = {"text": record.rules, "notation": "prefix", "name": record.game}
        moves = [list(joint) for joint in record.moves[:step]]
        asked = partial(self._desks.ask, "judge", place="odds", seconds=120, moves=moves, **given)
        return JSONResponse(await run_in_threadpool(asked))

    def _shown(self, record: MatchRecord, step: int) -> dict[str, Any]:
        shown: dict[str, Any] = self._desks.ask(
            "replay", place="records", seconds=40, step=step, **_played(record)
        )
        return shown

    async def tournament(self, request: Request) -> Response:
        """Show the standings of a tournament."""
        name = _name(request, "name")

        def look() -> Any:
            from herbrand.match.tournament import Tournament

            with self._store() as store:
                tournament = Tournament(store, name)
                return tournament.results(), tournament.meetings()

        results, meetings = await run_in_threadpool(look)
        return page_answer(tournament_page(results, meetings, token=token_for(request)))

    async def changes(self, request: Request) -> Response:
        """Say whenever something was written, and once in the beginning."""
        del request
        if self._listeners >= MOST_LISTENERS:
            raise HTTPException(503, "Too many pages are listening; close some.")
        store = self._store()

        async def events() -> AsyncIterator[str]:
            self._listeners += 1
            try:
                known: int | None = None
                for _ in range(int(LONGEST / PAUSE)):
                    version = store.version()
                    yield "event: changed\ndata: \n\n" if version != known else ": nothing new\n\n"
                    known = version
                    await asyncio.sleep(PAUSE)
            finally:
                self._listeners -= 1
                store.close()

        return StreamingResponse(
            events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )


def annotated(record: MatchRecord) -> dict[str, Any]:
    """Return a record as the page needs it: by step, what each role played, saw, and what went wrong."""
    steps: list[dict[str, Any]] = []
    for number, joint in enumerate(record.moves, start=1):
        took = {m.role: m.seconds for m in record.messages if m.kind == "PLAY" and m.step == number - 1}
        seen = record.percepts[number - 1] if number <= len(record.percepts) else {}
        wrong = {p.role: f"{p.kind}: {p.note}" for p in record.problems if p.step == number}
        steps.append(
            {
                "opening": number <= len(record.opening),
                "moves": [
                    {
                        "role": role,
                        "move": move,
                        "seconds": took.get(role),
                        "seen": list(seen.get(role, ())),
                        "problem": wrong.get(role),
                    }
                    for role, move in zip(record.roles, joint, strict=True)
                ],
            }
        )
    return {
        "id": record.id,
        "game": record.game,
        "status": record.status,
        "reason": record.reason,
        "started": record.started,
        "clocks": [record.start_clock, record.play_clock],
        "roles": [
            {
                "name": role,
                "player": record.players.get(role),
                "goal": (record.goals or {}).get(role),
            }
            for role in record.roles
        ],
        "steps": steps,
    }


def _played(record: MatchRecord) -> dict[str, Any]:
    return {"text": record.rules, "name": record.game, "moves": [list(joint) for joint in record.moves]}


def _name(request: Request, what: str) -> str:
    name = request.query_params.get(what, "")
    if not name:
        raise HTTPException(404, "The address does not say which.")
    return name[:300]


def _step(request: Request, last: int) -> int:
    """Return the step that an address asks for, the last one by default."""
    return min(step_of(request.query_params.get("step", str(last))), last)

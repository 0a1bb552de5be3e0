"""Routes that show recorded matches and tournaments, also while they are being played.

The database is that of `herbrand match --record` and `herbrand tournament --record`, to which other programs
may be writing.  Pages listen at `/records/changes` (server-sent events) and reload their data after each
change.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, StreamingResponse
from starlette.routing import Route

from herbrand import games
from herbrand.match.records import RecordError, Store
from herbrand.match.records.document import read_document
from herbrand.syntax.files import SUFFIXES
from herbrand.web.answers import file_answer, step_of, uploaded
from herbrand.web.charts import lines
from herbrand.web.child import wait_for_child
from herbrand.web.pages import page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from herbrand.match.records import MatchRecord
    from herbrand.web.matches import ChildPool

__all__ = ["Records"]

MAX_LISTED: Final = 300
"""Number of matches listed, the most recent ones."""
POLL_SECONDS: Final = 0.4
"""Interval between checks of the database."""
MAX_STREAM_SECONDS: Final = 120.0
"""Duration of a stream of changes; browsers then reconnect."""
MAX_LISTENERS: Final = 20
MAX_LEGS: Final = 200
"""Number of matches of a tournament that are listed, the most recent ones."""


class InPlay(RecordError):
    """People are playing the match: it has another page."""


class Records:
    """Handlers for a database of records."""

    def __init__(self, database: Path, children: ChildPool) -> None:
        self._database = database
        self._children = children
        self._listeners = 0

    def routes(self) -> list[Route]:
        """Return all routes; match ids are query parameters, since they may contain any characters."""
        return [
            Route("/records", self.every, methods=["GET"]),
            Route("/records/changes", self.changes, methods=["GET"]),
            Route("/records/import", self.import_, methods=["POST"]),
            Route("/record.json", self.download, methods=["GET"]),
            Route("/record", self.record, methods=["GET"]),
            Route("/record/state", self.state, methods=["GET"]),
            Route("/record/match", self.match, methods=["GET"]),
            Route("/record/curve", self.curve, methods=["GET"]),
            Route("/record/judged", self.judged, methods=["GET"]),
            Route("/tournament", self.tournament, methods=["GET"]),
        ]

    def _store(self) -> Store:
        return Store(self._database, write=False, check=False)  # a check reads it all, a page a little

    def _load(self, name: str) -> MatchRecord:
        """Return a record; `InPlay` for a match that people are playing, which may hide something."""
        with self._store() as store:
            record = store.load(name)
        if is_played(record.origin, record.status):
            raise InPlay(f"match `{name}` is not over")
        return record

    async def every(self, request: Request) -> Response:
        """List tournaments and matches."""

        def read() -> dict[str, Any]:
            from herbrand.match.tournament import Tournament

            with self._store() as store:
                results = [Tournament(store, name).results() for name in Tournament.names(store)]
                rows = store.summaries(latest=MAX_LISTED)
            return {"tournaments": results[::-1], "matches": rows[::-1]}

        values = await run_in_threadpool(read)
        return page(request, "records", when=_when, is_played=is_played, games=games.names(), **values)

    async def document(self, name: str) -> Response:
        """Send a record as a file."""
        record = await self._ask("export_record", seconds=60, database=str(self._database), match=name)
        return file_answer(json.dumps(record, indent=1), name, ".json")

    async def download(self, request: Request) -> Response:
        """Send the record of a match that is over as a file."""
        record = await self._requested_record(request)
        return await self.document(record.id)

    async def import_(self, request: Request) -> Response:
        """Add a record from a JSON file, of herbrand or, with its game, of ggp-base."""
        data, _, game = await uploaded(request)
        try:
            arguments: dict[str, Any] = {"text": data.decode()}
        except UnicodeDecodeError:
            raise HTTPException(415, "The file is not text: a record is a JSON file.") from None
        if game in games.names():
            path = games.path(game)
            arguments["rules"] = {
                "text": games.text(game), "notation": SUFFIXES[path.suffix], "name": game, "source": str(path)
            }  # fmt: skip
        document = await self._ask("import_record", seconds=90, **arguments)

        def save() -> str:
            record = read_document(document)
            if record.origin == "web":  # it does not go on here
                record.settings = {}
                if record.status == "running":
                    record.status, record.reason = "aborted", "imported"
            with Store(self._database, check=False) as store:
                store.save(record)
            return record.id

        return RedirectResponse(f"/record?match={quote(await run_in_threadpool(save))}", 303)

    async def record(self, request: Request) -> Response:
        """Show a match at a step, by default the last one."""
        try:
            record = await self._requested_record(request)
        except InPlay:
            return RedirectResponse(f"/match/{quote(_name(request, 'match'))}", 303)
        position = await self._position(request, record)
        shown = {key: value for key, value in position.items() if key != "svg"}
        match = await self._annotated(record)
        return page(request, "record", match=match, position=position, shown=shown, when=_when)

    async def state(self, request: Request) -> Response:
        """Return the position of a match at a step."""
        return JSONResponse(await self._position(request, await self._requested_record(request)))

    async def match(self, request: Request) -> Response:
        """Return the record of a match."""
        return JSONResponse(await self._annotated(await self._requested_record(request)))

    async def curve(self, request: Request) -> Response:
        """Draw the expected goals over the steps of a match."""
        curve = await self._ask("curve", seconds=90, **_moves(await self._requested_record(request)))
        title = f"average of {curve['games']} random games from each step"
        chart = lines(curve["values"], curve["steps"], title, curve["colours"])
        return JSONResponse({"svg": str(chart), "said": title})

    async def judged(self, request: Request) -> Response:
        """Return a search's judgement of the moves of one step."""
        record = await self._requested_record(request)
        step = _step(request, len(record.moves))
        if not step:
            return JSONResponse([])
        rules = {**_moves(record, step), "notation": "prefix"}
        return JSONResponse(await self._ask("judge", queue="odds", seconds=120, **rules))

    async def _requested_record(self, request: Request) -> MatchRecord:
        """Return the record of the match in the address."""
        return await run_in_threadpool(self._load, _name(request, "match"))

    async def _ask(self, do: str, *, queue: str = "records", seconds: float, **arguments: Any) -> Any:
        """Return what a subprocess answers."""
        return await wait_for_child(self._children.ask, do, queue=queue, seconds=seconds, **arguments)

    async def _annotated(self, record: MatchRecord) -> dict[str, Any]:
        return annotated(record, await self._ask("words", seconds=40, **_moves(record)))

    async def _position(self, request: Request, record: MatchRecord) -> dict[str, Any]:
        """Return the position of a record at the step in the address."""
        step = _step(request, len(record.moves))
        position: dict[str, Any] = await self._ask("replay", seconds=40, step=step, **_moves(record))
        return position

    async def tournament(self, request: Request) -> Response:
        """Show the standings of a tournament."""
        name = _name(request, "name")

        def read() -> Any:
            from herbrand.match.tournament import Tournament

            with self._store() as store:
                tournament = Tournament(store, name)
                return tournament.results(), tournament.meetings()

        results, meetings = await run_in_threadpool(read)
        legs = [(meeting.encounter.game, leg) for meeting in reversed(meetings) for leg in meeting.legs]
        return page(request, "tournament", results=results, legs=legs[:MAX_LEGS])

    async def changes(self, request: Request) -> Response:
        """Stream an event at the start and after each change of the database."""
        del request
        if self._listeners >= MAX_LISTENERS:
            raise HTTPException(503, "Too many pages are listening; close some.")
        store = self._store()

        async def events() -> AsyncIterator[str]:
            self._listeners += 1
            try:
                previous: int | None = None
                for _ in range(int(MAX_STREAM_SECONDS / POLL_SECONDS)):
                    version = store.version()
                    yield "event: changed\ndata: \n\n" if version != previous else ": no change\n\n"
                    previous = version
                    await asyncio.sleep(POLL_SECONDS)
            finally:
                self._listeners -= 1
                store.close()

        return StreamingResponse(
            events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )


def annotated(record: MatchRecord, words: list[list[str]]) -> dict[str, Any]:
    """Return a record as data for the page: by step, each role's move, time, percepts and problem."""
    steps: list[dict[str, Any]] = []
    for number, (joint, said) in enumerate(zip(record.moves, words, strict=True), start=1):
        seconds = {m.role: m.seconds for m in record.messages if m.kind == "PLAY" and m.step == number - 1}
        percepts = record.percepts[number - 1] if number <= len(record.percepts) else {}
        problems = {p.role: f"{p.kind}: {p.note}" for p in record.problems if p.step == number}
        steps.append(
            {
                "opening": number <= len(record.opening),
                "moves": [
                    {
                        "role": role,
                        "move": move,
                        "text": text,
                        "seconds": seconds.get(role),
                        "seen": list(percepts.get(role, ())),
                        "problem": problems.get(role),
                    }
                    for role, move, text in zip(record.roles, joint, said, strict=True)
                ],
            }
        )
    return {
        "id": record.id,
        "game": record.game,
        "status": record.status,
        "reason": record.reason,
        "started": record.started,
        "clocks": [record.start_clock, record.play_clock] if record.origin != "web" else None,
        "roles": [
            {"name": role, "player": record.players.get(role), "goal": (record.goals or {}).get(role)}
            for role in record.roles
        ],
        "steps": steps,
    }


def is_played(origin: str, status: str) -> bool:
    """Whether people are playing a match in the web application."""
    return origin == "web" and status == "running"


def _moves(record: MatchRecord, steps: int | None = None) -> dict[str, Any]:
    """Return the rules and the moves of a match, all or those of so many steps."""
    moves = [list(joint) for joint in record.moves[:steps]]
    return {"text": record.rules, "name": record.game, "moves": moves}


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _name(request: Request, key: str) -> str:
    name = request.query_params.get(key, "")
    if not name:
        raise HTTPException(404, f"The address lacks `{key}`.")
    return name[:300]


def _step(request: Request, last: int) -> int:
    """Return the step in the query, by default the last one."""
    return min(step_of(request.query_params.get("step", str(last))), last)

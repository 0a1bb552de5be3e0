"""The routes of the web application and their handlers."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import threading
from collections import Counter, OrderedDict
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from herbrand.draw.style import PIECES, STYLE
from herbrand.match.records import RecordError, Store
from herbrand.match.tournament.plan import TournamentError
from herbrand.play.levels import DEFAULT_LEVEL, LEVELS
from herbrand.runtime.json_process import RequestError
from herbrand.runtime.rendering import compile_templates, render
from herbrand.web.answers import file_answer, form_fields, require_token, step_of, uploaded
from herbrand.web.charts import bars
from herbrand.web.child import Busy, ChildLost, Queue, wait_for_child
from herbrand.web.guard import Guard
from herbrand.web.latest import Latest
from herbrand.web.library import ENDINGS, MAX_BYTES, AlreadyThere, Library, NotThere
from herbrand.web.matches import ChildPool, Matches, NoMatch
from herbrand.web.pages import error_page, html, page, problem_response, wants_json
from herbrand.web.records import Records
from herbrand.web.solutions import Solutions
from herbrand.web.table import PERFECT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from starlette.requests import Request

    from herbrand.web.library import LibraryEntry
    from herbrand.web.matches import WebMatch

__all__ = ["make_app"]

GET: Final = ["GET"]
POST: Final = ["POST"]
STATIC: Final = {
    "app.css": "text/css",
    "icon.svg": "image/svg+xml",
    **{
        f"{name}.js": "text/javascript"
        for name in ("analyse", "common", "edit", "library", "match", "records", "theme")
    },
}
MAX_PICTURES: Final = 400
"""Thumbnails in the cache."""
WAITING_PICTURES: Final = 64
"""Pictures that may wait to be drawn: one page shows many."""
MAX_CHIPS: Final = 12
"""Features among which the library offers a choice."""
MAX_ANALYSES: Final = 16
"""Size of the cache of analyses."""
MAX_DEPTH: Final = 300
"""Steps into a game tree."""
NOTATIONS: Final = ("auto", "prefix", "infix", "prolog", "ggdl")
_ACTIONS: Final = ("move", "advance", "undo", "resign", "show", "flip", "hint")
_SVG_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


class App:
    """The handlers and their state."""

    def __init__(
        self,
        folders: Iterable[Path],
        database: Path,
        temporary: Path,
        *,
        saved: Path | None = None,
        address: str = "",
    ) -> None:
        self.library = Library(folders, saved)
        self.matches = Matches(database)
        self.children = ChildPool()
        self.records = Records(database, self.children)
        self.solutions = Solutions(temporary)
        self.address = address
        """The address for friends on other computers; empty where they cannot reach the server."""
        self._pictures: OrderedDict[str, str] = OrderedDict()
        self._drawing = Queue(2, WAITING_PICTURES)
        self._homes: Latest[str] = Latest()
        self._analyses: OrderedDict[tuple[str, str], Any] = OrderedDict()
        """The latest results by key and text of a game."""

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/", self.home, methods=GET),
            Route("/help", self.help, methods=GET),
            Route("/game/{key}", self.game, methods=GET),
            Route("/picture/{key}.svg", self.picture, methods=GET),
            Route("/download/{key}", self.download, methods=GET),
            Route("/play", self.play, methods=POST),
            Route("/match/{key}/rematch", self.rematch, methods=POST),
            *(
                Route(f"{place}{rest}", handler, methods=methods)
                for place in ("/match/{key}", "/seat/{secret}")
                for rest, handler, methods in (
                    ("", self.match, GET),
                    ("/state", self.state, GET),
                    ("/version", self.version, GET),
                    ("/{do:str}", self.act, POST),
                )
            ),
            Route("/match/{key}/bar", self.bar, methods=GET),
            Route("/match/{key}/record.json", self.record, methods=GET),
            Route("/edit", self.edit, methods=[*GET, *POST]),
            Route("/edit/play", self.edit_play, methods=POST),
            Route("/edit/download", self.edit_download, methods=POST),
            Route("/edit/save", self.edit_save, methods=POST),
            Route("/upload", self.upload, methods=POST),
            Route("/api/{do:str}", self.api, methods=POST),
            Route("/analyse/{key}", self.analyse, methods=[*GET, *POST]),
            Route("/analyse/{key}/solution", self.solution, methods=[*GET, *POST]),
            Route("/explore/{key}", self.explore, methods=GET),
            Route("/static/{name}", self.static, methods=GET),
            *self.records.routes(),
        ]

    # -- library --------------------------------------------------------------------------

    async def home(self, request: Request) -> Response:
        """Show the games."""
        query, feature = request.query_params.get("q", "")[:100], request.query_params.get("feature", "")[:60]
        token = request.scope["herbrand.token"]
        return html(
            await self._homes.get((query, feature, token), partial(self._home, query, feature, token))
        )

    def _home(self, query: str, feature: str, token: str) -> str:
        entries = self.library.entries()
        counts = Counter(word for entry in entries for word in entry.features)
        common = sorted((word for word in counts if counts[word] > 1), key=lambda word: (-counts[word], word))
        shown = [entry for entry in entries if entry.matches(query, feature)]
        return render(
            "web/library.html",
            token=token,
            entries=shown,
            features=common[:MAX_CHIPS],
            query=query,
            feature=feature,
        )

    async def help(self, request: Request) -> Response:
        """Show the help page."""
        return page(request, "help", players=await run_in_threadpool(_players))

    async def game(self, request: Request) -> Response:
        """Show one game."""
        entry = self._entry(request)
        facts = await wait_for_child(self.children.ask, "facts", **entry.rules)
        self.library.add_metadata(entry, facts["roles"], facts["words"])
        await run_in_threadpool(self.matches.warm_up)
        players = await run_in_threadpool(_players)
        return page(
            request,
            "game",
            entry=entry,
            facts=facts,
            levels={name: players[name] for name in LEVELS},
            programs={name: about for name, about in players.items() if name not in LEVELS},
            level=DEFAULT_LEVEL,
            perfect=self._perfect(entry) and PERFECT,
            with_friends=bool(self.address),
        )

    async def picture(self, request: Request) -> Response:
        """Draw the initial state of a game."""
        entry = self._entry(request)
        name = hashlib.sha256(f"{entry.key}\n{entry.notation}\n{entry.text}".encode()).hexdigest()
        try:
            if (svg := self._pictures.get(name)) is None:
                async with self._drawing.pass_through():
                    svg = await wait_for_child(self._picture, entry, name)
        except (RequestError, ChildLost):
            svg = _NO_PICTURE
        except Busy:
            return Response(_NO_PICTURE, 503, {"retry-after": "2"}, "image/svg+xml")
        return Response(
            svg,
            media_type="image/svg+xml",
            headers={"content-security-policy": _SVG_POLICY, "cache-control": "private, max-age=600"},
        )

    def _picture(self, entry: LibraryEntry, name: str) -> str:
        if name not in self._pictures:
            thumbnail = self.children.ask("thumbnail", queue="pictures", seconds=30, **entry.rules)
            self.library.add_metadata(entry, thumbnail["roles"], thumbnail["words"])
            self._pictures[name] = thumbnail["svg"]
            while len(self._pictures) > MAX_PICTURES:
                self._pictures.popitem(last=False)
        return self._pictures[name]

    async def download(self, request: Request) -> Response:
        """Send the rules as a file."""
        entry = self._entry(request)
        return file_answer(entry.text, entry.title, ENDINGS.get(entry.notation, ".kif"))

    def _entry(self, request: Request) -> LibraryEntry:
        return self.library.find(request.path_params["key"])

    # -- matches --------------------------------------------------------------------------

    async def play(self, request: Request) -> Response:
        """Start a match."""
        form = await form_fields(request)
        entry = self.library.find(form.get("key", ""))
        return await self._begin(entry, form, _fields_of(form, "seat:"))

    async def _begin(self, entry: LibraryEntry, form: dict[str, str], seats: dict[str, str]) -> Response:
        perfect = self._perfect(entry)
        players = {"you", *_players(), *(["friend"] if self.address else []), *([PERFECT] if perfect else [])}
        unknown = sorted(set(seats.values()) - players)
        if unknown:
            raise HTTPException(400, f"There is no player `{unknown[0][:40]}`.")
        parameters = {name: value for name, value in _fields_of(form, "param:").items() if value.strip()}
        settings = {"seats": seats, "clock": _seconds(form.get("clock", "")), "parameters": parameters}
        if PERFECT in seats.values():
            settings["solution"] = perfect
        match = await wait_for_child(self.matches.begin, entry, settings)
        return RedirectResponse(f"/match/{match.key}", 303)

    async def _seat(self, request: Request) -> tuple[WebMatch, str]:
        """Return the match of an address and the screen, which is empty or the role of a friend."""
        if "secret" in request.path_params:
            try:
                return await wait_for_child(self.matches.find_friend, request.path_params["secret"])
            except NoMatch:
                raise HTTPException(403, "This is not the link of a seat.") from None
        return await wait_for_child(self.matches.find, request.path_params["key"]), ""

    def _game_of(self, match: WebMatch) -> LibraryEntry:
        """Return the game of a match: from the library, or from the record where it is no longer there."""
        try:
            entry = self.library.find(match.settings["key"])
        except NotThere:
            return self.library.add(match.rules, "prefix", match.title)
        return entry

    async def match(self, request: Request) -> Response:
        """Show a match."""
        match, screen = await self._seat(request)
        return await self._match_page(request, match, screen)

    async def _match_page(
        self, request: Request, match: WebMatch, screen: str, *, problem: str = "", status: int = 200
    ) -> Response:
        version = self.matches.version(match.key)
        view = await wait_for_child(match.ask, "view", screen=screen)
        place = request.url.path
        if problem:
            place = place.rpartition("/")[0]
        links = {} if screen else {role: secret for secret, role in match.settings.get("friends", {}).items()}
        return page(
            request,
            "match",
            status=status,
            problem=problem,
            place=place,
            title=match.title,
            entry=None if screen else self._game_of(match),
            links={role: f"{self.address}/seat/{secret}" for role, secret in links.items()},
            is_friend=bool(screen),
            view=view,
            version=version,
        )

    async def state(self, request: Request) -> Response:
        """Return the view of a step, by default the present one."""
        match, screen = await self._seat(request)
        version = self.matches.version(match.key)
        step = request.query_params.get("step")
        arguments = {"screen": screen} | ({} if step is None else {"step": step_of(step)})
        return JSONResponse({**await wait_for_child(match.ask, "view", **arguments), "version": version})

    async def version(self, request: Request) -> Response:
        """Return a text that is another one when the present view is."""
        key = request.path_params.get("key")
        if key is None:
            key = (await self._seat(request))[0].key
        return JSONResponse({"version": self.matches.version(key)})

    async def bar(self, request: Request) -> Response:
        """Return the expected goals of each role in a step."""
        match, _ = await self._seat(request)
        step = step_of(request.query_params.get("step", ""))
        return JSONResponse(await wait_for_child(self._odds, match, step))

    def _odds(self, match: WebMatch, step: int) -> dict[str, Any]:
        position: dict[str, Any] = match.ask("position", step=step)
        odds: dict[str, Any] = {"values": position["values"], "games": 0, "by": "end"}
        if position["facts"] is not None:
            rules = {"text": match.rules, "notation": "prefix", "name": match.game}
            with contextlib.suppress(RequestError, ChildLost, Busy):
                odds = self.children.ask("odds", queue="odds", seconds=120, facts=position["facts"], **rules)
        return odds

    async def record(self, request: Request) -> Response:
        """Send the record as a file."""
        match, _ = await self._seat(request)
        await wait_for_child(match.ask, "document")
        return await self.records.document(match.key)

    async def act(self, request: Request) -> Response:
        """Perform an action in a match: move, advance, undo, resign, show, flip, hint."""
        form = await form_fields(request, is_friend="secret" in request.path_params)
        match, screen = await self._seat(request)
        do = request.path_params["do"]
        arguments: dict[str, Any] = {}
        if do in ("move", "advance"):
            arguments["step"] = step_of(form.get("step", ""))
        if do == "move":
            arguments["move"] = form.get("move", "")
        if do in ("move", "resign", "show", "hint"):
            arguments["role"] = form.get("role", "")
        if do in ("move", "resign", "flip", "hint"):
            arguments["screen"] = screen
        if do not in (("move", "advance", "resign", "flip") if screen else _ACTIONS):
            raise HTTPException(404, "A match has no such action.")
        try:
            if do == "hint":
                return JSONResponse(await wait_for_child(match.ask, do, **arguments))
            await wait_for_child(self.matches.change, match, do, **arguments)
        except RequestError as error:
            if wants_json(request):
                return JSONResponse({"error": str(error)}, 409)
            return await self._match_page(request, match, screen, problem=str(error), status=409)
        if not wants_json(request):
            return RedirectResponse(request.url.path.rpartition("/")[0], 303)
        version = self.matches.version(match.key)
        return JSONResponse({**await wait_for_child(match.ask, "view", screen=screen), "version": version})

    async def rematch(self, request: Request) -> Response:
        """Begin the same match again, with sides switched if the form says so."""
        form = await form_fields(request)
        match, _ = await self._seat(request)
        seats = dict(match.settings["seats"])
        if form.get("switch"):
            seats = dict(zip(seats, [*list(seats.values())[1:], *list(seats.values())[:1]], strict=True))
        same = ("clock", "parameters", "solution")
        settings = {name: value for name, value in match.settings.items() if name in same}
        again = await wait_for_child(self.matches.begin, self._game_of(match), {**settings, "seats": seats})
        return RedirectResponse(f"/match/{again.key}", 303)

    # -- writing --------------------------------------------------------------------------

    async def edit(self, request: Request) -> Response:
        """Show the editor."""
        key = ""
        if request.method == "POST":
            form = await form_fields(request)
            text, notation, title = _text_of(form)
            key = form.get("opened", "")
        elif key := request.query_params.get("game", ""):
            entry = self.library.find(key)
            text, notation, title = entry.text, entry.notation, entry.title
        else:
            text, notation, title = _static("example.kif").decode(), "auto", "my game"
        return self._editor(request, text, notation, title, key)

    def _editor(
        self,
        request: Request,
        text: str,
        notation: str,
        title: str,
        key: str,
        *,
        status: int = 200,
        **more: str,
    ) -> Response:
        values = {"text": text, "notation": notation, "title": title, "opened": key, "problem": "", **more}
        return page(request, "edit", status=status, folder=str(self.library.saved or ""), **values)

    async def edit_save(self, request: Request) -> Response:
        """Save the text into the folder of saved games."""
        form = await form_fields(request)
        text, notation, title = _text_of(form)
        opened = form.get("opened", "")
        save = partial(self.library.save, text, notation, title, opened=opened, replacing="replace" in form)
        try:
            key = await run_in_threadpool(save)
        except AlreadyThere as error:
            problem = f"There is a file {error} already. Choose another name, or save again to replace it."
        except OSError as error:
            problem = f"The game could not be saved: {error}."
        else:
            if wants_json(request):
                return JSONResponse({"key": key, "folder": str(self.library.saved)})
            return RedirectResponse(f"/edit?game={key}", 303)
        if wants_json(request):
            return JSONResponse({"error": problem}, 409)
        return self._editor(request, text, notation, title, opened, status=409, problem=problem)

    async def edit_play(self, request: Request) -> Response:
        """Start a match of the text in the editor: the user has the first role, programs the others."""
        form = await form_fields(request)
        text, notation, title = _text_of(form)
        entry = self.library.add(text, notation, title)
        facts = await wait_for_child(self.children.ask, "facts", **entry.rules)
        if not facts["playable"]:
            return self._editor(request, text, notation, title, form.get("opened", ""), status=409)
        seats = {role: "you" if i == 0 else DEFAULT_LEVEL for i, role in enumerate(facts["players"])}
        return await self._begin(entry, {}, seats)

    async def edit_download(self, request: Request) -> Response:
        """Send the text as a file."""
        text, notation, title = _text_of(await form_fields(request))
        return file_answer(text, title, ENDINGS.get(notation, ".kif"))

    async def upload(self, request: Request) -> Response:
        """Open an uploaded file in the editor."""
        data, path, _ = await uploaded(request, MAX_BYTES + 1)
        name = (path or "game").replace("\\", "/").rsplit("/", 1)[-1]
        if len(data) > MAX_BYTES:
            raise HTTPException(413, "Files and forms may have at most a megabyte.")
        from herbrand.syntax.files import decode

        if not _is_text(data):
            raise HTTPException(415, f"`{name[:80]}` is not text: a rulesheet is a text file.")
        stem, _, ending = name.rpartition(".")
        notation = {suffix: notation for notation, suffix in ENDINGS.items()}.get(
            f".{ending.lower()}", "auto"
        )
        entry = self.library.add(decode(data, name)[0].text, notation, (stem or name)[:80])
        return RedirectResponse(f"/edit?game={entry.key}", 303)

    async def api(self, request: Request) -> Response:
        """Handle a request of the editor's script."""
        do = request.path_params["do"]
        if do not in ("check", "preview", "why", "layout", "convert", "graph", "fix", "repair"):
            raise HTTPException(404, "There is no such action.")
        require_token(request, request.headers.get("x-herbrand-token"))
        try:
            data = json.loads(await request.body())
        except ValueError:
            raise HTTPException(400, "The request is not JSON.") from None
        try:
            arguments = _arguments(do, data)
        except (KeyError, TypeError, ValueError):
            raise HTTPException(400, "The request lacks an argument, or one is invalid.") from None
        try:
            if do == "repair":
                arguments |= {"queue": "analysis", "seconds": 90}
            return JSONResponse(await wait_for_child(self.children.ask, do, **arguments))
        except (RequestError, ChildLost) as error:
            return JSONResponse({"error": str(error)}, 409)

    # -- analysis -------------------------------------------------------------------------

    async def analyse(self, request: Request) -> Response:
        """Show the analysis page; a POST runs the analysis."""
        entry = self._entry(request)
        key = entry.key, entry.text
        if request.method == "POST":
            await form_fields(request)
            self._analyses[key] = await wait_for_child(
                self.children.ask, "analyse", queue="analysis", seconds=150, **entry.rules
            )
            self._analyses.move_to_end(key)
            while len(self._analyses) > MAX_ANALYSES:
                self._analyses.popitem(last=False)
            return RedirectResponse(request.url.path, 303)
        job = self.solutions.find(entry.rules)
        return page(request, "analyse", entry=entry, results=self._analyses.get(key), bars=bars, job=job)

    async def solution(self, request: Request) -> Response:
        """Return how far the solution of a game is; a POST begins it."""
        entry = self._entry(request)
        if request.method == "POST":
            await form_fields(request)
            await self.solutions.start(entry.rules)
            return RedirectResponse(f"/analyse/{entry.key}#solution", 303)
        job = self.solutions.find(entry.rules)
        if job is None:
            raise HTTPException(404, "Nothing was solved.")
        return JSONResponse(job.progress())

    def _perfect(self, entry: LibraryEntry) -> dict[str, str] | None:
        """Return the solution that the seat `perfect` plays by, if there is one."""
        job = self.solutions.find(entry.rules)
        return None if job is None else job.perfect

    async def explore(self, request: Request) -> Response:
        """Show a state of the game tree with its branches."""
        entry = self._entry(request)
        words = request.query_params.get("path", "").split(".")
        if len(words) > MAX_DEPTH or not all(word.isdecimal() and len(word) < 6 for word in words if word):
            raise HTTPException(400, "The path must be numbers separated by points.")
        path = [int(word) for word in words if word]
        position = await wait_for_child(
            self.children.ask, "explore", queue="analysis", seconds=90, path=path, **entry.rules
        )
        return page(request, "explore", entry=entry, path=path, position=position)

    async def static(self, request: Request) -> Response:
        """Send a static file: one of a fixed list."""
        name = request.path_params["name"]
        if name == "board.css":
            return Response(STYLE + _DOTS, media_type="text/css", headers=_KEEP)
        if name not in STATIC:
            raise HTTPException(404, "There is no such file.")
        return Response(_static(name), media_type=STATIC[name], headers=_KEEP)


_KEEP: Final = {"cache-control": "no-cache"}
_DOTS: Final = "".join(
    f".c-{name}{{background:{fill}}}.chart .k-{name}{{stroke:{fill}}}"
    for name, (fill, _, _) in PIECES.items()
)
"""Colours of the dots beside role names, and of lines in charts."""
_NO_PICTURE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 90"><text x="60" y="52" text-anchor="middle" '
    'font-size="30" fill="#a39c90">?</text></svg>'
)


def make_app(
    folders: Iterable[Path] = (),
    *,
    database: Path | None = None,
    saved: Path | None = None,
    hosts: Iterable[str] = ("127.0.0.1", "localhost", "::1"),
    token: str | None = None,
    address: str = "",
) -> Guard:
    """Return the ASGI application.

    `folders` are searched for rulesheets, and the editor saves into the folder `saved`; `database` holds
    matches and tournaments, by default only until the application ends; `hosts` are the accepted names in the
    `Host` header; with a `token`, only those are served who know it.  Where other computers reach the server
    at `address`, matches have links for friends, which admit to one seat.

    Raises `RecordError` for a file that is no such database.
    """
    temporary = tempfile.TemporaryDirectory(prefix="herbrand-", ignore_cleanup_errors=True)
    if database is None:
        database = Path(temporary.name) / "matches.db"
    Store(database).close()
    app = App(folders, database, Path(temporary.name), saved=saved, address=address)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # meanwhile pages are served already: compiling where they are filled would hold up all others
        threading.Thread(target=compile_templates, args=("web",), daemon=True).start()
        yield
        app.matches.close()
        app.children.close()
        await app.solutions.close()
        temporary.cleanup()

    handlers: dict[Any, Callable[..., Any]] = {
        HTTPException: _on_http,
        NotThere: _on_missing,
        NoMatch: _on_no_match,
        RequestError: _on_child,
        ChildLost: _on_child,
        Busy: _on_busy,
        RecordError: _on_record,
        TournamentError: _on_record,
        500: _on_fault,
    }
    web = Starlette(routes=app.routes(), exception_handlers=handlers, lifespan=lifespan)
    return Guard(web, hosts=hosts, token=token)


# -- errors -----------------------------------------------------------------------------------


async def _on_http(request: Request, error: HTTPException) -> Response:
    messages = {404: "There is no page at this address.", 405: "This address does not allow that method."}
    message = messages.get(error.status_code, error.detail) if error.detail in _PLAIN else error.detail
    help_ = "Perhaps the address was mistyped." if error.status_code == 404 else ""
    return problem_response(request, error.status_code, message, help_, error=error.detail)


_PLAIN: Final = {"Not Found", "Method Not Allowed"}


async def _on_missing(request: Request, error: NotThere) -> Response:
    from difflib import get_close_matches

    from herbrand import games

    name = str(error)[:60]
    games_by_name = {title.lower(): title for title in games.names()}
    near = [games_by_name[word] for word in get_close_matches(name.lower(), games_by_name, n=1)]
    note = "Your own texts are kept only while the server runs, and only the latest of them."
    message = f"There is no game called “{name}”."
    similar = near[0] if near else None
    return problem_response(request, 404, message, note, error=f"no game `{name}`", similar=similar)


async def _on_no_match(request: Request, error: NoMatch) -> Response:
    del error
    message = "There is no such match."
    help_ = "Matches are stored in the database of records; the server may use another database now."
    return problem_response(request, 404, message, help_, error=f"{message} {help_}")


async def _on_child(request: Request, error: Exception) -> Response:
    help_ = (
        "Evaluation was stopped; nothing else is affected. Smaller parameters or a smaller board may help."
        if isinstance(error, ChildLost)
        else "Open the rules in the editor: it shows the errors."
    )
    details = str(error)
    return problem_response(request, 409, "The game cannot be shown.", help_, error=details, details=details)


async def _on_busy(request: Request, error: Exception) -> Response:
    help_ = "Other requests are waiting. Try again in a moment."
    answer = problem_response(request, 503, "The server is busy.", help_, error=str(error))
    answer.headers["retry-after"] = "2"
    return answer


async def _on_record(request: Request, error: RecordError | TournamentError) -> Response:
    return problem_response(
        request, 404, f"{error}.", "The list of matches is under “Records”.", error=str(error)
    )


async def _on_fault(request: Request, error: Exception) -> Response:
    del request, error
    return error_page(500, "This is a bug in herbrand.", "The server's terminal shows the details.")


# -- helpers ----------------------------------------------------------------------------------


def _fields_of(form: dict[str, str], prefix: str) -> dict[str, str]:
    """Return the fields of a form whose names have a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


@cache
def _players() -> dict[str, str]:
    """Return the players, levels for people first, and what each of them is."""
    from herbrand.play import NoSuchPlayer, players

    infos = players()
    abouts = {name: level.about for name, level in LEVELS.items()}
    for name, info in infos.items():
        if name not in abouts and name != "learned":  # that needs a file
            with contextlib.suppress(NoSuchPlayer):  # another package registered one that cannot be imported
                abouts[name] = info.about
    return abouts


def _is_text(data: bytes) -> bool:
    """Whether a file is text, in UTF-8, UTF-16 or an encoding of single bytes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\v\x1a" for byte in data[:4096])
    return b"\0" not in data and 50 * controls <= len(data[:4096])


def _static(name: str) -> bytes:
    return files("herbrand.web").joinpath("static", name).read_bytes()


def _text_of(form: dict[str, str]) -> tuple[str, str, str]:
    notation = form.get("notation", "auto")
    title = form.get("title", "").strip()[:80] or "my game"
    text = form.get("text", "").replace("\r\n", "\n")
    return text, notation if notation in NOTATIONS else "auto", title


def _arguments(do: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an inspector action; `KeyError`, `TypeError` or `ValueError` if invalid."""
    text, notation = data["text"], data.get("notation", "auto")
    if not isinstance(text, str) or len(text) > MAX_BYTES or notation not in NOTATIONS:
        raise ValueError
    arguments: dict[str, Any] = {"text": text, "notation": notation}
    if do in ("preview", "why"):
        moves = data.get("moves", [])
        arguments["moves"] = [[str(move) for move in joint] for joint in moves][:500]
    if do == "why":
        arguments["atom"] = str(data["atom"])[:500]
    if do == "convert":
        arguments["to"] = str(data["to"])
    if do == "fix":
        arguments["number"] = int(data["number"])
    return arguments


def _seconds(text: str) -> float | None:
    """Return the clock of programs; None for the usual one of each."""
    try:
        return min(60.0, max(0.1, float(text)))
    except ValueError:
        return None

"""The server of the Model Context Protocol: tools, resources and prompts.

Tools only pass their arguments to the subprocess of `herbrand.oracle.tools`, and wait without blocking other
requests.  Docstrings of tools are what models read of them.  Specification:
https://modelcontextprotocol.io/specification/2025-06-18.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import CallToolResult, ImageContent, ResourceLink, TextContent, ToolAnnotations
from pydantic import Field

from herbrand import __version__, games
from herbrand.check.catalogue import CHECKS, explain
from herbrand.errors import HerbrandError
from herbrand.runtime.json_process import RequestError
from herbrand.web.child import wait_for_child
from herbrand.web.matches import ChildPool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp.types import ContentBlock

    class Ask(Protocol):
        """Calls an action of `herbrand.oracle.tools.Tools`."""

        async def __call__(self, do: str, *, slow: float = 0.0, **arguments: Any) -> dict[str, Any]: ...


__all__ = ["make_server"]

MEGABYTES: Final = 3000
"""Limit on the address space of a subprocess."""
QUICK: Final = 25.0
"""Seconds for tools that answer at once with most games."""
LONGEST: Final = 120.0
"""Seconds that a model can ask for."""
GRACE: Final = 10.0
"""Seconds beyond those asked for, to read and ground the rules, until the subprocess is ended."""
MAX_PAGES: Final = 8
"""Published pages that can be read as resources; older ones are dropped."""

_INSTRUCTIONS: Final = (
    "Exact answers about games in the Game Description Language (GDL). `game` is the name of a bundled game "
    "(see `games`) or the whole text of a rulesheet in prefix, infix, Prolog or GGDL notation. `moves` are "
    "the joint moves from the initial state, each a text with one move for every role in order, such as "
    "`(mark 1 1) noop`; roles with only one legal move, and `random`, can be left out. Nothing is guessed: "
    "what is answered follows from the rules. Long answers are cut, and `cut` says where."
)

_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

GameText = Annotated[str, Field(description="Name of a bundled game, or the whole text of a rulesheet")]
Moves = Annotated[
    list[str] | None,
    Field(description="Joint moves from the initial state, such as ['(mark 1 1) noop', 'noop (mark 2 2)']"),
]
Seconds = Annotated[float, Field(gt=0, le=LONGEST, description="Time limit in seconds")]
Seed = Annotated[int, Field(description="Determines all draws")]


def make_server(*, megabytes: int = MEGABYTES, pages: Path | None = None) -> MCPServer[Any]:
    """Return a server whose subprocesses have limited address space.

    They are started when they are needed and end with the server. Published pages are also written to the
    folder `pages`, if one is given; nothing else is ever written.
    """
    pool = ChildPool("herbrand.oracle.worker", megabytes=megabytes)

    async def ask(do: str, *, slow: float = 0.0, **arguments: Any) -> dict[str, Any]:
        """Ask the subprocess; a faulty request becomes an error that the model can read.

        `slow` are the seconds that a tool may take; others have a subprocess of their own.
        """
        queue, within = ("slow", slow + GRACE) if slow else ("quick", QUICK)
        try:
            answer = await wait_for_child(pool.ask, do, queue=queue, seconds=within, **arguments)
        except RequestError as error:
            raise ToolError(f"{error.kind}: {error}" if error.kind else str(error)) from None
        except HerbrandError as error:  # lost, or too many waiting
            raise ToolError(f"budget: {error}") from None
        assert isinstance(answer, dict)
        return answer

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            pool.close()

    server: MCPServer[Any] = MCPServer(
        "herbrand",
        title="herbrand: games from their rules",
        instructions=_INSTRUCTIONS,
        version=__version__,
        lifespan=lifespan,
        log_level="WARNING",
    )
    _add_text_tools(server, ask)
    _add_play_tools(server, ask)
    _add_proof_tools(server, ask)
    _add_publishing(server, ask, pages)
    _add_resources(server)
    _add_prompts(server)
    return server


def _add_text_tools(server: MCPServer[Any], ask: Ask) -> None:
    """Add what reads and writes rules."""

    @server.tool(title="Bundled games", annotations=_READS)
    async def bundled_games() -> dict[str, Any]:
        """List the bundled games, with a sentence about each."""
        return {"games": {name: games.info(name).get("description", "")[:160] for name in games.names()}}

    @server.tool(title="Guide to the language", annotations=_READS, structured_output=False)
    async def guide(language: Literal["gdl", "ggdl"] = "gdl") -> str:
        """Read how to write rules: in GDL, or in GGDL, its typed superset."""
        return _text(f"{language}.md")

    @server.tool(title="Check rules", annotations=_READS)
    async def check(
        game: GameText,
        fix: Annotated[bool, Field(description="Also return the text with all certain fixes")] = False,
    ) -> dict[str, Any]:
        """Report all errors, warnings and notes about a rulesheet, with line, reason and remedy."""
        return await ask("check", game=game, fix=fix)

    @server.tool(title="Explain a check", annotations=_READS, structured_output=False)
    async def explain_check(
        name: Annotated[str, Field(description="The name of a check, as `check` reports it")],
    ) -> str:
        """Explain what a check flags, why that matters, and what to write instead."""
        try:
            return explain(name)
        except LookupError as error:
            raise ToolError(str(error)) from None

    @server.tool(title="Repair a game", annotations=_READS)
    async def repair(
        game: GameText,
        seconds: Seconds = 45.0,
        reference: Annotated[
            str, Field(description="A game that the repaired one must play like; may be empty")
        ] = "",
    ) -> dict[str, Any]:
        """Find the smallest edit after which the game ends, never gets stuck, can be won and is well formed.

        Every result is proved from the edited rules alone.
        """
        return await ask("repair", slow=seconds, budget=seconds, game=game, reference=reference)

    @server.tool(title="Convert rules", annotations=_READS)
    async def convert(game: GameText, to: Literal["prefix", "infix", "prolog", "ggdl"]) -> dict[str, Any]:
        """Write the rules in another notation."""
        return await ask("convert", game=game, to=to)


def _add_play_tools(server: MCPServer[Any], ask: Ask) -> None:
    """Add what makes and explains moves."""

    @server.tool(title="Show a state", annotations=_READS)
    async def show(game: GameText, moves: Moves = None, seed: Seed = 0) -> dict[str, Any]:
        """Show the state after some joint moves: picture in text, facts, legal moves, goals, whose turn."""
        return await ask("show", game=game, moves=moves or [], seed=seed)

    @server.tool(title="Legal moves", annotations=_READS)
    async def legal_moves(
        game: GameText,
        moves: Moves = None,
        role: Annotated[str, Field(description="Only of this role; empty for all")] = "",
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """List the legal moves after some joint moves."""
        return await ask("legal_moves", game=game, moves=moves or [], role=role, seed=seed)

    @server.tool(title="Make a move", annotations=_READS)
    async def step(
        game: GameText,
        joint_move: Annotated[str, Field(description="The joint move to make, such as '(mark 1 1) noop'")],
        moves: Moves = None,
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """Make one joint move after others: which facts were added and removed, and the state then."""
        return await ask("step", game=game, joint_move=joint_move, moves=moves or [], seed=seed)

    @server.tool(title="Why, or why not", annotations=_READS)
    async def why(
        game: GameText,
        atom: Annotated[str, Field(description="Such as '(legal oplayer (mark 1 1))' or 'terminal'")],
        moves: Moves = None,
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """Explain by the rules why an atom holds in a state, or which conditions fail."""
        return await ask("why", game=game, atom=atom, moves=moves or [], seed=seed)

    @server.tool(title="Draw a state", annotations=_READS)
    async def draw(
        game: GameText,
        moves: Moves = None,
        seed: Seed = 0,
        svg: Annotated[bool, Field(description="Also return the source of the picture as SVG")] = False,
    ) -> CallToolResult:
        """Draw a state: a picture, and the same as text."""
        answer = await ask("draw", game=game, moves=moves or [], seed=seed, svg=svg)
        content: list[ContentBlock] = [TextContent(text=answer["text"])]
        if (png := answer.pop("png", None)) is not None:
            content.insert(0, ImageContent(data=png, mime_type="image/png"))
        else:
            content.append(TextContent(text=answer.get("svg", "")))
        return CallToolResult(content=content, structured_content=answer)

    @server.tool(title="Random games", annotations=_READS)
    async def simulate(
        game: GameText,
        playouts: Annotated[int, Field(ge=1, le=100_000, description="Number of games")] = 1000,
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """Play random games: how long they last, and how often each role gets which goal."""
        return await ask("simulate", game=game, playouts=playouts, seed=seed)

    @server.tool(title="Choose a move", annotations=_READS)
    async def choose_move(
        game: GameText,
        role: Annotated[str, Field(description="The role that moves")],
        moves: Moves = None,
        player: Annotated[str, Field(description="A player, such as meta, mcts, alphabeta")] = "meta",
        clock: Annotated[float, Field(gt=0, le=30, description="Seconds to think")] = 2.0,
        seed: Seed = 0,
    ) -> dict[str, Any]:
        """Let a strong player choose a move, and tell what it considered."""
        arguments = {"game": game, "role": role, "moves": moves or [], "player": player, "clock": clock}
        return await ask("choose_move", slow=3 * clock, seed=seed, **arguments)


def _add_proof_tools(server: MCPServer[Any], ask: Ask) -> None:
    """Add what proves and measures."""

    @server.tool(title="Prove properties", annotations=_READS)
    async def analyse(game: GameText, seconds: Seconds = 20.0) -> dict[str, Any]:
        """Prove or refute termination, playability, winnability and goals; refuted ones come with a play."""
        return await ask("analyse", slow=seconds, game=game, budget=seconds)

    @server.tool(title="Solve a state", annotations=_READS)
    async def solve(game: GameText, moves: Moves = None, seconds: Seconds = 20.0) -> dict[str, Any]:
        """Find the value of a state with best play of all, and the value after each move."""
        return await ask("solve", slow=seconds, game=game, moves=moves or [], budget=seconds)

    @server.tool(title="Measure a game", annotations=_READS)
    async def measure(game: GameText, seconds: Seconds = 20.0, seed: Seed = 0) -> dict[str, Any]:
        """Measure length, branching, balance, draws, advantage of the first mover and the like."""
        return await ask("measure", slow=seconds, game=game, budget=seconds, seed=seed)

    @server.tool(title="Compare two games", annotations=_READS)
    async def compare(first: GameText, second: GameText, seconds: Seconds = 20.0) -> dict[str, Any]:
        """Decide whether two games are the same up to names, or give the first play where they differ."""
        return await ask("compare", slow=seconds, first=first, second=second, budget=seconds)


def _add_publishing(server: MCPServer[Any], ask: Ask, folder: Path | None) -> None:
    """Add the tool that writes pages, and the resource that has the last ones."""
    pages: OrderedDict[str, str] = OrderedDict()

    @server.tool(title="Publish a game", annotations=ToolAnnotations(open_world_hint=False))
    async def publish(
        game: GameText,
        title: Annotated[str, Field(description="The title of the page", max_length=80)] = "",
        seconds: Annotated[
            float, Field(ge=0, le=30, description="Time limit for what the page says is proved")
        ] = 5.0,
    ) -> CallToolResult:
        """Make one page of HTML on which people play the game, against each other or a program.

        The page is a resource, and a file where the server was started with a folder for pages.
        """
        answer = await ask("publish", slow=seconds + QUICK, budget=seconds, game=game, title=title)
        name = "".join(letter if letter.isalnum() else "-" for letter in answer["name"].lower())
        pages[name] = page = answer["page"]
        pages.move_to_end(name)
        while len(pages) > MAX_PAGES:
            pages.popitem(last=False)
        address = f"herbrand://pages/{name}"
        size = len(page.encode())
        result = {"resource": address, "bytes": size}
        if folder is not None:
            from herbrand.runtime.files import write_atomically

            path = folder / f"{name}.html"
            await to_thread.run_sync(write_atomically, path, page)
            result["file"] = str(path)
        link = ResourceLink(name=f"{name}.html", uri=address, mime_type="text/html", size=size)
        return CallToolResult(content=[TextContent(text=json.dumps(result)), link], structured_content=result)

    @server.resource("herbrand://pages/{name}", title="A published page", mime_type="text/html")
    def page(name: str) -> str:
        if name not in pages:
            raise ResourceError(f"no page `{name[:80]}`; the last {MAX_PAGES} published ones are stored")
        return pages[name]


def _add_resources(server: MCPServer[Any]) -> None:
    @server.resource("herbrand://games", title="Names of the bundled games", mime_type="text/plain")
    def game_names() -> str:
        return "\n".join(games.names())

    @server.resource("herbrand://games/{name}", title="Rules of a bundled game", mime_type="text/plain")
    def game_rules(name: str) -> str:
        return games.text(name)

    @server.resource("herbrand://guide/gdl", title="GDL in one page", mime_type="text/markdown")
    def gdl_guide() -> str:
        return _text("gdl.md")

    @server.resource("herbrand://guide/ggdl", title="GGDL in one page", mime_type="text/markdown")
    def ggdl_guide() -> str:
        return _text("ggdl.md")

    @server.resource("herbrand://checks", title="All checks", mime_type="text/plain")
    def checks() -> str:
        return "\n".join(f"{name} ({one.severity.value}): {one.title}" for name, one in CHECKS.items())

    @server.resource("herbrand://checks/{name}", title="What a check flags", mime_type="text/plain")
    def one_check(name: str) -> str:
        return explain(name)


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt(title="Write a game")
    def write_game(description: str) -> str:
        """Write a game from a description in words, checked and proved."""
        return _text("write.md").format(description=description)

    @server.prompt(title="Repair a game")
    def repair_game(game: str) -> str:
        """Find the fault of a game and repair it."""
        return _text("repair.md").format(game=game)

    @server.prompt(title="Explain a game")
    def explain_game(game: str) -> str:
        """Explain a game to people."""
        return _text("explain.md").format(game=game)


def _text(name: str) -> str:
    return (files("herbrand.oracle") / "texts" / name).read_text(encoding="utf-8")

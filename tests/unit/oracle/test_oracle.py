"""The server of tools for language models, asked as a client asks it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from herbrand import games
from herbrand.oracle.bounds import bounded

pytest.importorskip("mcp", reason="needs herbrand[llm]")

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from herbrand.oracle import make_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

STONES = """
(role left) (role right)
(init (stones 5)) (init (control left))
(<= (legal ?p (take ?n)) (true (control ?p)) (true (stones ?have)) (minus ?have ?n ?rest))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (stones ?rest)) (does ?p (take ?n)) (true (stones ?have)) (minus ?have ?n ?rest))
(<= (next (control ?q)) (true (control ?p)) (role ?q) (distinct ?p ?q))
(<= terminal (true (stones 0)))
(<= (goal ?p 100) (role ?p) (true (stones 0)) (not (true (control ?p))))
(<= (goal ?p 0) (true (stones 0)) (true (control ?p)))
(minus 1 1 0) (minus 2 1 1) (minus 3 1 2) (minus 4 1 3) (minus 5 1 4)
(minus 2 2 0) (minus 3 2 1) (minus 4 2 2) (minus 5 2 3)
"""
STUCK = STONES.replace(
    "(not (true (control ?p))))\n(<= (next (stones", "(true (control nobody)))\n(<= (next (stones", 1
)
DOUBLING = """
(role a) (init (s z)) (<= (legal a go) (true (s ?x))) (<= (next (s (f ?x ?x))) (true (s ?x)))
(<= terminal (true (s q))) (goal a 1)
"""


class Asker:
    """Calls tools and returns what they answered; an error of a tool is a `RuntimeError`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error:
            raise RuntimeError(text)
        return result.structured_content if result.structured_content is not None else text

    async def read(self, address: str) -> str:
        """Return the text of a resource."""
        return str(getattr((await self.client.read_resource(address)).contents[0], "text", ""))

    async def refused_or_not(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool answered, or the message of its error."""
        try:
            return await self(tool, **arguments)
        except RuntimeError as error:
            return str(error)


def ask(session: Callable[[Asker], Awaitable[None]]) -> None:
    """Run a session with a server in this process."""

    async def run() -> None:
        async with Client(make_server()) as client:
            await session(Asker(client))

    asyncio.run(run())


def test_a_model_writes_mends_proves_publishes_and_plays_a_game() -> None:
    async def session(ask: Asker) -> None:
        assert "(role R)" in await ask("guide")
        broken = await ask(
            "check", game=STONES.replace("?rest))\n(<= (legal ?p noop)", "?rest)\n(<= (legal ?p noop)")
        )
        assert not broken["playable"]
        assert broken["findings"][0]["severity"] == "error"
        verdicts = (await ask("analyse", game=STUCK, seconds=10))["properties"]
        assert verdicts["playability"]["verdict"] == "refuted"
        line = ["; ".join(joint) for joint in verdicts["playability"]["witness"]]
        assert not (await ask("legal_moves", game=STUCK, moves=line, role="RIGHT"))["legal"]["right"]
        repairs = (await ask("repair", game=STUCK, seconds=60))["repairs"]
        assert repairs[0]["proved"]
        assert (await ask("compare", first=repairs[0]["text"], second=STONES))["verdict"] in {"rules", "play"}
        assert (await ask("compare", first=STUCK, second=STONES))["difference"]["what"].startswith("legal")
        solution = await ask("solve", game=STONES)
        assert solution["value"] == {"left": 100, "right": 0}
        chosen = await ask("choose_move", game=STONES, role="left", clock=0.5)
        assert chosen["move"] == solution["line"][0][0] == "(take 2)"
        state = await ask("step", game=STONES, joint_move="(take 2)")
        assert state["removed"] == ["(control left)", "(stones 5)"]
        assert state["says"] == "right to move"
        end = await ask("show", game=STONES, moves=["(take 2)", "take(2)", "(take 1), noop"])
        assert end["terminal"]
        assert end["goals"] == {"left": 100, "right": 0}
        reason = await ask("why", game=STONES, atom="terminal", moves=["(take 2)"])
        assert not reason["holds"]
        assert "(stones 0)" in reason["explanation"]
        published = await ask("publish", game=repairs[0]["text"], title="Five <stones>", seconds=5)
        page = await ask.read(published["resource"])
        assert published["bytes"] == len(page.encode())
        assert "<title>Five &lt;stones&gt;" in page
        assert "Every play ends: proved." in page

    ask(session)


def test_random_games_pictures_measures_and_notations() -> None:
    async def session(ask: Asker) -> None:
        assert set((await ask("bundled_games"))["games"]) == set(games.names())
        statistics = await ask("simulate", game="ticTacToe", playouts=500, seed=3)
        assert statistics["playouts"] == 500
        assert sum(statistics["goals"]["xplayer"].values()) == 500
        drawn = await ask.client.call_tool("draw", {"game": "ticTacToe", "moves": ["mark(2,2)"]})
        assert "x" in drawn.content[1].text
        assert drawn.content[0].mime_type == "image/png"
        assert b64decode(drawn.content[0].data).startswith(b"\x89PNG")
        assert (await ask("draw", game="ticTacToe", svg=True))["svg"].endswith("</svg>")
        infix = (await ask("convert", game="nim", to="infix"))["text"]
        assert (await ask("compare", first=infix, second="nim"))["verdict"] == "rules"
        assert (await ask("measure", game="nim", seconds=30))["measures"]["length"]["value"] > 3
        percepts = (await ask("show", game="kuhn", moves=["(deal king queen)"], seed=1)).get("percepts")
        assert percepts is None or set(percepts) <= {"first", "second"}

    ask(session)


def test_pages_are_files_in_the_folder_of_the_server_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Titles are no paths, the last pages are resources, and every page is a file."""
    monkeypatch.setattr("herbrand.oracle.server.MAX_PAGES", 2)

    async def run() -> None:
        async with Client(make_server(pages=tmp_path)) as client:
            ask = Asker(client)
            for number in range(3):
                answer = await ask("publish", game=STONES, title=f"../{number}", seconds=0)
                files.append(Path(answer["file"]))
            pages.append(await ask.read(answer["resource"]))
            with pytest.raises(MCPError, match="no page `---0`"):
                await ask.read("herbrand://pages/---0")

    files: list[Path] = []
    pages: list[str] = []
    asyncio.run(run())
    assert [file.name for file in files[:2]] == ["---0.html", "---1.html"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert pages == [files[-1].read_text(encoding="utf-8")]


def test_every_tool_resource_and_prompt_is_listed() -> None:
    """The names under which models find them, each with a title and a description."""

    async def session(ask: Asker) -> None:
        tools = (await ask.client.list_tools()).tools
        assert {tool.name for tool in tools} == {
            *("bundled_games", "guide", "check", "explain_check", "repair", "convert"),
            *("show", "legal_moves", "step", "why", "draw", "simulate", "choose_move"),
            *("analyse", "solve", "measure", "compare", "publish"),
        }
        assert all(tool.title and tool.description for tool in tools)
        resources = (await ask.client.list_resources()).resources
        templates = (await ask.client.list_resource_templates()).resource_templates
        assert {str(one.uri) for one in resources} | {one.uri_template for one in templates} == {
            *("herbrand://games", "herbrand://games/{name}", "herbrand://pages/{name}"),
            *("herbrand://guide/gdl", "herbrand://guide/ggdl"),
            *("herbrand://checks", "herbrand://checks/{name}"),
        }

    ask(session)


def test_what_is_wrong_with_a_request_is_said() -> None:
    async def session(ask: Asker) -> None:
        for arguments, message in (
            ({"tool": "show", "game": "ticTacTo"}, "did you mean `ticTacToe`"),
            ({"tool": "show", "game": "(role"}, "never closed"),
            ({"tool": "show", "game": "../../etc/passwd"}, "1:1"),
            (
                {"tool": "show", "game": "nim", "moves": ["(take a 1)", "(take a 9)"]},
                "joint move 2: no legal move",
            ),
            ({"tool": "legal_moves", "game": "nim", "role": "third"}, "the roles are first, second"),
            ({"tool": "explain_check", "name": "unsafe-variabl"}, "unsafe-variable"),
            ({"tool": "choose_move", "game": "nim", "role": "first", "player": "nobody"}, "nobody"),
            ({"tool": "analyse", "game": "nim", "seconds": 1e9}, "120"),
            ({"tool": "show", "game": "x" * 500_000}, "at most 400000"),
        ):
            with pytest.raises(RuntimeError, match="(?s).*" + message.replace("(", r"\(")):
                await ask(**arguments)
        # and it goes on
        assert (await ask("show", game="nim"))["step"] == 0

    ask(session)


def test_rules_that_grow_without_end_take_nothing_down() -> None:
    async def session(ask: Asker) -> None:
        for tool, arguments in (
            ("simulate", {"playouts": 100}),
            ("show", {"moves": ["go"] * 60}),
            ("analyse", {"seconds": 1}),
            ("convert", {"to": "ggdl"}),
        ):
            answer = await ask.refused_or_not(tool, game=DOUBLING, **arguments)
            assert len(json.dumps(answer)) < 30_000
        assert (await ask("show", game="nim"))["step"] == 0

    ask(session)


def test_quick_tools_do_not_wait_for_slow_ones() -> None:
    async def session(ask: Asker) -> None:
        await ask("show", game="nim")
        slow = asyncio.create_task(ask("analyse", game="chess", seconds=1))
        await asyncio.sleep(0)
        assert (await ask("show", game="nim"))["step"] == 0
        assert not slow.done()
        assert "properties" in await slow

    ask(session)


def test_resources_and_prompts() -> None:
    async def session(ask: Asker) -> None:
        client, read = ask.client, ask.read

        assert "ticTacToe" in (await read("herbrand://games")).splitlines()
        assert await read("herbrand://games/nim") == games.text("nim")
        assert "unsafe-variable (error)" in await read("herbrand://checks")
        assert "Example" in await read("herbrand://checks/unsafe-variable")
        prompt = await client.get_prompt("write_game", {"description": "a race {between} two snails"})
        assert "a race {between} two snails" in str(getattr(prompt.messages[0].content, "text", ""))
        assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {
            "write_game",
            "repair_game",
            "explain_game",
        }

    ask(session)


def test_the_games_of_the_guides_are_the_same_game() -> None:
    async def session(ask: Asker) -> None:
        texts = []
        for language in ("gdl", "ggdl"):
            example = (
                (await ask("guide", language=language)).partition("A whole game")[2].partition("\n\n")[2]
            )
            texts.append("\n".join(line.strip() for line in example.splitlines()))
            found = (await ask("check", game=texts[-1]))["findings"]
            assert not [finding for finding in found if finding["severity"] != "note"]
        verdicts = (await ask("analyse", game=texts[0], seconds=10))["properties"]
        assert all(verdicts[name]["verdict"] == "proved" for name in ("termination", "playability", "goals"))
        assert (await ask("compare", first=texts[0], second=texts[1]))["verdict"] == "play"

    ask(session)


def test_long_answers_are_cut_and_say_so() -> None:
    answer = bounded({"facts": [f"(cell {n})" for n in range(5000)], "step": 3, "text": "x" * 3000}, 6000)
    assert len(json.dumps(answer)) <= 6000
    assert answer["step"] == 3
    assert len(answer["facts"]) < 5000
    assert answer["cut"]["facts"] == f"the first {len(answer['facts'])} of 5000 items"
    assert bounded({"a": 1}) == {"a": 1}
    assert "cut" in bounded({"deep": {"er": [["x" * 100] * 100]}}, 500)


def test_a_session_over_standard_streams() -> None:
    async def run() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "herbrand", "mcp"], env=dict(os.environ)
        )
        async with Client(stdio_client(parameters)) as client:
            state = await Asker(client)("show", game="ticTacToe", moves=["(mark 2 2)"])
            assert state["says"] == "oplayer to move"

    asyncio.run(run())


def test_a_session_over_http_and_a_foreign_page() -> None:
    import httpx

    command = [sys.executable, "-m", "herbrand", "mcp", "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split()[1]

            async def run() -> None:
                async with Client(address) as client:
                    assert (await Asker(client)("show", game="nim"))["step"] == 0

            asyncio.run(run())
            headers = {"Origin": "https://example.com", "Accept": "application/json, text/event-stream"}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert httpx.post(address, json=body, headers=headers, timeout=20).status_code == 403
        finally:
            server.terminate()

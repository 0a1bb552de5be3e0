"""The server of tools for task sets of verifiers: `python -m herbrand.oracle.verifiers_tools`."""

from __future__ import annotations

from typing import Any

from herbrand.errors import HerbrandError, optional_import
from herbrand.runtime.json_process import RequestError
from herbrand.web.child import wait_for_child
from herbrand.web.matches import ChildPool

with optional_import("tools for verifiers", "verifiers"):
    import verifiers.v1 as vf

__all__ = ["OracleToolset"]

SECONDS = 25.0
"""For each call."""


class OracleToolset(vf.Toolset[vf.ToolsetConfig]):  # type: ignore[misc]
    """Exact answers about games; `herbrand mcp` has more.

    Rules are evaluated in a subprocess with limits on time and memory.
    """

    TOOL_PREFIX = "herbrand"

    async def setup(self) -> None:
        """Prepare the subprocess, which starts with the first call."""
        self._pool = ChildPool("herbrand.oracle.worker")
        self._exit_stack.callback(self._pool.close)

    async def _ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await wait_for_child(self._pool.ask, do, seconds=SECONDS, **arguments)
        except (RequestError, HerbrandError) as error:
            return {"error": str(error)}
        return answer

    @vf.tool  # type: ignore[untyped-decorator, unused-ignore]
    async def check(self, game: str) -> dict[str, Any]:
        """Report all errors, warnings and notes about a rulesheet, with line, reason and remedy."""
        return await self._ask("check", game=game)

    @vf.tool  # type: ignore[untyped-decorator, unused-ignore]
    async def show(self, game: str, moves: list[str]) -> dict[str, Any]:
        """Show the state after some joint moves, such as ["(mark 1 1) noop"], from the initial state."""
        return await self._ask("show", game=game, moves=moves)

    @vf.tool  # type: ignore[untyped-decorator, unused-ignore]
    async def legal_moves(self, game: str, moves: list[str]) -> dict[str, Any]:
        """List the legal moves of every role after some joint moves."""
        return await self._ask("legal_moves", game=game, moves=moves)

    @vf.tool  # type: ignore[untyped-decorator, unused-ignore]
    async def why(self, game: str, atom: str, moves: list[str]) -> dict[str, Any]:
        """Explain by the rules why an atom such as "(legal white noop)" holds, or which conditions fail."""
        return await self._ask("why", game=game, atom=atom, moves=moves)


if __name__ == "__main__":
    OracleToolset.run()

"""Every player on the sheets of the outside collections: none refuses a game that the rules engine can play."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import herbrand
import herbrand.game
from herbrand.errors import HerbrandError
from herbrand.match.protocol.manager import Manager
from herbrand.match.protocol.server import PlayerServer
from herbrand.play import make_player, players

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.match.protocol.events import Event


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["chess", "checkers"])
@pytest.mark.parametrize("player", sorted(players()))
def test_no_player_refuses_a_large_game_at_the_default_memory(
    name: str, player: str, corpus_dir: Path
) -> None:
    """START is answered `ready`, and PLAY by a legal move, without anything odd."""
    game = herbrand.game.load(corpus_dir / "rulesheets" / f"{name}.kif")
    role, rules = game.players[0], Manager(game).rules
    odd: list[Event] = []

    async def run() -> str:
        listen = lambda event: odd.append(event) if event.kind in ("odd", "refused") else None  # noqa: E731
        async with PlayerServer(player, port=0, listener=listen) as server:
            assert await server.answer(f"(START m {role} ({rules}) 20 5)") == "ready"
            return await server.answer("(PLAY m NIL)")

    assert game.initial_state("rules").is_legal(role, asyncio.run(run()))
    assert odd == []


@pytest.mark.corpus
@pytest.mark.parametrize("collection", ["corpus_dir", "second_corpus_dir"])
@pytest.mark.parametrize("player", sorted(players()))
def test_no_player_refuses_a_sheet_for_want_of_memory(
    player: str, collection: str, request: pytest.FixtureRequest
) -> None:
    """Wherever the rules engine finds a legal move, every player starts and chooses one."""
    refused = []
    folder: Path = request.getfixturevalue(collection)
    for path in sorted((folder / "rulesheets").glob("*.kif")):
        game = herbrand.game.load(path)
        if game.rules.errors or game.is_epistemic or not game.players:
            continue
        game.forgo_network("memory")
        role = game.players[0]
        try:
            state = game.initial_state("rules")
            if state.is_terminal or not state.legal_moves(role):
                continue
        except HerbrandError:
            continue
        chooser = make_player(player, seed=1, memory=10)
        try:
            chooser.start(game, role, 0.05)
            chooser.receive_history(())
            if not state.is_legal(role, chooser.select(state, 0.05)):
                refused.append(f"{path.stem}: an illegal move")
        except Exception as error:  # noqa: BLE001  # all are reported at once
            refused.append(f"{path.stem}: {type(error).__name__}: {error}")
        chooser.stop()
    assert refused == []

"""Let `mcts` of an edition of herbrand choose moves: the other side of `strength.py edition`.

    PYTHON edition_player.py

It runs with the Python in whose environment that edition is installed, any since 0.1.0, so it uses nothing
that the first one did not have.  Each line of standard input is a request, and is answered by a line:

    {"rules": TEXT}                            loads the game
    {"role": ROLE, "seed": N, "seconds": S}    starts a match, and compiles all that the edition compiles
    {"moves": [JOINT, ...], "seconds": S}      makes the joint moves since, and chooses a move for the role
                                               with S seconds of processor time in one thread
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import herbrand
from herbrand.play import make_player


class Side:
    """A role of a match."""

    game: Any
    player: Any
    state: Any

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a request."""
        if "rules" in request:
            self.game = herbrand.loads(request["rules"])
            return {"version": herbrand.__version__}
        if "role" in request:
            self.player = make_player("mcts", seed=request["seed"])
            began = time.process_time()
            self.player.start(self.game, request["role"], request["seconds"])
            self.state = self.game.initial_state()
            return {"seconds": time.process_time() - began}
        for joint in request["moves"]:
            self.state = self.state.next(tuple(joint))
        began = time.thread_time()
        move = self.player.consider(self.state, request["seconds"])
        return {"move": str(move), "seconds": time.thread_time() - began}


def main() -> None:
    """Answer until the input ends; what else is printed goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    side = Side()
    for line in sys.stdin:
        print(json.dumps(side.answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()

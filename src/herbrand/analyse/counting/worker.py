"""The process that holds the diagrams while the states of a game are counted.

    python -m herbrand.analyse.counting.worker

It answers the requests that `CounterProcess` sends.
"""

from __future__ import annotations

import base64
import pickle
import sys
import time
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Final

from oxidd.util import DDMemoryError

from herbrand.analyse.counting.backwards import Backwards, StepAnswer
from herbrand.analyse.counting.checkpoint import Checkpoint
from herbrand.analyse.counting.encoding import Encoding
from herbrand.analyse.counting.layers import layers
from herbrand.analyse.counting.relation import Relation
from herbrand.analyse.counting.state_sets import StateSets
from herbrand.errors import GameError
from herbrand.runtime.json_process import JsonProcess, RequestError, serve
from herbrand.runtime.memory import peak_megabytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.counting.checkpoint import Setup
    from herbrand.analyse.counting.state_sets import SymbolicSet

__all__ = ["Counter", "CounterProcess", "NextStep"]

TRIAL_MEGABYTES: Final = 64.0
"""Memory for the diagrams of a trial."""
RULES_SHARE: Final = 0.2
"""Share of the memory for the diagrams of the rules, at most; all others are sets of states."""
MOST_RULES_MEGABYTES: Final = 2000.0
LEAST_RULES_NODES: Final = 1 << 18
NODE_BYTES: Final = 45
"""Bytes of a node of the rules, with its share of remembered results."""
NODES_PER_RESULT: Final = 4
BASE_MEGABYTES: Final = 150
"""Memory of a process without diagrams."""
SAVE_EVERY: Final = 10.0
"""Seconds after which a checkpoint is written, at the end of a step."""
SAVE_SHARE: Final = 0.05
"""Share of the time for writing checkpoints."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """The states that are first reached after one more step."""

    states: int
    """0 where there are none."""
    nodes: int
    is_layered: bool
    """Whether it is proved that no state so far was reached after two different numbers of steps."""
    megabytes: float
    """Peak memory of the process."""


class Counter:
    """Counts the states of a game, step by step."""

    def __init__(self, setup: Setup, megabytes: float, *, keep: bool = False) -> None:
        """Begin before the first step; `keep` the states of all steps."""
        self.setup = setup
        rules = min(RULES_SHARE * megabytes, MOST_RULES_MEGABYTES)
        nodes = max(LEAST_RULES_NODES, int(rules * 1e6 / NODE_BYTES))
        cache = 1 << ((nodes // NODES_PER_RESULT).bit_length() - 1)
        self.encoding = Encoding(setup.parts, len(setup.network.fluents), nodes, cache)
        self.relation = Relation(setup.network, self.encoding)
        self.sets = StateSets(self.relation, megabytes - rules)
        self._frontier = self._empty = self.sets.new(0)
        """The states that were first reached in the last step."""
        self._reached: dict[int, SymbolicSet] = {}
        """All states so far, by the moment; empty where none is reached twice."""
        self._layers = None if setup.weights is None else layers(setup.weights, self.encoding)
        self.counts: list[int] = []
        self._keep = keep
        self.by_step: list[SymbolicSet] = []
        """The states of each step, if they are kept."""
        self._next_save = time.monotonic() + SAVE_EVERY

    @property
    def is_layered(self) -> bool:
        """Whether no state so far was reached after two different numbers of steps."""
        return self._layers is not None

    def restore(self, saved: Checkpoint) -> None:
        """Go on after the last step of a checkpoint."""
        self._frontier, *reached = map(self.sets.new, saved.load(self.sets.diagrams))
        self._reached = dict(zip(saved.moments, reached, strict=True))
        self.counts = list(saved.by_step)

    def advance(self) -> NextStep:
        """Count the states of the next step; 0 when there are none left."""
        following = self._following()
        sets = self.sets
        if self._layers is None:
            moment = self.relation.moment(len(self.counts))
            reached = self._reached.get(moment, self._empty)
            following = sets.subtract(following, reached)
            self._reached[moment] = sets.unite(following, reached)
        self._frontier = following
        states, nodes = sets.measure(following)
        if states:
            self.counts.append(states)
            if self._keep:
                self.by_step.append(following)
            self._save_at_times()
        return NextStep(states, nodes, self.is_layered, peak_megabytes())

    def _following(self) -> SymbolicSet:
        """Return the states after the next step, of which some may have been reached before."""
        step = len(self.counts)
        sets = self.sets
        if step:
            following = sets.image(sets.going_on(self._frontier, step - 1), step - 1)
        else:
            following = sets.initial()
        if self._layers is not None:
            layer = self.relation.at(step, self._layers.get(step, self.encoding.false))
            if not sets.within(following, layer):  # no measure: make all steps again
                self._layers = None
                self._frontier = self._empty
                self.by_step.clear()
                counts, self.counts = self.counts, []
                for _ in counts:
                    self.advance()
                return self._following()
        return following

    def _save_at_times(self) -> None:
        started = time.monotonic()
        if self.setup.checkpoint is not None and started > self._next_save:
            saved = Checkpoint(self.setup, tuple(self.counts), moments=tuple(self._reached))
            saved.save(
                self.sets.diagrams, [some.number for some in (self._frontier, *self._reached.values())]
            )
            ended = time.monotonic()
            self._next_save = ended + max(SAVE_EVERY, (ended - started) / SAVE_SHARE)


class CounterProcess:
    """A counter in a process of its own, which can be ended at any time.

    Requests raise `BudgetExceeded` after their seconds, and `MemoryError` where diagrams get too large.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-m", "herbrand.analyse.counting.worker"]
        self._process = JsonProcess("the counter of states", command, restart=False)

    def try_order(self, setup: Setup, trial: float, seconds: float) -> tuple[list[int], bool]:
        """Return the sizes of the diagrams of the steps that are counted within `trial` seconds.

        Also returns whether these were all steps.
        """
        request = {"do": "try", "setup": _packed(setup), "seconds": trial}
        sizes, are_all = self._request(request, seconds)
        return sizes, are_all

    def open(
        self, setup: Setup, saved: Checkpoint | None, megabytes: float, seconds: float, *, keep: bool = False
    ) -> None:
        """Prepare to count within a limit of memory; `keep` the states of all steps for questions."""
        game = _packed((setup, saved))  # together: they share the network
        self._request({"do": "open", "game": game, "megabytes": megabytes, "keep": keep}, seconds)

    def advance(self, seconds: float) -> NextStep:
        """Count the states of the next step."""
        return NextStep(*self._request({"do": "advance"}, seconds))

    def ask(self, role: int, goal: int, seconds: float) -> None:
        """Ask whether a role can force at least a goal value (`Backwards`), once all states are counted."""
        self._request({"do": "ask", "role": role, "goal": goal}, seconds)

    def retreat(self, seconds: float) -> StepAnswer:
        """Find the states of the step before, from the last one, in which the role can force it."""
        return StepAnswer(*self._request({"do": "retreat"}, seconds))

    def holds(self, fluents: Sequence[int], seconds: float) -> bool:
        """Return whether the role can force it from a state after the first move."""
        answer: bool = self._request({"do": "holds", "fluents": list(fluents)}, seconds)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _request(self, request: dict[str, Any], seconds: float) -> Any:
        try:
            return self._process.request(request, seconds)
        except RequestError as error:
            if error.kind == _MEMORY:
                raise MemoryError from error
            if error.kind == _GAME:
                raise GameError(str(error)) from error
            raise


_MEMORY: Final = "memory"
_GAME: Final = "game"


def _packed(value: object) -> str:
    return base64.b64encode(pickle.dumps(value)).decode("ascii")


def _unpacked(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))  # noqa: S301  # sent by the process that started this one


def _sizes(setup: Setup, seconds: float) -> tuple[list[int], bool]:
    """Return the sizes of the diagrams of the first steps with an order of variables, and if they are all."""
    started = time.monotonic()
    sizes: list[int] = []
    try:
        counter = Counter(setup, TRIAL_MEGABYTES)
        while time.monotonic() < started + seconds:
            step = counter.advance()
            if not step.states:
                return sizes, True
            sizes.append(step.nodes)
    except (DDMemoryError, MemoryError):
        pass
    return sizes, False


def main() -> None:
    """Answer requests until the caller ends."""
    sys.setrecursionlimit(100_000)  # diagrams are as deep as a state has variables
    counter: Counter | None = None
    backwards: Backwards | None = None

    def answer(request: dict[str, Any]) -> Any:
        nonlocal counter, backwards
        if request["do"] == "try":
            return _sizes(_unpacked(request["setup"]), request["seconds"])
        if request["do"] == "open":
            setup, saved = _unpacked(request["game"])
            megabytes = max(TRIAL_MEGABYTES, request["megabytes"] - BASE_MEGABYTES)
            counter = Counter(setup, megabytes, keep=request["keep"])
            if saved is not None:
                counter.restore(saved)
            return None
        assert counter is not None
        if request["do"] == "advance":
            return astuple(counter.advance())
        backwards = backwards or Backwards(counter.relation, counter.sets, counter.by_step)
        if request["do"] == "ask":
            return backwards.ask(request["role"], request["goal"])
        if request["do"] == "retreat":
            return astuple(backwards.retreat())
        return backwards.holds(request["fluents"])

    def explain(error: Exception) -> RequestError:
        if isinstance(error, GameError):
            return RequestError(str(error), _GAME)
        kind = _MEMORY if isinstance(error, DDMemoryError | MemoryError) else ""
        return RequestError(f"{type(error).__name__}: {error}", kind)

    serve(answer, explain)


if __name__ == "__main__":
    main()

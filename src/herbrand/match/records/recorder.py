"""`Recorder`: writes the events of a manager into a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand import __version__
from herbrand.match.protocol.manager import Problem
from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError, new_token

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.match.protocol.events import Event
    from herbrand.match.records.store import Store

__all__ = ["Recorder"]


class Recorder:
    """A listener that writes any number of concurrent matches into a store.

    When writing fails, it raises `RecordError` once for each match, which aborts that match.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._numbers: dict[str, tuple[int, tuple[str, ...]]] = {}
        """Row numbers and roles of the running matches."""
        self._broken: set[str] = set()
        self._writers: dict[str, Callable[[int, tuple[str, ...], Event], None]] = {
            "exchange": self._exchange,
            "started": self._started,
            "step": self._step,
            "end": self._end,
            "aborted": self._aborted,
        }

    def __call__(self, event: Event) -> None:
        """Write an event in its own transaction."""
        name = event.match
        if name is None or name in self._broken:
            return
        try:
            if event.kind == "match":
                self._match(name, event)
            elif event.kind in self._writers:
                number, roles = self._numbers[name]
                with self.store.writing():
                    self._writers[event.kind](number, roles, event)
        except RecordError:
            self._broken.add(name)
            raise

    def _match(self, name: str, event: Event) -> None:
        data = event.data
        roles = tuple(data["roles"])
        if data["resumed"] is None:
            number = self.store.begin(new_record(name, data, event.time))
        else:
            number = self.store.number(name)
            ((steps,),) = self.store.query("SELECT count(*) FROM step WHERE match = ?", (number,))
            if steps != data["resumed"]:
                raise RecordError(
                    f"match `{name}` has {steps} steps, not {data['resumed']}: it was resumed elsewhere"
                )
            with self.store.writing():
                self.store.end(number, "running", "running", None, None)
                self.store.add_remark(number, f"resumed after step {steps}")
        self._numbers[name] = number, roles

    def _exchange(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        del roles
        data = {**event.data, "notes": tuple(event.data["notes"])}
        kind, sent = data.pop("message"), round(event.time - data["seconds"], 4)
        self.store.add_message(number, MessageRecord(kind=kind, sent=sent, **data))

    def _started(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        del roles
        self._problems(number, event.data["problems"])

    def _step(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        data = event.data
        seen = {roles.index(role): tuple(texts) for role, texts in data["percepts"].items()}
        self.store.add_step(number, data["step"], event.time, tuple(data["moves"]), seen)
        self._problems(number, data["problems"])

    def _end(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        data = event.data
        self._problems(number, data["problems"])
        goals = None
        if data["goals"] is not None:
            goals = {roles.index(role): goal for role, goal in data["goals"].items()}
        status = "completed" if data["reason"] == "terminal" else "cut"
        self.store.end(number, status, data["reason"], event.time, goals)

    def _aborted(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        del roles
        ((status,),) = self.store.query("SELECT status FROM match WHERE number = ?", (number,))
        if status == "running":  # the failure may have come after the end
            self.store.end(number, "aborted", event.data["reason"], event.time, None)

    def _problems(self, number: int, problems: Sequence[dict[str, Any]]) -> None:
        for problem in problems:
            self.store.add_problem(number, Problem(**problem))


def new_record(name: str, data: dict[str, Any], started: float) -> MatchRecord:
    """Return the record of a match that has just begun, from the data of its `match` event."""
    settings = dict(data["settings"])
    return MatchRecord(
        name,
        new_token(),
        roles=tuple(data["roles"]),
        players=dict(data["players"]),
        started=started,
        ended=None,
        status="running",
        reason="running",
        settings=settings,
        opening=[tuple(joint) for joint in data["opening"]],
        software=f"herbrand {__version__}",
        **{key: settings[key] for key in ("start_clock", "play_clock", "seed")},
        **{key: data[key] for key in ("game", "rules", "scramble", "names")},
    )

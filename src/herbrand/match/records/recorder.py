"""`Recorder`: writes the events of a manager into a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.match.protocol.manager import Problem
from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError, new_token

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event
    from herbrand.match.records.store import Store

__all__ = ["Recorder"]

_WRITTEN: Final = ("exchange", "started", "step", "end", "aborted")
"""The kinds of events that are written, besides the first one of a match."""


class Recorder:
    """A listener that writes any number of concurrent matches into a store.

    When writing fails, it raises `RecordError` once for each match, which aborts that match.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._numbers: dict[str, tuple[int, tuple[str, ...]]] = {}
        """Row numbers and roles of the running matches."""
        self._broken: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Write an event in its own transaction."""
        name = event.match
        if name is None or name in self._broken:
            return
        try:
            if event.kind == "match":
                self._match(name, event)
            elif event.kind in _WRITTEN:
                with self.store.writing():
                    self._write(*self._numbers[name], event)
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

    def _write(self, number: int, roles: tuple[str, ...], event: Event) -> None:
        data, store = event.data, self.store
        if event.kind == "exchange":
            fields = {**data, "notes": tuple(data["notes"])}
            kind, sent = fields.pop("message"), round(event.time - data["seconds"], 4)
            store.add_message(number, MessageRecord(kind=kind, sent=sent, **fields))
        elif event.kind == "step":
            seen = {roles.index(role): tuple(texts) for role, texts in data["percepts"].items()}
            store.add_step(number, data["step"], event.time, tuple(data["moves"]), seen)
        elif event.kind == "end":
            goals = None
            if data["goals"] is not None:
                goals = {roles.index(role): goal for role, goal in data["goals"].items()}
            status = "completed" if data["reason"] == "terminal" else "cut"
            store.end(number, status, data["reason"], event.time, goals)
        elif event.kind == "aborted":
            ((status,),) = store.query("SELECT status FROM match WHERE number = ?", (number,))
            if status == "running":  # the failure may have come after the end
                store.end(number, "aborted", data["reason"], event.time, None)
        for problem in data.get("problems", ()):
            store.add_problem(number, Problem(**problem))


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

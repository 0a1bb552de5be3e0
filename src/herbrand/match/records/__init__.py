"""Match records: every event of a match, in SQLite, for display, replay and verification.

A `Recorder` listens to a manager and writes each event at once, in its own transaction: if the manager is
killed, no completed step is lost, and the match can be resumed (`herbrand.match.records.resume`).  States are
not stored, since they follow from the rules and the moves.

| module       | what it does                                                                      |
|--------------|-----------------------------------------------------------------------------------|
| `schema`     | the tables and migrations                                                          |
| `digest`     | digests that show whether rows are those that were written                         |
| `integrity`  | checks of a whole file before anything is read from it or written to it            |
| `record`     | `MatchRecord`: one match as a value                                                |
| `store`      | `Store`: a database of records                                                     |
| `recorder`   | `Recorder`: writes the events of a manager into a store                            |
| `resume`     | the manager and past for resuming a match                                          |
| `document`   | records as JSON documents                                                          |
| `ggpbase`    | reads and writes the match records of ggp-base                                     |
| `shape`      | checks types and references within a record                                        |
| `verifier`   | replays a record by the rules and reports inconsistencies                          |
| `signing`    | signatures (Ed25519) of records                                                    |
| `workers`    | which worker played a match, and purging its results                               |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.match.records.record import MatchRecord as MatchRecord
    from herbrand.match.records.record import MessageRecord as MessageRecord
    from herbrand.match.records.record import RecordError as RecordError
    from herbrand.match.records.recorder import Recorder as Recorder
    from herbrand.match.records.store import Store as Store
    from herbrand.match.records.verifier import Verifier as Verifier

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "record": ("MatchRecord", "MessageRecord", "RecordError"),
        "recorder": ("Recorder",),
        "store": ("Store",),
        "verifier": ("Verifier",),
    },
)

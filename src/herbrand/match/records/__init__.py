"""Records of matches: everything that happened, in SQLite, so that any of it can be shown and checked.

A `Recorder` listens to a manager and writes each event as it comes, in a transaction of its own: a
manager that is killed loses nothing that was done, and its match can go on (`herbrand.match.records.resume`).
States are not kept, because the rules and the moves give them.

| module       | what it does                                                                      |
|--------------|-----------------------------------------------------------------------------------|
| `schema`     | the tables, and how older databases become newer ones                              |
| `record`     | `MatchRecord`: one match as a value                                                |
| `store`      | `Store`: a database of records                                                     |
| `recorder`   | `Recorder`: from the events of a manager into a store                              |
| `resume`     | what a manager needs to go on with a match                                         |
| `document`   | records as JSON documents, ours                                                    |
| `ggpbase`    | the match records of ggp-base, read and written                                    |
| `verifier`   | plays every move again by the rules, and says what does not fit                    |
| `signing`    | signatures (Ed25519) over what matters of a record                                 |
"""

from __future__ import annotations

from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError
from herbrand.match.records.store import Store

__all__ = ["MatchRecord", "MessageRecord", "RecordError", "Store"]

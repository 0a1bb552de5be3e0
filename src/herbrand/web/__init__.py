"""The web application: see games, play them by clicking, write them, look into them.

Everything runs on this computer and nothing is fetched from elsewhere.  The server renders pages; one small
script makes them live.  Rules are never evaluated in the server: each match, and each look at a text,
has a child process with limits on time and memory, so that no rulesheet can stop the rest.

| module    | what it does                                                                    |
|-----------|---------------------------------------------------------------------------------|
| `app`     | the addresses, and what answers at each                                         |
| `guard`   | hosts, sessions, tokens against forged requests, size limits, headers           |
| `library` | the games there are: bundled, in folders, given by people                       |
| `matches` | the matches that are played, each with its child                                |
| `child`   | a child process seen from the server: one question, one answer, in time         |
| `worker`  | the same from inside: reads questions, writes answers                           |
| `table`   | in the child: one match, its seats, what a person may see                       |
| `desk`    | in the child: findings, layout, notation, preview of a text; analysis           |
| `chances` | in the child: what each role can expect in a state                              |
| `replay`  | in the child: matches that were played before                                   |
| `markup`  | HTML as values: everything is escaped but what was built by it                  |
| `pages*`  | the pages                                                                       |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.web.app import make_app as make_app

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"app": ("make_app",)},
)

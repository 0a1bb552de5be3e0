"""The web application: browse, play, edit, analyse and replay games.

Everything runs locally, and pages load nothing from other hosts.  The server renders pages; one small
script adds interaction.  Rules are never evaluated in the server but in subprocesses with limits on time and
memory, so that no rulesheet can block other requests.

| module      | what it does                                                                    |
|-------------|---------------------------------------------------------------------------------|
| `app`       | routes and their handlers                                                       |
| `guard`     | who may use it, hosts, sessions, forged requests, size limits, headers          |
| `library`   | games: bundled, from folders, from users                                        |
| `latest`    | answers that are recomputed for each request, without a long wait               |
| `matches`   | running matches and the pool of evaluator subprocesses                          |
| `child`     | an evaluator subprocess, as the server sees it: requests with timeouts          |
| `worker`    | main program of the subprocess: reads requests, writes replies                  |
| `solutions` | solutions of games, each computed by a subprocess                               |
| `solver`    | main program of that subprocess                                                 |
| `table`     | in the subprocess: one match, its seats, its view for a person                  |
| `inspector` | in the subprocess: diagnostics, layout, notation, preview and analysis of texts |
| `chances`   | in the subprocess: expected goals of each role in a state                       |
| `replay`    | in the subprocess: recorded matches                                             |
| `pages`     | responses with pages, which are Jinja2 templates in `templates/`                |
| `charts`    | charts as SVG                                                                   |
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

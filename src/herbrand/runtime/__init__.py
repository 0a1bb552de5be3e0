"""Operating-system services: subprocesses, budgets, memory.

This package knows nothing of games and imports only `errors` and `core`.  `limits` has budgets, which
`watchdog` enforces; `line_process` and `json_process` line-based and JSON-based subprocesses, `json_stream`
those of an event loop; `pool` worker processes, `cluster` tasks for them and for other machines; `memory`
measures and releases memory; `files` writes files atomically; `collector` suspends the cyclic garbage
collector; `rendering` fills templates; `numbers` writes numbers; `notebook` builds HTML for `_repr_html_`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.runtime.json_process import JsonProcess as JsonProcess
    from herbrand.runtime.limits import Limits as Limits
    from herbrand.runtime.line_process import LineProcess as LineProcess

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"limits": ("Limits",), "line_process": ("LineProcess",), "json_process": ("JsonProcess",)},
)

"""Functions that are compiled in another process, which ends when there is nothing more to compile.

Compiling takes a hundred megabytes that are never given back, and keeps the threads of Python waiting for
each other.  A program that listens or that has clocks to keep has it done elsewhere: there the function is
compiled and kept on disk, from where it is loaded here, in some hundredths of a second.

`compiled` asks here for each function that is not on disk yet.  This module needs the standard library
alone, so that anybody may ask whether something is being compiled.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import queue
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from herbrand.child import Child
from herbrand.errors import BudgetExceeded, HerbrandError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "COMPILING",
    "MESSAGE",
    "busy_seconds",
    "called",
    "check_allowed",
    "compile_elsewhere",
    "is_wanted",
    "made",
    "serve",
]

COMPILING = "machine code is made for the first time on this machine, for a minute or two"
"""Why something is not ready yet."""
MESSAGE = f"{COMPILING}; until then moves are found by simpler means"
"""What to tell somebody who waits."""
_SECONDS = 300.0
"""How long one function may take; the slowest took 12 on a machine with nothing else to do."""
_LONG = 3600.0
"""The same where nothing is compiled here, so that nothing is lost by waiting."""
_NICE = 5
"""How much less urgent it is than what goes on meanwhile."""
_IDLE = 60.0
"""Seconds after which a process that is asked for nothing ends."""


class _Workshop:
    """The other process, and what it is doing."""

    def __init__(self) -> None:
        self.wanted = False
        self.only = False
        """Whether nothing may be compiled here, whatever becomes of the other process."""
        self.tell: Callable[[str], object] | None = None
        self.since: float | None = None
        self._child = Child("the compiler", [sys.executable, "-m", "herbrand.elsewhere"])
        self._lock = threading.Lock()
        self._closing: threading.Timer | None = None

    def ask(self, question: str) -> bool:
        with self._lock:
            if self._closing is not None:
                self._closing.cancel()
            tell, self.tell = self.tell, None
            if tell is not None:
                tell(MESSAGE)
            self.since = time.monotonic()
            try:
                return self._child.ask(question, _LONG if self.only else _SECONDS) == "made"
            except (HerbrandError, OSError):
                self.wanted = self.only  # whatever is wrong with it, it is not asked again if need not be
                return False
            finally:
                self.since = None
                self._closing = threading.Timer(_IDLE, self._close)
                self._closing.daemon = True
                self._closing.start()

    def _close(self) -> None:
        with self._lock:
            self._child.close()

    def leave(self) -> None:
        """Let go of the process, which belongs to the one that this one is a copy of."""
        self._child.disown()


_workshop = _Workshop()


def _begin_anew() -> None:
    """Have a process of our own."""
    global _workshop
    old, _workshop = _workshop, _Workshop()
    old.leave()
    _workshop.wanted, _workshop.only = old.wanted, old.only


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def compile_elsewhere(tell: Callable[[str], object] | None = None, *, only: bool = False) -> None:
    """From now on have functions compiled in another process; who needs one waits for it as before.

    `tell` hears `MESSAGE` when that happens for the first time, from the thread that waits.  With `only`
    nothing is compiled here if the other process fails: who needs the function gets `BudgetExceeded`.
    """
    _workshop.wanted = True
    _workshop.only = _workshop.only or only
    if tell is not None:
        _workshop.tell = tell


def is_wanted() -> bool:
    """Whether functions are to be compiled in another process."""
    return _workshop.wanted


def check_allowed(name: str) -> None:
    """Raise `BudgetExceeded` if a function, of which there is no machine code, may not be compiled here."""
    if _workshop.only:
        raise BudgetExceeded("memory of this process", f"`{name}` could not be compiled in another one")


def busy_seconds() -> float:
    """Return for how long something has been compiled elsewhere; 0 when nothing is."""
    since = _workshop.since
    return 0.0 if since is None else time.monotonic() - since


def made(module: str, name: str, signature: Any) -> bool:
    """Have a function compiled for a signature, and kept on disk; False if that failed.

    The function is `name` in a module of this package, made by `compiled`, or an `Entry` of `builtin`.
    """
    types = base64.b64encode(pickle.dumps(signature)).decode()
    return _workshop.ask(json.dumps({"module": module, "name": name, "signature": types}))


def called(module: str, name: str, *arguments: Any, **options: Any) -> bool:
    """Have a function of this package called, for what it leaves on disk; False if that failed."""
    given = base64.b64encode(pickle.dumps((arguments, options))).decode()
    return _workshop.ask(json.dumps({"module": module, "name": name, "given": given}))


def serve() -> None:
    """Compile what the lines of standard input ask for, until it ends, and then end at once."""
    out = sys.stdout
    sys.stdout = sys.stderr
    with suppress(AttributeError, OSError):  # not on every system
        os.nice(_NICE)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        question = json.loads(lines.get())
        try:
            function = getattr(import_module(question["module"]), question["name"])
            if "given" in question:
                arguments, options = _unpacked(question["given"])
                function(*arguments, **options)
            elif hasattr(function, "compile"):
                function.compile(_unpacked(question["signature"]))
            else:
                assert function.address
            answer = "made"
        except Exception as error:  # noqa: BLE001  # the parent compiles it itself, and is told then
            answer = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(answer, file=out, flush=True)


def _unpacked(text: str) -> Any:
    """Return what our parent sent."""
    return pickle.loads(base64.b64decode(text))  # noqa: S301


def _read(lines: queue.SimpleQueue[str]) -> None:
    """Pass the lines of standard input on; end the process with them, whatever it is compiling."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    serve()

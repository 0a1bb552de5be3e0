"""`connect`: the workers of a Dask scheduler, as an executor that names its tasks.

M. Rocklin, *Dask: parallel computation with blocked algorithms and task scheduling* (SciPy 2015).
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError, optional_import
from herbrand.runtime.cluster.edition import edition
from herbrand.runtime.cluster.tasks import WorkerRefused
from herbrand.runtime.pool import WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DaskExecutor", "connect"]

_SECONDS: Final = 10.0
"""How long to wait for a scheduler, and for its first worker."""
_RECONNECT_SECONDS: Final = 600.0
"""How long a scheduler that was lost may stay away."""


def connect(address: str, *, seconds: float = _SECONDS) -> DaskExecutor:
    """Return the workers of a Dask scheduler at an address, `tcp://HOST:PORT`, or in a scheduler file.

    Workers with another herbrand are refused: they get no tasks, and are listed in `refused`.  Raises
    `HerbrandError` if no scheduler answers within so many seconds, or no worker can be used, `MissingExtra`
    without Dask.
    """
    executor = DaskExecutor(address, seconds=seconds)
    try:
        executor.look_at_workers()
    except BaseException:
        executor.shutdown()
        raise
    return executor


class DaskExecutor(Executor):
    """The workers of a Dask scheduler; see `connect`.

    On the dashboard of the scheduler tasks have their names, followed by a word for the run.  A task whose
    worker is lost is started again by Dask, a few times.  If the scheduler cannot be reached any more, all
    tasks are sent again when it can.
    """

    def __init__(self, address: str, *, seconds: float = _SECONDS) -> None:
        self.address = address
        self.client = self._connected(seconds)
        self.refused: dict[str, str] = {}
        """Addresses of workers that get no tasks, and why."""
        self._seconds = seconds
        self._run = secrets.token_hex(3)
        self._sent: dict[str, Any] = {}
        self._number = 0
        self._is_closed = False
        self._lock = threading.RLock()

    def _connected(self, seconds: float) -> Any:
        with optional_import("a Dask cluster", "cluster"):
            from distributed import Client
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # problems are raised or reported
        is_file = Path(self.address).is_file()
        where = {"scheduler_file": self.address} if is_file else {"address": self.address}
        new_client: Any = Client
        try:
            return new_client(**where, timeout=seconds, name="herbrand", set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise HerbrandError(
                f"no Dask scheduler answers at `{self.address}` within {seconds:g} seconds: start one by "
                f"`dask scheduler`, and `dask worker {self.address}` on machines with the same herbrand"
            ) from error

    def look_at_workers(self) -> list[str]:
        """Ask the workers for their edition of herbrand, and return the addresses of those that can be used.

        Waits for the first worker.  Raises `HerbrandError` if there is none, `WorkerRefused` if there are
        only others.
        """
        try:
            self.client.wait_for_workers(1, timeout=self._seconds)
        except TimeoutError:
            raise HerbrandError(
                f"no worker is connected to the scheduler at `{self.address}`: start some by "
                f"`dask worker {self.address}`, where herbrand is installed"
            ) from None
        editions = self.client.run(edition, on_error="return")
        self.refused = {
            worker: f"it has herbrand {answer}"
            if isinstance(answer, str)
            else f"it has no such herbrand ({answer})"
            for worker, answer in editions.items()
            if answer != edition()
        }
        usable = [worker for worker in editions if worker not in self.refused]
        if editions and not usable:
            worker, reason = next(iter(self.refused.items()))
            raise WorkerRefused(
                f"no worker of `{self.address}` has herbrand {edition()}; of {worker}: {reason}: "
                "install the same on all machines"
            )
        return usable

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function on a worker."""
        return self.submit_named(getattr(fn, "__name__", "call"), fn, *args, **kwargs)

    def submit_named(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function on a worker as a task with a name."""
        result: Future[Any] = Future()
        send = self._send if self.client.status == "running" else self._send_again
        send(name, result, partial(fn, *args, **kwargs))
        return result

    def _send(self, name: str, result: Future[Any], call: partial[Any]) -> None:
        with self._lock:
            self._number += 1
            # another driver may have tasks of the same names, and a key is computed once
            key = f"{name}-{self._run}.{self._number}"
        options: dict[str, Any] = {}
        if self.refused:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            options["workers"] = [worker for worker in workers if worker not in self.refused]
            options["allow_other_workers"] = False
        sent = self.client.submit(call, key=key, pure=False, **options)
        self._sent[key] = sent  # Dask forgets tasks whose futures are not referenced

        def receive(sent: Any) -> None:
            self._sent.pop(key, None)
            if result.cancelled():
                sent.release()
                return
            try:
                if sent.cancelled():
                    self._send_again(name, result, call)
                    return
                error = sent.exception()
                if error is None:
                    value = sent.result()
                    if not result.cancelled():
                        result.set_result(value)
                    return
                # an older herbrand may lack the function
                if isinstance(error, WorkerRefused | ImportError | AttributeError):
                    self.look_at_workers()
                    if self.refused:
                        self._send(name, result, call)
                        return
                if type(error).__name__ == "KilledWorker":
                    error = WorkerLost("workers ended while they computed it, as often as Dask allows")
                result.set_exception(error)
            except BaseException as error:  # noqa: BLE001  # in a thread of Dask, where it would be lost
                if not result.done():
                    result.set_exception(error)

        sent.add_done_callback(receive)

    def _send_again(self, name: str, result: Future[Any], call: partial[Any]) -> None:
        """Wait for the scheduler, which could not be reached, and send a task again."""
        until = time.monotonic() + _RECONNECT_SECONDS
        while not self._is_closed and time.monotonic() < until:
            if self.client.status == "running":
                self._send(name, result, call)
                return
            with self._lock, suppress(HerbrandError):
                if self.client.status == "closed":
                    self.client = self._connected(self._seconds)
            time.sleep(0.1)
        result.set_exception(WorkerLost(f"the scheduler at `{self.address}` cannot be reached any more"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the connection to the scheduler; tasks under way are given up."""
        del wait, cancel_futures
        self._is_closed = True
        self.client.close()

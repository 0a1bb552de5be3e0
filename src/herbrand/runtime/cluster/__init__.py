"""Long computations in parts, on this machine or many: named tasks, workers, stored results.

A *task* is a function with arguments that other processes can call.  `run_tasks` has workers call many of
them and returns the results in the order of the tasks, so that nothing depends on how many workers there
are, or on which of them is first.  Workers are those of any `concurrent.futures.Executor`:

| executor                           | workers                                                              |
|------------------------------------|----------------------------------------------------------------------|
| None                               | this process, one task after the other                               |
| `runtime.pool.WorkerPool(4)`       | four processes of this machine, with a limit on their memory         |
| `connect("tcp://scheduler:8786")`  | those of a Dask scheduler, which shows tasks by their names          |
| any other                          | for example `mpi4py.futures.MPIPoolExecutor()`                       |

| module    | what it does                                                                                   |
|-----------|------------------------------------------------------------------------------------------------|
| `tasks`   | `Task`, and `Runner`: sends tasks, and sends them again when a worker is lost                  |
| `running` | `run_tasks`: all tasks of a list, with progress, resumed from a file of results                |
| `results` | the file of results: SQLite, each result in a transaction                                      |
| `edition` | which herbrand a worker has; another one than the driver's is refused                          |
| `dask`    | the executor of a Dask scheduler                                                               |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.runtime.cluster.dask import connect as connect
    from herbrand.runtime.cluster.running import TaskProgress as TaskProgress
    from herbrand.runtime.cluster.running import run_tasks as run_tasks
    from herbrand.runtime.cluster.tasks import Runner as Runner
    from herbrand.runtime.cluster.tasks import Task as Task
    from herbrand.runtime.cluster.tasks import TaskResult as TaskResult
    from herbrand.runtime.cluster.tasks import WorkerRefused as WorkerRefused
    from herbrand.runtime.cluster.tasks import values as values

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "dask": ("connect",),
        "running": ("TaskProgress", "run_tasks"),
        "tasks": ("Runner", "Task", "TaskResult", "WorkerRefused", "values"),
    },
)

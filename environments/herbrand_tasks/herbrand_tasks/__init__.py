"""Questions about games whose answers are exact, for verifiers."""

from herbrand.oracle.verifiers import TasksTaskset

__all__ = ["TasksTaskset"]

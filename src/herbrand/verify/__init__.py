"""Compare evaluations of a game: engines with each other or with a trace, plans, and two rulesheets."""

from __future__ import annotations

from herbrand.verify.engines import verify_playouts
from herbrand.verify.plans import PlanReport, verify_plan
from herbrand.verify.report import Difference, Report, Side
from herbrand.verify.sheets import verify_same
from herbrand.verify.traces import verify_trace

__all__ = [
    "Difference",
    "PlanReport",
    "Report",
    "Side",
    "verify_plan",
    "verify_playouts",
    "verify_same",
    "verify_trace",
]

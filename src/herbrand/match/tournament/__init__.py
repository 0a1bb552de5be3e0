"""Tournaments: reproducible comparisons of players.

Players meet in *encounters*: one game with the same opening and the same chance draws, played once with each
assignment of the roles, so that neither the first move nor luck decides.  Everything follows from one seed.
Plan, pairings and matches are stored in a database of `herbrand.match.records`: an interrupted tournament can
be resumed, each pairing is played at most once, and every move can be verified.

| module     | what it does                                                                        |
|------------|-------------------------------------------------------------------------------------|
| `plan`     | the plan and its pairings: round robin, Swiss, ladder                                 |
| `job`      | one match as plain data, played by a worker                                           |
| `runner`   | `Tournament`: runs jobs on any `concurrent.futures.Executor`, stores their results    |
| `results`  | standings, head-to-head scores and scores by game                                     |
| `ratings`  | Bradley-Terry ratings with confidence intervals, on the Elo scale                     |
| `report`   | an HTML page with tables and plots                                                    |
"""

from __future__ import annotations

from herbrand.match.tournament.plan import TournamentPlan
from herbrand.match.tournament.runner import Tournament, plan_with

__all__ = ["Tournament", "TournamentPlan", "plan_with"]

"""Tournaments: who plays best, measured so that the answer can be repeated and trusted.

Players meet in *encounters*: the same game, with the same opening and the same chance, played once with each
assignment of the roles, so that neither the first move nor luck decides.  Everything follows from one
seed.  Plan, pairings and matches are in a database of `herbrand.match.records`, hence a tournament that was
killed goes on where it was, each pairing has one match at most, and every move can be verified.

| module     | what it does                                                                        |
|------------|-------------------------------------------------------------------------------------|
| `plan`     | what is to be played, and who meets whom: round robin, Swiss, ladder                  |
| `job`      | one match, as a worker plays it, in this process or elsewhere                         |
| `runner`   | `Tournament`: hands jobs to any `concurrent.futures.Executor`, keeps what comes back  |
| `results`  | from matches to scores: standings, who beat whom, by game                             |
| `ratings`  | strength as a number with its uncertainty (Bradley-Terry, on the scale of Elo)         |
| `report`   | a page with tables and plots                                                          |
"""

from __future__ import annotations

from herbrand.match.tournament.plan import TournamentPlan
from herbrand.match.tournament.runner import Tournament

__all__ = ["Tournament", "TournamentPlan"]

"""Checks that play sample games, for `herbrand check`.

Takes a game that has no errors; gives diagnostics of the checks in `herbrand.check.checks.play`.  Imports
`machine` and `check`.
"""

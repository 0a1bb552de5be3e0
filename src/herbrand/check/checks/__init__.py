"""The checks, one module a family.

Each family has `CHECKS`, the checks it may report, and most have `find(sheet)`, which yields
diagnostics.  The checks of the readers are documented in `reading`; those that must evaluate
the rules are in `played`.
"""

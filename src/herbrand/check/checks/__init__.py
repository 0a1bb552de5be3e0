"""The checks, one module per family.

Each family has `CHECKS`, the checks it may report, and most have `find(sheet)`, which yields
diagnostics.  `reading` and `ggdl` document the checks of the readers, `play` those that evaluate
the rules (`herbrand.analyse.trial`).
"""

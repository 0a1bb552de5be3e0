"""The checks, one module per family, with their documentation in a TOML file beside it.

Each family has `CHECKS`, the checks it may report, and most have `find(sheet)`, which yields
diagnostics.  `reading` and `ggdl` list the checks of the readers, `play` those that evaluate
the rules (`herbrand.analyse.trial`).
"""

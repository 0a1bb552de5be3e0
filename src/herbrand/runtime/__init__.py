"""What a program needs from its operating system: processes, limits, clocks, memory.

Nothing here knows of games.  `limits` has budgets; `line_process` and `json_process` subprocesses that answer
lines, and objects of JSON; `pool` workers for many jobs; `memory` bounds, measures and releases memory;
`collector` suspends the cyclic garbage collector.  Imports `errors` only.
"""

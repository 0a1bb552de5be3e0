"""The command line: thin functions over the library, one file per command.

`main.py` has the command group, which imports commands on demand and turns expected failures into one line
and an exit code.  `files.py` resolves FILE arguments, `output.py` writes results to standard output and
remarks to standard error, `joint.py` parses moves.  Only this package exits.
"""

"""The command line: thin functions over the library, one file a command.

`main.py` holds the group, which imports a command when it is called, and turns expected
failures into one line and an exit code.  `files.py` says what a FILE may be, `output.py`
where text goes, `joint.py` how moves are written.  Results go to standard output, remarks to
standard error.  This is the only package that exits.
"""

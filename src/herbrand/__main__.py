"""`python -m herbrand` is the command `herbrand`."""

from herbrand.cli.main import program

if __name__ == "__main__":
    program(prog_name="herbrand")

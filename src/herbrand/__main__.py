"""`python -m herbrand` is the command `herbrand`."""

from herbrand.cli.main import main

if __name__ == "__main__":
    main(prog_name="herbrand")

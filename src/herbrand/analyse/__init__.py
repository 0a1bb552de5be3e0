"""What can be proved about a game: termination, playability, winnability, values, plans, automata.

Verdicts (`verdict`) are proved, refuted or unknown, never guessed.
"""

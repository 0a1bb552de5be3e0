"""Rules as numbers: the form in which the later stages read a game.

`terms.TermTable` numbers ground terms; `clauses.Program` holds predicates and clauses over
them.  The grounder and the rule evaluator both start here.
"""

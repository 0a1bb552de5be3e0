"""Verdicts on the properties of a game: proved, refuted or unknown.

Takes a game; gives a report of verdicts with certificates and witnesses.  Imports all of `analyse` except
`knowledge`, `automata` and `trial`.

| module     | what it gives                                                                 |
|------------|-------------------------------------------------------------------------------|
| `prove`    | `analyse`: every property, by the cheapest method that decides it               |
| `static`   | playability from the text of the rules                                        |
| `symbolic` | verdicts without listing states: induction, bounded model checking, search    |
| `bmc`      | bounded model checking                                                        |
| `pdr`      | property-directed reachability by an outside model checker                    |
| `observe`, `tendency` | remarks: idle rules and moves, turn taking, first-move advantage |
"""

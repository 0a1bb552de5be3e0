"""Verdicts on the properties of a game: proved, refuted or unknown.

Takes a game; gives a report of verdicts with certificates and witnesses.  Imports all of `analyse` except
`knowledge`, `automata` and `trial`.

| module     | what it gives                                                                 |
|------------|-------------------------------------------------------------------------------|
| `prove`    | `analyse`: every property, by the cheapest method that decides it               |
| `static`   | playability from the text of the rules                                        |
| `symbolic` | verdicts without listing states: induction, bounded model checking, search    |
| `restricted` | strong winnability refuted by others who only pass                           |
| `pairing`  | strong winnability refuted by an opponent who takes the other one of a pair  |
| `scheduled` | strong winnability refuted by others who make the same moves in each play      |
| `exchanged` | strong winnability refuted by roles that could change places                  |
| `determined` | strong winnability of games for two, one of whom wins at each end        |
| `out_of_reach` | weak winnability where few states come up while a win is in reach           |
| `unwinnable` | that a role never wins a game, which the first two are about                 |
| `bmc`      | bounded model checking                                                        |
| `pdr`      | property-directed reachability by an outside model checker                    |
| `observe`, `plays`, `tendency` | remarks: idle rules and moves, lengths of plays, first-move advantage |
| `inductive` | remarks on games with too many states to list, by `excluded` conditions |
| `claims`   | remarks as claims that other programs can check                               |
"""

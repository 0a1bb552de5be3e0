"""Games in the languages of other programs.

One file a target.  A writer takes a game, or a stage of it, and returns a text; what a target
cannot say is refused with a reason (`GameError`), never left out in silence.

| target    | file         | from                    |
|-----------|--------------|-------------------------|
| notations | `notation`   | the tree                |
| JSON      | `as_json`    | the tree                |
| Prolog    | `prolog/`    | the rules               |
| clingo    | `asp/`       | the rules               |
| PDDL      | `pddl`       | the rules and the initial state |
"""

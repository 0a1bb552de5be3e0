"""Checks of GGDL programs, in addition to those of the rules they translate to.

The codes are those of the language (`docs/reference/ggdl.md`); the reader of GGDL
(`herbrand.syntax.ggdl`) reports all of these.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check

__all__ = ["CHECKS"]

_check = partial(Check, stage="read", notation="ggdl")

CHECKS: Final = (
    _check(
        "ggdl-syntax", "E-SYNTAX", ERROR, "an unexpected token",
        "Points at the first token that the grammar of GGDL does not allow, and says what was expected.",
        "The sentence is skipped; those around it are read.",
        "role x,",
        "Write what is missing:\n\n    role x, o",
    ),
    _check(
        "other-dialect", "E-DIALECT", ERROR, "a construct of a neighbouring dialect",
        "Points at constructs of older or later languages of the same family (plugg, GEL) that GGDL does "
        "not have.",
        "Its meaning would have to be guessed.",
        "score $+ 10",
        "Use what GGDL has; the help of the finding names it:\n\n    ann $= 10 :- won(ann)",
    ),
    _check(
        "undeclared-name", "E-NAME-UNDECLARED", ERROR, "a capitalised name is not declared",
        "Points at a name with an upper-case first letter in a GGDL sentence that no declaration mentions "
        "in this spelling.",
        "In plain infix it would be a variable, in GGDL a constant: it could be either.",
        "?p -> go(Left) :- role(?p)",
        "Mark a variable with `?`, or declare the name:\n\n    data direction := Left | Right",
    ),
    _check(
        "ambiguous-name", "E-NAME-AMBIGUOUS", ERROR, "the name of a type where a value is expected",
        "Points at a capitalised name that is declared as a type and nothing else.",
        "A type is not a value.",
        "data Hand := rock | paper\nann -> show(Hand)",
        "Use a variable of the type:\n\n    ann -> show(?h:Hand)",
    ),
    _check(
        "name-clash", "E-NAME-CLASH", ERROR, "one name is declared as two things",
        "Points at the second declaration of a parameter, type or constant, and at names that differ in "
        "case only.",
        "GDL ignores case, so both would become one name.",
        "const Blank := 0\ndata mark := blank | x",
        "Rename one of them.",
    ),
    _check(
        "not-a-constant", "E-CONST", ERROR, "an expression is not constant",
        "Points at variables and other things in constant expressions: bounds, ranges, members of types.",
        "Sizes and sets are fixed before the game begins.",
        "data row := 1 .. ?n",
        "Use integers, parameters and `+ - *`:\n\n"
        "    init ^ Rows :: int default 3\n    data row := 1 .. Rows",
    ),
    _check(
        "empty-type", "E-RANGE-EMPTY", ERROR, "a range or type has no members",
        "Points at ranges whose upper bound is below the lower one.",
        "No value could have this type.",
        "data row := 3 .. 1",
        "Swap the bounds, or restrict the parameter they depend on:\n\n    data row := 1 .. 3",
    ),
    _check(
        "parameter-missing", "E-PARAM-MISSING", ERROR, "a parameter has no value",
        "Points at a parameter without default for which no value was given.",
        "The game is not fully defined without it.",
        "init ^ Size :: int >= 1",
        "Give a value (`--param Size=3`), or a default:\n\n    init ^ Size :: int >= 1 default 3",
    ),
    _check(
        "parameter-range", "E-PARAM-RANGE", ERROR, "the value of a parameter is out of its range",
        "Points at the parameter whose bounds the given value violates.",
        "The author declared for which values the game works.",
        "init ^ Size :: int >= 3 <= 20 default 3   // with --param Size=2",
        "Give a value from the range.",
    ),
    _check(
        "parameter-type", "E-PARAM-TYPE", ERROR, "the value of a parameter is of another kind",
        "Points at a parameter that is an integer and was given something else.",
        "It cannot be used in ranges and arithmetic.",
        "init ^ Size :: int default 3   // with --param Size=big",
        "Give an integer, `true` or `false`, or a member of the type.",
    ),
    _check(
        "parameter-default", "E-PARAM-DEFAULT", ERROR, "the default of a parameter is out of its range",
        "Points at a default that the bounds beside it exclude.",
        "The game could not be played without giving a value.",
        "init ^ Size :: int >= 3 default 2",
        "Change the default or the bounds.",
    ),
    _check(
        "parameter-unknown", "E-PARAM-UNKNOWN", ERROR, "the game has no such parameter",
        "Reports the name that no `init ^` declares.",
        "It is probably misspelt.",
        "init ^ Size :: int default 3   // with --param Sice=4",
        "`herbrand params FILE` lists the parameters.",
    ),
    _check(
        "unknown-type", "E-TYPE-UNKNOWN", ERROR, "a type is not declared",
        "Points at the name of a type that no `data`, and no list of facts, declares.",
        "Its members are unknown.",
        "?p -> go(?d:direction)",
        "Declare it:\n\n    data direction := left | right",
    ),
    _check(
        "infinite-type", "E-TYPE-INFINITE", ERROR, "a finite type is needed",
        "Points at `int` and `string` where a finite set is needed, and at ranges that are too large.",
        "Games have finitely many moves and states.",
        "?p -> bid(?n:int)",
        "Give bounds:\n\n    data bid := 0 .. 10",
    ),
    _check(
        "ambiguous-type", "E-TYPE-AMBIGUOUS", ERROR, "the values of a relation belong to several types",
        "Points at a functional relation whose values are all members of two types of which neither "
        "contains the other.",
        "The type determines which values the state must be able to store.",
        "data a := x | y\ndata b := x | z\ninit F := x",
        "Say which is meant:\n\n    base F = a",
    ),
    _check(
        "type-mismatch", "E-TYPE-MISMATCH", ERROR, "a value is not of the type of its relation",
        "Points at a functional relation that can take a value outside its type.",
        "A misspelt constant, or a type that lacks a member.",
        "data colour := red | green\nbase Light = colour\ninit Light := gren",
        "Correct the value, or add it to the type.",
    ),
    _check(
        "preference-cycle", "E-PREF-CYCLE", ERROR, "a member would be preferred to itself",
        "Points at a chain with `<<<` that comes back to a member.",
        "`<<<` is transitive.",
        "data Hand := rock <<< paper <<< rock",
        "Use `<<`, which joins neighbours only:\n\n    data Hand := rock << paper << scissors << rock",
    ),
    _check(
        "preference-type", "E-PREF-TYPE", ERROR, "nothing says which order of preference is meant",
        "Points at `<<` or `>>` between things of unknown type, or of a type without preference.",
        "Each type has its own order.",
        "ann $= 100 :- won(?a) and ?a >> b",
        "Give the variable a type:\n\n    ann $= 100 :- won(?a:Hand) and ?a >> b",
    ),
    _check(
        "external-property", "E-ROLE-PROP", ERROR, "an external property is used in a rule",
        "Points at the use of a property declared with `^^`.",
        "Such properties describe players and are not part of the game.",
        "role ann { Title^^: string }\nterminal :- ann.Title == king",
        "Declare it without `^^` if the rules depend on it.",
    ),
    _check(
        "conflicting-init", "E-INIT-CONFLICT", ERROR, "two initial values for one place",
        "Points at an initial value that contradicts another, where neither left side is a special case of "
        "the other.",
        "A functional relation has one value.",
        "init F(1) := a\ninit F(1) := b",
        "Delete one. A special case wins over a general one:\n\n"
        "    init F(?i:row) := a\n    init F(1) := b",
    ),
    _check(
        "move-domain", "E-MOVE-DOMAIN", ERROR, "the possible moves are not finite, or not known",
        "Points at an argument of a move that nothing binds.",
        "The moves of a game must be enumerable.",
        "?p -> go(?d) :- Turn(?p)",
        "Give it a type:\n\n    ?p -> go(?d:direction) :- Turn(?p)",
    ),
    _check(
        "effect-target", "E-EFFECT-TARGET", ERROR, "an effect on something that does not change",
        "Points at effects on derived relations, types, roles, parameters and constants.",
        "Only fluents change from step to step.",
        "won(?p) :- Points(?p, 3)\n?p -> win ==> won(?p)",
        "Change what the relation depends on:\n\n    ?p -> win ==> Points(?p) = 3",
    ),
    _check(
        "effect-conflict", "E-EFFECT-CONFLICT", ERROR, "two values for one place in one step",
        "Points at an effect that contradicts another of the same sentence.",
        "A functional relation has one value.",
        "?p -> go ==> At = 1 and At = 2",
        "Delete one, or give them conditions that exclude each other.",
    ),
    _check(
        "persist-target", "E-PERSIST-TARGET", ERROR, "`persist` on something that is not a fluent",
        "Points at the left side of `==> persist`.",
        "Derived relations are computed anew in every state.",
        "won(?p) :- Points(?p, 3)\nwon(?p) ==> persist",
        "Delete it: whatever has an initial value or an effect persists by itself.",
    ),
    _check(
        "surface", "E-SURFACE", ERROR, "an invalid board or place",
        "Points at unknown surfaces, wrong numbers of indices or arguments, `@[...]` outside a surface, "
        "and moves at something that is not a place.",
        "A place belongs to a board, and a board is an instance of a surface.",
        "init board := Chess(8)",
        "Declare or import the surface:\n\n"
        '    consult { Square } from "boards/square"\n    init board := Square(8, 8)',
    ),
    _check(
        "consult-not-found", "E-CONSULT-NOTFOUND", ERROR, "an imported file does not exist",
        "Points at the path of a `consult`.",
        "Paths are relative to the importing file, then to the library.",
        'consult { A } from "nowhere"',
        "Correct the path; the ending may be left out.",
    ),
    _check(
        "consult-name", "E-CONSULT-NAME", ERROR, "an imported name is not defined in its file",
        "Points at the name in a `consult`.",
        "It is probably misspelt.",
        'consult { Skuare } from "boards/square"',
        "Correct the name.",
    ),
    _check(
        "consult-cycle", "E-CONSULT-CYCLE", ERROR, "a file imports itself, directly or indirectly",
        "Points at the `consult` that closes the cycle.",
        "Importing would never end.",
        'consult { A } from "this-file"',
        "Move what both need into a third file.",
    ),
    _check(
        "import-clash", "E-IMPORT-CLASH", ERROR, "one name is imported with two definitions",
        "Points at the `consult` that imports the second one.",
        "It could mean either.",
        'consult { A } from "one"\nconsult { A } from "two"',
        "Import it from one of them, or rename it there.",
    ),
    _check(
        "older-spelling", "W-STYLE", NOTE, "a spelling of another revision",
        "Points at spellings of other revisions of the language that are still accepted.",
        "One spelling is easier to read.",
        "enum row := 1 .. 3",
        "Use the current one:\n\n    data row := 1 .. 3",
    ),
    _check(
        "declared-name", "W-NAME-DECLARED", WARNING, "a declared name where plain GDL has a variable",
        "Points at a capitalised name in a plain sentence that is declared somewhere.",
        "In plain infix rules such names are variables; here it is the declared thing.",
        "data mark := X | O\nfull :- true(cell(X, Y))",
        "Write `?x` if a variable is meant.",
    ),
    _check(
        "implicit-true", "W-IMPLICIT-TRUE", NOTE, "a fluent is queried without `true`",
        "Points at a condition of a plain sentence that names a fluent.",
        "GGDL reads it as `true(...)`; plain GDL would not.",
        "init Lamp := on\nterminal :- lamp(off)",
        "Write `true(lamp(off))` to be understood everywhere.",
    ),
    _check(
        "fluent-and-view", "W-FLUENT-VIEW", WARNING, "one name is both a fluent and a relation",
        "Points at a condition that could mean either; the relation is meant.",
        "Readers will confuse the two.",
        "init open\nopen :- door(1)\nterminal :- open",
        "Rename one of them.",
    ),
    _check(
        "own-frame", "W-FRAME", WARNING, "a fluent with effects also has `next` rules",
        "Points at the effect or declaration.",
        "Explicit `next` rules replace the frame rule: facts they do not derive are lost in every step.",
        "?p -> go ==> At = 1\n(<= (next (at 2)) (true (at 3)))",
        "Use effects only, or add rules for what stays.",
    ),
    _check(
        "integer-range", "W-INT-RANGE", WARNING, "a result can leave the integers of the game",
        "Points at arithmetic whose result may be less or greater than every integer the rules mention.",
        "The condition or effect then fails silently.",
        "init N := 0\nsolo -> up ==> N = N + 1",
        "Declare a type that holds all results, or add a condition:\n\n"
        "    data count := 0 .. 9\n    solo -> up :- N < 9 ==> N = N + 1",
    ),
    _check(
        "input-too-narrow", "W-INPUT", WARNING, "a move may become legal that `input` does not list",
        "Points at the move rule.",
        "Systems that rely on `input` do not know the move.",
        "role solo\ndata row := 1 .. 2\ninput(solo, go(1))\nsolo -> go(?k:row)",
        "List it, or delete `input`: it is derived.",
    ),
    _check(
        "unused-hook", "W-HOOK-UNUSED", WARNING, "no move uses a rule about a place",
        "Points at a rule with a place as its subject.",
        "By itself it has no effect.",
        "surface Row <=> {[ free | \\i <- 1 .. 3 ]} where (\n  let ?c = @[?i] {\n    ?c -> Put(?m) :- ?c == "
        "free\n  }\n)\ninit board := Row",
        "Write the move:\n\n    ?p @ board[_, _] -> Put(x) :- control(?p)",
    ),
)  # fmt: skip

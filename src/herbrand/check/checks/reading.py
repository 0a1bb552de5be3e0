"""Documentation of the checks that `herbrand.syntax` performs while reading."""

from __future__ import annotations

from functools import partial
from typing import Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check

__all__ = ["CHECKS"]

_check = partial(Check, stage="read")

CHECKS: Final = (
    _check(
        "unusual-character", "L2", NOTE, "a name has characters besides letters, digits, `_` and `-`",
        "Points at names such as `++` or `a+b`, once for each name.",
        "Some systems refuse such names, and other notations cannot spell them.",
        "(succ 1 ++)",
        "Use letters, digits, `_` and `-`.",
    ),
    _check(
        "nameless-variable", "L4", ERROR, "a variable has no name",
        "Points at a lone `?`.",
        "Whether two of them are the same variable would be ambiguous.",
        "(<= (open ?) (door ?))",
        "Give it a name:\n\n    (<= (open ?x) (door ?x))",
        spec=True,
    ),
    _check(
        "inconsistent-case", "L5", WARNING, "one name is spelled in several ways",
        "Points at the second spelling of a name that differs from the first only in letter case.",
        "GDL compares names without case, but some systems do not: for them the two spellings are two "
        "names, and the game behaves differently.",
        "(init (turn White))\n(role white)",
        "Use one spelling everywhere.",
    ),
    _check(
        "ambiguous-semicolon", "L7", NOTE, "a line that starts with `;` reads like a literal",
        'Points at a comment in the infix notation that could be the second half of an "or".',
        'In Prolog `;` means "or", at the start of a line it starts a comment here.',
        "p(X) :- q(X)\n; r(X)",
        'Write `|` for "or", or put the disjunction in parentheses; write `%` for a comment:\n\n'
        "    p(X) :- (q(X) | r(X))",
        notation="infix",
    ),
    _check(
        "not-utf-8", "", WARNING, "the file is not encoded in UTF-8",
        "Points at the first byte that is not UTF-8; the file is then read as Latin-1.",
        "Names with such characters are read differently by different systems.",
        "(name jos\\xe9)",
        "Save the file as UTF-8.",
    ),
    _check(
        "mixed-notation", "", NOTE, "the text looks like another notation",
        "Points at a sign of the other notation: `:-` in prefix text, `?x` in infix text.",
        "The sheet may have been read in the wrong notation.",
        "p(X) :- q(?x)",
        "Name the notation when reading (`--from`), or use one notation.",
        notation="infix",
    ),
    _check(
        "too-deep", "", ERROR, "parentheses are nested too deeply",
        "Points at the parenthesis that goes beyond 200 levels.",
        "No rulesheet needs that; it is a lost parenthesis or an attack on the reader.",
        "((((((((((... 201 of them",
        "Close what is open; build deep terms from smaller facts.",
    ),
    _check(
        "too-large", "", ERROR, "the text is too large for a rulesheet",
        "Rejects texts of more than 16 MiB.",
        "It is probably another kind of file, and reading it could exhaust memory.",
        "a video called rules.kif",
        "Pass the rulesheet instead. Facts that follow a pattern can be written as rules.",
    ),
    _check(
        "not-text", "", ERROR, "the file is not a text file",
        "Points at the first control character of a file with many of them, or with a NUL.",
        "It is some other file, such as an archive or a picture.",
        "\\x00\\x01\\x02",
        "Pass the rulesheet instead; unpack archives first.",
    ),
    _check(
        "extra-parenthesis", "S1", ERROR, "a `)` closes nothing",
        "Points at a closing parenthesis without an opening one.",
        "A statement before it probably ended too early, and its last literals belong to no rule.",
        "(<= terminal (true (step 5))))",
        "Delete it, or find the parenthesis that closes too early:\n\n    (<= terminal (true (step 5)))",
        spec=True,
    ),
    _check(
        "unclosed-parenthesis", "S2", ERROR, "a `(` is never closed",
        "Points at an unmatched opening parenthesis; reading continues where the next statement "
        "begins.",
        "Everything after it would become part of that statement.",
        "(<= terminal\n    (true (step 5))\n(role white)",
        "Close it:\n\n    (<= terminal\n        (true (step 5)))\n    (role white)",
        spec=True,
    ),
    _check(
        "list-without-name", "S3", ERROR, "a list does not start with a name",
        "Points at lists such as `((p) a)` and `(?f a)`.",
        "The first element names the relation or function; it cannot be computed.",
        "(<= terminal ((true) over))",
        "Write the name first:\n\n    (<= terminal (true over))",
        spec=True,
    ),
    _check(
        "empty-list", "S4", ERROR, "a list is empty",
        "Points at `()`.",
        "GDL has no empty list, so it denotes no object.",
        "(init (hand ()))",
        "Use a constant:\n\n    (init (hand empty))",
        spec=True,
    ),
    _check(
        "misplaced-literal", "S5", ERROR, "something other than a statement at the top level",
        "Points at `not`, `or`, `and`, `distinct` and variables outside rules or in place of a head.",
        "A sheet states what is true; whatever cannot be derived is false.",
        "(not (open door))",
        "Delete it, or make it the condition of a rule.",
        spec=True,
    ),
    _check(
        "rule-without-head", "S6", ERROR, "a rule has no head",
        "Points at `(<=)` and at rules whose head is missing.",
        "It is unknown what the rule derives.",
        "(<=)",
        "Write the head first:\n\n    (<= terminal (true over))",
        spec=True,
    ),
    _check(
        "nested-rule", "S7", ERROR, "a rule inside another rule",
        "Points at an arrow where a literal is expected.",
        "Usually the rule before lacks a parenthesis or a full stop.",
        "(<= terminal (<= over (true over)))",
        "Make it two rules:\n\n    (<= terminal over)\n    (<= over (true over))",
        spec=True,
    ),
    _check(
        "wrong-operand-count", "S8", ERROR, "`not` or `distinct` has the wrong number of operands",
        "Points at a `not` without exactly one literal and at a `distinct` without exactly two terms.",
        "It has no meaning.",
        "(<= (free ?x) (index ?x) (distinct ?x))",
        "Say what to compare with:\n\n    (<= (free ?x) (index ?x) (distinct ?x 1))",
        spec=True,
    ),
    _check(
        "empty-or", "S8b", WARNING, "an `or` has no alternatives",
        "Points at `(or)`, which is false.",
        "The rule can never apply.",
        "(<= terminal (or))",
        "Write the alternatives, or delete the rule.",
    ),
    _check(
        "rule-without-body", "S9", WARNING, "a rule has no conditions",
        "Points at `(<= head)`, which is read as the fact `head`.",
        "Some systems refuse it, and a condition may have been forgotten.",
        "(<= (succ 1 2))",
        "Write the fact:\n\n    (succ 1 2)",
    ),
    _check(
        "superfluous-parentheses", "S10", WARNING, "parentheses around a name without arguments",
        "Points at `(p)`, which is read as `p`.",
        "Some systems treat `p` and `(p)` as two different things, and their rules then never apply.",
        "(<= (open) (true unlocked))",
        "Write the name alone:\n\n    (<= open (true unlocked))",
    ),
    _check(
        "negated-compound", "S11a", WARNING, "`not` applied to something other than an atom",
        "Points at `not` before `or`, `and`, `not` or `distinct`; it is read with its logical meaning.",
        "The language allows `not` in front of atoms only, and a widely used system gives wrong answers "
        "for it.",
        "(<= (same ?x ?y) (index ?x) (index ?y) (not (distinct ?x ?y)))",
        "Rewrite it without, here by using one variable:\n\n    (<= (same ?x ?x) (index ?x))",
        spec=True,
    ),
    _check(
        "nested-or", "S11b", NOTE, "an `or` directly inside an `or`",
        "Points at the inner `or`.",
        "It means the same as one `or`, which every system can read.",
        "(<= p (or q (or r s)))",
        "Join them:\n\n    (<= p (or q r s))",
    ),
    _check(
        "explicit-and", "S11c", NOTE, "`and` is spelled out",
        "Points at `and`; the literals of a body are joined without it.",
        "Many systems treat `and` as an unknown relation, and the rule then never applies.",
        "(<= p (and q r))",
        "List the literals; inside `or`, name the conjunction by a helper relation:\n\n    (<= p q r)",
    ),
    _check(
        "missing-conjunction", "S12", ERROR, "`&` is missing between two literals",
        "Points at the end of a literal that is followed by one that cannot start a statement.",
        "Without the sign the rule ends, and a condition is lost.",
        "next(won(W)) :- does(W,take)\n    true(last(X))",
        "Join them:\n\n    next(won(W)) :- does(W,take) &\n        true(last(X))",
        spec=True, notation="infix",
    ),
    _check(
        "dangling-conjunction", "S13", ERROR, "an `&` without a literal on one side",
        "Points at an `&` after the last literal of a rule, or at two in a row.",
        "The head of the next rule would become a condition of this one.",
        "line(X) :- row(1,X) &\nopen :- true(cell(1,1,b))",
        "Delete it:\n\n    line(X) :- row(1,X)\n    open :- true(cell(1,1,b))",
        spec=True, notation="infix",
    ),
    _check(
        "infix-in-prefix", "S14", ERROR, "a call is written like `f(x)` inside prefix text",
        "Points at a name directly followed by `(`.",
        "In prefix notation that is a name and then a separate list.",
        "(legal random deal(?p))",
        "Put the name into the parentheses:\n\n    (legal random (deal ?p))",
        spec=True,
    ),
    _check(
        "comma-in-name", "S15", ERROR, "a name has a comma in it",
        "Points at names such as `1,2` in prefix text.",
        "Commas separate nothing in prefix notation; `1,2` would be one name.",
        "(init (cell 1,2 b))",
        "Separate by spaces:\n\n    (init (cell 1 2 b))",
        spec=True,
    ),
    _check(
        "misplaced-parenthesis", "S16", ERROR, "the conditions of a rule are inside its head",
        "Points at a keyword with too many arguments where the surplus ones look like literals.",
        "The head is never closed, so the conditions became its arguments.",
        "(<= (base (turn ?p) (role ?p)))",
        "Close the head before the conditions:\n\n    (<= (base (turn ?p)) (role ?p))",
        spec=True,
    ),
    _check(
        "unreadable-token", "", ERROR, "an unexpected token",
        "Points at the first token that does not fit.",
        "The statement cannot be understood; reading continues with the next one.",
        "p(X,) :- q(X)",
        "See the message for what was expected.",
        spec=True, notation="infix",
    ),
    _check(
        "prolog-only", "", ERROR, "a construct of Prolog that GDL does not have",
        "Points at lists, strings, cuts, arithmetic, `is`, `->` and the like.",
        "The value of a game depends on facts and rules only; there is nothing to compute with or to cut.",
        "next(count(N)) :- true(count(M)) & N is M + 1",
        "Write the facts that are needed, such as a successor relation:\n\n"
        "    next(count(N)) :- true(count(M)) & succ(M,N)",
        notation="infix",
    ),
    _check(
        "transition-rule", "", ERROR, "`::` and `==>` belong to another language",
        "Points at transition rules, an extension of a later dialect.",
        "They state what changes, GDL states what holds: rules must cover everything that stays, too.",
        "mark(M,N) :: true(control(R)) ==> cell(M,N,R)",
        "Write `next` rules, also for what stays the same:\n\n"
        "    next(cell(M,N,R)) :- does(R,mark(M,N))",
        notation="infix",
    ),
    _check(
        "case-collision", "N8", WARNING, "two names differ only by case",
        "Points at a name of the infix notation that becomes another name when case is dropped.",
        "Names are compared without case, so the two are one; the prefix notation cannot distinguish them.",
        "p(whiteKing) p(whiteking)",
        "Rename one of them.",
        notation="infix",
    ),
)  # fmt: skip

"""The parser core: finite sets of terms as tables, walked token by token.

This file imports nothing of herbrand.  `herbrand.convert.movereader` fills its tables, and a module
written by `herbrand reader --to python` is this file followed by the tables of one game.

A set of terms is a minimal acyclic automaton over the tokens of their prefix spelling.  Every
state has the number of terms that continue from it, so that walking a term adds up its index, and an index
leads back to its term; the terms themselves are not stored.  A text can only follow existing edges:
nothing is evaluated or stored, and the time is linear in its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["END_OF_TEXT", "ClosedReader", "MoveError", "Terms"]

END_OF_TEXT = "end of text"
"""Stands for the end of the text in errors."""

_TOKEN = re.compile(r"[(),]|[^ \t\n\r\f\v(),]+")
_SPACE = " \t\n\r\f\v"
_SEPARATOR = "\0"
"""Separates texts that are normalized together."""
_SHOWN = 8
_BEAM = 16
_MOST_INFIX = 250_000
"""The most terms whose infix spellings are entered in the table."""


class MoveError(ValueError):
    """A text is not in the set of possible texts.

    `code` is E-MOVE-SYNTAX, E-MOVE-LENGTH, E-MOVE-ROLE or E-UPDATE-SYNTAX; `position` the offset of
    the first token that is not possible there; `found` that token; `expected` the
    tokens that are possible instead; `suggestion` the nearest possible term, or None.
    """

    def __init__(
        self,
        message: str,
        code: str,
        *,
        position: int = 0,
        found: str = "",
        expected: Sequence[str] = (),
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.position = position
        self.found = found
        self.expected = tuple(expected)
        self.suggestion = suggestion


class Terms:
    """A finite set of ground terms, each with an index.

    `tokens` are the names and signs in display spelling, `states` the automaton: state 0 is the
    end of a term, the last one the start, and each is a list of pairs token number, next state, in
    the order of the folded tokens.  `order` gives the index of the n-th term of the automaton where
    that is not n.  `infix` gives the spelling of names that are invalid in infix notation.
    """

    error: type[MoveError] = MoveError

    def __init__(
        self,
        tokens: Sequence[str],
        states: Sequence[Sequence[int]],
        *,
        order: Sequence[int] | None = None,
        infix: dict[str, str] | None = None,
        folds_case: bool = True,
    ) -> None:
        self.tokens = tuple(tokens)
        self.states = states
        self.order = order
        self.infix = infix or {}
        self._folds = folds_case
        self._alias = {self.fold(new): self.fold(name) for name, new in self.infix.items()}
        folded = [self.fold(token) for token in self.tokens]
        self._edges: list[dict[str, tuple[int, int]]] = []
        self._offsets: list[list[int]] = []
        counts: list[int] = []
        lengths: list[int] = []
        depths: list[int] = []
        for number, pairs in enumerate(states):
            total = 0 if number else 1
            longest = deepest = 0
            edges: dict[str, tuple[int, int]] = {}
            offsets = []
            for token, target in zip(pairs[::2], pairs[1::2], strict=True):
                edges[folded[token]] = (target, total)
                offsets.append(total)
                total += counts[target]
                longest = max(longest, lengths[target] + len(self.tokens[token]) + 1)
                deepest = max(deepest, depths[target] + 1)
            self._edges.append(edges)
            self._offsets.append(offsets)
            counts.append(total)
            lengths.append(longest)
            depths.append(deepest)
        self._counts = counts
        self._most = depths[-1]
        self._start = len(states) - 1
        self.longest = 4 * lengths[-1] + 64
        """The most characters of a text; longer ones are rejected unread."""
        self._ranks: dict[int, int] | None = None
        self._table: dict[str, int] | None = None
        self._has_infix = False

    def __len__(self) -> int:
        return self._counts[-1]

    # -- index to text ----------------------------------------------------------------------

    def text(self, index: int, notation: str = "prefix") -> str:
        """Return the term with this index; `notation` is "prefix" or "infix"."""
        if not 0 <= index < len(self):
            raise IndexError(f"no term {index}: there are {len(self)}")
        if self.order is not None:
            if self._ranks is None:
                self._ranks = {place: rank for rank, place in enumerate(self.order)}
            index = self._ranks[index]
        return (self._infix_text if notation == "infix" else _prefix_text)(self._unrank(index))

    def texts(self) -> Iterator[str]:
        """Yield all terms in the order of their indexes, in prefix notation."""
        return map(self.text, range(len(self)))

    def _unrank(self, rank: int) -> list[str]:
        state = self._start
        tokens = []
        while state:
            edge = bisect_right(self._offsets[state], rank) - 1
            rank -= self._offsets[state][edge]
            pairs = self.states[state]
            tokens.append(self.tokens[pairs[2 * edge]])
            state = pairs[2 * edge + 1]
        return tokens

    def _infix_text(self, tokens: Sequence[str]) -> str:
        parts: list[str] = []
        opened = fresh = False
        for token in tokens:
            if token == "(":
                if not fresh and parts:
                    parts.append(", ")
                opened, fresh = True, True
            elif token == ")":
                parts.append(")")
                fresh = False
            else:
                if not fresh and parts:
                    parts.append(", ")
                parts.append(self.infix.get(self.fold(token), token))
                if opened:
                    parts.append("(")
                fresh, opened = opened, False
        return "".join(parts)

    # -- text to index ----------------------------------------------------------------------

    def find(self, text: str) -> int | None:
        """Return the index of the term that a text spells in either notation, or None."""
        if self._table is not None:
            index = self._table.get(text)
            if index is not None:
                return index
        if len(text) > self.longest:
            return None
        tokens = _TOKEN.findall(self.fold(text))
        rank, place, state = self.walk(tokens, 0, infix=len(tokens) > 1 and tokens[0] != "(")
        return self.index(rank) if not state and place == len(tokens) else None

    def find_many(self, texts: Iterable[str]) -> list[int | None]:
        """Return the index of each text, or None where it is no term of the set.

        The first call enters all terms in a hash table, the first one with infix texts their infix spellings.
        Texts that are not in it are looked up again after normalizing their white space, all at once;
        the rest is parsed one by one.
        """
        batch = texts if isinstance(texts, (list, tuple)) else list(texts)
        table = self._table
        if table is None:
            table = self._table = {}
            for number, spelled in enumerate(self.texts()):
                text = self.fold(spelled)
                table[text] = number
                if "(" in text[1:]:
                    table[_squeezed(text)] = number
        indexes: list[int | None] = list(map(table.get, batch))
        if None in indexes:
            longest = self.longest
            places = [n for n, index in enumerate(indexes) if index is None and len(batch[n]) <= longest]
            misses = [batch[n] for n in places]
            self._enter_infix(misses)
            squeezed = self._all_squeezed(misses)
            for n, index in enumerate(map(table.get, squeezed)):
                if index is None:
                    index = table.get(_flat_in_prefix(squeezed[n]))
                    if index is None:
                        index = self.find(misses[n])
                indexes[places[n]] = index
        return indexes

    def _all_squeezed(self, texts: list[str]) -> list[str]:
        joined = _SEPARATOR.join(texts)
        if joined.count(_SEPARATOR) != len(texts) - 1:  # a text contains the separator itself
            return texts
        return _squeezed(self.fold(joined)).split(_SEPARATOR)

    def _enter_infix(self, misses: Iterable[str]) -> None:
        """Add the infix spellings to the table, if texts have any and the table stays small enough."""
        table = self._table
        if table is None or self._has_infix or len(self) > _MOST_INFIX:
            return
        if not any("(" in text[1:] and text[0] != "(" for text in misses):
            return
        for index in range(len(self)):
            text = self.fold(self.text(index, "infix"))
            table.setdefault(text, index)
            table.setdefault(text.replace(", ", ","), index)
        self._has_infix = True

    def read(self, text: str) -> int:
        """Return the index of the term that a text spells; raise `MoveError` if there is none."""
        index = self.find(text)
        if index is None:
            raise self.refusal(text)
        return index

    def index(self, rank: int) -> int:
        """Return the index of the n-th term of the automaton."""
        return rank if self.order is None else self.order[rank]

    def walk(self, tokens: Sequence[str], place: int, *, infix: bool) -> tuple[int, int, int]:
        """Walk one term from a position in folded tokens.

        Returns its rank, the position after it and 0; or, where the tokens leave the set, an undefined rank,
        the position of the first wrong token and the state before it.
        """
        if infix:
            return self._walk_infix(tokens, place)
        edges = self._edges
        state = self._start
        rank = 0
        end = len(tokens)
        while state:
            if place >= end:
                break
            token = tokens[place]
            edge = None
            if token == "(" and place + 2 < end and tokens[place + 2] == ")":
                if tokens[place + 1] not in {"(", ")"}:
                    edge = edges[state].get(tokens[place + 1])  # `(noop)` is `noop`
                if edge is not None:
                    place += 2
            if edge is None:
                edge = edges[state].get(token)
                if edge is None:
                    break
            place += 1
            state = edge[0]
            rank += edge[1]
        return rank, place, state

    def _walk_infix(self, tokens: Sequence[str], place: int) -> tuple[int, int, int]:
        edges = self._edges
        state = self._start
        rank = 0
        end = len(tokens)
        after = False  # after a whole term, before a comma or parenthesis
        while state and place < end:
            token = tokens[place]
            if after:
                if token == ")":
                    edge = edges[state].get(")")
                    if edge is None:
                        break
                    place, state, rank = place + 1, edge[0], rank + edge[1]
                elif token == "," and edges[state].keys() != {")"}:
                    place += 1
                    after = False
                else:
                    break
                continue
            if token in {"(", ")", ","}:
                break
            if place + 1 < end and tokens[place + 1] == "(":
                opening = edges[state].get("(")
                if opening is None:
                    break
                edge = self._edge_by_name(opening[0], token)
                if edge is None:
                    break
                place, state, rank = place + 2, edge[0], rank + opening[1] + edge[1]
            else:
                edge = self._edge_by_name(state, token)
                if edge is None:
                    break
                place, state, rank = place + 1, edge[0], rank + edge[1]
                after = True
        return rank, place, state

    def _edge_by_name(self, state: int, token: str) -> tuple[int, int] | None:
        edges = self._edges[state]
        return edges.get(token) or edges.get(self._alias.get(token, token))

    # -- errors and completion ------------------------------------------------------------------

    def refusal(self, text: str, code: str = "E-MOVE-SYNTAX", what: str = "move") -> MoveError:
        """Return the error for a text that is not in the set."""
        if len(text) > self.longest:
            return self.error(
                f"{len(text)} characters are too long for a {what} (at most {self.longest})",
                "E-MOVE-LENGTH" if code == "E-MOVE-SYNTAX" else code,
                position=self.longest,
            )
        places = [match.span() for match in _TOKEN.finditer(text)]
        tokens = [self.fold(text[start:end]) for start, end in places]
        infix = len(tokens) > 1 and tokens[0] != "("
        _, place, state = self.walk(tokens, 0, infix=infix)
        position = places[place][0] if place < len(places) else len(text)
        token = text[slice(*places[place])] if place < len(places) else END_OF_TEXT
        expected = self._expected(state, tokens, place, infix=infix)
        nearest = self.nearest(text)
        return self.error(
            _message(what, text, position, token, expected, nearest),
            code,
            position=position,
            found=token,
            expected=expected,
            suggestion=nearest,
        )

    def _expected(self, state: int, tokens: Sequence[str], place: int, *, infix: bool) -> list[str]:
        if not state:
            return [END_OF_TEXT]
        if not infix:
            return list(self.completions(state))
        before = tokens[place - 1] if place else ""
        if before not in {"", "(", ","}:
            edges = self._edges[state]
            return ([","] if edges.keys() != {")"} else []) + ([")"] if ")" in edges else [])
        return [shown for _, _, shown in self._infix_next(state)]

    def completions(self, state: int) -> Iterator[str]:
        """Yield the tokens that may follow in a state."""
        return (self.tokens[token] for token in self.states[state][::2])

    def _infix_next(self, state: int) -> Iterator[tuple[int, int, str]]:
        """Yield the possible beginnings of a term in infix: first rank, number of terms, text."""
        pairs = self.states[state]
        for token, target, offset in zip(pairs[::2], pairs[1::2], self._offsets[state], strict=True):
            shown = self.tokens[token]
            if shown == "(":
                inner = self.states[target]
                for name, behind, more in zip(inner[::2], inner[1::2], self._offsets[target], strict=True):
                    spelled = self.infix.get(self.fold(self.tokens[name]), self.tokens[name])
                    yield offset + more, self._counts[behind], f"{spelled}("
            elif shown != ")":
                yield offset, self._counts[target], self.infix.get(self.fold(shown), shown)

    def complete(self, text: str, limit: int = 20) -> list[str]:
        """Return terms that begin with a text, at most `limit`, in the notation of the text.

        The last word may be incomplete; the empty text has all terms as completions.
        """
        if len(text) > self.longest:
            return []
        tokens = _TOKEN.findall(self.fold(text))
        ends_in_word = bool(tokens) and text[-1] not in _SPACE and tokens[-1] not in {"(", ")", ","}
        part = tokens.pop() if ends_in_word else ""
        infix = len(tokens) > 1 and tokens[0] != "("
        rank, place, state = self.walk(tokens, 0, infix=infix)
        if place < len(tokens) or not state:
            return [self.text(self.index(rank))] if not state and place == len(tokens) and not part else []
        if infix and tokens[-1] not in {"(", ","}:  # a comma or a parenthesis must follow
            ranges = [(rank, self._counts[state])] if not part else []
        elif infix:
            ranges = [(rank + a, n) for a, n, shown in self._infix_next(state) if self._begins(shown, part)]
        else:
            pairs = self.states[state]
            ranges = [
                (rank + offset, self._counts[target])
                for token, target, offset in zip(pairs[::2], pairs[1::2], self._offsets[state], strict=True)
                if self._begins(self.tokens[token], part)
            ]
            if not tokens and part:  # a single word may be the beginning of either notation
                inner = [(a, n) for a, n, shown in self._infix_next(state) if self._begins(shown, part)]
                infix = not ranges and bool(inner)
                ranges = ranges or inner
        terms: list[str] = []
        for first, count in ranges:
            ranks = range(first, first + min(count, limit - len(terms)))
            terms += [self.text(self.index(r), "infix" if infix else "prefix") for r in ranks]
        return terms

    def _begins(self, shown: str, part: str) -> bool:
        return self.fold(shown).startswith(part)

    def nearest(self, text: str) -> str | None:
        """Return the term nearest to a text by edit distance, or None when all are too different.

        A beam search over the tokens of the text, with prefixes of terms as states.
        """
        if len(text) > self.longest or not len(self):
            return None
        tokens = _as_prefix(_TOKEN.findall(self.fold(text)))
        if len(tokens) > self._most + 4:
            return None
        infix = "(" in text and not text.lstrip(_SPACE).startswith("(")
        costs: dict[tuple[str, str], float] = {}
        beam: dict[tuple[int, int], float] = {(self._start, 0): 0.0}
        for token in tokens:
            following: dict[tuple[int, int], float] = {}
            for (state, rank), cost in self._with_insertions(beam).items():
                _keep(following, (state, rank), cost + 1.0)
                exact = self._edges[state].get(token)
                if exact is not None:
                    _keep(following, (exact[0], rank + exact[1]), cost)
                    continue
                for name, (target, offset) in self._likely(state, token):
                    difference = costs.get((token, name))
                    if difference is None:
                        difference = costs[token, name] = _difference(token, name)
                    _keep(following, (target, rank + offset), cost + difference)
            beam = dict(sorted(following.items(), key=lambda item: (item[1], item[0][1]))[:_BEAM])
        ends = {(0, rank): cost for (state, rank), cost in beam.items() if not state}
        for _ in range(3):
            beam = self._with_insertions(beam)
            for (state, rank), cost in beam.items():
                if not state:
                    _keep(ends, (0, rank), cost)
        if not ends:
            return None
        (_, rank), cost = min(ends.items(), key=lambda item: (item[1], item[0][1]))
        if cost > max(1.0, 0.5 * len(tokens)):
            return None
        return self.text(self.index(rank), "infix" if infix else "prefix")

    def _with_insertions(self, beam: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        extended = dict(beam)
        for (state, rank), cost in beam.items():
            for target, offset in list(self._edges[state].values())[:_SHOWN]:
                _keep(extended, (target, rank + offset), cost + 1.0)
        return dict(sorted(extended.items(), key=lambda item: (item[1], item[0][1]))[: 2 * _BEAM])

    def _likely(self, state: int, token: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the edges with the most similar tokens; all of them if there are few."""
        edges = self._edges[state]
        if len(edges) <= 4 * _SHOWN:
            return list(edges.items())
        near = [item for item in edges.items() if item[0][:1] == token[:1]] or list(edges.items())
        return near[: 4 * _SHOWN]

    def fold(self, text: str) -> str:
        """Return a text normalized for comparison: lower case unless the rules are case-sensitive, in NFC."""
        return _composed(text.lower() if self._folds else text)


def _composed(text: str) -> str:
    """Return a text with accented letters as single characters (NFC)."""
    return text if text.isascii() else normalize("NFC", text)


class ClosedReader:
    """Parses the messages of players and managers of one game, and accepts nothing else.

    `moves`, `percepts` and `base` are sets of terms: the moves of each role, the percepts of each role
    in a game with hidden information, and the fluents.
    """

    error: type[MoveError] = MoveError

    def __init__(
        self,
        roles: Sequence[str],
        moves: Sequence[Terms],
        *,
        percepts: Sequence[Terms] | None = None,
        base: Terms | None = None,
    ) -> None:
        self.roles = tuple(roles)
        self._moves = tuple(moves)
        self._percepts = percepts
        self._base = base
        self._folded = tuple(self.fold(role) for role in self.roles)
        self._numbers = {role: number for number, role in enumerate(self._folded)}

    def terms(self, role: str) -> Terms:
        """Return the moves of a role as a set of terms; `ValueError` if there is no such role."""
        number = self._numbers.get(self.fold(role))
        if number is None:
            raise ValueError(f"no role `{role}` (roles: {', '.join(self.roles)})")
        return self._moves[number]

    def percept_terms(self, role: str) -> Terms | None:
        """Return the percepts of a role as a set of terms; None where there is no `sees`."""
        self.terms(role)
        return None if self._percepts is None else self._percepts[self._numbers[self.fold(role)]]

    def fluent_terms(self) -> Terms | None:
        """Return the fluents as a set of terms; None where they are unknown."""
        return self._base

    def count(self, role: str) -> int:
        """Return the number of moves of a role."""
        return len(self.terms(role))

    def text(self, role: str, index: int, notation: str = "prefix") -> str:
        """Return the canonical text of a move; `notation` is "prefix" or "infix"."""
        return self.terms(role).text(index, notation)

    def find(self, role: str, text: str) -> int | None:
        """Return the index of a move, spelled `(mark 1 1)`, `mark(1, 1)` or `role -> move`, or None."""
        terms = self.terms(role)
        index = terms.find(text)
        if index is None:
            move = self._after_arrow(role, text)
            index = None if move is None else terms.find(move)
        return index

    def find_many(self, role: str, texts: Iterable[str]) -> list[int | None]:
        """Return the index of each move, or None; faster than `find` for many."""
        batch = list(texts)
        indexes = self.terms(role).find_many(batch)
        if None in indexes:
            for place, index in enumerate(indexes):
                if index is None and "->" in batch[place]:
                    indexes[place] = self.find(role, batch[place])
        return indexes

    def index(self, role: str, text: str) -> int:
        """Return the index of a move; raise `MoveError` for other texts."""
        index = self.find(role, text)
        if index is None:
            raise self.refusal(role, text)
        return index

    def refusal(self, role: str, text: str) -> MoveError:
        """Return the error for a text that is not a move of a role."""
        terms = self.terms(role)
        move = self._after_arrow(role, text)
        if move is not None:
            error = terms.refusal(move)
            error.position += len(text) - len(move)
            return error
        if len(text) <= terms.longest + max(map(len, self.roles)):
            for other in self.roles:
                if self._after_arrow(other, text) is not None:
                    return self.error(
                        f"`{_short(text)}` is a move of {other}, not of {role}",
                        "E-MOVE-ROLE",
                        position=len(text) - len(text.lstrip(_SPACE)),
                        found=other,
                        expected=(role,),
                    )
        return terms.refusal(text)

    def complete(self, role: str, text: str, limit: int = 20) -> list[str]:
        """Return moves that begin with a text, at most `limit`, in the notation of the text."""
        move = self._after_arrow(role, text)
        return self.terms(role).complete(text if move is None else move.lstrip(_SPACE), limit)

    def _after_arrow(self, role: str, text: str) -> str | None:
        """Return the text after the prefix `role ->`, or None without this prefix."""
        if len(text) > self.terms(role).longest + len(role) + len(_SPACE):
            return None
        rest = text.lstrip(_SPACE)
        if self.fold(rest[: len(role)]) != self.fold(role):
            return None
        rest = rest[len(role) :].lstrip(_SPACE)
        return rest[2:] if rest.startswith("->") else None

    # -- messages of managers --------------------------------------------------------------

    def joint(self, text: str) -> tuple[int, ...] | None:
        """Read a joint move, `(m1 ... mk)` or `(m1, ..., mk)` in role order, as indexes; None for `nil`."""
        items = self._list(text, self._moves, "joint move")
        return None if items is None else tuple(items)

    def does(self, text: str) -> tuple[int, ...]:
        """Read a joint move in the form of facts: `(does r m)`, `does(r, m)` or `r -> m`, each role once."""
        what = "joint move"
        self._bound(text, sum(terms.longest + len(role) + 16 for terms, role in self._each()), what)
        tokens = _TOKEN.findall(self.fold(text).replace("->", " -> "))
        place, indexes = 0, []
        for terms, role in self._each():
            name = _TOKEN.findall(self.fold(role))
            if tokens[place : place + 2 + len(name)] == ["(", "does", *name]:
                rank, place, state = terms.walk(tokens, place + 2 + len(name), infix=False)
                closing = [")"]
            elif tokens[place : place + 3 + len(name)] == ["does", "(", *name, ","]:
                rank, place, state = self._either(terms, tokens, place + 3 + len(name))
                closing = [")"]
            elif tokens[place : place + 1 + len(name)] == [*name, "->"]:
                rank, place, state = self._either(terms, tokens, place + 1 + len(name))
                closing = []
            else:
                raise self._bad(text, tokens, place, what, [f"(does {role} ...)", f"{role} -> ..."])
            if state or tokens[place : place + len(closing)] != closing:
                raise self._bad(text, tokens, place, what, closing if not state else [f"a move of {role}"])
            place += len(closing)
            indexes.append(terms.index(rank))
        if place < len(tokens):
            raise self._bad(text, tokens, place, what, [END_OF_TEXT])
        return tuple(indexes)

    def percepts(self, role: str, text: str) -> tuple[int, ...]:
        """Read the percepts of a role, `(p1 ... pn)`, `()` or `nil`, as sorted indexes."""
        terms = self.percept_terms(role)
        if terms is None:
            raise self.error("the game has no percepts", "E-UPDATE-SYNTAX")
        return tuple(sorted(set(self._list(text, terms, "list of percepts") or ())))

    def percept(self, role: str, index: int) -> str:
        """Return the text of a percept."""
        terms = self.percept_terms(role)
        if terms is None:
            raise IndexError("this game has no percepts")
        return terms.text(index)

    def state(self, text: str) -> tuple[int, ...]:
        """Read a state, `(f1 f2 ...)` or `(true f1) (true f2) ...`, as sorted indexes of fluents."""
        base = self.fluent_terms()
        if base is None:
            raise self.error("the reader has no fluents", "E-UPDATE-SYNTAX")
        tokens = _TOKEN.findall(self.fold(text)) if len(text) <= (len(base) + 1) * base.longest else []
        if tokens[:2] != ["(", "true"]:
            return tuple(sorted(set(self._list(text, base, "state") or ())))
        place, indexes = 0, set()
        while place < len(tokens):
            if tokens[place : place + 2] != ["(", "true"]:
                raise self._bad(text, tokens, place, "state", ["(true ...)"])
            rank, place, state = base.walk(tokens, place + 2, infix=False)
            if state or tokens[place : place + 1] != [")"]:
                raise self._bad(text, tokens, place, "state", ["a fluent"] if state else [")"])
            place += 1
            indexes.add(base.index(rank))
        return tuple(sorted(indexes))

    def fluent(self, index: int) -> str:
        """Return the text of a fluent."""
        base = self.fluent_terms()
        if base is None:
            raise IndexError("the reader has no fluents")
        return base.text(index)

    def _each(self) -> Iterator[tuple[Terms, str]]:
        return zip(self._moves, self.roles, strict=True)

    def _either(self, terms: Terms, tokens: Sequence[str], place: int) -> tuple[int, int, int]:
        infix = place + 1 < len(tokens) and tokens[place] != "(" and tokens[place + 1] == "("
        return terms.walk(tokens, place, infix=infix)

    def _list(self, text: str, items: Sequence[Terms] | Terms, what: str) -> list[int] | None:
        """Read a list of terms: one of each set in order, or any number of one set."""
        if isinstance(items, Terms):
            self._bound(text, (len(items) + 1) * items.longest, what)
        else:
            self._bound(text, 64 + sum(terms.longest for terms in items), what)
        tokens = _TOKEN.findall(self.fold(text))
        if tokens == ["nil"]:
            return None
        indexes, place, expected = self._items(tokens, items, infix=False)
        if indexes is None:
            indexes, further, alternatives = self._items(tokens, items, infix=True)
            place, expected = (further, alternatives) if further > place else (place, expected)
        if indexes is None:
            raise self._bad(text, tokens, place, what, expected)
        return indexes

    def _items(
        self, tokens: Sequence[str], items: Sequence[Terms] | Terms, *, infix: bool
    ) -> tuple[list[int] | None, int, list[str]]:
        if tokens[:1] != ["("]:
            return None, 0, ["(", "nil"]
        place = 1
        indexes: list[int] = []
        many = isinstance(items, Terms)
        while tokens[place : place + 1] != [")"] if many else len(indexes) < len(items):
            if infix and indexes:
                if tokens[place : place + 1] != [","]:
                    return None, place, [","]
                place += 1
            terms = items if isinstance(items, Terms) else items[len(indexes)]
            started = place
            rank, place, state = terms.walk(tokens, place, infix=infix)
            if state:
                wanted = "a term" if many else f"a move of {self.roles[len(indexes)]}"
                return None, place, [wanted] if place == started else [wanted, *terms.completions(state)]
            indexes.append(terms.index(rank))
        if tokens[place : place + 1] != [")"]:
            return None, place, [")"]
        if place + 1 < len(tokens):
            return None, place + 1, [END_OF_TEXT]
        return indexes, place + 1, []

    def _bound(self, text: str, longest: int, what: str) -> None:
        if len(text) > longest:
            raise self.error(
                f"{len(text)} characters are too long for a {what} (at most {longest})",
                "E-UPDATE-SYNTAX",
                position=longest,
            )

    def _bad(
        self, text: str, tokens: Sequence[str], place: int, what: str, expected: Sequence[str]
    ) -> MoveError:
        places = [m.start() for m in re.finditer(r"[(),]|->|(?:(?!->)[^ \t\n\r\f\v(),])+", text)]
        if len(places) != len(tokens):
            places = [m.start() for m in _TOKEN.finditer(text)]
        position = places[place] if place < len(places) else len(text)
        token = tokens[place] if place < len(tokens) else END_OF_TEXT
        return self.error(
            _message(what, text, position, token, expected, None),
            "E-UPDATE-SYNTAX",
            position=position,
            found=token,
            expected=expected,
        )

    def fold(self, text: str) -> str:
        """Return a text normalized for comparison: lower case unless the rules are case-sensitive, in NFC."""
        return self._moves[0].fold(text) if self._moves else _composed(text.lower())


def _prefix_text(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace("( ", "(").replace(" )", ")")


def _squeezed(text: str) -> str:
    """Return a text, or texts between separators, without white space except one blank between names.

    Two texts become equal only if their tokens are equal.
    """
    for sign in _SPACE[1:]:
        if sign in text:
            text = text.replace(sign, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    for sign in f"(),{_SEPARATOR}":
        text = text.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    return text.strip(" ")


def _flat_in_prefix(squeezed: str) -> str:
    """Return `mark(1,1)` in prefix notation, `(mark 1 1)`; "" for texts of another form."""
    name, sign, rest = squeezed.partition("(")
    if not (name and sign) or " " in rest or not rest.endswith(")"):
        return ""
    return f"({name} {rest[:-1].replace(',', ' ')})"


def _as_prefix(tokens: Sequence[str]) -> list[str]:
    """Return tokens of either notation in prefix order, also for malformed texts."""
    prefix: list[str] = []
    infix = bool(tokens) and tokens[0] != "("
    for place, token in enumerate(tokens):
        if token == "," or (infix and token == "("):
            continue
        if infix and tokens[place + 1 : place + 2] == ["("] and token != ")":
            prefix.append("(")
        prefix.append(token)
    return prefix


def _keep(costs: dict[tuple[int, int], float], key: tuple[int, int], cost: float) -> None:
    if cost < costs.get(key, cost + 1.0):
        costs[key] = cost


def _difference(left: str, right: str) -> float:
    """Return the edit distance of two tokens, relative to the longer one, at most 1."""
    left, right = left[:12], right[:12]
    if "(" in (left, right) or ")" in (left, right):
        return 1.0
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return min(1.0, row[-1] / max(len(left), len(right), 1))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _message(
    what: str, text: str, position: int, token: str, expected: Sequence[str], nearest: str | None
) -> str:
    actual = token if token == END_OF_TEXT else f"`{_short(token)}`"
    names = [name if name == END_OF_TEXT or " " in name else f"`{name}`" for name in expected[:_SHOWN]]
    more = f" and {len(expected) - _SHOWN} more" if len(expected) > _SHOWN else ""
    expectation = f"; expected {', '.join(names)}{more}" if names else ""
    hint = f"; did you mean `{nearest}`?" if nearest is not None else ""
    return (
        f"`{_short(text)}` is not a possible {what}: {actual} at character {position + 1}{expectation}{hint}"
    )

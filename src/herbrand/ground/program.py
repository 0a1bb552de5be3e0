"""`GroundProgram`: rules without variables over numbered atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from herbrand.rules.terms import TermTable

__all__ = ["GroundProgram"]


@dataclass(frozen=True, slots=True)
class GroundProgram:
    """The ground rules of a game.

    Atoms are numbered from 1.  Rule `i` derives atom `head[i]` from the literals
    `body[start[i]:start[i + 1]]`: an atom's number if it must hold, the negated number if it must not.
    Facts have been evaluated away.  `true` and `does` atoms are inputs: no rule derives them.

    `named` has for each relation an array of rows (atom number, argument terms...), whose terms are numbers
    of `terms`.  Atom number 0 means that the atom always holds.
    """

    terms: TermTable
    head: NDArray[np.int32]
    start: NDArray[np.int64]
    body: NDArray[np.int32]
    atoms: int
    named: dict[str, NDArray[np.int64]]
    seconds: float = 0.0
    """Wall-clock seconds that grounding took."""

    @property
    def rules(self) -> int:
        """The number of rules."""
        return len(self.head)

    def arguments(self, relation: str) -> list[list[int]]:
        """Return the arguments of the named atoms of a relation."""
        return self.named[relation][:, 1:].tolist() if relation in self.named else []

    def statistics(self) -> dict[str, int | float]:
        """Return sizes: atoms, rules, literals, and named atoms by relation."""
        return {
            "atoms": self.atoms,
            "rules": self.rules,
            "literals": len(self.body),
            **{name: len(rows) for name, rows in sorted(self.named.items())},
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        """Return the rules as text, named atoms by their GDL names, the others as `_12`."""
        names: dict[int, str] = {}
        lines: list[str] = []
        for relation, rows in self.named.items():
            for atom, *args in rows.tolist():
                text = f"({' '.join([relation, *map(self.terms.text, args)])})" if args else relation
                if atom == 0:
                    lines.append(text)
                else:
                    names.setdefault(atom, text)
        for i, head in enumerate(self.head.tolist()):
            parts = [names.get(head, f"_{head}")]
            for literal in self.body[self.start[i] : self.start[i + 1]].tolist():
                name = names.get(abs(literal), f"_{abs(literal)}")
                parts.append(name if literal > 0 else f"(not {name})")
            lines.append(f"(<= {' '.join(parts)})" if len(parts) > 1 else parts[0])
        return "\n".join(lines)

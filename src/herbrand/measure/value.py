"""`Measure` and `Measures`: numbers about a game, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Measure", "Measures"]

_NORMAL_95: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about a game, or the reason why there is none."""

    name: str
    value: float | None
    """None if the measure does not apply or was not taken; `note` has the reason."""
    error: float | None = None
    """Standard error; 0 for an exact value, None without a value."""
    method: str = ""
    """"rules", "random play", "search play", "comparison" or "proof"."""
    samples: int = 0
    """Number of games, or pairs of games, for a mean; else 0."""
    unit: str = ""
    """The unit of a count; empty for a share from 0 to 1."""
    note: str = ""
    """The reason for a missing value, or a remark."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval by the normal approximation, clipped to possible values."""
        if self.value is None or self.error is None:
            return None
        half = _NORMAL_95 * self.error
        high = self.value + half if self.unit else min(1.0, self.value + half)
        return max(0.0, self.value - half), high

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "value": self.value,
            "standard_error": self.error,
            "interval_95": self.interval,
            "method": self.method,
            "samples": self.samples,
            "unit": self.unit or None,
            "note": self.note or None,
        }

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        number = f"{self.value:.2f}"
        return number if not self.error else f"{number} ± {_NORMAL_95 * self.error:.2f}"


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of one game by name, in the order of the catalogue; prints as a table."""

    game: str
    effort: str
    """The name of the effort: "cheap", "full", ..."""
    seed: int
    by_name: Mapping[str, Measure]
    notes: tuple[str, ...] = ()
    """Remarks on all measures."""
    seconds: float = field(default=0.0, compare=False)
    """Processor time of the calling thread, without child processes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", MappingProxyType(dict(self.by_name)))

    def __getitem__(self, name: str) -> Measure:
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __hash__(self) -> int:
        return hash((self.game, self.effort, self.seed))

    def __reduce__(self) -> tuple[object, ...]:
        return Measures, (self.game, self.effort, self.seed, dict(self.by_name), self.notes, self.seconds)

    @property
    def values(self) -> dict[str, float]:
        """The values that are not missing, by name."""
        return {measure.name: measure.value for measure in self if measure.value is not None}

    def value(self, name: str, default: float = 0.0) -> float:
        """Return the value of a measure, or `default` if it is missing or was not requested."""
        measure = self.by_name.get(name)
        return default if measure is None or measure.value is None else measure.value

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; no number is NaN."""
        return {
            "game": self.game,
            "effort": self.effort,
            "seed": self.seed,
            "notes": list(self.notes),
            "measures": {name: measure.as_json() for name, measure in self.by_name.items()},
            "seconds": self.seconds,
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return name, value, method and note of each measure that has a value, as text."""
        rows = []
        for measure in self:
            if measure.value is not None:
                unit = f" {measure.unit}" if measure.unit else ""
                how = f"{measure.method}, {measure.samples}" if measure.samples else measure.method
                rows.append((measure.name, f"{measure}{unit}", how, measure.note))
        return rows

    def remarks(self) -> list[str]:
        """Return the reasons for missing values, each once, and the notes."""
        reasons: dict[str, list[str]] = {}
        for measure in self:
            if measure.value is None:
                reasons.setdefault(measure.note, []).append(measure.name)
        lines = []
        for reason, names in reasons.items():
            method = self.by_name[names[0]].method
            is_whole_group = len(names) > 1 and names == [one.name for one in self if one.method == method]
            lines.append(
                f"nothing from {method}: {reason}" if is_whole_group else f"no {', '.join(names)}: {reason}"
            )
        return [*lines, *self.notes]

    def __str__(self) -> str:
        rows: Sequence[tuple[str, ...]] = [("measure", "value", "from", ""), *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [
            "  ".join((*(f"{cell:{w}}" for cell, w in zip(row, widths, strict=False)), row[3])).rstrip()
            for row in rows
        ]
        return "\n".join([*(lines if len(rows) > 1 else []), *self.remarks()])

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        from herbrand.runtime.notebook import block, table

        rows = table(self.rows(), ("measure", "value", "from", ""), numbers=(1,))
        return block(self.game, rows, *self.remarks(), note=f"effort: {self.effort}, seed {self.seed}")

"""Variation: new games from one or two others, reproducible from a seed.

| function                    | works on                                                                  |
|-----------------------------|---------------------------------------------------------------------------|
| `mutate`, `cross`           | designs: a field of a block varied, blocks of two designs combined        |
| `mutate_rules`, `cross_rules` | rules of any rulesheet: literals, constants and rules, by their types   |

Whatever is no game is thrown away at once, with the reason, and another attempt is made; `Variant` has the
reasons beside the result, and a `Lineage` that says how the result came to be.
"""

from __future__ import annotations

from herbrand.evolve.variation.blockwise import cross, mutate
from herbrand.evolve.variation.lineage import Lineage, Variant
from herbrand.evolve.variation.rulewise import cross_rules, mutate_rules

__all__ = ["Lineage", "Variant", "cross", "cross_rules", "mutate", "mutate_rules"]

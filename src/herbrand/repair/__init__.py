"""Repair a game: the smallest edit after which it terminates, is playable, can be won, and is well formed.

The problem of minimal repairs was stated at KR 2025 (arXiv 2508.10438), with answer set programming as the
method; the edits here are more, and the search is another one.

| module         | what it gives                                                                      |
|----------------|------------------------------------------------------------------------------------|
| `edits`        | every edit of one statement, and rules that may be missing                         |
| `naturalness`  | how likely an author meant it                                                      |
| `superposed`   | one network that plays random games of hundreds of edited versions                 |
| `recorded`     | plays that the repaired game must have                                             |
| `injuries`     | the mistakes of authors, for tests                                                 |
| `search`       | `repair`: the first edit whose properties are proved                               |
| `written`      | the edit as a change of the text                                                   |

Imports `verify`, `analyse` and the packages below them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.repair.edits import RuleEdit as RuleEdit
    from herbrand.repair.edits import rule_edits as rule_edits
    from herbrand.repair.recorded import plays_recorded as plays_recorded
    from herbrand.repair.search import PROPERTIES as PROPERTIES
    from herbrand.repair.search import SENTENCES as SENTENCES
    from herbrand.repair.search import Repair as Repair
    from herbrand.repair.search import RepairSearch as RepairSearch
    from herbrand.repair.search import properties_of as properties_of
    from herbrand.repair.search import repair as repair
    from herbrand.repair.written import edited_text as edited_text
    from herbrand.repair.written import text_edits as text_edits

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "edits": ("RuleEdit", "rule_edits"),
        "recorded": ("plays_recorded",),
        "search": ("PROPERTIES", "SENTENCES", "Repair", "RepairSearch", "properties_of", "repair"),
        "written": ("edited_text", "text_edits"),
    },
)

"""Games for people without herbrand: as a module in TypeScript, and as one page that plays anywhere.

| module     | what it gives                                                                        |
|------------|--------------------------------------------------------------------------------------|
| `tables`   | the network of a game as data                                                        |
| `picture`  | how its states are drawn, as data                                                    |
| `module`   | both with the runtime, as TypeScript or JavaScript                                   |
| `solution` | the values of its states, or strategies, as data                                      |
| `page`     | a page of HTML with the board to click and players of several strengths              |
| `gallery`  | folders of such pages, with pictures                                                 |

The programs are in `templates/`: TypeScript in which types stand between ‹ and ›, so that removing them
leaves JavaScript.  Imports `game`, `draw` and the packages below them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.publish.gallery import sample_picture as sample_picture
    from herbrand.publish.gallery import write_gallery as write_gallery
    from herbrand.publish.module import game_module as game_module
    from herbrand.publish.module import javascript as javascript
    from herbrand.publish.module import typescript as typescript
    from herbrand.publish.page import game_page as game_page
    from herbrand.publish.solution import PublishedSolution as PublishedSolution
    from herbrand.publish.solution import published_solution as published_solution

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "module": ("game_module", "javascript", "typescript"),
        "page": ("game_page",),
        "solution": ("PublishedSolution", "published_solution"),
        "gallery": ("sample_picture", "write_gallery"),
    },
)

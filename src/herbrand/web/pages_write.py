"""The editor page."""

from __future__ import annotations

from typing import Final

from herbrand.web.markup import Markup, tag
from herbrand.web.pages import frame, hidden_token

__all__ = ["EMPTY", "write_page"]

EMPTY: Final = """\
;; A game for one player: press the button until the lamp is lit.
(role player)

(init (pressed 0))
(succ 0 1) (succ 1 2) (succ 2 3)

(legal player press)

(<= (next (pressed ?n))
    (true (pressed ?m))
    (does player press)
    (succ ?m ?n))

(<= terminal (true (pressed 3)))
(goal player 100)
"""
"""The initial text of the editor: a complete game."""


def write_page(text: str, notation: str, title: str, *, token: str) -> Markup:
    """Show the editor with diagnostics, preview, explanations and relations."""
    notations = ("auto", "prefix", "infix", "prolog", "ggdl")
    return frame(
        f"{title}: rules",
        tag(
            "form",
            hidden_token(token),
            tag(
                "div",
                tag("label", "Name of the game", for_="title", class_="away"),
                tag(
                    "input",
                    id="title",
                    name="title",
                    value=title,
                    class_="title",
                    maxlength="80",
                    autocomplete="off",
                ),
                tag("label", "Notation", for_="notation", class_="away"),
                tag(
                    "select",
                    *[tag("option", n, value=n, selected=n == notation) for n in notations],
                    id="notation",
                    name="notation",
                    title="Notation of the text",
                ),
                tag("button", "Play", class_="button primary", formaction="/edit/play", id="play"),
                tag("button", "Format", type="button", class_="quiet script", id="format"),
                tag("label", "Convert to", for_="to", class_="away"),
                tag(
                    "select",
                    tag("option", "convert to…", value=""),
                    *[tag("option", n, value=n) for n in notations[1:4]],
                    id="to",
                    class_="script",
                ),
                tag("button", "Download", class_="quiet", formaction="/edit/download"),
                tag("button", "Check", class_="quiet noscript", formaction="/edit"),
                tag("span", "", id="verdict", class_="verdict", role="status", aria_live="polite"),
                class_="row toolbar",
            ),
            tag(
                "div",
                tag(
                    "div",
                    tag("pre", "", id="gutter", class_="gutter", aria_hidden="true"),
                    tag(
                        "div",
                        tag("pre", "", id="backdrop", aria_hidden="true"),
                        tag(
                            "textarea",
                            text,
                            id="text",
                            name="text",
                            spellcheck="false",
                            autocapitalize="off",
                            autocomplete="off",
                            wrap="off",
                            aria_label="Rules",
                            aria_describedby="verdict",
                        ),
                        class_="paper",
                    ),
                    class_="editor",
                ),
                tag(
                    "aside",
                    tag(
                        "div",
                        *[
                            tag(
                                "button",
                                label,
                                type="button",
                                role="tab",
                                id=f"tab-{name}",
                                aria_controls=f"panel-{name}",
                                aria_selected="true" if name == "findings" else "false",
                                data_tab=name,
                            )
                            for name, label in _TABS
                        ],
                        role="tablist",
                        class_="tabs",
                    ),
                    tag(
                        "section",
                        tag("ol", id="findings", class_="findings"),
                        role="tabpanel",
                        id="panel-findings",
                        aria_labelledby="tab-findings",
                    ),
                    tag(
                        "section",
                        tag("div", id="preview", class_="board small-board"),
                        tag("p", "", id="preview-said", class_="muted"),
                        tag(
                            "div",
                            tag("button", "Start again", type="button", class_="quiet", id="again"),
                            class_="row",
                        ),
                        tag("div", id="preview-moves", class_="moves"),
                        role="tabpanel",
                        id="panel-game",
                        aria_labelledby="tab-game",
                        hidden=True,
                    ),
                    tag(
                        "section",
                        tag("label", "Why does this fact hold, or not?", for_="atom"),
                        tag(
                            "div",
                            tag("input", id="atom", placeholder="(legal player press)", autocomplete="off"),
                            tag("button", "Explain", type="button", class_="quiet", id="explain"),
                            class_="row",
                        ),
                        tag("pre", "", id="why", class_="why", role="status"),
                        role="tabpanel",
                        id="panel-why",
                        aria_labelledby="tab-why",
                        hidden=True,
                    ),
                    tag(
                        "section",
                        tag(
                            "p",
                            "Each relation is drawn above the relations it depends on; dashed red lines are "
                            "dependencies under “not”. Click a relation to see only its dependencies.",
                            class_="muted",
                        ),
                        tag("div", id="drawn", class_="scroll drawn"),
                        tag("table", tag("tbody", id="relations"), class_="relations"),
                        role="tabpanel",
                        id="panel-relations",
                        aria_labelledby="tab-relations",
                        hidden=True,
                    ),
                    class_="side script",
                ),
                class_="desk",
            ),
            method="post",
            action="/edit",
            id="edit",
        ),
        here="write",
        wide=True,
        token=token,
    )


_TABS: Final = (("findings", "Problems"), ("game", "Game"), ("why", "Why"), ("relations", "Relations"))

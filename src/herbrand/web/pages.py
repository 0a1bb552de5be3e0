"""The frame of every page, the library, the page of a game, and error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.web.markup import Child, Markup, join, raw, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.web.library import LibraryEntry

__all__ = ["frame", "game_page", "hidden_token", "library_page", "problem"]

PERSON: Final = "you"
CLOCKS: Final = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
FIRST_CHOICE: Final = ("mcts", "montecarlo", "random")
"""Default opponents in order of preference."""


def frame(title: str, *body: Child, here: str = "", wide: bool = False, token: str = "") -> Markup:
    """Return a complete page around its content."""
    links = [
        ("library", "/", "Library"),
        ("write", "/edit", "Write"),
        ("records", "/records", "Records"),
        ("help", "/help", "Help"),
    ]
    nav = [
        tag("a", label, href=address, aria_current="page" if here == name else None)
        for name, address, label in links
    ]
    return join(
        [
            raw("<!doctype html>"),
            tag(
                "html",
                tag(
                    "head",
                    tag("meta", charset="utf-8"),
                    tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                    tag("meta", name="color-scheme", content="light dark"),
                    tag("meta", name="herbrand-token", content=token) if token else None,
                    tag("title", f"{title} · herbrand"),
                    tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
                    tag("link", rel="stylesheet", href="/static/board.css"),
                    tag("link", rel="stylesheet", href="/static/app.css"),
                    tag("script", src="/static/app.js", defer=True),
                ),
                tag(
                    "body",
                    tag("a", "Skip to the content", href="#main", class_="skip"),
                    tag(
                        "header",
                        tag(
                            "a",
                            tag("span", "∴", aria_hidden="true", class_="sign"),
                            "herbrand",
                            href="/",
                            class_="brand",
                        ),
                        tag("nav", *nav, aria_label="Pages"),
                        class_="top",
                    ),
                    tag("main", *body, id="main", class_="wide" if wide else None),
                ),
                lang="en",
            ),
        ]
    )


def hidden_token(token: str) -> Markup:
    """Return the form field that protects against forged requests."""
    return tag("input", type="hidden", name="token", value=token)


def problem(status: int, message: str, help_: Child = None, *, details: str = "") -> Markup:
    """Return an error page with advice."""
    titles = {
        400: "Bad request",
        403: "Not allowed",
        404: "Not found",
        413: "Too large",
        421: "Unknown host",
    }
    title = titles.get(status, "Something went wrong")
    return frame(
        title,
        tag(
            "section",
            tag("p", str(status), class_="status", aria_hidden="true"),
            tag("h1", title),
            tag("p", message, class_="lead"),
            tag("p", help_) if help_ else None,
            tag("pre", details, class_="details") if details else None,
            tag("p", tag("a", "Back to the library", href="/", class_="button")),
            class_="problem",
        ),
    )


# -- library ----------------------------------------------------------------------------------


def library_page(entries: Sequence[LibraryEntry], *, query: str, feature: str, token: str) -> Markup:
    """Show the games that match a search, which works without the script, too."""
    counts: dict[str, int] = {}
    for entry in entries:
        for word in entry.features:
            counts[word] = counts.get(word, 0) + 1
    common = sorted((word for word in counts if counts[word] > 1), key=lambda word: (-counts[word], word))[
        :12
    ]
    shown = [entry for entry in entries if _matches(entry, query, feature)]
    chips = [_chip("all", "", feature, query), *(_chip(word, word, feature, query) for word in common)]
    return frame(
        "Games",
        tag(
            "section",
            tag("h1", "Which game?"),
            tag(
                "p",
                "Each game is defined by its rules alone. Play one against the computer, watch programs "
                "play it, or open its rules and change them.",
                class_="lead",
            ),
            tag(
                "form",
                tag("label", "Search the games", for_="query", class_="away"),
                tag(
                    "input",
                    type="search",
                    id="query",
                    name="q",
                    value=query,
                    placeholder="Search by name, role or feature",
                    autocomplete="off",
                ),
                tag("button", "Search", class_="quiet"),
                action="/",
                method="get",
                role="search",
                class_="search",
            ),
            tag("div", *chips, class_="chips", role="group", aria_label="Features"),
            class_="hero",
        ),
        tag("p", _amount(len(shown)), id="amount", class_="muted", role="status"),
        tag("ul", *map(_card, shown), class_="cards", id="cards"),
        tag(
            "p",
            "No matching games. ",
            tag("a", "Show all", href="/"),
            class_="muted",
            id="nothing",
            hidden=bool(shown),
        ),
        tag(
            "section",
            tag("h2", "Your own rules"),
            tag(
                "p",
                "Open a rulesheet from your disk (.kif, .gdl, .hrf, .pl or .ggd), or start with an example.",
            ),
            tag(
                "form",
                hidden_token(token),
                tag("label", "Rulesheet", for_="file", class_="away"),
                tag(
                    "input",
                    type="file",
                    id="file",
                    name="file",
                    accept=".kif,.gdl,.hrf,.pl,.ggd,.txt",
                    required=True,
                ),
                tag("button", "Open", class_="button"),
                tag("a", "New game", href="/edit", class_="button quiet"),
                action="/upload",
                method="post",
                enctype="multipart/form-data",
                class_="row",
            ),
            class_="own",
        ),
        here="library",
        token=token,
    )


def _matches(entry: LibraryEntry, query: str, feature: str) -> bool:
    text = _search_text(entry)
    return all(word in text for word in query.lower().split()) and (not feature or feature in entry.features)


def _search_text(entry: LibraryEntry) -> str:
    """Return the searchable text of an entry, in lower case."""
    words = (entry.key, entry.title, *entry.roles, *entry.features, entry.shelf, entry.description)
    return " ".join(words).lower()


def _amount(number: int) -> str:
    return "1 game" if number == 1 else f"{number} games"


def _chip(label: str, word: str, feature: str, query: str) -> Markup:
    from urllib.parse import urlencode

    address = "/?" + urlencode({key: value for key, value in (("q", query), ("feature", word)) if value})
    return tag("a", label, href=address, class_="chip", aria_current="true" if word == feature else None)


def _card(entry: LibraryEntry) -> Markup:
    players = ", ".join(entry.roles)
    return tag(
        "li",
        tag(
            "a",
            tag("span", tag("img", src=f"/picture/{entry.key}.svg", alt="", loading="lazy"), class_="thumb"),
            tag("span", entry.title, class_="name"),
            tag("span", players or entry.shelf, class_="muted small"),
            href=f"/game/{entry.key}",
        ),
        data_said=_search_text(entry),
        data_features="|".join(entry.features),
    )


# -- one game ---------------------------------------------------------------------------------


def game_page(entry: LibraryEntry, facts: Mapping[str, Any], players: Sequence[str], *, token: str) -> Markup:
    """Show a game with the form to start a match."""
    opponent = next((name for name in FIRST_CHOICE if name in players), players[0])
    roles = list(facts["players"])
    seats = [_seat(role, PERSON if i == 0 else opponent, players) for i, role in enumerate(roles)]
    tags = list(entry.features) or list(facts["words"])
    playable = bool(facts["playable"])
    form = tag(
        "form",
        hidden_token(token),
        tag("fieldset", tag("legend", "Who plays"), *seats),
        _parameters(facts["parameters"]),
        tag(
            "label",
            "Seconds per move for programs",
            tag("select", *[_option(f"{c:g}", f"{c:g}", c == 1.0) for c in CLOCKS], name="clock"),
            class_="field",
        ),
        tag("button", "Play", class_="button primary", name="key", value=entry.key),
        action="/play",
        method="post",
        class_="panel play-form",
    )
    broken = tag(
        "div",
        tag(
            "p",
            "These rules have errors. Open them to see the errors and how to fix them.",
        ),
        tag("a", "Open the rules", href=f"/edit?game={entry.key}", class_="button primary"),
        class_="panel",
    )
    return frame(
        entry.title,
        tag(
            "article",
            tag(
                "div",
                tag(
                    "div",
                    tag("img", src=f"/picture/{entry.key}.svg", alt=f"The initial state of {entry.title}"),
                    class_="picture",
                ),
                class_="left",
            ),
            tag(
                "div",
                tag("h1", entry.title),
                tag("p", *[tag("span", word, class_="tag") for word in tags], class_="tags"),
                tag("p", entry.description, class_="lead") if entry.description else None,
                form if playable else broken,
                tag(
                    "p",
                    tag("a", "Open the rules", href=f"/edit?game={entry.key}", class_="button quiet"),
                    tag("a", "Analyse", href=f"/analyse/{entry.key}", class_="button quiet"),
                    tag("a", "Download", href=f"/download/{entry.key}", class_="button quiet"),
                    class_="row",
                ),
                class_="right",
            ),
            class_="game",
        ),
        token=token,
    )


def _seat(role: str, chosen: str, players: Sequence[str]) -> Markup:
    options = [_option(PERSON, "you", chosen == PERSON)]
    options += [_option(name, f"program: {name}", chosen == name) for name in players]
    return tag("label", tag("span", role), tag("select", *options, name=f"seat:{role}"), class_="field")


def _option(value: str, label: str, chosen: bool) -> Markup:
    return tag("option", label, value=value, selected=chosen)


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> Child:
    """Return the controls for the parameters of a GGDL game."""
    if not parameters:
        return None
    fields = []
    for parameter in parameters:
        name, default = f"param:{parameter['name']}", parameter["default"]
        value = default if parameter["value"] is None else parameter["value"]
        control: Markup
        if parameter["type"] == "int":
            control = tag(
                "input",
                type="number",
                name=name,
                min=parameter["low"],
                max=parameter["high"],
                value="" if value is None else str(value),
                required=default is None,
            )
        else:
            choices = parameter["choices"] or ["true", "false"]
            control = tag(
                "select", *[_option(c, c, c == str(value).lower() or c == value) for c in choices], name=name
            )
        note = " ".join(str(parameter["doc"] or "").split())
        label = tag("span", parameter["name"], tag("small", note, class_="muted"))
        fields.append(tag("label", label, control, class_="field"))
    return tag("fieldset", tag("legend", "Parameters"), *fields)

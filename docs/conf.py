"""How the pages become a site: `sphinx-build -W docs docs/_build/html`.

The pages are Markdown that is read on its own as well, so nothing of Sphinx is in them.  What the site
needs more is made here: the table of contents, from the lists of links in `index.md`; the reference of
the library, from its docstrings (`site/api.py`); the pages from the top of the project, as copies; a gallery
of the bundled games to play.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "site"))

import api  # noqa: E402
import lexers  # noqa: E402
import notebook  # noqa: E402

import herbrand  # noqa: E402
from herbrand import games  # noqa: E402
from herbrand.publish import write_gallery  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "herbrand"
author = "the herbrand developers"
version = release = herbrand.__version__
project_copyright = author

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "site", "**.ipynb"]
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "misc.highlighting_failure", "ref.python"]
highlight_language = "none"
add_module_names = False
smartquotes_action = "qe"  # no dashes: `--help` is no dash
python_use_unqualified_type_names = True
toc_object_entries = False  # the table of contents is drawn on every page: half of the time went there
maximum_signature_line_length = 500  # the lists of longer ones are no valid lists for screen readers

html_theme = "furo"
html_title = "herbrand"
html_static_path = ["site/static"]
html_css_files = ["herbrand.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"source_directory": "docs/"}

_FILE = re.compile(r"^```(\w+) +(\S+)$", re.MULTILINE)
"""A block that is a file: its name becomes the caption."""

GENERATED = HERE / "generated"
TOP = {
    "README": "generated/overview",
    "ARCHITECTURE": "generated/architecture",
    "CONTRIBUTING": "generated/contributing",
    "CHANGELOG": "generated/changelog",
    "SECURITY": "generated/security",
}
"""Pages from the top of the project, and where their copies are."""
NOTEBOOKS = {"example": "generated/notebook", "learn": "generated/train-plot-play"}
"""Notebooks, and where their pages are."""
REPOSITORY = "https://github.com/herbrand-gdl/herbrand"


def _write(path: Path, text: str) -> None:
    """Write a page if it is not what is there already, so that only changes are built anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _generate() -> None:
    for name, copy in TOP.items():
        text = (HERE.parent / f"{name}.md").read_text(encoding="utf-8")
        if name == "README":
            text = text.replace("# herbrand\n", "# Overview\n", 1)
        _write(HERE / f"{copy}.md", text)
    for name, copy in NOTEBOOKS.items():
        cells = json.loads((HERE / f"{name}.ipynb").read_text(encoding="utf-8"))
        _write(HERE / f"{copy}.md", notebook.page(cells))
    pages = api.pages()
    for name, text in pages.items():
        _write(GENERATED / f"{name}.md", text)
    for folder in ("api", "internals"):
        for old in (GENERATED / folder).glob("*.md"):
            if f"{folder}/{old.stem}" not in pages:
                old.unlink()


def contents(index: str) -> str:
    """Return the table of contents that the headings and links of the index say."""
    parts: list[str] = []
    for title, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL):
        pages = re.findall(r"\]\(([\w/.-]+)\.md\)", body)
        parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(parts)


def _read(app: Sphinx, name: str, text: list[str]) -> None:
    """Change what only the site needs changed in a page that is read."""
    del app
    if name.startswith("generated/") and name.count("/") == 1:
        text[0] = re.sub(r"\]\(docs/", "](../", text[0])
        text[0] = re.sub(r"\]\((?=\w+\.md)", "](../../", text[0])
        text[0] = re.sub(r"\]\((?=\w+\.cff)", f"]({REPOSITORY}/blob/main/", text[0])
    text[0] = _FILE.sub(r"```{code-block} \1\n:caption: \2\n", text[0])
    up = "../" * name.count("/")
    text[0] = re.sub(
        r"\]\((?:\.\./)+(\w+)\.md", lambda m: f"]({up}{TOP[m[1]]}.md" if m[1] in TOP else m[0], text[0]
    )
    if name == "index":
        for notebook_name, copy in NOTEBOOKS.items():
            text[0] = text[0].replace(f"]({notebook_name}.ipynb)", f"]({copy}.md)")
        text[0] = text[0].replace("- Games to play", '- <a href="play/index.html">Games to play</a>')
        for title, folder in (("The library", "api"), ("The internals", "internals")):
            text[0] = re.sub(
                rf"^- {title}:", f"- [{title}](generated/{folder}/index.md):", text[0], flags=re.MULTILINE
            )
        text[0] += f"\n\n{contents(text[0])}\n"


ACCESSIBLE = {
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<aside class="toc-drawer no-toc">': '<aside class="toc-drawer no-toc" aria-label="On this page">',
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper colwidths-auto docutils container">': (
        '<div class="table-wrapper colwidths-auto docutils container" tabindex="0">'
    ),
}
"""What the theme lacks for screen readers and keyboards, as axe-core reports it."""


def _finish(app: Sphinx, error: Exception | None) -> None:
    """Label landmarks and headings, and let keyboards scroll what is wide."""
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            text = before = path.read_text(encoding="utf-8")
            for old, new in ACCESSIBLE.items():
                text = text.replace(old, new)
            if text != before:
                path.write_text(text, encoding="utf-8")
        _publish(Path(app.outdir) / "play")


def _publish(folder: Path) -> None:
    """Write the gallery of bundled games, some ten seconds, unless it is newer than the package."""
    written = folder / "index.html"
    changed = max(path.stat().st_mtime for path in Path(herbrand.__file__).parent.rglob("*.*"))
    if written.exists() and written.stat().st_mtime > changed:
        return
    names = [name for name in games.names() if "." not in name]  # the same games in GGDL are left out
    _, failures = write_gallery(folder, map(herbrand.load, names), "Games to play", proving=0)
    if failures:
        raise RuntimeError(failures)


def setup(app: Sphinx) -> None:
    """Register what is written here."""
    _generate()
    for name, lexer in lexers.LEXERS.items():
        app.add_lexer(name, lexer)
    app.connect("source-read", _read)
    app.connect("build-finished", _finish)

"""The example notebooks: executed here, and turned into pages.

    python docs/site/notebook.py            executes docs/example.ipynb and writes what its cells show
    python docs/site/notebook.py --check    exits with 1 if that is not what stands in it
    python docs/site/notebook.py learn      the same for docs/learn.ipynb, which takes a minute

A cell is run as Jupyter runs it: what is printed, then the value of its last line in the formats that it has.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["executed", "page", "same"]

DOCS = Path(__file__).resolve().parent.parent
_PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)
_WORDS = re.compile(r"<(?:title|desc)>(.*?)</")
_SECONDS = re.compile(r"analysed in [\d.]+ s|seconds=[\d.e-]+")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs that its cells have now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = {
                **cell,
                "execution_count": number,
                "outputs": _run("".join(cell["source"]), names, number),
            }
        cells.append(cell)
    return {**notebook, "cells": cells}


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102  # our own notebook
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {kind: _lines(text) for kind, text in sorted(_formats(value).items())}
        outputs.append(
            {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def _formats(value: Any) -> dict[str, str]:
    formats = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        shown = getattr(value, method, lambda: None)()
        if shown is not None:
            formats[kind] = shown
    return {**formats, **getattr(value, "_repr_mimebundle_", dict)()}


def _lines(text: str) -> list[str]:
    return str(text).splitlines(keepends=True)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two notebooks show the same, but for how long something took and how pictures look.

    Of a picture its title and its description count, which say what is to be seen in it.
    """
    return _told(one) == _told(other)


def _told(notebook: dict[str, Any]) -> str:
    text = _SECONDS.sub("", json.dumps(notebook["cells"]))
    return _PICTURE.sub(lambda m: " ".join(_WORDS.findall(m[0])[:2]), text)


def page(notebook: dict[str, Any]) -> str:
    """Return the notebook as a page of the site."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                parts.append(f"```text\n{''.join(output['text'])}```")
                continue
            data = output["data"]
            rich = data.get("text/html") or data.get("image/svg+xml")
            if rich:
                parts.append(f'`````{{raw}} html\n<div class="output">{"".join(rich)}</div>\n`````')
            else:
                parts.append(f"```text\n{''.join(data['text/plain'])}\n```")
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Execute a notebook, or compare it with what stands in it."""
    names = [name for name in arguments if not name.startswith("-")]
    file = DOCS / f"{names[0] if names else 'example'}.ipynb"
    before = json.loads(file.read_text(encoding="utf-8"))
    after = executed(before)
    if "--check" in arguments:
        if not same(before, after):
            print(f"{file.name} does not show what its cells give now", file=sys.stderr)
            return 1
        return 0
    file.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

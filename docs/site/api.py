"""The reference of the library, from its docstrings: one page for each package.

Docstrings are Markdown, so each name becomes a directive of Sphinx's Python domain with the docstring as
it is inside.  What is listed in `__all__` is public; a name is described where it is defined.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import Any

import herbrand

__all__ = ["modules", "pages"]

_PREFACE = """Made from the docstrings of the code. What `herbrand` itself exports stays as it is; the
packages below it are for those who want more, and may change between versions."""

LEFT_OUT = frozenset({"cli", "lsp", "web", "__main__"})
"""Front ends: they are used from outside, not from Python."""


def modules() -> dict[str, list[str]]:
    """Return the public modules of each package, in the order of their names."""
    found: dict[str, list[str]] = {}
    for module in pkgutil.walk_packages(herbrand.__path__, "herbrand."):
        part = module.name.split(".")[1]
        if part in LEFT_OUT or any(name.startswith("_") for name in module.name.split(".")):
            continue
        found.setdefault(part, []).append(module.name)
    return found


def pages() -> dict[str, str]:
    """Return the pages by name: "index", and one for each package."""
    made: dict[str, str] = {}
    rows: list[str] = []
    for part, names in modules().items():
        sections = [text for name in names if (text := _module(name, main=name == names[0]))]
        if not sections:
            continue
        made[part] = "\n\n".join(sections) + "\n"
        first = (importlib.import_module(names[0]).__doc__ or "").split("\n\n")[0]
        rows.append(f"| [`herbrand.{part}`]({part}.md) | {' '.join(first.split())} |")
    made["index"] = _index(rows, sorted(made))
    return made


def _index(rows: list[str], names: list[str]) -> str:
    public = [f"- {_link(name)}: {_line(getattr(herbrand, name))}" for name in herbrand.__all__]
    return "\n".join(
        [
            "# The library",
            "",
            _PREFACE,
            "",
            "## Names of `herbrand`",
            "",
            *public,
            "",
            "## Packages",
            "",
            "| package | what it does |",
            "|---|---|",
            *rows,
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *names,
            "```",
            "",
        ]
    )


def _link(name: str) -> str:
    value = getattr(herbrand, name)
    home = getattr(value, "__module__", None)
    if home and home.startswith("herbrand.") and home.split(".")[1] not in LEFT_OUT:
        return f"{{py:obj}}`herbrand.{name} <{home}.{name}>`"
    return f"`herbrand.{name}`"


def _line(value: Any) -> str:
    text = inspect.getdoc(value) if callable(value) or inspect.ismodule(value) else ""
    return " ".join((text or "").split("\n\n")[0].split()) or f"`{value!r}`"


def _module(name: str, *, main: bool) -> str:
    """Return the section of one module."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # an optional library is not installed here
        return f"{'#' if main else '##'} {name}\n\nNot described here: {error}"
    listed = list(getattr(module, "__all__", ()))
    mine = [n for n in listed if getattr(getattr(module, n), "__module__", name) == name]
    doc = _markdown(module.__doc__ or "")
    if not main and not mine:
        return ""
    first, _, rest = doc.partition("\n\n")
    lines = [f"{'#' if main else '##'} {name}", "", f"```{{py:module}} {name}\n```", "", first, "", rest]
    fields = _fields(module)
    lines += [_entry(n, getattr(module, n), fields) for n in mine]
    return "\n".join(lines).rstrip()


def _entry(name: str, value: Any, fields: dict[str, dict[str, str]]) -> str:
    """Return the description of one name."""
    if inspect.isclass(value):
        return _class(name, value, fields.get(name, {}))
    if callable(value):
        return _directive("function", f"{name}{_signature(value)}", inspect.getdoc(value) or "")
    return _directive("data", name, fields.get("", {}).get(name, ""))


def _class(name: str, value: type, fields: dict[str, str]) -> str:
    parts = [_markdown(inspect.getdoc(value) or "")] if value.__doc__ else []
    described: set[str] = set()
    for key, member in vars(value).items():
        if key.startswith("_"):
            continue
        raw = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        raw = getattr(raw, "func", raw)  # cached_property
        cached = raw is not member and not isinstance(member, classmethod | staticmethod)
        if isinstance(raw, property) or cached:
            parts.append(_directive("property", key, inspect.getdoc(raw) or "", 1))
        elif inspect.isfunction(raw):
            kind = "classmethod" if isinstance(member, classmethod) else "method"
            parts.append(_directive(kind, f"{key}{_signature(raw, drop=True)}", inspect.getdoc(raw) or "", 1))
        else:
            continue
        described.add(key)
    for key, text in fields.items():
        if not key.startswith("_") and key not in described:
            parts.append(_directive("attribute", key, text, 1))
    kind = "exception" if issubclass(value, BaseException) else "class"
    head = f"{name}{_signature(value)}" if kind == "class" else name
    return _fenced(kind, head, "\n\n".join(p for p in parts if p), 2)


def _directive(kind: str, head: str, doc: str, depth: int = 1) -> str:
    return _fenced(kind, head, _markdown(doc), depth)


def _fenced(kind: str, head: str, body: str, depth: int) -> str:
    fence = ":" * (3 + depth)
    return f"\n{fence}{{py:{kind}}} {head}\n\n{body}\n{fence}"


def _signature(value: Any, *, drop: bool = False) -> str:
    """Return the arguments of a function as they are written; of a class, those that make one."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return "()"
    parameters = list(signature.parameters.values())
    if drop and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    short = [
        p if p.default is p.empty or len(repr(p.default)) < 40 else p.replace(default=_Dots())
        for p in parameters
    ]
    if inspect.isclass(value):
        short = [p.replace(annotation=p.empty) for p in short]
    returned = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    text = str(signature.replace(parameters=short, return_annotation=returned))
    return re.sub(r"'([^']*)'", lambda m: m[1] if "[" in m[1] or m[1].isidentifier() else m[0], text)


class _Dots:
    """A default value too long to be shown."""

    def __repr__(self) -> str:
        return "..."


def _fields(module: Any) -> dict[str, dict[str, str]]:
    """Return the docstrings below fields and constants: by class ("" for the module) and name."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    found: dict[str, dict[str, str]] = {"": _documented(tree.body)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            mine = _documented(node.body)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    mine |= _documented(inner.body)
            found[node.name] = mine
    return found


def _documented(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        key = ""
        if isinstance(target, ast.Name):
            key = target.id
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            key = target.attr if target.value.id == "self" else ""
        text = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            text = str(after.value.value) if isinstance(after.value.value, str) else ""
        if key and (text or isinstance(target, ast.Name)):
            found[key] = inspect.cleandoc(text)
    return found


def _markdown(doc: str) -> str:
    """Return a docstring as Markdown: doctests and headings that would be something else are fenced."""
    lines: list[str] = []
    block: list[str] = []

    def close() -> None:
        if block:
            text = textwrap.dedent("\n".join(block)).rstrip()
            lines.extend(["", "```python", *text.split("\n"), "```", ""])
            block.clear()

    for line in inspect.cleandoc(doc).split("\n"):
        bare = line.strip()
        if bare.startswith(">>> ") or (block and bare):
            block.append(line)
        else:
            close()
            lines.append(re.sub(r"^(#+ )", r"\\\1", line))
    close()
    return "\n".join(lines)

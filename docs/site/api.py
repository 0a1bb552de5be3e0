"""The reference of the library, from its docstrings: the public interface, and the internals.

Public is what `herbrand` and the `__init__` of its packages export, and the modules of `MODULES`.  Each
public name is described once, under its shortest path; all other names in `__all__` of a module are
internals.  Docstrings are Markdown, so each name becomes a directive of Sphinx's Python domain with the
docstring as it is inside.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import herbrand

__all__ = ["exported", "interface", "internals", "pages", "public_modules"]

MODULES = (
    "herbrand.analyse.knowledge.regrets",
    "herbrand.convert.as_json",
    "herbrand.convert.asp.witness",
    "herbrand.convert.network",
    "herbrand.convert.notation",
    "herbrand.convert.pddl",
    "herbrand.convert.scramble",
    "herbrand.diagnostic",
    "herbrand.envs.gymnasium",
    "herbrand.envs.language",
    "herbrand.envs.openspiel",
    "herbrand.envs.pettingzoo",
    "herbrand.envs.pgx",
    "herbrand.errors",
    "herbrand.match.protocol.events",
    "herbrand.network.dump",
    "herbrand.play.annotate",
    "herbrand.runtime.cluster",
)
"""Public modules that are no packages, or belong to an internal one.

Most of them need a library of an extra, or define a function of the module's own name.
"""

INTERNAL = frozenset({"core", "runtime"})
"""Packages that export names for other packages, not for users."""

LEFT_OUT = frozenset({"cli", "__main__"})
"""The commands are used from a shell, not from Python."""

_PUBLIC = """What `herbrand` and its packages export, each name described once. Import it from where it
is described; changes that break code which uses it are in the [changelog](../changelog.md). Everything else
is [internal](../internals/index.md) and may change between any two versions."""

_INTERNALS = """For contributors: the modules of each package, with the names that other modules use, but
for those that are [public](../api/index.md). [How herbrand is built](../architecture.md) shows how the
packages depend on each other."""

_PACKAGE = "Internals of this package are [described apart](../internals/{part}.md)."


class Entry(NamedTuple):
    """One exported name."""

    module: str
    """The module that exports it."""
    name: str
    home: str
    """The module that defines it."""


@functools.cache
def _tree(module: str) -> ast.Module:
    path = importlib.import_module(module).__file__ or ""
    return ast.parse(Path(path).read_text(encoding="utf-8"))


@functools.cache
def _imports(module: str) -> dict[str, tuple[str, str]]:
    """Return what a module imports from the package: by its name there, the module and the name in it."""
    imported: dict[str, tuple[str, str]] = {}
    body = _tree(module).body
    conditional = [inner for node in body if isinstance(node, ast.If | ast.Try) for inner in node.body]
    for node in [*body, *conditional]:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("herbrand"):
            for alias in node.names:
                if not node.module.endswith("._core"):
                    imported.setdefault(alias.asname or alias.name, (node.module, alias.name))
    return imported


def _home(module: str, name: str) -> str:
    """Return the module that defines a name, which follows the imports from the one that exports it."""
    imported = _imports(module).get(name)
    return _home(*imported) if imported else module


@functools.cache
def _modules() -> dict[str, bool]:
    """Return all modules that the reference describes; true for packages."""
    names = {"herbrand": True}
    for module in pkgutil.walk_packages(herbrand.__path__, "herbrand."):
        parts = module.name.split(".")
        if parts[1] not in LEFT_OUT and not any(part.startswith("_") for part in parts):
            names[module.name] = module.ispkg
    return names


@functools.cache
def exported(module: str) -> list[Entry]:
    """Return the names in `__all__` of a module; none if a library that it needs is not installed."""
    try:
        names = getattr(importlib.import_module(module), "__all__", ())
    except ImportError:
        return []
    return [Entry(module, name, _home(module, name)) for name in names]


@functools.cache
def public_modules() -> list[str]:
    """Return the modules of the public interface, those with short names first."""
    packages = [
        name
        for name, is_package in _modules().items()
        if is_package and name.partition(".")[2].split(".")[0] not in INTERNAL and exported(name)
    ]
    return sorted({*packages, *MODULES}, key=lambda name: (name.count("."), name))


@functools.cache
def interface() -> dict[tuple[str, str], Entry]:
    """Return where each public name is described, by the module that defines it and the name there."""
    described: dict[tuple[str, str], Entry] = {}
    for module in public_modules():
        for entry in exported(module):
            described.setdefault((entry.home, entry.name), entry)
    return described


@functools.cache
def internals() -> dict[str, list[Entry]]:
    """Return the names of each module that it defines itself and that are not public."""
    return {
        module: [
            entry
            for entry in exported(module)
            if entry.home == module and (entry.home, entry.name) not in interface()
        ]
        for module in _modules()
    }


def pages() -> dict[str, str]:
    """Return the pages by name: `api/...` for the public interface, `internals/...` for the rest."""
    made: dict[str, str] = {}
    rows: dict[str, list[str]] = {"api": [], "internals": []}

    def add(folder: str, part: str, main: str, sections: list[str]) -> None:
        made[f"{folder}/{part}"] = "\n\n".join(sections) + "\n"
        rows[folder].append(f"| [`{main}`]({part}.md) | {_first_paragraph(main)} |")

    public: dict[str, list[str]] = {}
    for module in public_modules():
        public.setdefault(_part(module), []).append(module)
    inner: dict[str, list[str]] = {}
    for module in _modules():
        inner.setdefault(_part(module), []).append(module)
    names = internals()
    for part, modules in inner.items():
        if part in public:
            main, *_ = public[part]
            add("api", part, main, [_public(name, main=name == main) for name in public[part]])
        if part != "herbrand":
            sections = [_internal(name, names[name], main=name == modules[0]) for name in modules]
            if any(names[name] for name in modules):
                add("internals", part, modules[0], [text for text in sections if text])
    made["api/index"] = _index("The library: public interface", _PUBLIC, rows["api"], made, "api")
    made["internals/index"] = _index("Internals", _INTERNALS, rows["internals"], made, "internals")
    return made


def _part(module: str) -> str:
    """Return the page of a module: its package, or `herbrand` itself."""
    return module.split(".")[1] if "." in module else module


def _index(title: str, preface: str, rows: list[str], made: dict[str, str], folder: str) -> str:
    names = sorted(name.partition("/")[2] for name in made if name.startswith(f"{folder}/"))
    own = []
    if folder == "api":
        own = ["## Names of `herbrand`", "", *(_line(entry) for entry in exported("herbrand")), ""]
    table = ["## Packages", "", "| package | what it does |", "|---|---|", *rows, ""]
    contents = ["```{toctree}", ":hidden:", "", *names, "```", ""]
    return "\n".join([f"# {title}", "", preface, "", *own, *table, *contents])


def _link(entry: Entry) -> str:
    """Return a link to the place where a public name is described."""
    at = interface()[entry.home, entry.name]
    return f"{{py:obj}}`{entry.name} <{at.module}.{at.name}>`"


def _line(entry: Entry) -> str:
    value = getattr(importlib.import_module(entry.module), entry.name)
    text = inspect.getdoc(value) if callable(value) or inspect.ismodule(value) else ""
    summary = " ".join((text or "").split("\n\n")[0].split()) or f"`{value!r}`"
    return f"- {_link(entry)}: {summary}"


def _first_paragraph(module: str) -> str:
    try:
        doc = importlib.import_module(module).__doc__
    except ImportError as error:
        doc = f"Not described here: {error}"
    return " ".join((doc or "").split("\n\n")[0].split())


def _public(module: str, *, main: bool) -> str:
    """Return the section of a public module: what users need of its docstring, and its names."""
    heading = f"{'#' if main else '##'} {module}"
    try:
        value = importlib.import_module(module)
    except ImportError as error:  # an optional library is not installed here
        return f"{heading}\n\nNot described here: {error}"
    lines = [heading, "", f"```{{py:module}} {module}\n```", "", _for_users(value.__doc__ or "", module)]
    entries = exported(module)
    elsewhere = [entry for entry in entries if interface()[entry.home, entry.name].module != module]
    if elsewhere:
        lines += ["", f"Also exported: {', '.join(_link(entry) for entry in elsewhere)}."]
    lines += [_entry(entry) for entry in entries if entry not in elsewhere]
    if (
        main
        and module != "herbrand"
        and any(internals()[name] for name in _modules() if _part(name) == _part(module))
    ):
        lines += ["", _PACKAGE.format(part=_part(module))]
    return "\n".join(lines).rstrip()


def _for_users(doc: str, module: str) -> str:
    """Return the docstring of a module without tables and sentences about internal modules and imports."""
    paragraphs: list[str] = []
    for text in _markdown(doc).split("\n\n"):
        if "\n" in text and re.search(r"^[|`>-]", text, re.MULTILINE):  # a table, a list, or code
            if not _names_internals(text, module):
                paragraphs.append(text)
            elif paragraphs and paragraphs[-1].endswith(":"):  # it introduces the table
                paragraphs.pop()
            continue
        sentences = [
            sentence
            for sentence in re.split(r"(?<=\.)\s+(?=[A-Z`*])", text)
            if not sentence.startswith("Imports ") and not _names_internals(sentence, module)
        ]
        if sentences:
            paragraphs.append(" ".join(sentences))
    return "\n\n".join(paragraphs)


def _names_internals(text: str, module: str) -> bool:
    """Return whether a text in the docstring of a module names an internal module in backticks."""
    package = module if _modules().get(module) else module.rpartition(".")[0]
    public = public_modules()
    for name in re.findall(r"`([A-Za-z_][\w.]*)/?`", text):
        for start in ("", "herbrand.", f"{package}."):
            path = f"{start}{name}"
            while path and path not in _modules():
                path = path.rpartition(".")[0]
            if path not in ("", "herbrand", package) and path not in public:
                return True
    return False


def _internal(module: str, entries: list[Entry], *, main: bool) -> str:
    """Return the section of a module among the internals; empty if nothing is to be said."""
    heading = f"{'#' if main else '##'} {module}"
    try:
        doc = _markdown(importlib.import_module(module).__doc__ or "")
    except ImportError as error:  # an optional library is not installed here
        return f"{heading}\n\nNot described here: {error}"
    public = [entry for entry in exported(module) if (entry.home, entry.name) in interface()]
    if not main and not entries and not public:
        return ""
    # A public module has its target among the public pages; a module named like a function there gets none.
    names = {f"{entry.module}.{entry.name}" for entry in interface().values()}
    directive = "py:currentmodule" if module in {*public_modules(), *names} else "py:module"
    lines = [heading, "", f"```{{{directive}}} {module}\n```", "", doc]
    if public:
        lines += ["", f"Public: {', '.join(_link(entry) for entry in public)}."]
    lines += [_entry(entry) for entry in entries]
    return "\n".join(lines).rstrip()


def _entry(entry: Entry) -> str:
    """Return the description of one name."""
    name, value = entry.name, getattr(importlib.import_module(entry.module), entry.name)
    if entry.home == "herbrand.core":
        return _from_stub(name)
    fields = _fields(entry.home)
    if inspect.isclass(value):
        return _class(name, value, fields.get(name, {}))
    if callable(value):
        return _directive("function", f"{name}{_signature(value)}", inspect.getdoc(value) or "")
    return _directive("data", name, fields.get("", {}).get(name, ""))


@functools.cache
def _stub() -> dict[str, ast.stmt]:
    """Return what the stub of the compiled core declares, by name."""
    path = Path(herbrand.__file__).parent / "core" / "_core.pyi"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def _from_stub(name: str) -> str:
    """Return the description of a name of the core, whose signatures are in its stub only."""
    node = _stub().get(name)
    if isinstance(node, ast.FunctionDef):
        return _stub_function("function", node, 1)
    if not isinstance(node, ast.ClassDef):
        return _directive("data", name, "")
    parts = [_markdown(ast.get_docstring(node) or "")]
    head = name
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        if member.name == "__init__":
            head = f"{name}{_stub_arguments(member)}"
        elif not member.name.startswith("_"):
            decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
            if not any(decorator.endswith(".setter") for decorator in decorators):
                parts.append(_stub_function("property" if "property" in decorators else "method", member, 1))
    return _fenced("class", head, "\n\n".join(part for part in parts if part), 2)


def _stub_function(kind: str, node: ast.FunctionDef, depth: int) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = node.name if kind == "property" else f"{node.name}{_stub_arguments(node)}{returned}"
    return _fenced(kind, head, _markdown(ast.get_docstring(node) or ""), depth)


def _stub_arguments(node: ast.FunctionDef) -> str:
    text = ast.unparse(node.args)
    return f"({re.sub(r'^self(, )?', '', text)})"


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


@functools.cache
def _fields(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings below fields and constants: by class ("" for the module) and name."""
    tree = _tree(module)
    documented: dict[str, dict[str, str]] = {"": _documented(tree.body)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            mine = _documented(node.body)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    mine |= _documented(inner.body)
            documented[node.name] = mine
    return documented


def _documented(body: list[ast.stmt]) -> dict[str, str]:
    texts: dict[str, str] = {}
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
            texts[key] = inspect.cleandoc(text)
    return texts


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

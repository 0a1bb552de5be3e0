"""The pages become a site: its generated parts are complete and up to date.

Building it takes half a minute and is done by `.ci/run`, where any warning is an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import herbrand
from herbrand.errors import MissingExtra

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def api():
    """The program that writes the reference of the library."""
    sys.path.insert(0, str(DOCS / "site"))
    try:
        return importlib.import_module("api")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def pages(api) -> dict[str, str]:
    """The pages of the reference."""
    return api.pages()


MODULE = re.compile(r"^```\{py:(?:current)?module\} (\S+)$", re.MULTILINE)
ENTRY = re.compile(r"^:{4,5}\{py:(?:class|exception|function|data)\} (\w+)", re.MULTILINE)


def described(pages: dict[str, str], folder: str) -> list[tuple[str, str]]:
    """The entries of the pages in a folder: each module with each name described there."""
    entries = []
    for name, text in pages.items():
        if name.startswith(folder):
            _, *sections = MODULE.split(text)
            for module, section in zip(sections[::2], sections[1::2], strict=True):
                entries += [(module, entry) for entry in ENTRY.findall(section)]
    return entries


def test_the_public_part_describes_what_packages_export(api, pages) -> None:
    """Each name there is imported from the place it is described at, has a docstring, and is described once."""
    entries = described(pages, "api/")
    assert len(entries) == len(set(entries)) > 200
    homes = {(entry.module, entry.name): entry.home for entry in api.interface().values()}
    for module_name, name in entries:
        assert name in importlib.import_module(module_name).__all__, f"{module_name}.{name}"
        value = getattr(importlib.import_module(homes[module_name, name]), name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module_name}.{name}"
    for name in herbrand.__all__:
        assert ("herbrand", name) in entries
        assert f"<herbrand.{name}>`" in pages["api/index"]


def test_every_exported_name_is_in_the_public_part(api, pages) -> None:
    """What a package lists in its `__init__` is described there, or linked where a shorter path has it."""
    for package in (Path(herbrand.__file__).parent).rglob("__init__.py"):
        parts = package.parent.relative_to(Path(herbrand.__file__).parents[1]).parts
        if parts[1:2] in [(part,) for part in (*api.INTERNAL, *api.LEFT_OUT)]:
            continue
        module_name = ".".join(parts)
        page = pages.get(f"api/{parts[1] if parts[1:] else 'herbrand'}", "")
        for name in getattr(importlib.import_module(module_name), "__all__", ()):
            entry = rf"\{{py:\w+\}} {name}\b|\{{py:obj\}}`{name} <"
            assert re.search(entry, page), f"{module_name}.{name}"


def test_nothing_internal_is_in_the_public_part(api, pages) -> None:
    """No page there has a section or a docstring about a module that is not public."""
    modules = {module.name for module in pkgutil.walk_packages(herbrand.__path__, "herbrand.")}
    internal = modules - set(api.public_modules())
    assert len(internal) > 200
    for name, text in pages.items():
        if name.startswith("api/"):
            named = {*MODULE.findall(text), *re.findall(r"`(herbrand\.[\w.]+)", text)}
            homes = {path if path in modules else path.rpartition(".")[0] for path in named}
            assert not homes & internal, name


def test_internals_describe_every_other_name(api, pages) -> None:
    """Whatever a module lists in `__all__` and defines itself is described in one of the two parts, not in both."""
    public, inner = described(pages, "api/"), described(pages, "internals/")
    homes = {(entry.home, entry.name) for entry in api.interface().values()}
    assert len(homes) == len(public)
    assert len(inner) == len(set(inner)) > 600
    assert not homes & set(inner)
    for module_name, entries in api.internals().items():
        for entry in entries:
            assert (module_name, entry.name) in inner
    from herbrand.network import lanes  # one that defines public and internal names

    for name in lanes.__all__:
        assert (("herbrand.network.lanes", name) in homes) != (("herbrand.network.lanes", name) in inner)


IMPORT = re.compile(r"^(?:>>> |\.\.\. )?\s*from (herbrand[\w.]*) import (.+)$", re.MULTILINE)


def test_guides_for_users_import_public_names(api) -> None:
    """No how-to, tutorial or example shows an import that may break."""
    public = set(api.public_modules())
    texts = [*(DOCS / "howto").glob("*.md"), *(DOCS / "explanation").glob("*.md"), *DOCS.glob("*.md")]
    texts += [*(DOCS / "reference").glob("*.md"), DOCS.parent / "README.md", DOCS / "example.ipynb"]
    texts += (DOCS.parent / "examples").glob("*.py")
    imports = 0
    for path in texts:
        text = path.read_text(encoding="utf-8").replace('\\n",', "").replace('    "from', "from")
        for module, names in IMPORT.findall(text):
            for name in names.split(","):
                exported = module if name.strip() == "*" else f"{module}.{name.strip()}"
                assert module in public, f"{path.name}: {exported}"
                try:
                    listed = importlib.import_module(module).__all__
                except MissingExtra:  # its library is not installed
                    continue
                assert name.strip() in {"*", *listed} or exported in public, f"{path.name}: {exported}"
                imports += 1
    assert imports > 40


def test_examples_of_docstrings_are_fenced(api) -> None:
    """A session in a docstring does not become a quotation of Markdown."""
    text = api._markdown("First.\n\n>>> 1 + 1\n2\n\n# no heading\n\n    >>> 2\n    2\n")
    assert text.count("```python\n>>> ") == 2
    assert "\\# no heading" in text


def test_every_page_is_in_the_index() -> None:
    """No page is there that the index does not lead to."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#]+)\)", index)}
    for page in DOCS.rglob("*.md"):
        if page.name != "index.md" and not {"generated", "_build"} & set(page.parts):
            assert page.resolve() in linked, page


def test_diagrams_are_up_to_date() -> None:
    """The pictures are what the program draws."""
    subprocess.run([sys.executable, DOCS / "site" / "diagrams.py", "--check"], check=True, timeout=120)


def test_pictures_have_words_for_those_who_cannot_see_them() -> None:
    """Every picture of a page has an alternative text, and the file is there."""
    seen = 0
    for page in DOCS.rglob("*.md"):
        if "generated" not in page.parts:
            for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
                assert len(words) > 10, page
                assert (page.parent / target).exists(), target
                seen += 1
    assert seen > 4

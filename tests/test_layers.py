"""What may import what: the order of the stages, and a light `import herbrand`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import herbrand

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

PACKAGE = Path(herbrand.__file__).parent

MAP = (Path(__file__).parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
ORDER = [
    name
    for row in re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", MAP.partition("| package |")[2].partition("\n\n")[0], re.MULTILINE
    )
    for name in re.findall(r"\w+", row)
]
"""The packages and the modules beside them, in the order of the map: each imports only from those before it."""


def _modules() -> dict[str, Path]:
    """Every module by its name within the package; the package itself has the name ""."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Everything within but expressions, which import nothing and are most of a module."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)


def _imports(path: Path, modules: Container[str]) -> Iterator[str]:
    """Every module of herbrand that a module imports: at once, inside functions, or for the type checker."""
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, inner = name.partition(".")
            if package == "herbrand" and inner != "__version__":
                yield inner if inner in modules else inner.rpartition(".")[0]


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """The modules that each module imports."""
    modules = _modules()
    assert len(modules) > 20
    return {name: {*_imports(path, modules)} - {name} for name, path in modules.items()}


def test_a_package_imports_only_from_packages_before_it(imports: dict[str, set[str]]) -> None:
    """No module looks ahead: not at import time, not inside functions, not for types."""
    wrong = [
        f"{name} imports {other or 'herbrand'}"
        for name, others in imports.items()
        for other in others
        if name and (not other or _step(other) > _step(name))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle(imports: dict[str, set[str]]) -> None:
    """The modules can be put in an order, inside packages too."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_map_shows_every_package() -> None:
    """Nothing is missing on the map of `ARCHITECTURE.md`, and it shows nothing that is not there."""
    assert sorted(ORDER) == sorted({name.partition(".")[0] for name in _modules()} - {"", "__main__"})


def _step(module: str) -> int:
    """How high a module stands."""
    package = module.partition(".")[0]
    return len(ORDER) if package == "__main__" else ORDER.index(package)


def _loaded_by(statement: str) -> set[str]:
    """The top-level modules outside the standard library that a statement imports."""
    code = (
        f"import sys; before = set(sys.modules); {statement}; "
        "print(*{m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names - {'herbrand'})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.split())


def test_importing_herbrand_loads_only_the_standard_library() -> None:
    """`import herbrand`, and loading a game, need nothing that was installed beside it."""
    assert _loaded_by("import herbrand") == set()
    assert _loaded_by("import herbrand; herbrand.loads('(role a)').roles") == set()


def test_the_command_line_starts_without_rich_and_without_its_commands() -> None:
    """Help needs click alone; drawing and commands are imported when used."""
    assert _loaded_by("import herbrand.cli.main") == {"click"}


def test_checking_a_game_needs_no_more_than_click() -> None:
    """`herbrand check` starts fast because nothing heavy is loaded for it."""
    run = "import herbrand.cli.main as m; m.cli.main(['check', 'nim'], standalone_mode=False)"
    assert _loaded_by(run) == {"click"}

"""What may import what: the order of the stages, and a light `import herbrand`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import herbrand

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(herbrand.__file__).parent

ORDER = (
    *(
        "errors",
        "runtime",
        "core",
        "html",
        "diagnostic",
        "syntax",
        "check",
        "program",
        "ground",
        "network",
        "convert",
        "scramble",
        "simulate",
        "games",
    ),
    *("draw", "machine", "analyse", "game", "movereader", "knowledge", "play", "envs", "ggp", "records"),
    *("tournament", "measure", "evolve", "verify", "diff", "testing", "lsp", "web", "cli", "__main__"),
)
"""A stage imports only from stages before it, and from itself."""


def _imports(node: ast.AST) -> Iterator[str]:
    """Every module imported when the code runs; imports for the type checker alone do not count."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module == "herbrand":
        yield from (f"herbrand.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def test_a_stage_imports_only_from_stages_before_it() -> None:
    """No module looks ahead in the pipeline, at import time or later."""
    modules = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    assert len(modules) > 20
    wrong = []
    for path in modules:
        stage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert stage in ORDER, f"{stage} has no place in ORDER"
        for name in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            parts = name.split(".")
            known = parts[0] == "herbrand" and len(parts) > 1 and parts[1] in ORDER
            if known and ORDER.index(parts[1]) > ORDER.index(stage):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert not wrong, "\n".join(wrong)


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

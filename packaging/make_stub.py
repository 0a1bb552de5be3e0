"""Write `src/herbrand/core/_core.pyi` from the docstrings and signatures of the compiled core.

    python packaging/make_stub.py            writes the file
    python packaging/make_stub.py --check    exit status 1 if it is not as it should be

nanobind says of arrays which shape and layout they have; that stands in the docstrings, and type checkers
make no use of it, so it is left out.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

STUB = Path(__file__).resolve().parent.parent / "src" / "herbrand" / "core" / "_core.pyi"


def stub() -> str:
    """Return the text of the stub."""
    from nanobind.stubgen import StubGen

    module = importlib.import_module("herbrand.core._core")
    generator = StubGen(module)
    generator.put(module)
    text = generator.get()
    array = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\((?:[^()]|\([^()]*\))*\)\]")
    text = array.sub(r"\1", text)
    text = re.sub(r"-> tuple:", "-> tuple[Any, ...]:", text)
    text = re.sub(r"-> dict:", "-> dict[str, Any]:", text)
    text = re.sub(r"-> list:", "-> list[Any]:", text)
    text = re.sub(r"\bSequence(?=[,)])", "Sequence[Any]", text)
    # attributes that are functions of the binding itself
    text = re.sub(r"(    @property\n    def \w+\(self\)) -> object:", r"\1 -> Callable[..., Any]:", text)
    text = text.replace(
        "from collections.abc import Sequence\n", "from collections.abc import Callable, Sequence\n"
    )
    text = text.replace("from typing import Annotated\n", "from typing import Any\n")
    return text.rstrip("\n") + "\n"


def main() -> int:
    """Write the stub, or compare it."""
    text = stub()
    if "--check" in sys.argv[1:]:
        if STUB.read_text(encoding="utf-8") == text:
            return 0
        print(f"{STUB} is not what the core says: run packaging/make_stub.py", file=sys.stderr)
        return 1
    STUB.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The platform report: Python, operating system, and kernels and machine code of the compiled core."""

from __future__ import annotations

import platform

__all__ = ["build_report"]

_ENCODERS = {"avx512": "AVX-512", "avx2": "AVX2"}


def build_report() -> list[str]:
    """Return lines for bug reports, each with a name and a value."""
    from herbrand import core
    from herbrand.engine.parallel import available_threads

    level, kind = core.level(), core.code_kind()
    code = (
        f"encoder for {_ENCODERS[kind]}, as the kernels are {level}"
        if kind
        else f"none, programs are walked: {core.why_no_code()}"
    )
    rows = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cores": str(available_threads()),
        "kernels": f"{level} (available: {', '.join(core.levels())})",
        "machine code": code,
        "compiler": core.compiler().strip(),
    }
    return [f"  {name + ':':14}{value}" for name, value in rows.items()]

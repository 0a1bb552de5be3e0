"""Build the core with sanitizers of the compiler and run its tests on it.

    python packaging/sanitize.py address,undefined [TEST...]
    python packaging/sanitize.py thread [TEST...]

The interpreter needs what `pip install -e '.[dev]'` brings, and cmake, ninja and nanobind; the compiler is
g++ or what CXX says, on Linux.  Without tests to run, those of the core are run.  Exit status 1 if a test
fails or a sanitizer has something to say, which is printed.

Python itself is not built with them.  What it does that they complain of is left out: memory that is still
held at the end, and what `packaging/thread.supp` lists.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "address,undefined": (
        *("test_core_calls", "test_lanes", "test_core_graph", "test_core_search", "test_core_analysis"),
        *("test_batch_env", "test_parallel", "test_evaluator", "test_expand", "test_explore", "test_walker"),
        *("test_state", "test_mcts", "test_mcts_threads", "test_alphabeta", "test_fuzz_networks"),
    ),
    "thread": (
        *("test_mcts_threads", "test_parallel", "test_lanes", "test_core_search", "test_core_analysis"),
        *("test_batch_env", "test_expand", "test_alphabeta"),
    ),
}
CHILDREN = """
import os, subprocess
begin = subprocess.Popen.__init__
def without_preload(self, args, *rest, env=None, **options):
    if "-S" in args:  # it has no core, and less address space than sanitizers take
        env = {name: value for name, value in (env or os.environ).items() if name != "LD_PRELOAD"}
    begin(self, args, *rest, env=env, **options)
subprocess.Popen.__init__ = without_preload
"""
"""What Python executes when it starts: the grounder's process does without sanitizers."""
LIBRARIES = {"address": "libasan.so", "undefined": "libubsan.so", "thread": "libtsan.so"}


def run(*command: str | Path, **env: str) -> int:
    """Run a command and return its exit status."""
    return subprocess.run([str(part) for part in command], env={**os.environ, **env}, check=False).returncode  # noqa: S603


def build(kind: str, compiler: str) -> Path:
    """Compile the core with sanitizers; return the folder of the module, which is kept for the next time."""
    folder = ROOT / "build" / f"sanitize-{kind.replace(',', '-')}"
    definitions = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O1 -g1 -D_GLIBCXX_ASSERTIONS",
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_UNITY_BUILD": "ON",
        "HERBRAND_SANITIZE": kind,
        "Python_EXECUTABLE": sys.executable,
    }
    options = [f"-D{name}={value}" for name, value in definitions.items()]
    if run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options) or run("cmake", "--build", folder):
        sys.exit("the core does not compile")
    return folder


def main() -> int:
    """Build, and run the tests on what was built."""
    if len(sys.argv) < 2 or not set(sys.argv[1].split(",")) <= set(LIBRARIES):
        sys.exit(__doc__)
    kind, tests = sys.argv[1], sys.argv[2:]
    tests = tests or [
        str(path.relative_to(ROOT))
        for name in TESTS["thread" if "thread" in kind else "address,undefined"]
        for path in (ROOT / "tests" / "unit").glob(f"*/{name}.py")
    ]
    if missing := [test for test in tests if not (ROOT / test.partition("::")[0]).exists()]:
        sys.exit(f"no such tests: {', '.join(missing)}")
    compiler = os.environ.get("CXX", "g++")
    built = build(kind, compiler)
    libraries = [
        subprocess.run(  # noqa: S603
            [compiler, f"-print-file-name={LIBRARIES[name]}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in kind.split(",")
    ]
    with tempfile.TemporaryDirectory(prefix="herbrand-sanitize-") as name:
        folder = Path(name)
        shutil.copytree(
            ROOT / "src" / "herbrand",
            folder / "herbrand",
            ignore=shutil.ignore_patterns("*.so", "__pycache__"),
        )
        (folder / "sitecustomize.py").write_text(CHILDREN, encoding="utf-8")
        for module in built.glob("_core*.so"):
            shutil.copy2(module, folder / "herbrand" / "core")
        said = (
            f"log_path={folder / 'said'}:handle_segv=0" if "thread" in kind else f"log_path={folder / 'said'}"
        )
        # without address space randomization: runtimes of older compilers do not cope with much of it
        before = [shutil.which("setarch") or "env", "-R"] if shutil.which("setarch") else []
        status = run(
            *before,
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests),
            PYTHONPATH=str(folder),
            PYTHONMALLOC="malloc",
            LD_PRELOAD=":".join(libraries),
            OPENBLAS_NUM_THREADS="1",  # its threads are not instrumented, and would be reported
            ASAN_OPTIONS=f"{said}:detect_leaks=0:allocator_may_return_null=1",
            UBSAN_OPTIONS=f"{said}:print_stacktrace=1:halt_on_error=1",
            TSAN_OPTIONS=f"{said}:suppressions={ROOT / 'packaging' / 'thread.supp'}:second_deadlock_stack=1",
            HERBRAND_SANITIZED=kind,
        )
        reports = sorted(folder.glob("said.*"))
        for report in reports:
            print(report.read_text(encoding="utf-8", errors="replace"), file=sys.stderr)
        if reports:
            print(f"{len(reports)} processes had something to say", file=sys.stderr)
        return int(bool(status or reports))


if __name__ == "__main__":
    raise SystemExit(main())

"""Try the ways to build the core that one's own machine does not take by itself.

    python packaging/check_builds.py compilers            g++ and clang++, warnings being errors
    python packaging/check_builds.py installed            pip install with the system's compiler, timed
    python packaging/check_builds.py hidden               the same where no compiler can be seen
    python packaging/check_builds.py sdist                a source archive, and a wheel from it
    python packaging/check_builds.py editable             pip install -e, and a change to a source
    python packaging/check_builds.py targets [TARGET...]  other processors and systems, by Zig's compiler
    python packaging/check_builds.py release [FOLDER]     a release, rehearsed with an index on this machine
    python packaging/check_builds.py tag v1.2.3           whether the sources are those of that version

All but the last need the package index: cmake, ninja, nanobind and Zig come from there.  `targets` compiles
what does not need Python, links `tests/core/driver.cpp` with it, and runs that where it can: on this machine,
or by the user mode of qemu.  `release` leaves the distributions that it checked in FOLDER.  Each check prints
what held, and ends with exit status 1 at the first thing that does not.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "core"
DRIVER = ROOT / "tests" / "core" / "driver.cpp"

TARGETS = {
    "x86_64-linux-musl": "",
    "aarch64-linux-musl": "qemu-aarch64",
    "arm-linux-musleabihf": "qemu-arm",  # 32 bits, and no level of its own
    "x86_64-windows-gnu": "wine",
    "x86_64-macos": "",
    "aarch64-macos": "",
}
"""What is compiled for, and the program that can run it here, if it is not this machine itself."""

GAMES = ("ticTacToe", "connectFour", "breakthrough", "rockPaperScissors", "kuhn")
LEVELS = ("x86_64_v2", "x86_64_v3", "x86_64_v4")
TOOLS = ("sh", "env", "uname")
TESTS = [
    f"tests/unit/{name}.py"
    for name in (
        "network/test_lanes",
        *(f"core/test_core_{part}" for part in ("graph", "search", "analysis", "calls")),
    )
]
SMOKE = """\
import herbrand, herbrand.core
print(herbrand.load("ticTacToe").simulate(1000, seed=1).playouts, "games,", herbrand.core.level())
"""


def run(command: Sequence[str | Path], *, cwd: Path = ROOT, text: str | None = None, **env: str) -> str:
    """Run a command with some variables and return what it printed; show its output if it fails."""
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command],
        env={**os.environ, **env},
        cwd=cwd,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-8000:])
        sys.exit(f"failed: {shlex.join(map(str, command))}")
    return done.stdout


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for the time being."""
    with tempfile.TemporaryDirectory(prefix="herbrand-build-") as folder:
        yield Path(folder)


def install(python: Path, *packages: str | Path) -> None:
    """Have pip install packages, or do what its options say."""
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])


def environment(folder: Path, *packages: str) -> Path:
    """Make a virtual environment with some packages, put it first on the path, and return its interpreter."""
    run([sys.executable, "-m", "venv", folder])
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if packages:
        install(python, *packages)
    os.environ["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return python


def checkout(folder: Path) -> Path:
    """Copy the sources as they stand, changes included, without what was built from them."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def compilers(_: Sequence[str]) -> None:
    """Build with every compiler there is, whole and in pieces, warnings being errors."""
    with scratch() as folder:
        python = environment(folder / "venv", "cmake", "ninja", "nanobind")
        for compiler in filter(shutil.which, ("g++", "clang++")):
            for unity in ("ON", "OFF"):
                build = folder / f"{compiler}-{unity}"
                options = {
                    "CMAKE_CXX_COMPILER": compiler,
                    "CMAKE_UNITY_BUILD": unity,
                    "HERBRAND_WERROR": "ON",
                    "Python_EXECUTABLE": python,
                }
                definitions = [f"-D{name}={value}" for name, value in options.items()]
                run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *definitions])
                run(["cmake", "--build", build])
                print(f"{compiler}, unity {unity}: no warnings", flush=True)


def try_install(sources: Path, python: Path, folder: Path, tests: Sequence[str]) -> None:
    """Install from the sources, say how long that took, and run tests on what was installed."""
    wall, processor = time.monotonic(), processor_seconds()
    install(python, sources)
    wall, processor = time.monotonic() - wall, processor_seconds() - processor
    print(f"installed in {wall:.0f} s, {processor:.0f} s of processor time", flush=True)
    packages = run([python, "-m", "pip", "list", "--format=freeze"]).split()
    if unwanted := [line for line in packages if line.startswith(("numba=", "llvmlite="))]:
        sys.exit(f"installed besides: {', '.join(unwanted)}")
    print(run([python.with_name("herbrand"), "--version", "--verbose"], cwd=folder).rstrip())
    install(python, "pytest", "hypothesis")
    chosen = [sources / test for test in tests or TESTS]
    print(run([python, "-m", "pytest", "-q", *chosen], cwd=sources).splitlines()[-1], flush=True)


def processor_seconds() -> float:
    """Return how long the processes that were started and have ended kept a processor busy."""
    times = os.times()
    return times.children_user + times.children_system


def installed(tests: Sequence[str]) -> None:
    """Install with the compiler of the system, without a cache of what was compiled before."""
    with scratch() as folder:
        sources = checkout(folder / "sources")
        python = environment(folder / "venv")
        os.environ["CCACHE_DISABLE"] = "1"
        try_install(sources, python, folder, tests)


def hidden(tests: Sequence[str]) -> None:
    """Install where no compiler can be seen, and run tests on what was installed."""
    with scratch() as folder:
        sources = checkout(folder / "sources")
        python = environment(folder / "venv")
        (folder / "bin").mkdir()
        for name in TOOLS:
            (folder / "bin" / name).symlink_to(shutil.which(name) or name)
        for name in ("CC", "CXX", "CMAKE_ARGS"):
            os.environ.pop(name, None)
        os.environ["PATH"] = f"{python.parent}{os.pathsep}{folder / 'bin'}"
        try_install(sources, python, folder, tests)


def sdist(_: Sequence[str]) -> None:
    """Make a source archive and a wheel from it."""
    with scratch() as folder:
        sources = checkout(folder / "sources")
        python = environment(folder / "venv", "build")
        print(run([python, "-m", "build", "--outdir", folder / "dist", sources]).splitlines()[-1], flush=True)
        (wheel,) = (folder / "dist").glob("*.whl")
        tag = "cp312-abi3" if sys.version_info >= (3, 12) else "cp311-cp311"
        if tag not in wheel.name:
            sys.exit(f"the wheel is not for {tag}: {wheel.name}")
        install(python, wheel)
        print("the wheel from the archive:", run([python, "-c", SMOKE], cwd=folder).strip())


def editable(_: Sequence[str]) -> None:
    """Install in place, change a source, and see the change at the next import."""
    with scratch() as folder:
        sources = checkout(folder / "sources")
        tools = ["scikit-build-core", "hatch-fancy-pypi-readme", "nanobind", "cmake", "ninja"]
        python = environment(folder / "venv", *tools)
        settings = [
            "--config-settings=editable.rebuild=true",
            "--config-settings=cmake.define.CMAKE_UNITY_BUILD=OFF",
        ]
        install(python, "--no-build-isolation", *settings, "--editable", sources)
        says = [python, "-c", "import herbrand.core._core as c; print(c.__doc__)"]
        before = run(says, cwd=folder)
        module = sources / "src" / "core" / "module.cpp"
        text = module.read_text(encoding="utf-8")
        module.write_text(text.replace('"The compiled core', '"The changed core'), encoding="utf-8")
        after = run(says, cwd=folder)
        if "compiled" not in before or "changed" not in after:
            sys.exit("a change to a source was not seen at the next import")
        print("a change to a source is seen at the next import")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without a line on the terminal for each request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def package_index(folder: Path, distributions: Sequence[Path]) -> Iterator[str]:
    """Serve the distributions of herbrand as a package index (PEP 503) on this machine; give its address."""
    project = folder / "simple" / "herbrand"
    project.mkdir(parents=True)
    for path in distributions:
        shutil.copy2(path, project)
    links = "".join(f'<a href="{path.name}">{path.name}</a>\n' for path in distributions)
    (project / "index.html").write_text(f"<!DOCTYPE html>\n{links}", encoding="utf-8")
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()


def metadata(wheel: Path) -> str:
    """Return the metadata of a wheel, with the description that an index shows."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return opened.read(name).decode()


def dependencies(wheel: Path) -> list[str]:
    """Return what a wheel requires without any extra."""
    return re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata(wheel), re.MULTILINE)


def check_contents(archive: Path, wheel: Path) -> None:
    """Check that the distributions lack nothing, hold nothing by accident, and have no relative links."""
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    cores = [name for name in names if re.fullmatch(r"herbrand/core/_core\..*\b(so|pyd)", name)]
    if len(cores) != 1 or "herbrand/py.typed" not in names:
        sys.exit(f"{wheel.name} should have one compiled core and py.typed, and has {cores}")
    pattern = r"""\]\((?!https?://|#)[^)]*\)|(?:src|href)="(?!https?://|#)[^"]*["]"""
    if relative := re.findall(pattern, metadata(wheel)):
        sys.exit(f"links that lead nowhere on the page of an index: {', '.join(relative)}")
    with tarfile.open(archive) as opened_archive:
        inside = {name.partition("/")[2] for name in opened_archive.getnames()}
    tracked = run(["git", "ls-files", "-z", "--", "src", "tests", "docs", "packaging", "examples"])
    if missing := {name for name in tracked.split("\0") if name and (ROOT / name).is_file()} - inside:
        sys.exit(f"{archive.name} lacks {', '.join(sorted(missing)[:5])}")
    if built := [name for name in inside if name.endswith((".so", ".pyd", ".pyc", ".o"))]:
        sys.exit(f"{archive.name} has what was built: {', '.join(built[:5])}")


def paths_in(folder: Path) -> set[Path]:
    """Return what is in a folder, but for the bytecode that libraries leave when they are imported."""
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def build_distributions(folder: Path) -> tuple[Path, Path]:
    """Build the source archive, and a wheel from it, as for a release; check both and return their paths."""
    sources = checkout(folder / "sources")
    tools = environment(folder / "tools", "build", "check-wheel-contents", "twine", "validate-pyproject")
    run(["validate-pyproject", sources / "pyproject.toml"])
    run([tools, "-m", "build", "--outdir", folder / "dist", sources])
    (archive,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    run([tools, "-m", "twine", "check", "--strict", archive, wheel])
    run(["check-wheel-contents", wheel])
    check_contents(archive, wheel)
    print(f"checked: {archive.name}, {wheel.name}", flush=True)
    return archive, wheel


def try_distributions(folder: Path, archive: Path, wheel: Path) -> None:
    """Install from an index that has the distributions, play, uninstall, and see that nothing is left."""
    python = environment(folder / "venv")
    install(python, *dependencies(wheel))
    before = paths_in(folder / "venv")
    with package_index(folder / "index", [archive, wheel]) as address:
        # only this index is asked, so that no other herbrand is taken
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--pre", "--index-url", address]
        settings = {"PIP_CONFIG_FILE": os.devnull, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        run([python, "-m", "pip", "install", *options, "herbrand"], cwd=folder, **settings)
    run([python, "-m", "pip", "check"])

    home = folder / "home"
    home.mkdir()
    user = {"HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    command = python.with_name("herbrand")
    print("installed:", run([command, "--version"], cwd=folder, **user).strip(), flush=True)
    print(run([command, "simulate", "ticTacToe", "-n", "1000"], cwd=folder, **user).rstrip(), flush=True)
    run([python, ROOT / "packaging" / "smoke.py"], cwd=folder, **user)

    run([python, "-m", "pip", "uninstall", "--yes", "--quiet", "herbrand"])
    if left := sorted(paths_in(folder / "venv") - before) + sorted(home.rglob("*")):
        sys.exit(f"left after herbrand was uninstalled: {', '.join(map(str, left[:5]))}")
    print("uninstalled: nothing is left")


def release(what: Sequence[str]) -> None:
    """Rehearse a release, and keep the distributions in a folder if one is named."""
    with scratch() as folder:
        distributions = build_distributions(folder)
        for place in what:
            Path(place).mkdir(parents=True, exist_ok=True)
            for path in distributions:
                shutil.copy2(path, place)
        try_distributions(folder, *distributions)


def versions() -> dict[str, str]:
    """Return the version that each file names, followed by its date in the changelog and the citation."""

    def first(file: str, pattern: str) -> str:
        match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        return " ".join(match.groups()) if match else "no version"

    return {
        "src/herbrand/__init__.py": first("src/herbrand/__init__.py", r'^__version__ = "(.*)"$'),
        "editors/vscode/package.json": json.loads(
            (ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8")
        )["version"],
        "CHANGELOG.md": first("CHANGELOG.md", r"^## (\d\S*) - (unreleased|\d{4}-\d\d-\d\d)$"),
        "CITATION.cff": first("CITATION.cff", r"^version: (.*)\ndate-released: (.*)$"),
    }


def tag(what: Sequence[str]) -> None:
    """See that all files name the version of a tag, and the same day."""
    (name,) = what
    version = name.removeprefix("v")
    named = versions()
    day = named["CITATION.cff"].partition(" ")[2]
    for file, named_version in named.items():
        wanted = f"{version} {day}" if file in ("CHANGELOG.md", "CITATION.cff") else version
        if named_version != wanted:
            sys.exit(f"{file} names {named_version}, not {wanted}")
    print(f"the sources are those of {version}, released on {day}")


def circuit_lines() -> str:
    """Return the circuits of some bundled games as `driver.cpp` reads them; herbrand has to be importable."""
    import numpy as np

    import herbrand

    lines = []
    for game in GAMES:
        network = herbrand.load(game).network
        texts = [network.terms.text(int(term)) for term in network.goals[:, 1]]
        words = np.packbits(network.initial, bitorder="little")
        words = np.pad(words, (0, -len(words) % 8)).view(np.int64)
        parts = [
            *(
                network.left,
                network.right,
                network.feedback,
                network.loops[network.loops[:, 0].argsort()].reshape(-1),
            ),
            *(network.legal, network.moves[:, 0], network.next, network.goal, network.goals[:, 0]),
            [int(text) if text.isdigit() and int(text) <= 100 else -2 for text in texts],
            *(network.sees, network.percepts[:, 0], words),
        ]
        numbers = [len(network.fluents), len(network.roles), int(network.terminal), *network.cones]
        for part in parts:
            numbers += [len(part), *part]
        lines.append(" ".join(str(int(number)) for number in numbers))
    return "\n".join(lines) + "\n"


def compile_driver(compiler: Sequence[str | Path], target: str, folder: Path) -> Path:
    """Compile the core without its bindings, and the driver, for a target; return the program."""
    common = ["-std=gnu++20", "-O1", "-DNDEBUG", "-Wall", "-Wextra", "-Werror", "-fno-math-errno"]
    common.append(f"-I{CORE}")
    processor = target.partition("-")[0]
    levels = {"x86_64": ("portable", *LEVELS), "aarch64": ("arm64",)}.get(processor, ("portable",))
    kernels = sorted((CORE / "kernels").glob("*.cpp"))
    objects = []
    for level in levels:
        one = folder / f"{level}.cpp"
        one.write_text("".join(f'#include "{kernel}"\n' for kernel in kernels), encoding="utf-8")
        flags = [f"-DHB_LEVEL={level}", f"-DHB_ROWS={level}", "-Wno-psabi", "-Wno-uninitialized"]
        if level in LEVELS:
            flags.append(f"-march={level}")  # as Zig calls them
        objects.append(folder / f"{level}.o")
        run([*compiler, *common, *flags, "-c", one, "-o", objects[-1]])
    sources = sorted(p for p in CORE.glob("*.cpp") if not p.name.startswith(("bind_", "module")))
    one = folder / "core.cpp"
    one.write_text("".join(f'#include "{source}"\n' for source in [*sources, DRIVER]), encoding="utf-8")
    program = folder / "driver"
    has = [f"-DHB_HAS_{level.upper()}=1" for level in levels]
    run([*compiler, *common, *has, one, *objects, "-o", program])
    return program


def targets(chosen: Sequence[str]) -> None:
    """Compile for other processors and systems, and compare what the driver computes where it can run."""
    circuits = circuit_lines()
    expected = ""
    with scratch() as folder:
        python = environment(folder / "venv", "ziglang")
        zig = [python, "-m", "ziglang", "c++"]
        native = f"{platform.machine()}-linux-musl"
        names = [native, *(name for name in chosen or TARGETS if name != native)]
        for name in names:
            (folder / name).mkdir()
            program = compile_driver([*zig, "-target", name], name, folder / name)
            runner = TARGETS.get(name, "")
            if name != native and not (runner and shutil.which(runner)):
                print(f"{name}: compiled, not run", flush=True)
                continue
            output = run([runner, program] if name != native else [program], text=circuits)
            expected = expected or output
            if output != expected:
                sys.exit(f"{name}: computes something else than {native}")
            print(f"{name}: run, the same results", flush=True)


def main() -> None:
    """Run one check."""
    checks: dict[str, Callable[[Sequence[str]], None]] = {
        "compilers": compilers,
        "hidden": hidden,
        "installed": installed,
        "sdist": sdist,
        "editable": editable,
        "targets": targets,
        "release": release,
        "tag": tag,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=sorted(checks))
    parser.add_argument("what", nargs="*")
    arguments = parser.parse_args()
    checks[arguments.check](arguments.what)


if __name__ == "__main__":
    main()

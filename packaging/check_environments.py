"""Install each package of environments for language models apart, and run its validator on ours.

    python packaging/check_environments.py [--folder DIR] [--wheel FILE] [PACKAGE...]

The packages are reasoning-gym, textarena, openenv and verifiers.  The virtual environments stay in the
folder, so that a second run takes minutes.  herbrand is installed from the wheel that is given, else from one
that is built from the checkout, which takes two minutes.  Nothing is asked of the network but the packages.
Prints a JSON object for each package; exits with 1 if a validator fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUN = ["--runtime.type", "subprocess", "--rich", "False", "-o", "{folder}/outputs"]
KINDS = '["write","bug","translate"]'
CHECKS = {
    "reasoning-gym": [["{python}", "{root}/packaging/environment_checks/reasoning_gym_check.py"]],
    "textarena": [["{python}", "{root}/packaging/environment_checks/textarena_check.py"]],
    "openenv": [
        ["{bin}/openenv", "validate", "{root}/environments/openenv", "--level", "static"],
        ["{python}", "{root}/packaging/environment_checks/openenv_check.py"],
    ],
    "verifiers": [
        ["{bin}/vf-validate", "herbrand-tasks", "-n", "10", *RUN],
        ["{bin}/vf-validate", "herbrand-tasks", "-n", "6", "--taskset.kinds", KINDS, *RUN],
        ["{bin}/vf-validate", "herbrand-play", "-n", "4", "--only-gold", *RUN],
        ["{python}", "{root}/packaging/environment_checks/verifiers_check.py"],
    ],
}
"""By extra, the commands that have to succeed."""


def main() -> int:
    """Check the packages that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=list(CHECKS))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "herbrand-environments")
    parser.add_argument("--wheel", type=Path)
    options = parser.parse_args()
    wheel = options.wheel or built(options.folder / "wheel")
    results = [check(name, options.folder, wheel) for name in options.packages]
    return 0 if all(result["passed"] for result in results) else 1


def built(folder: Path) -> Path:
    """Build a wheel of the checkout, and return it."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def check(name: str, folder: Path, wheel: Path) -> dict[str, object]:
    """Install a package, run its commands, and print what came of it."""
    python = install(name, folder / name, wheel)
    paths = [ROOT / "environments" / "herbrand_tasks", ROOT / "environments" / "herbrand_play"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    names = {"python": python, "bin": python.parent, "root": ROOT, "folder": folder}
    runs = []
    for command in CHECKS[name]:
        words = [word.format(**names) if word.startswith("{") else word for word in command]
        started = time.perf_counter()
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        runs.append(
            {
                "command": " ".join(map(str, command)),
                "exit": done.returncode,
                "seconds": round(time.perf_counter() - started, 1),
                "output": (done.stdout + done.stderr)[-1500:] if done.returncode else done.stdout[-300:],
            }
        )
    result: dict[str, object] = {
        "package": name,
        "version": version(python, name),
        "passed": all(run["exit"] == 0 for run in runs) and not any_invalid(name, folder, runs),
        "runs": runs,
    }
    print(json.dumps(result, indent=2), flush=True)
    return result


def any_invalid(name: str, folder: Path, runs: list[dict[str, object]]) -> bool:
    """Whether verifiers, whose command always succeeds, called a task invalid."""
    if name != "verifiers":
        return False
    newest = sorted((folder / "outputs").glob("*/summary.json"), key=lambda path: path.stat().st_mtime)
    wanted = sum("vf-validate" in str(run["command"]) for run in runs)
    outcomes = [json.loads(path.read_text(encoding="utf-8"))["outcomes"] for path in newest[-wanted:]]
    return len(outcomes) < wanted or any(one["valid"] < sum(one.values()) for one in outcomes)


def install(name: str, venv: Path, wheel: Path) -> Path:
    """Return the Python of an environment with the package and what herbrand needs."""
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    wanted = [*PROJECT["optional-dependencies"][name], *PROJECT["dependencies"]]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(wheel)], check=True)
    return python


def version(python: Path, name: str) -> str:
    """Return the installed version of a package."""
    source = f"import importlib.metadata as m; print(m.version({name!r}))"
    return subprocess.run(
        [str(python), "-c", source], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

"""What a release names in several files agrees, and hosted CI tries what the metadata promises."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import herbrand

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def builds():
    """The program that checks builds."""
    spec = importlib.util.spec_from_file_location("check_builds", ROOT / "packaging" / "check_builds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def supported() -> list[str]:
    """The versions of Python that the classifiers name."""
    found = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c)
        for c in PROJECT["project"]["classifiers"]
    )
    return [match[1] for match in found if match]


def test_files_name_one_version(builds) -> None:
    """The changelog begins with the version that is worked on, and the citation names the newest released one."""
    named = builds.versions()
    assert named["src/herbrand/__init__.py"] == herbrand.__version__
    version = re.sub(r"\.dev\d+$", "", herbrand.__version__)
    assert named["editors/vscode/package.json"] == version
    number, _, day = named["CHANGELOG.md"].partition(" ")
    assert number == version
    assert (day == "unreleased") == (version != herbrand.__version__)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    assert named["CITATION.cff"] == " ".join(released[0])


def test_a_tag_is_refused_unless_all_files_name_it(
    builds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A version in development, another number and another day are no release."""
    texts = {
        "src/herbrand/__init__.py": '__version__ = "1.2.0"\n',
        "editors/vscode/package.json": '{"version": "1.2.0"}',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.0 - 2030-05-06\n\n## 1.1.0 - 2029-01-01\n",
        "CITATION.cff": "version: 1.2.0\ndate-released: 2030-05-06\n",
    }

    def lay_out(**changed: str) -> None:
        for file, text in texts.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text)
        for file, text in changed.items():
            (tmp_path / file).write_text(text)

    monkeypatch.setattr(builds, "ROOT", tmp_path)
    lay_out()
    builds.tag(["v1.2.0"])
    assert "1.2.0, released on 2030-05-06" in capsys.readouterr().out
    for tag, file, text in (
        ("v1.3.0", "CHANGELOG.md", texts["CHANGELOG.md"]),
        ("v1.2.0", "src/herbrand/__init__.py", '__version__ = "1.2.0.dev0"\n'),
        ("v1.2.0", "CHANGELOG.md", "## 1.2.0 - unreleased\n"),
        ("v1.2.0", "CHANGELOG.md", "## 1.2.0 - 2030-05-07\n"),
        ("v1.2.0", "CITATION.cff", "version: 1.1.0\ndate-released: 2030-05-06\n"),
        ("v1.2.0", "editors/vscode/package.json", '{"version": "1.1.0"}'),
    ):
        lay_out(**{file: text})
        with pytest.raises(SystemExit, match="names"):
            builds.tag([tag])


def test_hosted_ci_runs_every_supported_python() -> None:
    """The classifiers, the matrix of tests, the wheels and the oldest version are the same."""
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    (matrix,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.MULTILINE)
    assert re.findall(r'"([\d.]+)"', matrix) == supported()
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"cp{v.replace('.', '')}-*" for v in supported()]
    assert PROJECT["project"]["requires-python"] == f">={supported()[0]}"


def test_links_of_the_readme_lead_on_from_the_page_of_an_index() -> None:
    """Links to files become addresses in the description that goes with the distributions."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for rule in hook["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)\s]*)\)", text)
    assert len(targets) > 10
    for target in targets:
        assert target.startswith(("https://", "#")), target
    for target in re.findall(r"blob/main/([^)#]+)", text):
        assert (ROOT / target).exists(), target

"""Texts from Jinja2 templates, which lie in folders `templates` beside the modules that fill them.

    >>> str(render("runtime/column.html", lines=["1 < 2"]))
    '<pre style="margin:0">1 &lt; 2</pre>'

Values are escaped unless they are `Markup` or the template is of a program; a name that a template uses but
was not given raises `jinja2.UndefinedError`.  Importing this module imports Jinja2, so it is imported where
a page is written.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "compile_templates", "render", "render_program"]


def render(template: str, /, **values: object) -> Markup:
    """Fill a template: `web/game.html` is the file `web/templates/game.html` of the package."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))  # noqa: S704  # the template escaped


def render_program(template: str, /, **values: object) -> str:
    """Fill a template of a program, `.kif`, `.lp` or `.pddl`; the text ends with a newline."""
    return _PROGRAMS.get_template(template).render(values) + "\n"


def compile_templates(folder: str) -> None:
    """Compile the templates of a subpackage, each of which is otherwise compiled when it is first filled."""
    for file in files("herbrand").joinpath(folder, "templates").iterdir():
        _ENVIRONMENT.get_template(f"{folder}/{file.name}")


def _source(template: str) -> str:
    folder, _, name = template.rpartition("/")
    return files("herbrand").joinpath(folder, "templates", name).read_text(encoding="utf-8")


_ENVIRONMENT: Final = Environment(
    loader=FunctionLoader(_source),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_ENVIRONMENT.policies["json.dumps_kwargs"] = {}  # keys stay in their order, which is that of roles
_PROGRAMS: Final = _ENVIRONMENT.overlay(autoescape=False, finalize=format)  # a number may format as a name

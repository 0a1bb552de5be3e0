"""`herbrand convert`: write a rulesheet in another notation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, NOTATION, read_tree
from herbrand.cli.output import count, remark, render, result
from herbrand.syntax.tree import And, Atom, Constant, Distinct, Function, Node, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from herbrand.syntax.tree import Tree

__all__ = ["command", "rules_as_json"]


@click.command("convert")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Choice(["prefix", "infix", "prolog", "json", "dot"]),
    help="What to write: a notation, the rules as JSON, or the dependency graph for Graphviz.",
)
@click.option("--portable", is_flag=True, help="Rename what some systems cannot read.")
@click.option("--spelling", is_flag=True, help="Keep upper-case letters where the notation allows them.")
@click.option(
    "--runnable", is_flag=True, help="With --to prolog: add the declarations that Prolog systems want."
)
@click.option("-o", "--output", metavar="OUT", type=click.Path(dir_okay=False), help="Write to this file.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    target: str,
    output: str | None,
    portable: bool,
    spelling: bool,
    runnable: bool,
) -> None:
    """Write a rulesheet in another notation.

    Names that the other notation cannot spell are renamed, and said so.  A text with syntax
    errors is not converted: `herbrand check --fix` may repair it.
    """
    tree = read_tree(file, notation)
    errors = [d for d in tree.diagnostics if d.is_error]
    if errors:
        remark(render(errors, "text", err=True).rstrip("\n"))
        remark(f"error: {count(len(errors), 'syntax error')} in {tree.source.name}; nothing was written")
        ctx.exit(1)
    text = _converted(tree, target, portable=portable, spelling=spelling, runnable=runnable)
    if output is None:
        result(text, newline=False)
    else:
        Path(output).write_text(text, encoding="utf-8", newline="")
        remark(f"wrote {output}")


def _converted(tree: Tree, target: str, *, portable: bool, spelling: bool, runnable: bool) -> str:
    if target == "json":
        return json.dumps(rules_as_json(tree), indent=1, ensure_ascii=False) + "\n"
    if target == "dot":
        from herbrand.check import check

        return check(tree).graph.to_dot().rstrip("\n") + "\n"
    from herbrand.syntax.printer import print_tree

    printed = print_tree(tree, target, portable, spelling=spelling, runnable=runnable)
    if printed.diagnostics:
        remark(render(printed.diagnostics, "line", err=True).rstrip("\n"))
    return printed.text.rstrip("\n") + "\n"


def rules_as_json(tree: Tree) -> dict[str, Any]:
    """Return a rulesheet as JSON values.

    `{"notation": ..., "statements": [{"head": ATOM, "body": [LITERAL, ...]}, ...]}`, where an atom is
    `{"relation": name, "arguments": [TERM, ...]}`, the other literals are `{"not": LITERAL}`,
    `{"and": [...]}`, `{"or": [...]}` and `{"distinct": [TERM, TERM]}`, and a term is a string for a
    constant, `{"variable": name}` or `{"function": name, "arguments": [TERM, ...]}`.
    """
    return {"notation": tree.notation, "statements": [_node(rule) for rule in tree.statements]}


def _node(node: Node) -> Any:
    match node:
        case Constant():
            return node.spelling
        case Variable():
            return {"variable": node.spelling}
        case Function():
            return {"function": node.spelling, "arguments": [_node(a) for a in node.args]}
        case Atom():
            return {"relation": node.spelling, "arguments": [_node(a) for a in node.args]}
        case Not():
            return {"not": _node(node.literal)}
        case And():
            return {"and": [_node(literal) for literal in node.literals]}
        case Or():
            return {"or": [_node(literal) for literal in node.literals]}
        case Distinct():
            return {"distinct": [_node(node.left), _node(node.right)]}
        case Rule():
            return {"head": _node(node.head), "body": [_node(literal) for literal in node.body]}
    raise TypeError(f"not a part of a rulesheet: {node!r}")

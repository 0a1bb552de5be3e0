"""Parameters: declarations, and the values that a game is instantiated with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl.program import Parameter, Value, show
from herbrand.syntax.ggdl.report import Refused
from herbrand.syntax.ggdl.values import Values, as_integer, integer
from herbrand.syntax.nodes import Constant

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Term

__all__ = ["bind"]


def bind(program: GgdlProgram) -> None:
    """Bind every parameter to the given value, or to its default."""
    declared: dict[str, n.ParameterSentence] = {}
    by_folded: dict[str, str] = {}
    for sentence in program.sentences:
        if not isinstance(sentence, n.ParameterSentence) or sentence.imported:
            continue
        program.report.source = sentence.source
        try:
            earlier = declared.get(sentence.name) or declared.get(by_folded.get(sentence.name.lower(), ""))
            if earlier is not None:
                program.report.refuse(
                    "E-NAME-CLASH",
                    f"the parameter `{sentence.name}` is declared twice",
                    sentence,
                    labels=[(earlier, "declared here first")],
                )
            declared[sentence.name] = sentence
            by_folded[sentence.name.lower()] = sentence.name
            program.declare(sentence.name, "parameter")
            _one(program, sentence)
        except Refused:  # the default, or a small size, so that nothing else seems wrong
            default = sentence.default
            text = program.source.text[default.start : default.end] if default is not None else ""
            program.constants.setdefault(sentence.name, Constant(text if text.isdecimal() else "1"))
    program.report.source = program.source
    for name in program.arguments:
        if name not in declared:
            listed = ", ".join(f"`{p.name}`" for p in program.parameters) or "none"
            suggestion = by_folded.get(name.lower())
            program.report.add(
                "E-PARAM-UNKNOWN",
                f"the game has no parameter `{name}`",
                (0, 0),
                help=f"did you mean `{suggestion}`?" if suggestion else f"its parameters: {listed}",
            )


def _one(program: GgdlProgram, sentence: n.ParameterSentence) -> None:
    report, values = program.report, Values(program)
    kind = sentence.type.name
    low = high = None
    choices: tuple[Term, ...] = ()
    if kind == "int":
        low, high = values.bounds(sentence.type)
    elif kind == "":
        assert sentence.type.low is not None
        assert sentence.type.high is not None
        low, high = values.integer(sentence.type.low), values.integer(sentence.type.high)
        kind = "int"
    elif kind != "bool":
        from herbrand.syntax.ggdl.types import define_type

        members = define_type(program, kind.lower())
        if members is None:
            report.refuse(
                "E-TYPE-UNKNOWN" if kind != "string" else "E-TYPE-INFINITE",
                f"unknown type `{kind}` for a parameter",
                sentence.type,
                help="parameters have the type `int`, `bool` or a data type",
            )
        choices = members
    if low is not None and high is not None and low > high:
        report.refuse("E-RANGE-EMPTY", f"the range {low} .. {high} is empty", sentence)
    names = tuple(map(show, choices))
    parameter = Parameter(sentence.name, kind, low, high, names, doc=sentence.doc)
    if sentence.default is not None:
        default = _read(parameter, choices, _default_text(values, sentence.default))
        parameter = replace(parameter, default=default)
        if default is None or _outside(parameter, default):
            program.parameters.append(replace(parameter, default=None))
            text = report.text_of(sentence.default)
            message = f"the default `{text}` of `{sentence.name}` is not {_allowed(parameter)}"
            report.refuse("E-PARAM-DEFAULT", message, sentence.default)
    argument = program.arguments.get(sentence.name)
    value = parameter.default
    if argument is not None:
        value = _read(parameter, choices, argument)
        wrong = "E-PARAM-TYPE" if value is None else "E-PARAM-RANGE" if _outside(parameter, value) else ""
        if wrong:
            shown = f"`{argument}`" if value is None else argument
            message = f"`{sentence.name}` must be {_allowed(parameter)}, not {shown}"
            report.add(wrong, message, sentence, help=_hint(parameter))
            value = None
    elif value is None:
        report.add(
            "E-PARAM-MISSING",
            f"`{sentence.name}` has no default and needs a value: {_allowed(parameter)}",
            sentence,
            help=f"give one: `--param {sentence.name}=…`, or a keyword argument of `herbrand.load`",
        )
    program.parameters.append(replace(parameter, value=value))
    if value is None:
        value = parameter.default if parameter.default is not None else (parameter.low or 0)
    program.constants[sentence.name] = _as_term(choices, value)
    if isinstance(value, bool):
        program.bools[sentence.name] = value


def _default_text(values: Values, expr: n.Expr) -> Value:
    if isinstance(expr, n.Name) and expr.folded in {"true", "false"}:
        return expr.folded == "true"
    term = values.term(expr)
    number = as_integer(term)
    return show(term) if number is None else number


def _read(parameter: Parameter, choices: tuple[Term, ...], argument: Value) -> Value | None:
    """Convert a value to the parameter's type; None if it is of another kind."""
    text = str(argument).strip()
    if parameter.type == "int":
        if isinstance(argument, bool):
            return None
        try:
            return int(text)
        except ValueError:
            return None
    if parameter.type == "bool":
        if isinstance(argument, bool):
            return argument
        return {"true": True, "false": False, "1": True, "0": False}.get(text.lower())
    return next((name for name in map(show, choices) if name.lower() == text.lower()), text)


def _outside(parameter: Parameter, value: Value) -> bool:
    if parameter.type == "int":
        assert isinstance(value, int)
        return (parameter.low is not None and value < parameter.low) or (
            parameter.high is not None and value > parameter.high
        )
    return bool(parameter.choices) and value not in parameter.choices


def _allowed(parameter: Parameter) -> str:
    words = parameter.range
    if parameter.type == "int" and words != "any integer":
        return f"an integer, {words}" if "at" in words else f"an integer from {words}"
    return "an integer" if parameter.type == "int" else words


def _hint(parameter: Parameter) -> str | None:
    return None if parameter.default is None else f"its default is {parameter.default}"


def _as_term(choices: tuple[Term, ...], value: Value) -> Term:
    if isinstance(value, bool):
        return Constant("true" if value else "false")
    if isinstance(value, int):
        return integer(value)
    chosen = (choice for choice in choices if show(choice) == value)
    return next(chosen, Constant(value.lower(), value))

"""Random games as C source: a lane program as straight-line code, and a small runtime around it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from herbrand import __version__
from herbrand.convert.lanes.chunks import cut
from herbrand.convert.lanes.programs import playing_programs
from herbrand.network.lanes import STAGES, operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.convert.lanes.chunks import Chunk, Chunks
    from herbrand.network.lanes import LaneProgram
    from herbrand.network.network import Network

__all__ = ["c_source"]

_CHUNK = 250
"""The most operations of a function: compile times grow faster than functions."""
_ARITY = 3
"""The most inputs of an operation."""
_WIDTH = 110
"""The width of tables in columns."""


def c_source(network: Network, game: str) -> str:
    """Return C99 source that plays random games on a network, the same games as `BatchSimulator`.

    `game` is the name of the game, a prefix of all public names.
    """
    name = _identifier(game)
    programs = playing_programs(network, arity=_ARITY)
    first = programs[0].play
    assert first is not None
    fields = {
        "title": f"{name}.c",
        "game": _comment(game),
        "version": __version__,
        "name": name,
        "NAME": name.upper(),
        "roles": str(len(programs[0].roles)),
        "goals": str(len(programs[0].goals)),
        "fluents": str(len(programs[0].fluents)),
        "flush_steps": str(first.flush_steps),
        "tables": "\n".join(_tables(programs[0], name)),
        "programs": "\n".join(_programs(programs)),
    }
    template = files("herbrand.convert.lanes").joinpath("random_games.c.in").read_text(encoding="utf-8")
    return re.sub("‹(\\w+)›", lambda match: fields[match[1]], template)


def _identifier(game: str) -> str:
    """Return the prefix of public names: the name of the game as a C identifier."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", game).strip("_")
    return name if re.match("[A-Za-z]", name) else f"game_{name}".rstrip("_")


def _comment(text: str) -> str:
    """Return a text that is safe in a comment."""
    return re.sub(r"[^ -~]|[?\\]|\*(?=/)|/(?=\*)", "_", text)


def _string(text: str) -> str:
    """Return a text as a string literal."""
    letters = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in text.encode()
    )
    return f'"{"".join(letters)}"'


def _array(declaration: str, items: Iterable[str]) -> Iterator[str]:
    """Lay out the initialiser of an array, with a 0 if it is empty, as C requires."""
    yield f"{declaration} = {{"
    line = "   "
    for item in items or ["0"]:
        if len(line) + len(item) + 2 > _WIDTH:
            yield line
            line = "   "
        line += f" {item},"
    yield line
    yield "};"


def _numbers(name: str, numbers: Iterable[int]) -> Iterator[str]:
    yield from _array(f"static const int {name}[]", [str(number) for number in numbers])


def _tables(program: LaneProgram, name: str) -> Iterator[str]:
    """Write the tables of the game: names, goals, the initial state."""
    play = program.play
    assert play is not None
    yield from _array(f"const char *const {name}_role[]", list(map(_string, program.roles or [""])))
    yield from _array(f"const char *const {name}_fluent[]", list(map(_string, program.fluents or [""])))
    goals = [f"{{{role}, {_string(value)}}}" for role, value in program.goals]
    yield from _array(f"const struct {name}_goal {name}_goal[]", goals or ['{0, ""}'])
    yield from _array("static const uint8_t initial[]", [str(int(bit)) for bit in play.initial])


def _programs(programs: list[LaneProgram]) -> Iterator[str]:
    """Write the code of all programs, and the table `programs`."""
    for prefix, program in zip("ab", programs, strict=False):
        chunks = cut(program, _CHUNK)
        yield from _functions(program, chunks, prefix)
        yield from _program(program, chunks, prefix)
    yield "/* the second one takes over when an assumption of the first fails; null if that is impossible */"
    yield from _array(
        "static const struct program *const programs[2]",
        [f"&{prefix}_program" for prefix in "ab"[: len(programs)]],
    )


def _functions(program: LaneProgram, chunks: Chunks, prefix: str) -> Iterator[str]:
    names: dict[int, str] = {}
    for stage in program.stages:
        for row, name in program.outputs(stage):
            if row > 1:
                names.setdefault(row, name)
    for u, unit in enumerate(chunks.units):
        for k, chunk in enumerate(unit):
            rows = "part *restrict r, const part *restrict s, part *restrict n"
            yield f"static void {prefix}_{u}_{k}({rows}) {{"
            yield "    (void)r, (void)s, (void)n;"
            yield from _statements(chunk, program.states, names)
            yield "}"
        functions = [*(f"{prefix}_{u}_{k}" for k in range(len(unit))), "0"]
        yield from _array(f"static chunk *const {prefix}_{u}[]", functions)


def _statements(chunk: Chunk, states: int, names: dict[int, str]) -> Iterator[str]:
    """Write the operations of a chunk, to local variables and to the rows that are needed later."""

    def memory(row: int) -> str:
        place = chunk.memory[row]
        if 2 <= place < 2 + states:
            return f"S({place - 2})"
        return f"N({place - 2 - states})" if 2 + states <= place < 2 + 2 * states else f"R({place})"

    written: set[int] = set()
    for op in chunk.operations:
        out = op[0]
        value = operation(op, lambda row: f"t{row}" if row in written else memory(row))
        value = {"0": "R(0)", "~0": "R(1)"}.get(value, value)  # vector constants are rows
        written.add(out)
        comment = f" /* {_comment(names[out])} */" if out in names else ""
        if out in chunk.local:
            yield f"    const part t{out} = {value};{'' if out in chunk.memory else comment}"
            value = f"t{out}"
        if out in chunk.memory:
            yield f"    {memory(out)} = {value};{comment}"


def _program(program: LaneProgram, chunks: Chunks, prefix: str) -> Iterator[str]:
    """Write the tables of a program, after its functions."""
    play = program.play
    assert play is not None
    units = []
    for u, (first, last) in enumerate(program.units[:, 2:].tolist()):
        yield from _numbers(f"{prefix}_back_{u}", program.back[first:last].ravel().tolist())
        units.append(f"{{{prefix}_{u}, {prefix}_back_{u}, {last - first}}}")
    yield from _array(f"static const struct unit {prefix}_units[]", units)
    choices = []
    for i, choice in enumerate(play.choices):
        for name in ("count", "rank"):
            yield from _numbers(f"{prefix}_{name}_{i}", getattr(choice, name))
        numbers = ", ".join(f"{prefix}_{name}_{i}" for name in ("count", "rank"))
        choices.append(f"{{{len(choice.count)}, {choice.again}, {numbers}}}")
    yield from _array(f"static const struct choice {prefix}_choices[]", choices or ["{0, 0, 0, 0}"])
    yield from _numbers(f"{prefix}_stuck_role", play.stuck_roles)
    yield from _numbers(f"{prefix}_goal", program.goal_rows)
    counters = [f"{{{a}, {b}}}" for a, b in play.counters] or ["{0, 0}"]
    yield from _array(f"static const int {prefix}_counters[][2]", counters)
    stages = (
        f"{{{prefix}_units + {first}, {prefix}_units + {last}}}"
        for first, last in (program.stages[stage] for stage in STAGES)
    )
    names = ("active", "late", "restart", "random", "randoms", "over", "stuck", "conflict")
    shared = (str(getattr(play, name)) for name in names)
    tables = (f"{prefix}_{name}" for name in ("stuck_role", "goal", "counters", "choices"))
    yield from _array(
        f"static const struct program {prefix}_program",
        [str(chunks.rows), str(program.states), *stages, *shared, *tables, str(len(play.choices))],
    )

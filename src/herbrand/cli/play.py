"""`herbrand play`: play a game in the terminal, against programs or other people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from herbrand.cli.files import FILE, NOTATION, STDIN, read_game
from herbrand.cli.options import POSITIVE, roles_named
from herbrand.cli.output import columns, count, goals_line, painter, remark, result
from herbrand.errors import GameError, HerbrandError, InvalidMoveError
from herbrand.machine.joint_text import normal
from herbrand.match.local import LocalMatch
from herbrand.play.levels import DEFAULT_LEVEL, LEVELS, default_clock
from herbrand.play.registry import NoSuchPlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["command", "matching_moves"]

SHOWN: Final = 40
"""Longer lists of moves are only shown by the command `moves`."""

HELP: Final = """\
Choose a move by its number, its text, or a unique part of its text.
  moves          list all legal moves
  state          draw the state again
  goals          show the goals of this state
  hint           show how a program rates your moves
  why ATOM       explain why something holds, such as: why (legal white noop)
  undo           take back your last move
  quit           leave the game
A word that is also a move is read as the move; :quit is always the command."""

PREPARATION: Final = 5.0
"""Minimum preparation time of a program in seconds."""

ADVISER: Final = "mcts"
"""The player that gives hints."""

COMMANDS: Final = ("?", "help", "moves", "state", "goals", "hint", "why", "why-not", "undo", "quit")


@click.command("play")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--as", "roles", metavar="ROLE", multiple=True, help="The role you play; the first one by default."
)
@click.option(
    "--opponent",
    metavar="PLAYER",
    default=DEFAULT_LEVEL,
    help=f"The player of the other roles: a level ({', '.join(LEVELS)}), another player of "
    "`herbrand players`, or human.",
)
@click.option(
    "--clock", type=POSITIVE, help="Seconds per move for programs; by default those of the level, or 1."
)
@click.option("--seed", type=int, help="Makes the opponent's moves reproducible.")
@click.option("--hint", "hints", is_flag=True, help="Show a program's ratings before each of your moves.")
@click.option("--open", "everything", is_flag=True, help="Show hidden information, too.")
def command(
    file: str,
    notation: str,
    roles: tuple[str, ...],
    opponent: str,
    clock: float | None,
    seed: int | None,
    hints: bool,
    everything: bool,
) -> None:
    """Play a game in the terminal.

    The other roles are played by a program or by people at the same keyboard: simultaneous moves are shown
    when all have been chosen. The role `random` always chooses at random. In games with hidden information
    (`sees`), people and programs only get the information of their roles. Type ? for help.
    """
    if file == STDIN:
        raise click.UsageError("FILE cannot be -: play reads your moves from standard input")
    game = read_game(file, notation)
    people = _people(game, roles, opponent)
    programs = {}
    if opponent not in ("random", "human"):
        programs = {role: opponent for role in game.players if role not in people}
    if clock is None:
        clock = default_clock(opponent)
    preparation = max(clock, PREPARATION)

    def announce(name: str, role: str) -> None:
        if sys.stderr.isatty():
            remark(f"preparing {name} to play {role}, for at most {preparation:g} seconds")

    match = LocalMatch(
        game,
        people=people,
        programs=programs,
        clock=clock,
        preparation=preparation,
        seed=seed,
        ponder=len(programs) == 1 and not hints,  # then it takes time from no other program
        on_start=announce,
    )
    try:
        match.prepare()
    except NoSuchPlayer as error:
        raise click.BadParameter(str(error), param_hint="--opponent") from error
    kind = _Screen if everything or not game.has_percepts else _HiddenScreen
    try:
        kind(match, hints=hints).run()
    finally:
        match.close()


def _people(game: Game, roles: Sequence[str], opponent: str) -> tuple[str, ...]:
    """Return the roles that people play."""
    playable = [role for role in game.roles if role.lower() != "random"]
    if not playable:
        raise GameError("the game has no role but `random`")
    chosen = roles_named(roles, playable, "--as")
    return tuple(playable if opponent == "human" else dict.fromkeys(chosen)) or (playable[0],)


def matching_moves(text: str, moves: Sequence[Move]) -> list[Move]:
    """Return the moves that a text can mean.

    In order of preference, the text is a whole move (with or without parentheses), its number, a prefix of
    it, a prefix of one of its words, or any part of it.
    """
    try:
        query = _bare(normal(text))
    except InvalidMoveError:
        query = _bare(text.lower())
    texts = [_bare(normal(str(move))) for move in moves]

    def fitting(fits: Callable[[str], bool]) -> list[Move]:
        return [move for move, spelling in zip(moves, texts, strict=True) if fits(spelling)]

    exact = fitting(lambda spelling: spelling == query)
    if exact or not query:
        return exact
    number = text.strip().removeprefix("#")
    if number.isdecimal() and len(number) < 10 and 1 <= int(number) <= len(moves):
        return [moves[int(number) - 1]]
    return (
        fitting(lambda spelling: spelling.startswith(query))
        or fitting(lambda spelling: f" {query}" in spelling)
        or fitting(lambda spelling: query in spelling)
    )


def _bare(text: str) -> str:
    return " ".join(text.replace("(", " ").replace(")", " ").split())


class _Quit(Exception):  # control flow, not an error
    """A person leaves the game."""


class _Undo(Exception):  # control flow, not an error
    """A person takes back the last move."""


class _Screen:
    """The terminal interface of a match: shows states and asks people for moves."""

    def __init__(self, match: LocalMatch, *, hints: bool) -> None:
        self.match = match
        self.drawn: State | None = None
        self.hints = hints
        """Whether to give a hint before each move of a person."""
        self.paint = painter()

    @property
    def steps(self) -> int:
        """Number of joint moves so far."""
        return len(self.match.play)

    def run(self) -> None:
        """Play to the end, or until a person leaves."""
        match = self.match
        drawn = [role for role in match.game.roles if role not in (*match.people, *match.programs)]
        rest = [f"{', '.join(drawn)} {'choose' if len(drawn) > 1 else 'chooses'} at random"] if drawn else []
        if match.programs:
            names = ", ".join(dict.fromkeys(match.programs.values()))
            rest.insert(0, f"{names} plays {', '.join(match.programs)}")
        result("; ".join([f"{match.game.name}: you play {', '.join(match.people)}", *rest]))
        result("? for help, quit to leave")
        try:
            while not match.state.is_terminal:
                try:
                    self._step()
                except _Undo:
                    self._take_back()
        except _Quit:
            result(f"left after {count(self.steps, 'step')}")
            return
        self._end()
        result(f"\nthe game is over after {count(self.steps, 'step')}: {goals_line(match.state.goals)}")

    def _step(self) -> None:
        match = self.match
        match.state.require_moves()
        choosing = match.waiting
        if choosing:
            self._draw()
        for role in choosing:
            match.choose(role, self._ask(role, match.state.legal_moves(role), hidden=len(choosing) > 1))
        match.advance()
        self._report(match.play.choices(self.steps - 1))

    def _report(self, plan: dict[str, str]) -> None:
        """Print the moves of roles that had a choice."""
        result("\n" + "\n".join(f"{self._role(role)} plays {move}" for role, move in plan.items()))

    def _end(self) -> None:
        """Show the final state."""
        self._draw()

    def _take_back(self) -> None:
        if self.match.take_back():
            self.drawn = None
            result("taken back")
        else:
            result("no move to take back")

    def _draw(self) -> None:
        if self.drawn is not self.match.state:
            result(f"\n{self._board()}\n")
            self.drawn = self.match.state

    def _board(self) -> str:
        """Return the state as text, the last moves marked."""
        play = self.match.play
        last = play.choices(len(play) - 1).values() if len(play) else ()
        return self.match.game.artist.text(play.state, last=last, paint=self.paint)

    def _role(self, role: str) -> str:
        """Return a role in its colour."""
        return role if self.paint is None else self.paint(role, self.match.game.artist.colours[role])

    def _ask(self, role: str, moves: Sequence[Move], *, hidden: bool) -> Move:
        """Ask for a move until the input is unambiguous."""
        self._list(role, moves, everything=False)
        if self.hints:
            self._hint(role)
        while True:
            text = _read(f"{role}> ", moves, hidden=hidden)
            matches = [] if text.startswith(":") else matching_moves(text, moves)
            word, _, rest = text.removeprefix(":").partition(" ")
            is_exact = len(matches) == 1 and _bare(normal(str(matches[0]))) == _bare(text.lower())
            if word.lower() in COMMANDS and not is_exact:
                self._execute(word.lower(), rest.strip(), role, moves)
            elif len(matches) == 1:
                if hidden:
                    result(f"{role} has chosen")
                return matches[0]
            elif matches:
                result(f"which one?\n{columns(map(str, matches[:SHOWN]), indent='  ')}")
            elif text:
                result(f"no legal move contains `{text}`; `moves` lists them, ? shows help")

    def _execute(self, word: str, rest: str, role: str, moves: Sequence[Move]) -> None:
        if word == "quit":
            raise _Quit
        if word == "undo":
            raise _Undo
        if word == "moves":
            self._list(role, moves, everything=True)
        elif word == "state":
            result(self._board())
        elif word == "goals":
            result(goals_line(self.match.state.goals))
        elif word == "hint":
            self._hint(role)
        elif word in ("why", "why-not"):
            try:
                result(str(self.match.state.why(rest)))
            except HerbrandError as error:
                result(str(error))
        else:
            result(HELP)

    def _hint(self, role: str) -> None:
        """Show how a program rates the moves of a person."""
        _, report = self.match.hint(role, ADVISER)
        if report is None:
            result("there is only one move")
        else:
            result(f"expected goals of {role} and number of playouts by move\n{report}")

    def _list(self, role: str, moves: Sequence[Move], *, everything: bool) -> None:
        if len(moves) > SHOWN and not everything:
            result(
                f"{role} has {count(len(moves), 'legal move')}: type part of one, or `moves` to see them all"
            )
            return
        width = len(str(len(moves)))
        sign = "#" if any(str(move).isdecimal() for move in moves) else ""
        result(f"{self._role(role)} can play")
        result(columns((f"{f'{sign}{i}':>{width}} {m}" for i, m in enumerate(moves, start=1)), indent="  "))


class _HiddenScreen(_Screen):
    """The interface for games with hidden information: shows people only what their roles can know."""

    def __init__(self, match: LocalMatch, *, hints: bool) -> None:
        super().__init__(match, hints=hints)
        self.reported = dict.fromkeys(match.people, 0)
        """Number of steps whose percepts each person has been shown."""

    def _report(self, plan: dict[str, str]) -> None:
        own = [role for role in plan if role in self.match.people]
        if len(self.match.people) == 1 and own and own[0] in self.match.play.choosing(self.steps - 1):
            result(f"\n{self._role(own[0])} plays {plan[own[0]]}")

    def _take_back(self) -> None:
        super()._take_back()
        self.reported = {role: min(steps, self.steps) for role, steps in self.reported.items()}

    def _draw(self) -> None:
        """Do nothing: the state is hidden."""

    def _end(self) -> None:
        for role in self.match.people:
            self._show_percepts(role)
        result(f"\nthe complete state:\n\n{self._board()}")
        play = "; ".join(", ".join(joint) for joint in self.match.play.joint_moves)
        result(f'\nthe play was --moves "{play}"')

    def _show_percepts(self, role: str) -> None:
        lines = []
        for step in range(self.reported[role], self.steps):
            percepts = self.match.play.percepts(step, role)
            if percepts:
                lines.append(f"step {step + 1}: {role} saw {' '.join(percepts)}")
        self.reported[role] = self.steps
        if lines:
            result("\n" + "\n".join(lines))

    def _hint(self, role: str) -> None:
        result(f"a hint for {role} could reveal hidden information: use --open to see everything")

    def _ask(self, role: str, moves: Sequence[Move], *, hidden: bool) -> Move:
        if len(self.match.people) > 1:
            result(f"\nfor {role} only:")
        self._show_percepts(role)
        self._show_knowledge(role)
        return super()._ask(role, moves, hidden=hidden or len(self.match.people) > 1)

    def _show_knowledge(self, role: str) -> None:
        """Show what a role can know."""
        from herbrand.cli.knowledge import facts_text

        try:
            knowledge = self.match.knowledge(role)
        except HerbrandError as error:
            result(f"\nyour knowledge could not be computed: {error}")
            return
        sample = "" if knowledge.exact else "\n\n(from a sample of the possible states)"
        result("\n" + "\n\n".join(facts_text(knowledge)) + sample + "\n")

    def _execute(self, word: str, rest: str, role: str, moves: Sequence[Move]) -> None:
        if word == "state":
            self._show_knowledge(role)
        elif word in ("goals", "hint", "why", "why-not"):
            result(f"`{word}` could reveal hidden information: use --open to see everything")
        else:
            super()._execute(word, rest, role, moves)


def _read(prompt: str, moves: Sequence[Move], *, hidden: bool) -> str:
    """Read a line, and wipe it off the screen if `hidden`; raise `_Quit` at the end of input."""
    interactive = sys.stdin.isatty()
    if interactive:
        _complete_with([*map(str, moves), *(_bare(str(move)) for move in moves), *COMMANDS])
    try:
        text = input(prompt).strip()
    except EOFError:
        result("")
        raise _Quit from None
    except UnicodeDecodeError:
        return ""
    if hidden:
        if interactive and sys.stdout.isatty():
            sys.stdout.write("\x1b[1A\x1b[2K")  # not by `result`, which leaves out more than colours
            result(f"{prompt}***")
        elif not interactive:
            result("***")
    elif not interactive:
        result(text)  # echo the input in transcripts
    return text


def _complete_with(words: Sequence[str]) -> None:
    """Complete words with the tab key if Python has readline."""
    try:
        import readline
    except ImportError:
        return

    def complete(text: str, state: int) -> str | None:
        fitting = sorted({word for word in words if word.lower().startswith(text.lower())})
        return fitting[state] if state < len(fitting) else None

    readline.set_completer(complete)
    readline.set_completer_delims("")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    readline.set_auto_history(False)

"""`herbrand play`: play a game in the terminal, against chance or against each other."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from herbrand.cli.files import FILE, NOTATION, STDIN, read_game
from herbrand.cli.joint import normal
from herbrand.cli.output import columns, count, goals_line, remark, result
from herbrand.errors import GameError, HerbrandError, InvalidMoveError
from herbrand.match.local import LocalMatch
from herbrand.play.registry import NoSuchPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["command", "matching_moves"]

SHOWN: Final = 40
"""More moves than this are counted, and listed only when asked for."""

HELP: Final = """\
Choose a move by its number, by its text, or by a part of it that no other has.
  moves          list all legal moves
  state          draw the state again
  goals          what everybody would get now
  hint           what a program finds out about your moves
  why ATOM       explain why something holds, such as: why (legal white noop)
  undo           take back your last move
  quit           leave the game
A word that is also a move means the move; :quit is always the command."""

PREPARATION: Final = 5.0
"""Seconds that a program has before the first move, at least."""

ADVISER: Final = "mcts"
"""The player that gives hints."""

COMMANDS: Final = ("?", "help", "moves", "state", "goals", "hint", "why", "why-not", "undo", "quit")


@click.command("play")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--as", "roles", metavar="ROLE", multiple=True, help="The role you play; the first one otherwise."
)
@click.option(
    "--opponent",
    metavar="PLAYER",
    default="random",
    show_default=True,
    help="Who plays the other roles: a player of `herbrand players`, or human.",
)
@click.option(
    "--clock",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="Seconds that a player has for a move.",
)
@click.option("--seed", type=int, help="Makes the opponent's moves repeatable.")
@click.option("--hint", "hints", is_flag=True, help="Show before each of your moves what a program finds.")
@click.option("--open", "everything", is_flag=True, help="Show also what the rules hide from you.")
def command(
    file: str,
    notation: str,
    roles: tuple[str, ...],
    opponent: str,
    clock: float,
    seed: int | None,
    hints: bool,
    everything: bool,
) -> None:
    """Play a game in the terminal.

    The other roles choose at random, are played by another program (`herbrand players`), or by people
    at the same keyboard: moves that are made at the same time are shown when all have been chosen. The
    role `random` is always left to chance. Where the rules hide something from you (`sees`), you are
    shown what you can know, and programs are told no more than their roles can know.
    Type ? for help.
    """
    if file == STDIN:
        raise click.UsageError("play reads your moves from standard input: give the rules as a file")
    game = read_game(file, notation)
    people = _people(game, roles, opponent)
    programs = {}
    if opponent not in ("random", "human"):
        programs = {role: opponent for role in game.players if role not in people}
    match = LocalMatch(
        game, people=people, programs=programs, clock=clock, preparation=max(clock, PREPARATION), seed=seed
    )
    for role in programs:
        try:
            _prepare(match, role, opponent)
        except NoSuchPlayer as error:
            raise click.BadParameter(str(error), param_hint="--opponent") from error
    kind = _Screen if everything or not game.has_percepts else _HiddenScreen
    kind(match, hints=hints).run()


def _prepare(match: LocalMatch, role: str, name: str) -> None:
    """Let a player get ready, and tell who sits before the screen why nothing happens."""
    if sys.stderr.isatty():
        remark(f"{name} gets ready to play {role}, for {match.preparation:g} seconds at most")
    match.player(role, name)


def _people(game: Game, wanted: Sequence[str], opponent: str) -> tuple[str, ...]:
    """Return the roles that people play."""
    playable = [role for role in game.roles if role.lower() != "random"]
    if not playable:
        raise GameError("nobody plays this game but chance")
    spelling = {role.lower(): role for role in playable}
    unknown = [role for role in wanted if role.lower() not in spelling]
    if unknown:
        raise click.BadParameter(f"no role `{unknown[0]}` (roles: {', '.join(playable)})", param_hint="--as")
    if opponent == "human":
        return tuple(playable)
    return tuple(dict.fromkeys(spelling[role.lower()] for role in wanted)) or (playable[0],)


def matching_moves(text: str, moves: Sequence[Move]) -> list[Move]:
    """Return the moves that a person can mean: one if it is clear, several if it is not.

    The whole text of a move (with or without its parentheses) is clear; then its number, then
    how it begins, then how one of its words begins, then any part.
    """
    try:
        wanted = _bare(normal(text))
    except InvalidMoveError:
        wanted = _bare(text.lower())
    texts = [_bare(normal(str(move))) for move in moves]
    exact = [move for move, known in zip(moves, texts, strict=True) if known == wanted]
    if exact or not wanted:
        return exact
    number = text.strip().removeprefix("#")
    if number.isdecimal() and 1 <= int(number) <= len(moves):
        return [moves[int(number) - 1]]
    for found in (
        [move for move, known in zip(moves, texts, strict=True) if known.startswith(wanted)],
        [move for move, known in zip(moves, texts, strict=True) if f" {wanted}" in known],
        [move for move, known in zip(moves, texts, strict=True) if wanted in known],
    ):
        if found:
            return found
    return []


def _bare(text: str) -> str:
    return " ".join(text.replace("(", " ").replace(")", " ").split())


class _Quit(Exception):  # no error
    """The person leaves."""


class _Undo(Exception):  # no error
    """The person takes the last move back."""


class _Screen:
    """Shows a match to the people who play it, and asks them for their moves."""

    def __init__(self, match: LocalMatch, *, hints: bool) -> None:
        self.match = match
        self.drawn: State | None = None
        self.hints = hints
        """Whether a hint is given before each move of a person."""

    @property
    def steps(self) -> int:
        """How many joint moves were made."""
        return len(self.match.play)

    def run(self) -> None:
        """Play to the end, or until the person leaves."""
        match = self.match
        drawn = [role for role in match.game.roles if role not in (*match.people, *match.programs)]
        rest = [f"{', '.join(drawn)} {'choose' if len(drawn) > 1 else 'chooses'} at random"] if drawn else []
        if match.programs:
            rest.insert(0, f"a program plays {', '.join(match.programs)}")
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
        result(f"\nthe game is over after {count(self.steps, 'step')}: {goals_line(match.state)}")

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
        """Say what was done by those who had a choice."""
        result("\n" + "\n".join(f"{role} plays {move}" for role, move in plan.items()))

    def _end(self) -> None:
        """Show how it ended."""
        self._draw()

    def _take_back(self) -> None:
        if self.match.take_back():
            self.drawn = None
            result("taken back")
        else:
            result("there is nothing to take back")

    def _draw(self) -> None:
        if self.drawn is not self.match.state:
            result(f"\n{self.match.game.artist.text(self.match.state)}\n")
            self.drawn = self.match.state

    def _ask(self, role: str, moves: Sequence[Move], *, hidden: bool) -> Move:
        """Ask for a move until one is clear."""
        self._list(role, moves, everything=False)
        if self.hints:
            self._hint(role)
        while True:
            text = _read(f"{role}> ", moves, hidden=hidden)
            found = [] if text.startswith(":") else matching_moves(text, moves)
            word, _, rest = text.removeprefix(":").partition(" ")
            exact = len(found) == 1 and _bare(normal(str(found[0]))) == _bare(text.lower())
            if word.lower() in COMMANDS and not exact:
                self._obey(word.lower(), rest.strip(), role, moves)
            elif len(found) == 1:
                if hidden:
                    result(f"{role} has chosen")
                return found[0]
            elif found:
                result(f"which one?\n{columns(map(str, found[:SHOWN]), indent='  ')}")
            elif text:
                result(f"no legal move has `{text}` in it; `moves` lists them, ? helps")

    def _obey(self, word: str, rest: str, role: str, moves: Sequence[Move]) -> None:
        if word == "quit":
            raise _Quit
        if word == "undo":
            raise _Undo
        if word == "moves":
            self._list(role, moves, everything=True)
        elif word == "state":
            result(self.match.game.artist.text(self.match.state))
        elif word == "goals":
            result(goals_line(self.match.state))
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
        """Let a program think about the move of a person, and show what it found."""
        _prepare(self.match, role, ADVISER)
        _, report = self.match.hint(role, ADVISER)
        if report is None:
            result("there is only one move")
        else:
            result(f"what {role} can expect of 100, and how often that was tried\n{report}")

    def _list(self, role: str, moves: Sequence[Move], *, everything: bool) -> None:
        if len(moves) > SHOWN and not everything:
            result(
                f"{role} has {count(len(moves), 'legal move')}: type part of one, or `moves` to see them all"
            )
            return
        width = len(str(len(moves)))
        sign = "#" if any(str(move).isdecimal() for move in moves) else ""
        result(f"{role} can play")
        result(columns((f"{f'{sign}{i}':>{width}} {m}" for i, m in enumerate(moves, start=1)), indent="  "))


class _HiddenScreen(_Screen):
    """Shows people what they can know, where the rules hide something."""

    def __init__(self, match: LocalMatch, *, hints: bool) -> None:
        super().__init__(match, hints=hints)
        self.told = dict.fromkeys(match.people, 0)
        """How many steps each person was told of."""

    def _report(self, plan: dict[str, str]) -> None:
        own = [role for role in plan if role in self.match.people]
        if len(self.match.people) == 1 and own and own[0] in self.match.play.choosing(self.steps - 1):
            result(f"\n{own[0]} plays {plan[own[0]]}")

    def _take_back(self) -> None:
        super()._take_back()
        self.told = {role: min(steps, self.steps) for role, steps in self.told.items()}

    def _draw(self) -> None:
        """Nothing is shown to everybody."""

    def _end(self) -> None:
        for role in self.match.people:
            self._tell_news(role)
        result(f"\nwhat was hidden:\n\n{self.match.game.artist.text(self.match.state)}")
        play = "; ".join(", ".join(joint) for joint in self.match.play.joint_moves)
        result(f'\nthe play was --moves "{play}"')

    def _tell_news(self, role: str) -> None:
        news = []
        for step in range(self.told[role], self.steps):
            seen = self.match.play.percepts(step, role)
            if seen:
                news.append(f"step {step + 1}: {role} saw {' '.join(seen)}")
        self.told[role] = self.steps
        if news:
            result("\n" + "\n".join(news))

    def _hint(self, role: str) -> None:
        result(f"a hint for {role} could tell what is hidden: play with --open to see everything")

    def _ask(self, role: str, moves: Sequence[Move], *, hidden: bool) -> Move:
        if len(self.match.people) > 1:
            result(f"\nfor {role} only:")
        self._tell_news(role)
        self._know(role)
        return super()._ask(role, moves, hidden=hidden or len(self.match.people) > 1)

    def _know(self, role: str) -> None:
        """Show what a role can know."""
        from herbrand.cli.knowledge import facts_text

        try:
            known = self.match.knowledge(role)
        except HerbrandError as error:
            result(f"\nwhat you can know is not found out: {error}")
            return
        sample = "" if known.exact else "\n\n(of a sample of the possible states)"
        result("\n" + "\n\n".join(facts_text(known)) + sample + "\n")

    def _obey(self, word: str, rest: str, role: str, moves: Sequence[Move]) -> None:
        if word == "state":
            self._know(role)
        elif word in ("goals", "hint", "why", "why-not"):
            result(f"`{word}` could tell what is hidden: play with --open to see everything")
        else:
            super()._obey(word, rest, role, moves)


def _read(prompt: str, moves: Sequence[Move], *, hidden: bool) -> str:
    """Read a line; the end of input is leaving.  What is hidden is wiped off the screen."""
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
            result(f"\x1b[1A\x1b[2K{prompt}***")
        elif not interactive:
            result("***")
    elif not interactive:
        result(text)  # a transcript shows what was typed
    return text


def _complete_with(words: Sequence[str]) -> None:
    """Let the tab key complete words, where Python has readline."""
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

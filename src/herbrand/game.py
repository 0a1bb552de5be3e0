"""`Game`: one object that walks the pipeline as far as it is asked to."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import TIMEOUT_MAX, RLock
from typing import TYPE_CHECKING, Any

from herbrand.errors import BudgetExceeded, GameError, HerbrandError
from herbrand.runtime.collector import suspend_full_collections
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.syntax import read, read_file
from herbrand.syntax.case import with_case
from herbrand.syntax.tree import Function, atoms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.analyse.automaton import Automaton
    from herbrand.check.rules import Rules
    from herbrand.check.step_counter import StepCounter
    from herbrand.diagnostic import Diagnostic
    from herbrand.draw.artist import Artist
    from herbrand.ground.possible import Possible
    from herbrand.machine.moves import Move
    from herbrand.machine.quick import Vocabulary
    from herbrand.machine.state import State
    from herbrand.machine.state_code import StateCode
    from herbrand.network.network import Network
    from herbrand.simulate.expand import Expander
    from herbrand.simulate.interface import Engine
    from herbrand.simulate.playouts import Simulation
    from herbrand.simulate.walker import Walker
    from herbrand.simulate.weights import Weights
    from herbrand.syntax.ggdl.program import Parameter, Value
    from herbrand.syntax.tree import Term, Tree

__all__ = ["Game", "load", "loads"]

ENGINES = ("auto", "rules", "network", "naive", "prolog", "asp")
"""What `engine=` may be."""
AUTO_GROUND_SECONDS = 20.0
"""Processor time that `engine="auto"` spends on grounding a game before it evaluates the rules instead."""
FEW_PLAYOUTS = 500
"""Fewer playouts than this are played by evaluating the rules."""


class Game:
    """A game: its tree, its checked rules, its states.

    Each product is made when first asked for and kept.  A game with errors can be asked for
    its `diagnostics`; what needs to play it raises `GameError`.  Two games are equal when
    they come from the same text in the same notation.
    """

    def __init__(self, tree: Tree, *, name: str | None = None, limits: Limits = DEFAULT) -> None:
        self.tree = tree
        self.name = name or Path(tree.source.name).stem
        """Name of the file without folder and ending, or "<string>"."""
        self.limits = limits
        """Budget of each question to the rules."""
        self._engines: dict[str, Engine] = {}
        self._vocabulary: Vocabulary | None = None
        self._ground_failure: tuple[float, str, str] | None = None
        """The seconds that were not enough, and what `BudgetExceeded` said, which itself holds its frames."""
        self._making_network = RLock()
        self._making_engines = RLock()

    # -- the rules ------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Rules:
        """The checked rules."""
        from herbrand.check import check

        return check(self.tree)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that reading and checking found, in textual order."""
        return self.rules.diagnostics

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a GGDL text declares, each with its type, range, default, text and value."""
        return () if self.tree.ggdl is None else self.tree.ggdl.parameters

    @cached_property
    def state_code(self) -> StateCode:
        """The numbering of the states: `encode` and `decode` turn states into integers and back."""
        from herbrand.machine.state_code import StateCode

        return StateCode(self)

    @cached_property
    def artist(self) -> Artist:
        """Draws the states of the game as SVG.

        Made by studying the game for up to some seconds; raises `GameError` for a game with errors.
        """
        from herbrand.draw.artist import Artist

        return Artist.of(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what the rules say about themselves, and the initial state."""
        from herbrand.check.features import features
        from herbrand.html import Markup, block, table

        found = [d for d in self.diagnostics if d.severity.value != "note"]
        rows = [
            (d.severity.value, d.check, d.message, d.source.position(d.span.start).line) for d in found[:20]
        ]
        told = features(self.rules)
        uses = [name.replace("_", " ") for name, value in told.as_json().items() if value is True]
        facts = [
            ("roles", ", ".join(self.roles)),
            ("rules", f"{told.facts} facts, {told.rules} rules, {told.relations} relations"),
            ("is, has", ", ".join(uses)),
        ]
        facts += [
            (p.name, f"{p.default if p.value is None else p.value} ({p.range})") for p in self.parameters
        ]
        picture: object = ""
        if not self.rules.errors:
            try:
                picture = Markup(self.artist.draw(self.initial_state("rules")).svg)
            except HerbrandError:
                picture = ""
        problems = table(rows, ("", "check", "message", "line"), numbers=(3,)) if rows else ""
        return block(
            self.name, table(facts), picture, problems, note=f"a game in {self.tree.notation} notation"
        )

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles as KIF, in the textual order of the `role` facts."""
        return tuple(_spell(role, self.rules.spelling) for role in self.rules.roles)

    def role_index(self, role: str) -> int:
        """Return the place of a role in joint moves; `ValueError` if there is none such."""
        index = self._role_numbers.get(role.lower())
        if index is None:
            raise ValueError(f"no role `{role}` (roles: {', '.join(self.roles)})")
        return index

    @cached_property
    def _role_numbers(self) -> dict[str, int]:
        return {role.lower(): i for i, role in enumerate(self.roles)}

    @cached_property
    def chance_role(self) -> str | None:
        """The role that is played by chance (GDL-II `random`), as it is spelt; None without one."""
        return next((role for role in self.roles if role.lower() == "random"), None)

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The roles that choose: all but `random`, in role order."""
        return tuple(role for role in self.roles if role != self.chance_role)

    @cached_property
    def has_percepts(self) -> bool:
        """Whether the rules say with `sees` what each role is told.

        A game that does not is one of perfect information: every role sees every move.
        """
        return any(rule.head.key == ("sees", 2) for rule in self.tree.statements)

    @property
    def initial_percepts(self) -> dict[str, tuple[str, ...]]:
        """What each role is told before the first move: nothing.

        Percepts belong to a joint move (Thielscher 2010); what holds at the start every player knows from
        the rules.  A game tells players something of its own at the start by a move of `random`.
        """
        return dict.fromkeys(self.roles, ())

    @cached_property
    def base(self) -> tuple[str, ...]:
        """The base propositions as KIF, sorted: as declared, or derived if none are.

        Derived ones are an over-approximation (`herbrand.ground.possible`).
        """
        declared = self._declared("base", 1)
        return tuple(sorted(fact for (fact,) in declared)) if declared else self.possible.base

    @cached_property
    def inputs(self) -> dict[str, tuple[Move, ...]]:
        """The feasible moves by role, sorted: as declared, or derived if none are."""
        from herbrand.machine.moves import Move

        declared = self._declared("input", 2)
        found: dict[str, set[str]] = {role: set() for role in self.roles}
        if declared:
            for role, move in declared:
                found.setdefault(role, set()).add(move)
        else:
            for role, moves in self.possible.inputs.items():
                found.setdefault(role, set()).update(moves)
        return {role: tuple(map(Move, sorted(moves))) for role, moves in found.items()}

    @cached_property
    def possible(self) -> Possible:
        """What can be true and legal in any reachable state, over-approximated."""
        from herbrand.ground.possible import possible

        self.require_playable()
        return possible(self.rules, limits=self.limits)

    def _declared(self, relation: str, arity: int) -> list[tuple[str, ...]]:
        from herbrand.simulate.from_rules import RulesEngine

        engine = self.engine_object("rules")
        assert isinstance(engine, RulesEngine)
        text = engine.terms.text
        rows = engine.static_extension(relation, arity)
        return [(text(row),) if arity == 1 else tuple(map(text, row)) for row in rows]

    @cached_property
    def step_counter(self) -> StepCounter | None:
        """What counts steps, so that every play ends; None where none is found."""
        from herbrand.check.step_counter import step_counter

        return step_counter(self.rules.normal.rules)

    @cached_property
    def network(self) -> Network:
        """The game as a network of AND and NOT.

        Raises `GameError` for a game with errors, `BudgetExceeded` when it does not ground
        within the limits.
        """
        return self._network_within(None)

    @property
    def has_network(self) -> bool:
        """Whether the network has been built, so that `network` is ready at once."""
        return "network" in self.__dict__

    def _network_within(self, seconds: float | None) -> Network:
        """Return the network, built in at most so many seconds; what failed once fails at once.

        While another thread builds it, this one waits, for as many seconds.
        """
        if self.has_network:
            return self.network
        self.require_playable()
        allowed = self.limits.seconds if seconds is None else min(seconds, self.limits.seconds)
        if not self._making_network.acquire(timeout=max(0.0, min(allowed, TIMEOUT_MAX))):
            raise BudgetExceeded(f"{allowed:g} seconds", "waiting for another thread that builds the network")
        try:
            return self._built_network(allowed)
        finally:
            self._making_network.release()

    def _built_network(self, allowed: float) -> Network:
        from herbrand.ground import ground

        if self.has_network:
            return self.network
        if self._ground_failure is not None and self._ground_failure[0] >= allowed:
            raise BudgetExceeded(*self._ground_failure[1:])
        try:
            program = ground(self.rules, limits=replace(self.limits, seconds=allowed))
        except BudgetExceeded as error:
            self._ground_failure = allowed, error.spent, error.reached
            raise
        from herbrand.network import optimised, wire

        with suspend_full_collections():  # of millions of gates: whoever plays meanwhile has a clock to keep
            wired = wire(program, [program.terms.intern(role) for role in self.rules.roles])
            network = optimised(wired, megabytes=self.limits.megabytes)
        self.__dict__["network"] = network
        return network

    @cached_property
    def expander(self) -> Expander:
        """Answers about many states at once, packed in numpy arrays; raises as `network` does."""
        from herbrand.simulate.expand import Expander

        return Expander(self.network)

    # -- states ---------------------------------------------------------------------------

    @property
    def engine(self) -> str:
        """The engine that `engine="auto"` uses: "network" where one can be built, else "rules".

        Asking builds the network, which takes at most `AUTO_GROUND_SECONDS`;
        `engine_reason` says why the answer is what it is.
        """
        return self._choice[0]

    @property
    def engine_reason(self) -> str:
        """Why `engine` is what it is, for people."""
        return self._choice[1]

    @cached_property
    def _choice(self) -> tuple[str, str]:
        if self.rules.errors:
            return "rules", "the game has errors"
        try:
            network = self._network_within(AUTO_GROUND_SECONDS)
        except BudgetExceeded as error:
            return "rules", f"no network: {error}"
        return "network", f"the rules became a network of {network.gates} gates"

    def initial_state(self, engine: str = "auto") -> State:
        """Return the initial state.

        The states that follow are answered for by the same engine.  "auto" takes the network
        where the game grounds within the limits (see `engine`), which takes a moment and
        makes every later step fast; "rules" is ready at once.  Raises `GameError` when the
        game has errors, `BudgetExceeded` when preparing the engine takes more than the
        limits allow.
        """
        chosen = self.engine_object(engine)
        return self._state(chosen, chosen.initial())

    def state(self, facts: Iterable[str], engine: str = "auto") -> State:
        """Return the state in which exactly these fluents, given as KIF, are true.

        Raises `InvalidMoveError` for a text that is no ground term, `GameError` when the network
        was asked for and has no such fluent ("auto" evaluates the rules then).
        """
        facts = list(facts)
        chosen = self.engine_object(engine)
        try:
            key = chosen.key(map(chosen.terms.read, facts))
        except GameError:
            if engine != "auto":
                raise
            chosen = self.engine_object("rules")
            key = chosen.key(map(chosen.terms.read, facts))
        return self._state(chosen, key)

    def walker(self) -> Walker:
        """Return a game in progress that is moved along in place, the fastest way to play from Python.

        Raises `GameError` for a game with errors, `BudgetExceeded` when it does not ground
        within the limits.
        """
        from herbrand.simulate.on_network import NetworkEngine
        from herbrand.simulate.walker import Walker

        engine = self.engine_object("network")
        assert isinstance(engine, NetworkEngine)
        return Walker(engine.network, engine.walker)

    def _state(self, engine: Engine, key: Any) -> State:
        if engine.name == "network":
            from herbrand.machine.quick import QuickState, Vocabulary
            from herbrand.simulate.on_network import NetworkEngine

            assert isinstance(engine, NetworkEngine)
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(self.roles, engine)
            return QuickState(self, engine, key, self._vocabulary)
        from herbrand.machine.state import State

        return State(self, engine, key)

    def engine_object(self, engine: str = "auto") -> Engine:
        """Return an engine of this game, making it if need be."""
        if engine not in ENGINES:
            raise ValueError(f"no engine {engine!r} (engines: {', '.join(ENGINES)})")
        name = self.engine if engine == "auto" else engine
        if name not in self._engines:
            self.require_playable()
            if name == "network":
                self._network_within(None)  # so that no other engine waits for it
            with self._making_engines:
                if name not in self._engines:
                    self._engines[name] = self._made_engine(name)
        return self._engines[name]

    def _made_engine(self, name: str) -> Engine:
        if name == "network":
            from herbrand.simulate.on_network import NetworkEngine

            return NetworkEngine(self.network)
        if name == "prolog":
            from herbrand.simulate.in_prolog import PrologEngine

            return PrologEngine(self.rules, limits=self.limits)
        if name == "asp":
            from herbrand.simulate.in_asp import AnswerSetEngine

            return AnswerSetEngine(self.rules, limits=self.limits)
        if name == "naive":
            from herbrand.simulate.naive import NaiveEngine

            return NaiveEngine(self.rules, limits=self.limits)
        from herbrand.simulate.from_rules import RulesEngine

        return RulesEngine(self.rules, limits=self.limits)

    @cached_property
    def is_epistemic(self) -> bool:
        """Whether the rules ask what roles know (GDL-III): `knows` in bodies that no rule defines."""
        relations = {rule.head.key for rule in self.tree.statements}
        asked = {("knows", 1), ("knows", 2)} - relations
        return any(
            atom.key in asked
            for rule in self.tree.statements
            for literal in rule.body
            for atom, _ in atoms_of(literal)
        )

    def require_playable(self) -> None:
        """Raise `GameError` if there are errors in the rules, or if they cannot be played state by state."""
        self.require_sound()
        if self.is_epistemic:
            raise GameError(
                "the rules ask with `knows` what roles know (GDL-III), which no state tells by itself: "
                "`herbrand show` and herbrand.knowledge.EpistemicGame follow such games"
            )

    def require_sound(self) -> None:
        """Raise `GameError` if there are errors in the rules."""
        errors = self.rules.errors
        if errors:
            first = errors[0]
            place = first.source.position(first.span.start)
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise GameError(f"{first.source.name}:{place.line}:{place.column}: {first.message}{more}", errors)

    def simulate(
        self,
        playouts: int = 1000,
        *,
        seed: int | None = None,
        max_steps: int = 1000,
        engine: str = "auto",
        threads: int | None = None,
        limits: Limits | None = None,
        progress: Callable[[int, int], None] | None = None,
        weights: Weights | None = None,
    ) -> Simulation:
        """Play random games and return their statistics.

        Roles choose uniformly among their legal moves; with `weights`, in proportion to them:
        `{"white": {"(mark 2 2)": 5}}` has one move taken five times as often as each of the others,
        and a function of role and move (both texts) says it for all.  Weights are whole numbers
        from 1 to 255, 1 where nothing is said; others are a `ValueError`.

        `engine="auto"` plays them on the network, thousands at a time, where the game grounds
        within the limits and there are enough playouts to be worth it; else the rules are
        evaluated.  `Simulation.engine` and `note` say what was done.  Without a seed one is
        drawn and recorded in the result.  On the network, many playouts are spread over
        `threads` cores, all that are there if None; the result does not depend on how many.
        `progress(done, of)` is called now and then.
        """
        from herbrand.runtime.limits import UNLIMITED
        from herbrand.simulate.playouts import random_playouts

        if engine not in ENGINES:
            raise ValueError(f"no engine {engine!r} (engines: {', '.join(ENGINES)})")
        drawn = int.from_bytes(os.urandom(4), "little") if seed is None else seed
        limits = limits or UNLIMITED
        note = None
        if engine == "auto" and playouts < FEW_PLAYOUTS and not self.has_network:
            note = f"fewer than {FEW_PLAYOUTS} playouts: the network is not worth building"
            engine = "rules"
        if engine in ("auto", "network"):
            try:
                network = self._network_within(None if engine == "network" else AUTO_GROUND_SECONDS)
            except BudgetExceeded as error:
                if engine == "network":
                    raise
                note = f"no network: {error}"
            else:
                from herbrand.simulate.parallel import play

                if weights is not None:
                    from herbrand.simulate.weights import weighing, weighted

                    network = weighted(network, weighing(weights, network.terms, network.roles))
                played = play(
                    network,
                    self.name,
                    threads=threads,
                    playouts=playouts,
                    seed=drawn,
                    max_steps=max_steps,
                    limits=limits,
                    progress=progress,
                )
                return played if weights is None else replace(played, branching={})
        evaluator = self.engine_object("rules" if engine == "auto" else engine)
        weigh = None
        if weights is not None:
            from herbrand.simulate.weights import weighing

            weigh = weighing(weights, evaluator.terms, evaluator.roles)
        return random_playouts(
            evaluator,
            self.name,
            playouts=playouts,
            seed=drawn,
            max_steps=max_steps,
            limits=limits,
            progress=progress,
            note=note,
            weigh=weigh,
        )

    def automaton(
        self, *, start: State | None = None, limit: int = 100_000, seconds: float = 60.0
    ) -> Automaton:
        """Return the game as a finite automaton, from the initial state or from another one.

        Raises `BudgetExceeded` for more than `limit` states, or after so many seconds.
        """
        from herbrand.analyse.automaton import automaton

        return automaton(self, start=start, limit=limit, seconds=seconds)

    # -- value semantics ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        mine, theirs = self.tree, other.tree
        return self is other or (
            mine.source.text == theirs.source.text
            and mine.notation == theirs.notation
            and mine.folds_case == theirs.folds_case
            and _given(mine) == _given(theirs)
        )

    def __hash__(self) -> int:
        return hash(self.tree.source.text)

    def __copy__(self) -> Game:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Game:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        tree = self.tree
        source = tree.source
        given = _given(tree)
        return _shared, (
            *(source.text, tree.notation, source.name, self.name, self.limits, tree.folds_case, given),
        )

    def __repr__(self) -> str:
        return f"<Game {self.name}: {len(self.tree.statements)} statements>"

    def __str__(self) -> str:
        return self.name


def load(
    path: str | Path,
    notation: str | None = None,
    *,
    limits: Limits = DEFAULT,
    parameters: Mapping[str, Value] | None = None,
    **named: Value,
) -> Game:
    """Read a game from a file, or a bundled game by its name.

    The notation is told by the ending of the file (.kif .gdl .hrf .pl .ggd) and its content,
    or by `notation` ("prefix", "infix", "prolog", "ggdl").  Values for the parameters of a GGDL game
    are given as keyword arguments, or by name in `parameters`: `load("mnk", M=5, K=4)`.  Raises `OSError`
    when there is no such file; what is wrong with the rules, a value out of its range too, is in
    `Game.diagnostics`.
    """
    file = Path(path)
    name = None
    if not file.exists() and len(file.parts) == 1:
        from herbrand import games

        file = games.path(str(path))
        name = file.stem
    given = {**(parameters or {}), **named}
    return Game(read_file(file, notation or "auto", given), name=name, limits=limits)


def loads(
    text: str,
    notation: str = "auto",
    *,
    name: str = "<string>",
    limits: Limits = DEFAULT,
    parameters: Mapping[str, Value] | None = None,
    **named: Value,
) -> Game:
    """Read a game from text; `notation` is "auto", "prefix", "infix", "prolog" or "ggdl".

    Values for the parameters of a GGDL game are given as for `load`.
    """
    return Game(read(text, notation, name, {**(parameters or {}), **named}), name=name, limits=limits)


def _given(tree: Tree) -> tuple[tuple[str, Value], ...]:
    """The values of parameters that a tree was read with."""
    return () if tree.ggdl is None else tree.ggdl.given


@lru_cache(maxsize=64)
def _shared(
    text: str,
    notation: str,
    source: str,
    name: str,
    limits: Limits,
    folds_case: bool,
    given: tuple[tuple[str, Value], ...] = (),
) -> Game:
    """Return the game of an unpickled value; equal games unpickle to one object."""
    tree = read(text, notation, source, dict(given))
    return Game(tree if folds_case else with_case(tree), name=name, limits=limits)


def _spell(term: Term, spelling: dict[str, str]) -> str:
    if isinstance(term, Function):
        args = " ".join(_spell(arg, spelling) for arg in term.args)
        return f"({spelling.get(term.name, term.name)} {args})"
    return spelling.get(term.name, term.name)

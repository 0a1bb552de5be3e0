"""`GameDescription`: a rulesheet and the products of the pipeline, each computed on first use.

States refer to a description (`herbrand.machine`); users have a `herbrand.Game`, which extends it.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import TIMEOUT_MAX, RLock
from typing import TYPE_CHECKING, Any, Self

from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.collector import suspend_full_collections
from herbrand.runtime.limits import DEFAULT, Limits, seconds_left, time_spent
from herbrand.syntax import read
from herbrand.syntax.case import with_case
from herbrand.syntax.nodes import Function, atoms_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from herbrand.check.rules import Rules
    from herbrand.check.step_counter import StepCounter
    from herbrand.diagnostic import Diagnostic
    from herbrand.engine.expand import Expander
    from herbrand.engine.playouts import Simulation
    from herbrand.engine.walker import Walker
    from herbrand.engine.weights import Weights
    from herbrand.ground.possible import Possible
    from herbrand.network.network import Network
    from herbrand.rules.interface import Engine
    from herbrand.runtime.cluster.results import ResultFile
    from herbrand.syntax.ggdl.program import Parameter, Value
    from herbrand.syntax.nodes import Term
    from herbrand.syntax.tree import Tree

__all__ = ["ENGINES", "GameDescription"]

ENGINES = ("auto", "rules", "network", "naive", "prolog", "asp")
"""The values that `engine=` accepts."""
AUTO_GROUND_SECONDS = 20.0
"""Seconds after which `engine="auto"` gives up grounding a game and evaluates the rules instead."""
FEW_PLAYOUTS = 500
"""`simulate` builds no network for fewer playouts than this."""


class GameDescription:
    """A rulesheet: its tree, its checked rules, its ground program as a network, and its engines.

    Each product is computed on first use and cached.  A description with errors still has
    `diagnostics`; everything that evaluates the rules raises `GameError`.  Two descriptions are equal if
    they come from the same text in the same notation with the same parameters.
    """

    def __init__(self, tree: Tree, *, name: str | None = None, limits: Limits = DEFAULT) -> None:
        self.read_tree = tree
        """The sheet as it was read; `tree` is as it was meant."""
        self.name = name or Path(tree.source.name).stem
        """Name of the file without folder and extension, or "<string>"."""
        self.limits = limits
        """Budget of each evaluation of the rules."""
        self._engines: dict[str, Engine] = {}
        self._ground_failure: tuple[float, str, str] | None = None
        """The seconds that were too few, and the arguments of `BudgetExceeded`, which itself keeps frames."""
        self._network_lock = RLock()
        self._engines_lock = RLock()

    # -- the rules ------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Rules:
        """The checked rules."""
        from herbrand.check import check

        return check(self.read_tree)

    @property
    def tree(self) -> Tree:
        """The statements of the game: what was read, with tolerable faults corrected."""
        return self.rules.tree

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that reading and checking found, in textual order."""
        return self.rules.diagnostics

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a GGDL text declares, each with type, range, default, description and value."""
        return () if self.read_tree.ggdl is None else self.read_tree.ggdl.parameters

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles as KIF, in the textual order of the `role` facts."""
        return tuple(_spell(role, self.rules.spelling) for role in self.rules.roles)

    def role_index(self, role: str) -> int:
        """Return the index of a role in joint moves; raises `ValueError` if the game has no such role."""
        index = self.role_numbers.get(role.lower())
        if index is None:
            raise ValueError(f"no role `{role}` (roles: {', '.join(self.roles)})")
        return index

    @cached_property
    def role_numbers(self) -> dict[str, int]:
        """The indices of the roles in joint moves by their names in lower case."""
        return {role.lower(): i for i, role in enumerate(self.roles)}

    @cached_property
    def chance_role(self) -> str | None:
        """The role that moves at random (GDL-II `random`) in its spelling; None if there is none."""
        return next((role for role in self.roles if role.lower() == "random"), None)

    @cached_property
    def players(self) -> tuple[str, ...]:
        """All roles but `random`, in role order."""
        return tuple(role for role in self.roles if role != self.chance_role)

    @cached_property
    def has_percepts(self) -> bool:
        """Whether the rules define `sees` (GDL-II).

        If not, the game has perfect information: every role sees every move.
        """
        return any(rule.head.key == ("sees", 2) for rule in self.tree.statements)

    @property
    def initial_percepts(self) -> dict[str, tuple[str, ...]]:
        """The percepts of each role before the first move: none.

        Percepts belong to a joint move (Thielscher 2010), and the rules give the initial state to every
        player.  A game can deal private information with a first move of `random`.
        """
        return dict.fromkeys(self.roles, ())

    @cached_property
    def is_epistemic(self) -> bool:
        """Whether rule bodies use `knows` and no rule defines it (GDL-III)."""
        relations = {rule.head.key for rule in self.tree.statements}
        epistemic = {("knows", 1), ("knows", 2)} - relations
        return any(
            atom.key in epistemic
            for rule in self.tree.statements
            for literal in rule.body
            for atom, _ in atoms_of(literal)
        )

    # -- the stages -----------------------------------------------------------------------

    @cached_property
    def possible(self) -> Possible:
        """An over-approximation of the fluents and moves that are true and legal in reachable states."""
        from herbrand.ground.possible import possible

        self.require_playable()
        return possible(self.rules, limits=self.limits)

    @cached_property
    def base(self) -> tuple[str, ...]:
        """The base propositions as KIF, sorted: the declared ones, or derived ones if none are declared.

        Derived propositions are an over-approximation.
        """
        declared = self.declared("base", 1)
        return tuple(sorted(fact for (fact,) in declared)) if declared else self.possible.base

    def declared(self, relation: str, arity: int) -> list[tuple[str, ...]]:
        """Return the rows of a static relation, such as `base`, as KIF."""
        from herbrand.rules.from_rules import RulesEngine

        engine = self.engine_object("rules")
        assert isinstance(engine, RulesEngine)
        text = engine.terms.text
        rows = engine.static_extension(relation, arity)
        return [(text(row),) if arity == 1 else tuple(map(text, row)) for row in rows]

    @cached_property
    def step_counter(self) -> StepCounter | None:
        """A fluent that counts steps and bounds the length of every play; None if none is recognised."""
        from herbrand.check.step_counter import step_counter

        return step_counter(self.rules.normal.rules)

    @cached_property
    def network(self) -> Network:
        """The game as a network of AND and NOT.

        Raises `GameError` for a game with errors, `BudgetExceeded` when it does not ground
        within the limits.
        """
        return self.network_within(None)

    @property
    def has_network(self) -> bool:
        """Whether the network has been built, so that `network` is ready at once."""
        return "network" in self.__dict__

    def forgo_network(self, spent: str) -> None:
        """Never build a network: `network` raises `BudgetExceeded(spent)`, and "auto" evaluates the rules."""
        self._ground_failure = math.inf, spent, "no network is built for this game"

    def network_within(self, seconds: float | None) -> Network:
        """Return the network, building it in at most `seconds`; a known failure raises at once.

        If another thread is building it, the caller waits for at most `seconds`.
        """
        if self.has_network:
            return self.network
        self.require_playable()
        allowed = min(self.limits.seconds, math.inf if seconds is None else seconds, seconds_left())
        if not self._network_lock.acquire(timeout=max(0.0, min(allowed, TIMEOUT_MAX))):
            raise BudgetExceeded(time_spent(allowed), "waiting for another thread that builds the network")
        try:
            return self._build_network(allowed)
        finally:
            self._network_lock.release()

    def _build_network(self, allowed: float) -> Network:
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

        with suspend_full_collections():  # with millions of gates they would stall players in other threads
            wired = wire(program, [program.terms.intern(role) for role in self.rules.roles])
            network = optimised(wired, megabytes=self.limits.megabytes)
        self.__dict__["network"] = network
        return network

    @cached_property
    def expander(self) -> Expander:
        """Evaluates many states at once, packed in numpy arrays; raises as `network` does."""
        from herbrand.engine.expand import Expander

        return Expander(self.network)

    # -- engines --------------------------------------------------------------------------

    @property
    def engine(self) -> str:
        """The engine that `engine="auto"` uses: "network" if one can be built, else "rules".

        Builds the network, which takes at most `AUTO_GROUND_SECONDS`; `engine_reason` gives the reason.
        """
        return self._choice[0]

    @property
    def engine_reason(self) -> str:
        """The reason for the choice of `engine`, as text."""
        return self._choice[1]

    @cached_property
    def _choice(self) -> tuple[str, str]:
        if self.rules.errors:
            return "rules", "the game has errors"
        try:
            network = self.network_within(_seconds_to_ground())
        except BudgetExceeded as error:
            return "rules", f"no network: {error}"
        return "network", f"the rules became a network of {network.gates} gates"

    def engine_object(self, engine: str = "auto") -> Engine:
        """Return an engine of this game, created on first use."""
        if engine not in ENGINES:
            raise ValueError(f"no engine {engine!r} (engines: {', '.join(ENGINES)})")
        name = self.engine if engine == "auto" else engine
        if name not in self._engines:
            self.require_playable()
            if name == "network":
                self.network_within(None)  # outside the lock: other engines need not wait
            with self._engines_lock:
                if name not in self._engines:
                    self._engines[name] = self._create_engine(name)
        return self._engines[name]

    def _create_engine(self, name: str) -> Engine:
        if name == "network":
            from herbrand.engine.on_network import NetworkEngine

            return NetworkEngine(self.network)
        if name == "naive":
            from herbrand.rules.naive import NaiveEngine

            return NaiveEngine(self.rules, limits=self.limits)
        if name == "rules":
            from herbrand.rules.from_rules import RulesEngine

            return RulesEngine(self.rules, limits=self.limits)
        raise ValueError(f"{type(self).__name__} has no engine {name!r}: use herbrand.Game")

    def walker(self) -> Walker:
        """Return a game in progress that is updated in place, the fastest way to play from Python.

        Raises `GameError` for a game with errors, `BudgetExceeded` when it does not ground
        within the limits.
        """
        from herbrand.engine.on_network import NetworkEngine
        from herbrand.engine.walker import Walker

        engine = self.engine_object("network")
        assert isinstance(engine, NetworkEngine)
        return Walker(engine.network, engine.walker)

    def require_playable(self) -> None:
        """Raise `GameError` if the rules have errors or are epistemic (GDL-III)."""
        self.require_sound()
        if self.is_epistemic:
            raise GameError(
                "the rules use `knows` (GDL-III), which depends on the history of a game, not on a state: "
                "use `herbrand show` or herbrand.analyse.knowledge.EpistemicGame"
            )

    def require_complete_information(self) -> None:
        """Raise `GameError` as `require_playable` does, and if roles do not see everything (`sees`)."""
        self.require_playable()
        if self.has_percepts:
            raise GameError("roles do not see everything: `herbrand analyse` has values of such games")

    def require_sound(self) -> None:
        """Raise `GameError` if the rules have errors."""
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
        executor: Executor | None = None,
        results: ResultFile | None = None,
    ) -> Simulation:
        """Play random games and return their statistics.

        Roles choose uniformly among their legal moves, or in proportion to `weights`:
        `{"white": {"(mark 2 2)": 5}}` makes one move five times as likely as each of the others; a function
        of role and move (both texts) gives the weights of all moves.  Weights are integers from 1 to 255,
        1 for moves that are not listed; others raise `ValueError`.

        `engine="auto"` plays on the network, hundreds of games at a time, if the game grounds within the
        limits and there are enough playouts to pay for it; otherwise it evaluates the rules.
        `Simulation.engine` and `note` record the choice.  Without a seed a random one is
        used and recorded in the result.  On the network, many playouts are spread over `threads`
        cores, all available ones if None; the result does not depend on their number.  With an `executor`
        (`herbrand.runtime.cluster`) the workers of it play them, again with the same result; playing by
        the rules cannot be divided.  With `results` as well, what they have played is kept in that file, and
        the same call goes on from there; when the time is up it raises `BudgetExceeded`.
        `progress(done, total)` is called from time to time.
        """
        from herbrand.engine.playouts import random_playouts
        from herbrand.runtime.limits import UNLIMITED

        if engine not in ENGINES:
            raise ValueError(f"no engine {engine!r} (engines: {', '.join(ENGINES)})")
        if seed is None:
            seed = int.from_bytes(os.urandom(4), "little")
        if results is not None and executor is None:
            raise ValueError("results are those of an executor: give one")
        limits = limits or UNLIMITED
        started = time.monotonic()
        how: Any = {"playouts": playouts, "seed": seed, "max_steps": max_steps, "progress": progress}
        note = None
        if engine == "auto" and playouts < FEW_PLAYOUTS and not self.has_network:
            note = f"fewer than {FEW_PLAYOUTS} playouts: the network is not worth building"
            engine = "rules"
        if engine in ("auto", "network"):
            try:
                allowed = limits.seconds if engine == "network" else _seconds_to_ground(limits)
                network = self.network_within(allowed)
            except BudgetExceeded as error:
                if engine == "network":
                    raise
                note = f"no network: {error}"
            else:
                from herbrand.engine.parallel import play, play_on

                how["limits"] = limits.after(started)
                if executor is not None:
                    played = play_on(executor, self, weights=weights, results=results, **how)
                else:
                    played = play(network, self.name, threads=threads, weights=weights, **how)
                return played if weights is None else replace(played, branching={})
        evaluator = self.engine_object("rules" if engine == "auto" else engine)
        how["limits"] = limits.after(started)
        weigh = None
        if weights is not None:
            from herbrand.engine.weights import weight_function

            weigh = weight_function(weights, evaluator.terms, evaluator.roles)
        return random_playouts(evaluator, self.name, note=note, weigh=weigh, **how)

    def notebook_view(self, state: Any) -> dict[str, str]:
        """Return representations of a state by MIME type for notebooks; `herbrand.Game` adds pictures."""
        return {"text/plain": str(state)}

    # -- value semantics ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GameDescription):
            return NotImplemented
        own, theirs = self.read_tree, other.read_tree
        return self is other or (
            own.source.text == theirs.source.text
            and own.notation == theirs.notation
            and own.folds_case == theirs.folds_case
            and _arguments(own) == _arguments(theirs)
        )

    def __hash__(self) -> int:
        return hash(self.read_tree.source.text)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        tree = self.read_tree
        source = tree.source
        arguments = (source.text, tree.notation, source.name, self.name, self.limits, tree.folds_case)
        return _shared, (type(self), *arguments, _arguments(tree))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {len(self.read_tree.statements)} statements>"

    def __str__(self) -> str:
        return self.name


def _seconds_to_ground(limits: Limits = DEFAULT) -> float:
    """Return how long "auto" may ground: at most half of the time that is left for this and for playing."""
    return min(AUTO_GROUND_SECONDS, limits.seconds / 2, seconds_left() / 2)


def _arguments(tree: Tree) -> tuple[tuple[str, Value], ...]:
    """Return the parameter values that a tree was read with."""
    return () if tree.ggdl is None else tree.ggdl.arguments


@lru_cache(maxsize=64)
def _shared(
    kind: type[GameDescription],
    text: str,
    notation: str,
    source: str,
    name: str,
    limits: Limits,
    folds_case: bool,
    arguments: tuple[tuple[str, Value], ...] = (),
) -> GameDescription:
    """Return the game of a pickle; equal games unpickle to one object."""
    tree = read(text, notation, source, dict(arguments))
    return kind(tree if folds_case else with_case(tree), name=name, limits=limits)


def _spell(term: Term, spelling: dict[str, str]) -> str:
    if isinstance(term, Function):
        args = " ".join(_spell(arg, spelling) for arg in term.args)
        return f"({spelling.get(term.name, term.name)} {args})"
    return spelling.get(term.name, term.name)

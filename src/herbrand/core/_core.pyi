"""The compiled core of herbrand; `herbrand.core` is what to import."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import numpy.typing
from numpy.typing import NDArray


def levels() -> list[str]:
    """The kernel levels that this processor supports, best last."""

def level() -> str:
    """The level of the kernels in use."""

def use_level(level: str) -> None:
    """
    Use the kernels of a level, for all that is called from now on; `ValueError` if that cannot be used here.
    """

def compiler() -> str:
    """The compiler that the core was built with, and its version."""

class Stop:
    """
    Cancels calls into the core.

    A call that is given one ends within some milliseconds after another thread called `set`, or after
    the deadline.  Ctrl-C is noticed in any case.
    """

    def __init__(self) -> None: ...

    def set(self) -> None:
        """End current and future calls."""

    def clear(self) -> None:
        """Undo `set`."""

    @property
    def is_set(self) -> bool:
        """Whether `set` was called."""

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""

    def set_deadline(self, seconds: float) -> None:
        """Let calls end so many seconds from now; infinity for never."""

class Circuit:
    """
    A game as a Boolean circuit, checked and copied: what the core works on.

    `herbrand.network.Network.circuit` makes it; see there for the encoding.  Immutable.
    """

    @property
    def fluents(self) -> int: ...

    @property
    def moves(self) -> int: ...

    @property
    def roles(self) -> int: ...

    @property
    def gates(self) -> int: ...

    @property
    def why_walked(self) -> str:
        """
        Why its gates are interpreted, not compiled to machine code; empty if they are compiled.
        """

    @property
    def state_words(self) -> int:
        """Words of 64 bits in a packed state."""

    @property
    def legal_words(self) -> int:
        """Words in a packed set of legal moves."""

    @property
    def bounds(self) -> list[int]:
        """The first move of each role, and the number of moves."""

    @property
    def places(self) -> list[int]:
        """The first word of each role in a packed set of legal moves."""

def make_circuit(fluents: int, roles: int, left: NDArray[numpy.int32], right: NDArray[numpy.int32], feedback: NDArray[numpy.int32], loops: NDArray[numpy.int32], legal: NDArray[numpy.int32], move_role: NDArray[numpy.int32], next: NDArray[numpy.int32], terminal: int, goal: NDArray[numpy.int32], goal_role: NDArray[numpy.int32], goal_value: NDArray[numpy.int16], sees: NDArray[numpy.int32], sees_role: NDArray[numpy.int32], initial: NDArray[numpy.uint64], cones: Sequence[int], alternatives: Sequence[tuple[int, Sequence[int]]] = []) -> Circuit:
    """
    Return a `Circuit`; raises `ValueError` if the arrays are inconsistent.
    """

class Ended:
    """The results of random games."""

    @property
    def goals(self) -> numpy.typing.NDArray[numpy.int16]:
        """
        int16 [n, roles]: goal values; `NO_VALUE`, `SEVERAL_VALUES` or `STUCK` if there is none.
        """

    @property
    def lengths(self) -> numpy.typing.NDArray[numpy.int64]:
        """int64 [n]: steps played; -1 - steps for games that reached the limit."""

    @property
    def line(self) -> numpy.typing.NDArray[numpy.int32]:
        """int32 [steps, roles]: the moves of the game that was watched."""

    @property
    def played(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        uint64 [moves, 8]: for each move of all roles the games in which it was made; empty if not requested.
        """

    @property
    def last(self) -> numpy.typing.NDArray[numpy.uint64]:
        """uint64 [n, words]: the last states, packed; empty if not requested."""

    @property
    def complete(self) -> bool:
        """
        Whether all games were played; if not, the other results are undefined.
        """

class StateEvaluator:
    """
    Evaluates many packed states of a game at once.

    States are uint64 [n, circuit.state_words]; moves are counted for each role from 0.  Any number
    of threads can ask at the same time.  Calls raise `herbrand.errors.Stopped` when their `stop` says so,
    but for `rollouts`, which says that it is not complete.
    """

    def __init__(self, circuit: Circuit) -> None: ...

    def legal(self, states: numpy.typing.NDArray[numpy.uint64], stop: Stop | None = None) -> tuple[numpy.typing.NDArray[numpy.bool_], numpy.typing.NDArray[numpy.uint64]]:
        """
        Return which states are terminal, bool [n], and the packed sets of legal moves, uint64
        [n, circuit.legal_words], in which each role begins at `circuit.places`.
        """

    def goals(self, states: NDArray[numpy.uint64], stop: Stop | None = None) -> NDArray[numpy.int16]:
        """
        Return the goal values, int16 [n, roles]; `NO_VALUE` or `SEVERAL_VALUES` where there is not one.
        """

    def step(self, states: numpy.typing.NDArray[numpy.uint64], moves: numpy.typing.NDArray[numpy.int32], parents: numpy.typing.NDArray[numpy.int64] | None = None, sees: bool = False, stop: Stop | None = None) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint64]]:
        """
        Return the states after joint moves, and if asked for what roles see, packed: uint64 [k, ...] both.

        `moves` is int32 [k, roles], -1 for a role that does nothing.  Row i is made in state i, or parents[i].
        Legality is not checked.  `ValueError` for moves or states that do not exist.
        """

    def joints(self, bits: numpy.typing.NDArray[numpy.uint64], starts: numpy.typing.NDArray[numpy.int64], begin: int, size: int, stop: Stop | None = None) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]:
        """
        List joint moves number `begin` to `begin + size` of all states: parents, int64 [size], and moves, int32
        [size, roles], the last role's changing fastest.

        `bits` are sets of legal moves as `legal` returns them, `starts`, [n + 1], the sums of how many joint
        moves states have.  `ValueError` where these do not fit together.
        """

    def rollouts(self, states: NDArray[numpy.uint64], parents: NDArray[numpy.int64] | None, generator: NDArray[numpy.uint64], max_steps: int, stop: Stop | None = None, watched: int = -1, played: bool = False, last: bool = False, each: int = 1) -> Ended:
        """
        Play one uniformly random game from each of the states `parents[i]`, int64 [n], to its end; without parents
        `each` games from every state, one after the other.

        `generator`, uint64 [32], is random state that is used up in place: the same state gives the same games.
        Games are cut off after `max_steps`, with the goals of their last states.  `watched` is a game whose
        moves are wanted, -1 for none; `played`, of 512 games at most, and `last` ask for what `Ended` says.
        Ends within a step of the games when `stop` says so.
        """

def joint_counts(over: NDArray[numpy.bool_], bits: NDArray[numpy.uint64], places: Sequence[int], stop: Stop | None = None) -> NDArray[numpy.int64]:
    """
    Return how many joint moves states have, int64 [n]: 0 where they are `over`, 2**62 if more do not fit.

    `bits` are packed sets of legal moves, in which role r has the words from places[r] to places[r + 1].
    """

class SearchTree:
    """
    A Monte Carlo search tree; values are goals divided by 100.

    Positions are numbered from 0 in the order in which they were added, but numbers of recycled ones are used
    again; a state is one position, however it was reached.  The position after a move is added when the move
    is taken a second time, at the root after the first round, and where several roles have a choice at once.
      When a position is expanded its arms, the legal moves of role 0, then of role 1 and so on,
    get consecutive numbers.  Arrays are read-only views that change as the tree grows; of those that begin
    with [positions] the first `positions` rows mean something, of those with [arms] the first `arms`.
    Calls may come from several threads.
    """

    def __init__(self, circuit: Circuit, *, memory: int, most: int = 134217728, seed: int = 0, labelled: bool = False, exploration: float = 0.5, chance: int = -1, regret: bool = False, amaf: float = 0.0, reference: float = 0.0) -> None:
        """
        Make an empty tree that takes at most `memory` bytes, and has at most `most` positions.

        The memory is taken as the tree grows; when it is used up, positions that were visited little are
        recycled.  `labelled`: states have one more word, by which `plant` tells equal ones apart, and
        nothing is recycled.  `exploration` is the constant of UCB1, `chance` the number of the role
        `random` or -1; with `regret`, roles that move at once choose by regret matching instead of UCB1.
        `amaf` is after how many playouts a move's own mean counts as much as that of playouts in which it
        came later, 0 for never; positions with fewer playouts than `reference` use the AMAF means of the last
        one before them with as many.  `MemoryError` where there is not so much memory.
        """

    @property
    def words(self) -> int:
        """Words of 64 bits in a state of the tree."""

    @property
    def roles(self) -> int: ...

    @property
    def room(self) -> int:
        """The most positions, if there were hardly any arms."""

    @property
    def arm_room(self) -> int:
        """The most arms, if there were hardly any positions."""

    @property
    def positions(self) -> int: ...

    @property
    def arms(self) -> int: ...

    @property
    def recycled(self) -> int:
        """Positions recycled for lack of memory so far."""

    @property
    def bytes(self) -> int:
        """The bytes of the memory in use."""

    @property
    def edges(self) -> int:
        """The number of joint moves made where several roles have a choice."""

    @property
    def sum(self) -> float:
        """
        The constant sum of the values of two players; -1 if it varies, -2 while unknown.
        """

    @property
    def exploration(self) -> float: ...

    @property
    def chance(self) -> int: ...

    @property
    def regret(self) -> bool: ...

    @property
    def amaf(self) -> float: ...

    @property
    def reference(self) -> float: ...

    @property
    def is_full(self) -> bool:
        """Whether the tree is full; rounds then start playouts at the leaves."""

    @is_full.setter
    def is_full(self, arg: bool, /) -> None: ...

    @property
    def state(self) -> NDArray[numpy.uint64]:
        """[positions, words] packed states."""

    @property
    def games(self) -> NDArray[numpy.float64]:
        """[positions] playouts at or below it."""

    @property
    def best(self) -> NDArray[numpy.float64]:
        """[positions] the highest value of role 0 in any of them."""

    @property
    def total(self) -> NDArray[numpy.float64]:
        """[positions, roles] the sums of their values."""

    @property
    def low(self) -> NDArray[numpy.float64]:
        """[positions, roles] proved lower bound of a role's value."""

    @property
    def high(self) -> NDArray[numpy.float64]:
        """[positions, roles] proved upper bound of a role's value."""

    @property
    def plies(self) -> NDArray[numpy.int32]:
        """[positions] the length of the proof in steps."""

    @property
    def kind(self) -> NDArray[numpy.uint8]:
        """
        [positions] LEAF, ALONE, JOINT or OVER of `herbrand.play.search.tree`, or FREE, 4.
        """

    @property
    def mover(self) -> NDArray[numpy.int16]:
        """[positions] the role that has a choice; 0 if none has."""

    @property
    def first(self) -> NDArray[numpy.int32]:
        """[positions] the first arm."""

    @property
    def sizes(self) -> NDArray[numpy.int32]:
        """[positions, roles] the number of arms of each role."""

    @property
    def seen(self) -> NDArray[numpy.int64]:
        """[positions] the number of the last descent through it, or BUSY."""

    @property
    def move(self) -> NDArray[numpy.int32]:
        """[arms] the move, by its number among the moves of all roles."""

    @property
    def arm_count(self) -> NDArray[numpy.float32]:
        """[arms] playouts through it."""

    @property
    def arm_total(self) -> NDArray[numpy.float32]:
        """[arms] the sum of the values of the arm's role."""

    @property
    def arm_virtual(self) -> NDArray[numpy.int32]:
        """[arms] descents in progress through it."""

    @property
    def arm_child(self) -> NDArray[numpy.int32]:
        """
        [arms] the position after it where one role has a choice, -1 if that was not made; where
        several have, the first arm has the last edge.
        """

    @property
    def amaf_count(self) -> NDArray[numpy.float32]:
        """[arms] AMAF: playouts in which the role made the move here or later."""

    @property
    def amaf_total(self) -> NDArray[numpy.float32]:
        """[arms] the sum of the role's values in these."""

    @property
    def arm_regret(self) -> NDArray[numpy.float32]:
        """[arms] cumulative regret."""

    @property
    def arm_share(self) -> NDArray[numpy.float32]:
        """[arms] cumulative strategy."""

    @property
    def edge_child(self) -> NDArray[numpy.int32]:
        """[edges] the position after the joint move."""

    @property
    def edge_next(self) -> NDArray[numpy.int32]:
        """[edges] the previous edge of the same position, or -1."""

    def find(self, state: NDArray[numpy.uint64]) -> int:
        """
        Return the position of a packed state, [1, words]; -1 if there is none.
        """

    def add(self, state: NDArray[numpy.uint64]) -> int:
        """
        Return the position of a packed state, [1, words], created if it is new; -1 if the tree is full.
        """

    def clear(self) -> None:
        """Remove all positions."""

    def forget(self, root: int) -> int:
        """
        Drop all positions that are unreachable from `root`; return the new number of the root.

        Rounds in progress cannot be finished afterwards.
        """

    def is_exact(self, position: int) -> bool:
        """
        Return whether the values of a position are proved for all roles but chance.
        """

    def after(self, position: int, arms: Sequence[int]) -> int:
        """
        Return the position after a joint move, given by the arm of each role; -1 if it was not made.
        """

    def prove(self, position: int, low: Sequence[float], high: Sequence[float], plies: int) -> None:
        """
        Set what is proved of a position: bounds of each role's value, and how many steps that looks ahead.
        """

    def tighten(self, position: int) -> bool:
        """
        Update the proved bounds of a position from its successors; return whether they changed.
        """

    def plant(self, states: NDArray[numpy.uint64]) -> NDArray[numpy.int64]:
        """
        Return the positions of packed states of the game, [n, words]; of equal ones too, in a labelled tree.

        -1 if the tree is full.
        """

    def unsettled(self, roots: NDArray[numpy.int64]) -> NDArray[numpy.uint8]:
        """
        Return for each position, -1 for none, whether there is more to find out: uint8 [n].
        """

    def best_moves(self, roots: NDArray[numpy.int64], roles: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        """
        Return the move of a role at each root that promises most, by its number among those of all roles.

        What is proved decides where it can; else the mean less its uncertainty.  -1 where the root was not
        expanded.
        """

    def add_up(self, roots: NDArray[numpy.int64], groups: NDArray[numpy.int64], roles: NDArray[numpy.int64], columns: int) -> tuple[Any, ...]:
        """
        Add up, over the roots of each group g, what the moves of `roles[g]` are worth.

        Returns values, how many roots a move was looked at, and playouts after it: each [groups, columns],
        by the number of the move among the role's.
        """

class Round:
    """
    Rounds of selection, expansion and backpropagation on a tree, for one thread.

    A way is a path from a root to a leaf; a row a joint move that is made at its end; rows that lead to new
    positions are fresh, and playouts start there.  At most `ways` and `rows` in a round.
    """

    def __init__(self, tree: SearchTree, *, ways: int = 512, rows: int = 8192) -> None: ...

    def expand(self, roots: NDArray[numpy.int64], *, most: int, widest: int, weight: float) -> int:
        """
        Go down the tree at most `most` times, from the roots in turn, and expand the leaves.

        At most `widest` joint moves are made from a leaf.  `weight` is what a way under way counts, in
        playouts lost.  Returns how many rows are fresh.  If the tree is full, these are the leaves themselves.
        An unfinished round is abandoned first.
        """

    def starts(self) -> NDArray[numpy.uint64]:
        """Return the packed states after the fresh rows, [fresh, words]."""

    def backpropagate(self, goals: NDArray[numpy.int16], lengths: NDArray[numpy.int64], played: NDArray[numpy.uint64] | None = None) -> None:
        """
        Add the ends of playouts, int16 [games, roles], up to the roots, and end the round.

        Game i of g started after fresh row `i * fresh // g`; one of length 0 started where the game is over.
        `played`, uint64 [moves, words], has the games in which a move was made, for AMAF; it is changed.
        `ValueError` where no round is under way, or the tree has forgotten since.
        """

    def run(self, root: int, players: StateEvaluator, generator: NDArray[numpy.uint64], stop: Stop, *, each: float = 1.0, widest: int = 512, max_steps: int = 1000, rounds: int = 1, seconds: float = 0.0, places: NDArray[numpy.int64] | None = None) -> int:
        """
        Do whole rounds from a root, with playouts by a `StateEvaluator`; return how many playouts there were.

        At most `rounds`; after so many seconds none is begun but the first.  Ends where the root is solved, a
        round had no playouts, or `stop` says so, which abandons the round.  `each` is how many playouts
        there are after a new position, on the average; `generator`, uint64 [32], their random numbers, used
        up.  Where the players' circuit has several copies of moves, `places`, int64 [moves], says where those
        of each begin.
        """

    def abandon(self) -> None:
        """End the round without playouts."""

    def line(self, fresh: int) -> list[int]:
        """
        Return the moves of role 0 from the root to where a fresh row leads, after `backpropagate`, too.
        """

    @property
    def per_leaf(self) -> float:
        """Moving average of the rows from a leaf."""

    @property
    def rows(self) -> int: ...

    @property
    def fresh(self) -> int: ...

    @property
    def asked(self) -> int:
        """Ways that ended with a leaf or a joint move to expand."""

    @property
    def is_under_way(self) -> bool: ...

class StateTable:
    """
    A set of packed states, numbered from 0 in the order in which they were added.

    The states themselves stand in an array of the caller; the table takes 13 to 27 bytes a state
    when it is large.  A lock serialises calls.
    """

    def __init__(self, words: int) -> None:
        """Create an empty set of states of `words` words."""

    @property
    def count(self) -> int:
        """The number of states."""

    @property
    def bytes(self) -> int:
        """The memory of the table in bytes."""

    def insert(self, states: NDArray[numpy.uint64], parents: NDArray[numpy.int32], rows: NDArray[numpy.uint64], origins: NDArray[numpy.int64], first_origin: int, stop: Stop | None = None) -> NDArray[numpy.int32]:
        """
        Add packed states, `rows` [n, words], and return the number of each, int32 [n].

        New ones are appended to `states` [room, words], which has those that were added before, and their
        `parents` [room] become `first_origin + origins`, int64 [n].  `ValueError` where `states` has not room
        for all of them.  A call that is stopped has added the first of them, or, while the table grew, spoiled it.
        """

class Survey:
    """
    Statistics of expanded states, added chunk by chunk.  A lock serialises calls.
    """

    def __init__(self, circuit: Circuit) -> None: ...

    def add(self, states: NDArray[numpy.uint64], over: NDArray[numpy.bool_], legal: NDArray[numpy.uint64], counts: NDArray[numpy.int32], starts: NDArray[numpy.int64], stop: Stop | None = None) -> NDArray[numpy.int64]:
        """
        Look at states, uint64 [n, words], and whether the game is `over` there, bool [n]; return those that are
        stuck, counted from 0: a role cannot move though the game is not over.

        `legal`, uint64 [n, legal_words], has their legal moves.  Fills `counts`, int32 [n, roles], with their
        numbers, and the sums of joint moves, `starts`, int64 [n + 1], after `starts[0]`; joint moves are cut at
        2**40 a state.
        """

    @property
    def branching(self) -> NDArray[numpy.int64]:
        """
        [roles, 2] over non-terminal states: the sum of legal moves, and the states with a choice.
        """

    @property
    def choosers(self) -> NDArray[numpy.int64]:
        """
        [roles + 1] in how many non-terminal states so many roles have a choice.
        """

    @property
    def ever_true(self) -> NDArray[numpy.uint64]:
        """Packed: the fluents that are true in some state."""

    @property
    def always_true(self) -> NDArray[numpy.uint64]:
        """Packed: the fluents that are true in every state."""

    @property
    def ever_legal(self) -> NDArray[numpy.uint64]:
        """Packed: the moves that are legal in some non-terminal state."""

class StateGraph:
    """
    The graph of the states of a game, on arrays of the caller.

    The edges of state i are `starts[i] .. starts[i + 1]` of `children`, one for each joint move, in mixed
    radix of `counts[i]`, the numbers of legal moves of the roles, the last role's changing fastest.
    States from `len(counts)` on have no recorded edges.
    Numbers that are none of a state or an edge are a `ValueError` of what meets them.  Calls raise
    `herbrand.errors.Stopped` when their `stop` says so.
    """

    def __init__(self, starts: NDArray[numpy.int64], children: NDArray[numpy.int32], counts: NDArray[numpy.int32], states: int) -> None:
        """
        `starts` int64 [expanded + 1], `children` int32 [transitions], `counts` int32 [expanded, roles], and the
        number of all states.
        """

    def order(self, stop: Stop | None = None) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
        """
        Sort the states so that each comes before its successors (Kahn 1962), omitting those on cycles and beyond.

        Returns those that could be sorted, int32, and the most joint moves that lead to each state, int32 [states].
        """

    def count_plays(self, sequence: NDArray[numpy.int32], stop: Stop | None = None) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64]] | None:
        """
        Return the lines of play from every state to an end, as 128-bit numbers: two uint64 [states], low and high.

        `sequence` has every state before its successors.  None if a number does not fit.
        """

    def spread(self, low: NDArray[numpy.uint64], high: NDArray[numpy.uint64], stop: Stop | None = None) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64]] | None:
        """
        Return the lines of play one step on: each state hands its number, of 128 bits, to its successors.

        None if a number does not fit.
        """

    def random_values(self, sequence: NDArray[numpy.int32], values: NDArray[numpy.float64], stop: Stop | None = None) -> None:
        """
        Fill `values`, float64 [states, ...], with the mean over the successors, where a state has some.
        """

    def force(self, target: NDArray[numpy.bool_], role: int, sequence: NDArray[numpy.int32] | None = None, stop: Stop | None = None) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
        """
        Compute where a role can force a state of `target`, bool [states], whatever the others do.

        Returns in how many steps, or -1, and which of its legal moves does it: two int32 [states].  With a
        `sequence` of all states, each before its successors, this takes one pass.
        """

    def reply(self, state: int, move: int, role: int, rank: NDArray[numpy.int32]) -> int:
        """
        Return an edge of a state with the role's move of that number, after which its `rank` is -1; -1 for none.
        """

    def lasso(self, depth: NDArray[numpy.int64], candidates: NDArray[numpy.int64], work: int, stop: Stop | None = None) -> tuple[list[int], bool]:
        """
        Find a shortest line of play that comes back to a state where it was.

        `candidates` are states in the order of `depth`, int64 [states], with every circle through one of them.  Looks
        at `work` edges at most.  Returns the states on the circle, from where it begins, none if there is none; and
        whether all were looked at.
        """

    def induce(self, over: NDArray[numpy.bool_], sequence: NDArray[numpy.int32], begin: int, chance: int, role: int, top: float, values: NDArray[numpy.float64], length: NDArray[numpy.int32], best: NDArray[numpy.int32], stop: Stop | None = None) -> tuple[int, int, NDArray[numpy.float64]]:
        """
        Backward induction: fill `values`, float64 [states, roles], of states, each after its successors.

        Terminal states have their values.  `sequence[begin:]` was done before; what `chance` (a role, or -1) does is
        equally likely.  With `role` -1 at most one other role may choose, and takes the first move that is best
        for it, and of equal ones the shorter play from `top` / 2 on, the longer below.  With a role, only its
        column of `values` is filled: what it gets at least, choosing at the same time as all others together.
        `length`, int32 [states], becomes the steps of best play, `best`, int32 [states], the number of the move
        taken, or -1 where no one chooses or choices are mixed.

        Returns a place in `sequence`, a number of ties, and payoffs: the place is -1 when all is done, or that of a
        state where mixing is needed, with the payoffs, float64 [moves of the role * moves of the others]; its value
        is to be filled in.  Ties are states in which another best move would be worth something else to somebody.
        """

def evaluate_ternary(circuit: Circuit, can: NDArray[numpy.bool_], must: NDArray[numpy.bool_], stop: Stop | None = None) -> None:
    """
    Evaluate gates on what can be true and what must be true, bool [nodes] each, whose inputs are given.
    """

def distances(left: NDArray[numpy.int32], right: NDArray[numpy.int32], fluents: int, literals: NDArray[numpy.int32], weights: NDArray[numpy.float32], starts: NDArray[numpy.int64], members: NDArray[numpy.int64], tables: NDArray[numpy.int64], steps: NDArray[numpy.float32], far: float, states: NDArray[numpy.uint64], stop: Stop | None = None) -> NDArray[numpy.float32]:
    """
    Return how far packed states, uint64 [n, words], are from those in which literals are true, float32 [n].

    Nodes are false, fluents, gates; a literal is 2 * node + inverted.  Of conjunctions what the sides need is
    added, up to `far`.  Group k has the fluents `members[starts[k]:starts[k + 1]]`, and at `tables[k]` of `steps`
    the steps from each of them, and from none, to each other.
    """

class TranspositionTable:
    """
    Search results by the hashes of states; several searches, and threads, may share one.
    """

    def __init__(self, bytes: int) -> None:
        """Create a table of at most `bytes` bytes, but not less than 16384."""

    @property
    def bytes(self) -> int: ...

    def touch(self) -> None:
        """
        Commit all memory now, not while a player's clock runs; clears the table.
        """

    def probe(self, key: int) -> tuple[int, int, int, bool, int] | None:
        """
        Return value, depth, bound, whether it is proved, and move; None if there is no entry.
        """

    def store(self, key: int, value: int, depth: int, bound: int, proved: bool, move: int) -> None:
        """
        Keep a value below 2**20, a depth below 2**9, a bound, whether it is proved, and a move below 2**29 or -1.
        """

class Judge:
    """
    A heuristic value: a sum over features of a state and over its legal moves.
    """

    def __init__(self, literals: NDArray[numpy.int32], table: NDArray[numpy.int32], mobility: NDArray[numpy.float64], progress: NDArray[numpy.float64], bias: float) -> None:
        """
        `literals`, int32 [features], are of fluents or of gates for the legal moves.  `table`, int32
        [8 * words, 256], says what each byte of the packed features counts; no rows leave them out.  `mobility`,
        float64 [roles], is what each legal move of a role counts.  `progress`, float64 [2], is what a point of the
        goal counts in a state that is not the last, and what having none counts.  A goal of 1 counts 1000.
        """

class Valuer:
    """
    Computes heuristic values of states for a role, by a `Judge`; a lock serialises calls.
    """

    def __init__(self, circuit: Circuit, role: int, judge: Judge) -> None:
        """Raises `ValueError` if the judge does not match the circuit."""

    def values(self, states: NDArray[numpy.uint64], stop: Stop | None = None) -> NDArray[numpy.int64]:
        """
        Return what packed states, uint64 [n, words], are worth, int64 [n]: 1000 times the goal where the game is
        over, 50000 where that is not one number, elsewhere the heuristic value from 500 to 99500.  Raises
        `herbrand.errors.Stopped` when `stop` says so.
        """

    def features(self, states: NDArray[numpy.uint64], stop: Stop | None = None) -> NDArray[numpy.uint64]:
        """
        Return the values of the judge's literals in packed states, packed, uint64 [n, feature words]; `stop` as in
        `values`.
        """

class RootMove:
    """Search results for a move at the root."""

    @property
    def move(self) -> int:
        """Its number among the moves of all roles."""

    @property
    def value(self) -> int:
        """1000 times the goal, or -1 if it was not searched in this iteration."""

    @property
    def bound(self) -> int:
        """0: the value is exact, 1: at least that, 2: at most that."""

    @property
    def proved(self) -> bool:
        """Whether no heuristic value contributes to it."""

    @property
    def nodes(self) -> int:
        """States expanded below it, in all iterations from this root."""

class AlphaBeta:
    """
    Alpha-beta search for one role against all others.

    A *value* is 1000 times the role's goal; proved ends are moved by their distance, so that wins are
    taken soon and losses late.  Threads may share it: `go_on` lets other calls in between.
    """

    def __init__(self, circuit: Circuit, role: int, judge: Judge, table: TranspositionTable, exact: bool, novelty: bool) -> None:
        """
        Create a search without a root.

        With `exact`, no successor is searched less deeply than others; with `novelty`, successors in which fluents
        are true that were so in no root are looked at sooner.
        """

    def move_to(self, state: NDArray[numpy.uint64]) -> None:
        """Make a packed state, uint64 [words], the root."""

    def begin(self, depth: int) -> None:
        """Begin an iteration of this depth in steps."""

    def go_on(self, stop: Stop, most: int) -> bool:
        """
        Go on with the iteration until it ends, about `most` states were expanded, or `stop` says so.

        Returns whether it is complete.
        """

    @property
    def nodes(self) -> int:
        """States expanded since the root was set; does not wait."""

    @property
    def is_simultaneous(self) -> bool:
        """
        Whether several roles have a choice in some state that was searched; does not wait.
        """

    def chooser(self) -> int:
        """
        Return the role that has a choice at the root, 0 if none has; negative if not just one has, or one is stuck.
        """

    def root_value(self) -> int:
        """Return the static value of the root."""

    def choice(self) -> int:
        """
        Return the best move at the root so far in this iteration; -1 if no move was searched.
        """

    def value(self) -> int:
        """Return the value of the last complete iteration."""

    def is_solved(self) -> bool:
        """Return whether that is proved."""

    def depth(self) -> int:
        """Return the depth of the current iteration in steps."""

    def root(self) -> list[RootMove]:
        """Return the results of each move at the root, as `RootMove`."""

    def seen(self) -> NDArray[numpy.uint64]:
        """
        Return the fluents that were true in some root, packed; empty without `novelty`.
        """

    def known_move(self, state: NDArray[numpy.uint64]) -> int:
        """Return the move in the table for a packed state, or -1."""

class Prover:
    """
    Decides by proof-number search whether a role can force a goal value, whatever the others do.

    Answers about all states that were decided stay in a table for later questions, for any role and goal
    value.  A lock serialises calls.
    """

    def __init__(self, circuit: Circuit, bytes: int, symmetries: NDArray[numpy.int32], walkers: int, certain: bool = False) -> None:
        """
        `bytes` bounds the table.  `symmetries`, int32, are permutations of the fluents, one after another, that are
        proved to preserve the game.  `walkers`, 1 to 64, are the places at which the search goes on at the same time.
        `certain` allows simultaneous choices: the others, chance among them, then reply to the move of the role.
        """

    def set_threats(self, threats: Circuit | None) -> None:
        """
        Set a circuit over the same fluents, or None, whose `terminal` says in which states the side not to move
        would decide the question if it were to move.  Only the order of the search depends on it.
        """

    def ask(self, state: NDArray[numpy.uint64], role: int, goal: int) -> None:
        """
        Ask whether `role` can force at least `goal` from a packed state, uint64 [words].
        """

    def go_on(self, stop: Stop, most: int) -> int:
        """
        Search until the question is decided, `stop` says so or about `most` states were expanded.

        Returns 1 if it can be forced, -1 if the others can prevent it, 0 if that is not known yet, 2 if this search
        cannot know it: it depends on repeated states, on simultaneous choices or on ends without a goal value.
        """

    def known(self, states: NDArray[numpy.uint64], stop: Stop | None = None) -> tuple[Any, ...]:
        """
        Return what is known of packed states, uint64 [n, words], for the current role and goal value.

        The first array, int8 [n], has 1, -1 and 0 as from `go_on`; the second, uint8 [n], the binary logarithm of the
        states expanded for the answer.  Terminal states are evaluated, others looked up.
        """

    @property
    def expanded(self) -> int:
        """States whose successors were generated, for all questions."""

    @property
    def generated(self) -> int:
        """Successors that were generated, for all questions."""

    @property
    def entries(self) -> int:
        """Used entries of the table."""

    @property
    def capacity(self) -> int:
        """Entries of the table."""

    @property
    def is_simultaneous(self) -> bool:
        """
        Whether several roles have a choice, or one no legal move, in some state that was generated.
        """

    @property
    def sums(self) -> tuple[int, int]:
        """
        The least and the greatest sum of the goal values of all roles in terminal states that were generated; -1 for
        one in which a role has no goal value.  The greatest is -1, and the least larger, before there is any.
        """

    @property
    def numbers(self) -> tuple[int, int]:
        """The proof and disproof numbers of the root when it was last left."""

class Diagrams:
    """
    Sets of states, and relations between states, as decision diagrams.

    A state is a row of small numbers, one for each level.  Sets and relations are numbers: 0 is empty, 1 the
    set of the state of zeros or the relation that changes nothing; equal ones have equal numbers.  They are
    valid until a `collect` that does not name them.  Operations raise `MemoryError` where there is no room.
    Not for several threads.
    """

    def __init__(self, values: NDArray[numpy.int32], bytes: int) -> None:
        """
        `values`, int32 [levels], are the numbers of values of each level, 2 to 4; `bytes` bounds the memory.
        """

    def state(self, values: NDArray[numpy.int32]) -> int:
        """Return the set of one state, int32 [levels]."""

    def relation(self, level: int, children: Sequence[int]) -> int:
        """
        Return the relation with these relations of later levels for each pair of values of a level: those for the
        first value before the step first.
        """

    def unite_relations(self, a: int, b: int, stop: Stop | None = None) -> int:
        """Return the pairs of states that are in either relation."""

    def image(self, states: int, relation: int, stop: Stop | None = None) -> int:
        """Return the states to which a relation leads from those of a set."""

    def unite(self, a: int, b: int, stop: Stop | None = None) -> int:
        """Return the states of either set."""

    def intersect(self, a: int, b: int, stop: Stop | None = None) -> int:
        """Return the states of both sets."""

    def subtract(self, a: int, b: int, stop: Stop | None = None) -> int:
        """Return the states of the first set that are not in the second."""

    def collect(self, roots: Sequence[int]) -> tuple[Any, ...]:
        """
        Forget everything that these sets and relations do not need.

        Returns the number of states in the first of them, a set, and of its nodes.  `OverflowError` if it has more
        than 2^128 states.
        """

    def exported(self, roots: Sequence[int]) -> tuple[Any, ...]:
        """
        Return sets as arrays: the levels of nodes, uint16, children before their parents; the children, uint32, one
        node after the other, where k + 2 is node k; and the sets, uint32.
        """

    def imported(self, levels: NDArray[numpy.uint16], children: NDArray[numpy.uint32], roots: NDArray[numpy.uint32]) -> list[int]:
        """Return the sets of such arrays; `ValueError` for others."""

    @property
    def nodes(self) -> int:
        """Nodes, those included that nobody needs."""

class CompiledProgram:
    """
    A lane program ready to run; `herbrand.network.LaneProgram` shows its contents.
    """

    def __len__(self) -> int:
        """The number of operations."""

    @property
    def code(self) -> str:
        """
        How it is executed: `avx512` or `avx2` machine code, or `walked`, interpreted.
        """

    @property
    def why_walked(self) -> str:
        """Why it has no machine code; empty if it has."""

    @property
    def code_bytes(self) -> int:
        """Bytes of machine code, whole pages; 0 where there is none."""

    def machine_code(self, kind: str) -> tuple[Any, ...]:
        """
        Write machine code of a kind, whether or not this processor executes it: the bytes, where each unit
        begins, how many rows of memory they need, and how many bytes are from one to the next: 64, or 32 where each
        half of the rows has memory of its own.  `ValueError` where there is no encoder.
        """

    def describe(self) -> dict[str, Any]:
        """
        All of the program as arrays and numbers, by the names that `herbrand.network.LaneProgram` explains.
        """

def evaluating_program(circuit: Circuit, arity: int = 0) -> CompiledProgram:
    """
    The lane program that evaluates a circuit: the one that is used, or one of functions of two or three bits.
    """

def playing_program(circuit: Circuit, assume: bool = True, arity: int = 0) -> CompiledProgram:
    """
    The lane program of random play: the one that is used, or one of functions of two or three bits.

    With `assume` it relies on regularities of sampled games, and checks them in every step.
    """

def allow_code(allowed: bool) -> None:
    """Enable or disable machine code for programs created from now on."""

def why_no_code() -> str:
    """Why programs get no machine code here; empty if they do."""

def code_kind() -> str:
    """
    Which machine code programs get: `avx512`, `avx2`, or an empty string for none.
    """

class Playouts:
    """
    Uniformly random games from the initial state, 512 at a time.

    Every lane plays a fixed number of games, so that short games are not over-represented.  The
    same seed and number of games give the same games, whatever they are computed with.
    """

    def __init__(self, circuit: Circuit, playouts: int, seed: int, max_steps: int, walk: bool = False) -> None:
        """
        `walk` interprets the program instead of compiling it.  Games end after `max_steps` steps in any case.
        """

    def play(self, seconds: float, stop: Stop) -> bool:
        """
        Play for so many wall-clock seconds, or until `stop` is set; return whether all games are played.
        """

    @property
    def code(self) -> str:
        """
        How it plays: `avx512` or `avx2` machine code, or `walked`, interpreted.
        """

    @property
    def played(self) -> int:
        """Games that have ended."""

    @property
    def transitions(self) -> int:
        """Steps made, including those of unfinished games."""

    @property
    def truncated(self) -> int:
        """Games that reached the step limit."""

    @property
    def stuck(self) -> int:
        """Games that ended because a role had no legal move."""

    @property
    def ended(self) -> int:
        """Games that ended in a terminal state."""

    @property
    def conflicts(self) -> int:
        """
        How often an assumption of the program failed and another program took over: 0 or 1.
        """

    @property
    def stuck_role(self) -> int:
        """
        The role that had no legal move in the first such state; -1 if there was none.
        """

    @property
    def stuck_state(self) -> NDArray[numpy.uint64]:
        """The first such state, packed."""

    @property
    def lengths(self) -> NDArray[numpy.int64]:
        """[...] the number of games by length."""

    @property
    def goals(self) -> NDArray[numpy.int64]:
        """
        [goals] games that ended with each goal, where it was the only one of its role.
        """

    @property
    def choices(self) -> NDArray[numpy.int64]:
        """
        [roles] the sum of the numbers of legal moves over all states in which one was chosen.
        """

def peak() -> float:
    """
    Measure how many functions of three bits one core computes in a second, on values in registers, over all lanes.
    """

class EnvOutcome:
    """The outcome of `Env.step`."""

    @property
    def illegal(self) -> int:
        """
        The first game whose action is not legal, -1 if there is none; if there is, nothing has moved.
        """

    @property
    def illegal_outcome(self) -> int:
        """
        The first lane in which a given move of chance is not legal, or -1: then nothing has moved.
        """

    @property
    def clash(self) -> bool:
        """Whether two players have a choice in the same state."""

    @property
    def goalless(self) -> bool:
        """
        Whether a game ended in a state in which a player does not have exactly one goal value.
        """

class Env:
    """
    Many games with the same rules, stepped together; see `herbrand.envs.BatchEnv`.

    Output arrays belong to the caller and are ordered by lane: uint8, a byte for each element, or
    packed, where each lane has whole words of 64 bits.
    """

    def __init__(self, *, circuit: Circuit, lanes: int, players: NDArray[numpy.int32], number: NDArray[numpy.int32], idle: NDArray[numpy.uint8], columns: NDArray[numpy.int32], chance: int, by_turns: bool, packed: bool, percepts: bool, reset: int, max_steps: int, low: float, high: float, keep: int) -> None:
        """
        `lanes` games.  `players` are the roles that choose, ascending; `number[p, a]` the move of action a of
        player p, -1 for none; `idle` says of each move whether it waits; `columns` are the fluents that are
        observed, -1 for false; `chance` is the role that is drawn, -1 for none.  `reset`: games that are over
        stay (0), begin again in the next step (1), at once (2).  `low` and `high` are the rewards for goal
        values 0 and 100.  Up to `keep` bytes every block of 512 games has rows of its own.
        """

    @property
    def seed_words(self) -> int:
        """The number of words that `sow` needs."""

    @property
    def observation_bytes(self) -> int:
        """The length of `observation` and `last`."""

    @property
    def legal_bytes(self) -> int:
        """The length of `legal`."""

    @property
    def percept_bytes(self) -> int:
        """The length of `percepts`."""

    def room(self, bytes: int) -> NDArray[numpy.uint8]:
        """
        Return a new array of so many bytes, [bytes] uint8, that holds anything.  Memory of such arrays is used again
        when they are gone, which is quicker than new memory.
        """

    def sow(self, words: NDArray[numpy.uint64]) -> None:
        """
        Set the states of the random generators for chance and for samples, [seed_words] uint64.
        """

    def begin(self, fresh: NDArray[numpy.uint8], observation: NDArray[numpy.uint8], legal: NDArray[numpy.uint8], player: NDArray[numpy.uint8]) -> bool:
        """
        Put the games for which `fresh`, [lanes] uint8, is not 0 into the initial state, and fill the arrays
        for all; return whether no two players have a choice at the same time.
        """

    def step(self, actions: NDArray[numpy.int32], held: NDArray[numpy.uint8] | None, observation: NDArray[numpy.uint8], legal: NDArray[numpy.uint8], player: NDArray[numpy.uint8], rewards: NDArray[numpy.float32], terminated: NDArray[numpy.uint8], truncated: NDArray[numpy.uint8], percepts: NDArray[numpy.uint8], last: NDArray[numpy.uint8], outcomes: NDArray[numpy.int32] | None = None) -> EnvOutcome:
        """
        Move the games that are neither over nor `held`, [lanes] uint8 or None, and fill the arrays.

        `actions` is [lanes, 1] int32 by turns, else [lanes, players].  `last` is the observation before games
        that ended began again; empty unless `reset` is 2.  `outcomes`, [lanes] int32, are the moves of chance
        as their numbers in the circuit; without them they are drawn.
        """

    def sample(self, actions: NDArray[numpy.int32]) -> None:
        """
        Draw legal actions for `step` uniformly; arbitrary ones where a game is over.
        """

    def observe(self, columns: NDArray[numpy.int32], packed: bool, out: NDArray[numpy.uint8]) -> None:
        """Fill `out` with the values of the fluents `columns`; -1 is false."""

    @property
    def steps(self) -> NDArray[numpy.int32]:
        """[lanes] int32, the number of steps of each game."""

    @property
    def over(self) -> NDArray[numpy.uint8]:
        """[lanes] uint8, which games are over."""

    @property
    def to_move(self) -> NDArray[numpy.uint8]:
        """[lanes] uint8, the player to move, an index of `players`."""

class GateGraph:
    """
    A growing and-inverter graph with structural hashing; see `herbrand.network.circuit`.

    Node 0 is false, then come variables and gates in the order in which they are made; a
    literal is 2 * node + inverted.  One that is out of range is a `ValueError`.
    """

    def __init__(self) -> None: ...

    @property
    def nodes(self) -> int:
        """The number of nodes."""

    @property
    def left(self) -> NDArray[numpy.int32]:
        """
        [room] int32, the first operands of gates; -1 for what is none.  New arrays when the graph has grown.
        """

    @property
    def right(self) -> NDArray[numpy.int32]:
        """[room] int32, the second operands."""

    def variables(self, count: int) -> int:
        """Create variables; return the node of the first one."""

    def conjunction(self, a: int, b: int) -> int:
        """Return the literal of `a and b`."""

    def copy(self, left: NDArray[numpy.int32], right: NDArray[numpy.int32], first: int, begin: int, end: int, value: NDArray[numpy.int32]) -> None:
        """
        Copy the gates `begin <= g < end` of a graph whose gate 0 is node `first`.

        `value[node]`, int32, holds the literals that its nodes stand for, and is filled in for these gates.
        """

    def all_of(self, literals: NDArray[numpy.int32]) -> int:
        """Return the conjunction of any number of literals."""

    def only_one(self, literals: NDArray[numpy.int32]) -> tuple[int, int]:
        """
        Return the literals of "exactly one is true" and "at most one is true".
        """

def strong_components(start: NDArray[numpy.int64], edges: NDArray[numpy.int32], count: int) -> tuple[Any, ...]:
    """
    Return nodes in an order in which ends of edges come first, and each one's component, [count] int32.

    The edges of node n are `edges[start[n]:start[n + 1]]` (Tarjan 1972).
    """

def build_gates(order: NDArray[numpy.int32], component: NDArray[numpy.int32], rule_start: NDArray[numpy.int64], rules: NDArray[numpy.int32], body_start: NDArray[numpy.int64], body: NDArray[numpy.int32], literal: NDArray[numpy.int32], first: int, feedback_first: int) -> tuple[Any, ...]:
    """
    Build the gates of all atoms; see `herbrand.network.graph.build_gates`.
    """

def mark_cone(left: NDArray[numpy.int32], right: NDArray[numpy.int32], first: int, feedback_first: int, feedback: NDArray[numpy.int32], loops: NDArray[numpy.int32], wanted: NDArray[numpy.int32]) -> NDArray[numpy.uint8]:
    """
    Return for each gate whether the literals `wanted` depend on it, [gates] uint8; of loops all gates or none.
    """

def unknown_cone(left: NDArray[numpy.int32], right: NDArray[numpy.int32], state: NDArray[numpy.int8], uses: NDArray[numpy.int32], root: int) -> NDArray[numpy.int64]:
    """
    Return the gates that a node depends on and that are not defined yet, as wide conjunctions, int64;
    see `herbrand.network.graph.unknown_cone`.
    """

def conjuncts(left: NDArray[numpy.int32], right: NDArray[numpy.int32], first: int, literal: int) -> NDArray[numpy.int32]:
    """
    Return the literals of the maximal conjunction that equals a literal, int32.
    """

def cone_sizes(left: NDArray[numpy.int32], right: NDArray[numpy.int32], first: int, literals: NDArray[numpy.int32], most: int) -> NDArray[numpy.int64]:
    """
    Return the number of gates that each literal depends on, int64, capped at `most`.
    """

def factor(left: NDArray[numpy.int32], right: NDArray[numpy.int32], first: int, outputs: NDArray[numpy.int32], group_start: NDArray[numpy.int64], group: NDArray[numpy.int32]) -> tuple[Any, ...]:
    """
    Return a smaller graph for the same outputs: gates' operands, and the literals of the outputs, all int32.

    Gate g is node `first + g`.  `group[group_start[k]:group_start[k + 1]]` are literals of inputs of which
    never two are true; see `herbrand.network.passes.factor`.
    """

class StateMemory:
    """
    Evaluates single states incrementally: the cost of a step is proportional to what changes.

    At first all fluents are false.  `order[i]` is the i-th move as answers shall have them, sorted by role;
    the number of a move is its place among those of its role.  Keys are packed states: `Circuit.state_words`
    words as bytes; a wrong one is a `ValueError`.  Each answer is one call that nothing interrupts.
    """

    def __init__(self, circuit: Circuit, order: NDArray[numpy.int64]) -> None: ...

    def again(self) -> StateMemory:
        """
        Return another memory in the initial condition; the two share immutable tables.
        """

    @property
    def reckons(self) -> bool:
        """
        Whether changes are propagated instead of evaluating all gates.  Setting it makes all fluents false.
        """

    @reckons.setter
    def reckons(self, arg: bool, /) -> None: ...

    @property
    def kept(self) -> int:
        """
        The number of cached states; others are computed from the nearest.  Setting it makes all fluents false.
        """

    @kept.setter
    def kept(self, arg: int, /) -> None: ...

    @property
    def key(self) -> bytes:
        """The current state, packed."""

    MOST_KEPT: int = 16

    @property
    def go(self) -> Callable[..., Any]:
        """go(key): make a state the current one; returns whether it is terminal."""

    @property
    def legal(self) -> Callable[..., Any]:
        """
        legal([role[, key]]): the numbers of the legal moves, ascending; without a role a list for each of them.

        `IndexError` for a role that is none.
        """

    @property
    def scores(self) -> Callable[..., Any]:
        """
        scores([key]): the goals that hold, as places among the goals of the network.
        """

    @property
    def look_ahead(self) -> Callable[..., Any]:
        """
        look_ahead(inputs[, key]): the key of the next state, and the percepts by their places.

        `inputs` has a move, numbered as in the network, for each role; they need not be legal.
        """

    @property
    def play(self) -> Callable[..., Any]:
        """
        play(moves): whether the state is terminal, to which it goes by a joint move, a number for each role.

        None where a move is not legal, the game is over, or `moves` is no list or tuple of integers; the state stays then.
        """

class MoveNames:
    """
    The objects that stand for the moves and roles of a `StateMemory`, and questions in these terms.

    `moves[r][i]` is the object for the i-th move of role r; they are lists apart by identity.
    """

    def __init__(self, memory: object, roles: Sequence[Any], moves: Sequence[Any]) -> None: ...

    @property
    def state(self) -> Callable[..., Any]:
        """
        state(key): the answers about a state, for `answer`, and whether it is terminal.
        """

    @property
    def go_on(self) -> Callable[..., Any]:
        """
        go_on(key, moves): the key of the next state and what `state` tells about it.

        None unless `moves` is a list or a tuple of a legal move, the very object, for each role.
        """

    @property
    def answer_of_role(self) -> Callable[..., Any]:
        """answer_of_role(answers, role): the legal moves of a role."""

    @property
    def answer(self) -> Callable[..., Any]:
        """answer(answers): the legal moves by role."""

class Watchdog:
    """
    Watches memory and time of this process; see `herbrand.runtime.watchdog`.
    """

    def __init__(self, soft: tuple[float, float], hard: tuple[float, float], signal: int, status: int, memory_text: str, time_text: str) -> None:
        """Limits are pairs of megabytes and seconds from now; infinity for none."""

    def stop(self) -> None:
        """End the watch."""

    @property
    def excess(self) -> str:
        """"memory" or "time" once the soft limit was exceeded, before that ""."""

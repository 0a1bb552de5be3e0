"""Steps one joint move after the other, and numbers in a circuit."""

import time
from itertools import product

import pytest

pytest.importorskip("pysat", reason="the extra analyse")

import herbrand
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.arithmetic import greater, total_of
from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.frames import Frame, System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.analyse.invariants.induction import prove_by_cases, prove_unreachable
from herbrand.analyse.invariants.ranking import find_weights
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded
from herbrand.network.circuit import UnrolledCircuit


def test_sums_and_comparisons_are_those_of_numbers() -> None:
    circuit = UnrolledCircuit()
    x, y, z = (circuit.variables(bits).tolist() for bits in (3, 1, 2))
    total = total_of(circuit, [x, y, [], z, [1, 0, 1]])
    more = greater(circuit, total, [0, 0, 1, 1])
    with Solver(circuit, time.monotonic() + 60) as solver:
        for values in product(range(8), range(2), range(4)):
            bits = [
                literal ^ (1 - (value >> place & 1))
                for literals, value in zip((x, y, z), values, strict=True)
                for place, literal in enumerate(literals)
            ]
            number = sum(values) + 5
            same = [literal ^ (1 - (number >> place & 1)) for place, literal in enumerate(total)]
            assert number < 1 << len(total)
            assert solver.solve(*bits, *same)
            assert solver.solve(*bits, more) == (number > 12)
            assert solver.solve(*bits, more ^ 1) == (number <= 12)


def test_roles_that_take_turns_are_not_multiplied() -> None:
    game = herbrand.load("checkers")
    system = System(game.network, loops=False)
    groups = find_groups(system, time.monotonic() + 60)
    cases = StepCases(system, groups, time.monotonic() + 60)
    assert cases.list_cases()
    assert len(cases.cases) < len(game.network.moves)
    assert sorted(cases.in_turn(), key=id) == sorted(cases.cases, key=id)
    cases.close()


IDLE = """
(role a) (init (idle 0))
(legal a wait)
(<= (legal a (light ?n)) (lamp ?n) (not (true (on ?n))))
(<= (next (on ?n)) (does a (light ?n)))
(<= (next (on ?n)) (true (on ?n)))
(<= (next (idle 0)) (does a (light ?n)))
(<= (next (idle ?n)) (does a wait) (true (idle ?m)) (succ ?m ?n))
(<= terminal (true (idle 99)))
(<= (goal a 100) (true (on 3)))
(<= (goal a 0) (not (true (on 3))))
(lamp 1) (lamp 2) (lamp 3)
""" + "".join(f"(succ {n} {n + 1})" for n in range(99))
"""A counter starts again with each lamp that is lit, as in games with a limit on moves without progress."""


def test_a_counter_that_starts_again() -> None:
    game = herbrand.loads(IDLE, name="idle")
    system = System(game.network)
    deadline = time.monotonic() + 60
    groups = find_groups(system, deadline)
    seen = play(game.expander, time.monotonic() + 1)
    weights = find_weights(game.expander, system, groups, seen.changes, deadline)
    assert weights is not None
    by_text = {system.fluent_texts[place]: weight for place, weight in weights.by_place.items()}
    lamp = min(by_text[f"(on {n})"] for n in (1, 2, 3))
    counts = [by_text.get(f"(idle {n})", 0) for n in range(100)]
    assert counts == sorted(counts)
    assert lamp > counts[98] - counts[0]


def proofs_of_goals(game: herbrand.Game) -> dict[str, bool]:
    """Return whether goals of both roles are proved, at once and by cases."""
    system = System(game.network)
    groups = find_groups(system, time.monotonic() + 60)

    def faults(frame: Frame) -> list[int]:
        return [frame.has_no_goal(role) for role in range(2)]

    wanted = {"goals": faults}
    fault = {"goals": lambda frame: frame.system.circuit.any_of(faults(frame))}
    by_groups = prove_unreachable(system, groups, fault, time.monotonic() + 60, 0)
    return {
        "at once": "goals" in by_groups,
        "by cases": "goals" in prove_by_cases(system, groups, wanted, time.monotonic() + 60),
    }


def test_one_step_by_cases() -> None:
    # that never two roles have three in a row needs the step that made one
    assert proofs_of_goals(herbrand.load("ticTacToe")) == {"at once": False, "by cases": True}
    text = str(herbrand.load("ticTacToe").tree.source.text)
    wrong = text + "(<= (goal xplayer 3) (true (cell 1 1 x)))"
    assert proofs_of_goals(herbrand.loads(wrong, name="wrong")) == {"at once": False, "by cases": False}


def test_time_is_up() -> None:
    game = herbrand.load("ticTacToe")
    system = System(game.network)
    assert prove_by_cases(system, [], {"goals": lambda frame: [frame.terminal]}, time.monotonic() - 1) == []


def test_the_end_of_a_solvers_memory_is_a_budget() -> None:
    circuit = UnrolledCircuit()
    x, y = circuit.variables(2).tolist()
    with Solver(circuit, time.monotonic() + 60) as solver:

        class Full:
            def __getattr__(self, name: str) -> object:
                def full(*_: object, **__: object) -> None:
                    raise MemoryError("Solver ran out of addressable memory")

                return full

        kept, solver._solver = solver._solver, Full()
        with pytest.raises(BudgetExceeded, match="memory"):
            solver.solve(circuit.all_of((x, y)))
        with pytest.raises(BudgetExceeded, match="memory"):
            solver.add([x, y])
        solver._solver = kept

"""Count the reachable states of a game breadth first.  States are hashable values, so a set holds them.

usage: python examples/reachable_states.py [GAME] [LIMIT]
"""

from __future__ import annotations

import sys

import herbrand


def main(name: str = "nim", limit: str = "10000") -> None:
    """Print the number of states, and of terminal ones, by depth."""
    frontier = {herbrand.load(name).initial_state()}
    seen = set(frontier)
    depth = 0
    while frontier and len(seen) <= int(limit):
        finished = sum(state.is_terminal for state in frontier)
        print(f"after {depth:2} steps: {len(frontier):6} states, {finished} finished")
        frontier = {state.next(joint) for state in frontier for joint in state.joint_moves()} - seen
        seen |= frontier
        depth += 1
    print(f"{len(seen)} states" if not frontier else f"more than {limit} states")


if __name__ == "__main__":
    main(*sys.argv[1:])

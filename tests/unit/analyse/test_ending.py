"""How a process ends while daemon threads are in the core."""

import subprocess
import sys

BUSY = """
import threading
import numpy as np
import herbrand

game = herbrand.load("ticTacToe")
expander = game.expander
states = np.repeat(expander.initial, 512, axis=0)
under_way = threading.Barrier(4, timeout=60)

def playouts():
    game.simulate(playouts=1000, seed=1, engine="network", threads=1)

def legal():
    expander.legal(states)

def walk():
    game.walker().legal()

def repeat(ask):
    ask()
    under_way.wait()
    while True:
        ask()

for ask in (playouts, legal, walk):
    threading.Thread(target=repeat, args=(ask,), daemon=True).start()
under_way.wait()
"""


def test_the_end_of_the_interpreter_does_not_crash_threads_in_the_core():
    """CPython unwinds their stacks, which C++ would take for an exception that nobody catches."""
    ended = subprocess.run(
        [sys.executable, "-c", BUSY], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")

"""Networks: ground rules as an and-inverter graph.

`wire` builds the graph, `optimised` makes it smaller (`passes`); the module `network` documents the encoding.
`dump` and `as_aiger` read and write files.  `LaneProgram` shows what the core compiles a network to,
straight-line code over rows of states or games; `lane_machine` is its reference interpreter.

| in the ground program | in the network                              |
|-----------------------|---------------------------------------------|
| atom                  | literal: a node, perhaps inverted           |
| rule body             | conjunction of literals: AND gates          |
| several rules         | disjunction: the inverse of an AND          |
| `true`, `does`        | inputs                                      |
| recursion in a state  | loop with feedback                          |
"""

from herbrand.network.lanes import LaneProgram
from herbrand.network.network import Network
from herbrand.network.passes import optimised
from herbrand.network.wire import wire

__all__ = ["LaneProgram", "Network", "optimised", "wire"]

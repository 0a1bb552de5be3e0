"""The board recogniser: decides what in a game is a board, and how it lies.

`find_layout` is the one place that says which fluents are boards, which of their arguments are coordinates,
content, or the name of one of several boards, which cells there are, and in which order rows and columns run.
Text, SVG, observation planes and clicks all read its `Layout`.

| module       | what it does                                                                       |
|--------------|------------------------------------------------------------------------------------|
| `vocabulary` | the evidence: the fluents and moves there may be, and some states                  |
| `rules`      | more of it: names of variables, static relations, which arguments share variables  |
| `layers`     | which arguments of one fluent are coordinates, which content                       |
| `together`   | fluents that say one thing only together; towers, lists, whose turn it is          |
| `layout`     | boards made of the layers; what runs across, what counts upward, hexagons          |
| `squares`    | where each fluent stands, for observation planes and learned values                |
"""

"""Drawing states for people.

`herbrand.draw.text.draw` looks for a board among the facts of a state and prints it with
letters; `table` lists the facts that are not part of one.
"""

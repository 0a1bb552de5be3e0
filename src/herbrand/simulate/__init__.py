"""Engines: they compute legal moves, successors, goals and ends of games from the rules.

* `from_rules.RulesEngine` evaluates the checked rules, on demand and tabled; it runs every
  rulesheet and is the meaning of a game in practice.
* `naive.NaiveEngine` computes the perfect model from its definition; what the former is
  tested against.

Both offer `interface.Engine`.  `playouts` plays random games on any engine.
"""

"""Deck-building games: hands are dealt from hidden decks, their coins buy cards from the table.

A card can be bought by the player in control when its money, found by a variable that the state introduces,
is at least the price, and when the table has one left.  A turn may have any number of purchases; an action
of its own ends it.  Piles are counts, spelled out for every card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.design import Design
from herbrand.evolve.blocks.grammar import choice, some, span
from herbrand.evolve.blocks.numbers import numbers
from herbrand.evolve.blocks.parameters import Writing, named
from herbrand.evolve.numerals import times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Card", "MarketGame"]

_NAMES = ("crown", "house", "field", "palace")


@dataclass(frozen=True)
class Card(Block):
    """A kind of card on the table."""

    cost: int = span(1, 5, 2)
    worth: int = span(0, 3, 0)
    """Coins that it is worth in the hand."""
    points: int = span(0, 3, 1)
    """Points for owning it at the end."""
    stock: int = span(1, 4, 3)
    """How many there are."""

    def in_words(self) -> str:
        """Say what it costs and gives."""
        gives = [times(self.worth, "coin")] * bool(self.worth) + [times(self.points, "point")] * bool(
            self.points
        )
        return f"costs {times(self.cost, 'coin')} and is worth {' and '.join(gives)}"


@dataclass(frozen=True)
class MarketGame(Design):
    """Two players with decks of their own, ann and ben, and chance that deals."""

    cards: tuple[Card, ...] = some(Card, least=2, most=3)
    pennies: int = span(3, 5, 4)
    """Cards of one coin that each player begins with."""
    hand: int = span(1, 3, 2)
    """Cards that are dealt in a turn."""
    turns: int = span(2, 4, 3)
    """Turns of each player."""
    hidden: bool = choice(True, False)
    """Whether players see only what they draw themselves."""

    @property
    def _kinds(self) -> list[tuple[str, Card]]:
        return list(zip(_NAMES, self.cards, strict=False))

    @property
    def _money(self) -> int:
        """No hand is worth more."""
        return self.hand * max([1, *(card.worth for card in self.cards)])

    @property
    def _points(self) -> int:
        return sum(card.points * card.stock for card in self.cards)

    @property
    def _limit(self) -> int:
        """The game is over after so many steps: deals, shuffles, purchases and ends of turns."""
        bought = sum(card.stock for card in self.cards)
        return 2 * self.turns * (self.hand + 2) + bought

    @property
    def _highest(self) -> int:
        """The highest number that is ever needed, with more pennies as well."""
        return max(
            self._limit,
            2 * self._money,
            self._points + 3,
            self.pennies + self.hand,
            max(card.stock for card in self.cards) + self.hand,
        )

    def _problems(self) -> list[str]:
        wrong = []
        if any(card.worth == card.points == 0 for card in self.cards):
            wrong.append("a card is worth nothing")
        if not any(card.points for card in self.cards):
            wrong.append("there are no points")
        if self.hand > self.pennies:
            wrong.append("the first deck is smaller than a hand")
        if min(card.cost for card in self.cards) > self.hand:
            wrong.append("nothing can be bought at first")
        if any(card.cost > self._money for card in self.cards):
            wrong.append("a card is too dear for any hand")
        if len({(card.cost, card.worth, card.points) for card in self.cards}) < len(self.cards):
            wrong.append("two cards are the same")
        return wrong

    def paragraphs(self) -> list[str]:
        """Explain the game."""
        cards = "; ".join(
            f"a {name} ({card.stock} on the table) {card.in_words()}" for name, card in self._kinds
        )
        seen = "only the player who draws a card sees it" if self.hidden else "all cards drawn are seen"
        pennies = times(self.pennies, "penny", "pennies")
        anew, even = "An empty deck is made anew from the discard pile.", "equal numbers are a draw"
        return [
            (
                f"{self.name} is about building decks. Each player begins with a deck of {pennies}, worth "
                f"a coin each. In a turn {times(self.hand, 'card')} of its deck are dealt to it: {seen}."
            ),
            (
                f"For the coins in its hand it may buy cards from the table: {cards}. What it buys "
                f"goes to its discard pile, and when it ends its turn, so does its hand. {anew}"
            ),
            f"After {times(self.turns, 'turn')} of each player, the one with more points wins; {even}.",
        ]

    def with_parameters(self) -> Self:
        """Return the game with the number of pennies as a parameter."""
        return named(self, "pennies", "pennies", "Pennies in a deck at first.")

    def writing(self) -> Writing:
        """Return the numbers."""
        return Writing.of_numbers(str(self._highest))

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        legend = (
            "Piles are counts: (deck ann penny 2), (hand ann penny 1) and (discard ann penny 0) are three "
            "pennies of Ann; (table 4 crown): four crowns can be bought; (control ann): it is Ann's turn; "
            "(money ann 2): she has two coins; (to_draw 2): two more cards are to be dealt; (points ann 1): "
            "her points; (turns 3): three turns are over; (step 9): nine steps were made."
        )
        sheet = SheetWriter(self.name, [*self.paragraphs(), legend, "Author: evolved with herbrand."])
        each = "(rivals ?player ?other)"
        total, hand, money = 2 * self.turns, self.hand, self._money
        sheet.section("Roles")
        sheet.add("(role ann)", "(role ben)", "(role random)")
        sheet.section("What can be true, and what can be done")
        pile = f"{each} (most ?card ?many) (at_most ?n ?many)"
        sheet.add(
            f"(<= (base (deck ?player ?card ?n)) {pile})",
            f"(<= (base (hand ?player ?card ?n)) {each} (card ?card) (at_most ?n {hand}))",
            f"(<= (base (discard ?player ?card ?n)) {pile})",
            "(<= (base (table ?n ?card)) (stock ?card ?many) (at_most ?n ?many))",
            f"(<= (base (control ?player)) {each})",
            f"(<= (base (money ?player ?n)) {each} (at_most ?n {money}))",
            f"(<= (base (to_draw ?n)) (at_most ?n {hand}))",
            f"(<= (base (points ?player ?n)) {each} (at_most ?n {self._points}))",
            f"(<= (base (turns ?n)) (at_most ?n {total}))",
            f"(<= (base (step ?n)) (at_most ?n {self._limit}))",
            f"(<= (input ?player (buy ?card)) {each} (cost ?card ?price))",
            f"(<= (input ?player end_turn) {each})",
            "(<= (input ?player noop) (role ?player))",
            f"(<= (input random (deal ?player ?card ?copy)) {each} (most ?card ?many) (copy ?copy ?many))",
            f"(<= (input random (shuffle ?player)) {each})",
        )
        sheet.section("The start")
        sheet.add(
            f"(<= (init (deck ?player penny {self.pennies})) {each})",
            f"(<= (init (deck ?player ?card 0)) {each} (cost ?card ?price))",
            f"(<= (init (hand ?player ?card 0)) {each} (card ?card))",
            f"(<= (init (discard ?player ?card 0)) {each} (card ?card))",
            "(<= (init (table ?n ?card)) (stock ?card ?n))",
            f"(<= (init (money ?player 0)) {each})",
            f"(<= (init (points ?player 0)) {each})",
            "(init (control ann))",
            f"(init (to_draw {hand}))",
            "(init (turns 0))",
            "(init (step 0))",
        )
        sheet.section("Chance deals a card of the deck, each one equally likely, or makes a new deck")
        sheet.add(
            """(<= (legal random (deal ?player ?card ?copy)) (true (control ?player)) drawing
                (true (deck ?player ?card ?n)) (copy ?copy ?n))""",
            "(<= (legal random (shuffle ?player)) (true (control ?player)) drawing (not (has_deck ?player)))",
            "(<= (legal random noop) (not drawing))",
            "(<= drawing (true (to_draw ?n)) (distinct ?n 0))",
            "(<= (has_deck ?player) (true (deck ?player ?card ?n)) (distinct ?n 0))",
        )
        sheet.section("The players buy, or end their turn")
        sheet.add(
            """(<= (legal ?player (buy ?card)) (true (control ?player)) (not drawing) (cost ?card ?price)
                (true (money ?player ?x)) (at_most ?price ?x) (true (table ?y ?card)) (distinct ?y 0))""",
            "(<= (legal ?player end_turn) (true (control ?player)) (not drawing))",
            f"(<= (legal ?player noop) {each} (true (control ?other)))",
            "(<= (legal ?player noop) (true (control ?player)) drawing)",
        )
        sheet.section("Decks")
        sheet.add(
            """(<= (next (deck ?player ?card ?less)) (dealt ?player ?card) (true (deck ?player ?card ?n))
                (succ ?less ?n))""",
            """(<= (next (deck ?player ?card ?n)) (does random (shuffle ?player))
                (true (discard ?player ?card ?n)))""",
            """(<= (next (deck ?player ?card ?n)) (true (deck ?player ?card ?n)) (not (dealt ?player ?card))
                (not (does random (shuffle ?player))))""",
            "(<= (dealt ?player ?card) (does random (deal ?player ?card ?copy)))",
        )
        sheet.section("Hands")
        sheet.add(
            """(<= (next (hand ?player ?card ?more)) (dealt ?player ?card) (true (hand ?player ?card ?n))
                (succ ?n ?more))""",
            "(<= (next (hand ?player ?card 0)) (does ?player end_turn) (card ?card))",
            """(<= (next (hand ?player ?card ?n)) (true (hand ?player ?card ?n)) (not (dealt ?player ?card))
                (not (does ?player end_turn)))""",
        )
        sheet.section("Discard piles")
        sheet.add(
            f"""(<= (next (discard ?player ?card ?sum)) (does ?player end_turn)
                (true (discard ?player ?card ?n)) (true (hand ?player ?card ?more)) (most ?card ?many)
                (at_most ?more {hand}) (sum ?n ?more ?sum) (at_most ?sum ?many))""",
            """(<= (next (discard ?player ?card ?more)) (does ?player (buy ?card))
                (true (discard ?player ?card ?n)) (succ ?n ?more))""",
            "(<= (next (discard ?player ?card 0)) (does random (shuffle ?player)) (card ?card))",
            """(<= (next (discard ?player ?card ?n)) (true (discard ?player ?card ?n))
                (not (does ?player end_turn)) (not (does ?player (buy ?card)))
                (not (does random (shuffle ?player))))""",
        )
        sheet.section("The table")
        sheet.add(
            "(<= (next (table ?less ?card)) (sold ?card) (true (table ?n ?card)) (succ ?less ?n))",
            "(<= (next (table ?n ?card)) (true (table ?n ?card)) (not (sold ?card)))",
            "(<= (sold ?card) (does ?player (buy ?card)))",
        )
        sheet.section("Coins and points")
        sheet.add(
            f"""(<= (next (money ?player ?sum)) (dealt ?player ?card) (true (money ?player ?n))
                (worth ?card ?coins) (sum ?n ?coins ?sum) (at_most ?sum {money}))""",
            """(<= (next (money ?player ?rest)) (does ?player (buy ?card)) (cost ?card ?price)
                (true (money ?player ?n)) (sum ?rest ?price ?n))""",
            "(<= (next (money ?player 0)) (does ?player end_turn))",
            """(<= (next (money ?player ?n)) (true (money ?player ?n)) (not (active ?player)))""",
            "(<= (active ?player) (dealt ?player ?card))",
            "(<= (active ?player) (does ?player (buy ?card)))",
            "(<= (active ?player) (does ?player end_turn))",
            f"""(<= (next (points ?player ?sum)) (does ?player (buy ?card)) (gives ?card ?more)
                (true (points ?player ?n)) (sum ?n ?more ?sum) (at_most ?sum {self._points}))""",
            "(<= (next (points ?player ?n)) (true (points ?player ?n)) (not (buying ?player)))",
            "(<= (buying ?player) (does ?player (buy ?card)))",
        )
        sheet.section("Turns and steps")
        sheet.add(
            "(<= (next (control ?player)) (true (control ?player)) (not (does ?player end_turn)))",
            f"(<= (next (control ?other)) {each} (does ?player end_turn))",
            """(<= (next (to_draw ?less)) (does random (deal ?player ?card ?copy)) (true (to_draw ?n))
                (succ ?less ?n))""",
            "(<= (next (to_draw ?n)) (does random (shuffle ?player)) (true (to_draw ?n)))",
            "(<= (next (to_draw 0)) (buying ?player))",
            f"(<= (next (to_draw {hand})) (does ?player end_turn))",
            "(<= (next (turns ?more)) (does ?player end_turn) (true (turns ?n)) (succ ?n ?more))",
            "(<= (next (turns ?n)) (true (turns ?n)) (not ending))",
            "(<= ending (does ?player end_turn))",
            "(<= (next (step ?more)) (true (step ?n)) (succ ?n ?more))",
        )
        sheet.section("What the players see")
        drew = (
            "(<= (sees ?player (drew ?player ?card)) (dealt ?player ?card))"
            if self.hidden
            else f"(<= (sees ?player (drew ?who ?card)) {each} (dealt ?who ?card))"
        )
        sheet.add(
            drew,
            f"(<= (sees ?player (bought ?who ?card)) {each} (does ?who (buy ?card)))",
            f"(<= (sees ?player (ended ?who)) {each} (does ?who end_turn))",
            f"(<= (sees ?player (shuffled ?who)) {each} (does random (shuffle ?who)))",
        )
        sheet.section("The end")
        sheet.add(
            f"(<= terminal (true (turns {total})))",
            f"(<= terminal (true (step {self._limit})))",
            "(<= (goal ?player 100) (leads ?player ?other))",
            "(<= (goal ?player 0) (leads ?other ?player))",
            f"(<= (goal ?player 50) {each} (not (leads ?player ?other)) (not (leads ?other ?player)))",
            f"""(<= (leads ?player ?other) {each} (true (points ?player ?m)) (true (points ?other ?n))
                (greater ?m ?n))""",
        )
        return sheet

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the relations that rules may ask for."""
        cards = "Players and cards"
        kinds = self._kinds
        most = {"penny": self.pennies, **{name: card.stock for name, card in kinds}}
        worth = {"penny": 1, **{name: card.worth for name, card in kinds}}
        return {
            "rivals": (cards, "(rivals ann ben)\n(rivals ben ann)"),
            "card": (cards, "(<= (card ?card) (worth ?card ?coins))"),
            "most": (cards, "\n".join(f"(most {name} {n})" for name, n in most.items())),
            "stock": (cards, "\n".join(f"(stock {name} {card.stock})" for name, card in kinds)),
            "worth": (cards, "\n".join(f"(worth {name} {n})" for name, n in worth.items())),
            "cost": (cards, "\n".join(f"(cost {name} {card.cost})" for name, card in kinds)),
            "gives": (cards, "\n".join(f"(gives {name} {card.points})" for name, card in kinds)),
            "copy": (cards, "(<= (copy ?n ?m) (at_most ?n ?m) (distinct ?n 0))"),
        } | numbers(self._highest)

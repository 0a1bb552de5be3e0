"""Games of tricks: hidden hands are dealt, cards meet in pairs, the better one takes the trick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.evolve.blocks.design import Design
from herbrand.evolve.blocks.grammar import choice, span
from herbrand.evolve.blocks.parameters import NamedNumber, Writing, named
from herbrand.evolve.blocks.templates import numbers, phrase
from herbrand.evolve.numerals import count, times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
    from typing import Self

__all__ = ["TrickGame"]


@dataclass(frozen=True)
class TrickGame(Design):
    """Two players with hidden hands, white and black, and chance that deals."""

    ranks: int = span(4, 8, 6)
    """The deck has one card of each number from 1 to this."""
    hand: int = span(2, 3, 3)
    """Cards that each player is dealt."""
    play: str = choice("at once", "in turn", "covered")
    """Both at the same time; or one after the other, the first card open or covered."""
    better: str = choice("high", "low", "spy")
    """Which card takes a trick; `spy`: the higher one, but 1 beats the highest of all."""
    worth: str = choice("trick", "sum", "loser")
    """What a trick is worth: one point, the numbers of both cards, or that of the card beaten."""
    fewest: bool = choice(False, True)
    """Whether fewest points win."""
    leads: str = choice("winner", "loser", "other")
    """Who leads next where one plays after the other: by the last trick, or the players in turn."""

    @property
    def _in_turn(self) -> bool:
        return self.play != "at once"

    @property
    def _steps(self) -> int:
        return self.hand * (3 if self._in_turn else 2)

    @property
    def _most(self) -> int:
        """No player can have more points."""
        cards = sorted(range(1, self.ranks + 1), reverse=True)[: 2 * self.hand]
        return {"trick": self.hand, "sum": sum(cards), "loser": sum(cards[: self.hand])}[self.worth]

    def _problems(self) -> list[str]:
        wrong = []
        if 2 * self.hand > self.ranks:
            wrong.append("there are not enough cards for the hands")
        return wrong

    def paragraphs(self) -> list[str]:
        """Explain the game."""
        order, worth = phrase("play", self.play), phrase("worth", self.worth)
        better = phrase("better", self.better, ranks=self.ranks)
        lead = phrase("leads", self.leads) if self._in_turn else ""
        deal = f"Chance deals {times(self.hand, 'card')} to each player, who sees only its own."
        points = "fewer points" if self.fewest else "more points"
        end = f"After {times(self.hand, 'trick')}, the player with {points} wins; equal numbers are a draw."
        return [
            f"{self.name} is played with {count(self.ranks)} cards, numbered from 1. {deal}",
            f"{order} {better}, which is worth {worth}.{lead} {end}",
        ]

    def with_parameters(self) -> Self:
        """Return the game with the number of cards as a parameter, where no points depend on it."""
        if self.worth != "trick":
            return self
        return named(self, "ranks", "ranks", "Cards in the deck.")

    def writing(self) -> Writing:
        """Return the cards and the numbers."""
        counted = self._most, self._steps, 2 * self.ranks
        most = f"{max(counted)}"
        if isinstance(self.ranks, NamedNumber):
            most = f"{max(self._most, self._steps)} + 2 * {self.ranks}"
        return Writing({"card": f"1 .. {self.ranks}"}, {}) | Writing.of_numbers(most)

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        legend = (
            "(hand white 3): White holds the card 3; (deck 4): 4 was dealt to nobody yet; (points white 2): "
            "White has two points; (step 1): one step was made, the first ones being deals. "
        )
        if self._in_turn:
            legend += "(led white 3): White has led the card 3; (control black): it is Black's turn. "
        legend += "(deal 3 4) deals 3 to White and 4 to Black; (play 3) plays the card 3."
        sheet = SheetWriter(self.name, [*self.paragraphs(), legend, "Author: evolved with herbrand."])
        sheet.section("Roles")
        sheet.add("(role white)", "(role black)", "(role random)")
        sheet.section("What can be true, and what can be done")
        each = "(rivals ?player ?other)"
        sheet.add(
            "(<= (base (deck ?card)) (card ?card))",
            f"(<= (base (hand ?player ?card)) {each} (card ?card))",
            f"(<= (base (points ?player ?n)) {each} (at_most ?n {self._most}))",
            f"(<= (base (step ?n)) (at_most ?n {self._steps}))",
            f"(<= (input ?player (play ?card)) {each} (card ?card))",
            "(<= (input ?player noop) (role ?player))",
            "(<= (input random (deal ?one ?two)) (card ?one) (card ?two) (distinct ?one ?two))",
        )
        if self._in_turn:
            sheet.add(
                f"(<= (base (led ?player ?card)) {each} (card ?card))",
                f"(<= (base (control ?player)) {each})",
            )
        sheet.section("The start")
        sheet.add(
            "(<= (init (deck ?card)) (card ?card))",
            f"(<= (init (points ?player 0)) {each})",
            "(init (step 0))",
        )
        if self._in_turn:
            sheet.add("(init (control white))")
        sheet.section("Chance deals, one card to each player in a step")
        sheet.add(
            """(<= (legal random (deal ?one ?two)) dealing (true (deck ?one)) (true (deck ?two))
                (distinct ?one ?two))""",
            "(<= (legal random noop) (not dealing))",
            f"(<= dealing (true (step ?n)) (greater {self.hand} ?n))",
            """(<= (next (deck ?card)) (true (deck ?card)) (not (dealt white ?card))
                (not (dealt black ?card)))""",
            "(<= (dealt white ?one) (does random (deal ?one ?two)))",
            "(<= (dealt black ?two) (does random (deal ?one ?two)))",
        )
        turn = "(true (control ?player))" if self._in_turn else ""
        sheet.section("Playing a card of the hand")
        sheet.add(f"(<= (legal ?player (play ?card)) (not dealing) {turn} (true (hand ?player ?card)))")
        sheet.add(f"(<= (legal ?player noop) {each} dealing)")
        if self._in_turn:
            sheet.add(f"(<= (legal ?player noop) {each} (not dealing) (true (control ?other)))")
        sheet.add(
            "(<= (next (hand ?player ?card)) (dealt ?player ?card))",
            "(<= (next (hand ?player ?card)) (true (hand ?player ?card)) (not (does ?player (play ?card))))",
        )
        self._tricks(sheet)
        sheet.section("What the players see")
        sheet.add("(<= (sees ?player (drew ?card)) (dealt ?player ?card))")
        if self.play == "covered":
            sheet.add(
                f"(<= (sees ?player (led_by ?who)) {each} (leading ?who ?card))",
                f"(<= (sees ?player (played ?who ?card)) {each} (meets ?who ?card ?answer))",
                "(<= (sees ?player (chose ?card)) (does ?player (play ?card)))",
            )
        else:
            sheet.add(f"(<= (sees ?player (played ?who ?card)) {each} (does ?who (play ?card)))")
        sheet.section("The end: who has more points" if not self.fewest else "The end: who has fewer points")
        more = "(greater ?n ?m)" if self.fewest else "(greater ?m ?n)"
        sheet.add(
            f"(<= terminal (true (step {self._steps})))",
            "(<= (goal ?player 100) (leads ?player ?other))",
            "(<= (goal ?player 0) (leads ?other ?player))",
            f"(<= (goal ?player 50) {each} (not (leads ?player ?other)) (not (leads ?other ?player)))",
            f"""(<= (leads ?player ?other) {each} (true (points ?player ?m)) (true (points ?other ?n))
                {more})""",
        )
        return sheet

    def _tricks(self, sheet: SheetWriter) -> None:
        each = "(rivals ?player ?other)"
        sheet.section("Tricks: (meets player card answer)")
        if self._in_turn:
            answer = "(true (led ?who ?lead))"
            sheet.add(
                "(<= led_now (true (led ?player ?card)))",
                "(<= (leading ?player ?card) (does ?player (play ?card)) (not led_now))",
                "(<= (next (led ?player ?card)) (leading ?player ?card))",
                f"(<= (meets ?who ?lead ?card) {answer} (does ?player (play ?card)))",
                f"(<= (meets ?player ?card ?lead) {answer} (does ?player (play ?card)))",
            )
        else:
            sheet.add(
                f"""(<= (meets ?player ?mine ?yours) {each} (does ?player (play ?mine))
                    (does ?other (play ?yours)))"""
            )
        gain = {"trick": "1", "sum": "?more", "loser": "?yours"}[self.worth]
        joined = "(sum ?mine ?yours ?more)" if self.worth == "sum" else ""
        sheet.add(
            "(<= (takes ?player) (meets ?player ?mine ?yours) (better ?mine ?yours))",
            f"""(<= (next (points ?player ?new)) (meets ?player ?mine ?yours) (better ?mine ?yours) {joined}
                (true (points ?player ?old)) (sum ?old {gain} ?new) (at_most ?new {self._most}))""",
            "(<= (next (points ?player ?n)) (true (points ?player ?n)) (not (takes ?player)))",
        )
        if self._in_turn:
            sheet.section("Who leads, who answers")
            sheet.add(
                "(<= (next (control ?player)) (true (control ?player)) dealing)",
                f"(<= (next (control ?other)) {each} (leading ?player ?card))",
            )
            if self.leads == "winner":
                sheet.add("(<= (next (control ?player)) (takes ?player))")
            elif self.leads == "loser":
                sheet.add(f"(<= (next (control ?other)) {each} (takes ?player))")
            else:
                sheet.add("(<= (next (control ?player)) led_now (true (control ?player)))")
        sheet.section("Steps")
        sheet.add("(<= (next (step ?more)) (true (step ?n)) (succ ?n ?more))")

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the relations that rules may ask for."""
        cards = "The cards"
        better = phrase("better_rules", self.better, ranks=self.ranks)
        most = max(self._most, self._steps, 2 * self.ranks)
        return {
            "rivals": ("The players", "(rivals white black)\n(rivals black white)"),
            "better": (cards, better),
            "card": (cards, "\n".join(f"(card {n})" for n in range(1, self.ranks + 1))),
        } | numbers(most)

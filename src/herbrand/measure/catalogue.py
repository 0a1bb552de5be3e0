"""The catalogue of measures, each with its definition and sources.

A *score* is the result of a game by rank: 1 for the only role with the highest goal, 1/t for each of t roles
that share it, 0 for the others.  `random` does not count as a role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CATALOGUE", "SOURCES", "Definition"]

SOURCES: Final = {
    "Browne 2008": (
        "Cameron Browne, *Automatic Generation and Evaluation of Recombination Games*, PhD thesis, "
        "Queensland University of Technology, 2008"
    ),
    "Browne & Maire 2010": (
        "Cameron Browne and Frederic Maire, Evolutionary Game Design, *IEEE Transactions on "
        "Computational Intelligence and AI in Games* 2(1), 2010"
    ),
    "Browne 2012": (
        "Cameron Browne, Elegance in Game Design, *IEEE Transactions on Computational Intelligence "
        "and AI in Games* 4(2), 2012"
    ),
    "Althöfer 2003": (
        "Ingo Althöfer, *Computer-Aided Game Inventing*, technical report, Friedrich-Schiller-"
        "Universität Jena, 2003"
    ),
    "Lantz et al. 2017": (
        "Frank Lantz, Aaron Isaksen, Alexander Jaffe, Andy Nealen and Julian Togelius, Depth in "
        "Strategic Games, *AAAI-17 Workshop on What's Next for AI in Games*, 2017"
    ),
    "Nielsen et al. 2015": (
        "Thorbjørn S. Nielsen, Gabriella A. B. Barros, Julian Togelius and Mark J. Nelson, General "
        "Video Game Evaluation Using Relative Algorithm Performance Profiles, *EvoApplications*, 2015"
    ),
    "Stephenson et al. 2022": (
        "Matthew Stephenson, Dennis J. N. J. Soemers, Éric Piette and Cameron Browne, Measuring Board"
        " Game Distance, *Computers and Games*, 2022"
    ),
    "Long et al. 2010": (
        "Jeffrey Richard Long, Nathan R. Sturtevant, Michael Buro and Timothy Furtak, Understanding the"
        " Success of Perfect Information Monte Carlo Sampling in Game Tree Search, *AAAI-10*, 2010"
    ),
    "Todd et al. 2024": (
        "Graham Todd, Alexander Padula, Matthew Stephenson, Éric Piette, Dennis J. N. J. Soemers and "
        "Julian Togelius, GAVEL: Generating Games Via Evolution and Language Models, *NeurIPS*, 2024"
    ),
    "Shervashidze et al. 2011": (
        "Nino Shervashidze, Pascal Schweitzer, Erik Jan van Leeuwen, Kurt Mehlhorn and Karsten M. "
        "Borgwardt, Weisfeiler-Lehman Graph Kernels, *Journal of Machine Learning Research* 12, 2011"
    ),
    "Lehman & Stanley 2011": (
        "Joel Lehman and Kenneth O. Stanley, Abandoning Objectives: Evolution Through the Search for "
        "Novelty Alone, *Evolutionary Computation* 19(2), 2011"
    ),
}
"""References by the keys used in the catalogue."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a measure."""

    name: str
    about: str
    """The definition in one sentence."""
    group: str
    """"rules", "random play", "search play" or "comparison"."""
    sources: tuple[str, ...] = ()
    """Keys of `SOURCES`."""
    unit: str = ""
    """The unit of a count; empty for a share from 0 to 1."""
    players: int = 1
    """Minimum number of roles, chance not counted."""


CATALOGUE: Final = {
    definition.name: definition
    for definition in (
        Definition(
            "size", "Symbols in the rules: names and variables, rules in normal form.", "rules",
            ("Browne 2012",), unit="symbols",
        ),
        Definition(
            "economy", "How short the rules are: 2^(-d/1000) for d bytes when compressed, without names.",
            "rules", ("Browne 2012",),
        ),
        Definition(
            "completion", "Share of games that come to an end within the limit of steps.", "random play",
            ("Browne 2008", "Browne & Maire 2010"),
        ),
        Definition(
            "length", "Mean steps of the games that end.", "random play", ("Althöfer 2003", "Browne 2008"),
            unit="steps",
        ),
        Definition(
            "branching", "Mean number of legal moves of a role that has several.", "random play",
            ("Browne 2008",), unit="moves",
        ),
        Definition(
            "agency", "Share of states in which a role has several legal moves.", "random play",
            ("Todd et al. 2024",),
        ),
        Definition(
            "balance", "1 less the difference between the highest and the lowest mean goal of the roles.",
            "random play", ("Browne 2008", "Todd et al. 2024"), players=2,
        ),
        Definition(
            "draws", "Share of ended games in which no role alone has the highest goal.", "random play",
            ("Althöfer 2003", "Browne & Maire 2010"), players=2,
        ),
        Definition(
            "first_mover", "Mean score of the role with the first choice; fair is 1 by the number of roles.",
            "random play", ("Althöfer 2003", "Browne 2008"), players=2,
        ),
        Definition(
            "search_length", "As length, when all roles search.", "search play", ("Althöfer 2003",),
            unit="steps",
        ),
        Definition(
            "search_balance", "As balance, when all roles search.", "search play",
            ("Browne 2008", "Todd et al. 2024"), players=2,
        ),
        Definition(
            "search_draws", "As draws, when all roles search.", "search play",
            ("Althöfer 2003", "Browne & Maire 2010"), players=2,
        ),
        Definition(
            "search_first_mover", "As first_mover, when all roles search.", "search play",
            ("Althöfer 2003", "Browne 2008"), players=2,
        ),
        Definition(
            "skill", "What a role that searches gets more than one that moves at random in its place.",
            "search play", ("Nielsen et al. 2015", "Todd et al. 2024", "Long et al. 2010"),
        ),
        Definition(
            "depth", "Sum of what each rung of the ladder of players gets more than the one below.",
            "search play", ("Lantz et al. 2017", "Althöfer 2003"), unit="rungs",
        ),
        Definition(
            "drama", "How far behind the winner of a game was when it stood worst, on the average.",
            "search play", ("Browne 2008", "Browne & Maire 2010"), players=2,
        ),
        Definition(
            "lead_change", "Share of steps after which another role is in the lead.", "search play",
            ("Browne 2008", "Browne & Maire 2010"), players=2,
        ),
        Definition(
            "uncertainty", "How open a game is, on the average over its states: 1 less the lead.",
            "search play", ("Browne 2008",), players=2,
        ),
        Definition(
            "rule_novelty", "Distance of the rules to those of the most similar known game.", "comparison",
            ("Stephenson et al. 2022", "Shervashidze et al. 2011"),
        ),
        Definition(
            "play_novelty", "Distance of what random play measures to that of the most similar known game.",
            "comparison", ("Stephenson et al. 2022", "Lehman & Stanley 2011"),
        ),
    )
}  # fmt: skip
"""All definitions by name, in display order."""

"""`GameDescription` by itself."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.engine.description import GameDescription


@pytest.mark.parametrize("engine", ["prolog", "asp"])
def test_a_description_has_no_engines_of_outside_programs(engine: str) -> None:
    """They come with `herbrand.Game`; a description does not answer with another engine instead."""
    description = GameDescription(herbrand.load("nim").tree)
    assert description.engine_object("rules").roles
    with pytest.raises(ValueError, match=f"no engine '{engine}'"):
        description.engine_object(engine)

"""What was drawn of a table by this program, and what another draw of it costs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from microveil.app.drafts import Draft
from microveil.app.site import Site
from microveil.app.work import State

__all__ = ["drawn_recipes", "epsilon_of"]


def drawn_recipes(site: Site, draft: Draft) -> list[Mapping[str, Any]]:
    """Return the recipes by which a draft's table was drawn, or is being drawn.

    A draw that was refused, or cancelled before its release stood, spent nothing.
    """

    def is_spent(name: str) -> bool:
        try:
            work = site.works[name]
        except KeyError:  # forgotten since: taken to have been written
            return True
        return work.released or not work.state.is_end or work.state is State.DONE

    return [recipe for work, recipe in site.drafts.drawn(draft.id) if is_spent(work)]


def epsilon_of(recipes: Sequence[Mapping[str, Any]]) -> Fraction | None:
    """Add up what releases by recipes spend, part by part; None where one has no epsilon.

    Examples
    --------
    >>> epsilon_of([{"epsilon": 0.1}, {"parts": [{"epsilon": 0.2}, {"epsilon": 1}]}])
    Fraction(13, 10)
    """
    said = [part.get("epsilon") for one in recipes for part in one.get("parts", [one])]
    return None if None in said else sum((Fraction(str(one)) for one in said), Fraction(0))

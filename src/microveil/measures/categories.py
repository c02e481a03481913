"""Categories of text: how many are unchanged, and what the release shows of the original's."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from microveil.measures.base import Better, By, Entry, Group, Measure, Takes
from microveil.noise.posterior_odds import PosteriorOdds, posterior_odds
from microveil.utility.categories import CategoryComparison, compare_categories

__all__ = ["CATEGORIES", "MEASURES", "POSTERIOR_ODDS", "SHARE_KEPT"]

CATEGORIES = Group(title="Categories")


def _odds(found: CategoryComparison) -> PosteriorOdds:
    return posterior_odds(found.observed_transitions, found.original)


def _share(found: CategoryComparison) -> float:
    return 100 * found.share_kept


def _largest(found: CategoryComparison) -> float:
    return _odds(found).largest


def _write(found: Mapping[str, CategoryComparison], _: Sequence[str]) -> dict[str, Any]:
    return {
        name: {**compared.to_dict(), "posterior_odds": _odds(compared).to_dict()}
        for name, compared in found.items()
    }


_measure = partial(
    Measure,
    function=compare_categories,
    takes=Takes.TEXT,
    needs_pairs=True,
    by=By.ATTRIBUTE,
    group=CATEGORIES,
    entry=Entry(name="categories", write=_write),
)

SHARE_KEPT = _measure(
    id="share_kept",
    label="% unchanged",
    explanation="100 = unchanged",
    unit="%",
    highest=100.0,
    better=Better.HIGHER,
    figure=_share,
)
POSTERIOR_ODDS = _measure(
    id="posterior_odds",
    label="largest odds",
    explanation="how likely a category seen is the original one, at most",
    figure=_largest,
)

MEASURES = (SHARE_KEPT, POSTERIOR_ODDS)

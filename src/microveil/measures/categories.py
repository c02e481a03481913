"""Categories of text: how many are unchanged, and what the release shows of the original's."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Better, By, Entry, Group, Measure, Takes
from microveil.noise.posterior_odds import PosteriorOdds, posterior_odds

__all__ = [
    "CATEGORIES",
    "MEASURES",
    "POSTERIOR_ODDS",
    "SHARE_KEPT",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryComparison:
    """One text attribute before and after protection."""

    categories: tuple[str, ...]
    moves: NDArray[np.int64]  # how many records went from category k (row) to l (column)

    @property
    def percent_kept(self) -> float:
        """The records whose category is unchanged, in percent."""
        return 100 * float(self.moves.diagonal().sum() / max(1, self.moves.sum()))

    @property
    def posterior_odds(self) -> PosteriorOdds:
        """How likely a category seen is the original one; a category of nobody stays."""
        before = self.moves.sum(axis=1)
        rows = np.where(before[:, None] > 0, self.moves, np.eye(len(self.categories)))
        return posterior_odds(rows / rows.sum(axis=1, keepdims=True), before)

    def to_dict(self) -> dict[str, Any]:
        """Return shares before and after, and what became of them, as plain values."""
        total = max(1, int(self.moves.sum()))
        return {
            "categories": list(self.categories),
            "original": (self.moves.sum(axis=1) / total).tolist(),
            "protected": (self.moves.sum(axis=0) / total).tolist(),
            "share_kept": float(self.moves.diagonal().sum() / total),
            "posterior_odds": self.posterior_odds.to_dict(),
        }


def _compared(
    original: NDArray[np.signedinteger],
    protected: NDArray[np.signedinteger],
    categories: Sequence[str],
) -> CategoryComparison:
    """Count moves from category to category, record by record, of codes of categories."""
    count = len(categories)
    moves = np.bincount(original * count + protected, minlength=count * count)
    return CategoryComparison(categories=tuple(categories), moves=moves.reshape(count, count))


CATEGORIES = Group(title="Categories")


_measure = partial(
    Measure,
    function=_compared,
    takes=Takes.TEXT,
    needs_pairs=True,
    by=By.ATTRIBUTE,
    group=CATEGORIES,
    entry=Entry(name="categories"),
)

SHARE_KEPT = _measure(
    id="share_kept",
    label="% unchanged",
    explanation="100 = unchanged",
    unit="%",
    highest=100.0,
    better=Better.HIGHER,
    figure=attrgetter("percent_kept"),
)
POSTERIOR_ODDS = _measure(
    id="posterior_odds",
    label="largest odds",
    explanation="how likely a category seen is the original one, at most",
    figure=attrgetter("posterior_odds.largest"),
)

MEASURES = (SHARE_KEPT, POSTERIOR_ODDS)

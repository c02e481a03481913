"""Categories: how many are unchanged, what the release shows of them, and corrected shares."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.measures.base import TEXT, Better, By, Group, Measure
from microveil.measures.opening import Opened
from microveil.measures.values import Floats, Whole
from microveil.noise.shares import CorrectedShares, PosteriorOdds, posterior_odds
from microveil.protect.corrected import category_counts, corrected_of, randomised_attributes
from microveil.text import listed
from microveil.text.document import Block
from microveil.text.figures import figure
from microveil.text.templates import document_of

# More categories than a person reads are in `to_dict` alone.
MOST_CATEGORIES = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryComparison:
    """One text attribute before and after protection."""

    categories: tuple[str, ...]
    moves: Whole  # how many records went from category k (row) to l (column)

    @property
    def percent_kept(self) -> float:
        """The records whose category is unchanged, in percent."""
        return 100 * float(self.moves.diagonal().sum() / max(1, self.moves.sum()))

    @property
    def posterior_odds(self) -> PosteriorOdds:
        """How likely a category seen is the original one; a category of nobody stays."""
        before = self.moves.sum(axis=1)
        rows = np.where(before[:, None] > 0, self.moves, np.eye(len(self.categories)))
        return posterior_odds(rows, before)

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


_measure = partial(
    Measure,
    function=_compared,
    takes=TEXT,
    needs_pairs=True,
    by=By.ATTRIBUTE,
    group=Group(title="Categories"),
    entry="categories",
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedComparison:
    """What correcting the shares of a release regains of those of its original."""

    corrected: CorrectedShares
    original: Floats  # shares of the original, which are the custodian's

    def moved(self, shares: Floats) -> float:
        """Total variation of shares from the original ones."""
        return float(np.abs(shares - self.original).sum() / 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            **self.corrected.to_dict(),
            "original": self.original.tolist(),
            "total_variation": self.moved(self.corrected.released),
            "total_variation_corrected": self.moved(self.corrected.shares),
        }

    def show(self, name: str) -> tuple[Block, ...]:
        """Tabulate an attribute's shares, with the standard errors of the corrected ones."""
        own = self.corrected
        sides = (self.original, own.released, own.shares, own.standard_errors)
        rows = zip(own.categories[:MOST_CATEGORIES], *sides, strict=False)
        given = {"name": name, "rows": rows, "most": MOST_CATEGORIES, "count": len(own.categories)}
        words = {"figure": figure, "listed": listed}
        return document_of("measures/categories.jinja", found=self, **given, **words).blocks


def compare_corrected(both: Opened) -> dict[str, CorrectedComparison]:
    """Correct every attribute that a transition matrix drew, and hold it against the original."""
    original, protected, guarantee = both.original, both.protected, both.guarantee
    names = () if guarantee is None else randomised_attributes(guarantee)
    if guarantee is None or not names:
        rule = "shares are corrected by the matrix that the guarantee of a release by pram states"
        remedy = "pass such a release with its guarantee (for files, guarantee.json beside it)"
        raise RequestError("corrected", rule, remedy)
    found = {}
    for terms in guarantee.attributes:
        if terms.name not in names or terms.name not in protected.names:
            continue
        corrected, attribute = corrected_of(protected, guarantee, terms.name), terms.attribute()
        assert attribute is not None  # noqa: S101 -- else it is refused
        counts, _ = category_counts(original, terms, attribute)
        shares = counts / max(int(counts.sum()), 1)
        found[terms.name] = CorrectedComparison(corrected=corrected, original=shares)
    return found

"""Whether a model tells released records from original ones.

A logistic regression estimates the probability of being a released one; the propensity mean squared
error says how far that is from a coin of the same shares: 0 where the model sees no difference
(Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok, Dibben and Slavkovic 2018). The null
distribution, of records drawn anew from a correct model, is a yardstick and no test: masked records
keep much of the original's sampling error, so that a ratio below 1 is usual.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microveil.errors import DataError
from microveil.measures.base import COLUMNS, Compared, Figure, Group, Measure
from microveil.measures.models import (
    Attributes,
    basis_of,
    checked_attributes,
    complete_records,
    fit_logistic,
    indicators,
    of_one_kind,
)
from microveil.measures.values import Floats, as_json

# More terms than this are a mistake, such as a column of names, and would fill the memory.
MOST_TERMS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Propensity:
    """How well a logistic regression tells released from original records."""

    # Mean squared difference of the fitted probabilities from the share c of released records: from
    # 0, no difference seen, to c(1 - c), every record recognised.
    pmse: float
    # Of the pMSE where the released records are an independent synthetic sample from a correct
    # model fitted to the original: (p - 1)(1 - c)^2 c / N and sqrt(2(p - 1)) (1 - c)^2 c / N, Snoke
    # et al. (2018); a yardstick, see the module.
    expected: float
    standard_deviation: float
    n_original: int  # records compared; N is their sum
    n_protected: int
    n_left_out: int  # records with a missing cell, of both tables together
    n_parameters: int  # p, the rank of the model, intercept included
    order: int  # 1: attributes; 2: also squares of numbers and products of attributes
    converged: bool  # false where some records were recognised for certain

    @property
    def ratio(self) -> float:
        """The pMSE in multiples of its null expectation; NaN where nothing varies."""
        return self.pmse / self.expected if self.expected else math.nan

    @property
    def standardised(self) -> float:
        """Its distance from the null expectation in null standard deviations."""
        if not self.standard_deviation:
            return math.nan
        return (self.pmse - self.expected) / self.standard_deviation

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them; descriptive, as the records are no sample."""
        figures = as_json(self, "ratio", "standardised")
        return {
            "descriptive": True,
            "null_expected": figures.pop("expected"),
            "null_standard_deviation": figures.pop("standard_deviation"),
            **figures,
        }


def propensity(
    original: Mapping[str, ArrayLike], protected: Mapping[str, ArrayLike], *, order: int = 2
) -> Propensity:
    """Measure how well a logistic regression tells released from original records.

    Order 1 compares means and shares; squares and products of order 2 variances and covariances
    too. Snoke et al. interact the attributes only; the squares are ours.
    """
    pooled, member, n_left_out = _pooled(
        checked_attributes(original, "original data"),
        checked_attributes(protected, "protected data"),
    )
    basis = basis_of(_design(pooled, order))
    fit = fit_logistic(basis, member)
    share, n_records = float(member.mean()), len(member)
    null_unit = (1 - share) ** 2 * share / n_records
    return Propensity(
        pmse=float(np.mean((fit.probabilities - share) ** 2)),
        expected=(basis.rank - 1) * null_unit,
        standard_deviation=math.sqrt(2 * (basis.rank - 1)) * null_unit,
        n_original=int(n_records - member.sum()),
        n_protected=int(member.sum()),
        n_left_out=n_left_out,
        n_parameters=basis.rank,
        order=order,
        converged=fit.converged,
    )


def _pooled(original: Attributes, protected: Attributes) -> tuple[Attributes, Floats, int]:
    """Put complete records together, and say which are released and how many are left out."""
    for name, column in original.items():
        of_one_kind(name, column, protected[name])
    complete = [complete_records(table) for table in (original, protected)]
    counts = [int(present.sum()) for present in complete]
    if 0 in counts:
        rule = "each must have a record without a missing cell"
        remedy = "leave attributes with many missing cells out"
        raise DataError("original and protected data", rule, remedy)
    pooled = {
        name: np.concatenate([column[complete[0]], protected[name][complete[1]]])
        for name, column in original.items()
    }
    member = np.repeat([0.0, 1.0], counts)
    return pooled, member, len(complete[0]) + len(complete[1]) - len(member)


def _design(pooled: Attributes, order: int) -> Floats:
    """Return intercept, attributes and, at order 2, their squares and products."""
    levels = {name: np.unique(col) for name, col in pooled.items() if col.dtype.kind == "U"}
    widths = [len(levels[name]) - 1 if name in levels else 1 for name in pooled]
    n_terms = 1 + sum(widths)
    if order == 2:
        n_terms += len(pooled) - len(levels) + sum(a * b for a, b in combinations(widths, 2))
    n_records = len(next(iter(pooled.values())))
    if n_terms > MOST_TERMS or n_terms >= n_records:
        raise DataError(
            "attributes",
            f"a model of their order must have at most {MOST_TERMS} terms, and fewer than records",
            "leave out attributes with many categories",
        )
    blocks = [
        indicators(own, levels[name][1:]) if name in levels else _standardised(own)
        for name, own in pooled.items()
    ]
    terms = [np.ones((n_records, 1)), *blocks]
    if order == 2:
        terms += [
            block**2 for name, block in zip(pooled, blocks, strict=True) if name not in levels
        ]
        for a, b in combinations(blocks, 2):
            terms.append((a[:, :, np.newaxis] * b[:, np.newaxis, :]).reshape(n_records, -1))
    return np.hstack(terms)


def _standardised(column: Floats) -> Floats:
    """Return a column of mean 0 and size 1: the model is the same, its terms less collinear."""
    centred = (column - column.mean())[:, np.newaxis]
    spread = float(centred.std())
    return np.asarray(centred / spread) if spread else np.zeros_like(centred)


_measure = partial(
    Measure,
    function=propensity,
    takes=COLUMNS,
    needs_pairs=False,
    group=Group(
        title="Propensity: whether a logistic regression tells protected from original records",
        beside="of one law",
    ),
    entry="propensity",
    asked_by="propensity",
)

MEASURES = (
    _measure(
        id="pmse",
        label="pMSE",
        explanation="0 = it sees no difference",
        highest=0.25,
        figure=lambda found: Figure(value=found.pmse, beside=found.expected),
    ),
    _measure(
        id="propensity_ratio",
        label="pMSE ratio",
        short="ratio",
        explanation="pMSE over expected",
        figure=attrgetter("ratio"),
        compared=Compared(in_answer=True, counted=True, level=("the same law", 1.0)),
    ),
)

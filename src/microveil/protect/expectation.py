"""The error to expect of a plan, attribute by attribute, before any noise is drawn.

Of rows that follow individuals it is known in closed form; see `noise.expected_error`. Rows of
a new table follow nobody: of these it is drawn how far distributions lie from those of a stand-in,
a table with as many records whose values lie evenly over their declared domains.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import Condition
from microveil.guarantee.condition import in_short
from microveil.noise.noise import RandomSource
from microveil.protect.plan import Plan, all_figures
from microveil.schema import Attribute
from microveil.synthesis.generation import value_masses
from microveil.synthesis.measuring import Counter
from microveil.synthesis.one_way_plan import OneWayPlan, with_kind_held
from microveil.synthesis.tables import axis_of, bin_masses
from microveil.table import GridColumn
from microveil.table.threads import in_threads

Whole = NDArray[np.int64]
# Sums of squares that are equal may differ so much, relatively, when they are added up.
LAST_DIGITS = 1e-9
# Of an option by a new table, in words.
OF_DISTRIBUTIONS = "of distributions alone, on a stand-in, as its rows follow nobody"
# Draws of an attribute over which the mean is taken, and of tables beyond so many records.
DRAWS, LARGE, DRAWS_OF_LARGE = 8, 100_000, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The error to expect of one attribute."""

    # In squared units of the attribute; of categories in no order the share that changes.
    mean_squared_error: float
    # Of the original, with n - 1; of categories half of what two of its records differ by.
    variance: float
    # Whether publishing the mean in every row, rounded as cells are, would be nearer to the
    # original; of categories in no order the commonest of them.
    hopeless: bool
    # Whether values are categories in no order, of which two differ by 1 or not at all.
    of_categories: bool = False

    @property
    def over_variance(self) -> float:
        """The error over the variance: about 1 is as good as publishing the mean."""
        if self.variance > 0:
            return self.mean_squared_error / self.variance
        return math.inf if self.mean_squared_error > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain values."""
        ratio = self.over_variance
        return {
            "mean_squared_error": self.mean_squared_error,
            "variance": self.variance,
            "over_variance": ratio if math.isfinite(ratio) else None,
            "hopeless": self.hopeless,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A request that keeps epsilon at a scope, and the error to expect of it."""

    method: str
    model: str  # in words
    conditions: tuple[Condition, ...]
    choices: Mapping[str, str]  # steps of the method, ``partition`` for example
    k: int | None
    over_variance: float  # expected squared error over variance, mean over the attributes
    # Whether that is the error of sorted values on a stand-in: rows that follow nobody have none.
    of_distributions: bool = False

    @classmethod
    def of(
        cls, planned: Plan, choices: Mapping[str, str], k: int | None, over_variance: float
    ) -> "Option":
        """Make the option that was planned."""
        return cls(
            method=planned.claim.method,
            model=planned.claim.model_in_words,
            conditions=planned.claim.conditions,
            choices=choices,
            k=k,
            over_variance=over_variance,
            of_distributions=planned.synthetic is not None,
        )

    def __str__(self) -> str:
        """Name the option in words."""
        steps = [f"{name} {value}" for name, value in self.choices.items()]
        size = [] if self.k is None else [f"k {self.k}"]
        named = ", ".join([self.method, *steps, *size])
        of_what = [OF_DISTRIBUTIONS] if self.of_distributions else []
        return "; ".join([named, self.model, *in_short(self.conditions), *of_what])

    def to_dict(self) -> dict[str, Any]:
        """Return the option as plain values."""
        return {
            "method": self.method,
            "model": self.model,
            "conditions": [condition.to_dict() for condition in self.conditions],
            **self.choices,
            "k": self.k,
            "over_variance": self.over_variance,
            **({"of_distributions": True} if self.of_distributions else {}),
        }


def average(expected: Mapping[str, Expectation]) -> float:
    """Average error over variance, leaving out attributes without variance if others have it."""
    varied = [entry for entry in expected.values() if entry.variance > 0]
    ratios = [entry.over_variance for entry in varied or expected.values()]
    return math.fsum(ratios) / len(ratios) if ratios else math.nan


def expectations(planned: Plan) -> dict[str, Expectation]:
    """Return the error to expect of each attribute, but for categories."""
    found = {}
    for part in all_figures(planned):
        squared_unit = float(part.attribute.resolution) ** 2
        if part.error is not None and part.n_cells:
            found[part.attribute.name] = Expectation(
                mean_squared_error=part.error / part.n_cells * squared_unit,
                variance=part.total_squares / max(part.n_cells - 1, 1) * squared_unit,
                hopeless=part.error > part.squares_about_published_mean * (1 + LAST_DIGITS),
            )
    return found


def all_expected(planned: Plan) -> dict[str, Expectation]:
    """Return what to expect of every attribute: categories in no order, and those of a new table.

    Of a new table nothing is looked at but attributes, and how many records there are.
    """
    if planned.synthetic is None:
        found = expectations(planned)
        for part in all_figures(planned):
            counts, differing = part.category_counts, part.differing
            is_ranked = part.attribute.kind.is_ranked
            if counts is not None and differing is not None and not is_ranked:
                found[part.attribute.name] = _of_categories(counts, differing)
        return found
    # Of a domain that is learnt nothing is known before the draw.
    parts = [part for part in planned.synthetic.attributes if part.attribute.domain is not None]
    attributes = [part.attribute for part in parts]
    columns = stand_in(attributes, planned.table.n_records)
    tasks = list(zip(parts, columns, strict=True))
    entries = in_threads(lambda task: _of_distribution(*task), tasks)
    return {attribute.name: entry for attribute, entry in zip(attributes, entries, strict=True)}


def stand_in(attributes: Sequence[Attribute], n_records: int) -> tuple[GridColumn, ...]:
    """Make columns that know public figures alone: a value a record, evenly over the domain.

    Each in an order of its own, so that clusters of several attributes are not those of one.
    """
    random = np.random.Generator(np.random.PCG64(0))
    columns = []
    for attribute in attributes:
        lower, upper = attribute.grid_bounds or (0, 0)
        if attribute.kind.is_ranked:
            spread = np.rint(np.linspace(lower, upper, n_records)).astype(np.int64)
            spread = np.clip(spread, lower, upper)
        else:
            spread = np.arange(n_records) * (upper - lower + 1) // n_records
        values = random.permutation(spread)
        columns.append(GridColumn(attribute=attribute, values=values, missing=None))
    return tuple(columns)


def _of_distribution(part: OneWayPlan, column: GridColumn) -> Expectation:
    """Draw the distribution of an attribute in a new table, by seeds of its own."""
    part, column = with_kind_held(part, column)
    draws = DRAWS if len(column.values) <= LARGE else DRAWS_OF_LARGE
    sources = [RandomSource.seeded(number) for number in range(draws)]
    distance = math.fsum(_distance(part, column, one) for one in sources) / draws
    values, attribute = column.values, column.attribute
    if not attribute.kind.is_ranked:
        return _of_categories(np.bincount(values), distance)
    n, centred = len(values), values - values.mean()
    squares, squared_unit = float(centred @ centred), float(attribute.resolution) ** 2
    return Expectation(
        mean_squared_error=distance * squared_unit,
        variance=squares / max(n - 1, 1) * squared_unit,
        hopeless=distance > squares / n * (1 + LAST_DIGITS),
    )


def _of_categories(counts: Whole, differing: float) -> Expectation:
    n, shares = int(counts.sum()), counts / counts.sum()
    return Expectation(
        mean_squared_error=differing,
        variance=float(1 - shares @ shares) / 2 * n / max(n - 1, 1),
        hopeless=differing > float(1 - shares.max()) * (1 + LAST_DIGITS),
        of_categories=True,
    )


def _distance(part: OneWayPlan, column: GridColumn, source: RandomSource) -> float:
    """Draw once: the mean squared difference of values, sorted, or the share that differs."""
    measured, _ = part.measured(Counter([column]), 0, source)
    values = column.values
    evenly = (np.arange(len(values)) + 0.5) / len(values)
    if measured.distribution is not None:
        released = measured.distribution.quantiles.at(evenly)
    else:
        axis = axis_of(measured, 1)
        masses = value_masses(measured, axis, bin_masses(0, axis, measured, {}, len(values)))
        shares = masses[: len(masses) - measured.has_missing]
        shares = shares / shares.sum()
        if not column.attribute.kind.is_ranked:
            own = np.bincount(values, minlength=len(shares)) / len(values)
            return float(np.abs(shares - own).sum() / 2)
        lower, _ = column.attribute.grid_bounds or (0, 0)
        below = np.cumsum(shares)
        released = lower + np.searchsorted(below, evenly * below[-1])
    return float(((released - np.sort(values)).astype(np.float64) ** 2).mean())

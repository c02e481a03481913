"""Singling out: find a condition in the release that exactly one person of the original meets.

A predicate singles out if it selects exactly one record (Cohen and Nissim 2020); it is read off the
release, as Giomi, Boenisch, Wehmeyer and Tasnadi (2023) do: a condition on one attribute, or on all
known ones that exactly one released row meets. One that selects each person with probability 1/n
singles somebody out in 37 % of all tables: the control group shows how much is of that kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.measures.attacks.outcome import AttackOutcome, Setting
from microveil.measures.values import Estimate, Flags, Floats, Whole, drawn, success_rate
from microveil.table import Numbers, decimals_seen

UNUSED, EQUAL, AT_LEAST, AT_MOST = range(4)
# Whole numbers beyond this are no random draws of numpy's any more.
MOST_STEPS = 2**62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicates:
    """Conjunctions of comparisons, each with one attribute."""

    # (n_predicates, n_attributes): 0 leaves the attribute out, 1 is equal, 2 at least, 3 at most.
    comparisons: NDArray[np.int8]
    values: Floats  # (n_predicates, n_attributes): what the attribute is compared with

    def counts(self, records: Floats) -> Whole:
        """Count the records that each predicate selects."""
        columns = np.ascontiguousarray(records.T)
        orders = np.argsort(columns, axis=1, kind="stable")
        in_order = np.take_along_axis(columns, orders, axis=1)  # missing ones last
        lower = np.where(self.comparisons == AT_MOST, -np.inf, self.values)
        upper = np.where(self.comparisons == AT_LEAST, np.inf, self.values)
        counts = []
        for used, low, high in zip(self.comparisons != UNUSED, lower, upper, strict=True):
            chosen = np.flatnonzero(used)
            starts = [np.searchsorted(in_order[a], low[a]) for a in chosen]
            stops = [np.searchsorted(in_order[a], high[a], side="right") for a in chosen]
            # What fewest records satisfy says which the other comparisons are held against.
            fewest = int(np.argmin(np.subtract(stops, starts)))
            found = orders[chosen[fewest], starts[fewest] : stops[fewest]]
            for a in chosen:
                own = columns[a, found]
                found = found[(low[a] <= own) & (own <= high[a])]
            counts.append(len(found))
        return np.array(counts, dtype=np.int64)

    def take(self, which: Whole | Flags) -> "Predicates":
        """Return some of the predicates."""
        return Predicates(comparisons=self.comparisons[which], values=self.values[which])


def singling_out(
    setting: Setting, known: Sequence[str], *, together: bool = False
) -> AttackOutcome:
    """Single people out by predicates read off the release.

    About one attribute: equal to a value of one released row, at most the least, at least the
    greatest. Or about all ``together``, from a row that they alone select: at least what is above
    the median, at most other numbers, equal categories. The baseline compares with values drawn at
    random. A larger control group counts as all its parts of the original's size; a smaller one's
    rate is scaled up.
    """
    own, generator = setting.of(known), setting.generator(f"singling out {together}")
    complete = ~np.isnan(own.protected).any(axis=1)
    if together:
        predicates = _together(own, own.protected[complete], generator)
    else:
        predicates = _apart(own, generator)
    counts = predicates.counts(own.original)
    return setting.outcome(
        f"singling out by {'all attributes' if together else 'one attribute'}",
        known,
        rule="exactly one person of the original meets the condition",
        n_left_out=int((~complete).sum()) if together else 0,
        success=setting.rate(counts == 1),
        baseline=_at_random(own, predicates, generator),
        baseline_is="compares with values drawn at random from the released range",
        control=_on_control(own, predicates, counts),
    )


def _apart(setting: Setting, generator: np.random.Generator) -> Predicates:
    """Form the predicates about one attribute each."""
    rows, found = setting.protected, list[tuple[int, int, float]]()
    for a, column in enumerate(rows.T):
        present = column[~np.isnan(column)]
        values, copies = np.unique(present, return_counts=True)
        found += [(a, EQUAL, value) for value in values[copies == 1].tolist()]
        if len(values) > 1 and not setting.is_category[a]:
            found += [(a, AT_MOST, values[0].item()), (a, AT_LEAST, values[-1].item())]
    found = [found[i] for i in drawn(len(found), setting.n_attacks, generator).tolist()]
    comparisons = np.zeros((len(found), rows.shape[1]), dtype=np.int8)
    values = np.zeros(comparisons.shape)
    for p, (a, comparison, value) in enumerate(found):
        comparisons[p, a], values[p, a] = comparison, value
    return Predicates(comparisons=comparisons, values=values)


def _together(setting: Setting, complete: Floats, generator: np.random.Generator) -> Predicates:
    """Form predicates about all attributes from rows, those that select one row alone."""
    if not len(complete):
        return Predicates(comparisons=complete.astype(np.int8), values=complete)
    drawn = complete[generator.permutation(len(complete))[: setting.n_attacks]]
    sides = np.where(drawn > np.median(complete, axis=0), AT_LEAST, AT_MOST)
    comparisons = np.where(setting.is_category, EQUAL, sides).astype(np.int8)
    predicates = Predicates(comparisons=comparisons, values=drawn)
    return predicates.take(predicates.counts(setting.protected) == 1)


def _at_random(
    setting: Setting, predicates: Predicates, generator: np.random.Generator
) -> Estimate:
    """Estimate how often the same comparisons with random values single somebody out."""
    n_predicates = len(predicates.values)
    if not n_predicates:
        return success_rate(0.0, 0, setting.confidence)
    # More than there are predicates, if these are few: chance is cheap to know well.
    twins = predicates.take(generator.integers(0, n_predicates, setting.n_attacks))
    drawn = [
        _drawn(column[~np.isnan(column)], category, len(twins.values), generator)
        for column, category in zip(setting.protected.T, setting.is_category, strict=True)
    ]
    predicates = Predicates(comparisons=twins.comparisons, values=np.column_stack(drawn))
    return setting.rate(predicates.counts(setting.original) == 1)


def _drawn(
    released: Floats, is_category: np.bool_, n_draws: int, generator: np.random.Generator
) -> Floats:
    """Draw from the released categories, or from the grid between the least and greatest."""
    if not len(released):
        return np.full(n_draws, np.nan)
    if is_category:
        categories = np.unique(released)
        return categories[generator.integers(0, len(categories), n_draws)]
    least, greatest = float(released.min()), float(released.max())
    decimals = decimals_seen(Numbers(values=released, missing=None))
    n_steps = (greatest - least) * 10.0**decimals
    if not n_steps < MOST_STEPS:
        return generator.uniform(0.0, 1.0, n_draws) * (greatest - least) + least
    steps = generator.integers(0, int(np.rint(n_steps)) + 1, n_draws)
    return np.asarray(np.round(least + steps / 10.0**decimals, decimals))


def _on_control(setting: Setting, predicates: Predicates, counts: Whole) -> Estimate | None:
    """Estimate how often the predicates would single somebody out among as many others."""
    if setting.control is None:
        return None
    n, n_control = len(setting.original), len(setting.control)
    n_drawn = min(n, n_control)
    chances = chance_of_one(predicates.counts(setting.control), n_control, n_drawn)
    rate = setting.rate(chances)
    in_part = float(chance_of_one(counts, n, n_drawn).sum())
    if n_drawn == n or not in_part:
        return rate
    factor = float(np.sum(counts == 1)) / in_part
    low, high = rate.interval
    return Estimate(
        value=min(1.0, factor * rate.value),
        interval=(min(1.0, factor * low), min(1.0, factor * high)),
        n=rate.n,
    )


def chance_of_one(counts: ArrayLike, n_records: int, n_drawn: int) -> Floats:
    """Return the chance that one drawn is selected: C(n - count, drawn - 1) count/C(n, drawn)."""
    return np.asarray(scipy.stats.hypergeom.pmf(1, n_records, counts, n_drawn))

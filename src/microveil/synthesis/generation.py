"""Records drawn from a fitted distribution: bins first, then values inside them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.kernels import synthesis as kernel
from microveil.schema import Attribute
from microveil.synthesis.distribution import QuantileFunction
from microveil.synthesis.fitting import Correlations, Fitting
from microveil.synthesis.keeping import Repairs, Values, breaches, computed_values, kept
from microveil.synthesis.measurements import Measurements, Real, Scope, Whole
from microveil.synthesis.model import Model
from microveil.synthesis.nearest import falling_counts, nearest_counts
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.possible import Possible
from microveil.synthesis.tables import Axis
from microveil.table.threads import in_threads

Mask = NDArray[np.bool_]
# Chances stay so far from 0 and 1 that their standard scores are finite.
INSIDE = 1e-12
# The share that a bin without any is taken to have, where shares must ascend.
EMPTY = 1e-9
# No score lies farther from 0: one in 1e23.
FARTHEST_SCORE = 10.0
# Records drawn at a time: what is at hand of them stays far below the table's own size.
BLOCK = 1 << 16


def blocks_of(n_records: int) -> int:
    """Return how many blocks so many records are drawn in."""
    return -(-n_records // BLOCK)


def _block(number: int, n_records: int) -> slice:
    n_blocks = blocks_of(n_records)
    return slice(number * n_records // n_blocks, (number + 1) * n_records // n_blocks)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What all blocks of records have in common, whoever draws them.

    ``ties`` are the attributes with cuts along the strongest copulas: each with a parent, -1 where
    a new tree begins, and the correlation. ``inside`` says how values lie inside bins: by the
    quantile function of cuts, by the masses of counted values. Of an attribute with cuts ``ends``
    are the shares of values below the ends of bins. Records keep the rules of ``possible``, and
    what these compute comes behind the attributes.
    """

    attributes: Sequence[AttributeMeasured]
    axes: Sequence[Axis]
    model: Model
    ties: Sequence[tuple[int, int, float]]
    inside: Sequence[QuantileFunction | Real]
    ends: Sequence[Real]
    possible: Possible | None = None

    @classmethod
    def of(cls, measurements: Measurements, *, shrinks: bool = True) -> "Drawing":
        """Fit the model of measurements, which is all that records are drawn from.

        ``shrinks`` as in every release: see `Fitting`.
        """
        fitting = Fitting.of(measurements, shrinks=shrinks)
        model, masses, correlations = fitting.fit(measurements.tables)
        attributes, axes = fitting.attributes, fitting.axes
        if fitting.possible is not None:  # which moves the shares of bins
            masses = [np.maximum(model.margin((one,)), EMPTY) for one in range(len(axes))]
        ends = [*map(_ends, axes, masses)]
        inside = [*map(_inside, attributes, axes, ends)]
        ties = _ties(axes, correlations)
        return cls(attributes, axes, model, ties, inside, ends, fitting.possible)

    @property
    def released(self) -> list[tuple[Attribute, bool]]:
        """The attributes that records have, and whether some may lack a value."""
        found = [(one.attribute, one.has_missing) for one in self.attributes]
        if self.possible is not None:
            clauses = self.possible.clauses
            for own in clauses.computed:
                parts = (self.attributes[clauses.involved[column]] for column in own.columns)
                found.append((own.attribute, any(part.has_missing for part in parts)))
        return found

    def drawn(
        self, n_records: int, generator: np.random.Generator
    ) -> tuple[list[Values], Repairs | None]:
        """Draw records, in blocks side by side, each by a child of the generator.

        By attribute the values in as few bytes as its domain needs, and which are missing, None
        where that was not measured. Records are exchangeable: their order says nothing. Beside
        the result some 30 bytes for each value of the blocks at hand. Where there are rules: how
        many records were drawn again or moved for them.
        """
        made: list[Values] = [
            (
                np.empty(n_records, attribute.grid_type),
                np.empty(n_records, np.bool_) if has_missing else None,
            )
            for attribute, has_missing in self.released
        ]

        def fill(task: tuple[int, np.random.Generator]) -> Repairs | None:
            block = _block(task[0], n_records)
            drawn, repairs = self.block(task[0], n_records, task[1])
            for (values, missing), (units, absent) in zip(made, drawn, strict=True):
                values[block] = units
                if missing is not None:
                    missing[block] = absent
            return repairs

        blocks = in_threads(fill, list(enumerate(generator.spawn(blocks_of(n_records)))))
        repaired = [own for own in blocks if own is not None]
        return made, sum(repaired[1:], repaired[0]) if repaired else None

    def block(
        self, number: int, n_all: int, generator: np.random.Generator
    ) -> tuple[list[Values], Repairs | None]:
        """Draw one block of so many records in all: values in grid units, and who has none."""
        block = _block(number, n_all)
        # Blocks share out the evenly spaced places of a column among them.
        place = (number + 0.5) / blocks_of(n_all)
        bins = drawn_bins(self.model, block.stop - block.start, generator)
        scores: dict[int, Real] = {}
        for one, parent, correlation in self.ties:
            ends = scipy.special.ndtri(self.axes[one].ends)
            own = np.minimum(bins[one], len(ends) - 2)
            scores[one] = drawn_scores(
                ends[own], ends[own + 1], scores.get(parent), correlation, generator
            )
        found: list[Values] = []
        for one, (axis, inside) in enumerate(zip(self.axes, self.inside, strict=True)):
            if isinstance(inside, QuantileFunction):
                missing = bins[one] == axis.n_bins - 1 if axis.has_missing else None
                found.append((_numbers(inside, missing, scores[one], place), missing))
            else:
                assert axis.groups is not None  # noqa: S101 -- its values were counted
                values = systematic(inside, axis.groups, bins[one], generator)
                found.append(_levels(self.attributes[one], values))
        return found, self._kept(found, bins, generator)

    def _kept(
        self, values: list[Values], bins: Sequence[Whole], generator: np.random.Generator
    ) -> Repairs | None:
        """Change records so that they keep all rules, and add the columns that these compute."""
        if self.possible is None:
            return None

        def inside(one: int, own: Whole) -> Values:
            return self._drawn_inside(one, own, generator)

        def within(
            fresh: Sequence[int], scope: Sequence[int], own: Sequence[Whole]
        ) -> dict[int, Whole] | None:
            return redrawn_bins(self.model, (fresh, scope), own, generator)

        repairs = kept(self.possible, values, bins, inside, within, generator)
        if breaches(self.possible, values):
            raise RuntimeError("a drawn record breaks a rule: nothing may be released")
        values += computed_values(self.possible.clauses, values)
        return repairs

    def _drawn_inside(self, one: int, bins: Whole, generator: np.random.Generator) -> Values:
        """Draw values of an attribute inside bins, independently of all others."""
        axis, inside, ends = self.axes[one], self.inside[one], self.ends[one]
        if not isinstance(inside, QuantileFunction):
            assert axis.groups is not None  # noqa: S101 -- its values were counted
            return _levels(self.attributes[one], systematic(inside, axis.groups, bins, generator))
        missing = bins == axis.n_bins - 1 if axis.has_missing else None
        own = np.minimum(bins, len(ends) - 2)
        shares = ends[own] + generator.random(len(own)) * (ends[own + 1] - ends[own])
        found = inside.at(shares)
        return found if missing is None else np.where(missing, 0, found), missing


def _ties(axes: Sequence[Axis], correlations: Correlations) -> list[tuple[int, int, float]]:
    """Order attributes with cuts along the strongest copulas."""
    left = {number for number, axis in enumerate(axes) if axis.edges is not None}
    strengths = {pair: abs(value) for pair, value in correlations.items()}
    found: list[tuple[int, int, float]] = []
    while left:
        into = [(own, pair) for pair, own in strengths.items() if len(left & set(pair)) == 1]
        if into:
            _, pair = max(into)
            number, parent = sorted(pair, key=lambda one: one not in left)
            found.append((number, parent, correlations[pair]))
        else:
            weights = {one: sum(strengths[p] for p in strengths if one in p) for one in left}
            number = max(left, key=lambda one: (weights[one], -one))
            found.append((number, -1, 0.0))
        left.discard(number)
    return found


def _ends(axis: Axis, masses: Real) -> Real:
    """Return the shares of values below the ends of bins, by the masses of these."""
    parts = masses[: len(axis.ends) - 1]
    return np.concatenate(([0.0], np.cumsum(parts) / parts.sum()))


def _inside(measured: AttributeMeasured, axis: Axis, ends: Real) -> QuantileFunction | Real:
    """Find how values lie inside the bins of an attribute."""
    if measured.distribution is None:
        assert axis.groups is not None  # noqa: S101 -- its values were counted
        return masses_inside(measured.levels.counts, axis.groups, axis.tail)
    return measured.distribution.quantiles.warped(axis.ends, ends)


def _numbers(
    quantiles: QuantileFunction, missing: Mask | None, scores: Real, place: float
) -> Whole:
    """Spread the ranks of scores evenly, and map them by the quantile function."""
    order = np.argsort(scores if missing is None else scores[~missing])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = quantiles.at((np.arange(len(order)) + place) / max(len(order), 1))
    if missing is None:
        return found
    values = np.zeros(len(missing), dtype=np.int64)
    values[~missing] = found
    return values


def _levels(measured: AttributeMeasured, values: Whole) -> Values:
    """Put counted values, the last one missing where it was measured, in grid units."""
    lower, upper = measured.attribute.grid_bounds or (0, 0)
    if not measured.has_missing:
        return values + lower, None
    missing = values == upper - lower + 1
    return np.where(missing, 0, values) + lower, missing


def masses_inside(counts: Real, groups: Whole, tail: int | None) -> Real:
    """Share out each bin among its values, by noisy counts of them."""
    masses, in_bins = np.empty(len(counts)), np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))
    for number, members in enumerate(np.split(in_bins, ends[:-1])):
        nearest = falling_counts if number == tail else nearest_counts
        masses[members] = nearest(counts[members], max(float(counts[members].sum()), 0.0))
        if number == tail and not masses[members].any():
            masses[members[0]] = 1.0
    return masses


def value_masses(measured: AttributeMeasured, axis: Axis, masses: Real) -> Real:
    """Return the share that each counted value has among records drawn of bins of such masses."""
    assert axis.groups is not None  # noqa: S101 -- its values were counted
    inside = masses_inside(measured.levels.counts, axis.groups, axis.tail)
    sums = np.bincount(axis.groups, weights=inside)[axis.groups]
    sizes = np.bincount(axis.groups)[axis.groups]
    within = np.divide(inside, sums, out=1 / sizes, where=sums > 0)
    return np.asarray(masses[axis.groups] * within)


def drawn_bins(model: Model, n_records: int, generator: np.random.Generator) -> list[Whole]:
    """Draw each record's bin of every attribute, clique after clique."""
    drawn: dict[int, Whole] = {}
    for number, members in enumerate(model.tree.cliques):
        known = model.tree.separators[number]
        fresh = tuple(one for one in members if one not in known)
        if not fresh:
            continue
        drawn |= _bins_given(model, number, (known, fresh), drawn, n_records, generator)
    return [drawn[one] for one in range(len(model.tree.sizes))]


def redrawn_bins(
    model: Model,
    parts: tuple[Sequence[int], Sequence[int]],
    bins: Sequence[Whole],
    generator: np.random.Generator,
) -> dict[int, Whole] | None:
    """Draw bins of some attributes of a scope anew, given all others of a clique with the scope."""
    fresh, scope = parts
    if not any({*scope} <= {*members} for members in model.tree.cliques):
        return None
    host = model.tree.host(scope)
    known = tuple(one for one in model.tree.cliques[host] if one not in fresh)
    given = {one: bins[one] for one in known}
    return _bins_given(model, host, (known, tuple(fresh)), given, len(bins[0]), generator)


def _bins_given(
    model: Model,
    clique: int,
    parts: tuple[Scope, Scope],
    bins: Mapping[int, Whole],
    n_records: int,
    generator: np.random.Generator,
) -> dict[int, Whole]:
    """Draw bins of some attributes of a clique given those of others of it."""
    known, fresh = parts
    masses = model.clique_margin(clique, (*known, *fresh)).ravel()
    group = np.zeros(n_records, dtype=np.int64)
    for one in known:
        group = group * model.tree.sizes[one] + bins[one]
    n_outcomes = math.prod(model.tree.sizes[one] for one in fresh)
    groups = np.repeat(np.arange(len(masses) // n_outcomes), n_outcomes)
    outcome = systematic(masses, groups, group, generator) - group * n_outcomes
    found = dict[int, Whole]()
    for one in reversed(fresh):
        whole = outcome // model.tree.sizes[one]  # far quicker than with its remainder
        found[one] = outcome - whole * model.tree.sizes[one]
        outcome = whole
    return found


def systematic(
    masses: Real, groups: Whole, of_records: Whole, generator: np.random.Generator
) -> Whole:
    """Draw outcomes for records by systematic sampling: as even as whole records can be.

    Masses are in proportion, and each outcome is one of a group; a group without any mass has all
    of its own alike. Records have a group each, one that has an outcome: those of a group get its
    outcomes in ascending order, in a random order of records.
    """
    mixed = generator.permutation(len(of_records))
    found = np.empty(len(of_records), dtype=np.int64)
    counts = np.bincount(of_records, minlength=int(groups.max()) + 1)
    # Groups that nobody is in need no place on the line; the others stand one behind the other.
    outcomes = np.flatnonzero(counts[groups])
    outcomes = outcomes[np.argsort(groups[outcomes], kind="stable")]
    held = np.flatnonzero(counts)
    if len(held):
        sizes = np.bincount(groups[outcomes])[held]
        ends = np.cumsum(sizes)
        upper = _upper_ends(masses[outcomes], sizes, ends)
        starts, lines = generator.random(len(held)), np.cumsum(counts > 0) - 1
        of_lines = upper, ends, counts[held], starts, outcomes
        kernel.sample(mixed, of_records, lines, *of_lines, found)
    return found


def _upper_ends(masses: Real, sizes: Whole, ends: Whole) -> Real:
    """Return where each outcome ends on the line of its group, by its share of the masses."""
    totals = np.add.reduceat(masses, ends - sizes)
    has_none = np.repeat(totals <= 0, sizes)
    shares = np.where(has_none, 1.0, masses) / np.repeat(np.where(totals > 0, totals, sizes), sizes)
    # The sum of a group is taken off exactly: what rounding carries on is less than it by far.
    running = np.cumsum(shares)
    before = np.repeat(np.concatenate(([0.0], running[ends[:-1] - 1])), sizes)
    upper = running - before
    upper[ends - 1] = 1.0
    return np.asarray(upper)


def drawn_scores(
    below: Real,
    above: Real,
    parent: Real | None,
    correlation: float,
    generator: np.random.Generator,
) -> Real:
    """Draw the standard score of each record's value between the ends of its bin.

    Ends are standard scores, infinite ones at the ends of all; a Gaussian copula ties the scores
    to those of a parent.
    """
    shift = np.zeros(1) if parent is None else correlation * parent
    spread = math.sqrt(1 - correlation**2)
    low = scipy.special.ndtr((below - shift) / spread)
    high = scipy.special.ndtr((above - shift) / spread)
    chance = low + generator.random(len(below)) * (high - low)
    inside = np.clip(chance, INSIDE, 1 - INSIDE)
    scores = np.clip(shift + spread * scipy.special.ndtri(inside), below, above)
    # Finite also in a bin at an end of all that nearly nobody is in: children are tied to it.
    return np.asarray(np.clip(scores, -FARTHEST_SCORE, FARTHEST_SCORE))

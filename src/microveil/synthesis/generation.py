"""Records drawn from a fitted distribution: bins first, then values inside them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.kernels import systematic as kernel
from microveil.synthesis.axes import Axis
from microveil.synthesis.counts import falling_counts, nearest_counts
from microveil.synthesis.fitting import Fit
from microveil.synthesis.measurements import AttributeMeasured, CountsMeasured, CutsMeasured
from microveil.synthesis.model import Model
from microveil.synthesis.quantile_function import QuantileFunction, quantile_function
from microveil.table.threads import in_threads

__all__ = [
    "Drawing",
    "block_source",
    "blocks_of",
    "drawn_bins",
    "drawn_scores",
    "drawn_values",
    "masses_inside",
    "systematic",
    "value_masses",
]

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Chances stay so far from 0 and 1 that their standard scores are finite.
INSIDE = 1e-12
# Records drawn at a time: what is at hand of them stays far below the table's own size.
BLOCK = 1 << 16


def drawn_values(
    drawing: "Drawing",
    n_records: int,
    generator: np.random.Generator,
    empty: Callable[[int, "np.dtype[Any] | type"], NDArray[Any]] = np.empty,
) -> list[tuple[NDArray[np.signedinteger[Any]], Mask | None]]:
    """Draw records of a fit, in blocks side by side.

    Parameters
    ----------
    drawing : Drawing
    n_records : int
    generator : numpy.random.Generator
        Each block is drawn by a child of it: see `block_source`.
    empty : callable
        Makes the arrays to be filled.

    Returns
    -------
    list of (signed array (n_records,), bool array (n_records,) or None)
        By attribute the values in grid units, in as few bytes as its domain needs, and which are
        missing, None where that was not measured. Records are exchangeable: their order says
        nothing.

    Notes
    -----
    O(n log(block)) for each attribute; beside the result some 30 bytes for each value of the
    blocks at hand.
    """
    n_blocks = blocks_of(n_records)
    made = [
        (
            empty(n_records, measured.attribute.grid_type),
            empty(n_records, np.bool_) if _has_missing(measured) else None,
        )
        for measured in drawing.attributes
    ]

    def fill(task: tuple[int, np.random.Generator]) -> None:
        number, own = task
        block = _block(number, n_records)
        drawn = drawing.block(number, n_records, own)
        for (values, missing), (units, absent) in zip(made, drawn, strict=True):
            values[block] = units
            if missing is not None:
                missing[block] = absent

    in_threads(fill, list(enumerate(generator.spawn(n_blocks))))
    return made


def blocks_of(n_records: int) -> int:
    """Return how many blocks so many records are drawn in."""
    return -(-n_records // BLOCK)


def _block(number: int, n_records: int) -> slice:
    n_blocks = blocks_of(n_records)
    return slice(number * n_records // n_blocks, (number + 1) * n_records // n_blocks)


def block_source(seed: int, number: int) -> np.random.Generator:
    """Return what draws a block: the child of that number of a seed's generator.

    >>> children = np.random.Generator(np.random.PCG64(7)).spawn(3)
    >>> bool(children[2].integers(1 << 60) == block_source(7, 2).integers(1 << 60))
    True
    """
    own = np.random.SeedSequence(seed, spawn_key=(number,))
    return np.random.Generator(np.random.PCG64(own))


def _has_missing(measured: AttributeMeasured) -> bool:
    if isinstance(measured, CountsMeasured):
        return measured.has_missing
    return measured.present is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _NumberWriter:
    """Spreads the ranks of scores evenly, and maps them by the quantile function."""

    quantiles: QuantileFunction
    missing_bin: int | None

    def values(self, bins: Whole, scores: Real, place: float) -> tuple[Whole, Mask | None]:
        missing = None if self.missing_bin is None else bins == self.missing_bin
        order = np.argsort(scores if missing is None else scores[~missing])
        found = np.empty(len(order), dtype=np.int64)
        found[order] = self.quantiles.at((np.arange(len(order)) + place) / max(len(order), 1))
        if missing is None:
            return found, None
        values = np.zeros(len(bins), dtype=np.int64)
        values[~missing] = found
        return values, missing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LevelWriter:
    """Draws values inside each bin by their shares of it; without any, they are alike."""

    masses: Real
    groups: Whole
    lower: int
    missing_value: int | None

    def values(self, bins: Whole, generator: np.random.Generator) -> tuple[Whole, Mask | None]:
        values = _drawn(self.masses, self.groups, bins, generator)
        if self.missing_value is None:
            return values + self.lower, None
        missing = values == self.missing_value
        return np.where(missing, 0, values) + self.lower, missing


def _writer(measured: AttributeMeasured, axis: Axis, masses: Real) -> _NumberWriter | _LevelWriter:
    if isinstance(measured, CutsMeasured):
        cuts, parts = measured.cuts, masses[: len(axis.ends) - 1]
        ends = np.concatenate(([0.0], np.cumsum(parts) / parts.sum()))
        shares = np.interp(cuts.shares, axis.ends, ends)
        return _NumberWriter(
            quantiles=quantile_function(cuts, measured.candidates, shares),
            missing_bin=axis.n_bins - 1 if axis.has_missing else None,
        )
    assert axis.groups is not None  # noqa: S101 -- its values were counted
    counts = measured.levels.counts
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    missing = len(counts) - 1 if measured.has_missing else None
    return _LevelWriter(
        masses=masses_inside(counts, axis.groups, axis.tail),
        groups=axis.groups,
        lower=lower,
        missing_value=missing,
    )


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


def value_masses(measured: CountsMeasured, axis: Axis, masses: Real) -> Real:
    """Return the share of records that each counted value has among those drawn.

    Parameters
    ----------
    measured : CountsMeasured
    axis : Axis
        Its bins.
    masses : float64 array (n_bins,)
        Of these.

    Returns
    -------
    float64 array (n_values,)
    """
    assert axis.groups is not None  # noqa: S101 -- its values were counted
    inside = masses_inside(measured.levels.counts, axis.groups, axis.tail)
    sums = np.bincount(axis.groups, weights=inside)[axis.groups]
    sizes = np.bincount(axis.groups)[axis.groups]
    within = np.divide(inside, sums, out=1 / sizes, where=sums > 0)
    return np.asarray(masses[axis.groups] * within)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """What all blocks of records have in common, whoever draws them."""

    attributes: Sequence[AttributeMeasured]
    axes: Sequence[Axis]
    fit: Fit
    ties: Sequence[tuple[int, int, float]]
    writers: Sequence[_NumberWriter | _LevelWriter]

    @classmethod
    def of(
        cls, attributes: Sequence[AttributeMeasured], axes: Sequence[Axis], fit: Fit
    ) -> "Drawing":
        """Make of a fit all that drawing from it takes."""
        return cls(
            attributes=attributes,
            axes=axes,
            fit=fit,
            ties=_ties(axes, fit),
            writers=[_writer(*one) for one in zip(attributes, axes, fit.masses, strict=True)],
        )

    def block(
        self, number: int, n_all: int, generator: np.random.Generator
    ) -> list[tuple[Whole, Mask | None]]:
        """Draw one block of so many records in all: values in grid units, and who has none."""
        block = _block(number, n_all)
        n_records = block.stop - block.start
        # Blocks share out the evenly spaced places of a column among them.
        place = (number + 0.5) / blocks_of(n_all)
        bins = drawn_bins(self.fit.model, n_records, generator)
        scores: dict[int, Real] = {}
        for one, parent, correlation in self.ties:
            ends = scipy.special.ndtri(self.axes[one].ends)
            own = np.minimum(bins[one], len(ends) - 2)
            scores[one] = drawn_scores(
                ends[own], ends[own + 1], scores.get(parent), correlation, generator
            )
        return [
            writer.values(bins[one], scores[one], place)
            if isinstance(writer, _NumberWriter)
            else writer.values(bins[one], generator)
            for one, writer in enumerate(self.writers)
        ]


def _ties(axes: Sequence[Axis], fit: Fit) -> list[tuple[int, int, float]]:
    """Order attributes with cuts along the strongest copulas: (attribute, parent, correlation).

    The parent is -1 where a new tree begins.
    """
    left = {number for number, axis in enumerate(axes) if axis.edges is not None}
    strengths = {pair: abs(value) for pair, value in fit.correlations.items()}
    found: list[tuple[int, int, float]] = []
    while left:
        into = [(own, pair) for pair, own in strengths.items() if len(left & set(pair)) == 1]
        if into:
            _, pair = max(into)
            number, parent = sorted(pair, key=lambda one: one not in left)
            found.append((number, parent, fit.correlations[pair]))
        else:
            weights = {one: sum(strengths[p] for p in strengths if one in p) for one in left}
            number = max(left, key=lambda one: (weights[one], -one))
            found.append((number, -1, 0.0))
        left.discard(number)
    return found


def drawn_bins(model: Model, n_records: int, generator: np.random.Generator) -> list[Whole]:
    """Draw each record's bin of every attribute, clique after clique.

    Returns
    -------
    list of int64 arrays (n_records,)
        By attribute.
    """
    drawn: dict[int, Whole] = {}
    for number, members in enumerate(model.tree.cliques):
        known = model.tree.separator(number)
        fresh = tuple(one for one in members if one not in known)
        if not fresh:
            continue
        masses = model.clique_margin(number, (*known, *fresh)).ravel()
        group = np.zeros(n_records, dtype=np.int64)
        for one in known:
            group = group * model.sizes[one] + drawn[one]
        n_outcomes = math.prod(model.sizes[one] for one in fresh)
        groups = np.repeat(np.arange(len(masses) // n_outcomes), n_outcomes)
        outcome = _drawn(masses, groups, group, generator) - group * n_outcomes
        for one in reversed(fresh):
            whole = outcome // model.sizes[one]  # far quicker than with its remainder
            drawn[one] = outcome - whole * model.sizes[one]
            outcome = whole
    return [drawn[one] for one in range(len(model.sizes))]


def _drawn(masses: Real, groups: Whole, of_records: Whole, generator: np.random.Generator) -> Whole:
    """Draw an outcome for each record among those of its group, by their masses."""
    mixed = generator.permutation(len(of_records))
    return systematic(masses, groups, of_records, mixed, generator)


def systematic(
    masses: Real, groups: Whole, of_records: Whole, mixed: Whole, generator: np.random.Generator
) -> Whole:
    """Draw outcomes for records by systematic sampling: as even as whole records can be.

    Parameters
    ----------
    masses : float64 array (n_outcomes,)
        Of each outcome, in proportion; a group without any has all of its own alike.
    groups : int64 array (n_outcomes,)
        The group that each outcome is one of.
    of_records : int64 array (n_records,)
        The group of each record, one that has an outcome.
    mixed : int64 array (n_records,)
        The records in random order: those of a group get its outcomes in ascending order.
    generator : numpy.random.Generator

    Returns
    -------
    int64 array (n_records,)

    Examples
    --------
    >>> masses, groups = np.array([3.0, 1.0, 5.0]), np.array([0, 0, 1])
    >>> of_records = np.array([0, 0, 0, 0, 1, 0, 0, 0, 0])
    >>> systematic(masses, groups, of_records, np.arange(9), np.random.default_rng(0))
    array([0, 0, 0, 0, 2, 0, 0, 1, 1])
    """
    found = np.empty(len(of_records), dtype=np.int64)
    counts = np.bincount(of_records, minlength=int(groups.max()) + 1)
    # Groups that nobody is in need no place on the line; the others stand one behind the other.
    outcomes = np.flatnonzero(counts[groups])
    outcomes = outcomes[np.argsort(groups[outcomes], kind="stable")]
    held = np.flatnonzero(counts)
    if not len(held):
        return found
    sizes = np.bincount(groups[outcomes])[held]
    ends = np.cumsum(sizes)
    starts = generator.random(len(held))
    lines = np.cumsum(counts > 0) - 1
    kernel.sample(
        mixed, of_records, lines, _upper_ends(masses[outcomes], sizes, ends), ends, counts[held],
        starts, outcomes, found,
    )  # fmt: skip
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
    """Draw the standard score of each record's value, inside its bin.

    Parameters
    ----------
    below, above : float64 arrays (n_records,)
        The ends of each record's bin, as standard scores; infinite ones at the ends of all.
    parent : float64 array (n_records,) or None
        The scores of another attribute, to which a Gaussian copula ties it.
    correlation : float
    generator : numpy.random.Generator

    Returns
    -------
    float64 array (n_records,)
    """
    shift = np.zeros(1) if parent is None else correlation * parent
    spread = math.sqrt(1 - correlation**2)
    low, high = (
        scipy.special.ndtr((below - shift) / spread),
        scipy.special.ndtr((above - shift) / spread),
    )
    chance = low + generator.random(len(below)) * (high - low)
    inside = np.clip(chance, INSIDE, 1 - INSIDE)
    return np.asarray(np.clip(shift + spread * scipy.special.ndtri(inside), below, above))

"""Records drawn from a fitted distribution: bins first, then values inside them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from microveil.synthesis.axes import Axis
from microveil.synthesis.fitting import Fit
from microveil.synthesis.measurements import CountsMeasured, CutsMeasured
from microveil.synthesis.model import Model
from microveil.synthesis.quantile_function import quantile_function

__all__ = ["drawn_bins", "drawn_shares", "drawn_values", "systematic"]

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
# Shares stay so far from 0 and 1 that their standard scores are finite.
INSIDE = 1e-12


def drawn_bins(model: Model, n_records: int, generator: np.random.Generator) -> list[Whole]:
    """Draw each record's bin of every attribute, clique after clique.

    Returns
    -------
    list of int64 arrays (n_records,)
        By attribute. Records are exchangeable: their order says nothing.
    """
    drawn: dict[int, Whole] = {}
    for number, members in enumerate(model.tree.cliques):
        known = model.tree.separator(number)
        fresh = tuple(one for one in members if one not in known)
        if not fresh:
            continue
        table = model.clique_margin(number, (*known, *fresh))
        n_groups = int(np.prod([model.sizes[one] for one in known], dtype=np.int64))
        group = np.zeros(n_records, dtype=np.int64)
        for one in known:
            group = group * model.sizes[one] + drawn[one]
        outcome = _drawn(table.reshape(n_groups, -1), group, generator)
        for one in reversed(fresh):
            outcome, drawn[one] = np.divmod(outcome, model.sizes[one])
    return [drawn[one] for one in range(len(model.sizes))]


def _drawn(masses: Real, group: Whole, generator: np.random.Generator) -> Whole:
    """Draw an outcome for each record by its group's row of masses."""
    mixed = generator.permutation(len(group))
    # A stable sort of small whole numbers is a radix sort.
    small = group[mixed].astype(np.uint16 if len(masses) <= 1 << 16 else np.int64)
    order = mixed[np.argsort(small, kind="stable")]
    outcome = np.empty(len(group), dtype=np.int64)
    outcome[order] = systematic(masses, np.bincount(group, minlength=len(masses)), generator)
    return outcome


def systematic(masses: Real, counts: Whole, generator: np.random.Generator) -> Whole:
    """Draw outcomes for groups of records by systematic sampling: as even as whole records can be.

    Parameters
    ----------
    masses : float64 array (n_groups, n_outcomes)
        Of each group in proportion; a group without any has all alike.
    counts : int64 array (n_groups,)
        Records of each group.
    generator : numpy.random.Generator

    Returns
    -------
    int64 array (sum of counts,)
        Group after group, ascending in each.

    Examples
    --------
    >>> systematic(np.array([[3.0, 1.0]]), np.array([8]), np.random.default_rng(0))
    array([0, 0, 0, 0, 0, 0, 1, 1])
    """
    n_groups, n_outcomes = masses.shape
    totals = masses.sum(axis=1, keepdims=True)
    even = np.full_like(masses, 1 / n_outcomes)
    upper = np.cumsum(np.where(totals > 0, masses / np.maximum(totals, 1e-300), even), axis=1)
    upper[:, -1] = 1.0
    starts = generator.random(n_groups)
    rank = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    place = (rank + np.repeat(starts, counts)) / np.repeat(np.maximum(counts, 1), counts)
    group = np.repeat(np.arange(n_groups), counts)
    # Groups one behind the other on one line; what rounding carries over an end stays before it.
    edges = (upper + np.arange(n_groups)[:, None]).ravel()
    found = np.searchsorted(edges, group + np.minimum(place, 1 - 1e-9), side="right")
    return np.asarray(np.minimum(found - group * n_outcomes, n_outcomes - 1))


def drawn_values(
    attributes: Sequence[CutsMeasured | CountsMeasured],
    axes: Sequence[Axis],
    fit: Fit,
    n_records: int,
    generator: np.random.Generator,
) -> list[tuple[Whole, NDArray[np.bool_] | None]]:
    """Draw records of a fit.

    Returns
    -------
    list of (int64 array (n_records,), bool array (n_records,) or None)
        By attribute the values in grid units, and which are missing, None where that is not
        measured.
    """
    bins = drawn_bins(fit.model, n_records, generator)
    shares = _shares(axes, fit, bins, generator)
    made = []
    for number, (measured, axis) in enumerate(zip(attributes, axes, strict=True)):
        if isinstance(measured, CutsMeasured):
            made.append(_numbers(measured, axis, bins[number], shares[number]))
        else:
            made.append(_levels(measured, axis, bins[number], generator))
    return made


def _shares(
    axes: Sequence[Axis], fit: Fit, bins: Sequence[Whole], generator: np.random.Generator
) -> dict[int, Real]:
    """Draw the shares below the values of attributes with cuts, along the strongest copulas."""
    left = {number for number, axis in enumerate(axes) if axis.edges is not None}
    ties = {pair: abs(value) for pair, value in fit.correlations.items()}
    made: dict[int, Real] = {}
    while left:
        into = [(tie, pair) for pair, tie in ties.items() if len(left & set(pair)) == 1]
        if into:
            _, pair = max(into)
            number, parent = sorted(pair, key=lambda one: one not in left)
            correlation = fit.correlations[pair]
        else:
            number = max(left, key=lambda one: (sum(ties[p] for p in ties if one in p), -one))
            parent, correlation = -1, 0.0
        left.discard(number)
        ends, own = axes[number].ends, np.minimum(bins[number], len(axes[number].ends) - 2)
        made[number] = drawn_shares(
            ends[own], ends[own + 1], made.get(parent), correlation, generator
        )
    return made


def drawn_shares(
    below: Real,
    above: Real,
    parent: Real | None,
    correlation: float,
    generator: np.random.Generator,
) -> Real:
    """Draw the share below each record's value, inside its bin.

    Parameters
    ----------
    below, above : float64 arrays (n_records,)
        The ends of each record's bin, as shares.
    parent : float64 array (n_records,) or None
        The shares of another attribute, to which a Gaussian copula ties it.
    correlation : float
    generator : numpy.random.Generator

    Returns
    -------
    float64 array (n_records,)
    """
    chance = generator.random(len(below))
    if parent is None or correlation == 0.0:
        return np.asarray(below + chance * (above - below))
    shift = correlation * ndtri(np.clip(parent, INSIDE, 1 - INSIDE))
    spread = np.sqrt(1 - correlation**2)
    low, high = ndtr((ndtri(below) - shift) / spread), ndtr((ndtri(above) - shift) / spread)
    inside = np.clip(low + chance * (high - low), INSIDE, 1 - INSIDE)
    return np.asarray(np.clip(ndtr(shift + spread * ndtri(inside)), below, above))


def _numbers(
    measured: CutsMeasured, axis: Axis, bins: Whole, shares: Real
) -> tuple[Whole, NDArray[np.bool_] | None]:
    """Spread the present values' ranks evenly, and map them by the quantile function."""
    missing = bins == axis.n_bins - 1 if axis.has_missing else None
    present = np.arange(len(bins)) if missing is None else np.flatnonzero(~missing)
    order = present[np.argsort(shares[present], kind="stable")]
    values = np.zeros(len(bins), dtype=np.int64)
    if len(order):
        evenly = (np.arange(len(order)) + 0.5) / len(order)
        values[order] = quantile_function(measured.cuts, measured.candidates).at(evenly)
    return values, missing


def _levels(
    measured: CountsMeasured, axis: Axis, bins: Whole, generator: np.random.Generator
) -> tuple[Whole, NDArray[np.bool_] | None]:
    """Draw values inside each bin by their noisy shares, negative ones 0."""
    assert axis.groups is not None  # noqa: S101 -- its values were counted
    counts = np.maximum(measured.levels.counts, 0.0)
    inside = axis.groups[None, :] == np.arange(axis.n_bins)[:, None]
    masses = np.where(inside, counts, 0.0)
    # A bin whose counts are all 0 or less has its values alike.
    masses = np.where(masses.sum(axis=1, keepdims=True) > 0, masses, inside.astype(np.float64))
    values = _drawn(masses, bins, generator)
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    if not measured.has_missing:
        return values + lower, None
    missing = values == len(counts) - 1
    return np.where(missing, 0, values) + lower, missing

"""Counts and means in subgroups, before and after protection."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.measures.base import Group, Measure, Measured, Takes, figures, result_in
from microveil.measures.models import of_one_kind
from microveil.measures.values import Flags, Floats, Whole, day, days, plain
from microveil.text.document import Block, Given, Tabulated, paragraph, tabulated
from microveil.text.figures import figure

# What a missing cell of a column of text or numbers is called among the levels.
MISSING = "missing"
# A column of more different values is no column of groups: a number, or a name.
MOST_LEVELS = 100
# More subgroups than a person reads are in `to_dict` alone; more means have a table of their own.
MOST_GROUPS = 20
MEANS_BESIDE = 3
NOT_MEASURED = "*"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubgroupMargins:
    """Half widths of noise and chance alone: by how much the model is off comes on top."""

    confidence: float  # of each margin by itself
    n_trials: int
    shares: Floats  # (n_groups,)
    # (n_groups, n_attributes): NaN where trials too often have nobody in the subgroup, or the
    # attribute was not drawn.
    means: Floats
    is_measured: Flags  # whether the subgroup's own count was


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subgroups:
    """Records and means of every subgroup in two tables."""

    by: tuple[str, ...]  # the columns whose combinations are the subgroups
    levels: tuple[tuple[str, ...], ...]  # of each its level of every column, in order
    counts: Whole  # (2, n_groups): before and after
    means: Floats  # (2, n_groups, n_attributes), over the cells present; NaN where there is none
    margins: SubgroupMargins | None = None  # None where they are not known
    without_margins: str = ""  # why they are not

    @property
    def shares(self) -> Floats:
        """Shares of the records before and after, shape (2, n_groups)."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @property
    def largest_change(self) -> float:
        """The largest difference of a subgroup's shares."""
        return float(np.abs(np.diff(self.shares, axis=0)).max())

    @property
    def largest_first(self) -> list[int]:
        """Positions of the subgroups, by their share in the original and then in the release."""
        before, after = self.counts
        return [int(group) for group in np.lexsort([-after, -before])]

    def count_margin(self, group: int) -> float | None:
        """Return the half width of a subgroup's count, in records of the release."""
        if self.margins is None:
            return None
        return float(self.margins.shares[group] * self.counts[1].sum())

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return all subgroups as JSON knows them, by the names of the attributes of numbers."""
        found = self.margins
        return {
            "by": list(self.by),
            "margins": {
                "confidence": None if found is None else found.confidence,
                "trials": None if found is None else found.n_trials,
                "reason": self.without_margins or None,
            },
            "groups": [self._group(g, names) for g in range(len(self.levels))],
        }

    def _group(self, g: int, names: Sequence[str]) -> dict[str, Any]:
        """Write a subgroup: records, shares and means, and the half widths of its margins."""
        numbers = [(a, name) for a, name in enumerate(names) if name not in self.by]
        found = self.margins
        margin = found and {
            "count": self.count_margin(g),
            "share": float(found.shares[g]),
            "measured": bool(found.is_measured[g]),
            "means": {name: plain(float(found.means[g, a])) for a, name in numbers},
        }
        return {
            "group": dict(zip(self.by, self.levels[g], strict=True)),
            "count": _sides(self.counts[:, g]),
            "share": _sides(self.shares[:, g]),
            "means": {name: _sides(self.means[:, g, a]) for a, name in numbers},
            "margin": margin,
        }


def _sides(figures: NDArray[Any]) -> dict[str, Any]:
    return dict(zip(("original", "protected"), plain(figures), strict=True))


def compare_subgroups(
    original: Floats,
    protected: Floats,
    *,
    by: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    margins: Callable[[Subgroups], Subgroups] = lambda found: found,
) -> Subgroups:
    """Count records and take means in the subgroups of two tables, in any order of records."""
    coded = {name: _coded(name, *sides) for name, sides in by.items()}
    size, position = len(original), np.zeros(len(original) + len(protected), dtype=np.int64)
    for codes, levels in coded.values():
        # Numbered anew after each column, so that only combinations that occur have a place.
        _, position = np.unique(position * len(levels) + codes, return_inverse=True)
    first = np.unique(position, return_index=True)[1]
    sides = (position[:size], original), (position[size:], protected)
    counts = np.stack([np.bincount(groups, minlength=len(first)) for groups, _ in sides])
    means = np.stack([_means(groups, values, len(first)) for groups, values in sides])
    found = tuple(tuple(levels[codes[one]] for codes, levels in coded.values()) for one in first)
    return margins(Subgroups(by=tuple(by), levels=found, counts=counts, means=means))


def figures_in(groups: Whole, values: Floats, n_groups: int) -> tuple[Floats, Floats]:
    """Return shares and means of groups in a table, records of group -1 being in none."""
    inside = groups >= 0
    counts = np.bincount(groups[inside], minlength=n_groups)
    return counts / len(groups), _means(groups[inside], values[inside], n_groups)


def _coded(name: str, before: NDArray[Any], after: NDArray[Any]) -> tuple[Whole, list[str]]:
    """Return the level of each record, of both tables in a row, and how each level is called."""
    of_one_kind(name, before, after)
    values, codes = np.unique(np.concatenate([before, after]), return_inverse=True)
    if len(values) > MOST_LEVELS:
        rule = f"subgroups are made of columns of at most {MOST_LEVELS} different values"
        raise DataError(f"column '{name}'", rule, "name another column")
    if values.dtype.kind == "U":
        return codes, [str(value) or MISSING for value in values]
    return codes, [MISSING if np.isnan(value) else f"{value:.15g}" for value in values]


def _means(groups: Whole, values: Floats, n_groups: int) -> Floats:
    """Return the mean of each attribute in each group, NaN of nothing."""
    means = np.full((n_groups, values.shape[1]), np.nan)
    for a, column in enumerate(values.T):
        present = ~np.isnan(column)
        sums = np.bincount(groups[present], weights=column[present], minlength=n_groups)
        n_present = np.bincount(groups[present], minlength=n_groups)
        np.divide(sums, n_present, out=means[:, a], where=n_present > 0)
    return means


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show counts and means of the largest subgroups, before and after."""
    own = result_in(found, Subgroups)
    if own is None:
        return figures(found)
    chosen, names = own.largest_first[:MOST_GROUPS], found[0].names
    means = [a for a, name in enumerate(names) if name not in own.by]
    parts = [means[at : at + MEANS_BESIDE] for at in range(0, len(means), MEANS_BESIDE)]
    blocks: list[Block] = [*figures(found), _counts(own, chosen)]
    blocks += [_table_of_means(own, chosen, found[0], part) for part in parts]
    if len(chosen) < len(own.levels):
        said = f"The largest {len(chosen)} of {len(own.levels)} subgroups; --json has all of them."
        blocks.append(paragraph(said))
    return (*blocks, paragraph(_margins_in_words(own, chosen)))


def _counts(found: Subgroups, chosen: Sequence[int]) -> Tabulated:
    """Tabulate records and shares of subgroups, with what noise alone does to them."""
    margins = found.margins
    sign = () if margins is None else ("±",)
    heads = (", ".join(found.by), "records before", "after", *sign, "% before", "after", *sign)
    rows = []
    for g in chosen:
        star = "" if margins is None or margins.is_measured[g] else NOT_MEASURED
        counts = [figure(int(count)) for count in found.counts[:, g]]
        shares = [figure(100 * share) for share in found.shares[:, g]]
        if margins is not None:
            counts.append(f"{figure(found.count_margin(g))}{star}")
            shares.append(f"{figure(100 * margins.shares[g])}{star}")
        rows.append((", ".join(found.levels[g]), *counts, *shares))
    return tabulated(heads, rows)


def _table_of_means(
    found: Subgroups, chosen: Sequence[int], own: Measured, attributes: Sequence[int]
) -> Tabulated:
    """Tabulate means of a few attributes in subgroups."""
    margins = found.margins
    heads: list[Given] = ["means"]
    rows = [[", ".join(found.levels[g])] for g in chosen]
    for a in attributes:
        name = own.names[a]
        mean, margin = (day, days) if name in own.dates else (figure, figure)
        heads += [name, "after", *([] if margins is None else ["±"])]
        for g, cells in zip(chosen, rows, strict=True):
            cells.extend(map(mean, found.means[:, g, a]))
            cells.extend([] if margins is None else [margin(margins.means[g, a])])
    return tabulated(heads, rows)


def _margins_in_words(found: Subgroups, chosen: Sequence[int]) -> str:
    """Say how margins are read, or why there are none."""
    margins = found.margins
    if margins is None:
        return f"No margin of noise: {found.without_margins}."
    star = "" if margins.is_measured[chosen].all() else f", and with counts marked {NOT_MEASURED}"
    return (
        f"± is how far noise and chance alone take a figure from the original's, at "
        f"{figure(100 * margins.confidence)} % each, by {margins.n_trials} trials on the "
        "measurements. A figure that is farther off shows what the release's model does not know: "
        f"that can be with means{star}, which no table of the model has by themselves."
    )


MEASURES = (
    Measure(
        id="largest_share_change",
        label="largest change of a subgroup's share",
        explanation="0 = unchanged",
        function=compare_subgroups,
        figure=attrgetter("largest_change"),
        takes=Takes(lambda own: (own.original, own.protected)),
        needs_pairs=False,
        highest=1.0,
        group=Group(title="Subgroups", show=_show),
        entry="subgroups",
        write=Subgroups.to_dict,
        asked_by="by",
        arguments=("by", "margins"),
    ),
)

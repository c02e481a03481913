"""Counts and means in subgroups, before and after."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Entry, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.text.document import Block, Given, Tabulated, paragraph, tabulated
from microveil.text.figures import figure
from microveil.utility.subgroups import Subgroups, compare_subgroups

__all__ = ["MEASURES", "SUBGROUPS"]

# More subgroups than a person reads are in `to_dict` alone; more means have a table of their own.
MOST_GROUPS = 20
MEANS_BESIDE = 3
NOT_MEASURED = "*"


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show counts and means of the largest subgroups, before and after."""
    taken = next((one for one in found if isinstance(one.result, Subgroups)), None)
    if taken is None:
        return figures(found)
    own: Subgroups = taken.result
    chosen = own.largest_first[:MOST_GROUPS]
    means = [a for a, name in enumerate(taken.names) if name not in own.by]
    parts = [means[at : at + MEANS_BESIDE] for at in range(0, len(means), MEANS_BESIDE)]
    blocks: list[Block] = [*figures(found), _counts(own, chosen)]
    blocks += [_means(own, chosen, taken.names, part) for part in parts]
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


def _means(
    found: Subgroups, chosen: Sequence[int], names: Sequence[str], attributes: Sequence[int]
) -> Tabulated:
    """Tabulate means of a few attributes in subgroups."""
    margins = found.margins
    sign = () if margins is None else ("±",)
    heads: list[Given] = ["means"]
    for a in attributes:
        heads += [names[a], "after", *sign]
    rows = []
    for g in chosen:
        cells = [", ".join(found.levels[g])]
        for a in attributes:
            cells += [figure(mean) for mean in found.means[:, g, a]]
            cells += [] if margins is None else [figure(margins.means[g, a])]
        rows.append(cells)
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


SUBGROUPS = Group(title="Subgroups", show=_show)


def _compared(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    *,
    by: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    margins: Callable[[Subgroups], Subgroups],
) -> Subgroups:
    return margins(compare_subgroups(original, protected, by=by))


def _write(found: Subgroups, names: Sequence[str]) -> dict[str, Any]:
    return found.to_dict(names)


MEASURES = (
    Measure(
        id="largest_share_change",
        label="largest change of a subgroup's share",
        explanation="0 = unchanged",
        function=_compared,
        figure=attrgetter("largest_change"),
        takes=Takes.SUBGROUPS,
        needs_pairs=False,
        highest=1.0,
        group=SUBGROUPS,
        entry=Entry(name="subgroups", write=_write),
        asked_by="by",
        arguments=("by", "margins"),
    ),
)

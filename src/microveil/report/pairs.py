"""The pairs of attributes whose tables were measured: the graph that they make, and the tables."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from microveil.report.chart import Panel, Side
from microveil.report.markup import Markup, element, fragment
from microveil.report.pair_charts import across_and_upward, numbered, pair_chart
from microveil.report.pair_tables import MeasuredTables, PairTable
from microveil.report.sections import Section
from microveil.report.svg import in_rows
from microveil.report.tables import table
from microveil.report.wording import named, number, percent, plural

__all__ = ["pairs_section"]

Float = NDArray[np.float64]
MOST_IN_GRAPH = 20
MOST_LISTED = 100
SHADED_FROM = (0.02, 0.05, 0.1, 0.2)
SIDE_WORDS: dict[Side, str] = {"original": "original", "protected": "release"}
WORDS = (
    "Tables of these pairs of attributes were measured, with noise; which pairs was chosen with "
    "noise too. They are the edges of a graph: what no path of it joins was drawn independently, "
    "and what only several edges join depends as far as these do. The strength of an edge is the "
    "total variation distance of its table from independence, from 0 (independent) to 1, once what "
    "is expected to be noise is taken off: a function of the measurements alone. Numbers have bins "
    "of their own measured quantiles, and rare categories share one."
)


def pairs_section(
    measured: MeasuredTables, *, prefix: str, moved: Mapping[frozenset[str], float] | None = None
) -> Section:
    """Show the measured pairs: as a graph, by strength, and the tables of the strongest.

    Parameters
    ----------
    measured : MeasuredTables
    prefix : str
        Of identifiers.
    moved : dict of float, optional
        By pair the total variation between original and release: for the custodian only.
    """
    return Section(
        identifier=f"{prefix}measured-pairs",
        title="Pairs of attributes that were measured",
        body=fragment(
            element("p", WORDS),
            _graph(measured, f"{prefix}graph-table"),
            _edges(measured, f"{prefix}edges-table", moved),
            _tables(measured, prefix),
        ),
    )


def _graph(measured: MeasuredTables, identifier: str) -> Markup:
    names = measured.attributes
    if len(names) > MOST_IN_GRAPH:
        return element("p", f"More than {MOST_IN_GRAPH} attributes: the graph is listed alone.")
    known = {frozenset(edge.names): edge.strength for edge in measured.edges}
    shades = ", ".join(map(number, SHADED_FROM[:-1]))
    return table(
        f"The graph: strength of each edge; shades begin at {shades} and "
        f"{number(SHADED_FROM[-1])}, and pairs without a figure were not measured",
        ("attribute", *(named(name, 18) for name in names)),
        (
            [named(name, 18), *(_shaded(known.get(frozenset((name, other)))) for other in names)]
            for name in names
        ),
        identifier=identifier,
        class_="matrix",
    )


def _shaded(strength: float | None) -> Markup:
    if strength is None:
        return element("td", "")
    shade = sum(round(strength, 3) >= least for least in SHADED_FROM)
    return element("td", f"{strength:.3f}", class_=f"p{shade}" if shade else None)


def _edges(
    measured: MeasuredTables, identifier: str, moved: Mapping[frozenset[str], float] | None
) -> Markup:
    listed = measured.edges[:MOST_LISTED]
    count = plural(len(measured.edges), "measured pair")
    first = f", the {MOST_LISTED} strongest" if len(listed) < len(measured.edges) else ""
    heads = ["pair", "strength", "cells", "margin of a cell, percentage points"]
    if moved is not None:
        heads.append("total variation, original to release")
    rows = []
    for edge in listed:
        one, other = edge.names
        row = [
            f"{named(one)} and {named(other)}",
            f"{edge.strength:.3f}",
            f"{edge.shape[0]} × {edge.shape[1]}",
            f"± {percent(edge.half_width)}",
        ]
        if moved is not None:
            row.append(number(moved.get(frozenset(edge.names)), 3))
        rows.append(row)
    return table(
        f"{count}{first}, the strongest first; each cell's share of the original lies within the "
        f"margin of what was measured, but for {percent(1 - measured.confidence)} % chance",
        heads,
        rows,
        identifier=identifier,
    )


def _tables(measured: MeasuredTables, prefix: str) -> Markup:
    drawn = [
        fragment(
            in_rows(_panels(table), f"{prefix}pair-{place}-"),
            _numbered_words(table),
            _numbers(table, f"{prefix}pair-{place}"),
        )
        for place, table in enumerate(measured.tables)
    ]
    if not drawn:
        return fragment()
    which = "measured pair" if len(drawn) == 1 else f"{len(drawn)} strongest measured pairs"
    return fragment(
        element(
            "p",
            f"Tables of the {which}: discs stand for the share of the records in a cell, with "
            "areas in proportion to it, on one scale for a pair; none is drawn smaller than a "
            "point.",
        ),
        drawn,
    )


def _panels(table: PairTable) -> list[Panel]:
    most = max(float(shares.max()) for shares in table.shares.values())
    one, other = (named(name, 30) for name in table.names)
    return [
        Panel(
            row=f"{one} {other}",
            caption=f"{one} and {other}, {SIDE_WORDS[side]}",
            chart=pair_chart(table, side, most),
        )
        for side in table.shares
    ]


def _numbered_words(table: PairTable) -> Markup | None:
    """Name the bins that are drawn with numbers."""
    bins = table.bins[across_and_upward(table)[0]]
    if not numbered(bins):
        return None
    names = "; ".join(f"{place} is {label}" for place, label in enumerate(bins.labels, start=1))
    return element("p", f"{bins.attribute.name}, across: {names}.")


def _numbers(pair: PairTable, identifier: str) -> Markup:
    """Tabulate what was measured and what each side has, behind the picture."""
    one, other = (named(name) for name in pair.names)
    sides = {"as measured, with noise": pair.measured} | {
        SIDE_WORDS[side]: shares for side, shares in pair.shares.items()
    }
    tables = [
        table(
            f"Records in each cell, %, {words}"
            + (f", ± {percent(pair.half_width)}" if shares is pair.measured else ""),
            (f"{one} \\ {other}", *(named(label, 24) for label in pair.bins[1].labels)),
            (
                [named(label), *(_share(float(share)) for share in row)]
                for label, row in zip(pair.bins[0].labels, shares, strict=True)
            ),
            identifier=f"{identifier}-{place}-table",
        )
        for place, (words, shares) in enumerate(sides.items())
    ]
    return element("details", element("summary", f"Numbers of {one} and {other}"), tables)


def _share(share: float) -> str:
    return f"{100 * share:.2f}".replace("-0.00", "0.00").replace("-", "−")

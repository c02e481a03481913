"""Pairs of columns: how far each moved, and the tables that a new table was drawn from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from microveil.measures.distributions import TWO_WAY, TotalVariation
from microveil.report.charts import pairs_chart, tip
from microveil.report.drawing import SERIES
from microveil.report.measured import Edge, MeasuredTables, PairTable
from microveil.report.subject import Subject
from microveil.report.wording import NOTHING, named, number, percent, plural
from microveil.text import shortened
from microveil.text.document import Block, Chart, Tabulated, fold, heading, paragraph, tabulated

MOST_LISTED = 100
DRAWN_FROM = 0.0005  # a smaller share is in the table of numbers alone
SIDE_WORDS = {"original": "original", "protected": "release"}
MEASURED = (
    "Tables of these pairs were measured, with noise; which pairs was chosen with noise too. They "
    "are the edges of a graph: what no path of it joins was drawn independently. The strength of "
    "an edge is the total variation distance of its table from independence, from 0 (independent) "
    "to 1, once what is expected to be noise is taken off: a function of the measurements alone. "
    "Numbers have bins of their own measured quantiles, and rare categories share one."
)


@dataclass(slots=True, kw_only=True)
class Pair:
    """What is known of two columns."""

    names: tuple[str, str]
    moved: float | None = None
    before: float | None = None
    after: float | None = None
    edge: Edge | None = None

    @property
    def change(self) -> float | None:
        """How far the correlation moved."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


def moved_pairs_chart(subject: Subject) -> Chart | None:
    """Chart how far each pair moved; None where there is one column alone."""
    found: TotalVariation | None = subject.assessment.result(TWO_WAY.id)
    if found is None or len(found.names) < 2:
        return None
    order = [column.name for column in subject.worst_first if column.name in found.names]
    places = [found.names.index(name) for name in order]
    return pairs_chart(order, found.of_pairs[np.ix_(places, places)])


def pairs_parts(subject: Subject) -> list[Block]:
    """Say how many relations are kept, and tabulate the pairs, the worst first."""
    assessment = subject.assessment
    relations = assessment.relations
    blocks: list[Block] = [paragraph(line) for line in (relations.lines if relations else ())]
    pairs = sorted(_pairs(subject), key=lambda pair: -(pair.moved or abs(pair.change or 0.0)))
    if pairs:
        count = plural(len(pairs), "pair")
        which = f"the {MOST_LISTED} that moved most" if len(pairs) > MOST_LISTED else "worst first"
        blocks.append(fold(f"{count}, {which}", [_table(pairs[:MOST_LISTED])]))
    return [*blocks, *measured_pairs_parts(subject.pairs)]


def _pairs(subject: Subject) -> list[Pair]:
    assessment, known = subject.assessment, dict[frozenset[str], Pair]()
    names = [*assessment.attributes, *assessment.text_attributes]
    for both in combinations(names, 2):
        known[frozenset(both)] = Pair(names=both)
    variation: TotalVariation | None = assessment.result(TWO_WAY.id)
    if variation is not None:
        for (a, one), (b, other) in combinations(enumerate(variation.names), 2):
            known[frozenset((one, other))].moved = float(variation.of_pairs[a, b])
    if (moments := assessment.moments) is not None:
        for (a, one), (b, other) in combinations(enumerate(assessment.attributes), 2):
            pair = known[frozenset((one, other))]
            pair.before = float(moments.original.correlations[a, b])
            pair.after = float(moments.protected.correlations[a, b])
    for edge in () if subject.pairs is None else subject.pairs.edges:
        if frozenset(edge.names) in known:
            known[frozenset(edge.names)].edge = edge
    return list(known.values())


def _table(pairs: Sequence[Pair]) -> Tabulated:
    heads = ["pair", TWO_WAY.head, "correlation, original", "release", "change"]
    return tabulated(
        heads,
        [
            [
                " and ".join(map(named, pair.names)),
                number(pair.moved, 3),
                *(_correlation(value) for value in (pair.before, pair.after, pair.change)),
            ]
            for pair in pairs
        ],
    )


def _correlation(value: float | None) -> str:
    """Write two decimals, with a sign that is seen."""
    if value is None or np.isnan(value):
        return NOTHING
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def measured_pairs_parts(measured: MeasuredTables | None) -> list[Block]:
    """Show the measured pairs: by strength, and the tables of the strongest."""
    if measured is None:
        return []
    listed = measured.edges[:MOST_LISTED]
    chance = percent(1 - measured.confidence)
    heads = ["pair", "strength", "cells", f"margin of a cell, points (but for {chance} % chance)"]
    rows = [
        [
            " and ".join(map(named, edge.names)),
            f"{edge.strength:.3f}",
            f"{edge.shape[0]} × {edge.shape[1]}",
            f"± {percent(edge.half_width)}",
        ]
        for edge in listed
    ]
    count = plural(len(measured.edges), "measured pair")
    return [
        heading(3, "Pairs that were measured"),
        paragraph(MEASURED),
        fold(f"{count}, the strongest first", [tabulated(heads, rows)]),
        *_tables(measured),
    ]


def _tables(measured: MeasuredTables) -> Iterator[Block]:
    for table in measured.tables:
        one, other = map(named, table.names)
        blocks = [pair_chart(table), *_numbers(table)]
        yield fold(f"{one} and {other}: the measured table", blocks)


def pair_chart(table: PairTable) -> Chart:
    """Chart the shares of records in the cells of a table: a circle to each cell and side."""
    first, second = table.bins
    rows = [
        {
            "one": shortened(first.labels[a], 24),
            "other": shortened(second.labels[b], 24),
            "side": SIDE_WORDS[side],
            "share": 100 * float(shares[a, b]),
        }
        for side, shares in table.shares.items()
        for a, b in zip(*np.nonzero(shares >= DRAWN_FROM), strict=True)
    ]
    sides = [SIDE_WORDS[side] for side in table.shares]
    place = {"type": "nominal", "axis": {"labelLimit": 120, "grid": True}}
    colours = SERIES["color"][2 - len(sides) : 2]
    encoding: dict[str, Any] = {
        "x": {"field": "one", "title": shortened(first.attribute.name), **place},
        "y": {"field": "other", "title": shortened(second.attribute.name), **place},
        "size": {
            "field": "share",
            "type": "quantitative",
            "title": "records, %",
            "scale": {"type": "linear", "range": [0, 400], "domainMin": 0},
        },
        "color": {
            "field": "side",
            "type": "nominal",
            "title": None,
            "scale": {"domain": sides, "range": colours},
        },
        "shape": {
            "field": "side",
            "type": "nominal",
            "title": None,
            "scale": {"domain": sides, "range": ["circle", "square"][2 - len(sides) :]},
        },
        "tooltip": [
            tip("one", shortened(first.attribute.name)),
            tip("other", shortened(second.attribute.name)),
            tip("side", "side"),
            tip("share", "records, %", ".3~r"),
        ],
    }
    encoding["x"]["sort"] = [shortened(label, 24) for label in first.labels]
    encoding["y"]["sort"] = [shortened(label, 24) for label in reversed(second.labels)]
    spec = {
        "data": {"values": rows},
        "width": {"step": 24},
        "height": {"step": 24},
        "mark": {"type": "point", "strokeWidth": 2},
        "encoding": encoding,
    }
    return Chart(spec, _words(table))


def _words(table: PairTable) -> str:
    shares = next(iter(table.shares.values()))
    a, b = np.unravel_index(int(np.argmax(shares)), shares.shape)
    cell = f"{table.bins[0].labels[a]} and {table.bins[1].labels[b]}"
    one, other = map(named, table.names)
    fullest = f"The fullest cell is {named(cell, 60)} with {percent(float(shares.max()))} %."
    words = f"Records by {one} and {other}. {fullest}"
    if len(table.shares) == 2:
        both: Mapping[str, Any] = {f"{side}": own for side, own in table.shares.items()}
        gap = float(np.abs(both["original"] - both["protected"]).sum() / 2)
        words += f" The total variation between the sides is {percent(gap)} %."
    return words


def _numbers(pair: PairTable) -> Iterator[Block]:
    """Tabulate what was measured and what each side has."""
    one, other = map(named, pair.names)
    sides = {f"as measured, with noise, ± {percent(pair.half_width)}": pair.measured}
    sides |= {SIDE_WORDS[side]: shares for side, shares in pair.shares.items()}
    for words, shares in sides.items():
        yield heading(4, f"Records in each cell, %, {words}")
        yield tabulated(
            [f"{one} \\ {other}", *(named(label, 24) for label in pair.bins[1].labels)],
            [
                [named(label), *(_share(float(share)) for share in row)]
                for label, row in zip(pair.bins[0].labels, shares, strict=True)
            ],
        )


def _share(share: float) -> str:
    return f"{100 * share:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")

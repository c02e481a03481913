"""Pairs of columns: how far each moved, and the tables that a new table was drawn from."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from microveil.measures.assessment import Assessment
from microveil.measures.distributions import TWO_WAY, TotalVariation
from microveil.report.charts import cells_chart, pairs_chart
from microveil.report.measured import MeasuredTables, PairTable
from microveil.report.subject import Subject
from microveil.report.wording import NOTHING, number, percent, plural
from microveil.text import shortened
from microveil.text.document import Block, Chart, Fold, fold, heading, paragraph, tabulated

MOST_LISTED = 100
MEASURED = (
    "Tables of these pairs were measured, with noise; which pairs was chosen with noise too. They "
    "are the edges of a graph: what no path of it joins was drawn independently. The strength of "
    "an edge is the total variation distance of its table from independence, from 0 (independent) "
    "to 1, once what is expected to be noise is taken off: a function of the measurements alone. "
    "Numbers have bins of their own measured quantiles, and rare categories share one."
)


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
    rows = _rows(assessment)
    if rows:
        count = plural(len(rows), "pair")
        which = f"the {MOST_LISTED} that moved most" if len(rows) > MOST_LISTED else "worst first"
        heads = ["pair", TWO_WAY.head, "correlation, original", "release", "change"]
        blocks.append(fold(f"{count}, {which}", [tabulated(heads, rows[:MOST_LISTED])]))
    return [*blocks, *measured_pairs_parts(subject.pairs)]


def _rows(assessment: Assessment) -> list[list[str]]:
    """Say how far each pair moved, and its correlation, the worst first."""
    found: TotalVariation | None = assessment.result(TWO_WAY.id)
    moments, numbers = assessment.moments, assessment.attributes
    rows = []
    for one, other in combinations([*numbers, *assessment.text_attributes], 2):
        moved, before, after = None, math.nan, math.nan
        if found is not None:
            moved = float(found.of_pairs[found.names.index(one), found.names.index(other)])
        if moments is not None and other in numbers:
            at = numbers.index(one), numbers.index(other)
            before, after = (
                float(side.correlations[at]) for side in (moments.original, moments.protected)
            )
        change = after - before
        name = f"{shortened(one)} and {shortened(other)}"
        cells = [name, number(moved, 3), *map(_two_decimals, (before, after, change))]
        rows.append((moved or (0.0 if math.isnan(change) else abs(change)), cells))
    return [cells for _, cells in sorted(rows, key=lambda row: -row[0])]


def _two_decimals(value: float) -> str:
    """Write two decimals, with a sign that is seen."""
    if math.isnan(value):
        return NOTHING
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def measured_pairs_parts(measured: MeasuredTables | None) -> list[Block]:
    """Show the measured pairs: by strength, and the tables of the strongest."""
    if measured is None:
        return []
    chance = percent(1 - measured.confidence)
    heads = ["pair", "strength", "cells", f"margin of a cell, points (but for {chance} % chance)"]
    rows = [
        [
            " and ".join(map(shortened, pair.names)),
            f"{pair.strength:.3f}",
            " × ".join(map(str, pair.measured.shape)),
            f"± {percent(pair.half_width)}",
        ]
        for pair in measured.pairs[:MOST_LISTED]
    ]
    count = plural(len(measured.pairs), "measured pair")
    return [
        heading(3, "Pairs that were measured"),
        paragraph(MEASURED),
        fold(f"{count}, the strongest first", [tabulated(heads, rows)]),
        *(_table(pair) for pair in measured.pairs if pair.shares),
    ]


def _table(pair: PairTable) -> Fold:
    one, other = map(shortened, pair.names)
    chart = cells_chart(pair.names, (pair.bins[0].labels, pair.bins[1].labels), pair.shares)
    return fold(f"{one} and {other}: the measured table", [chart, *_numbers(pair)])


def _numbers(pair: PairTable) -> Iterator[Block]:
    """Tabulate what was measured and what each side has."""
    one, other = map(shortened, pair.names)
    sides = {f"as measured, with noise, ± {percent(pair.half_width)}": pair.measured}
    for words, shares in {**sides, **pair.shares}.items():
        yield heading(4, f"Records in each cell, %, {words}")
        yield tabulated(
            [f"{one} \\ {other}", *(shortened(label, 24) for label in pair.bins[1].labels)],
            [
                [shortened(label), *(_two_decimals(100 * float(share)) for share in row)]
                for label, row in zip(pair.bins[0].labels, shares, strict=True)
            ],
        )

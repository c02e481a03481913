"""Parts of the custodian's page: pairs of columns, and what an intruder could still find."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from microveil.measures.assessment import Assessment
from microveil.measures.base import figures, part_of
from microveil.measures.categories import POSTERIOR_ODDS, SHARE_KEPT
from microveil.measures.closest_records import CLOSEST, CLOSEST_RECORDS, ClosestRecords
from microveil.measures.distributions import TWO_WAY, TotalVariation
from microveil.measures.key_figures import linkage_found
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.neighbourhoods import NEIGHBOURHOODS
from microveil.report.charts import cells_chart, found_chart, pairs_chart
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
LEFT_OUT = (
    "The yardstick is a person who was left out: their distance to the closest of all others, as "
    "if the table had been made without them. Rows that lie as far away or farther follow nobody "
    "that closely."
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
    relations = subject.assessment.relations
    blocks: list[Block] = [paragraph(line) for line in (relations.lines if relations else ())]
    rows = _moved_pairs(subject.assessment)
    if rows:
        count = plural(len(rows), "pair")
        which = f"the {MOST_LISTED} that moved most" if len(rows) > MOST_LISTED else "worst first"
        heads = ["pair", TWO_WAY.head, "correlation, original", "release", "change"]
        blocks.append(fold(f"{count}, {which}", [tabulated(heads, rows[:MOST_LISTED])]))
    return [*blocks, *measured_pairs_parts(subject.pairs)]


def _moved_pairs(assessment: Assessment) -> list[list[str]]:
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
        *(_measured_table(pair) for pair in measured.pairs if pair.shares),
    ]


def _measured_table(pair: PairTable) -> Fold:
    """Chart and tabulate what was measured and what each side has."""
    one, other = map(shortened, pair.names)
    rows, columns = (own.labels for own in pair.bins)
    blocks: list[Block] = [cells_chart(pair.names, (rows, columns), pair.shares)]
    heads = [f"{one} \\ {other}", *(shortened(label, 24) for label in columns)]
    sides = {f"as measured, with noise, ± {percent(pair.half_width)}": pair.measured}
    for words, shares in {**sides, **pair.shares}.items():
        cells = [
            [shortened(label), *(_two_decimals(100 * float(share)) for share in row)]
            for label, row in zip(rows, shares, strict=True)
        ]
        blocks += [heading(4, f"Records in each cell, %, {words}"), tabulated(heads, cells)]
    return fold(f"{one} and {other}: the measured table", blocks)


def found_again_chart(assessment: Assessment) -> Chart | None:
    """Chart the strongest linkage beside chance; else the closest records."""
    linked, closest = assessment.strongest_linkage, assessment.measured.get(CLOSEST.id)
    if linked is not None and linked.figure is not None:
        return found_chart(linked.measure.head, linked.figure, "found again, % (tick: by chance)")
    if closest is None or closest.value is None or closest.figure is None:
        return None
    title = "distance to the closest record (tick: of people left out)"
    return found_chart("released rows", closest.figure, title, most=None)


def risk_parts(subject: Subject) -> list[Block]:
    """Show linkage, odds of categories and neighbours, each beside its baseline."""
    assessment = subject.assessment
    linked = [one for one in assessment.of(RECORD_LINKAGE) if one.figure is not None]
    return [
        *(part_of(RECORD_LINKAGE, linked)[1:] or (paragraph(_why_not_linked(subject)),)),
        *_closest(assessment),
        *_odds(subject),
        *_neighbours(assessment),
    ]


def _why_not_linked(subject: Subject) -> str:
    guarantee = subject.release.guarantee
    if guarantee.is_synthetic:
        return (
            "No row follows a person, so there is nobody to find again in it. What can be asked is "
            "whether rows lie nearer to people than people lie to one another."
        )
    # What was found of the parts whose rows stand still, when they were released.
    findings = subject.manifest.get("findings")
    if guarantee.shuffle == "parts" and findings is not None and findings["linkage"] is not None:
        return (
            "Rows of one part or another are in an order of their own. Where they stand still, "
            f"records are found again: {linkage_found(findings).words}."
        )
    return (
        "Record linkage was not measured: it was not asked for, or there are no complete records "
        "in the order of the original."
    )


def _closest(assessment: Assessment) -> tuple[Block, ...]:
    found: ClosestRecords | None = assessment.result(CLOSEST.id)
    if found is None:
        return ()
    if not found.is_enough:
        return (paragraph(f"Distances to the closest record are not shown: {found.basis}."),)
    said = f"{LEFT_OUT} The figures rest on {found.basis} released rows without gaps."
    return figures(assessment.of(CLOSEST_RECORDS), said)


def _odds(subject: Subject) -> Iterator[Block]:
    """Tabulate posterior odds: those observed, or else those that the method's matrix gives."""
    observed = subject.assessment.result(POSTERIOR_ODDS.id) or {}
    compared: dict[str, Any] = {name: own.to_dict() for name, own in observed.items()}
    rows = []
    for name, own in (compared or subject.manifest.get("attributes", {})).items():
        if odds := own.get("posterior_odds"):
            is_bounded = not odds["largest_infinite"]
            unbounded = "unbounded: some category is certain"
            largest = number(odds["largest"], 4) if is_bounded else unbounded
            rows.append([name, percent(own.get("share_kept")), largest])
    if rows:
        yield tabulated(["categories of", SHARE_KEPT.label, POSTERIOR_ODDS.label], rows)


def _neighbours(assessment: Assessment) -> Iterator[Block]:
    """Tabulate the fewest neighbours of any record, where they were counted."""
    heads = ["attribute", "delta", "in the original", "expected", "in the release"]
    rows = []
    for name, own in (assessment.result("fewest_neighbours") or {}).items():
        fewest = (
            None if of is None else of.min() for of in (own.original, own.expected, own.observed)
        )
        rows.append([name, number(own.delta), *(number(count, 3) for count in fewest)])
    if rows:
        yield from (heading(3, NEIGHBOURHOODS.title), tabulated(heads, rows))

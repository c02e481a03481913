"""Record linkage: how many records an intruder who holds the originals finds again."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from microveil.measures.base import Compared, Figure, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.risk.mixed_linkage import record_linkage_mixed
from microveil.risk.record_linkage import (
    RecordLinkage,
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.text.document import Block

__all__ = ["CHANCE", "MEASURES", "MIXED", "RECORD_LINKAGE"]

CHANCE = "record_linkage_by_chance"


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show each linkage beside chance, and how many records were looked for."""
    linked = [one.result for one in found if isinstance(one.result, RecordLinkage)]
    counts = sorted({(own.n_records, own.is_of_sample) for own in linked})
    looked = " or ".join(
        f"{count:,} records{' drawn at random' * is_of_sample}" for count, is_of_sample in counts
    )
    said = f"What an intruder who holds the originals finds again, of {looked}." if looked else ""
    return figures(found, said)


RECORD_LINKAGE = Group(title="Record linkage", beside="by chance", show=_show)


def _figure(linked: RecordLinkage) -> Figure:
    return Figure(value=linked.percent, interval=linked.interval, beside=linked.baseline_by_chance)


def _by_chance(original: Any, _: Any) -> float:
    return 100.0 / len(original)


_measure = partial(
    Measure,
    takes=Takes.COMPLETE,
    in_blocks=True,
    needs_pairs=True,
    unit="%",
    highest=100.0,
    explanation="lower is safer",
    group=RECORD_LINKAGE,
    asked_by="linkage",
)
_linkage = partial(
    _measure,
    figure=_figure,
    arguments=("sample",),
    compared=Compared(on_frontier=True, baseline=CHANCE),
)

MIXED = replace(
    _measure(
        id="record_linkage_mixed",
        function=record_linkage_mixed,
        label="record linkage over all attributes",
        short="all attributes",
        figure=_figure,
        arguments=("sample",),
    ),
    takes=Takes.MIXED,
)
MEASURES = (
    _linkage(
        id="record_linkage",
        function=record_linkage,
        label="record linkage in raw units",
        short="raw units",
    ),
    _linkage(
        id="record_linkage_standardised",
        function=record_linkage_standardised,
        label="record linkage, standardised",
        short="standardised",
    ),
    _linkage(
        id="record_linkage_by_rank",
        function=record_linkage_by_rank,
        label="record linkage by rank",
        short="by rank",
    ),
    MIXED,
    _measure(
        id=CHANCE,
        function=_by_chance,
        label="record linkage by chance",
        short="by chance",
        tabulated=False,
        compared=Compared(varies=False, tabulated=False),
    ),
)

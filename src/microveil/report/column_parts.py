"""The columns of a release as rows of one table, each with its distributions behind it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microveil.measures.column_moves import HEADS as MOVED
from microveil.report.measured import MISSING
from microveil.report.overlays import distribution_charts, quantiles
from microveil.report.subject import CategoryColumn, Column, NumberColumn, Subject
from microveil.report.wording import NOTHING, number, percent, shown
from microveil.schema import Kind
from microveil.synthesis.measurements import Interval
from microveil.text import shortened
from microveil.text.document import Block, Tabulated, fold, paragraph, tabulated
from microveil.text.figures import figure

MOST_CHARTED, MOST_LISTED = 30, 100
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
LEVEL_NAMES = {0.0: "least", 0.5: "median", 1.0: "largest"}
# Of finer measured quantiles those are listed that are multiples of one over this.
LISTED_QUANTILES = 32
HEADS = ("column", "values", "distance", "by sampling up to", *MOVED[1:-1], "missing, %", "after")
MARGINS = (
    "A margin of noise is where a share, a count or a quantile of the original lies, but for "
    "{chance} % chance in each by itself, by the noisy measurements alone. What the model adds, as "
    "between measured quantiles, is in no margin: a deviation beyond it is what the model cannot "
    "show. So the mean of an attribute with measured quantiles lies outside its margin far more "
    "often, above all where a few values are large."
)


def column_heads(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the heads of the table of columns."""
    has_means = any(own.margins is not None and own.margins.mean is not None for own in columns)
    return HEADS + (("measured mean, with its margin of noise",) if has_means else ())


def column_rows(subject: Subject) -> list[dict[str, Any]]:
    """Return each column's figures, those first that moved most, and what opens below them."""
    is_wide = len(column_heads(subject.columns)) > len(HEADS)
    return [
        {
            "name": own.name,
            "cells": (*_cells(subject, own), *([_measured_mean(own)] if is_wide else [])),
            "charts": distribution_charts(own) if place < MOST_CHARTED else [],
            "behind": numbers_behind(own),
        }
        for place, own in enumerate(subject.worst_first)
    ]


def _cells(subject: Subject, column: Column) -> tuple[str, ...]:
    move = subject.assessment.column_moves.get(column.name)
    kind = column.kind.value if isinstance(column, NumberColumn) else "categories"
    missing = [percent(_missing(column, side)) for side in ("original", "protected")]
    if move is None:
        return (kind, *[NOTHING] * 8, *missing)
    *moved, distance = move.cells
    return (kind, distance, figure(subject.by_sampling.get(column.name)), *moved, *missing)


def _missing(column: Column, side: str) -> float:
    values = getattr(column, side)
    if isinstance(column, NumberColumn):
        return float(np.isnan(values).mean()) if len(values) else 0.0
    shares = dict(zip(column.categories, values.tolist(), strict=True))
    return float(shares.get(MISSING, 0.0))


def _measured_mean(column: Column) -> str:
    mean = None if column.margins is None else column.margins.mean
    if mean is None or not isinstance(column, NumberColumn):
        return NOTHING
    ends = (_mean(x, column) for x in (mean.estimate, mean.lower, mean.upper))
    return "{} ({} to {})".format(*ends)


def _mean(mean: float, column: NumberColumn) -> str:
    return shown(mean, Kind.DATE) if column.kind is Kind.DATE else number(mean, 5)


def means_table(columns: Sequence[Column]) -> list[Block]:
    """Tabulate the mean of each column of numbers as it was measured, and the release's."""
    rows = [
        [own.name, _measured_mean(own), _mean(float(np.nanmean(own.protected)), own)]
        for own in columns
        if isinstance(own, NumberColumn) and own.margins is not None and own.margins.mean
    ]
    heads = ["mean of", "measured, with its margin of noise", "of the records"]
    return [tabulated(heads, rows)] if rows else []


def numbers_behind(column: Column) -> list[Block]:
    """Tabulate what the charts of a column show."""
    if isinstance(column, CategoryColumn):
        return [fold("Numbers", [_categories_table(column)])]
    names = (LEVEL_NAMES.get(level, f"{percent(level)} %") for level in LEVELS)
    rows = [
        [side, *(shown(x, column.kind) for x in quantiles(values, LEVELS))]
        for side, values in column.sides.items()
    ]
    blocks: list[Block] = [tabulated(["quantiles", *names], rows)]
    margins = _margins_table(column)
    return [fold("Numbers", blocks + ([] if margins is None else [margins]))]


def _margins_table(column: NumberColumn) -> Tabulated | None:
    """Tabulate the measured quantiles, or shares of values, with their margins of noise."""
    margins, kind = column.margins, column.kind
    if margins is None:
        return None
    if margins.quantiles:
        head = "measured: share below, %"
        rows = [
            [percent(share), *(shown(x, kind) for x in (one.estimate, one.lower, one.upper))]
            for share, one in margins.quantiles
            if (share * LISTED_QUANTILES).is_integer()
        ]
    else:
        head = "records with the value, %"
        rows = [[shown(value, kind), *_interval(one)] for value, one in margins.values]
    rows += [[name, *_interval(one)] for name, one in margins.categories.items()]
    return tabulated([head, "measured", "margin from", "to"], rows)


def _interval(one: Interval) -> tuple[str, str, str]:
    return percent(one.estimate), percent(one.lower), percent(one.upper)


def _categories_table(column: CategoryColumn) -> Tabulated:
    margins: Mapping[str, Interval] = {} if column.margins is None else column.margins.categories
    sides = column.sides
    heads = [*sides, *(("measured", "margin from", "to") if margins else ())]
    rows = []
    for place, name in enumerate(column.categories[:MOST_LISTED]):
        cells = [percent(float(shares[place])) for shares in sides.values()]
        if margins:
            cells += _interval(margins[name]) if name in margins else [NOTHING] * 3
        rows.append([shortened(name), *cells])
    return tabulated(["records in a category, %", *heads], rows)


def margins_words(columns: Sequence[Column]) -> list[Block]:
    """Say once what a margin of noise is, where there are some."""
    known = next((column.margins for column in columns if column.margins is not None), None)
    if known is None:
        return []
    return [paragraph(MARGINS.format(chance=percent(1 - known.confidence)))]

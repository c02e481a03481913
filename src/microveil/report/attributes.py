"""Attribute by attribute: the original against the release, or the release by itself."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from microveil.report.attribute_charts import (
    MOST_CATEGORIES_DRAWN,
    category_chart,
    distribution_chart,
    histogram_chart,
    rank_chart,
)
from microveil.report.columns import CategoryColumn, Column, NumberColumn
from microveil.report.distributions import (
    QUANTILES,
    Histogram,
    RankAgreement,
    histogram,
    quantiles,
    rank_agreement,
)
from microveil.report.markup import Child, Markup, element, fragment
from microveil.report.sections import Section
from microveil.report.svg import picture
from microveil.report.tables import hidden_table, table
from microveil.report.wording import NOTHING, named, number, percent, plural, shown
from microveil.schema import Kind
from microveil.synthesis.measurements import Interval

__all__ = ["attributes_section", "means_table"]

FIFTH_NAMES = ("lowest", "second", "third", "fourth", "highest")
QUANTILE_NAMES = {0.0: "least", 0.5: "median", 1.0: "largest"}
MOST_CATEGORIES_LISTED = 100
# Of finer quantiles those are listed that are multiples of one over this.
LISTED_QUANTILES = 32
HISTOGRAMS = (
    "Histograms have bins of one width, as many as the Rice rule asks for, or one to each value "
    "where there are few; where some values lie far out, an open bin at either end (marked < or >) "
    "holds them. A distribution function shows which share of the records lies at or below each "
    "value."
)
MARGINS = (
    "A margin of noise is where a share, a count or a quantile of the original lies, but for "
    "{chance} % chance in each by itself, by the noisy measurements alone: thin lines around "
    "distribution functions and histograms, and bars with ends at categories, whose dots are the "
    "shares as they were measured. What the model adds, as between measured quantiles, is in no "
    "margin: a deviation beyond it is what the model cannot show. So the mean of an attribute "
    "with measured quantiles lies outside its margin far more often, above all where a few "
    "values are large."
)


def attributes_section(
    columns: Sequence[Column],
    *,
    n_records: int,
    most_pictured: int,
    most_points: int | None,
    prefix: str = "",
    level: int = 2,
    summary: Markup | None = None,
) -> Section:
    """Draw and tabulate each attribute: both sides of those that have an original.

    Parameters
    ----------
    columns : sequence of Column
    n_records : int
    most_pictured : int
        Attributes drawn.
    most_points : int or None
        Records drawn in a picture of ranks; None where records are in no common order.
    prefix : str
        Of identifiers.
    level : int
        Of the section's heading.
    summary : Markup, optional
        A table of all attributes.
    """
    compared = any(column.original is not None for column in columns)
    numbers = any(isinstance(column, NumberColumn) for column in columns)
    skipped = max(0, len(columns) - most_pictured)
    return Section(
        identifier=f"{prefix}attributes",
        title=(
            "Attributes: original against release" if compared else "The released distributions"
        ),
        body=fragment(
            _how_drawn(n_records, most_points) if numbers else None,
            _margins_explained(columns),
            summary,
            element("p", f"{plural(skipped, 'attribute')} more not drawn, to keep this page small.")
            if skipped
            else None,
            (
                _attribute(column, f"{prefix}a{place}", level + 1, most_points)
                for place, column in enumerate(columns[:most_pictured])
            ),
        ),
    )


def _how_drawn(n_records: int, most_points: int | None) -> Markup:
    """Say how pictures are made, once."""
    lines = [HISTOGRAMS]
    sampled = most_points is not None and most_points < n_records
    if most_points is not None:
        lines.append(
            "The third picture sets the rank of each record in the release against its rank in "
            "the original: points on the line kept their rank. Where few pairs of ranks occur, "
            "discs stand for records, with areas in proportion to their number."
        )
    lines.append(
        f"Points of ranks are drawn for {most_points:,} of the {n_records:,} records, evenly "
        "spaced in rank; all else is computed from all records."
        if sampled
        else "All is computed from all records."
    )
    return fragment(element("p", line) for line in lines)


def _margins_explained(columns: Sequence[Column]) -> Markup | None:
    known = next((column.margins for column in columns if column.margins is not None), None)
    if known is None:
        return None
    return element("p", MARGINS.format(chance=percent(1 - known.confidence)))


def means_table(columns: Sequence[Column], identifier: str) -> Markup | None:
    """Tabulate the mean of each attribute of numbers as it was measured, with its margin."""
    rows = []
    for column in columns:
        mean = None if column.margins is None else column.margins.mean
        if not isinstance(column, NumberColumn) or mean is None:
            continue
        means = [float(values.mean()) if len(values) else None for _, values in column.sides]
        figures = (mean.estimate, mean.lower, mean.upper, *means)
        rows.append([column.name, *(_mean(figure, column.kind) for figure in figures)])
    if not rows:
        return None
    compared = any(column.original is not None for column in columns)
    return table(
        "Means as they were measured, with their margins of noise, and those of the records",
        ("attribute", "measured", "from", "to", *(["original"] if compared else []), "release"),
        rows,
        identifier=identifier,
    )


def _mean(value: float | None, kind: Kind) -> str:
    return shown(value, kind) if kind is Kind.DATE else number(value, 5)


def _attribute(column: Column, identifier: str, level: int, most_points: int | None) -> Markup:
    body = (
        _categories(identifier, column)
        if isinstance(column, CategoryColumn)
        else _numbers(identifier, column, most_points)
    )
    return fragment(element(f"h{level}", column.name, id=identifier), body)


def _figure(drawn: Markup, caption: str, *behind: Child) -> Markup:
    return element("figure", drawn, element("figcaption", caption), behind)


def _numbers(identifier: str, column: NumberColumn, most_points: int | None) -> Markup:
    bins = histogram(column)
    if bins is None:
        return element("p", "No value is present.")
    ranks = None if most_points is None else rank_agreement(column)
    figures = [
        _figure(
            picture(f"{identifier}h", histogram_chart(column, bins)),
            "Histogram",
            _bins_table(identifier, column, bins),
        ),
        _figure(
            picture(f"{identifier}f", distribution_chart(column)),
            "Empirical distribution function; its values are in the table of quantiles",
        ),
    ]
    if ranks is not None and most_points is not None:
        figures.append(
            _figure(
                picture(f"{identifier}r", rank_chart(column, ranks, most_points)),
                "Ranks; one side is constant"
                if math.isnan(ranks.correlation)
                else f"Ranks; Spearman's correlation {number(ranks.correlation, 3)}",
                _fifths_table(identifier, column, ranks),
            )
        )
    return fragment(
        element("div", figures, class_="pictures"),
        _quantiles_table(identifier, column),
        _margins_table(identifier, column),
        _missing(column),
    )


def _missing(column: NumberColumn) -> Markup | None:
    absent = float(np.isnan(column.protected).mean())
    return element("p", f"{percent(absent)} % of the values are missing.") if absent else None


def _quantiles_table(identifier: str, column: NumberColumn) -> Markup:
    return table(
        f"Quantiles of {named(column.name)}",
        ("side", *(QUANTILE_NAMES.get(level, f"{percent(level)} %") for level in QUANTILES)),
        (
            [side, *(shown(value, column.kind) for value in quantiles(values))]
            for side, values in column.sides
        ),
        identifier=f"{identifier}q-table",
    )


def _margins_table(identifier: str, column: NumberColumn) -> Markup | None:
    """Tabulate the measured quantiles, or shares of values, behind the pictures."""
    if column.margins is None:
        return None
    margins, kind = column.margins, column.kind
    if margins.quantiles:
        caption, head = "Quantiles as measured, and their margins of noise", "share below, %"
        rows = [
            [percent(share), *(shown(end, kind) for end in (one.estimate, one.lower, one.upper))]
            for share, one in margins.quantiles
            if (share * LISTED_QUANTILES).is_integer()
        ]
    else:
        caption, head = "Records with each value as measured, %, and margins of noise", "value"
        rows = [[shown(value, kind), *_interval(one)] for value, one in margins.values]
    rows += [[name, *_interval(one)] for name, one in margins.categories.items()]
    return hidden_table(
        f"Margins of noise of {named(column.name)}",
        caption,
        (head, "measured", "from", "to"),
        rows,
        identifier=f"{identifier}m-table",
    )


def _interval(one: Interval) -> tuple[str, str, str]:
    return percent(one.estimate), percent(one.lower), percent(one.upper)


def _bins_table(identifier: str, column: NumberColumn, bins: Histogram) -> Markup:
    rows: list[Sequence[str]] = []
    half = 0.0 if bins.step is None else bins.step / 2
    first, last = (shown(float(bins.edges[end]), column.kind) for end in (0, -1))
    if bins.is_open_below:
        rows.append([f"below {first}", "", *map(percent, bins.below.values())])
    for place in range(len(bins.edges) - 1):
        ends = bins.edges[place] + half, bins.edges[place + 1] - half
        shares = (percent(float(side[place])) for side in bins.shares.values())
        rows.append([*(shown(float(end), column.kind) for end in ends), *shares])
    if bins.is_open_above:
        rows.append([f"above {last}", "", *map(percent, bins.above.values())])
    through = "through" if half else "to below"
    return hidden_table(
        f"Numbers of the histogram of {named(column.name)}",
        "Records in each bin, %",
        ("from", through, *bins.shares),
        rows,
        identifier=f"{identifier}h-table",
    )


def _fifths_table(identifier: str, column: NumberColumn, ranks: RankAgreement) -> Markup:
    return hidden_table(
        f"Numbers on the ranks of {named(column.name)}",
        "Where the records of each fifth of the original are in the release, %",
        ("fifth", *FIFTH_NAMES),
        (
            [name, *(percent(float(share)) for share in row)]
            for name, row in zip(FIFTH_NAMES, ranks.fifths, strict=True)
        ),
        identifier=f"{identifier}r-table",
    )


def _categories(identifier: str, column: CategoryColumn) -> Markup:
    sides = [("original", column.original), ("protected", column.protected)]
    present = [(side, shares) for side, shares in sides if shares is not None]
    margins = {} if column.margins is None else column.margins.categories
    listed = min(len(column.categories), MOST_CATEGORIES_LISTED)
    more = len(column.categories) - min(len(column.categories), MOST_CATEGORIES_DRAWN)
    caption = "Shares of the categories" + (
        f", the {MOST_CATEGORIES_DRAWN} commonest of {MOST_CATEGORIES_DRAWN + more}" if more else ""
    )
    figure = _figure(
        picture(f"{identifier}c", category_chart(column)),
        caption,
        hidden_table(
            f"Numbers on the categories of {named(column.name)}",
            "Records in each category, %"
            + (f", the {listed} commonest" if listed < len(column.categories) else ""),
            (
                "category",
                *(side for side, _ in present),
                *(("measured", "from", "to") if margins else ()),
            ),
            (
                [
                    column.categories[k],
                    *(percent(float(shares[k])) for _, shares in present),
                    *_measured(margins, column.categories[k]),
                ]
                for k in range(listed)
            ),
            identifier=f"{identifier}c-table",
        ),
    )
    return element("div", figure, class_="pictures")


def _measured(margins: Mapping[str, Interval], category: str) -> tuple[str, ...]:
    """Return the cells of a category's measured share; none where no category has any."""
    if not margins:
        return ()
    return _interval(margins[category]) if category in margins else (NOTHING,) * 3

"""Charts for notebooks: of a release, of what it kept, of an assessment, of advice."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from microveil.audit.advice import Advice
from microveil.compare import Comparison
from microveil.errors import RequestError
from microveil.files.disk import written_text
from microveil.measures.assess import assess
from microveil.measures.assessment import Assessment
from microveil.measures.distributions import TWO_WAY, TotalVariation
from microveil.protect.release import Release
from microveil.report.charts import cells_chart, chart_of, columns_chart, pairs_chart
from microveil.report.comparison import comparison_chart
from microveil.report.drawing import altair_chart, can_draw, file_of
from microveil.report.overlays import bins_of_release, distribution_charts
from microveil.report.pages import custodian_report
from microveil.report.parts import found_again_chart
from microveil.report.subject import CategoryColumn, Column, columns_of, subject_of
from microveil.report.wording import shown
from microveil.table import open_table
from microveil.text import shortened, some_of
from microveil.text.document import Chart

ABREAST, MOST_LEVELS = 2, 20
# The 95 % quantile of Kolmogorov's distribution: by it two samples of one law differ.
KOLMOGOROV = 1.358


def release_plot(release: Release, asked: tuple[str, ...], original: Any) -> Any:
    """Chart a release: all columns, one, or a pair; or what moved from its original."""
    if original is not None:
        if asked:
            raise RequestError(
                "original", "what moved is charted of all columns", "leave out the names of columns"
            )
        assessment = assess(original, release, linkage=False)
        subject = subject_of(release, original, assessment)
        return altair_chart(columns_chart(assessment.column_moves, subject.by_sampling))
    columns = _columns(release)
    unknown = [name for name in asked if name not in columns]
    if unknown or len(asked) > 2:
        rule = "one or two names of protected columns are charted"
        promised = {terms.name for terms in release.guarantee.attributes}
        if left_out := [name for name in unknown if name in promised]:
            rule = f"{rule}, and not released: {some_of(left_out)}"
        raise RequestError("columns", rule, f"choose from {some_of(columns)}")
    if len(asked) == 2:
        (codes, levels), (others, labels) = (_levels(columns[name]) for name in asked)
        both = (codes >= 0) & (others >= 0)
        shares = np.zeros((len(levels), len(labels)))
        np.add.at(shares, (codes[both], others[both]), 1 / max(1, len(codes)))
        return altair_chart(
            cells_chart((asked[0], asked[1]), (levels, labels), {"release": shares})
        )
    charts = [own for name in asked or columns for own in distribution_charts(columns[name])]
    if not charts:
        raise RequestError("columns", "no value is present", "choose another column")
    return altair_chart(_beside(charts, across=ABREAST))


def _columns(release: Release) -> dict[str, Column]:
    table = open_table(release.data, release.codes)
    return {column.name: column for column in columns_of(release, table)}


def _beside(charts: list[Chart], *, across: int) -> Chart:
    """Put charts of their own scales beside each other, each under what it says."""
    looks = ("color", "fill", "shape", "size", "stroke", "strokeDash")
    alone = dict.fromkeys(looks, "independent")
    spec = {"concat": [own.spec for own in charts], "columns": across, "resolve": {"scale": alone}}
    return Chart(spec, " ".join(own.says for own in charts))


def _levels(column: Column) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return the level of each record, -1 where it has none, and what levels are called."""
    if isinstance(column, CategoryColumn):
        codes = np.where(column.codes < MOST_LEVELS, column.codes, -1)
        return codes, list(column.categories[:MOST_LEVELS])
    values, (edges, half) = column.protected, bins_of_release(column)
    edges = edges[:: -(-len(edges) // MOST_LEVELS)]
    codes = np.searchsorted(edges, values, side="right") - 1
    levels = [f"from {shown(float(low + half), column.kind)}" for low in edges]
    return np.where(np.isnan(values), -1, np.clip(codes, 0, len(edges) - 1)), levels


def write_report(
    release: Release, path: str | os.PathLike[str], original: Any, given: Mapping[str, Any]
) -> Path:
    """Write the custodian's page, readable by its owner alone."""
    place = Path(path)
    written_text(place, custodian_report(release, original, **given))
    return place


def assessment_plot(assessment: Assessment) -> Any:
    """Chart how columns and pairs moved, and what was found again."""
    return altair_chart(_first(assessment))


def first_picture(assessment: Assessment) -> str:
    """Draw what a notebook shows first; nothing where the libraries are not installed."""
    return file_of(_first(assessment)) if can_draw() else ""


def _first(assessment: Assessment) -> Chart:
    moves = assessment.column_moves
    one, other = assessment.n_records, assessment.n_protected
    # Without the original the law of its values is unknown: the bound holds for any.
    apart = KOLMOGOROV * ((one + other) / max(1, one * other)) ** 0.5
    charts = [columns_chart(moves, dict.fromkeys(assessment.attributes, apart))]
    variation: TotalVariation | None = assessment.result(TWO_WAY.id)
    if variation is not None and len(variation.names) > 1:
        charts.append(pairs_chart(variation.names, variation.of_pairs))
    found = found_again_chart(assessment)
    return _beside(charts + ([] if found is None else [found]), across=3)


def comparison_plot(comparison: Comparison, risk: str) -> Any:
    """Chart a comparison's map; None where there is none to draw."""
    chart = comparison_chart(comparison, risk)
    return None if chart is None else altair_chart(chart)


def advice_plot(advice: Advice) -> Any:
    """Chart the error to expect of what was asked, and of what would be better."""
    options = {str(option): option for option in (*advice.options, advice.asked)}
    rows = [
        {
            "option": shortened(name, 60),
            "error": option.over_variance,
            "asked": "asked" if option == advice.asked else "at hand",
        }
        for name, option in sorted(options.items(), key=lambda both: both[1].over_variance)
    ]
    return altair_chart(chart_of("advice", "Errors to expect, the least first.", rows=rows))

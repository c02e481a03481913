"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from microveil.errors import DataError, RequestError, stands_alone
from microveil.evaluation.analyses import Analyses
from microveil.evaluation.assessment import Assessment
from microveil.evaluation.matrices import assess_matrices
from microveil.evaluation.measures import MEASURES, Takes
from microveil.evaluation.tables import Codes
from microveil.privacy import Guarantee
from microveil.release import Release
from microveil.table import Column, Table, check_columns, column_of, numbers_of, open_table

__all__ = ["assess"]

MOST_CATEGORIES = 1000


@stands_alone
def assess(
    original: Any,
    protected: Any,
    attributes: Iterable[str] | None = None,
    *,
    paired: bool = True,
    k: int | None = None,
    classes: str | None = None,
    threshold: float | None = None,
    estimator: Any = None,
    formula: str | None = None,
    logistic: bool = False,
    propensity: bool = False,
    guarantee: Guarantee | None = None,
) -> Assessment:
    """Measure what protecting a table cost and what an intruder could still link.

    Works on any two tables of the same people, also another tool's output.

    Parameters
    ----------
    original, protected : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of arrays
        The table before and after, record by record. The protected one may be a `Release`: its
        guarantee is then known, and whether it is shuffled.
    attributes : sequence of str, optional
        By default every numeric attribute that both tables have, and every text attribute
        of at most 1000 categories where the records correspond.
    paired : bool
        False for a shuffled release: only what needs no pairing is measured. Where a guarantee
        says that it was shuffled, it is not taken as paired whatever is passed.
    k : int, optional
        Count neighbours too, within the intervals that hold k originals (KNOISE).
    classes : str, optional
        A column of the original, released or not: the classes that a classifier is to learn from
        the other attributes compared, as in IDP-2025, section 4.2. Needs paired records.
    threshold : float, optional
        Makes two classes of a number, the lower one with the threshold in it.
    estimator : object, optional
        A classifier of scikit-learn; by default a random forest of 100 trees.
    formula : str, optional
        A regression to fit to both tables, "TAX ~ INCOME + AGE": see `compare_regressions`.
    logistic : bool
        Fit log odds of an outcome of 0 and 1.
    propensity : bool
        Measure how well a logistic regression tells the two tables apart.
    guarantee : Guarantee, optional
        What the release promises: to be shown beside.

    Returns
    -------
    Assessment
        For the custodian: it shows means and variances of the original.

    Raises
    ------
    MicroveilError
        If the tables have different lengths, an attribute is missing or not numeric, or an
        analysis that is asked for cannot be made of them.

    Notes
    -----
    O(n log n) time for up to ten or so attributes, O(n) memory. With ``classes`` twenty
    trainings, ten of them on the original.

    Examples
    --------
    >>> before = {"AGE": np.array([20, 30, 40, 50])}
    >>> assess(before, {"AGE": np.array([25, 25, 45, 45])}).to_dict()["sse"]
    100.0
    """
    if isinstance(protected, Release):
        guarantee, protected = guarantee or protected.guarantee, protected.data
    if guarantee is not None and guarantee.shuffle is not None:
        paired = False
    analyses = Analyses.of(
        classes=classes,
        threshold=threshold,
        estimator=estimator,
        formula=formula,
        logistic=logistic,
        propensity=propensity,
    )
    asked = analyses.to_dict() | {"k": k}
    _check_pairs(asked, paired=paired)
    before, after = open_table(original), open_table(protected)
    numeric, words = _attributes(before, after, attributes, paired=paired)
    texts = {name: found for name in words if (found := _codes(before, after, name)) is not None}
    one, other = (
        np.column_stack([numbers_of(table, name) for name in numeric]) for table in (before, after)
    )
    if classes is not None:
        asked |= {"classes": analyses.class_column(before), "class_attribute": classes}
    assessed = assess_matrices(
        one,
        other,
        numeric,
        paired=paired,
        texts=texts,
        columns=partial(_columns, before, after),
        asked=asked,
    )
    return replace(
        assessed,
        left_out=tuple(name for name in before.names if name not in (*numeric, *texts)),
        kept=tuple(_kept(before, after, guarantee, paired=paired)),
        guarantee=guarantee,
    )


def _check_pairs(asked: Mapping[str, Any], *, paired: bool) -> None:
    """Refuse what was asked for and needs pairs that there are not."""
    for measure in () if paired else MEASURES.values():
        if measure.needs_pairs and asked.get(measure.asked_by):
            raise RequestError(
                measure.asked_by,
                f"what it asks for, the {measure.label}, needs records in the same order",
                "leave it out, or assess the release before its rows are shuffled",
            )


def _attributes(
    original: Table, protected: Table, wanted: Iterable[str] | None, *, paired: bool
) -> tuple[list[str], list[str]]:
    """Return the attributes of numbers and of text; without a measure of text all are numbers."""
    texts = any(
        measure.takes is Takes.TEXT and (paired or not measure.needs_pairs)
        for measure in MEASURES.values()
    )
    names = _common(original, protected, texts=texts) if wanted is None else _named(wanted)
    for table, side in ((original, "original"), (protected, "protected")):
        check_columns(table, names, side)
    words = [name for name in names if not original.kind(name).is_numeric] if texts else []
    numeric = [name for name in names if name not in words]
    if not numeric:
        raise DataError(
            "tables",
            "they have no numeric attribute in common to compare",
            "pass a table and its release, or keep a number to go with the categories",
        )
    return numeric, words


def _columns(
    original: Table, protected: Table, names: Iterable[str]
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Read columns of both tables."""
    wanted = list(names)
    for table, side in ((original, "original"), (protected, "protected")):
        check_columns(table, wanted, side)
    before, after = (
        {name: column_of(table, name) for name in wanted} for table in (original, protected)
    )
    return before, after


def _kept(
    original: Table, protected: Table, guarantee: Guarantee | None, *, paired: bool
) -> list[str]:
    """Name the columns released as they are: by the guarantee, or equal cell by cell."""
    known = () if guarantee is None else guarantee.kept
    return [
        name
        for name in protected.names
        if name in known
        or (paired and name in original.names and _equal(original, protected, name))
    ]


def _equal(original: Table, protected: Table, name: str) -> bool:
    """Whether a column is the same in every cell; not asked of what is neither number nor text."""
    try:
        before, after = (column_of(table, name) for table in (original, protected))
    except DataError:
        return False
    if before.dtype.kind != after.dtype.kind:
        return False
    return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


def _codes(original: Table, protected: Table, name: str) -> Codes | None:
    """Read a text attribute as codes; None where it is no text or has too many categories."""
    try:
        words = [table.words(name) for table in (original, protected)]
    except DataError:
        return None
    if len(words[0]) != len(words[1]):
        return None  # shown by the measures of the numeric attributes
    categories = sorted({*words[0].tolist(), *words[1].tolist()})
    if len(categories) > MOST_CATEGORIES:
        return None
    codes = [np.searchsorted(categories, column) for column in words]
    return codes[0], codes[1], tuple(categories)


def _common(original: Table, protected: Table, *, texts: bool) -> list[str]:
    """Return the columns that both have, as numbers in both or, where wanted, as text in both."""
    return [
        name
        for name in original.names
        if name in protected.names
        and original.kind(name).is_numeric == protected.kind(name).is_numeric
        and (texts or original.kind(name).is_numeric)
    ]


def _named(attributes: Iterable[str]) -> list[str]:
    return [attributes] if isinstance(attributes, str) else list(attributes)

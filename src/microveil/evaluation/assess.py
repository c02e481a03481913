"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from microveil.errors import DataError, RequestError, stands_alone
from microveil.evaluation import Assessment, assess_matrices
from microveil.evaluation.analyses import Analyses
from microveil.privacy import Guarantee
from microveil.release import Release
from microveil.table import Column, Table, check_columns, column_of, numbers_of, open_table
from microveil.utility.categories import CategoryComparison, compare_categories
from microveil.utility.learning import compare_classification
from microveil.utility.propensity import propensity as measure_propensity
from microveil.utility.regression import compare_regressions

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
    asked = Analyses.of(
        classes=classes,
        threshold=threshold,
        estimator=estimator,
        formula=formula,
        logistic=logistic,
        propensity=propensity,
    )
    if classes is not None and not paired:
        raise RequestError(
            "classes",
            "classes are the original's, so that learning needs records in the same order",
            "leave it out, or assess the release before its rows are shuffled",
        )
    tables = open_table(original), open_table(protected)
    names = _common(*tables, texts=paired) if attributes is None else _named(attributes)
    for table, side in zip(tables, ("original", "protected"), strict=True):
        check_columns(table, names, side)
    texts = [name for name in names if not tables[0].kind(name).is_numeric] if paired else []
    numeric = [name for name in names if name not in texts]
    if not numeric:
        raise DataError(
            "tables",
            "they have no numeric attribute in common to compare",
            "pass a table and its release, or keep a number to go with the categories",
        )
    before, after = (
        np.column_stack([numbers_of(table, name) for name in numeric]) for table in tables
    )
    measured = assess_matrices(before, after, numeric, paired=paired, k=k)
    compared = {name: found for name in texts if (found := _categories(*tables, name)) is not None}
    left_out = [name for name in tables[0].names if name not in (*numeric, *compared)]
    analysed = _analysed(asked, *tables, (*numeric, *compared))
    return replace(
        measured,
        left_out=tuple(left_out),
        categories=compared,
        kept=tuple(_kept(*tables, guarantee, paired=paired)),
        guarantee=guarantee,
        **analysed,
    )


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
    """Whether a column is the same in every cell; not told of what is neither number nor text."""
    try:
        before, after = (column_of(table, name) for table in (original, protected))
    except DataError:
        return False
    if before.dtype.kind != after.dtype.kind:
        return False
    return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


def _analysed(
    asked: Analyses, original: Table, protected: Table, names: Iterable[str]
) -> dict[str, Any]:
    """Make the analyses that were asked for, on the attributes compared."""
    found: dict[str, Any] = {}
    if asked.classes is not None:
        before, after = (
            _columns(table, [name for name in names if name != asked.classes])
            for table in (original, protected)
        )
        if not before:
            raise DataError(
                "classes",
                "there is nothing to learn from beside the class attribute",
                "compare other attributes too",
            )
        found["class_attribute"] = asked.classes
        found["classification"] = compare_classification(
            before, after, asked.class_column(original), estimator=asked.estimator
        )
    if asked.formula is not None:
        for table, side in ((original, "original"), (protected, "protected")):
            check_columns(table, asked.variables, side)
        before, after = (_columns(table, asked.variables) for table in (original, protected))
        found["regression"] = compare_regressions(
            before, after, asked.formula, logistic=asked.logistic
        )
    if asked.propensity:
        before, after = (_columns(table, names) for table in (original, protected))
        found["propensity"] = measure_propensity(before, after)
    return found


def _columns(table: Table, names: Iterable[str]) -> dict[str, Column]:
    return {name: column_of(table, name) for name in names}


def _categories(original: Table, protected: Table, name: str) -> CategoryComparison | None:
    """Compare a text attribute; None where it is no text or has too many categories."""
    try:
        words = [table.words(name) for table in (original, protected)]
    except DataError:
        return None
    if len(words[0]) != len(words[1]):
        return None  # told by the measures of the numeric attributes
    categories = sorted({*words[0].tolist(), *words[1].tolist()})
    if len(categories) > MOST_CATEGORIES:
        return None
    codes = [np.searchsorted(categories, column) for column in words]
    return compare_categories(codes[0], codes[1], categories)


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

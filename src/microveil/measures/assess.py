"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from microveil.errors import DataError, RequestError, stands_alone
from microveil.guarantee import Guarantee
from microveil.measures.analyses import Analyses, categories_of
from microveil.measures.anonymity import compare_anonymity
from microveil.measures.assessment import Assessment
from microveil.measures.categories import compare_corrected
from microveil.measures.linkage import checked_sample
from microveil.measures.opening import Codes, Opened, Tables, named, opened, tables_of
from microveil.measures.registry import MEASURES, measured
from microveil.measures.rules import columns_of
from microveil.measures.subgroup_margins import subgroup_margins
from microveil.measures.weighted import weights_of
from microveil.schema import Role
from microveil.synthesis.measurements import Measurements
from microveil.table import Column, check_columns, column_of, numeric_look_of
from microveil.table.blocks import blocks_of, varying
from microveil.table.record_rules import RecordRule, comparable, parse_rule
from microveil.table.table import part_of_column


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
    by: Iterable[str] | None = None,
    rules: Iterable[str] | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
    corrected: bool = False,
    linkage: bool = True,
    sample: int | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    weights: str | None = None,
    recipe: str | Path | Mapping[str, Any] | None = None,
    guarantee: Guarantee | None = None,
    measurements: Measurements | None = None,
) -> Assessment:
    """Measure what protecting a table cost and what an intruder could still link.

    Works on any two tables of the same people, also another tool's output, and on a synthetic
    table, whose records are nobody's.

    Parameters
    ----------
    original, protected : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of arrays
        The table before and after, record by record if paired. The protected one may be a
        `Release`: its guarantee is then known, and whether there are pairs.
    attributes : sequence of str, optional
        By default every numeric attribute that both tables have, and every text attribute
        of at most 1000 categories.
    paired : bool
        False for a shuffled or a synthetic release: only what needs no pairing is measured, and
        there may be more records, or fewer. Where a guarantee says that it is such a release, it
        is not taken as paired whatever is passed.
    k : int, optional
        Count neighbours too, within the intervals that hold k originals (KNOISE).
    classes : str, optional
        A column of the original: the classes that a classifier is to learn from the other
        attributes compared, as in IDP-2025, section 4.2. Without pairs the release must have it
        too, and is learnt from with its own.
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
    by : sequence of str, optional
        Columns of both tables, of at most 100 different values each: counts and means in the
        subgroups that they make, before and after; of a new table with the margins that noise
        alone leaves them, see docs/measures.md.
    rules : sequence of str, optional
        Rules between columns of both tables, such as "TAX <= INCOME", "AGE >= 18", "AGE < 16
        implies WAGE == 0" or "AGE == YEAR - BIRTH": how many records break them, before and
        after; see docs/rules.md.
    missing_codes : dict of lists, optional
        What stands for a missing value, by column, in either table: {"INCOME": [-9]}. Those that
        a `Release` or a guarantee brings with it are known.
    missing_values : sequence of str, optional
        Text that stands for a missing value in every column of text of either table.
    corrected : bool
        Correct the shares of what `pram` drew by the matrix that the guarantee states, and hold
        them against those of the original.
    linkage : bool
        False leaves record linkage out.
    sample : int, optional
        So many records are linked, drawn at random, always the same: each against all originals.
        By default all of up to 50,000, and of more 10,000.
    quasi_identifiers : sequence of str, optional
        Columns of either table that others may know a person by: how many records share their
        values of all of them, in each table that has them all.
    weights : str, optional
        The original's column of survey weights, how many people each record stands for: means,
        variances, totals and shares by it, beside those of the records. The release is weighted by
        its own column of that name; where it has none, by the original's weights if paired. By
        default the first column whose role is weight in ``recipe``.
    recipe : str, Path or dict, optional
        Whose roles say what a person is known by (quasi-identifiers), where that is not named, and
        what is dropped (identifiers), where no attributes are.
    guarantee : Guarantee, optional
        What the release promises: to be shown beside.
    measurements : Measurements, optional
        What a new table was drawn from, as a `Release` has it: margins come from it.

    Returns
    -------
    Assessment
        For the custodian: it shows means and variances of the original.

    Raises
    ------
    MicroveilError
        If paired tables have different lengths, an attribute is missing or not of one kind, or an
        analysis that is asked for cannot be made of them.

    Notes
    -----
    O(n log n) time for up to ten or so attributes, O(n) memory; of pairs of attributes counts and
    correlations alone, O(n) each. With ``classes`` twenty trainings, ten of them on the original.
    A sample of 10,000 is linked in about the time that sorting all attributes takes.
    Margins of subgroups take as long as twenty new tables, measured and drawn.

    Examples
    --------
    >>> before = {"AGE": np.array([20, 30, 40, 50])}
    >>> assess(before, {"AGE": np.array([25, 25, 45, 45])}).to_dict()["sse"]
    100.0
    """
    sample = checked_sample(sample)
    analyses = Analyses.of(
        classes=classes,
        threshold=threshold,
        estimator=estimator,
        formula=formula,
        logistic=logistic,
        propensity=propensity,
    )
    both = opened(
        original,
        protected,
        paired=paired,
        missing_codes=missing_codes,
        missing_values=missing_values,
        recipe=recipe,
        guarantee=guarantee,
        measurements=measurements,
    )
    compared, weighting = both.attributes(attributes), weights_of(both, weights)
    margins = partial(
        subgroup_margins,
        names=both.numeric(compared),
        measurements=both.measurements,
        guarantee=both.guarantee,
    )
    asked = {
        **analyses.to_dict(),
        **_classes(both, analyses),
        "k": k,
        "linkage": linkage,
        "sample": sample,
        "rules": _rules(both, rules),
        "by": _groups(both, by),
        "margins": margins,
        "weights": weighting if weighting is not None and weighting.are_usable else None,
    }
    _check_pairs(asked, paired=both.paired)
    tables = tables_of(both, compared, asked)
    if not tables.compared:
        rule = "they have no attribute in common to compare"
        remedy = "pass a table and its release, whose columns have the same names"
        raise DataError("tables", rule, remedy)
    known = both.of_role(Role.QUASI_IDENTIFIER)
    if quasi_identifiers or not {*known} & {*both.protected.names}:
        known = named(quasi_identifiers or ())
    return _assessed(
        both,
        tables,
        looked_at=both.original.names if attributes is None else compared,
        corrected=compare_corrected(both) if corrected else {},
        anonymity=compare_anonymity(both, known),
        weights=weighting,
    )


def _assessed(both: Opened, tables: Tables, *, looked_at: Iterable[str], **more: Any) -> Assessment:
    """Take every measure that two tables allow, and name the columns that have none."""
    before, after = tables.original, tables.protected
    found = measured(tables)
    n_cells = int(found["mse"].result.n_cells.sum()) if "mse" in found else 0
    varies = varying(before) if tables.names else ()
    constant = (name for name, one in zip(tables.names, varies, strict=True) if not one)
    return Assessment(
        n_records=len(before),
        n_protected=len(after),
        attributes=tables.names,
        text_attributes=tuple(tables.texts),
        constant_attributes=tuple(constant),
        paired=tables.paired,
        n_cells_compared=n_cells,
        n_records_complete=len(tables.complete[0]) if tables.paired else 0,
        measured=found,
        left_out=tuple(name for name in both.original.names if name not in tables.compared),
        # Text that is listed as categories is such, whatever it looks like.
        numeric_looks={
            name: look
            for name in looked_at
            if name not in both.orders and (look := numeric_look_of(both.original, name))
        },
        kept=tuple(_kept(both, tables.texts)),
        guarantee=both.guarantee,
        **more,
    )


def _check_pairs(asked: Mapping[str, Any], *, paired: bool) -> None:
    """Refuse what was asked for and needs pairs that there are not."""
    for measure in () if paired else MEASURES.values():
        if measure.asked_by != "linkage" and measure.needs_pairs and asked.get(measure.asked_by):
            rule = f"what it asks for, the {measure.label}, needs records in the same order"
            remedy = "leave it out, or assess the release before its rows are shuffled"
            raise RequestError(measure.asked_by, rule, remedy)


def _rules(both: Opened, rules: Iterable[str] | None) -> tuple[RecordRule, ...] | None:
    """Read rules between columns that both tables have; None where none is given."""
    original, protected = both.original, both.protected
    kinds = {} if rules is None else {name: original.kind(name) for name in original.names}
    found = tuple(parse_rule(rule, kinds) for rule in named(rules or ()))
    for name in columns_of(found):
        check_columns(protected, [name], "protected")
        if not comparable(kinds[name], protected.kind(name)):
            raise DataError(
                f"column '{name}'",
                f"it must hold values of one kind in both tables, not {kinds[name]} and "
                f"{protected.kind(name)}",
                "write it the same way in both",
            )
    return found or None


def _groups(both: Opened, by: Iterable[str] | None) -> dict[str, tuple[Column, ...]] | None:
    """Read the columns of the subgroups; None where none is given."""
    names = list(dict.fromkeys(named(by or ())))
    both.check(names)
    tables = both.original, both.protected
    found = {name: tuple(categories_of(table, name) for table in tables) for name in names}
    return found or None


def _classes(both: Opened, analyses: Analyses) -> dict[str, Any]:
    """Read the class attribute of the original, and without pairs of the release."""
    if analyses.classes is None:
        return {}
    classes, own = analyses.class_column(both.original), None
    if not both.paired:
        check_columns(both.protected, [analyses.classes], "protected")
        own = analyses.class_column(both.protected)
    return {"classes": classes, "protected_classes": own, "class_attribute": analyses.classes}


def _kept(both: Opened, texts: Mapping[str, Codes]) -> list[str]:
    """Name the columns released as they are: by the guarantee, or equal cell by cell."""
    known = () if both.guarantee is None else both.guarantee.kept

    def is_equal(name: str) -> bool:
        if name in texts:
            return np.array_equal(*texts[name][:2])
        return name in both.original.names and _equal(both, name)

    names = both.protected.names
    return [name for name in names if name in known or (both.paired and is_equal(name))]


def _equal(both: Opened, name: str) -> bool:
    """Whether a column of numbers or text is the same in every cell: most differ in the first."""
    tables = both.original, both.protected
    for cells in blocks_of(both.original.n_records):
        try:
            before, after = (column_of(part_of_column(own, name, cells), name) for own in tables)
        except DataError:
            return False
        kind = before.dtype.kind
        if kind != after.dtype.kind or not np.array_equal(before, after, equal_nan=kind == "f"):
            return False
    return True

"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError, stands_alone
from microveil.guarantee import Guarantee
from microveil.measures.analyses import Analyses, categories_of
from microveil.measures.anonymity import compare_anonymity
from microveil.measures.assessment import Assessment
from microveil.measures.candidates import Sample
from microveil.measures.correcting import compare_corrected
from microveil.measures.matrices import assess_matrices
from microveil.measures.promised import codes_in_release, has_pairs
from microveil.measures.registry import MEASURES
from microveil.measures.subgroup_margins import subgroup_margins
from microveil.measures.tables import Codes
from microveil.measures.weighting import read_weights, weights_by_role
from microveil.protect.recipe import roles_of_recipe
from microveil.protect.release import Release
from microveil.schema import Kind, Role
from microveil.synthesis.measurements import Measurements
from microveil.table import (
    Column,
    MissingCodes,
    Table,
    check_columns,
    column_of,
    numeric_look_of,
    open_beside,
    open_table,
)
from microveil.table.blocks import AttributeMatrix, Matrix, blocks_of
from microveil.table.table import coded_words, part_of_column
from microveil.utility.rules import Rule, comparable, parse_rule

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
        alone leaves them, see `docs/assessment.md`.
    rules : sequence of str, optional
        Rules between columns of both tables, such as "TAX <= INCOME" or "AGE >= 18": how many
        records break them, before and after; see `parse_rule`.
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
    codes = MissingCodes.of(missing_codes, missing_values)
    if isinstance(protected, Release):
        codes = protected.codes_of_original(codes)
        guarantee = guarantee or protected.guarantee
        measurements, protected = measurements or protected.measurements, protected.data
    linked = Sample(size=sample)
    analyses = Analyses.of(
        classes=classes,
        threshold=threshold,
        estimator=estimator,
        formula=formula,
        logistic=logistic,
        propensity=propensity,
    )
    after = open_table(protected, codes_in_release(codes, guarantee))
    before = open_beside(original, after, codes)
    check_columns(before, codes.by_column, "original")
    paired = paired and has_pairs(guarantee, before.n_records - after.n_records)
    _check_lengths(before, after, paired=paired)
    asked = analyses.to_dict() | {"k": k, "rules": _rules(before, after, rules)}
    asked |= {"linkage": linkage, "sample": linked}
    asked["by"] = _groups(before, after, by)
    _check_pairs(asked, paired=paired)
    roles = {} if recipe is None else roles_of_recipe(recipe)
    if weights is None:
        weighting = weights_by_role(before, after, roles, paired=paired)
    else:
        weighting = read_weights(before, after, weights, paired=paired)
    asked["weights"] = weighting if weighting is not None and weighting.are_usable else None
    numeric, words = _attributes(before, after, attributes, guarantee, roles)
    known = _named(quasi_identifiers or ()) or _known_by_role(before, after, roles)
    asked["margins"] = partial(
        subgroup_margins,
        names=numeric,
        measurements=measurements,
        guarantee=guarantee,
    )
    texts = {name: found for name in words if (found := _codes(before, after, name)) is not None}
    if classes is not None:
        asked |= _classes(before, after, analyses, paired=paired)
    assessed = assess_matrices(
        _matrix(before, numeric),
        _matrix(after, numeric),
        numeric,
        paired=paired,
        texts=texts,
        ranks=_ranks(texts, guarantee),
        nominal=_nominal(numeric, guarantee),
        columns=partial(_columns, before, after),
        asked=asked,
    )
    return replace(
        assessed,
        left_out=tuple(name for name in before.names if name not in (*numeric, *texts)),
        numeric_looks=_numeric_looks(
            before, before.names if attributes is None else words, guarantee
        ),
        kept=tuple(_kept(before, after, guarantee, texts, paired=paired)),
        corrected=compare_corrected(before, after, guarantee) if corrected else {},
        anonymity=compare_anonymity(before, after, known, guarantee, paired=paired),
        weights=weighting,
        guarantee=guarantee,
    )


def _known_by_role(original: Table, protected: Table, roles: Mapping[str, Role]) -> list[str]:
    """Name the quasi-identifiers of a recipe, where the release has one of them at least."""
    known = [name for name in original.names if roles.get(name) is Role.QUASI_IDENTIFIER]
    return known if any(name in protected.names for name in known) else []


def _numeric_looks(
    table: Table, names: Iterable[str], guarantee: Guarantee | None
) -> dict[str, str]:
    """Say of text that looks like numbers what keeps it from being such, unless it is listed."""
    terms = () if guarantee is None else guarantee.attributes
    listed = {term.name for term in terms if term.kind in {Kind.ORDINAL, Kind.NOMINAL}}
    looks = {name: numeric_look_of(table, name) for name in names if name not in listed}
    return {name: look for name, look in looks.items() if look is not None}


def _check_lengths(original: Table, protected: Table, *, paired: bool) -> None:
    if paired and original.n_records != protected.n_records:
        raise DataError(
            "original and protected tables",
            "paired records must be as many in both",
            "pass the same people in the same order, or paired=False (--shuffled) for a shuffled "
            "or synthetic release",
        )


def _check_pairs(asked: Mapping[str, Any], *, paired: bool) -> None:
    """Refuse what was asked for and needs pairs that there are not."""
    for measure in () if paired else MEASURES.values():
        if measure.asked_by != "linkage" and measure.needs_pairs and asked.get(measure.asked_by):
            raise RequestError(
                measure.asked_by,
                f"what it asks for, the {measure.label}, needs records in the same order",
                "leave it out, or assess the release before its rows are shuffled",
            )


def _rules(
    original: Table, protected: Table, rules: Iterable[str] | None
) -> tuple[Rule, ...] | None:
    """Read rules between columns that both tables have; None where none is given."""
    kinds = {} if rules is None else {name: original.kind(name) for name in original.names}
    found = tuple(parse_rule(rule, kinds) for rule in _named(rules or ()))
    for name in {name: None for rule in found for name in rule.columns}:
        check_columns(protected, [name], "protected")
        if not comparable(kinds[name], protected.kind(name)):
            raise DataError(
                f"column '{name}'",
                f"it must hold values of one kind in both tables, not {kinds[name]} and "
                f"{protected.kind(name)}",
                "write it the same way in both",
            )
    return found or None


def _groups(
    original: Table, protected: Table, by: Iterable[str] | None
) -> dict[str, tuple[Column, Column]] | None:
    """Read the columns of the subgroups; None where none is given."""
    names = [] if by is None else list(dict.fromkeys(_named(by)))
    for table, side in ((original, "original"), (protected, "protected")):
        check_columns(table, names, side)
    found = {
        name: (categories_of(original, name), categories_of(protected, name)) for name in names
    }
    return found or None


def _classes(
    original: Table, protected: Table, analyses: Analyses, *, paired: bool
) -> dict[str, Any]:
    """Read the class attribute of the original, and without pairs of the release."""
    assert analyses.classes is not None  # noqa: S101 -- asked for by nobody else
    classes, own = analyses.class_column(original), None
    if not paired:
        check_columns(protected, [analyses.classes], "protected")
        own = analyses.class_column(protected)
    return {"classes": classes, "protected_classes": own, "class_attribute": analyses.classes}


def _attributes(
    original: Table,
    protected: Table,
    wanted: Iterable[str] | None,
    guarantee: Guarantee | None,
    roles: Mapping[str, Role],
) -> tuple[list[str], list[str]]:
    """Return the attributes of numbers and of text, but for new numbers of units and identifiers.

    Where they are named, they are what was asked for.
    """
    numbered = guarantee.unit.column if guarantee is not None else None
    dropped = {name for name, role in roles.items() if role is Role.IDENTIFIER} | {numbered}
    common = (name for name in _common(original, protected) if name not in dropped)
    names = list(common) if wanted is None else _named(wanted)
    for table, side in ((original, "original"), (protected, "protected")):
        check_columns(table, names, side)
    words = [name for name in names if not original.kind(name).is_numeric]
    return [name for name in names if name not in words], words


def _matrix(table: Table, names: list[str]) -> Matrix:
    if not names:
        return np.empty((table.n_records, 0))
    return AttributeMatrix(numbers=[table.numbers(name, shared=True) for name in names])


def _ranks(
    texts: Mapping[str, Codes], guarantee: Guarantee | None
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the ranks of text whose order a guarantee declares; NaN of what it does not list."""
    found = {}
    for terms in () if guarantee is None else guarantee.attributes:
        if terms.kind is Kind.ORDINAL and terms.domain and terms.name in texts:
            before, after, categories = texts[terms.name]
            order = {category: rank for rank, category in enumerate(terms.domain)}
            ranks = np.array([order.get(category, np.nan) for category in categories])
            found[terms.name] = (ranks[before], ranks[after])
    return found


def _nominal(numeric: Iterable[str], guarantee: Guarantee | None) -> frozenset[str]:
    """Name the attributes of numbers that a guarantee declares as categories in no order."""
    terms = () if guarantee is None else guarantee.attributes
    listed = {one.name for one in terms if one.kind is Kind.NOMINAL}
    return frozenset(listed & set(numeric))


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
    original: Table,
    protected: Table,
    guarantee: Guarantee | None,
    texts: Mapping[str, Codes],
    *,
    paired: bool,
) -> list[str]:
    """Name the columns released as they are: by the guarantee, or equal cell by cell."""
    known = () if guarantee is None else guarantee.kept

    def is_equal(name: str) -> bool:
        if name in texts:
            return np.array_equal(*texts[name][:2])
        return name in original.names and _equal(original, protected, name)

    return [name for name in protected.names if name in known or (paired and is_equal(name))]


def _equal(original: Table, protected: Table, name: str) -> bool:
    """Whether a column is the same in every cell; not asked of what is neither number nor text.

    Most columns that are not differ among the first cells.
    """
    for cells in blocks_of(original.n_records):
        try:
            before, after = (
                column_of(part_of_column(table, name, cells), name)
                for table in (original, protected)
            )
        except DataError:
            return False
        if before.dtype.kind != after.dtype.kind:
            return False
        if not np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
            return False
    return True


def _codes(original: Table, protected: Table, name: str) -> Codes | None:
    """Read a text attribute as codes; None where it is no text or has too many categories."""
    try:
        found = [coded_words(table, name, MOST_CATEGORIES) for table in (original, protected)]
    except DataError:
        return None
    both = [one for one in found if one is not None]
    categories = sorted({word for _, words in both for word in words})
    if len(both) < len(found) or len(categories) > MOST_CATEGORIES:
        return None
    codes = [
        np.searchsorted(categories, np.array(words, dtype=np.str_)).astype(np.int32)[own]
        for own, words in both
    ]
    return codes[0], codes[1], tuple(categories)


def _common(original: Table, protected: Table) -> list[str]:
    """Return the columns that both have, as numbers in both or as text in both."""
    return [
        name
        for name in original.names
        if name in protected.names
        and original.kind(name).is_numeric == protected.kind(name).is_numeric
    ]


def _named(attributes: Iterable[str]) -> list[str]:
    return [attributes] if isinstance(attributes, str) else list(attributes)

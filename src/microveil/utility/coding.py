"""Coding: the columns of numbers that a formula stands for.

An attribute of categories becomes a 0/1 column for each, without the first where the model
has what they sum to: the coding of R, and where R has collinear columns that of patsy.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.utility.attributes import Attributes, indicators
from microveil.utility.formula import Factor, Formula, Term

__all__ = ["Column", "coded_columns", "coded_design", "levels_of"]

MOST_COEFFICIENTS = 1000

# A coefficient's factors, each with the category that its 0/1 term stands for, or None.
Column = tuple[tuple[str, Any], ...]


def levels_of(formula: Formula, before: Attributes, after: Attributes) -> dict[Factor, list[Any]]:
    """Return the categories of every factor that has them, the original's first.

    Parameters
    ----------
    formula : Formula
    before, after : dict of ndarray, each of shape (n_records,)
        The attributes of the formula in the original and in the protected table, without
        missing cells.

    Returns
    -------
    dict of list
        In ascending order, those that only the protected table has after the others.

    Raises
    ------
    DataError
        If an attribute is text in one table and numbers in the other.

    Examples
    --------
    >>> from microveil.utility.formula import parse_formula
    >>> model = parse_formula("TAX ~ AGE + C(ROOMS)")
    >>> before = {"AGE": np.array([31.0, 42.0]), "ROOMS": np.array([4.0, 3.0])}
    >>> after = {"AGE": np.array([31.0, 42.0]), "ROOMS": np.array([2.0, 3.0])}
    >>> levels_of(model, before, after)
    {Factor(name='ROOMS', categorical=True): [3.0, 4.0, 2.0]}
    """
    levels = {}
    for factor in {factor for term in formula.terms for factor in term}:
        one, other = before[factor.name], after[factor.name]
        if one.dtype.kind != other.dtype.kind:
            raise DataError(
                f"column '{factor.name}'",
                "it must be text in both tables or numbers in both",
                "write it the same way in both",
            )
        if factor.categorical or one.dtype.kind == "U":
            # The first is the reference, so it must occur in the original.
            known = np.unique(one).tolist()
            levels[factor] = known + sorted(set(np.unique(other).tolist()) - set(known))
    return levels


def coded_columns(formula: Formula, levels: Mapping[Factor, list[Any]]) -> list[tuple[str, Column]]:
    """Return the columns of a formula, one for each coefficient, with their names.

    Parameters
    ----------
    formula : Formula
    levels : mapping of list
        As `levels_of` returns them.

    Returns
    -------
    list of (str, Column)
        In the order of the formula.

    Raises
    ------
    DataError
        If there are more than 1000.

    Examples
    --------
    >>> from microveil.utility.formula import parse_formula
    >>> levels = {Factor("SEX"): ["f", "m"]}
    >>> [name for name, _ in coded_columns(parse_formula("TAX ~ AGE + SEX"), levels)]
    ['Intercept', 'AGE', 'SEX=m']
    >>> [name for name, _ in coded_columns(parse_formula("TAX ~ 0 + SEX"), levels)]
    ['SEX=f', 'SEX=m']
    """
    spanned: set[frozenset[Factor]] = {frozenset()} if formula.intercept else set()
    columns: list[tuple[str, Column]] = [("Intercept", ())] if formula.intercept else []
    for term in formula.terms:
        for coding in _codings(term, levels, spanned):
            made: list[tuple[str, Column]] = [("", ())]
            for factor, in_full in coding.items():
                coded = levels.get(factor, [None])
                coded = coded if in_full else coded[1:]
                if len(columns) + len(made) * len(coded) > MOST_COEFFICIENTS:
                    raise DataError(
                        f"term {':'.join(map(str, term))}",
                        f"a model may have at most {MOST_COEFFICIENTS} coefficients",
                        "leave out attributes with many categories",
                    )
                made = [
                    (f"{name}:{_label(factor, level)}", (*column, (factor.name, level)))
                    for name, column in made
                    for level in coded
                ]
            columns += [(name[1:], column) for name, column in made]
    return columns


def coded_design(
    columns: Sequence[tuple[str, Column]], table: Attributes, n_records: int
) -> NDArray[np.float64]:
    """Multiply the factors of every column, record by record.

    Parameters
    ----------
    columns : sequence of (str, Column)
        As `coded_columns` returns them.
    table : dict of ndarray, each of shape (n_records,)
        The attributes of the formula, without missing cells.
    n_records : int
        Of the records; an intercept alone does not show it.

    Returns
    -------
    ndarray of float64, shape (n_records, n_columns)

    Examples
    --------
    >>> people = {"AGE": np.array([31.0, 42.0]), "SEX": np.array(["f", "m"])}
    >>> coded_design([("AGE:SEX=m", (("AGE", None), ("SEX", "m")))], people, 2)
    array([[ 0.],
           [42.]])
    """
    design = np.ones((n_records, len(columns)))
    for j, (_, column) in enumerate(columns):
        for name, level in column:
            values = table[name] if level is None else indicators(table[name], [level])[:, 0]
            design[:, j] *= values
    return design


def _codings(
    term: Term, levels: Mapping[Factor, list[Any]], spanned: set[frozenset[Factor]]
) -> list[dict[Factor, bool]]:
    """Say which factors of a term need a 0/1 column for all categories, not all but one.

    In full, a factor stands for the term with it and the term without it. So each product
    within the term that no column spans yet starts with all but one category, and products
    that differ by one factor are merged, that factor then in full.
    """
    numbers = {factor: True for factor in term if factor not in levels}
    categories = [factor for factor in term if factor in levels]
    codings = []
    for size in range(len(categories) + 1):
        for chosen in combinations(categories, size):
            product = frozenset(numbers) | set(chosen)
            if product not in spanned:
                spanned.add(product)
                codings.append(dict.fromkeys(chosen, False))
    merged = True
    while merged:
        merged = False
        for short, long in permutations(codings, 2):
            added = [factor for factor in long if factor not in short]
            if len(added) == 1 and long == {**short, added[0]: False}:
                long[added[0]] = True
                codings.remove(short)
                merged = True
                break
    return [
        {
            factor: coding.get(factor, True)
            for factor in term
            if factor in numbers or factor in coding
        }
        for coding in codings
    ]


def _label(factor: Factor, level: Any) -> str:
    if level is None:
        return str(factor)
    return f"{factor}={level if isinstance(level, str) else format(level, '.15g')}"

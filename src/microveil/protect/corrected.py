"""Shares of a release by pram, corrected by the matrix that its guarantee states."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.guarantee import Guarantee, Unit
from microveil.guarantee.terms import RESPONSE, AttributeTerms
from microveil.noise.shares import CorrectedShares, correct_shares
from microveil.noise.transition import randomised_response
from microveil.schema import Attribute
from microveil.table import Table, code_for, numbers_of_attribute, on_grid, spread
from microveil.table.table import numbered_alike

RANDOMISED = "pram"


def randomised_attributes(guarantee: Guarantee) -> tuple[str, ...]:
    """Name the attributes that a transition matrix drew."""
    return tuple(terms.name for terms in guarantee.attributes if terms.method == RANDOMISED)


def corrected_of(table: Table, guarantee: Guarantee, name: str) -> CorrectedShares:
    """Correct the shares of one attribute of a released table, drawn by a matrix that is stated."""
    terms = next((one for one in guarantee.attributes if one.name == name), None)
    if terms is None or terms.method != RANDOMISED:
        raise RequestError(
            f"attribute '{name}'",
            "no transition matrix drew it, so there is nothing to correct",
            f"name an attribute that {RANDOMISED} protects",
        )
    attribute = terms.attribute()
    if attribute is None:
        raise RequestError(
            f"attribute '{name}'",
            "its categories were read from the data, and the guarantee does not repeat them",
            "declare its categories",
        )
    codes, categories = _categories_of_records(table, terms, attribute)
    known = codes >= 0
    counts = np.bincount(codes[known], minlength=len(categories))
    squares = None
    if terms.of_unit:
        unit_of = _units_of_records(table, guarantee, name)[known]
        _, first, sizes = np.unique(unit_of, return_index=True, return_counts=True)
        squares = np.zeros_like(counts)
        np.add.at(squares, codes[known][first], sizes**2)
    weights = _weights(terms, len(counts), guarantee.unit)
    return correct_shares(weights, counts, categories, f"matrix of '{name}'", squares)


def category_counts(
    table: Table, terms: AttributeTerms, attribute: Attribute
) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Count the records of each category that the matrix knows, and name these.

    Where it knows more than the domain of ``attribute``, which ``terms`` are of, being missing is
    one more, None, behind the others, and each code for the reason another.
    """
    codes, categories = _categories_of_records(table, terms, attribute)
    return np.bincount(codes[codes >= 0], minlength=len(categories)), categories


def _categories_of_records(
    table: Table, terms: AttributeTerms, attribute: Attribute
) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return the category of each record, -1 where it has none, and the categories' names."""
    lower, upper = attribute.grid_bounds or (0, 0)
    numbers = numbers_of_attribute(table, attribute)
    column = on_grid(numbers, attribute, keep_missing=True, clamp=False, may_be_empty=True)
    values: tuple[Any, ...]
    if attribute.categories is not None:
        values = attribute.categories.values
    else:
        values = tuple(attribute.from_grid(np.arange(lower, upper + 1)).tolist())
    codes: NDArray[np.int64] = spread(column.values - lower, column.missing).astype(np.int64)
    missing = np.zeros(len(codes), dtype=bool) if column.missing is None else column.missing
    stated = terms.transition or ()
    if isinstance(stated, str) or len(stated) <= len(values):
        codes[missing] = -1
        return codes, values
    codes[missing] = len(values)
    if (reasons := numbers.reasons) is not None:
        kind = table.kind(attribute.name)
        for place, given in enumerate(terms.reasons, 1):
            code = code_for(given, attribute.name, kind)
            if code in reasons.codes:
                is_reason = reasons.which == reasons.codes.index(code)
                codes[missing & is_reason] = len(values) + place
    return codes, (*values, None, *terms.reasons)


def _units_of_records(table: Table, guarantee: Guarantee, name: str) -> NDArray[np.int64]:
    """Return a number for each record, the same for those of one unit: they share a draw."""
    column = guarantee.unit.column
    if column is None or not guarantee.has_new_numbers or column not in table.names:
        raise RequestError(
            f"attribute '{name}'",
            "it was drawn once a unit, and without the column that says which records are one "
            "unit's nothing says how sure its shares are",
            "correct a release with that column, not shuffled by columns",
        )
    return numbered_alike(table, column)[0]


def _weights(terms: AttributeTerms, n_categories: int, unit: Unit) -> NDArray[np.int64]:
    if terms.transition == RESPONSE and terms.share is not None:
        # The share is the unit's, and each draw was by its part of it.
        share = terms.share / unit.draws(of_unit=terms.of_unit)
        return randomised_response(share, n_categories, terms.name)
    stated = np.array(terms.transition or (), dtype=np.int64)
    if stated.shape != (n_categories, n_categories):
        raise RequestError(
            f"matrix of '{terms.name}'",
            "the guarantee does not state it: it was made from the data, is very large, or an "
            "earlier version wrote the guarantee",
            "use the released shares as they are, which an invariant matrix keeps on average",
        )
    return stated

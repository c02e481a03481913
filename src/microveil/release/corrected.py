"""Shares of a release by pram, corrected by the matrix that its guarantee states."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.mechanism.transition import randomised_response
from microveil.privacy import Guarantee
from microveil.privacy.terms import RESPONSE, AttributeTerms
from microveil.schema import Attribute, Code
from microveil.table import Numbers, Table, code_for, numbers_of_attribute, on_grid
from microveil.utility.corrected_shares import CorrectedShares, correct_shares

__all__ = ["category_counts", "corrected_of", "randomised_attributes"]

RANDOMISED = "pram"


def randomised_attributes(guarantee: Guarantee) -> tuple[str, ...]:
    """Name the attributes that a transition matrix drew."""
    return tuple(terms.name for terms in guarantee.attributes if terms.method == RANDOMISED)


def corrected_of(table: Table, guarantee: Guarantee, name: str) -> CorrectedShares:
    """Correct the shares of one attribute of a released table.

    Raises
    ------
    RequestError
        If it was not drawn by a public matrix that the guarantee states, or this cannot be
        inverted.
    DataError
        If the table has other values than the guarantee lists.
    """
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
    counts, categories = category_counts(table, terms, attribute)
    weights = _weights(terms, len(counts), guarantee.unit.max_rows)
    return correct_shares(weights, counts, categories, f"matrix of '{name}'")


def category_counts(
    table: Table, terms: AttributeTerms, attribute: Attribute
) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Count the records of each category that the matrix knows, and name these.

    Parameters
    ----------
    table : Table
    terms : AttributeTerms
        Where their matrix knows more than the domain, being missing is one more category, behind
        the others, and each code of theirs for the reason another.
    attribute : Attribute
        Of these terms.

    Returns
    -------
    (int64 array, tuple)
        Counts, and values of the domain, None for being missing, and codes.
    """
    lower, upper = attribute.grid_bounds or (0, 0)
    numbers = numbers_of_attribute(table, attribute)
    column = on_grid(numbers, attribute, keep_missing=True, clamp=False, may_be_empty=True)
    n_values = upper - lower + 1
    counts = np.bincount(column.values - lower, minlength=n_values)
    if attribute.categories is not None:
        values: tuple[Any, ...] = attribute.categories.values
    else:
        values = tuple(attribute.from_grid(np.arange(lower, upper + 1)).tolist())
    stated = terms.transition or ()
    if isinstance(stated, str) or len(stated) <= n_values:
        return counts, values
    kind = table.kind(attribute.name)
    of_codes = [_with_code(numbers, code_for(code, attribute.name, kind)) for code in terms.reasons]
    without = column.n_missing - sum(of_codes)
    return np.append(counts, [without, *of_codes]), (*values, None, *terms.reasons)


def _with_code(numbers: Numbers, code: Code | None) -> int:
    """Count the records that lack a value for a reason."""
    reasons = numbers.reasons
    if reasons is None or code not in reasons.codes:
        return 0
    return int(np.count_nonzero(reasons.which == reasons.codes.index(code)))


def _weights(terms: AttributeTerms, n_categories: int, max_rows: int) -> NDArray[np.int64]:
    if terms.transition == RESPONSE and terms.share is not None:
        # The share is the unit's, and each of its records was drawn by a part of it.
        return randomised_response(terms.share / max_rows, n_categories, terms.name)
    stated = np.array(terms.transition or (), dtype=np.int64)
    if stated.shape != (n_categories, n_categories):
        raise RequestError(
            f"matrix of '{terms.name}'",
            "the guarantee does not state it: it was made from the data, is very large, or an "
            "earlier version wrote the guarantee",
            "use the released shares as they are, which an invariant matrix keeps on average",
        )
    return stated

"""Which labels of a file go out with a release of some of its columns."""

import datetime
from collections.abc import Collection, Sequence
from fractions import Fraction

from microveil.schema import EPOCH, Attribute, Bounds, Code, GivenCode, Source
from microveil.table import Labels, MissingCodes, Table, code_for, only

__all__ = ["as_value", "declared_missing", "released_labels"]


def released_labels(
    table: Table, attributes: Sequence[Attribute], kept: Collection[str], missing: MissingCodes
) -> dict[str, Labels]:
    """Return the labels of the columns that are released, of those that have some.

    A code of a protected attribute needs a place in its declared domain, or must be declared
    missing: a list of the values that occur would show who is in the table.
    """
    protected = {attribute.name: attribute for attribute in attributes}
    found = {}
    for name, labels in table.labels.items():
        if name in protected:
            own = declared_missing(table, name, missing)
            codes = (*labels.codes, *labels.missing_codes)
            held = {code for code in codes if as_value(code) in own}
            held |= {code for code in codes if _in_domain(as_value(code), protected[name])}
            found[name] = only(labels, held)
        elif name in kept:
            found[name] = labels
    return {name: labels for name, labels in found.items() if labels.parts}


def declared_missing(table: Table, name: str, missing: MissingCodes) -> set[Code | None]:
    """Return the codes that a request declares missing, as the column's values are."""
    declared = {code_for(code, name, table.kind(name)) for code in missing.of_column(name)}
    return declared | {*missing.of_text}  # never equal to a number


def as_value(code: GivenCode) -> Code:
    """Return a code as a column's values are: dates as days since 1970-01-01."""
    return (code - EPOCH).days if isinstance(code, datetime.date) else code


def _in_domain(code: Code, attribute: Attribute) -> bool:
    domain = attribute.domain
    if domain is None or domain.source is Source.DATA:  # none was declared
        return True
    if isinstance(domain, Bounds):
        return not isinstance(code, str) and (domain.lower <= Fraction(str(+code)) <= domain.upper)
    return code in domain.values

"""Values outside their declared domains, for the eyes of the custodian: never in an error."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from microveil.protect.columns import Prepared
from microveil.schema import Attribute, Kind, written
from microveil.table import Table, numbers_of_attribute, on_grid
from microveil.table.table import counted_words

# So many different values of a column are named.
MOST = 20


def values_outside(prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute that has values outside its domain, with these values."""
    for part in prepared.each:
        for attribute in part.attributes:
            if attribute.domain is None:
                continue
            found = sorted(
                set(_outside(part.table, attribute)), key=lambda one: (isinstance(one, str), one)
            )
            if found:
                more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
                domain = "bounds" if attribute.categories is None else "categories"
                named = ", ".join(map(str, found[:MOST]))
                yield (
                    f"For the custodian only, values outside the {domain} of {attribute.name}: "
                    f"{named}{more}"
                )


def _outside(table: Table, attribute: Attribute) -> Iterator[int | float | str]:
    """Yield the values of an attribute that lie outside its domain, as people write them."""
    categories = attribute.categories
    if categories is not None and categories.words is not None:
        yield from (
            word for word in counted_words(table, attribute.name) if word not in categories.words
        )
        return
    if categories is not None:
        numbers = table.numbers(attribute.name)
        present = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
        listed = {*categories.values}
        yield from (value for value in np.unique(present).tolist() if value not in listed)
        return
    numbers = numbers_of_attribute(table, attribute)
    own = on_grid(
        numbers, replace(attribute, domain=None), keep_missing=True, clamp=False, may_be_empty=True
    )
    lower, upper = attribute.grid_bounds or (0, 0)
    for value in np.unique(own.values[(own.values < lower) | (own.values > upper)]).tolist():
        kind = Kind.WHOLE if attribute.kind is Kind.BOOLEAN else attribute.kind
        yield written(value * attribute.resolution, kind)

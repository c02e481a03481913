"""Engines that only tests use, and columns for any engine."""

from fractions import Fraction

import numpy as np

from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.table import GridColumn

__all__ = ["column_of"]


def column_of(values, *, bounds=None):
    """A column of whole numbers without a missing one."""
    declared = None
    if bounds is not None:
        lower, upper = map(Fraction, bounds)
        declared = Bounds(lower=lower, upper=upper, source=Source.DECLARED)
    attribute = Attribute(
        name="x",
        kind=Kind.WHOLE,
        resolution=Fraction(1),
        resolution_source=Source.TYPE,
        domain=declared,
    )
    return GridColumn(attribute=attribute, values=np.asarray(values, np.int64), missing=None)

"""A new table from measurements: what is computed here sees nothing else."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.axes import Axis, axis_of, two_parts
from microveil.synthesis.fitting import Fitting
from microveil.synthesis.generation import Drawing, drawn_values
from microveil.synthesis.measurements import AttributeMeasured, Measurements

__all__ = ["axes_of", "axis_at", "drawing_of", "fitted", "synthesised"]

Values = tuple[NDArray[np.signedinteger[Any]], NDArray[np.bool_] | None]


def axis_at(
    number: int, measured: AttributeMeasured, parts: int, halves: Mapping[int, int | None]
) -> Axis:
    """Make the bins that an attribute has in tables.

    Parameters
    ----------
    number : int
        Its position.
    measured : CutsMeasured or CountsMeasured
    parts : int
        So many parts of equal mass one with cuts has, at most.
    halves : mapping of int or None
        By position those that have two bins instead, and where: see `two_parts`.
    """
    if number in halves:
        return two_parts(measured, halves[number])
    return axis_of(measured, parts)


def axes_of(
    attributes: Sequence[AttributeMeasured], parts: int, halves: Mapping[int, int | None]
) -> list[Axis]:
    """Make the bins that all attributes have in tables: see `axis_at`."""
    return [axis_at(number, measured, parts, halves) for number, measured in enumerate(attributes)]


def synthesised(
    measurements: Measurements,
    n_records: int,
    generator: np.random.Generator,
    empty: Callable[[int, "np.dtype[Any] | type"], NDArray[Any]] = np.empty,
) -> list[Values]:
    """Draw a table of records that are nobody's.

    Parameters
    ----------
    measurements : Measurements
    n_records : int
        How many records to draw.
    generator : numpy.random.Generator
    empty : callable
        Makes the arrays to be filled.

    Returns
    -------
    list of (signed array (n_records,), bool array (n_records,) or None)
        By attribute values in grid units, and which are missing.
    """
    return partial(fitted(measurements), empty=empty)(n_records, generator)


def fitted(measurements: Measurements, *, shrinks: bool = True) -> "partial[list[Values]]":
    """Fit the model of measurements once, to draw tables from it: `synthesised`, `drawing_of`."""
    return partial(drawn_values, drawing_of(measurements, shrinks=shrinks))


def drawing_of(measurements: Measurements, *, shrinks: bool = True) -> Drawing:
    """Fit the model of measurements, to draw blocks of tables from it.

    Parameters
    ----------
    measurements : Measurements
    shrinks : bool
        Whether what is expected to be noise is taken off tables, as in every release.
    """
    axes = axes_of(measurements.attributes, measurements.parts, measurements.halves)
    fitting = Fitting(
        n_records=measurements.n_records,
        attributes=measurements.attributes,
        axes=axes,
        shrinks=shrinks,
    )
    fit = fitting.fit(measurements.tables)
    return Drawing.of(measurements.attributes, axes, fit)

"""Records of a model asked what the original was asked: how measurements come out by noise alone.

Post-processing of published measurements: trial records and trial noise spend no budget and
protect nobody.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Binned = Any
Engine = Any
from microveil.noise.counts import CountNoise
from microveil.noise.noise import RandomSource
from microveil.plans.choosing import noisy_counts
from microveil.plans.synthetic import CutsPlan, LevelsPlan
from microveil.synthesis.measurements import (
    AttributeMeasured,
    CutsMeasured,
    Measurements,
    NoisyCounts,
)
from microveil.synthesis.synthesis import axis_at
from microveil.table import GridColumn

__all__ = ["remeasured"]

Values = tuple[NDArray[np.int64], NDArray[np.bool_] | None]
# Variances are taken as fractions of so small a denominator: trial noise need not be exact.
FINEST = 10**6


def remeasured(
    measurements: Measurements, records: Sequence[Values], engine: Engine, source: RandomSource
) -> Measurements:
    """Measure trial records as the original was measured, with the same laws of noise.

    Parameters
    ----------
    measurements : Measurements
        What was asked of the original: attributes, rates, tables and their noise. Which tables
        there are is held, not chosen anew.
    records : sequence of (int64 array, bool array or None)
        As many as the original had, by attribute in grid units and which are missing, as
        `synthesised` draws them.
    engine : Engine
    source : RandomSource

    Returns
    -------
    Measurements
    """
    attributes: list[AttributeMeasured] = []
    binned: list[Binned] = []
    for number, (measured, values) in enumerate(zip(measurements.attributes, records, strict=True)):
        plan = _plan_of(measured, values, measurements.n_records, engine)
        found, codes = plan.measured(engine, source)
        axis = axis_at(number, found, measurements.parts, measurements.halves)
        attributes.append(found)
        binned.append(engine.binned(plan.column, axis, codes))
    counts = engine.cross_counts(binned, [*measurements.tables])
    tables = {
        scope: noisy_counts(own, _noise_of(table), source)
        for own, (scope, table) in zip(counts, measurements.tables.items(), strict=True)
    }
    return Measurements(
        n_records=measurements.n_records,
        attributes=tuple(attributes),
        tables=tables,
        parts=measurements.parts,
        halves=measurements.halves,
    )


def _plan_of(
    measured: AttributeMeasured, values: Values, n_records: int, engine: Engine
) -> CutsPlan | LevelsPlan:
    """Plan again what is asked of an attribute, of other records."""
    units, missing = values
    column = engine.column(
        GridColumn(
            attribute=measured.attribute,
            values=units if missing is None else units[~missing],
            missing=missing,
        )
    )
    if isinstance(measured, CutsMeasured):
        return CutsPlan(
            column=column,
            n_records=n_records,
            share=None,
            candidates=measured.candidates,
            rates=tuple(Fraction(rate).limit_denominator(FINEST) for rate in measured.rates),
            present=None if measured.present is None else _noise_of(measured.present),
        )
    return LevelsPlan(
        column=column,
        n_records=n_records,
        share=None,
        noise=_noise_of(measured.levels),
        has_missing=measured.has_missing,
    )


def _noise_of(counts: NoisyCounts) -> CountNoise:
    """Return the law of the noise on counts, as far as they say it."""
    if counts.is_gaussian:
        scale = Fraction(counts.variance).limit_denominator(FINEST)
    else:
        scale = Fraction(round(math.sqrt(counts.variance / 2) * (1 << counts.bits)))
    return CountNoise(is_gaussian=counts.is_gaussian, scale=scale, bits=counts.bits)

"""Errors of the released values, by attribute."""

import math
from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from microveil.measures.base import Better, By, Entry, Group, Measure, Takes
from microveil.measures.information_loss import Errors, errors_of
from microveil.measures.undefined import none_if_undefined

__all__ = ["MEASURES"]

ERRORS = Group(title="Errors of values")


def _write(found: Errors, names: Sequence[str]) -> dict[str, Any]:
    return {
        name: {
            **{
                error: none_if_undefined(float(getattr(found, error)[a]))
                for error in ("bias", "mse", "rmse")
            },
            "n_cells": int(found.n_cells[a]),
        }
        for a, name in enumerate(names)
    }


_measure = partial(
    Measure,
    function=errors_of,
    takes=Takes.NUMBERS,
    in_blocks=True,
    needs_pairs=True,
    by=By.ATTRIBUTE,
    explanation="0 = unchanged",
    group=ERRORS,
    entry=Entry(name="errors", write=_write),
)

MEASURES = (
    _measure(
        id="bias",
        label="mean error",
        short="bias",
        figure=attrgetter("bias"),
        lowest=-math.inf,
        better=Better.ZERO,
    ),
    _measure(
        id="mse",
        label="mean squared error",
        short="MSE",
        figure=attrgetter("mse"),
        tabulated=False,
    ),
    _measure(id="rmse", label="root mean squared error", short="RMSE", figure=attrgetter("rmse")),
)

"""Information loss: how far the released values lie from their originals, in all and by attribute.

A cell counts where it is present in both tables. Measures in units of the variance leave out what
is constant in the original, changed or not, and are NaN where an attribute that varies has no cell
to compare: a suppressed attribute must not look like one that was left as it was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from microveil.measures.base import NUMBERS, Better, By, Compared, Group, Measure
from microveil.measures.values import Floats, Whole, plain
from microveil.table.blocks import Matrix, means_and_variances, over_blocks, summed, varying


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """Errors y - x of released values y; bias, (R)MSE by Biswal, Arbuckle, Kulik, section 3."""

    n_cells: Whole  # compared; where there is none the errors are NaN
    bias: Floats  # mean(y - x)
    mse: Floats  # mean((y - x)^2)
    rmse: Floats
    sse: float  # sum of (y - x)^2 over all cells (KANON-2013, section V)
    mean_sse: float  # mean over attributes of MSE / variance; of the means alone (n - 1)/n
    # Mean over attributes of MSE / variance^2, once more over their number: IDP-2025, Equations 4
    # and 5 as printed, which depends on units.
    mean_sse_published: float
    # 100 SSE/SST of standardised values, SST the squared distance of the originals to their mean.
    information_loss: float


def errors_of(original: Matrix, protected: Matrix) -> Errors:
    """Compare two tables cell by cell, a block of records at a time; NaN is a missing cell."""
    means, variances = means_and_variances(original)

    def sums(rows: slice) -> Floats:
        before = original[rows]
        errors = protected[rows] - before
        terms = (np.ones_like(errors), errors, errors**2, (before - means) ** 2)
        present = ~np.isnan(errors)
        return np.array([np.sum(term, axis=0, where=present) for term in terms])

    n_cells, total, squares, deviations = summed(over_blocks(sums, len(original)))
    varies = varying(original)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bias, mse = total / n_cells, squares / n_cells
        relative, published = mse / variances, mse / variances / variances
        of_total = float((deviations / variances)[varies].sum())
        loss = 100.0 * float((relative * n_cells)[varies].sum()) / of_total if of_total else np.nan
    n_varying = int(varies.sum())
    return Errors(
        n_cells=n_cells.astype(np.int64),
        bias=bias,
        mse=mse,
        rmse=np.sqrt(mse),
        sse=float(squares.sum()) if n_cells.any() else np.nan,
        mean_sse=float(relative[varies].mean()) if n_varying else np.nan,
        mean_sse_published=float(published[varies].mean()) / n_varying if n_varying else np.nan,
        information_loss=loss,
    )


INFORMATION_LOSS = Group(title="Information loss")
_of_cells = partial(Measure, function=errors_of, takes=NUMBERS, in_blocks=True, needs_pairs=True)
_loss = partial(_of_cells, group=INFORMATION_LOSS)

# The one that risks are held against.
LOSS = _loss(
    id="information_loss",
    figure=attrgetter("information_loss"),
    label="information loss",
    unit="%",
    scale="percent of SST",
    explanation="0 = unchanged, 100 = means alone",
    compared=Compared(level=("as the means alone", 100.0)),
)

MEASURES = (
    _loss(
        id="sse",
        figure=attrgetter("sse"),
        label="sum of squared errors",
        scale="raw units",
        explanation="0 = unchanged, lower keeps more",
        compared=Compared(tabulated=False),
    ),
    _loss(
        id="mean_sse",
        figure=attrgetter("mean_sse"),
        label="mean SSE",
        scale="per variance",
        explanation="0 = unchanged, 1 = as good as the mean alone",
        compared=Compared(tabulated=False),
    ),
    _loss(
        id="mean_sse_published",
        figure=attrgetter("mean_sse_published"),
        label="mean SSE, published",
        scale="IDP-2025 Eq. 5 as printed",
        explanation="depends on units",
        compared=Compared(tabulated=False),
    ),
    LOSS,
)


def _write(found: Errors, names: Sequence[str]) -> dict[str, Any]:
    kinds = ("bias", "mse", "rmse", "n_cells")
    columns = zip(*(plain(getattr(found, kind)) for kind in kinds), strict=True)
    return {
        name: dict(zip(kinds, own, strict=True)) for name, own in zip(names, columns, strict=True)
    }


_error = partial(
    _of_cells,
    by=By.ATTRIBUTE,
    explanation="0 = unchanged",
    group=Group(title="Errors of values"),
    entry="errors",
    write=_write,
)

OF_ATTRIBUTES = (
    _error(
        id="bias",
        label="mean error",
        short="bias",
        figure=attrgetter("bias"),
        lowest=-math.inf,
        better=Better.ZERO,
    ),
    _error(
        id="mse", label="mean squared error", short="MSE", figure=attrgetter("mse"), tabulated=False
    ),
    _error(id="rmse", label="root mean squared error", short="RMSE", figure=attrgetter("rmse")),
)

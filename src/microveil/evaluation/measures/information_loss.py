"""Information loss: how far the released records lie from their originals."""

from functools import partial

from microveil.evaluation.measures.base import Compared, Group, Measure, Takes
from microveil.utility.information_loss import (
    information_loss,
    mean_sse,
    mean_sse_published,
    sum_of_squared_errors,
)

__all__ = ["INFORMATION_LOSS", "LOSS", "MEASURES"]

INFORMATION_LOSS = Group(title="Information loss")
_loss = partial(Measure, takes=Takes.NUMBERS, needs_pairs=True, group=INFORMATION_LOSS)

# The one that risks are held against.
LOSS = _loss(
    id="information_loss",
    function=information_loss,
    label="information loss",
    unit="%",
    scale="percent of SST",
    explanation="0 = unchanged, 100 = means alone",
    compared=Compared(level=("as the means alone", 100.0)),
)

MEASURES = (
    _loss(
        id="sse",
        function=sum_of_squared_errors,
        label="sum of squared errors",
        scale="raw units",
        explanation="0 = unchanged, lower keeps more",
        compared=Compared(tabulated=False),
    ),
    _loss(
        id="mean_sse",
        function=mean_sse,
        label="mean SSE",
        scale="per variance",
        explanation="0 = unchanged, 1 = as good as the mean alone",
        compared=Compared(tabulated=False),
    ),
    _loss(
        id="mean_sse_published",
        function=mean_sse_published,
        label="mean SSE, published",
        scale="IDP-2025 Eq. 5 as printed",
        explanation="depends on units",
        compared=Compared(tabulated=False),
    ),
    LOSS,
)

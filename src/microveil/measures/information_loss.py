"""Information loss: how far the released records lie from their originals."""

from functools import partial
from operator import attrgetter

from microveil.measures.base import Compared, Group, Measure, Takes
from microveil.utility.information_loss import squared_errors

__all__ = ["INFORMATION_LOSS", "LOSS", "MEASURES"]

INFORMATION_LOSS = Group(title="Information loss")
_loss = partial(
    Measure,
    function=squared_errors,
    takes=Takes.NUMBERS,
    in_blocks=True,
    needs_pairs=True,
    group=INFORMATION_LOSS,
)

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

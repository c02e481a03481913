"""Charts of the trade-off as points of an SVG: errors against epsilon, and a simulated column."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from microveil.commands.foreseen import Expected, Foreseen

__all__ = ["example_of", "lines_of_errors"]

# The ends of a chart's axes in its own units: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 56.0, 470.0, 12.0, 168.0
# Values of the simulated column, the first the commonest, and people of one without counts.
N_VALUES, N_PEOPLE = 8, 24


def lines_of_errors(at: Sequence[tuple[float, Foreseen]], epsilon: float) -> dict[str, Any] | None:
    """Return the lines of the worst column and of a pair against epsilon, on scales of tens."""
    worst = [(e, found.worst) for e, found in at if found.worst > 0]
    pairs = [(e, found.pair.share) for e, found in at if found.pair and found.pair.share > 0]
    if len(worst) < 2:
        return None
    shares = [share for _, share in (*worst, *pairs)]
    low, high = math.floor(math.log10(min(shares))), math.ceil(math.log10(max(shares)))
    high = max(high, low + 1)
    left, right = (math.log10(one) for one in (worst[0][0], worst[-1][0]))

    def x(number: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log10(number) - left) / (right - left)

    def y(share: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log10(share) - low) / (high - low)

    return {
        "worst": " ".join(f"{x(e):.1f},{y(share):.1f}" for e, share in worst),
        "pairs": " ".join(f"{x(e):.1f},{y(share):.1f}" for e, share in pairs),
        "at": x(epsilon) if worst[0][0] <= epsilon <= worst[-1][0] else None,
        "x_ticks": [(x(e), f"{e:g}") for e, _ in worst],
        "y_ticks": [(y(10.0**p), f"{10.0 ** (p + 2):g} %") for p in range(low, high + 1)],
        "rows": [
            (e, found.worst, None if found.pair is None else found.pair.share) for e, found in at
        ],
    }


def example_of(expected: Expected, n_records: int) -> dict[str, Any] | None:
    """Simulate a made-up column with noise of the size that is to be expected of it.

    Of counts its values, each rarer than the one before; of values that follow people some of them.
    """
    random = np.random.default_rng(0)
    if expected.records is not None:
        weights = 1 / np.arange(1, N_VALUES + 1) ** 1.5
        counts = n_records * weights / weights.sum()
        noisy = np.maximum(counts + random.normal(0, expected.records, N_VALUES), 0)
        least = expected.shown_from or 0
        is_shown = noisy >= least
        most = float(max(counts.max(), noisy.max()))
        step = (RIGHT - LEFT) / N_VALUES
        bars = [
            (LEFT + step * n, _height(own, most), _height(after, most) if shown else 0.0)
            for n, (own, after, shown) in enumerate(zip(counts, noisy, is_shown, strict=True))
        ]
        n_hidden = int((~is_shown).sum())
        return {"bars": bars, "points": [], "width": step * 0.38, "n_hidden": n_hidden}
    if expected.units is None:
        return None
    before = np.sort(random.uniform(0.1, 0.9, N_PEOPLE))
    after = np.clip(before + random.normal(0, expected.share, N_PEOPLE), -0.05, 1.05)
    step = (RIGHT - LEFT) / N_PEOPLE
    points = [
        (LEFT + step * (n + 0.5), BOTTOM - (BOTTOM - TOP) * own, BOTTOM - (BOTTOM - TOP) * moved)
        for n, (own, moved) in enumerate(zip(before, after, strict=True))
    ]
    return {"bars": [], "points": points, "n_hidden": 0}


def _height(count: float, most: float) -> float:
    return (BOTTOM - TOP) * count / most

"""Means, spreads, common values and relations of columns, as a textbook computes them."""

import itertools
import math
from collections import Counter
from statistics import fmean, stdev

import numpy as np
from scipy import stats


def present(column):
    return [x for x in column if x is not None and x != "" and x == x]  # noqa: PLR0124


def column_moves(before, after):
    """Mean, spread and share of the original's commonest value of a column, before and after."""
    before, after = present(before), present(after)
    counts = Counter(before)
    # The first of several by value, as by the alphabet.
    most = min(counts, key=lambda value: (-counts[value], value))
    shares = tuple(Counter(side)[most] / len(side) for side in (before, after))
    if isinstance(most, str):
        return {"mean": None, "spread": None, "commonest": shares}
    return {
        "mean": (fmean(before), fmean(after)),
        "spread": (stdev(before), stdev(after)),
        "commonest": shares if shares[0] > 0.05 else None,
    }


def relations(original, release):
    """Pairs whose strength is above 0.1 in the original, with both strengths, strongest first."""
    found = []
    for one, other in itertools.combinations(original, 2):
        nominal = [isinstance(present(original[name])[0], str) for name in (one, other)]
        measured = cramer if any(nominal) else rank_correlation
        before = measured(original, original, one, other)
        after = measured(release, original, one, other)
        if abs(before) > 0.1:
            found.append(((one, other), before, 0.0 if math.isnan(after) else after))
    return sorted(found, key=lambda entry: -abs(entry[1]))


def n_kept(found):
    """Count those within 0.1 or 30 % of the original's."""
    return sum(
        abs(after - before) <= max(0.1, 0.3 * abs(before)) + 1e-9 for _, before, after in found
    )


def both(table, one, other):
    rows = zip(table[one], table[other], strict=True)
    return [row for row in rows if len(present(row)) == 2]


def rank_correlation(table, _, one, other):
    pairs = both(table, one, other)
    if min(len(set(side)) for side in zip(*pairs, strict=True)) < 2:
        return math.nan
    return float(stats.spearmanr(*zip(*pairs, strict=True)).statistic)


def cramer(table, original, one, other):
    """Cramér's V with Bergsma's (2013) correction, numbers cut at the original's deciles."""
    cut = []
    for name in (one, other):
        values = sorted(present(original[name]))
        ends = sorted({values[math.ceil(d * len(values) / 10) - 1] for d in range(1, 10)})
        cut.append(ends)
    pairs = [
        tuple(
            x if isinstance(x, str) else sum(x > end for end in ends)
            for x, ends in zip(pair, cut, strict=True)
        )
        for pair in both(table, one, other)
    ]
    counts = np.asarray(stats.contingency.crosstab(*zip(*pairs, strict=True)).count)
    n, (r, c) = counts.sum(), counts.shape
    if min(r, c) < 2:
        return math.nan
    phi = stats.chi2_contingency(counts, correction=False).statistic / n
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    rows, columns = (size - (size - 1) ** 2 / (n - 1) for size in (r, c))
    return math.sqrt(phi / (min(rows, columns) - 1))

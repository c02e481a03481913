"""Expected error of an attribute under vector sensitivities, to be read, not run fast."""

from fractions import Fraction
from itertools import accumulate, pairwise

from reference.optimal import all_sizes


def runs(in_order, sizes):
    """The runs of these sizes."""
    numbers = [int(number) for number in in_order]
    return [numbers[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]


def shifts(run):
    """A and B: how far one record can move the winsorised sum of its sorted run."""
    upwards = (run[-1] - run[1]) + (run[2] - run[1]) + (run[-1] - run[-2])
    downwards = (run[-2] - run[0]) + (run[-2] - run[-3]) + (run[1] - run[0])
    return upwards, downwards


def within(run):
    """Squared distances to the winsorised mean, exactly."""
    mean = Fraction(sum([run[1], *run[1:-1], run[-2]]), len(run))
    return sum((number - mean) ** 2 for number in run)


def scales(clusters, share):
    """Noise scale of each cluster's mean: least noise for the whole vector, then rescaled."""
    sensitivities = [max(shifts(run)) / len(run) for run in clusters]
    total = sum(
        sensitivity ** (2 / 3) * len(run) ** (1 / 3)
        for sensitivity, run in zip(sensitivities, clusters, strict=True)
    )
    first = [
        total * (sensitivity / len(run)) ** (1 / 3) / share
        for sensitivity, run in zip(sensitivities, clusters, strict=True)
    ]
    loss = max(
        sum(
            shifts(run)[way] / (len(run) * scale)
            for run, scale in zip(clusters, first, strict=True)
            if scale > 0
        )
        for way in (0, 1)
    )
    return [scale * loss / share for scale in first]


def objective(in_order, sizes, share):
    """Squared error within runs and expected squared noise, over all records."""
    clusters = runs(in_order, sizes)
    noise = sum(
        len(run) * 2 * scale**2
        for run, scale in zip(clusters, scales(clusters, share), strict=True)
    )
    return float(sum(within(run) for run in clusters)) + noise


def allowed(in_order, sizes, *, exact_allowed):
    """Whether no run holds equal values only, where that is forbidden."""
    return exact_allowed or all(run[0] < run[-1] for run in runs(in_order, sizes))


def least_by_search(in_order, k, share, *, exact_allowed):
    """The least objective over all partitions into runs of k or more."""
    return min(
        objective(in_order, sizes, share)
        for sizes in all_sizes(len(in_order), k, len(in_order))
        if allowed(in_order, sizes, exact_allowed=exact_allowed)
    )


def shortest_path(in_order, k, weights, places, *, exact_allowed):
    """The least weighted cost over cuts at these places: a quadratic dynamic programme."""
    numbers = [int(number) for number in in_order]
    whole, upward, downward = weights
    least = {0: 0.0}
    for end in places[1:]:
        for start in list(least):
            run = numbers[start:end]
            if len(run) < k or not (exact_allowed or run[0] < run[-1]):
                continue
            up, down = shifts(run)
            root = (max(up, down) * len(run)) ** (1 / 3) or 1.0
            cost = float(within(run))
            cost += (whole * max(up, down) + upward * up + downward * down) / root
            least[end] = min(least.get(end, float("inf")), least[start] + cost)
    return least[len(numbers)]

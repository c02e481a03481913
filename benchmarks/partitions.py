"""MDAV and optimal univariate microaggregation, against a sort, a plain version and microagg1d."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, in_turns
from microveil import partition

RECORDS = 50_000
PLAIN_RECORDS = 5_000


def joint() -> Iterator[Row]:
    """MDAV at 50,000 x 10 against a sort of ten million; at 5,000 x 10 against plain numpy."""
    random = np.random.Generator(np.random.PCG64(1))
    to_sort = random.random(10_000_000)
    tables = {
        "normals": random.normal(size=(RECORDS, 10)),
        "lognormals": np.exp(random.normal(size=(RECORDS, 1)) + random.normal(size=(RECORDS, 10))),
    }
    for name, table in tables.items():
        yield in_turns(
            f"MDAV, 50,000 x 10 {name}, k = 10",
            "numpy.argsort(kind='stable') of 1e7 floats",
            lambda table=table: partition.mdav(table, 10),
            lambda: np.argsort(to_sort, kind="stable"),
            runs=3,
            wanted="at most 0.22",
        )
    numbers = tables["normals"][:, :5]
    for of_what, codes in _codes(random).items():
        yield in_turns(
            f"MDAV, 50,000 x (5 numbers, 5 nominal attributes of {of_what}), k = 10",
            "MDAV of ten numbers",
            lambda codes=codes: partition.mdav(numbers, 10, categories=codes),
            lambda: partition.mdav(tables["normals"], 10),
            runs=3,
            wanted="at most 2",
        )
    small = tables["normals"][:PLAIN_RECORDS]
    yield in_turns(
        "MDAV, 5,000 x 10 normals, k = 10",
        "the same algorithm in plain numpy",
        lambda: partition.mdav(small, 10),
        lambda: _plain_mdav(small, 10),
        runs=3,
        wanted="(times faster)",
        inverse=True,
    )


def _codes(random: np.random.Generator) -> dict[str, np.ndarray]:
    """Five nominal attributes: short lists, lists with rare categories, and long ones."""

    def column(n_categories: int, skew: float) -> np.ndarray:
        shares = np.arange(1.0, n_categories + 1) ** -skew
        return random.choice(n_categories, RECORDS, p=shares / shares.sum())

    kinds = {
        "5 categories": [(5, 0.0)] * 5,
        "2 to 40, skewed": [(2, 1.0), (5, 1.0), (8, 1.0), (15, 1.0), (40, 1.0)],
        "100 categories": [(100, 0.0)] * 5,
    }
    return {name: np.column_stack([column(*one) for one in ones]) for name, ones in kinds.items()}


def _plain_mdav(matrix: np.ndarray, k: int) -> np.ndarray:
    """MDAV as one would write it in numpy: distances to all that remains at every step."""
    points = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0, ddof=1)
    labels = np.full(len(points), -1)
    left = np.arange(len(points))
    cluster = 0

    def form(left: np.ndarray, center: np.ndarray) -> np.ndarray:
        distances = ((points[left] - center) ** 2).sum(axis=1)
        nearest = np.argpartition(distances, k - 1)[:k]
        labels[left[nearest]] = cluster
        return np.delete(left, nearest)

    while len(left) >= 2 * k:
        from_centroid = ((points[left] - points[left].mean(axis=0)) ** 2).sum(axis=1)
        first = points[left[from_centroid.argmax()]]
        left = form(left, first)
        cluster += 1
        from_first = ((points[left] - first) ** 2).sum(axis=1)
        left = form(left, points[left[from_first.argmax()]])
        cluster += 1
    return labels


def univariate() -> Iterator[Row]:
    """Optimal partitions of 200,000 values against microagg1d's fastest exact method."""
    from microagg1d import univariate_microaggregation

    random = np.random.Generator(np.random.PCG64(2))
    values = np.round(random.lognormal(10, 1, 200_000)).astype(np.int64)
    floats = values.astype(np.float64)
    for k in (10, 1000):
        for method in ("wilber", "galil_park", "staggered"):

            def peer(k: int = k, method: str = method) -> object:
                return univariate_microaggregation(floats, k, method=method, stable=0)

            yield in_turns(
                f"optimal univariate, 2e5 whole numbers, k = {k}",
                f"microagg1d, {method}, stable=0",
                lambda k=k: partition.optimal(values, k).labels,
                peer,
                runs=3,
                wanted="at most 1",
            )
        yield in_turns(
            f"optimal univariate, 2e5 floats, k = {k}",
            "microagg1d, wilber, stable=0",
            lambda k=k: partition.optimal(floats, k).labels,
            lambda k=k: univariate_microaggregation(floats, k, method="wilber", stable=0),
            runs=3,
            wanted="at most 1",
        )

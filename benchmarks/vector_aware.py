"""The partition for vector sensitivities against a sort of the same column."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, in_turns
from microveil import partition

RECORDS = 250_000
K = 3


def vector_aware() -> Iterator[Row]:
    """250,000 records of four shapes, few clusters and many, against a stable sort."""
    random = np.random.Generator(np.random.PCG64(3))
    columns = {
        "normal": np.rint(random.normal(0, 1e6, RECORDS)),
        "lognormal": np.rint(np.exp(random.normal(10, 1.5, RECORDS))),
        "uniform": random.integers(0, 10**9, RECORDS),
        "tied": random.geometric(0.02, RECORDS),
    }
    return (
        in_turns(
            f"vector-aware partition, 2.5e5 {name}, k = {K}, share {share}",
            "numpy.argsort(kind='stable')",
            lambda column=column, share=share: partition.vector_aware_sizes(
                np.sort(column), K, share
            ),
            lambda column=column: np.argsort(column, kind="stable"),
            runs=3,
            wanted="(to compare)",
        )
        for name, column in ((name, column.astype(np.int64)) for name, column in columns.items())
        for share in (0.01, 1.0, 100.0)
    )

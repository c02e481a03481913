"""Exact discrete Laplace draws, each with its own scale."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, in_turns
from microveil.noise.noise import RandomSource, discrete_laplace

DRAWS = 200_000


def draws() -> Iterator[Row]:
    """200,000 draws against opendp's integer Laplace and numpy's floating-point one."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    scales = np.random.Generator(np.random.PCG64(1)).integers(1 << 20, 1 << 40, DRAWS)
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    measurement = opendp.m.make_laplace(*space, scale=float(1 << 20))
    zeros = [0] * DRAWS
    work = "exact discrete Laplace, 2e5 draws"
    source = RandomSource.system()
    random = np.random.default_rng()
    yield in_turns(
        work,
        "opendp's integer Laplace, one scale",
        lambda: discrete_laplace(scales, source),
        lambda: measurement(zeros),
        runs=3,
        wanted="at least 80 times faster",
        inverse=True,
    )
    yield in_turns(
        work,
        "numpy's floating-point Laplace (unsafe)",
        lambda: discrete_laplace(scales, source),
        lambda: random.laplace(0, scales),
        runs=3,
        wanted="(to compare)",
    )

"""Invented tables whose dependence is known, to choose constants on: nobody's data."""

from collections.abc import Callable

import numpy as np
import polars
import scipy
from numpy.typing import NDArray

Real = NDArray[np.float64]
Random = np.random.Generator
# By name the kind of dependence, the records, the columns and the seed: those that constants are
# chosen on, and those that are held back from the choice.
CHOSEN_ON = {
    "copula-5": ("copula", 5_000, 14, 1),
    "mixture-15": ("mixture", 15_000, 18, 2),
    "tree-5": ("tree", 5_000, 26, 3),
    "triples-8": ("triples", 8_000, 16, 4),
    "gates-15": ("gates", 15_000, 22, 5),
    "gates-4": ("gates", 4_000, 28, 6),
    "triples-40": ("triples", 40_000, 12, 7),
}
HELD_BACK = {
    "copula-12": ("copula", 12_000, 24, 101),
    "mixture-4": ("mixture", 4_000, 16, 102),
    "tree-30": ("tree", 30_000, 15, 103),
    "triples-6": ("triples", 6_000, 24, 104),
    "gates-8": ("gates", 8_000, 18, 105),
    "gates-25": ("gates", 25_000, 30, 106),
}
SIMULATED = CHOSEN_ON | HELD_BACK


def simulated(name: str) -> polars.DataFrame:
    """Draw a table, the same each time: scores that depend on each other, dressed as columns."""
    kind, n_records, n_columns, seed = SIMULATED[name]
    random = np.random.default_rng(seed)
    scores = {"copula": _factors, "mixture": _classes}.get(kind, _tree)(
        n_records, n_columns, 0.4 * (kind == "triples"), random
    )
    columns = {f"C{one}": _dressed(score, random) for one, score in enumerate(scores)}
    table = polars.DataFrame(columns)
    return _gated(table, scores, random) if kind == "gates" else table


def _factors(n_records: int, n_columns: int, _shared: float, random: Random) -> list[Real]:
    factors = random.normal(size=(3, n_records))
    loads = random.normal(size=(n_columns, 3)) * random.uniform(0.2, 1.2, (n_columns, 1))
    return [*(loads @ factors + random.normal(size=(n_columns, n_records)))]


def _classes(n_records: int, n_columns: int, _shared: float, random: Random) -> list[Real]:
    of_record = random.choice(6, n_records, p=random.dirichlet(np.full(6, 2.0)))
    middles = random.normal(scale=1.2, size=(n_columns, 6))
    widths = random.uniform(0.4, 1.2, (n_columns, 6))
    noise = random.normal(size=(n_columns, n_records))
    return [*(middles[:, of_record] + widths[:, of_record] * noise)]


def _tree(n_records: int, n_columns: int, shared: float, random: Random) -> list[Real]:
    """Let each column follow an earlier one, and a share of them two together: by steps."""
    found: list[Real] = [random.normal(size=n_records)]
    for _ in range(1, n_columns):
        first, second = random.integers(0, len(found), 2)
        strength, own = random.uniform(0.3, 0.95), random.normal(size=n_records)
        if len(found) > 1 and random.random() < shared:
            levels = random.normal(size=(4, 4))
            of_both = levels[_quarters(found[first]), _quarters(found[second])]
        elif random.random() < 0.5:
            of_both = found[first]
        else:
            levels = random.normal(size=8)
            of_both = levels[2 * _quarters(found[first]) + (found[first] % 1 < 0.5)]
        found.append(strength * of_both + np.sqrt(1 - strength**2) * own)
    return found


def _quarters(score: Real) -> NDArray[np.int64]:
    return np.searchsorted(np.quantile(score, (0.25, 0.5, 0.75)), score)


def _gated(table: polars.DataFrame, scores: list[Real], random: Random) -> polars.DataFrame:
    """Empty two groups of columns wherever a column of another is low: they do not apply."""
    places = random.permutation(len(scores))
    for gate, group in zip(places[:2], np.array_split(places[2:], 5)[:2], strict=True):
        closed = scores[gate] < np.quantile(scores[gate], random.uniform(0.15, 0.4))
        for one in group:
            name = f"C{one}"
            of_kind = {polars.String: "N", polars.Int64: -8}.get(table[name].dtype)
            values = (
                polars.when(polars.Series(closed))
                .then(polars.lit(of_kind))
                .otherwise(polars.col(name))
            )
            table = table.with_columns(values.alias(name))
    return table


def _dressed(score: Real, random: Random) -> polars.Series:
    """Make a column of a score: yes or no, a short or a long list, a number with a spike or not."""
    share = (scipy.stats.rankdata(score) - 0.5) / len(score)
    makers: list[Callable[[Real, Random], polars.Series]] = [_listed, _age, _amount, _long]
    return random.choice(np.array(makers), p=[0.55, 0.15, 0.22, 0.08])(share, random)


def _listed(share: Real, random: Random) -> polars.Series:
    masses = random.dirichlet(np.full(random.integers(2, 9), 1.5))
    return _words(np.searchsorted(np.cumsum(masses)[:-1], share), random)


def _long(share: Real, random: Random) -> polars.Series:
    n_words = int(random.integers(15, 80))
    masses = 1 / np.arange(1, n_words + 1) ** 1.2
    return _words(np.searchsorted(np.cumsum(masses / masses.sum())[:-1], share), random)


def _words(codes: NDArray[np.int64], random: Random) -> polars.Series:
    names = random.permutation(int(codes.max()) + 1)
    return polars.Series([f"w{name:03d}" for name in names[codes]])


def _age(share: Real, random: Random) -> polars.Series:
    return polars.Series(np.floor(90 * share ** random.uniform(0.7, 1.4)).astype(np.int64))


def _amount(share: Real, random: Random) -> polars.Series:
    """Draw amounts of which a share is 0, in hundreds where they are large."""
    zeros = random.uniform(0, 0.8)
    rest = np.clip((share - zeros) / (1 - zeros), 0.5 / len(share), 1 - 0.5 / len(share))
    amounts = np.exp(random.uniform(4, 9) + random.uniform(0.4, 1.1) * scipy.special.ndtri(rest))
    whole = np.where(amounts > 2_000, 100 * np.round(amounts / 100), np.round(amounts))
    return polars.Series(np.where(share < zeros, 0, whole).astype(np.int64))

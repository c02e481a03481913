"""How far clusters change with one value, what is promised, and which records come out alike."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

import microveil as mv
from microveil.guarantee import Condition
from microveil.protect.draw import draw

__all__ = [
    "Anonymity",
    "Promised",
    "Stability",
    "anonymity_of",
    "changed_clusters",
    "lost_sizes",
    "promises_of",
    "stability_of",
]

K = 10
ALPHA = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """What one changed value of one record did to a partition.

    Attributes
    ----------
    where, name : str
        The attributes; "mdav", "mdav-insensitive" or "optimal".
    shares : tuple of float
        For each change, how many of the clusters changed by more than one record, 0 to 1; of
        "optimal" how many of the sizes of clusters are none afterwards.
    """

    where: str
    name: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """The epsilons that a method states for domains which are declared, not read from the data.

    Attributes
    ----------
    name : str
        A method with its steps.
    cluster, vector : float or None
        With clusters held, and formed anew; None where nothing is promised.
    conditions : tuple of Condition
        What these epsilons take as given or leave out, beside such domains.
    """

    name: str
    cluster: float | None
    vector: float | None
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """The fewest records of equal values in a release, by k.

    Attributes
    ----------
    where, name : str
        The attributes; a method, with its partition.
    groups : tuple of (int, int)
        Each k, and the size of the smallest group of equal records.
    """

    where: str
    name: str
    groups: tuple[tuple[int, int], ...]


def stability_of(frame: polars.DataFrame, where: str, times: int, seed: int) -> Iterator[Stability]:
    """Change one value of one record, many times, and form the clusters anew.

    Parameters
    ----------
    frame : polars.DataFrame
        The attributes, numbers without missing cells.
    where : str
        For the result.
    times : int
        How many changes, each of the table as it is; the value is drawn evenly from the domain,
        which is 0 to 1.5 times the largest value and held.
    seed : int

    Yields
    ------
    Stability
        Of MDAV, of insensitive MDAV, and of optimal microaggregation of the attribute that was
        changed, all at k 10.
    """
    values = frame.to_numpy().astype(np.float64)
    bounds = np.column_stack(
        [np.minimum(0, ALPHA * values.min(axis=0)), ALPHA * values.max(axis=0)]
    )
    changed = list(_changed(values, bounds, times, seed))
    for name, partition in (
        ("mdav", mv.partition.mdav),
        ("mdav-insensitive", lambda matrix, k: mv.partition.insensitive_mdav(matrix, k, bounds)),
    ):
        before = partition(values, K).labels
        shares = tuple(changed_clusters(before, partition(other, K).labels) for other in changed)
        yield Stability(where=where, name=name, shares=shares)
    lost = tuple(_lost(values, other) for other in changed)
    yield Stability(where=where, name="optimal", shares=lost)


def _lost(values: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the share of sizes that are lost; 0 where the value was drawn as it was."""
    for column in np.flatnonzero(np.any(values != other, axis=0)):
        before, after = (
            mv.partition.optimal(table[:, column], K).sizes for table in (values, other)
        )
        return lost_sizes(before, after)
    return 0.0


def lost_sizes(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return how many clusters have a size that is none any more, as a share of all.

    Sizes are counted as a release shows them, without their order.

    Parameters
    ----------
    before, after : int64 arrays (n_clusters,)

    Examples
    --------
    >>> lost_sizes(np.array([3, 3, 4]), np.array([3, 4, 3]))
    0.0
    >>> lost_sizes(np.array([3, 4]), np.array([7]))
    1.0
    """
    lost = Counter(before.tolist()) - Counter(after.tolist())
    return lost.total() / len(before)


def _changed(
    values: NDArray[np.float64], bounds: NDArray[np.float64], times: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    n_records, n_attributes = values.shape
    for _ in range(times):
        record, attribute = generator.integers(n_records), generator.integers(n_attributes)
        other = values.copy()
        other[record, attribute] = np.floor(generator.uniform(*bounds[attribute]))
        yield other


def changed_clusters(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return how many clusters lost more than one record to others, as a share of all.

    Each is held against the new cluster that has most of its records.

    Parameters
    ----------
    before, after : int64 arrays (n_records,)
        The cluster of each record, counted from 0.

    Examples
    --------
    >>> before = np.array([0, 0, 0, 1, 1, 1])
    >>> changed_clusters(before, np.array([0, 0, 1, 0, 1, 1]))
    0.0
    >>> changed_clusters(before, np.array([0, 1, 2, 2, 2, 2]))
    0.5
    """
    shared = np.zeros((before.max() + 1, after.max() + 1), dtype=np.int64)
    np.add.at(shared, (before, after), 1)
    return float(np.mean(shared.sum(axis=1) - shared.max(axis=1) > 1))


def anonymity_of(
    frame: polars.DataFrame, where: str, sizes: Sequence[int], seed: int
) -> Iterator[Anonymity]:
    """Count the records that have equal values in releases of every k.

    Parameters
    ----------
    frame : polars.DataFrame
    where : str
        For the result.
    sizes : sequence of int
        Each k.
    seed : int
        Of the noise.

    Yields
    ------
    Anonymity
        Of MDAV and insensitive MDAV without noise, and of each partition with noise of epsilon 1.
    """
    requests: list[dict[str, Any]] = [{"method": "mdav"}, {"method": "mdav-insensitive"}]
    requests += [
        {"method": "record-dp", "partition": partition, "epsilon": 1.0, "seed": seed}
        for partition in ("mdav", "ranking", "optimal")
    ]
    names = frame.columns
    for request in requests:
        groups = []
        for k in sizes:
            planned = mv.plan(
                frame, k=k, attributes=names, bounds=mv.bounds_from_data(frame, ALPHA),
                resolution=dict.fromkeys(names, 1), outside="clamp", exact_cells="allow",
                **request,
            )  # fmt: skip
            groups.append((k, int(draw(planned).data.group_by(names).len()["len"].min())))
        steps = f":partition={request['partition']}" if "partition" in request else ""
        yield Anonymity(where=where, name=f"{request['method']}{steps}", groups=tuple(groups))


def promises_of(frame: polars.DataFrame, names: Sequence[str]) -> Iterator[Promised]:
    """Plan releases of epsilon 1 and k 10 on declared domains, and read their promises.

    Parameters
    ----------
    frame : polars.DataFrame
    names : sequence of str
        Methods with their steps: "record-dp:partition=mdav".

    Yields
    ------
    Promised

    Notes
    -----
    The domains are those that the experiment reads from the data, taken as given.
    """
    given = {name: tuple(ends) for name, ends in mv.bounds_from_data(frame, ALPHA).items()}
    for name in names:
        method, _, step = name.partition(":")
        choice, _, value = step.partition("=")
        steps: dict[str, Any] = {choice: value}
        claim = mv.plan(
            frame, method=method, k=K, epsilon=1.0, attributes=frame.columns, bounds=given,
            resolution=dict.fromkeys(frame.columns, 1), outside="clamp", exact_cells="allow",
            **steps,
        ).claim  # fmt: skip
        yield Promised(
            name=name,
            cluster=claim.scopes.cluster.epsilon,
            vector=claim.scopes.vector.epsilon,
            conditions=claim.conditions,
        )

"""What the guarantees of compared cells hang on, beside their scope and epsilon."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from microveil.compare.rows import NO_SCOPE
from microveil.schema import Attribute, Source

__all__ = ["READ_FROM_DATA", "Condition", "conditions_of", "for_all", "read_from_data"]

# Where a description names the attributes whose bounds or resolutions came from the data.
READ_FROM_DATA = "read_from_data"
CHOSEN = frozenset({"optimal", "noise-aware"})
ANEW = frozenset({"vector", "row"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a guarantee.

    Attributes
    ----------
    short : str
        Goes behind the name of a method, in parentheses.
    told : str
        A sentence, or two.
    """

    short: str
    told: str


HELD = Condition(
    short="with the rank boundaries held",
    told="Formed anew means by the same rank boundaries: with boundaries chosen anew nothing is "
    "promised.",
)
SIZES = Condition(
    short="with the cluster sizes held",
    told="Cluster sizes were chosen from the data: the claim takes them as given.",
)


def conditions_of(row: Mapping[str, Any], description: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return the conditions of one cell that its scope and epsilon do not tell.

    Parameters
    ----------
    row : dict
        Of a summary.
    description : dict
        Of its comparison.

    Examples
    --------
    >>> row = {"method": "record-dp", "steps": "partition=optimal", "scope": "vector"}
    >>> [condition.short for condition in conditions_of(row, {})]
    ['with the rank boundaries held']
    """
    arguments = description.get("arguments", {})
    steps = dict(step.split("=", 1) for step in row["steps"].split(":") if "=" in step)
    partition = steps.get("partition", arguments.get("partition"))
    if row["method"] == "record-dp":
        return (HELD,) if partition in CHOSEN and row["scope"] in ANEW else ()
    if row["scope"] == NO_SCOPE or row.get("model") != "idp":
        return ()
    widened = steps.get("exact_cells", arguments.get("exact_cells")) == "widen"
    by_noise = row["method"] == "idp-vector" and partition == "noise-aware"
    return (SIZES,) if by_noise or widened else ()


def for_all(description: Mapping[str, Any], *, spends: bool = True) -> tuple[str, ...]:
    """Return what holds for every claim of a comparison, each in words of its own.

    Parameters
    ----------
    description : dict
        Of the comparison.
    spends : bool
        Whether some cell keeps an epsilon: without one nothing is claimed by bounds.

    Examples
    --------
    >>> for_all({"read_from_data": {"bounds": ["AGE"]}})[0][:39]
    'Bounds were read from the data for AGE:'
    >>> for_all({"arguments": {"keep": ["CITY"]}}, spends=False)
    ('Released unprotected: CITY. No claim covers these columns.',)
    """
    keep = description.get("arguments", {}).get("keep") or ()
    kept = [keep] if isinstance(keep, str) else keep
    told = []
    if kept:
        told.append(f"Released unprotected: {', '.join(kept)}. No claim covers these columns.")
    read = description.get(READ_FROM_DATA, {}) if spends else {}
    if names := read.get("bounds"):
        told.append(
            f"Bounds were read from the data for {', '.join(names)}: no claim holds for whoever "
            "has the largest or the smallest value, and nothing here is differential privacy."
        )
    if names := read.get("resolution"):
        told.append(
            f"Resolutions were read from the data for {', '.join(names)}: the claims take them as "
            "given, and nothing here is differential privacy."
        )
    return tuple(told)


def read_from_data(attributes: Iterable[Attribute]) -> dict[str, list[str]]:
    """Name the attributes whose bounds or resolutions were read from the data.

    Parameters
    ----------
    attributes : iterable of Attribute
        May name one several times, as different methods read it.

    Returns
    -------
    dict of list of str
        By "bounds" and "resolution"; what has no names is left out.
    """
    every = list(attributes)
    found = {
        "bounds": [a.name for a in every if a.bounds and a.bounds.source is Source.DATA],
        "resolution": [a.name for a in every if a.resolution_source is Source.DATA],
    }
    return {what: list(dict.fromkeys(names)) for what, names in found.items() if names}

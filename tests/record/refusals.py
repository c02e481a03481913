"""Bad requests and bad tables: the messages that refuse them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import microveil as mv
from record.keeping import Case
from record.people import FRAMES, N, columns
from record.releases import BOUNDS, NAMES, REGION, RESOLUTION, request

__all__ = ["cases"]

# By name: what is asked beside, or instead of, a request that is in order.
REQUESTS: dict[str, dict[str, Any]] = {
    "no method": {"method": None},
    "unknown method": {"method": "dp"},
    "unknown argument": {"delta": 0.1},
    "no k": {"k": None},
    "k of 0": {"k": 0},
    "k a fraction": {"k": 2.5},
    "k too small": {"method": "idp-cbls", "k": 2},
    "k above the number of records": {"k": N + 1},
    "no epsilon": {"epsilon": None},
    "epsilon negative": {"epsilon": -1},
    "epsilon of text": {"epsilon": "much"},
    "epsilon beyond all": {"epsilon": 1e200},
    "unknown attribute": {"attributes": ["AGE", "NOBODY"]},
    "attribute named twice": {"attributes": ["AGE", "AGE"]},
    "attributes a number": {"attributes": 5},
    "unknown column kept": {"keep": ["NOBODY"]},
    "protected and kept": {"keep": ["AGE"]},
    "text protected": {"attributes": ["REGION"]},
    "text without its categories": {"method": "pram", "attributes": ["REGION"], "epsilon": 1},
    "one category": REGION | {"method": "pram", "bounds": {"REGION": ["north"]}},
    "categories twice": REGION | {"method": "pram", "bounds": {"REGION": ["north", "north"]}},
    "a category not declared": REGION | {"method": "pram", "bounds": {"REGION": ["north", "east"]}},
    "categories of a number": {"bounds": BOUNDS | {"AGE": ["young", "old"]}},
    "bounds missing": {"bounds": None},
    "bounds of an unknown column": {"bounds": BOUNDS | {"NOBODY": (0, 1)}},
    "bounds reversed": {"bounds": BOUNDS | {"AGE": (120, 0)}},
    "bounds of one number": {"bounds": BOUNDS | {"AGE": (0,)}},
    "bounds infinite": {"bounds": BOUNDS | {"AGE": (0, float("inf"))}},
    "bounds no mapping": {"bounds": (0, 1)},
    "bounds of a date as numbers": {"bounds": BOUNDS | {"SINCE": (0, 1)}},
    "bounds beyond 64 bits": {"bounds": BOUNDS | {"AGE": (0, 1e30)}},
    "values outside the bounds": {"bounds": BOUNDS | {"AGE": (0, 30)}},
    "no resolution": {"resolution": None},
    "resolution of 0": {"resolution": RESOLUTION | {"INCOME": 0}},
    "resolution of a whole number": {"resolution": RESOLUTION | {"AGE": 0.5}},
    "budget of 0": {"budget": {"AGE": 0}},
    "budget of another column": {"budget": {"REGION": 1}},
    "outside": {"outside": "drop"},
    "missing": {"missing": "drop"},
    "exact cells": {"exact_cells": "hide"},
    "exact cells there": {"method": "idp-cbls", "exact_cells": "refuse"},
    "unknown partition": {"partition": "kmeans"},
    "a partition of another method": {"method": "idp-vector", "partition": "mdav"},
    "unknown composition": {"method": "kanon-dp", "composition": "none"},
    "unknown noise": {"method": "k-noise", "noise": "cauchy"},
    "isotonic": {"method": "laplace", "isotonic": True},
    "isotonic of text": {"isotonic": "yes"},
    "shuffle": {"shuffle": "cells"},
    "shuffle columns and keep": {"shuffle": "columns", "keep": ["REGION"]},
    "seed of text": {"seed": "one"},
    "types": {"types": {"AGE": "decimal"}},
    "unknown type": {"types": {"AGE": "ordinal scale"}},
    "population": {"population": " people"},
    "scope": {"scope": "row"},
    "unknown scope": {"scope": "person"},
    "no method for a scope": {"method": "auto", "k": "auto", "scope": "row", "bounds": "from data"},
    "blocks of names": {"method": "mdav", "blocks": ["AGE"]},
    "blocks that overlap": {"method": "mdav", "blocks": [["AGE"], ["AGE", "INCOME"]]},
    "blocks of another column": {"method": "mdav", "blocks": [["REGION"]]},
    "width of 0": {"method": "k-pram", "width": 0},
    "too many categories": {"method": "pram", "resolution": {"INCOME": 1}},
    "a matrix of another shape": REGION | {"method": "pram", "matrix": {"REGION": [[1]]}},
    "a matrix of ones": REGION | {"method": "pram", "matrix": {"REGION": [[1] * 3] * 3}},
}  # fmt: skip
TABLES: dict[str, Any] = {
    "no table": [1, 2, 3],
    "no column": {},
    "no record": {"AGE": np.array([], dtype=int)},
    "one record": {"AGE": np.array([1])},
    "columns of two lengths": {"AGE": np.arange(3), "INCOME": np.arange(4)},
    "only identifiers": {"ID": 1000 + np.arange(N)},
    "names of numbers": {1: np.arange(N)},
}


def cases() -> Iterator[Case]:
    """Go through bad requests, then bad tables."""
    table = FRAMES["numpy"](columns())
    for name, more in REQUESTS.items():
        yield _case(f"request: {name}", table, request(table, **{"method": "dp-um", **more}))
    for name, bad in TABLES.items():
        yield _case(f"table: {name}", bad, {"method": "dp-um", "k": 3, "epsilon": 1})
    gaps = FRAMES["polars"](columns(gaps=True))
    yield _case("table: gaps", gaps, request(gaps, method="dp-um", attributes=NAMES))


def _case(name: str, table: Any, asked: dict[str, Any]) -> Case:
    def parts() -> dict[str, Any]:
        mv.protect(table, **asked)
        return {"nothing": "It is not refused."}

    return Case(name=name, parts=parts)

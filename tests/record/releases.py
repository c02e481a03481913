"""Releases: every method, every choice it offers, every kind of frame.

Most are without a seed, whose guarantee would cover nobody: `Case` sees to their randomness.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import microveil as mv
from record.canonical import figures, plain_frame
from record.keeping import Case
from record.people import FRAMES, columns

__all__ = ["cases", "request"]

METHODS = [entry["id"] for entry in mv.methods()]
NAMES = ["AGE", "INCOME", "EMPLOYED", "SINCE"]
BOUNDS = {"AGE": (0, 120), "INCOME": (0, 50_000), "SINCE": ("2000-01-01", "2020-12-31")}
REGIONS = ["north", "south", "west"]
# Few enough steps for a transition matrix.
RESOLUTION = {"INCOME": 200, "SINCE": 30}
# A request without hope is weighed against all methods, which takes ten times as long.
PLENTY = 40
BLOCKS = [["AGE", "INCOME"], ["EMPLOYED", "SINCE"]]
# What a request may ask of any method. None takes an argument away.
OF_ANY: dict[str, dict[str, Any]] = {
    "as it is": {},
    "shuffle rows": {"shuffle": True},
    "shuffle columns": {"shuffle": "columns"},
    "keep": {"keep": ["REGION"]},
    "missing keep": {"missing": "keep"},
    "budget": {"budget": {"AGE": 3, "SINCE": 0.5}},
    "outside clamp": {"bounds": {**BOUNDS, "AGE": (30, 70)}, "outside": "clamp"},
    "bounds from data": {"bounds": "from data", "resolution": {"INCOME": 200, "SINCE": 60}},
    "resolution from data": {"resolution": "from data"},
    "fine resolution": {"resolution": {"INCOME": 0.01}},
    "one attribute": {"attributes": "AGE"},
    "attributes unnamed": {"attributes": None},
    "seed": {"seed": 7},
    "little epsilon": {"epsilon": 1},
}
RANKED: dict[str, dict[str, Any]] = {"isotonic": {"isotonic": True}}
RANKED_MORE: dict[str, dict[str, Any]] = {
    "isotonic, shuffle rows": {"isotonic": True, "shuffle": True},
    "isotonic, missing keep": {"isotonic": True, "missing": "keep"},
}
EXACT: dict[str, dict[str, Any]] = {
    "exact cells refuse": {"exact_cells": "refuse"},
    "exact cells widen": {"exact_cells": "widen"},
    "exact cells widen, one attribute": {"exact_cells": "widen", "attributes": "AGE"},
}
JOINT: dict[str, dict[str, Any]] = {
    "blocks": {"blocks": BLOCKS},
    "blocks, shuffle rows": {"blocks": BLOCKS, "shuffle": True},
}
INTERVALS: dict[str, dict[str, Any]] = {
    "every average": {"every": "average"},
    "every group": {"every": "group"},
    "width": {"width": 500, "k": None, "attributes": ["INCOME"]},
}
MATRIX = [[0.8, 0.1, 0.1], [0.25, 0.5, 0.25], [0, 0, 1]]
REGION = {
    "attributes": ["REGION"],
    "bounds": {"REGION": REGIONS},
    "resolution": None,
    "epsilon": 3,
}
# What only some methods have a step for.
OWN: dict[str, dict[str, dict[str, Any]]] = {
    "dp-um": RANKED | RANKED_MORE,
    "idp-ls": RANKED,
    "idp-cbls": RANKED | EXACT,
    "idp-vector": RANKED | EXACT | {
        "partition ranking": {"partition": "ranking"},
        "partition noise-aware": {"partition": "noise-aware"},
        "partition noise-aware, shuffle columns": {
            "partition": "noise-aware", "shuffle": "columns"
        },
    },
    "record-dp": JOINT | {
        f"partition {name}": {"partition": name}
        for name in ("mdav", "ranking", "optimal", "noise-aware")
    },
    "kanon-dp": JOINT | {
        "composition sequential": {"composition": "sequential"},
        "composition parallel": {"composition": "parallel"},
        "composition parallel, shuffle rows": {"composition": "parallel", "shuffle": True},
        "sensitivity global": {"sensitivity": "global"},
        "sensitivity vector": {"sensitivity": "vector"},
        "sensitivity vector, blocks": {"sensitivity": "vector", "blocks": BLOCKS},
    },
    "mdav": JOINT,
    "mdav-insensitive": JOINT,
    "v-mdav": JOINT,
    "k-pram": INTERVALS | {f"noise {law}": {"noise": law} for law in ("draw", "permutation")},
    "k-noise": INTERVALS | {
        f"noise {law}": {"noise": law} for law in ("uniform", "laplace", "gaussian", "triangular")
    },
    "pram": {
        "categories": REGION,
        "categories and numbers": {
            "attributes": ["REGION", "AGE"], "bounds": {"REGION": REGIONS, "AGE": (0, 120)},
            "resolution": None, "epsilon": 4,
        },
        "matrix": REGION | {"matrix": {"REGION": MATRIX}, "epsilon": None},
        "matrix invariant": REGION | {"matrix": {"REGION": "invariant"}},
    },
}  # fmt: skip
# What hangs on the kind of frame: how columns are read and put back.
OF_FRAMES = ("keep", "missing keep", "shuffle rows", "shuffle columns",
             "bounds from data", "resolution from data", "attributes unnamed")  # fmt: skip
ADVISED: dict[str, dict[str, Any]] = {
    **{
        f"{method}, k auto": {"method": method, "k": "auto"}
        for method in ("dp-um", "idp-vector", "record-dp", "kanon-dp")
    },
    "method auto, vector scope": {"method": "auto", "k": "auto", "scope": "vector"},
    "method auto, row scope": {
        "method": "auto", "k": "auto", "scope": "row", "attributes": ["INCOME"], "shuffle": True,
    },
    "dp-um, scope vector": {"method": "dp-um", "scope": "vector"},
    "dp-um, scope row": {"method": "dp-um", "scope": "row"},
    "dp-um, population": {"method": "dp-um", "population": "people 2025"},
    "laplace, unused choices": {
        "method": "laplace", "partition": "mdav", "every": "average", "noise": "gaussian",
    },
    "idp-cbls, types": {
        "method": "idp-cbls", "types": {"AGE": "whole number", "REGION": "text"},
    },
}  # fmt: skip


def request(table: Any, **more: Any) -> dict[str, Any]:
    """Return a request that every method takes, but for what is asked beside it."""
    asked = {
        "k": 5, "epsilon": PLENTY, "attributes": NAMES, "bounds": BOUNDS, "resolution": RESOLUTION,
        "exact_cells": "allow", **more,
    }  # fmt: skip
    if asked.get("method") == "kanon-dp" and "epsilon" not in more:
        asked["epsilon"] = 10_000
    if asked["bounds"] == "from data":
        asked["bounds"] = mv.bounds_from_data(table, 1.5)
    if asked["resolution"] == "from data":
        asked["resolution"] = mv.resolution_from_data(table)
    return asked


def cases() -> Iterator[Case]:
    """Go through the releases."""
    for method in METHODS:
        for name, more in {**OF_ANY, **OWN.get(method, {})}.items():
            yield _case(f"{method}, {name}", "numpy", {"method": method, **more})
    for name, more in ADVISED.items():
        yield _case(name, "numpy", more)
    for frame in ("pandas", "polars", "pyarrow"):
        for method in METHODS:
            yield _case(f"{method}, as it is", frame, {"method": method})
        for name, method in itertools.product(OF_FRAMES, ("idp-ls", "k-noise")):
            yield _case(f"{method}, {name}", frame, {"method": method, **OF_ANY[name]})
        for name in ("categories", "matrix invariant"):
            yield _case(f"pram, {name}", frame, {"method": "pram", **OWN["pram"][name]})


def _cells(release: mv.Release) -> dict[str, Any]:
    """Return the table; of a new one kinds and types alone, as its model is fitted by floats."""
    data = plain_frame(release.data)
    if release.guarantee.is_synthetic:
        data["columns"] = {
            name: [kind, len(cells)] for name, (kind, cells) in data["columns"].items()
        }
        data.pop("index", None)
    return data


def _case(name: str, frame: str, more: dict[str, Any]) -> Case:
    def parts() -> dict[str, Any]:
        table = FRAMES[frame](columns(gaps=more.get("missing") == "keep"))
        release = mv.protect(table, **request(table, **more))
        return {
            "data": _cells(release),
            "guarantee": release.guarantee.to_dict(),
            "statement": release.guarantee.statement(),
            "manifest": figures(release.manifest.to_dict()),
            "notes": "\n".join(release.notes),
        }

    return Case(name=f"{name}, {frame}", parts=parts)

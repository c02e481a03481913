"""What is said of a table and of a release: advice, audits, assessments, attacks, comparisons."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import microveil as mv
from record.canonical import plain_frame
from record.keeping import Case
from record.people import FRAMES, N, columns
from record.releases import request

__all__ = ["cases"]

PEOPLE = FRAMES["numpy"](columns())
METHODS = [entry["id"] for entry in mv.methods()]
TWO = {"attributes": ["AGE", "INCOME"]}


def cases() -> Iterator[Case]:
    """Go through the answers."""
    yield Case(name="methods", parts=lambda: {"registry": mv.methods()})
    for method in METHODS:
        yield _answer(f"audit, {method}", lambda asked: mv.audit(PEOPLE, **asked), method=method)
    for name, more in {
        "dp-um": {"method": "dp-um"},
        "dp-um, little epsilon": {"method": "dp-um", "epsilon": 1},
        "idp-vector, isotonic": {"method": "idp-vector", "isotonic": True},
        "idp-cbls, refused": {"method": "idp-cbls", "exact_cells": "refuse"},
        "auto": {"method": "auto", "k": "auto", "scope": "vector", **TWO},
        "mdav": {"method": "mdav"},
        "pram": {"method": "pram"},
    }.items():
        yield _answer(f"advise, {name}", lambda asked: mv.advise(PEOPLE, **asked), **more)
    for method in ("laplace", "dp-um", "idp-vector"):
        yield _answer(f"empirical audit, {method}", _attacked, method=method)
    for name, measure in MEASURES.items():
        yield Case(name=name, parts=_parts(measure))
    for name, more in COMPARISONS.items():
        yield Case(name=f"compare, {name}", parts=_compared(more))


def _answer(name: str, ask: Callable[[dict[str, Any]], Any], **more: Any) -> Case:
    return Case(name=name, parts=_parts(lambda: ask(request(PEOPLE, **more))))


def _parts(ask: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    def parts() -> dict[str, Any]:
        answer = ask()
        return {"figures": answer.to_dict(), "text": answer.to_text()}

    return parts


def _attacked(asked: dict[str, Any]) -> Any:
    return mv.empirical_audit(PEOPLE, **asked, runs=300, audit_seed=1)


def _released(**more: Any) -> mv.Release:
    return mv.protect(PEOPLE, **request(PEOPLE, **{"method": "dp-um", "seed": 7, **more}))


def _control() -> dict[str, np.ndarray]:
    return {name: np.roll(column, 7)[: N // 2] for name, column in PEOPLE.items()}


MEASURES: dict[str, Callable[[], Any]] = {
    "assess": lambda: mv.assess(PEOPLE, _released(keep=["REGION"])),
    "assess, tables": lambda: mv.assess(PEOPLE, _released().data, ["AGE", "INCOME"], k=5),
    "assess, shuffled": lambda: mv.assess(PEOPLE, _released(shuffle=True)),
    "assess, categories": lambda: mv.assess(PEOPLE, _released(
        method="pram", attributes=["REGION", "AGE"], epsilon=3, resolution=None,
        bounds={"REGION": ["north", "south", "west"], "AGE": (0, 120)},
    )),
    "assess, gaps": lambda: mv.assess(
        FRAMES["polars"](columns(gaps=True)), _released().data, ["AGE", "INCOME"]
    ),
    "assess, classes": lambda: mv.assess(
        PEOPLE, _released(), classes="REGION", estimator=RandomForestClassifier(5, random_state=1)
    ),
    "assess, regression": lambda: mv.assess(
        PEOPLE, _released(), formula="INCOME ~ AGE", propensity=True
    ),
    "assess, logistic": lambda: mv.assess(
        PEOPLE, _released(), formula="EMPLOYED ~ INCOME", logistic=True
    ),
    "attack": lambda: mv.attack(PEOPLE, _released().data),
    "attack, control": lambda: mv.attack(
        PEOPLE, _released().data, control=_control(), known=["AGE"], secret=["INCOME"], seed=3
    ),
    "attack, shuffled": lambda: mv.attack(PEOPLE, _released(shuffle=True).data, paired=False),
}  # fmt: skip
GRID = {"k": "3,5", "epsilon": [1, 40], "runs": 2, "seed": 1, "jobs": 1}
COMPARISONS: dict[str, dict[str, Any]] = {
    "methods": {"methods": METHODS, "exact_cells": "refuse", "runs": 1},
    "steps": {"methods": ["idp-vector:partition=ranking", "record-dp:partition=optimal"], **TWO},
    "analyses": {
        "methods": ["dp-um", "mdav"], "linkage": False, "formula": "INCOME ~ AGE",
        "propensity": True, **TWO,
    },
    "shuffle": {"methods": ["dp-um", "idp-ls"], "shuffle": "columns", **TWO},
}  # fmt: skip


def _compared(more: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    def parts() -> dict[str, Any]:
        found = mv.compare(PEOPLE, **request(PEOPLE, **GRID | more))
        return {
            "figures": {
                name: part for name, part in found.to_dict().items() if name != "description"
            },
            "description": {**found.description, "microveil": None},
            "runs": plain_frame(found.table),
            "answer": found.answer,
        }

    return parts

"""Comparisons of made-up cells, for tests of what is said of them."""

from microveil.compare import Comparison
from microveil.compare.columns import Measures
from microveil.guarantee.condition import cluster_sizes, rank_boundaries
from microveil.measures.linkage import CHANCE

__all__ = ["MEASURES", "RISKS", "made"]

RISKS = Measures().risks
MEASURES = [name for name in Measures().names if name != CHANCE]
# What the cells that are made up here hang on.
HELD = {
    "record-dp:partition=optimal": [rank_boundaries()],
    "record-dp:partition=noise-aware": [rank_boundaries()],
    "idp-vector:partition=noise-aware": [cluster_sizes()],
}


def made(*cells, runs=(-1.0, 0.0, 1.0), conditions=(), exact_cells=0, **description):
    """Make a comparison of cells (method:steps, k, epsilon, scope, model, loss, linkage)."""
    rows = []
    for number, (choice, k, epsilon, scope, model, loss, linkage) in enumerate(cells):
        method, _, steps = choice.partition(":")
        held = [*conditions, *HELD.get(choice, ())]
        facts = {"configuration": number, "method": method, "steps": steps, "k": k,
                 "epsilon": epsilon, "scope": scope, "model": model, "vector_loss": 9.0,
                 "exact_cells": exact_cells, "n_cells": 50, CHANCE: 1.0,
                 "conditions": [condition.to_dict() for condition in held]}  # fmt: skip
        for run, shift in enumerate(runs, start=1):
            figures = dict.fromkeys(MEASURES, loss + shift) | dict.fromkeys(RISKS, linkage)
            rows.append({**facts, "run": run, "seed": run, **figures})
    return Comparison.of(rows, {"runs": len(runs), "seed": 1, **description})

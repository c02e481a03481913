"""The tables that are compared, and what is public of each."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

Bounds = dict[str, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table in MICROVEIL_DATA, its declared domains and what a classifier learns of it.

    Attributes
    ----------
    file : str
    bounds : callable
        Of the table; but for Census they are public knowledge, and the same whatever it holds.
    target : str
        The attribute that a classifier predicts.
    positive : callable
        Which of its values are the class whose F is measured, given the original's too.
    resolution : dict of float
        The steps of numbers that are not whole.
    trees, leaf : int
        Of the forest, and the least number of records in a leaf.
    """

    file: str
    bounds: Callable[[polars.DataFrame], Bounds]
    target: str
    positive: Callable[[polars.Series, polars.Series], polars.Series]
    resolution: dict[str, float] = field(default_factory=dict)
    trees: int = 100
    leaf: int = 1

    @property
    def path(self) -> Path:
        """Where the table lies."""
        return Path(os.environ["MICROVEIL_DATA"], self.file)

    def asked(self, table: polars.DataFrame) -> dict[str, Any]:
        """Declare what a request declares: all columns, categories as they are."""
        return {
            "attributes": table.columns,
            "bounds": self.bounds(table),
            "resolution": self.resolution,
            "categories": {
                name: table[name].unique().sort().to_list()
                for name in table.columns
                if table[name].dtype == polars.String
            },
        }


def domains(table: polars.DataFrame) -> Bounds:
    """Declare 0 to 1.5 times the largest value, rounded up to half a leading digit.

    >>> domains(polars.DataFrame({"TAX": [1, 9_876]}))
    {'TAX': (0, 15000)}
    """
    found: Bounds = {}
    for name in table.columns:
        wide = 1.5 * table[name].max()
        leading = 10 ** math.floor(math.log10(wide))
        found[name] = (0, int(math.ceil(wide / leading * 2) / 2 * leading))
    return found


def learnt(source: Source, released: polars.DataFrame) -> dict[str, float]:
    """Train a forest on the first 66 % of a release, test it on the last 34 % of the original.

    Categories are numbered in the order of their names.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import f1_score, roc_auc_score

    original = polars.read_csv(source.path)
    categories = source.asked(original)["categories"]
    middle = math.floor(0.66 * len(original))

    def numbered(table: polars.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        columns = [
            np.searchsorted(categories[name], table[name].to_numpy())
            if name in categories
            else table[name].to_numpy()
            for name in original.columns
            if name != source.target
        ]
        classes = source.positive(table[source.target], original[source.target])
        return np.column_stack(columns), classes.to_numpy()

    (train, taught), (test, known) = numbered(released[:middle]), numbered(original[middle:])
    if taught.all() or not taught.any():
        return {"f": 0.0, "auc": 0.5}
    forest = RandomForestClassifier(source.trees, min_samples_leaf=source.leaf)
    forest.fit(train, taught)
    return {
        "f": float(f1_score(known, forest.predict(test))),
        "auc": float(roc_auc_score(known, forest.predict_proba(test)[:, 1])),
    }


WINE = {
    "fixed acidity": (3, 15, 0.1),
    "volatile acidity": (0, 2, 0.001),
    "citric acid": (0, 2, 0.01),
    "residual sugar": (0, 100, 0.01),
    "chlorides": (0, 0.5, 0.001),
    "free sulfur dioxide": (0, 300, 0.5),
    "total sulfur dioxide": (0, 500, 0.5),
    "density": (0.98, 1.05, 0.00001),
    "pH": (2.5, 4.5, 0.01),
    "sulphates": (0, 2, 0.01),
    "alcohol": (7, 16, 0.01),
    "quality": (0, 10, 1),
}
ADULT: Bounds = {
    "age": (0, 120),
    "fnlwgt": (0, 2_000_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 10_000),
    "hours-per-week": (0, 100),
}
SOURCES = {
    "census": Source(
        file="census.csv",
        bounds=domains,
        target="AGI",
        positive=lambda values, original: values > original.median(),
    ),
    "wine": Source(
        file="winequality-white.csv",
        bounds=lambda _: {name: (lower, upper) for name, (lower, upper, _) in WINE.items()},
        resolution={name: step for name, (_, _, step) in WINE.items() if step != 1},
        target="quality",
        positive=lambda values, _: values > 6,
    ),
    "adult": Source(
        file="adult.csv",
        bounds=lambda _: ADULT,
        target="income",
        positive=lambda values, _: values == ">50K",
        trees=60,
        leaf=2,
    ),
}

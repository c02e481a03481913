"""The data sets, where they are published, and what their values are."""

import hashlib
from collections.abc import Mapping

import numpy as np
import polars

from microveil_papers.paper import DataSet

__all__ = ["census", "differing", "digest_of_column", "wine"]

# Of each column as published: what `digest_of_column` gives.
CENSUS = {
    "AFNLWGT": "d73b8c6d19d2f0da",
    "AGI": "b533387ad4f46d94",
    "EMCONTRB": "0136f9a4438e2f47",
    "FEDTAX": "76e977be67bd32ad",
    "PTOTVAL": "15443fb3828d059b",
    "STATETAX": "a37b8643218447fd",
    "TAXINC": "4edd5230b40626e6",
    "POTHVAL": "57a21729a565f879",
    "INTVAL": "f7056d2bbd6b82a7",
    "PEARNVAL": "ba36fe25c68229cd",
    "FICA": "14631b3dbdefa03c",
    "WSALVAL": "95ef9e4aac0a0671",
    "ERNVAL": "72fd5fa83c7eac97",
}
WINE = {
    "fixed acidity": "e71d34db2cbc0ea3",
    "volatile acidity": "ba446b00d56bb0ad",
    "citric acid": "01b2c3db0b4025d4",
    "residual sugar": "b7cc5ef7e765fefa",
    "chlorides": "4b11957fcee1213a",
    "free sulfur dioxide": "79d2c7075807a3c5",
    "total sulfur dioxide": "de405337fa648cf6",
    "density": "dfbaae3a5ce79f6e",
    "pH": "48b8e4888d765c73",
    "sulphates": "59be2fec1897791e",
    "alcohol": "4f7ed7705885ca36",
    "quality": "386392b9ae5453a4",
}


def census(columns: tuple[str, ...]) -> DataSet:
    """Return the Census data set, of which a paper needs some columns."""
    return DataSet(
        name="census",
        title="the CASC reference microdata \u201cCensus\u201d",
        published="https://cran.r-project.org/package=sdcMicro, as CASCrefmicrodata",
        columns=columns,
        values=_of(columns, CENSUS),
    )


def wine(columns: tuple[str, ...]) -> DataSet:
    """Return the white wines."""
    return DataSet(
        name="wine",
        title="the white wines of \u201cWine Quality\u201d",
        published="https://archive.ics.uci.edu/dataset/186/wine+quality",
        columns=columns,
        values=_of(columns, WINE),
    )


def digest_of_column(column: polars.Series) -> str:
    """Return 16 letters of a SHA-256 of the values as float64, in their order.

    Examples
    --------
    >>> digest_of_column(polars.Series([1, 2])) == digest_of_column(polars.Series([1.0, 2.0]))
    True
    """
    values = column.cast(polars.Float64).to_numpy().astype("<f8")
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def differing(needed: DataSet, frame: polars.DataFrame) -> tuple[str, ...]:
    """Return the columns whose values are not those that were published."""
    return tuple(
        name for name, digest in needed.values.items() if digest_of_column(frame[name]) != digest
    )


def _of(columns: tuple[str, ...], digests: Mapping[str, str]) -> dict[str, str]:
    return {name: digests[name] for name in columns}

"""Columns as models take them, the basis of a design, and a logistic regression in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError
from microveil.measures.values import Flags, Floats
from microveil.table.blocks import LARGEST_VALUE

# Newton's method needs 5 to 10 steps where there is a solution. Where a term tells some
# records for certain there is none: log odds then grow by about 1 in every step, for ever.
MOST_STEPS = 25
SMALLEST_STEP = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """An orthonormal basis of the columns of a design, which may be collinear."""

    directions: Floats  # (n_records, rank): orthonormal columns
    to_coefficients: Floats  # (n_terms, rank): design times this is the directions
    identified: Flags  # (n_terms,): whether the data determine the coefficient of the term

    @property
    def rank(self) -> int:
        """How many directions there are."""
        return int(self.directions.shape[1])


def basis_of(design: Floats) -> Basis:
    """Decompose a design by its singular values, columns scaled to one size."""
    scales = np.abs(design).max(axis=0)
    scales[scales == 0] = 1.0
    left, sizes, right = np.linalg.svd(design / scales, full_matrices=False)
    kept = sizes > sizes[0] * max(design.shape) * np.finfo(np.float64).eps
    rows = right[kept]
    return Basis(
        directions=left[:, kept],
        to_coefficients=(rows / sizes[kept, np.newaxis]).T / scales[:, np.newaxis],
        # A term is determined if no combination of terms that vanishes contains it.
        identified=np.sum(rows**2, axis=0) > 1 - 1e-8,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogisticFit:
    """A logistic regression in the directions of a basis."""

    weights: Floats  # (rank,): coefficients are ``basis.to_coefficients @ weights``
    covariance: Floats  # (rank, rank): of the weights: the inverse of the observed information
    probabilities: Floats  # (n_records,)
    # False where no finite coefficients fit best: some records are predicted for certain.
    converged: bool


def fit_logistic(basis: Basis, outcome: Floats) -> LogisticFit:
    """Fit log odds of an outcome of 0 and 1 by Newton's method, halving steps that are too long."""
    directions, signs = basis.directions, 1 - 2 * outcome
    weights, log_odds = np.zeros(basis.rank), np.zeros(len(outcome))
    loss, converged = float(np.logaddexp(0, signs * log_odds).sum()), False
    for _ in range(MOST_STEPS):
        probabilities = scipy.special.expit(log_odds)
        step = _information_inverse(directions, probabilities) @ (
            directions.T @ (outcome - probabilities)
        )
        for _ in range(MOST_STEPS):
            moved = directions @ (weights + step)
            worse = float(np.logaddexp(0, signs * moved).sum())
            if worse <= loss + 1e-12 * loss:
                break
            step /= 2
        largest = float(np.abs(moved - log_odds).max())
        weights, log_odds, loss = weights + step, moved, worse
        converged = largest <= SMALLEST_STEP * (1 + float(np.abs(log_odds).max()))
        if converged:
            break
    probabilities = scipy.special.expit(log_odds)
    return LogisticFit(
        weights=weights,
        covariance=_information_inverse(directions, probabilities),
        probabilities=probabilities,
        converged=converged,
    )


def _information_inverse(directions: Floats, probabilities: Floats) -> Floats:
    spread = probabilities * (1 - probabilities)
    information = directions.T @ (spread[:, np.newaxis] * directions)
    return np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)


# By name, float64 (NaN is missing) or text ("" is).
Attributes = dict[str, NDArray[Any]]


def checked_attributes(table: Mapping[str, ArrayLike], place: str) -> Attributes:
    """Return columns as text or as numbers of which models can take squares."""
    columns = {name: np.asarray(values) for name, values in table.items()}
    for name, column in columns.items():
        if column.dtype.kind in "UOT":  # text, as numpy or a library of frames keeps it
            words = ["" if value is None else value for value in column.tolist()]
            columns[name] = column if column.dtype.kind == "U" else np.array(words, dtype=np.str_)
            continue
        columns[name] = column.astype(np.float64)
        if np.any(np.abs(columns[name]) > LARGEST_VALUE):
            rule = "values must be finite and at most 1e140 in size"
            remedy = "leave such records out, or mark the cells as missing"
            raise DataError(f"{place}, '{name}'", rule, remedy)
    return columns


def of_one_kind(name: str, before: NDArray[Any], after: NDArray[Any]) -> None:
    """Refuse a column that is text in one table and numbers in the other."""
    if before.dtype.kind != after.dtype.kind:
        rule = "it must be text in both tables or numbers in both"
        raise DataError(f"column '{name}'", rule, "write it the same way in both")


def complete_records(columns: Attributes) -> Flags:
    """Say which records have no missing cell."""
    sides = columns.values()
    present = [own != "" if own.dtype.kind == "U" else ~np.isnan(own) for own in sides]
    return np.asarray(np.logical_and.reduce(present))


def indicators(column: NDArray[Any], categories: ArrayLike) -> Floats:
    """Return a column of 0 and 1 for every category."""
    return np.asarray(np.equal.outer(column, np.asarray(categories)), dtype=np.float64)

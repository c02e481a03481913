"""Formulas of linear models, columns as models take them, and a logistic regression.

Formulas are written as R does; formulaic multiplies them out and codes categories. It never sees
what a user wrote, as it would run code in it: it is given numbered factors.
"""

import importlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.values import Flags, Floats, library
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


WORD = r"[^\W\d][\w.]*"
NAME = rf"(?:`[^`]+`|{WORD})"
FACTOR = rf"(?:C\(\s*{NAME}\s*\)|{NAME})"
PRODUCT = rf"{FACTOR}(?:\s*[:*]\s*{FACTOR})*"
FORMULA = re.compile(
    rf"\s*({NAME})\s*~\s*((?:[-+]?\s*[01]|\+?\s*{PRODUCT})"
    rf"(?:\s*[-+]\s*[01]|\s*\+\s*{PRODUCT})*)\s*"
)
# A product of m attributes by * stands for 2^m - 1 terms, and of m with categories for 2^m codings.
MOST_FACTORS, MOST_COEFFICIENTS = 8, 1000
REMEDY = 'write it as "Y ~ A + B + A:B", C(A) for categories, `quotes` around names of two words'


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A linear model: an outcome, and terms that are products of factors."""

    outcome: str  # the attribute that is explained
    # Single factors first, then products of two, and so on; each as it is written: A, C(A).
    terms: tuple[tuple[str, ...], ...]
    intercept: bool = True  # whether the model has a constant

    @property
    def factors(self) -> dict[str, tuple[str, bool]]:
        """Of each factor the attribute, and whether its numbers stand for categories."""
        return {factor: _read(factor) for term in self.terms for factor in term}

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes needed, the outcome first."""
        return tuple(dict.fromkeys((self.outcome, *(name for name, _ in self.factors.values()))))

    def __str__(self) -> str:
        return f"{_written(self.outcome)} ~ {self.right({})}"

    def right(self, named: Mapping[str, str]) -> str:
        """Write the terms, with other names for some of their factors."""
        terms = [":".join(named.get(factor, factor) for factor in term) for term in self.terms]
        constant = ([] if terms else ["1"]) if self.intercept else ["0"]
        return " + ".join([*constant, *terms])


def _read(factor: str) -> tuple[str, bool]:
    inner = re.fullmatch(r"C\(\s*(.*?)\s*\)", factor)
    return (inner[1] if inner else factor).strip("`"), inner is not None


def _written(name: str, *, categorical: bool = False) -> str:
    quoted = name if re.fullmatch(WORD, name) else f"`{name}`"
    return f"C({quoted})" if categorical else quoted


def parse_formula(text: str) -> Formula:
    """Read a formula of Wilkinson and Rogers (1973) as R has it: C(A), `names of words`."""
    found = FORMULA.fullmatch(text) if isinstance(text, str) else None
    if found is None and isinstance(text, str) and ("``" in text or text.count("`") % 2):
        raise RequestError(
            "formula",
            "it cannot be read: quotes around a name come in pairs, and a name with a quote ` in "
            "it cannot be written",
            "close the quotes, or rename the column",
        )
    if found is None:
        raise RequestError("formula", "it cannot be read", REMEDY)
    products = re.findall(PRODUCT, found[2])
    if any(len(re.findall(FACTOR, product)) > MOST_FACTORS for product in products):
        rule = f"a product may have at most {MOST_FACTORS} attributes"
        raise RequestError("formula", rule, "write out the terms that matter: A + B + A:B")
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        name, categorical = _read(match[0])
        return numbers.setdefault(_written(name, categorical=categorical), f"f{len(numbers)}")

    terms = [
        tuple(factor.expr for factor in term.factors)
        for term in _formulaic().Formula(re.sub(FACTOR, numbered, found[2]))
    ]
    factors = {number: factor for factor, number in numbers.items()}
    formula = Formula(
        outcome=found[1].strip("`"),
        terms=tuple(tuple(factors[f] for f in term) for term in terms if term != ("1",)),
        intercept=("1",) in terms,
    )
    if not terms or formula.outcome in (name for name, _ in formula.factors.values()):
        raise RequestError("formula", "it needs terms, and none with the outcome in it", REMEDY)
    return formula


def _formulaic() -> Any:
    return library("formulaic", "formula")


def coded_designs(
    formula: Formula, before: Attributes, after: Attributes
) -> tuple[list[str], Floats, Floats]:
    """Name the coefficients of a formula, and return what they multiply in either table.

    Categories are coded as R does, and where R has collinear columns as patsy does.
    """
    levels: dict[str, list[Any]] = {}
    for factor, (name, categorical) in formula.factors.items():
        one, other = before[name], after[name]
        of_one_kind(name, one, other)
        if categorical or one.dtype.kind == "U":
            # The first is the reference, so it must occur in the original.
            known = np.unique(one).tolist()
            levels[factor] = known + sorted(set(np.unique(other).tolist()) - set(known))
    sizes = [math.prod(len(levels.get(f, "1")) for f in term) for term in formula.terms]
    if sum(sizes) > MOST_COEFFICIENTS:
        raise DataError(
            "formula",
            f"its terms may stand for at most {MOST_COEFFICIENTS} coefficients, those of the "
            "categories that others imply counted in",
            "leave out attributes with many categories",
        )
    one, other = (_design(formula, levels, table) for table in (before, after))
    factors = list(formula.factors)

    def named(match: re.Match[str]) -> str:
        factor = factors[int(match[1])]
        if match[2] is None:
            return factor
        level = levels[factor][int(match[2])]
        return f"{factor}={level if isinstance(level, str) else format(level, '.15g')}"

    columns = one.model_spec.column_names
    names = [re.sub(r"f(\d+)(?:\[(?:T\.)?(\d+)\])?", named, column) for column in columns]
    return names, np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)


def _design(formula: Formula, levels: Mapping[str, list[Any]], table: Attributes) -> Any:
    """Have formulaic code a table under numbered names, its categories as positions."""
    pandas = importlib.import_module("pandas")  # which formulaic brings
    numbers, columns = {}, {}
    for i, (factor, (name, _)) in enumerate(formula.factors.items()):
        numbers[factor], columns[f"f{i}"] = f"f{i}", table[name]
        if factor in levels:
            known = np.array(levels[factor])
            order = np.argsort(known)
            codes = order[np.searchsorted(known, table[name], sorter=order)]
            columns[f"f{i}"] = pandas.Categorical.from_codes(codes, categories=range(len(known)))
    frame = pandas.DataFrame(columns, index=range(len(table[formula.outcome])))
    return _formulaic().Formula(formula.right(numbers)).get_model_matrix(frame, output="numpy")

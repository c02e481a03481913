"""Formulas of linear models, as R writes them; formulaic multiplies them out and codes categories.

Formulaic never sees what a user wrote: it would run code in it. It is given numbered factors.
"""

import importlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.utility.attributes import Attributes

__all__ = ["Factor", "Formula", "coded_designs", "parse_formula"]

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


@dataclass(frozen=True, slots=True)
class Factor:
    """An attribute within a term; ``categorical`` where its numbers stand for categories."""

    name: str
    categorical: bool = False

    def __str__(self) -> str:
        name = self.name if re.fullmatch(WORD, self.name) else f"`{self.name}`"
        return f"C({name})" if self.categorical else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A linear model: an outcome, and terms that are products of attributes.

    Attributes
    ----------
    outcome : str
        The attribute that is explained.
    terms : tuple of tuple of Factor
        Single attributes first, then products of two, and so on.
    intercept : bool
        Whether the model has a constant.
    """

    outcome: str
    terms: tuple[tuple[Factor, ...], ...]
    intercept: bool = True

    @property
    def factors(self) -> tuple[Factor, ...]:
        """What the terms are made of, each once."""
        return tuple(dict.fromkeys(factor for term in self.terms for factor in term))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes needed, the outcome first."""
        return tuple(dict.fromkeys((self.outcome, *(factor.name for factor in self.factors))))

    def __str__(self) -> str:
        return f"{Factor(self.outcome)} ~ {self.right([str(factor) for factor in self.factors])}"

    def right(self, names: list[str]) -> str:
        """Write the terms with other names for their factors."""
        of = dict(zip(self.factors, names, strict=True))
        terms = [":".join(of[factor] for factor in term) for term in self.terms]
        constant = ([] if terms else ["1"]) if self.intercept else ["0"]
        return " + ".join([*constant, *terms])


def parse_formula(text: str) -> Formula:
    """Read a formula in the notation of Wilkinson and Rogers (1973), as R has it.

    Parameters
    ----------
    text : str
        ``Y ~ A + B``; ``A:B`` is the product, ``A*B`` is ``A + B + A:B``, ``C(A)`` takes the
        numbers of A for categories, ``0`` or ``-1`` leaves the intercept out. A name that is
        more than a word stands in backquotes.

    Returns
    -------
    Formula

    Raises
    ------
    RequestError
        If it cannot be read, has no term, has a product of more than 8 attributes, or the outcome
        explains itself; or formulaic is not installed.

    Examples
    --------
    >>> str(parse_formula("TAX ~ INCOME*C(SEX) - 1"))
    'TAX ~ 0 + INCOME + C(SEX) + INCOME:C(SEX)'
    >>> parse_formula("quality ~ `fixed acidity`").attributes
    ('quality', 'fixed acidity')
    """
    found = FORMULA.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _unreadable(text)
    if any(len(re.findall(FACTOR, product)) > MOST_FACTORS
           for product in re.findall(PRODUCT, found[2])):  # fmt: skip
        raise RequestError(
            "formula",
            f"a product may have at most {MOST_FACTORS} attributes",
            "write out the terms that matter: A + B + A:B",
        )
    numbers: dict[Factor, str] = {}

    def numbered(match: re.Match[str]) -> str:
        inner = re.fullmatch(r"C\(\s*(.*?)\s*\)", match[0])
        factor = Factor((inner[1] if inner else match[0]).strip("`"), inner is not None)
        return numbers.setdefault(factor, f"f{len(numbers)}")

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
    if not terms or formula.outcome in (factor.name for factor in formula.factors):
        raise RequestError("formula", "it needs terms, and none with the outcome in it", REMEDY)
    return formula


def _unreadable(text: object) -> RequestError:
    if isinstance(text, str) and ("``" in text or text.count("`") % 2):
        return RequestError(
            "formula",
            "it cannot be read: quotes around a name come in pairs, and a name with a quote ` in "
            "it cannot be written",
            "close the quotes, or rename the column",
        )
    return RequestError("formula", "it cannot be read", REMEDY)


def _formulaic() -> Any:
    try:
        return importlib.import_module("formulaic")
    except ImportError:
        raise RequestError(
            "formula",
            "it needs formulaic, which is not installed",
            "install it with: pip install 'microveil[evaluate]'",
        ) from None


def coded_designs(
    formula: Formula, before: Attributes, after: Attributes
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Name the coefficients of a formula, and return what they multiply in either table.

    An attribute of categories is a 0/1 column for each, without the first of the original's where
    the model has what they sum to: the coding of R, and where R has collinear columns of patsy.
    """
    levels: dict[Factor, list[Any]] = {}
    for factor in formula.factors:
        one, other = before[factor.name], after[factor.name]
        if one.dtype.kind != other.dtype.kind:
            raise DataError(
                f"column '{factor.name}'",
                "it must be text in both tables or numbers in both",
                "write it the same way in both",
            )
        if factor.categorical or one.dtype.kind == "U":
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

    def named(match: re.Match[str]) -> str:
        factor = formula.factors[int(match[1])]
        if match[2] is None:
            return str(factor)
        level = levels[factor][int(match[2])]
        return f"{factor}={level if isinstance(level, str) else format(level, '.15g')}"

    columns = one.model_spec.column_names
    names = [re.sub(r"f(\d+)(?:\[(?:T\.)?(\d+)\])?", named, column) for column in columns]
    return names, np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)


def _design(formula: Formula, levels: Mapping[Factor, list[Any]], table: Attributes) -> Any:
    """Have formulaic code a table under numbered names, its categories as positions."""
    pandas = importlib.import_module("pandas")  # which formulaic brings
    columns = {}
    for i, factor in enumerate(formula.factors):
        column = table[factor.name]
        if factor in levels:
            known = np.array(levels[factor])
            order = np.argsort(known)
            codes = order[np.searchsorted(known, column, sorter=order)]
            column = pandas.Categorical.from_codes(codes, categories=range(len(known)))
        columns[f"f{i}"] = column
    frame = pandas.DataFrame(columns, index=range(len(table[formula.outcome])))
    right = formula.right([f"f{i}" for i in range(len(columns))])
    return _formulaic().Formula(right).get_model_matrix(frame, output="numpy")

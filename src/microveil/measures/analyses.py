"""The analyses that a table is put through to see whether they still come out, as arguments."""

import datetime
import math
import pkgutil
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from microveil.errors import DataError, RequestError
from microveil.measures.learning import threshold_classes
from microveil.measures.models import parse_formula
from microveil.measures.values import library
from microveil.schema import EPOCH, Kind, written
from microveil.table import Column, Table, check_columns, column_of, numbers_of

# A class attribute of more is a slip: a number that wants a threshold, or a name.
MOST_CLASSES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyses:
    """What was asked for; by default nothing."""

    classes: str | None = None  # the class attribute, a column of the original
    # The first class reaches up to it, a date's days since 1970-01-01; None makes every category
    # a class.
    threshold: float | None = None
    estimator: Any = None  # a classifier of scikit-learn; None is the random forest of IDP-2025
    formula: str | None = None  # a regression, as `parse_formula` writes it
    logistic: bool = False  # whether the regression is of log odds
    propensity: bool = False  # whether a model is to tell the tables apart

    @classmethod
    def of(cls, **given: Any) -> "Analyses":
        """Check what a user asks for."""
        asked = cls(**given)
        for name, needed, rule, remedy in (
            ("threshold", asked.classes, "it needs a class attribute", "pass classes='INCOME'"),
            ("estimator", asked.classes, "it needs a class attribute", "pass classes='INCOME'"),
            ("logistic", asked.formula, "it needs a formula", "pass formula='Y ~ A + B'"),
        ):
            value = getattr(asked, name)
            if value is not None and value is not False and needed is None:
                raise RequestError(name, rule, f"{remedy} with it, or leave it out")
        return replace(
            asked,
            threshold=None if asked.threshold is None else _finite(asked.threshold),
            formula=None if asked.formula is None else str(parse_formula(asked.formula)),
            logistic=bool(asked.logistic),
            propensity=bool(asked.propensity),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked for by the names of the arguments."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def variables(self) -> tuple[str, ...]:
        """The attributes of the formula, the outcome first; none without one."""
        return () if self.formula is None else parse_formula(self.formula).attributes

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the analyses name."""
        return (*(() if self.classes is None else (self.classes,)), *self.variables)

    def class_column(self, table: Table) -> Column:
        """Return every record's class, text or a number of its own; NaN or "" is none."""
        assert self.classes is not None  # noqa: S101 -- asked for by nobody else
        check_columns(table, [self.classes], "original")
        if self.threshold is not None:
            named = value_name(self.threshold, table.kind(self.classes))
            return threshold_classes(column_of(table, self.classes), self.threshold, named=named)
        values = categories_of(table, self.classes)
        missing = values == "" if values.dtype.kind == "U" else np.isnan(values)
        if len(np.unique(values[~missing])) > MOST_CLASSES:
            rule = f"the class attribute must have at most {MOST_CLASSES} classes"
            remedy = "pass a threshold to make two of a number, or name another attribute"
            raise DataError("classes", rule, remedy)
        return values


def categories_of(table: Table, name: str) -> Column:
    """Return a column as categories: text (ISO dates, "true"), or numbers; NaN, "" is missing."""
    kind = table.kind(name)
    if not kind.is_numeric:
        return table.words(name)
    numbers = table.numbers(name)
    values, different = np.unique(numbers.values, return_inverse=True)
    if kind is Kind.WHOLE and len(np.unique(values.astype(np.float64))) < len(values):
        rule = "its whole numbers are too large to be told apart as categories"
        remedy = "write the column as text, or for classes pass a threshold"
        raise DataError(f"column '{name}'", rule, remedy)
    if kind not in {Kind.DATE, Kind.BOOLEAN}:
        return numbers_of(table, name)
    names = [value_name(value, kind) or "" for value in values.tolist()]
    words = np.array(names, dtype=np.str_)[different]
    return words if numbers.missing is None else np.where(numbers.missing, "", words)


def value_name(value: float, kind: Kind) -> str | None:
    """Write a date or a yes/no, which is a number in the column; None for other numbers."""
    if kind is Kind.BOOLEAN and value in {0, 1}:
        return "true" if value else "false"
    if kind is not Kind.DATE:
        return None
    try:
        # A date is at or below a part of a day if it is at or below that day.
        return str(written(Fraction(math.floor(value)), kind))
    except OverflowError:
        return None


def named_classifier(name: str) -> Any:
    """Make a classifier of scikit-learn, and of nothing else, with its settings by default."""
    base, made = library("sklearn.base", "estimator"), None
    try:
        if name.startswith("sklearn.") and "._" not in name:
            found = pkgutil.resolve_name(name)
            is_own = isinstance(found, type) and found.__module__.startswith("sklearn.")
            made = found() if is_own else None
    except Exception:  # noqa: BLE001, S110 -- a module or a class may raise anything
        pass
    if made is None or not base.is_classifier(made):
        rule = "it must be the full name of a classifier of scikit-learn that needs no arguments"
        remedy = "pass for example sklearn.linear_model.LogisticRegression"
        raise RequestError(f"estimator '{name}'", rule, remedy)
    return made


def _finite(threshold: Any) -> float:
    if type(threshold) is datetime.date:
        return float((threshold - EPOCH).days)
    try:
        number = math.nan if isinstance(threshold, bool | str) else float(threshold)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(
            "threshold", "it must be a finite number", "pass for example threshold=30000"
        )
    return number

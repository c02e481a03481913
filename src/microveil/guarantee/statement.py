"""The statement of a guarantee as a document: `statement.jinja` over what `to_dict` gives."""

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

from microveil.guarantee.model import Model
from microveil.guarantee.scope import Scope, rounded_up, six_digits
from microveil.guarantee.terms import Unit
from microveil.schema import Kind
from microveil.text import enumerated, listed
from microveil.text.document import Document
from microveil.text.templates import document_of

__all__ = ["statement_of"]

# Beyond this an epsilon says nothing to anybody: e**14 is over a million.
MEANINGLESS, OVER_A_MILLION = 14, "over a million"


def statement_of(contents: Mapping[str, Any]) -> Document:
    """Return the statement of a guarantee: all that it says follows from its plain values."""
    return document_of(
        "guarantee/statement.jinja",
        **{"parts": [], "synthetic": False, **contents},
        capitalised=lambda text: text[0].upper() + text[1:],
        compared=lambda scope, **of_what: Scope(scope).compared(**of_what),
        counted=lambda number, noun: f"{number} {noun}{'' if number == 1 else 's'}",
        enumerated=enumerated,
        factor=_factor,
        figure=lambda exact: "" if exact is None else six_digits(Fraction(exact)),
        is_numeric=lambda kind: Kind(kind).is_numeric,
        listed=listed,
        model_in_words=_model_in_words,
        over_a_million=OVER_A_MILLION,
        published=lambda source: f" ({source})" if source else "",
        shared_by=lambda unit, k: Unit(**unit).shared_by(k),
        unit_named=lambda unit: Unit(**unit).named,
    )


def _model_in_words(model: str, *, of_centroids: bool = False) -> str:
    return Model(model).of_centroids if of_centroids else Model(model).in_words


def _factor(exact: str | None) -> str:
    """Write e to the epsilon, rounded up; nothing where there is no epsilon."""
    if exact is None or Fraction(exact) > MEANINGLESS:
        return "" if exact is None else OVER_A_MILLION
    epsilon = rounded_up(Fraction(exact))
    with localcontext() as context:
        context.prec, context.rounding = (3 if epsilon >= 0.1 else 5), ROUND_CEILING
        return f"{+Decimal(repr(math.exp(epsilon))):f}"

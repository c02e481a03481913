"""What is promised, as plain values and in words; no data are read and no noise is drawn here."""

from microveil.guarantee.budget import as_fraction, exact_number, split
from microveil.guarantee.condition import Condition
from microveil.guarantee.guarantee import Guarantee
from microveil.guarantee.terms import (
    EVERY_SCOPE,
    AttributeTerms,
    Cover,
    Model,
    PartTerms,
    Scope,
    Scopes,
    Unit,
)

__all__ = [
    "EVERY_SCOPE",
    "AttributeTerms",
    "Condition",
    "Cover",
    "Guarantee",
    "Model",
    "PartTerms",
    "Scope",
    "Scopes",
    "Unit",
    "as_fraction",
    "exact_number",
    "split",
]

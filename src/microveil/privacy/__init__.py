"""What is promised: budget, scopes, conditions, guarantee and its statement."""

from microveil.privacy.budget import as_fraction, exact_number, split
from microveil.privacy.condition import Condition
from microveil.privacy.guarantee import Guarantee
from microveil.privacy.model import Model
from microveil.privacy.scope import EVERY_SCOPE, Cover, Scope, Scopes
from microveil.privacy.terms import AttributeTerms, PartTerms, Unit

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

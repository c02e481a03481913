"""What is promised: budget, scopes, conditions, guarantee and its statement."""

from microveil.privacy.budget import as_fraction, exact_number, split
from microveil.privacy.condition import Condition
from microveil.privacy.guarantee import AttributeTerms, Guarantee, Unit
from microveil.privacy.model import Model
from microveil.privacy.scope import EVERY_SCOPE, Cover, Scope, Scopes

__all__ = [
    "EVERY_SCOPE",
    "AttributeTerms",
    "Condition",
    "Cover",
    "Guarantee",
    "Model",
    "Scope",
    "Scopes",
    "Unit",
    "as_fraction",
    "exact_number",
    "split",
]

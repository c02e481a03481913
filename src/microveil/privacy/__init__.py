"""What is promised: budget, scopes, guarantee and its statement."""

from microveil.privacy.budget import as_fraction, exact_number, split
from microveil.privacy.guarantee import AttributeTerms, Guarantee, Model, Scope, Scopes

__all__ = [
    "AttributeTerms",
    "Guarantee",
    "Model",
    "Scope",
    "Scopes",
    "as_fraction",
    "exact_number",
    "split",
]

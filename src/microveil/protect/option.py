"""What might be asked for instead: a method, its steps and k, and the error to expect of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.guarantee import Condition
from microveil.guarantee.condition import in_short
from microveil.protect.plan import Plan

__all__ = ["Option"]

OF_DISTRIBUTIONS = "of distributions alone, on a stand-in, as its rows follow nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A request that keeps epsilon at a scope, and the error to expect of it."""

    method: str
    model: str  # in words
    conditions: tuple[Condition, ...]
    choices: Mapping[str, str]  # steps of the method, ``partition`` for example
    k: int | None
    over_variance: float  # expected squared error over variance, mean over the attributes
    # Whether that is the error of sorted values on a stand-in: rows that follow nobody have none.
    of_distributions: bool = False

    @classmethod
    def of(
        cls, planned: Plan, choices: Mapping[str, str], k: int | None, over_variance: float
    ) -> "Option":
        """Make the option that was planned."""
        return cls(
            method=planned.claim.method,
            model=planned.claim.model_in_words,
            conditions=planned.claim.conditions,
            choices=choices,
            k=k,
            over_variance=over_variance,
            of_distributions=planned.synthetic is not None,
        )

    def __str__(self) -> str:
        """Name the option in words."""
        steps = [f"{name} {value}" for name, value in self.choices.items()]
        size = [] if self.k is None else [f"k {self.k}"]
        named = ", ".join([self.method, *steps, *size])
        of_what = [OF_DISTRIBUTIONS] if self.of_distributions else []
        return "; ".join([named, self.model, *in_short(self.conditions), *of_what])

    def to_dict(self) -> dict[str, Any]:
        """Return the option as plain values."""
        return {
            "method": self.method,
            "model": self.model,
            "conditions": [condition.to_dict() for condition in self.conditions],
            **self.choices,
            "k": self.k,
            "over_variance": self.over_variance,
            **({"of_distributions": True} if self.of_distributions else {}),
        }

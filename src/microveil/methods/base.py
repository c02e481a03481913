"""What a method is to the rest of the product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from microveil.engines import Engine
from microveil.privacy import Model, Scope, Scopes
from microveil.release import AttributePlan
from microveil.table import GridColumn

__all__ = ["Method", "PlanStep"]


class PlanStep(Protocol):
    """Partition, represent and measure one attribute; draw nothing."""

    def __call__(
        self, column: GridColumn, *, k: int, share: Fraction, engine: Engine
    ) -> AttributePlan:
        """Return the attribute's plan."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A published method: its choices, its needs and what it promises.

    Attributes
    ----------
    id, title, source : str
    model : Model
    plan : PlanStep
    forms_clusters : bool
        Whether it needs k.
    smallest_k : int
    needs_bounds : bool
    orders_clusters : bool
        Whether isotonic regression applies.
    may_be_exact : bool
        Whether its rule can call for no noise at all.
    vector_epsilon : callable
        From the shares and numbers of clusters, attribute by attribute, to the epsilon at
        vector scope that holds for every table.
    covers_rows : bool
        Whether the vector-scope epsilon holds too when it is seen which records share a
        cluster.
    caveats : tuple of str
        What it does not give, in sentences.
    """

    id: str
    title: str
    source: str
    model: Model
    plan: PlanStep
    forms_clusters: bool = True
    smallest_k: int = 1
    needs_bounds: bool = True
    orders_clusters: bool = True
    may_be_exact: bool = False
    vector_epsilon: Callable[[Sequence[tuple[Fraction, int]]], Fraction | float]
    covers_rows: bool = False
    caveats: tuple[str, ...] = ()

    def scopes(
        self,
        shares: Sequence[tuple[Fraction, int]],
        *,
        bounds_from_data: bool,
        unlinked: bool,
    ) -> Scopes:
        """Return what epsilon covers at each scope.

        Parameters
        ----------
        shares : sequence of (Fraction, int)
            Share of epsilon and number of clusters of each protected attribute.
        bounds_from_data : bool
        unlinked : bool
            Whether rows no longer follow individuals: one attribute alone, shuffled.
        """
        vector = Scope.of(self.vector_epsilon(shares))
        rows = (self.covers_rows and not bounds_from_data) or unlinked
        return Scopes(
            cluster=Scope.of(sum(share for share, _ in shares)),
            vector=vector,
            row=vector if rows else Scope.none(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the registry's entry as plain values."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "model": self.model.value,
            "needs": [
                name
                for name, needed in (
                    ("k", self.forms_clusters),
                    ("epsilon", True),
                    ("bounds", self.needs_bounds),
                )
                if needed
            ],
            "smallest_k": self.smallest_k if self.forms_clusters else None,
        }

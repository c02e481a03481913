"""Weighing requests by the error to expect of them: each is planned, the least error is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from microveil.errors import DataError, MicroveilError, RequestError
from microveil.guarantee import Model, Scope
from microveil.methods import Method
from microveil.release.columns import Prepared, check_enough
from microveil.release.expectation import all_expected, average
from microveil.release.option import Option
from microveil.release.planning import plan_prepared, refuse_exact
from microveil.release.request import Request

__all__ = ["Candidate", "Search", "weigh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What all candidates are weighed for.

    Attributes
    ----------
    prepared : Prepared
        The columns.
    scope : str or None
        That must be covered.
    chosen : tuple of str
        Steps that no candidate may pass over where the request chose them.
    least : Model
        Those whose model is weaker are left out.
    refusals : dict
        Takes a refusal of each method.
    """

    prepared: Prepared
    scope: str | None
    chosen: tuple[str, ...]
    least: Model = Model.INDIVIDUAL
    refusals: dict[str, MicroveilError] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A method with its steps, to be weighed at several k.

    Attributes
    ----------
    method : Method
    steps : dict of str
    asked : dict
        What else is asked for.
    sizes : sequence of int or None
        Each k, ascending.
    search : Search
    """

    method: Method
    steps: Mapping[str, str]
    asked: Mapping[str, Any]
    sizes: Sequence[int | None]
    search: Search

    def weighed(self, k: int | None) -> Option | None:
        """Plan at one k and weigh; None if the model is too weak.

        Raises
        ------
        RequestError, DataError
            If the request would be refused.
        """
        search = self.search
        request = Request.of({**self.asked, **self.steps, "k": k})
        check_enough(search.prepared.columns, request)
        if any(self.asked.get(step) and step in request.unused for step in search.chosen):
            return None  # a step that was asked for is not to be passed over
        planned = plan_prepared(search.prepared, request)
        refuse_exact(planned, request)
        expected = all_expected(planned, search.prepared)
        if not expected or planned.claim.model.strength < search.least.strength:
            return None
        return Option(
            method=request.method.id,
            model=planned.claim.model_in_words,
            conditions=planned.claim.conditions,
            choices=self.steps,
            k=k,
            over_variance=average(expected),
            of_distributions=planned.synthetic is not None,
        )

    def best(self) -> Option | None:
        """Weigh at each k; the refusal of the largest that was refused is kept."""
        best: Option | None = None
        for k in self.sizes:
            try:
                option = self.weighed(k)
            except (RequestError, DataError) as error:
                self.search.refusals[self.method.id] = error
                if error.place == "scope" and self.search.scope == Scope.ROW:
                    break  # whatever k
                continue
            if option and (best is None or option.over_variance < best.over_variance):
                best = option
        return best


def weigh(candidates: Sequence[Candidate], count: int | None = None) -> list[Option]:
    """Weigh candidates: each with its best k, best first, as many as are asked for.

    Of equal errors the first in order comes first, and of one candidate the least k.
    """
    found = [option for candidate in candidates if (option := candidate.best())]
    return sorted(found, key=lambda option: option.over_variance)[:count]

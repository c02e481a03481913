"""Weighing requests by the error to expect of them, the least first.

Of hundreds of configurations, methods by k, the one is sought whose plan has the least expected
error. A lower bound of that error costs far less than the plan: so all are bounded, closer and
closer where they are still in question, and in the order of their bounds they are planned, until
none that is left can be better. What is found is what planning all of them would find, equal
errors included, of which the first in order is taken: but for partitions of `idp-vector` that are
searched for together with the noise, where half the error that a coarse search finds stands for a
bound (see `methods.base.floor_by_plans`).
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from microveil.engines.base import Column, Engine
from microveil.errors import DataError, MicroveilError, RequestError
from microveil.methods import Choices, Method
from microveil.privacy import Model, Scope
from microveil.release.columns import Prepared, check_enough
from microveil.release.expectation import all_expected, average
from microveil.release.option import Option
from microveil.release.planning import choices_of, plan_prepared, promised, refuse_exact
from microveil.release.request import Request

__all__ = ["Candidate", "Search", "weigh"]

# The first limit that bounds go to, and how many times as far they go each time they are asked:
# a bound beyond its limit is given up early.
FIRST, FARTHER = 1e-2, 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What all candidates are weighed for.

    Attributes
    ----------
    prepared : Prepared
        The columns.
    scope : str or None
        That must be covered.
    engine : Engine
    chosen : tuple of str
        Steps that no candidate may pass over where the request chose them.
    least : Model
        Those whose model is weaker are left out.
    refusals : dict
        Takes a refusal of each method.
    """

    prepared: Prepared
    scope: str | None
    engine: Engine
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

    def request(self, k: int | None) -> Request:
        """Make the request of one k."""
        return Request.of({**self.asked, **self.steps, "k": k})

    @cached_property
    def _bounded_by(self) -> tuple[Sequence[Column], Choices] | None:
        """What a bound is found of; None where there is none, and what is refused is seen later."""
        if self.method.error_floor is None:
            return None
        try:
            request = self.request(self.sizes[0])
            prepared = self.search.prepared
            choices = choices_of(prepared.names, prepared.table.n_records, request)
        except MicroveilError:
            return None
        if request.isotonic:
            return None
        engine = self.search.engine
        return [engine.column(column) for column in self.search.prepared.columns], choices

    def floor(self, k: int | None, limit: float) -> float:
        """Bound the error over variance from below: beyond the limit not any closer."""
        if self.method.error_floor is None or self._bounded_by is None:
            return 0.0
        columns, choices = self._bounded_by
        choices = replace(choices, k=1 if k is None else k)
        try:
            return self.method.error_floor(columns, choices, self.search.engine, limit)
        except MicroveilError:
            return 0.0  # its plan will be refused

    def weighed(self, k: int | None) -> Option | None:
        """Plan at one k and weigh; None if the model is too weak.

        Raises
        ------
        RequestError, DataError
            If the request would be refused.
        """
        search, request = self.search, self.request(k)
        check_enough(search.prepared.columns, request)
        if any(self.asked.get(step) and step in request.unused for step in search.chosen):
            return None  # a step that was asked for is not to be passed over
        spends_its_shares = self.method.error_floor is not None
        if spends_its_shares and not _suffices(promised(search.prepared, request).model, search):
            return None
        planned = plan_prepared(search.prepared, request, search.engine)
        refuse_exact(planned, request)
        expected = all_expected(planned, search.prepared, search.engine)
        if not expected or not _suffices(planned.claim.model, search):
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


def _suffices(model: Model, search: Search) -> bool:
    return model.strength >= search.least.strength


def weigh(candidates: Sequence[Candidate], count: int | None = None) -> list[Option]:
    """Weigh candidates: each with its best k, best first, as many as are asked for.

    Parameters
    ----------
    candidates : sequence of Candidate
        Of equal errors the first in order comes first, and of one candidate the least k.
    count : int, optional
        By default all that are not refused.
    """
    waiting: list[tuple[float, int, int, bool, Option | None]] = [
        (0.0, number, place, False, None)
        for number, candidate in enumerate(candidates)
        for place in range(len(candidate.sizes))
    ]
    refused: dict[int, int] = {}
    found: dict[int, Option] = {}
    while waiting and len(found) != count:
        bound, number, place, is_bounded, option = heapq.heappop(waiting)
        candidate = candidates[number]
        k = candidate.sizes[place]
        if number in found or refused.get(number) == len(candidate.sizes):
            continue
        if option is not None:
            found[number] = option
        elif not is_bounded:
            limit = max(FIRST, FARTHER * bound)
            floor = max(bound, candidate.floor(k, limit))
            heapq.heappush(waiting, (floor, number, place, floor <= limit, None))
        else:
            option = _weighed(candidate, number, place, refused)
            if option is not None:
                heapq.heappush(waiting, (option.over_variance, number, place, True, option))
    return list(found.values())


def _weighed(
    candidate: Candidate, number: int, place: int, refused: dict[int, int]
) -> Option | None:
    """Weigh at one k; keep the refusal of the largest k that was refused."""
    search = candidate.search
    try:
        return candidate.weighed(candidate.sizes[place])
    except (RequestError, DataError) as error:
        whatever_k = error.place == "scope" and search.scope == Scope.ROW
        last = len(candidate.sizes) if whatever_k else place
        if last >= refused.get(number, 0):
            refused[number] = last
            search.refusals[candidate.method.id] = error
        return None

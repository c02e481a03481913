"""Weighing: the error to expect of a plan, and of the plans that might be made instead.

The expected error is known in closed form before any noise is drawn; see
`utility.expected_error`. Here requests are weighed by it, and what a request leaves to advice
is chosen: on a stand-in that knows public figures alone where the method is differential
privacy, else on the table itself, which the guarantee then says.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microveil.engines.base import Engine
from microveil.errors import DataError, RequestError
from microveil.methods import METHODS
from microveil.plans import AttributePlan
from microveil.privacy import Condition, Model, Scope
from microveil.privacy.condition import in_short
from microveil.release.columns import Prepared, check_enough, prepare
from microveil.release.planning import plan_prepared, refuse_exact, refuse_unnamed
from microveil.release.release import Plan
from microveil.release.request import Advised, Request
from microveil.schema import Kind, Source
from microveil.table import GridColumn

__all__ = [
    "AUTO",
    "STEPS_CHOSEN",
    "Expectation",
    "Option",
    "average",
    "expectations",
    "options",
    "settle",
]

AUTO = "auto"
# Least to greatest k on offer, each so many times the one before; the second for methods whose
# plans take long.
STEP, LONG_STEP = 1.4, 3.0
# Sums of squares that are equal may differ so much, relatively, when they are added up.
LAST_DIGITS = 1e-9
# What may be best for some table: (method, its choices).
CANDIDATES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("laplace", {}),
    ("dp-um", {}),
    ("record-dp", {"partition": "noise-aware"}),
    ("idp-vector", {"partition": "ranking"}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("kanon-dp", {"composition": "sequential", "sensitivity": "global"}),
    ("kanon-dp", {"sensitivity": "vector"}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
)
# Steps by which they differ: no option may pass over one that a request chooses.
STEPS_CHOSEN = tuple(dict.fromkeys(step for _, steps in CANDIDATES for step in steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The error to expect of one attribute.

    Attributes
    ----------
    mean_squared_error : float
        In squared units of the attribute.
    variance : float
        Of the original, with n - 1.
    hopeless : bool
        Whether publishing the mean in every row, rounded as cells are, would be nearer to the
        original.
    """

    mean_squared_error: float
    variance: float
    hopeless: bool

    @property
    def over_variance(self) -> float:
        """The error over the variance: about 1 is as good as publishing the mean."""
        if self.variance > 0:
            return self.mean_squared_error / self.variance
        return math.inf if self.mean_squared_error > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain values."""
        ratio = self.over_variance
        return {
            "mean_squared_error": self.mean_squared_error,
            "variance": self.variance,
            "over_variance": ratio if math.isfinite(ratio) else None,
            "hopeless": self.hopeless,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A request that keeps epsilon at a scope, and the error to expect of it.

    Attributes
    ----------
    method : str
    model : str
        The privacy model of its guarantee, in words.
    conditions : tuple of Condition
        What its guarantee takes as given and leaves out.
    choices : dict of str
        Steps of the method, ``partition`` for example.
    k : int or None
    over_variance : float
        Expected squared error over variance, mean over the attributes.
    """

    method: str
    model: str
    conditions: tuple[Condition, ...]
    choices: Mapping[str, str]
    k: int | None
    over_variance: float

    def __str__(self) -> str:
        """Name the option in words."""
        steps = [f"{name} {value}" for name, value in self.choices.items()]
        size = [] if self.k is None else [f"k {self.k}"]
        named = ", ".join([self.method, *steps, *size])
        return "; ".join([named, self.model, *in_short(self.conditions)])

    def to_dict(self) -> dict[str, Any]:
        """Return the option as plain values."""
        return {
            "method": self.method,
            "model": self.model,
            "conditions": [condition.to_dict() for condition in self.conditions],
            **self.choices,
            "k": self.k,
            "over_variance": self.over_variance,
        }


def expectations(planned: Plan) -> dict[str, Expectation]:
    """Return the error to expect of each attribute, but for categories."""
    found = {
        part.attribute.name: _expectation(part, isotonic=planned.isotonic)
        for part in planned.attributes
    }
    return {name: entry for name, entry in found.items() if entry is not None}


def _expectation(part: AttributePlan, *, isotonic: bool) -> Expectation | None:
    error = part.expected_error(isotonic=isotonic)
    if error is None:
        return None
    squared_unit = float(part.attribute.resolution) ** 2
    total = part.total_squares
    return Expectation(
        mean_squared_error=error / part.n_cells * squared_unit,
        variance=total / max(part.n_cells - 1, 1) * squared_unit,
        hopeless=error > part.squares_about_published_mean * (1 + LAST_DIGITS),
    )


def settle(
    table: Any,
    asked: Mapping[str, Any],
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> tuple[Request, Prepared]:
    """Make a request of arguments, choosing what they leave to advice."""
    if asked.get("method") == AUTO:
        return _settle_method(table, asked, engine, progress)
    if asked.get("k") != AUTO:
        request = Request.of(asked)
        return request, prepare(table, request, progress)
    method = METHODS.get(str(asked.get("method")))
    if method is not None and method.needs_k and not method.needs_epsilon:
        raise RequestError(
            "k",
            f"{method.id} draws no noise for a budget, and so loses least at the least k, where "
            "it hides nothing",
            "choose k yourself",
        )
    probe = Request.of({**asked, "k": method.smallest_k if method else None, "scope": None})
    prepared = prepare(table, probe, progress)
    if not probe.method.needs_k or "k" in probe.unused:
        return Request.of({**asked, "k": None}), prepared
    if asked.get("scope") == Scope.ROW:
        refuse_unnamed(probe, prepared.names)
    # Columns that were left to a look do not open the table to a method that needs no look.
    named = replace(probe, attributes=tuple(prepared.names))
    public = plan_prepared(prepared, named, engine).claim.model is Model.DIFFERENTIAL_PRIVACY
    grounds = _stand_in(prepared) if public else prepared
    sizes = _sizes(grounds, probe.method.smallest_k)
    best = min(
        _weighed(grounds, asked, {}, sizes, engine),
        key=lambda option: option.over_variance,
        default=None,
    )
    if best is None:
        raise RequestError(
            "k", "no k at hand suits this request", "pass k, and read what is refused about it"
        )
    return _advised({**asked, "k": best.k}, prepared, public=public), prepared


def _advised(asked: Mapping[str, Any], prepared: Prepared, *, public: bool) -> Request:
    """Make the request that was chosen, and say on what grounds."""
    request = Request.of(asked)
    check_enough(prepared.columns, request.k)
    return replace(request, advised=Advised.PUBLIC if public else Advised.DATA)


def _settle_method(
    table: Any, asked: Mapping[str, Any], engine: Engine, progress: Callable[[str], None]
) -> tuple[Request, Prepared]:
    """Choose a method: at row scope by public figures alone, elsewhere by the table."""
    scope = asked.get("scope")
    if scope is None:
        raise RequestError(
            "scope",
            "method='auto' needs to know what the epsilon must cover",
            "pass scope='cluster', 'vector' or 'row' (--scope vector)",
        )
    # Of all candidates this one asks for least.
    probe = Request.of({**asked, "method": "idp-cbls", "k": METHODS["idp-cbls"].smallest_k})
    prepared = prepare(table, probe, progress)
    size = None if asked.get("k") in (None, AUTO) else asked["k"]
    public = scope == Scope.ROW
    if public:
        refuse_unnamed(probe, prepared.names)
    grounds = _stand_in(prepared) if public else prepared
    least = Model.DIFFERENTIAL_PRIVACY if public else Model.INDIVIDUAL
    found = options(grounds, {**asked, "k": size}, str(scope), engine, least)
    if not found:
        raise RequestError(
            "method",
            f"no method at hand keeps this epsilon at {scope} scope for this request",
            "declare bounds for every attribute, shuffle the rows, or ask for a weaker scope",
        )
    best = found[0]
    chosen = {**asked, "method": best.method, **best.choices, "k": best.k}
    return _advised(chosen, prepared, public=public), prepared


def options(
    prepared: Prepared,
    asked: Mapping[str, Any],
    scope: str,
    engine: Engine,
    least: Model = Model.INDIVIDUAL,
) -> list[Option]:
    """Weigh every candidate that keeps epsilon at a scope: each with its best k, best first.

    Those whose model is weaker than ``least`` are left out.
    """
    best: list[Option] = []
    for name, steps in CANDIDATES:
        if any(asked.get(step) not in (None, value) for step, value in steps.items()):
            continue
        method = METHODS[name]
        if method.needs_bounds and not all(_bounded(column) for column in prepared.columns):
            continue
        sizes: Sequence[int | None] = [None]
        if method.needs_k and asked.get("k") is not None:
            sizes = [asked["k"]]
        elif method.needs_k:
            long = steps.get("sensitivity") == "vector"
            sizes = _sizes(prepared, method.smallest_k, LONG_STEP if long else STEP)
            # There k is only the least size, so a larger one can but cost.
            sizes = sizes[:1] if steps.get("partition") == "noise-aware" else sizes
        # Without isotonic regression: it would have to be simulated for each of them.
        own = {**asked, "method": name, "isotonic": False, "scope": scope, "seed": None}
        found = list(_weighed(prepared, own, steps, sizes, engine, least))
        best += sorted(found, key=lambda option: option.over_variance)[:1]
    return sorted(best, key=lambda option: option.over_variance)


def _weighed(
    prepared: Prepared,
    asked: Mapping[str, Any],
    steps: Mapping[str, str],
    sizes: Sequence[int | None],
    engine: Engine,
    least: Model = Model.INDIVIDUAL,
) -> Iterator[Option]:
    """Weigh a method at several k; what the request would be refused for is left out."""
    for k in sizes:
        try:
            request = Request.of({**asked, **steps, "k": k})
            check_enough(prepared.columns, request.k)
            if any(asked.get(step) and step in request.unused for step in STEPS_CHOSEN):
                continue  # a step that was asked for is not to be passed over
            planned = plan_prepared(prepared, request, engine)
            refuse_exact(planned, request)
        except (RequestError, DataError):
            continue
        expected = expectations(planned)
        if expected and planned.claim.model.strength >= least.strength:
            yield Option(
                method=request.method.id,
                model=planned.claim.model_in_words,
                conditions=planned.claim.conditions,
                choices=steps,
                k=k,
                over_variance=average(expected),
            )


def _sizes(prepared: Prepared, smallest: int, step: float = STEP) -> list[int | None]:
    """Each k on offer: from the least allowed to one single cluster.

    By the number of records, which is public, and not by that of present values.
    """
    most = prepared.table.n_records
    sizes: list[int | None] = []
    size = smallest
    while size < most:
        sizes.append(size)
        size = max(size + 1, round(size * step))
    return [*sizes, most] if most >= smallest else sizes


def _bounded(column: GridColumn) -> bool:
    """Whether a domain was declared (or read): the calendar alone is none."""
    domain, kind = column.attribute.domain, column.attribute.kind
    return domain is not None and not (kind is Kind.DATE and domain.source is Source.TYPE)


def _stand_in(prepared: Prepared) -> Prepared:
    """Make columns that know public figures alone: a value a record, evenly over the bounds.

    Each in an order of its own, so that clusters of several attributes are not those of one.
    """
    random = np.random.Generator(np.random.PCG64(0))
    columns = []
    for column in prepared.columns:
        lower, upper = column.attribute.grid_bounds or (0, 0)
        spread = np.rint(np.linspace(lower, upper, prepared.table.n_records)).astype(np.int64)
        values = random.permutation(np.clip(spread, lower, upper))
        columns.append(replace(column, values=values, missing=None))
    return replace(prepared, columns=tuple(columns))


def average(expected: Mapping[str, Expectation]) -> float:
    """Average error over variance, leaving out attributes without variance if others have it."""
    varied = [entry for entry in expected.values() if entry.variance > 0]
    ratios = [entry.over_variance for entry in varied or expected.values()]
    return math.fsum(ratios) / len(ratios) if ratios else math.nan

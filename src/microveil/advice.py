"""Advice before noise: what error to expect of a request, and what would be better.

The expected error of a plan is known in closed form before any noise is drawn (see
`utility.expected_error`). It is held against publishing the attribute's mean in every row, which
needs no request at all: an attribute that does worse is hopeless, and so are any statistics on it.

Choosing by the error expected on the table is a use of the table. Where a method is differential
privacy, a k left to advice is therefore chosen on a stand-in of evenly spread values, which knows
only public figures; where it is individual differential privacy, the parameters belong to the
actual table as the scales do, and the guarantee says so. See docs/advice.md.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from microveil.audit import audit_of
from microveil.engines import Engine, LocalEngine
from microveil.errors import DataError, RequestError, stands_alone
from microveil.invited_linkage import InvitedLinkage, invited_linkage
from microveil.methods import METHODS
from microveil.planning import keeps, plan_prepared, refuse_exact
from microveil.plans import AttributePlan
from microveil.preparation import Prepared, prepare
from microveil.privacy import Model
from microveil.recipe import merged, read_recipe
from microveil.release import Plan
from microveil.request import Advised, Arguments, Request
from microveil.schema import Kind, Source
from microveil.table import GridColumn

__all__ = ["Advice", "Expectation", "Option", "advise", "expectations", "settled_plan"]

Whole = NDArray[np.int64]

AUTO = "auto"
SCOPES = ("row", "vector", "cluster")  # the most demanding first
# Least to greatest k on offer, each so many times the one before; the second for methods whose
# plans take long.
STEP, LONG_STEP = 1.4, 3.0
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
# How many options a person is shown.
SHOWN = 5


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
        Whether publishing the mean in every row would be nearer to the original.
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
    choices : dict of str
        Steps of the method, ``partition`` for example.
    k : int or None
    over_variance : float
        Expected squared error over variance, mean over the attributes.
    """

    method: str
    choices: Mapping[str, str]
    k: int | None
    over_variance: float

    def __str__(self) -> str:
        """Name the option in words."""
        steps = [f"{name} {value}" for name, value in self.choices.items()]
        size = [] if self.k is None else [f"k {self.k}"]
        return ", ".join([self.method, *steps, *size])

    def to_dict(self) -> dict[str, Any]:
        """Return the option as plain values."""
        return {
            "method": self.method,
            **self.choices,
            "k": self.k,
            "over_variance": self.over_variance,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to expect of a request, and what would be better for the same epsilon and scope.

    Attributes
    ----------
    asked : Option
        The request itself.
    scope : str or None
        The most demanding scope at which it keeps its epsilon.
    expected : dict of Expectation
        By attribute; without those of categories.
    options : tuple of Option
        The best first; each method with its best k.
    linkage : InvitedLinkage or None
        Where isotonic regression was asked for.
    """

    asked: Option
    scope: str | None
    expected: Mapping[str, Expectation]
    options: tuple[Option, ...]
    linkage: InvitedLinkage | None = None

    @property
    def hopeless(self) -> tuple[str, ...]:
        """Attributes for which publishing the mean would be better."""
        return tuple(name for name, entry in self.expected.items() if entry.hopeless)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values."""
        return {
            "asked": self.asked.to_dict(),
            "scope": self.scope,
            "expected": {name: entry.to_dict() for name, entry in self.expected.items()},
            "hopeless": list(self.hopeless),
            "options": [option.to_dict() for option in self.options],
            "isotonic_linkage": None if self.linkage is None else self.linkage.to_dict(),
        }

    def to_text(self) -> str:
        """Return the advice for a terminal."""
        width = max([len("attribute"), *(len(name) for name in self.expected)])
        lines = [
            f"To expect of {self.asked}: squared error over variance, before any noise is drawn.",
            "",
            f"{'attribute':{width}}  error/variance",
        ]
        for name, entry in self.expected.items():
            verdict = "  worse than publishing the mean" if entry.hopeless else ""
            lines.append(f"{name:{width}}  {entry.over_variance:14.4g}{verdict}")
        lines += [f"{'mean':{width}}  {self.asked.over_variance:14.4g}", ""]
        if self.options:
            lines.append(f"Best for the same epsilon at {self.scope} scope:")
            lines += [f"  {option.over_variance:10.4g}  {option}" for option in self.options]
        if self.linkage is not None:
            lines += ["", str(self.linkage)]
        lines += [
            "",
            (
                "These figures depend on the data: they are the custodian's. Choosing by them is a "
                "use of the data."
            ),
        ]
        return "\n".join(lines) + "\n"


@stands_alone
def advise(
    table: Any,
    *,
    recipe: str | Path | Mapping[str, Any] | None = None,
    **arguments: Unpack[Arguments],
) -> Advice:
    """Say what error to expect of a request, and what would be better.

    Takes the arguments of `protect`; draws nothing and releases nothing.

    Returns
    -------
    Advice
        The figures depend on the data and are the custodian's.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule.

    Notes
    -----
    Each attribute is sorted once; then each method and k on offer costs a pass over the
    clusters, the noise-aware partition of "idp-vector" seconds at a million records.

    Examples
    --------
    >>> import numpy as np
    >>> ages = {"AGE": np.arange(20, 80)}
    >>> advice = advise(
    ...     ages, method="dp-um", k=3, epsilon=0.1, attributes="AGE", bounds={"AGE": (0, 120)}
    ... )
    >>> advice.hopeless, advice.scope
    (('AGE',), 'vector')
    """
    asked = merged({} if recipe is None else read_recipe(recipe), arguments)
    engine = _SortedOnce()
    request, prepared = _settle(table, asked, engine)
    planned = plan_prepared(prepared, request, engine)
    advice = _advice(planned, expectations(planned), asked, prepared, request, engine)
    linkage = invited_linkage(planned) if planned.isotonic else None
    return replace(advice, linkage=linkage)


def settled_plan(
    table: Any,
    arguments: Mapping[str, Any],
    progress: Callable[[str], None] = lambda _step: None,
    *,
    weighed: bool = True,
) -> Plan:
    """Plan a request, with what is left to advice chosen.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    arguments : dict
        Those of `protect`.
    progress : callable
        Told each step.
    weighed : bool
        Find out for the custodian what it really guarantees and what error to expect; say in
        the notes where the request is hopeless and what would be better, and how far isotonic
        regression invites linkage.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule.
    """
    engine = LocalEngine()
    if AUTO in (arguments.get("k"), arguments.get("method")):
        engine = _SortedOnce()
        progress("weighing")
    request, prepared = _settle(table, arguments, engine, progress)
    planned = plan_prepared(prepared, request, engine, progress)
    refuse_exact(planned, request)
    if not weighed:
        return planned
    progress("auditing")
    figures: dict[str, Any] = {"audit": audit_of(planned).to_dict()}
    expected = expectations(planned)
    figures["expected_error"] = {name: entry.to_dict() for name, entry in expected.items()}
    notes = []
    if request.isotonic:
        progress("linking trial draws")
        linkage = invited_linkage(planned)
        figures["isotonic_linkage"] = linkage.to_dict()
        notes.append(str(linkage))
    if any(entry.hopeless for entry in expected.values()):
        progress("weighing")
        advice = _advice(planned, expected, arguments, prepared, request, _SortedOnce())
        figures["advice"] = [option.to_dict() for option in advice.options]
        notes.append(_warning(advice))
    return replace(planned, notes=(*planned.notes, *notes), figures=figures)


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
        hopeless=error > total,
    )


def _advice(
    planned: Plan,
    expected: Mapping[str, Expectation],
    asked: Mapping[str, Any],
    prepared: Prepared,
    request: Request,
    engine: Engine,
) -> Advice:
    scope = _kept_scope(planned)
    options: list[Option] = []
    if scope is not None:
        # What the request chose for its own method binds no other.
        own = ("method", "k", "partition", "composition", "sensitivity")
        free = {name: value for name, value in asked.items() if name not in own}
        options = _options(prepared, free, scope, engine)
    return Advice(
        asked=Option(
            method=request.method.id,
            choices=_choices(request),
            k=request.k if request.method.needs_k else None,
            over_variance=_overall(expected),
        ),
        scope=scope,
        expected=expected,
        options=tuple(options[:SHOWN]),
    )


def _choices(request: Request) -> dict[str, str]:
    given = {
        name: getattr(request, name)
        for name in ("partition", "composition", "sensitivity")
        if name not in request.unused
    }
    return {name: value for name, value in given.items() if value is not None}


def _warning(advice: Advice) -> str:
    worst = ", ".join(
        f"'{name}' ({advice.expected[name].over_variance:.3g} times the variance)"
        for name in advice.hopeless
    )
    note = f"To be expected: an error worse than publishing the mean in {worst}."
    if not advice.options:
        return note
    best = advice.options[0]
    figures = (
        f"the least expected error for the same epsilon at {advice.scope} scope is that of {best}: "
        f"{best.over_variance:.3g} of the variance on average, against "
        f"{advice.asked.over_variance:.3g}"
    )
    if best.over_variance > 1:
        return f"{note} No method at hand does better than the mean: {figures}."
    return f"{note} Instead, {figures}."


def _settle(
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
    probe = Request.of({**asked, "k": method.smallest_k if method else None})
    prepared = prepare(table, probe, progress)
    if not probe.method.needs_k or "k" in probe.unused:
        return probe, prepared
    guarantee = plan_prepared(prepared, probe, engine).guarantee
    public = guarantee.model is Model.DIFFERENTIAL_PRIVACY
    grounds = _stand_in(prepared) if public else prepared
    sizes = _sizes(prepared, probe.method.smallest_k)
    best = min(
        _weighed(grounds, {**asked, "scope": None}, {}, sizes, engine),
        key=lambda option: option.over_variance,
        default=None,
    )
    if best is None:
        raise RequestError(
            "k", "no k at hand suits this request", "pass k, and read what is refused about it"
        )
    advised = Advised.PUBLIC if public else Advised.DATA
    return replace(Request.of({**asked, "k": best.k}), advised=advised), prepared


def _settle_method(
    table: Any, asked: Mapping[str, Any], engine: Engine, progress: Callable[[str], None]
) -> tuple[Request, Prepared]:
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
    options = _options(prepared, {**asked, "k": size}, str(scope), engine)
    if not options:
        raise RequestError(
            "method",
            f"no method at hand keeps this epsilon at {scope} scope for this request",
            "declare bounds for every attribute, shuffle the rows, or ask for a weaker scope",
        )
    best = options[0]
    chosen = {**asked, "method": best.method, **best.choices, "k": best.k}
    return replace(Request.of(chosen), advised=Advised.DATA), prepared


def _options(
    prepared: Prepared, asked: Mapping[str, Any], scope: str, engine: Engine
) -> list[Option]:
    """Weigh every candidate that keeps epsilon at a scope: each with its best k, best first."""
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
        isotonic = bool(asked.get("isotonic")) and method.orders_clusters
        own = {**asked, "method": name, "isotonic": isotonic, "scope": scope, "seed": None}
        found = list(_weighed(prepared, own, steps, sizes, engine))
        best += sorted(found, key=lambda option: option.over_variance)[:1]
    return sorted(best, key=lambda option: option.over_variance)


def _weighed(
    prepared: Prepared,
    asked: Mapping[str, Any],
    steps: Mapping[str, str],
    sizes: Sequence[int | None],
    engine: Engine,
) -> Iterator[Option]:
    """Weigh a method at several k; what the request would be refused for is left out."""
    for k in sizes:
        try:
            request = Request.of({**asked, **steps, "k": k})
            planned = plan_prepared(prepared, request, engine)
            refuse_exact(planned, request)
        except (RequestError, DataError):
            continue
        expected = expectations(planned)
        if expected:
            yield Option(
                method=request.method.id,
                choices=steps,
                k=k,
                over_variance=_overall(expected),
            )


def _sizes(prepared: Prepared, smallest: int, step: float = STEP) -> list[int | None]:
    """Each k on offer: from the least allowed to one single cluster."""
    most = min(len(column.values) for column in prepared.columns)
    sizes: list[int | None] = []
    size = smallest
    while size < most:
        sizes.append(size)
        size = max(size + 1, round(size * step))
    return [*sizes, most] if most >= smallest else sizes


def _bounded(column: GridColumn) -> bool:
    """Whether a domain was declared (or read): the calendar alone is none."""
    bounds, kind = column.attribute.bounds, column.attribute.kind
    return bounds is not None and not (kind is Kind.DATE and bounds.source is Source.TYPE)


def _stand_in(prepared: Prepared) -> Prepared:
    """Make columns that know public figures alone: as many values, evenly over the bounds.

    Each in an order of its own, so that clusters of several attributes are not those of one.
    """
    random = np.random.Generator(np.random.PCG64(0))
    columns = []
    for column in prepared.columns:
        lower, upper = column.attribute.grid_bounds or (0, 0)
        spread = np.rint(np.linspace(lower, upper, len(column.values))).astype(np.int64)
        columns.append(replace(column, values=random.permutation(np.clip(spread, lower, upper))))
    return replace(prepared, columns=tuple(columns))


def _overall(expected: Mapping[str, Expectation]) -> float:
    """Average error over variance, leaving out attributes without variance if others have it."""
    varied = [entry for entry in expected.values() if entry.variance > 0]
    ratios = [entry.over_variance for entry in varied or expected.values()]
    return math.fsum(ratios) / len(ratios) if ratios else math.nan


def _kept_scope(planned: Plan) -> str | None:
    """Find the most demanding scope at which a plan keeps its epsilon."""
    epsilon = planned.guarantee.epsilon
    if epsilon is None:
        return None
    return next((name for name in SCOPES if keeps(planned.promised, name, epsilon)), None)


class _SortedOnce(LocalEngine):
    """An engine that remembers how a column is ranked, for plan after plan on it."""

    def __init__(self) -> None:
        # The column is kept beside its ranking, so that its id stays its own.
        self._ranked: dict[int, tuple[Whole, tuple[NDArray[np.integer], Whole]]] = {}

    def rank(self, values: Whole) -> tuple[NDArray[np.integer], Whole]:
        """Rank one column, once."""
        if id(values) not in self._ranked:
            self._ranked[id(values)] = (values, super().rank(values))
        return self._ranked[id(values)][1]

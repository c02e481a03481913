"""Advice before noise: what error to expect of a request, and what would be better.

The expected error of a plan is known in closed form before any noise is drawn (see
`utility.expected_error`). It is held against publishing the attribute's mean in every row, which
needs no request at all: an attribute that does worse is hopeless, and so are any statistics on it.

Choosing by the error expected on the table is a use of the table. Where a method is differential
privacy, a k left to advice is therefore chosen on a stand-in of evenly spread values, which knows
only public figures; where it is individual differential privacy, the parameters belong to the
actual table as the scales do, and the guarantee says so. See docs/advice.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from microveil.audit.exact import audit_of
from microveil.audit.invited_linkage import InvitedLinkage, invited_linkage
from microveil.engines import Engine, LocalEngine
from microveil.errors import ExactCellsError, stands_alone
from microveil.release import Plan
from microveil.release.columns import Prepared
from microveil.release.notes import formula_notes
from microveil.release.planning import plan_prepared, refuse_exact
from microveil.release.recipe import merged, read_recipe
from microveil.release.request import Arguments, Request
from microveil.release.selection import (
    AUTO,
    Expectation,
    Option,
    average,
    expectations,
    options,
    settle,
)
from microveil.text import one_line

__all__ = ["Advice", "advise", "settled_plan"]

# How many options a person is shown.
SHOWN = 5
# Of larger tables `protect` says that a request is hopeless, and leaves it to `advise` to find
# what would be better: weighing takes far longer than protecting.
WEIGHED_CELLS = 200_000


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
    refused : str or None
        Why `protect` would refuse the request, exact cells for example.
    """

    asked: Option
    scope: str | None
    expected: Mapping[str, Expectation]
    options: tuple[Option, ...]
    linkage: InvitedLinkage | None = None
    refused: str | None = None

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
            "refused": self.refused,
            "options": [option.to_dict() for option in self.options],
            "isotonic_linkage": None if self.linkage is None else self.linkage.to_dict(),
        }

    def to_text(self) -> str:
        """Return the advice for a terminal."""
        shown = {name: one_line(name) for name in self.expected}
        width = max([len("attribute"), *map(len, shown.values())])
        lines = [
            f"To expect of {self.asked}: squared error over variance, before any noise is drawn.",
            "",
            f"{'attribute':{width}}  error/variance",
        ]
        for name, entry in self.expected.items():
            verdict = "  worse than publishing the mean" if entry.hopeless else ""
            lines.append(f"{shown[name]:{width}}  {entry.over_variance:14.4g}{verdict}")
        lines += [f"{'mean':{width}}  {self.asked.over_variance:14.4g}", ""]
        if self.refused is not None:
            lines += [f"But protect would refuse it. {one_line(self.refused)}.", ""]
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
    engine = LocalEngine().remembering()
    request, prepared = settle(table, asked, engine)
    planned = plan_prepared(prepared, request, engine)
    expected = expectations(planned)
    return Advice(
        asked=Option(
            method=request.method.id,
            model=planned.claim.model_in_words,
            conditions=planned.claim.conditions,
            choices=_choices(request),
            k=request.k if request.method.needs_k else None,
            over_variance=average(expected),
        ),
        scope=_kept_scope(planned),
        expected=expected,
        options=tuple(_options(planned, asked, prepared, engine)),
        linkage=invited_linkage(planned, engine) if planned.isotonic else None,
        refused=_refusal(planned, request),
    )


def settled_plan(
    table: Any,
    arguments: Mapping[str, Any],
    engine: Engine,
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
    engine : Engine
    progress : callable
        Told each step.
    weighed : bool
        Find out for the custodian what it really guarantees and what error to expect; say in
        the custodian's notes where the request is hopeless and what would be better, and how
        far isotonic regression invites linkage.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule.
    """
    if AUTO in (arguments.get("k"), arguments.get("method")):
        engine = engine.remembering()
        progress("weighing")
    request, prepared = settle(table, arguments, engine, progress)
    planned = plan_prepared(prepared, request, engine, progress)
    refuse_exact(planned, request)
    if not weighed:
        return planned
    progress("auditing")
    figures: dict[str, Any] = {"audit": audit_of(planned).to_dict()}
    expected = expectations(planned)
    figures["expected_error"] = {name: entry.to_dict() for name, entry in expected.items()}
    notes, custodian_notes = [*formula_notes(planned)], []
    if request.advised is not None:
        chosen = ", ".join(
            [
                request.method.id,
                *(f"{step} {value}" for step, value in _choices(request).items()),
                f"k {request.k}",
            ]
        )
        notes.append(f"Left to advice, chosen: {chosen}.")
        custodian_notes.append(
            f"Of what advice chose the expected error is {average(expected):.3g} of the variance, "
            "mean over the attributes."
        )
    if request.isotonic:
        progress("linking trial draws")
        linkage = invited_linkage(planned, engine)
        figures["isotonic_linkage"] = linkage.to_dict()
        custodian_notes.append(str(linkage))
    if any(entry.hopeless for entry in expected.values()):
        cells = sum(column.n_present for column in prepared.columns)
        found: list[Option] | None = None
        if cells <= WEIGHED_CELLS:
            progress("weighing")
            found = _options(planned, arguments, prepared, engine.remembering())
            figures["advice"] = [option.to_dict() for option in found]
        custodian_notes.append(_warning(planned, expected, found))
    return replace(
        planned,
        notes=(*planned.notes, *notes),
        custodian_notes=(*planned.custodian_notes, *custodian_notes),
        figures=figures,
    )


def _options(
    planned: Plan, asked: Mapping[str, Any], prepared: Prepared, engine: Engine
) -> list[Option]:
    """Weigh what keeps the same epsilon at the scope that a plan keeps it at."""
    scope = _kept_scope(planned)
    if scope is None:
        return []
    # What the request chose for its own method binds no other.
    own = ("method", "k", "partition", "composition", "sensitivity")
    free = {name: value for name, value in asked.items() if name not in own}
    return options(prepared, free, scope, engine)[:SHOWN]


def _refusal(planned: Plan, request: Request) -> str | None:
    try:
        refuse_exact(planned, request)
    except ExactCellsError as error:
        return str(error).rstrip(".")
    return None


def _choices(request: Request) -> dict[str, str]:
    given = {
        name: getattr(request, name)
        for name in ("partition", "composition", "sensitivity")
        if name not in request.unused
    }
    return {name: value for name, value in given.items() if value is not None}


def _warning(planned: Plan, expected: Mapping[str, Expectation], found: list[Option] | None) -> str:
    """Say which attributes are hopeless, and of options that were looked for the best."""
    worst = ", ".join(
        f"'{name}' ({entry.over_variance:.3g} times the variance)"
        if entry.variance > 0
        else f"'{name}' (all its values are equal)"
        for name, entry in expected.items()
        if entry.hopeless
    )
    note = f"To be expected: an error worse than publishing the mean in {worst}."
    if found is None:
        return f"{note} microveil inspect (microveil.advise) finds what would be better."
    if not found:
        return note
    best = found[0]
    if best.over_variance >= 0.999 * average(expected):
        return f"{note} Nothing at hand does better for the same epsilon and scope."
    figures = (
        f"the least expected error for the same epsilon at {_kept_scope(planned)} scope is that of "
        f"{best}: {best.over_variance:.3g} of the variance on average, against "
        f"{average(expected):.3g}"
    )
    if best.over_variance > 1:
        return f"{note} No method at hand does better than the mean: {figures}."
    return f"{note} Instead, {figures}."


def _kept_scope(planned: Plan) -> str | None:
    """Find the most demanding scope at which a plan keeps its epsilon."""
    epsilon = planned.guarantee.epsilon
    if epsilon is None:
        return None
    scope = planned.promised.strongest_at(epsilon)
    return None if scope is None else scope.value

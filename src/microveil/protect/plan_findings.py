"""A plan looked at before anything is drawn: its audit, the error to expect, better options."""

from collections.abc import Callable, Mapping
from typing import Any

from microveil.audit.advice import better_options
from microveil.audit.exact import audit_of
from microveil.audit.invited_linkage import strongest_linkage
from microveil.engines.base import Engine
from microveil.engines.remembering import remembering
from microveil.protect.findings import PlanFindings
from microveil.release import Plan
from microveil.release.columns import Prepared
from microveil.release.expectation import Expectation, expectations
from microveil.release.option import Option
from microveil.release.settling import Settled, SettledParts
from microveil.table import numeric_look_of

__all__ = ["may_be_weighed", "plan_findings"]

# Of larger tables it is said that a request is hopeless, and left to `advise` to find what would
# be better: weighing takes far longer than protecting.
WEIGHED_CELLS = 200_000


def plan_findings(
    planned: Plan,
    settled: Settled | SettledParts,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> PlanFindings:
    """Find out what a plan really guarantees and what error to expect of it.

    Where it is hopeless, also what would be better; where isotonic regression was asked for, how
    far it invites linkage.

    Parameters
    ----------
    planned : Plan
    settled : Settled or SettledParts
        What it was made of.
    engine : Engine
    progress : callable
        Gets the name of each step.
    """
    progress("auditing")
    audit = audit_of(planned, engine.side_by_side)
    expected, linkage = expectations(planned, engine.side_by_side), None
    if planned.isotonic:
        progress("linking trial draws")
        linkage = strongest_linkage(planned, engine)
    options, prepared = None, settled.prepared
    # Of several parts advice weighs each by itself, when it is asked.
    weighs = engine.in_process and _is_weighed(expected, prepared)
    if isinstance(settled, Settled) and weighs:
        progress("weighing")
        options = _options(planned, settled.asked, prepared, engine)
    requests = [one.request for one in settled.each]
    return PlanFindings(
        audit=audit,
        expected=expected,
        is_advised=any(request.advised is not None for request in requests),
        linkage=linkage,
        options=options,
        numeric_looks=_numeric_looks(prepared) if requests[0].attributes is None else {},
    )


def may_be_weighed(n_records: int) -> bool:
    """Whether advice may look at columns of so many records again, where a request is hopeless."""
    return n_records <= WEIGHED_CELLS


def _numeric_looks(prepared: Prepared) -> dict[str, str]:
    """Say of columns that were left out why they are text, where they look like numbers."""
    looks = {name: numeric_look_of(prepared.table, name) for name in prepared.left_out}
    return {name: look for name, look in looks.items() if look is not None}


def _is_weighed(expected: Mapping[str, Expectation], prepared: Prepared) -> bool:
    cells = sum(column.n_present for column in prepared.columns)
    return cells <= WEIGHED_CELLS and any(entry.hopeless for entry in expected.values())


def _options(
    planned: Plan, asked: Mapping[str, Any], prepared: Prepared, engine: Engine
) -> tuple[Option, ...]:
    return tuple(better_options(planned, asked, prepared, remembering(engine)))

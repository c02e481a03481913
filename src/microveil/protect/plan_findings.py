"""A plan looked at before anything is drawn: its audit, and the error to expect."""

from collections.abc import Callable

from microveil.audit.exact import audit_of
from microveil.audit.invited_linkage import strongest_linkage
from microveil.protect.findings import PlanFindings
from microveil.release import Plan
from microveil.release.columns import Prepared
from microveil.release.expectation import expectations
from microveil.release.settling import Settled, SettledParts
from microveil.table import numeric_look_of

__all__ = ["plan_findings"]


def plan_findings(
    planned: Plan,
    settled: Settled | SettledParts,
    progress: Callable[[str], None] = lambda _step: None,
) -> PlanFindings:
    """Find out what a plan really guarantees and what error to expect of it.

    Where isotonic regression was asked for, also how far it invites linkage.

    Parameters
    ----------
    planned : Plan
    settled : Settled or SettledParts
        What it was made of.
    progress : callable
        Gets the name of each step.
    """
    progress("auditing")
    audit = audit_of(planned)
    expected, linkage = expectations(planned), None
    if planned.isotonic:
        progress("linking trial draws")
        linkage = strongest_linkage(planned)
    requests = [one.request for one in settled.each]
    return PlanFindings(
        audit=audit,
        expected=expected,
        is_advised=any(request.advised is not None for request in requests),
        linkage=linkage,
        numeric_looks=_numeric_looks(settled.prepared) if requests[0].attributes is None else {},
    )


def _numeric_looks(prepared: Prepared) -> dict[str, str]:
    """Say of columns that were left out why they are text, where they look like numbers."""
    looks = {name: numeric_look_of(prepared.table, name) for name in prepared.left_out}
    return {name: look for name, look in looks.items() if look is not None}

"""The straight way from a request to a release, and what is found out about it.

What is found is for the custodian, not for logs: what information loss does not show.
How many records an intruder who holds the originals finds again, where the release's rows follow
them; the attributes whose mean, spread, commonest value or distribution moved most; values that
many records share and that the release gives to others, or to nobody; and relations that are lost.

::

    protecting        the verbs, and the way: plan, draw, release
    drawing           columns planned and drawn, one after another where that can be
    releasing         a release of what was planned and drawn
    plan_findings     a plan looked at before anything is drawn
    release_findings  a release held against its original
    findings          what was found, as values and as JSON
    notes             what the custodian reads of it, in words
"""

from microveil.protect.drawing import draw, plan_and_draw
from microveil.protect.findings import (
    Findings,
    MovedValue,
    PlanFindings,
    ReleaseFindings,
    SampledLinkage,
    WorstAttribute,
)
from microveil.protect.notes import custodian_lines, custodian_notes, custodian_text
from microveil.protect.plan_findings import plan_findings
from microveil.protect.protecting import plan, protect
from microveil.protect.release_findings import release_findings
from microveil.protect.releasing import released

__all__ = [
    "Findings",
    "MovedValue",
    "PlanFindings",
    "ReleaseFindings",
    "SampledLinkage",
    "WorstAttribute",
    "custodian_lines",
    "custodian_notes",
    "custodian_text",
    "draw",
    "plan",
    "plan_and_draw",
    "plan_findings",
    "protect",
    "release_findings",
    "released",
]

"""The straight way from a request to a release, and what is found out about it.

What is found is for the custodian, not for logs: what information loss does not show.
How many records an intruder who holds the originals finds again, where the release's rows follow
them; the attributes whose mean, spread, commonest value or distribution moved most; values that
many records share and that the release gives to others, or to nobody; and relations that are lost.

::

    protecting        the verbs, and the way in four steps: plan, findings, draw, release
    plan_findings     a plan looked at before anything is drawn
    release_findings  a release held against its original
    at_hand           the same of one column as soon as it is drawn, whose original is let go
    findings          what was found, as values and as JSON
    notes             what the custodian reads of it, in words
"""

from microveil.protect.at_hand import ComparedAtHand
from microveil.protect.findings import (
    Findings,
    MovedValue,
    PlanFindings,
    ReleaseFindings,
    SampledLinkage,
    WorstAttribute,
)
from microveil.protect.notes import custodian_lines, custodian_notes, custodian_text
from microveil.protect.protecting import draw, examined_plan, plan, protect, released
from microveil.protect.release_findings import release_findings

__all__ = [
    "ComparedAtHand",
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
    "examined_plan",
    "plan",
    "protect",
    "release_findings",
    "released",
]

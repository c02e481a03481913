"""The straight way from a request to a release, and what is found out about it.

What is found is for the custodian, not for logs: three things that information loss does not show.
How many records an intruder who holds the originals finds again, where the release's rows follow
them; the attribute whose distribution moved most; and values that many records share and that the
release gives to others, or to nobody.

::

    protecting  a table in, a protected table and its guarantee out
    finding     two tables, compared
    findings    what was found, as values and as JSON
    custodian   a release with its findings in the manifest, and what its custodian reads of it
"""

from microveil.protect.custodian import custodian_lines, with_findings
from microveil.protect.finding import findings_of
from microveil.protect.findings import Findings, MovedValue, SampledLinkage, WorstAttribute
from microveil.protect.protecting import draw, plan, protect

__all__ = [
    "Findings",
    "MovedValue",
    "SampledLinkage",
    "WorstAttribute",
    "custodian_lines",
    "draw",
    "findings_of",
    "plan",
    "protect",
    "with_findings",
]

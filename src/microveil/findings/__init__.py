"""What was found out about a release against its original: for the custodian, not for logs.

Three things that information loss does not show: how many records an intruder who holds the
originals finds again, where the release's rows follow them; the attribute whose distribution moved
most; and values that many records share and that the release gives to others, or to nobody.

::

    nouns      what was found, as values and as JSON
    finding    two tables, compared
    custodian  a release with its findings in the manifest, and what its custodian reads of it
"""

from microveil.findings.custodian import custodian_lines, with_findings
from microveil.findings.finding import findings_of
from microveil.findings.nouns import Findings, MovedValue, SampledLinkage, WorstAttribute

__all__ = [
    "Findings",
    "MovedValue",
    "SampledLinkage",
    "WorstAttribute",
    "custodian_lines",
    "findings_of",
    "with_findings",
]

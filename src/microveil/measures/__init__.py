"""What a protected table lost and what an intruder could link, of any two tables; no release.

Works on any two tables with the same attributes, whichever tool protected them. Each measure has
a file: its formula, what it takes, and how it is shown; `registry` has them all. `assess`
is the verb, whose answer is an `assessment`; `attack` is the other, with its `attacks`; `findings`
are what a custodian is told of a release.
"""

from microveil.measures.assessment import Assessment
from microveil.measures.base import Measure
from microveil.measures.promised import guarantee_beside, has_pairs, measurements_beside
from microveil.measures.registry import MEASURES

__all__ = [
    "MEASURES",
    "Assessment",
    "Measure",
    "guarantee_beside",
    "has_pairs",
    "measurements_beside",
]

"""What a protected table lost and what an intruder could link, of any two tables; no release.

Works on any two tables with the same attributes, whichever tool protected them. Each measure has
a file: its formula, what it takes, and how it is shown. The others are for all of them.

::

    base        what a measure is, and the groups in which they are shown
    registry    all of them
    opening     a table and its release, opened
    tables      two tables, as measures are given them
    measuring   measures taken of them
    showing     what they found as blocks of a document, where a group has no form of its own
    assess      the verb: two tables, opened and measured; analyses has what may be asked for
    assessment  what was found, as values, JSON and a document
    attack      the verb: an intruder with partial knowledge, whose `attacks` have a file each
    attributes  columns as models take them; models has their fits, formula and classification
                what is fitted and what is learnt
    candidates  whom linkage looks for; nearest finds rows for attacks, by the same distances
    estimates   rates and medians, never without an interval
    findings    what a custodian is told of a release
    promised    what a guarantee that lies beside the table promises, and whether there are pairs
"""

from microveil.measures.assessment import Assessment
from microveil.measures.promised import guarantee_beside, has_pairs, measurements_beside
from microveil.measures.registry import MEASURES, Measure

__all__ = [
    "MEASURES",
    "Assessment",
    "Measure",
    "guarantee_beside",
    "has_pairs",
    "measurements_beside",
]

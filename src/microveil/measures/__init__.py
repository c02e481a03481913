"""What a protected table lost and what an intruder could link, of any two tables; no release.

Works on any two tables with the same attributes, whichever tool protected them.

::

    promised    what a guarantee that lies beside the table promises, and whether there are pairs
    measures    the registry: what is measured, each declared once
    tables      two tables, as measures are given them
    measuring   measures taken of them
    assessment  what was found, as values and as JSON
    text        the same for a terminal, with text_of_distributions and text_of_subgroups
    layout      names and figures as a terminal has room for them
    subgroup_margins  what noise alone does to subgroups of a new table
    matrices    two matrices, assessed
    analyses    classification, regression and propensity, as asked for
    assess      the verb: two tables, opened and measured
    attack      the verb: an intruder with partial knowledge
"""

from microveil.measures.assessment import Assessment
from microveil.measures.matrices import assess_matrices
from microveil.measures.promised import guarantee_beside, has_pairs, measurements_beside
from microveil.measures.registry import MEASURES, Measure

__all__ = [
    "MEASURES",
    "Assessment",
    "Measure",
    "assess_matrices",
    "guarantee_beside",
    "has_pairs",
    "measurements_beside",
]

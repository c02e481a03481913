"""Assessment: what a protected table lost, and what an intruder could still link.

Works on any two tables with the same attributes, whichever tool protected them.

::

    promised    what a guarantee that lies beside the table promises
    measuring   two matrices, measured
    nouns       what was found, as values and as JSON
    text        the same for a terminal
"""

from microveil.assessment.measuring import assess_matrices
from microveil.assessment.nouns import Assessment, PairedMeasures
from microveil.assessment.promised import guarantee_beside
from microveil.assessment.text import LINKAGE_LABELS, LOSS_LABELS

__all__ = [
    "LINKAGE_LABELS",
    "LOSS_LABELS",
    "Assessment",
    "PairedMeasures",
    "assess_matrices",
    "guarantee_beside",
]

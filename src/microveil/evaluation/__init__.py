"""Assessment: what a protected table lost, and what an intruder could still link.

Works on any two tables with the same attributes, whichever tool protected them.

::

    promised    what a guarantee that lies beside the table promises
    measuring   two matrices, measured
    assessment  what was found, as values and as JSON
    text        the same for a terminal
    analyses    classification, regression and propensity, as asked for
    assess      the verb: two tables, opened and measured
    attack      the verb: an intruder with partial knowledge
"""

from microveil.evaluation.assessment import Assessment, PairedMeasures
from microveil.evaluation.measuring import assess_matrices
from microveil.evaluation.promised import guarantee_beside
from microveil.evaluation.text import LINKAGE_LABELS, LOSS_LABELS

__all__ = [
    "LINKAGE_LABELS",
    "LOSS_LABELS",
    "Assessment",
    "PairedMeasures",
    "assess_matrices",
    "guarantee_beside",
]

"""What is decided for one attribute, and how its release is drawn from that.

Seven kinds of plan for one attribute, one for each way of perturbing: noise on the centroids of
clusters (none of it, for plain microaggregation), one category for a cluster, one value or none for
it, a draw from its noisy counts, noise on every value, a draw inside the value's interval, and a
draw by a transition matrix; and one for a whole new table. Noise on values that stay with the
engine is planned without them. Of a plan of centroids that was drawn at once figures and cells are
left.
"""

from microveil.plans.base import AttributePlan, SinglePlan
from microveil.plans.categories import CategoryPlan, HistogramPlan
from microveil.plans.centroids import CentroidPlan, Shifts
from microveil.plans.drawn import DrawnPlan
from microveil.plans.randomised import IntervalPlan, NoisePlan, TransitionLaw, TransitionPlan
from microveil.plans.records import RecordNoisePlan, record_noise
from microveil.plans.synthetic import CutsPlan, SyntheticPlan
from microveil.plans.with_missing import ClusterValuePlan

__all__ = [
    "OF_RECORDS",
    "AttributePlan",
    "CategoryPlan",
    "CentroidPlan",
    "ClusterValuePlan",
    "DrawnPlan",
    "HistogramPlan",
    "IntervalPlan",
    "NoisePlan",
    "RecordNoisePlan",
    "Shifts",
    "SinglePlan",
    "SyntheticPlan",
    "TransitionLaw",
    "TransitionPlan",
    "record_noise",
]

# Plans whose draws are the engine's: one for each record, wherever it is.
OF_RECORDS = (RecordNoisePlan, TransitionPlan, CutsPlan)

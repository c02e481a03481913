"""What is decided for one attribute, and how its release is drawn from that.

Four kinds of plan, one for each way of perturbing: noise on the centroids of clusters (none
of it, for plain microaggregation), noise on every value, a draw inside the value's interval,
and a draw by a transition matrix.
"""

from microveil.plans.base import AttributePlan
from microveil.plans.centroids import CentroidPlan, Shifts
from microveil.plans.randomised import IntervalPlan, NoisePlan, TransitionPlan

__all__ = [
    "AttributePlan",
    "CentroidPlan",
    "IntervalPlan",
    "NoisePlan",
    "Shifts",
    "TransitionPlan",
]

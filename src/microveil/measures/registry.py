"""The registry of measures: what is measured of a release, each declared once.

Assessments, comparisons, reports and docs take every figure, label and explanation from here;
the functions stand with them.

>>> [measure.id for measure in MEASURES.values()][:4]
['sse', 'mean_sse', 'mean_sse_published', 'information_loss']
"""

from microveil.measures import (
    categories,
    closest_records,
    column_moves,
    distributions,
    goodness_of_fit,
    information_loss,
    learning,
    linkage,
    mean_errors,
    moments,
    neighbourhoods,
    propensity,
    rank_correlations,
    regression,
    relations,
    rules,
    subgroups,
    weighted,
)
from microveil.measures.base import (
    FURTHER,
    Better,
    By,
    Compared,
    Entry,
    Figure,
    Group,
    Measure,
    Takes,
)

__all__ = [
    "FURTHER",
    "MEASURES",
    "Better",
    "By",
    "Compared",
    "Entry",
    "Figure",
    "Group",
    "Measure",
    "Takes",
]

# In the order of the entries of an assessment.
_DECLARED = (
    *information_loss.MEASURES,
    *linkage.MEASURES,
    *closest_records.MEASURES,
    *categories.MEASURES,
    *moments.OF_ATTRIBUTES,
    *mean_errors.MEASURES,
    *goodness_of_fit.MEASURES,
    *distributions.MEASURES,
    *column_moves.MEASURES,
    *relations.MEASURES,
    *neighbourhoods.MEASURES,
    *moments.OF_PAIRS,
    *rank_correlations.MEASURES,
    *weighted.MEASURES,
    *subgroups.MEASURES,
    *rules.MEASURES,
    *learning.MEASURES,
    *regression.MEASURES,
    *propensity.MEASURES,
)
MEASURES: dict[str, Measure] = {measure.id: measure for measure in _DECLARED}

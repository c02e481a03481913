"""Results that are arrays: nobody changes them afterwards, and arguments stay as they were."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from microveil.measures.distributions import total_variation
from microveil.measures.information_loss import errors_of
from microveil.measures.learning import compare_classification
from microveil.measures.moments import moments, rank_correlations
from microveil.measures.neighbourhoods import neighbourhoods
from microveil.noise.posterior_odds import posterior_odds
from microveil.partition.intervals import intervals

TABLE = np.arange(24.0).reshape(12, 2)
MADE = {
    "classes": lambda: compare_classification(
        {"A": TABLE[:, 0]}, {"A": TABLE[:, 1]}, np.arange(12) % 2,
        estimator=DecisionTreeClassifier(), seeds=[0],
    ),
    "correlations": lambda: {"all": rank_correlations(TABLE)},
    "errors": lambda: errors_of(np.ones((1, 1)), np.zeros((1, 1))),
    "intervals": lambda: intervals([1, 2, 3], k=1),
    "moments": lambda: moments(TABLE),
    "neighbours": lambda: neighbourhoods(
        [1, 2, 3], delta=1, k=1, protected=[1, 2, 3]
    ),
    "odds": lambda: posterior_odds(np.eye(2), TABLE[1]),
    "variation": lambda: total_variation(*[{"A": np.zeros(1, np.uint16)}] * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_the_arrays_of_a_result_are_read_only(name):
    """All that it has, while the arguments can be written to still."""
    made = MADE[name]()
    named = made if isinstance(made, dict) else {
        one: getattr(made, one) for one in made.__dataclass_fields__
    }  # fmt: skip
    arrays = [value for value in named.values() if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)
    assert TABLE.flags.writeable
    assert TABLE.tolist() == np.arange(24.0).reshape(12, 2).tolist()

"""Results that are arrays: nobody changes them afterwards, and arguments stay as they were."""

import numpy as np
import pytest

from microveil.noise.shares import posterior_odds
from microveil.partition.intervals import intervals

TABLE = np.arange(24.0).reshape(12, 2)
MADE = {
    "intervals": lambda: intervals([1, 2, 3], k=1),
    "odds": lambda: posterior_odds(np.eye(2), TABLE[1]),
}


@pytest.mark.parametrize("name", MADE)
def test_the_arrays_of_a_result_are_read_only(name):
    """All that it has, while the arguments can be written to still."""
    made = MADE[name]()
    values = [getattr(made, one) for one in made.__dataclass_fields__]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)
    assert TABLE.flags.writeable
    assert TABLE.tolist() == np.arange(24.0).reshape(12, 2).tolist()

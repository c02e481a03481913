"""Intervals of a column that memory does not hold: as wide as those of all of it."""

import numpy as np
import pytest

from microveil.errors import MicroveilError
from microveil.partition import distribution_sort, interval_parts, intervals
from microveil.partition.interval_parts import delta_in_parts, intervals_in_parts
from microveil.table import keeping
from microveil.table.keeping import IN_MEMORY
from reference import intervals as oracle

VALUES = {
    "ties": lambda random, n: random.integers(0, 9, n),
    "tail": lambda random, n: np.round(random.lognormal(6, 2, n)),
    "even": lambda random, n: random.permutation(n) * 7,
    "two": lambda random, n: random.integers(0, 2, n) * 10**6,
    "far": lambda random, n: random.integers(0, 99, n) - (random.random(n) < 0.1) * (1 << 25),
    "clumps": lambda random, n: random.integers(0, 6, n) * 1000 + random.integers(0, 30, n),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few values are a piece, and a few pairs all that is at hand."""
    monkeypatch.setattr(keeping, "PIECE", 7)
    monkeypatch.setattr(distribution_sort, "AT_ONCE", 11)
    monkeypatch.setattr(interval_parts, "AT_HAND", 3)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("rule", [{"k": 1}, {"k": 2}, {"k": 5}, {"k": 40}, {"k": 3, "every":
                         "average"}, {"width": 17.5}])  # fmt: skip
@pytest.mark.parametrize("n_records", [40, 41, 300])
def test_intervals_are_as_wide_as_those_of_the_column_at_once(kind, rule, n_records):
    """To the last digit, however few of the pairs are at hand; refusals are those, too."""
    for seed in range(4):
        values = VALUES[kind](np.random.default_rng(seed), n_records).astype(np.int64)
        said = {"k": None, "width": None, "every": "group", **rule}
        expected = intervals(values, **said).delta
        assert delta_in_parts(values, IN_MEMORY, **said) == expected


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("rule", [{"k": 1}, {"k": 3}, {"k": 40}, {"k": 2, "every": "average"},
                         {"width": 17.5}, {"width": 1 << 30}])  # fmt: skip
@pytest.mark.parametrize("n_records", [40, 41, 300])
def test_records_are_those_of_the_intervals_of_the_column_at_once(kind, rule, n_records):
    """Of each interval that has some, as they come; with their values."""
    for seed in range(4):
        values = VALUES[kind](np.random.default_rng(seed), n_records).astype(np.int64)
        said = {"k": None, "width": None, "every": "group", **rule}
        expected = intervals(values, **said)
        found, in_order = intervals_in_parts(values, IN_MEMORY, **said)
        assert found.sizes.tolist() == expected.sizes[expected.sizes > 0].tolist()
        assert found.order.tolist() == np.argsort(expected.labels, kind="stable").tolist()
        assert in_order.tolist() == values[found.order].tolist()


@pytest.mark.parametrize("kind", ["ties", "even"])
def test_intervals_hold_what_exact_arithmetic_says(kind):
    """Labels are those of fractions, where float64 rounds no edge past a value."""
    values = VALUES[kind](np.random.default_rng(5), 64).astype(np.int64)
    found, _ = intervals_in_parts(values, IN_MEMORY, k=4, width=None, every="group")
    n_intervals = oracle.most_intervals(values.tolist(), 4)
    assert found.sizes.tolist() == oracle.sizes(values.tolist(), n_intervals)


@pytest.mark.parametrize("said", [{"k": 50, "width": None}, {"k": None, "width": 1e-9}])
@pytest.mark.parametrize("values", [np.full(40, 3), np.arange(40)])
def test_what_cannot_be_cut_is_refused_alike(said, values):
    """Equal values, a k above the number of records, and a width that makes too many."""
    found = []
    for cut in (lambda: intervals(values, **said, every="group"),
                lambda: delta_in_parts(values, IN_MEMORY, **said, every="group")):  # fmt: skip
        with pytest.raises(MicroveilError) as refused:
            cut()
        found.append(str(refused.value))
    assert found[0] == found[1]

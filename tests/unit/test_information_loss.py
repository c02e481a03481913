"""Information loss: hand-computed figures, published figures, missing and constant cells."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import microveil as mv
from microveil.errors import DataError
from microveil.measures.information_loss import errors_of
from microveil.table import blocks

MEASURES = ["sse", "mean_sse", "mean_sse_published", "information_loss"]
# Variances 1 and 100; differences 1, 0, 0 and 0, 10, -20.
ORIGINAL = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
PROTECTED = np.array([[2.0, 10.0], [2.0, 30.0], [3.0, 10.0]])


def loss(measure, original, protected):
    return getattr(errors_of(original, protected), measure)


@st.composite
def varied_tables(draw):
    """Draw a table of small whole numbers, of which every attribute varies."""
    shape = draw(st.tuples(st.integers(2, 30), st.integers(1, 4)))
    table = draw(hnp.arrays(np.float64, shape, elements=st.integers(-50, 50).map(float)))
    table[0] = table[1] + 1
    return table


@pytest.mark.parametrize(
    ("measure", "by_hand"),
    [
        ("sse", 1 + 100 + 400),
        ("mean_sse", (1 / 1 + (100 + 400) / 100) / 3 / 2),
        ("mean_sse_published", ((1 / 1) ** 2 + (10 / 100) ** 2 + (20 / 100) ** 2) / 3 / 4),
        ("information_loss", 100 * (1 / 1 + (100 + 400) / 100) / (2 + 2)),
    ],
)
def test_measures_are_their_formulas(measure, by_hand):
    """Each measure is the figure that its formula gives by hand."""
    assert loss(measure, ORIGINAL, PROTECTED) == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
@given(table=varied_tables())
def test_unchanged_data_lose_nothing(measure, table):
    """Every measure of identical tables is 0."""
    assert loss(measure, table, table.copy()) == 0.0


@given(varied_tables())
def test_publishing_the_means_loses_everything(table):
    """The mean in every cell loses 100 percent, and (n - 1)/n of the variance."""
    means = np.broadcast_to(table.mean(axis=0), table.shape)
    n = table.shape[0]
    assert loss("information_loss", table, means) == pytest.approx(100, rel=1e-9)
    assert loss("mean_sse", table, means) == pytest.approx((n - 1) / n, rel=1e-9)


@given(varied_tables(), st.integers(0, 2**32 - 1))
def test_only_the_published_form_depends_on_units(table, seed):
    """Information loss and mean SSE ignore units; IDP-2025's mean SSE falls with their square."""
    protected = table + np.random.default_rng(seed).standard_normal(table.shape)
    for measure, factor in [
        ("information_loss", 1),
        ("mean_sse", 1),
        ("mean_sse_published", 1 / 16),
        ("sse", 16),
    ]:
        expected = factor * loss(measure, table, protected)
        assert loss(measure, 4 * table, 4 * protected) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES[1:])
def test_a_constant_attribute_is_left_out_changed_or_not(measure):
    """What never varied has no variance to measure by, so m counts the others."""
    constant = np.full((3, 1), 0.1)
    for published in (constant, constant + 5):
        figure = loss(measure, np.hstack([ORIGINAL, constant]), np.hstack([PROTECTED, published]))
        assert figure == loss(measure, ORIGINAL, PROTECTED)


def test_the_raw_sum_includes_a_constant_attribute():
    """A constant attribute that was changed shows in the sum of squared errors."""
    assert loss("sse", np.zeros((2, 1)), np.array([[3.0], [4.0]])) == 25.0


@pytest.mark.parametrize("lacking", ["original", "protected", "both"])
def test_a_missing_cell_in_either_table_is_not_compared(lacking):
    """Whichever table lacks a cell, the sum is that of the other cells."""
    original, protected = ORIGINAL.copy(), PROTECTED.copy()
    if lacking != "protected":
        original[2, 1] = np.nan
    if lacking != "original":
        protected[2, 1] = np.nan
    assert loss("sse", original, protected) == 1 + 100


def test_means_are_over_the_cells_compared():
    """With a missing cell, mean SSE divides that attribute by the cells that remain."""
    protected = PROTECTED.copy()
    protected[2, 1] = np.nan
    assert loss("mean_sse", ORIGINAL, protected) == pytest.approx((1 / 3 + 1 / 2) / 2)
    # The originals compared: 1, 2, 3 around 2 in variance 1, and 10, 20 around 20 in 100.
    assert loss("information_loss", ORIGINAL, protected) == pytest.approx(100 * 2 / 3)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_suppressed_table_does_not_look_unchanged(measure):
    """Without one cell to compare the measures are NaN, not 0."""
    assert np.isnan(loss(measure, ORIGINAL, np.full_like(ORIGINAL, np.nan)))


@pytest.mark.parametrize("measure", MEASURES[1:])
def test_nothing_that_varies_gives_nothing_to_measure(measure):
    """Constant data, and a single record, have no variance: NaN."""
    assert np.isnan(loss(measure, np.ones((5, 2)), np.zeros((5, 2))))
    assert np.isnan(loss(measure, ORIGINAL[:1], PROTECTED[:1]))


@pytest.mark.parametrize("measure", MEASURES[1:])
def test_a_suppressed_attribute_does_not_look_unchanged(measure):
    """One attribute without a cell to compare leaves the measure undefined."""
    protected = PROTECTED.copy()
    protected[:, 0] = np.nan
    assert np.isnan(loss(measure, ORIGINAL, protected))


def test_compared_cells_all_at_the_mean_give_no_percentage():
    """When the originals left to compare do not vary, there is no total to relate to."""
    protected = np.array([[np.nan], [5.0], [np.nan]])
    assert np.isnan(loss("information_loss", np.array([[1.0], [2.0], [3.0]]), protected))


def test_tables_that_do_not_match_are_refused():
    """Different lengths, infinite values and tables of no record are errors."""
    infinite, empty = np.full_like(ORIGINAL, np.inf), np.zeros((0, 2))
    for protected, rule in [(PROTECTED[:2], "as many in both"), (infinite, "finite"),
                            (empty, "no records")]:  # fmt: skip
        with pytest.raises(DataError, match=rule):
            mv.assess(*(dict(zip("ab", side.T, strict=True)) for side in (ORIGINAL, protected)))


def test_errors_are_protected_less_original():
    """By attribute, by hand: errors 3, -1 and 0, 0."""
    errors = errors_of(np.array([[20.0, 5.0], [30.0, 6.0]]), np.array([[23.0, 5.0], [29.0, 6.0]]))
    assert errors.bias.tolist() == [1.0, 0.0]
    assert errors.mse.tolist() == [5.0, 0.0]
    assert errors.rmse.tolist() == [math.sqrt(5.0), 0.0]
    assert errors.n_cells.tolist() == [2, 2]


def test_errors_are_over_cells_present_in_both():
    """A missing cell on either side is no error; an attribute without any cell has none."""
    errors = errors_of(
        np.array([[1.0, np.nan], [2.0, 7.0], [np.nan, 1.0]]),
        np.array([[2.0, 3.0], [np.nan, np.nan], [9.0, np.nan]]),
    )
    assert errors.n_cells.tolist() == [1, 0]
    assert errors.bias[0] == errors.mse[0] == errors.rmse[0] == 1.0
    assert np.isnan([errors.bias[1], errors.mse[1], errors.rmse[1]]).all()


@given(varied_tables(), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_figures_do_not_depend_on_blocks(table, size, seed):
    """However many records are compared at a time."""
    protected = table + np.random.default_rng(seed).standard_normal(table.shape)
    whole = errors_of(table, protected)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "BLOCK_RECORDS", size)
        found = errors_of(table, protected)
    for name in errors_of(table, protected).__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=1e-12)


def mdav_means(table, k):
    """Replace standardised records by the means of plain MDAV clusters, for k dividing n."""
    values = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    protected = np.empty_like(values)
    left = np.arange(values.shape[0])

    def distances(point):
        return ((values[left] - point) ** 2).sum(axis=1)

    def cluster_around(seed):
        nonlocal left
        order = np.argsort(distances(values[seed]), kind="stable")
        members = left[order[:k]]
        protected[members] = values[members].mean(axis=0)
        left = np.setdiff1d(left, members)

    while left.size >= 2 * k:
        first = left[np.argmax(distances(values[left].mean(axis=0)))]
        reach = values[first]
        cluster_around(first)
        cluster_around(left[np.argmax(distances(reach))])
    if left.size >= k:
        cluster_around(left[np.argmax(distances(values[left].mean(axis=0)))])
    return protected * table.std(axis=0, ddof=1) + table.mean(axis=0)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("k", "published"),
    [(3, 5.692186279), (4, 7.494699833), (5, 9.088435498), (10, 14.155930425)],
)
def test_mdav_on_census_loses_the_published_percentage(reference_data, k, published):
    """The convention is the one under which MDAV's figures on Census were published."""
    table = np.loadtxt(reference_data / "census.csv", delimiter=",", skiprows=1)
    assert loss("information_loss", table, mdav_means(table, k)) == pytest.approx(
        published, abs=5e-10
    )

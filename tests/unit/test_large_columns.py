"""Columns of large tables: in order, counted, summed and compared as plain Python does it."""

import math
import statistics
from collections import Counter
from fractions import Fraction

import numpy as np
import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.measures.assess import assess
from microveil.measures.column_moves import COMMON, move_of_numbers
from microveil.measures.goodness_of_fit import compare_distributions, quantile_distances
from microveil.table import MissingCodes, blocks, open_table, sorting
from microveil.table.blocks import AttributeMatrix
from microveil.table.restore import Numbers
from microveil.table.sorting import InOrder, in_order, ranks_of
from microveil.table.table import coded_words, counted_words
from reference import distributions as of_distributions

CENTS = st.integers(-300, 300).map(lambda cents: cents / 100)
CELLS = st.one_of(CENTS, st.none())
WORDS = st.sampled_from(["north", "", "south", "?", "é"])


def column(values):
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def as_counted(values):
    found, counts = np.unique(np.array(values, dtype=np.float64), return_counts=True)
    return InOrder(values=found, counts=counts)


@pytest.fixture(autouse=True)
def few_are_counted(monkeypatch):
    """Of few values, too, so that examples are small."""
    monkeypatch.setattr(sorting, "MANY", 1)
    monkeypatch.setattr(sorting, "FEWER", 0.001)


@given(st.lists(CELLS, min_size=1, max_size=40))
def test_counted_values_are_those_that_sorting_finds(values):
    """In ascending order, each as often as it occurs, at every place and below every end."""
    present = sorted(value for value in values if value is not None)
    found = in_order(column(values))
    assert found.spread().values.tolist() == present
    assert len(found) == len(present)
    if present:
        assert found.at(np.arange(len(present))).tolist() == present
        assert found.different.tolist() == [present.count(value) for value in sorted({*present})]
    ends = [-9.0, *present, 0.005, 9.0]
    below = [sum(value <= end for value in present) for end in ends]
    assert found.up_to(np.array(ends)).tolist() == below


@pytest.mark.parametrize("values", [[0.5, 1 / 3], [-0.0, 1.0], [math.inf, 1.0], [math.nan] * 3,
                                    [0.0, 1e9], [1e300, 1e-300]])  # fmt: skip
def test_what_is_not_of_few_numbers_is_not_counted(values):
    """Other fractions, negative zero, what is not finite, and ranges that are too wide."""
    assert sorting.counted(np.array(values)) is None
    assert in_order(np.array(values)).counts is None


@given(st.lists(CENTS, min_size=2, max_size=40), st.lists(CENTS, min_size=2, max_size=40))
def test_counted_values_are_compared_as_all_of_them(original, protected):
    """Distances of quantiles are those of exact fractions, whichever side was counted."""
    one, other = as_counted(original), as_counted(protected)
    absolute, squared = of_distributions.quantile_distances(original, protected)
    for sides in ((one, other), (one.spread(), other), (one.spread(), other.spread())):
        found = quantile_distances(*sides, 4.0)
        assert found == pytest.approx((float(absolute) / 2, float(squared) / 4), abs=1e-12)


ODD = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e140, -1e140, 1.0, 1.0000000000000002])
NUMBERS = st.lists(st.one_of(CENTS, ODD), min_size=1, max_size=40)


@given(NUMBERS, NUMBERS)
@example([0.0], [-0.0])
@example([0.0, -0.0, 1.0], [5e-324, 0.0])
@example([1.0, 1.0, 2.0], [np.nextafter(1.0, 2.0), 1.0])
def test_distances_and_common_values_are_those_of_all_values(before, after):
    """Exactly, ties and both zeros among them, whether values are counted or sorted."""
    move, (values, shares, shares_after) = move_of_numbers(
        np.array(before), np.array(after), has_mean=False
    )
    assert move.distance == float(of_distributions.kolmogorov_smirnov_distance(before, after))
    counts, counts_after = Counter(before), Counter(after)
    common = sorted(value for value in counts if counts[value] / len(before) > COMMON)
    assert values.tolist() == common
    assert shares.tolist() == [counts[value] / len(before) for value in common]
    assert shares_after.tolist() == [counts_after[value] / len(after) for value in common]
    assert move.commonest == (None if not common else (max(shares), shares_after[shares.argmax()]))


@pytest.mark.parametrize("digits", [0, 9])
def test_counted_columns_are_tested_as_sorted_ones(digits, monkeypatch):
    """Tests of fit, distances and moves do not depend on how values were put in order."""
    before, after = np.random.default_rng(2).normal(40, 9, size=(2, 600)).round(digits)
    before[::50] = np.nan
    assert (in_order(before).counts is None) == bool(digits)
    found = compare_distributions(before, after), move_of_numbers(before, after, has_mean=True)
    monkeypatch.setattr(sorting, "MANY", 10_000)
    tests, move = (
        compare_distributions(before, after),
        move_of_numbers(before, after, has_mean=True),
    )
    assert move[0] == found[1][0]
    for name in tests.__dataclass_fields__:
        own, other = getattr(tests, name), getattr(found[0], name)
        assert own == other or own == pytest.approx(other, rel=1e-12)


@given(st.lists(CELLS, min_size=1, max_size=600))
def test_means_and_variances_are_those_of_exact_arithmetic(cells):
    """Of the values that there are; NaN where they do not suffice."""
    present = [Fraction(round(100 * value), 100) for value in cells if value is not None]
    means, variances = blocks.means_and_variances(column(cells)[:, np.newaxis])
    mean = statistics.mean(present) if present else math.nan
    variance = statistics.variance(present) if len(present) > 1 else math.nan
    assert means[0] == pytest.approx(float(mean), rel=1e-13, abs=1e-14, nan_ok=True)
    assert variances[0] == pytest.approx(float(variance), rel=1e-13, abs=1e-14, nan_ok=True)


def test_many_values_are_summed_to_the_last_digits():
    """Runs' sums are of one size: of 300,000 values 1e-14 of the sum is lost at most."""
    values = np.random.default_rng(3).lognormal(8, 1, 300_000)
    matrix = AttributeMatrix(numbers=[Numbers(values=values, missing=None)])
    means, variances = matrix.means_and_variances
    mean = math.fsum(values) / len(values)
    exact = math.fsum((values - mean) ** 2) / (len(values) - 1)
    assert means[0] == pytest.approx(mean, rel=1e-14)
    assert variances[0] == pytest.approx(exact, rel=1e-13)


def test_figures_of_counted_columns_are_those_of_their_values():
    """The largest size, mean and variance of whole numbers, some missing, and of equal ones."""
    values = np.random.default_rng(5).integers(-40, 30, 70_000).astype(np.float64)
    gaps = np.where(np.arange(70_000) % 9, values, np.nan)
    matrix = AttributeMatrix(
        numbers=[Numbers(values=c, missing=None) for c in (values, gaps, np.full(70_000, 0.1))]
    )
    assert all(few is not None for few in matrix.counted)
    means, variances = matrix.means_and_variances
    assert matrix.largest == 40.0
    for a, one in enumerate((values, gaps[~np.isnan(gaps)])):
        mean = math.fsum(one) / len(one)
        assert means[a] == pytest.approx(mean, rel=1e-14)
        exact = math.fsum((one - mean) ** 2) / (len(one) - 1)
        assert variances[a] == pytest.approx(exact, rel=1e-13)
    assert (means[2], variances[2]) == (0.1, 0.0)
    assert matrix.ranks[:, 0].tolist() == ranks_of(values).tolist()


def test_equal_values_have_no_variance_and_none_are_no_mean():
    """However many they are: 0.1 summed up misses its multiples."""
    columns = [np.full(70_001, 0.1), np.full(70_001, np.nan), np.r_[1.0, [np.nan] * 70_000]]
    matrix = AttributeMatrix(numbers=[Numbers(values=c, missing=None) for c in columns])
    means, variances = matrix.means_and_variances
    assert (means[0], variances[0], means[2]) == (0.1, 0.0, 1.0)
    assert np.isnan([means[1], variances[1], variances[2]]).all()


TYPES = [polars.String, polars.Categorical, polars.Enum(["north", "", "south", "?", "é"])]


@given(st.lists(st.one_of(WORDS, st.none()), min_size=2, max_size=30), st.sampled_from(TYPES))
def test_words_are_coded_by_the_list_of_the_different_ones(words, dtype):
    """Of frames and arrays alike, also where codes stand for missing text; too many are refused."""
    series = polars.Series("WORD", words, dtype=dtype)
    for codes in (MissingCodes(), MissingCodes(by_column={"WORD": ("?", "south")})):
        tables = [polars.DataFrame({"WORD": series}), {"WORD": np.array(words, dtype=object)}]
        for table in (open_table(table, codes) for table in tables):
            plain = table.words("WORD").tolist()
            found, different = coded_words(table, "WORD", 9)
            assert different == tuple(sorted({*plain}))
            assert [different[code] for code in found] == plain
            assert coded_words(table, "WORD", len(different) - 1) is None


def counted_plainly(table):
    """Count words one by one, but for the empty one."""
    found = Counter(table.words("WORD").tolist())
    found.pop("", None)
    return found


@given(st.lists(st.one_of(WORDS, st.none()), min_size=2, max_size=30), st.sampled_from(TYPES))
def test_words_are_counted_as_they_are_written(words, dtype):
    """Of frames and arrays alike; what is missing, by itself or by a code, is none."""
    series = polars.Series("WORD", words, dtype=dtype)
    for codes in (MissingCodes(), MissingCodes(by_column={"WORD": ("?", "south")})):
        frame = polars.DataFrame({"WORD": series})
        tables = [frame, frame.to_pandas(), {"WORD": np.array(words, dtype=object)}]
        for table in (open_table(table, codes) for table in tables):
            assert counted_words(table, "WORD") == counted_plainly(table)


def test_categories_that_are_no_text_are_counted_as_their_library_writes_them():
    """A category of pandas may be anything; numbers alone are numbers."""
    pandas = pytest.importorskip("pandas")
    table = open_table(pandas.DataFrame({"WORD": pandas.Categorical([1, "a", True, None] * 3)}))
    assert counted_words(table, "WORD") == counted_plainly(table)


def test_a_column_is_kept_only_where_every_cell_is(monkeypatch):
    """The last cell of many blocks counts as the first does, of numbers and of text."""
    monkeypatch.setattr("microveil.table.blocks.BLOCK_RECORDS", 16)
    numbers = np.arange(100.0)
    words = np.array([str(n % 7) for n in range(100)])
    many = np.array([f"word {n}" for n in range(2000)])[:100]
    before = {"A": numbers, "B": words, "C": many}
    for name, cell in (("A", -1.0), ("B", "x"), ("C", "x"), (None, None)):
        after = {column: values.copy() for column, values in before.items()}
        if name is not None:
            after[name][-1] = cell
        kept = assess(before, after, linkage=False).kept
        assert kept == tuple(column for column in before if column != name)

"""What charts of one column show: every record in a bin, and what sampling alone would move."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.report.overlays import distribution_charts, quantiles
from microveil.report.subject import CategoryColumn, NumberColumn, sampling_distance
from microveil.schema import Kind

FINITE = st.floats(-1e9, 1e9, allow_subnormal=False)
WHOLE = st.integers(-10_000, 10_000)
LEVELS = (0.0, 0.01, 0.25, 0.5, 0.9, 1.0)


def column(original, protected=None, kind=Kind.DECIMAL, step=None):
    before = None if original is None else np.asarray(original, dtype=np.float64)
    after = before if protected is None else np.asarray(protected, dtype=np.float64)
    return NumberColumn(name="A", kind=kind, unit=None, step=step, original=before, protected=after)


def bins(own, side="original"):
    """The bins of a chart of one release: where they end, and their shares in percent."""
    (chart,) = distribution_charts(own)
    rows = [row for row in chart.spec["data"]["values"] if row["side"] == side]
    edges = [*(row["from"] for row in rows[:-1]), rows[-2]["to"]]
    return np.array(edges), np.array([row["share"] for row in rows[:-1]]), chart


@given(
    st.lists(WHOLE, min_size=1, max_size=80),
    st.lists(WHOLE, min_size=1, max_size=80),
    st.sampled_from([(Kind.WHOLE, None), (Kind.DECIMAL, 0.01), (Kind.DECIMAL, None)]),
)
def test_every_record_is_in_one_bin(before, after, terms):
    """The shares of each side add up to all, and count what lies in a bin; both share bins."""
    kind, step = terms
    scale = 0.01 if kind is Kind.DECIMAL else 1.0
    sides = {"original": np.array(before) * scale, "release": np.array(after) * scale}
    found = [bins(column(*sides.values(), kind, step), side) for side in sides]
    assert found[0][0].tolist() == found[1][0].tolist()
    for (edges, shares, _), values in zip(found, sides.values(), strict=True):
        assert len(shares) <= 36
        assert np.all(np.diff(edges) > 0)
        assert shares.sum() == pytest.approx(100)
        assert shares == pytest.approx(100 * np.histogram(values, edges)[0] / len(values))


@given(st.lists(WHOLE, min_size=1, max_size=80), st.sampled_from([1.0, 0.01, 5.0]))
def test_no_value_of_the_grid_lies_on_an_edge(values, step):
    """Edges lie halfway between values, so that none is in two bins."""
    kind = Kind.WHOLE if step == 1.0 else Kind.DECIMAL
    edges, _, _ = bins(column(np.array(values) * step, kind=kind, step=step))
    in_steps = edges / step
    assert np.allclose(np.abs(in_steps - np.round(in_steps)), 0.5, atol=1e-4)


def test_few_values_have_a_bin_each():
    """Household sizes are not lumped together."""
    edges, shares, _ = bins(column([1] * 90 + [2] * 9 + [12], kind=Kind.WHOLE))
    assert edges.tolist() == [edge + 0.5 for edge in range(13)]
    assert shares[11] == 1


def test_far_values_bend_the_axis():
    """One enormous income does not squeeze all others into one bin; dates are never bent."""
    incomes = np.append(np.linspace(0, 1000, 999), 1e7)

    def scale(own):
        _, shares, chart = bins(own)
        (layer, *_) = chart.spec["layer"]
        return layer["encoding"]["x"]["scale"].get("type"), np.count_nonzero(shares)

    bent, filled = scale(column(incomes))
    assert bent == "symlog"
    assert filled > 5
    assert scale(column(incomes[:-1]))[0] is None
    assert scale(column(incomes, kind=Kind.DATE))[0] == "utc"


def test_a_column_without_values_is_not_drawn():
    """A column that is all missing has no chart."""
    assert distribution_charts(column([math.nan, math.nan])) == []


@pytest.mark.parametrize("value", [0.0, 5.0, -1e140, 1e-300, 1e15])
def test_a_constant_has_one_bin(value):
    """A single value is drawn, however large or small."""
    edges, shares, _ = bins(column([value] * 3))
    assert shares.sum() == 100
    assert np.all(np.diff(edges) > 0)


@given(st.lists(FINITE, min_size=1, max_size=60))
def test_quantiles_are_values_of_the_data(values):
    """Each is in the data, at least its share lies at or below it, and less lies below."""
    data = np.array(values)
    for level, value in zip(LEVELS, quantiles(data, LEVELS), strict=True):
        assert value in data
        assert np.mean(data <= value) >= level - 1e-9
        assert np.mean(data < value) <= level + 1e-9


def kolmogorov(one, other):
    points = np.concatenate([one, other])
    sides = (np.searchsorted(np.sort(side), points, "right") / len(side) for side in (one, other))
    return float(np.abs(np.subtract(*sides)).max())


@pytest.mark.parametrize("values", [np.arange(2000) % 97, np.arange(4000), np.arange(3000) % 2])
def test_samples_are_as_far_apart_as_the_band_says(values):
    """One pair in twenty of fresh samples lies beyond it, and not one in ten or fifty."""
    random = np.random.default_rng(7)
    band = sampling_distance(column(values), len(values), len(values))
    pairs = (random.choice(values, (2, len(values))) for _ in range(600))
    beyond = np.mean([kolmogorov(*pair) > band for pair in pairs])
    assert 0.02 < beyond < 0.1


def test_the_band_of_categories_is_one_of_total_variation():
    """Those of missing cells are left out, as in the distance that it is beside."""
    shares, n_records = np.array([0.5, 0.3, 0.1, 0.1]), 1000
    names = ("a", "b", "c", "(missing)")
    asked = {"original": shares, "protected": shares, "codes": np.arange(4)}
    own = CategoryColumn(name="A", categories=names, **asked)
    band = sampling_distance(own, n_records, n_records)
    present, random = shares[:3] / 0.9, np.random.default_rng(3)
    drawn = (
        random.multinomial(900, present, 2000) / 900
        - random.multinomial(1000, present, 2000) / 1000
    )
    beyond = np.mean(np.abs(drawn).sum(axis=1) / 2 > band)
    assert 0.02 < beyond < 0.1
    assert sampling_distance(column(None, [1.0, 2.0]), 2, 2) is None

"""A new table takes little memory beside the original, and is the same for it."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.synthesis import measuring as counting
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.measuring import Counter
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.tables import axis_of
from microveil.table import GridColumn


def whole(lower, upper):
    return Attribute(
        name="A",
        kind=Kind.WHOLE,
        resolution=Fraction(1),
        resolution_source=Source.TYPE,
        domain=Bounds(lower=Fraction(lower), upper=Fraction(upper), source=Source.DECLARED),
    )


@given(st.tuples(st.integers(-(2**61), 2**61), st.integers(-(2**61), 2**61)))
def test_the_type_of_a_grid_holds_its_ends_and_no_narrower_one_does(ends):
    """Whatever the signs: a value that wrapped around would be another person's."""
    lower, upper = sorted(ends)
    held = np.iinfo(whole(lower, upper).grid_type)
    assert held.min <= lower <= upper <= held.max
    for kind in map(np.iinfo, ("int8", "int16", "int32")):
        assert kind.max >= held.max or not kind.min <= lower <= upper <= kind.max


@pytest.mark.parametrize("has_missing", [False, True])
def test_records_in_batches_get_the_codes_and_bins_of_all_at_once(has_missing, monkeypatch):
    """Also where some have no value, and a batch has none at all."""
    random = np.random.Generator(np.random.PCG64(1))
    missing = random.random(50) < 0.4
    missing[:9] = True
    if not has_missing:
        missing = None
    values = random.integers(0, 1000, 50 if missing is None else int((~missing).sum()))
    attribute = whole(0, 1000)
    counter = Counter([GridColumn(attribute=attribute, values=values, missing=missing)])
    candidates = Candidates(lower=0, upper=1000, count=1 << 20)

    atoms = np.unique(values[:3])

    def found():
        codes = counter.coded(0, candidates, RandomSource.seeded(3), atoms)
        assert len(codes.in_order) == np.count_nonzero(~np.isin(values, atoms))
        cuts = quarter_and_half(candidates, codes)
        axis = axis_of(
            AttributeMeasured(attribute=attribute, counts=None, has_missing=False, cuts=cuts,
                              rates=(1.0, 1.0), candidates=candidates, n_records=50), 4
        )  # fmt: skip
        counter.set_bins(0, axis, codes)
        return codes.codes, codes.in_order, counter.bins[0][0]

    at_once = found()
    monkeypatch.setattr(counting, "BATCH", 4)
    for one, other in zip(at_once, found(), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def test_who_lacks_a_value_or_is_counted_alone_moves_the_code_of_nobody_else():
    """A record has its own jitter, whoever stands beside it: else one record would move all."""
    values, whole_grid = np.array([5, 7, 500, 7, 900, 5]), whole(0, 1000)
    candidates = Candidates(lower=0, upper=1000, count=1 << 40)

    def codes(missing, atoms):
        grid = GridColumn(attribute=whole_grid, values=values[~missing], missing=missing)
        found = Counter([grid]).coded(0, candidates, RandomSource.seeded(3), np.array(atoms))
        return dict(zip(np.flatnonzero(~missing).tolist(), found.codes.tolist(), strict=True))

    alone = codes(np.zeros(6, dtype=bool), [])
    for missing in map(np.array, itertools.product((False, True), repeat=6)):
        for atoms in ([], [7], [5, 900]):
            found = codes(missing, atoms)
            own = {at: code for at, code in found.items() if values[at] not in atoms}
            assert own == {at: alone[at] for at in own}


def quarter_and_half(candidates, codes):
    places = codes.in_order[[len(codes.in_order) // 4, len(codes.in_order) // 2]]
    return Cuts(candidates=candidates, depth=2, numbers=np.array([1, 2]), codes=places)


@pytest.mark.parametrize(
    "make", [dict, pl.DataFrame, lambda arrays: pl.DataFrame(arrays).to_pandas()]
)
def test_a_new_table_leaves_the_original_as_it_is(make):
    """It may look at the memory of the table itself; arrays that refuse to be written to do."""
    random = np.random.Generator(np.random.PCG64(2))
    arrays = {
        "A": random.integers(0, 1000, 3000),
        "B": random.integers(-128, 128, 3000),
        "C": random.normal(50, 10, 3000).round(1),
    }
    before = {name: array.copy() for name, array in arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    table = make(arrays)
    request = {
        "method": "dp-synthetic",
        "epsilon": 10,
        "bounds": {"A": (0, 900), "B": (-128, 127), "C": (0, 100)},
        "resolution": {"C": 0.1},
        "attributes": ["A", "B", "C"],
        "seed": 1,
    }
    release = mv.protect(table, **request)
    for name, array in before.items():
        assert np.array_equal(np.asarray(table[name]), array)
        released = np.asarray(release.data[name])
        assert released.dtype == array.dtype
        lower, upper = request["bounds"][name]
        assert lower <= released.min() <= released.max() <= upper
        # Neither the memory nor the type of the inside shows: the middle is where it was.
        assert abs(np.median(released) - np.median(np.clip(array, lower, upper))) < (
            0.1 * (upper - lower)
        )

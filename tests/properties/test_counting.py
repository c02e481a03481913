"""Counting records by bins: the counter in memory against loops, and whose jitter is whose."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.synthesis.cuts import Candidates
from microveil.synthesis.measuring import Counter, is_atom
from microveil.synthesis.tables import Axis
from microveil.table import GridColumn
from reference.counting import PlainCounter

LOWER, UPPER = -3, 60
# So few that codes fall on edges.
CANDIDATES = Candidates(lower=LOWER, upper=UPPER, count=40)
cells = st.one_of(st.none(), st.integers(LOWER, UPPER))


def grid_column(cells, upper=UPPER):
    bounds = Bounds(lower=Fraction(LOWER), upper=Fraction(upper), source=Source.DECLARED)
    attribute = Attribute(name="A", kind=Kind.WHOLE, resolution=Fraction(1),
                          resolution_source=Source.TYPE, domain=bounds)  # fmt: skip
    absent = np.array([cell is None for cell in cells])
    values = np.array([cell for cell in cells if cell is not None], dtype=np.int64)
    return GridColumn(attribute=attribute, values=values, missing=absent if absent.any() else None)


def of_cuts(edges):
    return Axis(edges=np.array(edges, dtype=np.int64), ends=np.linspace(0, 1, len(edges) + 2),
                groups=None, n_bins=len(edges) + 2, has_missing=True)  # fmt: skip


def of_values(groups):
    """Bins of every value, the last entry those of the records without one."""
    groups = np.array(groups)
    return Axis(edges=None, ends=np.array([0.0, 1.0]), groups=groups,
                n_bins=int(groups.max()) + 1, has_missing=False)  # fmt: skip


@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=30),
    st.sets(st.integers(1, 40), max_size=5).map(sorted),
    st.lists(st.integers(0, 4), min_size=UPPER - LOWER + 2, max_size=UPPER - LOWER + 2),
)
def test_counts_by_bins_are_those_of_a_loop(records, edges, groups):
    """Of one attribute, of pairs and of triples, by cuts and by values, missing ones too."""
    found = []
    columns = [grid_column(own) for own in zip(*records, strict=True)]
    for counter in (Counter(columns), PlainCounter(columns)):
        codes = counter.coded(0, CANDIDATES, RandomSource.seeded(1))
        counter.set_bins(0, of_cuts(edges), codes)
        counter.set_bins(1, of_values(groups), None)
        counter.set_bins(2, of_values(groups[::-1]), None)
        tables = counter.pairs([(0, 1), (2, 0), (1, 2, 0)])
        ranks = codes.ranked(0, columns[0].n_present).tolist()
        below = [codes.below(code) for code in (0, 1, *edges, CANDIDATES.count + 1)]
        found.append(([one.tolist() for one in tables], ranks, below,
                      counter.histogram(1).tolist(), counter.n_records))  # fmt: skip
        assert {int(one.sum()) for one in tables} == {len(records)}
    assert found[0] == found[1]


@given(
    st.lists(st.one_of(st.integers(-9, 9), st.sampled_from([-(2**61), 2**61])), max_size=12),
    st.sets(st.one_of(st.integers(-9, 9), st.integers(-(2**61), 2**61)), min_size=1, max_size=5),
)
def test_atoms_are_found_among_values_near_and_far(values, atoms):
    """Whether they lie so near each other that they are looked up, or are sought."""
    found = is_atom(np.array(values, dtype=np.int64), np.array(sorted(atoms)))
    assert found.tolist() == [value in atoms for value in values]


@given(st.lists(cells, min_size=2, max_size=20), st.integers(0, 99), cells)
def test_another_value_or_none_moves_no_other_records_code(column, place, cell):
    """Each record of the table has a jitter of its own, whether or not it has a value.

    So tables that differ in one record in place have, under equal randomness, the same codes but
    for that record's: what the loss of medians was found over.
    """
    place %= len(column)
    other = [*column[:place], cell, *column[place + 1 :]]
    codes = []
    for counter in (Counter, PlainCounter):
        for own in (column, other):
            made = counter([grid_column(own)]).coded(0, CANDIDATES, RandomSource.seeded(4))
            present = iter(list(made.codes))
            codes.append([None if one is None else int(next(present)) for one in own])
    assert codes[:2] == codes[2:]
    apart = [at for at, (one, two) in enumerate(zip(*codes[:2], strict=True)) if one != two]
    assert apart in ([], [place])

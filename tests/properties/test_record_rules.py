"""Rules of records as clauses and boxes, against every record of small domains."""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.noise.counts import gaussian_noise
from microveil.schema import Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis.clauses import clauses_of, computed_by
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.keeping import _drawn, _moved
from microveil.synthesis.measurements import AttributeMeasured, NoisyCounts
from microveil.synthesis.possible import Possible, some_record
from microveil.synthesis.tables import Axis, axis_of
from microveil.table.record_rules import kind_in_rules, parse_rule


def numbers(name, lower, upper, resolution="1"):
    """Declare a column of numbers."""
    step = Fraction(resolution)
    return Attribute(
        name=name,
        kind=Kind.WHOLE if step == 1 else Kind.DECIMAL,
        resolution=step,
        resolution_source=Source.DECLARED,
        domain=Bounds(lower=lower * step, upper=upper * step, source=Source.DECLARED),
    )


def listed(name, *values):
    """Declare a column of categories in no order."""
    domain = Categories(values=values, ordered=False, source=Source.DECLARED)
    return Attribute(
        name=name,
        kind=domain.kind,
        resolution=Fraction(1),
        resolution_source=Source.DECLARED,
        domain=domain,
    )


# Steps that differ, codes that are in no order, words of two lists.
ATTRIBUTES = (
    numbers("A", -2, 3),
    numbers("B", 0, 9, "0.5"),
    listed("C", 4, -1, 2),
    listed("D", "b", "a", "c"),
    listed("E", "c", "x", "a"),
)
NAMES = [own.name for own in ATTRIBUTES]
KINDS = {own.name: kind_in_rules(own) for own in ATTRIBUTES}
SIGNS = st.sampled_from(["<", "<=", "==", "!=", ">=", ">"])


@st.composite
def comparisons(draw):
    """Write a comparison of words or of numbers."""
    if draw(st.booleans()):
        left, right = draw(st.sampled_from([("D", "E"), ("E", "a"), ("D", "b"), ("D", "c")]))
        return f"{left} {draw(st.sampled_from(['==', '!=']))} {right}"
    left = draw(st.sampled_from("ABC"))
    parts = draw(
        st.lists(st.sampled_from(["A", "B", "C", "0.5", "1", "2"]), min_size=1, max_size=3)
    )
    text = parts[0] + "".join(f" {draw(st.sampled_from('+-'))} {part}" for part in parts[1:])
    return f"{left} {draw(SIGNS)} {text}"


@st.composite
def texts(draw):
    """Write a rule."""
    if draw(st.booleans()):
        return draw(comparisons())
    return f"{draw(comparisons())} implies {draw(comparisons())}"


def every_record():
    """List all records, in grid units, and the same as values."""
    ends = [own.grid_bounds for own in ATTRIBUTES]
    every = itertools.product(*(range(low, high + 1) for low, high in ends))
    units = np.array(list(every))
    table = {}
    for number, own in enumerate(ATTRIBUTES):
        values = own.from_grid(units[:, number])
        words = own.categories and own.categories.words
        table[own.name] = np.array(words)[values] if words else values.astype(float)
    return units, table


UNITS, TABLE = every_record()


def held_by(rules):
    """Say which of all records hold rules, one by one as `assess` does."""
    return ~np.logical_or.reduce([rule.broken(TABLE)[1] for rule in rules])


def values_of(units):
    """Make drawn columns of records."""
    return [(units[:, number], None) for number in range(len(ATTRIBUTES))]


@given(st.lists(texts(), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_clauses_hold_for_the_records_that_hold_the_rules(written):
    """Whole numbers say what floats say, and a record is found where there is one."""
    rules = [parse_rule(text, KINDS) for text in written]
    clauses = clauses_of(rules, ATTRIBUTES, [])
    drawn = _drawn(clauses, values_of(UNITS))
    expected = held_by(rules)
    assert (expected == ~clauses.broken(drawn.places, drawn.absent).any(axis=1)).all()
    point = some_record(clauses)
    assert (point is not None) == expected.any()
    if point is not None:
        assert not clauses.broken(point[None], np.zeros((1, len(point)), bool)).any()


def measured_columns(missing):
    """Measure columns whose groups, and cuts, are given."""
    noise = gaussian_noise(Fraction(1))
    found, axes = [], []
    for number, own in enumerate(ATTRIBUTES):
        lower, upper = own.grid_bounds
        has_missing = number in missing
        if number == 1:  # in half steps: cut in the middle of a value, and at the end of one
            candidates = Candidates(lower=lower, upper=upper, count=1 << 40)
            places = candidates.scale(np.array([2.75, 3.0, 6.2])) * (candidates.count + 1)
            cuts = Cuts(
                candidates=candidates,
                depth=2,
                numbers=np.array([1, 2, 3]),
                codes=np.ceil(places).astype(np.int64),
            )
            counts = NoisyCounts(steps=np.array([9, 9]), noise=noise) if has_missing else None
            one = AttributeMeasured(
                attribute=own, counts=counts, has_missing=has_missing, cuts=cuts, rates=(1.0, 1.0)
            )
            found.append(one)
            axes.append(axis_of(one, 4))
            continue
        size = upper - lower + 1 + has_missing
        groups = np.arange(size) % 2 if number != 3 else np.arange(size)
        counts = NoisyCounts(steps=np.full(size, 9), noise=noise)
        found.append(AttributeMeasured(attribute=own, counts=counts, has_missing=has_missing))
        n_bins = int(groups.max()) + 1
        ends = np.array([0.0, 1.0])
        axes.append(Axis(edges=None, ends=ends, groups=groups, n_bins=n_bins, has_missing=False))
    return found, axes


# By grid value of the column with cuts its bin: 2.75, 3.0 and 6.2 are its inner ends.
OF_CUTS = np.array([0, 0, 0, 2, 2, 2, 3, 3, 3, 3])


@given(
    st.lists(texts(), min_size=1, max_size=3),
    st.sets(st.sampled_from([0, 1, 4])),
    st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
)
@settings(max_examples=200, deadline=None)
def test_zeros_are_the_cells_that_no_record_can_be_in(written, missing, scope):
    """Also where values may be missing: a rule about a column without one is not broken."""
    rules = [parse_rule(text, KINDS) for text in written]
    measured, axes = measured_columns(missing)
    if not held_by(rules).any():
        return
    possible = Possible.of(rules, measured, axes, [])
    expected = np.zeros([axes[one].n_bins for one in scope], dtype=bool)
    # Each column that may be missing by itself, over all values of the others.
    for absent in itertools.product(
        *((False, True) if n in missing else (False,) for n in range(5))
    ):
        mask = np.ones(len(UNITS), dtype=bool)
        for rule in rules:
            if not any(absent[NAMES.index(name)] for name in rule.columns):
                mask &= held_by([rule])
        bins = []
        for one in scope:
            lower = ATTRIBUTES[one].grid_bounds[0]
            if absent[one]:
                last = axes[one].n_bins - 1 if axes[one].groups is None else axes[one].groups[-1]
                own = np.full(len(UNITS), last)
            elif one == 1:
                own = OF_CUTS[UNITS[:, one]]
            else:
                own = axes[one].groups[UNITS[:, one] - lower]
            bins.append(own[mask])
        expected[tuple(bins)] = True
    found = possible.cells(tuple(scope))
    if 1 in scope:  # no value has its greater part between 2.75 and 3.0
        place = scope.index(1)
        found, expected = (np.delete(one, 1, axis=place) for one in (found, expected))
    assert (found == expected).all()


@given(st.lists(texts(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_records_are_moved_to_where_rules_hold_fewest_columns_first(written, seed):
    """By one column where that can be, and then to the nearest of its values."""
    rules = [parse_rule(text, KINDS) for text in written]
    held = held_by(rules)
    if not held.any() or held.all():
        return
    measured, axes = measured_columns(set())
    possible = Possible.of(rules, measured, axes, [])
    clauses = possible.clauses
    before = UNITS[np.random.default_rng(seed).choice(np.flatnonzero(~held), 5)]
    drawn = _drawn(clauses, values_of(before))
    moved = _moved(possible, drawn.rows(slice(None)), clauses.broken(drawn.places, drawn.absent))
    assert not clauses.broken(moved.places, moved.absent).any()
    every = _drawn(clauses, values_of(UNITS[held])).places
    if len(clauses.components()) > 1:
        return
    for was, now in zip(drawn.places, moved.places, strict=True):
        n_changed = (every != was).sum(axis=1)
        fewest = n_changed.min()
        if fewest <= 2:
            assert (now != was).sum() == fewest
        if fewest == 1:
            spans = np.array([max(1, own.upper - own.lower) for own in clauses.places])
            is_ordered = np.array([own.is_ordered for own in clauses.places])
            off = np.where(is_ordered, np.abs(every - was) / spans, every != was).sum(axis=1)
            own = np.where(is_ordered, np.abs(now - was) / spans, now != was).sum()
            assert own <= off[n_changed == 1].min() + 1e-12


def test_wide_sums_are_exact():
    """Beyond 64 bits sums are of Python's own numbers."""
    far = 2**53
    wide = [
        Attribute(
            name=name,
            kind=Kind.DECIMAL,
            resolution=step,
            resolution_source=Source.DECLARED,
            domain=Bounds(lower=-far * step, upper=far * step, source=Source.DECLARED),
        )
        for name, step in (("A", Fraction(1, 10**6)), ("B", Fraction(10**6)))
    ]
    kinds = dict.fromkeys("AB", Kind.DECIMAL)
    clauses = clauses_of([parse_rule("B < A - 0.000001", kinds)], wide, [])
    assert clauses.clauses[0].atoms[0].is_wide
    point = some_record(clauses)
    a, b = (int(one) * own.resolution for one, own in zip(point, wide, strict=True))
    assert b < a - Fraction(1, 10**6)
    tight = [parse_rule(text, kinds) for text in ("B > A", "A >= B + 1")]
    assert some_record(clauses_of(tight, wide, [])) is None


def test_a_column_is_computed_by_an_equation_of_numbers_alone():
    """Lists are not, nor what a condition stands before."""
    rules = [
        parse_rule(text, KINDS)
        for text in ("A == B + 1", "C == A", "D == E", "C = 4 implies B == A", "B == 2")
    ]
    assert computed_by(rules, ATTRIBUTES) == {"A": rules[0]}

"""A column whose domain nobody declared is planned by public figures alone."""

import datetime
import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.errors import RequestError
from microveil.guarantee.budget import concentrated_budget
from microveil.methods import METHODS, Choices
from microveil.noise.counts import gaussian_noise
from microveil.schema import DAYS, FINEST, Attribute, Bounds, Kind, Source
from microveil.synthesis.one_way_plan import threshold
from microveil.table.gridding import LARGEST, on_grid
from microveil.table.restore import Numbers

PAY, TOWN = (
    Attribute(
        name=name, kind=kind, resolution=Fraction(1), resolution_source=Source.TYPE, is_learnt=True
    )
    for name, kind in (("PAY", Kind.WHOLE), ("TOWN", Kind.OTHER))
)
AGE = replace(
    PAY,
    name="AGE",
    is_learnt=False,
    domain=Bounds(lower=Fraction(0), upper=Fraction(120), source=Source.DECLARED),
)


@dataclass(frozen=True)
class Named:
    """A column of which nothing is there but its name and what is declared of it."""

    attribute: Attribute


def planned(*attributes, delta="1e-9", max_rows=1, n_records=10**6):
    choices = Choices(
        k=1, shares={}, n_records=n_records, epsilon=Fraction(1), delta=Fraction(delta),
        own={"structure": "graph", "target": None, "n_records": None, "rules": ()},
        max_rows=max_rows,
        protects_missing=True,
    )  # fmt: skip
    return METHODS["dp-synthetic"].plan([Named(one) for one in attributes], choices)


def test_an_undeclared_column_has_shares_thresholds_and_steps_and_no_value_is_looked_at():
    """The handles have no values: one that was looked at would be an error."""
    age, pay, town = planned(AGE, PAY, TOWN).attributes
    assert age.learning.is_declared
    assert (len(pay.rates), len(town.rates)) == (7, 0)
    own = concentrated_budget(Fraction(1), Fraction(9, 10**10)) * Fraction(6, 10) / 3
    for part in (pay, town):
        assert part.learning.delta == Fraction(1, 10**10) / 2
        assert not part.learning.is_declared
    for part in (age, pay):
        # Cuts of seven levels stay as deep without three tenths of the share.
        assert 1 / part.noise.scale == own * Fraction(30, 100)
        left = own * Fraction(70, 100)
        assert 1 / part.cells.scale == left
        for depth in part.depths:
            cuts = sum(rate**2 / 2 for rate in depth.rates)
            assert left * (1 - Fraction(1, 2**60)) <= cuts <= left
    assert 1 / town.noise.scale == own
    assert town.learning.threshold < pay.learning.threshold
    assert pay.to_dict()["bounds"] is None


def test_single_values_have_less_where_cuts_are_shallow():
    """Of fewer records .15 of the share goes to them, as METHODS section 11, B, has it."""
    (pay,) = planned(PAY, n_records=2_000).attributes
    assert len(pay.rates) < 5
    own = concentrated_budget(Fraction(1), Fraction(9, 10**10))
    assert 1 / pay.noise.scale == own * Fraction(15, 100)


def tail(noise, least):
    """The chance of a draw of so much or more, by its definition."""
    far = least + math.ceil(60 * math.sqrt(noise.scale))
    law = [math.exp(-(z**2) / (2 * float(noise.scale))) for z in range(least, far)]
    of_all = math.fsum(math.exp(-(z**2) / (2 * float(noise.scale))) for z in range(-far, far))
    return math.fsum(law) / of_all


@pytest.mark.parametrize("max_rows", [1, 2, 15])
@pytest.mark.parametrize(
    ("variance", "delta"),
    [(Fraction(1, 3), Fraction(1, 10**11)), (Fraction(12345, 7), Fraction(1, 10**3))],
)
def test_a_label_of_one_unit_alone_is_shown_no_oftener_than_delta(variance, delta, max_rows):
    """However many of the unit's records have it; and two less would be too low a threshold."""
    noise = gaussian_noise(1 / variance)
    least = threshold(noise, delta, max_rows)

    def shown(of):
        return max(max_rows * tail(noise, of - many) / many for many in range(1, max_rows + 1))

    assert shown(least) <= delta
    assert shown(least - 2) > delta


def test_a_share_too_small_to_learn_categories_is_refused():
    """Before anything is counted: no sampler would look for so wide a law."""
    with pytest.raises(RequestError, match=r"'TOWN'.*too small to learn its categories"):
        planned(TOWN, max_rows=10**5)


@pytest.mark.parametrize("cell", [datetime.date(1600, 1, 1), datetime.date(9999, 12, 31)])
def test_a_date_that_no_learnt_domain_has_is_moved_to_its_end(cell):
    """One record can neither make a draw fail nor add a cell: all others have one date."""
    days = pl.DataFrame({"DAY": [cell, *[datetime.date(2000, 1, 1)] * 999]})
    release = mv.protect(days, method="dp-synthetic", attributes=["DAY"], missing="protect",
                         domains="learn", epsilon=3, delta=1e-9)  # fmt: skip
    (measured,) = release.measurements.attributes
    assert len(measured.cells.counts.steps) == len(measured.cells.borders) - 1
    assert measured.cells.borders[[0, -1]].tolist() == [DAYS[0], DAYS[1] + 1]


def test_no_decimal_moves_another_however_large_it_is():
    """Each is moved to the end of the grid by itself, whatever the others are."""
    learnt = replace(PAY, kind=Kind.DECIMAL, resolution=FINEST, resolution_source=Source.LEARNT)
    pay = np.array([2.3e12, 3e12, 4.6e12, -4.6e12, 1e300])

    def grid(values):
        return on_grid(Numbers(values=values, missing=None), learnt, keep_missing=True,
                       clamp=False).values.tolist()  # fmt: skip

    alone = [grid(pay[[at]])[0] for at in range(len(pay))]
    for some in itertools.permutations(range(len(pay)), 2):
        assert grid(pay[list(some)]) == [alone[at] for at in some]
    assert alone[1] == alone[4] == LARGEST


def test_without_a_delta_nothing_is_learnt():
    """Pure differential privacy shows no value that is on no public list."""
    with pytest.raises(RequestError, match=r"'PAY'.*without a delta.*allow a delta"):
        planned(AGE, PAY, delta="0")

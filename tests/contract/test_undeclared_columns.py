"""A column whose domain nobody declared is planned by public figures, and not drawn yet."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from microveil.errors import RequestError
from microveil.guarantee.budget import concentrated_budget
from microveil.methods import METHODS, Choices
from microveil.noise.counts import gaussian_noise
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.synthesis.plan import threshold

PAY, TOWN = (
    Attribute(name=name, kind=kind, resolution=Fraction(1), resolution_source=Source.TYPE)
    for name, kind in (("PAY", Kind.WHOLE), ("TOWN", Kind.OTHER))
)
AGE = replace(
    PAY,
    name="AGE",
    domain=Bounds(lower=Fraction(0), upper=Fraction(120), source=Source.DECLARED),
)


@dataclass(frozen=True)
class Named:
    """A column of which nothing is there but its name and what is declared of it."""

    attribute: Attribute


def planned(*attributes, delta="1e-9", max_rows=1):
    choices = Choices(
        k=1, shares={}, n_records=10**6, epsilon=Fraction(1), delta=Fraction(delta),
        own={"structure": "graph", "target": None, "n_records": None, "rules": ()},
        max_rows=max_rows,
        protects_missing=True,
    )  # fmt: skip
    return METHODS["dp-synthetic"].plan([Named(one) for one in attributes], choices)


def test_an_undeclared_column_has_shares_thresholds_and_steps_and_no_value_is_looked_at():
    """The handles have no values: one that was looked at would be an error."""
    age, pay, town = planned(AGE, PAY, TOWN).attributes
    assert age.learning is None
    assert (len(pay.rates), len(town.rates)) == (7, 0)
    budget = concentrated_budget(Fraction(1), Fraction(9, 10**10)) * Fraction(6, 10)
    own = budget / 4  # of four parts, as the declared one is measured twice
    for part in (pay, town):
        assert part.learning.delta == Fraction(1, 10**10) / 3
    steps = [1 / pay.learning.atoms.scale, 1 / pay.learning.decimals.scale]
    assert steps == [own * Fraction(15, 100), own * Fraction(5, 100)]
    cuts = sum(rate**2 / 2 for rate in pay.rates)
    assert own * Fraction(8, 10) * (1 - Fraction(1, 2**60)) <= cuts <= own * Fraction(8, 10)
    assert pay.noise is None
    assert 1 / town.noise.scale == own
    assert town.learning.threshold < pay.learning.threshold
    assert pay.to_dict()["bounds"] is None


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


def test_a_draw_is_refused_before_anything_is_asked():
    """With what to declare; a declared column beside it is not counted either."""
    plan = planned(AGE, PAY)
    with pytest.raises(RequestError, match=r"'PAY'.*not declared.*declare the bounds"):
        plan.draw(None, RandomSource.seeded(1))


def test_without_a_delta_nothing_is_learnt():
    """Pure differential privacy shows no value that is on no public list."""
    with pytest.raises(RequestError, match=r"'PAY'.*without a delta.*allow a delta"):
        planned(AGE, PAY, delta="0")

"""Several parts in one release: whatever one record is replaced by, their epsilons bound it.

Over all neighbours of small tables, in floating point beside whole sums: the law of a release of
one attribute clustered by rank and one of randomised response, its rows in each order that can be
asked for.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import microveil as mv

N, K, TOP = 4, 2, 1
EPSILON_OF_CLUSTERS, EPSILON_OF_RESPONSE = 6, 1
BOTH = EPSILON_OF_CLUSTERS + EPSILON_OF_RESPONSE
# Far enough beyond the domain that likelihood ratios no longer grow.
PUBLISHED = np.arange(-8, 9 + 2 * TOP)
BITS = (0, 1)


def asked(method, **of_clusters):
    return {
        "parts": [
            mv.part("A", method=method, k=K, epsilon=EPSILON_OF_CLUSTERS, **of_clusters),
            mv.part("B", method="pram", epsilon=EPSILON_OF_RESPONSE),
        ],
        "bounds": {"A": (0, TOP)},
        "categories": {"B": ["0", "1"]},
    }


def plan(method="kanon-dp", **more):
    table = {"A": np.array([0, 1, 0, 1]), "B": np.array(list("0110"))}
    of_clusters = {"shuffle": more.pop("apart")} if "apart" in more else {}
    return mv.plan(table, **asked(method, **of_clusters), **more)


def noise_scale(planned):
    """The scale of noise on each cluster's sum, as the plan draws it."""
    (part,) = planned.parts[0].attributes
    scales = {Fraction(int(scale), 1 << part.grid.bits) for scale in part.scales}
    (scale,) = scales
    return scale


def chance_of_staying(planned):
    """The probability by which the plan of B keeps a bit."""
    (part,) = planned.parts[1].attributes
    (kept, other), _ = part.weights
    return int(kept) / int(kept + other)


def tables():
    """All tables of four records, and what one record of each can be replaced by."""
    for a in itertools.product(range(TOP + 1), repeat=N):
        for b in itertools.product(BITS, repeat=N):
            for record in itertools.product(range(TOP + 1), BITS):
                yield (a, b), ((record[0], *a[1:]), (record[1], *b[1:]))


def clusters_of(a):
    order = sorted(range(N), key=lambda record: (a[record], record))
    return order[:K], order[K:]


def noisy_sums(a, scale):
    """The law of each cluster's noisy sum, over `PUBLISHED`."""
    step = math.exp(-1 / scale)
    for members in clusters_of(a):
        total = sum(a[record] for record in members)
        yield (1 - step) / (1 + step) * step ** np.abs(PUBLISHED - total)


def probability(bit, released, stay):
    return stay if bit == released else 1 - stay


def ones_among(bits, n_ones, stay):
    """The probability that so many of some bits are released as 1."""
    return sum(
        math.prod(probability(bit, new, stay) for bit, new in zip(bits, released, strict=True))
        for released in itertools.product(BITS, repeat=len(bits))
        if sum(released) == n_ones
    )


def law_of_joined_rows(a, b, scale, stay):
    """Of whole rows in random order: which bits stand beside which of two values is seen."""
    first, second = noisy_sums(a, scale)
    ones, others = (
        [ones_among([b[record] for record in members], n, stay) for n in range(K + 1)]
        for members in clusters_of(a)
    )
    law = {}
    for n, m in itertools.product(range(K + 1), repeat=2):
        one_way = np.outer(first, second) * ones[n] * others[m]
        law[n, m] = one_way + (np.outer(second, first) * ones[m] * others[n])
    return law


def law_of_rows_apart(a, b, scale, stay):
    """Of A in an order of its own: two values, and beside them the bits, record by record."""
    first, second = noisy_sums(a, scale)
    values = np.outer(first, second) + np.outer(second, first)
    return {
        released: values
        * math.prod(probability(bit, new, stay) for bit, new in zip(b, released, strict=True))
        for released in itertools.product(BITS, repeat=N)
    }


def loss(law, planned):
    """The most that any outcome's probability changes by, over all neighbours: its logarithm."""
    scale, stay = float(noise_scale(planned)), chance_of_staying(planned)
    known = {}

    def of(table):
        if table not in known:
            known[table] = law(*table, scale, stay)
        return known[table]

    return max(
        float(np.log(of(one)[outcome] / of(other)[outcome]).max())
        for one, other in tables()
        for outcome in of(one)
    )


def test_rows_joined_to_another_part_are_not_covered_and_lose_more():
    """The counterexample: rows shuffled as a whole lose nearly 8 where both epsilons are 7."""
    planned = plan(shuffle="rows")
    assert 0 <= noise_scale(planned) - Fraction(TOP, EPSILON_OF_CLUSTERS) < Fraction(1, 10**6)
    assert BOTH + 0.9 < loss(law_of_joined_rows, planned) < BOTH + 1
    assert not planned.guarantee.scopes.row.covered
    assert planned.guarantee.scopes.vector.exact_epsilon == BOTH
    # By itself the same part would be covered, its rows in random order.
    alone = mv.plan(
        {"A": np.array([0, 1, 0, 1])}, method="kanon-dp", k=K, epsilon=EPSILON_OF_CLUSTERS,
        bounds={"A": (0, TOP)}, attributes=["A"], shuffle=True,
    )  # fmt: skip
    assert alone.guarantee.scopes.row.exact_epsilon == EPSILON_OF_CLUSTERS


@pytest.mark.parametrize("method", ["kanon-dp", "dp-um"])
def test_rows_in_an_order_of_their_own_lose_the_sum_of_the_epsilons(method):
    """As much is claimed as can be lost: the bound is met, and not exceeded."""
    planned = plan(method, apart=True)
    assert planned.guarantee.scopes.row.exact_epsilon == BOTH
    assert BOTH - 0.01 < loss(law_of_rows_apart, planned) <= BOTH + 1e-9


def drawn(**more):
    """A release of two attributes that are alike, each a part, and one that stands still."""
    values = np.arange(2000)
    table = dict.fromkeys("ABC", values)
    parts = [
        mv.part(name, method="ranking", k=2, **({"shuffle": True} if name != "C" else {}))
        for name in "ABC"
    ]
    return mv.protect(table, parts=parts, **more).data


def test_the_order_of_a_part_is_independent_of_every_other():
    """Drawn for each part by itself; what is not shuffled stands where it stood."""
    found = drawn()
    assert np.abs(found["C"] - np.arange(2000)).max() <= 2
    for one, other in (("A", "B"), ("A", "C"), ("B", "C")):
        assert abs(np.corrcoef(found[one], found[other])[0, 1]) < 0.15
    assert sorted(found["A"]) == sorted(found["C"])


def test_attributes_of_a_shuffled_part_stay_together():
    """A part's rows move as rows: what one person has in it stands side by side."""
    table = {"A": np.arange(900), "B": np.arange(900) * 2, "C": np.arange(900)}
    parts = [
        mv.part(["A", "B"], method="mdav", k=3, shuffle=True),
        mv.part("C", method="ranking", k=3),
    ]
    found = mv.protect(table, parts=parts).data
    assert (found["B"] == 2 * found["A"]).all()
    assert abs(np.corrcoef(found["A"], found["C"])[0, 1]) < 0.2

"""What the certificate of a new table says: in words that fit a table that has no clusters."""

import re

import numpy as np
import pytest

import microveil as mv
from microveil.guarantee import Guarantee

N = 400
RANDOM = np.random.default_rng(2)
TABLE = {"AGE": RANDOM.integers(0, 90, N), "PLACE": RANDOM.choice(["north", "south"], N)}
ASKED = {
    "method": "dp-synthetic",
    "epsilon": 3,
    "attributes": ["AGE", "PLACE"],
    "bounds": {"AGE": (0, 120)},
    "categories": {"PLACE": ["north", "south"]},
}
VARIANTS = {
    "pure": {},
    "a delta": {"delta": 1e-9},
    "missing values": {"missing": "protect"},
    "checked bounds": {"outside": "error"},
    "bounds from the data": {"bounds": mv.bounds_from_data(TABLE)},
    "categories from the data": {"categories": mv.categories_from_data(TABLE)},
    "a seed": {"seed": 1},
}
SEEN = {
    "cluster": "the values of the synthetic table are seen, one by one. |",
    "vector": "all values of a column are seen. |",
    "row": "everything published is seen: whole rows, all columns together, and the noisy counts",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_certificate_of_a_new_table_speaks_of_no_clusters_and_no_order_of_rows(variant):
    """But for the name of a scope: nobody is in a cluster, and no row shares one."""
    guarantee = mv.plan(TABLE, **{**ASKED, **VARIANTS[variant]}).guarantee
    statement = guarantee.statement()
    words = re.sub(r"^\| cluster \|", "", statement, flags=re.MULTILINE)
    assert "cluster" not in words.lower()
    assert "random order of its own" not in words
    for scope, seen in SEEN.items():
        assert f"| {scope} | One person's record changes, and {seen}" in statement


def test_a_guarantee_that_is_read_again_says_the_same():
    """The words follow from what the file holds."""
    guarantee = mv.plan(TABLE, **ASKED, delta=1e-9).guarantee
    assert Guarantee.from_dict(guarantee.to_dict()).statement() == guarantee.statement()


@pytest.mark.parametrize(
    ("epsilon", "believed", "twice"),
    [(3, "at most 17 in 100 after the release, one of 50 in 100 with at most 96", "404"),
     (1, "at most 3 in 100 after the release, one of 50 in 100 with at most 74", "7.39")],
)  # fmt: skip
def test_what_may_be_believed_after_the_release_is_said_in_numbers(epsilon, believed, twice):
    """Odds grow by the factor at most; of two records, or two releases, by its square."""
    statement = mv.plan(TABLE, **{**ASKED, "epsilon": epsilon}).guarantee.statement()
    assert believed in statement
    assert f"Two like this one have {twice}." in statement


def test_a_factor_that_limits_nothing_has_no_example():
    """Neither one of 148, of which 100 cases have no part, nor one of over a million."""
    for epsilon in (5, 20):
        statement = mv.plan(TABLE, **{**ASKED, "epsilon": epsilon}).guarantee.statement()
        assert "An example" not in statement

"""Being without a value as a value like another, in clusters of whole records."""

import numpy as np
import polars as pl
import pytest

import microveil as mv
from reference import mdav as plain

LEVELS, REGIONS = ("none", "school", "degree"), ("north", "south", "east", "west")
N, K = 160, 5
NAMES = ["AGE", "TAX", "EDUCATION", "REGION"]
ASKED = {
    "k": K,
    "attributes": NAMES,
    "resolution": {"TAX": 0.01},
    "categories": {"EDUCATION": mv.ordered(*LEVELS), "REGION": list(REGIONS)},
    "missing": "protect",
}
TOGETHER = ("mdav", "v-mdav")


def people(shares=(0.1, 0.6, 0.2, 0.3)):
    random = np.random.Generator(np.random.PCG64(21))
    table = {
        "AGE": random.integers(18, 90, N),
        "TAX": random.lognormal(3, 1, N).round(2),
        "EDUCATION": np.array(LEVELS)[random.integers(0, 3, N)],
        "REGION": np.array(REGIONS)[random.integers(0, 4, N)],
    }
    frame = pl.DataFrame(table)
    lacking = {
        name: pl.Series(random.random(N) < share) for name, share in zip(NAMES, shares, strict=True)
    }
    return frame.with_columns(
        pl.when(lacking[name]).then(None).otherwise(name).alias(name) for name in NAMES
    )


@pytest.fixture(scope="module")
def found():
    table = people()
    return {
        name: (mv.plan(table, method=name, **ASKED), mv.protect(table, method=name, **ASKED))
        for name in TOGETHER
    }


@pytest.mark.parametrize("method", TOGETHER)
def test_every_combination_is_shared_by_k_records_missing_ones_included(found, method):
    """Counted by another library, where a missing cell is one more category."""
    _, release = found[method]
    shared = release.data.group_by(NAMES).len()["len"]
    assert shared.sum() == N
    assert shared.min() >= K
    assert len(shared) > 10  # and not by making all alike
    assert release.guarantee.to_dict()["model"] == "k-anonymity"
    assert release.data.schema == people().schema


def typical(name, clusters):
    """What stands for the values of each cluster, None for being without one."""
    candidates = []
    for values in clusters:
        present = [value for value in values if value is not None]
        if name == "REGION":
            candidates.append(plain.commonest(values))
        elif 2 * len(present) < len(values):
            candidates.append({None})
        elif name == "EDUCATION":
            candidates.append(plain.medians(present, LEVELS))
        else:
            candidates.append({sum(present) / len(present)})
    return plain.settled(candidates, clusters)


@pytest.mark.parametrize("method", TOGETHER)
def test_a_cluster_has_what_most_of_its_records_have(found, method):
    """Missing where more than half lack a number or a rank, or where that is the commonest."""
    planned, release = found[method]
    table, without = people(), 0
    for part in planned.attributes:
        name = part.attribute.name
        before, after = table[name].to_list(), release.data[name].to_list()
        ends = np.cumsum(part.partition.sizes)
        clusters = np.split(part.partition.order, ends[:-1])
        values = [[before[record] for record in cluster] for cluster in clusters]
        for cluster, expected in zip(clusters, typical(name, values), strict=True):
            without += expected is None
            for record in cluster:
                if isinstance(expected, float):
                    step = 0.01 if name == "TAX" else 1
                    assert after[record] == pytest.approx(expected, abs=step / 2 + 1e-9)
                else:
                    assert after[record] == expected
    assert without > 10


def test_attributes_that_nobody_or_hardly_anybody_has_are_released_so():
    """Missing throughout; no figure fails for want of a value."""
    table = people(shares=(1, 0.95, 1, 1))
    for method in TOGETHER:
        release = mv.protect(table, method=method, **ASKED)
        assert release.data.null_count().row(0)[::2] == (N, N)
        assert release.data.group_by(NAMES).len()["len"].min() >= K
        found = mv.assess(table, release).to_dict()
        assert found["n_records"] == N


def test_an_order_has_no_place_for_a_missing_value():
    """Insensitive MDAV refuses, and names what would do."""
    with pytest.raises(mv.RequestError, match=r"mdav-insensitive cannot hide.*mdav, v-mdav, pram"):
        mv.protect(people(), method="mdav-insensitive", **ASKED)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a", "a", "b", "b", "c", None, None, None], None),  # commonest, though no majority
        (["a", "b", "b", None, None], "b"),  # of two as common the one that is declared
        ([None, None, None, "a"], None),
    ],
)
def test_lacking_a_category_is_one_more_category_behind_the_others(before, after):
    """The commonest of a cluster, missing among them; a rank is missing by majority alone."""
    table = pl.DataFrame({"R": before})
    asked = {"method": "mdav", "k": len(before), "attributes": ["R"], "missing": "protect"}
    data = mv.protect(table, categories={"R": ["a", "b", "c"]}, **asked).data
    assert data["R"].to_list() == [after] * len(before)
    ranked = mv.protect(table, categories={"R": mv.ordered("a", "b", "c")}, **asked).data
    majority = 2 * before.count(None) > len(before)
    assert (ranked["R"].null_count() == len(before)) is majority


def test_of_a_part_it_is_said_what_its_own_method_makes_of_missing_cells():
    """A part by pram hides whose value is missing, one in clusters beside it does not."""
    parts = [
        mv.part(["AGE", "TAX"], method="mdav", k=K),
        mv.part(["REGION"], method="pram", epsilon=2),
    ]
    asked = {"missing": "protect", "resolution": {"TAX": 0.01}}
    release = mv.protect(people(), parts=parts, categories={"REGION": list(REGIONS)}, **asked)
    statement = release.guarantee.statement()
    assert "- AGE, TAX: A missing value counts as a value like any other" in statement
    assert "- REGION: Missing values are protected like any value" in statement
    assert release.data.group_by("AGE", "TAX").len()["len"].min() >= K

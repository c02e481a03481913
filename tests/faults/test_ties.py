"""What stands for a cluster where several values are as common: totals are kept."""

import numpy as np
import polars as pl
import pytest

import microveil as mv

REGIONS = ["north", "south", "east", "west"]
LEVELS = ["none", "school", "degree"]
TOGETHER = ("mdav", "v-mdav", "mdav-insensitive")


def twins(n_pairs=300):
    """Pairs of records alike in thirty numbers: nothing else decides who is in a cluster."""
    random = np.random.Generator(np.random.PCG64(5))
    return pl.DataFrame(
        {f"N{place}": np.repeat(random.integers(0, 999, n_pairs), 2) for place in range(30)}
    )


def people(n=600, lacking=0.0):
    """Neighbours in age who have a region and a level, or lack them."""
    random = np.random.Generator(np.random.PCG64(4))
    table = pl.DataFrame(
        {
            "AGE": np.arange(n) // 2 * 100 + random.integers(0, 2, n),
            "REGION": random.choice(REGIONS, n),
            "LEVEL": random.choice(LEVELS, n),
        }
    )
    gaps = random.random((n, 2)) < lacking
    return table.with_columns(
        pl.when(pl.Series(gaps[:, place])).then(None).otherwise(name).alias(name)
        for place, name in enumerate(("REGION", "LEVEL"))
    )


def released(table, regions=REGIONS, levels=LEVELS, **more):
    asked = {
        "method": "mdav", "k": 2, "attributes": ["AGE", "REGION", "LEVEL"],
        "bounds": {"AGE": (0, 100_000)},
        "categories": {"REGION": list(regions), "LEVEL": mv.ordered(*levels)},
    }  # fmt: skip
    return mv.protect(table, **{**asked, **more}).data


@pytest.mark.parametrize("method", TOGETHER)
@pytest.mark.parametrize("missing", ["error", "protect"])
def test_the_order_of_a_list_makes_no_difference(method, missing):
    """Of regions any order gives the same release, of levels the opposite one does."""
    if (method, missing) == ("mdav-insensitive", "protect"):
        missing = "error"
    table = people(lacking=0.1 if missing == "protect" else 0.0)
    # Insensitive MDAV orders records by the ranks: these it is given one way alone.
    levels = [LEVELS] if method == "mdav-insensitive" else [LEVELS, LEVELS[::-1]]
    found = [
        released(table, regions, own, method=method, missing=missing)
        for regions in (REGIONS, REGIONS[::-1], sorted(REGIONS))
        for own in levels
    ]
    assert all(data.equals(found[0]) for data in found)


@pytest.mark.parametrize("method", ["mdav", "v-mdav"])
def test_ties_keep_the_totals(method):
    """Most clusters of two are ties: no region and no level gains or loses by them."""
    for name, values in (("REGION", REGIONS), ("LEVEL", LEVELS)):
        categories = {name: values if name == "REGION" else mv.ordered(*values)}
        table = twins().with_columns(people()[name])
        asked = {"k": 2, "attributes": table.columns, "categories": categories}
        data = mv.protect(table, method=method, **asked).data
        changed = (data[name] != table[name]).sum()
        assert changed > 100
        for value in values:
            assert abs((data[name] == value).sum() - (table[name] == value).sum()) <= 2


def test_a_tie_with_being_missing_keeps_the_number_of_missing_cells():
    """It is one more category: pairs of whom one lacks the region leave half of them without."""
    regions = [None if number % 2 else "north" for number in range(600)]
    table = twins().with_columns(REGION=pl.Series(regions))
    data = mv.protect(table, method="mdav", k=2, attributes=table.columns, missing="protect",
                      categories={"REGION": REGIONS}).data  # fmt: skip
    assert data["REGION"].null_count() == 300

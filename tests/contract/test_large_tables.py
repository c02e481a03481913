"""A lazy frame is protected as the same frame in memory is, and leaves nothing on the disk.

Whatever is released, promised, noted and told the custodian is equal under one seed; only the
columns wait in files, which have no name.
"""

import gc
import os

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.errors import MicroveilError
from microveil.methods import METHODS

K, N_RECORDS = 3, 90
BOUNDS = {"AGE": (0, 120), "PAY": (0, 1000), "GAP": (0, 60)}
LISTS = {"TOWN": ["n", "s", "w"]}
# Choices that give each method what it asks for, beside those of all.
CHOICES = {
    "record-dp": {"partition": "ranking"},
    "pram": {"attributes": ["TOWN", "GAP"], "categories": LISTS},
    "dp-synthetic": {"attributes": [*BOUNDS, "TOWN"], "categories": LISTS, "epsilon": 300,
                     "missing": "protect"},
}  # fmt: skip
IN_PLACE = sorted({*METHODS} - {"dp-synthetic"})
UNIT = {"unit": "HOME", "max_rows": 3, "missing": "error", "attributes": ["AGE", "PAY"]}


def people(n_records=N_RECORDS):
    """A table with ties and missing values, of three records a household."""
    random = np.random.default_rng(n_records)
    gaps = random.integers(0, 50, n_records)
    return pl.DataFrame(
        {
            "ID": np.arange(n_records),
            "HOME": random.permutation(np.arange(n_records) // 3),
            "AGE": random.integers(18, 90, n_records),
            "PAY": np.round(random.gamma(2, 50, n_records), 1).clip(0, 900),
            "GAP": [None if place % 7 == 6 else int(gap) for place, gap in enumerate(gaps)],
            "TOWN": random.choice(LISTS["TOWN"], n_records),
        }
    )


def asked(method, **more):
    request = {"method": method, "k": K, "epsilon": 5, "attributes": [*BOUNDS], "bounds": BOUNDS,
               "resolution": {"PAY": 0.1}, "missing": "keep", "exact_cells": "allow", "seed": 3,
               **CHOICES.get(method, {}), **more}  # fmt: skip
    for name in ("bounds", "resolution", "categories"):
        given = request.get(name, {})
        request[name] = {one: given[one] for one in given if one in request["attributes"]}
    return request


def hold(table, request):
    """Hold a release of a lazy frame against one of the frame: all of it is equal."""
    eager, lazy = mv.protect(table, **request), mv.protect(table.lazy(), **request)
    assert isinstance(lazy.data, pl.LazyFrame)
    assert lazy.data.collect_schema() == eager.data.schema
    assert lazy.data.collect().equals(eager.data)
    assert lazy.guarantee == eager.guarantee
    assert lazy.notes == eager.notes
    assert lazy.schema == eager.schema
    assert figures(lazy) == figures(eager)
    if eager.measurements is not None:
        assert lazy.measurements.to_dict() == eager.measurements.to_dict()


def figures(release):
    """What the custodian is told, without the moment."""
    return {**release.manifest.to_dict(), "created": None}


@pytest.mark.parametrize("shuffle", [False, "rows", "columns"])
@pytest.mark.parametrize("method", IN_PLACE)
def test_a_lazy_frame_is_protected_as_the_frame_is(method, shuffle):
    """By each method, with missing cells, in each order of rows, beside columns that are kept."""
    beside = {} if shuffle else {"keep": ["ID"]}
    hold(people(), asked(method, shuffle=shuffle, **beside))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"target": {"PAY": 100}, "delta": 1e-3, "n_records": 20},
        {"unit": "HOME", "max_rows": 2, "outside": "clamp"},
    ],
    ids=str,
)
def test_so_is_a_new_table_drawn_of_it(more):
    """With the measurements that it was drawn from."""
    hold(people(), asked("dp-synthetic", **more))


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("laplace", UNIT),
        ("laplace", {**UNIT, "unit_attributes": ["AGE"], "shuffle": True}),
        ("laplace", {**UNIT, "max_rows": 2, "outside": "clamp", "keep": ["TOWN"]}),
        ("pram", {"unit": "HOME", "max_rows": 3, "missing": "protect"}),
        ("mdav", {"unit": "HOME"}),
        ("v-mdav", {"unit": "HOME", "missing": "protect", "shuffle": True}),
        ("mdav-insensitive", {"unit": "HOME"}),
    ],
    ids=str,
)
def test_so_are_all_records_of_a_unit_together(method, more):
    """Under new numbers, in a secret order, or counted in clusters and left out."""
    hold(people(), asked(method, **more))


def test_so_are_cells_that_are_kept_beside_shuffled_ones():
    """A record's cells come together in the secret order."""
    hold(people(), asked("laplace", shuffle="rows", keep=["ID", "HOME"]))


def test_what_cannot_be_released_is_refused_in_the_same_words():
    """Of few records, and for a value outside its bounds."""
    for table, more in ((people(2), {}), (people(), {"bounds": {**BOUNDS, "PAY": (0, 1)}})):
        refusals = []
        for given in (table, table.lazy()):
            with pytest.raises(MicroveilError) as refused:
                mv.protect(given, **asked("dp-um", **more))
            refusals.append((type(refused.value), str(refused.value)))
        assert refusals[0] == refusals[1]


@pytest.mark.parametrize("is_lazy", [False, True])
def test_no_two_draws_are_the_same_without_a_seed(is_lazy):
    """Of two releases, and of two columns of the same values, drawn as soon as they are planned."""
    table = people(2000).with_columns(SAME=pl.col("PAY"))
    names = {"PAY": (0, 5000), "SAME": (0, 5000)}
    request = asked(
        "dp-um", k=20, seed=None, epsilon=400, attributes=[*names], bounds=names,
        resolution=dict.fromkeys(names, 0.1),
    )  # fmt: skip
    given = table.lazy() if is_lazy else table
    one, other = (mv.protect(given, **request).data.lazy().collect() for _ in range(2))
    drawn = [one["PAY"], one["SAME"], other["PAY"], other["SAME"]]
    for place, column in enumerate(drawn):
        assert all((column != later).mean() > 0.5 for later in drawn[place + 1 :])


# Files.

CANARY = "canary-7f3a"
IN_FILES = {"attributes": ["AGE", "PAY"], "keep": ["TOWN"], "missing": "error"}


@pytest.fixture
def waiting(monkeypatch, tmp_path):
    """Return the folder for temporary files, in which columns wait."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def files_below(folder):
    return [path for path in folder.rglob("*") if not path.is_dir()]


@pytest.mark.skipif(os.name != "posix", reason="files that are open have names there")
def test_columns_wait_in_files_that_have_no_name(waiting):
    """While a release is held, is read, and when it is gone; nothing of it is found by a name."""
    table = people(2000).with_columns(TOWN=pl.lit(CANARY))
    release = mv.protect(table.lazy(), **asked("ranking", **IN_FILES))
    for _ in range(2):
        assert files_below(waiting) == []
        assert all(folder.stat().st_mode & 0o077 == 0 for folder in waiting.iterdir())
        assert release.data.collect()["TOWN"].to_list() == [CANARY] * 2000
    del release
    gc.collect()
    assert list(waiting.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="files that are open have names there")
def test_refused_requests_and_new_tables_leave_nothing_either(waiting):
    """Whatever was drawn until then is forgotten."""
    equal = people().with_columns(GAP=pl.lit(7)).lazy()
    with pytest.raises(mv.ExactCellsError):
        mv.protect(equal, **asked("idp-cbls", exact_cells="refuse"))
    mv.protect(people().lazy(), **asked("dp-synthetic"))
    gc.collect()
    assert list(waiting.iterdir()) == []


def test_what_is_taken_from_a_release_is_read_when_the_release_is_gone(waiting):
    """A frame that was made of it has its columns open by itself."""
    released = mv.protect(people().lazy(), **asked("ranking", **IN_FILES)).data
    expected, taken = released.collect(), released.filter(pl.col("AGE") > 40).select("AGE", "TOWN")
    del released
    gc.collect()
    kept = expected.filter(pl.col("AGE") > 40).select("AGE", "TOWN")
    assert taken.collect().equals(kept)
    assert mv.protect(people().lazy(), **asked("ranking", **IN_FILES)).data.head(2).collect().height
    assert files_below(waiting) == [] or os.name != "posix"

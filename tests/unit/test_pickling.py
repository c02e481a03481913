"""A release that travels takes along what may be published, and nothing of the custodian's."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from microveil.protect.draw import draw
from microveil.protect.release import Manifest
from microveil.report import custodian_report, publishable_report

VALUES = np.arange(60) * 7 % 53
ASKED = {
    "method": "idp-cbls",
    "k": 3,
    "epsilon": 1,
    "attributes": ["x"],
    "bounds": {"x": (0, 60)},
    "exact_cells": "allow",
}
FRAMES = {
    "numpy": lambda: {"x": VALUES},
    "pandas": lambda: pd.DataFrame({"x": VALUES}),
    "polars": lambda: pl.DataFrame({"x": VALUES}),
    "pyarrow": lambda: pa.table({"x": VALUES}),
}
EVERY = range(pickle.HIGHEST_PROTOCOL + 1)


def released(make="numpy"):
    """Give a release whose manifest holds a marked name and a marked figure."""
    release = mv.protect(FRAMES[make](), **ASKED)
    source = {"name": "SECRET77", "sha256": "98765"}
    manifest = Manifest(contents={**release.manifest.to_dict(), "input": source})
    return mv.Release(
        data=release.data, guarantee=release.guarantee, notes=release.notes, manifest=manifest
    )


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize("make", FRAMES)
def test_a_pickled_release_holds_nothing_of_the_manifest(make, protocol):
    """Neither a name nor a figure nor a plan; data, guarantee and notes come back as they were."""
    release = released(make)
    written = pickle.dumps(release, protocol=protocol)
    for secret in (b"SECRET77", b"98765", b"centroid_noise_scale", b"expected_error", b"Plan"):
        assert secret not in written
    assert b"SECRET77" not in pickle.dumps(release.manifest, protocol=protocol)
    assert b"SECRET77" in pickle.dumps(release.manifest.contents, protocol=protocol)
    again = pickle.loads(written)  # noqa: S301 -- written above
    assert again.guarantee == release.guarantee
    assert again.guarantee.statement() == release.guarantee.statement()
    assert again.notes == release.notes
    assert np.array_equal(np.array(again.data["x"]), np.array(release.data["x"]))
    assert type(again.data) is type(release.data)


def test_a_release_that_was_pickled_says_that_its_manifest_stayed_behind(tmp_path):
    """It cannot be written or reported without it, and nothing appears."""
    release = released()
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 -- written here
    assert "stayed with the custodian" in repr(again.manifest)
    assert repr(again) == repr(release)
    for attempt in (
        lambda: again.write(tmp_path / "release"),
        lambda: custodian_report(again, {"x": VALUES}),
        again.manifest.to_dict,
    ):
        with pytest.raises(mv.RequestError, match="stays with the custodian"):
            attempt()
    assert not list(tmp_path.iterdir())
    assert publishable_report(again) == publishable_report(release)
    twice = pickle.loads(pickle.dumps(again))  # noqa: S301 -- written here
    assert twice.guarantee == again.guarantee


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_in_the_process_have_the_manifest(copied, tmp_path):
    """A copy can be written like the release itself; a deep one shares no data."""
    release = released()
    again = copied(release)
    assert again.manifest.to_dict() == release.manifest.to_dict()
    assert again.guarantee == release.guarantee
    assert np.shares_memory(again.data["x"], release.data["x"]) == (copied is copy.copy)
    again.write(tmp_path / "release")


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("dp-um", {}),
        ("mdav", {}),
        ("kanon-dp", {"attributes": ["x", "y"], "sensitivity": "vector"}),
        ("dp-synthetic", {"epsilon": 9}),
    ],
)
def test_a_pickled_plan_is_drawn_as_the_plan_is(method, more):
    """It is the custodian's, and holds the table."""
    table = {"x": VALUES, "y": VALUES[::-1].copy()}
    asked = {"k": 3, "epsilon": 1, "attributes": ["x"], "bounds": {"x": (0, 60), "y": (0, 60)}}
    planned = mv.plan(table, method=method, **{**asked, **more})
    again = pickle.loads(pickle.dumps(planned))  # noqa: S301 -- written here
    assert again.guarantee == planned.guarantee
    ours, theirs = (draw(one, seed=1).data for one in (planned, again))
    assert all((ours[name] == theirs[name]).all() for name in ours)

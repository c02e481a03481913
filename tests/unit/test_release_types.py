"""What type checkers know of a release: ``make check`` holds the types, running them the frames."""

from typing import Any, assert_type

import numpy as np
import pandas
import polars
import pyarrow
from numpy.typing import NDArray

import microveil as mv

AGES = np.array([23, 35, 31, 62, 58, 35])


def test_a_release_of_a_polars_frame_is_known_to_hold_one() -> None:
    """Type checkers know that polars comes out where polars went in."""
    release = mv.protect(polars.DataFrame({"AGE": AGES}), method="mdav", k=3)
    assert_type(release, mv.Release[polars.DataFrame])
    assert isinstance(release.data, polars.DataFrame)


def test_a_release_of_a_pandas_frame_is_known_to_hold_one() -> None:
    """Type checkers know that pandas comes out where pandas went in."""
    release = mv.protect(pandas.DataFrame({"AGE": AGES}), method="mdav", k=3)
    assert_type(release, mv.Release[pandas.DataFrame])
    assert isinstance(release.data, pandas.DataFrame)


def test_a_release_of_a_pyarrow_table_is_known_to_hold_one() -> None:
    """Type checkers know that pyarrow comes out where pyarrow went in."""
    release = mv.protect(pyarrow.table({"AGE": AGES}), method="mdav", k=3)
    assert_type(release, mv.Release[pyarrow.Table])
    assert isinstance(release.data, pyarrow.Table)


def test_a_release_of_a_labelled_table_is_known_to_hold_a_polars_frame() -> None:
    """Type checkers know that what was read from a file comes out as polars."""
    table = mv.LabelledTable(polars.DataFrame({"AGE": AGES}), {})
    release = mv.protect(table, method="mdav", k=3)
    assert_type(release, mv.Release[polars.DataFrame])
    assert isinstance(release.data, polars.DataFrame)


def test_a_release_of_arrays_is_known_to_hold_arrays() -> None:
    """Type checkers know that a dict of arrays comes out where one went in."""
    release = mv.protect({"AGE": AGES}, method="mdav", k=3)
    assert_type(release, mv.Release[dict[str, NDArray[Any]]])
    assert isinstance(release.data["AGE"], np.ndarray)

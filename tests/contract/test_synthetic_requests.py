"""What may be asked of dp-synthetic, and how it is written down."""

import datetime
from fractions import Fraction

import numpy as np
import pytest

import microveil as mv
from microveil.synthesis import choosing

RANDOM = np.random.default_rng(5)
PEOPLE = {
    "AGE": RANDOM.integers(0, 90, 1000),
    "BORN": np.datetime64("1950-01-01") + RANDOM.integers(0, 20_000, 1000),
    "CARS": RANDOM.integers(0, 5, 1000),
    "PAY": RANDOM.integers(0, 1000, 1000) / 10,
}
ASKED = {
    "method": "dp-synthetic",
    "epsilon": 3,
    "delta": 1e-9,
    "attributes": list(PEOPLE),
    "bounds": {
        "AGE": (0, 120),
        "BORN": ("1940-01-01", "2020-01-01"),
        "CARS": (0, 9),
        "PAY": (0, 100),
    },
    "resolution": {"PAY": 0.1},
}  # fmt: skip
MIDDLE = datetime.date(1970, 5, 6)


@pytest.mark.parametrize(
    ("given", "written", "cut"),
    [
        ("AGE", "AGE", None),
        ({"AGE": 50}, {"AGE": 50}, 50),
        ({"AGE": 49.5}, {"AGE": 49.5}, 50),
        ({"AGE": np.int64(50)}, {"AGE": 50}, 50),
        ({"AGE": Fraction(99, 2)}, {"AGE": 49.5}, 50),
        ({"BORN": MIDDLE}, {"BORN": "1970-05-06"}, 125),
        (
            {"BORN": datetime.datetime(1970, 5, 6, 12, tzinfo=datetime.UTC)},
            {"BORN": "1970-05-06"},
            125,
        ),
        ("BORN=1970-05-06", "BORN=1970-05-06", 125),
        ({"PAY": 30.3}, {"PAY": 30.3}, 303),
        ({"CARS": 3}, {"CARS": 3}, 3),
    ],
)
def test_a_target_is_cut_where_it_is_said_and_written_as_it_was(given, written, cut):
    """The threshold is the first value of the upper half; the manifest has it as a recipe does."""
    planned = mv.plan(PEOPLE, **ASKED, target=given)
    assert planned.parameters["target"] == written
    assert list(planned.synthetic.tables.halves.values()) == [cut]


@pytest.mark.parametrize(
    "target",
    [
        {"BORN": 3}, {"AGE": MIDDLE}, {"AGE": float("nan")}, "AGE=inf", {"AGE": 0}, {"AGE": 121},
        "BORN=1930-01-01", {"CARS": 30},
    ],
)  # fmt: skip
def test_a_threshold_that_cuts_nothing_is_refused(target):
    """Outside the bounds, or of another kind; values that are counted one by one are cut too."""
    with pytest.raises(mv.RequestError, match="target '"):
        mv.plan(PEOPLE, **ASKED, target=target)


@pytest.mark.parametrize("more", [{"structure": "tree"}, {}, {"target": "B"}])
def test_no_table_of_more_cells_than_a_model_takes_is_measured(more, monkeypatch):
    """Two long lists are not counted against each other; all else is measured as it would be."""
    random = np.random.Generator(np.random.PCG64(3))
    table = {name: random.integers(0, 12, 4000) for name in "ACD"} | {
        "B": random.integers(0, 3, 4000)
    }
    codes = {name: list(range(12)) for name in "ACD"} | {"B": [0, 1, 2]}
    monkeypatch.setattr(choosing, "MOST_CELLS", 12 * 12 - 1)
    release = mv.protect(
        table, method="dp-synthetic", epsilon=100, categories=codes, attributes=list("ABCD"),
        seed=1, **more,
    )  # fmt: skip
    names = [one.attribute.name for one in release.measurements.attributes]
    found = {"".join(sorted(names[one] for one in scope)) for scope in release.measurements.tables}
    assert found == (set() if "target" in more else {"AB", "BC", "BD"})
    assert len(release.data["A"]) == 4000

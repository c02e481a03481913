"""Attributes and arguments of public things that take what has no public name."""

import numpy as np

import microveil as mv
from microveil.files.text import TextFormat
from microveil.noise.noise import RandomSource
from microveil.protect.draw import drawn_cells

PEOPLE = {"AGE": np.arange(60) ** 2 % 61 + 20}
BOUNDS = {"AGE": (0, 120)}
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": BOUNDS}


def test_a_plan_draws_one_value_a_unit_and_orders_clusters_where_asked():
    """Copies for the rows of a unit; with isotonic regression larger values get no less."""
    asked = {"method": "laplace", "epsilon": 99, "attributes": ["AGE"], "bounds": BOUNDS}
    people = {"AGE": np.repeat(np.arange(20, 40), 3), "WHOSE": np.repeat(np.arange(20), 3)}
    units = {"unit": "WHOSE", "max_rows": 3, "unit_attributes": ["AGE"]}
    copied = drawn(mv.plan(people, **asked, **units)).reshape(20, 3)
    assert (copied == copied[:, :1]).all()
    apart = drawn(mv.plan(people, **asked, unit="WHOSE", max_rows=3)).reshape(20, 3)
    assert (apart != apart[:, :1]).any()
    plan, order = mv.plan(PEOPLE, **ASKED), np.argsort(PEOPLE["AGE"], kind="stable")
    in_order = mv.plan(PEOPLE, **ASKED, isotonic=True)
    assert (np.diff(drawn(in_order)[order]) >= 0).all()
    assert (np.diff(drawn(plan)[order]) < 0).any()
    assert (drawn(plan) == drawn(plan)).all()
    assert (drawn(plan) != drawn(plan, seed=2)).any()


def drawn(plan, *, seed=1):
    """Return what a plan's one attribute comes to."""
    source = RandomSource.seeded(seed)
    return drawn_cells(plan.attributes[0], plan.units, source).values


def test_a_release_is_written_as_is_said_and_says_what_it_does(tmp_path):
    """Separator and decimal mark of the file, and a word to whoever waits."""
    steps, pay = [], {"PAY": np.arange(6) + 0.5, "KIND": np.arange(6)}
    asked = {"attributes": ["PAY"], "resolution": {"PAY": 0.1}, "keep": ["KIND"]}
    release = mv.protect(pay, method="ranking", k=3, **asked)
    folder, _ = release.write(
        tmp_path / "out", text=TextFormat(separator=";", decimal=","), progress=steps.append
    )
    assert (folder / "data.csv").read_text().splitlines()[:2] == ["PAY;KIND", "1,5;0"]
    assert steps
    assert all(isinstance(step, str) for step in steps)

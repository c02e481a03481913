"""Columns that are drawn as soon as they are planned: what is drawn, and what is left of plans."""

import gc
import weakref

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.engines.disk import DiskEngine
from microveil.engines.local import LocalEngine
from microveil.protect import draw, examined_plan
from microveil.protect.at_once import drawing_at_once
from microveil.protect.plan_findings import plan_findings
from microveil.release.settling import plan_settled, settle_asked

N_RECORDS = 20_000
BOUNDS = {"AGE": (0, 120), "PAY": (0, 5000), "GAP": (0, 60)}
# Methods of centroids of one attribute, with what else they are asked for.
METHODS = [
    ("dp-um", {}),
    ("idp-ls", {}),
    ("idp-cbls", {"exact_cells": "widen"}),
    ("idp-vector", {"exact_cells": "allow"}),
    ("record-dp", {"partition": "ranking"}),
    ("ranking", {"epsilon": None, "bounds": None}),
]


def people():
    random = np.random.default_rng(3)
    gaps = random.integers(0, 50, N_RECORDS)
    return pl.DataFrame(
        {
            "AGE": random.integers(18, 90, N_RECORDS),
            "PAY": np.round(random.gamma(2, 50, N_RECORDS), 1),
            "GAP": [None if place % 7 == 6 else int(gap) for place, gap in enumerate(gaps)],
            "HOME": np.arange(N_RECORDS) // 2,
        }
    )


def asked(method, **more):
    request = {
        "method": method, "k": 20, "epsilon": 2, "attributes": [*BOUNDS], "bounds": BOUNDS,
        "resolution": {"PAY": 0.1}, "missing": "keep", "seed": 5,
    }  # fmt: skip
    return {name: value for name, value in {**request, **more}.items() if value is not None}


@pytest.fixture(params=[LocalEngine, DiskEngine])
def engine(request):
    return request.param()


@pytest.mark.parametrize(("method", "more"), METHODS)
def test_what_is_drawn_at_once_is_what_is_drawn_of_the_plan(method, more, engine):
    """The same cells and the same figures, whether columns wait for each other or not."""
    table, request = people(), asked(method, **more)
    settled = settle_asked(table, request, engine)
    waiting = plan_settled(settled, engine)
    planned, found = examined_plan(table, request, engine)
    assert all(isinstance(part, DrawnPlan) for part in planned.attributes)
    assert not any(isinstance(part, DrawnPlan) for part in waiting.attributes)
    assert draw(planned, engine).data.equals(draw(waiting, engine).data)
    assert found.to_dict() == plan_findings(waiting, settled, engine).to_dict()
    for drawn, part in zip(planned.attributes, waiting.attributes, strict=True):
        assert drawn.to_dict() == part.to_dict()
        assert drawn.widening == part.widening
        assert drawn.squares_within == part.squares_within
        assert drawn.total_squares == part.total_squares
        assert drawn.squares_about_published_mean == part.squares_about_published_mean
        assert np.array_equal(drawn.missing, part.missing)
    assert planned.guarantee == waiting.guarantee
    assert planned.notes == waiting.notes


def test_each_draw_is_announced_once(engine):
    """Before a column is drawn, and not again when the draws are put together."""
    steps = []
    planned, _ = examined_plan(people(), asked("dp-um"), engine, steps.append)
    draw(planned, engine, steps.append)
    announced = sorted(step for step in steps if step.startswith("randomising"))
    assert announced == sorted(f"randomising {name}" for name in BOUNDS)


def test_the_plan_of_a_column_is_gone_before_all_are_planned(engine, monkeypatch):
    """Of clusters and sums no more are at hand than columns are worked on at a time."""
    made, at_hand, of = [], [], DrawnPlan.of.__func__

    def counted(cls, part, source, own):
        made.append(weakref.ref(part))
        gc.collect()
        at_hand.append(sum(one() is not None for one in made))
        return of(cls, part, source, own)

    monkeypatch.setattr(DrawnPlan, "of", classmethod(counted))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    mv.protect(people(), **asked("dp-um"), **said_of(engine))
    assert at_hand == [1, 1, 1]


def said_of(engine):
    return {"engine": "disk"} if isinstance(engine, DiskEngine) else {}


@pytest.mark.parametrize(
    "more",
    [
        {"shuffle": "rows"},
        {"shuffle": "columns"},
        {"isotonic": True},
        {"method": "laplace", "k": None, "unit": "HOME", "max_rows": 2, "missing": None,
         "attributes": ["AGE", "PAY"]},
        {"parts": [mv.part("AGE", method="dp-um", k=20, epsilon=1),
                   mv.part("PAY", method="dp-um", k=20, epsilon=1)],
         "method": None, "k": None, "epsilon": None, "attributes": None},
    ],
)  # fmt: skip
def test_columns_wait_where_more_is_drawn_or_looked_at(more, engine):
    """An order of records, numbers of units and trial draws come of plans that are whole."""
    request = asked(**{"method": "dp-um", **more})
    settled = settle_asked(people(), request, engine)
    assert drawing_at_once(engine, settled) is engine


def test_no_two_draws_are_the_same_without_a_seed(engine):
    """Of two releases, and of two columns of the same values."""
    table = people().with_columns(SAME=pl.col("PAY"))
    names = {"PAY": (0, 5000), "SAME": (0, 5000)}
    request = asked(
        "dp-um", seed=None, epsilon=400, attributes=[*names], bounds=names,
        resolution=dict.fromkeys(names, 0.1),
    )  # fmt: skip
    one, other = (draw(examined_plan(table, request, engine)[0], engine).data for _ in range(2))
    drawn = [one["PAY"], one["SAME"], other["PAY"], other["SAME"]]
    for place, column in enumerate(drawn):
        assert all((column != later).mean() > 0.5 for later in drawn[place + 1 :])

"""Frames of Spark in a session as Spark starts one: it compiles plans, by what may be null."""

import pytest

import microveil as mv
from spark_session import BOUNDS, SIZES, cells, framed, people, settings

pytest.importorskip("pyspark", reason="make test-spark installs PySpark")

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

AGES = {"attributes": ["AGE"], "bounds": {"AGE": BOUNDS["AGE"]}, "epsilon": 5}
WORDS = {"attributes": ["SIZE"], "categories": {"SIZE": list(SIZES)}, "epsilon": 5}
REQUESTS = [
    {"method": "dp-um", "k": 3, "keep": ["SIZE"], **AGES},
    {"method": "laplace", **AGES},
    {"method": "pram", **WORDS},
    {"method": "dp-synthetic", **WORDS},
]


@pytest.fixture
def compiled(spark):
    """The other tests' session has plans interpreted."""
    as_usual = {"spark.sql.codegen.wholeStage": "true",
                "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}  # fmt: skip
    with settings(spark, as_usual):
        yield spark


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one["method"])
def test_a_session_that_compiles_its_plans_releases_every_record(compiled, request_):
    """A column said never to be null, that is, would end a task."""
    there = mv.protect(framed(compiled, people(60)), record_id="ID", **request_)
    drawn = cells(there).select(request_["attributes"])
    assert drawn.height == 60
    assert drawn.null_count().row(0) == (0,)

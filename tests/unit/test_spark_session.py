"""The session of Spark that the command line begins: what it says where there is none."""

import sys
from types import ModuleType

import polars as pl
import pytest

from microveil.commands.files import protect_file
from microveil.engines.spark_daemon import DAEMON
from microveil.errors import EngineError

ASKED = {"method": "dp-um", "k": 2, "epsilon": 1, "bounds": {"AGE": (0, 90)}, "record_id": "ID"}


class Builder:
    """What begins a session, and does not."""

    def __init__(self):
        self.settings = {}

    def appName(self, _name):  # noqa: N802 -- as Spark names it
        return self

    def config(self, name, value):
        self.settings[name] = value
        return self

    def getOrCreate(self):  # noqa: N802
        raise RuntimeError("a word that nobody is to see")


def test_without_pyspark_it_is_named_with_what_installs_it(tmp_path, monkeypatch):
    """Not taken for a step that failed."""
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    pl.DataFrame({"ID": [1, 2], "AGE": [3, 4]}).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(EngineError, match=r"PySpark, which is not .*microveil\[spark\]"):
        protect_file(tmp_path / "people.parquet", tmp_path / "r", engine="spark", **ASKED)
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_without_java_it_is_said_what_is_needed(tmp_path, monkeypatch):
    """A session that is not begun is an error of ours, without Spark's words."""
    builder, module = Builder(), ModuleType("pyspark.sql")
    module.SparkSession = type("SparkSession", (), {"builder": builder})
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", module)
    pl.DataFrame({"ID": [1, 2], "AGE": [3, 4]}).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(EngineError, match=r"begun \(RuntimeError\).*Java 17") as caught:
        protect_file(tmp_path / "people.parquet", tmp_path / "r", engine="spark", **ASKED)
    assert "nobody" not in str(caught.value)
    assert builder.settings == DAEMON
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]

"""Read, release and write a small file of each format that an extra serves, with it alone.

Run by the Python of an environment: `python one_extra.py EXTRA`; it needs nothing of the tests'.
"""

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

sys.path.append(str(Path(__file__).parents[1]))

import microveil as mv
from command import run
from postgresql_server import PROGRAMS, server

PEOPLE = pl.DataFrame({"AGE": range(20, 60), "TOWN": ["a", "b"] * 20})
ASKED = {"method": "dp-um", "k": 3, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
FLAGS = ("--method=dp-um", "--k=3", "--epsilon=1", "--attributes=AGE", "--bounds=AGE=0:99")
FLAGS += ("--resolution=AGE=1", "--keep=TOWN")
# The formats that are written, by the extra that they need; CSV is written with each. The suffix of
# each file is its name, but of SQLite's.
FORMATS = {
    "core": ("csv.gz", "tsv", "tsv.gz", "parquet", "arrow", "sqlite"),
    "files": ("xlsx", "sav", "zsav", "dta", "csv.zst", "tsv.zst"),
}
SUFFIXES = {"sqlite": "db"}
# Libraries of each extra; no other extra may lean on them.
LIBRARIES = {
    "files": ("fastexcel", "xlsxwriter", "pyreadstat", "adbc_driver_manager"),
    "report": ("altair", "vl_convert", "sklearn", "formulaic"),
    "app": ("starlette", "uvicorn", "tomli_w"),
    "spark": ("pyspark",),
}


def called(folder, *arguments):
    """Run the command line, which must end well."""
    done = run(*arguments, folder=folder)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)


def check_format(folder, name):
    """Write a release of the format, then look at that file, release it and read that."""
    data = f"data.{SUFFIXES.get(name, name)}"
    called(folder, "protect", "people.csv", *FLAGS, "--format", name, "-o", f"{name}-made")
    called(folder, "inspect", f"{name}-made/{data}", "-o", f"{name}.toml")
    called(folder, "protect", f"{name}-made/{data}", *FLAGS, "-o", f"{name}-again")
    read = mv.read(folder / f"{name}-again" / data)
    assert read.frame["TOWN"].equals(PEOPLE["TOWN"])
    assert mv.protect(read, **ASKED, resolution={"AGE": 1}).data.height == len(PEOPLE)


def core(folder):
    """Check what needs no extra: a folder of Parquet files, pages."""
    (folder / "pieces").mkdir()
    PEOPLE[:20].write_parquet(folder / "pieces" / "a.parquet")
    PEOPLE[20:].write_parquet(folder / "pieces" / "b.parquet")
    called(folder, "protect", "pieces", *FLAGS, "-o", "of-pieces")
    called(folder, "protect", "people.csv", *FLAGS, "--public-report", "-o", "reported")
    called(folder, "compare", "people.csv", *FLAGS[1:-1], "--methods=dp-um", "--runs=2", "-o", "c")
    assert (folder / "reported" / "report.html").exists()


def files(folder):
    """Check all formats with a library: SAS, which is read alone, and PostgreSQL if it is here."""
    from sas_files import write_sas7bdat, write_xpt

    write_xpt(PEOPLE, folder / "people.xpt")
    write_sas7bdat(PEOPLE, folder / "people.sas7bdat")
    for name in ("people.xpt", "people.sas7bdat"):
        called(folder, "inspect", name, "-o", f"{name}.toml")
        called(folder, "protect", name, *FLAGS, "--format=sav", "-o", f"{name}-out")
    if PROGRAMS is None:
        print("PostgreSQL left out: it is not installed")  # noqa: T201
        return
    with server() as socket:
        table = f"postgresql://steward@/postgres?host={socket}&table=released"
        called(folder, "protect", "people.csv", *FLAGS, "--into", table, "-o", "into")
        called(folder, "protect", table, *FLAGS, "-o", "from")
        assert mv.read(table).frame["TOWN"].equals(PEOPLE["TOWN"])


def report(folder):
    """Check that a report has its charts, and that models and regressions are fitted."""
    called(folder, "protect", "people.csv", *FLAGS, "--public-report", "-o", "charted")
    page = (folder / "charted" / "report.html").read_text("utf-8")
    assert "<svg" in page
    assert "Charts are left out" not in page
    called(folder, "assess", "people.csv", "charted/data.csv", "--attributes=AGE,TOWN",
        "--classes=TOWN", "--formula=AGE ~ TOWN")  # fmt: skip


def spark(folder):
    """Check a Parquet file by Spark, whose workers are of this environment."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    (folder / "scratch").mkdir()
    PEOPLE.with_columns(ID=pl.int_range(pl.len())).write_parquet(folder / "people.parquet")
    called(folder, "protect", "people.parquet", *FLAGS, "--spark", "--record-id=ID",
        "--scratch", folder / "scratch", "-o", "by-spark")  # fmt: skip


def pandas(_folder):
    """Check frames of pandas, whose text columns need pyarrow, with nothing but core beside."""
    from pandas import DataFrame

    frame = DataFrame(PEOPLE.to_dict(as_series=False))
    domains = {"categories": {"TOWN": ["a", "b"]}, "attributes": ["TOWN"]}
    release = mv.protect(frame, method="pram", epsilon=1, **domains)
    assert list(release.data["TOWN"].unique()) in (["a", "b"], ["b", "a"])
    kept = mv.protect(frame, **ASKED, keep=["TOWN"]).data["TOWN"]
    assert np.array_equal(kept, PEOPLE["TOWN"].to_list())


def main(extra):
    """Try an extra in a folder that is left empty."""
    asked = [*LIBRARIES] if extra == "all" else [extra]
    strange = {name: [*filter(find_spec, LIBRARIES[name])] for name in {*LIBRARIES} - {*asked}}
    assert not any(strange.values()), f"{extra} is not alone: {strange}"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        PEOPLE.write_csv(folder / "people.csv")
        check_format(folder, "csv")
        for one in asked:
            for name in FORMATS.get(one, ()):
                check_format(folder, name)
            if more := globals().get(one):
                more(folder)


if __name__ == "__main__":
    main(sys.argv[1])

"""SQLite files: which table is read, what its columns are, what is refused, what is written."""

import json
import sqlite3
import traceback
from contextlib import closing

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.files import protect_file
from microveil.commands.measuring import assess_files
from microveil.files.writing import write_data

SECRET = "SECRET77"
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}


def database(path, *statements):
    """Make a database as SQLite's own program would."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
            connection.commit()
    return path


@pytest.fixture
def people(tmp_path):
    """Two tables and a view."""
    return database(
        tmp_path / "people.db",
        "CREATE TABLE people (AGE INTEGER, NAME TEXT)",
        f"WITH RECURSIVE n(i) AS (SELECT 20 UNION ALL SELECT i + 1 FROM n WHERE i < 59) "
        f"INSERT INTO people SELECT i, '{SECRET}' FROM n",
        'CREATE TABLE "other ""table""" (B REAL)',
        'INSERT INTO "other ""table""" VALUES (0.5), (1.5)',
        "CREATE VIEW old AS SELECT AGE FROM people WHERE AGE > 40",
    )


def refusal(address):
    """Return the error of reading, which must be ours and hold no value."""
    with pytest.raises(mv.FileError) as caught:
        mv.read(address)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


# Which table -------------------------------------------------------------------------


def test_every_column_of_mixed_values_is_named_at_once(tmp_path):
    """Each with its rule and the query that would say what it is."""
    made = database(
        tmp_path / "t.db",
        "CREATE TABLE t (A INTEGER, B TEXT, C BOOLEAN, D DATE)",
        f"INSERT INTO t VALUES (1, 'x', 1, '2020-01-05'), ('{SECRET}', 'y', '{SECRET}', 5)",
    )
    with pytest.raises(mv.FileError) as caught:
        mv.read(made)
    places = [problem.place for problem in caught.value.problems]
    assert places == [f"{made}, column '{name}'" for name in "ACD"]
    assert SECRET not in str(caught.value)


def test_one_of_several_tables_is_named_in_the_address(people):
    """A table or a view, by its very name; without one the names are listed."""
    assert mv.read(f"{people}?table=people").frame.shape == (40, 2)
    assert mv.read(f'{people}?table=other "table"').frame["B"].to_list() == [0.5, 1.5]
    assert mv.read(f"{people}?table=old").frame["AGE"].min() == 41
    assert """it has 'other "table"', 'people', 'old'; write people.db?table=NAME""" in refusal(
        people
    )
    assert "none of that name: it has" in refusal(f"{people}?table=People")


def test_the_only_table_needs_no_name(tmp_path):
    """Views beside it are not counted; views alone must be named."""
    one = database(
        tmp_path / "t.sqlite3", "CREATE TABLE t (A INT)", "INSERT INTO t VALUES (1), (2)",
        "CREATE VIEW v AS SELECT * FROM t",
    )  # fmt: skip
    assert mv.read(one).frame["A"].to_list() == [1, 2]
    none = database(tmp_path / "v.db", "CREATE VIEW v AS SELECT 1 AS A UNION ALL SELECT 2")
    assert "none but views: it has 'v'" in refusal(none)
    assert "it must hold a table" in refusal(database(tmp_path / "e.db", "PRAGMA user_version = 1"))


def test_a_query_is_the_rest_of_the_address_as_it_stands(people):
    """Signs that URLs have a meaning for are its own; it cannot change the file."""
    query = "SELECT AGE % 7 + 1 AS \"A+B\", NAME LIKE '%7&query=%' AS N FROM people -- ?table=x"
    frame = mv.read(f"{people}?query={query}").frame
    assert frame.columns == ["A+B", "N"]
    assert frame["A+B"].to_list() == [age % 7 + 1 for age in range(20, 60)]
    before = people.read_bytes()
    wrongs = (
        *("DROP TABLE people", "SELECT nothing FROM people", f"SELECT {SECRET}"),
        *("SELECT load_extension('x') FROM people", "SELECT AGE FROM people; DROP TABLE people"),
    )
    for wrong in wrongs:
        assert "SQLite refuses it" in refusal(f"{people}?query={wrong}")
    assert mv.read(f"{people}?query=SELECT AGE FROM people;").n_records == 40
    assert people.read_bytes() == before
    assert "one table or one query" in refusal(f"{people}?table=old&query=SELECT 1")
    assert "nothing else" in refusal(f"{people}?mode=rw")


# What columns are --------------------------------------------------------------------

KINDS = [
    ("INTEGER", "1", pl.Int64, [1, None]),
    ("BIGINT", "-9223372036854775808", pl.Int64, [-(2**63), None]),
    ("DOUBLE PRECISION", "1", pl.Float64, [1.0, None]),
    ("FLOATING POINT", "1.5", pl.Float64, [1.5, None]),
    ("DECIMAL(10,2)", "7", pl.Float64, [7.0, None]),
    ("NUMERIC", "9e999", pl.Float64, [float("inf"), None]),
    ("VARCHAR(9)", "007", pl.String, ["7", None]),
    ("TEXT", "''", pl.String, ["", None]),
    ("BOOLEAN", "1", pl.Boolean, [True, None]),
    ("", "'x'", pl.String, ["x", None]),
    ("", "2.5", pl.Float64, [2.5, None]),
    ("STRING", "'007'", pl.Int64, [7, None]),  # as SQLite stores it
    ("UUID", "'a-b'", pl.String, ["a-b", None]),
]


@pytest.mark.parametrize(("declared", "value", "dtype", "read"), KINDS)
def test_a_column_is_what_its_declaration_says(tmp_path, declared, value, dtype, read):
    """By SQLite's own rules of affinity; where it says nothing, what all values are."""
    path = database(
        tmp_path / "t.db", f"CREATE TABLE t (A {declared})", f"INSERT INTO t VALUES ({value})",
        "INSERT INTO t VALUES (NULL)",
    )  # fmt: skip
    found = mv.read(path).frame["A"]
    assert found.dtype == dtype
    assert found.to_list() == read


def test_dates_and_moments_are_read_as_iso_8601_writes_them(tmp_path):
    """Before 1900 too; by declaration, or where all values of a query are dates."""
    path = database(
        tmp_path / "t.db", "CREATE TABLE t (D DATE, M TIMESTAMP, S TEXT)",
        "INSERT INTO t VALUES ('0001-01-01', '1066-10-14T09:00', '2020-01-01'), "
        "('1899-12-31', '2020-02-29 23:59:59.999999', '2020-13-01'), (NULL, NULL, NULL)",
    )  # fmt: skip
    frame = mv.read(path).frame
    assert [str(day) for day in frame["D"].drop_nulls()] == ["0001-01-01", "1899-12-31"]
    assert str(frame["M"][0]) == "1066-10-14 09:00:00"
    assert frame["M"][1].microsecond == 999_999
    assert frame["S"].dtype == pl.String
    assert mv.read(f"{path}?query=SELECT date(D) AS E FROM t").frame["E"].dtype == pl.Date
    assert "dates YYYY-MM-DD must hold nothing else" in refusal(
        f"{path}?query=SELECT S || '' AS E FROM t"
    )


MIXED = [
    (
        "INTEGER",
        SECRET,
        "declared as INTEGER must hold whole numbers alone, and this one holds text",
    ),
    ("INTEGER", 0.5, "this one holds decimal numbers"),
    ("REAL", SECRET, "must hold decimal numbers alone, and this one holds text"),
    ("TEXT", b"\x01", "this one holds BLOBs"),
    ("", 0.5, "of one kind, and this one holds whole numbers and decimal numbers"),
    ("", SECRET, "of one kind, and this one holds whole numbers and text"),
    ("BOOLEAN", 77, "0 and 1 must hold nothing else"),
    ("DATE", SECRET, "and this one holds whole numbers"),
    ("TIMESTAMP", 2460000.5, "and this one holds whole numbers and decimal numbers"),
    ("NUMERIC", 2**53 + 1, "within 2^53"),
]


@pytest.mark.parametrize(("declared", "value", "rule"), MIXED)
def test_values_of_several_kinds_are_refused(tmp_path, declared, value, rule):
    """With the column and the query that says what they are: never missing, never text."""
    path = database(tmp_path / "t.db", f"CREATE TABLE t (A {declared})")
    with closing(sqlite3.connect(path)) as connection:
        first = 1.5 if declared == "NUMERIC" else "x" if declared == "TEXT" else 1
        connection.executemany("INSERT INTO t VALUES (?)", [(first,), (None,), (value,), (first,)])
        connection.commit()
    said = refusal(path).removeprefix(str(tmp_path))  # a folder's number may be that value
    assert rule in said
    assert "column 'A'" in said
    assert "t.db?query=SELECT" in said
    assert str(value) not in said
    cast = mv.read(f'{path}?query=SELECT CAST("A" AS TEXT) AS "A" FROM t').frame["A"]
    assert cast.dtype == pl.String or declared == "DATE"
    assert cast.null_count() == 1


def test_text_of_a_database_in_utf_16_is_text(tmp_path):
    """Whatever the file's own encoding is."""
    path = database(
        tmp_path / "t.db", "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (A TEXT)",
        "INSERT INTO t VALUES ('é か'), ('')",
    )  # fmt: skip
    assert mv.read(path).frame["A"].to_list() == ["é か", ""]


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_that_is_being_written_is_refused(tmp_path, mode):
    """What is in files beside it would be missing; once it is closed it is read."""
    path = database(
        tmp_path / "t.db", "CREATE TABLE t (A)", "INSERT INTO t VALUES (1), (2)",
        f"PRAGMA journal_mode = {mode}",
    )  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # the file is written to before the commit
        connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(9000)])
        if mode == "WAL":
            connection.commit()
        assert "must be whole, and a part of it is in t.db-" in refusal(path)
        connection.commit()
    assert mv.read(path).frame.height == 9002


def test_a_file_that_lost_records_is_refused(tmp_path):
    """Also where SQLite would read what is left without a word."""
    path = database(
        tmp_path / "t.db", "PRAGMA page_size = 4096", "CREATE TABLE t (A INTEGER)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
        "INSERT INTO t SELECT i FROM n",
    )  # fmt: skip
    raw = bytearray(path.read_bytes())
    count = slice(4096 + 3, 4096 + 5)  # of records, in the head of the table's only page
    assert int.from_bytes(raw[count]) == 40
    raw[count] = (30).to_bytes(2)
    path.write_bytes(raw)
    with closing(sqlite3.connect(path)) as connection:
        assert len(connection.execute("SELECT A FROM t").fetchall()) == 30
    assert "must be a whole SQLite database" in refusal(path)


# What is written ---------------------------------------------------------------------


def test_a_release_is_a_file_of_one_table(people):
    """Read with no name asked for, by SQLite's own library too; the manifest says which was in."""
    folder = people.parent / "out"
    release = protect_file(f"{people}?table=people", folder, **ASKED)
    with closing(sqlite3.connect(folder / "data.db")) as connection:
        made = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
        ages = [age for (age,) in connection.execute("SELECT AGE FROM data")]
    assert made == [('CREATE TABLE data ("AGE" INTEGER)',)]
    assert ages == release.data["AGE"].to_list()
    assert SECRET.encode() not in (folder / "data.db").read_bytes()
    manifest = json.loads((people.parent / "out-custodian" / "manifest.json").read_text())
    assert manifest["input"]["name"] == "people.db"
    assert manifest["input"]["table"] == "people"
    found = assess_files(f"{people}?table=people", folder, ["AGE"], text=None)
    assert found.guarantee == release.guarantee
    done = run("audit", "out", folder=people.parent)  # the table by its name in the manifest
    assert done.returncode == 0, done.stderr
    done = run("audit", f"{people}?table=people", "out", folder=people.parent)
    assert done.returncode == 0, done.stderr
    long = f"{folder / 'data.db'}?query=SELECT AGE FROM data -- {'x' * 5000}"
    found = assess_files(f"{people}?table=people", long, ["AGE"], text=None)
    assert found.guarantee == release.guarantee


def test_a_query_is_in_the_manifest_and_nowhere_else(people):
    """It may hold values: the custodian alone sees it."""
    folder = people.parent / "out"
    query = f"SELECT AGE FROM people WHERE NAME = '{SECRET}'"
    done = run(
        "protect", f"{people}?query={query}", "--method=dp-um", "--k=5", "--epsilon=1",
        "--bounds=AGE=0:99", "--attributes=AGE", "--public-report", "-o", "out",
        "--population=all of us", folder=people.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    manifest = json.loads((people.parent / "out-custodian" / "manifest.json").read_text())
    assert manifest["input"]["query"] == query
    others = [*folder.iterdir(), people.parent / "microveil-ledger.jsonl"]
    for path in others:
        assert SECRET.encode() not in path.read_bytes(), path
    assert len(others) >= 4
    done = run("inspect", f"{people}?query={query}", "-o", "recipe.toml", folder=people.parent)
    assert "protect DATA --recipe recipe.toml" in done.stdout
    assert SECRET not in done.stdout + done.stderr
    assert SECRET not in (people.parent / "recipe.toml").read_text()
    done = run("audit", "out", folder=people.parent)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("frame", "rule"),
    [
        (pl.DataFrame({"A": [1], "a": [2]}), "differ in more than capitals"),
        (
            pl.DataFrame({"A": pl.Series([2**63, 1], dtype=pl.UInt64)}),
            "column 'A': .* within 2\\^63",
        ),
        (pl.DataFrame({"A": [[1]]}), "column 'A': columns must hold numbers"),
        (pl.DataFrame({"A": [1]}).cast(pl.Datetime("us", "UTC")), "column 'A': columns must hold"),
        (pl.DataFrame({"A": [1]}).cast(pl.Datetime("ns")), "column 'A': .* whole microseconds"),
        (pl.DataFrame({"A": [-800_000]}).cast(pl.Date), "column 'A': dates must lie in the years"),
        (pl.DataFrame({f"c{n}": [1] for n in range(2100)}), "able to hold the table"),
    ],
)
def test_what_sqlite_cannot_hold_is_refused(tmp_path, frame, rule):
    """Never changed in silence; nothing is left behind."""
    with pytest.raises(mv.FileError, match=rule):
        write_data(frame, tmp_path / "t.db", text=None)
    assert not [*tmp_path.iterdir()]


def test_a_table_that_fails_in_the_middle_leaves_nothing(tmp_path, monkeypatch):
    """Not half of it, and no copy of it elsewhere."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    connect = sqlite3.connect

    def failing(place):
        connection = connect(place)
        inserted = (sqlite3.SQLITE_INSERT, "data")
        connection.set_authorizer(lambda action, table, *_: int((action, table) == inserted))
        return connection

    monkeypatch.setattr(sqlite3, "connect", failing)
    with pytest.raises(mv.FileError, match="able to hold the table") as caught:
        write_data(pl.DataFrame({"A": [1, 2]}), tmp_path / "t.db", text=None)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert [path.name for path in tmp_path.rglob("*")] == ["temporary"]

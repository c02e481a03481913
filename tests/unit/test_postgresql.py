"""Tables of PostgreSQL: what is read of them, what is refused, and where no password goes."""

import datetime
import decimal
import json
import random
import sys
import traceback
from contextlib import closing
from dataclasses import replace
from decimal import Decimal

import adbc_driver_postgresql.dbapi
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.files import protect_file
from microveil.files import folders
from microveil.files.postgresql import new_table
from microveil.files.reading import outline_of, read_file
from microveil.schema import Kind
from microveil.table import memory, open_table
from postgresql_server import server
from round_trips import COLUMNS

pytestmark = pytest.mark.postgresql
SECRET = "SECRET77"
PASSWORD = "s3cret/word@77"  # as in no URL
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}

TABLES = f"""
CREATE TYPE mood AS ENUM ('ok', 'sad', 'happy');
CREATE DOMAIN age AS smallint CHECK (VALUE >= 0);
CREATE DOMAIN years AS age;
CREATE TABLE kinds (small int2, whole int4, "Beyond" int8, cents numeric(12,2), exact numeric,
  single float4, double float8, yes bool, words text, short varchar(9), padded char(4), mood mood,
  day date, moment timestamp, zoned timestamptz, unique_id uuid, of_domain years);
INSERT INTO kinds VALUES
  (1, 2, 9223372036854775807, 12345678.90, -0.12345678901234567890, 0.1, 'Infinity', true, '', 'x',
   'ab', 'ok', '0001-01-01', '1066-10-14 09:00', '2020-01-01 00:00+02',
   'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 7),
  (-1, NULL, -9223372036854775808, -0.01, 9007199254740993, 0.1, 'NaN', false,
   E'a\\n"b",é か', NULL, NULL, 'happy', '1899-12-31', '1899-12-31 23:59:59.999999', NULL, NULL, 8),
  (NULL, NULL, NULL, NULL, NULL, NULL, 5e-324, NULL, NULL, NULL, NULL, NULL, '9999-12-31', NULL,
   NULL, NULL, NULL);
CREATE TABLE people AS SELECT i AS "AGE", '{SECRET}' AS "NAME" FROM generate_series(20, 59) i;
CREATE SCHEMA survey;
CREATE TABLE survey.people AS SELECT 1 AS a UNION ALL SELECT 2;
CREATE VIEW old AS SELECT * FROM people WHERE "AGE" > 40;
CREATE TABLE odd (a numeric, d date, m timestamp, b bytea, j jsonb, l int[], v interval, n money);
INSERT INTO odd VALUES ('NaN', 'infinity', '-infinity', '\\x00', '{{"{SECRET}": 1}}', '{{1}}',
  '1 day', 1), (1, '0044-03-15 BC', '2020-01-01', NULL, NULL, NULL, NULL, 2);
CREATE FUNCTION emptied() RETURNS int LANGUAGE sql AS 'DELETE FROM people; SELECT 1';
CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}';
GRANT SELECT ON people TO guarded;
"""


@pytest.fixture(scope="module")
def address():
    """Return the address of a database with tables."""
    with server() as folder:
        place = f"postgresql://steward@/postgres?host={folder}"
        with (
            closing(adbc_driver_postgresql.dbapi.connect(place)) as connection,
            closing(connection.cursor()) as cursor,
        ):
            for statement in TABLES.strip().split(";\n"):
                cursor.execute(statement)
            connection.commit()
        yield place


def refusal(place):
    """Return the error of reading, which must be ours and hold no value and no password."""
    with pytest.raises(mv.FileError) as caught:
        mv.read(place)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


# What is read ------------------------------------------------------------------------


def test_every_type_is_read_as_what_it_is(address):
    """To the last digit, with what is missing and what is empty, before 1900 and beyond 2^53."""
    frame = mv.read(f"{address}&table=kinds").frame
    moment = datetime.datetime.fromisoformat
    assert frame["Beyond"].to_list() == [2**63 - 1, -(2**63), None]
    assert frame["small"].to_list() == [1, -1, None]
    assert frame["whole"].to_list() == [2, None, None]
    assert frame["cents"].to_list() == [Decimal("12345678.90"), Decimal("-0.01"), None]
    exact = [Decimal("-0.12345678901234567890"), Decimal(2**53 + 1), None]
    assert frame["exact"].to_list() == exact
    assert frame["single"].dtype == pl.Float32
    assert [str(number) for number in frame["double"]] == ["inf", "nan", "5e-324"]
    assert frame["yes"].to_list() == [True, False, None]
    assert frame["words"].to_list() == ["", 'a\n"b",é か', None]
    assert frame["short"].to_list() == ["x", None, None]
    assert frame["padded"][0] == "ab"
    assert [str(day) for day in frame["day"]] == ["0001-01-01", "1899-12-31", "9999-12-31"]
    assert frame["moment"].to_list()[:2] == [
        moment("1066-10-14T09:00"),
        moment("1899-12-31T23:59:59.999999"),
    ]
    assert frame["zoned"][0] == moment("2019-12-31T22:00+00:00")
    assert frame["unique_id"][0] == "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert frame["of_domain"].to_list() == [7, 8, None]


def test_every_type_is_outlined_as_it_is_read(address):
    """Before it is read: names in their order, and no kind where the values decide it."""
    place = f"{address}&table=kinds"
    declared, frame = outline_of(place).kinds, mv.read(place).frame
    read = open_table(frame)
    assert list(declared) == frame.columns
    assert [name for name, kind in declared.items() if kind is None] == ["moment", "zoned"]
    others = {name for name, kind in declared.items() if kind not in (None, read.kind(name))}
    assert others == {"exact"}  # declared as numbers, of more digits than numbers have here
    asked = outline_of(f'{address}&query=SELECT "AGE" / 2.0 AS half FROM people').kinds
    assert dict(asked) == {"half": Kind.DECIMAL}
    with pytest.raises(mv.FileError, match="refuses it or takes long"):
        outline_of(f"{address}&query=SELECT pg_sleep(60)::text AS slept")


def test_a_table_is_found_by_its_name_or_with_its_schema(address):
    """In another schema by both alone; where none is named, those that there are are listed."""
    assert mv.read(f"{address}&table=people").frame.shape == (40, 2)
    assert mv.read(f"{address}&table=public.people").frame.shape == (40, 2)
    assert mv.read(f"{address}&table=survey.people").frame.columns == ["a"]
    assert mv.read(f"{address}&table=old").frame["AGE"].min() == 41
    listed = "it has 'kinds', 'odd', 'people', 'survey.people', 'old'; write postgresql://"
    assert listed in refusal(address)
    assert listed in refusal(f"{address}&table=People")


def test_a_query_reads_and_changes_nothing(address):
    """It is one SELECT, as it stands; what it is refused for is not repeated."""
    query = 'SELECT "AGE" % 7 + 1 AS x, \'a&b\' AS y FROM people WHERE "AGE" < 30 -- ?table=old'
    frame = mv.read(f"{address}&query={query}").frame
    assert frame["x"].to_list() == [age % 7 + 1 for age in range(20, 30)]
    assert frame["y"][0] == "a&b"
    wrongs = (
        *("DELETE FROM people", "SELECT 1; DELETE FROM people", "SELECT nothing FROM people"),
        *(f"SELECT '{SECRET}'::int", "SELECT 1) AS x; DELETE FROM people; --"),
        *("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone", "SELECT emptied()"),
    )
    for wrong in wrongs:
        assert "the server refuses it" in refusal(f"{address}&query={wrong}")
    assert "different names" in refusal(f"{address}&query=SELECT 1 AS a, 2 AS a")
    assert "there are none" in refusal(f"{address}&query=SELECT 1 AS a WHERE false")
    assert mv.read(f"{address}&table=people").frame.height == 40


@pytest.mark.parametrize(
    ("column", "kind"),
    [("b", "bytea"), ("j", "jsonb"), ("l", "_int4"), ("v", "interval"), ("n", "money")],
)
def test_a_type_that_no_table_holds_is_refused_by_its_name(address, column, kind, capfd):
    """And left out by a query."""
    said = refusal(f"{address}&query=SELECT {column} FROM odd")
    assert f"column '{column}': columns must hold numbers" in said
    assert f"its type is '{kind}'" in said
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        ("a", "NaN or infinite"),
        ("d", "years 1 to 9999"),
        ("m", "years 1 to 9999"),
        ("a * 1e30 + 0.1234567890123 AS a", "at most 38 digits"),
    ],
)
def test_values_that_no_table_holds_are_refused(address, column, rule):
    """Infinite dates, dates before Christ, numeric NaN, numbers of more digits than decimals."""
    where = "WHERE a = 1" if "AS a" in column else ""
    said = refusal(f"{address}&query=SELECT {column} FROM odd {where}")
    assert f"column '{column[0]}'" in said
    assert rule in said


def test_a_table_larger_than_memory_is_refused(address, monkeypatch):
    """Before it is read: its records are counted."""
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    assert "memory" in refusal(f"{address}&table=people")
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    assert mv.read(f"{address}&table=people").frame.height == 40


# What is written ---------------------------------------------------------------------


def statement(address, *statements):
    """Run statements as another program would, and give what the last one says."""
    with (
        closing(adbc_driver_postgresql.dbapi.connect(address, autocommit=True)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        for each in statements:
            cursor.execute(each)
        return cursor.fetchall() if statements[-1].startswith("SELECT") else None


TABLE_SAYS = "SELECT count(*) FROM pg_class WHERE relname = '{}'"


def test_a_release_is_written_into_a_new_table(address, tmp_path):
    """With its folders, the same records of the same types; replaced where that is asked for."""
    place, into = f"{address}&table=people", f"{address}&table=survey.released"
    done = run(
        "protect", place, "--method=dp-um", "--k=5", "--epsilon=1", "--attributes=AGE",
        "--bounds=AGE=0:99", "--keep=NAME", "--into", into, "-o", "out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "in the table of PostgreSQL too" in done.stdout
    written = mv.read(into).frame
    assert written.equals(read_file(tmp_path / "out" / "data.parquet").frame)
    manifest = json.loads((tmp_path / "out-custodian" / "manifest.json").read_text())
    said = "PostgreSQL, database postgres, table survey.released"
    assert manifest["output"]["table"] == said
    with pytest.raises(mv.FileError, match="'released': the table must not exist yet"):
        protect_file(place, tmp_path / "two", linkage=False, **ASKED, into=into)
    release = protect_file(
        place, tmp_path / "two", linkage=False, **ASKED, into=into, overwrite=True
    )
    assert mv.read(into).frame.equals(release.data)
    statement(address, "DROP TABLE survey.released")


def test_no_table_but_a_release_is_replaced(address, tmp_path):
    """The people's own table, a view and a table of somebody else stay, whatever is asked for."""
    for name in ("people", "old", "survey.people"):
        with pytest.raises(mv.FileError, match="only a release may be overwritten"):
            protect_file(f"{address}&table=people", tmp_path / "out", **ASKED, overwrite=True,
                         into=f"{address}&table={name}")  # fmt: skip
    assert mv.read(f"{address}&table=people").frame.height == 40
    assert not [*tmp_path.iterdir()]


def test_decimals_are_written_to_the_last_digit(address):
    """Of any size and any number of decimals: a library of some versions wrote others."""
    rng = random.Random(1)
    exactly = decimal.Context(prec=60)

    def one(places):
        digits = rng.randrange(10 ** rng.randrange(39)) // 10 ** rng.randrange(9)
        return exactly.scaleb(Decimal(rng.choice([1, -1]) * digits), -places)

    frame = pl.DataFrame(
        [
            pl.Series(f"{places} places", [one(places) for _ in range(300)],
                      dtype=pl.Decimal(38, places))
            for places in (0, 1, 2, 4, 5, 8, 20, 38)
        ]
    )  # fmt: skip
    with new_table(f"{address}&table=decimals", frame, overwrite=False) as (_, appear):
        appear()
    again = mv.read(f"{address}&table=decimals").frame
    assert again.cast(frame.schema).equals(frame)
    statement(address, "DROP TABLE decimals")


LOST = {
    "whole numbers beyond 2^63": "refused",
    "whole numbers of 8 bits": "as Int16",
    "categories with a list": "as String",
    "categories without a list": "as String",
}


def test_what_a_table_keeps_of_each_column_is_as_the_docs_say(address):
    """Read again it is what was written, but for what stands in docs/files.md."""
    for shown, column in COLUMNS.items():
        try:
            frame = pl.DataFrame({"A": column})
            with new_table(f"{address}&table=one", frame, overwrite=True) as (_, appear):
                appear()
            again = mv.read(f"{address}&table=one").frame["A"]
        except mv.FileError:
            fate = "refused"
        else:
            same = again.dtype.base_type() == column.dtype.base_type()
            fate = "kept" if same else f"as {again.dtype}"
            assert repr(again.to_list()) == repr(column.to_list()), shown
        assert fate == LOST.get(shown, "kept"), shown
    statement(address, "DROP TABLE one")


@pytest.mark.parametrize("when", ["filling", "folders", "table", "ledger"])
def test_a_release_that_fails_leaves_nothing_half_written(address, tmp_path, monkeypatch, when):
    """Whatever fails, the table and the folders are both there or neither; an error of ours."""
    into = f"{address}&table=half"
    asked = {**ASKED, "population": "all of us"} if when == "ledger" else ASKED
    release = mv.protect(mv.read(f"{address}&table=people"), **asked, keep=["NAME"])
    if when == "filling":  # in the middle: the second record has a sign that no text has
        names = pl.Series("NAME", ["x", f"{SECRET}\0"] * 20)
        release = replace(release, data=release.data.with_columns(names))
    elif when == "folders":
        monkeypatch.setattr(folders, "rename_new", failing)
    elif when == "table":
        commit = adbc_driver_postgresql.dbapi.Connection.commit
        monkeypatch.setattr(adbc_driver_postgresql.dbapi.Connection, "commit", failing)
    else:
        seen = []  # of the table, before the release is counted

        def counting(*_arguments, **_options):
            seen.append(statement(address, TABLE_SAYS.format("half")))
            failing()

        monkeypatch.setattr("microveil.ledger.ledger.written_whole", counting)
    with pytest.raises(mv.FileError) as caught:
        release.write(tmp_path / "out", format="parquet", into=into)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    if when == "table":
        monkeypatch.setattr(adbc_driver_postgresql.dbapi.Connection, "commit", commit)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]
    assert statement(address, TABLE_SAYS.format("half")) == [(0,)]
    if when == "ledger":
        assert seen == [[(0,)]]


def failing(*_arguments):
    raise OSError(28, SECRET)


@pytest.mark.parametrize(
    ("into", "rule"),
    [("people.db?table=x", "a table of PostgreSQL"), ("postgresql:///x", "which its address must")],
)
def test_an_address_that_no_table_can_be_made_at_is_refused(tmp_path, into, rule):
    """Before any work."""
    with pytest.raises(mv.FileError, match=rule):
        protect_file(tmp_path / "nowhere.csv", tmp_path / "out", linkage=False, **ASKED, into=into)


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        (pl.Series([2**63], dtype=pl.UInt64), "within 2\\^63"),
        (pl.Series([[1]]), "numbers, text, dates or truth values"),
        (pl.Series([1]).cast(pl.Datetime("ns")), "whole microseconds"),
    ],
)
def test_what_no_table_of_a_database_holds_is_refused(address, column, rule):
    """By the column, and nothing is made."""
    into = f"{address}&table=none"
    with (
        pytest.raises(mv.FileError, match=f"column 'A': .*{rule}"),
        new_table(into, pl.DataFrame({"A": column}), overwrite=False) as (_, appear),
    ):
        appear()
    assert statement(address, TABLE_SAYS.format("none")) == [(0,)]


# Passwords ---------------------------------------------------------------------------


def test_no_password_is_shown_or_written(address, tmp_path):
    """It comes from the environment, and goes nowhere but to the server."""
    place = address.replace("steward", "guarded")
    commands = (
        ["inspect", f"{place}&table=people", "-o", "recipe.toml"],
        ["protect", f"{place}&table=people", "--method=dp-um", "--k=5", "--epsilon=1", "-o", "out",
         "--attributes=AGE", "--bounds=AGE=0:99", "--population=all of us", "--public-report"],
        ["assess", f"{place}&table=people", "out"],
        ["protect", f"{place}&table=people", "--json", "--method=mdav", "--k=5", "-o", "two",
         "--attributes=AGE"],
    )  # fmt: skip
    for command in commands:
        done = run(*command, folder=tmp_path, PGPASSWORD=PASSWORD)
        assert done.returncode == 0, done.stderr
        assert PASSWORD not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 10
    for path in written:
        assert PASSWORD.encode() not in path.read_bytes(), path
    for wrong in ("", "wrong"):
        done = run(*commands[0], folder=tmp_path, PGPASSWORD=wrong)
        assert done.returncode == 2
        assert "let you in" in done.stderr


def test_a_service_file_says_where_and_who(address, tmp_path, monkeypatch):
    """PostgreSQL's own way, with the password in it."""
    host = address.partition("host=")[2]
    service = tmp_path / "services"
    service.write_text(f"[ours]\nhost={host}\nuser=guarded\npassword={PASSWORD}\ndbname=postgres\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    assert mv.read("postgresql:///?service=ours&table=people").frame.height == 40


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    assert "PostgreSQL tables are read and written by adbc_driver_postgresql, which is not" in (
        refusal("postgresql:///survey?table=people")
    )

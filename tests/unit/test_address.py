"""Addresses: what names a table, and that nothing in them that may be a password is shown."""

import traceback
from pathlib import Path

import pytest

import microveil as mv
from command import run
from microveil.files.address import address_of

SECRET = "s3cret"
WITH_PASSWORDS = [
    f"postgresql://ann:{SECRET}@localhost/survey?table=people",
    f"postgresql://ann:{SECRET}/x@localhost/survey?table=people",
    f"postgresql://ann:a@{SECRET}@localhost/survey",
    f"postgresql://localhost/survey?user=ann&password={SECRET}&table=people",
    f"postgres://localhost/survey?sslpassword={SECRET}",
    f"POSTGRESQL://localhost/survey?%70assword={SECRET}",
    f"https://ann:{SECRET}@example.org/people.csv",
    f"http://{SECRET}@example.org/people.csv",
    f"https://ann:{SECRET}/x@example.org/people.csv",
    f"https://ann:x?{SECRET}@example.org/people.csv",
    f"https://ann:x#{SECRET}@example.org/people.csv",
    f"mysql://ann:{SECRET}@localhost/survey",
    f"s3://{SECRET}/people.csv",
    f"file://{SECRET}@elsewhere/people.csv",
]


@pytest.mark.parametrize("place", WITH_PASSWORDS)
def test_a_password_is_refused_and_not_repeated(place, tmp_path):
    """In Python and on the command line, wherever in an address somebody writes it."""
    with pytest.raises(mv.FileError) as caught:
        address_of(place)
    assert SECRET not in "".join(traceback.format_exception(caught.value)).replace(place, "")
    done = run("inspect", place, folder=tmp_path)
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "place",
    ["p.db?table=a&table=b", "p.db?table=a&query=b", "p.db?table=", "p.db?query= ", "p.db?mode=rw",
     "postgresql://h/d?table=", "https://", "https://h:x/p.csv", "file://elsewhere/p.csv"],
)  # fmt: skip
def test_an_address_that_says_nothing_or_too_much_is_refused(place):
    """With what to write."""
    with pytest.raises(mv.FileError) as caught:
        address_of(place)
    assert caught.value.remedy


def test_a_file_may_be_named_by_its_url(tmp_path):
    """With what a URL writes otherwise; the schema beside it is read as beside the file."""
    folder = tmp_path / "a b"
    folder.mkdir()
    Path(folder, "people.csv").write_text("ZIP\n7\n8\n")
    fields = '{"fields": [{"name": "ZIP", "type": "string", "title": "where"}]}'
    Path(folder, "schema.json").write_text(fields)
    read = mv.read(f"file://{tmp_path}/a%20b/people.csv")
    assert read.frame["ZIP"].to_list() == ["7", "8"]
    assert mv.read(f"file://localhost{tmp_path}/a%20b/people.csv").schema["ZIP"].labels.column

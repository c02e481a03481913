"""CSV as Excel and old systems write it: read where it says what it is, else named."""

import gzip

import pytest

import microveil as mv
from command import run

TABLE = "AGE,N\n20,1\n21,2\n30,3\n31,4\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_a_byte_order_mark_says_the_encoding(tmp_path, encoding, name):
    """A file that begins with a mark is read without a flag, and its recipe says the encoding."""
    raw = TABLE.replace("N", "Größe").encode(encoding)
    if name.endswith("gz"):
        raw = gzip.compress(raw)
    (tmp_path / name).write_bytes(raw)
    assert mv.read(tmp_path / name).frame.to_dict(as_series=False) == {
        "AGE": [20, 21, 30, 31],
        "Größe": [1, 2, 3, 4],
    }
    shown = run("inspect", name, folder=tmp_path).stdout
    assert f'encoding = "{encoding}"' in shown


def test_another_encoding_that_is_said_is_held_against_the_mark(tmp_path):
    """A flag that contradicts the mark is refused."""
    (tmp_path / "people.csv").write_bytes(TABLE.encode("utf-8-sig"))
    assert mv.read(tmp_path / "people.csv", encoding="utf-8").frame["AGE"].to_list()[0] == 20
    with pytest.raises(mv.FileError, match="mark"):
        mv.read(tmp_path / "people.csv", encoding="latin-1")
    (tmp_path / "people.csv").write_bytes(TABLE.encode("utf-16"))
    with pytest.raises(mv.FileError, match="mark"):
        mv.read(tmp_path / "people.csv", encoding="utf-8")


@pytest.mark.parametrize("separator", [None, ";"])
@pytest.mark.parametrize("note", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n'])
def test_a_line_that_names_the_separator_is_named(tmp_path, note, separator):
    """The first line that Excel writes for itself is no header: the error says what to do."""
    (tmp_path / "people.csv").write_text(note + TABLE.replace(",", ";"), newline="")
    with pytest.raises(mv.FileError, match=r"line 1: .* names the separator; remove .* ';'"):
        mv.read(tmp_path / "people.csv", separator=separator)


@pytest.mark.parametrize(
    ("raw", "named"), [(TABLE + "\x1a", "line 6: .*Ctrl-Z"), (TABLE.replace("\n", "\r"), "lone")]
)
def test_ends_of_old_systems_are_named(tmp_path, raw, named):
    """A Ctrl-Z at the end and lines of carriage returns are told by what they are."""
    (tmp_path / "people.csv").write_text(raw, newline="")
    with pytest.raises(mv.FileError, match=named):
        mv.read(tmp_path / "people.csv")

"""What files.py promises of single files."""

import base64
import csv
import datetime as dt
import hashlib
import io
import os
import traceback
from pathlib import Path
from unittest import mock

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import microveil as mv
from microveil.errors import DataError, FileError, RequestError
from microveil.files import FORMATS, csv_structure, text_columns
from microveil.files.csv_structure import Records
from microveil.files.reading import open_file, read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from reference.csv_structure import structure

SECRET = "SECRET77"
NUMBER = "987654321"
RULES = {
    "ragged": "fields as the header has",
    "unclosed": "never does",
    "after quote": "text follows",
    "stray quote": "stands inside",
    "lone return": "carriage return",
    "blank": "it is blank",
}


@pytest.fixture
def save(tmp_path):
    def save(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return save


# Structure ---------------------------------------------------------------------------

tokens = st.sampled_from(
    [bytes([byte]) for byte in b'a1,;"\n\r 0+']
    + [b"\r\n", b'"a"', b'""', b'"x,\n""y"', b"a,1\n", b'"00",1\r\n', b"a,1\n" * 12, b" 01,+2\n"]
)


def checked(header, body, n_fields, piece):
    """Check bytes, read so many at a time: the pieces and where they end, or line and rule."""
    records = Records(
        path=Path("t.csv"), text=TextFormat(), n_fields=n_fields, start=len(header), line=2
    )
    with mock.patch.object(csv_structure, "_PIECE", piece):
        try:
            return [*records.pieces(io.BytesIO(header + body))], records
        except FileError as error:
            return error.place.rpartition(" ")[2], error.rule


@settings(max_examples=10 * settings.default.max_examples)
@given(
    pieces=st.lists(tokens, max_size=60),
    n_fields=st.sampled_from([1, 2, 3]),
    piece=st.sampled_from([1, 2, 3, 7, 64, 1 << 16]),
)
@example(pieces=[b"a,1\n" * 15, b'a1,"', b'00"\n'], n_fields=2, piece=64)
@example(pieces=[b"a,1\n" * 15, b'a1a"\n'], n_fields=2, piece=64)
@example(pieces=[b"a,1\r\n" * 12, b"a,\r", b"\n"], n_fields=2, piece=64)
@example(pieces=[b'a,"', b"   0", b'1"\n'], n_fields=2, piece=2)
@example(pieces=[b'"a', b"\n", b"b"], n_fields=1, piece=3)
@example(pieces=[b"a\n", b"\r"], n_fields=1, piece=3)
@example(pieces=[b"a,1\n", b'1,2,"x\n', b'y"\n'], n_fields=2, piece=3)
def test_the_check_finds_what_the_plain_reading_finds(pieces, n_fields, piece):
    """One expression for records gives the findings of reading byte by byte, wherever it is cut."""
    header, body = b"A,B,C\n"[6 - 2 * n_fields :], b"".join(pieces)
    found = checked(header, body, n_fields, piece)
    plain = structure(body, b",", n_fields)
    if plain.broken:
        code, place, n_found = plain.broken
        line, rule = found
        assert (
            int(line.removesuffix(":")) == (header + body).count(b"\n", 0, len(header) + place) + 1
        )
        assert RULES[code] in rule
        assert code != "ragged" or rule.endswith(f"has {n_found}")
    elif not plain.records:
        assert found[1].startswith("records must follow")
    else:
        check_pieces(*found, header + body, len(header), plain.records)


def check_pieces(pieces, found, data, start, records):
    """Pieces are whole records, all of them, and each record begins on its line."""
    whole = b"".join(pieces)
    assert whole.removesuffix(b"\n") == data[start : start + len(whole)].removesuffix(b"\n")
    assert not data[start + len(whole) :].strip(b"\r\n")
    read = [structure(piece, b",", 0) for piece in pieces]
    assert not any(own.broken for own in read)
    assert [record for own in read for record in own.records] == records
    assert found.ends[-1][0] == len(records)
    at = start
    for number, record in enumerate(records):
        line = found.line_of(io.BytesIO(data), number)
        assert line == data.count(b"\n", 0, at) + 1
        at += len(b",".join(record))
        at += len(data[at:]) - len(data[at:].removeprefix(b"\r").removeprefix(b"\n"))


@settings(max_examples=3 * settings.default.max_examples)
@given(pieces=st.lists(tokens, max_size=60))
def test_sound_text_has_the_records_that_pythons_csv_module_reads(pieces):
    """What the check passes, Python's csv module reads as the same records."""
    data = b"".join(pieces)
    plain = structure(data, b",", 0)
    if plain.broken:
        return
    rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
    assert [len(row) for row in rows] == [len(record) for record in plain.records]
    unquoted = [
        [v[1:-1].replace(b'""', b'"').decode() if v[:1] == b'"' else v.decode() for v in record]
        for record in plain.records
    ]
    assert rows == unquoted


def test_bytes_that_a_file_has_no_more_are_an_error(tmp_path):
    """A file that is cut short between two looks at it is refused, whatever is left of it."""
    path = tmp_path / "t.csv"
    path.write_text("A\n" + "1\n" * 100)
    opened = open_file(path, lazily=tmp_path)
    os.truncate(path, 100)
    with pytest.raises(FileError, match="must stay as it is while it is read"):
        opened.read()


def test_a_byte_order_mark_of_a_value_stays(save, monkeypatch):
    """Wherever a piece begins: polars drops one at the beginning of what it reads."""
    monkeypatch.setattr(csv_structure, "_PIECE", 1)
    frame = read_file(save("A,B\n\ufeffx,1\n\ufeffy,2\n")).frame
    assert frame["A"].to_list() == ["\ufeffx", "\ufeffy"]


@pytest.mark.parametrize("piece", [1, 40])
def test_a_table_is_the_same_in_any_pieces(save, monkeypatch, piece):
    """Types, quotes, missing values and late surprises are read as of one piece."""
    rows = [f'{n},{n / 4},"a ""{n}"",\nb",{"" if n % 3 else "2020-01-05"},' for n in range(50)]
    path = save("\n".join(["A,B,C,D,E", *rows, '007, 8,"",,x', ""]))
    whole = read_file(path).frame
    monkeypatch.setattr(csv_structure, "_PIECE", piece)
    monkeypatch.setattr(text_columns, "N_SAMPLE", 20)
    assert read_file(path).frame.equals(whole)
    assert whole.dtypes == [pl.String, pl.Float64, pl.String, pl.Date, pl.String]
    with pytest.raises(FileError, match="line 103"):
        read_file(save(path.read_text() + "x,y,z,2020-01-05,\n"))


# Bad input ---------------------------------------------------------------------------

ROWS = "A,B\n" + "1,x\n" * 12_000
BAD = {
    "empty": ("", {}, "empty", None),
    "blank": ("\n\n", {}, "empty", None),
    "header only": ("A,B\n", {}, "records must follow", None),
    "header only, no line end": ("A,B", {}, "records must follow", None),
    "nul": (f"A,B\n1,{SECRET}\0\n", {}, "text", 2),
    "nul in quotes": (f'A,B\n1,"x\n{SECRET}\0"\n', {}, "text", 3),
    "parquet inside": (b"PAR1" + b"x" * 99, {}, "Parquet", None),
    "workbook": (b"PK\x03\x04" + b"x" * 99, {}, "workbook", None),
    "compressed": (b"\x1f\x8b" + b"x" * 99, {}, "compressed", None),
    "same names": (f"{SECRET},B,{SECRET}\n1,2,3\n", {}, "columns 1 and 3", 1),
    "truth for a name": (f"{SECRET},true\nx,false\n", {}, "column 2", 1),
    "missing for a name": (f"{SECRET}, NA\nx,1\n", {}, "column 2", 1),
    "misfit below a value": (f"B,{SECRET}\nx,1\ny,2x\n" + "x,1\n" * 30, {}, "numbers only", 3),
    "no name": ("A,,C\n1,2,3\n", {}, "column 2 of 3", 1),
    "blank first line": ("\nA,B\n1,2\n", {}, "blank", 1),
    "short": (f"A,B\n1,2\n{NUMBER}\n", {}, "2 fields as the header has, and this one has 1", 3),
    "long": (f"A,B\n1,2\n3,4,{SECRET}\n", {}, "this one has 3", 3),
    "long behind long value": (f'A,B\n1,"x\n\ny"\n3,4,{SECRET}\n', {}, "this one has 3", 5),
    "short, late": (ROWS + f"{SECRET}\n", {}, "this one has 1", 12_002),
    "never closed": (f'A,B\n1,2\n3,"{SECRET}\n5,6\n', {}, "never does", 3),
    "text behind quote": (f'A,B\n1,"{SECRET}"x\n', {}, "text follows", 2),
    "quote inside": (f'A,B\n1,{SECRET}"x\n', {}, "stands inside", 2),
    "blank between": (f"A,B\n1,{SECRET}\n\n2,3\n", {}, "blank", 3),
    "blank between, CRLF": (f"A,B\r\n1,{SECRET}\r\n\r\n2,3\r\n", {}, "blank", 3),
    "blank in one column": ("A\n1\n\n2\n", {}, '""', 3),
    "lone returns": (f"A,B\r1,{SECRET}\r", {}, "carriage return", 1),
    "not utf-8": (b"A,B\n1,x\n2,SECRET77\xe9\n", {}, "--encoding cp1252", 3),
    "not utf-8, name": (b"A,B\xe9\n1,x\n", {}, "--encoding cp1252", 1),
    "mark, latin-1": (b"\xef\xbb\xbfA,B\n1,2\n", {"encoding": "latin-1"}, "utf-8-sig", 1),
    "mark, utf-16": ("A,B\n1,2\n".encode("utf-16"), {"encoding": "cp1252"}, "utf-16", 1),
    "not ascii": (b"A,B\n1,\xe9\n", {"encoding": "ascii"}, "ascii", 2),
    "semicolons": (f"A;B\n1;{SECRET}\n", {}, "--separator ';'", 1),
    "semicolons, commas": ("A;B\n1,5;2,5\n", {}, "--separator ';'", 1),
    "semicolons, quoted": ('"A";"B"\n"1";"2"\n', {}, "--separator ';'", 1),
    "semicolons, a comma in a name": ('"A";"B, C"\n"1";"2"\n', {}, "--separator ';'", 1),
    "tabs": ("A\tB\n1\t2\n", {}, "--separator $'\\t'", 1),
    "commas": ("A,B\n1,2\n", {"separator": ";"}, "--separator ,", 1),
    "whole, then decimal": (ROWS + "987654.321,x\n", {}, "--resolution NAME=0.01", 12_002),
    "whole, then text": (ROWS + f"{SECRET},x\n", {}, "numbers only", 12_002),
    "whole, behind long value": ('A,B\n1,"x\ny"\n' + ROWS[4:] + "x,y\n", {}, "only", 12_004),
    "decimal, then nan": (ROWS.replace("1", "1.5") + "nan,x\n", {}, "numbers only", 12_002),
    "decimal, then huge": (ROWS.replace("1", "1.5") + "1e400,x\n", {}, "64 bits", 12_002),
    "decimal, then comma": (ROWS.replace("1", "1.5") + '"98,7",x\n', {}, "--decimal ,", 12_002),
    "comma, then point": (
        ROWS.replace(",", ";").replace("1", "1,5") + "98.7;x\n",
        {"separator": ";", "decimal": ","},
        "--decimal .",
        12_002,
    ),
    "truth, then text": (ROWS.replace("1", "true") + f"{SECRET},x\n", {}, "true or false", 12_002),
    "truth, then Truth": (ROWS.replace("1", "true") + "True,x\n", {}, "true or false", 12_002),
    "True, then true": (ROWS.replace("1", "True") + "true,x\n", {}, "True or False", 12_002),
    "TRUE, then 1": (ROWS.replace("1", "TRUE") + "1,x\n", {}, "TRUE or FALSE", 12_002),
    "empty first, then False and 0": (
        "A,B\n" + ",x\n" * 12_000 + "False,x\n" * 12_000 + "0,x\n",
        {},
        "True or False",
        24_002,
    ),
    "date, then text": (ROWS.replace("1", "2020-01-05") + f"{SECRET},x\n", {}, "dates", 12_002),
    "date, then another form": (
        ROWS.replace("1", "2020-01-05") + "2020-1-5,x\n",
        {},
        "dates",
        12_002,
    ),
    "no such date": ("A\n2020-01-05\n2020-02-30\n", {}, "dates", 3),
    "empty first, then mixed": ("A,B\n" + ",x\n" * 12_000 + "1,x\n?,x\n", {}, "only", 12_003),
    "too large": ("A\n1\n98765432109876543210\n", {}, "64 bits", 3),
    "too large, late": (ROWS + "98765432109876543210,x\n", {}, "64 bits", 12_002),
    "commas as marks": ('A\n"98765,4321"\n"1,5"\n', {}, "--decimal ,", 2),
    "points as marks": (
        "A;B\n98765.4321;1\n1.5;1\n",
        {"separator": ";", "decimal": ","},
        "--decimal .",
        2,
    ),
    "one word among numbers": ("A\n" + "1\n" * 19 + f"{SECRET}\n", {}, "numbers only", 21),
    "many words for missing": ("A\n1\nNA\n2\nNA\n", {}, "leave the cell empty", 3),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_line_and_without_its_values(save, case):
    """Each malformed file gets a message with the place, and none holds a value."""
    content, text, expected, line = BAD[case]
    path = save(content)
    with pytest.raises(FileError) as caught:
        read_file(path, text=TextFormat(**text))
    message = str(caught.value)
    assert expected in message
    assert message.startswith(str(path))
    assert caught.value.remedy
    if line is not None:
        assert f", line {line}" in caught.value.place
        assert caught.value.place.removeprefix(f"{path}, line {line}")[:1] in ("", ",")
    shown = "".join(traceback.format_exception(caught.value))
    for value in (SECRET, NUMBER, "987", "98,7", "98.7", "02-30", "1e400", "polars.exceptions"):
        assert value not in message.replace(str(path), "")
        assert value not in shown.replace(str(path), "")


def test_what_is_no_file_is_refused(tmp_path, save):
    """A missing file, a folder, a file of another kind and an unreadable one are refused."""
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "table").write_text("A\n1\n2\n")
    for name, rule in (
        ("absent.csv", "must exist"),
        ("absent", "no such file"),
        ("folder.csv", "folder"),
        ("table.ods", ".parquet"),
        ("table", ".tsv"),
        ("a\0b.csv", "readable"),
    ):
        with pytest.raises(FileError, match=rule):
            read_file(tmp_path / name)
    locked = save("A\n1\n", "locked.csv")
    locked.chmod(0)
    if not os.access(locked, os.R_OK):
        with pytest.raises(FileError, match="for you"):
            read_file(locked)


@pytest.mark.parametrize(
    "text",
    [
        {"separator": ";;"},
        {"separator": "§"},
        {"separator": "a"},
        {"separator": '"'},
        {"separator": "\n"},
        {"separator": "-"},
        {"separator": "."},
        {"decimal": "'"},
        {"decimal": ","},
        {"encoding": "klingon"},
        {"encoding": "rot13"},
        {"encoding": "a\0b"},
        *(
            {"encoding": name}
            for name in ("idna", "punycode", "utf-7", "U7", "unicode_escape", "raw_unicode_escape")
        ),
        {"encoding": "charmap"},
        {"encoding": "undefined"},
    ],
)
def test_a_text_format_that_cannot_be_is_refused(text):
    """Separator, decimal mark and encoding are checked before a file is opened."""
    with pytest.raises(RequestError):
        TextFormat(**text)


# Types -------------------------------------------------------------------------------


def read(save, content, **options):
    return read_file(save(content), **options).frame


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["1", "-2", '""'], pl.Int64, [1, -2, None]),
        ([" 1", "2 ", " "], pl.Int64, [1, 2, None]),
        (['"1"', '""'], pl.Int64, [1, None]),
        (["1", "2.5", "1e3", "-.5E-1", "3."], pl.Float64, [1, 2.5, 1000, -0.05, 3]),
        (["9223372036854775807"], pl.Int64, [2**63 - 1]),
        (["true", "false", '""'], pl.Boolean, [True, False, None]),
        (["True", "False", '""'], pl.Boolean, [True, False, None]),
        (['"FALSE"', "TRUE"], pl.Boolean, [False, True]),
        (["False"], pl.Boolean, [False]),
        (["True", "FALSE"], pl.String, ["True", "FALSE"]),
        (["true", "False"], pl.String, ["true", "False"]),
        (["tRUE"], pl.String, ["tRUE"]),
        (["2020-02-29", '""'], pl.Date, [dt.date(2020, 2, 29), None]),
        (["2020-2-9"], pl.String, ["2020-2-9"]),
        (["00123", "98101"], pl.String, ["00123", "98101"]),
        (["+4912", "98101"], pl.String, ["+4912", "98101"]),
        ([" 007"], pl.String, [" 007"]),
        (["0", "0.5", "-0.5"], pl.Float64, [0, 0.5, -0.5]),
        (["x", '""', '"a ""b"", c"', " y "], pl.String, ["x", None, 'a "b", c', " y "]),
        (["12", "12a", "x"], pl.String, ["12", "12a", "x"]),
        (["NA", "null"], pl.String, ["NA", "null"]),
        (['"x\ny"', '"x\r\ny"'], pl.String, ["x\ny", "x\r\ny"]),
        (['""', '""'], pl.String, [None, None]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_types_are_read_off_the_values(save, cells, dtype, values, end):
    """Numbers, truth values, dates and text are told apart; empty cells are missing."""
    frame = read(save, end.join(["A", *cells, "", "", ""]))
    assert frame.schema == {"A": dtype}
    assert frame["A"].to_list() == values


def test_declared_decimals_are_decimal_even_where_all_look_whole(save):
    """Columns declared as decimal are Float64, also with a late fraction or a leading zero."""
    frame = read(save, ROWS + "2.5,x\n007,x\n", decimals=["A"])
    assert frame.schema == {"A": pl.Float64, "B": pl.String}
    assert frame["A"].to_list()[-2:] == [2.5, 7.0]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"])
def test_separators_and_encodings_are_read_when_said(save, separator, encoding):
    """Any separator and encoding is read and comes back in what is written."""
    text = TextFormat(separator=separator, encoding=encoding)
    content = f"NAME{separator}A\nJosé{separator}1\n"
    path = save(content.encode(encoding))
    source = read_file(path, text=text)
    assert source.frame.to_dict(as_series=False) == {"NAME": ["José"], "A": [1]}
    out = path.with_name("out.csv")
    write_data(source.frame, out, text=source.text)
    assert out.read_bytes() == path.read_bytes()


def test_one_column_with_a_comma_in_no_record_is_no_other_separator(save):
    """A header that another separator would cut is kept where the records are not cut."""
    assert read(save, "a|b\n1\n2\n").columns == ["a|b"]


def test_a_name_with_a_leading_zero_does_not_make_its_column_text(save):
    """Only values say that a column is text."""
    assert read(save, "01a,+2b\n1,2\n").dtypes == [pl.Int64, pl.Int64]


# Round trips -------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=8
)
texts = st.tuples(st.just("w"), words).map("".join)


@st.composite
def frames(draw):
    n = draw(st.integers(1, 12))
    kinds = {
        "i": (st.integers(-(2**63), 2**63 - 1), pl.Int64),
        "f": (finite, pl.Float64),
        "b": (st.booleans(), pl.Boolean),
        "d": (st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)), pl.Date),
        "s": (texts, pl.String),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=5, unique=True))
    columns = []
    for name in chosen:
        values, dtype = kinds[name]
        first = draw(values)  # a column without values has no type
        rest = draw(st.lists(st.none() | values, min_size=n - 1, max_size=n - 1))
        columns.append(pl.Series(name, [first, *rest], dtype=dtype))
    return pl.DataFrame(columns)


@given(
    frame=frames(),
    comma=st.booleans(),
    suffix=st.sampled_from(
        [end for form in FORMATS.values() if form.is_text for end in form.suffixes]
    ),
)
def test_what_is_written_as_text_is_read_as_it_was(tmp_path_factory, frame, comma, suffix):
    """Writing and reading a file of text, compressed or not, gives the same values and types."""
    text = TextFormat(separator=";", decimal=",") if comma else TextFormat()
    path = tmp_path_factory.mktemp("trip") / f"t{suffix}"
    digest = write_data(frame, path, text=text)
    source = read_file(path, text=text)
    assert source.frame.equals(frame)
    assert source.frame.schema == frame.schema
    assert digest == source.digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@given(frame=frames())
def test_what_is_written_with_its_types_is_read_as_it_was(tmp_path_factory, name, frame):
    """Writing and reading a typed file gives the same values and types."""
    path = tmp_path_factory.mktemp("trip") / f"t{FORMATS[name].suffixes[0]}"
    digest = write_data(frame, path, text=None)
    source = read_file(path)
    assert source.frame.equals(frame)
    assert source.frame.schema == frame.schema
    assert (source.format.name, source.text) == (name, None)
    assert digest == source.digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "encoding", ["big5hkscs", "iso2022_jp_2004", "euc_jis_2004", "hz", "cp037"]
)
def test_no_character_is_lost_that_an_encoding_holds_back(tmp_path, encoding):
    """Codecs that wait for the next character, or shift, give all of it at every batch's end."""
    values = [text for text in ("か", "か\u309a", "Ê", "中", "é") if encodes(text, encoding)]
    frame = pl.DataFrame({values[0]: values * 50_000})
    text = TextFormat(encoding=encoding)
    write_data(frame, tmp_path / "t.csv", text=text)
    assert read_file(tmp_path / "t.csv", text=text).frame.equals(frame)


def encodes(text, encoding):
    try:
        return bool(text.encode(encoding))
    except UnicodeError:
        return False


def everything_in(path):
    """Give the file's bytes and the schema that Arrow hides in them in base 64."""
    metadata = pq.read_metadata(path).metadata or {}
    return path.read_bytes() + base64.b64decode(metadata.get(b"ARROW:schema", b""))


@pytest.mark.parametrize(
    "marks",
    [
        {b"who": SECRET.encode()},
        {b"ARROW:extension:name": b"who", b"ARROW:extension:metadata": SECRET.encode()},
    ],
)
def test_no_metadata_survives(tmp_path, marks):
    """Metadata of file, schema, fields and extension types are neither kept nor written."""
    fields = [pa.field("A", pa.int64(), metadata=marks), pa.field("B", pa.string())]
    schema = pa.schema(fields, metadata={b"pandas": SECRET.encode()})
    table = pa.table([pa.array([1, 2]), pa.array(["x", "y"])], schema=schema)
    pq.write_table(table, tmp_path / "in.parquet")
    frame = read_file(tmp_path / "in.parquet").frame
    assert frame.schema == {"A": pl.Int64, "B": pl.String}
    write_data(frame, tmp_path / "out.parquet", text=None)
    write_data(pl.read_parquet(tmp_path / "in.parquet"), tmp_path / "raw.parquet", text=None)
    assert SECRET.encode() in everything_in(tmp_path / "in.parquet")
    assert set(pq.read_metadata(tmp_path / "out.parquet").metadata) <= {b"ARROW:schema"}
    assert SECRET.encode() not in everything_in(tmp_path / "out.parquet")
    assert SECRET.encode() not in everything_in(tmp_path / "raw.parquet")


def test_parquet_without_records_is_refused(tmp_path):
    """A Parquet file needs a record."""
    pl.DataFrame({"A": []}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match="none"):
        read_file(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("column", "text", "rule"),
    [
        ([f"{SECRET}€"], TextFormat(encoding="latin-1"), "encoding"),
        (["x"] * 100_000 + [f"{SECRET}€"], TextFormat(encoding="latin-1"), "encoding"),
        ([f"{SECRET}¥"], TextFormat(encoding="shift_jis"), "encoding"),
        ([[SECRET]], TextFormat(), "columns must hold"),
        ([SECRET.encode()], TextFormat(), "columns must hold"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, column, text, rule):
    """A table that CSV or the encoding cannot hold is refused by column, without a trace."""
    frame = pl.DataFrame({"OK": ["y"] * len(column), "A": column})
    with pytest.raises(FileError, match=rule) as caught:
        write_data(frame, tmp_path / "t.csv", text=text)
    assert caught.value.place == f"{tmp_path / 't.csv'}, column 'A'"
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_not_overwritten(save):
    """Writing needs a new name, and an existing folder around it."""
    path = save("A\n1\n")
    for target, rule in ((path, "must not exist"), (Path(path.parent, "x", "y.csv"), "writable")):
        with pytest.raises(FileError, match=rule):
            write_data(pl.DataFrame({"A": [1]}), target, text=TextFormat())
    assert path.read_text() == "A\n1\n"


NUMBERS = "39| 39|1.5|-1,5|2020-01-01|1e3|00123|12/05/1980|+49 123 4567|$12|12:30|50%|1 200"


@pytest.mark.parametrize("first", [*NUMBERS.split("|"), "#", "?", "2020", "٤٢", "_", "€ 5"])
def test_a_file_without_a_header_is_refused_before_a_record_becomes_names(save, first):
    """Else the first person's values would be shown in errors and in the guarantee."""
    path = save(f'White,"{first}",SECRET77\n' * 20)
    with pytest.raises(FileError, match=r"line 1: .*column 2 has a number or signs") as caught:
        read_file(path)
    assert first.strip() not in str(caught.value).replace(str(path), "")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    "asked", [{"attributes": ["AGE"]}, {"keep": ["AGE"]}, {"bounds": {"AGE": (0, 1)}}]
)
def test_a_column_that_is_not_there_shows_none_that_is(save, asked):
    """In a file without a header the names are a person's values: they are counted, not listed."""
    frame = read(save, "Smith,nurse,widowed\n" * 5)
    with pytest.raises(RequestError, match="its 3 columns") as caught:
        mv.protect(frame, method="mdav", k=2, **asked)
    with pytest.raises(RequestError, match="its 3 columns") as other:
        mv.assess(frame, frame, ["AGE"])
    with pytest.raises(RequestError, match="check its spelling") as third:
        mv.attack(frame, frame, known=["AGE"])
    for error in (caught, other, third):
        assert not any(word in str(error.value) for word in ("Smith", "nurse", "widowed"))


def test_columns_of_one_name_are_numbered_in_frames_too():
    """Neither a file nor a frame read from one without a header shows what stands twice there."""
    for table in (
        pd.DataFrame([[1, 2, 3]] * 2, columns=["A", SECRET, SECRET]),
        pa.table([[1, 2]] * 3, names=["A", SECRET, SECRET]),
    ):
        with pytest.raises(DataError, match="columns 2 and 3") as caught:
            mv.protect(table, method="mdav", k=2)
        assert SECRET not in str(caught.value)

"""What holds of every format that is registered, and of those that differ from the others."""

import gzip
import io
import random
import sys
import traceback
from itertools import product

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyreadstat
import pytest

import microveil as mv
from command import run
from microveil.commands import files
from microveil.commands.files import protect_file
from microveil.commands.measuring import assess_files
from microveil.files import FORMATS, compression, format_of, written_formats
from microveil.files.reading import read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.table import Labels, memory
from sas_files import write_sas7bdat, write_xpt

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SECRET = "SECRET77"
NUMBER = 1234605616436508552
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
TABLE = pl.DataFrame(
    {"AGE": range(20, 60), "NAME": [SECRET, "x", None, "é,\t;"] * 10, "SHARE": [0.5, NUMBER] * 20}
)


def held(name):
    """Return the table as a format holds it: Excel's decimal numbers have 16 digits."""
    if name != "xlsx":
        return TABLE
    return TABLE.with_columns(SHARE=pl.Series([float(f"{x:.16g}") for x in TABLE["SHARE"]]))


def save(folder, name, frame=TABLE, suffix=None):
    """Write a table as files of a format are named."""
    path = folder / f"people{suffix or FORMATS[name].suffixes[0]}"
    if name == "sas":
        write = write_xpt if path.suffix == ".xpt" else write_sas7bdat
        write(frame, path, formats={"AGE": "F8"})
        return path
    separator = FORMATS[name].separator
    text = None if separator is None else TextFormat(separator=separator)
    write_data(frame, path, text=text)
    return path


@pytest.mark.parametrize("name", written_formats())
def test_a_release_comes_as_the_input_was_and_is_known_by_its_name(tmp_path, name, monkeypatch):
    """Whatever the format: its file's name, its guarantee beside it, overwritten when said."""
    monkeypatch.setattr(files, "REPORTED_RECORDS", 0)  # the page hangs on no format
    people = save(tmp_path, name)
    release = protect_file(people, tmp_path / "out", **ASKED, keep=["NAME"])
    written = tmp_path / "out" / f"data{FORMATS[name].suffixes[0]}"
    assert read_file(written).format.name == name
    assert read_file(written).frame.equals(release.data)
    assert assess_files(people, written, ["AGE"], text=None).guarantee == release.guarantee
    protect_file(people, tmp_path / "out", **ASKED, overwrite=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The table as a file of each format."""
    folder = tmp_path_factory.mktemp("saved")
    return {name: save(folder, name).read_bytes() for name in FORMATS}


@pytest.mark.parametrize("suffix", [end for form in FORMATS.values() for end in form.suffixes])
def test_every_suffix_leads_to_its_format(tmp_path, suffix):
    """In capitals and with two parts too."""
    name = format_of(tmp_path / f"t{suffix}").name
    path = tmp_path / f"PEOPLE.2020{suffix.upper()}"
    path.write_bytes(save(tmp_path, name, suffix=suffix).read_bytes())
    assert read_file(path).frame.equals(held(name))


@pytest.mark.parametrize("name", written_formats())
def test_a_release_of_any_format_comes_from_the_command_line(tmp_path, name):
    """`--format` takes every name, and what is written is read again."""
    save(tmp_path, "csv")
    done = run(
        "protect", "people.csv", "--method=dp-um", "--k=5", "--epsilon=1", "--attributes=AGE",
        "--bounds=AGE=0:99", "--keep=NAME", "--format", name, "-o", "out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = read_file(tmp_path / "out" / f"data{FORMATS[name].suffixes[0]}").frame
    assert again["NAME"].equals(TABLE["NAME"])


@pytest.mark.parametrize(
    ("name", "separator"),
    [("tsv", "\t"), ("tsv.gz", "\t"), ("tsv.zst", "\t"), ("csv", ";"), ("csv.gz", ";")],
)
def test_where_commas_are_decimal_marks_the_format_says_what_separates(tmp_path, name, separator):
    """Tabs in TSV, semicolons in CSV; an encoding changes nothing of it."""
    said = TextFormat(separator=separator, decimal=",", encoding="latin-1")
    frame = TABLE.with_columns(NAME=pl.lit("é"))
    write_data(frame, tmp_path / f"people.{name}", text=said)
    read = mv.read(tmp_path / f"people.{name}", decimal=",", encoding="latin-1").frame
    assert read.equals(frame)
    done = run("inspect", f"people.{name}", "--decimal", ",", "--encoding", "latin-1",
        folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'type = "decimal"' in done.stdout
    with pytest.raises(mv.RequestError, match="must differ"):
        mv.read(tmp_path / f"people.{name}", separator=",", decimal=",")


# What is hidden ----------------------------------------------------------------------


def test_text_changes_its_separator_with_its_format(tmp_path):
    """Encoding and decimal mark stay; a comma that is the decimal mark separates nothing."""
    text = TextFormat(separator="\t", decimal=",", encoding="utf-16")
    write_data(TABLE, tmp_path / "people.tsv", text=text)
    for name, separator in (("tsv", "\t"), ("tsv.gz", "\t"), ("csv", ";")):
        out = tmp_path / name
        protect_file(tmp_path / "people.tsv", out, text=text, format=name, keep=["SHARE"], **ASKED)
        said = TextFormat(separator=separator, decimal=",", encoding="utf-16")
        again = read_file(out / f"data.{name}", text=said).frame
        assert again["SHARE"].dtype == pl.Float64
    semicolons = TextFormat(separator=";")
    write_data(TABLE, tmp_path / "people.csv", text=semicolons)
    people = tmp_path / "people.csv"
    protect_file(people, tmp_path / "a", text=semicolons, format="csv.gz", **ASKED)
    assert gzip.decompress((tmp_path / "a" / "data.csv.gz").read_bytes()).startswith(b"AGE\n")


def test_nothing_of_a_missing_cell_is_written_as_arrow(tmp_path):
    """The memory of a cell that became missing is cleared; a column of text and one of numbers."""
    frame = pl.DataFrame({"N": [NUMBER, 5, 7], "S": [SECRET * 3, "b", "c"]})
    missing = frame.with_columns(pl.when(pl.Series([False, True, True])).then(pl.all()))
    raw = io.BytesIO()
    missing.write_ipc(raw)
    hidden = NUMBER.to_bytes(8, "little")
    assert hidden in raw.getvalue()  # what writes it by itself keeps it
    written = save(tmp_path, "arrow", missing).read_bytes()
    assert hidden not in written
    assert SECRET.encode() not in written
    assert read_file(tmp_path / "people.arrow").frame.equals(missing)


@pytest.mark.parametrize("dtype", [pl.Enum(["y", SECRET, "x"]), pl.Categorical()])
def test_categories_of_nobody_are_not_written_as_arrow(tmp_path, dtype):
    """Neither those that a type lists nor those of records that went."""
    frame = pl.Series("A", [SECRET, "y", None, "x"], dtype=dtype).to_frame().slice(1)
    assert SECRET.encode() not in save(tmp_path, "arrow", frame).read_bytes()
    assert read_file(tmp_path / "people.arrow").frame["A"].to_list() == ["y", None, "x"]


def test_no_metadata_comes_through_arrow(tmp_path):
    """Of file and columns: neither kept nor written."""
    marks = {b"who": SECRET.encode()}
    schema = pa.schema([pa.field("A", pa.int64(), metadata=marks)], metadata=marks)
    table = pa.table([pa.array([1, 2])], schema=schema)
    with pa.ipc.new_file(tmp_path / "in.arrow", schema) as file:
        file.write_table(table)
    frame = read_file(tmp_path / "in.arrow").frame
    assert SECRET.encode() in (tmp_path / "in.arrow").read_bytes()
    assert SECRET.encode() not in save(tmp_path, "arrow", frame).read_bytes()


@pytest.mark.parametrize("packing", ["uncompressed", "lz4", "zstd"])
def test_arrow_is_read_as_file_as_stream_and_as_feather(tmp_path, packing):
    """Of another library too, compressed or not."""
    table = TABLE.to_arrow()
    path = tmp_path / "t.feather"
    pyarrow.feather.write_feather(table, str(path), compression=packing)
    assert read_file(path).frame.equals(TABLE)
    how = pa.ipc.IpcWriteOptions(compression=None if packing == "uncompressed" else packing)
    with pa.ipc.new_stream(path, table.schema, options=how) as stream:
        stream.write_table(table)
    assert read_file(path).frame.equals(TABLE)


# Compressed --------------------------------------------------------------------------


def test_a_compressed_file_says_neither_its_name_nor_its_time(tmp_path):
    """Its header is that of no particular file, so that equal tables give equal bytes."""
    raw = save(tmp_path, "csv.gz").read_bytes()
    assert raw[:8] == b"\x1f\x8b\x08\0\0\0\0\0"
    assert gzip.decompress(raw) == save(tmp_path, "csv").read_bytes()


PACK = {".gz": gzip.compress, ".zst": zstd.compress}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("step", [1, 7, 1 << 22])
def test_a_file_packed_in_several_parts_is_read_whole(tmp_path, monkeypatch, step, suffix):
    """As programs that append write it, and of gzip with the zeros of a tape behind it."""
    monkeypatch.setattr(compression, "_STEP", step)
    plain = save(tmp_path, "csv").read_bytes()
    packed = b"".join(PACK[suffix](part) for part in (plain[:100], b"", plain[100:]))
    for end in (b"", bytes(600))[: 2 if suffix == ".gz" else 1]:
        (tmp_path / f"t.csv{suffix}").write_bytes(packed + end)
        assert read_file(tmp_path / f"t.csv{suffix}").frame.equals(TABLE)


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_unpacks_beyond_memory_is_refused(tmp_path, monkeypatch, suffix):
    """Before it fills it: what is unpacked is counted on the way."""
    bomb = tmp_path / f"t.csv{suffix}"
    bomb.write_bytes(PACK[suffix](b"A\n" + b"1\n" * 20_000_000))
    monkeypatch.setattr(memory, "free_memory", lambda: 20_000_000)
    taken, parts = [], compression._parts
    monkeypatch.setattr(
        compression, "_parts", lambda *of: (taken.append(len(p)) or p for p in parts(*of))
    )
    with pytest.raises(mv.FileError, match="more than 10 MB"):
        read_file(bomb)
    assert 10_000_000 < sum(taken) < 20_000_000


def test_an_extra_that_is_not_installed_is_named(tmp_path, monkeypatch):
    """With the command that installs it, reading and writing; other formats work without it."""
    raw = save(tmp_path, "csv.zst").read_bytes()
    for module in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(mv.FileError, match=r"not installed; .*pip install 'microveil\[files\]'"):
        read_file(tmp_path / "people.csv.zst")
    (tmp_path / "people.csv.zst").unlink()
    with pytest.raises(mv.FileError, match=r"pip install 'microveil\[files\]'"):
        save(tmp_path, "csv.zst")
    assert not (tmp_path / "people.csv.zst").exists()
    assert raw
    assert save(tmp_path, "csv.gz").exists()


# Broken ------------------------------------------------------------------------------


def broken(raw, rng):
    """Cut a file, or put other bytes into it."""
    if rng.random() < 0.4:
        return raw[: rng.randrange(len(raw))]
    spoiled = bytearray(raw)
    for _ in range(rng.choice([1, 5, 40])):
        spoiled[rng.randrange(len(raw))] = rng.choice([0, 255, rng.randrange(256)])
    return bytes(spoiled)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [(name, form.suffixes[0]) for name, form in FORMATS.items()] + [("sas", ".xpt")],
)
@pytest.mark.parametrize("n_broken", [15, pytest.param(100, marks=pytest.mark.slow)])
def test_broken_files_are_read_or_refused_in_our_words(tmp_path, name, suffix, n_broken, capfd):
    """Cut or spoiled anywhere: an error of ours without a value, or a table."""
    rng = random.Random(name)
    whole = save(tmp_path, name, suffix=suffix)
    path = whole.with_name(f"broken{suffix}")
    refused = 0
    for _ in range(n_broken):
        path.write_bytes(broken(whole.read_bytes(), rng))
        try:
            read_file(path)
        except mv.FileError as error:
            refused += 1
            shown = "".join(traceback.format_exception(error))
            assert SECRET not in shown
            assert str(NUMBER) not in shown
    assert SECRET not in capfd.readouterr().err  # where a library's threads complain
    assert refused > n_broken // 5  # plain text may hold other values and be a table still


MIXED = {"A": [*range(30), 0.5], "B": ["x"] * 31, "C": [*range(30), 7.5]}


@pytest.mark.parametrize("name", ["csv", "xlsx", "sav", "dta", "sas"])
def test_every_column_that_does_not_fit_is_named_at_once(tmp_path, name):
    """By its number and the line or record, each with its remedy, and without its values."""
    path = tmp_path / f"t{FORMATS[name].suffixes[0]}"
    if name in ("csv", "xlsx"):
        words = pl.DataFrame({key: [str(cell) for cell in cells] for key, cells in MIXED.items()})
        write_data(words.with_columns(A=pl.lit("1"), C=pl.lit("2")).vstack(
            pl.DataFrame([[SECRET, "x", SECRET]], schema=words.schema, orient="row")
        ), path, text=None)  # fmt: skip
    elif name == "sas":
        write_sas7bdat(pl.DataFrame(MIXED, strict=False), path, formats={"A": "F8", "C": "F8"})
    else:
        write = pyreadstat.write_sav if name == "sav" else pyreadstat.write_dta
        shown = dict.fromkeys("AC", "F8.0" if name == "sav" else "%9.0f")
        write(pl.DataFrame(MIXED, strict=False), str(path), variable_format=shown)
    with pytest.raises(mv.FileError) as caught:
        read_file(path, of_one_kind=lambda _name: True)
    places = [problem.place.removeprefix(f"{path}, ") for problem in caught.value.problems]
    at = {"csv": "line 33", "xlsx": "line 33"}.get(name, "record 31")
    assert places == [f"{at}, column 1", f"{at}, column 3"]
    assert str(caught.value).count("; ") >= 2
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["xlsx", "sav", "dta", "sqlite"])
def test_every_column_that_a_format_cannot_hold_is_named_at_once(tmp_path, name):
    """Before anything is written, each by its name and with its remedy."""
    never = pl.Series([2**64 - 1, 1], dtype=pl.UInt64)
    frame = pl.DataFrame({"A": never, "B": [1, 2], "C": pl.Series([20_000_000] * 2).cast(pl.Date)})
    path = tmp_path / f"t{FORMATS[name].suffixes[0]}"
    with pytest.raises(mv.FileError) as caught:
        write_data(frame, path, text=None)
    places = [problem.place for problem in caught.value.problems]
    assert places == [f"{path}, column 'A'", f"{path}, column 'C'"]
    assert not path.exists()


@pytest.mark.parametrize("name", ["sav", "dta"])
def test_names_that_differ_in_capitals_alone_are_refused(tmp_path, name):
    """SPSS and Stata, or programs that read their files, take such columns for one."""
    frame = pl.DataFrame({"Age": [1, 2], "AGE": [3, 4]})
    with pytest.raises(mv.FileError, match=r"column 'AGE': a column's name .* but for capitals"):
        write_data(frame, tmp_path / f"t.{name}", text=None)


@pytest.mark.parametrize(
    ("name", "labels", "is_whole", "is_cut"),
    [
        ("sav", Labels(column="x" * 257), False, True),
        ("sav", Labels(column="x", codes={1: "one"}, missing_codes=(2,)), True, False),
        ("dta", Labels(column="x" * 81), False, True),
        ("dta", Labels(missing_codes=(2,)), False, False),
        ("dta", Labels(codes={"a": "text"}), False, False),
        ("dta", Labels(codes={1: "one", 2**31: "large"}), False, True),
        ("csv", Labels(column="x"), False, False),
        ("csv", Labels(), True, False),
    ],
)
def test_a_format_says_which_labels_its_files_hold(name, labels, is_whole, is_cut):
    """Whole or not decides on schema.json; a note names what has a place and is cut."""
    carries = FORMATS[name].carries
    assert (carries.kept(labels) == labels) is is_whole
    assert carries.loses(labels) is is_cut


# Each format under three other names, and nothing and zeros under each.
@pytest.mark.parametrize(
    ("name", "other"),
    [(name, (*FORMATS,)[(at + step) % len(FORMATS)]) for at, name in enumerate(FORMATS)
     for step in (0, 1, 3, 7)] + list(product(FORMATS, ["nothing", "zeros"])),
)  # fmt: skip
def test_a_file_of_another_kind_is_refused(tmp_path, saved, name, other):
    """A file under the name of another format gives an error of ours without a value."""
    raw = {**saved, "nothing": b"", "zeros": bytes(999)}[other]
    path = tmp_path / f"other{FORMATS[name].suffixes[0]}"
    path.write_bytes(raw)
    if other == name or {other, name} == {"sav", "zsav"}:  # one library reads both
        assert read_file(path).frame.equals(held(name))
        return
    with pytest.raises(mv.FileError) as caught:
        read_file(path)
    assert caught.value.remedy
    assert SECRET not in "".join(traceback.format_exception(caught.value))

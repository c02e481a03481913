"""The engine on the disk: what it computes, and what it leaves behind, is as the one in memory."""

import errno
import hashlib
import json
import mmap
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow
import pytest
from pyarrow import parquet

import microveil as mv
from command import run
from microveil.commands import engines
from microveil.commands.engines import engine_for, to_link
from microveil.commands.files import protect_file
from microveil.engines import disk
from microveil.engines.disk import DiskEngine
from microveil.engines.local import LocalEngine
from microveil.files import csv_format, parquet_format, parquet_pieces, structure
from microveil.files.digest import DigestBeside
from microveil.files.reading import open_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.noise import exponential
from microveil.partition import distribution_sort
from microveil.release.settling import plan_settled, settle_asked
from microveil.schema import Kind
from microveil.table import Numbers, keeping, open_table, pages
from microveil.table import scratch as module
from microveil.table.extents import Extent, Extents
from microveil.table.frame_table import FrameTable
from microveil.table.rounding import RoundedAnew
from microveil.table.scratch import Scratch

K = 3
BOUNDS = {"AGE": (0, 120), "PAY": (0, 100_000), "GAP": (0, 60)}
METHODS = [
    ("dp-um", {}),
    ("idp-ls", {}),
    ("idp-cbls", {"exact_cells": "widen"}),
    ("idp-vector", {}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("record-dp", {"partition": "optimal"}),
    ("ranking", {}),
    ("laplace", {"shuffle": "columns"}),
    ("dp-um", {"shuffle": True}),
    ("k-noise", {}),
    ("k-pram", {}),
    ("mdav", {}),
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Arrays of a few records go to the disk, and a file of text comes in many pieces."""
    monkeypatch.setattr(module, "SMALL", 8)
    monkeypatch.setattr(csv_format, "_PIECE", 7)
    monkeypatch.setattr(parquet_format, "LARGE", 100)
    monkeypatch.setattr(sys.modules["microveil.methods.base"], "FEW_RECORDS", 0)


def people(n_records, *, alike=False):
    """A table with ties, missing values, text, dates and yes/no."""
    random = np.random.default_rng(n_records)
    ages = np.full(n_records, 40) if alike else random.integers(18, 90, n_records)
    return pl.DataFrame(
        {
            "ID": [f"p{number}" for number in range(n_records)],
            "AGE": ages,
            "PAY": np.round(random.lognormal(8, 1, n_records), 2).clip(0, 90_000),
            "GAP": [None if number % 7 == 0 else number % 50 for number in range(n_records)],
            "SEX": random.choice(["f", "m"], n_records),
            "BORN": pl.Series(random.integers(0, 9000, n_records)).cast(pl.Int32).cast(pl.Date),
            "WED": random.integers(0, 2, n_records) > 0,
        }
    )


def asked(method, **more):
    return {"method": method, "k": K, "epsilon": 5, "seed": 3, "attributes": [*BOUNDS],
            "bounds": BOUNDS, "resolution": {"PAY": 0.01}, "missing": "keep",
            "exact_cells": "allow", "keep": ["WED"], **more}  # fmt: skip


def both(table, **request):
    """The release by the engine in memory, and by the one on the disk."""
    return mv.protect(table, **request), mv.protect(table, engine="disk", **request)


def said(release):
    """A manifest without the moment and the engine."""
    contents = {**release.manifest.to_dict()}
    del contents["created"]
    parameters = {**contents["parameters"]}
    for name in ("engine", "memory", "scratch"):
        del parameters[name]
    return {**contents, "parameters": parameters}


def same(one, other):
    assert one.data.equals(other.data)
    assert one.data.schema == other.data.schema
    assert one.guarantee == other.guarantee
    assert said(one) == said(other)


@pytest.mark.parametrize(("method", "more"), METHODS)
def test_releases_guarantees_and_manifests_are_equal(method, more):
    """Under one seed to the last cell, with ties and missing values."""
    keep = {"keep": ()} if more.get("shuffle") == "columns" else {}
    same(*both(people(200), **asked(method, **{**more, **keep})))


def test_categories_units_parts_and_new_tables_are_released_alike():
    """Whatever the request: matrices, copies in a unit, two methods, noisy counts."""
    table = people(300).with_columns(HOME=pl.int_range(300) // 2)
    lists = {"SEX": ["f", "m"]}
    unit = {"unit": "HOME", "max_rows": 2, "unit_attributes": ["SEX"], "seed": 1}
    same(*both(table, method="pram", epsilon=2, attributes=["SEX"], categories=lists, **unit))
    parts = [
        mv.part("AGE", method="dp-um", k=5, epsilon=2),
        mv.part("SEX", method="pram", epsilon=2),
    ]
    same(*both(table, parts=parts, bounds={"AGE": (0, 120)}, categories=lists, seed=1))
    new = {"method": "dp-synthetic", "epsilon": 9, "missing": "protect", "seed": 1,
           "attributes": ["AGE", "GAP", "SEX"], "categories": lists,
           "bounds": {name: BOUNDS[name] for name in ("AGE", "GAP")}}  # fmt: skip
    same(*both(table, **new))


@pytest.mark.parametrize("kind", ["pandas", "arrow", "arrays"])
def test_other_frames_come_back_as_they_were(kind):
    """The kind of frame has no influence."""
    table = people(60)
    frames = {
        "pandas": table.to_pandas(),
        "arrow": table.to_arrow(),
        "arrays": {name: table[name].to_numpy() for name in ("AGE", "PAY")},
    }
    bounds = {name: BOUNDS[name] for name in ("AGE", "PAY")}
    request = asked("dp-um", attributes=["AGE", "PAY"], keep=(), bounds=bounds, isotonic=True)
    one, other = both(frames[kind], **request)
    assert type(one.data) is type(other.data)
    assert pl.DataFrame(one.data).equals(pl.DataFrame(other.data))


@pytest.mark.parametrize("method", ["dp-um", "k-pram", "laplace"])
def test_what_is_needed_later_is_on_the_disk(method):
    """Of a plan no array is in memory, but those that are one number."""
    engine = DiskEngine()
    settled = settle_asked(people(200), asked(method), engine)
    planned = plan_settled(settled, engine)
    found = [array for part in planned.attributes for array in arrays_of(part)]
    assert len(found) > 3
    assert all(0 in array.strides or engine.scratch.has(array) for array in found)
    in_memory = mv.plan(people(200), **asked(method)).attributes
    assert not any(engine.scratch.has(a) for part in in_memory for a in arrays_of(part))


def noted(call, calls):
    """A function that notes in a list each time it is called."""
    return lambda *given, **named: calls.append(1) or call(*given, **named)


def arrays_of(value):
    """All arrays that a plan holds, and those of what it holds."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays_of(getattr(value, field.name))


# Files.


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(("method", "more"), METHODS)
def test_columns_that_are_rounded_anew_are_released_alike(
    method, more, in_parts, tmp_path, monkeypatch
):
    """Columns of a file that are not written to the disk twice: the same release and manifest."""
    path = tmp_path / "people.parquet"
    people(200).write_parquet(path)
    keep = {"keep": ()} if more.get("shuffle") == "columns" else {}
    request = asked(method, linkage=False, **{**more, **keep})
    if in_parts:
        monkeypatch.setattr(keeping, "PIECE", 60)
    memory = protect_file(path, tmp_path / "memory", **request)
    monkeypatch.setattr(DiskEngine, "holds_plans", lambda *_: False)
    looks = []
    for look in ("__getitem__", "__array__"):
        counted = noted(getattr(RoundedAnew, look), looks)
        monkeypatch.setattr(RoundedAnew, look, counted)
    if in_parts:
        monkeypatch.setattr(distribution_sort, "AT_ONCE", 60)
        monkeypatch.setattr(disk, "LOOKED_AT", 1 << 50)
        monkeypatch.setattr(disk, "IN_PARTS", 0)
        if method == "mdav" or {"partition", "exact_cells"} & {*more}:
            with pytest.raises(mv.MicroveilError):
                protect_file(path, tmp_path / "disk", engine="disk", memory="450MB", **request)
            return
    found = protect_file(path, tmp_path / "disk", engine="disk", memory="450MB", **request)
    assert memory.data.equals(found.data)
    assert memory.data.schema == found.data.schema
    assert memory.guarantee == found.guarantee
    one, other = said(memory), said(found)
    # Of what is added up for each record the order, and so the last digit, is another in parts.
    errors = zip(
        one.pop("expected_error").values(), other.pop("expected_error").values(), strict=True
    )
    assert all(before == pytest.approx(after, rel=1e-12) for before, after in errors)
    assert one == other
    assert looks or method == "mdav"


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_files_are_read_and_written_alike(suffix, tmp_path):
    """Column by column, piece by piece, to the last type; the manifest names the same digest."""
    path = tmp_path / f"people{suffix}"
    table = people(50)
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    request = asked("dp-um", linkage=False)
    whole = protect_file(path, tmp_path / "whole", **request)
    pieces = protect_file(path, tmp_path / "pieces", engine="disk", **request)
    assert whole.data.equals(pieces.data)
    assert whole.data.schema == pieces.data.schema
    assert whole.manifest.to_dict()["input"] == pieces.manifest.to_dict()["input"]
    if suffix == ".csv":
        written = [(tmp_path / name / "data.csv").read_bytes() for name in ("whole", "pieces")]
        assert written[0] == written[1]
    assert sorted(os.listdir(tmp_path)) == [
        path.name, "pieces", "pieces-custodian", "whole", "whole-custodian",
    ]  # fmt: skip


AWKWARD = {
    "quotes and breaks": 'A,B\n1,"x, ""y"""\n2,"two\nlines"\n3,\n' * 1 + "4,z\n" * 20,
    "late decimals": "A,B\n" + "1,2\n" * 30 + "1,2.5\n",
    "codes": "A,B\n" + "007,1\n" * 9 + "008,2\n" * 9,
    "empty first": "A,B\n" + ",1\n" * 20 + "5,1\n" * 9,
    "dates": "A,B\n" + "2020-01-31,yes\n" * 30,
    "words": "A,B\n" + "1,é\n" * 20 + "2,ü\n" * 3,
    "one column": "A\n" + "1\n" * 20,
    "nan": "A,B\n" + "1.5,nan\n" * 20,
    "return": "A,B\r\n" + "1,2\r\n" * 20,
}


@pytest.mark.parametrize("name", AWKWARD)
def test_text_in_pieces_is_the_text_as_a_whole(name, tmp_path):
    """Quotes, line breaks in them, types that show late: the same table, or the same refusal."""
    path = tmp_path / "t.csv"
    path.write_bytes(AWKWARD[name].encode())
    found = []
    for scratch in (None, Scratch(tmp_path)):
        try:
            found.append(open_file(path, scratch=scratch).read().frame)
        except mv.FileError as error:
            found.append(str(error))
    assert type(found[0]) is type(found[1])
    assert found[0] == found[1] if isinstance(found[0], str) else found[0].equals(found[1])


def test_pieces_begin_and_end_with_records(tmp_path):
    """Whatever is in quotes; together they are the file."""
    data = b'A,B\n1,"x\n\n,"\n2,"""\n"\n3,y\n'
    text = csv_format.TextFormat()
    found = structure.check_structure(tmp_path, data, text)
    for size in (1, 2, 3, 4):
        pieces = list(found.pieces(data, text, size))
        assert b"".join(data[piece] for piece in pieces) == data[4:]
        assert len(pieces) == -(-3 // size)


@pytest.mark.parametrize("suffix", [".xlsx", ".arrow", ".csv.gz"])
def test_formats_that_are_read_whole_are_refused(suffix, tmp_path):
    """By name, with what would do."""
    (tmp_path / f"people{suffix}").write_bytes(b"x")
    with pytest.raises(
        mv.FileError, match="can be read piece by piece; export the table as Parquet"
    ):
        protect_file(tmp_path / f"people{suffix}", tmp_path / "r", **asked("dp-um"), engine="disk")


@pytest.mark.parametrize("change", ["removed", "changed"])
def test_a_file_that_changes_while_it_is_read_is_refused(change, tmp_path, monkeypatch):
    """And nothing is written."""
    path = tmp_path / "people.parquet"
    people(50).write_parquet(path)
    kept = Scratch.column

    def column(self, given):
        if given.name == "PAY":
            path.unlink()
            if change == "changed":
                people(51).write_parquet(path)
        return kept(self, given)

    monkeypatch.setattr(Scratch, "column", column)
    with pytest.raises(mv.FileError, match="must stay as it is while it is read"):
        protect_file(path, tmp_path / "release", **asked("dp-um"), engine="disk")
    assert not [name for name in os.listdir(tmp_path) if "release" in name]


# Advice.


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("choice", [{}, {"k": "auto"}, {"method": "auto", "scope": "vector"}])
def test_advice_is_that_of_the_engine_in_memory(choice, holds, monkeypatch):
    """Whether memory holds what is weighed or not: the same options, errors and choice."""
    if not holds:
        monkeypatch.setattr(disk, "A_WEIGHED_VALUE", 1 << 40)
    table = people(120)
    request = {**asked("idp-vector"), **choice}
    del request["seed"]
    found = [mv.advise(table, **request, **engine) for engine in ({}, {"engine": "disk"})]
    assert found[0].options
    assert found[0] == found[1]


@pytest.mark.parametrize("mark", [True, False])
def test_text_with_a_byte_order_mark_is_read_in_pieces_as_whole(tmp_path, monkeypatch, mark):
    """As spreadsheets write it; errors name the same line, and the file's digest is one."""
    monkeypatch.setattr(csv_format, "_PIECE", 20)
    path, written = tmp_path / "people.csv", people(200).select("AGE", "PAY").write_csv()
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + written.encode())
    text = TextFormat(encoding="utf-8-sig")
    request = asked("dp-um", attributes=["AGE"], keep=["PAY"], bounds={"AGE": (0, 120)})
    made = {}
    for engine in ("memory", "disk"):
        release = protect_file(path, tmp_path / engine, **request, engine=engine, text=text)
        made[engine] = (tmp_path / engine / "data.csv").read_bytes()
        assert (
            release.manifest.to_dict()["input"]["sha256"]
            == hashlib.sha256(path.read_bytes()).hexdigest()
        )
    assert made["disk"] == made["memory"]
    path.write_bytes(path.read_bytes() + b"1,2,3\n")
    for engine in ("memory", "disk"):
        with pytest.raises(mv.FileError, match="line 202"):
            protect_file(path, tmp_path / "r", **request, engine=engine, text=text)


CUT = """
import os, sys
from pathlib import Path

from microveil.cli import main
from microveil.files import csv_format

csv_format._PIECE, parse = 700, csv_format._Opened._parse_records

def parsed(self, data, header, schema):
    os.truncate(self.path, 1000)
    return parse(self, data, header, schema)

csv_format._Opened._parse_records = parsed
sys.argv[0] = "microveil"
main()
"""


def test_text_that_is_cut_short_while_it_is_read_ends_no_process(tmp_path):
    """The command says that the file must stay as it is, and leaves nothing behind."""
    path, scratch = tmp_path / "people.csv", tmp_path / "scratch"
    scratch.mkdir()
    pl.DataFrame({"A": np.arange(50_000)}).write_csv(path)
    request = ["--method", "dp-um", "--k", "10", "--epsilon", "1", "--bounds", "A=0:50000"]
    request += ["--attributes", "A", "--engine", "disk", "--scratch", str(scratch)]
    found = subprocess.run(
        [sys.executable, "-c", CUT, "protect", str(path), *request, "-o", str(tmp_path / "o")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2, found.stderr
    assert "the file must stay as it is while it is read" in found.stderr
    assert "Traceback" not in found.stderr
    assert sorted(os.listdir(tmp_path)) == ["people.csv", "scratch"]
    assert not os.listdir(scratch)


@pytest.mark.parametrize("piece", [1, 2])
def test_text_that_is_cut_short_between_two_pieces_is_refused(piece, tmp_path, monkeypatch):
    """Whichever piece it was: the error is about the change, and nothing is written."""
    path, seen = tmp_path / "people.csv", []
    people(2000).write_csv(path)
    parse = csv_format._Opened._parse_records

    def parsed(self, data, header, schema):
        seen.append(header)
        if len(seen) == piece:
            os.truncate(path, 5000)
        return parse(self, data, header, schema)

    monkeypatch.setattr(csv_format, "_PIECE", 300)
    monkeypatch.setattr(csv_format._Opened, "_parse_records", parsed)
    with pytest.raises(mv.FileError, match="must stay as it is while it is read"):
        protect_file(path, tmp_path / "release", **asked("dp-um"), engine="disk")
    assert os.listdir(tmp_path) == ["people.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ""])
def test_a_digest_is_of_the_file_that_was_read(suffix, tmp_path):
    """One that is written anew after its table is read, and its digest made, is refused."""
    path = tmp_path / f"people{suffix}"
    if not suffix:
        path.mkdir()
    file = path if suffix else path / "1.parquet"
    people(50).write_csv(file) if suffix == ".csv" else people(50).write_parquet(file)
    opened = open_file(path, scratch=Scratch(tmp_path))
    read = opened._table.read

    def changed(*rest):
        frame = read(*rest)
        people(60).write_csv(file) if suffix == ".csv" else people(60).write_parquet(file)
        return frame

    opened._table = SimpleNamespace(read=changed, text=None)
    with pytest.raises(mv.FileError, match="must stay as it is while it is read"):
        opened.read()


@pytest.mark.parametrize("place", ["people.parquet", "people"])
def test_pages_are_read_as_row_groups_are(place, tmp_path, monkeypatch):
    """The same cells and types, missing ones, long and short text; whatever the groups are."""
    table = people(200).with_columns(
        NOTE=pl.Series([None if n % 5 == 0 else "é" * (n % 90) for n in range(200)]),
        SMALL=pl.Series([n % 100 for n in range(200)], dtype=pl.Int8),
        GONE=pl.Series([None] * 200, dtype=pl.Float32),
        WHEN=pl.Series([None, *range(199)]).cast(pl.Datetime("us")),
        KIND=pl.Series(["a", None] * 100, dtype=pl.Enum(["a", "b"])),
    )
    path = file = tmp_path / place
    if not path.suffix:
        path.mkdir()
        file = path / "1.parquet"
    table.write_parquet(file, row_group_size=70)
    text = {name for name, dtype in table.schema.items() if dtype == pl.String}
    looked = []
    batches = parquet_pieces._batches
    monkeypatch.setattr(
        parquet_pieces, "_batches", lambda *given: looked.append(given[1:]) or batches(*given)
    )
    whole = open_file(path, scratch=Scratch(tmp_path)).read().frame
    assert {name for name, _ in looked} == {*table.columns} - {*text, "KIND"}
    monkeypatch.setattr(parquet_pieces, "LARGE", 0)
    monkeypatch.setattr(parquet_pieces, "BYTES", 500)
    pieces = open_file(path, scratch=Scratch(tmp_path)).read().frame
    assert pieces.schema == whole.schema == table.schema
    assert pieces.equals(whole)
    assert pieces.equals(table)
    assert {name for name, _ in looked} == {*table.columns} - {"KIND"}
    assert max(at_once for name, at_once in looked if name == "NOTE") < 20


def lacking(*_given):
    raise NotImplementedError


@pytest.mark.parametrize(
    "read", [lacking, lambda *_: iter(()), lambda *_: iter([pl.Series(["a"])])]
)
def test_what_one_library_does_not_read_the_other_does(read, tmp_path, monkeypatch):
    """Not at all, no cell, or cells of another type."""
    table, path = people(200), tmp_path / "people.parquet"
    table.write_parquet(path)
    monkeypatch.setattr(parquet_pieces, "_batches", read)
    assert open_file(path, scratch=Scratch(tmp_path)).read().frame.equals(table)


def test_a_file_with_a_type_that_one_library_does_not_know_is_read_by_the_other(tmp_path):
    """Whole numbers of 128 bits, which spoil the file's end for pyarrow, and a column beside."""
    wide = pl.Series("WIDE", [1, 2] * 100, dtype=pl.Int128)
    table, path = people(200).with_columns(wide), tmp_path / "people.parquet"
    table.write_parquet(path)
    assert open_file(path, scratch=Scratch(tmp_path)).read().frame.equals(table)


@pytest.mark.parametrize("place", ["people.parquet", "people"])
@pytest.mark.parametrize("large", [0, 1 << 25])
def test_a_file_that_holds_fewer_cells_than_it_says_is_broken(place, large, tmp_path, monkeypatch):
    """Of one column of numbers or text, in one piece or many: no record is lost unseen."""
    path = file = tmp_path / place
    if not path.suffix:
        path.mkdir()
        file = path / "1.parquet"
    batches, made = parquet_pieces._batches, parquet_pieces.made_by_size
    monkeypatch.setattr(parquet_pieces, "LARGE", large)
    monkeypatch.setattr(
        parquet_pieces, "_batches", lambda *given: (piece.head(9) for piece in batches(*given))
    )
    monkeypatch.setattr(
        parquet_pieces, "made_by_size", lambda *given: (piece.head(9) for piece in made(*given))
    )
    for name in ("AGE", "SEX"):
        people(200).select(name).write_parquet(file)
        with pytest.raises(mv.FileError, match="it is broken or something else"):
            open_file(path, scratch=Scratch(tmp_path / "scratch"))


@pytest.mark.parametrize("in_a_group", [1, 15, 30, 70, 199, 200])
def test_numbers_are_read_in_pieces_whatever_the_row_groups_are(in_a_group, tmp_path, monkeypatch):
    """Every record once, and never more than a piece of them."""
    table, path = people(200), tmp_path / "people.parquet"
    table.write_parquet(path, row_group_size=in_a_group)
    monkeypatch.setattr(parquet_pieces, "PIECE", 40)
    pieces = list(parquet_pieces.FileInPieces.of(path, pl.scan_parquet(path)).column("AGE"))
    assert max(map(len, pieces)) <= 40
    assert pl.concat(pieces).equals(table["AGE"])
    assert open_file(path, scratch=Scratch(tmp_path)).read().frame.equals(table)


@pytest.mark.parametrize("place", ["people.parquet", "people"])
def test_text_that_is_none_is_refused_in_a_large_row_group_too(place, tmp_path, monkeypatch):
    """Bytes that are no UTF-8, of which polars would make cells that nobody can read."""
    monkeypatch.setattr(parquet_pieces, "LARGE", 0)
    path = file = tmp_path / place
    if not path.suffix:
        path.mkdir()
        file = path / "1.parquet"
    letters = pyarrow.py_buffer(b"abc\xff\xff" * 100)
    ends = pyarrow.py_buffer(np.arange(0, 501, 5, dtype=np.int32).tobytes())
    cells = pyarrow.Array.from_buffers(pyarrow.string(), 100, [None, ends, letters])
    parquet.write_table(pyarrow.table({"T": cells, "AGE": range(100)}), file)
    with pytest.raises(mv.FileError, match="must be whole Parquet"):
        open_file(path, scratch=Scratch(tmp_path)).read()


def test_a_part_without_records_has_no_large_row_group(tmp_path, monkeypatch):
    """The table is that of the other parts."""
    monkeypatch.setattr(parquet_pieces, "LARGE", -1)
    folder = tmp_path / "people"
    folder.mkdir()
    people(50).clear().write_parquet(folder / "1.parquet")
    people(50).write_parquet(folder / "2.parquet")
    frame = open_file(folder, scratch=Scratch(tmp_path)).read().frame
    assert frame.schema == people(50).schema
    assert frame.equals(people(50))


def test_a_large_row_group_that_is_broken_is_refused(tmp_path, monkeypatch):
    """In our words, by name; nothing is left."""
    path = tmp_path / "people.parquet"
    people(500).write_parquet(path, compression="uncompressed")
    data = bytearray(path.read_bytes())
    data[4:400] = bytes(396)
    path.write_bytes(data)
    monkeypatch.setattr(parquet_pieces, "LARGE", 0)
    with pytest.raises(mv.FileError, match="must be whole Parquet"):
        protect_file(path, tmp_path / "release", **asked("dp-um"), engine="disk")
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_a_digest_that_nobody_waits_for_takes_no_further_part():
    """Where a file turns out to be no table, the rest of it is not read."""
    taken, go_on, done = [], threading.Event(), threading.Event()

    def parts():
        try:
            for number in range(1000):
                taken.append(number)
                yield b"part"
                go_on.wait()
        finally:
            done.set()

    digest = DigestBeside(parts())
    del digest
    go_on.set()
    assert done.wait(60)
    assert len(taken) <= 2


def test_a_digest_fails_as_its_parts_do():
    """What cannot be read is said where the digest is asked for, and so is what was changed."""

    def parts():
        yield b"part"
        raise mv.FileError("people.csv", "the file must be readable", "check the disk")

    def changed():
        raise mv.FileError("people.csv", "the file must stay as it is", "read it again")

    with pytest.raises(mv.FileError, match="readable"):
        DigestBeside(parts()).result()
    with pytest.raises(mv.FileError, match="as it is"):
        DigestBeside([b"part"], changed).result()


# Memory, and which engine is taken.


@pytest.mark.parametrize(
    ("given", "size"),
    [("2GB", 2 * 10**9), ("500 mb", 5 * 10**8), ("1.5GB", 15 * 10**8), (10**9, 10**9)],
)
def test_memory_is_a_size(given, size):
    """In bytes, or with MB or GB."""
    table, request = people(20), asked("dp-um", attributes=["AGE"])
    assert mv.plan(table, **request, memory=given).parameters["memory"] == size


@pytest.mark.parametrize("given", ["much", "2", -1, True, "1XB", "nan", None.__class__, 10**30])
def test_what_is_no_size_is_refused(given):
    """With an example."""
    with pytest.raises(mv.RequestError, match="pass for example memory='2GB'"):
        mv.plan(people(20), **asked("dp-um"), memory=given)


def test_what_the_engine_in_memory_has_no_use_for_is_refused():
    """A folder for scratch files, or a limit that it would not keep."""
    for given in ({"scratch": "x"}, {"memory": "1GB"}):
        with pytest.raises(mv.RequestError, match="has no use for it"):
            mv.plan(people(20), **asked("dp-um"), engine="memory", **given)


def test_a_record_id_is_refused_where_it_decides_nothing(tmp_path):
    """On the command line too, where no engine is named: ties go by the order of the table."""
    people(20).write_csv(tmp_path / "people.csv")
    with pytest.raises(mv.RequestError, match="record_id: the engine 'memory' has no use for it"):
        protect_file(tmp_path / "people.csv", tmp_path / "r", **asked("dp-um"), record_id="AGE")


@pytest.mark.parametrize("free", [10**9, 40_500_000])
def test_the_engine_that_was_chosen_is_in_the_manifest(tmp_path, monkeypatch, free):
    """So that the release can be audited as it was asked for; memory that decides is no request."""
    people(2000).write_parquet(tmp_path / "people.parquet")
    monkeypatch.setattr(engines, "_forecast", lambda _path: 500_000_000)
    request = asked("dp-um", attributes=["AGE"], bounds={"AGE": (0, 120)})
    memory = "450MB" if free < 10**9 else "1GB"
    release = protect_file(
        tmp_path / "people.parquet", tmp_path / "r", **request, memory=memory, linkage=False
    )
    parameters = release.manifest.to_dict()["parameters"]
    chosen = ("disk", 450_000_000) if free < 10**9 else ("memory", None)
    assert (parameters["engine"], parameters["memory"]) == chosen
    audited = run("audit", "people.parquet", "r", folder=tmp_path)
    assert audited.returncode == 0
    # A manifest of before, that has both.
    path = tmp_path / "r-custodian" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"] |= {"engine": "memory", "memory": 450_000_000}
    path.write_text(json.dumps(manifest))
    assert run("audit", "people.parquet", "r", folder=tmp_path).returncode == 0
    in_python = mv.protect(people(20), **asked("dp-um"), memory="1GB")
    assert in_python.manifest.to_dict()["parameters"]["engine"] == "disk"


def test_the_disk_is_taken_where_the_memory_would_not_hold_the_table(tmp_path, monkeypatch):
    """By the file's own figures, of Parquet and of text; else the memory is."""
    table, folder = people(2000), tmp_path / "release"
    table.write_parquet(tmp_path / "people.parquet")
    table.write_csv(tmp_path / "people.csv")
    table.write_ipc(tmp_path / "people.arrow")
    for name in ("people.parquet", "people.csv", "people.arrow"):
        for free, kind in ((10**9, LocalEngine), (40_500_000, DiskEngine)):
            monkeypatch.setattr(
                "microveil.table.memory.free_memory", lambda free=free: int(free / 0.8)
            )
            made = engine_for(tmp_path / name, folder, None, {})
            assert type(made) is (LocalEngine if name == "people.arrow" else kind)
            if kind is DiskEngine and name != "people.arrow":
                assert made.scratch.folder == tmp_path
    assert type(engine_for(tmp_path / "people.csv", folder, {"engine": "disk"}, {})) is DiskEngine
    # Where the table fits into what is allowed, that is for the engine in memory.
    assert type(engine_for(tmp_path / "people.csv", folder, {"memory": "1GB"}, {})) is LocalEngine


@pytest.mark.parametrize(
    ("method", "k", "takes"),
    [("dp-um", 10, "686 MB"), ("dp-um", 2, "1.1 GB"), ("laplace", None, "1.1 GB")],
)
def test_a_column_that_memory_does_not_hold_is_refused(monkeypatch, method, k, takes):
    """With the figures, which grow with the clusters, and with what would do."""
    monkeypatch.setattr(disk, "LOOKED_AT", 10**6 * 30)
    monkeypatch.setattr(disk, "A_VALUE", 10**6 * 22)
    monkeypatch.setattr(disk, "A_CLUSTER", 10**7 * 11)
    monkeypatch.setattr(disk, "A_PLAN", 10**7 * 14)
    request = asked(method, attributes=["AGE"], keep=()) | {"k": k, "epsilon": 1, "scope": None}
    rule = re.escape(f"column of 10 records takes about {takes} of memory, and 500 MB are allowed")
    with pytest.raises(mv.DataError, match=rule):
        mv.protect(people(10), **request, memory="500MB")


@pytest.mark.parametrize(("partition", "takes"), [("ranking", "656 MB"), ("noise-aware", "956 MB")])
def test_clusters_that_are_searched_for_are_forecast_by_what_they_take(
    monkeypatch, partition, takes
):
    """Two thirds of a cluster for each of 10 records, not one for each k of them."""
    monkeypatch.setattr(disk, "A_CLUSTER", 10**8)
    monkeypatch.setattr(disk, "A_PLAN", 10**6)
    request = asked("idp-vector", attributes=["AGE"], keep=(), partition=partition)
    rule = re.escape(f"column of 10 records takes about {takes} of memory, and 500 MB are allowed")
    with pytest.raises(mv.DataError, match=rule):
        mv.protect(people(10), **request | {"k": 3, "epsilon": 1}, memory="500MB")


@pytest.mark.parametrize(
    ("method", "partition", "searched"),
    [
        ("idp-vector", "ranking", False),
        ("idp-vector", "noise-aware", True),
        ("record-dp", "optimal", True),
        ("record-dp", "ranking", False),
        ("optimal", None, True),
    ],
)
def test_columns_that_are_searched_are_counted_so_side_by_side(
    monkeypatch, method, partition, searched
):
    """Of two columns of 6,000 records as 8,000 clusters, not as one for each k = 3 of them."""
    seen = []

    def watched(self, work, items, n_values, n_clusters=0):
        seen.append((n_values, n_clusters))
        return LocalEngine.side_by_side(self, work, items, n_values, n_clusters)

    monkeypatch.setattr(DiskEngine, "side_by_side", watched)
    steps = {} if partition is None else {"partition": partition}
    noise = {} if method == "optimal" else {"epsilon": 1, "bounds": dict.fromkeys("AB", (0, 99))}
    exact = {"exact_cells": "allow"} if method == "idp-vector" else {}
    table = {name: np.random.default_rng(1).integers(0, 99, 6000) for name in "AB"}
    mv.protect(
        table, method=method, k=3, attributes=["A", "B"], engine="disk", **steps, **noise, **exact
    )
    assert (12_000, 8_000 if searched else 4_000) in seen


def test_a_column_takes_the_largest_of_its_steps():
    """Put in order or compared; summarised and drawn; planned: with few, some and many clusters."""
    engine = DiskEngine(memory=16 * 10**9)
    always = disk.LIBRARIES + disk.BESIDE + 10**9
    for n_clusters, each in ((1000, 19), (100_000, 13 + 9.5), (500_000, 5 + 62.5)):
        assert engine.column_memory(1_000_000, n_clusters) == always + each * 1_000_000
    in_parts = engine.column_memory(10**8, 10**6, 10**6), engine.column_memory(10**8, 10**7, 10**7)
    always -= disk.BESIDE
    assert in_parts == (always + 150_000_000 + 95 * 10**6, always + 95_000_000 + 125 * 10**7)


def test_row_groups_of_a_large_release_are_of_sixteen_megabytes(tmp_path):
    """Several are at hand while others are written, whatever memory is allowed."""
    from pyarrow import parquet

    from microveil.files.parquet_format import LARGE, batches

    table = pl.DataFrame({f"C{n}": np.arange(600_000) for n in range(16)})
    assert table.estimated_size() > LARGE
    path = tmp_path / "people.parquet"
    with path.open("wb") as file:
        file.writelines(batches(table, None, escape_formulas=False, labels={}))
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(nth).num_rows * 16 * 8 for nth in range(metadata.num_row_groups)]
    assert max(groups) <= 1 << 24
    assert pl.read_parquet(path).equals(table)


def test_columns_side_by_side_are_no_more_than_memory_holds(monkeypatch):
    """Each of 20 values and a cluster takes 550 MB: of 1 GB there is room for one, of 2 for two."""
    seen = []
    monkeypatch.setattr(disk, "in_threads", lambda *_given, at_once: seen.append(at_once) or [])
    monkeypatch.setattr(disk, "A_VALUE", 22 * 10**6)
    monkeypatch.setattr(disk, "LOOKED_AT", 1)
    monkeypatch.setattr(disk, "A_CLUSTER", 110 * 10**6)
    for memory in (10**9, 2 * 10**9, 4 * 10**9):
        DiskEngine(memory=memory).side_by_side(abs, [1, 2, 3], 60, 3)
    assert seen == [1, 2, 6]


def test_records_taken_together_are_refused_where_memory_does_not_hold_them():
    """With the figures, and with what would do."""
    engine = DiskEngine(memory=1000)
    columns = [LocalEngine().column(column) for column in _prepared(people(50))]
    with pytest.raises(mv.RequestError, match="choose a method that takes attributes one by one"):
        engine.cluster_jointly("mdav", columns, 3)


def _prepared(table):
    from microveil.release.columns import prepare
    from microveil.release.request import Request

    request = Request.of(asked("mdav", attributes=["AGE", "PAY"], keep=()))
    return prepare(table, request, LocalEngine()).columns


def test_pages_are_given_back_when_they_take_much(tmp_path):
    """Whoever looks at them again reads them from the disk."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the system does not say what a process has in memory")
    scratch = Scratch(tmp_path, memory=80_000_000)
    kept = [scratch.array(np.arange(5_000_000)) for _ in range(4)]
    before = pages.of_files()
    for _ in range(100):
        assert sum(int(array.sum()) for array in kept) == 4 * 12_499_997_500_000
        time.sleep(0.02)
        if pages.of_files() < before + 100_000_000:
            break
    else:
        pytest.fail("160 MB of maps stay in memory where 10 MB may")


def test_threads_map_and_look_for_maps_at_the_same_time():
    """Columns are worked on side by side: one is kept while another is looked for."""
    own, step = pages.Pages(), sys.getswitchinterval()

    def work(number):
        kept = []
        for turn in range(400):
            kept.append(mmap.mmap(-1, mmap.PAGESIZE))
            own.add(kept[-1])
            assert own.has(np.frombuffer(kept[-1], dtype=np.uint8).ctypes.data)
            assert not own.has(0)  # which every place is looked at for
            if turn % 3 == number % 3:
                del kept[: len(kept) // 2]
        return len(kept)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(count < 400 for count in pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(step)
    assert not own.has(0)
    assert len(own) == 0


def test_one_thread_gives_the_pages_of_a_process_back(tmp_path):
    """However many scratches are there; it ends with the last, and comes back with the next."""
    if not pages.can_be_watched():
        pytest.skip("the system does not say what a process has in memory")
    code = (
        "import gc, sys, threading, time\n"
        "from microveil.table.scratch import Scratch\n"
        "def watching(n):\n"
        "    for _ in range(500):\n"
        "        names = [thread.name for thread in threading.enumerate()]\n"
        "        if names.count('pages') == n:\n"
        "            return True\n"
        "        time.sleep(0.01)\n"
        "for _ in range(2):\n"
        "    scratches = [Scratch(sys.argv[1], 1 << 30) for _ in range(5)]\n"
        "    time.sleep(0.05)\n"
        "    assert watching(1)\n"
        "    del scratches[1:]\n"
        "    time.sleep(0.05)\n"
        "    assert watching(1)\n"
        "    del scratches\n"
        "    gc.collect()\n"
        "    assert watching(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


# The disk.


def test_scratch_files_have_no_name(tmp_path):
    """Not while they are used, and not after the process is killed."""
    code = (
        "import numpy as np, sys, time\n"
        "from microveil.table.scratch import Scratch\n"
        "scratch = Scratch(sys.argv[1] + '/own', 1 << 30)\n"
        "kept = scratch.array(np.arange(1_000_000))\n"
        "print(kept[-1], flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "999999\n"
    assert os.listdir(tmp_path / "own") == []
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    maps = Path(f"/proc/{process.pid}/maps")
    if maps.exists():
        assert "(deleted)" in next(
            line for line in maps.read_text().splitlines() if "/own/" in line
        )
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert os.listdir(tmp_path / "own") == []


def test_ctrl_c_says_so_and_leaves_nothing(tmp_path):
    """Whenever it comes: no folder, no scratch file, and what was released before stays."""
    code = (
        "import os, signal, sys\n"
        "from microveil.cli import main\n"
        "from microveil.engines.disk import DiskEngine\n"
        "def ended(self, *_):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "DiskEngine.broadcast = ended\n"
        "sys.argv[0] = 'microveil'\n"
        "main()\n"
    )
    people(50).write_parquet(tmp_path / "people.parquet")
    scratch = tmp_path / "scratch"
    request = ["--method", "dp-um", "--k", "5", "--epsilon", "1", "--attributes", "AGE"]
    request += ["--bounds", "AGE=0:120", "--engine", "disk", "--scratch", str(scratch)]
    found = subprocess.run(
        [sys.executable, "-c", code, "protect", "people.parquet", "-o", "r", *request],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = "microveil: interrupted. What was released, if anything, is whole.\n"
    assert (found.returncode, found.stdout, found.stderr) == (130, "", said)
    assert sorted(os.listdir(tmp_path)) == ["people.parquet", "scratch"]
    assert os.listdir(scratch) == []


def test_a_full_disk_is_an_error_with_the_figures(tmp_path, monkeypatch):
    """Whether it is seen before a file is written, or while it is; nothing is written."""
    people(50).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(mv.FileError, match="the disk must have room for scratch files"):
        Scratch(tmp_path).empty(10**15, np.int64)

    def full(*_args, **_how):
        raise OSError(errno.ENOSPC, "No space left on device")

    usage = module.shutil.disk_usage(tmp_path)
    for free, write in ((10, None), (10**9, full)):
        monkeypatch.setattr(module.shutil, "disk_usage", lambda _p, f=free: usage._replace(free=f))
        if write is not None:
            monkeypatch.setattr(Extent, "write", full)
            monkeypatch.setattr(Extent, "reserve", full)
        with pytest.raises(mv.FileError, match="the disk must have room for scratch files"):
            protect_file(
                tmp_path / "people.parquet", tmp_path / "r", **asked("dp-um"), engine="disk"
            )
        assert os.listdir(tmp_path) == ["people.parquet"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    """With the reason that the system gives."""
    (tmp_path / "file").write_text("x")
    for place in ("file/below", "none/below"):
        with pytest.raises(mv.RequestError, match="name another folder"):
            mv.protect(people(20), **asked("dp-um"), engine="disk", scratch=tmp_path / place)


COLUMNS = {
    "decimals": pl.Series([1, None, 3] * 30, dtype=pl.Decimal(10, 2)),
    "wide": pl.Series([1, 2, 3] * 30, dtype=pl.Int128),
    "lists": pl.Series([[1], [], [2, 3]] * 30),
    "words": pl.Series(["a", None, "long enough not to be inlined"] * 30),
    "levels": pl.Series(["a", "b", None] * 30, dtype=pl.Enum(["b", "a", "c"])),
    "categories": pl.Series(["a", "b", None] * 30, dtype=pl.Categorical),
    "nothing": pl.Series([None] * 90, dtype=pl.Null),
    "truth": pl.Series([True, None, False] * 30),
    "moments": pl.Series([1, None, 3] * 30).cast(pl.Datetime("us", "Europe/Berlin")),
    "bytes": pl.Series([b"x", None, b""] * 30),
    "small": pl.Series([1, 2, 3] * 30, dtype=pl.Int8),
    "objects": pl.Series([object()] * 90, dtype=pl.Object),
    "two pieces": pl.concat([pl.Series([1.5, 2.5] * 20)] * 2, rechunk=False),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_on_the_disk_is_the_column(name):
    """Of any type that a frame may have, its values and what is missing."""
    column = COLUMNS[name].alias("x")
    kept = Scratch().column(column)
    assert kept.dtype == column.dtype
    assert kept.name == "x"
    assert kept.to_list() == column.to_list()


def test_an_array_on_the_disk_is_the_array():
    """Of any type and shape; small ones, broadcast ones and those on the disk stay as they are."""
    scratch = Scratch()
    random = np.random.default_rng(1)
    for array in (
        random.random((7, 11)), random.integers(0, 9, 50).astype(np.uint32),
        np.asfortranarray(random.random((5, 6))), random.random(40)[::2], np.arange(40) > 7,
    ):  # fmt: skip
        kept = scratch.array(array)
        assert kept is not array
        assert kept.dtype == array.dtype
        assert (kept == array).all()
        assert scratch.array(kept) is kept
        assert scratch.array(kept[1:]).base is not None
    fresh = scratch.empty(60, np.int16)
    with pytest.MonkeyPatch.context() as patched:  # as on a system that reserves no place
        patched.delattr(module.os, "posix_fallocate", raising=False)
        patched.setattr(module, "ZEROS", 50)
        assert len(scratch.empty(60, np.int16)) == 60
    fresh[:] = np.arange(60)
    assert scratch.has(fresh)
    assert fresh.sum() == 1770
    spread = np.broadcast_to(np.int64(1), 1000)
    assert scratch.array(spread) is spread
    assert scratch.kept(Fraction(1, 3)) == Fraction(1, 3)
    assert scratch.kept("text") == "text"


def test_values_on_the_disk_are_a_column_without_a_copy(tmp_path):
    """Of the column's own type; others, and values in memory, are none."""
    scratch = Scratch(tmp_path)
    values = scratch.array(np.arange(50))
    whole = pl.Series("x", [7, 8])
    seen = scratch.seen_as(whole, values)
    assert seen.equals(pl.Series("x", range(50)), check_names=True)
    assert seen.to_numpy(allow_copy=False).ctypes.data == values.ctypes.data
    for column in (whole.cast(pl.Int32), whole.cast(pl.Float64), whole.cast(pl.String),
                   whole.cast(pl.Date), whole.cast(pl.Int128)):  # fmt: skip
        assert scratch.seen_as(column, values) is None
    assert scratch.seen_as(whole, np.arange(50)) is None


def test_cells_that_are_on_the_disk_are_not_written_again(monkeypatch):
    """Of the attributes, those without missing values: as they were drawn they are the release."""
    joined, again = Scratch.joined, []

    def watched(self, n_records, pieces):
        column = joined(self, n_records, pieces)
        again.append(column.name)
        return column

    monkeypatch.setattr(Scratch, "joined", watched)
    mv.protect(people(50), **asked("dp-um"), engine="disk")
    assert set(again) == {"GAP", "WED"}


def test_the_original_is_given_back_before_the_release_is_written(tmp_path, monkeypatch):
    """Whoever writes a file needs its pages; the release is there still, whole."""
    monkeypatch.setattr("microveil.table.extents.SEGMENT", 1 << 16)
    monkeypatch.setattr("microveil.commands.original.REPORTED_RECORDS", 1_000)
    random = np.random.default_rng(1)
    table = pl.DataFrame({name: random.integers(0, 9_000, 40_000) / 100 for name in "abcd"})
    table.write_parquet(tmp_path / "people.parquet")
    files = []
    given_back = Scratch.give_back

    def counted(scratch):
        files.append(len(scratch._extents._segments))
        given_back(scratch)
        files.append(len(scratch._extents._segments))

    monkeypatch.setattr(Scratch, "give_back", counted)
    release = protect_file(
        tmp_path / "people.parquet", tmp_path / "out", method="dp-um", k=5, epsilon=1, seed=3,
        attributes=list("abcd"), bounds=dict.fromkeys("abcd", (0, 90)), linkage=False,
        resolution=dict.fromkeys("abcd", 0.01), engine="disk", shuffle=True,
    )  # fmt: skip
    before, after = files
    assert before - after >= 4
    assert after >= 4
    assert pl.read_parquet(tmp_path / "out" / "data.parquet").equals(release.data)


LET_GO = {
    "method": "dp-um", "k": 5, "epsilon": 1, "attributes": list("abcdefgh"), "seed": 3,
    "bounds": dict.fromkeys("abcdefgh", (0, 90)), "resolution": dict.fromkeys("abcd", 0.01),
}  # fmt: skip


@pytest.fixture
def of_plain_numbers(tmp_path):
    """Eight columns of decimals and whole numbers, 320 kB each."""
    random = np.random.default_rng(1)
    table = pl.DataFrame({name: random.integers(0, 9_000, 40_000) / 100 for name in "abcd"})
    table = table.with_columns(pl.Series(name, random.integers(0, 91, 40_000)) for name in "efgh")
    table.write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def fresh_bytes(monkeypatch):
    """Count the bytes of places on the disk that nothing was at before."""
    taken, take = [], Extents.take

    def counted(extents, size):
        extent = take(extents, size)
        taken.append(extent.size * extent.is_fresh)
        return extent

    monkeypatch.setattr(Extents, "take", counted)
    return taken


def test_cells_take_the_place_of_columns_that_were_drawn(of_plain_numbers, tmp_path, monkeypatch):
    """A table and its release are never on the disk together, and what is found is the same."""
    monkeypatch.setattr("microveil.commands.original.REPORTED_RECORDS", 1_000)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr(disk, "A_WEIGHED_VALUE", 1 << 40)  # memory does not hold many plans
    taken = fresh_bytes(monkeypatch)
    to = tmp_path / "out"
    released = protect_file(of_plain_numbers, to, engine="disk", linkage=False, **LET_GO)
    assert sum(taken) < (8 + 2) * 320_000
    assert pl.read_parquet(to / "data.parquet").equals(released.data)
    same_way = {"linkage": False, "engine": "memory", **LET_GO}
    in_memory = protect_file(of_plain_numbers, tmp_path / "other", **same_way)
    same(released, in_memory)
    found = released.manifest.to_dict()["findings"]
    assert found == in_memory.manifest.to_dict()["findings"]
    assert found["worst_attribute"]["distance"] > 0


@pytest.mark.parametrize(
    "more",
    [
        {"linkage": True},
        {"shuffle": True, "linkage": False},
        {"unit": "h", "max_rows": 300, "outside": "clamp", "method": "laplace", "k": None,
         "linkage": False, "attributes": list("abcd"), "bounds": dict.fromkeys("abcd", (0, 90))},
        {"missing_codes": {"a": [-9]}, "linkage": False},
        {"REPORTED_RECORDS": 40_000, "linkage": False},
    ],
)  # fmt: skip
def test_the_original_stays_where_it_is_looked_at_again(
    more, of_plain_numbers, tmp_path, monkeypatch
):
    """By who links records, arranges or numbers them, reads codes or draws a page."""
    reported = more.pop("REPORTED_RECORDS", 1_000)
    monkeypatch.setattr("microveil.commands.original.REPORTED_RECORDS", reported)
    monkeypatch.setattr(FrameTable, "let_go", lambda *_: pytest.fail("let go"))
    request = {**LET_GO, **more}
    released = protect_file(of_plain_numbers, tmp_path / "out", engine="disk", **request)
    in_memory = protect_file(of_plain_numbers, tmp_path / "other", engine="memory", **request)
    found = released.manifest.to_dict()["findings"]
    assert found == in_memory.manifest.to_dict()["findings"]


def test_values_that_moved_come_in_the_order_of_the_columns(tmp_path, monkeypatch):
    """Those of columns that wait, since cells are missing, among those that were let go."""
    monkeypatch.setattr("microveil.commands.original.REPORTED_RECORDS", 1_000)
    monkeypatch.setattr(disk, "A_WEIGHED_VALUE", 1 << 40)
    random = np.random.default_rng(2)
    zeros = {
        name: np.where(random.random(20_000) < 0.7, 0, random.integers(0, 91, 20_000))
        for name in "abcd"
    }
    table = pl.DataFrame(zeros).with_columns(
        pl.when(pl.int_range(pl.len()) % 9 > 0).then(name).alias(name) for name in "ac"
    )
    table.write_parquet(tmp_path / "people.parquet")
    let_go = []
    monkeypatch.setattr(
        FrameTable,
        "let_go",
        lambda self, name, go=FrameTable.let_go: let_go.append(name) or go(self, name),
    )
    request = {
        "method": "dp-um", "k": 5, "epsilon": 0.01, "attributes": list("abcd"), "seed": 3,
        "bounds": dict.fromkeys("abcd", (0, 90)), "missing": "keep", "linkage": False,
    }  # fmt: skip
    found, in_memory = (
        protect_file(
            tmp_path / "people.parquet", tmp_path / engine, engine=engine, **request
        ).manifest.to_dict()["findings"]
        for engine in ("disk", "memory")
    )
    assert sorted(let_go) == ["b", "d"]
    assert found == in_memory
    assert [value["attribute"] for value in found["moved_values"]] == list("abcd")


def test_nobody_looks_at_the_cells_of_a_column_that_was_let_go():
    """Its name and type are known, and cells of that type can be made; to look is a mistake."""
    table = open_table(pl.DataFrame({"AGE": [31, 45], "PAY": [1.5, 2.5]}))
    table.let_go("AGE")
    assert table.names == ("AGE", "PAY")
    assert table.kind("AGE") is Kind.WHOLE
    assert table.is_plain("AGE")
    for look in (table.numbers, table.alike, lambda name: table.part(slice(0, 1)).numbers(name)):
        with pytest.raises(pl.exceptions.ColumnNotFoundError):
            look("AGE")
    assert table.numbers("PAY").values.tolist() == [1.5, 2.5]
    anew = Numbers(values=np.array([40, 41]), missing=None)
    made = table.rebuild({"AGE": anew}, ["PAY"], None)
    assert made.equals(pl.DataFrame({"AGE": [40, 41], "PAY": [1.5, 2.5]}))


def test_a_table_can_be_read_onto_the_disk(tmp_path):
    """From Python: it is the same table, and is protected as one."""
    people(50).write_parquet(tmp_path / "people.parquet")
    place, scratch = tmp_path / "people.parquet", tmp_path / "scratch"
    read = mv.read(place, scratch=scratch, memory="1GB")
    assert read.frame.equals(mv.read(place).frame)
    assert os.listdir(scratch) == []
    one = mv.protect(read, **asked("dp-um"), engine="disk", scratch=scratch)
    same(one, mv.protect(people(50), **asked("dp-um")))
    with pytest.raises(mv.RequestError, match="scratch='/data/scratch'"):
        mv.read(place, memory="1GB")


# Tables in several files.


@pytest.fixture
def parts(tmp_path):
    """A table in five files of a folder, and what another program left beside them."""
    folder, table = tmp_path / "people", people(50)
    folder.mkdir()
    for number in range(5):
        table.slice(10 * number, 10).write_parquet(folder / f"part-{number}.parquet")
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_folder_of_parquet_files_is_one_table(parts, engine, tmp_path):
    """In the order of their names, by either engine; a digest is that of all their bytes."""
    release = protect_file(parts, tmp_path / "r", **asked("dp-um", linkage=False), engine=engine)
    assert release.data.equals(mv.protect(people(50), **asked("dp-um")).data)
    written = b"".join(path.read_bytes() for path in sorted(parts.glob("*.parquet")))
    digest = hashlib.sha256(written).hexdigest()
    assert release.manifest.to_dict()["input"] == {"name": "people", "sha256": digest}
    assert (tmp_path / "r" / "data.parquet").exists()


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "it is broken or something else"),
        (lambda path: path.write_bytes(b""), "it is broken or something else"),
        (lambda path: people(9).drop("SEX").write_parquet(path), "has others than part-0.parquet"),
        (
            lambda path: people(9).cast({"AGE": pl.Float64}).write_parquet(path),
            "'AGE' has another type than in part-0.parquet",
        ),
    ],
)
def test_a_file_among_them_that_is_unlike_the_others_is_named(parts, engine, spoil, rule, tmp_path):
    """The last of them too; nothing is written."""
    spoil(parts / "part-4.parquet")
    with pytest.raises(mv.FileError) as refused:
        protect_file(parts, tmp_path / "r", **asked("dp-um"), engine=engine)
    assert rule in refused.value.rule
    assert refused.value.place.endswith("part-4.parquet")
    assert os.listdir(tmp_path) == ["people"]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_value_out_of_bounds_in_the_last_file_is_refused(parts, engine, tmp_path):
    """By its record in the whole table."""
    last = people(50).tail(10).with_columns(AGE=pl.Series([40] * 9 + [300]))
    last.write_parquet(parts / "part-4.parquet")
    with pytest.raises(mv.DataError, match=r"record 50") as refused:
        protect_file(parts, tmp_path / "r", **asked("dp-um"), engine=engine)
    assert "300" not in str(refused.value)


def test_a_folder_of_other_files_is_no_table(parts, tmp_path):
    """A release's, for example: nobody protects it by mistake."""
    (parts / "guarantee.json").touch()
    with pytest.raises(mv.FileError, match="must be a file, and it is a folder"):
        protect_file(parts, tmp_path / "r", **asked("dp-um"))


# Columns that memory does not hold.


def columns_of_every_type(n_records):
    """Columns of each type that a file may have, and of each with missing values."""
    whole = np.random.default_rng(1).integers(0, 100, n_records)
    plain = pl.DataFrame({"WHOLE": whole, "FLOAT": whole / 7}).select(
        pl.all(),
        SMALL=pl.col("WHOLE").cast(pl.Int8),
        POSITIVE=pl.col("WHOLE").cast(pl.UInt64),
        WIDE=pl.col("WHOLE").cast(pl.Int128),
        SINGLE=pl.col("FLOAT").cast(pl.Float32),
        YES=pl.col("WHOLE") % 2 == 0,
        TEXT=pl.concat_str("WHOLE", pl.lit(", a text longer than twelve bytes")),
        DAY=pl.date(2020, 1, 1) + pl.duration(days="WHOLE"),
        MOMENT=pl.datetime(2020, 1, 1, time_zone="UTC") + pl.duration(seconds="WHOLE"),
        LASTS=pl.duration(hours="WHOLE"),
        EXACT=pl.col("WHOLE").cast(pl.Decimal(10, 2)),
        LISTED=(pl.col("WHOLE") % 2).cast(pl.String).cast(pl.Enum(["0", "1"])),
        CATEGORY=(pl.col("WHOLE") % 3).cast(pl.String).cast(pl.Categorical),
        SEVERAL=pl.concat_list("WHOLE", "WHOLE"),
    )
    gone = pl.int_range(n_records) % 6 == 4
    return [*plain, *plain.select(pl.when(~gone).then(pl.all()))]


@pytest.mark.parametrize("length", [1, 7, 8, 50, 51])
def test_columns_come_together_as_they_were(length, tmp_path):
    """Of every type, with missing values that begin in any piece: values, type and name."""
    scratch = Scratch(tmp_path)
    for column in columns_of_every_type(50):
        pieces = [column[start : start + length] for start in range(0, 50, length)]
        joined = scratch.joined(50, pieces)
        assert joined.dtype == column.dtype
        assert joined.name == column.name
        assert joined.equals(column, null_equal=True)


@pytest.fixture
def in_parts(monkeypatch):
    """Memory holds no column of more than three records."""
    monkeypatch.setattr(keeping, "PIECE", 3)
    monkeypatch.setattr(distribution_sort, "AT_ONCE", 4)
    monkeypatch.setattr(disk, "LOOKED_AT", 1 << 50)
    monkeypatch.setattr(disk, "IN_PARTS", 0)
    monkeypatch.setattr(exponential, "HELD", 9)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.usefixtures("in_parts")
def test_files_of_large_columns_are_read_and_written_alike(suffix, tmp_path):
    """Cells, kept text and dates, the manifest's figures and what is found of the release."""
    path = tmp_path / f"people{suffix}"
    table = people(80)
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    request = asked("idp-vector", keep=["ID", "SEX", "BORN", "WED"], linkage=False,
                    missing_codes={"AGE": [40, 41]}, outside="clamp",
                    bounds={**BOUNDS, "PAY": (0, 3000)})  # fmt: skip
    whole = protect_file(path, tmp_path / "whole", **request)
    parts = protect_file(path, tmp_path / "parts", engine="disk", **request)
    same(whole, parts)
    read = [pl.read_parquet if suffix == ".parquet" else pl.read_csv][0]
    assert read(tmp_path / f"parts/data{suffix}").equals(read(tmp_path / f"whole/data{suffix}"))


@pytest.mark.parametrize(
    "more",
    [
        {"missing_reasons": True, "missing_codes": {"PAY": [-9, -8], "GAP": [-1]}},
        {"parts": [mv.part("AGE", method="dp-um", k=5, epsilon=2),
                   mv.part(["PAY", "GAP"], method="idp-ls", k=3, epsilon=2)]},
        {"resolution": {"PAY": 1}},
        {"method": "dp-synthetic", "epsilon": 300, "missing": "protect", "keep": ()},
        {"method": "dp-synthetic", "epsilon": 300, "missing": "protect", "keep": (),
         "target": {"PAY": 2000}, "n_records": 200, "delta": 1e-6},
        {"method": "dp-synthetic", "epsilon": 300, "missing": "protect", "keep": (),
         "structure": "independent", "n_records": 7},
        {"method": "k-pram"},
        {"method": "k-pram", "k": 40, "every": "average"},
        {"method": "k-pram", "width": 7, "noise": "permutation"},
        {"method": "k-pram", "missing_reasons": True, "missing_codes": {"PAY": [-9], "GAP": [-1]}},
        {"method": "pram", "resolution": {"PAY": 1000}, "missing": "protect"},
        {"method": "pram", "resolution": {"PAY": 1000}, "matrix": {"AGE": "invariant"}},
        {"method": "pram", "resolution": {"PAY": 1000}, "missing": "protect",
         "missing_reasons": True, "missing_codes": {"PAY": [-9, -8], "GAP": [-1]}},
        {"parts": [mv.part("AGE", method="pram", epsilon=2),
                   mv.part(["PAY", "GAP"], method="idp-ls", k=3, epsilon=2)]},
        {"shuffle": True, "keep": ["ID", "SEX", "BORN", "WED"]},
        {"shuffle": True, "method": "k-noise", "missing_reasons": True,
         "missing_codes": {"PAY": [-9, -8], "GAP": [-1]}},
        {"shuffle": "columns", "keep": ()},
        {"parts": [mv.part("AGE", method="dp-um", k=5, epsilon=2, shuffle=True),
                   mv.part(["PAY", "GAP"], method="idp-ls", k=3, epsilon=2)], "keep": ()},
        {"parts": [mv.part("AGE", method="dp-um", k=5, epsilon=2),
                   mv.part(["PAY", "GAP"], method="idp-ls", k=3, epsilon=2)], "shuffle": True},
    ],
)  # fmt: skip
@pytest.mark.usefixtures("in_parts")
def test_large_columns_are_released_alike(more):
    """With reasons for missing values, in parts of a release, and rounded."""
    table = people(90).with_columns(
        PAY=pl.when(pl.int_range(90) % 11 == 4).then(-9.0).otherwise("PAY"),
        GAP=pl.when(pl.int_range(90) % 13 == 4).then(-1).otherwise("GAP"),
    )
    request = asked(**{"method": "dp-um", "outside": "clamp", **more})
    if "parts" in more:
        request = {name: given for name, given in request.items()
                   if name not in ("method", "k", "epsilon", "attributes", "missing",
                                   "exact_cells")}  # fmt: skip
        table = table.with_columns(GAP=pl.col("GAP").fill_null(0))
    same(*both(table, **request))


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("in_parts", [False, True])
def test_long_text_is_released_in_random_order_alike(suffix, in_parts, request, tmp_path):
    """Of a column of short cells and of some that are longer than a piece, and missing ones."""
    monkeypatch = request.getfixturevalue("monkeypatch")
    if in_parts:
        request.getfixturevalue("in_parts")
    monkeypatch.setattr(disk, "BYTES", 300)
    monkeypatch.setattr(disk, "ARRANGED", 1 << 60)
    cells = [None if n % 7 == 3 else f"{n}, " + "a text, " * (90 if n % 17 == 0 else n % 5)
             for n in range(120)]  # fmt: skip
    path = tmp_path / f"people{suffix}"
    table = people(120).with_columns(NOTE=pl.Series(cells))
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    said = asked("dp-um", shuffle=True, keep=["ID", "NOTE", "WED"])
    same(protect_file(path, tmp_path / "whole", **said),
         protect_file(path, tmp_path / "parts", engine="disk", **said))  # fmt: skip
    data = [(tmp_path / f"{name}/data{suffix}").read_bytes() for name in ("whole", "parts")]
    assert suffix == ".parquet" or data[0] == data[1]


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_columns_of_every_type_are_kept_alike(in_parts, shuffle, request):
    """With missing cells and without, in the table's order and in a random one."""
    if in_parts:
        request.getfixturevalue("in_parts")
    more = [column for column in columns_of_every_type(120) if column.name != "SEVERAL"]
    table = people(120).with_columns(
        column.alias(f"{column.name}{nth // len(more)}{nth}") for nth, column in enumerate(more)
    )
    names = [name for name in table.columns if name not in BOUNDS]
    one, other = both(table, **asked("dp-um", shuffle=shuffle, keep=names))
    same(one, other)
    lists = [name for name in names if name.startswith(("LISTED", "CATEGORY"))]
    cells = [data.sort("ID")[["ID", *lists]].cast(pl.String) for data in (table, other.data)]
    assert cells[0].equals(cells[1], null_equal=True)


def test_an_order_has_to_fit(monkeypatch):
    """Where a column goes in parts it is the order that is refused, with the figure."""
    monkeypatch.setattr(keeping, "PIECE", 3)
    engine = DiskEngine(memory=500_000_000)
    assert engine.column_memory(70_000_000, 0, 0) == 411_250_000
    assert engine.order_memory(50_000_000) == 461_250_000
    assert engine.order_memory(70_000_000) == 541_250_000
    assert engine.order_memory((1 << 31) + 1) > 16 << 30
    assert LocalEngine().order_memory(1 << 31) is None
    monkeypatch.setattr(disk, "_position", lambda _: np.dtype("V70000000"))
    request = asked("dp-um", k=5, attributes=["AGE"], bounds={"AGE": (0, 120)}, resolution=None)
    rule = "column of 10 records takes about 961 MB of memory, and 500 MB are allowed"
    with pytest.raises(mv.DataError, match=rule) as refused:
        mv.protect(people(10), **request, memory="500MB", shuffle=True)
    assert "--memory" in refused.value.remedy
    assert mv.protect(people(10), **request, memory="500MB").data.height == 10


@pytest.mark.parametrize(
    ("spoil", "more"),
    [
        ({"AGE": 300}, {}),
        ({"AGE": 300}, {"attributes": ["GAP", "AGE"]}),
        ({"PAY": float("inf")}, {"missing": "error", "attributes": ["AGE", "PAY"]}),
        ({"PAY": float("nan")}, {"missing": "error", "attributes": ["AGE", "PAY"]}),
        ({"PAY": 1e30}, {"outside": "refuse"}),
        ({"AGE": None}, {"missing": "error"}),
    ],
)
@pytest.mark.parametrize("records", [{71}, {4, 5, 88}, {*range(90)}])
@pytest.mark.usefixtures("in_parts")
def test_large_columns_are_refused_in_the_same_words(spoil, more, records):
    """How many records break a rule, and which is the first of them, of the whole column."""
    places = pl.int_range(90).is_in([*records])
    cells = {name: pl.when(places).then(value).otherwise(name) for name, value in spoil.items()}
    table, request = people(90).with_columns(**cells), asked("dp-um", **more)
    bounds = {name: BOUNDS[name] for name in request["attributes"]}
    resolution = {"PAY": 0.01} if "PAY" in bounds else {}
    found = []
    for engine in ("memory", "disk"):
        with pytest.raises(mv.MicroveilError) as refused:
            mv.protect(table, **{**request, "bounds": bounds, "resolution": resolution},
                       engine=engine)  # fmt: skip
        found.append(str(refused.value))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("method", "more", "because", "instead"),
    [
        ("optimal", {}, "optimal has to have", "choose a method that ranks each attribute"),
        ("mdav", {}, "mdav has to have", "choose a method that ranks each attribute"),
        ("pram", {"unit": "AGE", "max_rows": 9, "attributes": ["GAP"], "resolution": None,
                  "bounds": {"GAP": (0, 60)}}, "who the units are", "leave the unit out"),
        ("record-dp", {"partition": "optimal"}, "the partition optimal", "--partition ranking"),
        ("idp-vector", {"partition": "noise-aware"}, "partition noise-aware", "choose the part"),
        ("idp-cbls", {"exact_cells": "widen"}, "merging clusters", "choose a larger k, or dp-um"),
        ("dp-um", {"isotonic": True}, "isotonic regression", "leave it out"),
        ("ranking", {"attributes": None, "bounds": None}, "the choice of attributes", "name them"),
        ("pram", {"attributes": ["KIND"], "bounds": None, "resolution": None},
         "column 'KIND'", "whole numbers"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("in_parts")
def test_what_needs_a_whole_column_is_refused(method, more, because, instead):
    """By name, with the figures, and with what would do."""
    table = people(90).with_columns(KIND=pl.col("SEX").cast(pl.Enum(["f", "m"])))
    with pytest.raises(mv.DataError, match=r"work on one column of 90 records takes") as refused:
        mv.protect(table, **asked(method, **more), engine="disk")
    assert because in refused.value.rule
    assert instead in refused.value.remedy


LISTS = {"SEX": ["f", "m"], "PLACE": mv.ordered("by the sea", "in the hills", "a town")}


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("pram", {}),
        ("pram", {"missing": "protect"}),
        ("pram", {"missing": "protect", "missing_reasons": True,
                  "missing_codes": {"SEX": ["?"], "PLACE": ["-"]}}),
        ("dp-synthetic", {"epsilon": 30, "missing": "protect", "missing_codes": {"SEX": ["?"]}}),
        ("dp-synthetic", {"epsilon": 30, "missing": "protect", "target": "SEX",
                          "missing_codes": {"SEX": ["?"]}}),
        ("dp-um", {"attributes": ["PLACE"], "categories": {"PLACE": LISTS["PLACE"]}}),
        ("k-noise", {"attributes": ["PLACE"], "categories": {"PLACE": LISTS["PLACE"]}}),
        ("k-pram", {"attributes": ["PLACE"], "categories": {"PLACE": LISTS["PLACE"]}}),
        ("pram", {"attributes": ["SEX"], "categories": {"SEX": ["f", "x"]}}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.usefixtures("in_parts")
def test_large_columns_of_text_are_released_alike(method, more, suffix, tmp_path):
    """Cells, guarantee, figures of how far words moved, and refusals of words in no list."""
    table = people(90).with_columns(
        PLACE=pl.Series(["by the sea", None, "in the hills", "a town", "a town"] * 18)
    )
    if "missing_codes" in more:
        table = table.with_columns(
            SEX=pl.when(pl.int_range(90) % 8 == 3).then(pl.lit("?")).otherwise("SEX"),
            PLACE=pl.when(pl.int_range(90) % 9 == 4).then(pl.lit("-")).otherwise("PLACE"),
        )
    request = asked(method, **{"attributes": ["SEX", "PLACE"], "categories": LISTS,
                               "linkage": False, "keep": (), **more})  # fmt: skip
    del request["bounds"], request["resolution"]
    path = tmp_path / f"people{suffix}"
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    found = []
    for name, engine in (("whole", {}), ("parts", {"engine": "disk"})):
        try:
            found.append(protect_file(path, tmp_path / name, **request, **engine))
        except mv.MicroveilError as error:
            found.append(str(error))
    if isinstance(found[0], str):
        assert found[0] == found[1]
    else:
        same(*found)


@pytest.mark.usefixtures("in_parts")
def test_clusters_have_to_fit(monkeypatch):
    """Of a column in parts it is they that are refused, with the figure."""
    monkeypatch.setattr(disk, "A_CLUSTER", 110 * 10**6)
    monkeypatch.setattr(disk, "IN_PARTS", 10**8)
    request = asked("dp-um", attributes=["AGE"], bounds={"AGE": (0, 120)}, resolution=None, k=2)
    rule = "column of 10 records takes about 911 MB of memory, and 500 MB are allowed"
    with pytest.raises(mv.DataError, match=rule) as refused:
        mv.protect(people(10), **request, memory="500MB")
    assert "choose a larger k" in refused.value.remedy
    assert mv.protect(people(10), **request, memory="1.1GB").data.height == 10


def test_linkage_is_left_out_where_what_it_takes_does_not_fit():
    """The forecast counts libraries, pages of files and, of text, the longest cell or word."""
    n_records, engine = 5_000_000, DiskEngine(memory=700_000_000)
    numbers = pl.DataFrame({"A": pl.zeros(n_records, eager=True), "B": 1, "T": "x" * 65})
    asked = {"attributes": ["A", "B"]}
    refused = "that takes about 1.1 GB of memory, and 0.7 GB are allowed"
    assert to_link(engine, numbers, asked) == refused
    assert to_link(engine, numbers, {}) == refused  # text is not protected unless it is declared
    assert to_link(DiskEngine(memory=1_200_000_000), numbers, asked) is True
    assert to_link(DiskEngine(memory=1_200_000_000), numbers[:1_000_000], {}) is True
    for words in (None, ["y" * 10], mv.ordered("y" * 100)):
        asked = {"attributes": ["T"], "categories": {"T": words}}
        found = to_link(engine, numbers[:1_000_000], asked)
        takes = "3.6" if words == mv.ordered("y" * 100) else "2.4"
        assert found == f"that takes about {takes} GB of memory, and 0.7 GB are allowed"
    assert to_link(LocalEngine(), numbers, {}) is True


PEAK = """
import json
import sys
from pathlib import Path
from microveil.commands.files import protect_file
protect_file(
    sys.argv[1], sys.argv[2], engine="disk", **json.loads(sys.argv[3]),
)
lines = Path("/proc/self/status").read_text().splitlines()
print(1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1]))
"""


def peak(path, folder, said):
    """What a process takes at most, in bytes, that protects a file on the disk."""
    command = [sys.executable, "-c", PEAK, path, folder, json.dumps(said)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux counts it")
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_memory_that_is_allowed_is_kept_for_long_text(form, tmp_path):
    """Of cells of 69 letters, 350 MB in all: read, kept and written in parts, without linkage."""
    n_records = 5_000_000
    random = np.random.default_rng(1)
    people = pl.DataFrame(
        {
            "A": random.integers(0, 10**6, n_records),
            "NAME": pl.Series(random.integers(10**8, 10**9, n_records)).cast(pl.String)
            + "-a longer text that is kept here for each person of the table",
        }
    )
    path = tmp_path / f"people.{form}"
    (people.write_parquet if form == "parquet" else people.write_csv)(path)
    said = {"method": "dp-um", "k": 200, "epsilon": 2, "attributes": ["A"],
            "bounds": {"A": (0, 10**6)}, "keep": ["NAME"], "memory": "450MB"}  # fmt: skip
    assert peak(path, tmp_path / "release", said) < 450_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux counts it")
@pytest.mark.parametrize(
    ("form", "of", "more"),
    [
        ("parquet", "long", {}),
        ("csv", "long", {}),
        ("parquet", "missing", {}),
        ("parquet", "few", {}),
        ("parquet", "category", {}),
        ("parquet", "long", {"shuffle": False}),
        ("parquet", "one group", {"shuffle": False}),
    ],
)
def test_the_memory_that_is_allowed_is_kept_for_long_text_in_random_order(form, of, more, tmp_path):
    """Of cells of 200 to 700 letters, 675 MB in all, of few of 2 million, of words of 500."""
    n_records = 1_500_000
    random = np.random.default_rng(1)
    letters = "a text that goes on, and on, about each person of the table; " * 20
    lengths, starts = random.integers(200, 700, n_records), random.integers(0, 400, n_records)
    if of == "few":
        cells = np.array(["a", "a longer text", "b"], dtype=object)[lengths % 3].tolist()
        for place in range(7, n_records, n_records // 60):
            cells[place] = "c" * 2_000_000
    elif of == "category":
        cells = [f"{number % 300} {letters[:500]}" for number in starts.tolist()]
    else:
        both = zip(starts.tolist(), lengths.tolist(), strict=True)
        cells = [letters[start : start + length] for start, length in both]
    people = pl.DataFrame(
        {
            "A": random.integers(0, 10**6, n_records),
            "B": random.gamma(2, 50, n_records),
            "NOTE": pl.Series(cells).cast(pl.Categorical if of == "category" else pl.String),
        }
    )
    if of == "missing":
        people = people.with_columns(NOTE=pl.when(pl.Series(lengths) % 5 > 0).then("NOTE"))
    path = tmp_path / f"people.{form}"
    if of == "one group":
        people.write_parquet(path, row_group_size=n_records)
    else:
        (people.write_parquet if form == "parquet" else people.write_csv)(path)
    said = {"method": "dp-um", "k": 200, "epsilon": 2, "attributes": ["A", "B"],
            "bounds": {"A": (0, 10**6), "B": (0, 1000)}, "resolution": {"B": 0.01},
            "outside": "clamp", "keep": ["NOTE"], "shuffle": True, "memory": "500MB",
            "linkage": False, **more}  # fmt: skip
    assert peak(path, tmp_path / "release", said) < 500_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux counts it")
@pytest.mark.parametrize(
    "more",
    [
        {"method": "dp-um", "k": 200, "epsilon": 2},
        {"method": "dp-um", "k": 200, "epsilon": 2, "shuffle": True},
        {"method": "dp-um", "k": 200, "epsilon": 2, "shuffle": "columns", "keep": ()},
        {"method": "k-pram", "k": 200},
        {"method": "k-pram", "width": 10**9, "noise": "permutation"},
        {
            "method": "pram",
            "epsilon": 1,
            "attributes": ["NAME"],
            "bounds": None,
            "resolution": None,
            "keep": (),
            "memory": "500MB",
            "outside": None,
            "categories": {"NAME": ["east", "a longer name than twelve", "west"]},
        },
        {
            "method": "dp-synthetic",
            "epsilon": 0.1,
            "memory": "500MB",
            "missing": "protect",
            "keep": (),
            "attributes": ["A", "B", "NAME"],
            "categories": {"NAME": ["east", "a longer name than twelve", "west"]},
        },
    ],
)
def test_the_memory_that_is_allowed_is_kept(more, tmp_path):
    """Of columns that take 616 MB at hand: missing values and text, kept or written anew."""
    n_records = 12_000_000
    random = np.random.default_rng(1)
    pl.DataFrame(
        {
            "A": random.integers(0, 10**6, n_records),
            "B": np.where(random.random(n_records) < 0.1, np.nan, random.gamma(2, 50, n_records)),
            "NAME": np.array(["east", "a longer name than twelve", "west"])[
                random.integers(0, 3, n_records)
            ],
        }
    ).write_parquet(tmp_path / "people.parquet")
    said = {"attributes": ["A", "B"], "bounds": {"A": (0, 10**6), "B": (0, 1000)},
            "resolution": {"B": 0.01}, "outside": "clamp", "missing": "keep", "memory": "450MB",
            "keep": ["NAME"], **more}  # fmt: skip
    paths = tmp_path / "people.parquet", tmp_path / "release"
    assert peak(*paths, said) < int(said["memory"].removesuffix("MB")) * 1_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux counts it")
@pytest.mark.parametrize(("k", "memory"), [(3, 500), (5, 450), (20, 450)])
@pytest.mark.parametrize("method", ["dp-um", "idp-vector"])
def test_the_memory_that_is_allowed_is_kept_where_a_column_just_fits(method, k, memory, tmp_path):
    """Of columns that are planned and drawn at hand, and of those just too long for that."""
    n_records = 3_000_000
    random = np.random.default_rng(2)
    pay = np.round(random.gamma(2, 50, n_records), 2).clip(0, 5000)
    columns = {"A": random.integers(0, 10**5, n_records), "B": pay, "C": pay[::-1]}
    absent = pl.int_range(n_records) % 6 == 0
    people = pl.DataFrame(columns).with_columns(
        pl.when(~absent).then(name).alias(name) for name in ("A", "B")
    )
    in_a_group = 1 << 20 if method == "idp-vector" else None
    people.write_parquet(tmp_path / "people.parquet", row_group_size=in_a_group)
    said = {"method": method, "k": k, "epsilon": 2, "attributes": [*columns], "linkage": False,
            "bounds": {"A": (0, 10**5), "B": (0, 5000), "C": (0, 5000)},
            "resolution": {"B": 0.01, "C": 0.01}, "missing": "keep", "memory": f"{memory}MB",
            **({"exact_cells": "allow"} if method == "idp-vector" else {})}  # fmt: skip
    found = peak(tmp_path / "people.parquet", tmp_path / "release", said)
    assert found < memory * 1_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux counts it")
@pytest.mark.parametrize(("n_columns", "form", "memory"), [
    (10, "parquet", 825), (20, "parquet", 480), (50, "parquet", 590), (200, "parquet", 715),
    (400, "parquet", 890), (200, "csv", 715),
])  # fmt: skip
def test_the_memory_that_is_allowed_is_kept_for_many_columns(n_columns, form, memory, tmp_path):
    """Of a table of a fixed size, the more columns of it are written, the less records a time.

    Of ten columns two are planned at a time, and just fit.
    """
    n_records = 120_000_000 // n_columns
    random = np.random.default_rng(3)
    pay = np.round(random.gamma(2, 50, n_records), 2).clip(0, 5000)
    people = pl.DataFrame({f"C{n}": np.roll(pay, 7919 * n) for n in range(n_columns)})
    path = tmp_path / f"people.{form}"
    (people.write_parquet if form == "parquet" else people.write_csv)(path)
    said = {"method": "dp-um", "k": 10, "epsilon": 5, "attributes": people.columns,
            "bounds": dict.fromkeys(people.columns, (0, 5000)), "memory": f"{memory}MB",
            "resolution": dict.fromkeys(people.columns, 0.01), "linkage": False}  # fmt: skip
    found = peak(path, tmp_path / "release", said)
    assert found < memory * 1_000_000


def wide(monkeypatch, tmp_path, table, **said):
    """Protect 150 columns with 480 MB, where a table of 100 KB is not small."""
    monkeypatch.setattr(engines, "LARGE", 100_000)
    table.write_parquet(tmp_path / "people.parquet")
    protect_file(tmp_path / "people.parquet", tmp_path / "release", engine="disk", memory="480MB",
                 linkage=False, **said)  # fmt: skip


def test_many_columns_have_to_fit(tmp_path, monkeypatch):
    """Where memory does not hold what writing them takes, it is said before they are planned."""
    engine = DiskEngine(memory=480_000_000)
    assert engine.width_memory(20) is None
    assert engine.width_memory(200) == 700_000_000
    table = pl.DataFrame({f"C{n}": np.arange(1_000.0) for n in range(150)})
    said = {"method": "dp-um", "k": 100, "epsilon": 5,
            "bounds": dict.fromkeys(table.columns, (0, 1000)),
            "resolution": dict.fromkeys(table.columns, 1)}  # fmt: skip
    rule = "to write 150 columns takes about 660 MB of memory, and 480 MB are allowed"
    for named in (
        {},
        {"attributes": table.columns},
        {"attributes": ["C0"], "keep": table.columns[1:]},
    ):
        with pytest.raises(mv.DataError, match=rule):
            wide(monkeypatch, tmp_path, table, **said, **named)
        assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("which", ["truths", "text", "to csv"])
def test_columns_that_take_little_to_write_need_not_fit(which, tmp_path, monkeypatch):
    """Truth values of one bit, columns of text that are not released, a release as text."""
    numbers = {"A": np.arange(1_000.0) % 97}
    said = {"method": "dp-um", "k": 100, "epsilon": 5, "bounds": {"A": (0, 97)}}
    said["resolution"] = {"A": 1}
    if which == "truths":
        table = pl.DataFrame({f"C{n}": np.arange(1_000) % 3 == 0 for n in range(150)})
        said = {"method": "pram", "epsilon": 5, "attributes": table.columns}
    elif which == "text":
        table = pl.DataFrame({**numbers, **{f"C{n}": ["some text"] * 1_000 for n in range(150)}})
    else:
        table = pl.DataFrame({**numbers, **{f"C{n}": np.arange(1_000) for n in range(150)}})
        said |= {"attributes": ["A"], "keep": table.columns[1:], "format": "csv"}
    wide(monkeypatch, tmp_path, table, **said)
    assert (tmp_path / "release").exists()


def test_a_wide_table_is_written_as_a_narrow_one_is(tmp_path, monkeypatch):
    """In row groups of fewer records: every cell once, in its place."""
    monkeypatch.setattr(parquet_format, "LARGE", 1)
    monkeypatch.setattr(parquet_format, "_BYTES", 8 * 5 * 70)
    table = pl.DataFrame({f"C{n}": np.arange(200.0) * n for n in range(5)})
    write_data(table, tmp_path / "data.parquet", text=None)
    read = pl.read_parquet(tmp_path / "data.parquet")
    assert read.equals(table)
    metadata = parquet.read_metadata(tmp_path / "data.parquet")
    assert max(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)) == 70


def test_a_table_of_less_than_a_byte_a_record_is_written(tmp_path, monkeypatch):
    """Truth values take a bit each: a large table of a few of them too."""
    monkeypatch.setattr(parquet_format, "LARGE", 1)
    table = pl.DataFrame({"IS": [True, False] * 100})
    write_data(table, tmp_path / "data.parquet", text=None)
    assert pl.read_parquet(tmp_path / "data.parquet").equals(table)

"""Cells between two steps of Spark, in rows and in files, and the files of a release."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="the engine of Spark needs pyarrow")

from pyarrow import parquet  # noqa: E402 -- this needs pyarrow

from microveil.engines import spark_chunks as chunks  # noqa: E402
from microveil.engines import spark_runs  # noqa: E402
from microveil.engines.spark_cells import as_written, in_files  # noqa: E402

CELLS = [b"", b"small", None, bytes(range(256)) * 40, b"in file:0 3 /etc/passwd", b"x" * 101]


def batch(cells):
    return pa.RecordBatch.from_pydict(
        {"nth": np.arange(len(cells)), "cell": pa.array(cells, pa.binary())}
    )


def given(batches):
    """A task that gives what it is given."""
    yield from batches


def test_a_step_reads_the_cells_that_one_before_it_gave(tmp_path):
    """Small ones, large ones, none, and those whose bytes are like what stands for a file."""
    rows = [*in_files(given, tmp_path, 100)(iter([batch(CELLS), batch(CELLS[::-1])]))]
    found = [*chunks.each_row(rows)]
    assert [row["nth"].as_py() for row in found] == [*range(6), *range(6)]
    read = [None if row["cell"].written is None else row["cell"].as_buffer().to_pybytes()
            for row in found]  # fmt: skip
    assert read == [*CELLS, *CELLS[::-1]]


def test_large_cells_are_in_one_file_of_an_attempt_which_nobody_else_can_open(tmp_path):
    """Rows hold none of them; another attempt writes another file, and takes none of the first."""
    attempts = [[*in_files(given, tmp_path, 100)(iter([batch(CELLS)]))] for _ in range(2)]
    assert [file.stat().st_mode & 0o777 for file in tmp_path.iterdir()] == [0o600] * 2
    assert all(rows[0].nbytes < 1000 for rows in attempts)
    (first,) = {*tmp_path.iterdir()} & {Path(_file_of(attempts[0]))}
    first.unlink()
    assert [*chunks.each_row(attempts[1])][3]["cell"].as_buffer().to_pybytes() == CELLS[3]
    with pytest.raises(OSError, match="No such file"):
        [*chunks.each_row(attempts[0])][3]["cell"].as_buffer()


def test_a_cell_whose_file_is_cut_short_is_an_error(tmp_path):
    """And never a shorter one."""
    rows = [*in_files(given, tmp_path, 100)(iter([batch(CELLS)]))]
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(OSError, match="not whole"):
        [*chunks.each_row(rows)][3]["cell"].as_buffer()


def test_cells_and_parts_of_them_are_passed_on_without_a_look_at_their_file(tmp_path):
    """A step after reads them; nothing is written anew, and files may be gone meanwhile."""
    rows = [*in_files(given, tmp_path, 100)(iter([batch(CELLS)]))]
    held = [row["cell"] for row in chunks.each_row(rows) if row["cell"].written is not None]
    whole = [cell for cell in CELLS if cell is not None]
    assert [cell.size for cell in held] == [*map(len, whole)]
    (file,) = tmp_path.iterdir()
    file.rename(tmp_path / "elsewhere")
    halves = [cell.part(cell.size // 2, cell.size) for cell in held]
    quarters = [half.part(0, half.size // 2) for half in halves]

    def passed_on(_batches):
        yield as_written({"nth": pa.array(range(len(held))), "cell": held, "part": quarters})

    (passed,) = in_files(passed_on, tmp_path, 100)(iter(()))
    assert [*tmp_path.iterdir()] == [tmp_path / "elsewhere"]
    (tmp_path / "elsewhere").rename(file)
    for row, bytes_ in zip(chunks.each_row([passed]), whole, strict=True):
        assert row["cell"].as_buffer().to_pybytes() == bytes_
        half = bytes_[len(bytes_) // 2 :]
        assert row["part"].as_buffer().to_pybytes() == half[: len(half) // 2]


def test_places_in_the_longest_run_fit_their_bytes():
    """The last place too, which is far beyond what tables of tests have."""
    places = np.array([0, chunks.LONGEST - 1, 7])
    (cell,) = chunks.bytes_of_places([places])
    assert chunks.places_in(cell).tolist() == places.tolist()


def runs_of(batches, largest):
    """How many records each run of a column of text has, and whether all records are in one."""
    (first, *_), names = batches, ["c0"]
    rows = [*spark_runs.chunked(names, {}, 100, largest, 2)(iter(batches))]
    found = [row for batch in rows for row in batch.to_pylist()]
    ids = [one for row in found for one in chunks.unpacked(row["id"]).column(0).to_pylist()]
    texts = [one for row in found for one in chunks.unpacked(row["c0"]).column(0).to_pylist()]
    assert sum(row["bytes"] for row in found) >= sum(map(len, texts))
    assert dict(zip(ids, texts, strict=True)) == {
        key: text
        for batch in batches
        for key, text in zip(*batch.to_pydict().values(), strict=True)
    }
    assert len(first.schema) == 2
    return [row["count"] for row in found]


def test_a_run_of_long_text_has_fewer_records_and_none_is_lost():
    """Of so many bytes together with the next batch; a batch that is larger is a run of its own."""
    batches = [
        pa.record_batch({"id": np.arange(start, start + 10), "c0": ["x" * width] * 10})
        for start, width in ((0, 5), (10, 5), (20, 90), (30, 90), (40, 5))
    ]
    assert runs_of(batches, 1 << 28) == [50]
    assert runs_of(batches, 1100) == [20, 10, 10, 10]
    assert runs_of(batches, 500) == [20, 10, 10, 10]
    assert runs_of(batches, 10) == [10] * 5


def test_batches_that_arrow_does_not_put_together_are_an_error(monkeypatch):
    """Of two gigabytes of text it makes two batches, and no record of the second may be lost."""
    two = SimpleNamespace(combine_chunks=lambda: SimpleNamespace(to_batches=lambda: [1, 2]))
    table = SimpleNamespace(from_batches=lambda _batches: two)
    monkeypatch.setattr(spark_runs, "pa", SimpleNamespace(Table=table))
    with pytest.raises(ValueError, match="too many values"):
        spark_runs._as_one([])


@pytest.mark.spark
def test_a_column_is_written_as_a_list_of_its_values_where_these_come_again(tmp_path):
    """Else as it is, which is smaller, and made in less time: by the first cells of a part."""
    pytest.importorskip("pyspark", reason="make test-spark installs PySpark")
    from microveil.engines.spark_parts import write_part

    nothing = pa.nulls(9000, pa.float64())
    columns = {"AGE": np.arange(9000) % 90, "PAY": np.arange(9000) / 100, "GONE": nothing}
    write_part(tmp_path, 1, [pa.record_batch(columns)])
    file = parquet.ParquetFile(tmp_path / "part-0000000000000001.parquet")
    chunks_of = map(file.metadata.row_group(0).column, range(3))
    assert [chunk.has_dictionary_page for chunk in chunks_of] == [True, False, True]
    assert file.read().to_pydict() == pa.table(columns).to_pydict()


def _file_of(rows):
    return rows[0]["cell"][3].as_py().split(b" ", 4)[-1].decode()


def part(count):
    return pa.RecordBatch.from_pydict({"A": np.arange(count)})


@pytest.mark.spark
def test_a_part_that_is_written_again_is_there_once(tmp_path):
    """By its number: of two attempts one file is left, and of one that fails none."""
    pytest.importorskip("pyspark", reason="make test-spark installs PySpark")
    from microveil.engines.spark_parts import n_records_of, write_part

    for _ in range(2):
        row = write_part(tmp_path, 7, iter([part(3), part(4)]))
        assert row["count"].to_pylist() == [7]
    assert n_records_of(tmp_path) == 7
    assert write_part(tmp_path, 8, [part(5)])["count"].to_pylist() == [5]

    def fails():
        yield part(3)
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        write_part(tmp_path, 9, fails())
    assert n_records_of(tmp_path) == 12
    assert len([*tmp_path.iterdir()]) == 2
    says = parquet.read_metadata(min(tmp_path.iterdir())).metadata
    assert {*says} == {b"org.apache.spark.version"}  # nothing of columns beside their names

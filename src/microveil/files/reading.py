"""Reading CSV and Parquet files."""

import hashlib
import io
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

import polars as pl

from microveil.errors import FileError, stands_alone
from microveil.files.columns import Misfit, convert, infer, mixture, plain
from microveil.files.structure import Structure, check_structure
from microveil.files.text import TextFormat, as_utf8, check_utf8, place

__all__ = ["OpenedFile", "SourceFile", "open_file", "read_file"]

N_SAMPLE = 10_000  # records that a column's type is read off
_CSV = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A table read from a file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    format : {"csv", "parquet"}
        How it is stored.
    frame : polars.DataFrame
        The table, shape (n_records, n_columns).
    text : TextFormat or None
        How the CSV file is written; None for Parquet.
    digest : str
        SHA-256 of the file's bytes, in hexadecimal digits.
    """

    path: Path
    format: Literal["csv", "parquet"]
    frame: pl.DataFrame
    text: TextFormat | None
    digest: str


class OpenedFile:
    """A file whose form is checked and whose columns have names, but no types yet."""

    def __init__(self, path: Path, text: TextFormat | None) -> None:
        self._path, suffix = path, path.suffix.lower()
        if suffix not in _CSV + _PARQUET:
            rule = "the file's name must end with one of " + " ".join(_CSV + _PARQUET)
            raise FileError(str(path), rule, "rename it, or export the table as CSV or Parquet")
        self._raw = _read_bytes(path)
        self._table: pl.DataFrame | _CsvReader
        if suffix in _PARQUET:
            self._table = _read_parquet(path, self._raw)
        else:
            text = text or TextFormat(separator="\t" if suffix == ".tsv" else ",")
            self._table = _CsvReader(path, as_utf8(path, self._raw, text), text)

    @property
    def names(self) -> list[str]:
        """The columns."""
        if isinstance(self._table, pl.DataFrame):
            return self._table.columns
        return self._table.structure.names

    def read(
        self,
        *,
        decimals: Collection[str] = (),
        as_text: Callable[[str], bool] = lambda _name: False,
        of_one_kind: Callable[[str], bool] = lambda _name: False,
    ) -> SourceFile:
        """Read the table; see `read_file`."""
        with ThreadPoolExecutor(1) as beside:
            digest = beside.submit(lambda: hashlib.sha256(self._raw).hexdigest())
            table = self._table
            if isinstance(table, pl.DataFrame):
                return SourceFile(
                    path=self._path,
                    format="parquet",
                    frame=table,
                    text=None,
                    digest=digest.result(),
                )
            frame = table.read(frozenset(decimals), as_text, of_one_kind)
            return SourceFile(
                path=self._path, format="csv", frame=frame, text=table.text, digest=digest.result()
            )


@stands_alone
def open_file(path: str | Path, *, text: TextFormat | None = None) -> OpenedFile:
    """Open a CSV or Parquet file to see its columns before it is said how to read them.

    Parameters
    ----------
    path : str or pathlib.Path
    text : TextFormat, optional
        As for `read_file`.

    Raises
    ------
    FileError
        The file cannot be read or is no table.
    """
    return OpenedFile(Path(path), text)


@stands_alone
def read_file(
    path: str | Path,
    *,
    text: TextFormat | None = None,
    decimals: Collection[str] = (),
    as_text: Callable[[str], bool] = lambda _name: False,
    of_one_kind: Callable[[str], bool] = lambda _name: False,
) -> SourceFile:
    r"""Read a CSV or Parquet file as a table, or say which line breaks which rule.

    Parameters
    ----------
    path : str or pathlib.Path
        A file named .csv, .tsv, .txt, .parquet or .pq.
    text : TextFormat, optional
        How a CSV file is written; by default with points, in UTF-8 and with commas, or
        with tabs where the file is named .tsv.
    decimals : collection of str
        Columns of a CSV file to read as decimal numbers even where all look whole.
    as_text : callable
        Says of a column's name whether to take its cells as they stand, whatever they look
        like: nobody calculates with them.
    of_one_kind : callable
        Says of a column's name that a value or a few of another kind, 007 among numbers, are an
        error and do not make it text: else its type would show that there is such a record.

    Returns
    -------
    SourceFile
        The table and the digest of the file.

    Raises
    ------
    FileError
        The file cannot be read, is no table, or a value does not fit its column. The
        message holds the line, never the value.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("AGE,ZIP\n41,01234\n,98101\n")
    ...     read_file(path).frame.to_dict(as_series=False)
    {'AGE': [41, None], 'ZIP': ['01234', '98101']}
    """
    opened = open_file(path, text=text)
    return opened.read(decimals=decimals, as_text=as_text, of_one_kind=of_one_kind)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        rule, remedy = "the file must exist", "check its name and folder"
    except IsADirectoryError:
        rule, remedy = "this must be a file, and it is a folder", "name the file inside it"
    except PermissionError:
        rule, remedy = "the file must be readable for you", "ask its owner for the right to read it"
    except (OSError, ValueError):
        rule, remedy = "the file must be readable", "check the disk and the name"
    raise FileError(str(path), rule, remedy)


def _read_parquet(path: Path, raw: bytes) -> pl.DataFrame:
    if not raw:
        rule = "the file must hold a table, and it is empty"
        raise FileError(str(path), rule, "check that the table was exported")
    try:
        frame = pl.read_parquet(io.BytesIO(raw))
    except _POLARS_ERRORS:
        rule = "the file must be whole Parquet, and it is broken or something else"
        remedy = "export the table again; name it .csv if it is text"
        raise FileError(str(path), rule, remedy) from None
    if frame.height == 0 or frame.width == 0:
        rule = "the file must hold records, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")
    return pl.DataFrame([plain(column) for column in frame])


class _CsvReader:
    """One CSV file on its way from bytes to a table."""

    def __init__(self, path: Path, data: bytes, text: TextFormat) -> None:
        self.path = path
        self.data = data
        self.text = text
        self.structure: Structure = check_structure(path, data, text)

    def read(
        self,
        decimals: Collection[str],
        as_text: Callable[[str], bool],
        of_one_kind: Callable[[str], bool],
    ) -> pl.DataFrame:
        """Read the table: quickly where that is safe, else value by value."""
        if not self.structure.is_ascii or not self.data[: self.structure.header_end].isascii():
            check_utf8(self.path, self.data, self.text)
        dtypes = self._dtypes(decimals, as_text)
        fast = {
            name: dtype if dtype in (pl.Int64, pl.Float64) else pl.String()
            for name, dtype in dtypes.items()
        }
        frame = self._fast(fast)
        if frame is None:
            frame = self._parse(self.data, dict.fromkeys(dtypes, pl.String()))
        if frame is None:
            rule = "the file must be a table"
            raise FileError(str(self.path), rule, "export the table again as CSV")
        frame = self._convert(frame, dtypes)
        self._refuse_mixtures(frame, lambda name: of_one_kind(name) and not as_text(name))
        return frame

    def _dtypes(
        self, decimals: Collection[str], as_text: Callable[[str], bool]
    ) -> dict[str, pl.DataType | None]:
        """Type of each column, None where it has no value among the first records."""
        structure = self.structure
        texts = dict.fromkeys(structure.names, pl.String())
        end = structure.end
        if structure.n_records > N_SAMPLE:
            end = structure.record_end(self.data, self.text, N_SAMPLE)
        sample = self._parse(self.data[:end], texts)
        dtypes: dict[str, pl.DataType | None] = {}
        misfits = []
        for name, unlike in zip(structure.names, structure.unlike_numbers, strict=True):
            if name in decimals or as_text(name) or sample is None:
                dtypes[name] = pl.Float64() if name in decimals else pl.String()
                continue
            dtype = infer(sample[name], self.text.decimal)
            if unlike:  # text, or dates of the first thousand years
                dtypes[name] = dtype if isinstance(dtype, pl.Date) else pl.String()
            elif isinstance(dtype, Misfit):
                misfits.append((dtype, name))
            else:
                dtypes[name] = dtype
        if misfits:
            self._refuse(misfits)
        return dtypes

    def _fast(self, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        """Read numbers as polars reads them; None where our rules may say otherwise."""
        decimals = [name for name, dtype in schema.items() if dtype == pl.Float64]
        if decimals and self.text.decimal == "," and b"." in self.data:
            return None  # polars takes 1.234 for the decimal number, whatever the mark is
        frame = self._parse(self.data, schema)
        if frame is not None and decimals:
            # A sum is finite only if all its terms are: polars reads nan and inf as numbers.
            sums = frame.select(pl.col(decimals).sum()).row(0)
            if not pl.Series(sums, dtype=pl.Float64).is_finite().all():
                return None
        return frame

    def _parse(self, data: bytes, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        end = self.structure.end
        try:
            frame = pl.read_csv(
                data if len(data) <= end else data[:end],
                has_header=False,
                skip_rows=1,
                schema=schema,
                separator=self.text.separator,
                # Without this a cell of two quotes is empty text; with it reading is slower.
                null_values="" if self.structure.has_quotes else None,
                decimal_comma=self.text.decimal == ",",
            )
        except _POLARS_ERRORS:
            return None
        whole = data is self.data and frame.height != self.structure.n_records
        return None if whole else frame

    def _convert(self, frame: pl.DataFrame, dtypes: dict[str, pl.DataType | None]) -> pl.DataFrame:
        """Give the columns that came as text their types, several at a time."""
        with ThreadPoolExecutor() as pool:
            columns = list(pool.map(self._convert_one, frame, dtypes.values()))
        misfits = [
            (column, name)
            for column, name in zip(columns, dtypes, strict=True)
            if isinstance(column, Misfit)
        ]
        if misfits:
            self._refuse(misfits)
        return pl.DataFrame([column for column in columns if isinstance(column, pl.Series)])

    def _convert_one(self, column: pl.Series, dtype: pl.DataType | None) -> pl.Series | Misfit:
        if dtype is None:
            found = infer(column.drop_nulls().head(N_SAMPLE), self.text.decimal)
            if isinstance(found, Misfit):
                return replace(found, index=int(column.is_not_null().arg_true()[found.index]))
            dtype = found or pl.String()
        if column.dtype != pl.String:
            return column
        return convert(column, dtype, self.text.decimal)

    def _refuse_mixtures(self, frame: pl.DataFrame, of_one_kind: Callable[[str], bool]) -> None:
        misfits = []
        for column, unlike in zip(frame, self.structure.unlike_numbers, strict=True):
            if column.dtype != pl.String or not of_one_kind(column.name):
                continue
            present = column.drop_nulls()
            # A code makes a column text wherever it stands, other words at its beginning.
            values = present if unlike else present.head(N_SAMPLE)
            misfit = mixture(values, self.text.decimal)
            if misfit is not None:
                index = int(column.is_not_null().arg_true()[misfit.index])
                misfits.append((replace(misfit, index=index), column.name))
        if misfits:
            self._refuse(misfits)

    def _refuse(self, misfits: list[tuple[Misfit, str]]) -> NoReturn:
        first, name = min(misfits, key=lambda pair: pair[0].index)
        line = self.structure.line_of(self.data, self.text, first.index)
        # By number: the names are a person's values where the file has no header.
        where = f"{place(self.path, line)}, column {self.structure.names.index(name) + 1}"
        raise FileError(where, first.rule, first.remedy)

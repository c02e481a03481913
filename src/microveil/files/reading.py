"""Reading files of any format."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from microveil.errors import FileError, stands_alone
from microveil.files.compression import unpacked
from microveil.files.formats import Format, format_of
from microveil.files.table_schema import Beside, schema_beside
from microveil.files.text import TextFormat
from microveil.table import Labels

__all__ = ["OpenedFile", "SourceFile", "open_file", "read_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A table read from a file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    format : Format
        How it is stored.
    frame : polars.DataFrame
        The table, shape (n_records, n_columns).
    text : TextFormat or None
        How it is written; None where it is no text.
    digest : str
        SHA-256 of the file's bytes, in hexadecimal digits.
    labels : mapping of str to Labels
        By column: those of the file, and where its format has no place for some those of the
        schema.json beside it.
    """

    path: Path
    format: Format
    frame: pl.DataFrame
    text: TextFormat | None
    digest: str
    labels: Mapping[str, Labels]


class OpenedFile:
    """A file whose form is checked and whose columns have names, but no types yet."""

    def __init__(self, path: Path, text: TextFormat | None) -> None:
        self._path, self._format = path, format_of(path)
        self._raw = _read_bytes(path)
        data, compression = self._raw, self._format.compression
        if compression is not None:
            data = unpacked(path, data, compression)
        self._table = self._format.load().opened(path, data, self._format.text(text))
        beside = None if self._format.keeps_all else schema_beside(path, self._table.names)
        self._beside = beside or Beside(labels=self._table.labels)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self._table.names

    def read(
        self,
        *,
        decimals: Collection[str] = (),
        as_text: Callable[[str], bool] = lambda _name: False,
        of_one_kind: Callable[[str], bool] = lambda _name: False,
        missing: Callable[[str], Collection[str]] = lambda _name: (),
    ) -> SourceFile:
        """Read the table; see `read_file`."""
        with ThreadPoolExecutor(1) as beside:
            digest = beside.submit(lambda: hashlib.sha256(self._raw).hexdigest())
            said = self._beside
            frame = self._table.read(
                said.decimals | frozenset(decimals),
                lambda name: as_text(name) or name in said.texts,
                of_one_kind,
                missing,
            )
            return SourceFile(
                path=self._path,
                format=self._format,
                frame=frame,
                text=self._table.text,
                digest=digest.result(),
                labels=said.labels,
            )


@stands_alone
def open_file(path: str | Path, *, text: TextFormat | None = None) -> OpenedFile:
    """Open a file to see its columns before it is said how to read them.

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
    missing: Callable[[str], Collection[str]] = lambda _name: (),
) -> SourceFile:
    r"""Read a file of any format as a table, or say which line breaks which rule.

    Parameters
    ----------
    path : str or pathlib.Path
        A file whose name ends as one of `FORMATS` does.
    text : TextFormat, optional
        How a file of text is written; by default with points, in UTF-8 and with the format's
        own separator.
    decimals : collection of str
        Columns of a file of text to read as decimal numbers even where all look whole.
    as_text : callable
        Says of a column's name whether to take its cells as they stand, whatever they look
        like: nobody calculates with them.
    of_one_kind : callable
        Says of a column's name that a value or a few of another kind, 007 among numbers, are an
        error and do not make it text: else its type would show that there is such a record.
    missing : callable
        Says of a column's name which text stands for a missing value in a file of text, NA: its
        cells are empty then, unless they are to be taken as they stand.

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
    return opened.read(decimals=decimals, as_text=as_text, of_one_kind=of_one_kind, missing=missing)


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

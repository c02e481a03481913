"""What the product asks of a table, whatever library holds it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.schema import Kind
from microveil.table.labelled import Labels
from microveil.table.restore import Numbers

__all__ = ["Table", "rebuilt"]


class Table(Protocol):
    """What the product asks of a table, whatever library holds it."""

    names: tuple[str, ...]
    n_records: int
    has_index: bool  # that says more than where a row stands, and is in no release
    labels: Mapping[str, Labels]
    of_few: frozenset[str]  # columns whose few values would show in their types

    def kind(self, name: str) -> Kind:
        """Return how the column's values become numbers, if they do."""
        ...

    def has_single_precision(self, name: str) -> bool:
        """Whether the column's numbers are float32."""
        ...

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Return a numeric column as numbers.

        Shared whole numbers are those of the table itself where its library has them as an
        array: whoever asks for them must not write to them.
        """
        ...

    def check_kept(self, name: str) -> None:
        """Refuse a column whose cells may carry more than they show."""
        ...

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Return a text column as positions in a list of categories; -1 where not in it."""
        ...

    def listed(self, name: str) -> tuple[str, ...] | None:
        """Return the categories that the column's type declares; None where it declares none."""
        ...

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Return a column as text, "" where missing: of the first records, or of all."""
        ...

    def coded_words(self, name: str, most: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        """Return a column of text as positions in the list of its different words, in order.

        "" where missing, as `words` has it. None where more words are different than ``most``.
        """
        ...

    def counted_words(self, name: str) -> Counter[str]:
        """Count how often each word of a column of text occurs; what is missing, "", is not."""
        ...

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Return the different cells of a column that are text and begin with a sign."""
        ...

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return a number for each record, the same where a column's cells are, and which lack one.

        Empty text, and not a number, count as missing.
        """
        ...

    def is_plain(self, name: str) -> bool:
        """Whether a column's type alone says that it holds numbers, yes and no, or dates."""
        ...

    def is_text(self, name: str) -> bool:
        """Whether a column's type alone says that it holds text, and lists none."""
        ...

    def floats_as_they_are(self, name: str) -> NDArray[np.float64] | None:
        """Return a column where it is floats as the table holds them: nothing is looked at.

        Some may be no number. None where cells are another type, missing, or may be codes.
        """
        ...

    def taken(self, rows: NDArray[np.int64]) -> "Table":
        """Return the table of some of the records, by position."""
        ...

    def part(self, records: slice) -> "Table":
        """Return the table of records that follow each other: nothing is copied."""
        ...

    def restored(self, name: str, numbers: Numbers) -> Any:
        """Make a column of the type that a column has, from new numbers of so many records."""
        ...

    def numbered(self, name: str, values: NDArray[np.int64]) -> Any:
        """Make a column of whole numbers in the place of one, whatever that held."""
        ...

    def kept(self, name: str, order: NDArray[np.int64] | None) -> Any:
        """Return a column as it is, in an order where one is given, without what hangs on it."""
        ...

    def assembled(self, columns: Mapping[str, Any]) -> Any:
        """Make a frame of the same kind of columns that were restored, numbered or kept."""
        ...


def rebuilt(
    table: Table, columns: Mapping[str, Any], kept: Iterable[str], order: Any = None
) -> Any:
    """Make a frame of new columns and of columns kept as they are, in the order of a table.

    Parameters
    ----------
    table : Table
    columns : mapping of str to column
        Those that were restored or numbered, in their order already.
    kept : iterable of str
    order : int64 array (n_records,), optional
        Of the rows, for those that are kept.
    """
    stay = {*kept}
    return table.assembled(
        {
            name: columns[name] if name in columns else table.kept(name, order)
            for name in table.names
            if name in columns or name in stay
        }
    )

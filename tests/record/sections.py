"""The sections of the record, and the file that each is kept in."""

from collections.abc import Callable, Iterable
from pathlib import Path

from record import releases
from record.keeping import Case

__all__ = ["RECORD", "SECTIONS"]

RECORD = Path(__file__).with_name("record.json")
SECTIONS: dict[str, Callable[[], Iterable[Case]]] = {
    "releases": releases.cases,
}

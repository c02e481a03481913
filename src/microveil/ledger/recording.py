"""One release on its way into the ledger."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from microveil.errors import FileError
from microveil.guarantee import Guarantee
from microveil.ledger.books import Ledger
from microveil.ledger.entries import Entry
from microveil.ledger.keeping import announce, read_ledger
from microveil.ledger.totals import Totals

__all__ = ["Recording", "recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is to be recorded of one release, and where.

    Attributes
    ----------
    place : Path
        Of the ledger.
    guarantee : Guarantee
    population : str
    folder : str
        Name of the folder to publish.
    sha256 : str or None
        Digest of the file that was protected.
    """

    place: Path
    guarantee: Guarantee
    population: str
    folder: str
    sha256: str | None

    def expected(self) -> Totals:
        """Return what the population's releases come to once this one is among them."""
        ledger = read_ledger(self.place) if self.place.exists() else Ledger.new()
        return self._totals(ledger.including(self._line(ledger)))

    def announce(self) -> Totals:
        """Write the line, and return what the population's releases come to with it."""
        return self._totals(announce(self.place, self._line))

    def _line(self, ledger: Ledger) -> Entry:
        return ledger.entry(
            self.guarantee, population=self.population, folder=self.folder, sha256=self.sha256
        )

    def _totals(self, ledger: Ledger) -> Totals:
        return ledger.totals(self.population, sha256=self.sha256)


@contextmanager
def recorded(recording: Recording | None) -> Iterator[Callable[[], None]]:
    """Give what announces a release; an error after that says that the release counts."""
    announced = False

    def announce_it() -> None:
        nonlocal announced
        if recording is not None:
            recording.announce()
            announced = True

    try:
        yield announce_it
    except FileError as error:
        if recording is None or not announced:
            raise
        raise FileError(
            error.place,
            f"{error.rule}; the release's line is in the ledger {recording.place} already, which "
            "counts it all the same",
            error.remedy,
        ) from None

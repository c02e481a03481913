"""Release: what is handed out, and for its custodian how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from microveil.errors import RequestError, stands_alone
from microveil.guarantee import Guarantee
from microveil.noise.shares import CorrectedShares
from microveil.protect.corrected import corrected_of
from microveil.protect.writing import without_measurements, write_release
from microveil.synthesis.measurements import Margins, Measurements, margins_of
from microveil.table import ColumnSchema, MissingCodes, open_table
from microveil.text.notebook import pictured

if TYPE_CHECKING:  # where nobody says which frame it is, Release is one of any kind of frame
    from typing_extensions import TypeVar

    Frame_co = TypeVar("Frame_co", default=Any, covariant=True)
else:
    from typing import TypeVar

    Frame_co = TypeVar("Frame_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """How a release was made: for its custodian, not for publication.

    Pickling is for handing on, so that a pickled manifest comes back empty; copies do not.

    Attributes
    ----------
    contents : dict or None
        None where it stayed with the custodian, as of a release that was pickled.
    """

    contents: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Name the manifest without its figures: notebooks print it."""
        if self.contents is None:
            return "Manifest(stayed with the custodian)"
        return f"Manifest({self.contents.get('method')}, {self.contents.get('n_records')} records)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle nothing of it."""
        return Manifest, ()

    def __copy__(self, _memo: object = None) -> "Manifest":
        """Return the manifest itself: it does not leave the process."""
        return self

    __deepcopy__ = __copy__

    def with_entries(self, **entries: Any) -> "Manifest":
        """Return a manifest that says more."""
        return Manifest(contents={**self.to_dict(), **entries})

    @property
    def custodian_notes(self) -> tuple[str, ...]:
        """Warnings in words that depend on the data: for the custodian, not for logs."""
        return tuple(self.to_dict().get("custodian_notes", ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain values.

        Raises
        ------
        RequestError
            If it stayed with the custodian.
        """
        if self.contents is None:
            raise RequestError(
                "manifest",
                "a release that was pickled is without its manifest, which stays with the "
                "custodian",
                "write or report the release in the process that made it, and pass on what may be "
                "published",
            )
        return dict(self.contents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Generic[Frame_co]):
    """A protected table, what it guarantees and how it was made.

    A pickled release comes back without its manifest, and can neither be written nor reported to
    the custodian any more. Copies in this process have it.

    Attributes
    ----------
    data : data frame
        The same kind of frame as the original.
    guarantee : Guarantee
    notes : tuple of str
        Warnings in words: what a person should know before publishing. What of it depends on
        the data is in the manifest, `Manifest.custodian_notes`.
    manifest : Manifest
        For the custodian.
    measurements : Measurements or None
        What a new table was drawn from: noisy, and as publishable as the table.
    schema : mapping of str to ColumnSchema
        By column of the table: its kind, its categories where they are known, and the labels,
        code lists and codes of missing answers that go along from the file's metadata.
    """

    data: Frame_co
    guarantee: Guarantee
    notes: tuple[str, ...]
    manifest: Manifest
    measurements: Measurements | None = None
    schema: Mapping[str, ColumnSchema] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Say what is promised, without a value of the data: notebooks print it."""
        return f"Release({self.guarantee.in_a_line})"

    def _repr_html_(self) -> str:
        """Say for a notebook what is promised, without a value of the data."""
        return self.guarantee._repr_html_()

    @stands_alone
    def plot(self, *columns: str, original: Any = None) -> Any:
        """Chart the release: its distributions, with public errors; or what moved in it.

        Takes the extra ``report``.

        Parameters
        ----------
        *columns : str
            None for all protected columns, one, or two for their table.
        original : data frame, optional
            The table that was protected: then how far each column moved is charted beside what
            sampling alone would give. That depends on the data and is the custodian's.

        Returns
        -------
        altair.Chart

        Examples
        --------
        >>> import numpy as np
        >>> import microveil as mv
        >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
        >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
        >>> release.plot("AGE").to_dict()["concat"][0]["width"]
        330
        """
        return pictured("release_plot", self, columns, original)

    @stands_alone
    def report(
        self,
        path: str | Path,
        *,
        original: Any,
        assessment: Any = None,
        units: Mapping[str, str] | None = None,
    ) -> Path:
        """Write the custodian's page, readable by its owner alone.

        Parameters
        ----------
        path : str or Path
        original : data frame
            The table that was protected.
        assessment : Assessment, optional
            Of this release; made here where it is not given.
        units : dict of str, optional
            What an attribute's numbers count, by attribute.

        Returns
        -------
        Path

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import microveil as mv
        >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
        >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
        >>> with tempfile.TemporaryDirectory() as place:
        ...     release.report(pathlib.Path(place) / "r.html", original=people).name
        'r.html'
        """
        written: Path = pictured(
            "write_report", self, path, original, {"assessment": assessment, "units": units}
        )
        return written

    @property
    def population(self) -> str | None:
        """Who the people are, by the name under which the custodian's ledger counts them."""
        name: str | None = self.manifest.to_dict().get("parameters", {}).get("population")
        return name

    def codes_of_original(self, given: MissingCodes | None = None) -> MissingCodes:
        """Return what stood for a missing value in the original.

        Parameters
        ----------
        given : MissingCodes, optional
            Goes before what was declared; that stayed with the custodian of a pickled release.
        """
        asked = (self.manifest.contents or {}).get("parameters", {})
        declared = MissingCodes.of(asked.get("missing_codes"), asked.get("missing_values"))
        return given or declared

    @property
    def codes(self) -> MissingCodes:
        """What stands for a missing value in the release: codes where reasons are kept apart."""
        return MissingCodes(by_column=self.guarantee.missing_codes)

    @stands_alone
    def margins(self, confidence: float = 0.95) -> Margins:
        """Return how far figures of a new table can be off for the noise alone.

        Parameters
        ----------
        confidence : float
            Of each interval by itself, between 0 and 1.

        Raises
        ------
        RequestError
            If the release was not drawn from measurements, or confidence is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> import microveil as mv
        >>> ages = {"AGE": np.random.default_rng(1).integers(18, 95, 2000)}
        >>> release = mv.protect(
        ...     ages, method="dp-synthetic", epsilon=1, attributes="AGE", bounds={"AGE": (0, 120)}
        ... )
        >>> mean = release.margins().attributes["AGE"].mean
        >>> mean.lower <= mean.estimate <= mean.upper
        True
        """
        if self.measurements is None:
            raise without_measurements("margins", self.guarantee.method)
        if not isinstance(confidence, float) or not 0 < confidence < 1:
            raise RequestError(
                "confidence", "it must be above 0 and below 1", "pass for example confidence=0.95"
            )
        return margins_of(self.measurements, confidence)

    @stands_alone
    def corrected_shares(self, attribute: str) -> CorrectedShares:
        """Estimate the shares of an attribute's categories before `pram` drew them anew.

        By the public matrix, which the guarantee states: post-processing, which costs nothing.

        Parameters
        ----------
        attribute : str

        Returns
        -------
        CorrectedShares
            With covariance, over draws of the randomisation. Where being missing was a category,
            it is one here, None, and so is each code that says why.

        Raises
        ------
        RequestError
            If it was not drawn by a public matrix, or this cannot be inverted.

        Examples
        --------
        >>> import numpy as np
        >>> import microveil as mv
        >>> table = {"SMOKES": np.array(["yes"] * 300 + ["no"] * 700)}
        >>> release = mv.protect(
        ...     table,
        ...     method="pram",
        ...     epsilon=1,
        ...     categories={"SMOKES": ["no", "yes"]},
        ...     attributes="SMOKES",
        ... )
        >>> found = release.corrected_shares("SMOKES")
        >>> bool(abs(found.shares[1] - 0.3) < 5 * found.standard_errors[1])
        True
        """
        return corrected_of(open_table(self.data, self.codes), self.guarantee, attribute)

    write = write_release

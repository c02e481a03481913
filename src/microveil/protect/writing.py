"""A release written: what may be published to one folder, the rest to its custodian's."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from microveil.errors import DataError, EngineError, FileError, RequestError, stands_alone
from microveil.files import Format, named_format
from microveil.files.folders import write_folders
from microveil.files.formulas import begins_like_formula
from microveil.files.parquet_format import copy_parts
from microveil.files.postgresql import new_table
from microveil.files.table_schema import SCHEMA_FILE, table_schema
from microveil.files.text import TextFormat
from microveil.files.writing import collected, write_data
from microveil.ledger import Recording, ledger_place
from microveil.table import ColumnSchema
from microveil.table.frames import is_of_spark

if TYPE_CHECKING:
    from microveil.protect.release import Release


# The method `Release.write`.
@stands_alone
def write_release(
    self: "Release",
    folder: str | Path,
    *,
    format: str = "csv",  # noqa: A002 -- the plain word for it
    text: TextFormat | None = None,
    report: "str | Callable[[Release], str] | None" = None,
    public_report: str | None = None,
    overwrite: bool = False,
    ledger: str | Path | None = None,
    escape_formulas: bool = False,
    with_measurements: bool = False,
    into: str | None = None,
    progress: Callable[[str], None] = lambda _step: None,
) -> tuple[Path, Path]:
    """Write the release: what may be published to ``folder``, the rest beside it.

    ``folder`` gets data.csv (or as files of the format are named), guarantee.json and
    guarantee.md, schema.json where the format has no place for labels that the columns have,
    and report.html where there is a public report; ``folder``-custodian (mode
    0700) gets manifest.json, and report.html where there is a report. Both appear whole or
    not at all. Where a population was named, a line in the custodian's ledger comes first.

    Parameters
    ----------
    folder : str or Path
    format : str
        "csv", "tsv.gz", "parquet" or another of `files.FORMATS`; of a table of Spark's
        "parquet", a folder of files.
    text : TextFormat, optional
        Separator, decimal mark and encoding of a file of text.
    report : str or callable, optional
        The custodian's page, see `report.custodian_report`; or what makes it of the release
        as it was written, whose manifest holds the digest of the table.
    public_report : str, optional
        The page that may be published, see `report.publishable_report`.
    overwrite : bool
        Replace an earlier release.
    ledger : str or Path, optional
        The file that counts the releases of the population; by default
        microveil-ledger.jsonl beside ``folder``.
    escape_formulas : bool
        Put an apostrophe before names and text of data.csv that a spreadsheet would run as
        formulas; numbers stay. A format with types has no use for it.
    with_measurements : bool
        Write what a new table was drawn from as measurements.json beside it, noisy counts and
        cuts, and as margins.json how far figures can be off for their noise: both under the
        same guarantee. Refused where a seed drew them.
    into : str, optional
        A table of PostgreSQL to be made with the folders, and to hold the same records:
        "postgresql://HOST/DATABASE?table=NAME". ``overwrite`` replaces an earlier release.
    progress : callable
        Gets the name of each step.

    Returns
    -------
    (Path, Path)
        The two folders.

    Raises
    ------
    RequestError
        If there is no such format, or a ledger and no population was named, or the release was
        pickled, and the manifest stayed with the custodian.
    FileError
        If a folder exists and is not to be replaced, or cannot be written, or the ledger
        cannot be.
    """
    folder, form = Path(folder), named_format(format)
    self.manifest.to_dict()  # before any file
    measurements = _publishable_measurements(self) if with_measurements else None
    recording, is_escaped = _recording(self, folder, ledger), escape_formulas and form.is_text
    published = {
        "guarantee.json": self.guarantee.to_dict(),
        "guarantee.md": self.guarantee.statement(),
        SCHEMA_FILE: _said_beside(self.schema, form, is_escaped=is_escaped),
        "measurements.json": measurements,
        "margins.json": measurements and self.margins().to_dict(),
    }
    data = _to_write(self.data, form, (text, into, escape_formulas or None))
    if into is not None:
        data = collected(data)

    def fill(public: Path, custodian: Path) -> None:
        progress("writing the table")
        path = public / f"data{form.suffixes[0]}"
        digest = _write_table(self, data, path, form, text, escaped=escape_formulas)
        output: dict[str, Any] = {"name": path.name, "sha256": digest}
        if is_escaped:
            output["formulas"] = "escaped"
        if table is not None:
            output["table"] = table
        counted = None if recording is None else recording.expected()
        manifest = self.manifest.with_entries(output=output, ledger=counted)
        page = report(replace(self, manifest=manifest)) if callable(report) else report
        _write_pages(custodian, {"manifest.json": manifest.to_dict(), "report.html": page})
        _write_pages(public, {**published, "report.html": public_report})

    told: list[str] = []  # once the release is announced, what an error has to say of it
    try:
        with new_table(into, data, overwrite=overwrite) as (table, appear):

            def announce() -> None:
                if recording is not None:
                    told.append(recording.announce())  # first: what can be seen is counted
                appear()

            return write_folders(folder, fill, overwrite=overwrite, announce=announce)
    except FileError as error:
        if not told:
            raise
        raise FileError(error.place, f"{error.rule}; {told[0]}", error.remedy) from None


def _write_pages(folder: Path, pages: Mapping[str, Any]) -> None:
    """Write pages that there are, and plain values as JSON, by the names of their files."""
    for name, page in pages.items():
        if page is not None:
            is_text = isinstance(page, str)
            written = page if is_text else json.dumps(page, indent=2, ensure_ascii=False) + "\n"
            (folder / name).write_text(written, encoding="utf-8", newline="\n")


def refuse_measurements(method: str, *, is_synthetic: bool, is_seeded: bool) -> None:
    """Refuse to publish what a release was drawn from, where that is not noisy measurements."""
    if not is_synthetic:
        raise without_measurements("with_measurements", method)
    if is_seeded:
        raise RequestError(
            "with_measurements",
            "a seed draws the noise: whoever knows it takes the noise off again",
            "leave out the seed",
        )


def without_measurements(place: str, method: str) -> RequestError:
    """Return the error about measurements of a release that has none."""
    return RequestError(
        place,
        f"{method} draws its release from the table, not from measurements",
        "leave it out, or choose dp-synthetic",
    )


def _publishable_measurements(release: "Release") -> dict[str, Any]:
    """Return the measurements with what their guarantee takes as given."""
    guarantee, own = release.guarantee, release.measurements
    is_seeded = guarantee.randomness == "seeded"
    refuse_measurements(guarantee.method, is_synthetic=own is not None, is_seeded=is_seeded)
    assert own is not None  # noqa: S101 -- else it is refused
    promised = guarantee.to_dict()
    said = ("method", "epsilon", "delta", "rho", "conditions")
    return {"schema": 1, **{name: promised[name] for name in said}, **own.to_dict()}


def _recording(release: "Release", folder: Path, ledger: str | Path | None) -> Recording | None:
    population = release.population
    place = ledger_place(folder, population, ledger)
    if place is None or population is None:
        return None
    return Recording(
        place=place,
        guarantee=release.guarantee,
        population=population,
        folder=folder.name,
        sha256=(release.manifest.to_dict().get("input") or {}).get("sha256"),
    )


def _to_write(data: Any, form: Format, said: tuple[Any, ...]) -> Any:
    """Return a table as polars has it; one of Spark's is written as it is or not at all."""
    if is_of_spark(data):
        if form.name == "parquet" and all(one is None for one in said):
            return data
        raise EngineError(
            "format",
            "a table of Spark's is written as Parquet, and into no other place",
            "pass format='parquet' (--format parquet), without what text and databases take",
        )
    if isinstance(data, polars.DataFrame | polars.LazyFrame):
        return data
    if isinstance(data, Mapping):
        return polars.DataFrame({name: _words(cells) for name, cells in data.items()})
    import narwhals

    try:
        return narwhals.from_native(data, eager_only=True).to_polars()
    except Exception:  # noqa: BLE001 -- any library may stand behind the frame
        raise DataError(
            "columns kept", "a column holds values of several kinds", "make each of one kind"
        ) from None


def _words(cells: Any) -> Any:
    """Return an array of text with empty cells, which numpy holds as objects, as text."""
    listed = cells.tolist() if cells.dtype == object else [...]
    is_text = all(cell is None or isinstance(cell, str) for cell in listed)
    return polars.Series(listed, dtype=polars.String) if is_text else cells


def _write_table(
    release: "Release",
    data: Any,
    path: Path,
    form: Format,
    text: TextFormat | None,
    *,
    escaped: bool,
) -> str:
    """Write the table, and return its digest."""
    if is_of_spark(data):
        return copy_parts(data.inputFiles(), path)
    labels = {name: column.labels for name, column in release.schema.items()}
    return write_data(data, path, text=text, escape_formulas=escaped, form=form, labels=labels)


def _said_beside(
    schema: Mapping[str, ColumnSchema], form: Format, *, is_escaped: bool
) -> dict[str, Any] | None:
    """Describe the columns where the format has no place for their labels, named as in it."""
    if all(form.carries.kept(column.labels) == column.labels for column in schema.values()):
        return None
    if is_escaped:
        named = {name: begins_like_formula(name.lstrip("'")) for name in schema}
        schema = {f"'{name}" if named[name] else name: own for name, own in schema.items()}
    return table_schema(schema)

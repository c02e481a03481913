"""A release written: what may be published to one folder, the rest to its custodian's."""

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from microveil.errors import DataError, EngineError, RequestError
from microveil.files import Format
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


def write_release(
    release: "Release",
    folder: Path,
    *,
    form: Format,
    text: TextFormat | None,
    report: "str | Callable[[Release], str] | None",
    public_report: str | None,
    overwrite: bool,
    ledger: str | Path | None,
    escape_formulas: bool,
    with_measurements: bool,
    into: str | None,
    progress: Callable[[str], None],
) -> tuple[Path, Path]:
    """Write a release to two folders, both of which appear whole or not at all.

    Where a population was named, a line in the custodian's ledger comes first.
    """
    release.manifest.to_dict()  # before any file
    measurements = _publishable_measurements(release) if with_measurements else None
    recording = _recording(release, folder, ledger)
    data = _to_write(release.data, form, (text, into, escape_formulas or None))
    if into is not None:
        data = collected(data)

    def fill(public: Path, custodian: Path) -> None:
        progress("writing the table")
        path = public / f"data{form.suffixes[0]}"
        is_escaped = escape_formulas and form.is_text
        output = {
            "name": path.name,
            "sha256": _write_table(release, data, path, form, text, escaped=escape_formulas),
            **({"formulas": "escaped"} if is_escaped else {}),
            **({} if table is None else {"table": table}),
        }
        counted = None if recording is None else recording.expected().to_dict()
        manifest = release.manifest.with_entries(output=output, ledger=counted)
        page = report(replace(release, manifest=manifest)) if callable(report) else report
        contents = {
            public / "guarantee.json": release.guarantee.to_dict(),
            public / SCHEMA_FILE: _said_beside(release.schema, form, is_escaped=is_escaped),
            public / "measurements.json": measurements,
            public / "margins.json": measurements and release.margins().to_dict(),
            custodian / "manifest.json": manifest.to_dict(),
        }
        pages = {place: _json(own) for place, own in contents.items() if own is not None}
        pages[public / "guarantee.md"] = release.guarantee.statement()
        for place, own in ((public, public_report), (custodian, page)):
            pages |= {} if own is None else {place / "report.html": own}
        for place, own in pages.items():
            place.write_text(own, encoding="utf-8", newline="\n")

    with (
        nullcontext() if recording is None else recording.counted() as announce,
        new_table(into, data, overwrite=overwrite) as (table, appear),
    ):

        def announced() -> None:
            if announce is not None:
                announce()  # first: what can be seen is counted
            appear()

        return write_folders(folder, fill, overwrite=overwrite, announce=announced)


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


def _json(contents: Mapping[str, Any]) -> str:
    return json.dumps(contents, indent=2, ensure_ascii=False) + "\n"

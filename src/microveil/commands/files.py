"""A file in, two folders out: what the command line does, as functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars

from microveil.commands.asking import asked_of, read_with_codes
from microveil.commands.custodians import kept_of_recipe
from microveil.commands.original import original_of, with_findings
from microveil.commands.proposal import ProposedRecipe, proposed_recipe
from microveil.commands.spark import release_in_spark
from microveil.errors import FileError, RequestError, stands_alone
from microveil.files import Format, named_format
from microveil.files.folders import check_absent
from microveil.files.labelled import labelled
from microveil.files.reading import SourceFile
from microveil.files.table_writing import check_new_table
from microveil.files.text import TextFormat
from microveil.files.writing import collected
from microveil.ledger import Totals, ledger_place, read_ledger
from microveil.protect.arguments import SPARK, warn_of_outdated
from microveil.protect.custodian_notes import plan_notes
from microveil.protect.draw import plan_and_draw
from microveil.protect.notes import REPORTED_RECORDS, file_notes, labels_beside
from microveil.protect.plan import Plan
from microveil.protect.recipe import merged, read_recipe
from microveil.protect.release import Release, refuse_measurements
from microveil.protect.releasing import released
from microveil.protect.settling import Settled, SettledParts, settle_asked
from microveil.schema import Kind
from microveil.table.column_files import columns_of, files_of, side_by_side

__all__ = [
    "counted_releases",
    "inspect_file",
    "look_at_file",
    "protect_file",
]

Progress = Callable[[str], None]


@stands_alone
def protect_file(
    path: str | Path,
    folder: str | Path,
    *,
    recipe: str | Path | Mapping[str, Any] | None = None,
    bounds_alpha: float | None = None,
    decimals_from_data: bool = False,
    text: TextFormat | None = None,
    public_report: bool = False,
    custodian_report: bool = False,
    linkage: bool = True,
    overwrite: bool = False,
    ledger: str | Path | None = None,
    escape_formulas: bool = False,
    with_measurements: bool = False,
    format: str | None = None,  # noqa: A002 -- the plain word for it
    into: str | None = None,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> Release:
    """Protect the table of a file and write the release.

    Parameters
    ----------
    path : str or Path
    folder : str or Path
        For what may be published; the custodian's folder appears beside it.
    recipe : str, Path or dict, optional
    bounds_alpha : float, optional
        Read bounds that are not declared off the data, stretched by this factor.
    decimals_from_data : bool
        Read resolutions that are not declared off the data.
    text : TextFormat, optional
        How a CSV file is written.
    public_report : bool
        Whether a page on the release that may be published goes with it, report.html in
        ``folder``.
    custodian_report : bool
        Whether the custodian gets a page of more than 50,000 records too; by an engine on this
        machine that holds the table.
    linkage : bool
        Whether a sample of the records is linked with the original, for the custodian.
    overwrite : bool
    ledger : str or Path, optional
        The file that counts the releases of ``population``; by default beside ``folder``.
    escape_formulas : bool
        Put an apostrophe before text of a CSV file that a spreadsheet would run as a formula.
    with_measurements : bool
        Whether what a new table was drawn from goes with it, measurements.json and margins.json in
        ``folder``.
    format : str, optional
        Of the release, one of `files.FORMATS`; by default that of the file.
    into : str, optional
        A table of PostgreSQL to be made too, see `Release.write`.
    progress : callable
        Gets the name of each step.
    **arguments
        As for `protect`; names in ``attributes`` and ``keep`` may be lists with commas.

    Returns
    -------
    Release

    Raises
    ------
    MicroveilError
        If anything breaks a rule; nothing is written then.
    """
    check_absent(Path(folder), overwrite=overwrite)
    if into is not None:
        check_new_table(into, overwrite=overwrite)
    of_recipe = {} if recipe is None else read_recipe(recipe)
    warn_of_outdated(merged(of_recipe, arguments))
    if (arguments.get("engine") or of_recipe.get("engine")) == SPARK:
        _refuse_in_spark(
            text is not None and not text.is_unsaid, format not in (None, "parquet"),
            bounds_alpha, decimals_from_data, public_report, custodian_report, escape_formulas,
            into,
        )  # fmt: skip
        release = release_in_spark(path, arguments, recipe, progress)
        release.write(
            folder,
            format="parquet",
            overwrite=overwrite,
            ledger=ledger,
            with_measurements=with_measurements,
            progress=progress,
        )
        return release
    made = _release_of(
        path,
        folder,
        arguments,
        recipe=recipe,
        bounds_alpha=bounds_alpha,
        decimals_from_data=decimals_from_data,
        text=text,
        custodian_report=custodian_report,
        linkage=linkage,
        ledger=ledger,
        escape_formulas=escape_formulas,
        with_measurements=with_measurements,
        format=format,
        progress=progress,
    )
    release, original = made.release, made.original

    def custodians(written: Release) -> str:
        from microveil import report  # pages are loaded where one is made

        progress("writing the report")
        return report.custodian_report(written, original)

    release.write(
        folder,
        format=made.form.name,
        text=made.text,
        report=None if original is None else custodians,
        public_report=_publishable(release) if public_report else None,
        overwrite=overwrite,
        ledger=ledger,
        escape_formulas=escape_formulas,
        with_measurements=with_measurements,
        into=into,
        progress=progress,
    )
    return release


def _refuse_in_spark(*said: Any) -> None:
    """Refuse what is said of a file or its release that Spark has no way for."""
    if any(said):
        raise RequestError(
            "engine",
            "Spark reads and writes Parquet, looks for no bounds and makes no pages",
            "leave out the flags that ask for these, or Spark",
        )


def _publishable(release: Release) -> str:
    from microveil.report import publishable_report  # pages are loaded where one is made

    return publishable_report(release)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Made:
    """A release of a file that is to be written.

    Attributes
    ----------
    release : Release
    form : Format
        How it is written.
    text : TextFormat or None
        Of a file of text.
    original : polars.DataFrame or None
        For the custodian's report; None where there is none, so that nothing holds a large one.
    """

    release: Release
    form: Format
    text: TextFormat | None
    original: polars.DataFrame | None


def _release_of(
    path: str | Path,
    folder: str | Path,
    arguments: Mapping[str, Any],
    *,
    recipe: str | Path | Mapping[str, Any] | None,
    bounds_alpha: float | None,
    decimals_from_data: bool,
    text: TextFormat | None,
    custodian_report: bool,
    linkage: bool,
    ledger: str | Path | None,
    escape_formulas: bool,
    with_measurements: bool,
    format: str | None,  # noqa: A002 -- as `protect_file` has it
    progress: Progress,
) -> _Made:
    """Protect the table of a file, and write nothing."""
    source, asked = asked_of(
        path,
        arguments,
        recipe=recipe,
        bounds_alpha=bounds_alpha,
        decimals_from_data=decimals_from_data,
        text=text,
        beside=Path(folder).absolute().parent,
        progress=progress,
    )
    form = named_format(source.format.name if format is None else format)
    if escape_formulas and not form.is_text:
        rule = f"a {form.title} file holds no formulas, so that there is nothing to do"
        raise RequestError("escape_formulas", rule, "leave it out (--escape-formulas)")
    ledger_place(folder, asked.get("population"), ledger)  # what is wrong with it, before any work
    settled = settle_asked(labelled(source), asked, progress)
    if with_measurements:  # the method may have been left to advice
        _refuse_measurements_of(settled)
    planned, drawn = plan_and_draw(settled, progress)
    if not form.has_types:
        drawn = replace(drawn, data=_written_whole(drawn.data, planned))
    is_reported = custodian_report or source.n_records <= REPORTED_RECORDS
    if is_reported:  # a page takes the table in memory
        source = replace(source, frame=collected(source.frame))
    release = released(
        planned,
        drawn,
        plan_notes(planned, settled, progress),
        notes=file_notes(is_reported=is_reported),
        input=source.origin,
        **kept_of_recipe(recipe, source.text),
    )
    original = original_of(planned, source.frame)
    release = with_findings(release, planned, original, asked, linkage=linkage, progress=progress)
    too_long = [name for name, column in release.schema.items() if form.loses(column.labels)]
    if too_long:
        release = replace(release, notes=(*release.notes, labels_beside(form.title, too_long)))
    return _Made(
        release=release,
        form=form,
        text=_text_of(source, form),
        original=original.lazy().collect() if is_reported else None,
    )


def _refuse_measurements_of(settled: Settled | SettledParts) -> None:
    """Refuse measurements of a request whose methods have none, before anything is drawn."""
    for request in (part.request for part in settled.each):
        refuse_measurements(
            request.method.id,
            is_synthetic="new table" in request.method.can,
            is_seeded=request.seed is not None,
        )


def counted_releases(
    release: Release, folder: str | Path, ledger: str | Path | None = None
) -> Totals | None:
    """Return what the releases of a population come to, a release that was written among them.

    Parameters
    ----------
    release : Release
        Of `protect_file`.
    folder, ledger
        As given there.

    Returns
    -------
    Totals or None
        None where no population was named.
    """
    place = ledger_place(folder, release.population, ledger)
    if place is None or release.population is None:
        return None
    source = release.manifest.to_dict()["input"]
    return read_ledger(place).totals(release.population, sha256=source["sha256"])


def _text_of(source: SourceFile, form: Format) -> TextFormat | None:
    """Write text as it came, with the separator of the format asked for where that is another."""
    text, separator = source.text, form.separator
    if not source.format.is_text:
        return None
    if text is None or separator is None or separator == source.format.separator:
        return text
    return text.separated_by(separator)


def _written_whole(
    data: polars.DataFrame | polars.LazyFrame, planned: Plan
) -> polars.DataFrame | polars.LazyFrame:
    """Write columns of a whole declared resolution as whole numbers, where a file has no types."""
    whole = [
        part.attribute.name
        for part in planned.attributes
        if part.attribute.kind is Kind.DECIMAL and part.attribute.resolution.denominator == 1
    ]
    if isinstance(data, polars.DataFrame):
        return data.with_columns(polars.col(whole).cast(polars.Int64))
    columns = columns_of(data)
    columns |= {name: columns[name].select(polars.col(name).cast(polars.Int64)) for name in whole}
    return side_by_side(columns, files_of(data))


@stands_alone
def inspect_file(
    path: str | Path,
    text: TextFormat | None,
    output: Path | None,
    *,
    scope: str | None = None,
    show_values: bool = False,
    missing_codes: Any = None,
    missing_values: Any = None,
) -> tuple[SourceFile, str]:
    """Look at a file and propose a recipe, written to ``output`` where one is given.

    With ``scope`` it asks for a method that covers it; with ``show_values`` it holds the
    categories seen, and what looks like a code for a missing value, for a person to confirm.
    ``missing_codes`` and ``missing_values``, as flags have them, go into the recipe.

    Raises
    ------
    FileError
        If ``output`` exists already or cannot be written.
    RequestError
        If there is no such scope.
    """
    source, proposed = look_at_file(
        path,
        text,
        scope=scope,
        show_values=show_values,
        missing_codes=missing_codes,
        missing_values=missing_values,
    )
    recipe = proposed.text
    if output is not None:
        try:
            with output.open("x", encoding="utf-8") as file:
                file.write(recipe)
        except FileExistsError:
            raise FileError(f"{output}", "it exists already", "name another file") from None
        except OSError:
            raise FileError(f"{output}", "it cannot be written", "name another place") from None
    return source, recipe


@stands_alone
def look_at_file(
    path: str | Path,
    text: TextFormat | None,
    *,
    scope: str | None = None,
    show_values: bool = False,
    missing_codes: Any = None,
    missing_values: Any = None,
) -> tuple[SourceFile, ProposedRecipe]:
    """Look at a file and propose a recipe, as `inspect_file` does, with what it says as sentences.

    Raises
    ------
    RequestError
        If there is no such scope.
    """
    source, declared = read_with_codes(path, text, missing_codes, missing_values)
    proposed = proposed_recipe(
        labelled(source),
        source.name,
        scope=scope,
        show_values=show_values,
        text=source.text,
        **declared,
    )
    return source, proposed

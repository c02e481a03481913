"""A file in, two folders out: what the command line does, as functions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars

from microveil.audit.advice import strongest_linkage
from microveil.commands.asking import (
    Progress,
    asked_of,
    codes_of,
    read_to_propose,
    read_with_codes,
)
from microveil.commands.custodians import kept_of_recipe
from microveil.commands.proposal import ProposedRecipe, proposed_recipe
from microveil.commands.proposed_columns import PROTECTED
from microveil.commands.spark import release_in_spark
from microveil.errors import DataError, Problems, RequestError, stands_alone
from microveil.files import Format, named_format
from microveil.files.codebook import empty_codebook
from microveil.files.disk import check_name, written_new
from microveil.files.folders import check_absent
from microveil.files.labelled import labelled
from microveil.files.postgresql import check_new_table
from microveil.files.reading import SourceFile, open_file
from microveil.files.text import TextFormat
from microveil.files.writing import collected
from microveil.ledger import ledger_place, read_ledger
from microveil.measures.findings import release_findings, warnings_of
from microveil.measures.opening import codes_in_release
from microveil.protect.arguments import SPARK, warn_of_outdated
from microveil.protect.columns import Prepared, values_outside
from microveil.protect.draw import Drawn, plan_and_draw
from microveil.protect.notes import REPORTED_RECORDS, said
from microveil.protect.opening import prepare
from microveil.protect.parts import AUTO
from microveil.protect.plan import Plan
from microveil.protect.recipe import read_recipe, roles_of_recipe
from microveil.protect.release import Release
from microveil.protect.releasing import released
from microveil.protect.settling import merged, settle
from microveil.protect.writing import refuse_measurements
from microveil.schema import Kind
from microveil.table import categories_seen, open_table
from microveil.table.column_files import columns_of, files_of, side_by_side
from microveil.table.memory import bytes_of, columns_at_once
from microveil.table.table import rebuilt
from microveil.table.untyped import typed_frame
from microveil.text import listed

Frame = polars.DataFrame | polars.LazyFrame
OF_FILE = ("text", "bounds_alpha", "decimals_from_data")
TOO_LARGE = "its columns do not fit into memory together"


@stands_alone
def protect_file(
    path: str | Path,
    folder: str | Path,
    *,
    public_report: bool = False,
    custodian_report: bool = False,
    findings: bool = True,
    linkage: bool = True,
    overwrite: bool = False,
    ledger: str | Path | None = None,
    escape_formulas: bool = False,
    with_measurements: bool = False,
    format: str | None = None,  # noqa: A002 -- the plain word for it
    into: str | None = None,
    show: Callable[[str], None] | None = None,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> Release:
    """Protect the table of a file and write the release; what is the custodian's appears beside it.

    A custodian's page of more than 50,000 records is made where it is asked for; ``findings`` hold
    the release against its original, and ``linkage`` links a sample. ``show`` gets a line for each
    column with values outside its domain, with these values, where the table is refused for them.
    Other arguments are those of `protect`, and of the file ``recipe``, ``text``, ``bounds_alpha``
    and ``decimals_from_data``, see `asked_of`.
    """
    check_absent(Path(folder), overwrite=overwrite)
    if into is not None:
        check_new_table(into, overwrite=overwrite)
    recipe = arguments.get("recipe")
    # What is wrong with it is refused below, with everything else.
    asked = merged({} if recipe is None else read_recipe(recipe, Problems()), arguments)
    warn_of_outdated(asked)
    if asked.get("engine") == SPARK:
        text, *read_off = (arguments.pop(name, None) for name in OF_FILE)
        _refuse_in_spark(
            text is not None and not text.is_unsaid, format not in (None, "parquet"), *read_off,
            public_report, custodian_report, escape_formulas, into, show,
        )  # fmt: skip
        release = release_in_spark(path, progress=progress, **arguments)
        how: dict[str, Any] = {"format": "parquet"}
    else:
        release, how = _release_of(
            path,
            folder,
            arguments,
            custodian_report=custodian_report,
            findings=findings,
            linkage=linkage,
            ledger=ledger,
            escape_formulas=escape_formulas,
            with_measurements=with_measurements,
            format=format,
            show=show,
            progress=progress,
        )
    if public_report:
        from microveil.report import publishable_report  # pages are loaded where one is made

        how["public_report"] = publishable_report(release)
    release.write(
        folder,
        **how,
        overwrite=overwrite,
        ledger=ledger,
        escape_formulas=escape_formulas,
        with_measurements=with_measurements,
        into=into,
        progress=progress,
    )
    return release


def _refuse_in_spark(*given: Any) -> None:
    """Refuse what is said of a file or its release that Spark has no way for."""
    if any(given):
        raise RequestError(
            "engine",
            "Spark reads and writes Parquet, looks for no bounds and makes no pages",
            "leave out the flags that ask for these, or Spark",
        )


def _page_of(original: polars.DataFrame, progress: Progress) -> Callable[[Release], str]:
    """Return what writes the custodian's page."""

    def page(written: Release) -> str:
        from microveil.report import custodian_report

        progress("writing the report")
        return custodian_report(written, original)

    return page


def _release_of(
    path: str | Path,
    folder: str | Path,
    arguments: Mapping[str, Any],
    *,
    custodian_report: bool,
    findings: bool,
    linkage: bool,
    ledger: str | Path | None,
    escape_formulas: bool,
    with_measurements: bool,
    format: str | None,  # noqa: A002 -- as `protect_file` has it
    show: Callable[[str], None] | None,
    progress: Progress,
) -> tuple[Release, dict[str, Any]]:
    """Protect the table of a file, and write nothing; say how it is to be written."""
    beside = Path(folder).absolute().parent
    source, asked = asked_of(path, **arguments, beside=beside, progress=progress)
    form = named_format(source.format.name if format is None else format)
    if escape_formulas and not form.is_text:
        rule = f"a {form.title} file holds no formulas, so that there is nothing to do"
        raise RequestError("escape_formulas", rule, "leave it out (--escape-formulas)")
    ledger_place(folder, asked.get("population"), ledger)  # what is wrong with it, before any work
    source, prepared = _settled(path, source, asked, arguments, beside, progress)
    for own in prepared.each if with_measurements else ():  # the method may have been advised
        request = own.request
        is_synthetic, is_seeded = "new table" in request.method.can, request.seed is not None
        refuse_measurements(request.method.id, is_synthetic=is_synthetic, is_seeded=is_seeded)
    try:
        planned, drawn = plan_and_draw(prepared)
    except DataError:
        if show is not None:
            for line in values_outside(prepared):
                show(line)
        raise
    if not form.has_types:
        drawn = drawn._replace(data=_written_whole(drawn, planned))
    is_reported = custodian_report or source.n_records <= REPORTED_RECORDS
    if is_reported:  # a page takes the table in memory
        source = replace(source, frame=collected(source.frame))
    release = released(
        planned,
        drawn,
        notes=(
            *said("notes", {"unreported": not is_reported}, records=REPORTED_RECORDS),
            *_unlisted(arguments, prepared, len(source.columns)),
            *_of_dates(source, form, drawn),
        ),
        input=source.origin,
        **kept_of_recipe(arguments.get("recipe"), source.text),
    )
    original = partial(original_of, planned, drawn, source.frame)
    if findings:
        release = with_findings(
            release, planned, original(), asked, linkage=linkage, progress=progress
        )
    too_long = [
        name for name, column in release.schema.items() if form.carries.loses(column.labels)
    ]
    if too_long:
        note = said("notes", {"labels-beside": too_long}, title=form.title)
        release = replace(release, notes=(*release.notes, *note))
    page = _page_of(original().lazy().collect(), progress) if is_reported else None
    return release, {"format": form.name, "text": _text_of(source, form), "report": page}


def _settled(
    path: str | Path,
    source: SourceFile,
    asked: Mapping[str, Any],
    arguments: Mapping[str, Any],
    beside: Path,
    progress: Progress,
) -> tuple[SourceFile, Prepared]:
    """Settle a request; one that advice made is asked of the cells as they stand, if it learns."""
    prepared = settle(labelled(source), asked, progress)
    request = prepared.request
    if asked.get("method") != AUTO or not request.learns or source.format.has_types:
        return source, prepared
    arguments = {**arguments, "method": request.method.id}
    source, _ = asked_of(path, **arguments, beside=beside, progress=progress)
    return source, replace(prepare(labelled(source), request, progress), asked=asked)


def _unlisted(arguments: Mapping[str, Any], prepared: Prepared, n_columns: int) -> Iterator[str]:
    """Say which columns a recipe's roles have protected and its request leaves out."""
    recipe, is_named = arguments.get("recipe"), arguments.get("attributes") is not None
    if recipe is None or is_named or prepared.whole is not None:
        return iter(())
    protects = (name for name, role in roles_of_recipe(recipe).items() if role in PROTECTED)
    names, method = (
        [name for name in protects if name in prepared.left_out],
        prepared.request.method,
    )
    note = "left-out-unlisted" if "categories" in method.can else "left-out-for-numbers"
    about = {"n_unlisted": len(names), "n_columns": n_columns, "method": method.id}
    return said("notes", {note: listed(names)}, **about)


def _of_dates(source: SourceFile, form: Format, drawn: Drawn) -> Iterator[str]:
    """Say that the order in which a file has day, month and year is not that of its release."""
    order = source.text.dates if source.text is not None and form.is_text else ""
    schema = drawn.data.collect_schema() if order else {}
    names = [name for name, dtype in schema.items() if dtype == polars.Date]
    return said("notes", {"dates-in-iso": listed(names)}, order=order)


def original_of(planned: Plan, drawn: Drawn, original: Any) -> Any:
    """Return a table as it is held against its release: without units left out, kinds as learnt."""
    if planned.units is not None and planned.units.n_dropped:
        original = rebuilt(planned.table, {}, planned.table.names)
    if drawn.measurements is None:
        return original
    learnt = [own.attribute for own in drawn.measurements.attributes if own.kinds is not None]
    return typed_frame(planned.table, original, learnt) if learnt else original


def with_findings(
    release: Release,
    planned: Plan,
    original: Any,
    asked: Mapping[str, Any],
    *,
    linkage: bool | str = True,
    progress: Progress = lambda _step: None,
) -> Release:
    """Hold a release against its original before it is written: both appear, or neither."""
    codes, memory, n_records = codes_of(asked), asked.get("memory"), planned.table.n_records
    at_once = columns_at_once(n_records, None if memory is None else bytes_of(memory))
    if isinstance(original, polars.LazyFrame) and linkage is True:
        linkage = at_once is None or len(planned.attributes) <= at_once or TOO_LARGE
    names = (part.attribute.name for part in planned.attributes)
    known = {name: release.schema[name].categories for name in names if name in release.schema}
    found = release_findings(
        original,
        release.data,
        list(known),
        in_place=planned.guarantee.in_place,
        linkage=linkage,
        # Categories with their words where these have an order; ordered numbers are numbers.
        categories={
            name: words.words if words.ordered else None
            for name, words in known.items()
            if words is not None and (words.words or not words.ordered)
        },
        codes=(codes, codes_in_release(codes, planned.guarantee)),
        at_once=at_once,
        progress=progress,
    )
    notes, entries = [*release.manifest.custodian_notes], {"findings": found}
    if planned.isotonic:
        progress("linking trial draws")
        invited = strongest_linkage(planned)
        notes.append(f"{invited}")
        entries["isotonic_linkage"] = invited.to_dict()
    notes += warnings_of(found)
    manifest = release.manifest.with_entries(custodian_notes=notes, **entries)
    return replace(release, manifest=manifest)


def counted_releases(
    release: Release, folder: str | Path, ledger: str | Path | None = None
) -> dict[str, Any] | None:
    """Return what the releases of a population come to; None where no population was named."""
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


def _written_whole(drawn: Drawn, planned: Plan) -> Frame:
    """Write columns of a whole resolution as whole numbers, where a file has no types."""
    data, attributes = drawn.data, [part.attribute for part in planned.attributes]
    if drawn.measurements is not None:  # as they were learnt
        attributes = [measured.attribute for measured in drawn.measurements.attributes]
    whole = [
        attribute.name
        for attribute in attributes
        if attribute.kind is Kind.DECIMAL and attribute.resolution.denominator == 1
    ]
    if isinstance(data, polars.DataFrame):
        return data.with_columns(polars.col(whole).cast(polars.Int64))
    columns = columns_of(data)
    columns |= {name: columns[name].select(polars.col(name).cast(polars.Int64)) for name in whole}
    return side_by_side(columns, files_of(data))


@stands_alone
def write_form(path: str | Path, text: TextFormat | None, output: Path) -> None:
    """Write the form of a codebook for the columns of a file: their kinds, and no values."""
    table = open_table(labelled(open_file(path, text=text).read()))
    check_name(output)
    written_new(output, empty_codebook({name: table.kind(name) for name in table.names}))


@stands_alone
def inspect_file(
    path: str | Path,
    text: TextFormat | None,
    output: Path | None = None,
    *,
    show_values: bool = False,
    progress: Progress = lambda _step: None,
    **asked: Any,
) -> tuple[SourceFile, ProposedRecipe]:
    """Look at a file and propose a recipe, written to ``output`` where one is given."""
    progress("reading the table")
    source, given = read_to_propose(path, text, asked)
    progress("looking at the columns")
    proposed = proposed_recipe(
        labelled(source), source.name, show_values=show_values, text=source.text, **given
    )
    if output is not None:
        check_name(output)
        written_new(output, proposed.text)
    return source, proposed


@stands_alone
def categories_of_file(
    path: str | Path, text: TextFormat | None, column: str, **codes: Any
) -> list[str]:
    """Read the different values of a column of text, for a person who asks for them."""
    source, declared = read_with_codes(path, text, codes)
    opened = open_table(labelled(source), codes_of(declared))
    seen = categories_seen(opened, column) if column in opened.names else None
    if seen is None:
        rule = "values are listed of columns of text, and the table has none of this name"
        raise DataError(f"column '{column}'", rule, "choose a column of text")
    return seen

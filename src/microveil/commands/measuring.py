"""What a custodian asks of a table and its release: audited, assessed, attacked and compared."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from microveil.audit.advice import Advice, advice_and_plan
from microveil.audit.empirical import EmpiricalAudit, empirical_audit
from microveil.audit.exact import audit
from microveil.commands.asking import (
    Progress,
    Recipe,
    asked_of,
    codes_of,
    read_with_codes,
    text_of_recipe,
    words_but,
)
from microveil.commands.custodians import manifest_beside, original_of, request_of
from microveil.commands.naming import resolve_names
from microveil.compare import Comparison, compare
from microveil.compare.store import opened
from microveil.errors import stands_alone
from microveil.files.address import address_of
from microveil.files.disk import written_text
from microveil.files.folders import table_of_release
from microveil.files.labelled import labelled
from microveil.files.reading import OpenedFile, of_each, open_file, outline_of
from microveil.files.text import TextFormat
from microveil.files.typed import Outline
from microveil.guarantee import Guarantee
from microveil.measures.analyses import Analyses
from microveil.measures.assess import assess
from microveil.measures.assessment import Assessment
from microveil.measures.attack import attack
from microveil.measures.attacks.outcome import AttackReport
from microveil.measures.opening import guarantee_beside, has_pairs, measurements_beside
from microveil.protect.exact_audit import Audit, audit_of
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of
from microveil.protect.request import Advised
from microveil.protect.settling import settle
from microveil.report import comparison_report, draw_map
from microveil.report.drawing import can_draw
from microveil.schema import Kind, Source
from microveil.table import open_table

# Lists of columns that a command line may give with commas.
LISTS = ("attributes", "by", "known", "secret", "quasi_identifiers")
# Of `compare`, beside the arguments of a request.
OF_COMPARISON = ("methods", "runs", "jobs", "linkage")


@stands_alone
def audit_file(
    path: str | Path,
    *,
    runs: int | None = None,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> tuple[Audit, EmpiricalAudit | None]:
    """Audit what `protect_file` would release; with ``runs`` make the empirical audit too."""
    source, asked = asked_of(path, progress=progress, **arguments)
    progress("auditing")
    table = labelled(source)
    found = audit(table, **asked)
    if runs is None:
        return found, None
    progress("attacking")
    return found, empirical_audit(table, runs=runs, **asked)


@stands_alone
def audit_release(
    folder: str | Path,
    *,
    original: str | Path | None = None,
    runs: int | None = None,
    text: TextFormat | None = None,
    progress: Progress = lambda _step: None,
) -> tuple[Audit, EmpiricalAudit | None]:
    """Audit a release by its manifest; the original is by default beside it or here."""
    released_by = request_of(folder)
    path = original_of(folder, released_by) if original is None else original
    text = text_of_recipe(released_by.recipe, text)
    source, asked = asked_of(path, text=text, progress=progress, **released_by.asked)
    released_by.check_table(source.path, source.digest)
    progress("auditing")
    table = labelled(source)
    prepared = settle(table, asked)
    if prepared.whole is None and released_by.advised is not None:
        chosen = replace(prepared.request, advised=Advised(released_by.advised))
        prepared = prepared.for_request(chosen)
    planned = plan_of(prepared)
    released_by.check_claim(planned.guarantee)
    found = audit_of(planned)
    if runs is None:
        return found, None
    progress("attacking")
    return found, empirical_audit(table, runs=runs, **asked)


@stands_alone
def foresee_file(
    path: str | Path, *, progress: Progress = lambda _step: None, **arguments: Any
) -> tuple[Advice, Plan]:
    """Say what to expect of `protect_file`, and plan it: both depend on the data."""
    source, asked = asked_of(path, progress=progress, **arguments)
    progress("weighing")
    return advice_and_plan(labelled(source), asked)


@stands_alone
def attack_files(
    original: str | Path,
    protected: str | Path,
    *,
    control: str | Path | None = None,
    recipe: Recipe = None,
    text: TextFormat | None = None,
    paired: bool = True,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> AttackReport:
    """Attack a protected file, or a release's folder, as `attack` does; see `assess_files`."""
    progress("reading the tables")
    protected = table_of_release(protected)
    of_release, declared_before = manifest_beside(protected)
    recipe = of_release if recipe is None else recipe
    text = text_of_recipe(recipe, text)
    texts = of_each(text, original, protected, *(() if control is None else (control,)))
    release = open_file(protected, text=texts[1])
    guarantee = _guarantee_of(protected, release.names)
    kinds = _kinds_learnt(release, guarantee)
    said = {"given": arguments, "before": declared_before, "kinds": kinds}
    source, declared = read_with_codes(original, texts[0], **said)
    before = source.whole
    after = release.read(missing=codes_of(declared).words_of).whole
    others = None if control is None else read_with_codes(control, texts[2], **said)[0].whole
    paired = paired and has_pairs(guarantee, before.height - after.height)
    if guarantee is not None:
        codes = codes_of(declared).and_of(guarantee.missing_codes)
        declared["missing_codes"] = codes.by_column
        if guarantee.has_new_numbers:
            after = after.drop(str(guarantee.unit.column))  # not what the original holds
    progress("attacking")
    asked = {**_with_names(arguments, before.columns), **declared}
    return attack(before, after, control=others, paired=paired, recipe=recipe, **asked)


def assess_files(
    original: str | Path,
    protected: str | Path,
    attributes: Iterable[str] | None = None,
    *,
    text: TextFormat | None,
    recipe: Recipe = None,
    **arguments: Any,
) -> Assessment:
    """Measure a protected file, or a release's folder, against its original; see `assess`.

    What is promised is read from the guarantee beside a release, margins of subgroups from the
    measurements there, and roles by default from the recipe that the release was made by.
    """
    protected = table_of_release(protected)
    of_release, declared_before = manifest_beside(protected)
    recipe = of_release if recipe is None else recipe
    of_original, text = of_each(text_of_recipe(recipe, text), original, protected)
    # Where its columns are known without it the release is read after the original: the bytes of
    # one file at a time are then held beside the tables.
    file, outline = None, _outline_of(protected, text)
    if outline is None:
        file = open_file(protected, text=text)
        columns = file.names
    else:
        columns = list(outline.kinds)
    guarantee = _guarantee_of(protected, columns)
    apart = _with_words(guarantee)
    kinds = _kinds_learnt(open_file(protected, text=text) if file is None else file, guarantee)
    source, declared = read_with_codes(
        original, of_original, arguments, apart, declared_before, kinds
    )
    read = source.whole
    del source
    before = _in_one_piece(read)
    file = open_file(protected, text=text) if file is None else file
    read = file.read(missing=words_but(codes_of(declared), apart)).whole
    del file
    after = _in_one_piece(read)
    asked = {**_with_names({**arguments, "attributes": attributes}, before.columns), **declared}
    if asked.get("by") is not None:
        asked["measurements"] = measurements_beside(address_of(protected).path, guarantee)
    return assess(before, after, recipe=recipe, guarantee=guarantee, **asked)


@stands_alone
def compare_file(
    path: str | Path,
    folder: str | Path,
    *,
    progress: Callable[[int, int], None],
    analyses: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> tuple[Comparison, Path, Path | None]:
    """Compare methods on the table of a file: results, report and map (None if none) in a folder.

    Arguments are those of `compare`, ``analyses`` apart, and those of `protect_file`.
    """
    analysed = dict(analyses or {})
    of_comparison = {n: arguments.pop(n) for n in OF_COMPARISON if n in arguments}
    source, asked = asked_of(
        path,
        typed=True,
        progress=lambda _step: None,
        calculated=Analyses.of(**analysed).columns,
        **arguments,
    )
    asked.pop("method", None)
    found = compare(
        source.frame, folder=folder, progress=progress, **of_comparison, **analysed, **asked
    )
    report = Path(folder) / "report.html"
    page = comparison_report(found)
    with opened(Path(folder), found.description):  # no two processes under one name
        written_text(report, page)
        drawn = draw_map(found, Path(folder) / "map.svg") if can_draw() else None
    return found, report, drawn


def _with_names(arguments: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return arguments with their lists of columns as names."""
    given = {name: arguments[name] for name in LISTS if arguments.get(name) is not None}
    return {**arguments, **{name: resolve_names(said, columns) for name, said in given.items()}}


def _with_words(guarantee: Guarantee | None) -> set[str]:
    """Name the categories of a release that say in words why a cell is missing."""
    return {
        terms.name
        for terms in (() if guarantee is None else guarantee.attributes)
        if terms.kind in {Kind.ORDINAL, Kind.NOMINAL}
        and any(isinstance(code, str) for code in terms.reasons)
    }


def _kinds_learnt(release: OpenedFile, guarantee: Guarantee | None) -> dict[str, Kind]:
    """Say what a new table's columns hold whose kind was learnt, if its original has no types."""
    learnt = {
        terms.name
        for terms in (() if guarantee is None else guarantee.attributes)
        if terms.kind is Kind.OTHER and terms.domain_source is Source.LEARNT
    }
    if not learnt:
        return {}
    table = open_table(labelled(release.read()))
    return {name: table.kind(name) for name in table.names if name in learnt}


def _in_one_piece(frame: polars.DataFrame) -> polars.DataFrame:
    """Make each column one piece, NaN where missing, one by one: the frame given is used up."""
    columns = []
    for name, dtype in frame.schema.items():
        column = frame.drop_in_place(name)
        if dtype.is_float() and column.null_count():
            column = column.fill_null(float("nan"))
        columns.append(column.rechunk())
        del column
    return polars.DataFrame(columns)


def _outline_of(place: str | Path, text: TextFormat | None) -> Outline | None:
    """Read what a file of this machine declares; None where it has to be opened for that."""
    address = address_of(place)
    is_there = address.scheme == "file" and address.path.is_file()
    return outline_of(place, text=text) if is_there else None


def _guarantee_of(place: str | Path, columns: Sequence[str]) -> Guarantee | None:
    """Read the guarantee beside a table, where that is a file of this machine."""
    address = address_of(place)
    return guarantee_beside(address.path, columns) if address.scheme == "file" else None

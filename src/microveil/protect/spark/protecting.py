"""A frame of Spark's protected: request, plan and release as of any table, on steps in Spark."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.errors import EngineError, RequestError
from microveil.files.formulas import HARMLESS
from microveil.methods.base import Choices
from microveil.methods.centroids import RankedSteps
from microveil.methods.knoise import by_matrix
from microveil.methods.planned import AttributePlan, Figures, released_numbers
from microveil.methods.planned import squares_about_rounded as about_rounded
from microveil.noise.noise import RandomSource
from microveil.protect.arguments import SPARK
from microveil.protect.columns import Prepared, check_enough
from microveil.protect.draw import Drawn, names_learnt
from microveil.protect.opening import prepare
from microveil.protect.plan import Plan
from microveil.protect.planning import check_scope, plan_from, plan_part, refuse_exact_cells
from microveil.protect.release import Release
from microveil.protect.releasing import released
from microveil.protect.request import Request
from microveil.protect.spark.clusters import Starts, by_rank
from microveil.protect.spark.counts import SparkCounter, counter, summed
from microveil.protect.spark.draws import Draw, drawn_release, new_table
from microveil.protect.spark.scratch import Scratch
from microveil.protect.spark.table import (
    SparkColumn,
    SparkTable,
    arrow_type,
    open_table,
    place_in_files,
)
from microveil.schema import Attribute, Cells, Kind
from microveil.synthesis.generation import Drawing, blocks_of
from microveil.synthesis.measuring import Counter
from microveil.synthesis.plan import NewColumns, SyntheticPlan
from microveil.table import GridColumn, Numbers, Table, spread
from microveil.table.frames import check_names, table_of_frame
from microveil.table.restore import MOST_DIGITS
from microveil.table.table import is_text

# Blocks of a new table of which it is counted how many records were changed for rules.
COUNTED = 16
# Arguments that Spark has no way for, with what would do.
WITHOUT = {
    "parts": ("makes releases of one part", "make a release for each part's attributes"),
    "unit": ("does not protect units", "leave it out, and a record is what is protected"),
    "shuffle": ("does not put rows in a secret order", "leave it out, or shuffle the release"),
    "isotonic": ("does not measure the linkage that it invites", "leave it out"),
    "missing_codes": ("takes no codes for missing values", "make such cells null first"),
    "missing_values": ("takes no text for missing values", "make such cells null first"),
    "memory": ("has settings of its own for memory", "leave it out"),
}
Whole = NDArray[np.int64]
RANKED = ("dp-um", "idp-ls", "idp-cbls", "idp-vector", "ranking")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkFiles:
    """A frame as it was read from Parquet files, whose rows have a place in them."""

    frame: Any
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outline(Table):
    """A frame of Spark's as a table without a record at hand: names, types, and how many."""

    texts: Callable[[str, tuple[str, ...]], set[str]] = lambda _name, _signs: set()

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Return no cell, but for each sign that some begin with a text that does so too."""
        return self.texts(name, signs) if is_text(self, name) else set()


def _outline(schema: Any) -> Outline:
    check_names([name.casefold() for name in schema.names])  # as Spark sees them
    types = {field.name: arrow_type(field.dataType) for field in schema.fields}
    columns = table_of_frame(pa.schema([*types.items()]).empty_table()).columns
    # No moment is a date, and no decimal of many digits a number, whatever their cells are.
    others = {
        name: Kind.OTHER
        for name, own in types.items()
        if pa.types.is_timestamp(own) or (pa.types.is_decimal(own) and own.precision > MOST_DIGITS)
    }
    return Outline(columns=columns, n_records=sys.maxsize, kinds=others)  # until they are counted


def protect_in_spark(
    given: Any, asked: Mapping[str, Any], *, notes: Sequence[str] = (), **entries: Any
) -> Release:
    """Protect a Spark frame, or one of files, as `protect` does; ``entries`` are the manifest's."""
    with _opened(given, asked) as (prepared, table, scratch):
        draws = dict[str, Draw]()
        planned = _planned(prepared, table, scratch, draws)
        frame = given.frame if isinstance(given, SparkFiles) else given
        schema = _schema(frame.schema, {*table.columns, *table.kept})
        if planned.synthetic is None:
            data = drawn_release(table, draws, schema, prepared.request.seed, scratch)
            drawn = Drawn(data=data)
        else:
            drawn = _new_table(planned.synthetic, table, schema, prepared.request.seed, scratch)
        return released(planned, drawn, notes=notes, **entries)


def plan_in_spark(given: Any, asked: Mapping[str, Any]) -> Plan:
    """Plan a release of a Spark frame, as `plan` does: what is left of plans are their figures."""
    with _opened(given, asked) as (prepared, table, scratch):
        planned = _planned(prepared, table, scratch, {})
    without = replace(prepared, held=())
    (part,) = planned.parts
    return replace(planned, prepared=without, parts=(replace(part, prepared=without),))


@contextmanager
def _opened(given: Any, asked: Mapping[str, Any]) -> Iterator[tuple[Prepared, SparkTable, Scratch]]:
    """Put the columns of a request on their grids; in the end remove what was written."""
    request = _request(asked)
    is_read = isinstance(given, SparkFiles)
    frame = given.frame if is_read else given
    key = place_in_files(frame, given.files) if is_read else None
    if request.record_id is None and key is None:
        raise EngineError(
            "record_id",
            "rows of a Spark frame are in no order, and something public must decide between "
            "records of equal values",
            "name a column that is different in each record: record_id='ID'",
        )
    outline = _outline(frame.schema)
    attributes = prepare(outline, request).attributes
    scratch = Scratch(frame.sparkSession, request.scratch)
    try:
        table = open_table(
            frame,
            request.record_id or key,
            attributes,
            request.keep,
            scratch,
            clamp=request.outside == "clamp",
            missing=request.missing,
            may_be_hidden="missing" in request.method.can,
        )
        texts = _texts(table, scratch)
        outline = replace(outline, n_records=table.n_records, texts=texts)
        columns = cast("tuple[GridColumn, ...]", tuple(table.columns.values()))
        prepared = replace(prepare(outline, request), held=columns)
        check_enough(columns, request)
        yield prepared, table, scratch
    finally:
        scratch.end()


def _request(asked: Mapping[str, Any]) -> Request:
    """Make the request, or refuse what is not done in Spark, with what would do."""

    def refused(what: str, instead: str) -> EngineError:
        return EngineError("spark", f"it {what}", instead)

    for name, (what, instead) in WITHOUT.items():
        if asked.get(name):
            raise refused(what, instead)
    if "auto" in (asked.get("k"), asked.get("method")):
        raise refused("weighs no requests", "choose k and method, by a sample for example")
    if asked.get("engine") not in (None, SPARK):
        rule = "a frame of Spark's is protected by Spark"
        raise RequestError("engine", rule, "leave out the engine, or pass a table of this process")
    request = Request.of({**asked, "engine": SPARK})
    if request.exact_cells == "widen" and "exact cells" in request.method.can:
        raise refused(
            "does not merge clusters of equal values",
            "choose a larger k, or dp-um, which draws noise for every cluster",
        )
    of_ranks = request.method.id in RANKED and request["partition"] in (None, "ranking")
    if not of_ranks and request.method.id not in ("laplace", "pram", "dp-synthetic"):
        raise refused(
            "has the ranked methods, laplace, pram and dp-synthetic alone",
            "choose dp-um, idp-ls, idp-cbls, idp-vector, ranking, laplace, pram or dp-synthetic; "
            "record-dp with partition='ranking' is dp-um",
        )
    if request.attributes is None and not request.learns:
        raise EngineError(
            "attributes",
            "columns are not looked through in Spark to see which are numbers of people",
            "name those to protect (attributes=)",
        )
    return request


def _planned(
    prepared: Prepared, table: SparkTable, scratch: Scratch, draws: dict[str, Draw]
) -> Plan:
    """Plan each attribute and draw for its clusters; what is drawn for records is drawn later."""
    request, columns = prepared.request, table.columns
    streams = dict(zip(columns, RandomSource.of(request.seed).spawn(len(columns)), strict=True))

    def plan_of(name: str, choices: Choices) -> Figures:
        column, steps = columns[name], cast("RankedSteps", request.method.plan)
        if request.method.id == "pram":
            plan, draws[name] = _of_categories(column, choices, scratch)
        elif request.method.id in RANKED:
            summary, starts = by_rank(column, choices.k, scratch)
            of_clusters = steps.of_clusters(summary, column.attribute, choices)
            values = of_clusters.drawn_means(streams[name])
            draws[name] = taking(column.attribute, starts, values)
            plan = of_clusters.figures
        else:
            plan, draws[name] = _of_records(column, steps, choices, scratch)
        n_missing = 0 if request.missing == "protect" else column.n_records - column.n_present
        return replace(plan, written={**plan.written, "missing_cells": n_missing})

    def plans(prepared: Prepared, choices: Choices, _made: Any) -> list[AttributePlan]:
        return [plan_of(name, choices) for name in prepared.names]

    part = plan_part(prepared, plans=plans)
    check_scope(part.promise, request)
    planned = plan_from([part], prepared)
    refuse_exact_cells(planned)
    return planned


def taking(attribute: Attribute, starts: Starts, values: Cells) -> Draw:
    """Make what gives records the value that was drawn for their cluster."""

    def take(column: GridColumn, numbers: Whole, _source: RandomSource) -> Numbers:
        present = numbers if column.missing is None else numbers[~column.missing]
        cells = spread(values[starts.places(column.values, present)], column.missing)
        return released_numbers(attribute, cells, column.missing)

    return take


def _new_table(
    plan: SyntheticPlan, table: SparkTable, schema: Any, seed: int | None, scratch: Scratch
) -> Drawn:
    """Ask counts of Spark, and have it draw records of the answers, as the plan does in memory."""
    asking, source = RandomSource.of(seed).spawn(2)
    cut = [part.attribute.name for part in plan.attributes if part.is_number]
    columns = {own.attribute.name: own for own in plan.asked(table.columns.values())}
    counted = counter(replace(table, columns=columns), cut, seed, scratch)
    measurements = plan.measured(cast("Counter", counted), asking)
    drawing, n_records = Drawing.of(measurements), plan.n_drawn
    attributes = [own for own, _ in drawing.released]
    released = names_learnt(measurements, [own.name for own in attributes])
    own = int.from_bytes(source.words(4).tobytes(), "little")

    def block(number: int) -> NewColumns:
        sequence = np.random.SeedSequence(own, spawn_key=(number,))
        generator = np.random.Generator(np.random.PCG64(sequence))
        drawn, repairs = drawing.block(number, n_records, generator)
        return NewColumns(attributes, drawn, repairs, plan.may_lack)

    n_blocks = blocks_of(n_records)
    data = new_table(block, n_blocks, n_records, _schema(schema, released), scratch)
    # A task may be repeated: what was changed for rules is counted here, of the first blocks.
    known = [] if drawing.possible is None else range(min(n_blocks, COUNTED))
    changed = [one for number in known if (one := block(number).repairs) is not None]
    repairs = sum(changed[1:], changed[0]) if changed else None
    return Drawn(data=data, measurements=measurements, repairs=repairs)


def _of_records(
    column: SparkColumn, steps: RankedSteps, choices: Choices, scratch: Scratch
) -> tuple[Figures, Draw]:
    """Plan noise on every value: of one scale for all, so that each batch is planned by itself."""
    attribute, n_cells = column.attribute, column.n_present
    middle = (column.least + column.greatest) // 2  # about a point among them sums keep digits

    def of_values(values: Any) -> Figures:
        grid = GridColumn(attribute=attribute, values=values, missing=None)
        return steps([grid], choices)[0].figures

    def add(totals: Any, batch: pa.RecordBatch) -> None:
        values = batch.column(0).to_numpy()
        apart = (values - middle).astype(np.float64)
        totals += [apart.sum(), (apart**2).sum(), of_values(values).error]

    def draw(column: GridColumn, _numbers: Whole, source: RandomSource) -> Numbers:
        if column.missing is not None and column.missing.all():
            return released_numbers(attribute, np.zeros(len(column.missing)), column.missing)
        return steps([column], choices)[0].draw(source)

    present = column.frame.select(column.units).dropna()
    apart, squares, error = summed(present, add, 3, scratch).tolist()
    total = max(0.0, squares - apart**2 / n_cells)
    of_ends = of_values(np.array([column.least, column.greatest]))
    plan = replace(
        of_ends,
        n_clusters=n_cells,
        n_cells=n_cells,
        total_squares=total,
        squares_about_published_mean=about_rounded(total, middle + apart / n_cells, n_cells),
        error=error,
        written={**of_ends.written, "n_clusters": n_cells},
    )
    return plan, draw


def _of_categories(column: SparkColumn, choices: Choices, scratch: Scratch) -> tuple[Figures, Draw]:
    """Plan a draw by the row of a matrix, of which the counts of categories say all figures."""
    counts = SparkCounter([column], column.frame, scratch).histogram(0)
    observed = counts if choices.hides_missing(column.attribute) else counts[:-1]
    nothing = np.empty(0, dtype=np.int64)
    grid = GridColumn(attribute=column.attribute, values=nothing, missing=None)
    matrix = by_matrix(grid, choices, observed)

    def draw(column: GridColumn, _numbers: Whole, source: RandomSource) -> Numbers:
        return matrix.drawn(column, source)

    return matrix.figures, draw


def _texts(table: SparkTable, scratch: Scratch) -> Callable[[str, tuple[str, ...]], set[str]]:
    """Make what finds the signs that kept text begins with, but text of a harmless form."""

    def beginning(name: str, signs: tuple[str, ...]) -> set[str]:
        from pyspark.sql import functions as sql

        text = sql.col(table.kept[name])
        first = sql.substring(text, 1, 1)
        begun = table.frame.where(first.isin(*signs) & ~text.rlike(rf"^(?:{HARMLESS})\z"))
        found = scratch.fetched(begun.select(first.alias("sign")).distinct())
        return {f"{sign}A" for sign in found["sign"].to_pylist()}

    return beginning


def _schema(schema: Any, names: Collection[str]) -> Any:
    """Return names and types of a release, without what a frame says of its columns."""
    from pyspark.sql.types import StructField, StructType

    own = (field for field in schema.fields if field.name in names)
    return StructType([StructField(field.name, field.dataType) for field in own])

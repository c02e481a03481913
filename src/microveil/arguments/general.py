"""The arguments that every request may have, whichever method it is for."""

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from microveil.arguments import reading
from microveil.arguments.argument import Argument, Entry, Flag
from microveil.arguments.engines import DEFAULT, ENGINES, checked

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "ATTRIBUTES",
    "BOUNDS",
    "BUDGET",
    "CATEGORIES",
    "DELTA",
    "ENGINE",
    "EPSILON",
    "EXACT_CELLS",
    "FIRST",
    "ISOTONIC",
    "KEEP",
    "LAST",
    "LOOKED_AT",
    "MAX_ROWS",
    "METHOD",
    "MISSING",
    "MISSING_CODES",
    "MISSING_REASONS",
    "MISSING_VALUES",
    "NEVER_MISSING",
    "OUTSIDE",
    "POPULATION",
    "RESOLUTION",
    "SCOPE",
    "SEED",
    "SHUFFLE",
    "TYPES",
    "UNIT",
    "K",
]

Number = int | float
Point = int | float | datetime.date

METHOD: Argument[str] = Argument(
    name="method",
    help="See microveil methods; auto takes the best for --scope.",
    takes="the id of a method, or auto",
    flags=(Flag(),),
    entry=Entry(type=str),
)
K: Argument[int] = Argument(
    name="k",
    help="Least records in a cluster; auto takes advice.",
    read=reading.cluster_size,
    takes="a whole number of 1 or more, or auto",
    flags=(Flag(),),
    entry=Entry(type=int | Literal["auto"]),
)
EPSILON: Argument["Fraction"] = Argument(
    name="epsilon",
    help="The budget, above 0.",
    read=reading.epsilon,
    takes="a number above 0",
    flags=(Flag(),),
    entry=Entry(type=Number),
)
DELTA: Argument["Fraction"] = Argument(
    name="delta",
    help="dp-synthetic: the chance left to what epsilon does not bound; 0 by default.",
    read=reading.delta,
    takes="a number from 0 to below 1",
    default=0,
    flags=(Flag(),),
    entry=Entry(type=Number),
    of_table=True,
)
SCOPE: Argument[str] = Argument(
    name="scope",
    help="What the epsilon must cover: cluster, vector or row. Else refused.",
    choices=("cluster", "vector", "row"),
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
ATTRIBUTES: Argument[tuple[str, ...]] = Argument(
    name="attributes",
    help="Columns, with commas or repeated.",
    read=reading.column_names("attributes"),
    takes="names of columns",
    flags=(Flag(repeated=True),),
    entry=Entry(type=None, name="role", by_column=False),
    of_table=True,
)
KEEP: Argument[tuple[str, ...]] = Argument(
    name="keep",
    help="Columns to release unprotected.",
    read=reading.column_names("keep"),
    takes="names of columns",
    default=(),
    flags=(Flag(repeated=True),),
    entry=Entry(type=None, name="role", by_column=False),
    of_table=True,
)
UNIT: Argument[str] = Argument(
    name="unit",
    help="Records with one value of this column are one person's, or one household's.",
    read=reading.column_name("unit"),
    takes="the name of a column",
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
MAX_ROWS: Argument[int] = Argument(
    name="max_rows",
    help="laplace, pram, dp-synthetic: how many records one unit may have; see --outside.",
    read=reading.max_rows,
    takes="a whole number of 1 or more",
    flags=(Flag(kind=int),),
    entry=Entry(type=int),
    of_table=True,
)
UNIT_ATTRIBUTES: Argument[tuple[str, ...]] = Argument(
    name="unit_attributes",
    help="laplace, pram: attributes that are one value a unit, drawn once and copied.",
    read=reading.column_names("unit_attributes"),
    takes="names of columns",
    default=(),
    flags=(Flag(repeated=True),),
    entry=Entry(type=list[str]),
    of_table=True,
)
BOUNDS: Argument[Mapping[str, Any]] = Argument(
    name="bounds",
    help="A column's domain: NAME=0:150000.",
    read=reading.by_column("bounds"),
    takes="by column two numbers or dates; of text a list of categories",
    default={},
    flags=(Flag(repeated=True, by_column=True),),
    entry=Entry(type=tuple[Point, Point] | list[str], by_column=True),
)
CATEGORIES: Argument[Mapping[str, Any]] = Argument(
    name="categories",
    help="A column's categories: NAME=North,South.",
    read=reading.by_column("categories"),
    takes="by column a list of text, whole numbers or yes/no",
    default={},
    flags=(
        Flag(repeated=True, by_column=True),
        Flag(
            name="ordered",
            help="Its categories in an order that counts: NAME=low,middle,high.",
            repeated=True,
            by_column=True,
        ),
    ),
    entry=Entry(type=list[str | int | bool] | tuple[str, ...], by_column=True),
)
RESOLUTION: Argument[Mapping[str, Any]] = Argument(
    name="resolution",
    help="A column's step: NAME=0.01.",
    read=reading.by_column("resolution"),
    takes="by column a number above 0",
    default={},
    flags=(Flag(repeated=True, by_column=True),),
    entry=Entry(type=Number, by_column=True),
)
OUTSIDE: Argument[str] = Argument(
    name="outside",
    help="error or clamp.",
    choices=("error", "clamp"),
    default="error",
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
MISSING: Argument[str] = Argument(
    name="missing",
    help="error, keep, or protect: missing is a value like another (dp-synthetic, pram, mdav).",
    choices=("error", "keep", "protect"),
    default="error",
    flags=(Flag(),),
    entry=Entry(type=str),
)
NEVER_MISSING: Argument[Mapping[str, str]] = Argument(
    name="never_missing",
    help="Columns that never lack a value, whatever --missing says; one that does is refused.",
    read=reading.never_missing,
    takes="names of columns",
    default={},
    flags=(Flag(repeated=True),),
    entry=Entry(type=Literal["never"], name="missing", by_column=True),
)
MISSING_CODES: Argument[Mapping[str, tuple[Any, ...]]] = Argument(
    name="missing_codes",
    help="A column's codes for missing values: NAME=-9,99999998.",
    read=reading.missing_codes,
    takes="by column a list of numbers, dates or text",
    default={},
    flags=(Flag(repeated=True, by_column=True),),
    entry=Entry(type=list[Point | str], by_column=True),
)
MISSING_VALUES: Argument[tuple[str, ...]] = Argument(
    name="missing_values",
    help="Text that means missing in every column: NA,.,?",
    read=reading.missing_values,
    takes="text, with commas or repeated",
    default=(),
    flags=(Flag(repeated=True),),
    entry=Entry(type=list[str]),
    of_table=True,
)
MISSING_REASONS: Argument[bool] = Argument(
    name="missing_reasons",
    help="Write the codes of missing cells into the release: reasons kept apart.",
    read=reading.yes_or_no("missing_reasons"),
    takes="yes or no",
    default=False,
    flags=(Flag(kind=bool, denied=True),),
    entry=Entry(type=bool),
    of_table=True,
)
EXACT_CELLS: Argument[str] = Argument(
    name="exact_cells",
    help="refuse, allow or widen.",
    choices=("refuse", "allow", "widen"),
    default="refuse",
    flags=(Flag(),),
    entry=Entry(type=str),
)
BUDGET: Argument[Mapping[str, Any]] = Argument(
    name="budget",
    help="A column's weight in epsilon: NAME=2.",
    read=reading.by_column("budget"),
    takes="by column a number above 0",
    default={},
    flags=(Flag(repeated=True, by_column=True),),
    entry=Entry(type=Number, by_column=True),
)
ISOTONIC: Argument[bool] = Argument(
    name="isotonic",
    help="Put noisy means in order: more linkage.",
    read=reading.yes_or_no("isotonic"),
    takes="yes or no",
    default=False,
    flags=(Flag(kind=bool, denied=True),),
    entry=Entry(type=bool),
)
SHUFFLE: Argument[str | None] = Argument(
    name="shuffle",
    help="Rows in random order.",
    read=reading.shuffled,
    takes="yes or no, rows or columns",
    flags=(
        Flag(kind=bool, denied=True),
        Flag(
            name="shuffle_columns",
            help="Each attribute in a random order of its own: no row is a person's.",
            kind=bool,
        ),
    ),
    entry=Entry(type=bool | Literal["rows", "columns"]),
)
LOOKED_AT: Argument[str] = Argument(
    name="looked_at",
    help="data or public: by what figures method, k or epsilon were chosen.",
    choices=("data", "public"),
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
SEED: Argument[int] = Argument(
    name="seed",
    help="Experiments only: protects nobody.",
    read=reading.seed,
    takes="a whole number",
    flags=(Flag(kind=int),),
    entry=Entry(type=int),
    of_table=True,
)
TYPES: Argument[Mapping[str, Any]] = Argument(
    name="types",
    help="What a column must hold.",
    read=reading.column_kinds,
    takes="by column whole number, decimal, yes/no, date or text",
    default={},
    entry=Entry(
        type=Literal["whole number", "decimal", "yes/no", "date", "text"],
        name="type",
        by_column=True,
        needed=True,
    ),
)
POPULATION: Argument[str] = Argument(
    name="population",
    help="Who the people are: a ledger then counts all releases of theirs.",
    read=reading.population,
    takes="a name",
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)

ENGINE: Argument[str] = Argument(
    name="engine",
    help=f"Who carries it out: {', '.join(ENGINES)}.",
    read=checked,
    takes="the name of an engine",
    default=DEFAULT,
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)

MEMORY: Argument[int] = Argument(
    name="memory",
    help="disk: how much memory may be taken, 2GB for example.",
    read=reading.memory,
    takes="a number of bytes, or text with MB or GB",
    flags=(Flag(),),
    entry=Entry(type=str | int),
    of_table=True,
)
SCRATCH: Argument[str] = Argument(
    name="scratch",
    help="disk, spark: the folder for scratch files; on disk they have no name there.",
    read=reading.scratch,
    takes="the path of a folder",
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
RECORD_ID: Argument[str] = Argument(
    name="record_id",
    help="spark: the column that decides between records of equal values.",
    read=reading.column_name("record_id"),
    takes="the name of a column",
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)

# In the order in which a person is shown them: the methods' own stand between.
FIRST: tuple[Argument[Any], ...] = (
    METHOD,
    K,
    EPSILON,
    DELTA,
    SCOPE,
    ATTRIBUTES,
    KEEP,
    UNIT,
    MAX_ROWS,
    UNIT_ATTRIBUTES,
    BOUNDS,
    CATEGORIES,
    RESOLUTION,
    OUTSIDE,
    MISSING,
    NEVER_MISSING,
    MISSING_CODES,
    MISSING_VALUES,
    MISSING_REASONS,
    EXACT_CELLS,
)
LAST: tuple[Argument[Any], ...] = (
    BUDGET,
    ISOTONIC,
    SHUFFLE,
    LOOKED_AT,
    SEED,
    TYPES,
    POPULATION,
    ENGINE,
    MEMORY,
    SCRATCH,
    RECORD_ID,
)

"""Data frames in and out, columns as whole numbers on public grids; files are opened in `files`."""

from microveil.table.cells import spread
from microveil.table.columns import (
    BoundsFromData,
    CategoriesFromData,
    Column,
    ResolutionFromData,
    bounds_from_data,
    categories_from_data,
    categories_seen,
    column_of,
    decimals_seen,
    numbers_of,
    resolution_from_data,
)
from microveil.table.frames import check_columns, open_beside, open_table, unknown_column
from microveil.table.gridding import (
    GridColumn,
    numbers_of_attribute,
    on_grid,
    words_of_attribute,
)
from microveil.table.labelled import ColumnSchema, LabelledTable, Labels, fitting, only
from microveil.table.likely import (
    LARGEST_UNIT,
    likely_birth,
    likely_body_weight,
    likely_coordinate,
    likely_identifier,
    likely_name,
    likely_person,
    likely_units,
    likely_weights,
    named_like_name,
    named_like_person,
    named_like_weight,
    values_repeated,
)
from microveil.table.missing import MissingCodes, MissingSeen, code_for, missing_seen
from microveil.table.numeric_text import numeric_look_of
from microveil.table.restore import Numbers, Reasons
from microveil.table.table import Table

__all__ = [
    "LARGEST_UNIT",
    "BoundsFromData",
    "CategoriesFromData",
    "Column",
    "ColumnSchema",
    "GridColumn",
    "LabelledTable",
    "Labels",
    "MissingCodes",
    "MissingSeen",
    "Numbers",
    "Reasons",
    "ResolutionFromData",
    "Table",
    "bounds_from_data",
    "categories_from_data",
    "categories_seen",
    "check_columns",
    "code_for",
    "column_of",
    "decimals_seen",
    "fitting",
    "likely_birth",
    "likely_body_weight",
    "likely_coordinate",
    "likely_identifier",
    "likely_name",
    "likely_person",
    "likely_units",
    "likely_weights",
    "missing_seen",
    "named_like_name",
    "named_like_person",
    "named_like_weight",
    "numbers_of",
    "numbers_of_attribute",
    "numeric_look_of",
    "on_grid",
    "only",
    "open_beside",
    "open_table",
    "resolution_from_data",
    "spread",
    "unknown_column",
    "values_repeated",
    "words_of_attribute",
]

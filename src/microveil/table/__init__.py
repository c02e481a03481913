"""Data frames in and out, columns as whole numbers on public grids; files are opened in `files`."""

from microveil.table.arrays import Column, column_of, numbers_of
from microveil.table.cells import spread
from microveil.table.columns import (
    BoundsFromData,
    CategoriesFromData,
    ResolutionFromData,
    bounds_from_data,
    categories_from_data,
    categories_seen,
    decimals_seen,
    likely_identifier,
    likely_person,
    likely_units,
    likely_weights,
    resolution_from_data,
    values_repeated,
)
from microveil.table.frames import open_beside, open_table
from microveil.table.gridding import GridColumn, numbers_of_attribute, on_grid
from microveil.table.labelled import ColumnSchema, LabelledTable, Labels, fitting, only
from microveil.table.likely_codes import MissingSeen, missing_seen
from microveil.table.missing import MissingCodes, code_for
from microveil.table.naming import check_columns, unknown_column
from microveil.table.numeric_text import numeric_look_of
from microveil.table.protocol import Table
from microveil.table.restore import Numbers, Reasons

__all__ = [
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
    "likely_identifier",
    "likely_person",
    "likely_units",
    "likely_weights",
    "missing_seen",
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
]

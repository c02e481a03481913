"""SAS files for tests: what pyreadstat writes, and what the library inside it can write too."""

import ctypes
from pathlib import Path

import polars as pl
import pyreadstat

__all__ = ["write_sas7bdat", "write_xpt"]

_STRING, _DOUBLE = 0, 5


def write_xpt(frame, path, *, labels=None, formats=None):
    """Write a transport file."""
    pyreadstat.write_xport(
        frame, str(path), file_format_version=8, column_labels=labels, variable_format=formats
    )


def write_sas7bdat(frame, path, *, labels=None, formats=None):
    """Write a data set: numbers and text; what has no value is missing."""
    folder = Path(pyreadstat.__file__).parent
    library = ctypes.CDLL(str(next(folder.glob("_readstat_writer*.so"))))
    chunks = []

    @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    def take(data, length, _context):
        chunks.append(ctypes.string_at(data, length))
        return length

    for name in ("readstat_writer_init", "readstat_add_variable"):
        getattr(library, name).restype = ctypes.c_void_p
    writer = ctypes.c_void_p(library.readstat_writer_init())
    library.readstat_set_data_writer(writer, take)
    variables = []
    for column in frame:
        is_text = column.dtype == pl.String
        width = max(len((cell or "").encode()) for cell in column) if is_text else 0
        variable = ctypes.c_void_p(
            library.readstat_add_variable(
                writer,
                column.name.encode(),
                _STRING if is_text else _DOUBLE,
                ctypes.c_size_t(max(width, 1) if is_text else 0),
            )
        )
        if labels and column.name in labels:
            library.readstat_variable_set_label(variable, labels[column.name].encode())
        if formats and column.name in formats:
            library.readstat_variable_set_format(variable, formats[column.name].encode())
        variables.append(variable)
    assert library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(frame.height)) == 0
    for row in frame.iter_rows():
        library.readstat_begin_row(writer)
        for variable, cell in zip(variables, row, strict=True):
            if cell is None:
                library.readstat_insert_missing_value(writer, variable)
            elif isinstance(cell, str):
                library.readstat_insert_string_value(writer, variable, cell.encode())
            else:
                library.readstat_insert_double_value(writer, variable, ctypes.c_double(cell))
        assert library.readstat_end_row(writer) == 0
    assert library.readstat_end_writing(writer) == 0
    library.readstat_writer_free(writer)
    Path(path).write_bytes(b"".join(chunks))

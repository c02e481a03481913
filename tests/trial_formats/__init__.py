"""A format that the package does not know: a record a line, as JSON."""

import io
import json

import polars as pl

from microveil.files import Format
from microveil.files.formats import Opened

__all__ = ["LINES"]

LINES = Format(name="lines", title="JSON lines", suffixes=(".jsonl",), module=__name__)


def opened(_path, raw, _text):
    frame = pl.read_ndjson(io.BytesIO(raw))
    return Opened(names=frame.columns, read=lambda _cells: frame)


def write(frame, file, **_how):
    for record in frame.iter_rows(named=True):
        file.write((json.dumps(record) + "\n").encode())

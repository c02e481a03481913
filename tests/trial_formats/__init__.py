"""A format that the package does not know: a record a line, as JSON."""

import io
import json
from types import MappingProxyType

import polars as pl

from microveil.files import Format

__all__ = ["LINES"]

LINES = Format(name="lines", title="JSON lines", suffixes=(".jsonl",), module=__name__)


class Opened:
    """A table that comes with its types."""

    text = None
    labels = MappingProxyType({})

    def __init__(self, frame):
        self.frame = frame
        self.names = frame.columns

    def read(self, _cells):
        return self.frame


def opened(_path, raw, _text):
    return Opened(pl.read_ndjson(io.BytesIO(raw)))


def write(frame, file, **_how):
    for record in frame.iter_rows(named=True):
        file.write((json.dumps(record) + "\n").encode())

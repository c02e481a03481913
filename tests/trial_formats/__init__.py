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

    def read(self, _decimals, _as_text, _of_one_kind, _missing):
        return self.frame


def opened(_path, raw, _text):
    return Opened(pl.read_ndjson(io.BytesIO(raw)))


def batches(frame, **_how):
    for record in frame.iter_rows(named=True):
        yield (json.dumps(record) + "\n").encode()

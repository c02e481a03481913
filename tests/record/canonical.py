"""The one way a value of any kind is written down: the same on every platform."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["digest", "figures", "plain", "plain_frame", "shortened", "text_of"]

# The last digits of a sum hang on how a processor adds: these do not.
DIGITS = 12
# Of the 64 of SHA-256: enough to tell that something changed, and short enough to be read.
SHOWN = 16
LONG = re.compile(r"-?\d+\.\d{9,}(e[-+]?\d+)?")


def digest(text: str) -> str:
    """Return the beginning of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:SHOWN]


def text_of(value: Any) -> str:
    """Write a value down: text as it is, anything else as JSON, a line for each entry."""
    if isinstance(value, str):
        return value
    return json.dumps(plain(value), indent=1, ensure_ascii=False) + "\n"


def shortened(text: str) -> str:
    """Round the long decimals in a text to 12 significant digits.

    >>> shortened("about 0.30000000000000004 of 2.5")
    'about 0.3 of 2.5'
    """
    return LONG.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", text)


def plain(value: Any) -> Any:
    """Return a value as JSON has it, numbers with decimals to 12 significant digits.

    Dates, and what is no number, are given as text.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value if value is None or isinstance(value, bool | int) else str(value)


def plain_frame(frame: Any) -> dict[str, Any]:
    """Return a table of any kind as its kind, and each column's type and values."""
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    if isinstance(frame, dict):
        columns = {name: [str(column.dtype), column] for name, column in frame.items()}
        return {"kind": kind, "columns": columns}
    if kind == "pyarrow Table":
        columns = {
            name: [str(frame[name].type), frame[name].to_pylist()] for name in frame.column_names
        }
        return {"kind": kind, "metadata": str(frame.schema.metadata), "columns": columns}
    columns = {name: [str(frame[name].dtype), frame[name].to_list()] for name in frame.columns}
    if kind == "polars DataFrame":
        return {"kind": kind, "columns": columns}
    return {
        "kind": kind,
        "index": [type(frame.index).__name__, frame.index.tolist()],
        "attrs": frame.attrs,
        "columns": columns,
    }


def figures(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest, or what is like one, without when and with what it was made."""
    return {name: part for name, part in contents.items() if name not in ("created", "versions")}

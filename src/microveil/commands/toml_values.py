"""Values as TOML has them, for a recipe that is written."""

import datetime
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

__all__ = ["quoted", "written"]


def quoted(name: str) -> str:
    """Write a key: in quotes unless it is plain.

    >>> quoted("AGE"), quoted("Net, monthly")
    ('AGE', '"Net, monthly"')
    """
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else written(name)


def written(value: Any) -> str:
    r"""Write a value.

    >>> written(["a\n", 1, True, {"INCOME": Fraction(1, 2)}])
    '["a\\U0000000a", 1, true, { INCOME = 0.5 }]'
    """
    if isinstance(value, Mapping):
        entries = (f"{quoted(name)} = {written(part)}" for name, part in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(map(written, value))}]"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
        return f'"{plain}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return str(int(value) if value.denominator == 1 else float(value))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)

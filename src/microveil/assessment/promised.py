"""What a release promises, read from the guarantee that was written with it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from microveil.privacy import Model

__all__ = ["guarantee_beside", "promised"]

TABLES = ("data.csv", "data.parquet")


def guarantee_beside(table: Path, columns: Collection[str]) -> Mapping[str, Any] | None:
    """Read the guarantee that was written with a table.

    Parameters
    ----------
    table : Path
        The protected table.
    columns : collection of str
        Its columns.

    Returns
    -------
    dict or None
        None where the table does not lie as a release is written, beside a guarantee for these
        columns: a promise that belongs to another table must not be shown for this one.
    """
    if table.name not in TABLES:
        return None
    try:
        contents = json.loads((table.parent / "guarantee.json").read_text(encoding="utf-8"))
        if contents["schema"] != 1 or {*contents["attributes"], *contents["kept"]} != {*columns}:
            return None
        promised(contents)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # it is not one of ours
    guarantee: dict[str, Any] = contents
    return guarantee


def promised(guarantee: Mapping[str, Any] | None) -> str | None:
    """Say in a line what a guarantee promises, None where there is none.

    Parameters
    ----------
    guarantee : dict or None
        As `Guarantee.to_dict` writes it.

    Examples
    --------
    >>> covered, not_covered = ({"covered": True, "epsilon": 1.0}, {"covered": False})
    >>> promised(
    ...     {
    ...         "randomness": "os",
    ...         "model": "dp",
    ...         "epsilon": 1.0,
    ...         "scopes": {"cluster": covered, "vector": covered, "row": not_covered},
    ...     }
    ... )[:87]
    'differential privacy (DP), epsilon 1 at cluster and vector scope; row scope not covered'
    """
    if guarantee is None:
        return None
    if guarantee["randomness"] == "seeded":
        return "nothing: drawn from a seed, it protects nobody"
    model = Model(guarantee["model"])
    if guarantee["epsilon"] is None:
        k = f" with k = {guarantee['k']}" if model is Model.K_ANONYMITY else ""
        return f"{model.in_words}{k}; no epsilon"
    covered: dict[str, list[str]] = {}
    for name, scope in guarantee["scopes"].items():
        # All digits: a figure cut short might promise more than is kept.
        held = repr(float(scope["epsilon"])).removesuffix(".0") if scope["covered"] else ""
        covered.setdefault(held, []).append(name)
    told = [
        f"epsilon {held} at {' and '.join(names)} scope"
        if held
        else f"{' and '.join(names)} scope not covered"
        for held, names in covered.items()
    ]
    return f"{model.in_words}, {'; '.join(told)}; conditions: see the guarantee"

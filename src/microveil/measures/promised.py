"""What a release promises and whom its rows follow, by the guarantee that was written with it."""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from microveil.errors import FileError
from microveil.files import FORMATS
from microveil.guarantee import Guarantee
from microveil.schema import Source
from microveil.synthesis.measurements import Measurements
from microveil.table import MissingCodes
from microveil.text import enumerated

# What measurements.json repeats of the guarantee.
SAME_IN_BOTH = ("method", "n_records", "epsilon", "delta", "rho")


def guarantee_beside(table: Path, columns: Collection[str]) -> Guarantee | None:
    """Read the guarantee that was written with a table of these columns.

    None where the table does not lie as a release is written, beside a guarantee for these
    columns: a promise that belongs to another table must not be shown for this one.
    """
    tables = {f"data{suffix}" for entry in FORMATS.values() for suffix in entry.suffixes[:1]}
    if table.name not in tables:
        return None
    try:
        found = Guarantee.read(table.parent / "guarantee.json")
    except FileError:
        return None  # it is not one of ours
    promised_columns = {*(terms.name for terms in found.attributes), *found.kept}
    if found.has_new_numbers:
        promised_columns.add(str(found.unit.column))
    # A column of which nothing was learnt is promised, and left out.
    unknown = {own.name for own in found.attributes if own.domain_source is Source.LEARNT}
    absent = promised_columns - {*columns}
    return found if {*columns} <= promised_columns and absent <= unknown else None


def measurements_beside(table: Path, guarantee: Guarantee | None) -> Measurements | None:
    """Read what a new table was drawn from, where it was written with the table.

    None where there are none, or a domain or grid was read from the data, so that the guarantee
    does not say it.
    """
    path = table.parent / "measurements.json"
    if guarantee is None or not guarantee.is_synthetic or not path.exists():
        return None
    attributes = [terms.attribute() for terms in guarantee.attributes]
    declared = [attribute for attribute in attributes if attribute is not None]
    if len(declared) < len(attributes):
        return None
    promised_there = guarantee.to_dict()
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        if any(contents[name] != promised_there[name] for name in SAME_IN_BOTH):
            raise ValueError  # noqa: TRY301 -- reported as what cannot be read is
        return Measurements.from_dict(contents, declared)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        raise FileError(
            f"{path}",
            "it must be the measurements.json that was written with the release",
            "restore it as microveil wrote it, or delete it",
        ) from None


def codes_in_release(codes: MissingCodes, guarantee: Guarantee | None) -> MissingCodes:
    """Return what stands for a missing value in a release, by that of the original.

    Protected attributes hold no codes but those that the guarantee names: another number that is
    a code of the original's is a value there.
    """
    if guarantee is None:
        return codes
    protected = {terms.name for terms in guarantee.attributes}
    others = {name: own for name, own in codes.by_column.items() if name not in protected}
    return replace(codes, by_column=others).and_of(guarantee.missing_codes)


def has_pairs(guarantee: Guarantee | None, n_missing: int = 0) -> bool:
    """Whether the records of a release may stand in the order of the original's.

    They do not where a guarantee says that they were shuffled, or are nobody's; nor where records
    of units that had too many were left out, so that ``n_missing`` of the original's are missing.
    """
    if guarantee is None:
        return True
    return guarantee.has_pairs and not (guarantee.unit.column is not None and n_missing)


def promised(guarantee: Guarantee | None) -> str | None:
    """Say in a line what a guarantee promises and under which conditions, None without one."""
    if guarantee is None:
        return None
    if guarantee.randomness == "seeded":
        return "nothing: drawn from a seed, it protects nobody"
    if guarantee.epsilon is None:
        first = f"{guarantee.model_with_k}; no epsilon"
        return "; ".join([first, *guarantee.provisos])
    covered: dict[str, list[str]] = {}
    for name, cover in guarantee.scopes.by_scope.items():
        # All digits: a figure cut short might promise more than is kept.
        held = "" if cover.epsilon is None else repr(cover.epsilon).removesuffix(".0")
        covered.setdefault(held, []).append(name.value)
    shown = [
        f"epsilon {held} at {enumerated(names)} scope"
        if held
        else f"{enumerated(names)} scope not covered"
        for held, names in covered.items()
    ]
    if guarantee.delta:
        shown.append(f"delta {guarantee.to_dict()['delta']:g}")
    return "; ".join([f"{guarantee.model_in_words}, {'; '.join(shown)}", *guarantee.provisos])

"""A file, and what is asked of it: recipe and flags in one, read once its columns are known."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars

from microveil.commands.coverage import method_asked
from microveil.commands.naming import resolve_names, with_named_values
from microveil.errors import Problems, RequestError
from microveil.files.labelled import labelled
from microveil.files.reading import OpenedFile, SourceFile, open_file, size_of
from microveil.files.text import UNSAID, TextFormat
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED
from microveil.protect.declarations import accepted, with_codebook
from microveil.protect.domains import interval_kind, stated_kinds
from microveil.protect.parts import named_attributes, read_parts
from microveil.protect.recipe import file_of_recipe, read_recipe
from microveil.protect.request import BEST
from microveil.protect.settling import merged, refuse_all, without_dots
from microveil.schema import Kind
from microveil.table import (
    Labels,
    MissingCodes,
    ResolutionFromData,
    bounds_from_data,
    open_table,
    resolution_from_data,
)
from microveil.table.memory import allowed_memory, bytes_of, to_protect
from microveil.table.record_rules import kinds_of_rules
from microveil.table.untyped import likely_kinds, text_column, typed_frame

# What reads off the data, and flags whose no is an answer too.
READ_OFF = ("bounds_alpha", "decimals_from_data")
SAID_NO = ("isotonic", "shuffle", "missing_reasons")

Progress = Callable[[str], None]
Recipe = str | Path | Mapping[str, Any] | None


def asked_of(
    path: str | Path,
    *,
    recipe: Recipe = None,
    bounds_alpha: float | None = None,
    decimals_from_data: bool = False,
    text: TextFormat | None = None,
    calculated: Iterable[str] = (),
    beside: Path | None = None,
    typed: bool = False,
    progress: Progress,
    **arguments: Any,
) -> tuple[SourceFile, dict[str, Any]]:
    """Read a file, and what is asked of it: recipe and arguments of `protect` in one.

    ``calculated`` names columns that are calculated with though they are not protected. A table
    that would not fit is lazy where there is a folder ``beside``, for columns to wait in. ``typed``
    reads the kinds of all columns off their values, also where the request would learn them.
    """
    problems = Problems()
    of_recipe = {} if recipe is None else read_recipe(recipe, problems)
    progress("reading the table")
    text = text_of_recipe(recipe, text, problems)
    is_large = beside is not None and _is_large(path, text, merged(of_recipe, arguments))
    file = open_file(path, text=text, progress=progress, lazily=beside if is_large else None)
    given = with_named_values(arguments, file.names, problems)
    asked = without_dots(merged(of_recipe, given), problems)
    if "codebook" in asked:
        asked = with_codebook(asked, file.names, typed=file.has_types, problems=problems)
    is_read_off = typed or bounds_alpha is not None or decimals_from_data
    compared = list[str]()
    with problems.noted():
        untyped = () if is_read_off else untyped_columns(file, asked)
        if untyped and asked.get("rules"):
            named = kinds_of_rules(asked["rules"], untyped)
            stated = {name: kind for name, kind in named.items() if kind is not None}
            bounded = stated_kinds({}, asked.get("bounds", {}), {}, {})
            stated |= {name: kind for name, kind in bounded.items() if name in named}
            compared = [name for name in named if name not in stated]
            asked["types"] = {**stated, **asked.get("types", {})}
            untyped = tuple(name for name in untyped if name not in named)
        of_unit = {asked.get("unit")} if untyped else set()
        as_text = _read_as_text(asked, calculated)
        source = file.read(
            decimals=_read_as_decimals(asked),
            as_text=lambda name: as_text(name) or name in of_unit,
            of_one_kind=lambda name: name not in calculated,
            missing=_codes_read(asked, file.labels).words_of,
            untyped=untyped,
        )
        if compared:
            source, asked = _with_compared(source, asked, compared)
        asked = _completed(source, asked, bounds_alpha, decimals_from_data=decimals_from_data)
        if problems:
            refuse_all(labelled(source), asked, problems)
    problems.refuse()
    return source, asked


def _with_compared(
    source: SourceFile, asked: dict[str, Any], names: Sequence[str]
) -> tuple[SourceFile, dict[str, Any]]:
    """State what columns hold that rules compare with each other alone: dates, or numbers.

    One unit must not decide that. All numbers are decimals, so that nobody's cents show by the
    type, and dates need more values than a unit may have: a file that mixes them is refused.
    """
    schema, most = source.frame.collect_schema(), asked.get("max_rows", 1)
    counted = source.frame.lazy().select(polars.col(names).count()).collect().row(0, named=True)
    kinds = dict[str, Kind]()
    for name in names:
        is_date = schema[name].is_temporal() and isinstance(most, int) and counted[name] > most
        if not is_date and not schema[name].is_numeric():
            rule = "a rule compares it, and the file does not say whether it holds numbers or dates"
            remedy = f"declare its bounds (--bounds {name}=...), or give its type in a recipe"
            raise RequestError(f"column '{name}'", rule, remedy)
        kinds[name] = Kind.DATE if is_date else Kind.DECIMAL
    numbers = [name for name, kind in kinds.items() if kind is Kind.DECIMAL]
    frame = source.frame.with_columns(polars.col(numbers).cast(polars.Float64))
    return replace(source, frame=frame), {**asked, "types": {**kinds, **asked.get("types", {})}}


def _completed(
    source: SourceFile,
    asked: dict[str, Any],
    bounds_alpha: float | None,
    *,
    decimals_from_data: bool,
) -> dict[str, Any]:
    """Return what is asked of a file, with all that is to be taken from it."""
    if "accept" in asked:
        asked = accepted(labelled(source), asked)
    declared = {*source.never_missing} & {*(named_attributes(asked) or ())}
    if declared and asked.get("missing") == "protect":
        never = {name: "never" for name in source.columns if name in declared}
        asked["never_missing"] = {**never, **asked.get("never_missing", {})}
    if "blocks" in asked:
        asked["blocks"] = [
            resolve_names([block], source.columns) if isinstance(block, str) else block
            for block in asked["blocks"]
        ]
    if bounds_alpha is not None:
        found = bounds_from_data(source.frame, bounds_alpha, **declared_missing(asked))
        listed = asked.get("categories", {})
        seen = {name: pair for name, pair in found.items() if name not in listed}
        asked["bounds"] = {**seen, **asked.get("bounds", {})}
        _refuse_unbounded(source.frame, asked)
    if decimals_from_data:
        asked["resolution"] = {**_resolutions_seen(source, asked), **asked.get("resolution", {})}
    return asked


def read_to_propose(
    path: str | Path, text: TextFormat | None, arguments: Mapping[str, Any]
) -> tuple[SourceFile, dict[str, Any]]:
    """Read a file to propose a recipe: what flags say of columns decides how these are read."""
    for name, flag in (("bounds_alpha", "bounds"), ("decimals_from_data", "resolution")):
        if arguments.get(name):
            rule = "a recipe holds nothing that is read from the data"
            raise RequestError(f"--{flag}-from-data", rule, "give it to protect, beside the recipe")
    file = open_file(path, text=text)
    said = {n: v for n, v in arguments.items() if v not in (None, False) or n in SAID_NO}
    asked = with_named_values({n: v for n, v in said.items() if v is not None}, file.names)
    asked = {name: value for name, value in asked.items() if name not in READ_OFF}
    if "blocks" in asked:
        asked["blocks"] = [resolve_names([block], file.names) for block in asked["blocks"]]
    asked = with_codebook(asked, file.names, typed=file.has_types)
    listed, types = asked.get("categories", {}), asked.get("types", {})
    # A delta is proposed where none is asked for, and so is a method.
    method = method_asked(asked) if asked.get("method", BEST) in METHODS else None
    proposed = {"delta": 1e-9, **asked, "method": method and method.id}
    untyped = () if method is None else untyped_columns(file, proposed)
    source = file.read(
        decimals=_read_as_decimals(asked),
        as_text=lambda name: types.get(name, Kind.OTHER if name in listed else None) == Kind.OTHER,
        missing=_codes_read(asked, file.labels).words_of,
        untyped=untyped,
    )
    asked.pop("types", None)  # the recipe says what the columns are read as
    if not source.untyped:
        return source, asked
    table = open_table(labelled(source), codes_of(asked))
    return replace(source, frame=typed_frame(table, source.frame, likely_kinds(table))), asked


def untyped_columns(file: OpenedFile, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the columns whose kind the method learns: nothing states what they hold."""
    method = METHODS.get(str(asked.get("method", BEST)))
    learns = method is not None and "new table" in method.can and _has_delta(asked)
    is_stated = file.has_types or asked.get("parts") is not None
    if is_stated or not learns or asked.get("domains") == "declared":
        return ()
    stated = {*asked.get("types", {}), *asked.get("categories", {}), *asked.get("resolution", {})}
    bounds = asked.get("bounds", {})
    stated |= {name for name, own in bounds.items() if interval_kind(own) is not Kind.WHOLE}
    if "accept" in asked:
        stated |= {name for name, own in file.labels.items() if own.codes or own.bounds}
    return tuple(name for name in file.names if name not in (*stated, asked.get("unit")))


def _has_delta(asked: Mapping[str, Any]) -> bool:
    """Whether a request allows a delta; a wrong one is refused with all else that is wrong."""
    with suppress(RequestError):
        return bool(DECLARED["delta"].checked(asked.get("delta", 0)))
    return False


def _codes_read(asked: Mapping[str, Any], labels: Mapping[str, Labels]) -> MissingCodes:
    """Return what stands for a missing value as a file is read: what it declares, if accepted."""
    if "accept" not in asked:
        return codes_of(asked)
    return codes_of(asked).and_of({name: own.missing_codes for name, own in labels.items()})


def _is_large(path: str | Path, text: TextFormat | None, asked: Mapping[str, Any]) -> bool:
    """Whether protecting a file would take more than it may, were its table read whole."""
    found = size_of(path, text)
    if found is None:
        return False
    memory, method = asked.get("memory"), METHODS.get(str(asked.get("method")))
    allowed = allowed_memory(None if memory is None else bytes_of(memory))
    one_by_one = method is not None and "one by one" in method.can
    return allowed is not None and allowed < to_protect(
        *found, one_by_one=one_by_one, from_file=True
    )


def text_of_recipe(
    recipe: Recipe, given: TextFormat | None, problems: Problems | None = None
) -> TextFormat | None:
    """Read how files are written off a recipe, unless it is given otherwise."""
    if recipe is None or not (given is None or given.is_unsaid):
        return given
    return replace(UNSAID, **file_of_recipe(recipe, problems))  # type: ignore[arg-type]


def declared_missing(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return of arguments what stands for a missing value."""
    return {name: asked.get(name) for name in ("missing_codes", "missing_values")}


def codes_of(asked: Mapping[str, Any]) -> MissingCodes:
    """Read of arguments what stands for a missing value."""
    return MissingCodes.of(**declared_missing(asked))


def read_with_codes(
    path: str | Path,
    text: TextFormat | None,
    given: Mapping[str, Any],
    apart: Collection[str] = (),
    before: Mapping[str, Any] = MappingProxyType({}),
    kinds: Mapping[str, Kind] = MappingProxyType({}),
) -> tuple[SourceFile, dict[str, Any]]:
    """Read a file and what stands for missing values in it, as said now, else ``before``.

    Words that do are emptied, but in columns ``apart``. Where the file has no types, columns of
    known ``kinds`` are read as these, cell by cell.
    """
    file = open_file(path, text=text)
    said = {name: value for name, value in declared_missing(given).items() if value}
    codes = before.get("missing_codes", {})
    declared = {
        "missing_codes": {name: codes[name] for name in codes if name in file.names} or None,
        "missing_values": before.get("missing_values"),
        **with_named_values(said, file.names),
    }
    missing = codes_of(declared)
    untyped = () if file.has_types else (*kinds,)
    source = file.read(missing=words_but(missing, apart), untyped=untyped)
    if not source.untyped:
        return source, declared
    table = open_table(labelled(source), missing)
    attributes = [text_column(name).of_kind(kinds[name]) for name in source.untyped]
    return replace(source, frame=typed_frame(table, source.frame, attributes)), declared


def words_but(codes: MissingCodes, apart: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what says which words of a column are missing: none of those kept apart."""
    return lambda name: () if name in apart else codes.words_of(name)


def _read_as_decimals(asked: Mapping[str, Any]) -> list[str]:
    """Name the columns to read as decimals, or one record would decide the released type."""
    types = asked.get("types", {})
    typed = [name for name, kind in types.items() if kind == "decimal"]
    stepped = [name for name in asked.get("resolution", {}) if name not in types]
    return sorted({*typed, *stepped})


def _read_as_text(asked: Mapping[str, Any], calculated: Iterable[str]) -> Callable[[str], bool]:
    """Find the columns kept as they stand or not asked for, and those of listed categories."""
    types, used = asked.get("types", {}), frozenset(calculated)
    kept = {*asked.get("keep", ())}
    named = named_attributes(asked)
    listed = {
        name
        for name, given in asked.get("bounds", {}).items()
        if _lists_categories(given) and _takes_categories(asked, name)
    }
    listed |= set(asked.get("categories", {}))

    def as_text(name: str) -> bool:
        if name in types:
            return bool(types[name] == Kind.OTHER)
        is_protected = name not in kept and (named is None or name in named)
        return name not in used and (name in listed or not is_protected)

    return as_text


def _takes_categories(asked: Mapping[str, Any], name: str) -> bool:
    """Whether the method that an attribute is protected by can take text."""
    chosen = [asked.get("method")]
    if asked.get("parts") is not None:
        parts = read_parts(asked["parts"])
        chosen = [part.asked["method"] for part in parts if name in part.attributes]
    known = [METHODS[str(method)] for method in chosen if str(method) in METHODS]
    return any("categories" in method.can for method in known)


def _lists_categories(given: Any) -> bool:
    """Tell a list of categories from two numbers or dates."""
    is_list = isinstance(given, tuple | list) and all(isinstance(word, str) for word in given)
    return is_list and interval_kind(given) is None


def _resolutions_seen(source: SourceFile, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read resolutions off the data, of columns of a CSV file without decimals too."""
    found: dict[str, Any] = dict(resolution_from_data(source.frame, **declared_missing(asked)))
    if not source.format.has_types:
        types = asked.get("types", {})
        for name, dtype in source.frame.collect_schema().items():
            if dtype == polars.Int64 and name not in types:
                found[name] = ResolutionFromData(1)
    return found


def _refuse_unbounded(frame: polars.DataFrame | polars.LazyFrame, asked: Mapping[str, Any]) -> None:
    """Refuse a named attribute that no bounds could be read for, where its neighbours have some."""
    opened = open_table(frame)
    for name in named_attributes(asked) or ():
        bounded = (Kind.WHOLE, Kind.DECIMAL, Kind.DATE)
        known = name in asked["bounds"] or name in asked.get("categories", {})
        if name in opened.names and not known and opened.kind(name) in bounded:
            raise RequestError(
                f"bounds of '{name}'",
                "none can be read from values that are all 0 or missing",
                f"declare them, for example --bounds {name}=0:100",
            )

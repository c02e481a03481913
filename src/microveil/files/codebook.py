"""Codebooks: what is publicly known of columns, in a CSV file, a Table Schema or DDI Codebook."""

import csv
import datetime
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import XML, Element, ParseError

from microveil.errors import FileError, Problems, one_error
from microveil.files.table_schema import TYPES, labels_of_field
from microveil.schema import COLUMN_KINDS, Declared, GivenCode, Kind

HEADER = ("column", "label", "kind", "lower", "upper", "resolution", "codes")
OF_SCHEMA = {name: kind for kind, name in TYPES.items()}
Form = Callable[["_Reader", str], Iterator[tuple[str, str, Declared]]]
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(slots=True)
class _Reader:
    """Reads the entries of a codebook, and takes down what is wrong with them."""

    path: Path
    wrong: list[FileError] = field(default_factory=list)

    def add(self, where: str, rule: str, remedy: str) -> None:
        self.wrong.append(FileError(f"{self.path}, {where}", rule, remedy))

    def value(self, where: str, text: str, kind: Kind | None) -> Any:
        """Read a code or a bound as the values of a column are; None where it is none."""
        try:
            return _read(text, kind)
        except (ValueError, KeyError):
            rule = f"the column holds {kind.value}s, and {_told(text)} is none" if kind else ""
            self.add(where, rule, "correct it, or the kind of the column")
            return None

    def pair(self, where: str, lower: str, upper: str, kind: Kind | None) -> tuple[Any, Any] | None:
        """Read two bounds, of numbers or dates."""
        if not lower and not upper:
            return None
        if not lower or not upper or kind in (Kind.OTHER, Kind.BOOLEAN):
            rule = "bounds are two, of numbers or dates"
            self.add(where, rule, "write both, lower and upper, or leave both empty")
            return None
        is_date = kind is Kind.DATE or (kind is None and re.fullmatch(r"\d{4}-\d\d-\d\d", lower))
        own = Kind.DATE if is_date else Kind.WHOLE if kind is Kind.WHOLE else Kind.DECIMAL
        ends = self.value(where, lower, own), self.value(where, upper, own)
        if None in ends:
            return None
        if ends[0] > ends[1]:
            self.add(where, "the lower bound is above the upper", "exchange them")
        return ends

    def step(self, where: str, text: str) -> Fraction | None:
        """Read a resolution."""
        try:
            step = Fraction(text) if text else None
        except (ValueError, ZeroDivisionError):
            step = Fraction(0)
        if step is not None and step <= 0:
            self.add(where, "a resolution is a number above 0", "write for example 0.01")
            return None
        return step


def _told(text: str) -> str:
    return f"'{text}'" if len(text) <= 30 else "one of its entries"


def _read(text: str, kind: Kind | None) -> Any:
    """Read a value of a kind; ValueError or KeyError where it is none."""
    if kind is None:
        return int(text) if WHOLE.fullmatch(text) else text
    if kind is Kind.OTHER:
        return text
    if kind is Kind.BOOLEAN:
        return {"true": True, "false": False}[text.lower()]
    if kind is Kind.DATE:
        return datetime.date.fromisoformat(text)
    if kind is Kind.WHOLE:
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() else number


def read_codebook(
    path: str | Path, columns: Collection[str], problems: Problems | None = None
) -> dict[str, Declared]:
    """Read by column what a codebook says: a CSV file, a Table Schema (.json) or DDI (.xml).

    Columns that a Table Schema or DDI has and the table lacks are passed over: these describe
    whole studies.
    """
    place = Path(path)
    reader = _Reader(path=place)
    forms: dict[str, Form] = {".json": _of_schema, ".xml": _of_ddi}
    try:
        text = place.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        rule = "there is no such codebook, seen from where the command runs"
        raise FileError(f"{path}", rule, "correct the path (--codebook)") from None
    except (OSError, UnicodeDecodeError):
        rule = "the codebook cannot be read as text in UTF-8"
        raise FileError(f"{path}", rule, "check path, rights and encoding") from None
    form = forms.get(place.suffix.lower(), _of_csv)
    found: dict[str, Declared] = {}
    for where, name, declared in form(reader, text):
        if name in found:
            reader.add(where, f"column '{name}' stands in it twice", "leave one of the two out")
        elif name not in columns and form is _of_csv:
            rule = f"the table has no column '{name}'"
            reader.add(where, rule, "correct the name, or take the line out")
        found.setdefault(name, declared)
    if reader.wrong and (problems is None or not found):
        raise one_error(reader.wrong)
    if problems is not None:
        problems.extend(reader.wrong)
    return {name: own for name, own in found.items() if name in columns}


def _of_csv(reader: _Reader, text: str) -> Iterator[tuple[str, str, Declared]]:
    rows = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        if "column" not in header or not {*header} <= {*HEADER} or len({*header}) < len(header):
            rule = f"its first line names what stands below: {','.join(HEADER)}"
            reader.add("line 1", rule, "write them, column at least; see --write-codebook")
            return
        for cells in rows:
            if not any(cells):
                continue
            where = f"line {rows.line_num}"
            if len(cells) > len(header):
                reader.add(where, "it has more cells than the first line", "put text in quotes")
                continue
            entry = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            # A column is named as the table names it, with its spaces.
            name = cells[header.index("column")] if header.index("column") < len(cells) else ""
            yield where, name, _of_entry(reader, where, entry)
    except csv.Error:
        reader.add(f"line {rows.line_num}", "it is no line of a CSV file", "correct its quotes")


def _of_entry(reader: _Reader, where: str, entry: Mapping[str, str]) -> Declared:
    said = entry.get("kind", "")
    kinds = [str(kind) for kind in COLUMN_KINDS]
    if said and said not in kinds:
        reader.add(where, f"the kind is none of {', '.join(kinds)}", "write one, or leave it empty")
    kind = Kind(said) if said in kinds else None
    listed, is_ordered = _codes(entry.get("codes", ""))
    ends, step = (entry.get("lower", ""), entry.get("upper", "")), entry.get("resolution", "")
    label = entry.get("label") or None
    return _declared(
        reader, where, label=label, kind=kind, ends=ends, step=step, listed=listed,
        is_ordered=is_ordered,
    )  # fmt: skip


def _codes(cell: str) -> tuple[list[tuple[bool, str, str]], bool]:
    """Read the codes of a cell, and whether they are ordered."""
    cell, n_ordered = re.subn(r"^\s*ordered:", "", cell)
    found = []
    for entry in filter(None, map(str.strip, cell.split(";"))):
        code, _, label = entry.removeprefix("missing:").partition("=")
        found.append((entry.startswith("missing:"), code.strip(), label.strip()))
    return found, bool(n_ordered)


def _declared(
    reader: _Reader,
    where: str,
    *,
    label: str | None,
    kind: Kind | None,
    ends: tuple[str, str],
    step: str,
    listed: list[tuple[bool, str, str]],
    is_ordered: bool,
) -> Declared:
    """Read what is said of a column as text: its codes are (whether missing, code, label)."""
    valid = [code for is_missing, code, _ in listed if not is_missing]
    if kind is None and valid:
        kind = Kind.WHOLE if all(map(WHOLE.fullmatch, valid)) else Kind.OTHER
    codes: dict[GivenCode, str] = {}
    missing: list[GivenCode] = []
    for is_missing, code, text in listed:
        # A word may stand for what is missing among numbers.
        own = None if is_missing and kind is not Kind.OTHER and not re.search(r"\d", code) else kind
        value = reader.value(where, code, own)
        if value is None or value == "":
            continue
        if value in codes or value in missing:
            reader.add(where, f"code {_told(code)} is listed twice", "list it once")
        elif is_missing:
            missing.append(value)
        else:
            codes[value] = text or code
    bounds = reader.pair(where, *ends, kind)
    if bounds is not None and codes:
        rule = "it has both bounds and codes, and a column has one domain"
        reader.add(where, rule, "leave out one of them; missing: says which codes are missing")
    return Declared(
        label=label,
        kind=kind,
        bounds=bounds,
        resolution=reader.step(where, step),
        categories=codes,
        is_ordered=is_ordered,
        missing_codes=tuple(missing),
    )


def _of_schema(reader: _Reader, text: str) -> Iterator[tuple[str, str, Declared]]:
    try:
        fields = json.loads(text)["fields"]
        named = [(str(one["name"]), one) for one in fields]
    except (ValueError, TypeError, LookupError, RecursionError):
        reader.add("line 1", "a Table Schema is JSON with its fields", "correct it")
        return
    for name, one in named:
        where = f"field '{name}'"
        try:
            labels, limits = labels_of_field(one), one.get("constraints", {})
            kind = OF_SCHEMA.get(one.get("type", "string"))
            ends = str(limits.get("minimum", "")), str(limits.get("maximum", ""))
        except (ValueError, TypeError, LookupError, AttributeError):
            reader.add(where, "a category, a missing value or a constraint is none", "correct it")
            continue
        declared = Declared(
            label=labels.column,
            kind=kind,
            bounds=None if labels.valid else reader.pair(where, *ends, kind),
            categories=labels.valid,
            is_ordered=labels.is_ordinal,
            missing_codes=labels.missing_codes,
        )
        yield where, name, declared


def _of_ddi(reader: _Reader, text: str) -> Iterator[tuple[str, str, Declared]]:
    """Read the variables, in whatever namespace they are."""
    before, has_type, _ = text.partition("<!DOCTYPE")
    if has_type:
        rule = "it declares a document type, which may hold entities without end"
        remedy = "take out the declaration (<!DOCTYPE ...>)"
        line = before.count("\n") + 1
        reader.add(f"line {line}", rule, remedy)
        return
    try:
        root = XML(text)
    except ParseError as error:
        reader.add(f"line {error.position[0]}", "it is no XML", "correct it")
        return
    for one in root.iterfind(".//{*}var"):
        name = one.get("name", "")
        where = f"variable '{name}'"
        yield where, name, _declared(reader, where, **_said(one))


def empty_codebook(kinds: Mapping[str, Kind]) -> str:
    """Write the form of a codebook for some columns: their kinds, and nothing of their values."""
    form = io.StringIO()
    lines = csv.writer(form, lineterminator="\n")
    lines.writerow(HEADER)
    lines.writerows([name, "", str(kind), *[""] * 4] for name, kind in kinds.items())
    return form.getvalue()


# A range of so many missing codes is taken apart.
MOST_CODES = 100


def _said(one: Element) -> dict[str, Any]:
    form, span = one.find("{*}varFormat"), one.find("{*}valrng/{*}range")
    listed = [
        (each.get("missing") == "Y", _text(each, "catValu"), _text(each, "labl"))
        for each in one.findall("{*}catgry")
    ]
    missing = {*_missing(one)}
    listed = [(is_missing or code in missing, code, label) for is_missing, code, label in listed]
    listed += [(True, code, "") for code in sorted(missing - {code for _, code, _ in listed})]
    valid = [code for is_missing, code, _ in listed if not is_missing]
    # Of a quantity, labels name a value or two, and its range is the domain.
    if span is not None and (one.get("intrvl") == "contin" or len(valid) < 2):
        listed = [entry for entry in listed if entry[0]]
        ends = span.get("min", ""), span.get("max", "")
    else:
        ends = "", ""
    decimals = int(one.get("dcml", "0")) if one.get("dcml", "0").isdecimal() else 0
    return {
        "label": _text(one, "labl") or None,
        "kind": Kind.OTHER if form is not None and form.get("type") == "character" else None,
        "ends": ends,
        "step": f"1/{10 ** min(decimals, 15)}" if decimals else "",
        "listed": listed,
        "is_ordered": one.get("nature") == "ordinal",
    }


def _missing(one: Element) -> Iterator[str]:
    """Yield the codes that a variable takes for missing values, those of short ranges too."""
    for item in one.findall("{*}invalrng/{*}item"):
        yield item.get("VALUE", "")
    for span in one.findall("{*}invalrng/{*}range"):
        try:
            first, last = int(span.get("min", "")), int(span.get("max", ""))
        except ValueError:
            yield from (span.get(end, "") for end in ("min", "max") if span.get(end))
            continue
        if last - first < MOST_CODES:
            yield from map(str, range(first, last + 1))
        else:
            yield f"{first} to {last}"  # no code of any kind: refused by its line


def _text(one: Element, tag: str) -> str:
    found = one.find(f"{{*}}{tag}")
    return "" if found is None else " ".join("".join(found.itertext()).split())
